/* SPDX-License-Identifier: BSD-2-Clause */
/* The queue pairs of traffic rows. */
#include <stdlib.h>

#include "base/alloc.h"
#include "transport/codes.h"
#include "verbs/objects.h"
#include "verbs/traffic_parts.h"
#include "wire/headers.h"

static unsigned timeout_code(hd_time least)
{
	unsigned code = 1;

	while (code < 31 && ack_timeout(code) < least)
		code++;
	return code;
}

static const struct posting_host *host_of(struct traffic *t,
					  struct v_device *dev)
{
	struct posting_host *h = &t->hosts[dev->host];

	if (!h->pd) {
		h->pd = v_pd_new(dev);
		h->mr = v_mr_new(h->pd, share_of(dev)->memory, t->memory_len,
				 ACCESS_LOCAL_WRITE, 0);
	}
	return h;
}

static struct v_qp *make_pair(struct traffic *t, struct posting *p,
			      struct v_device *dev)
{
	const struct v_qp_init init = {
		.kind = p->kind,
		.send_cq = p->sends.cq,
		.recv_cq = p->receives.cq,
		.max_send = SEND_DEPTH,
		.max_recv = RECV_DEPTH,
		.max_sge = 1,
	};

	return v_qp_new(host_of(t, dev)->pd, &init);
}

static enum hd_status connect(struct v_qp *qp, const struct v_qp *peer,
			      const struct qp_attr *common)
{
	static const unsigned masks[3][3] = {
		[QP_RC] = { QPA_PKEY | QPA_ACCESS,
			    QPA_PATH | QPA_MTU | QPA_DEST_QP | QPA_RQ_PSN |
				    QPA_MAX_DEST_RD | QPA_MIN_RNR,
			    QPA_SQ_PSN | QPA_TIMEOUT | QPA_RETRY |
				    QPA_RNR_RETRY | QPA_MAX_RD },
		[QP_UC] = { QPA_PKEY | QPA_ACCESS,
			    QPA_PATH | QPA_MTU | QPA_DEST_QP | QPA_RQ_PSN,
			    QPA_SQ_PSN },
		[QP_UD] = { QPA_PKEY | QPA_QKEY, QPA_PATH | QPA_MTU,
			    QPA_SQ_PSN },
	};
	struct qp_attr a = *common;
	enum hd_status status = HD_OK;

	a.slid = v_lid(qp->dev);
	a.dlid = v_lid(peer->dev);
	a.sl = v_path_sl(qp->dev, a.dlid, common->sl);
	a.dest_qpn = v_qpn(peer);
	for (unsigned i = 0; i < 3 && status == HD_OK; i++) {
		a.state = QPS_INIT + i;
		status = v_modify(
			qp, &a, QPA_STATE | masks[qp_params(qp->qp)->kind][i]);
	}
	return status;
}

void posting_stock(struct posting *p)
{
	const struct traffic *t = p->to->dev->lab->traffic;
	const struct v_mr *mr = t->hosts[p->to->dev->host].mr;
	uint32_t room = p->kind == QP_UD ? GRH_SIZE : 0;
	const struct recv_wr wr = {
		.n_sge = 1,
		.sge[0] = { v_mr_addr(mr), p->length + room, v_mr_key(mr) },
	};

	while (v_post_recv(p->to, &wr) == HD_OK)
		;
}

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static enum hd_status connect_both(struct traffic *t, struct posting *p,
				   struct diag *d)
{
	const struct fabric *b = t->lab->build;
	const struct sim_flow *f = &b->flows[p->flow];
	const struct scn_traffic *row = &b->scenario->traffic[p->row];
	uint32_t there = v_path_mtu(p->from->dev, v_lid(p->to->dev));
	uint32_t back = v_path_mtu(p->to->dev, v_lid(p->from->dev));
	const struct qp_attr common = {
		.pkey = f->pkey,
		.qkey = QKEY,
		.sl = f->sl,
		.mtu = least((uint32_t)b->scenario->fabric.mtu,
			     least(there, back)),
		.max_dest_rd = 1,
		.max_rd = 1,
		.min_rnr = 1,
		.timeout = (uint8_t)timeout_code(row->ack_timeout),
		.retry = 7,
		.rnr_retry = 7,
	};
	enum hd_status status =
		common.mtu ? connect(p->from, p->to, &common) : HD_ERR_UNFIT;

	if (status == HD_OK)
		status = connect(p->to, p->from, &common);
	if (status != HD_OK)
		return scenario_refuse(
			b->scenario, d, &row->transport,
			"traffic '%s': no packet of a queue pair fits on the "
			"way and back",
			row->name);
	posting_stock(p);
	return HD_OK;
}

/* In the order of their flows, whoever came to wait first. */
void side_wait(struct side *side)
{
	struct side **at = &share_of(side->cq->dev)->first;

	if (side->is_waiting)
		return;
	side->is_waiting = true;
	while (*at && (*at)->of < side->of)
		at = &(*at)->next;
	side->next = *at;
	*at = side;
}

static void note(void *context)
{
	side_wait(context);
}

static void make_side(struct side *side, struct posting *p,
		      struct v_device *dev, uint32_t entries)
{
	side->of = p;
	side->cq = v_cq_new(dev, entries, NULL);
	side->cq->note = note;
	side->cq->context = side;
}

enum hd_status posting_open(struct traffic *t, uint32_t flow, struct diag *d)
{
	struct lab *lab = t->lab;
	const struct fabric *b = lab->build;
	const struct sim_flow *f = &b->flows[flow];
	const struct scn_traffic *row = &b->scenario->traffic[f->row];
	uint32_t target = b->end_of_origin[b->flow_target[flow]];
	struct v_device *from = &lab->devices[lab->device_of_node[f->source]];
	struct v_device *to = &lab->devices[lab->device_of_node[target]];
	struct posting *p = &t->postings[t->n_postings];

	*p = (struct posting){
		.flow = flow,
		.row = f->row,
		.kind = kind_of_transport[row->transport],
		.length = (uint32_t)row->payload,
		.born_size = 16,
	};
	p->born = hd_alloc(p->born_size, sizeof(*p->born));
	p->first_noted = p->last_noted = hd_alloc(1, sizeof(*p->last_noted));
	t->of_flow[flow] = t->n_postings++;
	t->shares->rows[f->row].pairs++;
	make_side(&p->sends, p, from, SEND_DEPTH);
	make_side(&p->receives, p, to, RECV_DEPTH);
	p->from = make_pair(t, p, from);
	p->to = make_pair(t, p, to);
	return connect_both(t, p, d);
}

void posting_fini(struct posting *p)
{
	struct notes *n;

	v_cq_free(p->sends.cq);
	v_cq_free(p->receives.cq);
	free(p->born);
	while ((n = p->first_noted)) {
		p->first_noted = n->next;
		free(n);
	}
}
