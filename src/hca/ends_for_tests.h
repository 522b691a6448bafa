/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_HCA_ENDS_FOR_TESTS_H
#define HD_HCA_ENDS_FOR_TESTS_H

/* Queue pairs of hosts on one switch, each connected to the next. */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "hca/programs_for_tests.h"
#include "hca/testbed.h"
#include "hca/verbs.h"

#define BUFFER 65536

/* One side of a connection, and the program that uses it. */
struct end {
	struct lab *lab;
	struct v_device *dev;
	struct v_pd *pd;
	struct v_mr *mr;
	struct v_channel *channel;
	struct v_cq *cq;
	struct v_qp *qp;
	struct v_srq *srq;
	uint8_t *memory;
	struct end *peer;
	hd_time times[8];
	uint64_t count;
	bool is_inline; /* what ping and pong send */
	struct completion wc;
	lid_t mlid;
};

struct fixture {
	struct testbed bed;
	struct lab *lab;
	struct sim *sim; /* NULL: not attached yet */
	struct end end[3];
	uint32_t n;
};

static inline void open_end(struct fixture *f, uint32_t i, enum qp_kind kind, bool shared)
{
	struct end *e = &f->end[i];

	e->lab = f->lab;
	e->dev = lab_device(f->lab, i);
	e->memory = hd_alloc(BUFFER, 1);
	e->pd = v_pd_new(e->dev);
	e->mr = v_mr_new(e->pd, e->memory, BUFFER,
			 ACCESS_LOCAL_WRITE | ACCESS_REMOTE_WRITE | ACCESS_REMOTE_READ |
				 ACCESS_REMOTE_ATOMIC,
			 0);
	e->channel = v_channel_new(e->dev);
	e->cq = v_cq_new(e->dev, 64, e->channel);
	e->srq = shared ? v_srq_new(e->pd, 16) : NULL;
	const struct v_qp_init init = { .kind = kind,
					.send_cq = e->cq,
					.recv_cq = e->cq,
					.srq = e->srq,
					.max_send = 32,
					.max_recv = 32,
					.max_sge = 4 };

	e->qp = v_qp_new(e->pd, &init);
	assert_non_null(e->qp);
}

static inline void raise_end(struct end *e, enum qp_kind kind, const struct end *to)
{
	struct qp_attr a = { .access = ACCESS_REMOTE_WRITE | ACCESS_REMOTE_READ |
				       ACCESS_REMOTE_ATOMIC,
			     .pkey = 0xffff,
			     .qkey = 0x1234,
			     .slid = v_lid(e->dev),
			     .dlid = v_lid(to->dev),
			     .mtu = 1024,
			     .dest_qpn = v_qpn(to->qp),
			     .max_dest_rd = 4,
			     .max_rd = 4,
			     .min_rnr = 1,
			     .timeout = 14,
			     .retry = 7,
			     .rnr_retry = 7 };

	for (unsigned step = 0; step < 3; step++) {
		a.state = (enum qp_state)(QPS_INIT + step);
		assert_int_equal(v_modify(e->qp, &a, qp_step_mask(kind, a.state)), HD_OK);
	}
}

static inline struct fixture *open_lab(const char *profile, enum qp_kind kind, uint32_t n,
				       bool shared)
{
	struct fixture *f = hd_alloc(1, sizeof(*f));
	struct diag d = { .status = HD_OK };

	assert_int_equal(testbed_open(profile, NULL, NULL, &d, &f->bed), HD_OK);
	f->lab = lab_new(f->bed.fabric, &f->bed.profile);
	f->n = n;
	for (uint32_t i = 0; i < n; i++)
		open_end(f, i, kind, shared);
	for (uint32_t i = 0; i < n; i++) {
		f->end[i].peer = &f->end[i == 0 ? 1 : 0];
		raise_end(&f->end[i], kind, f->end[i].peer);
	}
	return f;
}

static inline void close_lab(struct fixture *f)
{
	for (uint32_t i = 0; i < f->n; i++) {
		struct end *e = &f->end[i];

		v_qp_free(e->qp);
		v_cq_free(e->cq);
		v_channel_free(e->channel);
		v_mr_free(e->mr);
		if (e->srq)
			v_srq_free(e->srq);
		v_pd_free(e->pd);
		free(e->memory);
	}
	lab_free(f->lab);
	if (f->sim)
		sim_free(f->sim);
	testbed_close(&f->bed);
	free(f);
}

/* Runs the programs that were spawned. */
static inline enum lab_outcome run_lab(struct fixture *f)
{
	if (!f->sim) {
		f->sim = sim_for_programs(f->bed.fabric);
		lab_use_sim(f->lab, f->sim);
	}
	return lab_run(f->lab, NULL, NULL);
}

static inline struct sge piece(const struct end *e, uint64_t offset, uint32_t len)
{
	return (struct sge){ v_mr_addr(e->mr) + offset, len, v_mr_key(e->mr) };
}

static inline void post_recv(struct end *e, uint64_t id, uint64_t offset, uint32_t len)
{
	const struct recv_wr wr = { .id = id, .n_sge = 1, .sge = { piece(e, offset, len) } };

	assert_int_equal(v_post_recv(e->qp, &wr), HD_OK);
}

static inline struct send_wr request(const struct end *e, enum wr_kind kind, uint64_t offset,
				     uint32_t len, uint64_t remote)
{
	return (struct send_wr){
		.id = 7,
		.kind = kind,
		.flags = WR_SIGNALED,
		.n_sge = len ? 1 : 0,
		.sge = { piece(e, offset, len) },
		.remote_addr = v_mr_addr(e->peer->mr) + remote,
		.rkey = v_mr_key(e->peer->mr),
	};
}

#endif
