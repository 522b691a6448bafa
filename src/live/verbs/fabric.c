/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "live/passing.h"
#include "live/place.h"
#include "live/verbs/roce.h"
#include "live/verbs/timed.h"
#include "live/verbs/verbs_internal.h"

struct adapter verbs_adapter = {
	.events = -1,
	.calls = -1,
	.bell = { -1, -1 },
	.call_lock = PTHREAD_MUTEX_INITIALIZER,
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.peers_lock = PTHREAD_MUTEX_INITIALIZER,
	.waiting_lock = PTHREAD_MUTEX_INITIALIZER,
	.flow_lock = PTHREAD_MUTEX_INITIALIZER,
	.path_lock = PTHREAD_MUTEX_INITIALIZER,
	.request_lock = PTHREAD_MUTEX_INITIALIZER,
	.notes_lock = PTHREAD_MUTEX_INITIALIZER,
	.qp_numbers = { .most = LIVE_QPS },
	.cq_numbers = { .most = MAX_CQS },
	.srq_numbers = { .most = MAX_SRQS },
	.region_numbers = { .most = MAX_REGIONS },
	.next_pd = 1,
};

/* ---- questions */

static int dial(enum live_kind kind)
{
	const char *dir = getenv(LIVE_DIR);
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	struct live_greeting g = { .magic = LIVE_MAGIC, .kind = (uint32_t)kind };

	if (!dir || !live_place_of_program(g.host) ||
	    (size_t)snprintf(to.sun_path, sizeof(to.sun_path), "%s/%s", dir, LIVE_SOCKET) >=
		    sizeof(to.sun_path))
		return -1;
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0 &&
	    send(fd, &g, sizeof(g), MSG_NOSIGNAL) == (ssize_t)sizeof(g))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Receives a message of the daemon; returns the size of its text, or -1. */
static ssize_t hear(int fd, struct live_reply *r, void *text, size_t size, int *file)
{
	struct iovec parts[] = { { r, sizeof(*r) }, { text, size } };
	ssize_t got;
	int came;

	do
		got = passing_receive(fd, parts, text ? 2 : 1, 0, &came);
	while (got < 0 && errno == EINTR);
	bool is_whole = got >= (ssize_t)sizeof(*r);

	if (is_whole && file)
		*file = came;
	else if (came >= 0)
		close(came);
	return is_whole ? got - (ssize_t)sizeof(*r) : -1;
}

int verbs_daemon_call(uint32_t question, const void *asked, size_t size, struct daemon_reply *out)
{
	struct live_call c = { .question = question };
	struct live_reply r = { .error = ENODEV };
	struct iovec parts[] = { { &c, sizeof(c) }, { (void *)asked, size } };
	struct msghdr m = { .msg_iov = parts, .msg_iovlen = 2 };
	ssize_t got = -1;

	pthread_mutex_lock(&verbs_adapter.call_lock);
	if (verbs_adapter.calls < 0)
		verbs_adapter.calls = dial(LIVE_CALL);
	if (verbs_adapter.calls >= 0 && sendmsg(verbs_adapter.calls, &m, MSG_NOSIGNAL) > 0)
		got = hear(verbs_adapter.calls, &r, out->text, out->size, &out->file);
	pthread_mutex_unlock(&verbs_adapter.call_lock);
	if (got < 0)
		return ENODEV;
	out->size = (size_t)got;
	return r.error;
}

/* Sends a question whose reply is a struct of that size. */
static int ask_struct(uint32_t question, const void *asked, size_t size, void *out, size_t out_size)
{
	struct daemon_reply t = { .text = out, .size = out_size, .file = -1 };
	int error = verbs_daemon_call(question, asked, size, &t);

	return error ? error : t.size == out_size ? 0 : EIO;
}

int verbs_query_node(struct live_node *out)
{
	if (verbs_is_roce())
		return verbs_roce_query_node(out);
	return ask_struct(LIVE_ASK_NODE, NULL, 0, out, sizeof(*out));
}

int verbs_query_live_port(uint32_t number, struct live_port *out)
{
	if (verbs_is_roce())
		return verbs_roce_query_port(number, out);
	return ask_struct(LIVE_ASK_PORT, &number, sizeof(number), out, sizeof(*out));
}

uint32_t verbs_generation(void)
{
	return atomic_load_explicit(&verbs_adapter.page->generation, memory_order_acquire);
}

void verbs_query_path(struct verbs_path *p, uint32_t port, uint16_t slid, uint16_t dlid,
		      unsigned sl)
{
	uint32_t now = verbs_generation();

	if (p->generation == now)
		return;
	struct live_path_question q = {
		.port = port, .slid = slid, .dlid = dlid, .sl = (uint8_t)sl
	};
	struct live_path found = { LIVE_NO_PORT, LIVE_NO_PORT };

	if (ask_struct(LIVE_ASK_PATH, &q, sizeof(q), &found, sizeof(found)) != 0)
		found = (struct live_path){ LIVE_NO_PORT, LIVE_NO_PORT };
	*p = (struct verbs_path){ now, found.there, found.back };
}

/* ---- counters: a flow keeps its entry; entries are searched in the order of their creation */

void verbs_count_packets(uint32_t from, uint16_t dlid, unsigned sl, uint64_t packets,
			 uint64_t octets)
{
	static _Thread_local uint32_t last;
	struct live_flow *flows = verbs_adapter.memory->head.flows;
	uint32_t i = last;

	if (!flows[i].used || flows[i].from != from || flows[i].dlid != dlid || flows[i].sl != sl) {
		pthread_mutex_lock(&verbs_adapter.flow_lock);
		for (i = 0; i < LIVE_FLOWS && flows[i].used; i++)
			if (flows[i].from == from && flows[i].dlid == dlid && flows[i].sl == sl)
				break;
		if (i < LIVE_FLOWS && !flows[i].used) {
			flows[i].from = from;
			flows[i].dlid = dlid;
			flows[i].sl = (uint8_t)sl;
			atomic_store(&flows[i].used, 1);
		}
		pthread_mutex_unlock(&verbs_adapter.flow_lock);
		if (i == LIVE_FLOWS)
			return; /* more flows than the table has entries */
		last = i;
	}
	atomic_fetch_add_explicit(&flows[i].packets, packets, memory_order_relaxed);
	atomic_fetch_add_explicit(&flows[i].octets, octets, memory_order_relaxed);
}

/* ---- attaching */

static bool give_file(int fd, int file)
{
	char one = 1;
	struct iovec part = { &one, 1 };

	return passing_send(fd, &part, 1, file, 0) == 1;
}

/* Gets the daemon's page and this program's number. */
static int enter(void)
{
	struct live_reply r = { 0 };
	int file = -1;

	verbs_adapter.events = dial(LIVE_ADAPTER);
	if (verbs_adapter.events < 0 || hear(verbs_adapter.events, &r, NULL, 0, &file) < 0)
		return ENODEV;
	if (r.error || file < 0)
		return r.error ? r.error : ENODEV;
	void *page = mmap(NULL, sizeof(struct live_page), PROT_READ, MAP_SHARED, file, 0);

	close(file);
	if (page == MAP_FAILED)
		return errno;
	verbs_adapter.page = page;
	verbs_adapter.number = r.number;
	return 0;
}

static int attach(void)
{
	int file = -1;
	int error = verbs_is_roce() ? verbs_roce_open() : enter();

	if (!error)
		error = verbs_query_node(&verbs_adapter.node);
	if (!error)
		error = verbs_memory_create(&verbs_adapter.memory, &file);
	if (error)
		return error;
	verbs_adapter.self = calloc(1, sizeof(*verbs_adapter.self));
	if (!verbs_adapter.self || pipe2(verbs_adapter.bell, O_CLOEXEC | O_NONBLOCK) != 0)
		return ENOMEM;
	if (verbs_is_roce())
		verbs_adapter.number = 1; /* an Ethernet has no other programs */
	verbs_adapter.self->number = verbs_adapter.number;
	verbs_adapter.self->users = 1;
	verbs_adapter.self->pid = getpid();
	verbs_adapter.self->memory = verbs_adapter.memory;
	verbs_adapter.peers[verbs_adapter.number] = verbs_adapter.self;
	/* Initial keys are random: programs use different keys, and keys cannot be guessed. */
	if (getentropy(&verbs_adapter.first_key_use, sizeof(verbs_adapter.first_key_use)) != 0)
		return errno;
	verbs_adapter.region_numbers.next =
		(verbs_adapter.first_key_use >> KEY_USE_BITS) % MAX_REGIONS;
	verbs_adapter.memory->bell = verbs_adapter.bell[1];
	verbs_adapter.memory->head.clock.bell = verbs_adapter.bell[1];
	/* Lets peers access this memory where ptrace is restricted to descendants (Yama). */
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	if (!verbs_is_roce() && !give_file(verbs_adapter.events, file))
		error = ENODEV;
	close(file);
	if (!error && !verbs_is_roce())
		verbs_faults_load();
	if (!error)
		error = verbs_progress_start();
	if (!error && is_timed()) {
		timed_meet();
		verbs_clock_start();
	}
	return error;
}

int verbs_attach(void)
{
	int error = 0;

	pthread_mutex_lock(&verbs_adapter.lock);
	if (!verbs_adapter.is_on) {
		error = attach();
		verbs_adapter.is_on = !error;
		if (error && verbs_adapter.events >= 0) {
			close(verbs_adapter.events);
			verbs_adapter.events = -1;
		}
	}
	pthread_mutex_unlock(&verbs_adapter.lock);
	return error;
}
