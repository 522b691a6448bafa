/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "qos/fill.h"
#include "qos/plan.h"

static const struct column columns[] = {
	{ "class", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "sl", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "vl", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "table", NULL, VALUE_TEXT, ORIGIN_COMPUTED, 0 },
	{ "weights", "64 B", VALUE_TEXT, ORIGIN_COMPUTED, 0 },
	{ "wanted", "%", VALUE_REAL, ORIGIN_GIVEN, 2 },
	{ "achieved", "%", VALUE_REAL, ORIGIN_COMPUTED, 2 },
	{ "floor", "%", VALUE_REAL, ORIGIN_COMPUTED, 2 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

static const struct column limit_columns[] = {
	{ "vls", NULL, VALUE_UINT, ORIGIN_GIVEN, 0 },
	{ "high limit", "4096 B", VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

static void put_class(struct table *t, const struct plan *plan,
		      const struct plan_class *c, const struct plan_outcome *o)
{
	const struct vlarb *arb = &plan->tables.vlarb;
	struct strbuf weights = STRBUF_INIT;

	vlarb_print_weights(c->latency ? arb->high : arb->low,
			    c->latency ? arb->n_high : arb->n_low, o->vl,
			    &weights);
	table_put_text(t, c->name);
	table_put_uint(t, o->sl);
	table_put_uint(t, o->vl);
	table_put_text(t, c->latency ? "high" : "low");
	table_put_text(t, weights.text);
	table_put_real(t, 100 * o->wanted);
	table_put_real(t, 100 * o->achieved);
	table_put_real(t, 100 * o->floor);
	strbuf_fini(&weights);
}

void plan_show(const struct plan *plan, const struct plan_class *classes,
	       unsigned n, struct results *r)
{
	struct table *t = results_table(
		r, "classes", "what each class gets when the others are busy",
		columns);
	struct table *limit =
		results_record(r, "tables", "common to all", limit_columns);

	for (unsigned i = 0; i < n; i++)
		put_class(t, plan, &classes[i], &plan->outcome[i]);
	table_put_uint(limit, plan->tables.vls);
	table_put_uint(limit, plan->tables.vlarb.high_limit);
	for (const char *line = plan->remarks.text; *line;) {
		size_t len = strcspn(line, "\n");

		results_remark(r, "%.*s", (int)len, line);
		line += len + (line[len] == '\n');
	}
}
