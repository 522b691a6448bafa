/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs_exchange WHAT GID PORT [HOST]: two programs, each on an adapter of its
 * own, that send to each other whatever verbs can send, and compare every byte.
 * The one without HOST listens; either is the requester in turn. WHAT is "all",
 * or "reliable" where frames are lost; GID is the index of the port's address.
 * "alone": it sends to an unused address, and PORT is not used.
 * Says how many exchanges there were, or the first thing that was wrong.
 */
#include <arpa/inet.h>
#include <infiniband/verbs.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "verbs_meet.h"

enum {
	MOST = 1 << 20,
	GUARD = 64,
	GRH = 40,
	QKEY = 0x11223344,
	IMM = 0x01020304,
	UNTOUCHED = 0xEE,
	PATIENCE = 120, /* s */
	READS = 4,
};

/* What one side tells the other of a queue pair. */
struct end {
	union ibv_gid gid;
	uint64_t in, out;
	uint32_t qpn, psn, rkey, readable;
	uint32_t mtu;
};

static struct {
	bool listens;
	int peer; /* the connection */
	uint8_t gid_index;
	uint32_t mtu;
	unsigned n; /* exchanges */
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *mr, *readable; /* the same memory, for reading only */
	struct ibv_qp *qp;
	struct end own, other;
	char current[96];
} rig;

/* What is sent, and where things arrive. */
static _Alignas(4096) uint8_t memory[2][MOST + GUARD];
enum { OUT, IN };

static void demand(bool holds, const char *what)
{
	if (holds)
		return;
	printf("%s, %s: %s\n", rig.listens ? "listener" : "connector", rig.current, what);
	exit(1);
}

static void give_up(int signal_number)
{
	static const char text[] = ": nothing completes\n";

	(void)signal_number;
	(void)!write(STDOUT_FILENO, rig.current, strlen(rig.current));
	(void)!write(STDOUT_FILENO, text, sizeof(text) - 1);
	_exit(1);
}

/* ---- the connection */

/* Each tells the other as much. */
static void trade(const void *own, void *other, size_t size)
{
	demand(meet_swap(rig.peer, own, other, size), "the other one is gone");
}

/* Both are here. */
static void meet(void)
{
	char one = 1;

	trade(&one, &one, 1);
}

/* ---- the adapter */

static void open_adapter(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_port_attr port;

	rig.context = list && list[0] ? ibv_open_device(list[0]) : NULL;
	demand(rig.context, "no adapter");
	demand(ibv_query_port(rig.context, 1, &port) == 0, "no port");
	rig.mtu = port.active_mtu;
	rig.pd = ibv_alloc_pd(rig.context);
	rig.cq = ibv_create_cq(rig.context, 64, NULL, NULL, 0);
	rig.mr = ibv_reg_mr(rig.pd, memory, sizeof(memory),
			    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
				    IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);
	rig.readable = ibv_reg_mr(rig.pd, memory, sizeof(memory), IBV_ACCESS_REMOTE_READ);
	demand(rig.pd && rig.cq && rig.mr && rig.readable, "no memory");
	ibv_free_device_list(list);
}

static void describe(void)
{
	static uint32_t psn = 0xFFFFF0; /* it wraps */

	rig.own = (struct end){ .in = (uintptr_t)memory[IN],
				.out = (uintptr_t)memory[OUT],
				.qpn = rig.qp->qp_num,
				.psn = psn,
				.rkey = rig.mr->rkey,
				.readable = rig.readable->rkey,
				.mtu = rig.mtu };
	psn = (psn + 0x1000) & 0xFFFFFF;
	demand(ibv_query_gid(rig.context, 1, rig.gid_index, &rig.own.gid) == 0, "no such GID");
	trade(&rig.own, &rig.other, sizeof(rig.own));
}

static struct ibv_ah_attr way(void)
{
	return (struct ibv_ah_attr){
		.grh = { .dgid = rig.other.gid, .sgid_index = rig.gid_index, .hop_limit = 64 },
		.is_global = 1,
		.port_num = 1,
	};
}

static enum ibv_mtu least_mtu(void)
{
	return rig.own.mtu < rig.other.mtu ? rig.own.mtu : rig.other.mtu;
}

static int raise_connected(bool reliable)
{
	struct ibv_qp_attr a = {
		.qp_state = IBV_QPS_RTR,
		.ah_attr = way(),
		.path_mtu = least_mtu(),
		.dest_qp_num = rig.other.qpn,
		.rq_psn = rig.other.psn,
		.max_dest_rd_atomic = READS,
		.min_rnr_timer = 12, /* 0.64 ms */
	};
	int common = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;

	if (ibv_modify_qp(rig.qp, &a,
			  reliable ? common | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER
				   : common) != 0)
		return -1;
	a = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTS,
				  .sq_psn = rig.own.psn,
				  .timeout = 17, /* 0.5 s: one may be emulated */
				  .retry_cnt = 7,
				  .rnr_retry = 7,
				  .max_rd_atomic = READS };
	return ibv_modify_qp(rig.qp, &a,
			     reliable ? IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT |
						IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
						IBV_QP_MAX_QP_RD_ATOMIC
				      : IBV_QP_STATE | IBV_QP_SQ_PSN);
}

static int raise_datagram(void)
{
	struct ibv_qp_attr a = { .qp_state = IBV_QPS_RTR };

	if (ibv_modify_qp(rig.qp, &a, IBV_QP_STATE) != 0)
		return -1;
	a.qp_state = IBV_QPS_RTS;
	a.sq_psn = rig.own.psn;
	return ibv_modify_qp(rig.qp, &a, IBV_QP_STATE | IBV_QP_SQ_PSN);
}

/* In INIT. */
static void create_pair(enum ibv_qp_type type)
{
	struct ibv_qp_init_attr init = {
		.send_cq = rig.cq,
		.recv_cq = rig.cq,
		.cap = { .max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 2, .max_recv_sge = 2 },
		.qp_type = type,
	};
	struct ibv_qp_attr a = { .qp_state = IBV_QPS_INIT,
				 .port_num = 1,
				 .qkey = QKEY,
				 .qp_access_flags = IBV_ACCESS_REMOTE_WRITE |
						    IBV_ACCESS_REMOTE_READ |
						    IBV_ACCESS_REMOTE_ATOMIC };

	rig.qp = ibv_create_qp(rig.pd, &init);
	demand(rig.qp, "no queue pair");
	if (type == IBV_QPT_UC)
		a.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
	demand(ibv_modify_qp(rig.qp, &a,
			     IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				     (type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS)) == 0,
	       "no INIT");
}

/* A queue pair on each side, connected with the other's. */
static void make_pair(enum ibv_qp_type type)
{
	create_pair(type);
	describe();
	demand((type == IBV_QPT_UD ? raise_datagram() : raise_connected(type == IBV_QPT_RC)) == 0,
	       "no RTS");
	meet();
}

static void end_pair(void)
{
	meet();
	demand(ibv_destroy_qp(rig.qp) == 0, "cannot destroy a queue pair");
}

/* ---- bytes */

static uint8_t byte_of(size_t i, unsigned salt)
{
	return (uint8_t)(i * 131 + (i >> 8) * 29 + salt * 17);
}

static void fill(unsigned salt, size_t size)
{
	for (size_t i = 0; i < size; i++)
		memory[OUT][i] = byte_of(i, salt);
	memset(memory[IN], UNTOUCHED, size + GUARD);
}

/* What arrived, at `skip`, and nothing behind it. */
static void compare(unsigned salt, size_t skip, size_t size)
{
	const uint8_t *in = memory[IN] + skip;

	for (size_t i = 0; i < size; i++)
		if (in[i] != byte_of(i, salt)) {
			char text[96];

			snprintf(text, sizeof(text), "byte %zu is 0x%02x, not 0x%02x", i, in[i],
				 byte_of(i, salt));
			demand(false, text);
		}
	for (size_t i = size; i < size + GUARD - skip; i++)
		demand(in[i] == UNTOUCHED, "bytes behind the end have changed");
}

/* ---- requests */

struct operation {
	const char *name;
	enum ibv_wr_opcode opcode;
	bool takes; /* a receive */
	bool has_imm;
};

static const struct operation operations[5] = {
	{ "send", IBV_WR_SEND, true, false },
	{ "send with immediate", IBV_WR_SEND_WITH_IMM, true, true },
	{ "write", IBV_WR_RDMA_WRITE, false, false },
	{ "write with immediate", IBV_WR_RDMA_WRITE_WITH_IMM, true, true },
	{ "read", IBV_WR_RDMA_READ, false, false },
};

static void post_receive(size_t size)
{
	struct ibv_sge sge = { (uintptr_t)memory[IN], (uint32_t)size, rig.mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = IN, .sg_list = &sge, .num_sge = 1 };
	struct ibv_recv_wr *bad;

	demand(ibv_post_recv(rig.qp, &wr, &bad) == 0, "cannot post a receive");
}

static void post(const struct ibv_send_wr *like, unsigned from, size_t size)
{
	struct ibv_send_wr wr = *like;
	struct ibv_sge sge = { (uintptr_t)memory[from], (uint32_t)size, rig.mr->lkey };
	struct ibv_send_wr *bad;

	wr.wr_id = OUT;
	wr.sg_list = &sge;
	wr.num_sge = size > 0;
	wr.send_flags |= IBV_SEND_SIGNALED;
	demand(ibv_post_send(rig.qp, &wr, &bad) == 0, "cannot post a send");
}

/* Now and then whether the other one still is there. */
static struct ibv_wc next_completion(void)
{
	struct ibv_wc wc;
	char one;
	int n;

	alarm(PATIENCE);
	for (unsigned i = 1; (n = ibv_poll_cq(rig.cq, 1, &wc)) == 0; i++)
		demand(i % 4096 != 0 || rig.peer < 0 ||
			       recv(rig.peer, &one, 1, MSG_PEEK | MSG_DONTWAIT) != 0,
		       "the other one is gone");
	alarm(0);
	demand(n == 1, "the completion queue is broken");
	return wc;
}

static void expect(uint64_t id, enum ibv_wc_status status, struct ibv_wc *out)
{
	struct ibv_wc wc = next_completion();
	char text[160];

	snprintf(text, sizeof(text), "completion %d is '%s', not '%s'", (int)wc.wr_id,
		 ibv_wc_status_str(wc.status), ibv_wc_status_str(status));
	demand(wc.wr_id == id && wc.status == status, text);
	if (out)
		*out = wc;
}

/* Which side's turn it is to ask: first the listener's, then the other's. */
static bool begin(const char *what, size_t size, int turn)
{
	bool asks = rig.listens == (turn == 0);

	snprintf(rig.current, sizeof(rig.current), "%s of %zu bytes, %s", what, size,
		 asks ? "sent here" : "sent there");
	return asks;
}

static void exchange(const struct operation *o, size_t size, int turn)
{
	bool asks = begin(o->name, size, turn);
	bool reads = o->opcode == IBV_WR_RDMA_READ;
	unsigned salt = ++rig.n;
	struct ibv_wc wc;

	fill(salt, size);
	if (!asks && o->takes)
		post_receive(size);
	meet();
	if (asks) {
		struct ibv_send_wr wr = {
			.opcode = o->opcode,
			.imm_data = htonl(IMM),
			.wr.rdma = { reads ? rig.other.out : rig.other.in, rig.other.rkey },
		};

		post(&wr, reads ? IN : OUT, size);
		expect(OUT, IBV_WC_SUCCESS, NULL);
	} else if (o->takes) {
		expect(IN, IBV_WC_SUCCESS, &wc);
		demand(wc.byte_len == size, "another length");
		demand(!o->has_imm || (wc.wc_flags & IBV_WC_WITH_IMM && ntohl(wc.imm_data) == IMM),
		       "another immediate");
	}
	meet();
	if (asks == reads)
		compare(salt, 0, size);
}

static void atomically(enum ibv_wr_opcode opcode, uint64_t compare_add, uint64_t then, int turn)
{
	const uint64_t before = 1000, swap = 0x1122334455667788;
	bool asks =
		begin(opcode == IBV_WR_ATOMIC_FETCH_AND_ADD ? "fetch and add" : "compare and swap",
		      sizeof(before), turn);
	uint64_t value;

	rig.n++;
	fill(0, sizeof(before));
	memcpy(memory[OUT], &before, sizeof(before));
	meet();
	if (asks) {
		struct ibv_send_wr wr = {
			.opcode = opcode,
			.wr.atomic = { rig.other.out, compare_add, swap, rig.other.rkey },
		};

		post(&wr, IN, sizeof(before));
		expect(OUT, IBV_WC_SUCCESS, NULL);
		memcpy(&value, memory[IN], sizeof(value));
		demand(value == before, "not what was there before");
	}
	meet();
	memcpy(&value, memory[OUT], sizeof(value));
	demand(asks || value == then, "not what should be there now");
}

/* The receive is posted when the sender has been told to wait. */
static void not_ready(size_t size, int turn)
{
	const struct timespec later = { .tv_nsec = 50000000 };
	bool asks = begin("send before the receive", size, turn);
	unsigned salt = ++rig.n;

	fill(salt, size);
	meet();
	if (asks) {
		struct ibv_send_wr wr = { .opcode = IBV_WR_SEND };

		post(&wr, OUT, size);
		expect(OUT, IBV_WC_SUCCESS, NULL);
	} else {
		nanosleep(&later, NULL);
		post_receive(size);
		expect(IN, IBV_WC_SUCCESS, NULL);
	}
	meet();
	if (!asks)
		compare(salt, 0, size);
}

/* ---- what is refused */

struct offence {
	const char *name;
	uint64_t behind; /* bytes from where it begins */
	enum ibv_wr_opcode opcode;
	uint32_t key_change; /* of the R_Key */
	enum ibv_wc_status status;
	bool key_is_readable;
};

static const struct offence offences[] = {
	{ "write with a wrong R_Key", 0, IBV_WR_RDMA_WRITE, 0x5500, IBV_WC_REM_ACCESS_ERR, false },
	{ "read with a wrong R_Key", 0, IBV_WR_RDMA_READ, 0x5500, IBV_WC_REM_ACCESS_ERR, false },
	{ "write beyond the region", sizeof(memory), IBV_WR_RDMA_WRITE, 0, IBV_WC_REM_ACCESS_ERR,
	  false },
	{ "write to what may be read", 0, IBV_WR_RDMA_WRITE, 0, IBV_WC_REM_ACCESS_ERR, true },
	{ "send longer than the receive", 0, IBV_WR_SEND, 0, IBV_WC_REM_INV_REQ_ERR, false },
};

/* Linux' rxe says of a send that is too long what it says of a bad receive. */
static void expect_refusal(const struct offence *o)
{
	enum ibv_wc_status got = next_completion().status;
	bool is_rxe_s = o->opcode == IBV_WR_SEND && got == IBV_WC_REM_OP_ERR;

	demand(got == o->status || is_rxe_s, ibv_wc_status_str(got));
}

static void offend(const struct offence *o, int turn)
{
	enum { SIZE = 100 };
	bool asks = begin(o->name, SIZE, turn);
	bool sends = o->opcode == IBV_WR_SEND;

	make_pair(IBV_QPT_RC);
	fill(++rig.n, SIZE);
	if (!asks && sends)
		post_receive(SIZE - 1);
	meet();
	if (asks) {
		uint32_t key = o->key_is_readable ? rig.other.readable : rig.other.rkey;
		struct ibv_send_wr wr = {
			.opcode = o->opcode,
			.wr.rdma = { rig.other.in + o->behind, key ^ o->key_change },
		};

		post(&wr, OUT, SIZE);
		expect_refusal(o);
	} else if (sends) {
		demand(next_completion().status != IBV_WC_SUCCESS,
		       "it completes as if all were well");
	}
	meet();
	/* Neither side's memory but, of a send, what was posted for it. */
	if (!sends)
		compare(0, 0, 0);
	end_pair();
}

/* ---- datagrams */

/* The IP header in the 40 bytes: source and destination address. */
static void check_grh(void)
{
	static const uint8_t mapped[12] = { [10] = 0xFF, [11] = 0xFF };
	const uint8_t *in = memory[IN];

	if (memcmp(rig.own.gid.raw, mapped, sizeof(mapped)) == 0)
		demand(in[20] == 0x45 && memcmp(in + 32, rig.other.gid.raw + 12, 4) == 0 &&
			       memcmp(in + 36, rig.own.gid.raw + 12, 4) == 0,
		       "no IPv4 header before the datagram");
	else
		demand(in[0] >> 4 == 6 && memcmp(in + 8, rig.other.gid.raw, 16) == 0 &&
			       memcmp(in + 24, rig.own.gid.raw, 16) == 0,
		       "no IPv6 header before the datagram");
}

static void datagram(const struct operation *o, size_t size, int turn)
{
	bool asks = begin("datagram", size, turn);
	unsigned salt = ++rig.n;
	struct ibv_ah_attr to = way();
	struct ibv_wc wc;

	fill(salt, GRH + size);
	if (!asks)
		post_receive(GRH + size);
	meet();
	if (asks) {
		struct ibv_ah *ah = ibv_create_ah(rig.pd, &to);
		struct ibv_send_wr wr = {
			.opcode = o->opcode,
			.imm_data = htonl(IMM),
			.wr.ud = { ah, rig.other.qpn, QKEY },
		};

		demand(ah, "no address handle");
		post(&wr, OUT, size);
		expect(OUT, IBV_WC_SUCCESS, NULL);
		ibv_destroy_ah(ah);
	} else {
		expect(IN, IBV_WC_SUCCESS, &wc);
		demand(wc.byte_len == GRH + size && wc.wc_flags & IBV_WC_GRH &&
			       wc.src_qp == rig.other.qpn,
		       "another length or sender");
		demand(!o->has_imm || (wc.wc_flags & IBV_WC_WITH_IMM && ntohl(wc.imm_data) == IMM),
		       "another immediate");
		check_grh();
		compare(salt, GRH, size);
	}
	meet();
}

/* ---- all of it */

static const size_t sizes[] = { 0, 1, 4095, 4096, 4097, MOST };

static void try_reliable(void)
{
	make_pair(IBV_QPT_RC);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		for (int o = 0; o < 10; o++)
			exchange(&operations[o / 2], sizes[i], o % 2);
	for (int turn = 0; turn < 2; turn++) {
		atomically(IBV_WR_ATOMIC_CMP_AND_SWP, 1000, 0x1122334455667788, turn);
		atomically(IBV_WR_ATOMIC_CMP_AND_SWP, 1001, 1000, turn);
		atomically(IBV_WR_ATOMIC_FETCH_AND_ADD, 77, 1077, turn);
		not_ready(1, turn);
		not_ready(10000, turn);
	}
	end_pair();
}

static void try_refusals(void)
{
	for (size_t i = 0; i < sizeof(offences) / sizeof(*offences); i++)
		for (int turn = 0; turn < 2; turn++)
			offend(&offences[i], turn);
}

static void try_unreliable(void)
{
	make_pair(IBV_QPT_UC);
	for (size_t i = 0; sizes[i] < MOST; i++)
		for (int turn = 0; turn < 2; turn++) {
			exchange(&operations[0], sizes[i], turn);
			exchange(&operations[1], sizes[i], turn);
			exchange(&operations[3], sizes[i], turn);
		}
	end_pair();
	make_pair(IBV_QPT_UD);
	for (size_t size = 0; size <= 1024; size = size ? size * 32 : 1)
		for (int turn = 0; turn < 2; turn++) {
			datagram(&operations[0], size, turn);
			datagram(&operations[1], size, turn);
		}
	end_pair();
}

/* To a neighbour's address, one more than ours. */
static void try_alone(void)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND };

	create_pair(IBV_QPT_RC);
	rig.own.mtu = rig.other.mtu = rig.mtu;
	ibv_query_gid(rig.context, 1, rig.gid_index, &rig.other.gid);
	rig.other.gid.raw[15]++;
	rig.other.qpn = 17;
	demand(raise_connected(true) == 0, "no RTS");
	post(&wr, OUT, 1);
	expect(OUT, IBV_WC_SUCCESS, NULL);
}

int main(int n, char **words)
{
	if (n < 4 || n > 5)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	signal(SIGALRM, give_up);
	rig.peer = -1;
	snprintf(rig.current, sizeof(rig.current), "setup");
	rig.listens = n == 4;
	rig.gid_index = (uint8_t)strtoul(words[2], NULL, 10);
	open_adapter();
	if (strcmp(words[1], "alone") == 0)
		try_alone();
	rig.peer = rig.listens ? meet_listen(words[3]) : meet_connect(words[4], words[3], PATIENCE);
	demand(rig.peer >= 0, "no peer answers");
	try_reliable();
	if (strcmp(words[1], "all") == 0) {
		try_refusals();
		try_unreliable();
	}
	printf("%u exchanges, MTU %u\n", rig.n, 128U << least_mtu());
	return 0;
}
