/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs_cut PORT PROCESS [HOST]: the one with HOST posts a few messages to the
 * other, who ends that process, the engine of the fabric, as soon as the first
 * has arrived. That one succeeds, though its acknowledgement is on its way; the
 * next fails, and those behind it are flushed. Nothing is posted meanwhile.
 */
#include <infiniband/verbs.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "verbs_meet.h"
#include "verbs_pair.h"

enum { MESSAGES = 4, SIZE = 65536 };

struct end {
	uint32_t qpn;
	uint16_t lid;
};

static struct {
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	struct end own;
	char memory[SIZE];
} rig;

static void demand(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "verbs_cut: %s\n", what);
	exit(1);
}

static void open_all(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = list && list[0] ? ibv_open_device(list[0]) : NULL;
	struct ibv_port_attr port;

	demand(context && !ibv_query_port(context, 1, &port), "no adapter");
	struct ibv_pd *pd = ibv_alloc_pd(context);

	rig.mr = ibv_reg_mr(pd, rig.memory, SIZE, IBV_ACCESS_LOCAL_WRITE);
	rig.cq = ibv_create_cq(context, MESSAGES, NULL, NULL, 0);
	struct ibv_qp_init_attr init = { .send_cq = rig.cq,
					 .recv_cq = rig.cq,
					 .qp_type = IBV_QPT_RC,
					 .cap = { MESSAGES, MESSAGES, 1, 1, 0 } };

	rig.qp = ibv_create_qp(pd, &init);
	demand(rig.mr && rig.qp, "no queue pair");
	rig.own = (struct end){ rig.qp->qp_num, port.lid };
}

static void post(bool listens)
{
	struct ibv_sge at = { (uintptr_t)rig.memory, SIZE, rig.mr->lkey };

	for (unsigned i = 0; i < MESSAGES; i++) {
		struct ibv_recv_wr r = { .sg_list = &at, .num_sge = 1 }, *no;
		struct ibv_send_wr s = { .wr_id = i,
					 .opcode = IBV_WR_SEND,
					 .send_flags = IBV_SEND_SIGNALED,
					 .sg_list = &at,
					 .num_sge = 1 },
				   *bad;

		demand(!(listens ? ibv_post_recv(rig.qp, &r, &no)
				 : ibv_post_send(rig.qp, &s, &bad)),
		       "it is not posted");
	}
}

static struct ibv_wc next(void)
{
	struct ibv_wc wc;
	int n;

	while ((n = ibv_poll_cq(rig.cq, 1, &wc)) == 0)
		;
	demand(n == 1, "polling");
	return wc;
}

/* No time passes between what it receives and what it does. */
static void cut(const char *process)
{
	demand(next().status == IBV_WC_SUCCESS, "the first arrives");
	demand(!kill((pid_t)strtol(process, NULL, 10), SIGKILL), "no engine");
}

static void hear(void)
{
	for (unsigned i = 0; i < MESSAGES; i++) {
		const struct ibv_wc wc = next();

		demand(wc.wr_id == i, "another send");
		demand(wc.status == (i == 0   ? IBV_WC_SUCCESS
				     : i == 1 ? IBV_WC_RETRY_EXC_ERR
					      : IBV_WC_WR_FLUSH_ERR),
		       ibv_wc_status_str(wc.status));
	}
}

static void meet(int peer)
{
	char word = 1;

	demand(meet_swap(peer, &word, &word, 1), "the other has gone");
}

int main(int argc, char **argv)
{
	bool listens = argc == 3;
	struct end other;

	demand(argc == 3 || argc == 4, "verbs_cut PORT PROCESS [HOST]");
	int peer = listens ? meet_listen(argv[1]) : meet_connect(argv[3], argv[1], 120);

	demand(peer >= 0, "no peer answers");
	open_all();
	demand(meet_swap(peer, &rig.own, &other, sizeof(rig.own)), "the other has gone");
	const struct ibv_qp to = { .qp_num = other.qpn };
	const struct pair_rules rules = {
		.lid = other.lid, .timeout = 14, .retries = 7, .rnr_retries = 7
	};
	const char *fails = pair_raise(rig.qp, &to, &rules);

	demand(!fails, fails);
	if (listens)
		post(true);
	meet(peer);
	if (listens) {
		cut(argv[2]);
	} else {
		post(false);
		hear();
	}
	meet(peer);
	return 0;
}
