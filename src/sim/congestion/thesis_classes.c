/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "sim/congestion/thesis_runs.h"

/*
 * Tables 3.2 and 3.3: packets per second, as printed. "Switch A" is the cable
 * between the switches, "Switch B" the receiver's link, in the reading that
 * fits.
 */
static const double table_32[] = { [A_R1] = 47234.08637836817,
				   [A_R2] = 149789.83324444026,
				   [B_R1] = 76440.10564262095,
				   [B_R2] = 259756.99827139667 };
static const double table_33[] = { [A_R1] = 18537.107824746185,
				   [A_R2] = 118861.56808060875,
				   [B_R1] = 20147.849538670973,
				   [B_R2] = 194463.99403664135 };

static const char *const flow_names[] = { "Switch-A-r1", "Switch-A-r2",
					  "Switch-B-r1", "Switch-B-r2",
					  "victim" };

/* PIPD is not the same in every unit; packets per second in each. */
struct unit {
	const char *name;
	double packets;
};
#define N_UNITS 3u
static const struct unit units[N_UNITS] = {
	{ "Rmin/2", THESIS_RMIN / 2 },
	{ "MB/s", 1e6 / 2068 },
	{ "packets/s", 1 },
};

static const struct column rate_columns[] = {
	{ "unit", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "gap", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "r2's lowest", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "flow", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "function", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "published", "1/s", VALUE_REAL, ORIGIN_PUBLISHED, 0 },
	{ "rate variable", "1/s", VALUE_REAL, ORIGIN_SIMULATED, 0 },
	{ "goodput", "1/s", VALUE_REAL, ORIGIN_SIMULATED, 0 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

static const struct column figure_columns[] = {
	{ "time", "us", VALUE_REAL, ORIGIN_GIVEN, 1 },
	{ "r1", "1/s", VALUE_REAL, ORIGIN_SIMULATED, 1 },
	{ "r2", "1/s", VALUE_REAL, ORIGIN_SIMULATED, 1 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

static const struct column share_columns[] = {
	{ "function of r1", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "unit", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "gap", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "flow", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "below 4 Rmin", "%", VALUE_REAL, ORIGIN_SIMULATED, 1 },
	{ "to 5e4/s", "%", VALUE_REAL, ORIGIN_SIMULATED, 1 },
	{ "to 1e5/s", "%", VALUE_REAL, ORIGIN_SIMULATED, 1 },
	{ "to 2e5/s", "%", VALUE_REAL, ORIGIN_SIMULATED, 1 },
	{ "above", "%", VALUE_REAL, ORIGIN_SIMULATED, 1 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

#define N_BINS 5
static const double bin_ends[] = { 4 * THESIS_RMIN, 5e4, 1e5, 2e5 };

struct shares {
	double of[N_BINS];
};

/* Where a flow's rate is while measuring, by the samples. */
static struct shares distribution(const struct stage *s,
				  const struct congestion_result *r,
				  uint32_t flow)
{
	struct shares shares = { { 0 } };
	double n = 0;

	for (size_t i = 0; i < r->n_samples; i++) {
		const struct congestion_sample *sample = &r->samples[i];
		unsigned bin = 0;

		if (sample->flow != flow || sample->time < s->params.warmup)
			continue;
		while (bin < N_BINS - 1 && sample->rate > bin_ends[bin])
			bin++;
		shares.of[bin]++;
		n++;
	}
	for (unsigned i = 0; i < N_BINS; i++)
		shares.of[i] /= n;
	return shares;
}

static void put_figure(struct thesis *t, const char *name, const char *title,
		       const struct congestion_result *r, uint32_t first)
{
	struct table *figure =
		results_series(t->results, name, title, figure_columns);
	double low = 0;

	for (size_t i = 0; i < r->n_samples; i++) {
		const struct congestion_sample *sample = &r->samples[i];

		if (sample->flow == first)
			low = sample->rate;
		if (sample->flow != first + 1)
			continue;
		table_put_time(figure, sample->time);
		table_put_real(figure, low);
		table_put_real(figure, sample->rate);
	}
}

/* ---- the runs ---------------------------------------------------------- */

/* What of a run is spoken of later. */
struct outcome {
	double goodput[TWO_CLASSES], rate[TWO_CLASSES];
	double root; /* share of the receiver's link */
	struct shares r1[2];
	unsigned admitted;
};

/* One line of what to run: r1's function, PIPD's unit, the pacing. */
struct variant {
	bool both_pipd;  /* Table 3.2; else r1 has FIMD: Table 3.3 */
	bool one_lowest; /* r2's lowest rate is r1's: a reading of the text */
	unsigned unit;
	bool fixed_gap;
	bool figures;
};

static void set_variant(const struct variant *v, struct stage *s)
{
	const struct cc_algorithm *pipd = cc_find("pipd");

	s->params.algorithm = pipd;
	s->params.response.unit = units[v->unit].packets;
	s->params.fixed_gap = v->fixed_gap;
	for (uint32_t i = 0; i < TWO_CLASSES; i++) {
		bool high = i == A_R2 || i == B_R2;

		s->flows[i].algorithm = pipd;
		s->flows[i].rmin =
			THESIS_RMAX / (high && !v->one_lowest ? 128 : 256);
		if (!v->both_pipd && !high)
			s->flows[i].algorithm = cc_find("fimd");
	}
}

static void put_distribution(struct table *t, const struct variant *v,
			     const struct outcome *o)
{
	for (unsigned k = 0; k < 2; k++) {
		table_put_text(t, v->both_pipd ? "pipd" : "fimd");
		table_put_text(t, units[v->unit].name);
		table_put_text(t, v->fixed_gap ? "fixed" : "follows");
		table_put_text(t, flow_names[k ? B_R1 : A_R1]);
		for (unsigned i = 0; i < N_BINS; i++)
			table_put_real(t, 100 * o->r1[k].of[i]);
	}
}

static void put_rates(struct table *table, const struct stage *s,
		      const struct variant *v,
		      const struct congestion_result *r)
{
	const double *published = v->both_pipd ? table_32 : table_33;

	for (uint32_t i = 0; i < TWO_CLASSES; i++) {
		table_put_text(table, units[v->unit].name);
		table_put_text(table, v->fixed_gap ? "fixed" : "follows");
		table_put_text(table, v->one_lowest ? "Rmax/256" : "Rmax/128");
		table_put_text(table, flow_names[i]);
		table_put_text(table, s->flows[i].algorithm->name);
		if (i < VICTIM)
			table_put_real(table, published[i]);
		else
			table_put_none(table);
		table_put_real(table, r->flows[i].rate);
		table_put_real(table, r->flows[i].goodput);
	}
}

static void take_outcome(const struct stage *s,
			 const struct congestion_result *r, struct outcome *out)
{
	for (uint32_t i = 0; i < TWO_CLASSES; i++) {
		out->goodput[i] = r->flows[i].goodput;
		out->rate[i] = r->flows[i].rate;
		out->admitted += r->flows[i].answer == ANSWER_ADMITTED;
		if (i < VICTIM)
			out->root += r->flows[i].goodput / THESIS_RMAX;
	}
	out->r1[0] = distribution(s, r, A_R1);
	out->r1[1] = distribution(s, r, B_R1);
}

static void show_variant(struct thesis *t, const struct variant *v,
			 const struct congestion_result *r)
{
	if (v->both_pipd) {
		put_figure(t, "figure 3.4", "rates at switch A, PIPD", r, A_R1);
		put_figure(t, "figure 3.5", "rates at switch B, PIPD", r, B_R1);
	} else {
		put_figure(t, "figure 3.6",
			   "rates at switch A, r1 FIMD, r2 PIPD", r, A_R1);
		put_figure(t, "figure 3.7",
			   "rates at switch B, r1 FIMD, r2 PIPD", r, B_R1);
	}
}

static enum hd_status run_variant(struct thesis *t, const struct variant *v,
				  struct table *table, struct outcome *out)
{
	struct stage s;
	struct congestion_result r;
	enum hd_status status = stage_open(t, congestion_thesis_scenario, &s);

	if (status != HD_OK)
		return status;
	set_variant(v, &s);
	s.params.sample = (s.params.stop - s.params.warmup) / 2000;
	status = stage_run(t, &s, &r);
	if (status == HD_OK) {
		put_rates(table, &s, v, &r);
		take_outcome(&s, &r, out);
		if (v->figures)
			show_variant(t, v, &r);
		congestion_result_fini(&r);
	}
	stage_close(&s);
	return status;
}

/* ---- what is claimed of them ------------------------------------------- */

static void claim_order(struct thesis *t, const struct outcome *pipd)
{
	thesis_claim(t, "reservations of 2:1 are admitted, then control runs",
		     "admission and control together", pipd->admitted == 4,
		     "%u of 4 flows admitted", pipd->admitted);
	thesis_claim(t, "the high class is faster than the low one (Table 3.2)",
		     "r2/r1 3.17 (A), 3.40 (B)",
		     pipd->rate[A_R2] > pipd->rate[A_R1] &&
			     pipd->rate[B_R2] > pipd->rate[B_R1],
		     "rate variable %.2f (A), %.2f (B); goodput %.2f, %.2f",
		     pipd->rate[A_R2] / pipd->rate[A_R1],
		     pipd->rate[B_R2] / pipd->rate[B_R1],
		     pipd->goodput[A_R2] / pipd->goodput[A_R1],
		     pipd->goodput[B_R2] / pipd->goodput[B_R1]);
	thesis_claim(
		t,
		"the root link is used better than the cable between the switches",
		"336197 against 197024 packets/s",
		pipd->goodput[B_R1] + pipd->goodput[B_R2] >
			pipd->goodput[A_R1] + pipd->goodput[A_R2],
		"%.0f local against %.0f remote packets/s",
		pipd->goodput[B_R1] + pipd->goodput[B_R2],
		pipd->goodput[A_R1] + pipd->goodput[A_R2]);
}

static void claim_functions(struct thesis *t, const struct outcome *both,
			    unsigned n)
{
	unsigned holds[2] = { 0, 0 }; /* every second one has fixed gaps */

	for (unsigned i = 0; i < n; i++)
		holds[i % 2] += both[i].rate[A_R2] > both[i].rate[A_R1] &&
				both[i].rate[B_R2] > both[i].rate[B_R1];
	thesis_claim(
		t, "PIPD's r2 is faster than FIMD's r1 (Table 3.3)",
		"6.41 (A), 9.65 (B) times", holds[0] + holds[1] == n,
		"of the rate variables in %u of %u settings whose gaps follow the rate, in %u of %u with fixed gaps; of the goodput %.2f (A), %.2f (B) times in the first",
		holds[0], n / 2, holds[1], n / 2,
		both->goodput[A_R2] / both->goodput[A_R1],
		both->goodput[B_R2] / both->goodput[B_R1]);
}

static bool mostly(const struct outcome *o, unsigned bin)
{
	return o->r1[0].of[bin] > 0.5 && o->r1[1].of[bin] > 0.5;
}

/* In how many settings the rate is mostly in a range, at both switches. */
static unsigned count_mostly(const struct outcome *o, unsigned n, unsigned bin)
{
	unsigned count = 0;

	for (unsigned i = 0; i < n; i++)
		count += mostly(&o[i], bin);
	return count;
}

static void claim_ranges(struct thesis *t, const struct outcome *pipd,
			 unsigned n_pipd, const struct outcome *both,
			 unsigned n_both)
{
	thesis_claim(
		t, "r1 under PIPD is mostly within 1e5 .. 2e5",
		"Figures 3.4, 3.5", mostly(pipd, 3),
		"%.0f %% (A), %.0f %% (B) of the time in the first setting, where it is below 4 Rmin %.0f and %.0f %%; mostly in %u of %u settings",
		100 * pipd->r1[0].of[3], 100 * pipd->r1[1].of[3],
		100 * pipd->r1[0].of[0], 100 * pipd->r1[1].of[0],
		count_mostly(pipd, n_pipd, 3), n_pipd);
	thesis_claim(
		t, "r1 under FIMD is almost constant at Rmin",
		"Figures 3.6, 3.7", mostly(both, 0),
		"below 4 Rmin %.0f %% (A), %.0f %% (B) of the time in the first setting, average %.1f, %.1f Rmin (the published averages are 9.8, 10.7); mostly in %u of %u settings",
		100 * both->r1[0].of[0], 100 * both->r1[1].of[0],
		both->rate[A_R1] / THESIS_RMIN, both->rate[B_R1] / THESIS_RMIN,
		count_mostly(both, n_both, 0), n_both);
}

#define N_32 (2 * N_UNITS) /* units, gaps */
#define N_33 (4 * N_UNITS) /* and r2's lowest rate */

enum hd_status thesis_classes(struct thesis *t)
{
	struct results *r = t->results;
	struct table *rates[2] = {
		results_table(r, "table 3.3", "average rates, r1 FIMD, r2 PIPD",
			      rate_columns),
		results_table(r, "table 3.2", "average rates, all flows PIPD",
			      rate_columns),
	};
	struct table *where = results_table(
		r, "distribution",
		"share of time that the low class' rate is in each range",
		share_columns);
	struct outcome o[N_32 + N_33] = { { { 0 } } };
	enum hd_status status = HD_OK;

	for (unsigned i = 0; i < N_32 + N_33 && status == HD_OK; i++) {
		bool first = i < N_32;
		unsigned k = first ? i : i - N_32;
		struct variant v = { .both_pipd = first,
				     .unit = first ? k / 2 : k / 4,
				     .fixed_gap = k % 2,
				     .one_lowest = !first && k % 4 < 2,
				     .figures = k == 0 };

		status = run_variant(t, &v, rates[first], &o[i]);
		if (status == HD_OK)
			put_distribution(where, &v, &o[i]);
	}
	if (status != HD_OK)
		return status;
	claim_order(t, &o[0]);
	claim_functions(t, &o[N_32], N_33);
	claim_ranges(t, &o[0], N_32, &o[N_32], N_33);
	return HD_OK;
}
