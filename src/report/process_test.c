/* SPDX-License-Identifier: BSD-2-Clause */
#define _DEFAULT_SOURCE
#include "report/process.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <sys/wait.h>
#include <unistd.h>

/* A child that reports its pid and lives until its input ends. */
struct child {
	pid_t pid;
	int stop;
	char identity[256];
};

static void start(struct child *c)
{
	int said[2], stop[2];

	assert_int_equal(pipe(said), 0);
	assert_int_equal(pipe(stop), 0);
	c->pid = fork();
	assert_true(c->pid >= 0);
	if (c->pid == 0) {
		struct strbuf id = STRBUF_INIT;
		char byte;

		close(stop[1]);
		process_identify(&id);
		ssize_t sent = write(said[1], id.text, id.len + 1);

		close(said[1]);
		while (sent > 0 && read(stop[0], &byte, 1) > 0)
			;
		_exit(0);
	}
	close(said[1]);
	close(stop[0]);
	assert_true(read(said[0], c->identity, sizeof(c->identity)) > 0);
	close(said[0]);
	c->stop = stop[1];
}

/* A zombie keeps its process number until its parent waits for it. */
static void become_zombie(struct child *c)
{
	siginfo_t info;

	close(c->stop);
	assert_int_equal(waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOWAIT), 0);
}

static void a_process_is_there_until_it_ends(void **state)
{
	struct child c;

	(void)state;
	start(&c);
	assert_true(process_is_there(c.identity));
	become_zombie(&c);
	assert_false(process_is_there(c.identity));
	assert_int_equal(waitpid(c.pid, NULL, 0), c.pid);
	assert_false(process_is_there(c.identity));
}

/* The same pid with another start time, and an unreachable host. */
static void numbers_come_again(void **state)
{
	struct strbuf id = STRBUF_INIT, other = STRBUF_INIT;

	(void)state;
	process_identify(&id);
	assert_true(process_is_there(id.text));
	strbuf_printf(&other, "%s1", id.text);
	assert_false(process_is_there(other.text));
	strbuf_clear(&other);
	strbuf_printf(&other, "elsewhere.%s", id.text);
	assert_true(process_is_there(other.text));
	strbuf_fini(&other);
	strbuf_fini(&id);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_process_is_there_until_it_ends),
		cmocka_unit_test(numbers_come_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
