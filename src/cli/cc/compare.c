/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/cc/compare.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "measure/fairness.h"
#include "sim/congestion/summary.h"

#define FEW_LINKS 4

static const struct column row_columns[] = {
	{ "algorithm", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "row", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "flows", NULL, VALUE_UINT, ORIGIN_GIVEN, 0 },
	{ "goodput", "Mb/s", VALUE_REAL, ORIGIN_SIMULATED, 1 },
	{ "of possible", "%", VALUE_REAL, ORIGIN_SIMULATED, 2 },
	{ "rate variable", "Mb/s", VALUE_REAL, ORIGIN_SIMULATED, 1 },
	{ "marks per flow", "1/s", VALUE_REAL, ORIGIN_SIMULATED, 1 },
	{ "balance", "1/s", VALUE_REAL, ORIGIN_SIMULATED, 1 },
	{ "settled", "ms", VALUE_REAL, ORIGIN_SIMULATED, 2 },
	{ "oscillation", "%", VALUE_REAL, ORIGIN_SIMULATED, 1 },
	{ "fairness", NULL, VALUE_REAL, ORIGIN_SIMULATED, 4 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

static const struct column total_columns[] = {
	{ "algorithm", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "goodput", "Mb/s", VALUE_REAL, ORIGIN_SIMULATED, 1 },
	{ "busiest link", "%", VALUE_REAL, ORIGIN_SIMULATED, 2 },
	{ "fairness", NULL, VALUE_REAL, ORIGIN_SIMULATED, 4 },
	{ "FECN", NULL, VALUE_UINT, ORIGIN_SIMULATED, 0 },
	{ "BECN", NULL, VALUE_UINT, ORIGIN_SIMULATED, 0 },
	{ "CNP", NULL, VALUE_UINT, ORIGIN_SIMULATED, 0 },
	{ "marked", "1/s", VALUE_REAL, ORIGIN_SIMULATED, 1 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

static const struct column link_columns[] = {
	{ "algorithm", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "port", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "to", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "used", "%", VALUE_REAL, ORIGIN_SIMULATED, 2 },
	{ "goodput", "Mb/s", VALUE_REAL, ORIGIN_SIMULATED, 1 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

static const struct column flow_columns[] = {
	{ "algorithm", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "flow", NULL, VALUE_UINT, ORIGIN_GIVEN, 0 },
	{ "row", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "goodput", "Mb/s", VALUE_REAL, ORIGIN_SIMULATED, 1 },
	{ "rate variable", "Mb/s", VALUE_REAL, ORIGIN_SIMULATED, 1 },
	{ "lowest", "Mb/s", VALUE_REAL, ORIGIN_SIMULATED, 1 },
	{ "highest", "Mb/s", VALUE_REAL, ORIGIN_SIMULATED, 1 },
	{ "marks", "1/s", VALUE_REAL, ORIGIN_SIMULATED, 1 },
	{ "packets", "1/s", VALUE_REAL, ORIGIN_SIMULATED, 1 },
	{ "rate", "1/s", VALUE_REAL, ORIGIN_SIMULATED, 1 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

static const struct column admission_columns[] = {
	{ "algorithm", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "flow", NULL, VALUE_UINT, ORIGIN_GIVEN, 0 },
	{ "row", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "asked for", "Mb/s", VALUE_REAL, ORIGIN_GIVEN, 1 },
	{ "answer", NULL, VALUE_TEXT, ORIGIN_SIMULATED, 0 },
	{ "after", "us", VALUE_REAL, ORIGIN_SIMULATED, 3 },
	{ "rejected by", NULL, VALUE_TEXT, ORIGIN_SIMULATED, 0 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

static const struct column probe_columns[] = {
	{ "algorithm", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "probes", NULL, VALUE_UINT, ORIGIN_SIMULATED, 0 },
	{ "accepts", NULL, VALUE_UINT, ORIGIN_SIMULATED, 0 },
	{ "rejects", NULL, VALUE_UINT, ORIGIN_SIMULATED, 0 },
	{ "most reserved", "Mb/s", VALUE_REAL, ORIGIN_SIMULATED, 1 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

static const struct column sample_columns[] = {
	{ "time", "us", VALUE_REAL, ORIGIN_GIVEN, 3 },
	{ "algorithm", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "flow", NULL, VALUE_UINT, ORIGIN_GIVEN, 0 },
	{ "rate", "1/s", VALUE_REAL, ORIGIN_SIMULATED, 1 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
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
	c->rows = results_table(r, "rows", "what each row of traffic received",
				row_columns);
	c->totals = results_table(r, "totals", "all of them together",
				  total_columns);
	c->links = results_table(r, "links",
				 c->all ? "the links that were used"
					: "the busiest links; --all shows all",
				 link_columns);
	if (c->all)
		c->flows = results_table(r, "flows", "what each flow received",
					 flow_columns);
	if (asks(c->session)) {
		c->answers = results_table(
			r, "admission", "who asked for how much, and was told",
			admission_columns);
		c->probes = results_table(
			r, "probes",
			"packets of admission sent by devices, and what the most promised link holds at the end",
			probe_columns);
	}
	if (c->sample)
		c->samples = results_series(r, "rates",
					    "the rate variables over time",
					    sample_columns);
}

static void show_rows(struct cc_comparison *c, const char *name,
		      const struct congestion_params *p,
		      const struct congestion_result *r)
{
	const struct cc_session *s = c->session;
	struct congestion_row *rows;

	congestion_summarise(s->build, s->flows, p, r, &rows);
	for (size_t i = 0; i < s->build->scenario->n_traffic; i++) {
		const struct congestion_row *row = &rows[i];

		table_put_text(c->rows, name);
		table_put_text(c->rows, s->build->scenario->traffic[i].name);
		table_put_uint(c->rows, row->flows);
		table_put_real(c->rows, row->goodput / 1e6);
		table_put_real(c->rows, 100 * row->goodput / row->possible);
		table_put_real(c->rows, row->rate / 1e6);
		table_put_real(c->rows, row->marks);
		table_put_real(c->rows, row->balance);
		table_put_real(c->rows, 1e3 * row->settled);
		table_put_real(c->rows, 100 * row->oscillation);
		table_put_real(c->rows, row->fairness);
	}
	free(rows);
}

static void show_total(struct cc_comparison *c, const char *name,
		       const struct congestion_params *p,
		       const struct congestion_result *r)
{
	double *goodput = hd_alloc(r->n_flows, sizeof(*goodput));
	double sum = 0, busiest = 0;

	for (uint32_t i = 0; i < r->n_flows; i++) {
		goodput[i] =
			r->flows[i].goodput * 8 * c->session->flows[i].bytes;
		sum += goodput[i];
	}
	for (uint32_t i = 0; i < r->n_ports; i++) {
		if (r->utilisation[i] > busiest)
			busiest = r->utilisation[i];
	}
	table_put_text(c->totals, name);
	table_put_real(c->totals, sum / 1e6);
	table_put_real(c->totals, 100 * busiest);
	table_put_real(c->totals, jain_index(goodput, r->n_flows));
	table_put_uint(c->totals, r->marked);
	table_put_uint(c->totals, r->echoed);
	table_put_uint(c->totals, r->cnps);
	table_put_real(c->totals,
		       (double)r->marked / ((double)p->stop / (double)HD_S));
	free(goodput);
}

/* The goodput over each port: of the flows that pass it. */
static double *link_goodput(const struct cc_session *s,
			    const struct congestion_result *r)
{
	double *bits = hd_alloc(r->n_ports, sizeof(*bits));
	uint32_t path[CONGESTION_LONGEST];

	for (uint32_t f = 0; f < r->n_flows; f++) {
		uint32_t n = congestion_path(&s->build->setup, &s->flows[f],
					     path, CONGESTION_LONGEST);

		for (uint32_t k = 0; k < n; k++)
			bits[path[k]] +=
				r->flows[f].goodput * 8 * s->flows[f].bytes;
	}
	return bits;
}

static void show_link(struct cc_comparison *c, const char *name, uint32_t port,
		      double used, double goodput)
{
	const struct fabric *b = c->session->build;
	struct strbuf text = STRBUF_INIT;

	table_put_text(c->links, name);
	fabric_port_name(b, port, &text);
	table_put_text(c->links, text.text);
	strbuf_fini(&text);
	fabric_port_name(b, b->setup.ports[port].peer, &text);
	table_put_text(c->links, text.text);
	strbuf_fini(&text);
	table_put_real(c->links, 100 * used);
	table_put_real(c->links, goodput / 1e6);
}

static void show_links(struct cc_comparison *c, const char *name,
		       const struct congestion_result *r)
{
	double *bits = link_goodput(c->session, r);
	bool *shown = hd_alloc(r->n_ports, sizeof(*shown));
	uint32_t most = c->all ? r->n_ports : FEW_LINKS;

	for (uint32_t k = 0; k < most; k++) {
		uint32_t best = SIM_NONE;

		for (uint32_t i = 0; i < r->n_ports; i++) {
			if (shown[i] || bits[i] <= 0)
				continue;
			if (best == SIM_NONE ||
			    r->utilisation[i] > r->utilisation[best])
				best = i;
		}
		if (best == SIM_NONE)
			break;
		shown[best] = true;
		show_link(c, name, best, r->utilisation[best], bits[best]);
	}
	free(shown);
	free(bits);
}

static void show_flows(struct cc_comparison *c, const char *name,
		       const struct congestion_result *r)
{
	const struct cc_session *s = c->session;

	for (uint32_t i = 0; i < r->n_flows; i++) {
		const struct congestion_outcome *f = &r->flows[i];
		double megabits = 8e-6 * s->flows[i].bytes;

		table_put_text(c->flows, name);
		table_put_uint(c->flows, i);
		table_put_text(
			c->flows,
			s->build->scenario->traffic[s->flows[i].row].name);
		table_put_real(c->flows, f->goodput * megabits);
		table_put_real(c->flows, f->rate * megabits);
		table_put_real(c->flows, f->lowest * megabits);
		table_put_real(c->flows, f->highest * megabits);
		table_put_real(c->flows, f->marks);
		table_put_real(c->flows, f->goodput);
		table_put_real(c->flows, f->rate);
	}
}

static void show_answers(struct cc_comparison *c, const char *name,
			 const struct congestion_result *r)
{
	const struct cc_session *s = c->session;

	for (uint32_t i = 0; i < r->n_flows; i++) {
		const struct congestion_outcome *f = &r->flows[i];

		if (f->answer == ANSWER_NOT_ASKED)
			continue;
		table_put_text(c->answers, name);
		table_put_uint(c->answers, i);
		table_put_text(
			c->answers,
			s->build->scenario->traffic[s->flows[i].row].name);
		table_put_real(c->answers, (double)s->flows[i].reserve / 1e6);
		table_put_text(c->answers, congestion_answer_name(f->answer));
		table_put_time(c->answers, f->answered);
		if (f->rejected_by == SIM_NONE) {
			table_put_none(c->answers);
			continue;
		}
		struct strbuf port = STRBUF_INIT;

		fabric_port_name(s->build, f->rejected_by, &port);
		table_put_text(c->answers, port.text);
		strbuf_fini(&port);
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
	table_put_text(c->probes, name);
	table_put_uint(c->probes, r->probes);
	table_put_uint(c->probes, r->accepts);
	table_put_uint(c->probes, r->rejects);
	table_put_real(c->probes, (double)most / 1e6);
}

static void show_samples(struct cc_comparison *c, const char *name,
			 const struct congestion_result *r)
{
	for (size_t i = 0; i < r->n_samples; i++) {
		table_put_time(c->samples, r->samples[i].time);
		table_put_text(c->samples, name);
		table_put_uint(c->samples, r->samples[i].flow);
		table_put_real(c->samples, r->samples[i].rate);
	}
}

enum hd_status cc_compare_run(struct cc_comparison *c,
			      const struct cc_algorithm *algorithm,
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
	p.sample = c->sample ? c->sample
			     : (p.stop + CONGESTION_SAMPLES - 1) /
				       CONGESTION_SAMPLES;
	enum hd_status status = congestion_run(&s->build->setup, s->flows,
					       s->build->n_flows, &p, d, &r);

	if (status != HD_OK)
		return status;
	if (algorithm && cc_warning(algorithm, &p.response))
		results_remark(c->results, "%s: %s", name,
			       cc_warning(algorithm, &p.response));
	show_rows(c, name, &p, &r);
	show_total(c, name, &p, &r);
	show_links(c, name, &r);
	if (c->flows)
		show_flows(c, name, &r);
	if (c->answers) {
		show_answers(c, name, &r);
		show_probes(c, name, &r);
	}
	if (c->samples)
		show_samples(c, name, &r);
	congestion_result_fini(&r);
	return HD_OK;
}
