/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "base/rng.h"
#include "base/text.h"

static void the_nearest_word_is_suggested(void **state)
{
	static const char *const words[] = { "topology", "routing", "traffic", "run", "hosts" };
	static const struct {
		const char *typed, *meant;
	} rows[] = {
		{ "topolgy", "topology" }, { "hots", "hosts" }, { "routnig", "routing" },
		{ "trafic", "traffic" },   { "ran", "run" },    { "topo", "topology" },
		{ "hosts", "hosts" },      { "quality", NULL }, { "", NULL },
		{ "zzz", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *got = text_nearest(rows[i].typed, words, 5);

		if (rows[i].meant)
			assert_string_equal(got, rows[i].meant);
		else
			assert_null(got);
	}
	assert_null(text_nearest("run", words, 0));
}

/* Edit distance with transpositions, by exhaustive search. */
static size_t mistakes(const char *a, const char *b)
{
	size_t best, next;

	if (!*a || !*b)
		return strlen(a) + strlen(b);
	best = mistakes(a + 1, b + 1) + (*a != *b);
	next = mistakes(a + 1, b) + 1;
	best = next < best ? next : best;
	next = mistakes(a, b + 1) + 1;
	best = next < best ? next : best;
	if (a[1] && a[0] == b[1] && a[1] == b[0]) {
		next = mistakes(a + 2, b + 2) + 1;
		best = next < best ? next : best;
	}
	return best;
}

static void draw_word(struct rng *rng, char *word, size_t most)
{
	size_t n = rng_below(rng, most + 1);

	for (size_t i = 0; i < n; i++)
		word[i] = (char)('a' + rng_below(rng, 3));
	word[n] = '\0';
}

static void a_suggestion_has_a_third_of_its_letters_wrong(void **state)
{
	struct rng rng;
	unsigned near = 0, far = 0;

	(void)state;
	rng_init(&rng, 5, 0);
	for (unsigned k = 0; k < 2000; k++) {
		char typed[8], known[8];
		const char *const names[] = { known };

		draw_word(&rng, typed, 6);
		draw_word(&rng, known, 6);
		bool is_meant = mistakes(typed, known) <= (strlen(typed) + 2) / 3 ||
				(strlen(typed) > 1 && strncmp(typed, known, strlen(typed)) == 0);
		assert_int_equal(text_nearest(typed, names, 1) != NULL, is_meant);
		near += is_meant;
		far += !is_meant;
	}
	assert_true(near > 200 && far > 200);
}

/* Empty without a name, and never longer than the buffer. */
static void a_hint_ends_a_refusal(void **state)
{
	(void)state;
	char longest[300];

	assert_string_equal(text_hint("hosts").text, " (did you mean 'hosts'?)");
	assert_string_equal(text_hint(NULL).text, "");
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	struct text_hint h = text_hint(longest);

	assert_true(strlen(h.text) < sizeof(h.text));
	assert_string_equal(h.text + strlen(h.text) - 3, "'?)");
}

static void binary_is_distinguished_from_text(void **state)
{
	(void)state;
	static const char text[] = "a\tb\r\n\f\v \xc3\xa9~";

	assert_int_equal(text_find_binary(text, sizeof(text) - 1), sizeof(text) - 1);
	assert_int_equal(text_find_binary("", 0), 0);
	/* The NUL that ends it, an escape, a delete. */
	assert_int_equal(text_find_binary(text, sizeof(text)), sizeof(text) - 1);
	assert_int_equal(text_find_binary("ab\x1b[m", 5), 2);
	assert_int_equal(text_find_binary("a\x7f", 2), 1);
}

static void utf8_is_distinguished_from_other_bytes(void **state)
{
	static const struct {
		const char *bytes;
		size_t length;
	} rows[] = {
		{ "a", 1 },
		{ "\xc3\xb6", 2 },         /* ö */
		{ "\xe2\x82\xac", 3 },     /* € */
		{ "\xf0\x9f\x98\x80", 4 }, /* an emoji */
		{ "\xf4\x8f\xbf\xbf", 4 }, /* U+10FFFF */
		{ "", 0 },
		{ "\x80", 0 },             /* a tail without a head */
		{ "\xc0\xaf", 0 },         /* over-long '/' */
		{ "\xe0\x80\xaf", 0 },     /* over-long again */
		{ "\xed\xa0\x80", 0 },     /* half of a UTF-16 pair */
		{ "\xf4\x90\x80\x80", 0 }, /* beyond U+10FFFF */
		{ "\xff", 0 },
		{ "\xe2\x82", 0 }, /* cut short */
		{ "\xc3", 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char within[16];

		assert_int_equal(utf8_length(rows[i].bytes), rows[i].length);
		/* The first that is invalid, or the end. */
		snprintf(within, sizeof(within), "a\xc3\xb6%s", rows[i].bytes);
		assert_int_equal(utf8_find_invalid(within), 3 + rows[i].length);
	}
}

static void doubles_read_back_exactly_and_stay_short(void **state)
{
	struct strbuf s = STRBUF_INIT;
	struct rng r;

	(void)state;
	text_double(&s, 0.1);
	strbuf_putc(&s, ' ');
	text_double(&s, 1e300);
	strbuf_putc(&s, ' ');
	text_double(&s, 3);
	assert_string_equal(s.text, "0.1 1e+300 3");
	rng_init(&r, 1, 1);
	for (unsigned i = 0; i < 20000; i++) {
		uint64_t bits = rng_next(&r);
		double x;

		memcpy(&x, &bits, sizeof(x));
		if (x != x)
			continue;
		strbuf_clear(&s);
		text_double(&s, x);
		assert_true(strtod(s.text, NULL) == x);
	}
	strbuf_fini(&s);
}

static void paragraphs_wrap_and_indented_ones_stay(void **state)
{
	struct strbuf s = STRBUF_INIT;

	(void)state;
	text_wrap(
		&s,
		"A first paragraph, long enough for more than one line of eighty\ncolumns; its own\nline breaks do not count.\n\n"
		"  kept   as\n  it is\n\nlast",
		4);
	assert_string_equal(
		s.text, "A first paragraph, long enough for more than one line of eighty columns;\n"
			"    its own line breaks do not count.\n"
			"\n"
			"      kept   as\n"
			"  it is\n"
			"\n"
			"    last\n");
	strbuf_fini(&s);
}

static void strings_grow_and_stay_terminated(void **state)
{
	struct strbuf s = STRBUF_INIT;

	(void)state;
	assert_string_equal(s.text, "");
	strbuf_add(&s, NULL, 0);
	assert_string_equal(s.text, "");
	for (unsigned i = 0; i < 1000; i++) {
		strbuf_printf(&s, "%03u", i);
		assert_int_equal(s.len, 3 * (i + 1));
		assert_int_equal(s.text[s.len], '\0');
	}
	assert_memory_equal(s.text + 3 * 999, "999", 4);
	strbuf_clear(&s);
	strbuf_pad(&s, '-', 3);
	strbuf_add(&s, "a\0b", 3);
	assert_int_equal(s.len, 6);
	assert_memory_equal(s.text, "---a\0b", 7);
	strbuf_fini(&s);
	assert_string_equal(s.text, "");
}

static void a_detached_string_is_the_callers(void **state)
{
	struct strbuf s = STRBUF_INIT;
	char *empty = strbuf_detach(&s);

	(void)state;
	strbuf_puts(&s, "mine");
	char *mine = strbuf_detach(&s);

	strbuf_puts(&s, "other");
	assert_string_equal(empty, "");
	assert_string_equal(mine, "mine");
	free(empty);
	free(mine);
	strbuf_fini(&s);
}

static void the_first_refusal_is_kept(void **state)
{
	struct diag d = { .status = HD_OK, .file = "x.yaml" };
	struct strbuf line = STRBUF_INIT;

	(void)state;
	assert_int_equal(diag_fail_at(&d, HD_ERR_RANGE, 12, 9, "first %d", 1), HD_ERR_RANGE);
	assert_int_equal(diag_fail(&d, HD_ERR_INPUT, "second"), HD_ERR_RANGE);
	assert_int_equal(diag_fail_at(&d, HD_ERR_INPUT, 1, 1, "third"), HD_ERR_RANGE);
	diag_print(&d, &line);
	assert_string_equal(line.text, "x.yaml:12:9: first 1");
	strbuf_fini(&line);
}

static void a_refusal_is_one_line_whatever_was_typed(void **state)
{
	struct diag d = { .status = HD_OK };
	struct strbuf line = STRBUF_INIT;
	char long_word[2000];

	(void)state;
	diag_fail(&d, HD_ERR_INPUT, "'%s' is not ö", "a\nb\033[2J");
	diag_print(&d, &line);
	assert_string_equal(line.text, "'a\\nb\\x1b[2J' is not ö");
	memset(long_word, 'x', sizeof(long_word) - 1);
	long_word[sizeof(long_word) - 1] = '\0';
	d = (struct diag){ .line = 3 };
	diag_fail(&d, HD_ERR_INPUT, "%s", long_word);
	strbuf_clear(&line);
	diag_print(&d, &line);
	assert_true(line.len < 500);
	assert_memory_equal(line.text, "3: xxx", 6);
	strbuf_fini(&line);
}

static void arrays_grow_by_shares_and_keep_their_items(void **state)
{
	size_t cap = 0, moves = 0;
	unsigned *items = NULL;

	(void)state;
	for (unsigned i = 0; i < 100000; i++) {
		size_t before = cap;

		items = hd_grow(items, &cap, i + 1, sizeof(*items));
		items[i] = i;
		moves += cap != before;
	}
	for (unsigned i = 0; i < 100000; i++)
		assert_int_equal(items[i], i);
	assert_true(moves < 40);
	free(items);
}

static void every_status_has_words(void **state)
{
	(void)state;
	for (int s = HD_OK; s <= HD_ERR_ENV; s++)
		assert_string_not_equal(hd_status_text((enum hd_status)s), "unknown status");
	assert_string_equal(hd_status_text((enum hd_status)99), "unknown status");
}

static void assert_shown(const char *text, const char *expected)
{
	struct strbuf out = STRBUF_INIT;

	text_show(&out, text);
	assert_string_equal(out.text, expected);
	strbuf_fini(&out);
}

static void controls_are_shown_and_do_nothing(void **state)
{
	(void)state;
	assert_shown("h\u00e9ddle \u4e2d \U0001f9f5 a\\b", "h\u00e9ddle \u4e2d \U0001f9f5 a\\b");
	assert_shown("\x1b[2J\a\n\r\t\x7f", "\\x1b[2J\\a\\n\\r\\t\\x7f");
	/* C1: as a byte, and as UTF-8. */
	assert_shown("\x9b"
		     "1m\xc2\x9b",
		     "\\x9b1m\\u009b");
	/* Ends of lines, writing that turns around: U+2028, U+202e. */
	const char turns[] = { '\xe2', '\x80', '\xa8', '\xe2', '\x80', '\xae', '\0' };

	assert_shown(turns, "\\u2028\\u202e");
	assert_shown("\xc3(\xff", "\\xc3(\\xff");
}

/* Whatever the bytes: valid UTF-8, and no character that acts. */
static void random_bytes_never_act(void **state)
{
	struct rng rng;

	(void)state;
	rng_init(&rng, 1, 1);
	for (int n = 0; n < 20000; n++) {
		struct strbuf out = STRBUF_INIT;
		char text[40] = "";
		size_t len = rng_below(&rng, 39);

		for (size_t i = 0; i < len; i++)
			text[i] = (char)(1 + rng_below(&rng, 255));
		text_show(&out, text);
		for (const char *c = out.text; *c; c += utf8_length(c)) {
			size_t size = utf8_length(c);

			assert_int_not_equal(size, 0);
			assert_true((unsigned char)*c >= ' ' && *c != 0x7f);
			assert_false(size == 2 && (unsigned char)*c == 0xc2 &&
				     (unsigned char)c[1] < 0xa0);
		}
		strbuf_fini(&out);
	}
}

static void inert_text_keeps_what_does_nothing(void **state)
{
	static const struct {
		const char *text, *inert;
	} cases[] = {
		{ "h0 gr\xc3\xb6\xc3\x9f"
		  "e",
		  "h0 gr\xc3\xb6\xc3\x9f"
		  "e" },
		{ "gr\xf6\xdf"
		  "e",
		  "gr\xf6\xdf"
		  "e" }, /* Latin-1 */
		{ "\x1b[31m\a", " [31m " },
		{ "\x9b"
		  "31m",
		  " 31m" },
		{ "\xc2\x9b"
		  "31m",
		  " 31m" },
		{ "a\xe2\x80\xae"
		  "b\n",
		  "a b " },
		{ "\xc2\x1b\xc2", "\xc2 \xc2" },
		{ "", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *inert = text_inert(cases[i].text, strlen(cases[i].text));

		assert_string_equal(inert, cases[i].inert);
		free(inert);
	}
}

/* No control byte is left, alone or in a character. */
static void random_bytes_become_inert(void **state)
{
	struct rng rng;

	(void)state;
	rng_init(&rng, 1, 2);
	for (int n = 0; n < 20000; n++) {
		char text[40] = "";
		size_t len = rng_below(&rng, 39);

		for (size_t i = 0; i < len; i++)
			text[i] = (char)(1 + rng_below(&rng, 255));
		char *inert = text_inert(text, len);

		for (const char *c = inert; *c;) {
			size_t size = utf8_length(c);
			unsigned char byte = (unsigned char)*c;

			assert_true(byte >= ' ' && byte != 0x7f);
			assert_true(size || byte >= 0xa0);
			assert_int_equal(utf8_acts(c), 0);
			c += size ? size : 1;
		}
		free(inert);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(inert_text_keeps_what_does_nothing),
		cmocka_unit_test(random_bytes_become_inert),
		cmocka_unit_test(the_nearest_word_is_suggested),
		cmocka_unit_test(a_suggestion_has_a_third_of_its_letters_wrong),
		cmocka_unit_test(a_hint_ends_a_refusal),
		cmocka_unit_test(binary_is_distinguished_from_text),
		cmocka_unit_test(utf8_is_distinguished_from_other_bytes),
		cmocka_unit_test(doubles_read_back_exactly_and_stay_short),
		cmocka_unit_test(paragraphs_wrap_and_indented_ones_stay),
		cmocka_unit_test(strings_grow_and_stay_terminated),
		cmocka_unit_test(a_detached_string_is_the_callers),
		cmocka_unit_test(the_first_refusal_is_kept),
		cmocka_unit_test(a_refusal_is_one_line_whatever_was_typed),
		cmocka_unit_test(arrays_grow_by_shares_and_keep_their_items),
		cmocka_unit_test(every_status_has_words),
		cmocka_unit_test(controls_are_shown_and_do_nothing),
		cmocka_unit_test(random_bytes_never_act),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
