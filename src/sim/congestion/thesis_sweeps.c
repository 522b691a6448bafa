/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "sim/blocks.h"
#include "sim/congestion/thesis_runs.h"

/* ---- a lone flow takes its link ---------------------------------------- */

static const struct column start_columns[] = {
	{ "algorithm", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "to half of Rmax", "ms", VALUE_REAL, ORIGIN_SIMULATED, 3 },
	{ "to Rmax", "ms", VALUE_REAL, ORIGIN_SIMULATED, 3 },
	{ "computed", "ms", VALUE_REAL, ORIGIN_COMPUTED, 3 },
	{ "used in 1/Rmin", "%", VALUE_REAL, ORIGIN_SIMULATED, 2 },
	{ "used in 16/Rmin", "%", VALUE_REAL, ORIGIN_SIMULATED, 2 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

static const char *const rate_algorithms[] = { "fimd", "lipd", "pipd", "aimd" };
#define N_RATE (sizeof(rate_algorithms) / sizeof(*rate_algorithms))

struct start {
	double half, full; /* seconds; 0: not reached */
	double used[2];    /* shares of the link */
};

#define SAMPLE (10 * HD_US)

static double seconds(hd_time time)
{
	return (double)time / (double)HD_S;
}

static struct start read_start(const struct congestion_flow *flow,
			       const struct congestion_result *r)
{
	static const double horizons[2] = { 1 / THESIS_RMIN, 16 / THESIS_RMIN };
	struct start s = { .half = 0 };

	for (size_t i = 0; i < r->n_samples; i++) {
		const struct congestion_sample *sample = &r->samples[i];
		double since = seconds(sample->time) - seconds(flow->start);

		if (sample->flow != 0 || since <= 0)
			continue;
		if (s.half <= 0 && sample->rate >= THESIS_RMAX / 2)
			s.half = since;
		if (s.full <= 0 && sample->rate >= THESIS_RMAX * (1 - 1e-9))
			s.full = since;
		for (unsigned k = 0; k < 2; k++) {
			if (since <= horizons[k])
				s.used[k] = (double)sample->delivered / since /
					    THESIS_RMAX;
		}
	}
	return s;
}

static void put_start(struct table *table, const char *name,
		      const struct start *s, double computed)
{
	table_put_text(table, name);
	if (s->half > 0)
		table_put_real(table, 1e3 * s->half);
	else
		table_put_none(table);
	if (s->full > 0)
		table_put_real(table, 1e3 * s->full);
	else
		table_put_none(table);
	table_put_real(table, 1e3 * computed);
	table_put_real(table, 100 * s->used[0]);
	table_put_real(table, 100 * s->used[1]);
}

/* Nobody else sends: how long until the link is used? */
enum hd_status thesis_start(struct thesis *t)
{
	struct table *table = results_table(
		t->results, "start",
		"a lone flow from the lowest rate on, 'computed' by its function alone",
		start_columns);
	struct start starts[N_RATE];
	struct stage s;
	enum hd_status status = stage_open_switches(t, 1, 4, &s);

	if (status != HD_OK)
		return status;
	s.params.sample = SAMPLE;
	s.params.warmup = HD_MS;
	/* Longer than the linear one takes: Rmax/Rmin of 1/Rmin. */
	s.params.stop = 150 * HD_MS;
	s.params.window = 16;
	/* All acknowledgements are unmarked. */
	s.params.marking.rule = MARK_NONE;
	for (unsigned i = 0; i < N_RATE && status == HD_OK; i++) {
		struct congestion_result r;

		s.params.algorithm = cc_find(rate_algorithms[i]);
		status = congestion_run(&s.build->setup, s.flows, 1, &s.params,
					t->d, &r);
		t->done++;
		if (status != HD_OK)
			break;
		starts[i] = read_start(&s.flows[0], &r);
		congestion_result_fini(&r);
		struct cc_recovery way =
			cc_recover(s.params.algorithm, &s.params.response,
				   THESIS_RMIN, THESIS_RMAX, 1000000);

		put_start(table, rate_algorithms[i], &starts[i], way.seconds);
	}
	stage_close(&s);
	if (status == HD_OK)
		thesis_claim(
			t, "linear increase leaves bandwidth unused for long",
			"PIPD and FIMD rise faster than linear functions",
			starts[1].used[1] < starts[0].used[1] / 2 &&
				starts[1].used[1] < starts[2].used[1] / 2,
			"link used in the first 16/Rmin: LIPD %.1f %%, FIMD %.1f %%, PIPD %.1f %%; AIMD, which adds per acknowledgement and so grows exponentially, %.1f %%",
			100 * starts[1].used[1], 100 * starts[0].used[1],
			100 * starts[2].used[1], 100 * starts[3].used[1]);
	return status;
}

/* ---- goodput in all ---------------------------------------------------- */

static const struct column total_columns[] = {
	{ "flows", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "algorithm", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "goodput", "1/s", VALUE_REAL, ORIGIN_SIMULATED, 0 },
	{ "root link", "%", VALUE_REAL, ORIGIN_SIMULATED, 2 },
	{ "victim", "%", VALUE_REAL, ORIGIN_SIMULATED, 2 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

struct total {
	double all, root, victim; /* packets per second; shares of Rmax */
};

static struct total total_of(const struct stage *s,
			     const struct congestion_result *r)
{
	struct total t = { 0, 0, 0 };

	for (uint32_t i = 0; i < r->n_flows; i++) {
		t.all += r->flows[i].goodput;
		if (i + 1 < s->build->n_flows)
			t.root += r->flows[i].goodput / THESIS_RMAX;
		else
			t.victim += r->flows[i].goodput / THESIS_RMAX;
	}
	return t;
}

static enum hd_status run_total(struct thesis *t, struct stage *s,
				struct total *out)
{
	struct congestion_result r;
	enum hd_status status = stage_run(t, s, &r);

	if (status != HD_OK)
		return status;
	*out = total_of(s, &r);
	congestion_result_fini(&r);
	return HD_OK;
}

/* FIMD, LIPD and PIPD on 2 + 2 and 5 + 5 flows and a victim. */
enum hd_status thesis_totals(struct thesis *t)
{
	static const unsigned sizes[] = { 2, 5 };
	struct table *table = results_table(
		t->results, "totals",
		"remote and local flows to one receiver, and a victim",
		total_columns);
	struct total totals[2][3];
	enum hd_status status = HD_OK;

	for (unsigned k = 0; k < 2 && status == HD_OK; k++) {
		struct stage s;

		status = stage_open_switches(t, sizes[k], 4, &s);
		for (unsigned i = 0; i < 3 && status == HD_OK; i++) {
			struct total *o = &totals[k][i];

			s.params.algorithm = cc_find(rate_algorithms[i]);
			status = run_total(t, &s, o);
			if (status != HD_OK)
				break;
			table_put_textf(table, "%u + %u + victim", sizes[k],
					sizes[k]);
			table_put_text(table, rate_algorithms[i]);
			table_put_real(table, o->all);
			table_put_real(table, 100 * o->root);
			table_put_real(table, 100 * o->victim);
		}
		stage_close(&s);
	}
	if (status == HD_OK)
		thesis_claim(
			t, "PIPD performs better than FIMD",
			"higher injection rates",
			totals[0][2].all > totals[0][0].all &&
				totals[1][2].all > totals[1][0].all,
			"total goodput of PIPD is %.2f (2+2) and %.2f (5+5) times that of FIMD: not borne out",
			totals[0][2].all / totals[0][0].all,
			totals[1][2].all / totals[1][0].all);
	return status;
}

/* ---- thresholds against buffers ---------------------------------------- */

static const struct column threshold_columns[] = {
	{ "buffer", "packets", VALUE_UINT, ORIGIN_GIVEN, 0 },
	{ "marks", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "threshold", "packets", VALUE_UINT, ORIGIN_GIVEN, 0 },
	{ "root link", "%", VALUE_REAL, ORIGIN_SIMULATED, 2 },
	{ "victim", "%", VALUE_REAL, ORIGIN_SIMULATED, 2 },
	{ "goodput", "1/s", VALUE_REAL, ORIGIN_SIMULATED, 0 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

/*
 * Thresholds: one packet, then quarters of a buffer; and, for comparison,
 * marking when a buffer is full.
 */
static const unsigned depths[] = { 4, 8, 16, 32 };
#define N_DEPTHS     (sizeof(depths) / sizeof(*depths))
#define N_THRESHOLDS 5
#define FULL         N_THRESHOLDS

struct sweep {
	struct total got[N_DEPTHS][N_THRESHOLDS + 1];
};

static unsigned threshold_of(unsigned depth, unsigned i)
{
	return i == 0 ? 1 : depth * i / (N_THRESHOLDS - 1);
}

static void claim_thresholds(struct thesis *t, const struct sweep *s)
{
	const struct total *small = s->got[0], *deep = s->got[N_DEPTHS - 1];
	bool costs = true;

	for (unsigned k = 0; k < N_DEPTHS; k++)
		costs &= s->got[k][0].root < s->got[k][3].root;
	thesis_claim(
		t, "a low marking threshold costs utilisation (3.3.1)",
		"small buffers run empty", costs,
		"root link, threshold of one packet against three quarters: %.1f and %.1f %% (buffers of 4 packets), %.1f and %.1f %% (of 32)",
		100 * small[0].root, 100 * small[3].root, 100 * deep[0].root,
		100 * deep[3].root);
	thesis_claim(
		t,
		"in larger buffers a threshold near the capacity prevents spreading at high utilisation (3.3.1)",
		"might be beneficial",
		deep[4].victim > deep[FULL].victim &&
			deep[4].root > 0.95 * deep[FULL].root,
		"buffers of 32, threshold 32 against marking when full: victim %.1f against %.1f %%, root link %.1f against %.1f %%; buffers of 4: victim %.1f against %.1f %%, root link %.1f against %.1f %%",
		100 * deep[4].victim, 100 * deep[FULL].victim,
		100 * deep[4].root, 100 * deep[FULL].root,
		100 * small[4].victim, 100 * small[FULL].victim,
		100 * small[4].root, 100 * small[FULL].root);
}

static void put_sweep(struct table *table, unsigned depth, unsigned i,
		      const struct total *got)
{
	table_put_uint(table, depth);
	table_put_text(table, i == FULL ? "when full" : "from a depth on");
	if (i == FULL)
		table_put_none(table);
	else
		table_put_uint(table, threshold_of(depth, i));
	table_put_real(table, 100 * got->root);
	table_put_real(table, 100 * got->victim);
	table_put_real(table, got->all);
}

static enum hd_status sweep_depth(struct thesis *t, unsigned depth,
				  struct table *table, struct total *got)
{
	struct stage s;
	enum hd_status status = stage_open_switches(t, 2, depth, &s);

	if (status != HD_OK)
		return status;
	s.params.algorithm = cc_find("fimd");
	/* Deep buffers are no use to short windows. */
	s.params.window = 2 * depth;
	for (unsigned i = 0; i <= FULL && status == HD_OK; i++) {
		unsigned threshold = threshold_of(depth, i);

		if (i == 1 && threshold == 1) {
			got[1] = got[0];
			continue;
		}
		s.params.marking = (struct mark_config){
			.rule = i == FULL ? MARK_TWO_COUNTER : MARK_THRESHOLD,
			.guard = true,
			.depth = threshold * blocks_of(2068),
		};
		status = run_total(t, &s, &got[i]);
		if (status == HD_OK)
			put_sweep(table, depth, i, &got[i]);
	}
	stage_close(&s);
	return status;
}

enum hd_status thesis_thresholds(struct thesis *t)
{
	struct table *table = results_table(
		t->results, "thresholds",
		"FIMD on 2 + 2 flows and a victim, marking from so many packets that wait for an output, or when a buffer is full",
		threshold_columns);
	struct sweep sweep = { { { { 0, 0, 0 } } } };
	enum hd_status status = HD_OK;

	for (unsigned k = 0; k < N_DEPTHS && status == HD_OK; k++)
		status = sweep_depth(t, depths[k], table, sweep.got[k]);
	if (status == HD_OK)
		claim_thresholds(t, &sweep);
	return status;
}
