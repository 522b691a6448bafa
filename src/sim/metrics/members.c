/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * M5: number of group members that a copy is sent to. The copies of a packet divide its members
 * among them. A lost copy counts as one loss per member. Delivered, lost and in-flight members
 * therefore add up to the offered ones, even if the forwarding sets change (T11r) or are wrong.
 */
#include "sim/metrics/members.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/map.h"
#include "sim/core/sim_internal.h"
#include "sim/metrics/metrics.h"
#include "sim/metrics/tally.h"
#include "sim/routing/routes.h"

struct members {
	hd_time *changes; /* times at which forwarding sets change, in order */
	uint32_t n_changes;
	bool is_part; /* lists are owned by the whole */
	/* End ports behind an output, by (MLID, port), in one epoch between two changes. */
	struct map behind;
	uint32_t epoch;
	uint32_t *stack; /* ports to visit, as a stack */
};

static bool is_to_group(const struct sim_flow *f)
{
	return f->kind != SIM_TRACE && f->to.n && f->to.list &&
	       f->to.list[0].dlid >= LID_FIRST_MCAST;
}

void metrics_members_fini(struct sim *s)
{
	struct members *m = s->members;

	if (!m)
		return;
	map_fini(&m->behind);
	if (!m->is_part)
		free(m->changes);
	free(m->stack);
	free(m);
}

/* ---- the sets ------------------------------------------------------------ */

static uint32_t epoch_of(const struct members *m, hd_time when)
{
	uint32_t low = 0, high = m->n_changes;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (m->changes[middle] <= when)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Pushes the outputs of a switch for the group, except the input, onto the stack. */
static void push_outputs(const struct sim *s, const struct node *n, uint32_t in_port,
			 const struct group_at *at, uint32_t *n_stack)
{
	const struct mft *mft = &s->setup->subnet->mft[n->subnet];
	const uint64_t *set = group_set(s, n, at);

	for (unsigned out = 0; set && out < n->n_in && out < 64 * mft->words; out++) {
		uint32_t port = n->first_port + out;

		if ((set[out / 64] >> (out % 64) & 1) && port != in_port &&
		    s->setup->ports[port].peer != SIM_NONE && *n_stack < s->setup->n_ports)
			s->members->stack[(*n_stack)++] = port;
	}
}

/*
 * Number of end ports that copies reach through `port`. Forwarding sets with a cycle would never
 * end, so the search ends when all ports are visited.
 */
static uint32_t count_behind(const struct sim *s, uint32_t port, const struct group_at *at)
{
	const struct sim_setup *u = s->setup;
	uint32_t n = 1, ends = 0;

	s->members->stack[0] = port;
	for (uint32_t steps = 0; n > 0 && steps < u->n_ports; steps++) {
		uint32_t peer = u->ports[s->members->stack[--n]].peer;
		const struct node *far = &s->nodes[u->ports[peer].node];

		ends += far->kind == SIM_END;
		if (far->kind == SIM_SWITCH)
			push_outputs(s, far, peer, at, &n);
	}
	return ends;
}

static uint32_t members_behind(struct sim *s, uint32_t port, const struct group_at *at)
{
	struct members *m = s->members;
	uint32_t epoch = epoch_of(m, at->when);
	uint64_t key = (uint64_t)at->mlid << 32 | port;

	if (m->epoch != epoch) {
		map_fini(&m->behind);
		m->epoch = epoch;
	}
	uint32_t known = map_get(&m->behind, key);

	if (known != MAP_NONE)
		return known;
	known = count_behind(s, port, at);
	map_put(&m->behind, key, known);
	return known;
}

/* ---- beginning ----------------------------------------------------------- */

/* Whether packets of all flows reach as many end ports as their groups have. */
static bool sets_are_whole(struct sim *s)
{
	bool whole = true;

	for (uint32_t i = 0; i < s->n_flows && whole; i++) {
		const struct sim_flow *f = &s->flows[i];
		uint32_t port = s->setup->nodes[f->source].first_port + 1;

		if (is_to_group(f))
			whole = f->copies ==
				members_behind(s, port,
					       &(struct group_at){ f->to.list[0].dlid, 0 });
	}
	return whole;
}

static struct members *members_new(const struct sim *s)
{
	struct members *m = hd_alloc(1, sizeof(*m));

	m->stack = hd_alloc(s->setup->n_ports, sizeof(*m->stack));
	return m;
}

void metrics_members_init(struct sim *s)
{
	const struct sim_setup *u = s->setup;
	bool any = false;

	for (uint32_t i = 0; i < s->n_flows && !any; i++)
		any = is_to_group(&s->flows[i]);
	if (!any)
		return;
	struct members *m = s->members = members_new(s);

	m->changes = hd_alloc(u->n_routes, sizeof(*m->changes));
	for (uint32_t i = 0; i < u->n_routes; i++) {
		if (u->routes[i].ports)
			m->changes[m->n_changes++] = u->routes[i].time;
	}
	s->mode.shares = m->n_changes > 0 || !sets_are_whole(s);
}

void metrics_members_domain_init(struct sim *part, const struct sim *whole)
{
	if (!whole->members)
		return;
	part->members = members_new(whole);
	part->members->is_part = true;
	part->members->changes = whole->members->changes;
	part->members->n_changes = whole->members->n_changes;
}

/* ---- copies -------------------------------------------------------------- */

uint32_t metrics_members_of(struct sim *s, const struct packet_record *p, uint32_t where)
{
	const struct group_at at = { p->dlid, p->head };

	if (p->dlid < LID_FIRST_MCAST || p->flow >= s->n_flows)
		return 1;
	if (s->mode.shares)
		return s->pool.extras[packet_id(s, p)].nth;
	/* Before the packet is copied, it counts for all end ports behind its link. */
	bool came = p->up != NONE && s->setup->ports[p->up].peer == where;

	return members_behind(s, came ? p->up : where, &at);
}

uint32_t metrics_members_take(struct sim *s, const struct packet_record *p, uint32_t port,
			      uint32_t left)
{
	const struct group_at at = { p->dlid, p->head };
	uint32_t n = members_behind(s, port, &at);

	n = n < left ? n : left;
	s->pool.extras[packet_id(s, p)].nth = n;
	return n;
}

void metrics_members_missed(struct sim *s, const struct packet_record *p, uint32_t n, hd_time when)
{
	struct sim_metrics *m = s->outcome.metrics;

	if (when > s->horizon || when < s->from)
		return;
	m->lost[SIM_LOST_NO_ROUTE] += n;
	count_add(&m->flows[p->flow].lost, n);
}

bool metrics_members_served(struct sim *s, const struct packet_record *p, hd_time when)
{
	uint32_t n = s->pool.extras[packet_id(s, p)].nth;

	if (n > 1)
		metrics_members_missed(s, p, n - 1, when);
	return n > 0;
}
