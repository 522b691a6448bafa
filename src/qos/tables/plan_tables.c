/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "qos/tables/fill.h"
#include "qos/tables/plan.h"

struct plan_row {
	const char *class;
	uint64_t sl, vl;
	const char *table, *weights;
	double wanted, achieved, floor;
};

static const struct column columns[] = {
	{ "class", NULL, CELL(plan_row, class) },
	{ "sl", NULL, CELL(plan_row, sl), ORIGIN_COMPUTED },
	{ "vl", NULL, CELL(plan_row, vl), ORIGIN_COMPUTED },
	{ "table", NULL, CELL(plan_row, table), ORIGIN_COMPUTED },
	{ "weights", "64 B", CELL(plan_row, weights), ORIGIN_COMPUTED },
	{ "wanted", "%", CELL(plan_row, wanted), ORIGIN_GIVEN, 2 },
	{ "achieved", "%", CELL(plan_row, achieved), ORIGIN_COMPUTED, 2 },
	{ "floor", "%", CELL(plan_row, floor), ORIGIN_COMPUTED, 2 },
	{ NULL },
};

static const struct column limit_columns[] = {
	{ "vls", NULL, CELL(plan, tables.vls) },
	{ "high limit", "x 4096 B", CELL(plan, tables.vlarb.high_limit), ORIGIN_COMPUTED },
	{ NULL },
};

static void put_class(struct table *t, const struct plan *plan, const struct plan_class *c,
		      const struct plan_outcome *o)
{
	const struct vlarb *arb = &plan->tables.vlarb;
	struct strbuf weights = STRBUF_INIT;
	bool high = c->latency && plan->tables.vls > 1;

	fill_print_weights(high ? arb->high : arb->low, high ? arb->n_high : arb->n_low, o->vl,
			   &weights);
	const struct plan_row row = {
		.class = c->name,
		.sl = o->sl,
		.vl = o->vl,
		.table = high ? "high" : "low",
		.weights = weights.text,
		.wanted = 100 * o->wanted,
		.achieved = 100 * o->achieved,
		.floor = 100 * o->floor,
	};

	table_put_row(t, &row);
	strbuf_fini(&weights);
}

/* Service of programs that set no SL. */
static void show_default(const struct plan *plan, const struct plan_class *classes, unsigned n,
			 struct results *r)
{
	const unsigned i = plan->default_class;

	if (i < n)
		results_remark(
			r, "programs that set no SL use SL 0, class '%s': %.2f %% of a busy link",
			classes[i].name, 100 * plan->outcome[i].achieved);
	else
		results_remark(
			r,
			"no class has SL 0: programs that set no SL use VL %u with the SLs without a class",
			plan->tables.sl2vl.vl[0]);
}

void plan_show(const struct plan *plan, const struct plan_class *classes, unsigned n,
	       struct results *r)
{
	struct table *t = results_table(r, "classes",
					"what each class gets when the others are busy", columns);
	struct table *limit = results_record(r, "tables", "common to all", limit_columns);

	for (unsigned i = 0; i < n; i++)
		put_class(t, plan, &classes[i], &plan->outcome[i]);
	table_put_row(limit, plan);
	show_default(plan, classes, n, r);
	for (const char *line = plan->remarks.text; *line;) {
		size_t len = strcspn(line, "\n");

		results_remark(r, "%.*s", (int)len, line);
		line += len + (line[len] == '\n');
	}
}
