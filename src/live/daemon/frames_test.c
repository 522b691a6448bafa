/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "live/daemon/daemon_internal.h"
#include "topo/generate.h"
#include "wire/cursor.h"

/* Two hosts at one switch; a program on each has an open umad. */
enum {
	TIMEOUT = 100, /* ms */
	RETRIES = 3,
	TID = 8,
	STATUS = 4,
	INITIAL = 128,
	SECOND = 1000, /* ms */
};
#define MS UINT64_C(1000000000)

struct world {
	struct topo topo;
	struct live live;
	int asker, teller; /* the test's ends of the sockets */
};

static int join(struct live *l, const char *host, uint32_t methods)
{
	struct live_greeting g = { .magic = LIVE_MAGIC, .kind = LIVE_UMAD };
	struct live_agent a = { .mgmt_class = MAD_SMP_DIRECT,
				.class_version = 1,
				.methods = { methods } };
	struct live_reply r;
	uint32_t id;
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
	daemon_adopt(l, ends[0]);
	strcpy(g.host, host);
	assert_int_equal(send(ends[1], &g, sizeof(g), 0), sizeof(g));
	daemon_turn(l, 0);
	assert_int_equal(recv(ends[1], &r, sizeof(r), MSG_DONTWAIT), sizeof(r));
	assert_int_equal(r.error, 0);
	a.connection = r.number;
	assert_int_equal(frame_register(l, &a, &id), 0);
	assert_int_equal(id, 0);
	return ends[1];
}

static int begin(void **state)
{
	const struct live_options options = { 0 };
	struct world *w = hd_alloc(1, sizeof(*w));
	struct diag d = { .status = HD_OK };

	assert_int_equal(topo_generate_text("star --hosts=2", 1, 0, &d, &w->topo), HD_OK);
	assert_true(daemon_init(&w->live, &w->topo, "/nowhere", &options));
	w->asker = join(&w->live, "h0", 0);
	w->teller = join(&w->live, "h1", 1U << MAD_GET);
	*state = w;
	return 0;
}

static int end(void **state)
{
	struct world *w = *state;

	close(w->asker);
	close(w->teller);
	daemon_fini(&w->live);
	topo_fini(&w->topo);
	free(w);
	return 0;
}

/* ---- frames */

struct frame {
	struct umad_header header;
	uint8_t mad[MAD_SIZE];
};

/* Sends a request to the other host, whose program answers SMInfo itself. */
static void ask(const struct world *w, uint16_t attribute, uint32_t tid)
{
	struct mad_header h = {
		.mgmt_class = MAD_SMP_DIRECT,
		.method = MAD_GET,
		.attribute = attribute,
		.hop_count = 2,
		.tid = tid,
	};
	struct frame f = {
		.header = { .timeout = TIMEOUT, .retries = RETRIES },
	};

	mad_write(&h, f.mad);
	store_be16(f.mad + 32, 0xFFFF);
	store_be16(f.mad + 34, 0xFFFF);
	f.mad[INITIAL + 1] = 1;
	f.mad[INITIAL + 2] = 2;
	assert_int_equal(send(w->asker, &f, sizeof(f), MSG_DONTWAIT), sizeof(f));
}

static void turn(struct world *w)
{
	daemon_turn(&w->live, 0);
}

/* Reads the next frame at `fd`; returns its size, or 0. */
static size_t hear(int fd, struct frame *f)
{
	ssize_t got = recv(fd, f, sizeof(*f), MSG_DONTWAIT);

	return got < 0 ? 0 : (size_t)got;
}

static void answer(const struct world *w, struct frame *f)
{
	f->mad[3] = MAD_GET_RESP;
	store_be16(f->mad + STATUS, 0x8000);
	f->header.timeout = 0;
	assert_int_equal(send(w->teller, f, sizeof(*f), MSG_DONTWAIT), sizeof(*f));
}

static uint32_t tid_of(const struct frame *f)
{
	return load_be32(f->mad + TID + 4);
}

/* ---- claims */

static void an_answer_is_the_end_of_its_request(void **state)
{
	struct world *w = *state;
	struct frame f;

	ask(w, ATTR_SM_INFO, 7);
	turn(w);
	assert_int_equal(hear(w->teller, &f), sizeof(f));
	answer(w, &f);
	turn(w);
	assert_int_equal(hear(w->asker, &f), sizeof(f));
	assert_int_equal(f.header.status, 0);
	assert_int_equal(tid_of(&f), 7);
	/* The request is neither repeated nor given up. */
	for (unsigned i = 1; i <= RETRIES + 2; i++)
		frames_run(&w->live, daemon_now(&w->live) + i * SECOND * MS);
	turn(w);
	assert_int_equal(hear(w->teller, &f), 0);
	assert_int_equal(hear(w->asker, &f), 0);
}

static void unanswered_request_returns_once(void **state)
{
	struct world *w = *state;
	struct frame f;

	ask(w, ATTR_SM_INFO, 7);
	turn(w);
	for (unsigned i = 0; i <= RETRIES; i++) {
		assert_int_equal(hear(w->teller, &f), sizeof(f));
		assert_int_equal(hear(w->teller, &f), 0);
		assert_int_equal(hear(w->asker, &f), 0);
		frames_run(&w->live, daemon_now(&w->live) + (i + 1) * SECOND * MS);
	}
	assert_int_equal(hear(w->asker, &f), sizeof(f));
	assert_int_equal(f.header.status, ETIMEDOUT);
	assert_int_equal(tid_of(&f), 7);
	/* The response is too late. */
	assert_int_equal(hear(w->teller, &f), 0);
	ask(w, ATTR_SM_INFO, 8);
	turn(w);
	assert_int_equal(hear(w->teller, &f), sizeof(f));
	store_be32(f.mad + TID + 4, 7);
	answer(w, &f);
	turn(w);
	assert_int_equal(hear(w->asker, &f), 0);
}

static void a_late_answer_to_a_retry_is_the_only_one(void **state)
{
	struct world *w = *state;
	struct frame first, again, f;

	ask(w, ATTR_SM_INFO, 7);
	turn(w);
	assert_int_equal(hear(w->teller, &first), sizeof(first));
	frames_run(&w->live, daemon_now(&w->live) + SECOND * MS);
	assert_int_equal(hear(w->teller, &again), sizeof(again));
	answer(w, &first);
	answer(w, &again);
	turn(w);
	assert_int_equal(hear(w->asker, &f), sizeof(f));
	assert_int_equal(hear(w->asker, &f), 0);
	assert_int_equal(w->live.n_waiting, 0);
}

/* More messages than a socket holds, to a program that reads them at the end. */
static void nothing_is_lost_for_slow_readers(void **state)
{
	enum { N = 20000, BATCH = 32 };
	struct world *w = *state;
	struct frame f;
	uint32_t heard = 0;

	for (uint32_t i = 0; i < N; i++) {
		ask(w, ATTR_NODE_INFO, i);
		if (i % BATCH == BATCH - 1)
			turn(w);
	}
	assert_non_null(w->live.clients[0].first);
	while (heard < N) {
		size_t got = hear(w->asker, &f);

		if (got == 0) {
			turn(w);
			continue;
		}
		assert_int_equal(tid_of(&f), heard);
		assert_int_equal(f.mad[3], MAD_GET_RESP);
		heard++;
	}
	turn(w);
	assert_int_equal(hear(w->asker, &f), 0);
	assert_int_equal(w->live.n_waiting, 0);
}

/* Also a connection whose descriptor is 0, after standard input was closed. */
static void every_connection_ends_with_the_daemon(void **state)
{
	int input = dup(STDIN_FILENO);
	char byte;

	begin(state);
	struct world *w = *state;

	close(STDIN_FILENO);
	int mine = join(&w->live, "h0", 0);

	assert_int_equal(w->live.clients[2].fd, STDIN_FILENO);
	end(state);
	assert_int_equal(recv(mine, &byte, 1, MSG_DONTWAIT), 0);
	close(mine);
	dup2(input, STDIN_FILENO);
	close(input);
}

static void failed_connect_leaves_no_socket(void **state)
{
	const struct live_greeting g = { .magic = LIVE_MAGIC };
	struct diag d = { .status = HD_OK };
	int next = dup(STDERR_FILENO);

	(void)state;
	close(next);
	assert_int_equal(live_dial("/nowhere", &g, &d), -1);
	assert_int_equal(d.status, HD_ERR_NOT_FOUND);
	int again = dup(STDERR_FILENO);

	close(again);
	assert_int_equal(again, next);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(an_answer_is_the_end_of_its_request, begin, end),
		cmocka_unit_test_setup_teardown(unanswered_request_returns_once, begin, end),
		cmocka_unit_test_setup_teardown(a_late_answer_to_a_retry_is_the_only_one, begin,
						end),
		cmocka_unit_test_setup_teardown(nothing_is_lost_for_slow_readers, begin, end),
		cmocka_unit_test(every_connection_ends_with_the_daemon),
		cmocka_unit_test(failed_connect_leaves_no_socket),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
