/* SPDX-License-Identifier: BSD-2-Clause */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "bench/bench.h"
#include "bench/params_codec.h"
#include "measure/fairness.h"

#define WINDOW       64
#define SMALL        8                    /* bytes where the size is not what matters */
#define STREAM_BYTES (UINT64_C(16) << 20) /* of a bandwidth point, about */
#define MAX_MESSAGES 1000
#define PKEY         0x8001

void bench_rows_fini(struct bench_rows *rows)
{
	free(rows->items);
}

/* ---- what the points are ---------------------------------------------- */

struct bench_points {
	uint64_t sizes[64];
	size_t n_sizes;
	uint32_t values[64];
	size_t n_values;
};

/* Each connection has its turn, unless messages are large. */
static uint64_t all_connections(const struct bench_params *p, uint64_t n)
{
	uint64_t most = STREAM_BYTES / (p->size ? p->size : 1);
	uint64_t turns = p->qps < most ? p->qps : most;

	return n < turns ? turns : n;
}

/* 4 MiB of a ping-pong says no more than fewer of them would. */
static uint64_t default_iterations(const struct bench_params *p)
{
	uint64_t n;

	switch (p->core) {
	case CORE_COST:
		return 16;
	case CORE_COMPUTE:
		return 8;
	case CORE_LATENCY:
	case CORE_MULTICAST:
		n = STREAM_BYTES / 4 / (p->size ? p->size : 1);
		n = n > 200 ? 200 : n < 8 ? 8 : n;
		return all_connections(p, n);
	default:
		n = STREAM_BYTES / (p->size ? p->size : 1);
		n = n > MAX_MESSAGES ? MAX_MESSAGES : n < 8 ? 8 : n;
		return all_connections(p, n);
	}
}

static void add_sizes(struct bench_points *s, uint64_t from, uint64_t to, uint64_t step)
{
	step = step > 1 ? step : 2;
	for (uint64_t size = from; size <= to && s->n_sizes < 63; size *= step)
		s->sizes[s->n_sizes++] = size;
	if (s->n_sizes && s->sizes[s->n_sizes - 1] < to)
		s->sizes[s->n_sizes++] = to; /* the last is always there */
}

/* Whether the back-end supports the test. */
static bool fits(const struct nic_backend *b, const struct bench_test *t, uint64_t value)
{
	if (!bench_axis_has(t->axis, value))
		return false;
	switch (t->axis) {
	case AXIS_MTU:
		return value <= b->max_mtu;
	case AXIS_THREADS:
		return b->origin == ORIGIN_SIMULATED || 2 * value <= b->max_ranks;
	case AXIS_CONTENDERS:
	case AXIS_LOADERS:
		return value + 2 <= b->max_ranks;
	case AXIS_RECEIVERS:
		return value + 1 < b->max_ranks;
	default:
		return true;
	}
}

/* A datagram is one packet. */
static void limit_sizes(struct bench_points *s, uint64_t most)
{
	size_t n = 0;

	while (n < s->n_sizes && s->sizes[n] <= most)
		n++;
	s->n_sizes = n;
}

static struct bench_points make_sweep(const struct nic_backend *b, const struct bench_test *t,
				      const struct bench_options *o)
{
	struct bench_points s = { 0 };

	if (o->to && t->to)
		add_sizes(&s, o->from ? o->from : 1, o->to, o->step);
	else if (t->to)
		add_sizes(&s, t->from, t->to, o->step);
	else
		s.sizes[s.n_sizes++] = SMALL;
	if (t->transport == QP_UD)
		limit_sizes(&s, o->mtu ? o->mtu : b->default_mtu);
	/* Unsupported options are an error, not skipped (check_options). */
	for (unsigned i = 0; i < o->n_values && t->axis; i++)
		s.values[s.n_values++] = (uint32_t)o->values[i];
	for (const uint32_t *v = t->values; v && *v != BENCH_END && o->n_values == 0; v++) {
		if (fits(b, t, *v))
			s.values[s.n_values++] = *v;
	}
	if (t->axis == AXIS_NONE)
		s.values[s.n_values++] = 0;
	return s;
}

size_t bench_points(const struct nic_backend *b, const struct bench_test *test,
		    const struct bench_options *o)
{
	struct bench_points s = make_sweep(b, test, o);

	return s.n_sizes * s.n_values;
}

static void set_partition(struct bench_params *p, uint32_t value)
{
	static const uint16_t pairs[4][2] = {
		{ PKEY, PKEY },
		{ PKEY, PKEY & 0x7fff },
		{ PKEY, PKEY + 1 },
		{ PKEY & 0x7fff, PKEY & 0x7fff },
	};

	p->pkey = pairs[value & 3][0];
	p->peer_pkey = pairs[value & 3][1];
}

/* The number that the axis is; of P_Keys a pair follows from it. */
static void set_axis(struct bench_params *p, enum bench_axis axis, uint32_t value)
{
	static const size_t places[] = {
		[AXIS_WINDOW] = offsetof(struct bench_params, window),
		[AXIS_REUSE] = offsetof(struct bench_params, reuse),
		[AXIS_QPS] = offsetof(struct bench_params, qps),
		[AXIS_SEGMENTS] = offsetof(struct bench_params, segments),
		[AXIS_MTU] = offsetof(struct bench_params, mtu),
		[AXIS_SGE] = offsetof(struct bench_params, max_sge),
		[AXIS_EVENTS] = offsetof(struct bench_params, events),
		[AXIS_CONTENDERS] = offsetof(struct bench_params, contenders),
		[AXIS_WORK] = offsetof(struct bench_params, work_share),
		[AXIS_ENTRIES] = offsetof(struct bench_params, entries),
		[AXIS_LOADERS] = offsetof(struct bench_params, loaders),
		[AXIS_RECEIVERS] = offsetof(struct bench_params, receivers),
		[AXIS_THREADS] = offsetof(struct bench_params, threads),
	};

	if (axis == AXIS_PARTITION)
		set_partition(p, value);
	else if (axis != AXIS_NONE)
		memcpy((uint8_t *)p + places[axis], &value, sizeof(value));
}

static uint64_t or_else(uint64_t value, uint64_t otherwise)
{
	return value ? value : otherwise;
}

static struct bench_params make_params(const struct nic_backend *b, const struct bench_test *t,
				       const struct bench_options *o, uint64_t size, uint32_t value)
{
	struct bench_params p = {
		.core = t->core,
		.verb = t->verb,
		.cost = t->cost,
		.transport = t->transport,
		.size = t->verb == VERB_ATOMIC ? 8 : size,
		.warmup = t->core == CORE_COST ? 0 : 4,
		.duration = o->duration,
		.limit = o->iterations ? 0 : b->limit,
		.window = (uint32_t)or_else(o->window, WINDOW),
		.qps = (uint32_t)or_else(o->qps, 1),
		.segments = (uint32_t)or_else(o->segments, 1),
		.max_sge = (uint32_t)or_else(o->sge, 1),
		.mtu = (uint32_t)or_else(o->mtu, b->default_mtu),
		.contenders = (uint32_t)o->contenders,
		.sl = (uint8_t)o->sl,
		.load_sl = t->load_sl,
		.pkey = 0xffff,
		.peer_pkey = 0xffff,
		.scheme = t->scheme,
		.reuse = 100,
		.entries = 64,
		.events = o->events,
		.huge = t->huge,
		.weighted = t->weighted,
		.threads = 1,
		.may_fail = t->axis == AXIS_PARTITION,
	};

	set_axis(&p, t->axis, value);
	if (p.core == CORE_COMPUTE)
		p.window = (uint32_t)or_else(o->window, 16);
	p.iterations = or_else(o->iterations, default_iterations(&p));
	/* No more under way than there will be. */
	if (!p.duration && p.core != CORE_COMPUTE && p.iterations < p.window)
		p.window = p.iterations > 1 ? (uint32_t)p.iterations : 1;
	/* One under way, or one answer of each: queues are for that. */
	if (p.core == CORE_LATENCY)
		p.window = p.qps > 32 ? p.qps : 32;
	if (p.core == CORE_MULTICAST)
		p.window = p.receivers > 32 ? p.receivers : 32;
	return p;
}

enum hd_status bench_serve_point(struct nic *nic, void *letter, struct diag *d)
{
	struct bench_point *point = hd_alloc(1, sizeof(*point));
	enum hd_status status = HD_OK;

	histogram_init(&point->found.latency);
	status = params_decode(letter, PARAMS_CODE_SIZE, d, &point->params);
	if (status == HD_OK && bench_ranks(&point->params) != nic->n_ranks)
		status = diag_fail(d, HD_ERR_INPUT, "the other side asks for %u ranks and has %u",
				   bench_ranks(&point->params), nic->n_ranks);
	if (status == HD_OK)
		bench_program(nic, point);
	if (status == HD_OK && point->found.why.status != HD_OK)
		status = diag_fail(d, HD_ERR_ENV, "rank %u: %s", nic->rank,
				   point->found.why.message);
	histogram_fini(&point->found.latency);
	free(point);
	return status;
}

/* ---- one point -------------------------------------------------------- */

static double us(uint64_t ps)
{
	return (double)ps / 1e6;
}

static double fairness_of(const struct bench_point *point)
{
	uint32_t n = point->params.qps;
	double *shares = hd_alloc(n, sizeof(*shares));

	for (uint32_t i = 0; i < n; i++)
		shares[i] = (double)point->found.per_qp[i] / (point->params.weighted ? i + 1 : 1);
	double jain = measure_jain_index(shares, n);

	free(shares);
	return jain;
}

static void summarise(const struct bench_point *point, struct bench_row *row)
{
	const struct bench_found *f = &point->found;
	const struct histogram *h = &f->latency;

	if (h->n) {
		row->iterations = h->n;
		row->min = us(h->min);
		row->max = us(h->max);
		row->typical = us(histogram_percentile(h, 50));
		row->average = histogram_mean(h) / 1e6;
		row->deviation = histogram_deviation(h) / 1e6;
		row->p90 = us(histogram_percentile(h, 90));
		row->p99 = us(histogram_percentile(h, 99));
		row->p999 = us(histogram_percentile(h, 99.9));
		row->p9999 = us(histogram_percentile(h, 99.99));
	}
	if (f->elapsed && f->bytes) {
		row->iterations = f->messages;
		row->bandwidth = bench_bandwidth(f);
		/* They are the same where nothing varies, but for rounding. */
		row->peak = f->peak > row->bandwidth ? f->peak : row->bandwidth;
		/*
		 * With few windows, each may include earlier completions, so the whole run also
		 * counts as a window: the minimum is not above it.
		 */
		row->least = f->window_min > 0 && f->window_min < row->bandwidth ? f->window_min
										 : row->bandwidth;
		row->rate = (double)f->messages / us(f->elapsed);
		row->fairness = fairness_of(point);
		row->work = f->work_share;
	}
}

static enum hd_status run_point(struct nic_backend *b, struct bench_row *row, struct diag *d)
{
	struct bench_point *point = hd_alloc(1, sizeof(*point));
	uint8_t letter[PARAMS_CODE_SIZE];

	point->params = row->params;
	histogram_init(&point->found.latency);
	b->wants_group = row->params.core == CORE_MULTICAST;
	b->wants_pairs = row->params.core == CORE_THREADS;
	b->wants_weights = row->params.weighted;
	params_encode(&row->params, letter);
	b->letter = letter;
	b->letter_len = sizeof(letter);
	enum hd_status status = b->run(b, bench_ranks(&row->params), bench_program, point, d);

	if (status == HD_OK)
		summarise(point, row);
	if (status == HD_OK && !point->found.done) {
		row->failed = true;
		row->why = point->found.why;
		/*
		 * A failed start is an error; a later failure is a result if the test is about
		 * failures.
		 */
		if (!point->found.opened || !row->params.may_fail)
			status = diag_fail(d, point->found.opened ? HD_ERR_ENV : HD_ERR_UNFIT,
					   "%s, %llu bytes: %s", row->test->name,
					   (unsigned long long)row->params.size, row->why.message);
	}
	histogram_fini(&point->found.latency);
	free(point);
	return status;
}

/* Options of the user that this back-end does not support. */
static enum hd_status check_options(const struct nic_backend *b, const struct bench_test *t,
				    const struct bench_options *o, struct diag *d)
{
	if (o->mtu > b->max_mtu)
		return diag_fail(d, HD_ERR_UNFIT, "an MTU of %llu, and ports and buffers have %u",
				 (unsigned long long)o->mtu, b->max_mtu);
	for (unsigned i = 0; i < o->n_values && t->axis; i++) {
		if (!bench_axis_has(t->axis, o->values[i]))
			return diag_fail(d, HD_ERR_RANGE, "%s: %llu is not a value of %s", t->name,
					 (unsigned long long)o->values[i],
					 bench_axis_name(t->axis));
		if (!fits(b, t, o->values[i]))
			return diag_fail(
				d, HD_ERR_UNFIT,
				"%s: %s %llu: there are too few hosts, or ports do not support it",
				t->name, bench_axis_name(t->axis),
				(unsigned long long)o->values[i]);
	}
	return HD_OK;
}

/* Nothing of the sweep can be done: a run without a row is no answer. */
static enum hd_status check_sweep(const struct nic_backend *b, const struct bench_test *t,
				  const struct bench_options *o, const struct bench_points *s,
				  struct diag *d)
{
	if (s->n_sizes == 0)
		return diag_fail(d, HD_ERR_UNFIT,
				 "%s: a datagram is one packet, of at most %u bytes", t->name,
				 (unsigned)(o->mtu ? o->mtu : b->default_mtu));
	if (s->n_values == 0)
		return diag_fail(d, HD_ERR_UNFIT, "%s: there are too few hosts for any %s", t->name,
				 bench_axis_name(t->axis));
	return HD_OK;
}

enum hd_status bench_run(struct nic_backend *b, const struct bench_test *test,
			 const struct bench_options *o, const struct bench_watch *watch,
			 struct bench_rows *rows, struct diag *d)
{
	struct bench_points s = make_sweep(b, test, o);
	size_t total = s.n_sizes * s.n_values;
	enum hd_status status = check_options(b, test, o, d);

	if (status == HD_OK)
		status = check_sweep(b, test, o, &s, d);
	for (size_t i = 0; i < total && status == HD_OK; i++) {
		uint32_t value = s.values[i / s.n_sizes];
		struct bench_row row = { .test = test, .value = value };

		row.params = make_params(b, test, o, s.sizes[i % s.n_sizes], value);
		if (watch && !watch->next(watch->context, &row))
			return diag_fail(d, HD_ERR_ENV, "interrupted");
		status = run_point(b, &row, d);
		if (status != HD_OK)
			break;
		rows->items = hd_grow(rows->items, &rows->cap, rows->n + 1, sizeof(*rows->items));
		rows->items[rows->n++] = row;
	}
	return status;
}
