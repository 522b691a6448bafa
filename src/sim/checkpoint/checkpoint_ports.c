/* SPDX-License-Identifier: BSD-2-Clause */
/* Checkpoint of links, VLs and buffers, one port after the other. */
#include "sim/checkpoint/checkpoint_state.h"
#include "sim/metrics/metrics.h"

/* ---- credits on their way ----------------------------------------------- */

static void pack_credit(struct checkpoint_state *v, struct sim *owner, struct ring *r,
			struct spill_entry e)
{
	pack_time(v->p, &e.when);
	pack_u16(v->p, &e.what);
	if (v->p->reads && pack_check(v->p, checkpoint_state_has_vl(v->s, e.what >> RING_VL_SHIFT)))
		ring_insert(owner, r, e.when, e.what);
}

static void pack_ring(struct checkpoint_state *v, struct sim *owner, struct ring *r)
{
	struct ring was = *r;
	const struct spill *spill = was.spill == NONE ? NULL : &owner->spill.all[was.spill];
	size_t n = was.n + (spill ? spill->n - spill->at : 0u);

	pack_sum(v->p, &r->area);
	pack_u8(v->p, &r->waiting_for_credit);
	n = pack_count(v->p, n);
	for (size_t i = 0; i < n && !v->p->refused; i++) {
		struct spill_entry e = { 0 };

		if (i < was.n)
			e = (struct spill_entry){ was.when[i], was.what[i] };
		else if (spill)
			e = spill->e[spill->at + i - was.n];
		pack_credit(v, owner, r, e);
	}
}

/* ---- outputs ------------------------------------------------------------- */

static const struct pack_member output_members[] = {
	PACK_TIME(sim_output, busy_until), PACK_TIME(sim_output, since),
	PACK_TIME(sim_output, wake_at),    PACK_SUM(sim_output, waited),
	PACK(sim_output, requests),        PACK(sim_output, low_credit),
};

static const struct pack_member arb_members[] = {
	PACK_EACH(sim_output, arb.left),
	PACK(sim_output, arb.high),
	PACK_EACH(sim_output, arb.at),
};

static const struct pack_member vl_members[] = {
	PACK_SUM(port_vl, bytes),
	PACK(port_vl, least),
	PACK(port_vl, rr),
};

static void pack_output(struct checkpoint_state *v, struct sim_output *l)
{
	bool up = l->flags & L_UP;

	PACK_STRUCT(v->p, output_members, l);
	/* With one data VL in the run, the arbiter has no choice: its counts have no influence. */
	if (!v->p->list || v->s->vl15 > 1)
		PACK_STRUCT(v->p, arb_members, l);
	pack_bool(v->p, &up);
	pack_check(v->p, l->arb.at[0] < VLARB_MAX && l->arb.at[1] < VLARB_MAX);
	l->flags = (uint8_t)((l->flags & ~L_UP) | (up ? L_UP : 0));
}

/* Packs an injection or output queue. */
static void pack_queue(struct checkpoint_state *v, struct sim *owner, struct port_vl *port_vl)
{
	struct packet_queue q = { port_vl->queue.first, port_vl->queue.last };

	checkpoint_state_list(v, owner, &q);
	port_vl->queue.first = q.first;
	port_vl->queue.last = q.last;
}

/* ---- virtual output queues ---------------------------------------------- */

/*
 * Whether `in` is an input with a cable or the input of results (S4). Bits of other inputs may
 * belong to another node.
 */
static bool is_input(const struct sim *s, const struct node *n, uint32_t in)
{
	return in < n->n_in ? s->links[n->first_port + in].peer != NONE
			    : in == n->n_in && s->reductions;
}

/* The first packet of an input of this port's node, ready or not; NONE: empty. */
static uint32_t voq_any(struct sim *s, uint32_t port, const struct port_vl *port_vl, unsigned in)
{
	if (!is_input(s, &s->nodes[s->setup->ports[port].node], in))
		return NONE;
	if (s->mode.merges)
		return *voq_slot(s, port_vl, in);
	return inputs_has(s, port_vl, in, false) ? voq_first(s, port_vl, in) : NONE;
}

static void read_voq(struct checkpoint_state *v, struct sim *owner, struct port_vl *port_vl,
		     unsigned in, const struct packet_queue *q, bool is_ready)
{
	for (uint32_t id = q->first; id != NONE;) {
		struct packet_record *p = packet_at(owner, id);

		id = p->next;
		if (!pack_check(v->p, p->in == in))
			return;
		if (!v->s->mode.merges)
			voq_push(owner, port_vl, p, false);
	}
	if (!v->s->mode.merges)
		return;
	*voq_slot(owner, port_vl, in) = q->first;
	if (q->first != NONE)
		packet_at(owner, q->first)->tail = q->last;
	if (is_ready)
		inputs_add(owner, port_vl, in, false);
}

static void pack_voq(struct checkpoint_state *v, struct sim *owner, struct port_vl *port_vl,
		     unsigned in, uint32_t first)
{
	bool is_ready = !v->p->reads && inputs_has(owner, port_vl, in, false);
	struct packet_queue q = { first, NONE };

	pack_bool(v->p, &is_ready);
	checkpoint_state_list(v, owner, &q);
	pack_check(v->p, !is_ready || q.first != NONE);
	if (v->p->reads && !v->p->refused)
		read_voq(v, owner, port_vl, in, &q, is_ready);
}

/* Packs the inputs that have packets. */
static void pack_voqs(struct checkpoint_state *v, struct sim *owner, uint32_t port,
		      struct port_vl *port_vl)
{
	const struct node *n = &v->s->nodes[v->s->setup->ports[port].node];
	size_t used = 0;
	uint32_t in = 0;

	for (uint32_t i = 0; !v->p->reads && i <= n->n_in; i++)
		used += voq_any(owner, port, port_vl, i) != NONE;
	used = pack_count(v->p, used);
	for (; used > 0 && !v->p->refused; used--, in++) {
		while (!v->p->reads && voq_any(owner, port, port_vl, in) == NONE)
			in++;
		pack_u32(v->p, &in);
		if (pack_check(v->p, is_input(v->s, n, in)))
			pack_voq(v, owner, port_vl, in, voq_any(owner, port, port_vl, in));
	}
}

/* ---- a port ------------------------------------------------------------- */

/*
 * Number of packets sent by a VL: two 32-bit numbers in a checkpoint, one 64-bit number in a list.
 */
static void pack_packets(struct pack *p, uint32_t *low, uint32_t *high)
{
	uint64_t n = *low | (uint64_t)*high << 32;

	if (!p->list) {
		pack_u32(p, low);
		pack_u32(p, high);
		return;
	}
	pack_sum(p, &n);
	*low = (uint32_t)n;
	*high = (uint32_t)(n >> 32);
}

static void pack_vl(struct checkpoint_state *v, struct sim *owner, uint32_t port, size_t i)
{
	struct sim *s = v->s;

	PACK_STRUCT(v->p, vl_members, &s->port_vls[i]);
	pack_packets(v->p, &s->port_vls[i].packets, &s->sums.carries[i]);
	pack_u16(v->p, &s->credits[i]);
	if (s->links[port].flags & L_QUEUED)
		pack_queue(v, owner, &s->port_vls[i]);
	else
		pack_voqs(v, owner, port, &s->port_vls[i]);
}

/* Whether a VL is as in a new run. */
static bool is_vl_new(struct sim *s, uint32_t port, size_t i)
{
	const struct sim_output *l = &s->links[port];
	const struct port_vl *x = &s->port_vls[i];
	uint32_t all = i == (size_t)port * s->n_vls + s->vl15 ? UINT16_MAX
							      : s->setup->ports[l->peer].in_blocks;

	if (x->packets || x->bytes || s->sums.carries[i] || x->least != UINT16_MAX ||
	    x->rr != inputs_before(s, port) || s->mode.merges || s->credits[i] != all)
		return false;
	return l->flags & L_QUEUED ? x->queue.first == NONE : !x->inputs;
}

/* A list has only the VLs of the port that are not new, by number. */
static void list_vls(struct checkpoint_state *v, struct sim *owner, uint32_t port)
{
	struct sim *s = v->s;
	const size_t first = (size_t)port * s->n_vls;
	size_t n = 0;

	for (uint32_t i = 0; !v->p->reads && i < s->n_vls; i++)
		n += !is_vl_new(owner, port, first + i);
	n = pack_count(v->p, n);
	for (uint32_t vl = 0; n > 0 && !v->p->refused; n--, vl++) {
		while (!v->p->reads && is_vl_new(owner, port, first + vl))
			vl++;
		pack_u32(v->p, &vl);
		if (pack_check(v->p, vl < s->n_vls))
			pack_vl(v, owner, port, first + vl);
	}
}

static void pack_vls(struct checkpoint_state *v, struct sim *owner, uint32_t port)
{
	const size_t n = v->s->n_vls;

	if (v->p->list) {
		list_vls(v, owner, port);
		return;
	}
	for (size_t i = port * n; i < (port + 1) * n; i++)
		pack_vl(v, owner, port, i);
}

/* The crossbar output of a cioq switch (T9). */
static void pack_outlet(struct checkpoint_state *v, struct sim *owner, uint32_t port)
{
	struct sim *s = v->s;
	size_t first = (size_t)port * s->n_vls;

	if (s->links[port].flags & L_END)
		return;
	pack_output(v, &s->outlets[port]);
	pack_ring(v, owner, &s->outlet_rings[port]);
	pack_u8(v->p, &s->cross.vl[port]);
	pack_check(v->p, s->cross.vl[port] < 16);
	for (size_t i = first; i < first + s->n_vls; i++) {
		PACK_STRUCT(v->p, vl_members, &s->outlet_vls[i]);
		pack_sum_u32(v->p, &s->outlet_vls[i].packets);
		pack_u16(v->p, &s->outlet_credits[i]);
		pack_voqs(v, owner, port, &s->outlet_vls[i]);
	}
}

static const struct pack_member control_members[] = {
	PACK(flow_control, sent), PACK(flow_control, limit), PACK(flow_control, abr),
	PACK(flow_control, held), PACK(flow_control, offer), PACK(flow_control, lost),
};

static const struct pack_member cold_members[] = {
	PACK(rare_port, next_down), PACK_EACH(rare_port, errors.s), PACK_EACH(rare_port, losses.s),
	PACK(rare_port, vl15_held), PACK(rare_port, pending),       PACK(rare_port, update_vl),
};

static const struct pack_member counters_members[] = {
	PACK(rare_counters, xmit_discards),         PACK(rare_counters, rcv_errors),
	PACK(rare_counters, rcv_relay_errors),      PACK(rare_counters, xmit_constraint_errors),
	PACK(rare_counters, rcv_constraint_errors), PACK(rare_counters, vl15_dropped),
	PACK(rare_counters, hop_limit_exceeded),    PACK(rare_counters, link_lost),
	PACK(rare_counters, link_downed),           PACK(rare_counters, updates_sent),
	PACK_SUM(rare_counters, multicast_sent),    PACK(rare_counters, missed_updates),
	PACK(rare_counters, missed_multicast),
};

static const struct pack_member count_members[] = {
	PACK_SUM(count, bytes),
	PACK_SUM(count, packets),
};

/* A list has only those that are not 0, by number. */
static void pack_counts(struct pack *p, struct count *all, uint32_t n)
{
	size_t used = 0;

	for (uint32_t i = 0; !p->list && i < n; i++)
		PACK_STRUCT(p, count_members, &all[i]);
	for (uint32_t i = 0; p->list && !p->reads && i < n; i++)
		used += all[i].packets != 0;
	used = p->list ? pack_count(p, used) : 0;
	for (uint32_t i = 0; used > 0 && !p->refused; used--, i++) {
		while (!p->reads && all[i].packets == 0)
			i++;
		pack_u32(p, &i);
		if (pack_check(p, i < n))
			PACK_STRUCT(p, count_members, &all[i]);
	}
}

static void pack_cold(struct checkpoint_state *v, struct sim *owner, uint32_t port)
{
	struct rare_port *c = rare_at(v->s, port);

	if (!v->s->fault.rare_mask)
		return;
	PACK_STRUCT(v->p, cold_members, c);
	pack_check(v->p, c->update_vl < 16);
	checkpoint_state_list(v, owner, &c->held);
}

/* Counters that several domains add to; the first process holds the sums. */
static void pack_sums(struct checkpoint_state *v, uint32_t port)
{
	struct sim *s = v->s;

	PACK_STRUCT(v->p, counters_members, &s->sums.rare[port]);
	pack_counts(v->p, &s->sums.missed[port * missed_row(s)], (uint32_t)missed_row(s));
}

static void pack_counters(struct checkpoint_state *v, uint32_t port)
{
	struct sim *s = v->s;

	pack_u64(v->p, &s->sums.carried[port]);
	if (s->sums.by_sl)
		pack_counts(v->p, &s->sums.by_sl[(size_t)port * s->n_sls], s->n_sls);
	for (uint32_t i = 0; s->fc && i < s->n_vls; i++)
		PACK_STRUCT(v->p, control_members, &s->fc[port * s->n_vls + i]);
}

/* ---- input buffers ------------------------------------------------------ */

/* Packets behind the first one; multicast packets with their copies. */
static void pack_fifo(struct checkpoint_state *v, struct sim *owner, struct fifo *f)
{
	struct packet_queue waiting = { f->next, f->last };

	pack_time(v->p, &f->free_at);
	pack_bool(v->p, &f->has_first);
	checkpoint_state_list(v, owner, &waiting);
	f->next = waiting.first;
	f->last = waiting.last;
	for (uint32_t id = f->next; id != NONE && !v->p->refused; id = owner->pool.all[id].next) {
		struct packet_record *slot = packet_at(owner, id);
		struct packet_queue copies = { slot->out, NONE };

		if (!(slot->flags & P_SHARED))
			continue;
		checkpoint_state_list(v, owner, &copies);
		packet_at(owner, id)->out = copies.first;
	}
}

static void pack_readers(struct checkpoint_state *v, struct sim *owner, uint32_t port)
{
	struct sim *s = v->s;

	pack_time(v->p, &s->cross.granted[port]);
	pack_time(v->p, &s->cross.release_at[port]);
	for (uint32_t i = 0; i < s->n_readers; i++) {
		struct crossbar_reader *r = &s->cross.readers[port * s->n_readers + i];

		/* The former owner of an expired reservation has no effect. */
		if (!v->p->reads && r->until <= s->now)
			*r = (struct crossbar_reader){ .slot = NONE };
		pack_time(v->p, &r->until);
		checkpoint_state_ref(v, owner, &r->slot);
	}
}

static void pack_buffers(struct checkpoint_state *v, struct sim *owner, uint32_t port)
{
	struct sim *s = v->s;

	for (uint32_t i = 0; s->fifos && i < s->n_vls; i++)
		pack_fifo(v, owner, &s->fifos[port * s->n_vls + i]);
	if (s->n_readers)
		pack_readers(v, owner, port);
}

/*
 * The sender counts returned credits when it needs them. A list has them counted: when they are
 * counted does not influence the run, and low_credit only says that they must be counted first.
 */
static void credits_settle(struct sim *s, uint32_t port, hd_time now)
{
	struct credits credits = credits_of_link(s, port);

	credit_ring_apply(s, credits, now);
	for (unsigned i = 0; i < s->n_vls; i++) {
		if (i != s->vl15)
			credits_set(s, credits, i, credits.of_vl[i]);
	}
}

static void pack_port(struct checkpoint_state *v, uint32_t port)
{
	struct sim *s = v->s, *owner = sim_of_port(s, port);

	if (v->p->list && !v->p->reads && !s->setup->vl_sharing.on)
		credits_settle(owner, port, s->now);
	pack_output(v, &s->links[port]);
	checkpoint_state_table(v, port);
	pack_ring(v, owner, &s->rings[port]);
	pack_vls(v, owner, port);
	if (s->mode.cioq)
		pack_outlet(v, owner, port);
	pack_buffers(v, owner, port);
	pack_cold(v, owner, port);
	pack_counters(v, port);
}

void checkpoint_state_ports(struct checkpoint_state *v)
{
	const struct sim *s = v->s;

	for (uint32_t port = 0; port < s->setup->n_ports && !v->p->refused; port++) {
		if (!is_plugged(s, port))
			continue;
		if (checkpoint_state_has_port(v, port))
			pack_port(v, port);
		if (checkpoint_state_has_sums(v))
			pack_sums(v, port);
	}
}
