/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "bench/ranks.h"

/* Each rank is a process, forked after the sockets were created. */
static int rank_body(struct bench_ranks *r)
{
	uint32_t mine = 100 + r->self, theirs = 0;
	unsigned with = r->self ^ 1;

	if (with < r->n && (!ranks_exchange(r, with, &mine, &theirs, 4) || theirs != 100 + with))
		return 1;
	if (!ranks_barrier(r))
		return 2;
	if (r->self == 0)
		ranks_finish(r);
	/* Rank 2 polls until the run is finished; rank 3 never does. */
	while (r->self == 2 && !ranks_finished(r))
		;
	return ranks_barrier(r) ? 0 : 3;
}

static void ranks_meet_and_finish(void **state)
{
	struct bench_ranks list[4] = { 0 };
	struct diag d = { .status = HD_OK };
	int bad = 0;

	(void)state;
	assert_int_equal(ranks_local(list, 4, &d), HD_OK);
	for (unsigned i = 1; i < 4; i++) {
		if (fork() == 0)
			_exit(rank_body(&list[i]));
	}
	assert_int_equal(rank_body(&list[0]), 0);
	for (unsigned i = 1; i < 4; i++) {
		int status;

		assert_true(wait(&status) > 0);
		bad |= status;
	}
	assert_int_equal(bad, 0);
	for (unsigned i = 0; i < 4; i++)
		ranks_close(&list[i]);
}

/* An address of this machine without a listener, from the kernel. */
static void free_address(char *at, size_t room)
{
	struct sockaddr_in name = { .sin_family = AF_INET };
	socklen_t len = sizeof(name);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&name, len), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&name, &len), 0);
	close(fd);
	snprintf(at, room, "127.0.0.1:%d", ntohs(name.sin_port));
}

static void processes_meet_over_tcp(void **state)
{
	struct diag d = { .status = HD_OK };
	struct bench_ranks r = { 0 };
	char at[64];
	int status = 1;

	(void)state;
	free_address(at, sizeof(at));
	pid_t child = fork();

	if (child == 0) {
		if (ranks_listen(at, &d, &r) != HD_OK)
			_exit(9);
		_exit(rank_body(&r));
	}
	for (unsigned i = 0; i < 500; i++) {
		d = (struct diag){ .status = HD_OK };
		if (ranks_connect(at, &d, &r) == HD_OK)
			break;
		poll(NULL, 0, 10);
	}
	assert_int_equal(d.status, HD_OK);
	assert_int_equal(r.n, 2);
	assert_int_equal(rank_body(&r), 0);
	waitpid(child, &status, 0);
	assert_int_equal(status, 0);
	ranks_close(&r);
}

/* Ranks 1 and 2 have sockets to rank 0 only, as processes have. */
static int apart_body(struct bench_ranks *r)
{
	uint32_t mine = 100 + r->self, theirs = 0;

	if (r->self == 0)
		return ranks_carry(r, 1, 2, 4) && ranks_barrier(r) ? 0 : 1;
	if (!ranks_exchange(r, 3 - r->self, &mine, &theirs, 4) || theirs != 100 + (3 - r->self))
		return 2;
	return ranks_barrier(r) ? 0 : 3;
}

static void rank_0_carries_what_others_exchange(void **state)
{
	struct bench_ranks list[3] = { 0 };
	struct diag d = { .status = HD_OK };
	int bad = 0;

	(void)state;
	assert_int_equal(ranks_local(list, 3, &d), HD_OK);
	close(list[1].fd[2]);
	close(list[2].fd[1]);
	list[1].fd[2] = list[2].fd[1] = -1;
	for (unsigned i = 0; i < 3; i++)
		list[i].apart = true;
	for (unsigned i = 1; i < 3; i++) {
		if (fork() == 0)
			_exit(apart_body(&list[i]));
	}
	assert_int_equal(apart_body(&list[0]), 0);
	for (unsigned i = 1; i < 3; i++) {
		int status;

		assert_true(wait(&status) > 0);
		bad |= status;
	}
	assert_int_equal(bad, 0);
	for (unsigned i = 0; i < 3; i++)
		ranks_close(&list[i]);
}

/* Every wait for a rank that gave up ends, whatever it waits for. */
static void rank_that_gives_up_ends_all_waiting(void **state)
{
	struct bench_ranks list[3] = { 0 };
	struct diag d = { .status = HD_OK };
	char byte = 0;

	(void)state;
	assert_int_equal(ranks_local(list, 3, &d), HD_OK);
	assert_false(ranks_abandoned(&list[0]));
	ranks_abandon(&list[2]);
	assert_true(ranks_abandoned(&list[0]));
	assert_true(ranks_abandoned(&list[1]));
	assert_false(ranks_exchange(&list[0], 2, &byte, &byte, 1));
	assert_false(ranks_exchange(&list[1], 2, &byte, &byte, 1));
	assert_true(ranks_send(&list[1], 0, "B", 1)); /* is at the barrier */
	assert_false(ranks_barrier(&list[0]));
	for (unsigned i = 0; i < 3; i++)
		ranks_close(&list[i]);
}

static bool few_times(void *context)
{
	unsigned *left = context;

	*left -= *left > 0;
	return *left > 0;
}

/* An interrupt ends waiting for a message, and for someone to connect. */
static void an_interrupt_ends_waiting(void **state)
{
	unsigned message = 3, connection = 3;
	struct bench_ranks list[2] = { { .going = few_times, .context = &message } };
	struct bench_ranks r = { .going = few_times, .context = &connection };
	struct diag d = { .status = HD_OK };
	char at[64], byte;

	(void)state;
	assert_int_equal(ranks_local(list, 2, &d), HD_OK);
	assert_false(ranks_receive(&list[0], 1, &byte, 1));
	ranks_close(&list[0]);
	ranks_close(&list[1]);
	free_address(at, sizeof(at));
	assert_int_equal(ranks_listen(at, &d, &r), HD_ERR_ENV);
	assert_string_equal(d.message, "interrupted");
}

static void bad_addresses_are_refused(void **state)
{
	struct bench_ranks r;

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		static const char *const texts[] = { "nowhere", ":1", "x:" };
		struct diag d = { .status = HD_OK };

		assert_int_equal(ranks_connect(texts[i], &d, &r), HD_ERR_INPUT);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranks_meet_and_finish),
		cmocka_unit_test(processes_meet_over_tcp),
		cmocka_unit_test(rank_0_carries_what_others_exchange),
		cmocka_unit_test(rank_that_gives_up_ends_all_waiting),
		cmocka_unit_test(an_interrupt_ends_waiting),
		cmocka_unit_test(bad_addresses_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
