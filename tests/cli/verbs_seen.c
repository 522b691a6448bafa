/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs_seen PORT [HOST [steps]]: two programs on adapters of a live fabric
 * send to each other; the one with HOST says which packets must have crossed
 * the cable of either, by the architecture, a line for each in the order of
 * its posting. With "steps" it says "next" after each part, to standard error,
 * and continues when it may read a line.
 *
 *	OPCODE PSN QP ADDRESS R_KEY LENGTH IMMEDIATE SOLICITED CONTENT
 *
 * with "-" for what it has not; acknowledgements without content are left out.
 */
#include <arpa/inet.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verbs_meet.h"

enum { MTU = 1024, SIZE = 8192, QKEY = 0x11111111, DEPTH = 16, GRH = 40 };
enum { RC, UC, UD, KINDS };

struct end {
	uint32_t qpn[KINDS], psn[KINDS], rkey;
	uint64_t at;
	union ibv_gid gid;
	uint16_t lid;
};

static struct {
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	struct ibv_qp *qp[KINDS];
	struct end own, other;
	uint32_t psn[KINDS]; /* of the next packet */
} rig;
static _Alignas(4096) uint8_t memory[4 * SIZE];
/* What is sent, what comes, what the other reads and what it writes. */
enum { OUT = 0, IN = SIZE, READ = 2 * SIZE, WRITTEN = 3 * SIZE };

static void demand(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "verbs_seen: %s\n", what);
	exit(1);
}

static uint8_t byte_of(size_t i, bool listens)
{
	return (uint8_t)(i * 7 + i / 251 + (listens ? 100 : 3));
}

/* ---- queue pairs */

static void open_all(bool listens)
{
	int n;
	struct ibv_device **list = ibv_get_device_list(&n);
	struct ibv_context *context = n > 0 ? ibv_open_device(list[0]) : NULL;
	struct ibv_port_attr port;
	static const enum ibv_qp_type types[] = { IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD };

	demand(context && !ibv_query_port(context, 1, &port), "no adapter");
	demand(!ibv_query_gid(context, 1, 0, &rig.own.gid), "no GID");
	rig.pd = ibv_alloc_pd(context);
	rig.cq = ibv_create_cq(context, 64, NULL, NULL, 0);
	for (size_t i = 0; i < sizeof(memory); i++)
		memory[i] = byte_of(i, listens);
	rig.mr = ibv_reg_mr(rig.pd, memory, sizeof(memory),
			    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |
				    IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC);
	demand(rig.mr, "no memory");
	for (int i = 0; i < KINDS; i++) {
		struct ibv_qp_init_attr init = {
			.send_cq = rig.cq,
			.recv_cq = rig.cq,
			.qp_type = types[i],
			.cap = { DEPTH, DEPTH, 4, 1, 64 },
		};

		rig.qp[i] = ibv_create_qp(rig.pd, &init);
		demand(rig.qp[i], "no queue pair");
		rig.own.qpn[i] = rig.qp[i]->qp_num;
		rig.own.psn[i] = listens ? 0x10 : 0xfffffe + (uint32_t)i;
		rig.own.psn[i] &= 0xffffff;
		rig.psn[i] = rig.own.psn[i];
	}
	rig.own.rkey = rig.mr->rkey;
	rig.own.at = (uintptr_t)memory;
	rig.own.lid = port.lid;
}

static void connect_one(int kind)
{
	struct ibv_qp_attr a = { .qp_state = IBV_QPS_INIT,
				 .port_num = 1,
				 .qkey = QKEY,
				 .qp_access_flags = IBV_ACCESS_REMOTE_WRITE |
						    IBV_ACCESS_REMOTE_READ |
						    IBV_ACCESS_REMOTE_ATOMIC };
	int common = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;

	if (kind == UC)
		a.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
	demand(!ibv_modify_qp(rig.qp[kind], &a,
			      common | (kind == UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS)),
	       "INIT");
	a = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = rig.other.qpn[kind],
		.rq_psn = rig.other.psn[kind],
		.max_dest_rd_atomic = 4,
		.min_rnr_timer = 1,
		.ah_attr = { .dlid = rig.other.lid, .port_num = 1 },
	};
	common = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
	demand(!ibv_modify_qp(rig.qp[kind], &a,
			      kind == UD ? IBV_QP_STATE
			      : kind == UC
				      ? common
				      : common | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER),
	       "RTR");
	a = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTS,
				  .sq_psn = rig.own.psn[kind],
				  .timeout = 14,
				  .retry_cnt = 7,
				  .rnr_retry = 7,
				  .max_rd_atomic = 4 };
	demand(!ibv_modify_qp(rig.qp[kind], &a,
			      kind != RC ? IBV_QP_STATE | IBV_QP_SQ_PSN
					 : IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT |
						   IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
						   IBV_QP_MAX_QP_RD_ATOMIC),
	       "RTS");
}

static void receive(int kind)
{
	struct ibv_sge into = { (uintptr_t)memory + IN, SIZE, rig.mr->lkey };
	struct ibv_recv_wr wr = { .sg_list = &into, .num_sge = 1 }, *bad;

	demand(!ibv_post_recv(rig.qp[kind], &wr, &bad), "receive");
}

static void complete(int n)
{
	struct ibv_wc wc;

	while (n > 0) {
		int got = ibv_poll_cq(rig.cq, 1, &wc);

		demand(got >= 0 && (!got || wc.status == IBV_WC_SUCCESS), "it does not complete");
		n -= got;
	}
}

/* ---- what must be seen */

struct row {
	int opcode;
	int kind;
	bool has_reth, has_imm, is_solicited;
	uint64_t address;
	uint32_t length, psn;
	bool answers;
};

static void say(const struct row *r, const uint8_t *bytes, size_t n)
{
	uint32_t to = r->answers ? rig.own.qpn[r->kind] : rig.other.qpn[r->kind];

	printf("%d %u 0x%06x ", r->opcode, r->psn, to);
	if (r->has_reth)
		printf("0x%016llx 0x%08x %u ", (unsigned long long)r->address, rig.other.rkey,
		       r->length);
	else
		printf("- - - ");
	printf(r->has_imm ? "01020304 " : "- ");
	printf("%d ", r->is_solicited);
	for (size_t i = 0; i < n; i++)
		printf("%02x", bytes[i]);
	printf(n ? "\n" : "-\n");
}

/* Packets of a message; `first`, middle, last and only are its op codes. */
static void say_message(struct row r, const int codes[4], const uint8_t *bytes, size_t n)
{
	size_t packets = n ? (n + MTU - 1) / MTU : 1;
	bool solicited = r.is_solicited, reth = r.has_reth, imm = r.has_imm;

	for (size_t i = 0; i < packets; i++) {
		bool first = i == 0, last = i + 1 == packets;
		size_t here = last ? n - i * MTU : MTU;

		r.opcode = codes[first && last ? 3 : first ? 0 : last ? 2 : 1];
		r.has_reth = reth && first;
		r.has_imm = imm && last;
		r.is_solicited = solicited && last;
		say(&r, bytes + i * MTU, here);
		r.psn = (r.psn + 1) & 0xffffff;
	}
}

static void advance(int kind, size_t bytes)
{
	uint32_t packets = bytes ? (uint32_t)((bytes + MTU - 1) / MTU) : 1;

	rig.psn[kind] = (rig.psn[kind] + packets) & 0xffffff;
}

static struct ibv_send_wr request(enum ibv_wr_opcode opcode, struct ibv_sge *piece, uint64_t there)
{
	struct ibv_send_wr wr = { .opcode = opcode,
				  .send_flags = IBV_SEND_SIGNALED,
				  .sg_list = piece,
				  .num_sge = 1,
				  .imm_data = htonl(0x01020304) };

	wr.wr.rdma.remote_addr = there;
	wr.wr.rdma.rkey = rig.other.rkey;
	return wr;
}

static void post(int kind, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	demand(!ibv_post_send(rig.qp[kind], wr, &bad), "send");
}

/* ---- what is sent */

static const int send_codes[] = { 0, 1, 2, 4 }, write_codes[] = { 6, 7, 8, 10 },
		 answer_codes[] = { 13, 14, 15, 16 };

static void sends(void)
{
	struct ibv_sge pieces[] = {
		{ (uintptr_t)memory + 5, 1200, rig.mr->lkey },
		{ (uintptr_t)memory + 1205, 0, rig.mr->lkey },
		{ (uintptr_t)memory + 1205, 1301, rig.mr->lkey },
	};
	struct ibv_send_wr wr = request(IBV_WR_SEND, pieces, 0);
	struct row r = { .kind = RC, .psn = rig.psn[RC], .is_solicited = true };

	wr.num_sge = 3;
	wr.send_flags |= IBV_SEND_SOLICITED;
	post(RC, &wr);
	complete(1);
	say_message(r, send_codes, memory + 5, 2501);
	advance(RC, 2501);
	pieces[0].length = 13;
	wr = request(IBV_WR_SEND, pieces, 0);
	wr.send_flags |= IBV_SEND_INLINE;
	r = (struct row){ .kind = RC, .psn = rig.psn[RC] };
	post(RC, &wr);
	complete(1);
	say_message(r, send_codes, memory + 5, 13);
	advance(RC, 13);
}

static void writes(void)
{
	static const int with_imm[] = { 6, 7, 9, 11 };
	struct ibv_sge piece = { (uintptr_t)memory + 9, 1500, rig.mr->lkey };
	uint64_t there = rig.other.at + WRITTEN;
	struct ibv_send_wr wr = request(IBV_WR_RDMA_WRITE, &piece, there);
	struct row r = {
		.kind = RC, .psn = rig.psn[RC], .has_reth = true, .address = there, .length = 1500
	};

	post(RC, &wr);
	say_message(r, write_codes, memory + 9, 1500);
	advance(RC, 1500);
	/* What was just written is read again before that is acknowledged. */
	struct ibv_sge into = { (uintptr_t)memory + IN, 1500, rig.mr->lkey };
	struct ibv_send_wr back = request(IBV_WR_RDMA_READ, &into, there);

	r.psn = rig.psn[RC];
	r.opcode = 12;
	post(RC, &back);
	say(&r, NULL, 0);
	say_message((struct row){ .kind = RC, .psn = r.psn, .answers = true }, answer_codes,
		    memory + 9, 1500);
	advance(RC, 1500);
	complete(2);
	demand(memcmp(memory + IN, memory + 9, 1500) == 0, "what was read");
	piece.length = r.length = 100;
	wr = request(IBV_WR_RDMA_WRITE_WITH_IMM, &piece, there);
	r.psn = rig.psn[RC];
	r.has_imm = true;
	post(RC, &wr);
	complete(1);
	say_message(r, with_imm, memory + 9, 100);
	advance(RC, 100);
}

static void reads(void)
{
	struct ibv_sge into = { (uintptr_t)memory + IN, 3000, rig.mr->lkey };
	uint64_t there = rig.other.at + READ + 17;
	struct ibv_send_wr wr = request(IBV_WR_RDMA_READ, &into, there);
	struct row r = { .opcode = 12,
			 .kind = RC,
			 .psn = rig.psn[RC],
			 .has_reth = true,
			 .address = there,
			 .length = 3000 };

	post(RC, &wr);
	complete(1);
	for (size_t i = 0; i < 3000; i++)
		demand(memory[IN + i] == byte_of(READ + 17 + i, true), "what was read");
	say(&r, NULL, 0);
	r = (struct row){ .kind = RC, .psn = r.psn, .answers = true };
	say_message(r, answer_codes, memory + IN, 3000);
	advance(RC, 3000);
}

/* "OPCODE PSN QP ADDRESS R_KEY SWAP COMPARE - -", and the answer's value. */
static void atomics(void)
{
	uint64_t there = rig.other.at + READ, value, was[3];
	struct ibv_sge into[3];

	for (size_t i = 0; i < sizeof(value); i++)
		((uint8_t *)&value)[i] = byte_of(READ + i, true);
	for (int i = 0; i < 3; i++) {
		into[i] = (struct ibv_sge){ (uintptr_t)memory + IN + 8 * i, 8, rig.mr->lkey };
		struct ibv_send_wr wr =
			request(i < 2 ? IBV_WR_ATOMIC_FETCH_AND_ADD : IBV_WR_ATOMIC_CMP_AND_SWP,
				&into[i], 0);

		wr.wr.atomic.remote_addr = there;
		wr.wr.atomic.rkey = rig.other.rkey;
		wr.wr.atomic.compare_add = i < 2 ? 5 : value + 10;
		wr.wr.atomic.swap = 0x1122334455667788;
		post(RC, &wr);
		printf("%d %u 0x%06x 0x%016llx 0x%08x %llu %llu 0 -\n", i < 2 ? 20 : 19,
		       rig.psn[RC] + i, rig.other.qpn[RC], (unsigned long long)there,
		       rig.other.rkey, i < 2 ? 5ULL : 0x1122334455667788ULL,
		       i < 2 ? 0ULL : (unsigned long long)value + 10);
	}
	complete(3);
	memcpy(was, memory + IN, sizeof(was));
	for (int i = 0; i < 3; i++) {
		demand(was[i] == value + 5 * (uint64_t)i, "an atomic's answer");
		printf("18 %u 0x%06x - - - - 0 %llu\n", rig.psn[RC], rig.own.qpn[RC],
		       (unsigned long long)was[i]);
		advance(RC, 8);
	}
}

static void unreliable(void)
{
	static const int uc_writes[] = { 38, 39, 40, 42 };
	struct ibv_sge piece = { (uintptr_t)memory + 77, 2050, rig.mr->lkey };
	uint64_t there = rig.other.at + WRITTEN;
	struct ibv_send_wr wr = request(IBV_WR_RDMA_WRITE, &piece, there);
	struct ibv_ah_attr to = { .dlid = rig.other.lid, .port_num = 1 };
	struct row r = {
		.kind = UC, .psn = rig.psn[UC], .has_reth = true, .address = there, .length = 2050
	};

	post(UC, &wr);
	complete(1);
	say_message(r, uc_writes, memory + 77, 2050);
	for (int i = 0; i < 2; i++) {
		piece.length = 200;
		to.is_global = i == 1;
		to.grh.dgid = rig.other.gid;
		to.grh.hop_limit = 3;
		wr = request(IBV_WR_SEND_WITH_IMM, &piece, 0);
		wr.wr.ud.ah = ibv_create_ah(rig.pd, &to);
		wr.wr.ud.remote_qpn = rig.other.qpn[UD];
		wr.wr.ud.remote_qkey = QKEY;
		r = (struct row){ .opcode = 101, .kind = UD, .psn = rig.psn[UD], .has_imm = true };
		post(UD, &wr);
		complete(1);
		say(&r, memory + 77, 200);
		advance(UD, 200);
	}
}

/* ---- all of it */

static void send_all(bool in_steps)
{
	static void (*const parts[])(void) = { sends, writes, reads, atomics, unreliable };

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		char line[8];

		if (in_steps && i > 0) {
			fprintf(stderr, "next\n");
			demand(fgets(line, sizeof(line), stdin), "no line");
		}
		parts[i]();
	}
}

int main(int argc, char **argv)
{
	bool listens = argc == 2;
	char word = 0;

	demand(argc >= 2 && argc <= 4, "verbs_seen PORT [HOST [steps]]");
	int peer = listens ? meet_listen(argv[1]) : meet_connect(argv[2], argv[1], 120);

	demand(peer >= 0, "no peer answers");
	open_all(listens);
	demand(meet_swap(peer, &rig.own, &rig.other, sizeof(rig.own)), "the other has gone");
	for (int i = 0; i < KINDS; i++)
		connect_one(i);
	/* Two sends and a write with immediate data; two datagrams. */
	for (int i = 0; listens && i < 3; i++)
		receive(RC);
	for (int i = 0; listens && i < 2; i++)
		receive(UD);
	demand(meet_swap(peer, &word, &word, 1), "the other has gone");
	if (listens)
		complete(5);
	else
		send_all(argc == 4);
	demand(meet_swap(peer, &word, &word, 1), "the other has gone");
	return 0;
}
