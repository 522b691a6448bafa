/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/report/watch.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "measure/hurst.h"
#include "sim/report/report_internal.h"

#define FIRST_CYCLES 16 /* on-off cycles: the smallest time scale considered */
#define MOST_BINS    ((size_t)1 << 22)

const char *const report_capture_flow_names[] = { "none", "bare", "padded", NULL };

void report_observers_init(struct report_observers *w, const struct fabric *fabric)
{
	const struct scenario *s = fabric->scenario;

	*w = (struct report_observers){ .fabric = fabric };
	for (size_t i = 0; i < s->n_traffic; i++) {
		const struct scn_traffic *t = &s->traffic[i];

		if (t->kind != SIM_PARETO)
			continue;
		if (!w->bins)
			w->bins = hd_alloc(s->n_traffic, sizeof(*w->bins));
		w->bins[i].width = t->on + t->off;
	}
}

void report_observers_fini(struct report_observers *w)
{
	for (size_t i = 0; w->bins && i < w->fabric->scenario->n_traffic; i++)
		free(w->bins[i].counts);
	free(w->bins);
	report_capture_free(w->capture);
}

enum hd_status report_observers_capture(struct report_observers *w, FILE *stream, const bool *ports,
					enum report_capture_flow flow, struct diag *d)
{
	const struct scenario *s = w->fabric->scenario;

	for (size_t i = 0; i < s->n_traffic; i++) {
		if (s->traffic[i].transport)
			return scenario_refuse(
				s, d, &s->traffic[i].transport,
				"traffic '%s' goes over queue pairs, which --pcap does not have; heddle bench --pcap has",
				s->traffic[i].name);
	}
	for (size_t i = 0; i < s->n_jobs; i++) {
		if (s->jobs[i].transport == SCN_JOB_RC)
			return scenario_refuse(
				s, d, &s->jobs[i].transport,
				"job '%s' goes over queue pairs, which --pcap does not have; heddle bench --pcap has",
				s->jobs[i].name);
	}
	w->capture_flow = flow != REPORT_FLOW_NONE;
	return report_capture_new(w->fabric, stream, ports, flow, d, &w->capture);
}

void report_observers_trace(struct report_observers *w, FILE *stream, const bool *ports)
{
	w->trace = stream;
	w->ports = ports;
	fputs("# time[us] event port packet bytes[B] SL VL\n", stream);
}

static bool is_watched(const struct report_observers *w, uint32_t port)
{
	return !w->ports || w->ports[port];
}

/* Writes "12.345678 sends s-0-0:1 'bulk h0 -> h3' #17", with all picoseconds. */
static void print_event(const struct report_observers *w, hd_time time, const char *event,
			uint32_t port, const struct sim_packet *p)
{
	struct strbuf line = STRBUF_INIT;
	const char *sender = sim_sender_name(w->sim, p);

	strbuf_printf(&line, "%llu.%06llu %s ", (unsigned long long)(time / HD_US),
		      (unsigned long long)(time % HD_US), event);
	fabric_port_name(w->fabric, port, &line);
	strbuf_puts(&line, " '");
	if (p->flow < w->fabric->n_flows)
		findings_flow_name(w->fabric, p->flow, &line);
	else
		strbuf_puts(&line, sender ? sender : "?");
	strbuf_printf(&line, "' #%u", p->sequence);
	fputs(line.text, w->trace);
	strbuf_fini(&line);
}

static void on_granted(void *context, hd_time now, uint32_t port, const struct sim_packet *p)
{
	struct report_observers *w = context;

	if (w->capture)
		report_capture_grant(w->capture, now, port, p);
	if (!w->trace || !is_watched(w, port))
		return;
	print_event(w, now, "sends", port, p);
	fprintf(w->trace, " %u %u %u\n", p->bytes, p->sl, p->vl);
}

static void on_updated(void *context, hd_time now, uint32_t port, const struct sim_update *u)
{
	struct report_observers *w = context;

	report_capture_update(w->capture, now, port, u);
}

static void count_packet(struct report_bins *bins, hd_time born)
{
	size_t bin = (size_t)(born / bins->width);

	if (bin >= MOST_BINS)
		return;
	if (bin >= bins->n) {
		bins->counts = hd_grow(bins->counts, &bins->cap, bin + 1, sizeof(*bins->counts));
		while (bins->n <= bin)
			bins->counts[bins->n++] = 0;
	}
	bins->counts[bin]++;
}

static void on_delivered(void *context, hd_time now, uint32_t node, const struct sim_packet *p)
{
	struct report_observers *w = context;
	const struct fabric *fabric = w->fabric;
	uint32_t port = fabric->setup.nodes[node].first_port + 1;

	if (w->bins && p->flow < fabric->n_flows) {
		struct report_bins *bins = &w->bins[fabric->flows[p->flow].row];

		if (bins->width)
			count_packet(bins, p->born);
	}
	if (!w->trace || !is_watched(w, port))
		return;
	print_event(w, now, "receives", port, p);
	fprintf(w->trace, " %u %u %u\n", p->bytes, p->sl, p->vl);
}

static void on_ended(void *context, const struct sim_event_record *e, const struct sim_packet *p)
{
	static const char *const words[] = {
		[SIM_LOST_CORRUPT] = "corrupt",
		[SIM_LOST_LINK] = "cut-off",
		[SIM_LOST_DISCARD] = "discards",
		[SIM_LOST_NO_ROUTE] = "no-route",
		[SIM_LOST_PARTITION] = "foreign-partition",
		[SIM_LOST_VL15] = "no-room",
		[SIM_LOST_HOPS] = "hop-limit",
		[SIM_LOST_FULL] = "blocked",
	};
	struct report_observers *w = context;

	if (e->fate == SIM_DELIVERED || !is_watched(w, e->where))
		return;
	print_event(w, e->time, words[e->fate], e->where, p);
	fputc('\n', w->trace);
}

void report_observers_attach(struct report_observers *w, struct sim *s)
{
	struct sim_observer o = { .context = w };

	w->sim = s;
	if (w->capture || w->trace)
		o.granted = on_granted;
	if (w->capture_flow)
		o.updated = on_updated;
	if (w->bins || w->trace)
		o.delivered = on_delivered;
	if (w->trace)
		o.ended = on_ended;
	if (o.granted || o.delivered)
		sim_observe(s, &o);
}

static void pack_bins(struct pack *p, struct report_bins *b)
{
	size_t n = pack_count(p, b->n);

	if (p->reads) {
		b->counts = hd_grow(b->counts, &b->cap, n, sizeof(*b->counts));
		b->n = n;
	}
	for (size_t i = 0; i < n; i++)
		pack_real(p, &b->counts[i]);
}

void report_observers_pack(struct report_observers *w, struct pack *p)
{
	size_t rows = w->fabric->scenario->n_traffic;

	for (size_t i = 0; w->bins && i < rows; i++) {
		if (w->bins[i].width)
			pack_bins(p, &w->bins[i]);
	}
	if (w->capture)
		report_capture_pack(w->capture, p);
}

void report_observers_finish(struct report_observers *w)
{
	if (w->capture)
		report_capture_finish(w->capture);
}

struct similarity_row {
	const char *traffic;
	double shape, hurst_expected, hurst_found, half_width, from;
	double to;
};

static const struct column similarity_columns[] = {
	{ "traffic", NULL, CELL(similarity_row, traffic) },
	{ "shape", NULL, CELL(similarity_row, shape), ORIGIN_GIVEN, 2 },
	{ "Hurst expected", NULL, CELL(similarity_row, hurst_expected), ORIGIN_COMPUTED, 3 },
	{ "Hurst found", NULL, CELL(similarity_row, hurst_found), ORIGIN_SIMULATED, 3 },
	{ "+-", NULL, CELL(similarity_row, half_width), ORIGIN_SIMULATED, 3 },
	{ "from", "us", CELL(similarity_row, from), ORIGIN_SIMULATED, 1 },
	{ "to", "us", CELL(similarity_row, to), ORIGIN_SIMULATED, 1 },
	{ NULL },
};

/*
 * The exponent describes long time scales. Over few on-off cycles, a source appears burstier, so
 * these scales are excluded.
 */
static void find_exponent(const struct report_bins *bins, const struct sim_metrics *m,
			  struct hurst *out)
{
	size_t from = (size_t)(m->from / bins->width) + 1;
	size_t to = (size_t)(m->to / bins->width);

	if (to > bins->n)
		to = bins->n;
	*out = (struct hurst){ .h = NAN, .error = NAN };
	if (to > from)
		hurst_estimate(bins->counts + from, to - from, FIRST_CYCLES, out);
}

void report_observers_similarity(const struct report_observers *w, const struct sim_metrics *m,
				 struct results *r)
{
	const struct scenario *s = w->fabric->scenario;
	struct table *t = NULL;

	for (size_t i = 0; w->bins && i < s->n_traffic; i++) {
		const struct scn_traffic *row = &s->traffic[i];
		struct hurst h;

		if (!w->bins[i].width)
			continue;
		if (!t)
			t = results_table(r, "self-similarity",
					  "how bursts persist over time scales",
					  similarity_columns);
		find_exponent(&w->bins[i], m, &h);
		double width = (double)w->bins[i].width / (double)HD_US;

		const struct similarity_row shown = {
			.traffic = row->name,
			.shape = row->shape,
			.hurst_expected = (3 - row->shape) / 2,
			.hurst_found = h.h,
			.half_width = h.error,
			.from = h.n_scales ? (double)h.first * width : NAN,
			.to = h.n_scales ? (double)h.last * width : NAN,
		};

		table_put_row(t, &shown);
		if (!h.n_scales)
			results_remark(
				r,
				"'%s' was measured for too short a time to tell its Hurst exponent: 4096 times on + off would do",
				row->name);
	}
}
