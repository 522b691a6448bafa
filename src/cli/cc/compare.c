/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/cc/compare.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "measure/fairness.h"
#include "sim/congestion/summary.h"

#define FEW_LINKS 4

struct traffic {
	const char *algorithm, *row;
	struct congestion_row r;
	double of_possible;
};
static const struct column row_columns[] = {
	{ "algorithm", NULL, CELL(traffic, algorithm) },
	{ "row", NULL, CELL(traffic, row) },
	{ "flows", NULL, CELL(traffic, r.flows) },
	{ "goodput", "Mb/s", CELL_BITS(traffic, r.goodput), ORIGIN_SIMULATED, 1 },
	{ "of possible", "%", CELL(traffic, of_possible), ORIGIN_SIMULATED, 2 },
	{ "rate variable", "Mb/s", CELL_BITS(traffic, r.rate), ORIGIN_SIMULATED, 1 },
	{ "marks per flow", "1/s", CELL(traffic, r.marks), ORIGIN_SIMULATED, 1 },
	{ "balance", "1/s", CELL(traffic, r.balance), ORIGIN_SIMULATED, 1 },
	{ "settled", "ms", CELL(traffic, r.settled), ORIGIN_SIMULATED, 2 },
	{ "oscillation", "%", CELL_SHARE(traffic, r.oscillation), ORIGIN_SIMULATED, 1 },
	{ "fairness", NULL, CELL(traffic, r.fairness), ORIGIN_SIMULATED, 4 },
	{ NULL },
};

struct total {
	const char *algorithm;
	double goodput, busiest, fairness;
	uint64_t marked, echoed, cnps;
	double marks;
};
static const struct column total_columns[] = {
	{ "algorithm", NULL, CELL(total, algorithm) },
	{ "goodput", "Mb/s", CELL_BITS(total, goodput), ORIGIN_SIMULATED, 1 },
	{ "busiest link", "%", CELL_SHARE(total, busiest), ORIGIN_SIMULATED, 2 },
	{ "fairness", NULL, CELL(total, fairness), ORIGIN_SIMULATED, 4 },
	{ "FECN", NULL, CELL(total, marked), ORIGIN_SIMULATED },
	{ "BECN", NULL, CELL(total, echoed), ORIGIN_SIMULATED },
	{ "CNP", NULL, CELL(total, cnps), ORIGIN_SIMULATED },
	{ "marked", "1/s", CELL(total, marks), ORIGIN_SIMULATED, 1 },
	{ NULL },
};

struct link {
	const char *algorithm, *port, *to;
	double used, goodput;
};
static const struct column link_columns[] = {
	{ "algorithm", NULL, CELL(link, algorithm) },
	{ "port", NULL, CELL(link, port) },
	{ "to", NULL, CELL(link, to) },
	{ "used", "%", CELL_SHARE(link, used), ORIGIN_SIMULATED, 2 },
	{ "goodput", "Mb/s", CELL_BITS(link, goodput), ORIGIN_SIMULATED, 1 },
	{ NULL },
};

/* Of a flow: what it got, and what it was told. */
struct flow {
	const char *algorithm, *row, *answer, *rejected_by;
	uint32_t flow;
	double goodput, rate, lowest, highest, reserve; /* Mb/s */
	struct congestion_outcome r;
};
static const struct column flow_columns[] = {
	{ "algorithm", NULL, CELL(flow, algorithm) },
	{ "flow", NULL, CELL(flow, flow) },
	{ "row", NULL, CELL(flow, row) },
	{ "goodput", "Mb/s", CELL(flow, goodput), ORIGIN_SIMULATED, 1 },
	{ "rate variable", "Mb/s", CELL(flow, rate), ORIGIN_SIMULATED, 1 },
	{ "lowest", "Mb/s", CELL(flow, lowest), ORIGIN_SIMULATED, 1 },
	{ "highest", "Mb/s", CELL(flow, highest), ORIGIN_SIMULATED, 1 },
	{ "marks", "1/s", CELL(flow, r.marks), ORIGIN_SIMULATED, 1 },
	{ "packets", "1/s", CELL(flow, r.goodput), ORIGIN_SIMULATED, 1 },
	{ "rate", "1/s", CELL(flow, r.rate), ORIGIN_SIMULATED, 1 },
	{ NULL },
};
static const struct column admission_columns[] = {
	{ "algorithm", NULL, CELL(flow, algorithm) },
	{ "flow", NULL, CELL(flow, flow) },
	{ "row", NULL, CELL(flow, row) },
	{ "asked for", "Mb/s", CELL(flow, reserve), ORIGIN_GIVEN, 1 },
	{ "answer", NULL, CELL(flow, answer), ORIGIN_SIMULATED },
	{ "after", "us", CELL_TIME(flow, r.answered), ORIGIN_SIMULATED, 3 },
	{ "rejected by", NULL, CELL(flow, rejected_by), ORIGIN_SIMULATED },
	{ NULL },
};

struct probes {
	const char *algorithm;
	uint64_t probes, accepts, rejects;
	double most; /* b/s */
};
static const struct column probe_columns[] = {
	{ "algorithm", NULL, CELL(probes, algorithm) },
	{ "probes", NULL, CELL(probes, probes), ORIGIN_SIMULATED },
	{ "accepts", NULL, CELL(probes, accepts), ORIGIN_SIMULATED },
	{ "rejects", NULL, CELL(probes, rejects), ORIGIN_SIMULATED },
	{ "most reserved", "Mb/s", CELL_BITS(probes, most), ORIGIN_SIMULATED, 1 },
	{ NULL },
};

struct sample {
	const char *algorithm;
	struct congestion_sample seen;
};
static const struct column sample_columns[] = {
	{ "time", "us", CELL_TIME(sample, seen.time), ORIGIN_GIVEN, 3 },
	{ "algorithm", NULL, CELL(sample, algorithm) },
	{ "flow", NULL, CELL(sample, seen.flow) },
	{ "rate", "1/s", CELL(sample, seen.rate), ORIGIN_SIMULATED, 1 },
	{ NULL },
};

static bool asks(const struct cc_session *s)
{
	for (uint32_t i = 0; i < s->build->n_flows; i++) {
		if (s->flows[i].reserve)
			return true;
	}
	return false;
}

void cc_compare_begin(struct cc_comparison *c)
{
	struct results *r = results_new("cc compare");

	c->results = r;
	results_set_scenario(r, c->session->build->scenario->text);
	c->rows = results_table(r, "rows", "what each row of traffic received", row_columns);
	c->totals = results_table(r, "totals", "all of them together", total_columns);
	c->links = results_table(r, "links",
				 c->all ? "the links that were used"
					: "the busiest links; --all shows all",
				 link_columns);
	if (c->all)
		c->flows = results_table(r, "flows", "what each flow received", flow_columns);
	if (asks(c->session)) {
		c->answers = results_table(r, "admission", "who asked for how much, and was told",
					   admission_columns);
		c->probes = results_table(
			r, "probes",
			"packets of admission sent by devices, and what the most promised link holds at the end",
			probe_columns);
	}
	if (c->sample)
		c->samples =
			results_series(r, "rates", "the rate variables over time", sample_columns);
}

struct results *cc_compare_shown(const struct cc_comparison *c)
{
	const struct results *all = c->results;

	if (!c->samples || c->all)
		return c->results;
	struct results *r = results_new(all->command);

	for (size_t i = 0; i < all->n_tables; i++) {
		if (all->tables[i] != c->samples)
			results_copy_table(r, all->tables[i]);
	}
	for (size_t i = 0; i < all->n_remarks; i++)
		results_remark(r, "%s", all->remarks[i]);
	results_remark(r,
		       "rates over time: %zu rows, left to --all, --csv, --json, --html and --db",
		       table_rows(c->samples));
	return r;
}

static void show_rows(struct cc_comparison *c, const char *name, const struct congestion_params *p,
		      const struct congestion_result *r)
{
	const struct cc_session *s = c->session;
	struct congestion_row *rows;

	congestion_summarise(s->build, s->flows, p, r, &rows);
	for (size_t i = 0; i < s->build->scenario->n_traffic; i++) {
		struct traffic row = {
			.algorithm = name,
			.row = s->build->scenario->traffic[i].name,
			.r = rows[i],
			.of_possible = 100 * rows[i].goodput / rows[i].possible,
		};

		row.r.settled *= 1e3; /* milliseconds */
		table_put_row(c->rows, &row);
	}
	free(rows);
}

static void show_total(struct cc_comparison *c, const char *name, const struct congestion_params *p,
		       const struct congestion_result *r)
{
	double *goodput = hd_alloc(r->n_flows, sizeof(*goodput));
	struct total total = {
		.algorithm = name,
		.marked = r->marked,
		.echoed = r->echoed,
		.cnps = r->cnps,
		.marks = (double)r->marked / ((double)p->stop / (double)HD_S),
	};

	for (uint32_t i = 0; i < r->n_flows; i++) {
		goodput[i] = r->flows[i].goodput * 8 * c->session->flows[i].bytes;
		total.goodput += goodput[i];
	}
	for (uint32_t i = 0; i < r->n_ports; i++) {
		if (r->utilisation[i] > total.busiest)
			total.busiest = r->utilisation[i];
	}
	total.fairness = jain_index(goodput, r->n_flows);
	table_put_row(c->totals, &total);
	free(goodput);
}

/* The goodput over each port: of the flows that pass it. */
static double *link_goodput(const struct cc_session *s, const struct congestion_result *r)
{
	double *bits = hd_alloc(r->n_ports, sizeof(*bits));
	uint32_t path[CONGESTION_LONGEST];

	for (uint32_t f = 0; f < r->n_flows; f++) {
		uint32_t n = congestion_path(&s->build->setup, &s->flows[f], path);

		for (uint32_t k = 0; k < n; k++)
			bits[path[k]] += r->flows[f].goodput * 8 * s->flows[f].bytes;
	}
	return bits;
}

static const char *port_name(const struct cc_comparison *c, struct table *t, uint32_t port)
{
	struct strbuf text = STRBUF_INIT;

	fabric_port_name(c->session->build, port, &text);
	return table_take(t, &text);
}

static void show_links(struct cc_comparison *c, const char *name, const struct congestion_result *r)
{
	const struct sim_port *ports = c->session->build->setup.ports;
	double *bits = link_goodput(c->session, r);
	bool *shown = hd_alloc(r->n_ports, sizeof(*shown));
	uint32_t most = c->all ? r->n_ports : FEW_LINKS;

	for (uint32_t k = 0; k < most; k++) {
		uint32_t best = SIM_NONE;

		for (uint32_t i = 0; i < r->n_ports; i++) {
			if (shown[i] || bits[i] <= 0)
				continue;
			if (best == SIM_NONE || r->utilisation[i] > r->utilisation[best])
				best = i;
		}
		if (best == SIM_NONE)
			break;
		shown[best] = true;
		table_put_row(c->links, &(struct link){
						.algorithm = name,
						.port = port_name(c, c->links, best),
						.to = port_name(c, c->links, ports[best].peer),
						.used = r->utilisation[best],
						.goodput = bits[best],
					});
	}
	free(shown);
	free(bits);
}

static void show_flows(struct cc_comparison *c, const char *name, const struct congestion_result *r)
{
	const struct cc_session *s = c->session;

	for (uint32_t i = 0; i < r->n_flows; i++) {
		const struct congestion_outcome *f = &r->flows[i];
		double megabits = 8e-6 * s->flows[i].bytes;
		struct flow row = {
			.algorithm = name,
			.row = s->build->scenario->traffic[s->flows[i].row].name,
			.answer = sim_answer_name(f->answer),
			.flow = i,
			.goodput = f->goodput * megabits,
			.rate = f->rate * megabits,
			.lowest = f->lowest * megabits,
			.highest = f->highest * megabits,
			.reserve = (double)s->flows[i].reserve / 1e6,
			.r = *f,
		};

		if (c->flows)
			table_put_row(c->flows, &row);
		if (!c->answers || f->answer == SIM_NOT_ASKED)
			continue;
		if (f->rejected_by != SIM_NONE)
			row.rejected_by = port_name(c, c->answers, f->rejected_by);
		table_put_row(c->answers, &row);
	}
}

static void show_probes(struct cc_comparison *c, const char *name,
			const struct congestion_result *r)
{
	uint64_t most = 0;

	for (uint32_t i = 0; i < r->n_ports; i++) {
		if (r->reserved[i] > most)
			most = r->reserved[i];
	}
	table_put_row(c->probes,
		      &(struct probes){ name, r->probes, r->accepts, r->rejects, (double)most });
}

static void show_samples(struct cc_comparison *c, const char *name,
			 const struct congestion_result *r)
{
	for (size_t i = 0; i < r->n_samples; i++)
		table_put_row(c->samples, &(struct sample){ name, r->samples[i] });
}

enum hd_status cc_compare_run(struct cc_comparison *c, const struct cc_algorithm *algorithm,
			      struct diag *d)
{
	const struct cc_session *s = c->session;
	const char *name = algorithm ? algorithm->name : "none";
	struct congestion_params p = s->params;
	struct congestion_result r;

	p.algorithm = algorithm;
	if (!algorithm)
		p.marking.rule = MARK_NONE;
	if (algorithm && algorithm->increase) {
		p.echo = SIM_ECHO_ACK; /* CNPs and SLs are CCT's */
		p.per_sl = false;
	}
	p.sample = c->sample ? c->sample : (p.stop + CONGESTION_SAMPLES - 1) / CONGESTION_SAMPLES;
	enum hd_status status =
		congestion_run(&s->build->setup, s->flows, s->build->n_flows, &p, d, &r);

	if (status != HD_OK)
		return status;
	if (algorithm && cc_warning(algorithm, &p.response))
		results_remark(c->results, "%s: %s", name, cc_warning(algorithm, &p.response));
	show_rows(c, name, &p, &r);
	show_total(c, name, &p, &r);
	show_links(c, name, &r);
	show_flows(c, name, &r);
	if (c->answers)
		show_probes(c, name, &r);
	if (c->samples)
		show_samples(c, name, &r);
	congestion_result_fini(&r);
	return HD_OK;
}
