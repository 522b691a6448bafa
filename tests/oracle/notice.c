/* SPDX-License-Identifier: BSD-2-Clause */
/* What switches tell their neighbours of links that are down: D6. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "state.h"

/* A switch has lost its last way toward a target, or has one again, and its
 * neighbours know then. */
struct notice {
	hd_time time;
	size_t of; /* as below */
	bool wayless;
};

/* By (switch, target): as it is, and as neighbours know it. */
struct notices {
	bool *wayless, *told;
	struct notice *list; /* on their way */
	size_t n, cap;
};

static bool are_sent(const struct oracle *o)
{
	return o->setup->adaptive && o->setup->adaptive->notify > 0;
}

static size_t place_of(const struct oracle *o, switch_id sw, switch_id target)
{
	return (size_t)sw * o->setup->subnet->n_switches + target;
}

bool is_told_of(const struct oracle *o, uint32_t port, switch_id target)
{
	const struct sim_setup *s = o->setup;
	uint32_t peer = s->ports[port].peer;
	switch_id beyond;

	if (!are_sent(o) || o->mutation == MUT_NOTICE_NEVER || peer == SIM_NONE ||
	    s->nodes[s->ports[peer].node].kind != SIM_SWITCH)
		return false;
	beyond = s->nodes[s->ports[peer].node].sw;
	for (switch_id t = 0;
	     o->mutation == MUT_NOTICE_FOR_ALL_TARGETS && t < s->subnet->n_switches; t++)
		if (o->notices->told[place_of(o, beyond, t)])
			return true;
	return o->notices->told[place_of(o, beyond, target)];
}

/* Whether a switch takes a port of its group. */
static bool is_taken(const struct oracle *o, uint32_t port, switch_id target)
{
	const struct port *p = &o->ports[port];
	hd_time heal = o->setup->adaptive->heal;

	if (o->setup->ports[port].peer == SIM_NONE)
		return false;
	if (o->mutation == MUT_NOTICE_WITHOUT_HEAL)
		heal = 0;
	if (!p->up && o->now - p->down_since >= heal)
		return false;
	return o->mutation == MUT_NOTICE_NEXT_ONLY || !is_told_of(o, port, target);
}

/* D7: of the minimal ways of an end. */
static bool is_wayless(const struct oracle *o, uint32_t node, switch_id target)
{
	const struct sim_setup *s = o->setup;
	const struct sim_node *n = &s->nodes[node];
	const struct adaptive *a = s->subnet->adaptive;
	uint16_t group = a->number[(size_t)n->sw * a->n + target];
	struct port_set set;

	if (group == ADAPTIVE_NO_GROUP)
		return false;
	set = o->mutation == MUT_AROUND_IS_A_WAY ? adaptive_ports(a, n->sw, target, TOPO_NONE)
						 : a->groups[n->sw][group];
	for (unsigned port = 0; port_set_next(&set, &port);)
		if (is_taken(o, n->first_port + port, target) ==
		    (o->mutation != MUT_NOTICE_OF_ANY_PORT))
			return o->mutation == MUT_NOTICE_OF_ANY_PORT;
	return o->mutation != MUT_NOTICE_OF_ANY_PORT;
}

static void notice_send(struct oracle *o, size_t of, bool wayless)
{
	struct notices *n = o->notices;
	hd_time when = o->now + o->setup->adaptive->notify;

	n->wayless[of] = wayless;
	if (!wayless && o->mutation == MUT_NOTICE_STAYS)
		return;
	if (o->mutation == MUT_NOTICE_AT_ONCE ||
	    (!wayless && o->mutation == MUT_NOTICE_ENDS_AT_ONCE))
		n->told[of] = wayless;
	n->list = hd_grow(n->list, &n->cap, n->n + 1, sizeof(*n->list));
	n->list[n->n++] = (struct notice){ when, of, wayless };
	o->stats->notices++;
}

static void notices_arrive(struct oracle *o)
{
	struct notices *n = o->notices;
	size_t kept = 0;

	for (size_t i = 0; i < n->n; i++) {
		if (n->list[i].time > o->now)
			n->list[kept++] = n->list[i];
		else
			n->told[n->list[i].of] = n->list[i].wayless;
	}
	n->n = kept;
}

/* T2, phase 0, after the faults. */
void notices_spread(struct oracle *o)
{
	const struct sim_setup *s = o->setup;

	if (!are_sent(o))
		return;
	notices_arrive(o);
	for (uint32_t node = 0; node < s->n_nodes; node++) {
		if (s->nodes[node].kind != SIM_SWITCH)
			continue;
		for (switch_id t = 0; t < s->subnet->n_switches; t++) {
			size_t of = place_of(o, s->nodes[node].sw, t);
			bool wayless = is_wayless(o, node, t);

			if (wayless != o->notices->wayless[of])
				notice_send(o, of, wayless);
		}
	}
}

hd_time notices_next_due(const struct oracle *o)
{
	hd_time next = NEVER;

	if (!are_sent(o))
		return NEVER;
	for (size_t i = 0; i < o->notices->n; i++)
		if (o->notices->list[i].time < next)
			next = o->notices->list[i].time;
	for (uint32_t i = 0; i < o->setup->n_ports; i++) {
		const struct port *p = &o->ports[i];
		hd_time known = p->down_since + o->setup->adaptive->heal;

		if (o->setup->ports[i].peer != SIM_NONE && !p->up && known > o->now && known < next)
			next = known;
	}
	return next;
}

void notices_init(struct oracle *o)
{
	size_t n = o->setup->subnet->n_switches;

	if (!are_sent(o))
		return;
	o->notices = hd_alloc(1, sizeof(*o->notices));
	o->notices->wayless = hd_alloc(n * n + 1, sizeof(bool));
	o->notices->told = hd_alloc(n * n + 1, sizeof(bool));
}

void notices_fini(struct oracle *o)
{
	if (!o->notices)
		return;
	free(o->notices->wayless);
	free(o->notices->told);
	free(o->notices->list);
	free(o->notices);
}
