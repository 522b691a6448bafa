/* SPDX-License-Identifier: BSD-2-Clause */
/* The rounds of collective steps, J8 and J9, as graphs of operations. */
#include "job.h"

#include <stdlib.h>

#include "base/alloc.h"

#define STRANDS 4096 /* of a step, at most */

const struct oracle_step_name oracle_step_names[STEP_KINDS] = {
	[STEP_COMPUTE] = { "compute", NULL, false },
	[STEP_BARRIER] = { "barrier", NULL, false },
	[STEP_BROADCAST] = { "broadcast", "binomial", false },
	[STEP_BROADCAST_MULTICAST] = { "broadcast", "multicast", false },
	[STEP_REDUCE] = { "reduce", "binomial", false },
	[STEP_ALLREDUCE_RING] = { "allreduce", "ring", false },
	[STEP_ALLREDUCE_DOUBLING] = { "allreduce", "doubling", false },
	[STEP_ALLREDUCE_RABENSEIFNER] = { "allreduce", "rabenseifner", false },
	[STEP_ALLREDUCE_TREE] = { "allreduce", "tree", false },
	[STEP_ALLGATHER_RING] = { "allgather", "ring", false },
	[STEP_ALLGATHER_DOUBLING] = { "allgather", "doubling", true },
	[STEP_REDUCE_SCATTER_RING] = { "reduce_scatter", "ring", false },
	[STEP_REDUCE_SCATTER_HALVING] = { "reduce_scatter", "halving", true },
	[STEP_ALLTOALL_PAIRWISE] = { "alltoall", "pairwise", false },
	[STEP_ALLTOALL_LINEAR] = { "alltoall", "linear", false },
	[STEP_ALLTOALL_BRUCK] = { "alltoall", "bruck", false },
	[STEP_HALO] = { "halo", NULL, false },
	[STEP_SHIFT] = { "shift", NULL, false },
	[STEP_READ] = { "read", NULL, false },
	[STEP_WRITE] = { "write", NULL, false },
	[STEP_BARRIER_NETWORK] = { "barrier", "in-network", false },
	[STEP_ALLREDUCE_NETWORK] = { "allreduce", "in-network", false },
};

/* ---- graphs ---- */

void ops_add(struct oracle_graph *g, struct oracle_op op)
{
	g->ops = hd_grow(g->ops, &g->ops_cap, g->n_ops + 1, sizeof(*g->ops));
	g->ops[g->n_ops++] = op;
}

void ops_require(struct oracle_graph *g, uint32_t op, uint32_t on, bool started)
{
	g->edges = hd_grow(g->edges, &g->edges_cap, g->n_edges + 1, sizeof(*g->edges));
	g->edges[g->n_edges++] = (struct oracle_edge){ op, on, started };
}

void ops_fini(struct oracle_graph *g)
{
	free(g->ops);
	free(g->edges);
	*g = (struct oracle_graph){ 0 };
}

void job_fini(struct oracle_job *j)
{
	for (uint32_t r = 0; j->graphs && r < j->n_ranks; r++)
		ops_fini(&j->graphs[r]);
	free(j->graphs);
	free(j->steps);
	free(j->trees);
	free(j->nodes);
	free(j->servers);
}

/* ---- groups ---- */

uint32_t group_of_rank(const struct oracle_job *j, const struct oracle_step *s, uint32_t rank)
{
	return s->strides ? rank % s->groups : rank / (j->n_ranks / s->groups);
}

bool step_has_tree(const struct oracle_step *s)
{
	return s->kind == STEP_BROADCAST_MULTICAST || s->kind == STEP_BARRIER_NETWORK ||
	       s->kind == STEP_ALLREDUCE_NETWORK;
}

/* S1: those who reduce have one for all steps. */
uint32_t tree_place_of(const struct oracle_step *s, uint32_t place)
{
	return s->kind == STEP_BROADCAST_MULTICAST ? place : ORACLE_ANY;
}

const struct oracle_tree *tree_of_rank(const struct oracle_job *j, uint32_t place, uint32_t rank)
{
	const struct oracle_step *s = &j->steps[place];

	for (size_t i = 0; i < j->n_trees; i++) {
		const struct oracle_tree *t = &j->trees[i];

		if (t->place == tree_place_of(s, place) && t->groups == s->groups &&
		    t->strides == s->strides && t->group == group_of_rank(j, s, rank))
			return t;
	}
	return NULL;
}

/* ---- sequences and rounds ---- */

struct rounds {
	const struct oracle_step *step;
	struct oracle_graph *g;
	uint32_t p, r, group; /* rank r of the p of its group */
	uint64_t m;
	uint16_t mlid; /* of the group, if it has a tree */
	uint32_t place, sequence;
	/* Operations of the last round that has any, and of this one. */
	size_t before, begin;
};

static void sequence(struct rounds *a, uint32_t number)
{
	a->sequence = number;
	a->before = a->begin = a->g->n_ops;
}

static void next_round(struct rounds *a)
{
	if (a->g->n_ops == a->begin)
		return;
	a->before = a->begin;
	a->begin = a->g->n_ops;
}

static uint32_t rank_of(const struct rounds *a, uint32_t member)
{
	if (a->step->strides)
		return a->group + member * a->step->groups;
	return a->group * a->p + member;
}

static void put(struct rounds *a, struct oracle_op op)
{
	uint32_t number = (uint32_t)a->g->n_ops;

	ops_add(a->g, op);
	for (size_t i = a->before; i < a->begin; i++)
		ops_require(a->g, number, (uint32_t)i, false);
}

static struct oracle_op message(const struct rounds *a, enum oracle_op_kind kind, uint32_t member,
				uint64_t bytes)
{
	return (struct oracle_op){ .kind = kind,
				   .size = bytes,
				   .peer = rank_of(a, a->p > 1 ? member % a->p : 0),
				   .channel = a->place * STRANDS + a->sequence };
}

static void to(struct rounds *a, uint32_t member, uint64_t bytes)
{
	put(a, message(a, ORACLE_SEND, member, bytes));
}

static void from(struct rounds *a, uint32_t member, uint64_t bytes)
{
	put(a, message(a, ORACLE_RECV, member, bytes));
}

static uint32_t log2_up(uint32_t p)
{
	uint32_t k = 0;

	while (UINT32_C(1) << k < p)
		k++;
	return k;
}

/* b(i) of n blocks, i modulo n. */
static uint64_t block(uint64_t m, uint32_t n, uint32_t i)
{
	i %= n;
	return m * (i + 1) / n - m * i / n;
}

/* ---- collectives ---- */

static void compute(struct rounds *a)
{
	put(a, (struct oracle_op){ .kind = ORACLE_COMPUTE, .size = a->m });
}

static void barrier(struct rounds *a)
{
	for (uint32_t k = 0; k < log2_up(a->p); k++) {
		next_round(a);
		from(a, a->r + a->p - (UINT32_C(1) << k) % a->p, 0);
		to(a, a->r + (UINT32_C(1) << k), 0);
	}
}

static void broadcast(struct rounds *a)
{
	uint32_t root = a->step->root, v = (a->r + a->p - root) % a->p;
	uint32_t k = 0;

	if (v > 0) {
		while (v >> (k + 1))
			k++;
		from(a, v - (UINT32_C(1) << k) + root, a->m);
		k++;
	}
	for (; k < log2_up(a->p); k++) {
		next_round(a);
		if (v + (UINT32_C(1) << k) < a->p)
			to(a, v + (UINT32_C(1) << k) + root, a->m);
	}
}

static void broadcast_multicast(struct rounds *a)
{
	struct oracle_op send = message(a, ORACLE_SEND, a->r, a->m);

	send.mlid = a->mlid;
	if (a->p == 1)
		return;
	if (a->r == a->step->root)
		put(a, send);
	else
		from(a, a->step->root, a->m);
}

static void reduce(struct rounds *a)
{
	uint32_t root = a->step->root, v = (a->r + a->p - root) % a->p;

	for (uint32_t k = 0; k < log2_up(a->p); k++) {
		uint32_t bit = UINT32_C(1) << k;

		next_round(a);
		if (v & bit) {
			to(a, v - bit + root, a->m);
			return;
		}
		if (v + bit < a->p)
			from(a, v + bit + root, a->m);
	}
}

static void ring_round(struct rounds *a, uint64_t sent, uint64_t received)
{
	next_round(a);
	from(a, a->r + a->p - 1, received);
	to(a, a->r + 1, sent);
}

static void allgather_ring(struct rounds *a)
{
	for (uint32_t k = 0; k + 1 < a->p; k++)
		ring_round(a, a->m, a->m);
}

static void allgather_doubling(struct rounds *a)
{
	for (uint32_t k = 0; k < log2_up(a->p); k++) {
		next_round(a);
		from(a, a->r ^ UINT32_C(1) << k, a->m << k);
		to(a, a->r ^ UINT32_C(1) << k, a->m << k);
	}
}

static void reduce_scatter_ring(struct rounds *a)
{
	uint32_t p = a->p, r = a->r;

	for (uint32_t k = 0; k + 1 < p; k++)
		ring_round(a, block(a->m, p, 2 * p + r - k - 1), block(a->m, p, 2 * p + r - k - 2));
}

static void allreduce_ring(struct rounds *a)
{
	uint32_t p = a->p, r = a->r;

	for (uint32_t k = 0; k + 1 < p; k++)
		ring_round(a, block(a->m, p, 2 * p + r - k), block(a->m, p, 2 * p + r - k - 1));
	for (uint32_t k = 0; k + 1 < p; k++)
		ring_round(a, block(a->m, p, 2 * p + r + 1 - k), block(a->m, p, 2 * p + r - k));
}

/* The blocks, of q, that have all bits but the lowest `low` of `like`. */
static uint64_t blocks_like(uint64_t m, uint32_t q, uint32_t like, uint32_t low)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < q; i++)
		if (i >> low == like >> low)
			sum += block(m, q, i);
	return sum;
}

/* Rank number n among the q that continue after the first round (J8). */
static uint32_t folded(uint32_t n, uint32_t e)
{
	return n < e ? 2 * n + 1 : n + e;
}

/* Round i of halving over q, with the ranks' numbers n; `back`: once more. */
static void halving_round(struct rounds *a, uint32_t q, uint32_t n, uint32_t i, bool back)
{
	uint32_t low = log2_up(q) - i, other = n ^ UINT32_C(1) << low;
	uint64_t own = blocks_like(a->m, q, n, low);
	uint64_t others = blocks_like(a->m, q, other, low);

	next_round(a);
	from(a, folded(other, a->p - q), back ? others : own);
	to(a, folded(other, a->p - q), back ? own : others);
}

static void reduce_scatter_halving(struct rounds *a)
{
	for (uint32_t i = 1; i <= log2_up(a->p); i++)
		halving_round(a, a->p, a->r, i, false);
}

static void doubling(struct rounds *a, uint32_t q, uint32_t n)
{
	for (uint32_t k = 0; k < log2_up(q); k++) {
		uint32_t other = folded(n ^ UINT32_C(1) << k, a->p - q);

		next_round(a);
		from(a, other, a->m);
		to(a, other, a->m);
	}
}

static void halving_and_back(struct rounds *a, uint32_t q, uint32_t n)
{
	for (uint32_t i = 1; i <= log2_up(q); i++)
		halving_round(a, q, n, i, false);
	for (uint32_t i = log2_up(q); i >= 1; i--)
		halving_round(a, q, n, i, true);
}

/* Ranks beyond a power of two: pairs continue as one rank. */
static void allreduce_folded(struct rounds *a,
			     void (*middle)(struct rounds *a, uint32_t q, uint32_t n))
{
	uint32_t q = 1, e, r = a->r;

	while (2 * q <= a->p)
		q *= 2;
	e = a->p - q;
	if (r < 2 * e && r % 2 == 0) {
		to(a, r + 1, a->m);
		next_round(a);
		from(a, r + 1, a->m);
		return;
	}
	if (r < 2 * e)
		from(a, r - 1, a->m);
	middle(a, q, r < 2 * e ? r / 2 : r - e);
	if (r < 2 * e) {
		next_round(a);
		to(a, r - 1, a->m);
	}
}

static void allreduce_doubling(struct rounds *a)
{
	allreduce_folded(a, doubling);
}

static void allreduce_rabenseifner(struct rounds *a)
{
	allreduce_folded(a, halving_and_back);
}

/* ---- two trees ---- */

struct tree_node {
	bool is_root;
	uint32_t parent;
	uint32_t children[2], n_children;
};

/* Place r in the first tree of p. */
static struct tree_node tree_at(uint32_t r, uint32_t p)
{
	struct tree_node t = { .is_root = r == 0 };
	uint32_t low = r & (~r + 1), half = low / 2;

	if (r == 0) {
		uint32_t top = 1;

		while (2 * top < p)
			top *= 2;
		if (p > 1)
			t.children[t.n_children++] = top;
		return t;
	}
	t.parent = (r ^ low) | 2 * low;
	if (t.parent >= p)
		t.parent = r ^ low;
	if (low == 1)
		return t;
	t.children[t.n_children++] = r - half;
	while (half > 0 && r + half >= p)
		half /= 2;
	if (half > 0)
		t.children[t.n_children++] = r + half;
	return t;
}

/* Ranks and places of a tree: the same map does both, but in odd groups. */
static uint32_t tree_place(uint32_t tree, uint32_t r, uint32_t p)
{
	if (tree == 0)
		return r;
	return p % 2 ? (r + p - 1) % p : p - 1 - r;
}

static uint32_t tree_rank(uint32_t tree, uint32_t place, uint32_t p)
{
	if (tree == 0)
		return place;
	return p % 2 ? (place + 1) % p : p - 1 - place;
}

static void with_children(struct rounds *a, uint32_t tree, const struct tree_node *t,
			  enum oracle_op_kind kind, uint64_t bytes)
{
	next_round(a);
	for (uint32_t i = 0; i < t->n_children; i++) {
		struct oracle_op op =
			message(a, kind, tree_rank(tree, t->children[i], a->p), bytes);

		if (kind == ORACLE_SEND) /* as those who go down have it */
			op.channel = a->place * STRANDS + 2 * tree + 1;
		put(a, op);
	}
}

static void tree_strands(struct rounds *a, uint32_t tree, uint64_t bytes)
{
	struct tree_node t = tree_at(tree_place(tree, a->r, a->p), a->p);
	uint32_t parent = tree_rank(tree, t.parent, a->p);
	uint64_t most = a->step->segment ? a->step->segment : bytes;

	sequence(a, 2 * tree);
	for (uint64_t left = bytes, s; left > 0; left -= s) {
		s = left < most ? left : most;
		with_children(a, tree, &t, ORACLE_RECV, s);
		next_round(a);
		if (t.is_root)
			with_children(a, tree, &t, ORACLE_SEND, s);
		else
			to(a, parent, s);
	}
	sequence(a, 2 * tree + 1);
	for (uint64_t left = bytes, s; left > 0 && !t.is_root; left -= s) {
		s = left < most ? left : most;
		next_round(a);
		from(a, parent, s);
		with_children(a, tree, &t, ORACLE_SEND, s);
	}
}

static void allreduce_tree(struct rounds *a)
{
	tree_strands(a, 0, (a->m + 1) / 2);
	tree_strands(a, 1, a->m - (a->m + 1) / 2);
}

/* ---- all to all, neighbours ---- */

static void alltoall_pairwise(struct rounds *a)
{
	for (uint32_t k = 1; k < a->p; k++) {
		next_round(a);
		from(a, a->r + a->p - k, a->m);
		to(a, a->r + k, a->m);
	}
}

static void alltoall_linear(struct rounds *a)
{
	for (uint32_t k = 1; k < a->p; k++)
		from(a, a->r + a->p - k, a->m);
	for (uint32_t k = 1; k < a->p; k++)
		to(a, a->r + k, a->m);
}

static void alltoall_bruck(struct rounds *a)
{
	for (uint32_t k = 0; k < log2_up(a->p); k++) {
		uint64_t n = 0;

		for (uint32_t i = 1; i < a->p; i++)
			n += i >> k & 1;
		next_round(a);
		from(a, a->r + a->p - (UINT32_C(1) << k) % a->p, n * a->m);
		to(a, a->r + (UINT32_C(1) << k), n * a->m);
	}
}

enum { UPWARDS, DOWNWARDS }; /* tags of a halo */

/* The neighbour of rank r, `by` further in dimension d, all around. */
static uint32_t neighbour(const struct rounds *a, unsigned d, uint32_t by)
{
	uint32_t below = 1, length = a->step->grid[d], at;

	for (unsigned i = 0; i < d; i++)
		below *= a->step->grid[i];
	at = a->r / below % length;
	return a->r - at * below + (at + by) % length * below;
}

static void halo_one(struct rounds *a, enum oracle_op_kind kind, unsigned d, uint32_t by,
		     uint32_t tag)
{
	struct oracle_op op = message(a, kind, neighbour(a, d, by), a->m);

	op.tag = tag;
	put(a, op);
}

static void halo(struct rounds *a)
{
	const uint32_t *grid = a->step->grid;

	for (unsigned d = 0; d < 3; d++) {
		if (grid[d] < 2)
			continue;
		halo_one(a, ORACLE_RECV, d, grid[d] - 1, UPWARDS);
		halo_one(a, ORACLE_RECV, d, 1, DOWNWARDS);
	}
	for (unsigned d = 0; d < 3; d++) {
		if (grid[d] < 2)
			continue;
		halo_one(a, ORACLE_SEND, d, 1, UPWARDS);
		halo_one(a, ORACLE_SEND, d, grid[d] - 1, DOWNWARDS);
	}
}

static void shift(struct rounds *a)
{
	if (a->r > 0)
		from(a, a->r - 1, a->m);
	if (a->r + 1 < a->p)
		to(a, a->r + 1, a->m);
}

/* S2 */
static void in_network(struct rounds *a)
{
	if (a->p > 1)
		put(a, (struct oracle_op){ .kind = ORACLE_GIVE, .size = a->m, .mlid = a->mlid });
}

static void (*const steps[STEP_KINDS])(struct rounds *a) = {
	[STEP_COMPUTE] = compute,
	[STEP_BARRIER] = barrier,
	[STEP_BROADCAST] = broadcast,
	[STEP_BROADCAST_MULTICAST] = broadcast_multicast,
	[STEP_REDUCE] = reduce,
	[STEP_ALLREDUCE_RING] = allreduce_ring,
	[STEP_ALLREDUCE_DOUBLING] = allreduce_doubling,
	[STEP_ALLREDUCE_RABENSEIFNER] = allreduce_rabenseifner,
	[STEP_ALLREDUCE_TREE] = allreduce_tree,
	[STEP_ALLGATHER_RING] = allgather_ring,
	[STEP_ALLGATHER_DOUBLING] = allgather_doubling,
	[STEP_REDUCE_SCATTER_RING] = reduce_scatter_ring,
	[STEP_REDUCE_SCATTER_HALVING] = reduce_scatter_halving,
	[STEP_ALLTOALL_PAIRWISE] = alltoall_pairwise,
	[STEP_ALLTOALL_LINEAR] = alltoall_linear,
	[STEP_ALLTOALL_BRUCK] = alltoall_bruck,
	[STEP_HALO] = halo,
	[STEP_SHIFT] = shift,
	[STEP_BARRIER_NETWORK] = in_network,
	[STEP_ALLREDUCE_NETWORK] = in_network,
};

/* ---- storage (J9) ---- */

static void storage(struct rounds *a, const struct oracle_job *j, uint32_t rank)
{
	const struct oracle_step *s = a->step;
	uint64_t n = (a->m + s->request - 1) / s->request;

	for (uint32_t i = 0; i < s->outstanding; i++) {
		sequence(a, i);
		for (uint64_t k = i; k < n; k += s->outstanding) {
			struct oracle_op op = {
				.kind = s->kind == STEP_READ ? ORACLE_READ : ORACLE_WRITE,
				.size = k + 1 < n ? s->request : a->m - k * s->request,
				.peer = (uint32_t)((rank + k) % j->n_servers),
			};

			next_round(a);
			put(a, op);
		}
	}
}

void rounds_expand(const struct oracle_job *j, uint32_t place, uint32_t rank,
		   struct oracle_graph *out)
{
	const struct oracle_step *s = &j->steps[place];
	uint32_t p = j->n_ranks / s->groups;
	struct rounds a = {
		.step = s,
		.g = out,
		.p = p,
		.r = s->strides ? rank / s->groups : rank % p,
		.group = group_of_rank(j, s, rank),
		.m = s->amount,
		.place = place,
	};

	const struct oracle_tree *tree = tree_of_rank(j, place, rank);

	if (tree)
		a.mlid = tree->mlid;
	*out = (struct oracle_graph){ 0 };
	if (s->kind == STEP_READ || s->kind == STEP_WRITE)
		storage(&a, j, rank);
	else
		steps[s->kind](&a);
}
