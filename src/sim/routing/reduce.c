/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/routing/reduce.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "sim/checkpoint/checkpoint_state.h"
#include "sim/core/engine.h"
#include "sim/core/switch.h"
#include "subnet/multicast/aggregate.h"
#include "subnet/routing/adaptive.h"

/* A transaction with some of its contributions. */
struct transaction {
	uint32_t number;
	uint16_t arrived; /* number of contributions */
	uint8_t sl, endpoint;
	uint16_t pkey;
	uint32_t bytes; /* of the largest contribution */
	hd_time due;    /* completion of the reduction after the last contribution */
};

/* One tree at one switch. A rebuilt tree has a new reducer. */
struct reducer {
	uint32_t node; /* sim node */
	lid_t mlid;
	uint16_t n_children;
	bool is_root;
	struct port_set parent; /* output to the parent; the root has none */
	/* Ordered by number. Earlier transactions are reduced, or lost a packet. */
	struct transaction *open;
	uint32_t first, n;
	size_t cap;
};

struct reductions {
	struct map index; /* of (version, switch, MLID) in reducers */
	struct reducer *reducers;
	uint32_t n;
	hd_time *rebuilt; /* start of version i + 1 of the trees */
	uint32_t n_rebuilt;
	hd_time *next_at; /* per sim node: earliest time of its next result */
};

/* Number of keys per version of the trees: 32 bits of switch, 16 bits of MLID. */
#define VERSION_STEP (UINT64_C(1) << 48)

static uint64_t key_of(uint32_t version, switch_id sw, lid_t mlid)
{
	return (version * VERSION_STEP) | (uint64_t)sw << 16 | mlid;
}

/* ---- beginning and end --------------------------------------------------- */

static void reducer_init(struct reducer *r, const struct aggregation *a, const struct aggregator *x,
			 uint32_t node)
{
	*r = (struct reducer){
		.node = node,
		.mlid = a->mlid,
		.n_children = x->n_children,
		.is_root = x->sw == a->root,
	};
	if (!r->is_root)
		r->parent.bits[x->parent / 64] = (uint64_t)1 << x->parent % 64;
}

/* The trees of version 0, or of a later change. */
static const struct subnet *trees_of(const struct sim_setup *setup, uint32_t version)
{
	return version ? setup->trees[version - 1].subnet : setup->subnet;
}

static void add_version(struct reductions *all, const struct subnet *sub, uint32_t version,
			const uint32_t *node_of)
{
	for (uint32_t i = 0; i < sub->n_aggregations; i++) {
		const struct aggregation *a = &sub->aggregations[i];

		for (uint32_t k = 0; k < a->n; k++) {
			switch_id sw = a->nodes[k].sw;

			map_put(&all->index, key_of(version, sw, a->mlid), all->n);
			reducer_init(&all->reducers[all->n++], a, &a->nodes[k], node_of[sw]);
		}
	}
}

static uint32_t count_reducers(const struct sim_setup *setup)
{
	uint32_t n = 0;

	for (uint32_t v = 0; v <= setup->n_trees; v++) {
		const struct subnet *sub = trees_of(setup, v);

		for (uint32_t i = 0; i < sub->n_aggregations; i++)
			n += sub->aggregations[i].n;
	}
	return n;
}

void aggregator_init(struct sim *s)
{
	const struct sim_setup *setup = s->setup;
	uint32_t n = count_reducers(setup);

	if (n == 0)
		return;
	struct reductions *all = s->reductions = hd_alloc(1, sizeof(*all));
	uint32_t *node_of = hd_alloc(setup->subnet->n_switches, sizeof(*node_of));

	for (uint32_t v = 0; v < setup->n_nodes; v++) {
		if (setup->nodes[v].kind == SIM_SWITCH)
			node_of[setup->nodes[v].sw] = v;
	}
	all->reducers = hd_alloc(n, sizeof(struct reducer));
	all->next_at = hd_alloc(setup->n_nodes, sizeof(hd_time));
	all->rebuilt = hd_alloc(setup->n_trees, sizeof(hd_time));
	all->n_rebuilt = setup->n_trees;
	for (uint32_t v = 0; v <= setup->n_trees; v++)
		add_version(all, trees_of(setup, v), v, node_of);
	for (uint32_t v = 0; v < setup->n_trees; v++)
		all->rebuilt[v] = setup->trees[v].time;
	free(node_of);
}

void aggregator_fini(struct sim *s)
{
	struct reductions *all = s->reductions;

	if (!all)
		return;
	for (uint32_t i = 0; i < all->n; i++)
		free(all->reducers[i].open);
	map_fini(&all->index);
	free(all->reducers);
	free(all->next_at);
	free(all->rebuilt);
	free(all);
}

/* ---- contributions ------------------------------------------------------- */

/* The open transaction with this number, created if necessary. */
static struct transaction *transaction_of(struct reducer *r, uint32_t number)
{
	if (r->n == r->cap && r->first > r->n / 2) {
		r->n -= r->first;
		memmove(r->open, &r->open[r->first], r->n * sizeof(*r->open));
		r->first = 0;
	}
	uint32_t i = r->first;

	/* Numbers wrap; open numbers are close to each other. */
	while (i < r->n && (int32_t)(r->open[i].number - number) < 0)
		i++;
	if (i < r->n && r->open[i].number == number)
		return &r->open[i];
	if (r->first > 0 && i == r->first) {
		r->first--;
		i--;
	} else {
		r->open = hd_grow(r->open, &r->cap, (size_t)r->n + 1, sizeof(*r->open));
		for (uint32_t k = r->n++; k > i; k--)
			r->open[k] = r->open[k - 1];
	}
	r->open[i] = (struct transaction){ .number = number };
	return &r->open[i];
}

/* The reducer of the trees at the arrival of the head; MAP_NONE: none. */
static uint32_t reducer_for(const struct reductions *all, switch_id sw,
			    const struct packet_record *p)
{
	uint32_t version = all->n_rebuilt;

	while (version > 0 && all->rebuilt[version - 1] > p->head)
		version--;
	return map_get(&all->index, key_of(version, sw, p->dlid));
}

void aggregator_receive(struct sim *s, const struct node *n, struct packet_record *p,
			uint32_t in_port)
{
	const struct packet_extra *x = &s->pool.extras[packet_id(s, p)];
	uint32_t id = reducer_for(s->reductions, n->switch_id, p);
	hd_time tail = p->head + duration_of(s, s->links[p->up].rate, p->bytes);

	if (id == MAP_NONE) {
		switch_head_unrouted(s, p, in_port);
		return;
	}
	struct reducer *r = &s->reductions->reducers[id];
	struct transaction *t = transaction_of(r, x->nth);
	hd_time due = tail + s->setup->reduction_delay;

	t->due = due > t->due ? due : t->due;
	t->bytes = p->bytes > t->bytes ? p->bytes : t->bytes;
	t->sl = p->sl;
	t->pkey = p->pkey;
	t->endpoint = x->endpoint;
	if (++t->arrived == r->n_children)
		eventq_push(&s->q, t->due, event_key(EV_REDUCED, n->first_port, 0, id));
	hop_return_space(s, p, tail);
	packet_free(s, p);
}

/* ---- results ------------------------------------------------------------- */

/* The transaction that is due now. Completion times of an aggregator are distinct. */
static struct transaction transaction_take(struct reducer *r, hd_time now)
{
	uint32_t i = r->first;

	while (r->open[i].due != now || r->open[i].arrived < r->n_children)
		i++;
	assert(i < r->n);
	const struct transaction t = r->open[i];

	for (; i > r->first; i--)
		r->open[i] = r->open[i - 1];
	if (++r->first == r->n)
		r->first = r->n = 0;
	return t;
}

static uint32_t result_make(struct sim *s, const struct reducer *r, const struct transaction *t,
			    hd_time head)
{
	uint32_t id = packet_new(s);

	s->pool.all[id] = (struct packet_record){
		.born = s->now,
		.head = head,
		.next = NONE,
		.flow = NONE,
		.sequence = t->number,
		.up = NONE,
		.slot = NONE,
		.bytes = t->bytes & PACKET_BYTES,
		.flags = P_TOLD | P_OTHER,
		.dlid = r->mlid,
		.pkey = t->pkey,
		.in = (uint8_t)s->nodes[r->node].n_in,
		.sl = t->sl,
	};
	s->pool.extras[id] = (struct packet_extra){
		.cookie = t->number,
		.source = r->node,
		.target = TOPO_NONE,
		.nth = t->number,
		.kind = r->is_root ? SIM_RESULT : SIM_CONTRIBUTION,
		.endpoint = t->endpoint,
	};
	return id;
}

void aggregator_emit(struct sim *s, uint32_t id)
{
	struct reducer *r = &s->reductions->reducers[id];
	const struct transaction t = transaction_take(r, s->now);
	hd_time *next = &s->reductions->next_at[r->node];
	hd_time head = s->now > *next ? s->now : *next;
	uint32_t packet = result_make(s, r, &t, head);

	*next = head + 1;
	switch_gives(s, &s->nodes[r->node], packet, r->is_root ? NULL : &r->parent);
}

/* ---- as bytes ------------------------------------------------------------ */

static const struct pack_member transaction_members[] = {
	PACK(transaction, number),   PACK(transaction, arrived), PACK(transaction, sl),
	PACK(transaction, endpoint), PACK(transaction, pkey),    PACK(transaction, bytes),
	PACK(transaction, due),
};

PACK_KNOWS(transaction, 24);

static bool transaction_is_sound(const struct sim *s, const struct reducer *r,
				 const struct transaction *t)
{
	return t->arrived <= r->n_children && t->sl < N_SLS && t->bytes <= s->max_bytes &&
	       t->endpoint <= s->ends.n;
}

static void pack_reducer(struct checkpoint_state *v, struct reducer *r)
{
	size_t n = pack_count(v->p, r->n - r->first);

	if (v->p->reads) {
		r->open = hd_grow(r->open, &r->cap, n, sizeof(*r->open));
		r->first = 0;
		r->n = (uint32_t)n;
	}
	for (size_t i = 0; i < n; i++) {
		struct transaction *t = &r->open[r->first + i];

		PACK_STRUCT(v->p, transaction_members, t);
		pack_check(v->p, transaction_is_sound(v->s, r, t));
	}
}

void checkpoint_state_reductions(struct checkpoint_state *v)
{
	struct reductions *all = v->s->reductions;

	for (uint32_t i = 0; all && i < all->n; i++) {
		if (checkpoint_state_has_node(v, all->reducers[i].node))
			pack_reducer(v, &all->reducers[i]);
	}
	for (uint32_t i = 0; all && i < v->s->setup->n_nodes; i++) {
		if (checkpoint_state_has_node(v, i))
			pack_u64(v->p, &all->next_at[i]);
	}
}

uint32_t aggregator_count(const struct sim *s)
{
	return s->reductions ? s->reductions->n : 0;
}
