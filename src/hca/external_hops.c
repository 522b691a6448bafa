/* SPDX-License-Identifier: BSD-2-Clause */
#include "hca/external_qp_internal.h"

/* The message of a packet of `from`: a request is of its own, an answer of its
 * peer's. */
static void name_message(const struct external_qp *from, const struct packet *p,
			 struct external_hop *out)
{
	bool answers = opcode_flags(p->bth.opcode) & OPCODE_RESPONSE;
	const struct external_qp *of = answers ? from->peer : from;
	uint32_t before;
	const struct in_flight_message *f =
		of ? external_in_flight_with(of, p->bth.psn, &before) : NULL;

	if (!f)
		return;
	out->owner = of->owner;
	out->number = f->number;
	out->offset = (uint64_t)before * of->qp->mtu;
}

static void on_granted(void *context, hd_time now, uint32_t port, const struct sim_packet *p)
{
	struct external_qps *all = context;
	const struct lab *lab = all->lab;
	const struct sim_setup *setup = &lab->fabric->setup;
	const struct sim_port *from = &setup->ports[port];

	if (!all->seen || p->endpoint != lab->endpoint + 1)
		return;
	const struct hca_slot *s = hca_slot_at(lab, p->cookie);
	const struct v_qp *qp = hca_slot_sender(lab, s);
	const struct external_qp *q = qp ? external_of(qp->send_cq) : NULL;
	struct external_hop hop = {
		.now = now,
		.there = now + from->propagation,
		.is_lost = p->lost,
		.is_corrupt = p->corrupt,
		.is_marked = p->marked,
		.out = from->origin,
		.in = setup->ports[from->peer].origin,
		.vl = p->vl,
		.bytes = p->bytes,
		.is_first = setup->nodes[from->node].kind == SIM_END,
		.id = p->cookie,
		.packet = &s->packet,
		.sender = q ? q->owner : NULL,
	};

	if (q)
		name_message(q, &s->packet, &hop);
	all->seen(all->context, &hop);
}

void external_qps_observe(struct external_qps *all,
			  void (*seen)(void *context, const struct external_hop *h), void *context)
{
	const struct sim_observer observer = { .context = all, .granted = on_granted };

	all->seen = seen;
	all->context = context;
	if (!seen || all->is_observed)
		return;
	sim_observe(all->sim, &observer);
	all->is_observed = true;
}
