/* SPDX-License-Identifier: BSD-2-Clause */
/* Switches that reduce: S1 to S6. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "subnet/multicast/mcast.h"
#include "work.h"

#define FAR UINT32_MAX

/* What of one transaction has come to a switch. */
struct transaction {
	uint32_t tree, node, number;
	struct port_set seen; /* children's ports */
	unsigned n_seen;
	uint32_t bytes; /* of the largest */
	struct packet model;
};

/* A contribution whose tail comes then; or a result, whose head does. */
struct coming {
	hd_time time;
	uint32_t tree, node;
	unsigned port; /* of a contribution */
	const struct packet *packet;
};

struct reduction {
	struct oracle_tree is;
	uint32_t job;
	uint32_t root;     /* node */
	uint8_t *parents;  /* by node: port toward the root */
	unsigned *n_ports; /* by node: of its set; 0: no aggregator */
};

struct reductions {
	struct reduction *trees;
	uint32_t n_trees;
	struct coming *contributions, *results;
	size_t n_contributions, contributions_cap;
	size_t n_results, results_cap;
	struct transaction *open;
	size_t n_open, open_cap;
	hd_time *gave; /* by node: its last result; NEVER: none yet */
};

/* ---- trees (S1) ---- */

static const uint64_t *set_at_first(const struct oracle *o, uint32_t node, uint16_t mlid)
{
	const struct subnet *s = o->setup->subnet;

	return mft_get(&s->mft[0], o->setup->nodes[node].sw, s->n_switches, mlid);
}

/* The node beyond a port of the tree, if that is a switch. */
static uint32_t beyond(const struct oracle *o, uint32_t node, unsigned port)
{
	const struct sim_setup *s = o->setup;
	uint32_t peer = s->ports[s->nodes[node].first_port + port].peer;

	if (peer == SIM_NONE || s->nodes[s->ports[peer].node].kind != SIM_SWITCH)
		return SIM_NONE;
	return s->ports[peer].node;
}

/* The switches of the tree next to one at `hops`; whether any is new. */
static bool reach_from(const struct oracle *o, uint16_t mlid, uint32_t node, uint32_t *hops)
{
	const uint64_t *set = set_at_first(o, node, mlid);
	bool any = false;

	for (unsigned p = 1; p <= o->setup->nodes[node].n_ports; p++) {
		uint32_t to = beyond(o, node, p);

		if (!mcast_has_port(set, p) || to == SIM_NONE || hops[to] != FAR)
			continue;
		hops[to] = hops[node] + 1;
		any = true;
	}
	return any;
}

/* Hops from a switch to all others of the tree; the most of them. */
static uint32_t hops_from(const struct oracle *o, uint16_t mlid, uint32_t root, uint32_t *hops)
{
	const struct sim_setup *s = o->setup;
	uint32_t farthest = 0;
	bool any = true;

	for (uint32_t i = 0; i < s->n_nodes; i++)
		hops[i] = i == root ? 0 : FAR;
	for (uint32_t round = 0; any; round++) {
		any = false;
		for (uint32_t i = 0; i < s->n_nodes; i++)
			if (hops[i] == round)
				any |= reach_from(o, mlid, i, hops);
		farthest = any ? round + 1 : round;
	}
	return farthest;
}

static unsigned set_size(const struct oracle *o, uint32_t node, uint16_t mlid)
{
	const uint64_t *set = set_at_first(o, node, mlid);
	unsigned n = 0;

	for (unsigned p = 0; set && p <= o->setup->nodes[node].n_ports; p++)
		n += mcast_has_port(set, p);
	return n;
}

static void reduction_init(struct oracle *o, struct reduction *r)
{
	const struct sim_setup *s = o->setup;
	uint32_t *hops = hd_alloc(s->n_nodes, sizeof(*hops));
	uint32_t nearest = FAR;

	r->parents = hd_alloc(s->n_nodes, sizeof(*r->parents));
	r->n_ports = hd_alloc(s->n_nodes, sizeof(*r->n_ports));
	for (uint32_t i = 0; i < s->n_nodes; i++) {
		uint32_t far;

		if (s->nodes[i].kind == SIM_SWITCH)
			r->n_ports[i] = set_size(o, i, r->is.mlid);
		if (r->n_ports[i] == 0)
			continue;
		far = hops_from(o, r->is.mlid, i, hops);
		if (o->mutation == MUT_ROOT_HAS_LOWEST_NUMBER)
			far = 0;
		if (far < nearest) {
			nearest = far;
			r->root = i;
		}
	}
	hops_from(o, r->is.mlid, r->root, hops);
	for (uint32_t i = 0; i < s->n_nodes; i++)
		for (unsigned p = 1; r->n_ports[i] > 0 && p <= s->nodes[i].n_ports; p++) {
			uint32_t to = beyond(o, i, p);

			if (mcast_has_port(set_at_first(o, i, r->is.mlid), p) && to != SIM_NONE &&
			    hops[to] < hops[i])
				r->parents[i] = (uint8_t)p;
		}
	free(hops);
}

void aggregators_init(struct oracle *o)
{
	struct reductions *r = hd_alloc(1, sizeof(*r));
	size_t cap = 0;

	o->reductions = r;
	r->gave = hd_alloc(o->setup->n_nodes, sizeof(*r->gave));
	for (uint32_t i = 0; i < o->setup->n_nodes; i++)
		r->gave[i] = NEVER;
	for (uint32_t j = 0; o->jobs && j < o->jobs->n; j++) {
		const struct oracle_job *job = &o->jobs->list[j];

		for (size_t t = 0; t < job->n_trees; t++) {
			if (job->trees[t].place != ORACLE_ANY)
				continue;
			r->trees = hd_grow(r->trees, &cap, r->n_trees + 1u, sizeof(*r->trees));
			r->trees[r->n_trees] = (struct reduction){ .is = job->trees[t], .job = j };
			reduction_init(o, &r->trees[r->n_trees++]);
		}
	}
}

void aggregators_fini(struct oracle *o)
{
	struct reductions *r = o->reductions;

	for (uint32_t i = 0; i < r->n_trees; i++) {
		free(r->trees[i].parents);
		free(r->trees[i].n_ports);
	}
	free(r->trees);
	free(r->contributions);
	free(r->results);
	free(r->open);
	free(r->gave);
	free(r);
}

/* The tree of an MLID, or SIM_NONE. */
static uint32_t tree_of(const struct oracle *o, uint16_t mlid)
{
	for (uint32_t i = 0; i < o->reductions->n_trees; i++)
		if (o->reductions->trees[i].is.mlid == mlid)
			return i;
	return SIM_NONE;
}

/* ---- taking (S3) ---- */

bool contribution_take(struct oracle *o, uint32_t in, struct slot *slot)
{
	const struct sim_setup *s = o->setup;
	struct reductions *r = o->reductions;
	uint32_t node = s->ports[in].node;
	uint32_t tree = tree_of(o, slot->packet->as.dlid);

	if (tree == SIM_NONE || r->trees[tree].n_ports[node] == 0)
		return false;
	r->contributions = hd_grow(r->contributions, &r->contributions_cap, r->n_contributions + 1,
				   sizeof(*r->contributions));
	r->contributions[r->n_contributions++] = (struct coming){
		.time = slot->head + (o->mutation == MUT_TAKEN_AT_HEAD ? 0 : slot->d_in),
		.tree = tree,
		.node = node,
		.port = in - s->nodes[node].first_port,
		.packet = slot->packet,
	};
	return true;
}

static struct transaction *transaction_of(struct oracle *o, const struct coming *c)
{
	struct reductions *r = o->reductions;
	uint32_t number = c->packet->as.number;

	for (size_t i = 0; i < r->n_open; i++)
		if (r->open[i].tree == c->tree && r->open[i].node == c->node &&
		    r->open[i].number == number)
			return &r->open[i];
	r->open = hd_grow(r->open, &r->open_cap, r->n_open + 1, sizeof(*r->open));
	r->open[r->n_open] = (struct transaction){
		.tree = c->tree, .node = c->node, .number = number, .model = *c->packet
	};
	return &r->open[r->n_open++];
}

/* S4: the result, once all children have given. */
static void result_make(struct oracle *o, struct transaction *t)
{
	struct reductions *r = o->reductions;
	const struct reduction *tree = &r->trees[t->tree];
	struct packet made = t->model;
	hd_time delay = o->setup->reduction_delay;

	made.kind = t->node == tree->root ? SIM_RESULT : SIM_CONTRIBUTION;
	made.message = NULL;
	made.as.bytes = t->bytes;
	made.as.sequence = t->bytes;
	made.marked = false;
	if (o->mutation == MUT_RESULT_AT_ONCE)
		delay = 0;
	r->results = hd_grow(r->results, &r->results_cap, r->n_results + 1, sizeof(*r->results));
	r->results[r->n_results++] = (struct coming){ .time = o->now + delay,
						      .tree = t->tree,
						      .node = t->node,
						      .packet = packet_new(o, &made) };
	o->stats->results++;
	*t = r->open[--r->n_open];
}

static void contribution_count(struct oracle *o, const struct coming *c)
{
	const struct reduction *tree = &o->reductions->trees[c->tree];
	bool has_parent = tree->parents[c->node] > 0;
	unsigned children = tree->n_ports[c->node] - has_parent;
	struct transaction *t = transaction_of(o, c);

	t->seen.bits[c->port / 64] |= UINT64_C(1) << c->port % 64;
	t->n_seen = port_set_size(&t->seen);
	if (c->packet->as.bytes > t->bytes)
		t->bytes = c->packet->as.bytes;
	if (t->n_seen == children ||
	    (o->mutation == MUT_ONE_CHILD_MISSING && t->n_seen + 1 == children))
		result_make(o, t);
}

/* ---- giving out (S4, S5) ---- */

static void result_enter(struct oracle *o, const struct coming *c)
{
	const struct reduction *tree = &o->reductions->trees[c->tree];
	uint32_t in = o->setup->n_ports + c->node;
	struct slot *slot = hd_alloc(1, sizeof(*slot));

	slot->packet = c->packet;
	slot->head = o->now;
	slot->first = NEVER;
	slot->freed = true; /* it never took any */
	slot_add(&o->ports[in], slot);
	if (c->node == tree->root)
		route_group(o, in, slot);
	else
		route_by(o, in, slot, tree->parents[c->node]);
	firsts_note(o, in);
}

/* The next of a switch that is due, in order; or NULL. */
static struct coming *result_next(const struct oracle *o, uint32_t node)
{
	struct reductions *r = o->reductions;
	struct coming *best = NULL;

	for (size_t i = 0; i < r->n_results; i++) {
		struct coming *c = &r->results[i];

		if (c->node != node || c->time > o->now)
			continue;
		if (!best || c->time < best->time ||
		    (c->time == best->time && c->tree < best->tree))
			best = c;
	}
	return best;
}

static void results_give(struct oracle *o, uint32_t node)
{
	struct reductions *r = o->reductions;
	struct coming *next;

	while ((next = result_next(o, node)) && r->gave[node] != o->now) {
		struct coming now = *next;

		r->gave[node] = o->now;
		*next = r->results[--r->n_results];
		result_enter(o, &now);
	}
}

/* T2, phase 1: tails of contributions, then heads of results. */
void aggregators_go_on(struct oracle *o)
{
	struct reductions *r = o->reductions;
	size_t kept = 0;

	for (size_t i = 0; i < r->n_contributions; i++) {
		struct coming c = r->contributions[i];

		if (c.time > o->now)
			r->contributions[kept++] = c;
		else
			contribution_count(o, &c);
	}
	r->n_contributions = kept;
	for (uint32_t i = 0; r->n_results > 0 && i < o->setup->n_nodes; i++)
		results_give(o, i);
}

hd_time aggregators_next_due(const struct oracle *o)
{
	const struct reductions *r = o->reductions;
	hd_time next = NEVER;

	for (size_t i = 0; i < r->n_contributions; i++)
		if (r->contributions[i].time < next)
			next = r->contributions[i].time;
	for (size_t i = 0; i < r->n_results; i++) {
		hd_time time = r->results[i].time;

		time = time > o->now ? time : o->now + 1;
		next = time < next ? time : next;
	}
	return next;
}

/* ---- ranks (S2, S5) ---- */

void result_delivered(struct oracle *o, uint32_t port, const struct packet *p)
{
	uint32_t tree = tree_of(o, p->as.dlid);
	uint32_t node = o->setup->ports[port].node;
	uint32_t job = o->reductions->trees[tree].job;
	const struct oracle_job *j = &o->jobs->list[job];
	struct work *w = o->work;

	for (size_t i = 0; i < w->n_messages; i++) {
		struct job_message *m = w->messages[i];

		if (m->kind != MESSAGE_GIVES || m->job != job || j->nodes[m->source] != node ||
		    m->mlid != p->as.dlid || p->as.number < m->first_transaction ||
		    p->as.number >= m->first_transaction + m->n_packets)
			continue;
		if (++m->delivered < m->n_packets)
			return;
		op_done(o, job, m->source, m->op);
		rank_told(o, job, m->source);
		return;
	}
}
