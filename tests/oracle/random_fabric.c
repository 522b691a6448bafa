/* SPDX-License-Identifier: BSD-2-Clause */
#include "random_parts.h"

#define DRAWN_SWITCHES 6                       /* at most, but in dragonflies */
#define MAX_DURATION   200                     /* ticks */
#define BITS_PER_PS    UINT64_C(8000000000000) /* rate of one byte per ps */

/* ---- shape ---- */

static void edge_add(struct shape *h, uint32_t a, uint32_t b)
{
	h->edges[h->n_edges][0] = a;
	h->edges[h->n_edges][1] = b;
	h->n_edges++;
}

static void shape_mesh(struct shape *h, struct rng *r)
{
	uint32_t columns = 2 + below(r, 2);

	h->n_switches = 2 * columns;
	for (uint32_t c = 0; c < columns; c++) {
		edge_add(h, c, columns + c);
		if (c + 1 < columns) {
			edge_add(h, c, c + 1);
			edge_add(h, columns + c, columns + c + 1);
		}
	}
}

static uint32_t parent_of(const struct shape *h, uint32_t child, struct rng *r)
{
	if (h->kind == LINE || h->kind == RING)
		return child - 1;
	if (h->kind == STAR)
		return 0;
	return below(r, child);
}

void shape_draw(struct shape *h, struct rng *r)
{
	*h = (struct shape){ .kind = below(r, SHAPES) };
	h->n_switches = 1 + below(r, DRAWN_SWITCHES);
	if (h->kind == RING && h->n_switches < 3)
		h->n_switches = 3;
	if (h->kind == MESH) {
		shape_mesh(h, r);
	} else {
		for (uint32_t i = 1; i < h->n_switches; i++)
			edge_add(h, parent_of(h, i, r), i);
	}
	if (h->kind == RING)
		edge_add(h, h->n_switches - 1, 0);
	for (uint32_t i = 1 + below(r, 4); i > 0 && h->kind == IRREGULAR && h->n_switches > 1;
	     i--) {
		uint32_t a = below(r, h->n_switches);

		edge_add(h, a, (a + 1 + below(r, h->n_switches - 1)) % h->n_switches);
	}
	h->n_hosts = 2 + below(r, MAX_HOSTS - 1);
	for (uint32_t i = 0; i < h->n_hosts; i++)
		h->host_at[i] = i < h->n_switches && chance(r, 60) ? i : below(r, h->n_switches);
}

void shape_widen(struct shape *h, struct rng *r)
{
	if (h->n_switches == 1) {
		h->n_switches = 2;
		edge_add(h, 0, 1);
		for (uint32_t i = 0; i < h->n_hosts; i++)
			h->host_at[i] = i % 2;
	}
	for (uint32_t i = 0, n = h->n_edges; i < n; i++)
		if (h->n_edges < MAX_EDGES && chance(r, 70))
			edge_add(h, h->edges[i][0], h->edges[i][1]);
}

void shape_fan(struct shape *h, struct rng *r)
{
	bool deep = chance(r, 40);
	uint32_t middle = deep ? 2 : 2 + below(r, 3), steps = deep ? 2 : 1;
	uint32_t last = 1 + steps * middle;

	h->kind = IRREGULAR;
	h->n_switches = last + 1;
	h->n_edges = 0;
	for (uint32_t i = 1; i < last; i++) {
		uint32_t behind = i + middle < last ? i + middle : last;

		if (i <= middle)
			edge_add(h, 0, i);
		edge_add(h, i, behind);
		if (chance(r, 20))
			edge_add(h, i, behind);
	}
	for (uint32_t i = 0; i < h->n_hosts; i++)
		h->host_at[i] = chance(r, 15) ? below(r, h->n_switches) : i % 2 ? last : 0;
}

/* Of one group of a dragonfly, [first, end); returns where its cables to others
 * may be: at `spines` and after. */
static uint32_t group_wire(struct shape *h, uint32_t first, uint32_t end, bool plus, struct rng *r)
{
	uint32_t spines = plus ? first + 1 + below(r, end - first - 1) : first;

	for (uint32_t a = first; a < end; a++)
		for (uint32_t b = a + 1; b < end; b++)
			if (!plus || (a < spines && b >= spines))
				edge_add(h, a, b);
	return spines;
}

/* Where groups begin, in each the first switch with cables to others, and where
 * they end. */
struct groups {
	uint32_t n, first[4], spines[4], end[4];
};

/* Some pairs have two cables or none, but all groups hang together. */
static void groups_join(struct shape *h, const struct groups *g, uint32_t a, uint32_t b,
			struct rng *r)
{
	uint32_t n = chance(r, 25) ? 2 : 1;

	if (b > a + 1 && chance(r, 10))
		n = 0;
	for (; n > 0; n--) {
		uint32_t from = below(r, g->end[a] - g->spines[a]);
		uint32_t to = below(r, g->end[b] - g->spines[b]);

		edge_add(h, g->spines[a] + from, g->spines[b] + to);
	}
}

void shape_dragonfly(struct shape *h, struct rng *r)
{
	struct groups g = { .n = 3 + below(r, 2) };
	bool plus = chance(r, 40);
	uint32_t most = MAX_SWITCHES / g.n;

	h->kind = IRREGULAR;
	h->dragonfly = true;
	h->n_switches = h->n_edges = 0;
	for (uint32_t i = 0; i < g.n; i++) {
		uint32_t n = plus ? 2 + below(r, most - 1) : 1 + below(r, most);

		g.first[i] = h->n_switches;
		g.end[i] = h->n_switches += n;
		g.spines[i] = group_wire(h, g.first[i], g.end[i], plus, r);
		for (uint32_t w = g.first[i]; w < g.end[i]; w++)
			h->group[w] = i;
	}
	for (uint32_t a = 0; a < g.n; a++)
		for (uint32_t b = a + 1; b < g.n; b++)
			groups_join(h, &g, a, b, r);
	if (h->n_hosts < 5)
		h->n_hosts = 5 + below(r, MAX_HOSTS - 4);
	for (uint32_t i = 0; i < h->n_hosts; i++) {
		uint32_t in = chance(r, 30) ? below(r, g.n) : i % 2;
		uint32_t end = plus ? g.spines[in] : g.end[in];

		h->host_at[i] = g.first[in] + below(r, end - g.first[in]);
	}
}

static uint32_t degree(const struct shape *h, uint32_t sw)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < h->n_edges; i++)
		n += (uint32_t)(h->edges[i][0] == sw) + (uint32_t)(h->edges[i][1] == sw);
	for (uint32_t i = 0; i < h->n_hosts; i++)
		n += h->host_at[i] == sw;
	return n;
}

/* Switches are the nodes 0 .. n_switches - 1, hosts follow. */
void fabric_draw(struct scenario *s, const struct shape *h, struct rng *r)
{
	struct fabric *fabric = &s->fabric;
	uint32_t next[MAX_SWITCHES];
	uint32_t order[MAX_EDGES + MAX_HOSTS];
	uint32_t n_cables = h->n_edges + h->n_hosts;

	fabric_init(fabric);
	for (uint32_t i = 0; i < h->n_switches; i++) {
		uint32_t spare = below(r, 2);

		if (i + h->n_routers < h->n_switches || h->as_switches)
			fabric_switch(fabric, degree(h, i) + spare);
		else
			fabric_router(fabric, degree(h, i) + spare);
		next[i] = 1 + below(r, spare + 1);
	}
	for (uint32_t i = 0; i < h->n_hosts; i++)
		fabric_host(fabric);
	for (uint32_t i = 0; i < n_cables; i++)
		order[i] = i;
	rng_shuffle(r, order, n_cables);
	for (uint32_t i = 0; i < n_cables; i++) {
		uint32_t c = order[i], host = c - h->n_edges;

		if (c < h->n_edges) {
			uint32_t a = h->edges[c][0], b = h->edges[c][1];

			fabric_cable(fabric, a, next[a]++, b, next[b]++);
		} else {
			uint32_t a = h->host_at[host];

			fabric_cable(fabric, a, next[a]++, h->n_switches + host, 1);
		}
	}
	for (uint32_t i = 0, own = chance(r, 20); own && i + h->n_routers < h->n_switches; i++)
		fabric->own_host[i] = chance(r, 40);
	for (uint32_t i = 0; s->asking && i < h->n_switches; i++)
		fabric->own_host[i] = true; /* who is asked */
	fabric_finish(fabric);
}

/* ---- timing ---- */

/* Calls for each cable once, with the lower port. */
bool is_cable(const struct sim_setup *s, uint32_t port)
{
	return s->ports[port].peer != SIM_NONE && s->ports[port].peer > port;
}

static void cable_set(struct sim_setup *s, uint32_t port, struct hd_rate rate, hd_time propagation)
{
	struct sim_port *a = &s->ports[port], *b = &s->ports[a->peer];

	a->rate = b->rate = rate;
	a->propagation = b->propagation = propagation;
}

/* A tick of 1 ps: rates are anything, since durations are whole ps anyway. */
static void sizes_draw_fine(struct scenario *s, struct rng *r)
{
	static const uint32_t top[3][2] = { { 30, 300 }, { 256, 1100 }, { 2000, 4200 } };
	uint32_t kind = s->lengthy ? 2 : below(r, 3);
	uint32_t reach = s->lengthy ? 10 : chance(r, 30) ? 12 : chance(r, 60) ? 60 : MAX_DURATION;

	s->tick = 1;
	s->sizes[0] = top[kind][0] + below(r, top[kind][1] - top[kind][0]);
	if (chance(r, s->lengthy ? 70 : 15)) /* fills a high limit exactly */
		s->sizes[0] = 1024u << below(r, 3);
	s->n_sizes = s->lengthy ? 1 : 1 + below(r, 4);
	for (uint32_t i = 1; i < s->n_sizes; i++)
		s->sizes[i] = 26 + below(r, s->sizes[0] - 26);
	s->d_max = 1 + below(r, reach);
}

static struct hd_rate rate_draw_fine(const struct scenario *s, struct rng *r, bool mixed)
{
	static const uint32_t faster[5][2] = { { 1, 1 }, { 3, 2 }, { 2, 1 }, { 3, 1 }, { 4, 1 } };
	uint32_t i = mixed ? below(r, 5) : 0;

	return hd_rate_make(BITS_PER_PS * s->sizes[0] * faster[i][0], s->d_max * faster[i][1]);
}

/* A longer tick: two bytes take one tick, or two on slow links. */
static void sizes_draw_coarse(struct scenario *s, struct rng *r)
{
	/* The last makes times that 32 bits do not hold. */
	static const hd_time ticks[4] = { 10, 250, 1000, 10000000 };

	s->tick = ticks[below(r, 4)];
	s->n_sizes = 1 + below(r, 4);
	s->sizes[0] = 12 * (6 + below(r, 11)); /* 72 .. 192 */
	for (uint32_t i = 1; i < s->n_sizes; i++)
		s->sizes[i] = 12 * (3 + below(r, s->sizes[0] / 12 - 2));
	s->d_max = s->sizes[0] * s->tick;
}

static struct hd_rate rate_draw_coarse(const struct scenario *s, struct rng *r, bool mixed)
{
	return hd_rate_make(2 * BITS_PER_PS, s->tick * (mixed && chance(r, 50) ? 1 : 2));
}

/*
 * Half of the controlled ones last long enough for a timer of 1.024 us (C6).
 * Their durations are no whole ticks.
 */
static void times_stretch(struct scenario *s, struct rng *r)
{
	static const hd_time ticks[4] = { 1, 1, 1009, 20011 };

	s->tick = ticks[below(r, 4)];
	s->d_max = s->d_max * s->tick + rng_below(r, s->tick);
}

/* Of a switch, in ticks. */
static hd_time delay_draw(struct rng *r)
{
	if (chance(r, 30))
		return 0;
	return below(r, chance(r, 80) ? 10 : 100);
}

void timing_draw(struct scenario *s, struct rng *r)
{
	bool coarse = !s->lengthy && chance(r, 15) && !s->controlled && !s->paired && !s->jobbed;
	bool mixed = chance(r, 60);
	struct sim_setup *t = &s->fabric.setup;

	if (coarse)
		sizes_draw_coarse(s, r);
	else
		sizes_draw_fine(s, r);
	if ((s->paired || s->jobbed || s->asking) && s->sizes[0] < PAIR_LEAST)
		s->sizes[0] = PAIR_LEAST + below(r, 300);
	if (s->controlled || s->paired || s->jobbed)
		times_stretch(s, r);
	for (uint32_t i = 0; i < t->n_ports; i++) {
		hd_time p = 1 + below(r, chance(r, 60) ? 10 : 60);

		if (!is_cable(t, i))
			continue;
		cable_set(t, i,
			  coarse ? rate_draw_coarse(s, r, mixed) : rate_draw_fine(s, r, mixed),
			  p * s->tick);
	}
	t->sw.routing = delay_draw(r) * s->tick;
	t->sw.arbitration = delay_draw(r) * s->tick;
}

/* ---- model ---- */

static uint32_t readers_draw(enum sim_order order, struct rng *r)
{
	if (order == SIM_FIFO)
		return chance(r, 70) ? 1 : below(r, 3);
	return chance(r, 50) ? 0 : 1 + below(r, 2);
}

void model_draw(struct scenario *s, struct rng *r)
{
	/* The last two only where any duration is whole ticks. */
	static const struct hd_ratio speedups[5] = {
		{ 1, 1 }, { 3, 2 }, { 2, 1 }, { 5, 4 }, { 4, 1 }
	};
	struct sim_setup *t = &s->fabric.setup;

	t->sw.queueing = chance(r, 60) ? SIM_INPUT_QUEUED : SIM_CIOQ;
	t->sw.order = chance(r, 50) || s->adaptive ? SIM_VOQ : SIM_FIFO;
	t->sw.pick = chance(r, 70) ? SIM_ROUND_ROBIN : SIM_OLDEST;
	t->sw.readers = readers_draw(t->sw.order, r);
	t->sw.speedup = speedups[below(r, s->tick == 1 ? 5 : 3)];
	t->arbiter = chance(r, 12) ? SIM_STRICT : SIM_VLARB;
	t->credits = chance(r, 45) ? SIM_CREDITS_EXACT : SIM_CREDITS_DELAY;
	t->seed = rng_next(r);
}

/* ---- buffers and VLs in operation ---- */

static uint32_t buffer_draw(uint32_t packet, struct rng *r)
{
	static const uint32_t packets[4] = { 1, 2, 4, 8 };
	uint32_t blocks = packet * packets[below(r, chance(r, 60) ? 2 : 4)];

	if (chance(r, 40))
		blocks += below(r, packet + 2);
	if (chance(r, 3))
		blocks = 2048;
	return blocks < 2048 ? blocks : 2048;
}

static uint8_t vls_draw(struct rng *r)
{
	static const uint8_t vls[20] = { 1, 1, 2, 2, 2, 2, 2, 2, 4,  4,
					 4, 4, 4, 4, 8, 8, 8, 8, 15, 15 };

	return vls[below(r, 20)];
}

void buffers_draw(struct scenario *s, struct rng *r)
{
	struct sim_setup *t = &s->fabric.setup;
	uint32_t packet = (s->sizes[0] + 63) / 64;
	uint8_t common = s->lengthy ? 2 : vls_draw(r);
	bool mixed = chance(r, 15);
	bool alike = chance(r, 50);
	uint32_t in = buffer_draw(packet, r), out = buffer_draw(packet, r);

	if (s->lengthy) { /* or credits, not arbiters, would decide */
		alike = true;
		in = packet * (16 + below(r, 12));
		out = in;
	}

	for (uint32_t i = 0; i < t->n_ports; i++) {
		struct sim_port *p = &t->ports[i];

		if (p->peer == SIM_NONE)
			continue;
		p->in_blocks = alike ? in : buffer_draw(packet, r);
		p->out_blocks = alike ? out : buffer_draw(packet, r);
		p->vl15_blocks = buffer_draw(packet, r);
		if (is_cable(t, i))
			p->vls = t->ports[p->peer].vls = mixed ? vls_draw(r) : common;
		s->fabric.subnet.vls_of_port[p->origin] = p->vls;
	}
}
