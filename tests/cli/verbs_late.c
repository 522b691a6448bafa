/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs_late PORT QUEUE WAY [HOST]: the one with HOST sends a few messages to
 * the other, which has one receive at a time, in a queue of its `own` or one
 * that is `shared`, and is late with the second: it was stopped meanwhile. If
 * it waits with `poll` or `event`, no simulated time passes: each message finds
 * its receive. With `sleep` the first receive is too late.
 */
#include <infiniband/verbs.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "verbs_meet.h"
#include "verbs_pair.h"

enum { MESSAGES = 3, NS = 1000000000 };
/* Less than one that found no receive waits, more than all of them need. */
enum { MOST = 5000 }; /* ns */

struct end {
	uint32_t qpn;
	uint16_t lid;
};

static struct {
	bool is_shared, by_event, sleeps;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_srq *srq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	struct end own;
	long long begin; /* when we opened it */
	char byte;
} rig;

static void demand(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "verbs_late: %s\n", what);
	exit(1);
}

static long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (long long)t.tv_sec * NS + t.tv_nsec;
}

static void rest(long ms)
{
	const struct timespec t = { .tv_nsec = ms * 1000000 };

	nanosleep(&t, NULL);
}

/* ---- the attendant: continues this process after a stop */

static char state_of(pid_t who)
{
	char path[32], text[256] = "";

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)who);
	FILE *f = fopen(path, "r");

	if (!f)
		return 'X';
	(void)!fgets(text, sizeof(text), f);
	fclose(f);
	const char *name_end = strrchr(text, ')');

	return name_end && name_end[1] ? name_end[2] : 'X';
}

static pid_t attend(void)
{
	pid_t who = getpid(), child = fork();

	if (child != 0)
		return child;
	while (state_of(who) != 'T' && getppid() == who)
		rest(1);
	rest(50);
	kill(who, SIGCONT);
	_exit(0);
}

/* ---- queues */

static void open_all(void)
{
	int n;
	struct ibv_device **list = ibv_get_device_list(&n);
	struct ibv_context *context = n > 0 ? ibv_open_device(list[0]) : NULL;
	struct ibv_port_attr port;

	rig.begin = now();
	demand(context && !ibv_query_port(context, 1, &port), "no adapter");
	struct ibv_pd *pd = ibv_alloc_pd(context);
	struct ibv_srq_init_attr shared = { .attr = { 1, 1, 0 } };
	struct ibv_qp_init_attr init = { .qp_type = IBV_QPT_RC, .cap = { 1, 1, 1, 1, 0 } };

	rig.mr = ibv_reg_mr(pd, &rig.byte, 1, IBV_ACCESS_LOCAL_WRITE);
	rig.channel = ibv_create_comp_channel(context);
	rig.cq = ibv_create_cq(context, 4, NULL, rig.channel, 0);
	demand(rig.mr && rig.cq && !ibv_req_notify_cq(rig.cq, 0), "no queues");
	rig.srq = rig.is_shared ? ibv_create_srq(pd, &shared) : NULL;
	init.send_cq = init.recv_cq = rig.cq;
	init.srq = rig.srq;
	rig.qp = ibv_create_qp(pd, &init);
	demand(rig.qp && rig.is_shared == (rig.srq != NULL), "no queue pair");
	rig.own = (struct end){ rig.qp->qp_num, port.lid };
}

static void receive(void)
{
	struct ibv_sge into = { (uintptr_t)&rig.byte, 1, rig.mr->lkey };
	struct ibv_recv_wr wr = { .sg_list = &into, .num_sge = 1 }, *bad;

	demand(!(rig.srq ? ibv_post_srq_recv(rig.srq, &wr, &bad)
			 : ibv_post_recv(rig.qp, &wr, &bad)),
	       "a receive");
}

static void transmit(void)
{
	struct ibv_sge from = { (uintptr_t)&rig.byte, 1, rig.mr->lkey };
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND,
				  .send_flags = IBV_SEND_SIGNALED,
				  .sg_list = &from,
				  .num_sge = 1 },
			   *bad;

	demand(!ibv_post_send(rig.qp, &wr, &bad), "a send");
}

static void complete(void)
{
	struct ibv_wc wc = { .status = IBV_WC_SUCCESS };
	struct ibv_cq *cq;
	void *context;
	int got = 0;

	if (rig.by_event) {
		demand(!ibv_get_cq_event(rig.channel, &cq, &context), "event");
		ibv_ack_cq_events(cq, 1);
		demand(!ibv_req_notify_cq(cq, 0), "no notice");
	}
	while (got == 0)
		got = ibv_poll_cq(rig.cq, 1, &wc);
	demand(got == 1 && wc.status == IBV_WC_SUCCESS, "it fails");
}

/* ---- both sides */

static void serve(void)
{
	if (rig.sleeps) {
		rest(50);
		receive();
	}
	for (int i = 0; i < MESSAGES; i++) {
		complete();
		if (i == 0 && !rig.sleeps)
			raise(SIGSTOP);
		if (i + 1 < MESSAGES)
			receive();
	}
}

static void ask(void)
{
	for (int i = 0; i < MESSAGES; i++) {
		transmit();
		complete();
	}
	long long took = now() - rig.begin;

	printf("%lld ns\n", took);
	demand(took < MOST || rig.sleeps, "time went on");
}

static void meet(int peer)
{
	char word = 1;

	demand(meet_swap(peer, &word, &word, 1), "the other has gone");
}

int main(int argc, char **argv)
{
	bool listens = argc == 4;
	struct end other;

	demand(argc == 4 || argc == 5, "verbs_late PORT QUEUE WAY [HOST]");
	rig.is_shared = strcmp(argv[2], "shared") == 0;
	rig.by_event = strcmp(argv[3], "event") == 0;
	rig.sleeps = strcmp(argv[3], "sleep") == 0;
	pid_t attendant = listens && !rig.sleeps ? attend() : -1;
	int peer = listens ? meet_listen(argv[1]) : meet_connect(argv[4], argv[1], 120);

	demand(peer >= 0, "no peer answers");
	open_all();
	demand(meet_swap(peer, &rig.own, &other, sizeof(rig.own)), "the other has gone");
	const struct ibv_qp to = { .qp_num = other.qpn };
	const struct pair_rules rules = {
		.lid = other.lid, .timeout = 14, .retries = 7, .rnr_retries = 7
	};
	const char *fails = pair_raise(rig.qp, &to, &rules);

	demand(!fails, fails);
	if (listens && !rig.sleeps)
		receive();
	meet(peer);
	if (listens)
		serve();
	else
		ask();
	meet(peer);
	if (attendant > 0)
		waitpid(attendant, NULL, 0);
	return 0;
}
