/* SPDX-License-Identifier: BSD-2-Clause */
#include "study/vl_sharing.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/file.h"
#include "run/run.h"
#include "sim/report/tables.h"
#include "study/vl_sharing_model.h"

#define LEVEL         0.999
#define MOST_VLS      32
#define ENOUGH_LOSSES 100

/* One run: the unchanged scenario, or without thresholds. */
struct sharing_run {
	const char *name;
	struct overrides overrides;
	struct fabric *fabric; /* owned by `run`, if there is one */
	struct run *run;
	struct report_row *rows;
	double wait[MOST_VLS]; /* XmitWait of the VLs' ports, share */
	struct sim_vl_use use[MOST_VLS];
};

struct study_vl_sharing {
	struct sharing_run trials[2]; /* without, with */
	struct vl_forecast vls[MOST_VLS];
	size_t n_vls;
};

/* Builds the unchanged scenario, or one without its thresholds. */
static enum hd_status trial_build(struct study_vl_sharing *s, unsigned i, const struct strbuf *text,
				  const char *path, const struct overrides *overrides,
				  struct diag *d)
{
	struct sharing_run *t = &s->trials[i];

	t->name = i ? "with" : "without";
	overrides_copy(overrides, &t->overrides);
	if (i == 0) {
		static const char label[] = "without thresholds";

		overrides_put(&t->overrides, label, "qos.thresholds", "%s", "");
		overrides_put(
			&t->overrides, label, "qos.thresholds.capacity", "%llu",
			(unsigned long long)s->trials[1].fabric->scenario->qos.thresholds.capacity);
	}
	enum hd_status status =
		fabric_load(text->text, text->len, path, &t->overrides, d, &t->fabric);

	if (status != HD_OK)
		return status;
	const struct scenario *scenario = t->fabric->scenario;

	if (scenario->qos.thresholds.capacity == 0)
		return scenario_refuse(scenario, d, &scenario->qos.thresholds.capacity,
				       "the model requires qos.thresholds.capacity");
	return scenario_needs_traffic(scenario, d);
}

/* Runs to the end, or until progress() ends the run. */
static enum hd_status trial_run(struct study_vl_sharing *s, struct sharing_run *t,
				const struct run_options *options, struct diag *d)
{
	const struct fabric *fabric = t->fabric;
	enum hd_status status = run_open(t->fabric, options, d, &t->run);

	if (status != HD_OK) {
		t->fabric = NULL;
		return status;
	}
	status = run_to_end(t->run, d);
	if (status != HD_OK)
		return status;
	const struct sim_metrics *m = sim_metrics(run_sim(t->run));

	t->rows = report_rows(fabric, m);
	for (size_t k = 0; k < s->n_vls; k++) {
		const struct vl_forecast *f = &s->vls[k];

		t->wait[k] = m->ports[f->port].wait;
		(void)sim_vl_use(run_sim(t->run), f->port, f->vl, LEVEL, &t->use[k]);
	}
	return HD_OK;
}

enum hd_status study_vl_sharing_new(const char *path, const struct overrides *overrides,
				    struct diag *d, struct study_vl_sharing **out)
{
	struct study_vl_sharing *s = hd_alloc(1, sizeof(*s));
	struct strbuf text = STRBUF_INIT;
	enum hd_status status = file_read(path, SCENARIO_LIMIT, d, &text);

	for (unsigned i = 2; i-- > 0 && status == HD_OK;)
		status = trial_build(s, i, &text, path, overrides, d);
	strbuf_fini(&text);
	if (status == HD_OK)
		status = study_vl_sharing_forecast(s->trials[1].fabric, MOST_VLS, d, s->vls,
						   &s->n_vls);
	if (status == HD_OK && s->n_vls == 0) {
		const struct scenario *scenario = s->trials[1].fabric->scenario;

		status = scenario_refuse(
			scenario, d, scenario->traffic,
			"the model requires paced traffic on at least one VL with thresholds");
	}
	if (status == HD_OK)
		*out = s;
	else
		study_vl_sharing_free(s);
	return status;
}

enum hd_status study_vl_sharing_run(struct study_vl_sharing *s, sim_progress_fn *progress,
				    void *context, struct diag *d)
{
	const struct run_options options = { .progress = progress, .context = context };
	enum hd_status status = HD_OK;

	for (unsigned i = 0; i < 2 && status == HD_OK; i++)
		status = trial_run(s, &s->trials[i], &options, d);
	return status;
}

void study_vl_sharing_free(struct study_vl_sharing *s)
{
	for (unsigned i = 0; i < 2; i++) {
		struct sharing_run *t = &s->trials[i];

		if (t->rows)
			report_rows_free(t->rows, t->fabric->scenario->n_traffic);
		if (t->run)
			run_close(t->run);
		else if (t->fabric)
			fabric_free(t->fabric);
		overrides_fini(&t->overrides);
	}
	free(s);
}

uint64_t study_vl_sharing_seed(const struct study_vl_sharing *s)
{
	return s->trials[1].fabric->scenario->run.seed;
}

/* ---- tables -------------------------------------------------------------- */

struct vl_parameters_row {
	const char *port;
	uint64_t vl;
	double lambda, ca2;
	const char *mu;
	double cs2;
	const char *thresholds;
	uint64_t capacity;
};

static const struct column vl_columns[] = {
	{ "port", NULL, CELL(vl_parameters_row, port) },
	{ "VL", NULL, CELL(vl_parameters_row, vl) },
	{ "lambda", "1/us", CELL(vl_parameters_row, lambda), ORIGIN_COMPUTED, 4 },
	{ "Ca2", NULL, CELL(vl_parameters_row, ca2), ORIGIN_COMPUTED, 3 },
	{ "mu", "1/us", CELL(vl_parameters_row, mu), ORIGIN_COMPUTED },
	{ "Cs2", NULL, CELL(vl_parameters_row, cs2), ORIGIN_COMPUTED, 3 },
	{ "thresholds", NULL, CELL(vl_parameters_row, thresholds) },
	{ "capacity", NULL, CELL(vl_parameters_row, capacity) },
	{ NULL },
};

static const char *port_name(const struct study_vl_sharing *s, struct table *t,
			     const struct vl_forecast *f)
{
	struct strbuf name = STRBUF_INIT;

	fabric_port_name(s->trials[1].fabric, f->port, &name);
	return table_take(t, &name);
}

static void vl_table(const struct study_vl_sharing *s, struct results *r)
{
	struct table *t = results_table(
		r, "VLs",
		"the model of each VL: arrivals as its traffic has them, speeds as its arbiter gives them",
		vl_columns);

	for (size_t k = 0; k < s->n_vls; k++) {
		const struct vl_forecast *f = &s->vls[k];
		struct strbuf mu = STRBUF_INIT, at = STRBUF_INIT;

		for (size_t i = 0; i < f->with.n_regions; i++) {
			strbuf_printf(&mu, "%s%.4f", i ? "," : "", f->with.mu[i]);
			if (i)
				strbuf_printf(&at, "%s%zu", i > 1 ? "," : "",
					      f->with.threshold[i - 1]);
		}
		const struct vl_parameters_row row = {
			.port = port_name(s, t, f),
			.vl = f->vl,
			.lambda = f->with.lambda,
			.ca2 = f->ca2,
			.mu = table_take(t, &mu),
			.cs2 = f->cs2,
			.thresholds = table_take(t, &at),
			.capacity = f->with.capacity,
		};

		table_put_row(t, &row);
	}
}

struct model_comparison_row {
	const char *port, *thresholds, *measure, *within;
	unsigned vl;
	struct interval in;
	double model, error;
};

static const struct column comparison_columns[] = {
	{ "port", NULL, CELL(model_comparison_row, port) },
	{ "VL", NULL, CELL(model_comparison_row, vl) },
	{ "thresholds", NULL, CELL(model_comparison_row, thresholds) },
	{ "measure", NULL, CELL(model_comparison_row, measure) },
	{ "simulated", NULL, CELL(model_comparison_row, in.mean), ORIGIN_SIMULATED },
	{ "+-", NULL, CELL(model_comparison_row, in.half_width), ORIGIN_SIMULATED },
	{ "model", NULL, CELL(model_comparison_row, model), ORIGIN_COMPUTED },
	{ "EM", "%", CELL(model_comparison_row, error), ORIGIN_COMPUTED, 2 },
	{ "within", NULL, CELL(model_comparison_row, within) },
	{ NULL },
};

static void compare_measure(struct model_comparison_row *row)
{
	double off = fabs(row->in.mean - row->model);

	row->error = row->in.mean > 0 ? 100 * off / row->in.mean : NAN;
	row->within = !row->in.sound ? "unsure" : off <= row->in.half_width ? "yes" : "no";
}

static void comparison_vl(const struct study_vl_sharing *s, struct table *t, size_t k, unsigned i)
{
	const struct vl_forecast *f = &s->vls[k];
	const struct sim_vl_use *u = &s->trials[i].use[k];
	const struct ge_result *g = i ? &f->with_result : &f->without_result;
	struct interval stay = u->stay, blocking = u->blocking;

	/* Few losses give a poor estimate of their probability. */
	blocking.sound = blocking.sound && u->blocked >= ENOUGH_LOSSES;
	stay.mean /= (double)HD_US;
	stay.half_width /= (double)HD_US;
	struct model_comparison_row rows[] = {
		{ .measure = "L [packets]", .in = u->jobs, .model = g->mean_queue },
		{ .measure = "blocking", .in = blocking, .model = g->blocking },
		{ .measure = "W [us]", .in = stay, .model = g->response },
	};

	for (unsigned j = 0; j < 3; j++) {
		rows[j].port = port_name(s, t, f);
		rows[j].vl = f->vl;
		rows[j].thresholds = s->trials[i].name;
		compare_measure(&rows[j]);
		table_put_row(t, &rows[j]);
	}
}

static void comparison(const struct study_vl_sharing *s, struct results *r)
{
	struct table *t = results_table(
		r, "comparison",
		"queue length, blocking and delay at the host, in the fabric and in the model (+-: 99.9 %; EM = |simulated - model| / simulated)",
		comparison_columns);

	for (size_t k = 0; k < s->n_vls; k++) {
		comparison_vl(s, t, k, 0);
		comparison_vl(s, t, k, 1);
	}
}

struct effect_row {
	const char *traffic, *thresholds;
	uint64_t packets;
	double blocked, mean;
	hd_time p99, max;
};

static const struct column effect_columns[] = {
	{ "traffic", NULL, CELL(effect_row, traffic) },
	{ "thresholds", NULL, CELL(effect_row, thresholds) },
	{ "packets", NULL, CELL(effect_row, packets), ORIGIN_SIMULATED },
	{ "blocked", "%", CELL(effect_row, blocked), ORIGIN_SIMULATED, 3 },
	{ "mean", "us", CELL_TIME(effect_row, mean), ORIGIN_SIMULATED, 3 },
	{ "p99", "us", CELL_TIME(effect_row, p99), ORIGIN_SIMULATED, 3 },
	{ "max", "us", CELL_TIME(effect_row, max), ORIGIN_SIMULATED, 3 },
	{ NULL },
};

static void effect_table(const struct study_vl_sharing *s, struct results *r)
{
	struct table *t = results_table(
		r, "effect", "each traffic row from end to end, without and with thresholds",
		effect_columns);
	const struct scenario *scenario = s->trials[1].fabric->scenario;

	for (size_t i = 0; i < scenario->n_traffic; i++) {
		for (unsigned k = 0; k < 2; k++) {
			const struct report_row *row = &s->trials[k].rows[i];
			const struct histogram *h = &row->latency;

			const struct effect_row shown = {
				.traffic = scenario->traffic[i].name,
				.thresholds = s->trials[k].name,
				.packets = row->delivered,
				.blocked = 100 * (double)row->lost /
					   (double)(row->made ? row->made : 1),
				.mean = histogram_mean(h),
				.p99 = histogram_percentile(h, 99),
				.max = histogram_percentile(h, 100),
			};

			table_put_row(t, &shown);
		}
	}
}

struct validity_row {
	const char *port, *assumed, *here;
	unsigned vl;
	bool holds;
};

static const struct column validity_columns[] = {
	{ "port", NULL, CELL(validity_row, port) },
	{ "VL", NULL, CELL(validity_row, vl) },
	{ "the model assumes", NULL, CELL(validity_row, assumed) },
	{ "here", NULL, CELL(validity_row, here) },
	{ "holds", NULL, CELL(validity_row, holds), ORIGIN_COMPUTED },
	{ NULL },
};

/* Adds a row: an assumption, whether it holds, and its value in the fabric. */
HD_PRINTF(5, 6)
static void assume(struct table *t, struct validity_row *row, const char *assumed, bool holds,
		   const char *format, ...)
{
	struct strbuf here = STRBUF_INIT;
	va_list args;

	va_start(args, format);
	strbuf_vprintf(&here, format, args);
	va_end(args);
	row->assumed = assumed;
	row->holds = holds;
	row->here = table_take(t, &here);
	table_put_row(t, row);
}

static void validity_vl(const struct study_vl_sharing *s, struct table *t, size_t k)
{
	const struct vl_forecast *f = &s->vls[k];
	const struct sim_vl_use *u = &s->trials[1].use[k];
	double ratio = f->with.mu[f->with.n_regions - 1] / f->with.mu[0];
	bool faster = f->with.n_regions > 1 && ratio > 1.001;
	double wait = s->trials[1].wait[k];
	struct strbuf name = STRBUF_INIT;

	fabric_port_name(s->trials[1].fabric, f->port, &name);
	struct validity_row row = { .port = name.text, .vl = f->vl };

	assume(t, &row, "gaps between arrivals have one GE law", f->exact_gaps,
	       "%u flow%s, Ca2 %.3g", f->n_flows, f->n_flows == 1 ? "" : "s", f->ca2);
	assume(t, &row, "service times are GE: Cs2 of 1 or more", f->cs2 > 0.97, "Cs2 %.3f",
	       f->cs2);
	assume(t, &row, "an acquired VL serves faster", faster || f->with.n_regions == 1,
	       "%.2f times as fast with all VLs", ratio);
	assume(t, &row, "a VL is free whenever one is asked for", u->refused == 0,
	       "%llu acquired, %llu times unsuccessfully", (unsigned long long)u->acquired,
	       (unsigned long long)u->refused);
	assume(t, &row, "other VLs never change their load", f->ignored == 0,
	       "%u always busy, %u that come and go", f->rivals, f->ignored);
	assume(t, &row, "credits never stop the VL", wait < 0.001,
	       "link idle with packets waiting %.2f %% of the time", 100 * wait);
	assume(t, &row, "a packet under way gains speed at once", !faster,
	       "VLs take turns: one packet each per round");
	strbuf_fini(&name);
}

static void validity(const struct study_vl_sharing *s, struct results *r)
{
	struct table *t = results_table(
		r, "validity",
		"where the model stops being valid: what it assumes, and what the fabric has",
		validity_columns);

	for (size_t k = 0; k < s->n_vls; k++)
		validity_vl(s, t, k);
	results_remark(
		r,
		"the model is exact where every assumption holds; docs/queueing-models.md says what to expect where one does not");
}

void study_vl_sharing_tables(const struct study_vl_sharing *s, struct results *r)
{
	vl_table(s, r);
	comparison(s, r);
	effect_table(s, r);
	validity(s, r);
}
