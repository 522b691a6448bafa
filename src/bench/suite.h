/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_BENCH_SUITE_H
#define HD_BENCH_SUITE_H

/*
 * Runs a list of tests on one back-end, with points and conditions in user
 * notation. Tests of a group that the back-end does not support are skipped and
 * listed at the end; a test requested by its own name is then an error.
 */

#include "bench/bench.h"

#define SUITE_MAX_EXPECT 32

struct suite_test {
	const struct bench_test *test;
	bool by_group;
};

struct bench_suite {
	struct bench_options options;
	struct suite_test *tests;
	size_t n_tests, tests_cap;
	struct bench_expect expect[SUITE_MAX_EXPECT];
	size_t n_expect;
	struct strbuf left_out; /* reason for each skipped test, one per line */
	struct bench_rows rows;
};

#define SUITE_INIT                      \
	{                               \
		.left_out = STRBUF_INIT \
	}
void suite_fini(struct bench_suite *s);

/* A test's name, a group's, "miba", "loggp" or "all". */
HD_MUST_CHECK enum hd_status suite_add(struct bench_suite *s, const char *word, struct diag *d);
/* "64" or "64..1MiB". */
HD_MUST_CHECK enum hd_status suite_set_sizes(struct bench_suite *s, const char *text,
					     struct diag *d);
/* Values of the axis: "1,2,8". */
HD_MUST_CHECK enum hd_status suite_set_values(struct bench_suite *s, const char *text,
					      struct diag *d);
/* Adds a condition (bench.h). */
HD_MUST_CHECK enum hd_status suite_expect(struct bench_suite *s, const char *text, struct diag *d);
/* Rejects values that no back-end supports, such as an invalid MTU. */
HD_MUST_CHECK enum hd_status suite_check(const struct bench_suite *s, struct diag *d);

size_t suite_points(const struct bench_suite *s, const struct nic_backend *b);
/* Rows are available even on failure, or if `watch` (may be NULL) ends the run. */
HD_MUST_CHECK enum hd_status suite_run(struct bench_suite *s, struct nic_backend *b,
				       const struct bench_watch *watch, struct diag *d);

/* Adds results, conditions and skipped tests; returns whether all conditions hold. */
bool suite_show(const struct bench_suite *s, struct nic_backend *b, struct results *r);
/* Lists all tests. */
void suite_list(struct results *r);
/* Appends all words of suite_add, each followed by a space. */
void suite_words(struct strbuf *out);

#endif
