/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/core/crossbar.h"
#include "sim/core/engine.h"
#include "sim/faults/fault.h"

#include <assert.h>

/* ---- readers (T8) ------------------------------------------------------ */

bool crossbar_reader_free(struct sim *s, uint32_t in_port, uint32_t slot)
{
	const struct crossbar_reader *r = &s->cross.readers[in_port * s->n_readers];
	hd_time earliest = NEVER;

	for (uint32_t i = 0; i < s->n_readers; i++) {
		if (r[i].until <= s->now || (slot != NONE && r[i].slot == slot))
			return true;
		if (r[i].until < earliest)
			earliest = r[i].until;
	}
	/* The output waits for a reader: arbitrate again when the first reader becomes free. */
	if (earliest < s->cross.release_at[in_port]) {
		s->cross.release_at[in_port] = earliest;
		eventq_push(&s->q, earliest, event_key(EV_RELEASE, in_port, 0, 0));
	}
	return false;
}

void crossbar_reader_take(struct sim *s, uint32_t in_port, uint32_t slot, hd_time until)
{
	struct crossbar_reader *r = &s->cross.readers[in_port * s->n_readers];
	struct crossbar_reader *mine = NULL;

	for (uint32_t i = 0; i < s->n_readers; i++) {
		if (r[i].until <= s->now) {
			mine = mine ? mine : &r[i];
		} else if (slot != NONE && r[i].slot == slot) {
			if (r[i].until < until)
				r[i].until = until;
			return;
		}
	}
	assert(mine);
	*mine = (struct crossbar_reader){ .until = until, .slot = slot };
}

void crossbar_reader_released(struct sim *s, uint32_t in_port)
{
	const struct node *n = &s->nodes[s->setup->ports[in_port].node];

	s->cross.release_at[in_port] = NEVER;
	for (uint32_t port = n->first_port; port < n->first_port + n->n_in; port++) {
		if (!s->outlets[port].requests)
			continue;
		if (s->mode.cioq)
			crossbar_request(s, port);
		else
			link_request(s, port);
	}
}

static bool port_before(const struct sim *s, uint32_t a, uint32_t b)
{
	uint32_t node_a = s->setup->ports[a].node;
	uint32_t node_b = s->setup->ports[b].node;

	if (node_a != node_b)
		return node_a < node_b;
	if (s->cross.granted[a] != s->cross.granted[b])
		return s->cross.granted[a] < s->cross.granted[b];
	return a < b;
}

/* Insertion step of the sort: moves ports[i] down in steps of `gap` to its position. */
static void port_sink(const struct sim *s, uint32_t *ports, uint32_t i, uint32_t gap)
{
	uint32_t port = ports[i];

	for (; i >= gap && port_before(s, port, ports[i - gap]); i -= gap)
		ports[i] = ports[i - gap];
	ports[i] = port;
}

void crossbar_sort_ports(struct sim *s, struct port_list *l)
{
	uint32_t gap = 1;

	/* Shellsort: most lists have one or two ports, a few have many. */
	while (gap < l->n / 3)
		gap = 3 * gap + 1;
	for (; gap > 0; gap /= 3) {
		for (uint32_t i = gap; i < l->n; i++)
			port_sink(s, l->ports, i, gap);
	}
}

/* ---- the crossbar (T9) ------------------------------------------------- */

void crossbar_output_ready(struct sim *s, struct packet_record *p)
{
	struct sim_output *l = &s->links[p->out];
	const struct port_vl *port_vl = &s->port_vls[p->out * s->n_vls + index_of_vl(s, p->out_vl)];

	if (port_vl->queue.first != packet_id(s, p))
		return;
	if (!l->requests)
		l->since = s->now;
	l->requests |= (uint16_t)(1u << p->out_vl);
	if (s->mode.hoq)
		fault_hoq_start(s, p);
	link_request(s, p->out);
}

static void output_push(struct sim *s, struct packet_record *p)
{
	struct port_vl *port_vl = &s->port_vls[p->out * s->n_vls + index_of_vl(s, p->out_vl)];
	uint32_t id = packet_id(s, p);

	p->next = NONE;
	if (port_vl->queue.last == NONE)
		port_vl->queue.first = id;
	else
		s->pool.all[port_vl->queue.last].next = id;
	port_vl->queue.last = id;
	if (p->ready > s->now)
		eventq_push(&s->q, p->ready, event_key(EV_OUT, p->out, p->out_vl, id));
	else
		crossbar_output_ready(s, p);
}

static hd_time sped_up(const struct sim *s, hd_time d)
{
	__extension__ typedef unsigned __int128 u128;
	const struct hd_ratio *by = &s->setup->sw.speedup;

	return (hd_time)(((u128)d * by->den + by->num - 1) / by->num);
}

static void cross_grant(struct sim *s, uint32_t port, unsigned vl)
{
	struct sim_output *v = &s->outlets[port];
	struct port_vl *port_vl = &s->outlet_vls[port * s->n_vls + index_of_vl(s, vl)];
	unsigned in = hop_pick_input(s, port, port_vl, s->outlet_credits[port_vl - s->outlet_vls]);

	assert(in < 256);
	struct packet_record *p = voq_pop(s, port_vl, in, false);
	hd_time d_out = duration_of(s, s->links[port].rate, p->bytes);
	hd_time d_in = is_made_here(p) ? 0 : duration_of(s, s->links[p->up].rate, p->bytes);
	hd_time end = s->now + sped_up(s, d_out);
	hd_time in_end = p->head + s->delay + d_in;

	port_vl->rr = (uint8_t)in;
	if (!port_vl->inputs)
		v->requests &= (uint16_t) ~(1u << vl);
	if (vl != VL_MANAGEMENT)
		s->cross.vl[port] = (uint8_t)vl;
	end = end > in_end ? end : in_end;
	v->busy_until = end;
	s->outlet_credits[port_vl - s->outlet_vls] -= (uint16_t)blocks_of(p->bytes);
	if (s->n_readers) {
		if (!is_made_here(p))
			crossbar_reader_take(s, s->links[p->up].peer, p->slot, end);
		s->cross.granted[port] = s->now + 1;
	}
	hop_leave_buffer(s, p, end);
	p->slot = NONE;
	p->head = end;
	p->ready = end > d_out + s->now ? end - d_out : s->now;
	output_push(s, p);
	if (v->requests)
		crossbar_request(s, port);
}

void crossbar_arbitrate(struct sim *s, uint32_t port)
{
	struct sim_output *v = &s->outlets[port];
	struct port_vl *port_vls = &s->outlet_vls[port * s->n_vls];
	struct ring *r = &s->outlet_rings[port];
	uint32_t vls = 0;

	v->flags &= (uint8_t)~L_PENDING;
	r->waiting_for_credit = 0;
	credit_ring_apply(s, credits_of_outlet(s, port), s->now);
	for (uint32_t rest = v->requests; rest; rest &= rest - 1) {
		unsigned vl = (unsigned)__builtin_ctz(rest);

		const struct port_vl *port_vl = &port_vls[index_of_vl(s, vl)];

		if (hop_pick_input(s, port, port_vl, s->outlet_credits[port_vl - s->outlet_vls]) !=
		    NONE)
			vls |= 1u << vl;
	}
	if (vls >> VL_MANAGEMENT) {
		cross_grant(s, port, VL_MANAGEMENT);
	} else if (vls) {
		cross_grant(s, port, bits_after(vls, s->cross.vl[port]));
	} else if (v->requests) {
		hd_time when = credit_ring_next(s, r, v->requests);

		r->waiting_for_credit = 1;
		if (when < v->wake_at) {
			v->wake_at = when;
			eventq_push(&s->q, when, event_key(EV_CROSS, port, 0, 0));
		}
	}
}
