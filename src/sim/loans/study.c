/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/loans/study.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/file.h"
#include "sim/loans/loans.h"
#include "sim/sim.h"
#include "sim/tables.h"

#define LEVEL         0.999
#define MOST_LANES    32
#define ENOUGH_LOSSES 100

/* One run: as the scenario says, or with one lane per VL. */
struct trial {
	const char *name;
	struct overrides overrides;
	struct fabric *build;
	struct sim *sim;
	struct sim_row *rows;
	double wait[MOST_LANES]; /* XmitWait of the lanes' ports, share */
	struct sim_lane_use use[MOST_LANES];
};

struct loan_study {
	struct trial trials[2]; /* without, with */
	struct loan_forecast lanes[MOST_LANES];
	size_t n_lanes;
};

/* The scenario as it is, or without its thresholds. */
static enum hd_status trial_build(struct loan_study *s, unsigned i,
				  const struct strbuf *text, const char *path,
				  const struct overrides *overrides,
				  struct diag *d)
{
	struct trial *t = &s->trials[i];

	t->name = i ? "with" : "without";
	overrides_copy(overrides, &t->overrides);
	if (i == 0)
		overrides_put(
			&t->overrides, "without thresholds", "qos.thresholds",
			"{capacity: %llu}",
			(unsigned long long)s->trials[1]
				.build->scenario->qos.thresholds.capacity);
	enum hd_status status = fabric_load(text->text, text->len, path,
					    &t->overrides, d, &t->build);

	if (status != HD_OK)
		return status;
	const struct scenario *scenario = t->build->scenario;

	if (scenario->qos.thresholds.capacity == 0)
		return scenario_refuse(scenario, d,
				       &scenario->qos.thresholds.capacity,
				       "the model needs "
				       "qos.thresholds.capacity");
	return scenario_needs_traffic(scenario, d);
}

static void trial_run(struct loan_study *s, struct trial *t,
		      sim_progress_fn *progress, void *context)
{
	const struct fabric *b = t->build;

	t->sim = sim_new(&b->setup, b->flows, b->n_flows, &b->rules);
	(void)sim_run(t->sim, HD_TIME_NEVER, progress, context);
	const struct sim_metrics *m = sim_metrics(t->sim);

	t->rows = sim_rows(b, m);
	for (size_t k = 0; k < s->n_lanes; k++) {
		const struct loan_forecast *f = &s->lanes[k];

		t->wait[k] = m->ports[f->port].wait;
		(void)sim_lane_use(t->sim, f->port, f->vl, LEVEL, &t->use[k]);
	}
}

enum hd_status loan_study_run(const char *path,
			      const struct overrides *overrides,
			      sim_progress_fn *progress, void *context,
			      struct diag *d, struct loan_study **out)
{
	struct loan_study *s = hd_alloc(1, sizeof(*s));
	struct strbuf text = STRBUF_INIT;
	enum hd_status status = file_read(path, SCENARIO_LIMIT, d, &text);

	for (unsigned i = 2; i-- > 0 && status == HD_OK;)
		status = trial_build(s, i, &text, path, overrides, d);
	strbuf_fini(&text);
	if (status == HD_OK)
		status = loans_forecast(s->trials[1].build, MOST_LANES, d,
					s->lanes, &s->n_lanes);
	if (status == HD_OK && s->n_lanes == 0) {
		const struct scenario *scenario = s->trials[1].build->scenario;

		status = scenario_refuse(scenario, d, scenario->traffic,
					 "no lane has paced traffic and none "
					 "that saturates it");
	}
	for (unsigned i = 0; i < 2 && status == HD_OK; i++)
		trial_run(s, &s->trials[i], progress, context);
	if (status == HD_OK)
		*out = s;
	else
		loan_study_free(s);
	return status;
}

void loan_study_free(struct loan_study *s)
{
	for (unsigned i = 0; i < 2; i++) {
		struct trial *t = &s->trials[i];

		if (t->rows)
			sim_rows_free(t->rows, t->build->scenario->n_traffic);
		if (t->sim)
			sim_free(t->sim);
		if (t->build)
			fabric_free(t->build);
		overrides_fini(&t->overrides);
	}
	free(s);
}

uint64_t loan_study_seed(const struct loan_study *s)
{
	return s->trials[1].build->scenario->run.seed;
}

/* ---- tables -------------------------------------------------------------- */

static const struct column lane_columns[] = {
	{ "port", NULL, VALUE_TEXT },
	{ "VL", NULL, VALUE_UINT },
	{ "lambda", "1/us", VALUE_REAL, ORIGIN_COMPUTED, 4 },
	{ "Ca2", NULL, VALUE_REAL, ORIGIN_COMPUTED, 3 },
	{ "mu", "1/us", VALUE_TEXT, ORIGIN_COMPUTED },
	{ "Cs2", NULL, VALUE_REAL, ORIGIN_COMPUTED, 3 },
	{ "thresholds", NULL, VALUE_TEXT },
	{ "capacity", NULL, VALUE_UINT },
	{ NULL },
};

static void port_put(const struct loan_study *s, struct table *t,
		     const struct loan_forecast *f)
{
	struct strbuf name = STRBUF_INIT;

	fabric_port_name(s->trials[1].build, f->port, &name);
	table_put_text(t, name.text);
	table_put_uint(t, f->vl);
	strbuf_fini(&name);
}

static void lane_table(const struct loan_study *s, struct results *r)
{
	struct table *t = results_table(
		r, "lanes",
		"the model of each lane: arrivals as its traffic has them, "
		"speeds as its arbiter gives them",
		lane_columns);

	for (size_t k = 0; k < s->n_lanes; k++) {
		const struct loan_forecast *f = &s->lanes[k];
		struct strbuf mu = STRBUF_INIT, at = STRBUF_INIT;

		for (size_t i = 0; i < f->with.n_regions; i++) {
			strbuf_printf(&mu, "%s%.4f", i ? "," : "",
				      f->with.mu[i]);
			if (i)
				strbuf_printf(&at, "%s%zu", i > 1 ? "," : "",
					      f->with.threshold[i - 1]);
		}
		port_put(s, t, f);
		table_put_real(t, f->with.lambda);
		table_put_real(t, f->ca2);
		table_put_text(t, mu.text);
		table_put_real(t, f->cs2);
		table_put_text(t, at.text ? at.text : "");
		table_put_uint(t, f->with.capacity);
		strbuf_fini(&mu);
		strbuf_fini(&at);
	}
}

static const struct column comparison_columns[] = {
	{ "port", NULL, VALUE_TEXT },
	{ "VL", NULL, VALUE_UINT },
	{ "thresholds", NULL, VALUE_TEXT },
	{ "measure", NULL, VALUE_TEXT },
	{ "simulated", NULL, VALUE_REAL, ORIGIN_SIMULATED },
	{ "+-", NULL, VALUE_REAL, ORIGIN_SIMULATED },
	{ "model", NULL, VALUE_REAL, ORIGIN_COMPUTED },
	{ "EM", "%", VALUE_REAL, ORIGIN_COMPUTED, 2 },
	{ "within", NULL, VALUE_TEXT },
	{ NULL },
};

struct measured {
	const char *name;
	struct interval in;
	double model;
};

static void measure_put(struct table *t, const struct measured *m)
{
	double off = fabs(m->in.mean - m->model);

	table_put_text(t, m->name);
	table_put_real(t, m->in.mean);
	table_put_real(t, m->in.half_width);
	table_put_real(t, m->model);
	table_put_real(t, m->in.mean > 0 ? 100 * off / m->in.mean : NAN);
	table_put_text(t, !m->in.sound              ? "unsure"
			  : off <= m->in.half_width ? "yes"
						    : "no");
}

static void comparison_lane(const struct loan_study *s, struct table *t,
			    size_t k, unsigned i)
{
	const struct loan_forecast *f = &s->lanes[k];
	const struct sim_lane_use *u = &s->trials[i].use[k];
	const struct ge_result *g = i ? &f->with_result : &f->without_result;
	struct interval stay = u->stay, blocking = u->blocking;

	/* Few losses say little about how likely one is. */
	blocking.sound = blocking.sound && u->blocked >= ENOUGH_LOSSES;
	stay.mean /= (double)HD_US;
	stay.half_width /= (double)HD_US;
	const struct measured rows[] = {
		{ "L [packets]", u->jobs, g->mean_queue },
		{ "blocking", blocking, g->blocking },
		{ "W [us]", stay, g->response },
	};

	for (unsigned j = 0; j < 3; j++) {
		port_put(s, t, f);
		table_put_text(t, s->trials[i].name);
		measure_put(t, &rows[j]);
	}
}

static void comparison(const struct loan_study *s, struct results *r)
{
	struct table *t = results_table(
		r, "comparison",
		"queue length, blocking and delay at the host, in the fabric "
		"and in the model (+-: 99.9 %; EM = |simulated - model| / "
		"simulated)",
		comparison_columns);

	for (size_t k = 0; k < s->n_lanes; k++) {
		comparison_lane(s, t, k, 0);
		comparison_lane(s, t, k, 1);
	}
}

static const struct column effect_columns[] = {
	{ "traffic", NULL, VALUE_TEXT },
	{ "thresholds", NULL, VALUE_TEXT },
	{ "packets", NULL, VALUE_UINT, ORIGIN_SIMULATED },
	{ "blocked", "%", VALUE_REAL, ORIGIN_SIMULATED, 3 },
	{ "mean", "us", VALUE_REAL, ORIGIN_SIMULATED, 3 },
	{ "p99", "us", VALUE_REAL, ORIGIN_SIMULATED, 3 },
	{ "max", "us", VALUE_REAL, ORIGIN_SIMULATED, 3 },
	{ NULL },
};

static void effect_table(const struct loan_study *s, struct results *r)
{
	struct table *t = results_table(
		r, "effect",
		"each traffic row from end to end, without and with "
		"thresholds",
		effect_columns);
	const struct scenario *scenario = s->trials[1].build->scenario;

	for (size_t i = 0; i < scenario->n_traffic; i++) {
		for (unsigned k = 0; k < 2; k++) {
			const struct sim_row *row = &s->trials[k].rows[i];
			const struct histogram *h = &row->latency;

			table_put_text(t, scenario->traffic[i].name);
			table_put_text(t, s->trials[k].name);
			table_put_uint(t, row->delivered);
			table_put_real(
				t, 100 * (double)row->lost /
					   (double)(row->made ? row->made : 1));
			table_put_real(t, histogram_mean(h) / (double)HD_US);
			table_put_time(t, histogram_percentile(h, 99));
			table_put_time(t, histogram_percentile(h, 100));
		}
	}
}

static const struct column validity_columns[] = {
	{ "port", NULL, VALUE_TEXT },
	{ "VL", NULL, VALUE_UINT },
	{ "the model assumes", NULL, VALUE_TEXT },
	{ "here", NULL, VALUE_TEXT },
	{ "holds", NULL, VALUE_BOOL, ORIGIN_COMPUTED },
	{ NULL },
};

static void assumption(const struct loan_study *s, struct table *t, size_t k,
		       const char *what)
{
	port_put(s, t, &s->lanes[k]);
	table_put_text(t, what);
}

static void validity_lane(const struct loan_study *s, struct table *t, size_t k)
{
	const struct loan_forecast *f = &s->lanes[k];
	const struct sim_lane_use *u = &s->trials[1].use[k];
	double ratio = f->with.mu[f->with.n_regions - 1] / f->with.mu[0];
	bool faster = f->with.n_regions > 1 && ratio > 1.001;

	assumption(s, t, k, "gaps between arrivals have one GE law");
	table_put_textf(t, "%u flow%s, Ca2 %.3g", f->n_flows,
			f->n_flows == 1 ? "" : "s", f->ca2);
	table_put_bool(t, f->exact_gaps);
	assumption(s, t, k, "service times are GE: Cs2 of 1 or more");
	table_put_textf(t, "Cs2 %.3f", f->cs2);
	table_put_bool(t, f->cs2 > 0.97);
	assumption(s, t, k, "a borrowed lane serves faster");
	table_put_textf(t, "%.2f times as fast with all lanes", ratio);
	table_put_bool(t, faster || f->with.n_regions == 1);
	assumption(s, t, k, "a lane is free whenever one is asked for");
	table_put_textf(t, "%llu acquired, %llu times in vain",
			(unsigned long long)u->acquired,
			(unsigned long long)u->in_vain);
	table_put_bool(t, u->in_vain == 0);
	assumption(s, t, k, "other lanes never change their load");
	table_put_textf(t, "%u always busy, %u that come and go", f->rivals,
			f->ignored);
	table_put_bool(t, f->ignored == 0);
	assumption(s, t, k, "credits never stop the lane");
	table_put_textf(t, "link idle with packets waiting %.2f %% of the time",
			100 * s->trials[1].wait[k]);
	table_put_bool(t, s->trials[1].wait[k] < 0.001);
	assumption(s, t, k, "a packet under way gains speed at once");
	table_put_text(t, "lanes take turns: one packet each per round");
	table_put_bool(t, !faster);
}

static void validity(const struct loan_study *s, struct results *r)
{
	struct table *t = results_table(
		r, "validity",
		"where the model stops being valid: what it assumes, and what "
		"the fabric has",
		validity_columns);

	for (size_t k = 0; k < s->n_lanes; k++)
		validity_lane(s, t, k);
	results_remark(r,
		       "the model is exact where every assumption holds; "
		       "docs/models.md says what to expect where one does not");
}

void loan_study_tables(const struct loan_study *s, struct results *r)
{
	lane_table(s, r);
	comparison(s, r);
	effect_table(s, r);
	validity(s, r);
}
