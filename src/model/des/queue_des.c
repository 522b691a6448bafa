/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/des/queue_des.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/rng.h"

enum { ARRIVAL, COMPLETION };

static uint64_t key_of(unsigned kind, size_t vl)
{
	return (uint64_t)kind << 32 | vl;
}

/*
 * Waiting customers, oldest first: a growing ring of 2^k places. Beyond LINE_MAX_WAITING, which
 * only an overloaded class reaches, new customers are not stored: the class always has work, and
 * its waiting time is not measured.
 */
#define LINE_MAX_WAITING ((size_t)1 << 24)

struct waiting_line {
	hd_time *arrived;
	size_t cap, head, n;
};

static void line_push(struct waiting_line *l, hd_time now)
{
	if (l->n == l->cap) {
		size_t cap = l->cap ? 2 * l->cap : 64;
		hd_time *bigger = hd_alloc(cap, sizeof(*bigger));

		for (size_t i = 0; i < l->n; i++)
			bigger[i] = l->arrived[(l->head + i) & (l->cap - 1)];
		free(l->arrived);
		l->arrived = bigger;
		l->cap = cap;
		l->head = 0;
	}
	l->arrived[(l->head + l->n++) & (l->cap - 1)] = now;
}

static hd_time line_pop(struct waiting_line *l)
{
	hd_time arrived = l->arrived[l->head];

	l->head = (l->head + 1) & (l->cap - 1);
	l->n--;
	return arrived;
}

struct class_queue {
	struct rng arrivals, service;
	struct waiting_line line;
	struct window present, served, passed;
	struct batch_means lost, response, wait;
	uint64_t n_lost;
};

struct queue_server {
	const struct queue_des *q;
	double scale;
	struct eventq events;
	struct class_queue vl[QUEUE_MAX_CLASSES];
	size_t present; /* of all classes */

	bool busy;
	size_t serving;  /* class being served */
	unsigned served; /* in this turn */
	hd_time arrived; /* the one in service */

	struct window waiting; /* expected work of waiting customers */
	uint64_t arrivals, from, until;
};

static double service_time(struct rng *r, const struct queue_class *c)
{
	if (c->cs2 >= 1)
		return rng_ge(r, 1 / c->mu, c->cs2);
	double random = sqrt(c->cs2) / c->mu;

	return 1 / c->mu - random + rng_exponential(r, random);
}

static bool next_by_priority(struct queue_server *s)
{
	for (size_t k = 0; k < s->q->n_classes; k++) {
		if (s->vl[k].line.n > 0) {
			s->serving = k;
			return true;
		}
	}
	return false;
}

/* Continues the turn of a VL, or takes the next VL that waits. */
static bool next_by_turns(struct queue_server *s)
{
	size_t k = s->serving;

	if (s->vl[k].line.n > 0 && s->served < s->q->turn[k]) {
		s->served++;
		return true;
	}
	for (size_t i = 1; i <= s->q->n_classes; i++) {
		k = (s->serving + i) % s->q->n_classes;
		if (s->vl[k].line.n == 0)
			continue;
		s->serving = k;
		s->served = 1;
		return true;
	}
	return false;
}

/* The work in the queues changes with waiting customers, not with the one in service. */
static void show_waiting(struct queue_server *s, hd_time now)
{
	double work = 0;

	for (size_t k = 0; k < s->q->n_classes; k++)
		work += (double)s->vl[k].line.n / s->q->classes[k].mu;
	window_set(&s->waiting, now, work);
}

static void show(struct queue_server *s, size_t k, hd_time now)
{
	struct class_queue *l = &s->vl[k];
	bool served = s->busy && s->serving == k;

	window_set(&l->served, now, served);
	window_set(&l->present, now, (double)(l->line.n + served));
	show_waiting(s, now);
}

static void serve(struct queue_server *s, hd_time now)
{
	bool (*const next[])(struct queue_server *) = {
		[QUEUE_PRIORITY] = next_by_priority,
		[QUEUE_TURNS] = next_by_turns,
	};

	if (s->busy || !next[s->q->order](s))
		return;
	size_t k = s->serving;
	struct class_queue *l = &s->vl[k];

	s->busy = true;
	s->arrived = line_pop(&l->line);
	if (l->passed.end)
		batch_means_add(&l->wait, (double)(now - s->arrived) / s->scale);
	double time = service_time(&l->service, &s->q->classes[k]);

	eventq_push(&s->events, now + des_time(s->scale, time), key_of(COMPLETION, 0));
	show(s, k, now);
}

static void complete(struct queue_server *s, hd_time now)
{
	struct class_queue *l = &s->vl[s->serving];

	s->busy = false;
	s->present--;
	window_hit(&l->passed, now, s->scale);
	if (l->passed.end)
		batch_means_add(&l->response, (double)(now - s->arrived) / s->scale);
	show(s, s->serving, now);
	serve(s, now);
}

static void start_recording(struct queue_server *s, hd_time now)
{
	double rate = 0;

	for (size_t k = 0; k < s->q->n_classes; k++)
		rate += s->q->classes[k].lambda;
	hd_time width = des_time(s->scale, 32 / rate);

	window_start(&s->waiting, now, width);
	for (size_t k = 0; k < s->q->n_classes; k++) {
		struct class_queue *l = &s->vl[k];

		window_start(&l->present, now, width);
		window_start(&l->served, now, width);
		window_start(&l->passed, now, width);
		batch_means_init(&l->lost);
		batch_means_init(&l->response);
		batch_means_init(&l->wait);
	}
}

static void next_arrival(struct queue_server *s, size_t k, hd_time now)
{
	double gap = rng_exponential(&s->vl[k].arrivals, 1 / s->q->classes[k].lambda);

	eventq_push(&s->events, now + des_time(s->scale, gap), key_of(ARRIVAL, k));
}

static void arrive(struct queue_server *s, size_t k, hd_time now)
{
	struct class_queue *l = &s->vl[k];
	bool lost = s->q->capacity && s->present == s->q->capacity;

	if (s->arrivals >= s->from) {
		batch_means_add(&l->lost, lost);
		l->n_lost += lost;
	}
	if (!lost && l->line.n < LINE_MAX_WAITING) {
		s->present++;
		line_push(&l->line, now);
		show(s, k, now);
		serve(s, now);
	}
	if (++s->arrivals == s->from)
		start_recording(s, now);
	next_arrival(s, k, now);
}

static void run(struct queue_server *s, const struct des_options *o)
{
	struct event e;

	while (s->arrivals < s->until && eventq_pop(&s->events, &e)) {
		if (!des_continue(o, &s->events, s->arrivals))
			break;
		if (e.key >> 32 == ARRIVAL)
			arrive(s, (size_t)(e.key & UINT32_MAX), e.when);
		else
			complete(s, e.when);
	}
}

static void init(struct queue_server *s, const struct queue_des *q, const struct des_options *o)
{
	double rate = 0, fastest = 0;

	for (size_t k = 0; k < q->n_classes; k++) {
		const struct queue_class *c = &q->classes[k];

		rate += c->lambda;
		fastest = fmax(fastest, fmax(c->lambda, c->mu));
	}
	s->q = q;
	s->scale = des_scale(o, fastest, rate);
	s->from = des_warmup(o);
	s->until = s->from + o->packets;
	eventq_init(&s->events);
	for (size_t k = 0; k < q->n_classes; k++) {
		rng_init(&s->vl[k].arrivals, o->seed, 2 * k);
		rng_init(&s->vl[k].service, o->seed, 2 * k + 1);
		next_arrival(s, k, 0);
	}
}

static void report(const struct class_queue *l, double level, struct queue_des_result *out)
{
	out->mean_queue = window_interval(&l->present, level);
	out->utilisation = window_interval(&l->served, level);
	out->throughput = window_interval(&l->passed, level);
	out->response = batch_means_interval(&l->response, level);
	out->wait = batch_means_interval(&l->wait, level);
	out->blocking = batch_means_interval(&l->lost, level);
	out->lost = l->n_lost;
	if (l->n_lost < 100)
		out->blocking.sound = false;
}

void queue_des_run(const struct queue_des *q, const struct des_options *o,
		   struct queue_des_result *out, struct interval *conserved)
{
	struct queue_server *s = hd_alloc(1, sizeof(*s));

	init(s, q, o);
	run(s, o);
	for (size_t k = 0; k < q->n_classes; k++) {
		report(&s->vl[k], o->level, &out[k]);
		free(s->vl[k].line.arrived);
	}
	*conserved = window_interval(&s->waiting, o->level);
	eventq_fini(&s->events);
	free(s);
}
