/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench/fit.h"

#include <math.h>
#include <string.h>

#include "bench/virtual.h"
#include "measure/minimise.h"

#define TOLD     0.25 /* a larger standard error: it could be anything */
/*
 * Change of a cost to measure its effect: large enough to exceed the interval
 * at which the host polls for messages.
 */
#define NUDGE    0.15
#define NOISE    0.001               /* that measurements have at least */
#define FARTHEST 4.0                 /* from where it began: a factor of 55, in logarithms */
#define ENOUGH   (UINT64_C(1) << 20) /* bytes of a bandwidth */

/* ---- costs --------------------------------------------------------------- */

struct cost_kind {
	const char *name;
	size_t offset; /* in struct hca_profile */
	bool is_rate;
};

#define COST(member) offsetof(struct hca_profile, member)

static const struct cost_kind kinds[FIT_PARAMETERS] = {
	{ "host.post_send", COST(post_send), false },
	{ "adapter.doorbell", COST(doorbell), false },
	{ "adapter.wqe", COST(wqe), false },
	{ "bus.rate", COST(bus), true },
	{ "bus.overhead", COST(bus_overhead), false },
};

static double cost_get(const struct hca_profile *p, const struct cost_kind *k)
{
	const void *at = (const char *)p + k->offset;

	return k->is_rate ? hd_rate_bps(*(const struct hd_rate *)at) : (double)*(const hd_time *)at;
}

/* Rates of whole kb/s, which a file can say. */
static void cost_set(struct hca_profile *p, const struct cost_kind *k, double value)
{
	void *at = (char *)p + k->offset;

	if (k->is_rate)
		*(struct hd_rate *)at = hd_rate_make((uint64_t)llround(value / 1000) * 1000, 1);
	else
		*(hd_time *)at = (hd_time)llround(value);
}

/* ---- a profile's error --------------------------------------------------- */

struct fitting {
	struct nic_backend *backend;
	const struct bench_options *options;
	struct fit_points *points;
	const struct bench_watch *watch;
	struct fit *fit;
	size_t free[FIT_PARAMETERS]; /* which costs, as x counts them */
	size_t n_free;
	struct diag *d;
	enum hd_status status;
};

/* The fewest iterations with the same result as many. */
static enum hd_status run_point(struct fitting *f, struct fit_point *p)
{
	struct bench_options o = *f->options;
	struct bench_rows rows = { .items = NULL };
	bool latency = p->test->metric == METRIC_LATENCY;
	uint64_t enough = ENOUGH / p->size;

	o.from = o.to = p->size;
	if (!o.iterations)
		o.iterations = latency || enough < 4 ? 4 : enough > 512 ? 512 : enough;
	enum hd_status status = bench_run(f->backend, p->test, &o, f->watch, &rows, f->d);

	if (status == HD_OK && rows.n != 1)
		status = diag_fail(f->d, HD_ERR_ENV, "interrupted");
	if (status == HD_OK && rows.items[0].failed)
		status = diag_fail(f->d, HD_ERR_UNFIT, "%s of %llu bytes: %s", p->test->name,
				   (unsigned long long)p->size, rows.items[0].why.message);
	if (status == HD_OK)
		p->fitted = latency ? rows.items[0].average : rows.items[0].bandwidth;
	bench_rows_fini(&rows);
	return status;
}

static double residual(const struct fit_point *p)
{
	return log(p->fitted / p->measured);
}

static void put_costs(struct fitting *f, const double *x)
{
	struct hca_profile *p = virtual_profile(f->backend);

	for (size_t i = 0; i < f->n_free; i++) {
		size_t k = f->free[i];
		double far = fmax(-FARTHEST, fmin(x[i], FARTHEST));

		cost_set(p, &kinds[k], f->fit->costs[k].start * exp(far));
	}
}

/* Runs the points that are, or are not, left out. */
static void run_points(struct fitting *f, bool left_out)
{
	f->fit->runs++;
	for (size_t i = 0; i < f->points->n && f->status == HD_OK; i++) {
		if (f->points->items[i].left_out == left_out)
			f->status = run_point(f, &f->points->items[i]);
	}
}

static double mean_square(const struct fit_points *p, bool left_out)
{
	double sum = 0;
	size_t n = 0;

	for (size_t i = 0; i < p->n; i++) {
		const struct fit_point *one = &p->items[i];

		if (one->left_out != left_out)
			continue;
		sum += residual(one) * residual(one);
		n++;
	}
	return n ? sum / (double)n : 0;
}

static double error_of(void *context, const double *x)
{
	struct fitting *f = context;
	double beyond = 0;

	if (f->status != HD_OK)
		return 0;
	put_costs(f, x);
	run_points(f, false);
	for (size_t i = 0; i < f->n_free; i++)
		beyond += fmax(0, fabs(x[i]) - FARTHEST);
	return f->status == HD_OK ? mean_square(f->points, false) + beyond : 0;
}

/* ---- which costs are identifiable ------------------------------------------ */

#define MOST_ROWS 512

/* Derivatives of the residuals by each cost: columns of `n` numbers. */
struct slopes {
	size_t n;
	double of[FIT_PARAMETERS][MOST_ROWS];
};

static void residuals(struct fitting *f, const double *x, double *out, size_t *n)
{
	put_costs(f, x);
	run_points(f, false);
	*n = 0;
	for (size_t i = 0; i < f->points->n && *n < MOST_ROWS; i++) {
		if (!f->points->items[i].left_out && f->status == HD_OK)
			out[(*n)++] = residual(&f->points->items[i]);
	}
}

/*
 * Latencies of an adapter that is polled seldom go in steps, which have no
 * slope: its host looks all the time here.
 */
static void find_slopes(struct fitting *f, const double *x, struct slopes *s)
{
	double at[FIT_PARAMETERS], up[MOST_ROWS], down[MOST_ROWS];
	struct hca_profile *p = virtual_profile(f->backend);
	hd_time poll_empty = p->poll_empty;

	p->poll_empty = 0;
	for (size_t i = 0; i < f->n_free && f->status == HD_OK; i++) {
		memcpy(at, x, sizeof(at));
		at[i] = x[i] + NUDGE;
		residuals(f, at, up, &s->n);
		at[i] = x[i] - NUDGE;
		residuals(f, at, down, &s->n);
		for (size_t k = 0; k < s->n; k++)
			s->of[i][k] = (up[k] - down[k]) / (2 * NUDGE);
	}
	p->poll_empty = poll_empty;
}

static double dot(const double *a, const double *b, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

static void subtract(double *from, const double *along, size_t n)
{
	double square = dot(along, along, n);
	double share = square > 0 ? dot(from, along, n) / square : 0;

	for (size_t i = 0; i < n; i++)
		from[i] -= share * along[i];
}

/*
 * The standard error of a cost. What is left of its column when those of the
 * others are taken out (Gram and Schmidt) is its own effect: the estimate is
 * off by what the points are off along it.
 */
static double error_of_cost(const struct slopes *s, size_t n_free, size_t of,
			    const double *variance)
{
	struct slopes q = *s;

	for (size_t i = 0; i < n_free; i++) {
		if (i == of)
			continue;
		double whole = dot(q.of[i], q.of[i], s->n);

		for (size_t k = 0; k < i; k++) {
			if (k != of)
				subtract(q.of[i], q.of[k], s->n);
		}
		/* A direction that is nearly dependent on the others is treated as zero. */
		if (dot(q.of[i], q.of[i], s->n) < 1e-9 * whole)
			memset(q.of[i], 0, sizeof(q.of[i]));
		subtract(q.of[of], q.of[i], s->n);
	}
	double own = dot(q.of[of], q.of[of], s->n), sum = 0;

	for (size_t k = 0; k < s->n; k++)
		sum += q.of[of][k] * q.of[of][k] * variance[k];
	return own > 0 ? sqrt(sum) / own : INFINITY;
}

/* The other cost with the most similar effect. */
static const char *most_like(const struct fitting *f, const struct slopes *s, size_t of)
{
	const double *mine = s->of[of];
	double best = 0.5;
	const char *name = NULL;

	for (size_t i = 0; i < f->n_free; i++) {
		const double *other = s->of[i];
		double lengths = sqrt(dot(mine, mine, s->n) * dot(other, other, s->n));
		double like = lengths > 0 ? fabs(dot(mine, other, s->n)) / lengths : 0;

		if (i != of && like > best) {
			best = like;
			name = kinds[f->free[i]].name;
		}
	}
	return name;
}

/* The noise of the measurements, from the residuals and the number of fitted costs. */
static double noise_of(const struct fitting *f)
{
	double n = 0, square = mean_square(f->points, false);

	for (size_t i = 0; i < f->points->n; i++)
		n += !f->points->items[i].left_out;
	return fmax(sqrt(square * n / fmax(n - (double)f->n_free, 1)), NOISE);
}

/*
 * The variance of each point: of what was measured, and of a latency that goes
 * in steps, anywhere in one of which the costs may be (uniformly: a twelfth of
 * its square).
 */
static void find_variances(const struct fitting *f, double *out)
{
	double noise = noise_of(f);
	double step = (double)virtual_profile(f->backend)->poll_empty / HD_US;

	for (size_t i = 0, n = 0; i < f->points->n && n < MOST_ROWS; i++) {
		const struct fit_point *p = &f->points->items[i];
		double part = p->test->metric == METRIC_LATENCY ? step / p->fitted : 0;

		if (!p->left_out)
			out[n++] = noise * noise + part * part / 12;
	}
}

/* The standard errors; which cost has the largest. */
static size_t judge_costs(struct fitting *f, const double *x, double *worst)
{
	static const struct slopes none;
	struct slopes s = none;
	double variance[MOST_ROWS];
	size_t which = 0;

	put_costs(f, x);
	run_points(f, false);
	find_variances(f, variance);
	find_slopes(f, x, &s);
	*worst = 0;
	for (size_t i = 0; i < f->n_free; i++) {
		struct fit_cost *c = &f->fit->costs[f->free[i]];

		c->error = error_of_cost(&s, f->n_free, i, variance);
		if (c->error > *worst) {
			*worst = c->error;
			which = i;
		}
	}
	if (*worst > TOLD)
		f->fit->costs[f->free[which]].like = most_like(f, &s, which);
	return which;
}

/* ---- the fit ------------------------------------------------------------- */

#define BETTER 0.98 /* of what a search found before: worth another one */

/* Searches from `at`; keeps an improvement in x. True: a large improvement. */
static bool improves(struct fitting *f, double *at, double *best, double *x)
{
	const struct minimise_options o = { 0.3, 2e-3, 120 };
	double value = measure_minimise(error_of, f, f->n_free, &o, at);
	bool helped = value < BETTER * *best && f->status == HD_OK;

	if (value < *best) {
		*best = value;
		memcpy(x, at, f->n_free * sizeof(*x));
	}
	return helped;
}

/*
 * The best of several starting points: `x`, and all costs divided and multiplied
 * by three. A simplex can become small in a valley before the minimum: the
 * search restarts at the best point as long as that helps.
 */
static void search(struct fitting *f, double *x)
{
	static const double places[] = { 0, -1.1, 1.1 };
	double best = INFINITY, from[FIT_PARAMETERS], at[FIT_PARAMETERS];
	bool helped = false;

	memcpy(from, x, sizeof(from));
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		/* Costs that are longer, and a bus that is slower. */
		for (size_t k = 0; k < f->n_free; k++)
			at[k] = i == 0                      ? from[k]
				: kinds[f->free[k]].is_rate ? -places[i] / 2
							    : places[i];
		helped = improves(f, at, &best, x);
	}
	while (helped) {
		memcpy(at, x, f->n_free * sizeof(*x));
		helped = improves(f, at, &best, x);
	}
}

static void begin(struct fitting *f)
{
	const struct hca_profile *p = virtual_profile(f->backend);

	*f->fit = (struct fit){ .runs = 0 };
	for (size_t k = 0; k < FIT_PARAMETERS; k++) {
		struct fit_cost *c = &f->fit->costs[k];

		c->name = kinds[k].name;
		c->start = c->value = cost_get(p, &kinds[k]);
		/* A cost of zero, or a missing limit, has no scale. */
		c->held = !(c->start > 0);
		if (!c->held)
			f->free[f->n_free++] = k;
	}
}

/* Holds one cost at its initial value; the others adapt. */
static void hold(struct fitting *f, size_t which, double *x)
{
	struct fit_cost *c = &f->fit->costs[f->free[which]];

	c->held = true;
	cost_set(virtual_profile(f->backend), &kinds[f->free[which]], c->start);
	f->n_free--;
	memmove(&f->free[which], &f->free[which + 1], (f->n_free - which) * sizeof(*f->free));
	memmove(&x[which], &x[which + 1], (f->n_free - which) * sizeof(*x));
}

enum hd_status fit_run(struct nic_backend *b, const struct bench_options *o, struct fit_points *p,
		       const struct bench_watch *watch, struct diag *d, struct fit *out)
{
	struct fitting f = { .backend = b,
			     .options = o,
			     .points = p,
			     .watch = watch,
			     .fit = out,
			     .d = d,
			     .status = HD_OK };
	double x[FIT_PARAMETERS] = { 0 };

	begin(&f);
	while (f.n_free > 0 && f.status == HD_OK) {
		double worst;

		search(&f, x);
		size_t which = judge_costs(&f, x, &worst);

		if (worst <= TOLD)
			break;
		hold(&f, which, x);
	}
	put_costs(&f, x);
	run_points(&f, false);
	run_points(&f, true);
	for (size_t k = 0; k < FIT_PARAMETERS; k++)
		out->costs[k].value = cost_get(virtual_profile(b), &kinds[k]);
	out->error = sqrt(mean_square(p, false));
	out->error_left_out = sqrt(mean_square(p, true));
	return f.status;
}

/* ---- showing it ---------------------------------------------------------- */

struct shown_cost {
	const char *name;
	const char *start, *value;
	double error;
	const char *verdict;
};

static const struct column cost_columns[] = {
	{ "cost", NULL, CELL(shown_cost, name) },
	{ "before", NULL, CELL(shown_cost, start) },
	{ "fitted", NULL, CELL(shown_cost, value), ORIGIN_COMPUTED },
	{ "+-", "%", CELL_SHARE(shown_cost, error), ORIGIN_COMPUTED, 1 },
	{ "verdict", NULL, CELL(shown_cost, verdict), ORIGIN_COMPUTED },
	{ NULL },
};

static const char *cost_text(struct table *t, size_t k, double value)
{
	struct hca_profile p = { .name = NULL };
	struct strbuf text = STRBUF_INIT;

	cost_set(&p, &kinds[k], value);
	if (kinds[k].is_rate)
		hd_rate_print(p.bus, &text);
	else
		hd_time_print((hd_time)llround(value), &text);
	return table_take(t, &text);
}

static const char *verdict_of(struct table *t, const struct fit_cost *c)
{
	if (!c->held)
		return "fitted";
	if (!(c->start > 0))
		return "held: it costs nothing to begin with";
	return c->like ? table_text(t, "held: not told apart from %s", c->like)
		       : "held: these measurements do not depend on it";
}

struct point_row {
	const char *test;
	uint64_t size;
	const char *unit;
	double measured, fitted, error;
	const char *use;
};

static const struct column point_columns[] = {
	{ "test", NULL, CELL(point_row, test) },
	{ "#bytes", NULL, CELL(point_row, size) },
	{ "measured", NULL, CELL(point_row, measured), ORIGIN_MEASURED, 2 },
	{ "fitted", NULL, CELL(point_row, fitted), ORIGIN_SIMULATED, 2 },
	{ "in", NULL, CELL(point_row, unit) },
	{ "error", "%", CELL_SHARE(point_row, error), ORIGIN_COMPUTED, 1 },
	{ "use", NULL, CELL(point_row, use) },
	{ NULL },
};

struct fit_summary_row {
	size_t fitted, left_out, runs;
	double error, error_left_out;
};

static const struct column summary_columns[] = {
	{ "sizes fitted", NULL, CELL(fit_summary_row, fitted) },
	{ "sizes left out", NULL, CELL(fit_summary_row, left_out) },
	{ "error of those fitted", "%", CELL_SHARE(fit_summary_row, error), ORIGIN_COMPUTED, 2 },
	{ "error of those left out", "%", CELL_SHARE(fit_summary_row, error_left_out),
	  ORIGIN_COMPUTED, 2 },
	{ "profiles tried", NULL, CELL(fit_summary_row, runs), ORIGIN_COMPUTED },
	{ NULL },
};

static void show_points(const struct fit_points *p, struct results *r)
{
	struct table *t = results_table(r, "sizes", "measured, and by the fit", point_columns);

	for (size_t i = 0; i < p->n; i++) {
		const struct fit_point *one = &p->items[i];
		const struct point_row row = {
			.test = one->test->name,
			.size = one->size,
			.unit = one->test->metric == METRIC_LATENCY ? "us" : "MB/s",
			.measured = one->measured,
			.fitted = one->fitted,
			.error = one->fitted / one->measured - 1,
			.use = one->left_out ? "left out" : "fitted",
		};

		table_put_row(t, &row);
	}
}

void fit_show(const struct fit *f, const struct fit_points *p, struct results *r)
{
	struct fit_summary_row sums = { .error = f->error,
					.error_left_out = f->error_left_out,
					.runs = f->runs };
	struct table *t = results_table(r, "costs", "of host, adapter and bus", cost_columns);

	for (size_t k = 0; k < FIT_PARAMETERS; k++) {
		const struct fit_cost *c = &f->costs[k];
		const struct shown_cost row = {
			.name = c->name,
			.start = cost_text(t, k, c->start),
			.value = cost_text(t, k, c->value),
			.error = c->held ? NAN : c->error,
			.verdict = verdict_of(t, c),
		};

		table_put_row(t, &row);
	}
	show_points(p, r);
	for (size_t i = 0; i < p->n; i++) {
		sums.fitted += !p->items[i].left_out;
		sums.left_out += p->items[i].left_out;
	}
	table_put_row(results_record(r, "fit", "how good it is", summary_columns), &sums);
	results_remark(
		r,
		"adapter.packet is held: latency and bandwidth tell only adapter.wqe and it together");
	if (p->too_large)
		results_remark(r, "%zu sizes above 8 MiB were not taken", p->too_large);
}
