/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Queue pairs under congestion control: marks determine the gap between packets, as with flows
 * (docs/timing-rules.md, C2 and C6). A request held back by the gap blocks no other queue pair;
 * responses are never held back. Loopback packets are not affected.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "fabric/control.h"
#include "hca/hca_internal.h"

/* Number of changes by a manager up to now (C9). */
static uint32_t changes_of(const struct lab *lab)
{
	const struct sim_setup *s = &lab->fabric->setup;
	uint32_t n = s->n_settings;

	while (n > 0 && s->settings[n - 1].time > lab->now)
		n--;
	return n;
}

hd_time pace_next_change(const struct lab *lab)
{
	const struct sim_setup *s = &lab->fabric->setup;
	uint32_t n = lab->algorithm ? changes_of(lab) : s->n_settings;

	return n < s->n_settings ? s->settings[n].time : NEVER;
}

static const struct cc_config *response_of(const struct v_device *dev, unsigned sl)
{
	const struct lab *lab = dev->lab;

	return lab->algorithm ? fabric_response_of(lab->fabric, dev->node, sl, changes_of(lab),
						   lab->response)
			      : NULL;
}

/* Applies changes of settings since the last use, and returns the state. */
static struct v_pace *current(const struct v_device *dev, unsigned sl, struct v_pace *p)
{
	const struct lab *lab = dev->lab;

	if (!p->how || p->changes == lab->fabric->setup.n_settings)
		return p;
	uint32_t changes = changes_of(lab);

	if (p->changes != changes) {
		p->changes = changes;
		p->how = response_of(dev, sl);
		cc_adapt(lab->algorithm, p->how, &p->state, lab->now);
	}
	return p;
}

static void start(const struct v_device *dev, unsigned sl, struct v_pace *pace)
{
	*pace = (struct v_pace){ .how = response_of(dev, sl),
				 .changes = changes_of(dev->lab),
				 .state.due = NEVER };
	if (pace->how)
		cc_init(dev->lab->algorithm, pace->how, &pace->state);
}

void pace_init(struct lab *lab)
{
	const struct fabric *fabric = lab->fabric;
	const struct scn_congestion *c = &fabric->scenario->congestion;

	if (!fabric->setup.control || lab->n_devices == 0)
		return;
	lab->algorithm = fabric_algorithm(c->algorithm);
	lab->paced_sls = fabric_paced_sls(fabric);
	if (!lab->algorithm)
		return;
	lab->response = hd_alloc(1, sizeof(*lab->response));
	*lab->response = fabric_response_in_shares(fabric);
	for (uint32_t i = 0; i < lab->n_devices; i++)
		device_wake(&lab->devices[i], pace_next_change(lab));
	if (c->per != SCN_PER_SL)
		return;
	lab->paces = hd_alloc((size_t)lab->n_devices * N_SLS, sizeof(*lab->paces));
	for (uint32_t i = 0; i < lab->n_devices; i++) {
		struct v_device *dev = &lab->devices[i];

		dev->paces = &lab->paces[(size_t)i * N_SLS];
		for (unsigned sl = 0; sl < N_SLS; sl++)
			start(dev, sl, &dev->paces[sl]);
	}
}

void pace_fini(struct lab *lab)
{
	free(lab->response);
	free(lab->paces);
}

void pace_join(struct lab *lab, struct lab *first)
{
	if (!lab->paces || !first->paces)
		return;
	free(lab->paces);
	lab->paces = NULL;
	for (uint32_t i = 0; i < lab->n_devices; i++) {
		struct v_device *dev = &lab->devices[i];
		struct v_device *other = &first->devices[i];

		dev->paces = other->paces;
		dev->next_on_port = other->next_on_port ? other->next_on_port : other;
		other->next_on_port = dev;
	}
}

void pace_start(struct v_qp *qp)
{
	start(qp->dev, qp->sl, &qp->pace);
}

/* A queue pair with a rate of its own keeps it. */
void pace_follow(struct v_qp *qp, uint8_t sl)
{
	if (qp->sl == sl)
		return;
	device_rest(qp->dev, qp);
	qp->sl = sl;
	if (qp->pace.how)
		qp->pace.how = response_of(qp->dev, qp->sl);
	else
		pace_start(qp);
}

bool pace_answers(const struct lab *lab, unsigned sl)
{
	return lab->paced_sls >> sl & 1;
}

struct v_pace *pace_qp(struct v_qp *qp)
{
	struct v_pace *p = qp->dev->paces ? &qp->dev->paces[qp->sl] : &qp->pace;

	return p->how ? current(qp->dev, qp->sl, p) : NULL;
}

/* Time at which the next packet of this rate may be sent. */
static hd_time pace_free(const struct lab *lab, const struct v_pace *p)
{
	/* The gap is counted from the last request given. */
	hd_time gap = cc_gap_of_share(lab->algorithm, p->how, &p->state, p->took);

	/* At full rate, only the link limits the queue pair. */
	if (gap <= p->took)
		return 0;
	return p->waiting ? NEVER : p->last + gap;
}

hd_time pace_next(struct v_qp *qp)
{
	const struct v_pace *p = pace_qp(qp);

	if (!p || qp_has_answer(qp->qp) || is_own(qp->dev, qp_dlid(qp->qp)))
		return 0;
	hd_time free = pace_free(qp->dev->lab, p);

	return free && p->first && p->first != qp ? NEVER : free;
}

/* ---- the line of a rate ----------------------------------------------- */

void pace_line_up(struct v_qp *qp)
{
	struct v_qp **at = &pace_qp(qp)->first;

	while (*at && (*at)->turn < qp->turn)
		at = &(*at)->behind;
	qp->behind = *at;
	*at = qp;
}

void pace_wait(struct v_qp *qp)
{
	if (!qp->dev->paces || qp->turn)
		return;
	qp->turn = ++pace_qp(qp)->turns;
	pace_line_up(qp);
}

bool pace_rest(struct v_qp *qp)
{
	if (!qp->turn)
		return false;
	struct v_pace *p = &qp->dev->paces[qp->sl];
	struct v_qp **at = &p->first;
	bool was_first = p->first == qp;

	while (*at != qp)
		at = &(*at)->behind;
	*at = qp->behind;
	qp->turn = 0;
	return was_first;
}

/* ---- what becomes of packets ------------------------------------------ */

static hd_time time_on_link(const struct v_device *dev, const struct packet *p)
{
	const struct sim_setup *s = &dev->lab->fabric->setup;

	return hd_rate_duration(s->ports[dev->port].rate, packet_size(p));
}

/* The rate for which the packet counts; its queue pair may have been freed. */
static struct v_pace *slot_pace(struct v_device *dev, struct v_qp *qp, const struct hca_slot *s)
{
	unsigned sl = s->packet.lrh.sl;

	if (dev->paces)
		return current(dev, sl, &dev->paces[sl]);
	return qp ? current(dev, qp->sl, &qp->pace) : NULL;
}

void pace_wake(struct v_device *dev, const struct v_pace *p, hd_time earliest)
{
	hd_time when = later(pace_free(dev->lab, p), earliest);

	device_wake(dev, when);
	for (struct v_device *d = dev->next_on_port; d && d != dev; d = d->next_on_port) {
		/* The clock of the other lab stopped at its own last event. */
		d->lab->now = later(d->lab->now, dev->lab->now);
		device_wake(d, when);
		device_wake(d, p->state.due);
		lab_timer(d->lab, d);
	}
}

void pace_wake_sharers(struct v_device *dev, const struct v_pace *p, hd_time earliest)
{
	if (dev->paces && p)
		pace_wake(dev, p, earliest);
}

void pace_launched(struct v_qp *qp, struct hca_slot *s)
{
	unsigned flags = opcode_flags(s->packet.bth.opcode);
	struct v_pace *p = slot_pace(qp->dev, qp, s);

	s->paced = p->how && !(flags & OPCODE_RESPONSE) && s->packet.bth.opcode != OPCODE_CNP;
	if (!s->paced)
		return;
	pace_rest(qp);
	p->waiting++;
	p->took = time_on_link(qp->dev, &s->packet);
}

struct v_pace *pace_left(struct v_device *dev, struct v_qp *qp, struct hca_slot *s)
{
	struct v_pace *p = s->paced ? slot_pace(dev, qp, s) : NULL;

	s->paced = false;
	if (!p || !p->how)
		return NULL;
	if (p->waiting)
		p->waiting--;
	p->last = dev->lab->now;
	return p;
}

void pace_heard(struct v_qp *qp, const struct packet *packet)
{
	const struct lab *lab = qp->dev->lab;
	struct v_pace *p = pace_qp(qp);
	bool marked = qp_take_becn(qp->qp);
	bool answers = (opcode_flags(packet->bth.opcode) & OPCODE_RESPONSE) &&
		       packet->bth.opcode != OPCODE_CNP;

	if (p && (marked || answers) && !is_own(qp->dev, packet->lrh.slid))
		cc_on_ack(lab->algorithm, p->how, &p->state, marked, lab->now);
}

hd_time pace_due(struct v_qp *qp)
{
	const struct v_pace *p = pace_qp(qp);

	return p ? p->state.due : NEVER;
}

void pace_timer(struct v_qp *qp)
{
	const struct lab *lab = qp->dev->lab;
	struct v_pace *p = pace_qp(qp);

	if (p && p->state.due <= lab->now)
		cc_on_timer(lab->algorithm, p->how, &p->state, lab->now);
}
