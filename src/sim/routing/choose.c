/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/routing/choose.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "sim/checkpoint/checkpoint_state.h"
#include "sim/core/engine.h"

#define STREAM 0x30000000u /* random streams follow those of faults */

/* ---- beginning and end ------------------------------------------------- */

static switch_id *targets_of(const struct subnet *sub, unsigned subnet)
{
	uint32_t n = sub->top_lid[subnet] + 1u;
	switch_id *target = hd_alloc(n, sizeof(*target));

	for (uint32_t lid = 0; lid < n; lid++) {
		uint8_t port;

		if (!subnet_target(sub, subnet, (lid_t)lid, &target[lid], &port))
			target[lid] = TOPO_NONE;
	}
	return target;
}

static void memories_init(struct sim *s, struct choices *c)
{
	uint32_t n = s->setup->n_nodes;

	if (c->rules->choice == SIM_AR_RANDOM) {
		c->rngs = hd_alloc(n, sizeof(*c->rngs));
		for (uint32_t v = 0; v < n; v++)
			rng_init(&c->rngs[v], s->setup->seed, STREAM + (uint64_t)v);
	}
	if (c->rules->per != SIM_AR_PACKET)
		c->kept = hd_alloc(n, sizeof(*c->kept));
}

/* Counts the ports of a group. Returns false if one of them has no cable. */
static bool group_count(const struct sim *s, const struct node *n, const struct port_set *group,
			uint8_t *size)
{
	unsigned out = 0;
	bool sound = true;

	while (port_set_next(group, &out)) {
		sound = sound && out < n->n_in && is_plugged(s, n->first_port + out);
		++*size;
	}
	return sound;
}

static void groups_init(struct sim *s, struct choices *c)
{
	c->all_outputs = true;
	for (uint32_t v = 0; v < s->setup->n_nodes; v++) {
		const struct node *n = &s->nodes[v];
		switch_id sw = n->switch_id;

		if (n->kind != SIM_SWITCH)
			continue;
		c->sizes[sw] = hd_alloc(c->groups->n_groups[sw], 1);
		for (uint32_t g = 0; g < c->groups->n_groups[sw]; g++) {
			if (!group_count(s, n, &c->groups->groups[sw][g], &c->sizes[sw][g]))
				c->all_outputs = false;
		}
	}
}

void choice_init(struct sim *s)
{
	const struct subnet *sub = s->setup->subnet;

	if (!s->setup->adaptive)
		return;
	struct choices *c = s->choices = hd_alloc(1, sizeof(*c));

	*c = (struct choices){
		.rules = s->setup->adaptive,
		.groups = sub->adaptive,
		.target = hd_alloc(sub->n_subnets, sizeof(*c->target)),
		.ports = hd_alloc(s->setup->n_ports, sizeof(*c->ports)),
		.turns = hd_alloc(sub->n_switches, sizeof(*c->turns)),
		.sizes = hd_alloc(sub->n_switches, sizeof(*c->sizes)),
	};
	for (unsigned i = 0; i < sub->n_subnets; i++)
		c->target[i] = targets_of(sub, i);
	for (switch_id sw = 0; sw < sub->n_switches; sw++)
		c->turns[sw] = hd_alloc(c->groups->n_groups[sw], 1);
	for (uint32_t port = 0; port < s->setup->n_ports; port++)
		c->ports[port].down = NEVER;
	for (uint32_t v = 0; v < s->setup->n_nodes; v++)
		s->nodes[v].plain = false;
	groups_init(s, c);
	c->has_faults = s->setup->n_faults > 0;
	c->notices = notice_table_new(s->setup, s->rules.stop);
	memories_init(s, c);
}

void choice_fini(struct sim *s)
{
	struct choices *c = s->choices;

	if (!c)
		return;
	for (unsigned i = 0; i < s->setup->subnet->n_subnets; i++)
		free(c->target[i]);
	for (switch_id sw = 0; sw < s->setup->subnet->n_switches; sw++) {
		free(c->turns[sw]);
		free(c->sizes[sw]);
	}
	for (uint32_t v = 0; c->kept && v < s->setup->n_nodes; v++) {
		map_fini(&c->kept[v].index);
		free(c->kept[v].ways);
	}
	notice_table_free(c->notices);
	free(c->kept);
	free(c->rngs);
	free(c->turns);
	free(c->sizes);
	free(c->target);
	free(c->ports);
	free(c);
}

static void choice_port_restart(struct choice_port *p)
{
	p->taken = p->away = p->around = 0;
}

void choice_restart(struct sim *s)
{
	for (uint32_t i = 0; s->choices && i < s->setup->n_ports; i++)
		choice_port_restart(&s->choices->ports[i]);
}

/* ---- sets of ports ------------------------------------------------------ */

/* The first port of the set cyclically after `port`. */
static unsigned next_after(const struct port_set *set, unsigned port)
{
	if (!port_set_next(set, &port)) {
		port = 0;
		port_set_next(set, &port);
	}
	return port;
}

/* `port`, or the next port of the set if it is not in it. */
static unsigned home_among(const struct port_set *set, unsigned port)
{
	return set->bits[port / 64] >> port % 64 & 1 ? port : next_after(set, port);
}

/* ---- D1: among which ---------------------------------------------------- */

/* Ports of one group. */
struct candidates {
	struct port_set set;
	uint16_t group; /* number at the switch */
	unsigned n;
};

/* All ports that a packet may take; `around` is empty except in D7. */
struct options {
	switch_id target;
	struct candidates minimal, around;
};

static void keep_usable(const struct sim *s, const struct node *n, const struct packet_record *p,
			struct candidates *c)
{
	const struct choices *x = s->choices;
	unsigned out = 0;

	c->set = (struct port_set){ 0 };
	c->n = 0;
	if (c->group == ADAPTIVE_NO_GROUP)
		return;
	const struct port_set *group = &x->groups->groups[n->switch_id][c->group];

	if (n->uniform && x->all_outputs && !is_made_here(p)) {
		if (n->vl_of_sl[p->sl] < n->vls) {
			c->set = *group;
			c->n = x->sizes[n->switch_id][c->group];
		}
		return;
	}
	while (port_set_next(group, &out)) {
		if (!switch_permits(s, n, p, out))
			continue;
		c->set.bits[out / 64] |= UINT64_C(1) << out % 64;
		c->n++;
	}
}

static port_id input_of(const struct sim *s, const struct node *n, const struct packet_record *p)
{
	if (is_made_here(p))
		return TOPO_NONE;
	return s->setup->ports[n->first_port + p->in].origin;
}

/* False: no options. */
static bool find_options(const struct sim *s, const struct node *n, const struct packet_record *p,
			 struct options *o)
{
	const struct choices *x = s->choices;

	if (n->kind != SIM_SWITCH || p->vl == VL_MANAGEMENT || p->dlid >= LID_FIRST_MCAST ||
	    !(x->groups->sls >> p->sl & 1) || p->dlid > s->setup->subnet->top_lid[n->subnet])
		return false;
	o->target = x->target[n->subnet][p->dlid];
	if (o->target == TOPO_NONE)
		return false;
	struct adaptive_ways w =
		adaptive_ways(x->groups, n->switch_id, o->target, input_of(s, n, p));

	o->minimal.group = w.minimal;
	o->around.group = w.around;
	keep_usable(s, n, p, &o->minimal);
	keep_usable(s, n, p, &o->around);
	return o->minimal.n + o->around.n > 0;
}

static struct port_set all_of(const struct options *o)
{
	struct port_set all = o->minimal.set;

	for (unsigned i = 0; i < 4; i++)
		all.bits[i] |= o->around.set.bits[i];
	return all;
}

bool choice_defer(struct sim *s, const struct node *n, struct packet_record *p)
{
	struct options o;

	if (!s->choices || !find_options(s, n, p, &o))
		return false;
	/* Before the choice, the packet uses its deterministic output. */
	struct port_set all = all_of(&o);
	unsigned home = switch_output(s, n, p);

	home = home_among(&all, home == LFT_NO_PORT ? 0 : home);
	p->out = n->first_port + home;
	p->out_vl = switch_vl(s, n, p, home);
	return true;
}

static struct candidates alive_of(const struct sim *s, const struct node *n, switch_id target,
				  const struct candidates *c)
{
	const struct notices *told = s->choices->notices;
	struct candidates alive = { .group = c->group };
	unsigned out = 0;

	while (port_set_next(&c->set, &out)) {
		hd_time down = s->choices->ports[n->first_port + out].down;

		if (down != NEVER && s->now - down >= s->choices->rules->heal)
			continue;
		if (told && notice_holds(told, n->switch_id, target, out, s->now))
			continue;
		alive.set.bits[out / 64] |= UINT64_C(1) << out % 64;
		alive.n++;
	}
	return alive;
}

/* D3, D6: removes ports with a known dead end, unless all have one. */
static void avoid_dead(const struct sim *s, const struct node *n, struct options *o)
{
	if (!s->choices->has_faults && !s->choices->notices)
		return;
	struct options alive = {
		.target = o->target,
		.minimal = alive_of(s, n, o->target, &o->minimal),
		.around = alive_of(s, n, o->target, &o->around),
	};

	if (alive.minimal.n + alive.around.n > 0)
		*o = alive;
}

/* ---- D4: the choice ----------------------------------------------------- */

static unsigned choose_in_turn(struct sim *s, const struct node *n, const struct candidates *c,
			       unsigned home)
{
	(void)home;
	return next_after(&c->set, s->choices->turns[n->switch_id][c->group]);
}

static unsigned choose_at_random(struct sim *s, const struct node *n, const struct candidates *c,
				 unsigned home)
{
	uint64_t k = rng_below(&s->choices->rngs[n - s->nodes], c->n);
	unsigned out = 0;

	(void)home;
	do
		port_set_next(&c->set, &out);
	while (k-- > 0);
	return out;
}

/* Updates the least loaded port of a word of a set, if its load is below *least. */
static inline void least_of_word(const struct choice_port *ports, unsigned word, uint64_t bits,
				 uint64_t *least, unsigned *best)
{
	for (; bits; bits &= bits - 1) {
		unsigned out = 64 * word + (unsigned)__builtin_ctzll(bits);

		if (ports[out].load < *least) {
			*least = ports[out].load;
			*best = out;
		}
	}
}

/* The least loaded port; among equals, the first after the last choice. */
static unsigned least_loaded(const struct sim *s, const struct node *n, const struct candidates *c)
{
	const struct choice_port *ports = &s->choices->ports[n->first_port];
	unsigned turn = s->choices->turns[n->switch_id][c->group], best = 0;
	uint64_t least = UINT64_MAX;

	/*
	 * Scans words from that of `turn`: the first without bits up to `turn`, at the end only
	 * these.
	 */
	for (unsigned i = 0; i <= 4; i++) {
		unsigned word = (turn / 64 + i) % 4;
		uint64_t after = ~(uint64_t)0 << turn % 64 << 1;
		uint64_t bits = c->set.bits[word] & (i == 0   ? after
						     : i == 4 ? ~after
							      : ~(uint64_t)0);

		least_of_word(ports, word, bits, &least, &best);
	}
	return best;
}

static unsigned choose_by_load(struct sim *s, const struct node *n, const struct candidates *c,
			       unsigned home)
{
	const struct sim_adaptive *rules = s->choices->rules;
	unsigned best = least_loaded(s, n, c);
	uint64_t limit = (uint64_t)s->choices->ports[n->first_port + best].load + rules->threshold;
	struct choice_port *at = &s->choices->ports[n->first_port + home];

	if (!at->busy)
		at->busy = at->load > limit;
	else
		at->busy = at->load + (uint64_t)rules->hysteresis > limit;
	return at->busy ? best : home;
}

static unsigned choose(struct sim *s, const struct node *n, const struct candidates *c,
		       unsigned home)
{
	static unsigned (*const ways[])(struct sim *, const struct node *,
					const struct candidates *, unsigned) = {
		[SIM_AR_LOAD] = choose_by_load,
		[SIM_AR_RANDOM] = choose_at_random,
		[SIM_AR_TURNS] = choose_in_turn,
	};
	unsigned out = ways[s->choices->rules->choice](s, n, c, home);

	s->choices->turns[n->switch_id][c->group] = (uint8_t)out;
	return out;
}

/* ---- D7: minimal ways, or those around ---------------------------------- */

static uint64_t least_load(const struct sim *s, const struct node *n, const struct candidates *c)
{
	return s->choices->ports[n->first_port + least_loaded(s, n, c)].load;
}

static bool goes_around(const struct sim *s, const struct node *n, const struct options *o)
{
	if (o->minimal.n == 0 || o->around.n == 0)
		return o->minimal.n == 0;
	return least_load(s, n, &o->minimal) >
	       least_load(s, n, &o->around) + s->choices->rules->around;
}

static unsigned choose_way(struct sim *s, const struct node *n, const struct options *o,
			   unsigned first)
{
	const struct candidates *c = goes_around(s, n, o) ? &o->around : &o->minimal;

	return choose(s, n, c, home_among(&c->set, first));
}

/* ---- D5: flows that keep to a way --------------------------------------- */

/* Flow identification of a switch: source and destination of the packet. */
static uint64_t flow_of(const struct sim *s, const struct packet_record *p)
{
	const struct packet_extra *x = &s->pool.extras[packet_id(s, p)];
	uint32_t from = s->setup->nodes[x->source].first_port + 1;
	lid_t slid =
		x->slid ? x->slid : s->setup->subnet->lid_of_port[s->setup->ports[from].origin];

	return (uint64_t)slid << 32 | (uint64_t)p->dlid << 16 | p->sl;
}

static struct group_choice *kept_way_of(struct group_choices *k, uint64_t flow)
{
	uint32_t i = map_put(&k->index, flow, k->n);

	if (i != MAP_NONE)
		return &k->ways[i];
	k->ways = hd_grow(k->ways, &k->cap, k->n + 1u, sizeof(*k->ways));
	k->ways[k->n] = (struct group_choice){ .flow = flow };
	return &k->ways[k->n++];
}

static bool still_keeps(const struct sim *s, const struct group_choice *way,
			const struct options *o)
{
	const struct sim_adaptive *rules = s->choices->rules;
	struct port_set all = all_of(o);

	if (!(all.bits[way->port / 64] >> way->port % 64 & 1))
		return false; /* port 0 is initially in no group */
	return rules->per == SIM_AR_FLOW || s->now - way->last <= rules->gap;
}

static unsigned choose_for_flow(struct sim *s, const struct node *n, const struct packet_record *p,
				const struct options *o, unsigned first)
{
	struct group_choice *way = kept_way_of(&s->choices->kept[n - s->nodes], flow_of(s, p));

	if (!still_keeps(s, way, o))
		way->port = choose_way(s, n, o, first);
	way->last = s->now;
	return way->port;
}

/* ---- D2: a copy is routed ------------------------------------------------ */

/* A packet crosses to a third group once and is counted there. */
static bool crosses_around(const struct sim *s, const struct options *o, unsigned out,
			   uint32_t port)
{
	const struct detours *d = s->choices->groups->detours;

	return o->around.set.bits[out / 64] >> out % 64 & 1 &&
	       d->way_in[s->setup->ports[s->links[port].peer].origin] == FROM_BEYOND;
}

void choice_make(struct sim *s, struct packet_record *p)
{
	const struct node *n = &s->nodes[s->setup->ports[p->out].node];
	struct options o;

	if (!packet_router(s, p) && find_options(s, n, p, &o)) {
		unsigned first = p->out - n->first_port;

		avoid_dead(s, n, &o);
		unsigned out = s->choices->kept ? choose_for_flow(s, n, p, &o, first)
						: choose_way(s, n, &o, first);

		p->out = n->first_port + out;
		p->out_vl = switch_vl(s, n, p, out);
		struct choice_port *at = &s->choices->ports[p->out];

		at->taken += o.minimal.n + o.around.n > 1;
		at->away += out != first;
		at->around += crosses_around(s, &o, out, p->out);
	}
	s->choices->ports[p->out].load += blocks_of(p->bytes);
	hop_place_copy(s, p);
}

/* ---- what became of it -------------------------------------------------- */

void sim_choices(const struct sim *s, struct sim_choice_counts *out)
{
	*out = (struct sim_choice_counts){ .taken = 0 };
	for (uint32_t i = 0; s->choices && i < s->setup->n_ports; i++) {
		out->taken += s->choices->ports[i].taken;
		out->away += s->choices->ports[i].away;
		out->around += s->choices->ports[i].around;
	}
}

static const struct pack_member port_members[] = {
	PACK(choice_port, down),       PACK_SUM(choice_port, taken), PACK_SUM(choice_port, away),
	PACK_SUM(choice_port, around), PACK(choice_port, load),      PACK(choice_port, busy),
};

static const struct pack_member way_members[] = {
	PACK_TIME(group_choice, last),
	PACK(group_choice, flow),
	PACK(group_choice, port),
};

static int by_flow(const void *a, const void *b)
{
	const struct group_choice *x = a, *y = b;

	return checkpoint_state_compare(x->flow, y->flow);
}

/* In the order of flow keys, not of arrival. */
static void pack_kept(struct pack *p, struct group_choices *k)
{
	uint32_t n = k->n;
	struct group_choice *sorted = hd_alloc(n, sizeof(*sorted));

	if (n) {
		memcpy(sorted, k->ways, n * sizeof(*sorted));
		qsort(sorted, n, sizeof(*sorted), by_flow);
	}
	pack_u32(p, &n);
	for (uint32_t i = 0; i < n && !p->refused; i++) {
		struct group_choice way = { 0 };

		if (!p->reads)
			way = sorted[i];
		PACK_STRUCT(p, way_members, &way);
		pack_check(p, way.port < 256);
		if (p->reads)
			*kept_way_of(k, way.flow) = way;
	}
	free(sorted);
}

static const struct pack_member rng_members[] = { PACK_EACH(rng, s) };

void choice_pack(struct pack *k, struct sim *part)
{
	for (uint32_t i = 0; i < part->setup->n_ports; i++) {
		if (part->cut->part_of_port[i] != part->part)
			continue;
		pack_u64(k, &part->choices->ports[i].taken);
		pack_u64(k, &part->choices->ports[i].away);
		pack_u64(k, &part->choices->ports[i].around);
	}
}

void checkpoint_state_choices(struct checkpoint_state *v)
{
	struct choices *c = v->s->choices;

	if (!c)
		return;
	for (uint32_t i = 0; i < v->s->setup->n_ports; i++) {
		if (checkpoint_state_has_port(v, i))
			PACK_STRUCT(v->p, port_members, &c->ports[i]);
	}
	for (uint32_t i = 0; i < v->s->setup->n_nodes; i++) {
		const struct node *n = &v->s->nodes[i];

		if (!checkpoint_state_has_node(v, i))
			continue;
		if (n->kind == SIM_SWITCH)
			pack_bytes(v->p, c->turns[n->switch_id], c->groups->n_groups[n->switch_id]);
		if (c->rngs)
			PACK_STRUCT(v->p, rng_members, &c->rngs[i]);
		if (c->kept)
			pack_kept(v->p, &c->kept[i]);
	}
}
