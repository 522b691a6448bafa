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

	if (!b->setup.control || lab->n_devices == 0)
		return;
	lab->algorithm = fabric_algorithm(c->algorithm);
	lab->response = fabric_response_in_shares(b);
	lab->paced_sls = c->sls.sls;
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

bool pace_answers(const struct lab *lab, unsigned sl)
{
	return lab->paced_sls >> sl & 1;
}

/* NULL: nothing holds it back. */
static struct v_pace *pace_of(struct v_qp *qp)
{
	const struct lab *lab = qp->dev->lab;

	if (!lab->algorithm || !pace_answers(lab, qp->sl))
		return NULL;
	return lab->pace_per_sl ? &qp->dev->paces[qp->sl] : &qp->pace;
}

/* Counted from the request that was given last. */
static hd_time gap_of(const struct lab *lab, const struct v_pace *p)
{
	return cc_gap_of_share(lab->algorithm, &lab->response, &p->state,
			       p->took);
}

hd_time pace_next(struct v_qp *qp)
{
	const struct lab *lab = qp->dev->lab;
	const struct v_pace *p = pace_of(qp);

	if (!p || qp_has_answer(qp->qp))
		return 0;
	hd_time gap = gap_of(lab, p);

	/* At full rate the link alone holds it back. */
	if (gap <= p->took)
		return 0;
	return p->waiting ? NEVER : p->last + gap;
}

static hd_time time_on_link(const struct v_device *dev, const struct packet *p)
{
	const struct sim_setup *s = &dev->lab->build->setup;

	return hd_rate_duration(s->ports[dev->port].rate, packet_size(p));
}

void pace_launched(struct v_qp *qp, struct slot *s)
{
	unsigned flags = opcode_flags(s->packet.bth.opcode);
	struct v_pace *p = pace_of(qp);

	s->paced = p && !(flags & OPCODE_RESPONSE) &&
		   s->packet.bth.opcode != OPCODE_CNP;
	if (!s->paced)
		return;
	p->waiting++;
	p->took = time_on_link(qp->dev, &s->packet);
}

void pace_left(struct v_qp *qp, struct slot *s)
{
	struct v_pace *p = pace_of(qp);

	if (!s->paced || !p)
		return;
	s->paced = false;
	if (p->waiting)
		p->waiting--;
	p->last = qp->dev->lab->now;
}

void pace_heard(struct v_qp *qp, const struct packet *packet)
{
	const struct lab *lab = qp->dev->lab;
	struct v_pace *p = pace_of(qp);
	bool marked = qp_take_becn(qp->qp);
	bool answers = (opcode_flags(packet->bth.opcode) & OPCODE_RESPONSE) &&
		       packet->bth.opcode != OPCODE_CNP;

	if (p && (marked || answers))
		cc_on_ack(lab->algorithm, &lab->response, &p->state, marked,
			  lab->now);
}

hd_time pace_due(struct v_qp *qp)
{
	const struct v_pace *p = pace_of(qp);

	return p ? p->state.due : NEVER;
}

void pace_timer(struct v_qp *qp)
{
	const struct lab *lab = qp->dev->lab;
	struct v_pace *p = pace_of(qp);

	if (p && p->state.due <= lab->now)
		cc_on_timer(lab->algorithm, &lab->response, &p->state,
			    lab->now);
}
