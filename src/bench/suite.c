/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench/suite.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/iba.h"

static const char *const group_names[] = {
	[GROUP_NON_DATA] = "non-data",
	[GROUP_DATA] = "data",
	[GROUP_BEYOND] = "beyond",
};

void suite_fini(struct bench_suite *s)
{
	strbuf_fini(&s->left_out);
	bench_rows_fini(&s->rows);
	free(s->tests);
}

static void add(struct bench_suite *s, const struct bench_test *t, bool by_group)
{
	s->tests = hd_grow(s->tests, &s->tests_cap, s->n_tests + 1, sizeof(*s->tests));
	s->tests[s->n_tests++] = (struct suite_test){ t, by_group };
}

/* Tests from which LogGP's parameters are computed. */
static void add_loggp(struct bench_suite *s, struct diag *d)
{
	static const char *const parts[] = { "post-send", "poll-full", "send-lat", "send-bw" };

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		add(s, bench_find(parts[i], d), false);
}

static bool is_of_group(const struct bench_test *t, const char *word)
{
	return strcmp(word, "all") == 0 || strcmp(word, group_names[t->group]) == 0 ||
	       (strcmp(word, "miba") == 0 && t->group != GROUP_BEYOND);
}

enum hd_status suite_add(struct bench_suite *s, const char *word, struct diag *d)
{
	const size_t before = s->n_tests;

	if (strcmp(word, "loggp") == 0)
		add_loggp(s, d);
	for (const struct bench_test *t = bench_tests; t->name; t++) {
		if (is_of_group(t, word))
			add(s, t, true);
	}
	if (s->n_tests > before)
		return HD_OK;
	const struct bench_test *t = bench_find(word, d);

	if (!t)
		return HD_ERR_NOT_FOUND;
	add(s, t, false);
	return HD_OK;
}

enum hd_status suite_set_sizes(struct bench_suite *s, const char *text, struct diag *d)
{
	const char *dots = strstr(text, "..");
	char *first = hd_strndup(text, dots ? (size_t)(dots - text) : strlen(text));
	uint64_t from = 0, to = 0;
	enum hd_status status = hd_size_parse(first, d, &from);

	free(first);
	if (status == HD_OK)
		status = hd_size_parse(dots ? dots + 2 : text, d, &to);
	if (status != HD_OK)
		return status;
	if (from == 0 || to < from || to > (UINT64_C(1) << 30))
		return diag_fail(d, HD_ERR_RANGE,
				 "--size %s: expected 1B to 1GiB, the smaller first", text);
	s->options.from = from;
	s->options.to = to;
	return HD_OK;
}

enum hd_status suite_set_values(struct bench_suite *s, const char *text, struct diag *d)
{
	const unsigned most = sizeof(s->options.values) / sizeof(s->options.values[0]);
	enum hd_status status = HD_OK;

	for (const char *at = text; *at && status == HD_OK;) {
		size_t len = strcspn(at, ",");
		char *word = hd_strndup(at, len);

		if (s->options.n_values == most)
			status = diag_fail(d, HD_ERR_RANGE, "--values: more than %u", most);
		else
			status = hd_uint_parse(word, d, &s->options.values[s->options.n_values++]);
		free(word);
		at += len + (at[len] == ',');
	}
	return status;
}

enum hd_status suite_expect(struct bench_suite *s, const char *text, struct diag *d)
{
	if (s->n_expect == SUITE_MAX_EXPECT)
		return diag_fail(d, HD_ERR_RANGE, "--expect: more than %d", SUITE_MAX_EXPECT);
	return bench_expect_parse(text, d, &s->expect[s->n_expect++]);
}

enum hd_status suite_check(const struct bench_suite *s, struct diag *d)
{
	const uint64_t mtu = s->options.mtu;

	if (mtu == 0 || is_mtu(mtu))
		return HD_OK;
	return diag_fail(d, HD_ERR_RANGE, "--mtu %llu: expected 256, 512, 1024, 2048 or 4096",
			 (unsigned long long)mtu);
}

size_t suite_points(const struct bench_suite *s, const struct nic_backend *b)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_tests; i++)
		n += bench_points(b, s->tests[i].test, &s->options);
	return n;
}

static enum hd_status run_test(struct bench_suite *s, struct nic_backend *b,
			       const struct suite_test *t, const struct bench_watch *watch,
			       struct diag *d)
{
	enum hd_status status = bench_run(b, t->test, &s->options, watch, &s->rows, d);

	if (status != HD_ERR_UNFIT || !t->by_group)
		return status;
	strbuf_printf(&s->left_out, "%s\n", d->message);
	*d = (struct diag){ .status = HD_OK };
	return HD_OK;
}

enum hd_status suite_run(struct bench_suite *s, struct nic_backend *b,
			 const struct bench_watch *watch, struct diag *d)
{
	enum hd_status status = HD_OK;

	for (size_t i = 0; i < s->n_tests && status == HD_OK; i++)
		status = run_test(s, b, &s->tests[i], watch, d);
	/* A group of which nothing can be done is refused like a test. */
	if (status == HD_OK && s->rows.n == 0 && s->left_out.len)
		status = diag_fail(d, HD_ERR_UNFIT, "%.*s", (int)strcspn(s->left_out.text, "\n"),
				   s->left_out.text);
	return status;
}

bool suite_show(const struct bench_suite *s, struct nic_backend *b, struct results *r)
{
	b->describe(b, r);
	bench_show_host(r);
	if (s->rows.n)
		bench_show(&s->rows, b, r);
	bench_show_loggp(&s->rows, r);
	bool met = bench_expect_check(s->expect, s->n_expect, &s->rows, r);

	for (const char *line = s->left_out.text; s->left_out.len && *line;) {
		size_t len = strcspn(line, "\n");

		results_remark(r, "left out: %.*s", (int)len, line);
		line += len + 1;
	}
	if (b->origin == ORIGIN_SIMULATED)
		results_remark(
			r,
			"times are the simulation's: they follow from the profile, not from this machine");
	return met;
}

void suite_list(struct results *r)
{
	struct suite_row {
		const char *test, *group, *varies, *what;
	};

	static const struct column columns[] = {
		{ "test", NULL, CELL(suite_row, test) },
		{ "group", NULL, CELL(suite_row, group) },
		{ "varies", NULL, CELL(suite_row, varies) },
		{ "what", NULL, CELL(suite_row, what) },
		{ NULL },
	};
	struct table *t = results_table(r, "tests", "all tests there are", columns);

	for (const struct bench_test *b = bench_tests; b->name; b++) {
		const char *size = b->to ? "size" : "-";

		const struct suite_row row = {
			.test = b->name,
			.group = group_names[b->group],
			.varies = b->axis ? bench_axis_name(b->axis) : size,
			.what = b->summary,
		};

		table_put_row(t, &row);
	}
}

void suite_words(struct strbuf *out)
{
	strbuf_puts(out, "all miba loggp ");
	for (size_t i = 0; i < sizeof(group_names) / sizeof(group_names[0]); i++)
		strbuf_printf(out, "%s ", group_names[i]);
	for (const struct bench_test *t = bench_tests; t->name; t++)
		strbuf_printf(out, "%s ", t->name);
}
