/* SPDX-License-Identifier: BSD-2-Clause */
/* Switches that choose: D1 to D5; notice.c has D6. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "state.h"

#define STREAM_CHOICES UINT64_C(0x30000000)

/* The packet of a flow that was the last to have candidates at a switch (D5).
 */
struct routed {
	const struct packet *packet;
	unsigned port;
	hd_time time;   /* when it was routed, */
	hd_time chosen; /* and when it or one before it had to choose */
};

/* What a switch remembers. */
struct chooser {
	struct rng draws;
	unsigned *last; /* port chosen, by group */
	bool **busy;    /* mutations only: by group and port */
	struct routed *flows;
	size_t n_flows, flows_cap;
};

void choosers_init(struct oracle *o)
{
	const struct sim_setup *s = o->setup;

	if (!s->adaptive)
		return;
	o->choosers = hd_alloc(s->n_nodes, sizeof(*o->choosers));
	for (uint32_t i = 0; i < s->n_nodes; i++) {
		struct chooser *c = &o->choosers[i];
		uint32_t n;

		if (s->nodes[i].kind != SIM_SWITCH)
			continue;
		n = s->subnet->adaptive->n_groups[s->nodes[i].sw];
		rng_init(&c->draws, s->seed, STREAM_CHOICES + i);
		c->last = hd_alloc(n + 1u, sizeof(*c->last));
		c->busy = hd_alloc(n + 1u, sizeof(bool *));
		for (uint32_t g = 0; g < n; g++)
			c->busy[g] = hd_alloc(256, sizeof(bool));
	}
}

void choosers_fini(struct oracle *o)
{
	const struct sim_setup *s = o->setup;

	for (uint32_t i = 0; o->choosers && i < s->n_nodes; i++) {
		struct chooser *c = &o->choosers[i];

		if (s->nodes[i].kind != SIM_SWITCH)
			continue;
		for (uint32_t g = 0;
		     g < s->subnet->adaptive->n_groups[s->nodes[i].sw]; g++)
			free(c->busy[g]);
		free(c->busy);
		free(c->last);
		free(c->flows);
	}
	free(o->choosers);
}

/* ---- sets of ports ---- */

static bool has(const struct port_set *set, unsigned port)
{
	return set->bits[port / 64] >> port % 64 & 1;
}

static void add(struct port_set *set, unsigned port)
{
	set->bits[port / 64] |= UINT64_C(1) << port % 64;
}

/* The first member after a port, cyclically by number, itself last. */
static unsigned next_in(const struct port_set *set, unsigned after)
{
	for (unsigned k = 1; k <= 256; k++)
		if (has(set, (after + k) % 256))
			return (after + k) % 256;
	abort();
}

/* ---- at h: who may choose, and among what (D1) ---- */

/* The switch that the owner of a LID hangs on, or is. */
static switch_id switch_of_lid(const struct oracle *o, uint32_t in, lid_t lid)
{
	const struct subnet *n = o->setup->subnet;
	uint32_t subnet = n->topo->ports[o->setup->ports[in].origin].subnet;
	port_id owner, at;

	if (lid > n->top_lid[subnet])
		return TOPO_NONE;
	owner = n->port_of_lid[subnet][lid];
	if (owner == TOPO_NONE)
		return TOPO_NONE;
	at = topo_node_of(n->topo, owner)->kind == NODE_SWITCH
		     ? owner
		     : n->topo->ports[owner].peer;
	return at == TOPO_NONE ? TOPO_NONE
			       : n->switch_of_node[n->topo->ports[at].node];
}

/* The number of the group, or ADAPTIVE_NO_GROUP. */
static uint16_t group_of(const struct oracle *o, uint32_t in,
			 const struct slot *slot, switch_id *target)
{
	const struct sim_setup *s = o->setup;
	const struct sim_arrival *as = &slot->packet->as;
	const struct adaptive *a = s->subnet->adaptive;

	if (!s->adaptive || as->dlid >= LID_FIRST_MCAST ||
	    slot->vl == VL_MANAGEMENT)
		return ADAPTIVE_NO_GROUP;
	if (!(a->sls >> as->sl & 1) && o->mutation != MUT_EVERY_SL_CHOOSES)
		return ADAPTIVE_NO_GROUP;
	*target = switch_of_lid(o, in, as->dlid);
	if (*target == TOPO_NONE)
		return ADAPTIVE_NO_GROUP;
	return a->number[(size_t)s->nodes[s->ports[in].node].sw * a->n +
			 *target];
}

/* T11l: by the lanes of its head's arrival. */
static uint8_t lane_of(const struct oracle *o, uint32_t in, unsigned out,
		       const struct packet *packet, hd_time head)
{
	const struct sim_setup *s = o->setup;
	const struct sim_node *n = &s->nodes[s->ports[in].node];

	if (o->mutation == MUT_LANE_CHOSEN_LATE)
		head = o->now;
	return sl2vl_at(lanes_at(o, head), n->sw, in - n->first_port, out)
		->vl[packet->as.sl];
}

static bool is_candidate(const struct oracle *o, uint32_t in, unsigned number,
			 const struct packet *packet)
{
	const struct sim_setup *s = o->setup;
	const struct sim_node *n = &s->nodes[s->ports[in].node];
	uint32_t out = n->first_port + number;

	if (number > n->n_ports || s->ports[out].peer == SIM_NONE)
		return false;
	if (!leaves_partition(o, out, packet) &&
	    o->mutation != MUT_CANDIDATES_WITHOUT_KEYS)
		return false;
	return lane_of(o, in, number, packet, o->now) < vls_at(o, out, o->now);
}

/* By the forwarding table, as it is now. */
static unsigned first_of(const struct oracle *o, uint32_t in,
			 const struct slot *slot)
{
	const struct port_set *among = &slot->choice.candidates;
	uint8_t port =
		lft_now(o, o->setup->ports[in].node, slot->packet->as.dlid);

	if (port == LFT_NO_PORT || o->mutation == MUT_FIRST_AFTER_0)
		return port != LFT_NO_PORT && has(among, port)
			       ? port
			       : next_in(among, 0);
	return has(among, port) ? port : next_in(among, port);
}

bool choice_is_open(struct oracle *o, uint32_t in, struct slot *slot)
{
	const struct sim_setup *s = o->setup;
	switch_id at = s->nodes[s->ports[in].node].sw;
	switch_id target;
	uint16_t group = group_of(o, in, slot, &target);
	unsigned n = 0;

	if (group == ADAPTIVE_NO_GROUP)
		return false;
	slot->choice = (struct choice){ .group = group, .target = target };
	for (unsigned i = 0; i < 256; i++) {
		if (!has(&s->subnet->adaptive->groups[at][group], i) ||
		    !is_candidate(o, in, i, slot->packet))
			continue;
		add(&slot->choice.candidates, i);
		n++;
	}
	if (n == 0)
		return false;
	o->stats->choices += n > 1;
	slot->choice.first = first_of(o, in, slot);
	slot->copies[slot->n_copies++] = (struct copy){
		.packet = slot->packet,
		.out = SIM_NONE,
		.first = NEVER,
		.left = NEVER,
	};
	return true;
}

/* ---- at h + r ---- */

/* D2: whether a copy that stands in an input buffer counts for its output. */
static bool is_load(const struct oracle *o, const struct slot *slot,
		    const struct copy *c)
{
	if (!c->routed && o->mutation != MUT_LOAD_FROM_HEAD)
		return false;
	if (o->mutation == MUT_LOAD_OF_CHOOSERS &&
	    port_set_size(&slot->choice.candidates) == 0)
		return false;
	if (o->mutation == MUT_LOAD_UNTIL_TAIL && c->granted &&
	    o->setup->sw.queueing != SIM_CIOQ)
		return c->left > o->now;
	return !c->taken;
}

static uint64_t load_of(const struct oracle *o, uint32_t out)
{
	const struct sim_setup *s = o->setup;
	const struct sim_node *n = &s->nodes[s->ports[out].node];
	uint64_t blocks = 0;

	for (uint32_t k = 0; k <= n->n_ports + 1; k++) {
		const struct port *p = &o->ports[input_at(o, n, k)];

		for (size_t i = 0; i < p->n_slots; i++)
			for (uint32_t c = 0; c < p->slots[i]->n_copies; c++)
				if (p->slots[i]->copies[c].out == out &&
				    is_load(o, p->slots[i],
					    &p->slots[i]->copies[c]))
					blocks +=
						blocks_of(p->slots[i]->packet);
	}
	for (int vl = 0; vl < ALL_VLS; vl++) {
		const struct queue *q = &o->ports[out].queues[vl];

		for (size_t i = 0;
		     i < q->n && o->mutation != MUT_LOAD_UNTIL_CROSSBAR; i++)
			blocks += blocks_of(q->items[i].packet);
	}
	return blocks;
}

/* D3, of links */
static bool is_up(const struct oracle *o, uint32_t out)
{
	const struct port *p = &o->ports[out];
	hd_time heal = o->setup->adaptive->heal;

	if (p->up || o->mutation == MUT_DOWN_UNNOTICED)
		return true;
	if (o->mutation == MUT_DOWN_AT_ONCE)
		return false;
	if (o->mutation == MUT_HEAL_TO_THE_END)
		return o->now - p->down_since <= heal;
	return o->now - p->down_since < heal;
}

/* D3, D6 */
static bool counts(const struct oracle *o, uint32_t out, switch_id target)
{
	return is_up(o, out) && !is_told_of(o, out, target);
}

/* What one choice is made of: the ports that count, and where it begins. */
struct options {
	uint32_t node, first_port;
	struct port_set ports;
	unsigned n, home, last;
	uint16_t group;
};

static struct options options_of(const struct oracle *o, uint32_t node,
				 const struct choice *c)
{
	struct options p = { .node = node, .group = c->group };
	uint16_t last = o->mutation == MUT_LAST_OF_SWITCH ? 0 : c->group;

	p.first_port = o->setup->nodes[node].first_port;
	for (unsigned i = 0; i < 256; i++)
		if (has(&c->candidates, i) &&
		    counts(o, p.first_port + i, c->target))
			add(&p.ports, i);
	p.n = port_set_size(&p.ports);
	o->stats->noticed += p.n > 0 && is_up(o, p.first_port + c->first) &&
			     is_told_of(o, p.first_port + c->first, c->target);
	if (p.n == 0 && o->mutation == MUT_NONE_LEFT_TAKES_FIRST)
		add(&p.ports, c->first);
	else if (p.n == 0)
		p.ports = c->candidates;
	p.n = port_set_size(&p.ports);
	p.home = has(&p.ports, c->first) ? c->first
					 : next_in(&p.ports, c->first);
	if (o->mutation == MUT_HOME_IS_LOWEST && p.home != c->first)
		p.home = next_in(&p.ports, 0);
	p.last = o->choosers[node].last[last];
	return p;
}

/* Of those with the least load, the first after the one chosen last. */
static unsigned least_of(const struct oracle *o, const struct options *p,
			 uint64_t *load)
{
	unsigned from = o->mutation == MUT_EQUALS_FROM_0 ? 0 : p->last;
	unsigned port = from, best = 0;

	*load = UINT64_MAX;
	for (unsigned k = 0; k < p->n; k++) {
		uint64_t its;

		port = next_in(&p->ports, port);
		its = load_of(o, p->first_port + port);
		if (its >= *load)
			continue;
		*load = its;
		best = port;
	}
	return best;
}

/* D4, load */
static unsigned by_load(struct oracle *o, const struct options *p)
{
	const struct sim_adaptive *a = o->setup->adaptive;
	bool *busy = &o->ports[p->first_port + p->home].avoided;
	uint64_t m, load = load_of(o, p->first_port + p->home);
	unsigned least = least_of(o, p, &m);
	uint64_t most = m + a->threshold;

	if (o->mutation == MUT_BUSY_PER_GROUP)
		busy = &o->choosers[p->node].busy[p->group][p->home];
	if (o->mutation == MUT_LEAST_ALWAYS)
		return least;
	if (*busy && o->mutation != MUT_NO_HYSTERESIS)
		*busy = load + a->hysteresis > most;
	else if (o->mutation == MUT_THRESHOLD_REACHED)
		*busy = load >= most;
	else
		*busy = load > most;
	o->stats->avoided += *busy;
	return *busy ? least : p->home;
}

static unsigned at_random(struct oracle *o, const struct options *p)
{
	uint64_t k = p->n == 1 && o->mutation == MUT_ONE_IS_NOT_DRAWN
			     ? 0
			     : rng_below(&o->choosers[p->node].draws, p->n);
	unsigned port = next_in(&p->ports, 255);

	for (; k > 0; k--)
		port = next_in(&p->ports, port);
	return port;
}

/* D4 */
static unsigned choose(struct oracle *o, const struct options *p)
{
	uint16_t group = o->mutation == MUT_LAST_OF_SWITCH ? 0 : p->group;
	unsigned port = 0;

	switch (o->setup->adaptive->choice) {
	case SIM_AR_LOAD:
		port = by_load(o, p);
		break;
	case SIM_AR_RANDOM:
		port = at_random(o, p);
		break;
	case SIM_AR_TURNS:
		port = next_in(&p->ports, p->last);
		break;
	}
	if (port == p->home && o->setup->adaptive->choice == SIM_AR_LOAD &&
	    o->mutation == MUT_HOME_IS_NO_CHOICE)
		return port;
	o->choosers[p->node].last[group] = port;
	return port;
}

/* ---- D5 ---- */

static lid_t slid_of(const struct oracle *o, const struct packet *p)
{
	const struct sim_setup *s = o->setup;

	if (p->slid)
		return p->slid;
	return s->subnet
		->lid_of_port[s->ports[port_of_end(o, p->as.source)].origin];
}

static bool is_one_flow(const struct oracle *o, const struct packet *a,
			const struct packet *b)
{
	if (o->mutation == MUT_FLOWS_OF_ANY_SOURCE)
		return a->as.dlid == b->as.dlid && a->as.sl == b->as.sl;
	if (o->mutation == MUT_FLOWS_OF_ANY_SL)
		return a->as.dlid == b->as.dlid &&
		       slid_of(o, a) == slid_of(o, b);
	return a->as.dlid == b->as.dlid && a->as.sl == b->as.sl &&
	       slid_of(o, a) == slid_of(o, b);
}

static struct routed *routed_last(const struct oracle *o, uint32_t node,
				  const struct packet *packet)
{
	struct chooser *c = &o->choosers[node];

	for (size_t i = 0; i < c->n_flows; i++)
		if (is_one_flow(o, c->flows[i].packet, packet))
			return &c->flows[i];
	return NULL;
}

static bool is_kept(const struct oracle *o, const struct routed *before,
		    const struct options *p, const struct choice *c)
{
	const struct sim_adaptive *a = o->setup->adaptive;
	hd_time since;

	if (!before || a->per == SIM_AR_PACKET)
		return false;
	if (!has(o->mutation == MUT_FLOW_STAYS_ANYHOW ? &c->candidates
						      : &p->ports,
		 before->port))
		return false;
	if (a->per == SIM_AR_FLOW)
		return true;
	since = o->now - before->time;
	if (o->mutation == MUT_GAP_SINCE_CHOICE)
		since = o->now - before->chosen;
	if (o->mutation == MUT_GAP_ENDS_EARLY)
		return since < a->gap;
	return since <= a->gap;
}

static void remember(struct oracle *o, uint32_t node,
		     const struct packet *packet, unsigned port, bool chosen)
{
	struct chooser *c = &o->choosers[node];
	struct routed *r = routed_last(o, node, packet);

	if (!r) {
		c->flows = hd_grow(c->flows, &c->flows_cap, c->n_flows + 1,
				   sizeof(*c->flows));
		r = &c->flows[c->n_flows++];
	}
	r->packet = packet;
	r->port = port;
	r->time = o->now;
	if (chosen)
		r->chosen = o->now;
}

/* ---- D2 ---- */

static void copy_choose(struct oracle *o, uint32_t in, struct slot *slot,
			struct copy *c)
{
	uint32_t node = o->setup->ports[in].node;
	struct options p;
	struct routed *before;
	unsigned port;
	uint8_t lane;
	bool kept;

	if (o->mutation == MUT_FIRST_BY_LATE_TABLE)
		slot->choice.first = first_of(o, in, slot);
	p = options_of(o, node, &slot->choice);
	before = routed_last(o, node, slot->packet);
	kept = is_kept(o, before, &p, &slot->choice);
	port = kept ? before->port : choose(o, &p);
	o->stats->kept_ports += kept;
	o->stats->detours += port != slot->choice.first;
	c->out = p.first_port + port;
	c->vl = lane_of(o, in, port, slot->packet, slot->head);
	lane = lane_of(o, in, slot->choice.first, slot->packet, slot->head);
	if (o->mutation == MUT_LANE_OF_FIRST &&
	    lane < vls_at(o, c->out, slot->head))
		c->vl = lane;
	c->d_out = duration_on(o, c->out, slot->packet->as.bytes);
	c->waiter = waiter_add(o, in, slot, c);
	remember(o, node, slot->packet, port, !kept);
}

static bool slot_route(struct oracle *o, uint32_t in, struct slot *slot)
{
	hd_time when = slot->head + o->setup->sw.routing;
	bool any = false;

	if (o->mutation == MUT_CHOOSES_AT_HEAD)
		when = slot->head;
	if (slot->dropped || when > o->now)
		return false;
	for (uint32_t i = 0; i < slot->n_copies; i++) {
		struct copy *c = &slot->copies[i];

		if (c->routed)
			continue;
		if (c->out == SIM_NONE)
			copy_choose(o, in, slot, c);
		c->routed = any = true;
	}
	return any;
}

void copies_route(struct oracle *o)
{
	uint32_t n = o->setup->n_ports + o->setup->n_nodes;

	for (uint32_t k = 0; o->setup->adaptive && k < n; k++) {
		uint32_t in =
			o->mutation == MUT_INPUTS_BACKWARDS ? n - 1 - k : k;
		struct port *p = &o->ports[in];
		bool any = false;

		if (!is_switch_port(o, in))
			continue;
		for (size_t i = 0; i < p->n_slots; i++)
			any |= slot_route(o, in, p->slots[i]);
		if (any)
			firsts_note(o, in);
	}
}
