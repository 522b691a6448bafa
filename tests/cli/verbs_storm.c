/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs_storm PROCESSES PAIRS KILLS PAUSE: processes on the hosts that the
 * environment names, each connected to all others by queue pairs that send,
 * write and read, and check every byte. KILLS times a process is killed and begun
 * again; between two kills PAUSE messages pass, or (0) enough that every queue
 * pair of the fabric has carried some. All others continue, and at the end no
 * process has descriptors or mappings of killed ones.
 */
#include <dirent.h>
#include <infiniband/verbs.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	PROCESSES = 32,
	PAIRS = 256,
	RECEIVES = 4,
	BYTES = 96, /* of a message; small ones travel in completions */
	LARGE = 600,
	OPERATIONS = 3,
	QP_ROOM = 8,
};

#define RECEIVE (UINT64_C(1) << 32) /* in the id of a work request */

/* What a process shows to the others. */
struct row {
	_Atomic unsigned generation; /* 0: not ready */
	uint16_t lid;
	uint32_t rkey;
	uint64_t landing; /* where others write, LARGE bytes a queue pair */
	uint32_t qpns[PAIRS];
	/* A connection is what its leader, the lower process, has begun last,
	 * and the other one has taken up. */
	_Atomic uint64_t sessions[PAIRS];
	_Atomic uint64_t carried[PAIRS]; /* messages, of this generation */
	_Atomic uint64_t done;           /* of all generations */
};

static struct board {
	_Atomic bool ends;
	struct row rows[PROCESSES];
} * board;

static unsigned n_processes, n_pairs, self;

static void demand(bool holds, const char *what)
{
	if (holds)
		return;
	printf("process %u: %s\n", self, what);
	fflush(stdout);
	_exit(1);
}

static void nap(void)
{
	const struct timespec t = { .tv_nsec = 1000000 };

	nanosleep(&t, NULL);
}

/* ---- a process */

struct pair {
	struct ibv_qp *qp;
	unsigned peer, mate; /* the process, and its queue pair */
	unsigned generation; /* of the peer that it is connected to; 0: none */
	uint64_t session, refused;
	bool was_taken_up, is_busy, has_failed;
	uint32_t sent, received;
};

static struct {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	uint64_t sessions;
	struct pair pairs[PAIRS];
	struct {
		char landing[PAIRS][LARGE];
		char out[PAIRS][LARGE], back[PAIRS][LARGE];
		char in[PAIRS][RECEIVES][LARGE];
	} memory;
} me;

static char letter(uint64_t session, unsigned from, uint32_t n, unsigned i)
{
	return (char)(session * 31 + from * 7 + n * 13 + i);
}

static void fill(char *to, uint64_t session, uint32_t n, unsigned size)
{
	for (unsigned i = 0; i < size; i++)
		to[i] = letter(session, self, n, i);
}

static void check(const char *at, uint64_t session, unsigned from, uint32_t n, unsigned size,
		  const char *what)
{
	for (unsigned i = 0; i < size; i++)
		demand(at[i] == letter(session, from, n, i), what);
}

static unsigned size_of(uint32_t n)
{
	return n % 2 ? LARGE : BYTES;
}

static void post_receive(unsigned k, unsigned place)
{
	struct ibv_sge sge = { (uintptr_t)me.memory.in[k][place], LARGE, me.mr->lkey };
	struct ibv_recv_wr *bad,
		wr = { .wr_id = RECEIVE | (k * RECEIVES + place), .sg_list = &sge, .num_sge = 1 };

	demand(ibv_post_recv(me.pairs[k].qp, &wr, &bad) == 0, "post a receive");
}

static void modify(struct ibv_qp *qp, struct ibv_qp_attr a, int mask)
{
	demand(ibv_modify_qp(qp, &a, IBV_QP_STATE | mask) == 0, "modify");
}

/* The first PSN, so that no queue pair accepts packets of another session. */
static uint32_t psn_of(uint64_t session)
{
	return (uint32_t)(session * UINT64_C(0x9E3779B97F4A7C15) >> 40);
}

/* As new, and connected to the peer as it is now. */
static void connect_pair(unsigned k, uint64_t session)
{
	struct pair *p = &me.pairs[k];
	const struct row *there = &board->rows[p->peer];

	modify(p->qp, (struct ibv_qp_attr){ .qp_state = IBV_QPS_RESET }, 0);
	modify(p->qp,
	       (struct ibv_qp_attr){ .qp_state = IBV_QPS_INIT,
				     .port_num = 1,
				     .qp_access_flags =
					     IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ },
	       IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
	modify(p->qp,
	       (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTR,
				     .path_mtu = IBV_MTU_1024,
				     .dest_qp_num = there->qpns[p->mate],
				     .rq_psn = psn_of(session),
				     .max_dest_rd_atomic = 1,
				     .min_rnr_timer = 1,
				     .ah_attr = { .dlid = there->lid, .port_num = 1 } },
	       IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
		       IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
	modify(p->qp,
	       (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTS,
				     .sq_psn = psn_of(session),
				     .timeout = 14,
				     .retry_cnt = 7,
				     .rnr_retry = 7,
				     .max_rd_atomic = 1 },
	       IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
		       IBV_QP_MAX_QP_RD_ATOMIC);
	p->session = session;
	p->is_busy = p->has_failed = p->was_taken_up = false;
	p->sent = p->received = 0;
	for (unsigned i = 0; i < RECEIVES; i++)
		post_receive(k, i);
	atomic_store(&board->rows[self].sessions[k], session);
}

/* True if both are connected to each other. */
static bool lead(unsigned k, unsigned generation)
{
	struct pair *p = &me.pairs[k];
	uint64_t taken = atomic_load(&board->rows[p->peer].sessions[p->mate]);

	if (p->generation != generation || p->has_failed ||
	    (p->was_taken_up && taken != p->session)) {
		p->generation = generation;
		connect_pair(k, ++me.sessions);
		return false;
	}
	p->was_taken_up |= taken == p->session;
	return p->was_taken_up;
}

static bool follow(unsigned k, unsigned generation)
{
	struct pair *p = &me.pairs[k];
	uint64_t begun = atomic_load(&board->rows[p->peer].sessions[p->mate]);

	if (p->has_failed && p->session != p->refused) {
		p->refused = p->session;
		atomic_store(&board->rows[self].sessions[k], 0);
	}
	if (begun != 0 && begun != p->session && begun != p->refused) {
		p->generation = generation;
		connect_pair(k, begun);
	}
	return p->session != 0 && p->session == begun && !p->has_failed;
}

static void send_one(unsigned k)
{
	static const enum ibv_wr_opcode operations[OPERATIONS] = { IBV_WR_SEND, IBV_WR_RDMA_WRITE,
								   IBV_WR_RDMA_READ };
	struct pair *p = &me.pairs[k];
	const struct row *there = &board->rows[p->peer];
	uint32_t kind = p->sent % OPERATIONS, n = p->sent / OPERATIONS;
	bool reads = operations[kind] == IBV_WR_RDMA_READ;
	struct ibv_sge sge = { (uintptr_t)(reads ? me.memory.back[k] : me.memory.out[k]),
			       size_of(n), me.mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.wr_id = k,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = operations[kind],
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { there->landing + (uint64_t)p->mate * LARGE, there->rkey },
	};

	if (kind == 0)
		fill(me.memory.out[k], p->session, n, LARGE);
	p->is_busy = true;
	/* It may have failed meanwhile. */
	if (ibv_post_send(p->qp, &wr, &bad) != 0)
		p->has_failed = true;
}

static void on_completion(const struct ibv_wc *wc, bool is_receive)
{
	unsigned k = (unsigned)wc->wr_id / (is_receive ? RECEIVES : 1);
	struct pair *p = &me.pairs[k];

	if (wc->status != IBV_WC_SUCCESS) {
		demand(wc->status == IBV_WC_RETRY_EXC_ERR || wc->status == IBV_WC_WR_FLUSH_ERR ||
			       wc->status == IBV_WC_REM_ACCESS_ERR ||
			       wc->status == IBV_WC_REM_OP_ERR,
		       ibv_wc_status_str(wc->status));
		p->has_failed = true;
		return;
	}
	if (is_receive) {
		uint32_t n = p->received++;

		demand(wc->byte_len == size_of(n), "a message's length");
		check(me.memory.in[k][wc->wr_id % RECEIVES], p->session, p->peer, n, wc->byte_len,
		      "a message's bytes");
		post_receive(k, (unsigned)wc->wr_id % RECEIVES);
		return;
	}
	uint32_t n = p->sent / OPERATIONS;

	if (p->sent++ % OPERATIONS == OPERATIONS - 1)
		check(me.memory.back[k], p->session, self, n, size_of(n),
		      "what was written is not what is read");
	p->is_busy = false;
	atomic_fetch_add(&board->rows[self].carried[k], 1);
	atomic_fetch_add(&board->rows[self].done, 1);
}

static bool poll_all(void)
{
	struct ibv_wc wc[16];
	int n = ibv_poll_cq(me.cq, 16, wc);

	demand(n >= 0, "polling fails");
	for (int i = 0; i < n; i++) {
		/* Which it is, also where a flushed one does not say. */
		bool is_receive = wc[i].wr_id & RECEIVE;

		wc[i].wr_id &= ~RECEIVE;
		on_completion(&wc[i], is_receive);
	}
	return n > 0;
}

static void make(void)
{
	int n;
	struct ibv_device **list = ibv_get_device_list(&n);
	struct ibv_port_attr port;
	struct row *row = &board->rows[self];

	demand(list && n > 0, "no adapter");
	me.context = ibv_open_device(list[0]);
	demand(me.context, "open");
	ibv_free_device_list(list);
	me.pd = ibv_alloc_pd(me.context);
	me.cq = ibv_create_cq(me.context, (int)n_pairs * (RECEIVES + 1) + QP_ROOM, NULL, NULL, 0);
	me.mr = ibv_reg_mr(me.pd, &me.memory, sizeof(me.memory),
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
				   IBV_ACCESS_REMOTE_READ);
	demand(me.pd && me.cq && me.mr, "make");
	demand(ibv_query_port(me.context, 1, &port) == 0, "query");
	row->lid = port.lid;
	row->rkey = me.mr->rkey;
	row->landing = (uintptr_t)me.memory.landing;
	for (unsigned k = 0; k < n_pairs; k++) {
		struct pair *p = &me.pairs[k];
		unsigned others = n_processes - 1;
		unsigned distance = 1 + k % others;
		struct ibv_qp_init_attr init = {
			.send_cq = me.cq,
			.recv_cq = me.cq,
			.cap = { 2, RECEIVES, 1, 1, 0 },
			.qp_type = IBV_QPT_RC,
		};

		p->qp = ibv_create_qp(me.pd, &init);
		demand(p->qp, "no queue pair");
		p->peer = (self + distance) % n_processes;
		p->mate = k / others * others + n_processes - distance - 1;
		row->qpns[k] = p->qp->qp_num;
	}
}

/* ---- what a process holds */

static unsigned descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned n = 0;

	demand(dir, "/proc/self/fd");
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

/* Memories of adapters: our own, and those of peers. */
static unsigned mappings(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[512];
	unsigned n = 0;

	demand(f, "/proc/self/maps");
	while (fgets(line, sizeof(line), f))
		n += strstr(line, "memfd:") != NULL;
	fclose(f);
	return n;
}

static bool has_carried(const struct row *row)
{
	for (unsigned k = 0; k < n_pairs; k++)
		if (atomic_load(&row->carried[k]) < OPERATIONS)
			return false;
	return true;
}

static bool step(void)
{
	bool moved = poll_all();

	for (unsigned k = 0; k < n_pairs; k++) {
		struct pair *p = &me.pairs[k];
		unsigned now = atomic_load(&board->rows[p->peer].generation);
		bool ready = now != 0 && (self < p->peer ? lead(k, now) : follow(k, now));

		if (ready && !p->is_busy) {
			send_one(k);
			moved = true;
		}
	}
	return moved;
}

static void work(unsigned generation)
{
	unsigned held = 0, mapped = 0;

	make();
	/* Those of earlier generations are never seen again. */
	me.sessions = (uint64_t)generation << 32;
	atomic_store(&board->rows[self].generation, generation);
	while (!atomic_load(&board->ends)) {
		if (!step())
			nap();
		if (held == 0 && has_carried(&board->rows[self])) {
			held = descriptors();
			mapped = mappings();
		}
	}
	/* A process may have been dead then; a doorbell is opened at its first use. */
	demand(held == 0 || descriptors() <= held + n_processes, "descriptors of the dead");
	demand(mapped == 0 || mappings() <= mapped + n_processes, "memory of the dead");
	_exit(0);
}

/* ---- all of them */

static pid_t start(unsigned i, unsigned generation)
{
	char rank[16];

	fflush(stdout);
	pid_t child = fork();

	demand(child >= 0, "fork");
	if (child > 0)
		return child;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	self = i;
	/* The host of this rank. */
	snprintf(rank, sizeof(rank), "%u", i);
	setenv("OMPI_COMM_WORLD_RANK", rank, 1);
	work(generation);
	_exit(1);
}

static void bury(pid_t child, unsigned i)
{
	struct row *row = &board->rows[i];

	kill(child, SIGKILL);
	demand(waitpid(child, NULL, 0) == child, "wait");
	atomic_store(&row->generation, 0);
	for (unsigned k = 0; k < n_pairs; k++) {
		atomic_store(&row->sessions[k], 0);
		atomic_store(&row->carried[k], 0);
	}
}

static uint64_t all_done(void)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < n_processes; i++)
		sum += atomic_load(&board->rows[i].done);
	return sum;
}

/* Until `pause` messages have passed, or (0) all queue pairs carry some. */
static void await(const pid_t *children, uint64_t pause)
{
	enum { PATIENCE = 240000 };
	uint64_t before = all_done();
	unsigned tries = 0, i = 0;

	for (unsigned k = 0; pause == 0 && k < n_processes * n_pairs; k++)
		atomic_store(&board->rows[k / n_pairs].carried[k % n_pairs], 0);
	while (pause ? all_done() < before + pause : i < n_processes) {
		i += pause == 0 && has_carried(&board->rows[i]);
		if (i < n_processes)
			nap();
		for (unsigned k = 0; k < n_processes; k++)
			demand(waitpid(children[k], NULL, WNOHANG) == 0,
			       "a process has ended by itself");
		demand(tries++ < PATIENCE, "they do not continue");
	}
}

int main(int argc, char **argv)
{
	pid_t children[PROCESSES];
	uint32_t draw = 1;

	demand(argc == 5, "PROCESSES PAIRS KILLS PAUSE");
	n_processes = (unsigned)strtoul(argv[1], NULL, 10);
	n_pairs = (unsigned)strtoul(argv[2], NULL, 10);
	demand(n_processes > 1 && n_processes <= PROCESSES && n_pairs > 0 && n_pairs <= PAIRS &&
		       n_pairs % (n_processes - 1) == 0,
	       "as many queue pairs to each of the others");
	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	demand(board != MAP_FAILED, "memory");
	for (unsigned i = 0; i < n_processes; i++)
		children[i] = start(i, 1);
	await(children, 0);
	for (unsigned n = 0; n < strtoul(argv[3], NULL, 10); n++) {
		draw = draw * 1664525 + 1013904223;
		unsigned victim = (draw >> 16) % n_processes;

		bury(children[victim], victim);
		children[victim] = start(victim, n + 2);
		await(children, strtoul(argv[4], NULL, 10));
	}
	await(children, 0);
	atomic_store(&board->ends, true);
	for (unsigned i = 0; i < n_processes; i++) {
		int status;

		demand(waitpid(children[i], &status, 0) == children[i] && status == 0,
		       "a survivor fails");
	}
	printf("%s deaths, %llu messages\n", argv[3], (unsigned long long)all_done());
	return 0;
}
