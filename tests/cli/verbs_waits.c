/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs_waits: each wait with a timeout lasts as long as it says on the simulated clock, with
 * nothing in the fabric and during a message that is sent again for ever.
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "verbs_pair.h"

#define NS_PER_S INT64_C(1000000000)

static struct {
	struct ibv_cq *cq;
	struct ibv_qp *from, *to;
	struct ibv_mr *mr;
	struct ibv_port_attr port;
	char byte;
	int pipe[2], epoll;
	pthread_mutex_t lock;
	pthread_cond_t changed, by_monotonic;
	sem_t count;
} rig = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

static void demand(int holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "verbs_waits: %s\n", what);
	exit(1);
}

static int64_t now(clockid_t which)
{
	struct timespec t;

	clock_gettime(which, &t);
	return t.tv_sec * NS_PER_S + t.tv_nsec;
}

static int64_t machine_now(void)
{
	struct timespec t;

	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
	return t.tv_sec * NS_PER_S + t.tv_nsec;
}

static struct timespec time_of(int64_t ns)
{
	return (struct timespec){ ns / NS_PER_S, ns % NS_PER_S };
}

/* ---- waits; each returns 0 after its timeout */

static int by_nanosleep(int64_t ns)
{
	const struct timespec t = time_of(ns);

	return nanosleep(&t, NULL);
}

static int by_usleep(int64_t ns)
{
	return usleep((useconds_t)(ns / 1000));
}

static int by_deadline(int64_t ns)
{
	const struct timespec t = time_of(now(CLOCK_REALTIME) + ns);

	return clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &t, NULL);
}

static int by_poll(int64_t ns)
{
	struct pollfd p = { .fd = rig.pipe[0], .events = POLLIN };

	return poll(&p, 1, (int)(ns / 1000000));
}

static int by_ppoll(int64_t ns)
{
	struct pollfd p = { .fd = rig.pipe[0], .events = POLLIN };
	const struct timespec t = time_of(ns);

	return ppoll(&p, 1, &t, NULL);
}

static int by_select(int64_t ns)
{
	struct timeval t = { ns / NS_PER_S, ns % NS_PER_S / 1000 };
	fd_set set;

	FD_ZERO(&set);
	FD_SET(rig.pipe[0], &set);
	return select(rig.pipe[0] + 1, &set, NULL, NULL, &t);
}

static int by_epoll(int64_t ns)
{
	struct epoll_event e;

	return epoll_wait(rig.epoll, &e, 1, (int)(ns / 1000000));
}

static int on_condition(pthread_cond_t *c, clockid_t which, int64_t ns)
{
	const struct timespec t = time_of(now(which) + ns);
	int error = 0;

	pthread_mutex_lock(&rig.lock);
	while (error == 0)
		error = pthread_cond_timedwait(c, &rig.lock, &t);
	pthread_mutex_unlock(&rig.lock);
	return error != ETIMEDOUT;
}

static int by_condition(int64_t ns)
{
	return on_condition(&rig.changed, CLOCK_REALTIME, ns);
}

static int by_monotonic_condition(int64_t ns)
{
	return on_condition(&rig.by_monotonic, CLOCK_MONOTONIC, ns);
}

static int on_semaphore(int64_t ns)
{
	const struct timespec t = time_of(now(CLOCK_REALTIME) + ns);

	return sem_timedwait(&rig.count, &t);
}

static int by_semaphore(int64_t ns)
{
	return on_semaphore(ns) != -1 || errno != ETIMEDOUT;
}

static int by_polling(int64_t ns)
{
	int64_t end = now(CLOCK_MONOTONIC) + ns;
	struct ibv_wc wc;

	while (now(CLOCK_MONOTONIC) < end)
		demand(ibv_poll_cq(rig.cq, 1, &wc) == 0, "a completion");
	return 0;
}

static int by_polling_and_sleeping(int64_t ns)
{
	int64_t end = now(CLOCK_MONOTONIC) + ns;
	struct ibv_wc wc;

	while (now(CLOCK_MONOTONIC) < end) {
		demand(ibv_poll_cq(rig.cq, 1, &wc) == 0, "a completion");
		usleep(1000);
	}
	return 0;
}

static const struct {
	const char *name;
	int (*wait)(int64_t ns);
	int64_t excess; /* ns that it may take beyond its timeout */
} waits[] = {
	{ "nanosleep", by_nanosleep, 100000 },
	{ "usleep", by_usleep, 100000 },
	{ "clock_nanosleep", by_deadline, 100000 },
	{ "poll", by_poll, 100000 },
	{ "ppoll", by_ppoll, 100000 },
	{ "select", by_select, 100000 },
	{ "epoll_wait", by_epoll, 100000 },
	{ "pthread_cond_timedwait", by_condition, 100000 },
	{ "pthread_cond_timedwait, monotonic", by_monotonic_condition, 100000 },
	{ "sem_timedwait", by_semaphore, 100000 },
	/* While a program polls, the clock advances in steps. */
	{ "polling a queue", by_polling, NS_PER_S },
	{ "polling a queue and sleeping", by_polling_and_sleeping, NS_PER_S },
};

static void try_all(int64_t ns, const char *during, int takes_time)
{
	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		int64_t begin = now(CLOCK_MONOTONIC), machine = machine_now();

		demand(waits[i].wait(ns) == 0, waits[i].name);
		int64_t took = now(CLOCK_MONOTONIC) - begin;

		printf("%s: %s: %lld ns\n", during, waits[i].name, (long long)took);
		demand(took >= ns && took < ns + waits[i].excess, waits[i].name);
		demand(!takes_time || machine_now() - machine >= ns * 9 / 10, "too early");
	}
}

/* ---- a descriptor that becomes ready ends the wait */

static void *write_later(void *unused)
{
	usleep(20000);
	demand(write(rig.pipe[1], &rig.byte, 1) == 1, "write");
	return unused;
}

static void try_early_end(void)
{
	int64_t begin = now(CLOCK_MONOTONIC);
	pthread_t thread;
	char byte;

	demand(pthread_create(&thread, NULL, write_later, NULL) == 0, "a thread");
	demand(by_poll(10 * NS_PER_S) == 1, "poll does not end early");
	pthread_join(thread, NULL);
	demand(read(rig.pipe[0], &byte, 1) == 1, "read");
	demand(now(CLOCK_MONOTONIC) - begin < NS_PER_S, "poll ends late");
}

/* ---- a signal handler ends the wait, as signal(7) says */

static _Atomic int is_interrupted;

static void on_signal(int number)
{
	(void)number;
}

/* Until the wait has ended: a signal may come before the wait begins. */
static void *signal_later(void *waiter)
{
	while (!is_interrupted) {
		usleep(20000);
		demand(pthread_kill(*(pthread_t *)waiter, SIGUSR1) == 0, "pthread_kill");
	}
	return NULL;
}

static struct timespec rest;

static int rest_of_nanosleep(int64_t ns)
{
	const struct timespec t = time_of(ns);

	return nanosleep(&t, &rest);
}

static int rest_of_sleep(int64_t ns)
{
	unsigned left = sleep((unsigned)(ns / NS_PER_S));

	demand(left > 0 && left < ns / NS_PER_S, "the rest of sleep");
	errno = EINTR;
	return -1;
}

static int error_of_deadline(int64_t ns)
{
	errno = by_deadline(ns);
	return -1;
}

static void try_signals(void)
{
	static const struct {
		const char *name;
		int (*wait)(int64_t ns);
	} all[] = {
		{ "nanosleep", rest_of_nanosleep },
		{ "sleep", rest_of_sleep },
		{ "clock_nanosleep", error_of_deadline },
		{ "poll", by_poll },
		{ "ppoll", by_ppoll },
		{ "select", by_select },
		{ "epoll_wait", by_epoll },
		{ "sem_timedwait", on_semaphore },
	};
	const int64_t ns = 100 * NS_PER_S;
	pthread_t self = pthread_self(), thread;

	signal(SIGUSR1, on_signal);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		int64_t begin = now(CLOCK_MONOTONIC);

		is_interrupted = 0;
		demand(pthread_create(&thread, NULL, signal_later, &self) == 0, "a thread");
		demand(all[i].wait(ns) == -1 && errno == EINTR, all[i].name);
		int64_t took = now(CLOCK_MONOTONIC) - begin;

		is_interrupted = 1;
		pthread_join(thread, NULL);
		demand(took < ns / 2, all[i].name);
		if (i == 0) {
			int64_t left = rest.tv_sec * NS_PER_S + rest.tv_nsec;

			demand(left <= ns && left >= ns - took, "the rest of nanosleep");
		}
	}
}

/* ---- the adapter */

static void open_all(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = list && list[0] ? ibv_open_device(list[0]) : NULL;

	demand(context && !ibv_query_port(context, 1, &rig.port), "no adapter");
	struct ibv_pd *pd = ibv_alloc_pd(context);
	struct ibv_qp_init_attr init = { .qp_type = IBV_QPT_RC, .cap = { 1, 1, 1, 1, 0 } };

	rig.cq = ibv_create_cq(context, 4, NULL, NULL, 0);
	rig.mr = ibv_reg_mr(pd, &rig.byte, 1, IBV_ACCESS_LOCAL_WRITE);
	init.send_cq = init.recv_cq = rig.cq;
	rig.from = ibv_create_qp(pd, &init);
	rig.to = ibv_create_qp(pd, &init);
	demand(rig.mr && rig.from && rig.to, "no queue pair");
}

/* A message that finds no receive is sent again for ever. */
static void send_one(void)
{
	const struct pair_rules rules = {
		.lid = rig.port.lid, .timeout = 14, .retries = 7, .rnr_retries = 7
	};
	struct ibv_sge from = { (uintptr_t)&rig.byte, 1, rig.mr->lkey };
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND, .sg_list = &from, .num_sge = 1 }, *bad;

	demand(!pair_raise(rig.from, rig.to, &rules) && !pair_raise(rig.to, rig.from, &rules),
	       "not connected");
	demand(!ibv_post_send(rig.from, &wr, &bad), "no send");
}

int main(void)
{
	pthread_condattr_t monotonic;
	struct epoll_event e = { .events = EPOLLIN };

	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&rig.by_monotonic, &monotonic);
	demand(pipe(rig.pipe) == 0 && sem_init(&rig.count, 0, 0) == 0, "a pipe");
	rig.epoll = epoll_create1(0);
	demand(epoll_ctl(rig.epoll, EPOLL_CTL_ADD, rig.pipe[0], &e) == 0, "epoll");
	open_all();
	try_all(NS_PER_S / 20, "idle", 1);
	try_early_end();
	try_signals();
	send_one();
	try_all(NS_PER_S / 100, "busy", 0);
	return 0;
}
