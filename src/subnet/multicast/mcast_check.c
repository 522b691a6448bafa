/* SPDX-License-Identifier: BSD-2-Clause */
#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "subnet/multicast/mcast.h"

/*
 * Copies of a packet that have come into a switch by one port and VL. All of
 * them have the same future, so their number is enough.
 */
struct copy_state {
	port_id in;
	uint8_t vl;
	uint16_t hops;
	uint32_t n_from; /* places that send here and are not done yet */
	uint64_t n_copies;
};

struct flood {
	const struct subnet *s;
	const struct mcast_group *group;
	uint8_t sl;
	struct copy_state *places;
	uint32_t n;
	size_t cap;
	uint32_t *index;         /* [port * N_VLS + vl]: number of the place + 1 */
	uint64_t *received;      /* per port: copies delivered */
	struct mcast_check *out; /* this or `deps` may be NULL */
	struct depgraph *deps;
	bool loops;
};

/* What becomes of a copy that a switch sends out. */
enum outcome { OUT_LOST, OUT_DELIVERED, OUT_TO_SWITCH };

struct sent_copy {
	enum outcome outcome;
	port_id to; /* the port that receives it */
	uint8_t vl;
};

static switch_id switch_at(const struct flood *f, const struct copy_state *at)
{
	return f->s->switch_of_node[f->s->topo->ports[at->in].node];
}

static struct sent_copy send_from(const struct flood *f, const struct copy_state *at, unsigned out)
{
	const struct topo *t = f->s->topo;
	const struct topo_port *in = &t->ports[at->in];
	port_id p = t->nodes[in->node].first_port + out;
	port_id peer = t->ports[p].peer;
	const struct sl2vl *vls = sl2vl_at(f->s, switch_at(f, at), in->number, out);
	struct sent_copy x = { .to = peer, .vl = vls->vl[f->sl] };

	if (out == 0) {
		x.outcome = OUT_DELIVERED;
		x.to = p;
	} else if (peer == TOPO_NONE || x.vl >= f->s->vls_of_port[p]) {
		x.outcome = OUT_LOST;
	} else if (topo_is_switch(t, t->ports[peer].node)) {
		x.outcome = OUT_TO_SWITCH;
	} else {
		x.outcome = OUT_DELIVERED;
	}
	return x;
}

/* The next port after `out` that a place sends from; false at the end. */
static bool next_out(const struct flood *f, const struct copy_state *at, int *out)
{
	const struct topo_port *in = &f->s->topo->ports[at->in];
	const uint64_t *ports = mft_get(&f->s->mft[f->group->subnet], switch_at(f, at),
					f->s->n_switches, f->group->mlid);

	while (++*out <= f->s->topo->nodes[in->node].n_ports) {
		if (*out != in->number && mcast_has_port(ports, (unsigned)*out))
			return true;
	}
	return false;
}

static struct copy_state *place_of(struct flood *f, port_id in, uint8_t vl)
{
	uint32_t *index = &f->index[(size_t)in * N_VLS + vl];

	if (!*index) {
		f->places = hd_grow(f->places, &f->cap, f->n + 1u, sizeof(*f->places));
		f->places[f->n++] = (struct copy_state){ .in = in, .vl = vl };
		*index = f->n;
	}
	return &f->places[*index - 1];
}

/* Finds all places that a packet gets to, and what they wait for. */
static void discover(struct flood *f)
{
	for (uint32_t i = 0; i < f->n; i++) {
		for (int out = -1; next_out(f, &f->places[i], &out);) {
			struct copy_state at = f->places[i];
			struct sent_copy x = send_from(f, &at, (unsigned)out);

			if (f->deps && x.outcome != OUT_LOST && out > 0 && at.vl != VL_MANAGEMENT)
				depgraph_add(f->deps, at.in, at.vl, (unsigned)out, x.vl);
			if (x.outcome != OUT_TO_SWITCH)
				continue;
			uint32_t n = f->n;
			struct copy_state *next = place_of(f, x.to, x.vl);

			next->n_from++;
			if (f->n > n)
				next->hops = (uint16_t)(at.hops + 1);
		}
	}
}

/* Passes the copies of one place on; those it completes join the list. */
static void pass_on(struct flood *f, uint32_t i, uint32_t *ready, uint32_t *n_ready)
{
	const struct copy_state *at = &f->places[i];

	for (int out = -1; next_out(f, at, &out);) {
		struct sent_copy x = send_from(f, at, (unsigned)out);

		if (x.outcome == OUT_LOST)
			continue;
		f->out->n_cables += out > 0 ? at->n_copies : 0;
		if (x.outcome == OUT_DELIVERED) {
			f->received[x.to] += at->n_copies;
			if (at->hops > f->out->max_hops)
				f->out->max_hops = at->hops;
			continue;
		}
		struct copy_state *next = place_of(f, x.to, x.vl);

		next->n_copies += at->n_copies;
		if (--next->n_from == 0)
			ready[(*n_ready)++] = (uint32_t)(next - f->places);
	}
}

/* Counts copies from the sender on; places in a circle never get ready. */
static void count_copies(struct flood *f)
{
	uint32_t *ready = hd_alloc(f->n, sizeof(*ready));
	uint32_t n_ready = 0, done = 0;

	assert(f->places); /* the sender's is there */
	f->places[0].n_copies = 1;
	if (f->places[0].n_from == 0)
		ready[n_ready++] = 0;
	for (; done < n_ready; done++)
		pass_on(f, ready[done], ready, &n_ready);
	f->loops = done < f->n;
	free(ready);
}

/* One packet from `sender`. */
static void flood_from(struct flood *f, port_id sender)
{
	const struct topo *t = f->s->topo;
	bool is_adapter = t->ports[sender].number > 0;

	f->n = 0;
	/* The sender's injection is not a channel that other packets hold. */
	place_of(f, is_adapter ? t->ports[sender].peer : sender, VL_MANAGEMENT);
	discover(f);
	if (f->out) {
		f->out->n_cables += is_adapter;
		count_copies(f);
	}
	for (uint32_t i = 0; i < f->n; i++)
		f->index[(size_t)f->places[i].in * N_VLS + f->places[i].vl] = 0;
}

/* Remembers who is the first to receive what it should not. */
static void note_fault(struct mcast_check *o, port_id receiver, uint64_t copies)
{
	if (o->fault_receiver != TOPO_NONE)
		return;
	o->fault_receiver = receiver;
	o->fault_copies = copies;
}

static void judge(struct flood *f, port_id sender)
{
	struct mcast_check *o = f->out;
	bool was_clean = mcast_check_is_clean(o);

	for (uint32_t i = 0; i < f->group->n_members; i++) {
		port_id p = f->group->members[i];

		if (p == sender)
			continue;
		o->n_expected++;
		o->n_missing += f->received[p] == 0;
		if (f->received[p] > 1)
			o->n_duplicates += f->received[p] - 1;
		if (f->received[p] != 1)
			note_fault(o, p, f->received[p]);
		f->received[p] = 0;
	}
	for (port_id p = 0; p < f->s->topo->n_ports; p++) {
		o->n_strays += f->received[p];
		if (f->received[p])
			note_fault(o, p, f->received[p]);
		f->received[p] = 0;
	}
	o->n_loops += f->loops;
	if (was_clean && !mcast_check_is_clean(o)) {
		o->fault_group = (uint32_t)(f->group - f->s->groups);
		o->fault_sender = sender;
	}
}

static void flood_group(struct flood *f)
{
	bool one = f->group->source != TOPO_NONE;
	const struct mcast_group *m = f->group;
	uint32_t n = one ? 1 : m->n_members + m->n_senders;

	for (uint32_t k = 0; k < n; k++) {
		port_id sender = one                ? m->source
				 : k < m->n_members ? m->members[k]
						    : m->senders[k - m->n_members];

		f->sl = m->sl;
		flood_from(f, sender);
		if (f->out)
			judge(f, sender);
		for (f->sl = 0; f->deps && f->sl < N_SLS; f->sl++) {
			if (f->sl != m->sl && m->more_sls >> f->sl & 1)
				flood_from(f, sender);
		}
	}
}

static void flood_all(const struct subnet *s, struct mcast_check *out, struct depgraph *deps)
{
	struct flood f = {
		.s = s,
		.out = out,
		.deps = deps,
		.index = hd_alloc((size_t)s->topo->n_ports * N_VLS, sizeof(*f.index)),
		.received = hd_alloc(s->topo->n_ports, sizeof(*f.received)),
	};

	for (uint32_t i = 0; i < s->n_groups; i++) {
		f.group = &s->groups[i];
		flood_group(&f);
	}
	free(f.places);
	free(f.index);
	free(f.received);
}

void mcast_check(const struct subnet *s, struct mcast_check *out)
{
	*out = (struct mcast_check){ .fault_sender = TOPO_NONE, .fault_receiver = TOPO_NONE };
	flood_all(s, out, NULL);
}

void mcast_dependencies(const struct subnet *s, struct depgraph *deps)
{
	if (s->n_groups > 0)
		flood_all(s, NULL, deps);
}
