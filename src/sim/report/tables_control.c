/* SPDX-License-Identifier: BSD-2-Clause */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/strbuf.h"
#include "fabric/control.h"
#include "scenario/words.h"
#include "sim/report/report_internal.h"
#include "sim/report/tables.h"

#define MOST_ROWS 32 /* unless --all */

struct row_row {
	const char *traffic;
	uint64_t flows;
	double allowed, delivered, lowest, highest, marks_heard;
	uint64_t timeouts, waiting;
};

static const struct column row_columns[] = {
	{ "traffic", NULL, CELL(row_row, traffic) },
	{ "flows", NULL, CELL(row_row, flows) },
	{ "allowed", "Gb/s", CELL(row_row, allowed), ORIGIN_SIMULATED, 3 },
	{ "delivered", "Gb/s", CELL(row_row, delivered), ORIGIN_SIMULATED, 3 },
	{ "lowest", "Gb/s", CELL(row_row, lowest), ORIGIN_SIMULATED, 3 },
	{ "highest", "Gb/s", CELL(row_row, highest), ORIGIN_SIMULATED, 3 },
	{ "marks heard", "1/s", CELL(row_row, marks_heard), ORIGIN_SIMULATED, 1 },
	{ "timeouts", NULL, CELL(row_row, timeouts), ORIGIN_SIMULATED },
	{ "waiting", NULL, CELL(row_row, waiting), ORIGIN_SIMULATED },
	{ NULL },
};

struct packet_row {
	const char *packets;
	uint64_t number;
};

static const struct column packet_columns[] = {
	{ "packets", NULL, CELL(packet_row, packets) },
	{ "number", NULL, CELL(packet_row, number), ORIGIN_SIMULATED },
	{ NULL },
};

struct admission_answer_row {
	const char *flow;
	hd_time asked;
	const char *answer;
	hd_time after;
	const char *refused_by;
};

static const struct column answer_columns[] = {
	{ "flow", NULL, CELL(admission_answer_row, flow) },
	{ "asked", "us", CELL_TIME(admission_answer_row, asked), ORIGIN_SIMULATED, 3 },
	{ "answer", NULL, CELL(admission_answer_row, answer), ORIGIN_SIMULATED },
	{ "after", "us", CELL_TIME(admission_answer_row, after), ORIGIN_SIMULATED, 3 },
	{ "refused by", NULL, CELL(admission_answer_row, refused_by), ORIGIN_SIMULATED },
	{ NULL },
};

const char *sim_answer_name(enum sim_answer answer)
{
	static const char *const names[] = {
		[SIM_OPEN] = "open",           [SIM_ADMITTED] = "admitted",
		[SIM_REJECTED] = "rejected",   [SIM_RELEASED] = "released",
		[SIM_NOT_ASKED] = "not asked",
	};

	return names[answer];
}

/* ---- rates of the rows ----------------------------------------------- */

struct row_rates {
	uint32_t flows;
	double allowed, lowest, highest; /* bits of payload per second */
	double delivered;                /* bytes of payload */
	uint64_t marks, timeouts;
	uint64_t waiting; /* packets at throttles when the run ended */
	/* Packets that only a timeout releases, and their flows. */
	uint64_t stopped_packets, stopped_flows;
};

static void add_flow(const struct report_input *f, uint32_t flow, struct row_rates *rows)
{
	const struct sim_flow *is = &f->fabric->flows[flow];
	struct row_rates *row = &rows[is->row];
	double bits = 8.0 * (double)(is->bytes - findings_overhead(f->fabric, flow));
	struct sim_flow_control c;

	/* Queue pairs are paced by their own rate. */
	if (is->posted || !sim_flow_control(f->sim, flow, &c))
		return;
	row->lowest = row->flows ? fmin(row->lowest, c.lowest * bits) : c.lowest * bits;
	row->highest = fmax(row->highest, c.highest * bits);
	row->allowed += c.mean * bits;
	row->delivered += (double)findings_delivered(f->fabric, &f->metrics->flows[flow], flow);
	row->marks += c.marks;
	row->timeouts += c.timeouts;
	row->waiting += c.waiting;
	row->stopped_packets += c.awaits_timeout ? c.waiting : 0;
	row->stopped_flows += c.awaits_timeout;
	row->flows++;
}

/* C6: unacknowledged packets that are lost stop a flow until the timeout. */
static void remark_timeouts(const struct report_input *f, const struct row_rates *rows,
			    struct results *r)
{
	const struct scenario *s = f->fabric->scenario;
	struct row_rates all = { 0 };
	char timeout[32] = "never";

	for (size_t i = 0; i < s->n_traffic; i++) {
		all.timeouts += rows[i].timeouts;
		all.stopped_packets += rows[i].stopped_packets;
		all.stopped_flows += rows[i].stopped_flows;
	}
	if (!all.timeouts && !all.stopped_flows)
		return;
	if (s->congestion.timeout)
		snprintf(timeout, sizeof(timeout), "%g us",
			 (double)s->congestion.timeout / (double)HD_US);
	results_remark(
		r,
		"congestion control: flows whose unacknowledged packets were lost or held up sent nothing until congestion.timeout (%s), %llu times; %llu flows with %llu packets wait for it at the end; a smaller congestion.timeout lets them continue sooner",
		timeout, (unsigned long long)all.timeouts, (unsigned long long)all.stopped_flows,
		(unsigned long long)all.stopped_packets);
}

static void rates_table(const struct report_input *f, struct results *r)
{
	const struct scenario *scenario = f->fabric->scenario;
	struct row_rates *rows = hd_alloc(scenario->n_traffic, sizeof(*rows));
	double seconds = findings_seconds(f->metrics);
	struct table *t = NULL;

	for (uint32_t i = 0; i < f->fabric->n_flows; i++)
		add_flow(f, i, rows);
	for (size_t i = 0; i < scenario->n_traffic; i++) {
		if (!rows[i].flows)
			continue;
		if (!t)
			t = results_table(
				r, "control",
				"what congestion control allowed, and what was delivered: mean rates of payload, per flow",
				row_columns);
		const struct row_row row = {
			.traffic = scenario->traffic[i].name,
			.flows = rows[i].flows,
			.allowed = rows[i].allowed / rows[i].flows / 1e9,
			.delivered = findings_gbps(rows[i].delivered / rows[i].flows, seconds),
			.lowest = rows[i].lowest / 1e9,
			.highest = rows[i].highest / 1e9,
			.marks_heard = seconds > 0 ? (double)rows[i].marks / seconds : 0,
			.timeouts = rows[i].timeouts,
			.waiting = rows[i].waiting,
		};

		table_put_row(t, &row);
	}
	remark_timeouts(f, rows, r);
	free(rows);
}

/* ---- rows without control -------------------------------------------- */

struct uncontrolled_row {
	const char *traffic;
	uint64_t flows;
	const char *why;
};

static const struct column uncontrolled_columns[] = {
	{ "traffic", NULL, CELL(uncontrolled_row, traffic) },
	{ "flows", NULL, CELL(uncontrolled_row, flows), ORIGIN_COMPUTED },
	{ "reason", NULL, CELL(uncontrolled_row, why), ORIGIN_COMPUTED },
	{ NULL },
};

static void uncontrolled_table(const struct report_input *f, struct results *r)
{
	const struct scenario *s = f->fabric->scenario;
	struct uncontrolled_row *rows = hd_alloc(s->n_traffic, sizeof(*rows));
	struct table *t = NULL;
	bool has_sources = fabric_algorithm(s->congestion.algorithm) != NULL;

	for (uint32_t i = 0; has_sources && i < f->fabric->n_flows; i++) {
		struct uncontrolled_row *row = &rows[f->fabric->flows[i].row];
		const char *why = fabric_uncontrolled(f->fabric, i);

		row->flows += why != NULL;
		row->why = why ? why : row->why;
	}
	for (size_t i = 0; i < s->n_traffic; i++) {
		if (!rows[i].flows)
			continue;
		rows[i].traffic = s->traffic[i].name;
		if (!t)
			t = results_table(r, "uncontrolled",
					  "flows that no congestion control holds back",
					  uncontrolled_columns);
		table_put_row(t, &rows[i]);
	}
	free(rows);
}

/* ---- packets --------------------------------------------------------- */

static void packets_table(struct sim *s, struct results *r)
{
	struct sim_control_counts c;
	struct table *t =
		results_table(r, "marks", "packets of congestion control, all run", packet_columns);

	sim_control_counts(s, &c);
	const struct {
		const char *name;
		uint64_t n;
	} rows[] = {
		{ "marked by switches", c.marked },
		{ "acknowledgements", c.acks },
		{ "of them with BECN", c.echoed },
		{ "notifications (CNPs)", c.cnps },
		{ "probes", c.probes },
		{ "accepts", c.accepts },
		{ "rejects", c.rejects },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		if (i > 0 && rows[i].n == 0)
			continue;
		const struct packet_row row = {
			.packets = rows[i].name,
			.number = rows[i].n,
		};

		table_put_row(t, &row);
	}
}

/* ---- admission ------------------------------------------------------- */

static void put_answer(const struct report_input *f, uint32_t flow, const struct sim_admission *a,
		       struct table *t)
{
	struct strbuf name = STRBUF_INIT;

	findings_flow_name(f->fabric, flow, &name);
	const struct admission_answer_row row = {
		.flow = table_take(t, &name),
		.asked = a->asked,
		.answer = sim_answer_name(a->answer),
		.after = a->answer == SIM_OPEN ? HD_TIME_NEVER : a->answered - a->asked,
		.refused_by = a->rejected_by == SIM_NONE
				      ? ""
				      : findings_port_name(f->fabric, a->rejected_by, t),
	};

	table_put_row(t, &row);
}

static void answers_table(const struct report_input *f, struct results *r)
{
	struct table *t = NULL;
	unsigned rows = 0;

	for (uint32_t i = 0; i < f->fabric->n_flows; i++) {
		struct sim_admission a;

		if (!sim_admission(f->sim, i, &a) || (rows++ >= MOST_ROWS && !f->all))
			continue;
		if (!t)
			t = results_table(r, "admission", "flows that asked before they sent",
					  answer_columns);
		put_answer(f, i, &a, t);
	}
}

static const char *control_name(const struct report_input *f)
{
	return scn_algorithm_words[f->fabric->scenario->congestion.algorithm];
}

void report_end_tables(const struct report_input *f, struct results *r)
{
	if (f->fabric->setup.control) {
		const char *warning = fabric_control_warning(f->fabric);

		rates_table(f, r);
		uncontrolled_table(f, r);
		packets_table(f->sim, r);
		answers_table(f, r);
		if (warning)
			results_remark(r, "%s: %s", control_name(f), warning);
	}
	findings_vl_sharing(f, r);
}
