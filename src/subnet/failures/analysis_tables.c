/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <math.h>

#include "subnet/failures/analysis.h"

struct whole_row {
	uint32_t n_ends, n_switches;
	struct failure_figures figures;
};

static const struct column whole_columns[] = {
	{ "end ports", NULL, CELL(whole_row, n_ends), ORIGIN_COMPUTED },
	{ "switches", NULL, CELL(whole_row, n_switches), ORIGIN_COMPUTED },
	{ "paths", NULL, CELL(whole_row, figures.n_reached), ORIGIN_COMPUTED },
	{ "paths broken", NULL, CELL(whole_row, figures.n_broken), ORIGIN_COMPUTED },
	{ "can lock up", NULL, CELL(whole_row, figures.can_lock), ORIGIN_COMPUTED },
	{ "most flows", NULL, CELL(whole_row, figures.most_flows), ORIGIN_COMPUTED },
	{ "share", "%", CELL_SHARE(whole_row, figures.share), ORIGIN_COMPUTED, 2 },
	{ NULL },
};

struct ends_row {
	const char *kind;
	uint64_t n, refused, locks, broken, lost, slower, harmless;
};

static const struct column ends_columns[] = {
	{ "what fails", NULL, CELL(ends_row, kind) },
	{ "cases", NULL, CELL(ends_row, n), ORIGIN_COMPUTED },
	{ "refused", NULL, CELL(ends_row, refused), ORIGIN_COMPUTED },
	{ "can lock up", NULL, CELL(ends_row, locks), ORIGIN_COMPUTED },
	{ "paths broken", NULL, CELL(ends_row, broken), ORIGIN_COMPUTED },
	{ "end ports lost", NULL, CELL(ends_row, lost), ORIGIN_COMPUTED },
	{ "slower", NULL, CELL(ends_row, slower), ORIGIN_COMPUTED },
	{ "harmless", NULL, CELL(ends_row, harmless), ORIGIN_COMPUTED },
	{ NULL },
};

struct case_row {
	const char *kind, *name, *verdict, *why;
	double load; /* of the busiest link, over what it was */
	struct failure_case of;
};

static const struct column case_columns[] = {
	{ "kind", NULL, CELL(case_row, kind) },
	{ "what fails", NULL, CELL(case_row, name) },
	{ "verdict", NULL, CELL(case_row, verdict), ORIGIN_COMPUTED },
	{ "end ports lost", NULL, CELL(case_row, of.n_lost), ORIGIN_COMPUTED },
	{ "paths broken", NULL, CELL(case_row, of.figures.n_broken), ORIGIN_COMPUTED },
	{ "most flows", NULL, CELL(case_row, of.figures.most_flows), ORIGIN_COMPUTED },
	{ "of before", NULL, CELL(case_row, load), ORIGIN_COMPUTED, 3 },
	{ "share", "%", CELL_SHARE(case_row, of.figures.share), ORIGIN_COMPUTED, 2 },
	{ "blocks written", NULL, CELL(case_row, of.n_writes), ORIGIN_COMPUTED },
	{ "entries changed", NULL, CELL(case_row, of.n_changes), ORIGIN_COMPUTED },
	{ "why refused", NULL, CELL(case_row, why), ORIGIN_COMPUTED },
	{ NULL },
};

static void name_node(const struct failure_analysis *s, node_id v, struct strbuf *out)
{
	const struct topo_node *n = &s->whole->topo->nodes[v];

	strbuf_puts(out, n->name);
	if (s->shares_name[v])
		strbuf_printf(out, " (0x%016" PRIx64 ")", n->guid);
}

static void name_cable(const struct failure_analysis *s, port_id p, struct strbuf *out)
{
	const struct topo *t = s->whole->topo;
	port_id q = t->ports[p].peer;

	name_node(s, t->ports[p].node, out);
	strbuf_printf(out, "/%u - ", t->ports[p].number);
	name_node(s, t->ports[q].node, out);
	strbuf_printf(out, "/%u", t->ports[q].number);
}

void failure_name(const struct failure_analysis *s, const struct failure_case *c,
		  struct strbuf *out)
{
	if (c->kind == FAILURE_SWITCHES) {
		name_node(s, c->what[0], out);
		return;
	}
	name_cable(s, c->what[0], out);
	if (c->what[1] != TOPO_NONE) {
		strbuf_puts(out, ", ");
		name_cable(s, c->what[1], out);
	}
}

static void show_ends(struct results *r, const struct failure_analysis *s)
{
	struct table *t = results_table(r, "verdicts", "how the cases ended", ends_columns);

	for (unsigned k = 0; k < N_FAILURE_KINDS; k++) {
		const size_t *of = s->n_of[k];
		uint64_t n = 0;

		for (unsigned v = 0; v < N_FAILURE_VERDICTS; v++)
			n += of[v];
		if (n)
			table_put_row(t, &(struct ends_row){
						 .kind = failure_kind_names[k],
						 .n = n,
						 .refused = of[FAILURE_REFUSED],
						 .locks = of[FAILURE_LOCKS],
						 .broken = of[FAILURE_BROKEN],
						 .lost = of[FAILURE_LOST],
						 .slower = of[FAILURE_SLOWER],
						 .harmless = of[ANALYSIS_HARMLESS],
					 });
	}
}

static void show_case(struct table *t, const struct failure_analysis *s,
		      const struct failure_case *c)
{
	struct strbuf name = STRBUF_INIT;
	struct case_row row = {
		.kind = failure_kind_names[c->kind],
		.verdict = failure_verdict_names[c->verdict],
		.why = c->refusal,
		.load = (double)c->figures.most_flows / (double)s->before.most_flows,
		.of = *c,
	};

	if (c->refusal)
		row.load = row.of.figures.share = NAN;
	failure_name(s, c, &name);
	row.name = table_take(t, &name);
	table_put_row(t, &row);
}

void failure_show(struct results *r, const struct failure_analysis *s, uint64_t worst)
{
	struct table *t = results_record(r, "fabric", "before anything failed", whole_columns);

	table_put_row(t, &(struct whole_row){
				 .n_ends = s->before.n_ends,
				 .n_switches = s->whole->n_switches,
				 .figures = s->before,
			 });
	show_ends(r, s);
	t = results_table(r, "failures", "the worst of each kind first", case_columns);
	uint64_t n = 0;

	for (size_t i = 0; i < s->n; i++) {
		n = i && s->cases[i].kind == s->cases[i - 1].kind ? n + 1 : 1;
		if (!worst || n <= worst)
			show_case(t, s, &s->cases[i]);
	}
	results_remark(
		r,
		"most flows: on one link between switches when every end port sends to every other");
	if (s->permuted)
		results_remark(
			r,
			"share: what a sender gets of its link on the mean of random permutations");
}
