/* SPDX-License-Identifier: BSD-2-Clause */
#include "hca/message_end.h"

#include "hca/objects.h"

void hca_message_end_init(struct message_end *e, void *of, struct v_device *dev, uint32_t entries,
			  void (*note)(void *end))
{
	e->of = of;
	e->cq = v_cq_new(dev, entries, NULL);
	e->cq->note = note;
	e->cq->context = e;
}

void hca_message_host_need(struct message_host *h, struct v_device *dev,
			   const struct message_memory *m)
{
	if (h->pd)
		return;
	h->pd = v_pd_new(dev);
	h->mr = v_mr_new(h->pd, m->bytes, m->length, m->access, 0);
}

struct recv_wr hca_message_receive(const struct message_host *h, uint64_t length)
{
	return (struct recv_wr){
		.n_sge = 1,
		.sge[0] = { v_mr_addr(h->mr), (uint32_t)length, v_mr_key(h->mr) },
	};
}

enum hd_status message_connect(struct v_qp *qp, const struct qp_attr *a, enum qp_state to)
{
	enum qp_kind kind = qp_params(qp->qp)->kind;
	enum hd_status status = HD_OK;
	struct qp_attr next = *a;

	for (next.state = qp_state(qp->qp); next.state < to && status == HD_OK;) {
		next.state++;
		status = v_modify(qp, &next, qp_step_mask(kind, next.state));
	}
	return status;
}
