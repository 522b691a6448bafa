/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_BENCH_SUITE_H
#define HD_BENCH_SUITE_H

/*
 * Tests in a row on one back-end: which, at what points, and what is expected
 * of them, as users write it. Of a group of tests, those that the back-end
 * cannot do are left out and named in the end; a test that was asked for by its
 * name is refused then.
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
	struct strbuf left_out; /* why, a line for each test */
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
/* Of the axis: "1,2,8". */
HD_MUST_CHECK enum hd_status suite_set_values(struct bench_suite *s, const char *text,
					      struct diag *d);
/* One condition more (bench.h). */
HD_MUST_CHECK enum hd_status suite_expect(struct bench_suite *s, const char *text, struct diag *d);
/* Refuses what no back-end can do: an MTU that there is not. */
HD_MUST_CHECK enum hd_status suite_check(const struct bench_suite *s, struct diag *d);

size_t suite_points(const struct bench_suite *s, const struct nic_backend *b);
/* Rows are there even if it fails, or `watch` (which may be NULL) ends it. */
HD_MUST_CHECK enum hd_status suite_run(struct bench_suite *s, struct nic_backend *b,
				       const struct bench_watch *watch, struct diag *d);

/* What was found, on what, and what was left out; whether all that was expected
 * came true. */
bool suite_show(const struct bench_suite *s, struct nic_backend *b, struct results *r);
/* All tests there are. */
void suite_list(struct results *r);
/* All that suite_add takes, a blank after each. */
void suite_words(struct strbuf *out);

#endif
