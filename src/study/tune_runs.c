/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "fabric/fabric.h"
#include "measure/fairness.h"
#include "report/database.h"
#include "run/run.h"
#include "study/processes.h"
#include "study/tune_internal.h"

/* ---- what a run is ------------------------------------------------------ */

static void put(struct overrides *o, const char *path, const char *value)
{
	overrides_put(o, path, path, "%s", value);
}

static void put_number(struct overrides *o, const char *path, uint64_t value)
{
	overrides_put(o, path, path, "%llu", (unsigned long long)value);
}

static void put_table(struct overrides *o, const struct opensm_cc *conf)
{
	struct strbuf text = STRBUF_INIT;

	for (unsigned i = 0; i < conf->n_cct; i++)
		strbuf_printf(&text, "%s%u:%u", i ? "," : "", conf->cct[i] >> 14,
			      conf->cct[i] & 0x3fff);
	overrides_put(o, "congestion.cct.table", "congestion.cct.table", "%s", text.text);
	strbuf_fini(&text);
}

static void put_control(struct overrides *o, const struct opensm_cc *conf)
{
	if (!conf) {
		put(o, "congestion.algorithm", "none");
		return;
	}
	put(o, "congestion.algorithm", conf->ccti_increase ? "cct" : "marks");
	put(o, "congestion.marking.rule", "iba");
	put_number(o, "congestion.marking.threshold", conf->threshold);
	put_number(o, "congestion.marking.rate", conf->marking_rate);
	if (!conf->ccti_increase)
		return;
	put(o, "congestion.cct.sls", "all");
	put_number(o, "congestion.cct.increase", conf->ccti_increase);
	put_number(o, "congestion.cct.timer", conf->ccti_timer);
	put_table(o, conf);
}

static void put_window(struct overrides *o, const char *path, hd_time value, uint32_t factor)
{
	overrides_put(o, path, path, "%llups", (unsigned long long)value * factor);
}

static void put_run(const struct tune_stage *s, const struct tune_run *run, struct overrides *o)
{
	const struct scn_run *windows = &s->options->scenario->run;

	overrides_copy(s->options->overrides, o);
	put_control(o, run->conf);
	put_number(o, "run.seed", run->seed);
	if (run->stressed) {
		put(o, "fabric.links.+.ports", s->hot);
		overrides_put(o, "--stress", "fabric.links.-.rate", "%.0fb/s",
			      s->rate * 1e9 / s->options->stress);
	}
	if (run->factor == 1)
		return;
	put_window(o, "run.warmup", windows->warmup.value, run->factor);
	put_window(o, "run.measure", windows->measure.value, run->factor);
}

/* ---- in a process of its own -------------------------------------------- */

struct batch {
	struct tune_stage *stage;
	struct tune_run *runs;
	struct results *first; /* tables of run 0, for the caller */
	struct diag d;         /* of the first rejected run */
};

static enum hd_status leave(const struct run *run, const char *db, struct diag *d)
{
	static const char *const names[] = { "ports", "flows",     "traffic",
					     "jobs",  "summary",   "service levels",
					     "goals", "job goals", "deadlock" };
	bool met;
	struct results *all = run_results(run, true, &met), *kept = results_new("cc tune");

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const struct table *t = results_find(all, names[i]);

		if (t)
			results_copy_table(kept, t);
	}
	enum hd_status status = database_append(db, kept, d);

	results_free(kept);
	results_free(all);
	return status;
}

static enum hd_status work(void *context, size_t job, const char *db, struct diag *d)
{
	const struct batch *b = context;
	const struct scenario *scenario = b->stage->options->scenario;
	const struct run_options options = { .sampled = false };
	struct overrides o = { 0 };
	struct fabric *fabric;
	struct run *run = NULL;

	put_run(b->stage, &b->runs[job], &o);
	enum hd_status status =
		fabric_load(scenario->text, strlen(scenario->text), scenario->file, &o, d, &fabric);

	if (status == HD_OK)
		status = run_open(fabric, &options, d, &run);
	if (status == HD_OK)
		status = run_to_end(run, d);
	return status == HD_OK ? leave(run, db, d) : status;
}

/* ---- what a run gave ---------------------------------------------------- */

static bool reads(const struct table *t, size_t row, const char *name, const char *text)
{
	const struct value *v = table_cell_of(t, row, name);

	return v->kind == VALUE_TEXT && strcmp(v->text, text) == 0;
}

static double number(const struct table *t, size_t row, const char *name)
{
	return value_real(table_cell_of(t, row, name));
}

/* Number of rows of a table; 0 if there is no such table. */
static size_t rows_of(const struct results *r, const char *name, const struct table **t)
{
	*t = results_find(r, name);
	return *t ? table_rows(*t) : 0;
}

static bool is_victim(const struct tune_stage *s, const struct table *flows, size_t row)
{
	return s->options->row ? reads(flows, row, "traffic", s->options->row)
			       : !reads(flows, row, "destination", s->end);
}

static void sum_flows(const struct tune_stage *s, const struct results *r, struct tune_outcome *out)
{
	const struct table *t;
	size_t n = rows_of(r, "flows", &t);
	double *delivered = hd_alloc(n, sizeof(*delivered));

	for (size_t i = 0; i < n; i++) {
		delivered[i] = number(t, i, "delivered");
		out->total += delivered[i];
		if (is_victim(s, t, i))
			out->victims += delivered[i];
	}
	out->fairness = measure_jain_index(delivered, n);
	free(delivered);
}

static double completion_of(const struct tune_stage *s, const struct results *r)
{
	const struct table *t;
	size_t n = rows_of(r, "jobs", &t);
	double most = NAN;

	for (size_t i = 0; i < n; i++) {
		double ends = number(t, i, "completion");

		if (s->options->job && !reads(t, i, "job", s->options->job))
			continue;
		if (isnan(ends))
			return NAN; /* the job did not finish */
		most = fmax(most, ends);
	}
	return most;
}

static double p99_of(const struct tune_stage *s, const struct results *r)
{
	const struct table *t;

	for (size_t i = 0, n = rows_of(r, "traffic", &t); i < n && s->options->row; i++) {
		if (reads(t, i, "traffic", s->options->row))
			return number(t, i, "p99");
	}
	return rows_of(r, "summary", &t) ? number(t, 0, "latency p99") : NAN;
}

static uint64_t missed_in(const struct results *r)
{
	uint64_t missed = 0;
	unsigned n = 0;

	for (size_t k = 0; k < r->n_tables; k++) {
		const struct table *t = r->tables[k];

		for (size_t i = 0; table_is_goals(t) && i < table_rows(t); i++)
			missed |= (uint64_t)!table_cell_of(t, i, "met")->yes << (n++ & 63);
	}
	return missed;
}

static void read_outcome(const struct tune_stage *s, const struct results *r,
			 struct tune_outcome *out)
{
	const struct table *t;

	*out = (struct tune_outcome){
		.p99 = p99_of(s, r),
		.completion = completion_of(s, r),
		.missed = missed_in(r),
	};
	sum_flows(s, r, out);
	for (size_t i = 0, n = rows_of(r, "ports", &t); i < n; i++) {
		if (reads(t, i, "port", s->hot))
			out->hot = number(t, i, "used") / 100;
	}
}

static bool done(void *context, size_t job, struct point_outcome *end)
{
	struct batch *b = context;
	const struct tune_options *o = b->stage->options;
	struct tune_run *run = &b->runs[job];

	if (end->failure && b->d.status == HD_OK)
		diag_fail(&b->d, end->again ? HD_ERR_ENV : HD_ERR_INPUT, "%s", end->failure);
	if (end->results) {
		run->is_done = true;
		run->seconds = end->seconds;
		if (b->stage->hot)
			read_outcome(b->stage, end->results, &run->outcome);
		if (run->keeps) {
			run->results = end->results;
			end->results = NULL;
		} else if (job == 0 && !b->stage->hot) {
			b->first = end->results;
			end->results = NULL;
		}
	}
	point_outcome_fini(end);
	if (o->progress)
		o->progress(o->context, b->stage->n_trials);
	return b->d.status == HD_OK;
}

static enum hd_status run_batch(struct batch *b, size_t n, struct diag *d)
{
	const struct processes jobs = {
		.at_once = b->stage->options->at_once, .work = work, .done = done, .context = b
	};
	enum hd_status status = processes_run(&jobs, n, d);

	if (status == HD_OK && b->d.status != HD_OK)
		status = diag_fail(d, b->d.status, "%s", b->d.message);
	for (size_t i = 0; i < n; i++)
		b->stage->stopped |= !b->runs[i].is_done;
	return status;
}

enum hd_status tune_stage_run(struct tune_stage *s, struct tune_run *runs, size_t n, struct diag *d)
{
	struct batch b = { .stage = s, .runs = runs, .d = { .status = HD_OK } };

	return run_batch(&b, n, d);
}

/* ---- the hot link ------------------------------------------------------- */

/* Hosts have names without a port, or are the destination of a flow. */
static bool is_end(const struct results *r, const char *port)
{
	const struct table *t;
	size_t n = rows_of(r, "ports", &t), links = 0;
	size_t node = strcspn(port, ":");

	for (size_t i = 0; i < n; i++) {
		const struct value *v = table_cell_of(t, i, "port");

		links += strcspn(v->text, ":") == node && strncmp(v->text, port, node) == 0;
	}
	return links == 1;
}

static void find_hot(struct tune_stage *s, const struct results *r)
{
	const struct table *t;
	size_t n = rows_of(r, "ports", &t), best = 0;
	double most = -1;

	for (size_t i = 0; i < n; i++) {
		/* One percent of utilisation counts less than being the root of the tree. */
		double rank =
			number(t, i, "used") + (is_end(r, table_cell_of(t, i, "to")->text) ? 1 : 0);

		if (rank > most && !is_end(r, table_cell_of(t, i, "port")->text)) {
			most = rank;
			best = i;
		}
	}
	s->hot = hd_strdup(table_cell_of(t, best, "port")->text);
	s->end = hd_strdup(table_cell_of(t, best, "to")->text);
	s->rate = number(t, best, "rate");
}

static void find_flows(struct tune_stage *s, const struct results *r)
{
	const struct table *t;

	for (size_t i = 0, n = rows_of(r, "service levels", &t); i < n; i++)
		s->sls |= (uint16_t)(1u << table_cell_of(t, i, "SL")->u);
	for (size_t i = 0, n = rows_of(r, "flows", &t); i < n; i++)
		s->n_victims += is_victim(s, t, i);
}

static enum hd_status check_goal(const struct tune_stage *s, const struct tune_run *first,
				 struct diag *d)
{
	const struct tune_options *o = s->options;

	if (o->goal == TUNE_VICTIMS && !s->n_victims)
		return diag_fail(
			d, HD_ERR_UNFIT,
			"every flow ends at the hot link %s, so there is no victim to protect; use --victims ROW or another --goal",
			s->hot);
	if (isfinite(tune_value(o, &first->outcome)))
		return HD_OK;
	return diag_fail(d, HD_ERR_UNFIT, "without congestion control there is no %s to improve",
			 tune_goal_names[o->goal]);
}

enum hd_status tune_stage_begin(struct tune_stage *s, struct diag *d, struct tune_run *first)
{
	struct batch b = { .stage = s, .runs = first, .d = { .status = HD_OK } };

	*first = (struct tune_run){ .seed = s->options->scenario->run.seed, .factor = 1 };
	enum hd_status status = run_batch(&b, 1, d);

	if (status == HD_OK && b.first) {
		find_hot(s, b.first);
		find_flows(s, b.first);
		read_outcome(s, b.first, &first->outcome);
		status = check_goal(s, first, d);
	}
	if (b.first)
		results_free(b.first);
	return status;
}

void tune_stage_fini(struct tune_stage *s)
{
	free(s->hot);
	free(s->end);
}
