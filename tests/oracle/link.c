/* SPDX-License-Identifier: BSD-2-Clause */
/* Links: T3, T5, and the faults F1, F2, F3. */
#include <math.h>

#include "base/alloc.h"
#include "state.h"

#define MODULUS       4096
#define WINDOW        2048
#define UPDATE_BYTES  6
#define TIMER_BYTES   65536
#define STREAM_ERRORS UINT64_C(0x10000000)
#define STREAM_LOSSES UINT64_C(0x20000000)

static bool is_exact(const struct oracle *o)
{
	return o->setup->credits == SIM_CREDITS_EXACT;
}

static uint32_t free_blocks(const struct oracle *o, uint32_t port, uint8_t vl)
{
	return o->setup->ports[port].in_blocks - o->ports[port].occupied[vl];
}

/*
 * T5 at the start, and F3 when a link comes up: nothing was sent, nothing was
 * received, and the sender knows what the receiver has free.
 */
static void direction_start(struct oracle *o, uint32_t from)
{
	uint32_t to = o->setup->ports[from].peer;

	for (uint8_t vl = 0; vl < N_DATA_VLS; vl++) {
		o->ports[from].sent[vl] = 0;
		o->ports[to].received[vl] = 0;
		o->ports[from].limit[vl] = free_blocks(o, to, vl);
	}
}

void links_init(struct oracle *o)
{
	for (uint32_t i = 0; i < o->setup->n_ports; i++) {
		struct port *p = &o->ports[i];

		p->last_update = NO_VL;
		rng_init(&p->errors, o->setup->seed, STREAM_ERRORS + i);
		rng_init(&p->losses, o->setup->seed, STREAM_LOSSES + i);
		p->up = o->setup->ports[i].peer != SIM_NONE;
		if (!p->up)
			continue;
		p->d_update = duration_on(o, i, UPDATE_BYTES);
		p->d_timer = duration_on(o, i, TIMER_BYTES);
		direction_start(o, i);
	}
}

/* F3: whatever travels towards `to` is lost. */
static void direction_lose(struct oracle *o, uint32_t to)
{
	size_t kept = 0;

	for (size_t i = 0; i < o->n_flights; i++) {
		struct flight f = o->flights[i];
		bool spared = o->mutation == MUT_DOWN_SPARES_THE_HEAD && f.head == o->now;

		if (f.to != to || spared) {
			o->flights[kept++] = f;
			continue;
		}
		o->out->counters[to].link_lost++;
		record_end(o, f.packet, to, SIM_LOST_LINK);
	}
	o->n_flights = kept;
	kept = 0;
	for (size_t i = 0; i < o->n_messages; i++)
		if (o->messages[i].to != to)
			o->messages[kept++] = o->messages[i];
	o->n_messages = kept;
}

void link_go_down(struct oracle *o, uint32_t port)
{
	uint32_t ends[2] = { port, o->setup->ports[port].peer };

	for (int i = 0; i < 2; i++) {
		struct port *p = &o->ports[ends[i]];

		/* A link that is down cannot go down again. */
		o->out->counters[ends[i]].link_downed += p->up;
		if (p->up)
			p->down_since = o->now;
		p->up = false;
		direction_lose(o, ends[i]);
		for (int vl = 0; vl < ALL_VLS; vl++)
			p->pending[vl] = false;
	}
}

void link_come_up(struct oracle *o, uint32_t port)
{
	uint32_t ends[2] = { port, o->setup->ports[port].peer };

	if (o->ports[port].up)
		return;
	for (int i = 0; i < 2; i++) {
		o->ports[ends[i]].up = true;
		if (o->mutation != MUT_UP_KEEPS_CREDITS)
			direction_start(o, ends[i]);
	}
}

uint64_t link_credits(const struct oracle *o, uint32_t port, uint8_t vl)
{
	const struct port *p = &o->ports[port];

	if (is_exact(o))
		return (p->limit[vl] - p->sent[vl]) % MODULUS;
	return p->limit[vl] - p->sent[vl];
}

/* T5; VL15 takes no credits (A4). */
bool link_fits(const struct oracle *o, uint32_t port, uint8_t vl, const struct packet *packet)
{
	const struct port *p = &o->ports[port];
	uint32_t blk = packet_blocks(packet);

	if (vl == VL_MANAGEMENT)
		return true;
	if (is_exact(o))
		return (p->limit[vl] - p->sent[vl] - blk) % MODULUS <= WINDOW;
	return p->limit[vl] >= p->sent[vl] + blk;
}

/* F1 */
static bool is_corrupted(struct oracle *o, uint32_t port, uint32_t bytes)
{
	double ber = o->setup->ports[port].ber;

	if (ber == 0)
		return false;
	return rng_uniform(&o->ports[port].errors) < -expm1(8.0 * bytes * log1p(-ber));
}

/* T3 */
void link_send(struct oracle *o, uint32_t port, uint8_t vl, const struct packet *packet)
{
	const struct sim_port *s = &o->setup->ports[port];
	struct sim_counters *c = &o->out->counters[port];
	struct port *p = &o->ports[port];
	struct flight f = {
		.packet = packet,
		.to = s->peer,
		.vl = vl,
		.corrupted = is_corrupted(o, port, packet->as.bytes),
		.head = o->now + s->propagation,
	};

	p->busy_until = o->now + duration_on(o, port, packet->as.bytes);
	if (vl != VL_MANAGEMENT) {
		uint64_t before = p->sent[vl] / MODULUS;

		p->sent[vl] += packet_blocks(packet);
		o->stats->counter_wraps += p->sent[vl] / MODULUS - before;
	}
	if (o->mutation == MUT_FILL_FROM_GRANT)
		o->ports[s->peer].fill[vl] += packet_blocks(packet);
	c->xmit_packets++;
	c->xmit_multicast += packet->as.dlid >= LID_FIRST_MCAST;
	c->xmit_bytes += packet->as.bytes;
	c->xmit_packets_vl[vl]++;
	c->xmit_bytes_vl[vl] += packet->as.bytes;
	c->xmit_bytes_sl[packet->as.sl] += packet->as.bytes;
	c->xmit_packets_sl[packet->as.sl]++;
	o->flights = hd_grow(o->flights, &o->flights_cap, o->n_flights + 1, sizeof(*o->flights));
	o->flights[o->n_flights++] = f;
}

static void message_add(struct oracle *o, struct message m)
{
	if (o->mutation == MUT_CREDIT_EARLY)
		m.time -= o->tick ? o->tick : 1;
	o->messages =
		hd_grow(o->messages, &o->messages_cap, o->n_messages + 1, sizeof(*o->messages));
	o->messages[o->n_messages++] = m;
}

/* Flow control that leaves `port` now acts at the far end then (T5). */
static hd_time update_effect(const struct oracle *o, uint32_t port)
{
	return o->now + o->setup->ports[port].propagation + o->ports[port].d_update;
}

/* The contents of an update, taken now; counted, and lost or not (F2). */
static void update_leave(struct oracle *o, uint32_t port, uint8_t vl)
{
	struct port *p = &o->ports[port];
	double loss = o->setup->ports[port].update_loss;
	uint64_t whole = p->received[vl] + free_blocks(o, port, vl);
	struct message m = {
		.to = o->setup->ports[port].peer,
		.vl = vl,
		.time = update_effect(o, port),
		.limit = is_exact(o) ? whole % MODULUS : whole,
		.fctbs = p->sent[vl] % MODULUS,
	};

	o->out->counters[port].updates_sent++;
	if (loss > 0 && rng_uniform(&p->losses) < loss)
		o->stats->updates_lost++;
	else
		message_add(o, m);
}

/* T5, exact: the first pending VL after the one sent last, cyclically. */
int link_next_update(const struct oracle *o, uint32_t port)
{
	const struct port *p = &o->ports[port];
	int from = p->last_update + 1;

	if (o->mutation == MUT_UPDATES_FROM_VL0)
		from = 0;
	if (!is_exact(o))
		return NO_VL;
	for (int k = 0; k < N_DATA_VLS; k++) {
		int vl = (from + k) % N_DATA_VLS;

		if (p->pending[vl])
			return vl;
	}
	return NO_VL;
}

void link_send_update(struct oracle *o, uint32_t port, uint8_t vl)
{
	struct port *p = &o->ports[port];

	p->pending[vl] = false;
	p->last_update = vl;
	if (o->mutation != MUT_UPDATE_TAKES_NO_TIME)
		p->busy_until = o->now + p->d_update;
	update_leave(o, port, vl);
}

/* T4: the last copy's tail has left an input buffer; then credit is sent. */
void link_space_freed(struct oracle *o, uint32_t port, uint8_t vl, uint32_t blocks)
{
	struct port *p = &o->ports[port];

	p->occupied[vl] -= blocks;
	if (vl == VL_MANAGEMENT || !p->up) /* A4, F3 */
		return;
	if (is_exact(o)) {
		p->pending[vl] = true;
	} else if (o->setup->ports[port].update_loss > 0) {
		p->freed[vl] = true;
	} else {
		message_add(o, (struct message){
				       .to = o->setup->ports[port].peer,
				       .vl = vl,
				       .time = update_effect(o, port),
				       .relative = true,
				       .limit = blocks,
			       });
	}
}

/* F2, delay mode: one update per VL and instant, by number. */
void freed_updates_leave(struct oracle *o)
{
	if (is_exact(o))
		return;
	for (uint32_t i = 0; i < o->setup->n_ports; i++) {
		for (uint8_t vl = 0; vl < N_DATA_VLS; vl++) {
			if (o->ports[i].freed[vl])
				update_leave(o, i, vl);
			o->ports[i].freed[vl] = false;
		}
	}
}

static void message_act(struct oracle *o, struct message m)
{
	struct port *p = &o->ports[m.to];

	if (m.relative) {
		p->limit[m.vl] += m.limit;
		return;
	}
	p->limit[m.vl] = m.limit;
	if (is_exact(o))
		p->received[m.vl] = m.fctbs;
}

void messages_arrive(struct oracle *o)
{
	size_t kept = 0;

	for (size_t i = 0; i < o->n_messages; i++) {
		if (o->messages[i].time > o->now)
			o->messages[kept++] = o->messages[i];
		else
			message_act(o, o->messages[i]);
	}
	o->n_messages = kept;
}

hd_time link_next_timer(const struct oracle *o, uint32_t port)
{
	hd_time period = o->ports[port].d_timer;

	if (!is_exact(o) && o->setup->ports[port].update_loss == 0)
		return NEVER;
	return period ? (o->now / period + 1) * period : NEVER;
}

/* T5: at each whole multiple of D(65,536), from the first one on. */
void timers_strike(struct oracle *o)
{
	for (uint32_t i = 0; i < o->setup->n_ports; i++) {
		const struct sim_port *s = &o->setup->ports[i];
		struct port *p = &o->ports[i];
		hd_time when = o->mutation == MUT_TIMER_OF_OLD_VLS ? 0 : o->now;

		if (!p->up || o->mutation == MUT_NO_TIMER)
			continue;
		if (o->now == 0 || o->now % p->d_timer)
			continue;
		for (int vl = 0; vl < vls_at(o, i, when); vl++) {
			p->pending[vl] |= is_exact(o);
			p->freed[vl] |= !is_exact(o) && s->update_loss > 0;
		}
	}
}
