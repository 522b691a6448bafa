/* SPDX-License-Identifier: BSD-2-Clause */
#include "verbs/guests_parts.h"

/* Whose message a packet of `from` is of: its own, or its peer's. */
static void name_message(const struct guest *from, const struct packet *p,
			 struct guest_passage *out)
{
	bool answers = opcode_flags(p->bth.opcode) & OPCODE_RESPONSE;
	const struct guest *of = answers ? from->peer : from;
	uint32_t before;
	const struct flight *f = of ? flight_with(of, p->bth.psn, &before) : NULL;

	if (!f)
		return;
	out->owner = of->owner;
	out->number = f->number;
	out->offset = (uint64_t)before * of->qp->mtu;
}

static void on_granted(void *context, hd_time now, uint32_t port, const struct sim_packet *p)
{
	struct guests *all = context;
	const struct lab *lab = all->lab;
	const struct sim_setup *setup = &lab->build->setup;
	const struct sim_port *from = &setup->ports[port];

	if (!all->seen || p->flow != SIM_NONE)
		return;
	const struct slot *s = slot_at(lab, p->cookie);
	const struct v_qp *qp = slot_sender(lab, s);
	const struct guest *g = qp ? ((struct end *)qp->send_cq->context)->of : NULL;
	struct guest_passage passage = {
		.now = now,
		.there = now + from->propagation,
		.is_lost = p->lost,
		.is_corrupt = p->corrupt,
		.is_marked = p->marked,
		.out = from->origin,
		.in = setup->ports[from->peer].origin,
		.vl = p->vl,
		.is_first = setup->nodes[from->node].kind == SIM_END,
		.id = p->cookie,
		.packet = &s->packet,
		.sender = g ? g->owner : NULL,
	};

	if (g)
		name_message(g, &s->packet, &passage);
	all->seen(all->context, &passage);
}

void guests_watch(struct guests *all, void (*seen)(void *context, const struct guest_passage *p),
		  void *context)
{
	const struct sim_observer observer = { .context = all, .granted = on_granted };

	all->seen = seen;
	all->context = context;
	if (!seen || all->is_observed)
		return;
	sim_observe(all->sim, &observer);
	all->is_observed = true;
}
