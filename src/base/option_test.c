/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/option.h"

static const char *const colours[] = { "red", "green", "blue", NULL };

struct values {
	bool flag;
	const char *text;
	struct option_list list;
	uint64_t count, size;
	double real;
	struct hd_rate rate;
	hd_time time;
	struct hd_ratio share;
	struct hd_range range;
	unsigned colour;
	struct option_settings set;
};

#define AT(field) offsetof(struct values, field)

static const struct option table[] = {
	{ "verbose", 'v', OPT_FLAG, AT(flag), .help = "say more" },
	{ "name", 'n', OPT_TEXT, AT(text), "NAME", .help = "a name" },
	{ "with", 0, OPT_LIST, AT(list), "THING", .help = "things to take" },
	{ "count", 'c', OPT_UINT, AT(count), "N", "7", "how many", .low = 2, .high = 9 },
	{ "size", 0, OPT_SIZE, AT(size), "SIZE", .help = "how large" },
	{ "real", 0, OPT_DOUBLE, AT(real), "X", .help = "a number" },
	{ "rate", 0, OPT_RATE, AT(rate), "RATE", "4x SDR", "how fast" },
	{ "time", 0, OPT_TIME, AT(time), "TIME", .help = "how long" },
	{ "share", 0, OPT_RATIO, AT(share), "SHARE", .help = "how much" },
	{ "range", 0, OPT_RANGE, AT(range), "RANGE", .help = "from, to" },
	{ "set", 0, OPT_SET, AT(set), "PATH=VALUE", .help = "any field" },
	{ "delay", 0, OPT_SET, AT(set), "TIME", .help = "how long it waits", .path = "link.delay",
	  .as = OPT_TIME },
	{ "order", 0, OPT_SET, AT(set), .choices = colours, .help = "which", .path = "order",
	  .as = OPT_CHOICE },
	{ NULL },
};

static const struct option more[] = {
	{ "colour", 0, OPT_CHOICE, AT(colour), .choices = colours, .initial = "green",
	  .help = "a colour, described at such length that it has to continue in a second line, and even in a third one at the end" },
	{ NULL },
};

static const struct option *const tables[] = { table, more, NULL };

/* Reads up to seven words; the values are in `v`, the refusal in `d`. */
struct reading {
	struct values v;
	struct diag d;
	char *argv[8];
	int n_args;
	enum hd_status status;
};

static void read_words(struct reading *r, const char *const *words)
{
	int argc = 0;

	memset(r, 0, sizeof(*r));
	for (; words[argc]; argc++)
		r->argv[argc] = (char *)words[argc];
	r->status = options_parse(tables, &r->v, argc, r->argv, &r->d, &r->n_args);
}

#define READ(r, ...) read_words(r, (const char *const[]){ __VA_ARGS__, NULL })

static void every_kind_of_value_is_read(void **state)
{
	struct reading r;

	(void)state;
	READ(&r, "-v", "--name", "x", "--size=4KiB", "--real=-2.5", "--time", "20ns");
	assert_int_equal(r.status, HD_OK);
	assert_true(r.v.flag);
	assert_string_equal(r.v.text, "x");
	assert_int_equal(r.v.size, 4096);
	assert_true(r.v.real == -2.5);
	assert_int_equal(r.v.time, 20000);
	READ(&r, "--rate=2.5Gb/s", "--share", "20%", "--range=2..11", "--colour=blue", "-c3");
	assert_int_equal(r.status, HD_OK);
	assert_true(r.v.rate.num == 2500000000 && r.v.rate.den == 1);
	assert_true(r.v.share.num == 1 && r.v.share.den == 5);
	assert_true(r.v.range.low == 2 && r.v.range.high == 11);
	assert_int_equal(r.v.colour, 2);
	assert_int_equal(r.v.count, 3);
}

static void initial_values_stand_until_replaced(void **state)
{
	struct reading r;

	(void)state;
	READ(&r, "--name=a", "--name", "b");
	assert_int_equal(r.v.count, 7);
	assert_int_equal(r.v.colour, 1);
	assert_true(r.v.rate.num == 8000000000);
	assert_string_equal(r.v.text, "b");
}

static void lists_collect(void **state)
{
	struct reading r;

	(void)state;
	READ(&r, "--with", "a", "--with=b", "--with", "--verbose");
	assert_int_equal(r.v.list.n, 3);
	assert_string_equal(r.v.list.items[1], "b");
	assert_string_equal(r.v.list.items[2], "--verbose");
	assert_false(r.v.flag);
	option_list_fini(&r.v.list);
}

/* In the order of the command line, as written, and checked at once. */
static void settings_stand_for_fields_of_something_else(void **state)
{
	struct reading r;
	(void)state;
	READ(&r, "--delay", "2us", "--set=a.b=c", "--order=red", "--delay=3us");
	assert_int_equal(r.d.status, HD_OK);
	const struct option_setting *s = r.v.set.items;

	assert_int_equal(r.v.set.n, 4);
	assert_string_equal(s[0].option->path, "link.delay");
	assert_string_equal(s[0].text, "2us");
	assert_null(s[1].option->path);
	assert_string_equal(s[1].text, "a.b=c");
	assert_string_equal(s[2].option->name, "order");
	assert_string_equal(s[3].text, "3us");
	options_fini(tables, &r.v);
	assert_int_equal(r.v.set.n, 0);
	READ(&r, "--delay", "soon");
	assert_int_equal(r.d.status, HD_ERR_INPUT);
	assert_non_null(strstr(r.d.message, "option --delay: 'soon'"));
	READ(&r, "--order", "mauve");
	assert_non_null(strstr(r.d.message, "is not one of red, "));
}

static void arguments_move_to_the_front_in_order(void **state)
{
	struct reading r;

	(void)state;
	READ(&r, "one", "-v", "two", "-", "--", "--three");
	assert_int_equal(r.n_args, 4);
	assert_string_equal(r.argv[0], "one");
	assert_string_equal(r.argv[1], "two");
	assert_string_equal(r.argv[2], "-");
	assert_string_equal(r.argv[3], "--three");
}

static void refusals_name_the_option_and_what_was_expected(void **state)
{
	static const struct {
		const char *words[3], *message;
	} rows[] = {
		{ { "--verbos" }, "unknown option '--verbos' (did you mean '--verbose'?)" },
		{ { "--nmae=x" }, "unknown option '--nmae' (did you mean '--name'?)" },
		{ { "--ver" }, "unknown option '--ver' (did you mean '--verbose'?)" },
		{ { "--zzzzzzzz" }, "unknown option '--zzzzzzzz'" },
		{ { "-x" }, "unknown option '-x'" },
		{ { "-vx" }, "unknown option '-vx'" },
		{ { "--verbose=1" }, "option --verbose takes no value" },
		{ { "--name" }, "option --name needs a value" },
		{ { "--colour" }, "option --colour needs a value" },
		{ { "--count", "10" }, "option --count: '10' is not in 2..9" },
		{ { "--count=1" }, "option --count: '1' is not in 2..9" },
		{ { "--colour=pink" }, "option --colour: 'pink' is not one of red, green, blue" },
		{ { "--time=20" },
		  "option --time: '20' is not a time (expected e.g. 20ns, 1.5us, 3ms, 2s)" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct reading r;

		read_words(&r, rows[i].words);
		assert_true(r.status == HD_ERR_INPUT || r.status == HD_ERR_RANGE);
		assert_string_equal(r.d.message, rows[i].message);
	}
}

static void help_fits_eighty_columns_and_is_complete(void **state)
{
	struct strbuf out = STRBUF_INIT;

	(void)state;
	options_help(tables, &out);
	for (const char *line = out.text; *line;) {
		size_t len = strcspn(line, "\n");

		assert_true(len < 80);
		line += len + 1;
	}
	assert_non_null(strstr(out.text, "  -v, --verbose"));
	assert_non_null(strstr(out.text, "--colour red|green|blue"));
	assert_non_null(strstr(out.text, "how many (default 7)"));
	assert_non_null(strstr(out.text, "things to take (may be repeated)"));
	assert_non_null(strstr(out.text, "the end (default green)\n"));
	strbuf_fini(&out);
}

static void man_source_hides_nothing_from_roff(void **state)
{
	struct strbuf out = STRBUF_INIT;

	(void)state;
	option_man_text(&out, ".dot\n'quote\na-b \\fB");
	assert_string_equal(out.text, "\\&.dot\n\\&'quote\na\\-b \\efB");
	strbuf_clear(&out);
	options_man(tables, &out);
	assert_non_null(strstr(out.text, ".TP\n.B \\-v, \\-\\-verbose\n"));
	assert_non_null(strstr(out.text, "how many (default 7).\n"));
	strbuf_fini(&out);
}

/* The fields of those that join lie in a struct further on. */
static void joined_tables_read_into_both_structs(void **state)
{
	(void)state;
	struct both {
		struct values first, second;
	} v = { .first.flag = false };
	const struct option *const others[] = { more, NULL };
	struct option *all = options_join(table, others, offsetof(struct both, second));
	const struct option *const joined[] = { all, NULL };
	char flag[] = "-v", colour[] = "--colour=red";
	char *argv[] = { flag, colour };
	struct diag d = { .status = HD_OK };
	int n;

	assert_int_equal(options_parse(joined, &v, 2, argv, &d, &n), HD_OK);
	assert_true(v.first.flag);
	assert_string_equal(colours[v.second.colour], "red");
	assert_int_equal(v.first.count, 7);
	assert_null(all[sizeof(table) / sizeof(table[0]) - 1 + 1].name);
	free(all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_of_value_is_read),
		cmocka_unit_test(initial_values_stand_until_replaced),
		cmocka_unit_test(lists_collect),
		cmocka_unit_test(settings_stand_for_fields_of_something_else),
		cmocka_unit_test(arguments_move_to_the_front_in_order),
		cmocka_unit_test(refusals_name_the_option_and_what_was_expected),
		cmocka_unit_test(help_fits_eighty_columns_and_is_complete),
		cmocka_unit_test(man_source_hides_nothing_from_roff),
		cmocka_unit_test(joined_tables_read_into_both_structs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
