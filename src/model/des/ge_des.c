/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/des/ge_des.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/rng.h"

enum { ARRIVAL, COMPLETION };

static uint64_t key_of(unsigned kind, uint64_t what)
{
	return (uint64_t)kind << 56 | what;
}

/* Statistics of the queue, or of one of its classes. */
struct probe {
	struct window present, served, passed;
	struct batch_means lost, response;
	uint64_t n_lost;
	uint64_t n; /* present now */
};

struct customer {
	hd_time arrived;
	unsigned class_index;
};

struct ge_source {
	struct rng rng;
	size_t room; /* of the batch that is arriving */
	struct probe probe;
};

struct ge_des {
	const struct batch_queue *q;
	double scale;
	double tau;
	struct eventq events;
	struct rng service;
	struct ge_source source[BATCH_MAX_CLASSES];
	struct probe all;

	/* Customers present, oldest first, in a ring of `capacity` places. */
	struct customer *ring;
	size_t head, n;

	/* The service under way: work left at `since`, done at `speed`. */
	double work, speed;
	hd_time since;
	uint64_t generation; /* of its completion event; older ones are void */

	uint64_t arrivals, from, until; /* recorded are from .. until */
};

static struct customer *oldest(struct ge_des *t)
{
	return &t->ring[t->head];
}

static bool is_recording(const struct ge_des *t)
{
	return t->arrivals >= t->from;
}

static void probe_start(struct probe *p, hd_time now, hd_time width)
{
	window_start(&p->present, now, width);
	window_start(&p->served, now, width);
	window_start(&p->passed, now, width);
	batch_means_init(&p->lost);
	batch_means_init(&p->response);
}

static void start_recording(struct ge_des *t, hd_time now)
{
	double rate = 0;

	for (size_t k = 0; k < t->q->n_classes; k++)
		rate += t->q->classes[k].lambda;
	/* Wide enough for some tens of arrivals. */
	hd_time width = des_time(t->scale, 32 / rate);

	probe_start(&t->all, now, width);
	for (size_t k = 0; k < t->q->n_classes; k++)
		probe_start(&t->source[k].probe, now, width);
}

static void probe_count(struct probe *p, hd_time now, int change)
{
	p->n += (uint64_t)change;
	window_set(&p->present, now, (double)p->n);
}

static void count(struct ge_des *t, unsigned class_index, hd_time now, int change)
{
	probe_count(&t->all, now, change);
	probe_count(&t->source[class_index].probe, now, change);
}

static void probe_depart(struct probe *p, hd_time now, double scale, double time)
{
	window_hit(&p->passed, now, scale);
	if (p->passed.end)
		batch_means_add(&p->response, time);
}

/* The oldest customer leaves. */
static void depart(struct ge_des *t, hd_time now)
{
	struct customer c = *oldest(t);
	double time = (double)(now - c.arrived) / t->scale;

	t->head = t->head + 1 < t->q->service.capacity ? t->head + 1 : 0;
	t->n--;
	count(t, c.class_index, now, -1);
	probe_depart(&t->all, now, t->scale, time);
	probe_depart(&t->source[c.class_index].probe, now, t->scale, time);
}

static void show_served(struct ge_des *t, hd_time now)
{
	window_set(&t->all.served, now, t->n > 0);
	for (unsigned k = 0; k < t->q->n_classes; k++)
		window_set(&t->source[k].probe.served, now,
			   t->n > 0 && oldest(t)->class_index == k);
}

/* The speed follows the level; with it the time of completion moves. */
static void set_speed(struct ge_des *t, hd_time now, bool started)
{
	double speed = 0;

	if (t->n > 0)
		speed = t->tau * ge_rate(&t->q->service, t->n) / t->scale;
	if (speed == t->speed && !started)
		return;
	if (!started)
		t->work -= t->speed * (double)(now - t->since);
	t->work = fmax(t->work, 0);
	t->since = now;
	t->speed = speed;
	t->generation++;
	if (t->n > 0)
		eventq_push(&t->events, now + (hd_time)(t->work / speed + 0.5),
			    key_of(COMPLETION, t->generation));
}

/* Serves on: instant services at once, up to one that takes time. */
static void serve(struct ge_des *t, hd_time now)
{
	while (t->n > 0 && rng_uniform(&t->service) >= t->tau)
		depart(t, now);
	if (t->n > 0)
		t->work = rng_exponential(&t->service, 1);
	show_served(t, now);
	set_speed(t, now, true);
}

static void record_arrival(struct ge_des *t, unsigned k, bool lost)
{
	struct probe *probes[] = { &t->all, &t->source[k].probe };

	for (int i = 0; i < 2 && is_recording(t); i++) {
		batch_means_add(&probes[i]->lost, lost);
		probes[i]->n_lost += lost;
	}
}

static void admit(struct ge_des *t, unsigned k, hd_time now)
{
	size_t capacity = t->q->service.capacity;
	size_t at = t->head + t->n;

	t->ring[at < capacity ? at : at - capacity] =
		(struct customer){ .arrived = now, .class_index = k };
	t->n++;
	count(t, k, now, 1);
	if (t->n == 1)
		serve(t, now);
	else
		set_speed(t, now, false);
}

static size_t room_now(const struct ge_des *t)
{
	const struct ge_queue *s = &t->q->service;
	size_t i = 0;

	while (i + 1 < s->n_regions && t->n >= s->threshold[i])
		i++;
	return t->q->room[i];
}

/* A batch: customers until a gap is not zero. */
static void arrive(struct ge_des *t, unsigned k, hd_time now)
{
	struct ge_source *s = &t->source[k];
	const struct batch_class *c = &t->q->classes[k];
	double gap;

	s->room = room_now(t);
	do {
		bool lost = t->n >= s->room;

		record_arrival(t, k, lost);
		if (!lost)
			admit(t, k, now);
		if (++t->arrivals == t->from)
			start_recording(t, now);
		gap = rng_ge(&s->rng, 1 / c->lambda, c->ca2);
	} while (gap == 0);
	eventq_push(&t->events, now + des_time(t->scale, gap), key_of(ARRIVAL, k));
}

static void run(struct ge_des *t, const struct des_options *o)
{
	struct event e;

	while (t->arrivals < t->until && eventq_pop(&t->events, &e)) {
		unsigned kind = (unsigned)(e.key >> 56);
		uint64_t what = e.key & (UINT64_MAX >> 8);

		if (!des_continue(o, &t->events, t->arrivals))
			break;
		if (kind == ARRIVAL) {
			arrive(t, (unsigned)what, e.when);
		} else if (what == t->generation) {
			depart(t, e.when);
			serve(t, e.when);
		}
	}
}

static void init(struct ge_des *t, const struct batch_queue *q, const struct des_options *o)
{
	double arrival_rate = 0, fastest = 0;

	for (size_t i = 0; i < q->service.n_regions; i++)
		fastest = fmax(fastest, q->service.mu[i]);
	for (size_t k = 0; k < q->n_classes; k++) {
		arrival_rate += q->classes[k].lambda;
		fastest = fmax(fastest, q->classes[k].lambda);
	}
	t->q = q;
	t->scale = des_scale(o, fastest, arrival_rate);
	t->tau = 2 / (q->service.cs2 + 1);
	t->ring = hd_alloc(q->service.capacity, sizeof(*t->ring));
	t->from = des_warmup(o);
	t->until = t->from + o->packets;
	eventq_init(&t->events);
	rng_init(&t->service, o->seed, 0);
	for (unsigned k = 0; k < q->n_classes; k++) {
		struct rng *r = &t->source[k].rng;

		rng_init(r, o->seed, k + 1);
		eventq_push(&t->events,
			    des_time(t->scale, rng_exponential(r, 1 / q->classes[k].lambda)),
			    key_of(ARRIVAL, k));
	}
}

static void report(const struct probe *p, double level, struct ge_des_result *out)
{
	out->mean_queue = window_interval(&p->present, level);
	out->utilisation = window_interval(&p->served, level);
	out->throughput = window_interval(&p->passed, level);
	out->blocking = batch_means_interval(&p->lost, level);
	out->response = batch_means_interval(&p->response, level);
	out->lost = p->n_lost;
	if (p->n_lost < 100) /* too few for a mean of them to be normal */
		out->blocking.sound = false;
}

void ge_des_run(const struct batch_queue *q, const struct des_options *o, struct ge_des_result *all,
		struct ge_des_result *classes)
{
	struct ge_des *t = hd_alloc(1, sizeof(*t));

	init(t, q, o);
	run(t, o);
	report(&t->all, o->level, all);
	for (size_t k = 0; classes && k < q->n_classes; k++)
		report(&t->source[k].probe, o->level, &classes[k]);
	eventq_fini(&t->events);
	free(t->ring);
	free(t);
}
