/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/output_files.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"

/*
 * Names of three files, of which the last does not exist: two names are one file exactly if the
 * table has them as one.
 */
static const struct {
	int file;
	const char *name;
	const char *link; /* its target; NULL: not a link */
} names[] = {
	{ 0, "a", NULL },          { 0, "./a", NULL },        { 0, "sub/../a", NULL },
	{ 0, "to-a", "a" },        { 0, "to-to-a", "to-a" },  { 0, "sub/a", "../to-to-a" },
	{ 0, "other-a", NULL }, /* a second name of its inode */
	{ 1, "b", NULL },          { 1, "to-b", "sub/../b" }, { 2, "c", NULL },
	{ 2, ".//c", NULL },       { 2, "sub/../c", NULL },   { 2, "to-c", "c" },
	{ 2, "sub/to-c", "../c" }, { 3, "sub/c", NULL },
};
#define N (sizeof(names) / sizeof(*names))

static int enter(void **state)
{
	static char folder[] = "/tmp/claims-XXXXXX";

	*state = mkdtemp(folder);
	if (!*state || chdir(folder) || mkdir("sub", 0700))
		return -1;
	for (const char *p = "ab"; *p; p++) {
		const char name[] = { *p, '\0' };

		FILE *f = fopen(name, "w");

		if (!f)
			return -1;
		fputs("x", f);
		fclose(f);
	}
	for (size_t i = 0; i < N; i++) {
		if (names[i].link && symlink(names[i].link, names[i].name))
			return -1;
	}
	return link("a", "other-a");
}

static int leave(void **state)
{
	for (size_t i = 0; i < N; i++)
		unlink(names[i].name);
	rmdir("sub");
	return chdir("/") || rmdir(*state);
}

static void check_pair(size_t i, size_t k)
{
	const char *one = names[i].name, *two = names[k].name;
	bool same = names[i].file == names[k].file;
	bool there = names[i].file < 2;

	output_files_clear();
	assert_null(output_files_add(one, "one", false));
	if ((output_files_find(two) != NULL) != (same && there))
		fail_msg("%s, then %s is read", one, two);
	if ((output_files_add(two, "two", false) != NULL) != same)
		fail_msg("%s, then %s is written", one, two);
	assert_int_equal(file_is_same(one, two), same);
}

static void a_file_is_claimed_once_by_whatever_name(void **state)
{
	(void)state;
	for (size_t i = 0; i < N; i++) {
		for (size_t k = 0; k < N; k++)
			check_pair(i, k);
	}
	output_files_clear();
}

static void what_is_claimed_is_not_read(void **state)
{
	struct diag d = { .status = HD_OK };
	FILE *in;

	(void)state;
	assert_null(output_files_add("to-a", "pcap", false));
	assert_int_equal(file_open("other-a", &d, &in), HD_ERR_INPUT);
	assert_non_null(strstr(d.message, "--pcap"));
	d = (struct diag){ .status = HD_OK };
	assert_int_equal(file_open("b", &d, &in), HD_OK);
	file_close(in);
	output_files_clear();
	assert_null(output_files_add("a", "checkpoint", true));
	assert_int_equal(file_open("a", &d, &in), HD_OK);
	file_close(in);
	assert_string_equal(output_files_add("a", "pcap", false), "checkpoint");
	output_files_clear();
	assert_int_equal(file_open("a", &d, &in), HD_OK);
	file_close(in);
}

static void devices_are_shared(void **state)
{
	(void)state;
	assert_null(output_files_add("/dev/null", "pcap", false));
	assert_null(output_files_add("/dev/null", "trace", false));
	assert_null(output_files_find("/dev/null"));
	output_files_clear();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_is_claimed_once_by_whatever_name),
		cmocka_unit_test(what_is_claimed_is_not_read),
		cmocka_unit_test(devices_are_shared),
	};

	return cmocka_run_group_tests(tests, enter, leave);
}
