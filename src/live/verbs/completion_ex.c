/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <time.h>

#include "live/verbs/timed.h"
#include "live/verbs/verbs_internal.h"

/* Extended completion queues (ibv_cq_ex): entries are read one at a time, field by field. */

static struct cq *cq_of(struct ibv_cq_ex *cq)
{
	return container(cq, struct cq, ex);
}

/* Advances to the next entry; ENOENT if the queue is empty. */
static int next_poll(struct ibv_cq_ex *ex)
{
	struct cq *cq = cq_of(ex);

	if (!verbs_cq_take(cq, &cq->current))
		return ENOENT;
	ex->wr_id = cq->current.wr_id;
	ex->status = cq->current.status;
	if (cq->wc_flags &
	    (IBV_WC_EX_WITH_COMPLETION_TIMESTAMP | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK)) {
		struct timespec t;

		clock_gettime(CLOCK_REALTIME, &t);
		cq->stamp = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
	}
	return 0;
}

static int start_poll(struct ibv_cq_ex *ex, struct ibv_poll_cq_attr *attr)
{
	struct cq *cq = cq_of(ex);

	if (context_is_inherited(ex->context))
		return EPERM;
	if (attr->comp_mask)
		return EINVAL;
	if (atomic_load_explicit(&verbs_adapter.n_waiting, memory_order_relaxed))
		post_retry(false);
	if (is_timed())
		timed_polled(verbs_cq_has_any(cq));
	if (verbs_fault_hides(cq))
		return ENOENT;
	pthread_mutex_lock(&cq->take);
	int error = next_poll(ex);

	/* end_poll is not called after a start_poll that found nothing. */
	if (error)
		pthread_mutex_unlock(&cq->take);
	return error;
}

static void end_poll(struct ibv_cq_ex *ex)
{
	pthread_mutex_unlock(&cq_of(ex)->take);
}

#define READS(type, name, field)                       \
	static type name(struct ibv_cq_ex *ex)         \
	{                                              \
		return (type)cq_of(ex)->current.field; \
	}

READS(enum ibv_wc_opcode, read_opcode, opcode)
READS(uint32_t, read_vendor_err, vendor_err)
READS(uint32_t, read_byte_len, byte_len)
READS(__be32, read_imm_data, imm_data)
READS(uint32_t, read_qp_num, qp_num)
READS(uint32_t, read_src_qp, src_qp)
READS(unsigned, read_wc_flags, wc_flags)
READS(uint32_t, read_slid, slid)
READS(uint8_t, read_sl, sl)
READS(uint8_t, read_dlid_path_bits, dlid_path_bits)

static uint64_t read_stamp(struct ibv_cq_ex *ex)
{
	return cq_of(ex)->stamp;
}

/* Fields that completions of this adapter do not have. */
static uint16_t read_no_vlan(struct ibv_cq_ex *ex)
{
	(void)ex;
	return 0;
}

static uint32_t read_no_tag(struct ibv_cq_ex *ex)
{
	(void)ex;
	return 0;
}

static void read_no_match(struct ibv_cq_ex *ex, struct ibv_wc_tm_info *out)
{
	(void)ex;
	*out = (struct ibv_wc_tm_info){ 0 };
}

/* Sets every function, including those of fields that the program did not request. */
static void fill(struct cq *cq)
{
	struct ibv_cq_ex *ex = &cq->ex;

	ex->start_poll = start_poll;
	ex->next_poll = next_poll;
	ex->end_poll = end_poll;
	ex->read_opcode = read_opcode;
	ex->read_vendor_err = read_vendor_err;
	ex->read_wc_flags = read_wc_flags;
	ex->read_byte_len = read_byte_len;
	ex->read_imm_data = read_imm_data;
	ex->read_qp_num = read_qp_num;
	ex->read_src_qp = read_src_qp;
	ex->read_slid = read_slid;
	ex->read_sl = read_sl;
	ex->read_dlid_path_bits = read_dlid_path_bits;
	ex->read_completion_ts = read_stamp;
	ex->read_completion_wallclock_ns = read_stamp;
	ex->read_cvlan = read_no_vlan;
	ex->read_flow_tag = read_no_tag;
	ex->read_tm_info = read_no_match;
}

struct ibv_cq_ex *verbs_create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr)
{
	const uint64_t known = IBV_WC_STANDARD_FLAGS | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP |
			       IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK;
	const uint32_t known_masks = IBV_CQ_INIT_ATTR_MASK_FLAGS | IBV_CQ_INIT_ATTR_MASK_PD;
	bool has_flags = attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS;
	struct pd *parent = NULL;
	int error = 0;

	if (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_PD && attr->parent_domain)
		parent = container(attr->parent_domain, struct pd, ibv);
	if (attr->wc_flags & ~known || attr->comp_mask & ~known_masks ||
	    (has_flags && attr->flags & ~(uint32_t)IBV_CREATE_CQ_ATTR_SINGLE_THREADED))
		error = EOPNOTSUPP;
	else if (attr->comp_vector >= (uint32_t)context->num_comp_vectors ||
		 (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_PD && !(parent && parent->base)))
		error = EINVAL;
	if (error) {
		errno = error;
		return NULL;
	}
	struct cq *cq = verbs_cq_create(context, (int)attr->cqe, attr->cq_context, attr->channel);

	if (!cq)
		return NULL;
	cq->wc_flags = attr->wc_flags;
	cq->parent = parent;
	if (parent)
		parent->users++;
	fill(cq);
	return &cq->ex;
}
