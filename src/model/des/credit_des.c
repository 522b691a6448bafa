/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/des/credit_des.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/rng.h"

/* The keys of events, and the random streams. */
enum { ARRIVAL, SENT, SERVED, CREDIT, N_STREAMS };

struct credit_des {
	const struct credit_link *link;
	double scale;
	struct eventq events;
	struct rng rng[N_STREAMS];

	size_t upstream, downstream; /* packets at node 1 and 2 */
	size_t credits, in_flight;
	bool sending;

	/* Arrival times of all packets present, oldest first. */
	hd_time *ring;
	size_t ring_size, head;

	uint64_t arrivals, from, until, n_lost;
	struct window at_1, at_2, both, back, passed;
	struct batch_means lost, response;
};

static void after(struct credit_des *t, hd_time now, unsigned kind, double units)
{
	eventq_push(&t->events, now + des_time(t->scale, units), kind);
}

static void after_exponential(struct credit_des *t, hd_time now, unsigned kind, double rate)
{
	after(t, now, kind, rng_exponential(&t->rng[kind], 1 / rate));
}

static void start_recording(struct credit_des *t, hd_time now)
{
	hd_time width = des_time(t->scale, 32 / t->link->lambda);

	window_start(&t->at_1, now, width);
	window_start(&t->at_2, now, width);
	window_start(&t->both, now, width);
	window_start(&t->back, now, width);
	window_start(&t->passed, now, width);
	batch_means_init(&t->lost);
	batch_means_init(&t->response);
}

static void show(struct credit_des *t, hd_time now)
{
	window_set(&t->at_1, now, (double)t->upstream);
	window_set(&t->at_2, now, (double)t->downstream);
	window_set(&t->both, now, (double)(t->upstream + t->downstream));
	window_set(&t->back, now, (double)t->in_flight);
}

/* Node 1 transmits if it has a packet and a credit for it. */
static void try_send(struct credit_des *t, hd_time now)
{
	if (t->sending || t->upstream == 0 || t->credits == 0)
		return;
	t->sending = true;
	t->credits--;
	after_exponential(t, now, SENT, t->link->mu1);
}

static void arrive(struct credit_des *t, hd_time now)
{
	bool lost = t->upstream == t->link->upstream;

	if (t->arrivals >= t->from) {
		batch_means_add(&t->lost, lost);
		t->n_lost += lost;
	}
	if (!lost) {
		size_t at = t->head + t->upstream + t->downstream;

		t->ring[at % t->ring_size] = now;
		t->upstream++;
		try_send(t, now);
	}
	if (++t->arrivals == t->from)
		start_recording(t, now);
	after_exponential(t, now, ARRIVAL, t->link->lambda);
}

static void sent(struct credit_des *t, hd_time now)
{
	t->sending = false;
	t->upstream--;
	if (t->downstream++ == 0)
		after_exponential(t, now, SERVED, t->link->mu2);
	try_send(t, now);
}

/* Draws the return time of one credit. */
static double credit_delay(struct credit_des *t)
{
	const struct credit_link *l = t->link;
	double sum = 0;

	if (l->phases == 0)
		return l->delay;
	for (unsigned k = 0; k < l->phases; k++)
		sum += rng_exponential(&t->rng[CREDIT], l->delay / l->phases);
	return sum;
}

static void served(struct credit_des *t, hd_time now)
{
	hd_time arrived = t->ring[t->head];

	t->head = (t->head + 1) % t->ring_size;
	if (--t->downstream > 0)
		after_exponential(t, now, SERVED, t->link->mu2);
	window_hit(&t->passed, now, t->scale);
	if (t->passed.end)
		batch_means_add(&t->response, (double)(now - arrived) / t->scale);
	if (t->link->delay > 0) {
		t->in_flight++;
		after(t, now, CREDIT, credit_delay(t));
	} else {
		t->credits++;
		try_send(t, now);
	}
}

static void credit_returns(struct credit_des *t, hd_time now)
{
	t->in_flight--;
	t->credits++;
	try_send(t, now);
}

static void run(struct credit_des *t, const struct des_options *o)
{
	static void (*const handle[])(struct credit_des *, hd_time) = {
		[ARRIVAL] = arrive,
		[SENT] = sent,
		[SERVED] = served,
		[CREDIT] = credit_returns,
	};
	struct event e;

	while (t->arrivals < t->until && eventq_pop(&t->events, &e)) {
		if (!des_continue(o, &t->events, t->arrivals))
			break;
		handle[e.key](t, e.when);
		show(t, e.when);
	}
}

static void init(struct credit_des *t, const struct credit_link *link, const struct des_options *o)
{
	double fastest = fmax(link->lambda, fmax(link->mu1, link->mu2));

	t->link = link;
	t->scale = des_scale(o, fastest, link->lambda);
	t->credits = link->downstream;
	t->ring_size = link->upstream + link->downstream + 1;
	t->ring = hd_alloc(t->ring_size, sizeof(*t->ring));
	t->from = des_warmup(o);
	t->until = t->from + o->packets;
	eventq_init(&t->events);
	for (unsigned k = 0; k < N_STREAMS; k++)
		rng_init(&t->rng[k], o->seed, k);
	after_exponential(t, 0, ARRIVAL, link->lambda);
}

static void report(const struct credit_des *t, double level, struct credit_des_result *out)
{
	out->mean_upstream = window_interval(&t->at_1, level);
	out->mean_downstream = window_interval(&t->at_2, level);
	out->mean = window_interval(&t->both, level);
	out->in_flight = window_interval(&t->back, level);
	out->throughput = window_interval(&t->passed, level);
	out->loss = batch_means_interval(&t->lost, level);
	out->response = batch_means_interval(&t->response, level);
	out->lost = t->n_lost;
	if (t->n_lost < 100)
		out->loss.sound = false;
}

void credit_des_run(const struct credit_link *link, const struct des_options *o,
		    struct credit_des_result *out)
{
	struct credit_des *t = hd_alloc(1, sizeof(*t));

	init(t, link, o);
	run(t, o);
	report(t, o->level, out);
	eventq_fini(&t->events);
	free(t->ring);
	free(t);
}
