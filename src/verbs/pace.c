/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Queue pairs under congestion control: what they hear of marks sets the gap
 * between their packets, as with flows (docs/model.md, C2 and C6). A request
 * that the gap holds back blocks nobody; answers are never held back.
 */
#include "fabric/control.h"
#include "verbs/device.h"

void pace_init(struct lab *lab)
{
	const struct fabric *b = lab->build;
	const struct scn_congestion *c = &b->scenario->congestion;
	const struct v_device *any = &lab->devices[0];

	if (!b->setup.control || lab->n_devices == 0)
		return;
	lab->algorithm = fabric_algorithm(c->algorithm);
	lab->response = fabric_response(b);
	lab->response.rmax = fabric_link_bits(b, any->node) / (8.0 * any->mtu);
	lab->response.rmin = lab->response.rmax / (double)c->rate_steps;
	if (lab->response.unit > lab->response.rmin / c->units)
		lab->response.unit = lab->response.rmin / c->units;
	lab->pace_per_sl = c->per == SCN_PER_SL;
	for (uint32_t i = 0; lab->algorithm && i < lab->n_devices; i++) {
		for (unsigned sl = 0; sl < N_SLS; sl++)
			pace_start(lab, &lab->devices[i].paces[sl]);
	}
}

void pace_start(const struct lab *lab, struct v_pace *pace)
{
	*pace = (struct v_pace){ 0 };
	if (lab->algorithm)
		cc_init(lab->algorithm, &lab->response, &pace->state);
	else
		pace->state.due = NEVER;
}

static struct v_pace *pace_of(struct v_qp *qp)
{
	return qp->dev->lab->pace_per_sl ? &qp->dev->paces[qp->sl & 15]
					 : &qp->pace;
}

static hd_time gap_of(const struct lab *lab, const struct v_pace *p)
{
	return cc_gap(lab->algorithm, &lab->response, &p->state, p->took);
}

hd_time pace_next(struct v_qp *qp)
{
	const struct lab *lab = qp->dev->lab;
	const struct v_pace *p = pace_of(qp);

	if (!lab->algorithm || !p->has_sent || qp_has_answer(qp->qp))
		return 0;
	hd_time gap = gap_of(lab, p);

	/* At full rate the link alone holds it back. */
	if (gap <= p->took)
		return 0;
	return p->waiting ? NEVER : p->last + gap;
}

void pace_launched(struct v_qp *qp, struct slot *s)
{
	unsigned flags = opcode_flags(s->packet.bth.opcode);

	s->paced = qp->dev->lab->algorithm && !(flags & OPCODE_RESPONSE) &&
		   s->packet.bth.opcode != OPCODE_CNP;
	if (s->paced)
		pace_of(qp)->waiting++;
}

void pace_granted(struct v_qp *qp, struct slot *s, hd_time end)
{
	struct v_pace *p = pace_of(qp);

	if (!s->paced)
		return;
	s->paced = false;
	if (p->waiting)
		p->waiting--;
	p->has_sent = true;
	p->last = qp->dev->lab->now;
	p->took = end > p->last ? end - p->last : 0;
}

void pace_heard(struct v_qp *qp, const struct packet *packet)
{
	const struct lab *lab = qp->dev->lab;
	bool marked = qp_take_becn(qp->qp);
	bool answers = (opcode_flags(packet->bth.opcode) & OPCODE_RESPONSE) &&
		       packet->bth.opcode != OPCODE_CNP;

	if (lab->algorithm && (marked || answers))
		cc_on_ack(lab->algorithm, &lab->response, &pace_of(qp)->state,
			  marked, lab->now);
}

hd_time pace_due(struct v_qp *qp)
{
	return qp->dev->lab->algorithm ? pace_of(qp)->state.due : NEVER;
}

void pace_timer(struct v_qp *qp)
{
	const struct lab *lab = qp->dev->lab;
	struct v_pace *p = pace_of(qp);

	if (lab->algorithm && p->state.due <= lab->now)
		cc_on_timer(lab->algorithm, &lab->response, &p->state,
			    lab->now);
}
