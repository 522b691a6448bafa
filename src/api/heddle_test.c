/* SPDX-License-Identifier: BSD-2-Clause */
/* heddle.h as programs use it: runs, tables, and every kind of misuse. */
#include "api/heddle.h"

#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

#include "base/file.h"
#include "base/rng.h"
#include "base/seeds_for_tests.h"

#define STAR "fabric: {topology: {kind: star, hosts: 4}}\n"

static const char poisson[] = STAR "traffic:\n"
				   "- {name: a, kind: poisson, load: 50%, payload: 256}\n"
				   "run: {seed: 7, measure: 20us}\n";

static struct hd_run *open_with(const char *path, const char *value)
{
	const struct hd_setting one = { path, value };
	struct hd_run_options o = HD_RUN_OPTIONS_INIT;
	struct hd_error e = HD_ERROR_INIT;
	struct hd_run *run;

	o.settings = &one;
	o.n_settings = path ? 1 : 0;
	if (hd_run_load(poisson, strlen(poisson), "x.yaml", &o, &run, &e))
		fail_msg("%s", e.text);
	return run;
}

static uint64_t checksum_with(const char *path, const char *value)
{
	struct hd_run *run = open_with(path, value);
	uint64_t sum;

	assert_int_equal(hd_run_go(run, NULL), HD_DONE);
	sum = hd_run_checksum(run);
	hd_run_close(run);
	return sum;
}

static void settings_weigh_more_than_the_file(void **state)
{
	(void)state;
	assert_true(checksum_with(NULL, NULL) == checksum_with("run.seed", "7"));
	assert_true(checksum_with(NULL, NULL) != checksum_with("run.seed", "8"));
}

static void tables_have_names_columns_and_typed_cells(void **state)
{
	struct hd_run *run = open_with(NULL, NULL);

	(void)state;
	assert_int_equal(hd_run_n_tables(run), 0);
	assert_int_equal(hd_run_go(run, NULL), HD_DONE);
	assert_true(hd_run_met(run));
	const struct hd_table *t = hd_run_table(run, "traffic");

	assert_string_equal(hd_table_name(t), "traffic");
	assert_int_equal(hd_table_rows(t), 1);
	size_t name = hd_column_find(t, "traffic");
	size_t p99 = hd_column_find(t, "p99");
	size_t packets = hd_column_find(t, "packets");

	assert_int_equal(hd_column_kind(t, name), HD_TEXT);
	assert_string_equal(hd_cell_text(t, 0, name), "a");
	assert_int_equal(hd_cell_kind(t, 0, p99), HD_REAL);
	assert_string_equal(hd_column_unit(t, p99), "us");
	assert_true(hd_cell_real(t, 0, p99) > 0);
	assert_int_equal(hd_cell_kind(t, 0, packets), HD_UINT);
	assert_true(hd_cell_uint(t, 0, packets) > 100);
	assert_true(hd_cell_real(t, 0, packets) == (double)hd_cell_uint(t, 0, packets));
	/* Missing columns have no value. */
	assert_true(hd_column_find(t, "no such") == hd_table_columns(t));
	assert_int_equal(hd_cell_kind(t, 1, name), HD_NONE);
	assert_null(hd_cell_text(t, 0, p99));
	assert_true(isnan(hd_cell_real(t, 0, name)));
	assert_null(hd_run_table(run, "no such"));
	for (size_t i = 0; i < hd_run_n_tables(run); i++)
		assert_ptr_equal(hd_run_table(run, hd_table_name(hd_run_table_at(run, i))),
				 hd_run_table_at(run, i));
	hd_run_close(run);
}

static int stop_at_once(void *context, double share, uint64_t now)
{
	(void)share;
	(void)now;
	++*(unsigned *)context;
	return 0;
}

static void progress_may_stop_a_run(void **state)
{
	struct hd_run_options o = HD_RUN_OPTIONS_INIT;
	struct hd_error e = HD_ERROR_INIT;
	const struct hd_setting longer = { "run.measure", "500ms" };
	unsigned calls = 0;
	struct hd_run *run;

	(void)state;
	o.settings = &longer;
	o.n_settings = 1;
	o.progress = stop_at_once;
	o.context = &calls;
	assert_int_equal(hd_run_load(poisson, strlen(poisson), "x.yaml", &o, &run, &e), HD_DONE);
	assert_int_equal(hd_run_go(run, &e), HD_STOPPED);
	assert_int_equal(calls, 1);
	assert_non_null(hd_run_table(run, "traffic"));
	hd_run_close(run);
}

static int code_of(const char *text, struct hd_error *e)
{
	struct hd_run *run = NULL;
	int code = hd_run_load(text, strlen(text), "x.yaml", NULL, &run, e);

	assert_true(code != HD_DONE && !run && e->code == code);
	return code;
}

static void refusals_are_a_line_with_its_place(void **state)
{
	struct hd_error e = HD_ERROR_INIT;
	struct hd_run *run = NULL;

	(void)state;
	assert_int_equal(code_of(STAR "trafic: []\n", &e), HD_REFUSED);
	assert_int_equal(e.line, 2);
	assert_int_equal(strncmp(e.text, "x.yaml:2:1: unknown field 'trafic'", 34), 0);
	assert_int_equal(code_of(STAR, &e), HD_REFUSED);
	assert_int_equal(hd_run_open("/no/such/file", NULL, &run, &e), HD_REFUSED);
	assert_non_null(strstr(e.text, "/no/such/file"));
	/* A caller with an older header gets the members that it has. */
	struct hd_error shorter = { .size = offsetof(struct hd_error, text) + 9, .text[9] = 'x' };

	assert_int_equal(code_of(STAR, &shorter), HD_REFUSED);
	assert_int_equal(strlen(shorter.text), 8);
	assert_int_equal(shorter.text[9], 'x');
}

/* A surrogate, too: what is accepted can be written as YAML. */
static void settings_are_utf8(void **state)
{
	static const struct hd_setting rows[] = { { "title", "\xff" },
						  { "title", "\xed\xa0\x80" },
						  { "ti\xfftle", "a" } };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct hd_run_options o = HD_RUN_OPTIONS_INIT;
		struct hd_error e = HD_ERROR_INIT;
		struct hd_run *run = NULL;
		struct hd_net *net = NULL;

		o.settings = &rows[i];
		o.n_settings = 1;
		assert_int_equal(hd_run_load(poisson, strlen(poisson), "x.yaml", &o, &run, &e),
				 HD_MISUSE);
		assert_non_null(strstr(e.text, "is not UTF-8 at byte"));
		assert_null(run);
		assert_int_equal(hd_net_load(STAR, strlen(STAR), "x.yaml", &o, &net, &e),
				 HD_MISUSE);
		assert_null(net);
	}
}

static int code_with(const char *file, const char *pcap, const char *trace)
{
	struct hd_run_options o = HD_RUN_OPTIONS_INIT;
	struct hd_run *run = NULL;

	o.pcap = pcap;
	o.trace = trace;
	int code = hd_run_open(file, &o, &run, NULL);

	if (code == HD_DONE)
		code = hd_run_go(run, NULL);
	hd_run_close(run);
	return code;
}

static void no_output_is_an_input(void **state)
{
	char folder[] = "/tmp/heddle-XXXXXX", file[64], link[64];
	struct diag d = { .status = HD_OK };
	struct strbuf after = STRBUF_INIT;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(file, sizeof(file), "%s/x.yaml", folder);
	snprintf(link, sizeof(link), "%s/link", folder);
	assert_int_equal(file_write(file, poisson, strlen(poisson), &d), HD_OK);
	assert_int_equal(symlink("x.yaml", link), 0);
	assert_int_equal(code_with(file, file, NULL), HD_REFUSED);
	assert_int_equal(code_with(file, NULL, link), HD_REFUSED);
	assert_int_equal(code_with(link, file, NULL), HD_REFUSED);
	unlink(link);
	assert_int_equal(code_with(file, link, link), HD_MISUSE);
	assert_int_equal(file_read(file, 1000, &d, &after), HD_OK);
	assert_string_equal(after.text, poisson);
	strbuf_fini(&after);
	unlink(file);
	assert_int_equal(rmdir(folder), 0);
}

/* heddle.h documents that memory is leaked after a failed allocation. */
static void leaks_are_meant(bool are)
{
#ifdef __SANITIZE_ADDRESS__
	if (are)
		__lsan_disable();
	else
		__lsan_enable();
#else
	(void)are;
#endif
}

static void lack_of_memory_ends_a_call_only(void **state)
{
	static const char large[] =
		"fabric: {topology: {kind: xgft, down: '16,16,16', up: '1,16,16'}}\ntraffic: [{name: a, kind: saturating}]\n"
		"run: {measure: 1us}\n";
	struct hd_error e = HD_ERROR_INIT;
	struct hd_run *run = NULL;

	(void)state;
	hd_set_memory((uint64_t)4 << 20);
	leaks_are_meant(true);
	int code = hd_run_load(large, strlen(large), "x.yaml", NULL, &run, &e);

	leaks_are_meant(false);
	hd_set_memory(0);
	assert_int_equal(code, HD_LACKING);
	assert_non_null(strstr(e.text, "memory"));
	assert_true(checksum_with(NULL, NULL) == checksum_with(NULL, NULL));
}

static void *run_many(void *context)
{
	uint64_t *sum = context;

	for (int i = 0; i < 5; i++)
		*sum = checksum_with("run.seed", "3");
	return NULL;
}

static void handles_are_independent(void **state)
{
	uint64_t sums[3];
	pthread_t threads[3];
	const uint64_t wanted = checksum_with("run.seed", "3");

	(void)state;
	for (size_t i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, run_many, &sums[i]);
	for (size_t i = 0; i < 3; i++) {
		pthread_join(threads[i], NULL);
		assert_true(sums[i] == wanted);
	}
}

static void no_setting_may_be_half(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 6; i++) {
		struct hd_setting three[] = { { "run.seed", "3" },
					      { "run.seed", "4" },
					      { "run.seed", "5" } };
		struct hd_run_options o = HD_RUN_OPTIONS_INIT;
		struct hd_error e = HD_ERROR_INIT;
		struct hd_run *run = NULL;

		o.settings = three;
		o.n_settings = 3;
		*(i % 2 ? &three[i / 2].path : &three[i / 2].value) = NULL;
		assert_int_equal(hd_run_load(poisson, strlen(poisson), "x.yaml", &o, &run, &e),
				 HD_MISUSE);
		assert_null(run);
	}
}

static void nothing_may_be_null_without_a_word(void **state)
{
	struct hd_error e = HD_ERROR_INIT;
	struct hd_run_options bad = HD_RUN_OPTIONS_INIT;
	struct hd_run *run = NULL;
	struct hd_net *net = NULL;
	uint32_t number;

	(void)state;
	bad.n_settings = 1;
	assert_int_equal(hd_run_open(NULL, NULL, &run, &e), HD_MISUSE);
	assert_int_equal(hd_run_open("x", &bad, &run, &e), HD_MISUSE);
	bad.size = 0;
	assert_int_equal(hd_run_open("x", &bad, &run, &e), HD_MISUSE);
	assert_int_equal(hd_run_open("x", NULL, NULL, &e), HD_MISUSE);
	assert_int_equal(hd_run_load(NULL, 0, "x", NULL, &run, &e), HD_MISUSE);
	assert_int_equal(hd_run_go(NULL, &e), HD_MISUSE);
	assert_int_equal(hd_net_open(NULL, NULL, &net, &e), HD_MISUSE);
	assert_int_equal(hd_net_load(NULL, 0, "x", NULL, &net, &e), HD_MISUSE);
	assert_int_equal(hd_net_host(NULL, "h0", &number, &e), HD_MISUSE);
	assert_int_equal(hd_net_class(NULL, "a", &number, &e), HD_MISUSE);
	assert_int_equal(hd_net_run_until(NULL, 1, &e), HD_MISUSE);
	assert_int_equal(hd_net_send(NULL, 0, 1, 1, HD_NO_CLASS, NULL, NULL, NULL), HD_MISUSE);
	assert_int_equal(hd_net_hosts(NULL), 0);
	assert_null(hd_net_host_name(NULL, 0));
	assert_null(hd_run_table(NULL, NULL));
	assert_null(hd_run_table_at(NULL, 0));
	assert_int_equal(hd_table_rows(NULL), 0);
	assert_null(hd_column_name(NULL, 0));
	assert_int_equal(hd_cell_kind(NULL, 0, 0), HD_NONE);
	hd_run_close(NULL);
	hd_net_close(NULL);
	assert_int_equal(hd_abi(), HD_ABI);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(settings_weigh_more_than_the_file),
		cmocka_unit_test(tables_have_names_columns_and_typed_cells),
		cmocka_unit_test(progress_may_stop_a_run),
		cmocka_unit_test(refusals_are_a_line_with_its_place),
		cmocka_unit_test(settings_are_utf8),
		cmocka_unit_test(no_output_is_an_input),
		cmocka_unit_test(lack_of_memory_ends_a_call_only),
		cmocka_unit_test(handles_are_independent),
		cmocka_unit_test(no_setting_may_be_half),
		cmocka_unit_test(nothing_may_be_null_without_a_word),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
