/* SPDX-License-Identifier: BSD-2-Clause */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "hca/programs_for_tests.h"
#include "hca/testbed.h"
#include "hca/verbs.h"

/*
 * Three queue pairs of one adapter write a message of the same length each,
 * all at once, over a link that is the only bottleneck. When each is done
 * follows from how the link is shared, in closed form: in units of the time
 * that all three messages take together.
 */

#define N       3
#define LENGTH  (1u << 20) /* 1024 packets */
#define STAGING 4096       /* what is in there has had its turn */

enum change { NONE, RAISE_FIRST, LATE_LAST };

struct plan {
	const char *name;
	enum profile_schedule schedule;
	uint32_t weight[N], priority[N];
	uint8_t sl[N];
	enum change change;
	double done[N];
};

struct side {
	struct v_pd *pd;
	struct v_mr *mr;
	struct v_cq *cq;
	struct v_qp *qp[N];
	uint8_t *memory;
};

struct rig {
	const struct plan *plan;
	struct lab *lab;
	struct side side[2];
	hd_time all; /* that the three messages take */
	hd_time done[N];
};

static void open_side(struct rig *r, unsigned i)
{
	struct side *s = &r->side[i];

	s->memory = hd_alloc(LENGTH, 1);
	s->pd = v_pd_new(lab_device(r->lab, i));
	s->mr = v_mr_new(s->pd, s->memory, LENGTH, ACCESS_LOCAL_WRITE | ACCESS_REMOTE_WRITE, 0);
	s->cq = v_cq_new(lab_device(r->lab, i), 64, NULL);
	const struct v_qp_init init = { .kind = QP_RC,
					.send_cq = s->cq,
					.recv_cq = s->cq,
					.max_send = 4,
					.max_recv = 4,
					.max_sge = 1 };

	for (unsigned k = 0; k < N; k++)
		s->qp[k] = v_qp_new(s->pd, &init);
}

static void raise_side(struct rig *r, unsigned i)
{
	for (unsigned k = 0; k < N; k++) {
		struct qp_attr a = {
			.access = ACCESS_REMOTE_WRITE,
			.pkey = 0xffff,
			.slid = v_lid(lab_device(r->lab, i)),
			.dlid = v_lid(lab_device(r->lab, 1 - i)),
			.sl = r->plan->sl[k],
			.mtu = 1024,
			.dest_qpn = v_qpn(r->side[1 - i].qp[k]),
			.max_dest_rd = 1,
			.max_rd = 1,
			.timeout = 0,
			.retry = 7,
		};

		for (unsigned step = 0; step < 3; step++) {
			a.state = (enum qp_state)(QPS_INIT + step);
			assert_int_equal(
				v_modify(r->side[i].qp[k], &a, qp_step_mask(QP_RC, a.state)),
				HD_OK);
		}
	}
}

static void close_side(struct side *s)
{
	for (unsigned k = 0; k < N; k++)
		v_qp_free(s->qp[k]);
	v_cq_free(s->cq);
	v_mr_free(s->mr);
	v_pd_free(s->pd);
	free(s->memory);
}

static void post(struct rig *r, unsigned k)
{
	const struct side *from = &r->side[0], *to = &r->side[1];
	const struct send_wr wr = {
		.id = k,
		.kind = WR_WRITE,
		.flags = WR_SIGNALED,
		.n_sge = 1,
		.sge = { { v_mr_addr(from->mr), LENGTH, v_mr_key(from->mr) } },
		.remote_addr = v_mr_addr(to->mr),
		.rkey = v_mr_key(to->mr),
	};

	assert_int_equal(v_post_send(from->qp[k], &wr), HD_OK);
}

static void writer(void *argument)
{
	struct rig *r = argument;
	hd_time start = lab_now(r->lab);
	struct completion wc;

	for (unsigned k = 0; k < N; k++) {
		if (r->plan->change != LATE_LAST || k + 1 < N)
			post(r, k);
	}
	/* Half of the time has passed. */
	if (r->plan->change != NONE)
		lab_work(r->lab, r->all / 2);
	if (r->plan->change == RAISE_FIRST)
		v_qp_weigh(r->side[0].qp[0], 1, 7);
	if (r->plan->change == LATE_LAST)
		post(r, N - 1);
	for (unsigned k = 0; k < N; k++) {
		assert_true(v_poll_wait(r->side[0].cq, &wc));
		assert_int_equal(wc.status, WC_SUCCESS);
		r->done[wc.id] = lab_now(r->lab) - start;
	}
}

static void run_plan(const struct plan *plan, hd_time all, struct rig *r)
{
	struct diag d = { .status = HD_OK };
	struct testbed bed;

	assert_int_equal(testbed_open("ideal", NULL, NULL, &d, &bed), HD_OK);
	bed.profile.schedule = plan->schedule;
	bed.profile.staging = STAGING;
	*r = (struct rig){ .plan = plan, .all = all };
	r->lab = lab_new(bed.fabric, &bed.profile);
	for (unsigned i = 0; i < 2; i++)
		open_side(r, i);
	for (unsigned i = 0; i < 2; i++)
		raise_side(r, i);
	for (unsigned k = 0; k < N; k++) {
		if (plan->weight[k])
			v_qp_weigh(r->side[0].qp[k], plan->weight[k], plan->priority[k]);
	}
	lab_spawn(r->lab, 0, writer, r);
	struct sim *sim = sim_for_programs(bed.fabric);

	lab_use_sim(r->lab, sim);
	assert_int_equal(lab_run(r->lab, NULL, NULL), LAB_DONE);
	for (unsigned i = 0; i < 2; i++)
		close_side(&r->side[i]);
	lab_free(r->lab);
	sim_free(sim);
	testbed_close(&bed);
}

static const struct plan plans[] = {
	{ "in turn: whatever weights and priorities say, all alike",
	  SCHEDULE_ROUND_ROBIN,
	  { 1, 2, 4 },
	  { 0, 3, 7 },
	  .done = { 1, 1, 1 } },
	/* 4 of 7 until it is done at 7/4; then 2 of 3 of the rest. */
	{ "shares follow weights",
	  SCHEDULE_WEIGHTED,
	  { 1, 2, 4 },
	  .done = { 1, 2.5 / 3, 1.75 / 3 } },
	/* Were the first starved, the others would be done at 2/3. */
	{ "the least weight has its part all the time",
	  SCHEDULE_WEIGHTED,
	  { 1, 15, 15 },
	  .done = { 1, 31.0 / 15 / 3, 31.0 / 15 / 3 } },
	{ "the higher priority first, and lower ones wait for all of it",
	  SCHEDULE_WEIGHTED,
	  { 1, 1, 1 },
	  { 0, 3, 7 },
	  .done = { 1, 2.0 / 3, 1.0 / 3 } },
	{ "a weight is worth nothing against a priority",
	  SCHEDULE_WEIGHTED,
	  { 8, 1, 1 },
	  { 0, 0, 1 },
	  .done = { (1 + 9.0 / 8) / 3, 1, 1.0 / 3 } },
	{ "a queue pair without a weight has the least priority",
	  SCHEDULE_WEIGHTED,
	  { 0, 1, 1 },
	  { 0, 1, 0 },
	  .done = { 1, 1.0 / 3, 1 } },
	/* The VL of the first has half of the time until it is done. */
	{ "priorities order a VL; VLs take turns",
	  SCHEDULE_WEIGHTED,
	  { 1, 1, 1 },
	  { 0, 7, 0 },
	  { 0, 1, 1 },
	  .done = { 2.0 / 3, 2.0 / 3, 1 } },
	/* Half each of what was sent; the rest of the first is a sixth. */
	{ "a priority counts from when it is given",
	  SCHEDULE_WEIGHTED,
	  { 1, 1, 1 },
	  .change = RAISE_FIRST,
	  .done = { 2.0 / 3, 1, 1 } },
	{ "one that comes later goes first if it is higher",
	  SCHEDULE_WEIGHTED,
	  { 1, 1, 1 },
	  { 0, 0, 1 },
	  .change = LATE_LAST,
	  .done = { 1, 1, 1.0 / 2 + 1.0 / 3 } },
};

static void judge(const struct rig *r, hd_time all)
{
	const struct plan *p = r->plan;

	for (unsigned k = 0; k < N; k++) {
		double share = (double)r->done[k] / (double)all;

		if (fabs(share - p->done[k]) > 0.01)
			fail_msg("%s: %u done at %.4f, not at %.4f", p->name, k, share, p->done[k]);
	}
}

static void times_follow_from_weights_and_priorities(void **state)
{
	struct rig r;

	(void)state;
	run_plan(&plans[0], 0, &r);
	hd_time all = r.done[N - 1];

	/* At the link's 200 Gb/s, with headers and latency: scheduling costs no time. */
	assert_in_range(all, N * LENGTH * UINT64_C(40), N * LENGTH * UINT64_C(40) * 105 / 100);
	for (unsigned i = 0; i < sizeof(plans) / sizeof(*plans); i++) {
		run_plan(&plans[i], all, &r);
		judge(&r, all);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_follow_from_weights_and_priorities),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
