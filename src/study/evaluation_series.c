/* SPDX-License-Identifier: BSD-2-Clause */
#include "study/evaluation_series.h"

#include <stdlib.h>

#include "base/alloc.h"

struct runs {
	const struct eval_series *series;
	struct eval_result *items;
	uint32_t n;
	size_t cap;
	double packets; /* of those that are done */
};

static bool show(void *context, const struct sim_progress *p)
{
	struct runs *r = context;
	const struct eval_series *s = r->series;

	return !s->progress || s->progress(s->context, r->n, r->packets + (double)p->delivered);
}

static enum hd_status simulate(struct runs *r, const struct eval_plan *plan, struct diag *d)
{
	r->items = hd_grow(r->items, &r->cap, r->n + 1, sizeof(*r->items));
	enum hd_status status = eval_run(plan, show, r, d, &r->items[r->n]);

	if (status == HD_OK)
		r->packets += (double)r->items[r->n++].delivered_packets;
	return status;
}

static enum hd_status all_draws(struct runs *r, struct eval_plan plan, struct diag *d)
{
	enum hd_status status = HD_OK;

	for (uint32_t i = 0; i < r->series->seeds && status == HD_OK; i++) {
		if (r->series->goes_on && !r->series->goes_on())
			break;
		status = simulate(r, &plan, d);
		plan.seed++;
	}
	return status;
}

static enum hd_status all_shapes(struct runs *r, struct eval_plan plan, struct diag *d)
{
	static const uint32_t payloads[N_EVAL_PAYLOADS] = { 256, 4096 };
	enum hd_status status = HD_OK;

	for (unsigned i = 0; i < N_EVAL_SHAPES * N_EVAL_PAYLOADS && status == HD_OK; i++) {
		unsigned shape = i / N_EVAL_PAYLOADS;
		unsigned payload = i % N_EVAL_PAYLOADS;

		if (!(r->series->shapes & 1u << shape) || !(r->series->payloads & 1u << payload))
			continue;
		plan.shape = (enum eval_shape)shape;
		plan.payload = payloads[payload];
		status = all_draws(r, plan, d);
	}
	return status;
}

static enum hd_status all_sizes(struct runs *r, struct diag *d)
{
	struct eval_plan plan = r->series->plan;
	enum hd_status status = HD_OK;

	for (unsigned i = 0; i < N_EVAL_SIZES && status == HD_OK; i++) {
		plan.switches = 8u << i;
		if (r->series->sizes & 1u << i)
			status = all_shapes(r, plan, d);
	}
	return status;
}

static void remark(const struct eval_plan *plan, struct results *out)
{
	static const char *const rules[N_EVAL_RULES] = {
		"quick: until every SL has delivered 2,000 packets; a share of 100 % is then known to be above 99.85 %",
		"default: until every SL has delivered 20,000 packets and every connection 5; a share of 100 % is then known to be above 99.985 %",
		"paper: until the slowest connection has delivered 100 packets; a connection's share of 100 % is then known to be above 97 %",
	};

	if (plan->establish_only)
		return;
	results_remark(
		out,
		"stop rule %s (at 95 %%, as if packets were independent); 10,000 packets of warm-up",
		rules[plan->rule]);
	if (plan->mix == EVAL_MIX_DEADLINES)
		results_remark(
			out,
			"SL 4 to 7 are DBTS: what is relative to the IAT is relative to their deadline");
}

enum hd_status eval_series_run(const struct eval_series *s, struct diag *d, struct results *out)
{
	struct runs r = { .series = s };
	enum hd_status status = all_sizes(&r, d);

	if (status == HD_OK) {
		const struct eval_runs done = { r.items, r.n };

		eval_tables(out, &done);
		remark(&s->plan, out);
	}
	for (uint32_t i = 0; i < r.n; i++)
		eval_result_fini(&r.items[i]);
	free(r.items);
	return status;
}
