/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads that share one completion queue, each with two queue pairs that are connected with each
 * other: any thread polls the completions of all, and each compares what it received. Built with a
 * thread sanitizer, it also finds accesses that the adapter does not order. `verbs_threads
 * PROGRAM...` then becomes that program without a release of anything.
 */
#include <infiniband/verbs.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "verbs_pair.h"

enum { THREADS = 4, ROUNDS = 300, SIZE = 3000 };

struct end {
	struct ibv_qp *to, *from;
	struct ibv_mr *mr;
	unsigned char out[SIZE], in[SIZE];
	unsigned done; /* completions; atomic */
};

static struct {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct end ends[THREADS];
} rig;

static void demand(int holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "verbs_threads: %s\n", what);
	exit(1);
}

static struct ibv_qp *queue_pair(void)
{
	struct ibv_qp_init_attr init = {
		.send_cq = rig.cq,
		.recv_cq = rig.cq,
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 },
		.sq_sig_all = 1,
	};

	return ibv_create_qp(rig.pd, &init);
}

static void open_end(struct end *e, uint16_t lid)
{
	const struct pair_rules rules = {
		.lid = lid, .timeout = 14, .retries = 7, .rnr_retries = 7
	};

	e->to = queue_pair();
	e->from = queue_pair();
	e->mr = ibv_reg_mr(rig.pd, e, sizeof(*e), IBV_ACCESS_LOCAL_WRITE);
	demand(e->to && e->from && e->mr, "no queue pairs");
	demand(!pair_raise(e->to, e->from, &rules) && !pair_raise(e->from, e->to, &rules), "RTS");
}

static void post(struct end *e)
{
	struct ibv_sge out = { (uintptr_t)e->out, SIZE, e->mr->lkey };
	struct ibv_sge in = { (uintptr_t)e->in, SIZE, e->mr->lkey };
	struct ibv_recv_wr r = { .wr_id = (uint64_t)(e - rig.ends), .sg_list = &in, .num_sge = 1 };
	struct ibv_send_wr s = { .wr_id = r.wr_id,
				 .sg_list = &out,
				 .num_sge = 1,
				 .opcode = IBV_WR_SEND },
			   *bad;
	struct ibv_recv_wr *bad_recv;

	demand(!ibv_post_recv(e->from, &r, &bad_recv), "ibv_post_recv");
	demand(!ibv_post_send(e->to, &s, &bad), "ibv_post_send");
}

static void *work(void *of)
{
	struct end *e = of;

	for (unsigned k = 1; k <= ROUNDS; k++) {
		memset(e->out, (int)(k + (unsigned)(e - rig.ends)), SIZE);
		post(e);
		sched_yield(); /* another thread may poll its completions */
		while (__atomic_load_n(&e->done, __ATOMIC_ACQUIRE) < 2 * k) {
			struct ibv_wc wc;
			int n = ibv_poll_cq(rig.cq, 1, &wc);

			demand(n >= 0 && (n == 0 || wc.status == IBV_WC_SUCCESS), "completion");
			if (n > 0)
				__atomic_fetch_add(&rig.ends[wc.wr_id].done, 1, __ATOMIC_ACQ_REL);
		}
		demand(memcmp(e->out, e->in, SIZE) == 0, "other bytes arrived");
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct ibv_device **devices = ibv_get_device_list(NULL);
	struct ibv_port_attr port;
	pthread_t threads[THREADS];

	rig.context = devices && *devices ? ibv_open_device(*devices) : NULL;
	demand(rig.context && !ibv_query_port(rig.context, 1, &port), "no adapter");
	rig.pd = ibv_alloc_pd(rig.context);
	rig.cq = rig.pd ? ibv_create_cq(rig.context, 16 * THREADS, NULL, NULL, 0) : NULL;
	demand(rig.cq != NULL, "no completion queue");
	for (int i = 0; i < THREADS; i++)
		open_end(&rig.ends[i], port.lid);
	for (int i = 0; i < THREADS; i++)
		demand(!pthread_create(&threads[i], NULL, work, &rig.ends[i]), "no thread");
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	if (argc > 1) {
		execvp(argv[1], argv + 1);
		demand(0, "execvp");
	}
	for (int i = 0; i < THREADS; i++)
		demand(!ibv_destroy_qp(rig.ends[i].to) && !ibv_destroy_qp(rig.ends[i].from) &&
			       !ibv_dereg_mr(rig.ends[i].mr),
		       "destroy");
	demand(!ibv_destroy_cq(rig.cq) && !ibv_dealloc_pd(rig.pd), "destroy");
	demand(!ibv_close_device(rig.context), "close");
	ibv_free_device_list(devices);
	printf("%d messages\n", THREADS * ROUNDS);
	return 0;
}
