/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs_group receive N FILE: attaches to the group of IPoIB, makes FILE, and
 * compares N datagrams that come to it. verbs_group send N: sends them.
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MLID = 0xC000, SIZE = 600, GRH = 40, QKEY = 0x11223344, DEPTH = 64 };

static const uint8_t broadcast[16] = { 0xff, 0x12, 0x40, 0x1b, 0xff, 0xff, 0,    0,
				       0,    0,    0,    0,    0xff, 0xff, 0xff, 0xff };
static uint8_t memory[DEPTH][GRH + SIZE];
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_qp *qp;
static struct ibv_mr *mr;

static void demand(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "verbs_group: %s\n", what);
	exit(1);
}

static uint8_t byte_of(unsigned datagram, unsigned i)
{
	return (uint8_t)(datagram * 31 + i * 7 + i / 200);
}

static void make(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = list && list[0] ? ibv_open_device(list[0]) : NULL;
	struct ibv_qp_attr a = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY };

	demand(context, "no adapter");
	pd = ibv_alloc_pd(context);
	cq = ibv_create_cq(context, 2 * DEPTH, NULL, NULL, 0);
	mr = ibv_reg_mr(pd, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE);
	struct ibv_qp_init_attr init = { .send_cq = cq,
					 .recv_cq = cq,
					 .qp_type = IBV_QPT_UD,
					 .cap = { DEPTH, DEPTH, 1, 1, 0 } };

	qp = ibv_create_qp(pd, &init);
	demand(mr && qp, "no queue pair");
	demand(!ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY),
	       "INIT");
	a.qp_state = IBV_QPS_RTR;
	demand(!ibv_modify_qp(qp, &a, IBV_QP_STATE), "RTR");
	a.qp_state = IBV_QPS_RTS;
	demand(!ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_SQ_PSN), "RTS");
}

static struct ibv_wc next(void)
{
	struct ibv_wc wc;
	int n;

	while ((n = ibv_poll_cq(cq, 1, &wc)) == 0)
		;
	demand(n == 1 && wc.status == IBV_WC_SUCCESS, "it does not complete");
	return wc;
}

static void receive(unsigned n, const char *file)
{
	union ibv_gid gid;
	FILE *ready;

	memcpy(gid.raw, broadcast, sizeof(broadcast));
	for (unsigned i = 0; i < n; i++) {
		struct ibv_sge into = { (uintptr_t)memory[i], GRH + SIZE, mr->lkey };
		struct ibv_recv_wr wr = { .wr_id = i, .sg_list = &into, .num_sge = 1 }, *bad;

		demand(!ibv_post_recv(qp, &wr, &bad), "receive");
	}
	demand(!ibv_attach_mcast(qp, &gid, MLID), "attach");
	ready = fopen(file, "w");
	demand(ready && fclose(ready) == 0, "no file");
	for (unsigned i = 0; i < n; i++) {
		const struct ibv_wc wc = next();

		demand(wc.wr_id == i && wc.byte_len == GRH + SIZE && wc.wc_flags & IBV_WC_GRH,
		       "a datagram");
		demand(memcmp(memory[i] + 24, broadcast, 16) == 0, "its GRH");
		for (unsigned k = 0; k < SIZE; k++)
			demand(memory[i][GRH + k] == byte_of(i, k), "its bytes");
	}
	demand(!ibv_detach_mcast(qp, &gid, MLID), "detach");
	demand(ibv_detach_mcast(qp, &gid, MLID) == EINVAL, "detach what is not attached");
}

static void send_all(unsigned n)
{
	struct ibv_ah_attr to = {
		.dlid = MLID, .port_num = 1, .is_global = 1, .grh = { .hop_limit = 1 }
	};

	memcpy(to.grh.dgid.raw, broadcast, sizeof(broadcast));
	struct ibv_ah *ah = ibv_create_ah(pd, &to);

	demand(ah, "no address");
	for (unsigned i = 0; i < n; i++) {
		struct ibv_sge from = { (uintptr_t)memory[i], SIZE, mr->lkey };
		struct ibv_send_wr wr = { .opcode = IBV_WR_SEND,
					  .send_flags = IBV_SEND_SIGNALED,
					  .sg_list = &from,
					  .num_sge = 1,
					  .wr.ud = { ah, 0xFFFFFF, QKEY } },
				   *bad;

		for (unsigned k = 0; k < SIZE; k++)
			memory[i][k] = byte_of(i, k);
		demand(!ibv_post_send(qp, &wr, &bad), "send");
		/* It is on its way: the memory is the program's again. */
		next();
		memset(memory[i], 0, SIZE);
	}
}

int main(int argc, char **argv)
{
	bool sends = argc == 3 && strcmp(argv[1], "send") == 0;
	unsigned long n = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;

	demand((sends || argc == 4) && n > 0 && n <= DEPTH, "verbs_group send N | receive N FILE");
	make();
	if (sends)
		send_all((unsigned)n);
	else
		receive((unsigned)n, argv[3]);
	return ibv_destroy_qp(qp) != 0;
}
