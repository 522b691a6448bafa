/* SPDX-License-Identifier: BSD-2-Clause */
/* Switches that choose: D1 to D5 and D7; notice.c has D6. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "state.h"

#define STREAM_CHOICES UINT64_C(0x30000000)

/* The packet of a flow that last had candidates at a switch (D5). */
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
		for (uint32_t g = 0; g < s->subnet->adaptive->n_groups[s->nodes[i].sw]; g++)
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
	at = topo_node_of(n->topo, owner)->kind == NODE_SWITCH ? owner : n->topo->ports[owner].peer;
	return at == TOPO_NONE ? TOPO_NONE : n->switch_of_node[n->topo->ports[at].node];
}

/* D1, of the packet alone; and toward which switch. */
static bool may_choose(const struct oracle *o, uint32_t in, const struct slot *slot,
		       switch_id *target)
{
	const struct sim_setup *s = o->setup;
	const struct sim_arrival *as = &slot->packet->as;

	if (!s->adaptive || as->dlid >= LID_FIRST_MCAST || slot->vl == VL_MANAGEMENT)
		return false;
	if (!(s->subnet->adaptive->sls >> as->sl & 1) && o->mutation != MUT_EVERY_SL_CHOOSES)
		return false;
	*target = switch_of_lid(o, in, as->dlid);
	return *target != TOPO_NONE;
}

/* D7: what there is for an input of its kind. */
static struct adaptive_ways ways_of(const struct oracle *o, uint32_t in, switch_id target)
{
	const struct sim_setup *s = o->setup;
	const struct adaptive *a = s->subnet->adaptive;
	switch_id at = s->nodes[s->ports[in].node].sw;
	port_id from = s->ports[in].origin;
	struct adaptive_ways w = adaptive_ways(a, at, target, from);

	if (o->mutation == MUT_AROUND_FROM_ANYWHERE)
		w = adaptive_ways(a, at, target, TOPO_NONE);
	if (o->mutation == MUT_AROUND_FROM_ENDS && a->detours &&
	    a->detours->way_in[from] != FROM_END)
		w = (struct adaptive_ways){ adaptive_ways(a, at, target, TOPO_NONE).minimal,
					    ADAPTIVE_NO_GROUP };
	if (o->mutation == MUT_AROUND_NEEDS_MINIMAL && w.minimal == ADAPTIVE_NO_GROUP)
		w.around = ADAPTIVE_NO_GROUP;
	return w;
}

/* T11l: by the VLs of its head's arrival. */
static uint8_t vl_toward(const struct oracle *o, uint32_t in, unsigned out,
			 const struct packet *packet, hd_time head)
{
	const struct sim_setup *s = o->setup;
	const struct sim_node *n = &s->nodes[s->ports[in].node];

	if (o->mutation == MUT_VL_CHOSEN_LATE)
		head = o->now;
	return sl2vl_at(vl_tables_at(o, head), n->sw, in - n->first_port, out)->vl[packet->as.sl];
}

static bool is_candidate(const struct oracle *o, uint32_t in, unsigned number,
			 const struct packet *packet)
{
	const struct sim_setup *s = o->setup;
	const struct sim_node *n = &s->nodes[s->ports[in].node];
	uint32_t out = n->first_port + number;

	if (number > n->n_ports || s->ports[out].peer == SIM_NONE)
		return false;
	if (!leaves_partition(o, out, packet) && o->mutation != MUT_CANDIDATES_WITHOUT_KEYS)
		return false;
	return vl_toward(o, in, number, packet, o->now) < vls_at(o, out, o->now);
}

/* By the forwarding table, as it is now. */
static unsigned first_of(const struct oracle *o, uint32_t in, const struct slot *slot)
{
	const struct port_set *among = &slot->choice.candidates;

	if (o->mutation == MUT_AROUND_NOT_FIRST && port_set_size(&slot->choice.of[MINIMAL]) > 0)
		among = &slot->choice.of[MINIMAL];
	uint8_t port = lft_now(o, o->setup->ports[in].node, slot->packet->as.dlid);

	if (port == LFT_NO_PORT || o->mutation == MUT_FIRST_AFTER_0)
		return port != LFT_NO_PORT && has(among, port) ? port : next_in(among, 0);
	return has(among, port) ? port : next_in(among, port);
}

/* The candidates of one set, if it is there. */
static void candidates_add(const struct oracle *o, uint32_t in, const struct packet *packet,
			   enum ways set, struct choice *c)
{
	const struct sim_setup *s = o->setup;
	switch_id at = s->nodes[s->ports[in].node].sw;

	if (c->group[set] == ADAPTIVE_NO_GROUP)
		return;
	for (unsigned i = 0; i < 256; i++) {
		if (!has(&s->subnet->adaptive->groups[at][c->group[set]], i) ||
		    !is_candidate(o, in, i, packet))
			continue;
		add(&c->of[set], i);
		add(&c->candidates, i);
	}
}

bool choice_is_open(struct oracle *o, uint32_t in, struct slot *slot)
{
	struct choice *choice = &slot->choice;
	struct adaptive_ways ways;
	switch_id target;
	unsigned n;

	if (!may_choose(o, in, slot, &target))
		return false;
	ways = ways_of(o, in, target);
	*choice = (struct choice){ .group = { ways.minimal, ways.around }, .target = target };
	for (int set = 0; set < ALL_WAYS; set++)
		candidates_add(o, in, slot->packet, (enum ways)set, choice);
	n = port_set_size(&choice->candidates);
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

/* D2: whether a copy in an input buffer counts for its output. */
static bool is_load(const struct oracle *o, const struct slot *slot, const struct copy *c)
{
	if (!c->routed && o->mutation != MUT_LOAD_FROM_HEAD)
		return false;
	if (o->mutation == MUT_LOAD_OF_CHOOSERS && port_set_size(&slot->choice.candidates) == 0)
		return false;
	if (o->mutation == MUT_LOAD_UNTIL_TAIL && c->granted && o->setup->sw.queueing != SIM_CIOQ)
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
				    is_load(o, p->slots[i], &p->slots[i]->copies[c]))
					blocks += packet_blocks(p->slots[i]->packet);
	}
	for (int vl = 0; vl < ALL_VLS; vl++) {
		const struct queue *q = &o->ports[out].queues[vl];

		for (size_t i = 0; i < q->n && o->mutation != MUT_LOAD_UNTIL_CROSSBAR; i++)
			blocks += packet_blocks(q->items[i].packet);
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

/* What one choice is made of: the ports that count, in the one set that it is
 * made from and in both, and where it begins. */
struct options {
	uint32_t node, first_port;
	struct port_set ports, either;
	bool lighter; /* D7: it is the set around, for its load */
	unsigned n, home, last;
	uint16_t group, remembered;
};

/* D3: of a set, or of both. */
static struct port_set counting(const struct oracle *o, uint32_t first_port, const struct choice *c,
				struct port_set set)
{
	struct port_set found = { { 0 } };

	for (unsigned i = 0; i < 256; i++) {
		if (!has(&set, i))
			continue;
		if (o->mutation == MUT_AROUND_UNNOTICED && has(&c->of[AROUND], i)
			    ? is_up(o, first_port + i)
			    : counts(o, first_port + i, c->target))
			add(&found, i);
	}
	if (port_set_size(&found) > 0)
		return found;
	if (o->mutation == MUT_NONE_LEFT_TAKES_FIRST && has(&set, c->first)) {
		add(&found, c->first);
		return found;
	}
	return set;
}

static struct port_set both(struct port_set a, const struct port_set *b)
{
	for (int i = 0; i < 4; i++)
		a.bits[i] &= b->bits[i];
	return a;
}

/* UINT64_MAX of none. */
static uint64_t least_load(const struct oracle *o, uint32_t first_port, const struct port_set *set)
{
	uint64_t least = UINT64_MAX;

	for (unsigned i = 0; i < 256; i++) {
		uint64_t load;

		if (!has(set, i))
			continue;
		load = load_of(o, first_port + i);
		if (load < least)
			least = load;
	}
	return least;
}

/* D7: whether the set around is less loaded, by more than the margin. */
static bool is_lighter(const struct oracle *o, uint32_t first_port, const struct port_set *minimal,
		       const struct port_set *around)
{
	const struct sim_adaptive *a = o->setup->adaptive;
	uint64_t straight = least_load(o, first_port, minimal);
	uint64_t detour = least_load(o, first_port, around);

	if (o->mutation == MUT_AROUND_NEVER ||
	    (o->mutation == MUT_AROUND_BY_LOAD_ONLY && a->choice != SIM_AR_LOAD))
		return false;
	if (o->mutation == MUT_AROUND_WITHOUT_MARGIN)
		return straight > detour;
	if (o->mutation == MUT_AROUND_AT_MARGIN)
		return straight >= detour + a->around;
	return straight > detour + a->around;
}

/* D7: the set that a choice is made from. */
static enum ways set_take(const struct oracle *o, struct options *p, const struct choice *c)
{
	struct port_set of[ALL_WAYS];

	for (int i = 0; i < ALL_WAYS; i++) {
		of[i] = both(c->of[i], &p->either);
		if (o->mutation == MUT_AROUND_ALONE)
			of[i] = counting(o, p->first_port, c, c->of[i]);
	}
	if (port_set_size(&of[AROUND]) == 0)
		return MINIMAL;
	if (port_set_size(&of[MINIMAL]) == 0)
		return AROUND;
	for (int i = 0; i < ALL_WAYS && o->mutation == MUT_AROUND_OF_ALL; i++)
		of[i] = c->of[i];
	p->lighter = is_lighter(o, p->first_port, &of[MINIMAL], &of[AROUND]);
	return p->lighter ? AROUND : MINIMAL;
}

static unsigned home_of(const struct oracle *o, const struct options *p, const struct choice *c)
{
	bool first = has(&p->ports, c->first);

	if (!first && (o->mutation == MUT_HOME_IS_LOWEST ||
		       (o->mutation == MUT_AROUND_HOME_IS_LOWEST && has(&p->either, c->first))))
		return next_in(&p->ports, 0);
	return first ? c->first : next_in(&p->ports, c->first);
}

static struct options options_of(const struct oracle *o, uint32_t node, const struct choice *c)
{
	struct options p = { .node = node };
	uint32_t first;
	enum ways set;

	p.first_port = o->setup->nodes[node].first_port;
	first = p.first_port + c->first;
	p.either = counting(o, p.first_port, c, c->candidates);
	o->stats->noticed += counts(o, p.first_port + next_in(&p.either, 0), c->target) &&
			     is_up(o, first) && is_told_of(o, first, c->target);
	set = set_take(o, &p, c);
	p.ports = both(c->of[set], &p.either);
	if (o->mutation == MUT_AROUND_MIXED)
		p.ports = p.either;
	if (o->mutation == MUT_AROUND_ALONE)
		p.ports = counting(o, p.first_port, c, c->of[set]);
	p.n = port_set_size(&p.ports);
	p.home = home_of(o, &p, c);
	p.group = p.remembered = c->group[set];
	if (o->mutation == MUT_AROUND_SHARES_LAST && c->group[MINIMAL] != ADAPTIVE_NO_GROUP)
		p.remembered = c->group[MINIMAL];
	if (o->mutation == MUT_LAST_OF_SWITCH)
		p.remembered = 0;
	p.last = o->choosers[node].last[p.remembered];
	return p;
}

/* Of those with the least load, the first after the one chosen last. */
static unsigned least_of(const struct oracle *o, const struct options *p, uint64_t *load)
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
	o->choosers[p->node].last[p->remembered] = port;
	return port;
}

/* ---- D5 ---- */

static lid_t slid_of(const struct oracle *o, const struct packet *p)
{
	const struct sim_setup *s = o->setup;

	if (p->slid)
		return p->slid;
	return s->subnet->lid_of_port[s->ports[port_of_end(o, p->as.source)].origin];
}

static bool is_one_flow(const struct oracle *o, const struct packet *a, const struct packet *b)
{
	if (o->mutation == MUT_FLOWS_OF_ANY_SOURCE)
		return a->as.dlid == b->as.dlid && a->as.sl == b->as.sl;
	if (o->mutation == MUT_FLOWS_OF_ANY_SL)
		return a->as.dlid == b->as.dlid && slid_of(o, a) == slid_of(o, b);
	return a->as.dlid == b->as.dlid && a->as.sl == b->as.sl && slid_of(o, a) == slid_of(o, b);
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

static bool is_kept(const struct oracle *o, const struct routed *before, const struct options *p,
		    const struct choice *c)
{
	const struct sim_adaptive *a = o->setup->adaptive;
	const struct port_set *among = &p->either;
	hd_time since;

	if (!before || a->per == SIM_AR_PACKET)
		return false;
	if (o->mutation == MUT_FLOW_STAYS_ANYHOW)
		among = &c->candidates;
	if (o->mutation == MUT_AROUND_ENDS_FLOWS)
		among = &p->ports;
	if (!has(among, before->port))
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

static void remember(struct oracle *o, uint32_t node, const struct packet *packet, unsigned port,
		     bool chosen)
{
	struct chooser *c = &o->choosers[node];
	struct routed *r = routed_last(o, node, packet);

	if (!r) {
		c->flows = hd_grow(c->flows, &c->flows_cap, c->n_flows + 1, sizeof(*c->flows));
		r = &c->flows[c->n_flows++];
	}
	r->packet = packet;
	r->port = port;
	r->time = o->now;
	if (chosen)
		r->chosen = o->now;
}

/* ---- D2 ---- */

static void copy_choose(struct oracle *o, uint32_t in, struct slot *slot, struct copy *c)
{
	uint32_t node = o->setup->ports[in].node;
	struct options p;
	struct routed *before;
	unsigned port;
	uint8_t vl;
	bool kept;

	if (o->mutation == MUT_FIRST_BY_LATE_TABLE)
		slot->choice.first = first_of(o, in, slot);
	p = options_of(o, node, &slot->choice);
	before = routed_last(o, node, slot->packet);
	kept = is_kept(o, before, &p, &slot->choice);
	port = kept ? before->port : choose(o, &p);
	o->stats->kept_ports += kept;
	o->stats->detours += port != slot->choice.first;
	o->stats->overloaded += p.lighter && !kept;
	o->stats->around += has(&slot->choice.of[AROUND], port);
	c->out = p.first_port + port;
	c->vl = vl_toward(o, in, port, slot->packet, slot->head);
	vl = vl_toward(o, in, slot->choice.first, slot->packet, slot->head);
	if (o->mutation == MUT_VL_OF_FIRST && vl < vls_at(o, c->out, slot->head))
		c->vl = vl;
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
		uint32_t in = o->mutation == MUT_INPUTS_BACKWARDS ? n - 1 - k : k;
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
