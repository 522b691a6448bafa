/* SPDX-License-Identifier: BSD-2-Clause */
#include "scenario/document.h"

#include <iconv.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct refusal {
	const char *text;
	unsigned line, column;
	const char *message; /* the beginning */
};

static const struct refusal refusals[] = {
	{ "a: [1, 2\nb: 3\n", 2, 2, "not YAML: did not find expected ',' or" },
	{ "a: b: c\n", 1, 5, "not YAML: mapping values are not allowed" },
	{ "a:\n\t- 1\n", 2, 1, "not YAML: a tab (indent with blanks)" },
	{ "a: 1\nb: \"open\n", 3, 1, "not YAML: found unexpected end of" },
	{ "a: \xff\n", 1, 4, "not YAML: invalid leading UTF-8 octet" },
	{ "x: 1\ny: a\xc3(\n", 2, 6, "not YAML: invalid trailing UTF-8 octet" },
	{ "a: &x 1\nb: *x\n", 1, 4, "anchors ('&') are not used" },
	{ "a: &x {}\n", 1, 4, "anchors ('&') are not used" },
	{ "a: &x []\n", 1, 4, "anchors ('&') are not used" },
	{ "a: *x\n", 1, 4, "aliases ('*') are not used" },
	{ "a: !!str 1\n", 1, 4, "tags ('!') are not used" },
	{ "a: !thing {}\n", 1, 4, "tags ('!') are not used" },
	{ "a: !thing []\n", 1, 4, "tags ('!') are not used" },
	{ "a: 1\n---\nb: 2\n", 2, 1, "a second document" },
	{ "a: \"x\\0y\"\n", 1, 4, "a value with a NUL character" },
	{ "[[[[[[[[[]]]]]]]]]\n", 1, 9, "nested too deeply" },
	{ "{a: {a: {a: {a: {a: {a: {a: {a: {}}}}}}}}}\n", 1, 33, "nested too deeply" },
	{ "", 0, 0, "the scenario is empty" },
	{ "# nothing\n", 0, 0, "the scenario is empty" },
};

static void refuses_what_is_not_plain_data_at_its_place(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		const struct refusal *r = &refusals[i];
		struct diag d = { .status = HD_OK, .file = "x.yaml" };
		struct document doc;

		assert_int_equal(document_load(r->text, strlen(r->text), "the scenario", &d, &doc),
				 HD_ERR_INPUT);
		if (strncmp(d.message, r->message, strlen(r->message)) != 0 || d.line != r->line ||
		    d.column != r->column)
			fail_msg("%s gives %u:%u: %s", r->text, d.line, d.column, d.message);
	}
}

/* In both byte orders, with and without a byte order mark. */
static void rejects_wide_encodings_with_one_message(void **state)
{
	static const char *const codes[] = { "UTF-16LE", "UTF-16BE", "UTF-16",
					     "UTF-32LE", "UTF-32BE", "UTF-32" };

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(codes) / sizeof(*codes); i++) {
		char text[] = "\xef\xbb\xbf"
			      "a: 1\n",
		     wide[64];
		char *in = i % 2 ? text : &text[3], *out = wide;
		size_t left = strlen(in), room = sizeof(wide);
		iconv_t c = iconv_open(codes[i / 2], "UTF-8");
		struct diag d = { .status = HD_OK, .file = "x.yaml" };
		struct document doc;

		assert_true(iconv(c, &in, &left, &out, &room) == 0);
		iconv_close(c);
		assert_int_equal(document_load(wide, sizeof(wide) - room, "the scenario", &d, &doc),
				 HD_ERR_INPUT);
		assert_string_equal(d.message, "UTF-16 or UTF-32 text: save the file as UTF-8");
		assert_int_equal(d.line, 1);
	}
}

static void keeps_line_and_column_of_every_node(void **state)
{
	static const char text[] = "one: 1\ntwo:\n  - x\n  - {y: z}\n";
	struct diag d = { .status = HD_OK };
	struct document doc;

	(void)state;
	assert_int_equal(document_load(text, strlen(text), "the scenario", &d, &doc), HD_OK);
	const yaml_node_t *root = document_root(&doc);

	assert_string_equal(document_kind(root), "a mapping");
	const yaml_node_pair_t *two = root->data.mapping.pairs.start + 1;
	const yaml_node_t *list = document_node(&doc, two->value);

	assert_string_equal(document_kind(list), "a list");
	const yaml_node_t *second = document_node(&doc, list->data.sequence.items.start[1]);

	assert_int_equal(second->start_mark.line, 3);
	assert_int_equal(second->start_mark.column, 4);
	document_fini(&doc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rejects_wide_encodings_with_one_message),
		cmocka_unit_test(refuses_what_is_not_plain_data_at_its_place),
		cmocka_unit_test(keeps_line_and_column_of_every_node),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
