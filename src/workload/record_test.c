/* SPDX-License-Identifier: BSD-2-Clause */
#include "workload/record.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/rng.h"
#include "base/seeds_for_tests.h"

#define HEAD0 "record 1 0 2\ncomm 0 2 0 1\n"
#define HEAD1 "record 1 1 2\ncomm 0 2 0 1\n"

static void put(const char *folder, unsigned rank, const char *text)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/rank.%u", folder, rank);
	if (!text)
		return;
	FILE *out = fopen(path, "w");

	fputs(text, out);
	fclose(out);
}

static enum hd_status read_two(const char *first, const char *second, struct diag *d,
			       struct opgraph *g)
{
	char folder[] = "/tmp/record-test-XXXXXX", path[64];

	assert_non_null(mkdtemp(folder));
	put(folder, 0, first);
	put(folder, 1, second);
	*d = (struct diag){ .status = HD_OK };
	enum hd_status status = record_read(folder, true, d, g);

	for (unsigned i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/rank.%u", folder, i);
		(void)!unlink(path);
	}
	rmdir(folder);
	return status;
}

/* Compares the GOAL text of two records. */
static void expect(const char *first, const char *second, const char *goal)
{
	struct diag d;
	struct opgraph g, wanted;
	struct strbuf ours = STRBUF_INIT, theirs = STRBUF_INIT;
	char *copy = strdup(goal);
	FILE *in = fmemopen(copy, strlen(copy), "r");

	assert_int_equal(read_two(first, second, &d, &g), HD_OK);
	assert_int_equal(opgraph_read(in, &d, &wanted), HD_OK);
	opgraph_write(&g, &ours);
	opgraph_write(&wanted, &theirs);
	assert_string_equal(ours.text, theirs.text);
	fclose(in);
	free(copy);
	opgraph_fini(&g);
	opgraph_fini(&wanted);
	strbuf_fini(&ours);
	strbuf_fini(&theirs);
}

static void calls_follow_each_other(void **state)
{
	(void)state;
	expect(HEAD0 "calc 5\nsend 0 1 9 100 0\ncalc 7\nend\n", HEAD1 "recv 0 0 9 200 0\nend\n",
	       "num_ranks 2\nrank 0 {\na: calc 5\nb: send 100b to 1 tag 0\n"
	       "c: calc 7\nb requires a\nc requires b\n}\n"
	       "rank 1 {\nrecv 200b from 0 tag 0\n}\n");
}

static void nonblocking_operations_last_until_their_wait(void **state)
{
	(void)state;
	expect(HEAD0 "recv 0 -1 -1 50 1\nsend 0 1 4 10 2\ncalc 3\n"
		     "match 1 1 6\nwait 1\nwait 2\ncalc 8\nend\n",
	       HEAD1 "recv 0 0 4 10 0\nsend 0 0 6 50 0\nend\n",
	       "num_ranks 2\nrank 0 {\na: recv 50b from 1 tag 0\n"
	       "b: send 10b to 1 tag 1\nc: calc 3\nd: calc 0\ne: calc 8\n"
	       "d requires c\nd requires a\nd requires b\ne requires d\n}\n"
	       "rank 1 {\na: recv 10b from 0 tag 1\nb: send 50b to 0 tag 0\n"
	       "b requires a\n}\n");
}

static void collectives_become_their_rounds(void **state)
{
	(void)state;
	expect(HEAD0 "step broadcast binomial 0 64 1 0\nchain 0 4 0 1\nend\n",
	       HEAD1 "step broadcast binomial 0 64 1 0\nchain 0 4 1 0\nend\n",
	       "num_ranks 2\nrank 0 {\na: recv 64b from 1 tag 0\n"
	       "b: send 4b to 1 tag 1\nb requires a\n}\n"
	       "rank 1 {\na: send 64b to 0 tag 0\nb: recv 4b from 0 tag 1\n"
	       "b requires a\n}\n");
	expect(HEAD0 "lists 0 0 2 -1 5 -1 6\nend\n", HEAD1 "lists 0 0 2 6 -1 5 -1\nend\n",
	       "num_ranks 2\nrank 0 {\na: send 5b to 1 tag 0\n"
	       "b: recv 6b from 1 tag 0\nc: calc 0\nc requires a\n"
	       "c requires b\n}\n"
	       "rank 1 {\na: send 6b to 0 tag 0\nb: recv 5b from 0 tag 0\n"
	       "c: calc 0\nc requires a\nc requires b\n}\n");
}

/* The steps of a communicator are counted independently of others. */
static void every_communicator_counts_its_own_steps(void **state)
{
	(void)state;
	expect(HEAD0 "comm 3 2 0 1\nstep broadcast binomial 3 64 1 0\n"
		     "step broadcast binomial 0 65 1 0\n"
		     "step broadcast binomial 3 66 1 0\nend\n",
	       HEAD1 "comm 3 2 0 1\nstep broadcast binomial 3 64 1 0\n"
		     "step broadcast binomial 0 65 1 0\n"
		     "step broadcast binomial 3 66 1 0\nend\n",
	       "num_ranks 2\nrank 0 {\na: recv 64b from 1 tag 0\n"
	       "b: recv 65b from 1 tag 1\nc: recv 66b from 1 tag 2\n"
	       "b requires a\nc requires b\n}\n"
	       "rank 1 {\na: send 64b to 0 tag 0\nb: send 65b to 0 tag 1\n"
	       "c: send 66b to 0 tag 2\nb requires a\nc requires b\n}\n");
}

static void refused(const char *first, const char *why)
{
	struct diag d;
	struct opgraph g;

	assert_true(read_two(first, HEAD1 "end\n", &d, &g) != HD_OK);
	if (!strstr(d.message, why))
		fail_msg("'%s' is not '%s'", d.message, why);
}

static void rejects_invalid_input(void **state)
{
	(void)state;
	refused(NULL, "no rank has a record");
	refused("", "an empty record");
	refused("record 2 0 2\n", "no record of this rank");
	refused("record 1 1 2\n", "no record of this rank");
	refused("record 1 0 1000000000\n", "a number outside its range");
	refused(HEAD0, "rank 0 has not come to MPI_Finalize");
	refused(HEAD0 "dance 1\n", "a line that is not known");
	refused(HEAD0 "send 5 1 1 1 0\n", "an unknown communicator");
	refused(HEAD0 "send 0 2 1 1 0\n", "not in its communicator");
	refused(HEAD0 "send 0 1 1 1099511627777 0\n", "a number");
	refused(HEAD0 "comm 3 2 0 2\n", "a number");
	refused(HEAD0 "comm 0 1 0\n", "of another size");
	refused(HEAD0 "step dance ring 0 1 0 0\n", "a collective");
	refused(HEAD0 "step broadcast binomial 0 1 7 0\n", "no rank 7");
	refused(HEAD0 "lists 0 0 3 1 1 1 1 1 1\n", "another length");
	refused(HEAD0 "chain 0 1 1 1\n", "beyond its end");
	refused(HEAD0 "not MPI_Mprobe\n", "rank 0 uses MPI_Mprobe");
}

/* Nothing but the sanitizers need notice. */
static void any_record_is_answered(void **state)
{
	static const char good[] = HEAD0 "comm 4294967297 1 0\ncalc 5\nsend 0 1 9 100 3\n"
					 "recv 0 -1 -1 5 4\nmatch 4 1 2\nwait 3\nwait 4\n"
					 "step allreduce ring 0 5000 0 0\n"
					 "step barrier dissemination 0 0 0 5\nwait 5\n"
					 "lists 0 0 2 -1 7 -1 8\nchain 0 9 0 1\nend\n";
	unsigned n = cases_of_run(300, 100000);
	struct rng rng;

	(void)state;
	rng_init(&rng, seed_of_run(4), 1);
	for (unsigned i = 0; i < n; i++) {
		char text[sizeof(good)];
		struct diag d;
		struct opgraph g;

		memcpy(text, good, sizeof(good));
		for (unsigned k = 0; k < 1 + rng_below(&rng, 4); k++)
			text[rng_below(&rng, sizeof(good) - 1)] =
				"0123456789- \n\tx"[rng_below(&rng, 15)];
		if (read_two(text, HEAD1 "end\n", &d, &g) == HD_OK)
			opgraph_fini(&g);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_follow_each_other),
		cmocka_unit_test(nonblocking_operations_last_until_their_wait),
		cmocka_unit_test(collectives_become_their_rounds),
		cmocka_unit_test(every_communicator_counts_its_own_steps),
		cmocka_unit_test(rejects_invalid_input),
		cmocka_unit_test(any_record_is_answered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
