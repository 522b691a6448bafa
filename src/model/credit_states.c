/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/credit_states.h"

#include <math.h>

#include "base/alloc.h"

/* Vectors of r whole numbers with sum at most s: C(s + r, r). */
static size_t count(size_t s, size_t r)
{
	size_t n = 1;

	for (size_t k = 1; k <= r; k++)
		n = n * (s + k) / k;
	return n;
}

struct credit_states credit_states_of(const struct credit_link *link, size_t limit)
{
	struct credit_states states = { .dimensions = 1 };
	double n = 1;

	if (link->delay > 0)
		states.dimensions += link->phases;
	for (size_t k = 1; k <= states.dimensions; k++)
		n *= (double)(link->downstream + k) / (double)k;
	if (n * ((double)link->upstream + 1) > (double)limit)
		return states;
	states.n_vectors = count(link->downstream, states.dimensions);
	states.n = states.n_vectors * (link->upstream + 1);
	return states;
}

size_t credit_vector_rank(const struct credit_link *link, const unsigned *v, size_t dimensions)
{
	size_t rank = 0, left = link->downstream;

	for (size_t k = 0; k < dimensions; k++) {
		size_t rest = dimensions - k;

		/* Vectors that are smaller here: v[k] values, any tail. */
		rank += count(left, rest);
		left -= v[k];
		rank -= count(left, rest);
	}
	return rank;
}

bool credit_vector_next(const struct credit_link *link, unsigned *v, size_t dimensions)
{
	size_t sum = 0;

	for (size_t k = 0; k < dimensions; k++)
		sum += v[k];
	for (size_t k = dimensions; k-- > 0;) {
		if (sum < link->downstream) {
			v[k]++;
			return true;
		}
		sum -= v[k];
		v[k] = 0;
	}
	return false;
}

/* Where a chain under construction adds its next transition. */
struct builder {
	struct sparse_chain *chain;
	size_t used;
};

static void add(struct builder *b, size_t target, double rate)
{
	b->chain->target[b->used] = (int)target;
	b->chain->rate[b->used++] = rate;
}

/* The rank after moving one from slot `from` to slot `to` (-1: outside). */
static size_t moved(const struct credit_link *link, unsigned *v, size_t dimensions, int from,
		    int to)
{
	if (from >= 0)
		v[from]--;
	if (to >= 0)
		v[to]++;
	size_t rank = credit_vector_rank(link, v, dimensions);

	if (from >= 0)
		v[from]++;
	if (to >= 0)
		v[to]--;
	return rank;
}

/* Transitions from a vector independent of i: services at node 2, credit phases. */
struct exits {
	size_t n;
	size_t vector[CREDIT_MAX_DIMENSIONS];
	double rate[CREDIT_MAX_DIMENSIONS];
	bool has_credit;
	size_t sent; /* the vector after node 1 sends a packet */
};

static void find_exits(const struct credit_link *link, unsigned *v, size_t dimensions,
		       struct exits *x)
{
	size_t sum = 0;

	x->n = 0;
	for (size_t k = 0; k < dimensions; k++) {
		/* Slot 0 is node 2; the last slot leads out of the vector. */
		int to = k + 1 < dimensions ? (int)k + 1 : -1;
		double rate = k == 0 ? link->mu2 : v[k] * link->phases / link->delay;

		sum += v[k];
		if (v[k] == 0)
			continue;
		x->vector[x->n] = moved(link, v, dimensions, (int)k, to);
		x->rate[x->n++] = rate;
	}
	x->has_credit = sum < link->downstream;
	if (x->has_credit)
		x->sent = moved(link, v, dimensions, -1, 0);
}

/* The states with i packets at node 1, in the order of their vectors. */
static void add_level(struct builder *b, const struct credit_link *link,
		      const struct credit_states *states, size_t i)
{
	unsigned v[CREDIT_MAX_DIMENSIONS] = { 0 };
	size_t base = i * states->n_vectors;
	size_t state = base;
	struct exits x = { 0 };

	do {
		find_exits(link, v, states->dimensions, &x);
		b->chain->start[state] = b->used;
		if (i < link->upstream)
			add(b, state + states->n_vectors, link->lambda);
		if (i > 0 && x.has_credit)
			add(b, base - states->n_vectors + x.sent, link->mu1);
		for (size_t k = 0; k < x.n; k++)
			add(b, base + x.vector[k], x.rate[k]);
		state++;
	} while (credit_vector_next(link, v, states->dimensions));
}

void credit_chain_init(struct sparse_chain *c, const struct credit_link *link,
		       const struct credit_states *states)
{
	size_t entries = states->n * (states->dimensions + 2);
	struct builder b = { .chain = c };

	c->n = states->n;
	c->start = hd_alloc(states->n + 1, sizeof(*c->start));
	c->target = hd_alloc(entries, sizeof(*c->target));
	c->rate = hd_alloc(entries, sizeof(*c->rate));
	for (size_t i = 0; i <= link->upstream; i++)
		add_level(&b, link, states, i);
	c->start[states->n] = b.used;
}

/*
 * The slowest of source, node 1, node 2 and the circle of the credits rules:
 * behind it queues are full, after it they are empty.
 */
size_t credit_common_state(const struct credit_link *link, const struct credit_states *states)
{
	double circle = (double)link->downstream / (1 / link->mu1 + 1 / link->mu2 + link->delay);
	double nodes = fmin(fmin(link->mu1, link->mu2), circle);
	double flow = fmin(link->lambda, nodes);
	size_t i = link->lambda <= nodes ? 0 : link->upstream;
	double mean = fmin(flow * link->delay, (double)link->downstream);
	unsigned v[CREDIT_MAX_DIMENSIONS] = { 0 };
	size_t back = (size_t)mean;

	for (size_t k = 0; states->dimensions > 1 && k < back; k++)
		v[1 + k % (states->dimensions - 1)]++;
	if (i > 0 && link->mu2 <= link->mu1)
		v[0] = (unsigned)(link->downstream - back);
	return i * states->n_vectors + credit_vector_rank(link, v, states->dimensions);
}

/* Part of the grid: i in [i0, i1), j in [j0, j1). */
struct part {
	size_t i0, i1, j0, j1;
};

struct dissection_order {
	int *place;
	int next;
	size_t width;
};

static void number(struct dissection_order *d, struct part a)
{
	for (size_t i = a.i0; i < a.i1; i++) {
		for (size_t j = a.j0; j < a.j1; j++)
			d->place[i * d->width + j] = d->next++;
	}
}

/* Both halves first, then the line between them. */
static void dissect(struct dissection_order *d, struct part a)
{
	const size_t leaf = 16; /* states; smaller parts gain nothing */
	size_t height = a.i1 - a.i0, width = a.j1 - a.j0;
	struct part low = a, high = a, line = a;

	if (height * width <= leaf) {
		number(d, a);
		return;
	}
	if (height >= width) {
		low.i1 = line.i0 = a.i0 + height / 2;
		high.i0 = line.i1 = low.i1 + 1;
	} else {
		low.j1 = line.j0 = a.j0 + width / 2;
		high.j0 = line.j1 = low.j1 + 1;
	}
	dissect(d, low);
	dissect(d, high);
	number(d, line);
}

void credit_dissect(const struct credit_link *link, int *place)
{
	struct dissection_order d = { .width = link->downstream + 1 };

	d.place = place;
	dissect(&d, (struct part){ 0, link->upstream + 1, 0, link->downstream + 1 });
}
