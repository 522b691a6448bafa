/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/rng.h"

/* jansson's interpretation of our output. */
static json_t *parsed(const struct strbuf *text)
{
	json_error_t error;
	json_t *root =
		json_loadb(text->text, text->len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);

	if (!root)
		fail_msg("%s in %s", error.text, text->text);
	return root;
}

/* Bytes of any kind, without NUL. */
static void any_text(struct rng *r, char *text, size_t size)
{
	size_t len = rng_below(r, size);

	for (size_t i = 0; i < len; i++)
		text[i] = (char)(1 + rng_below(r, 255));
	text[len] = '\0';
}

static json_t *write_any(struct json *w, struct rng *r, unsigned depth);

static json_t *write_object(struct json *w, struct rng *r, unsigned depth)
{
	json_t *same = json_object();
	unsigned n = (unsigned)rng_below(r, 5);

	json_begin_object(w);
	for (unsigned i = 0; i < n; i++) {
		char key[16];

		snprintf(key, sizeof(key), "k\"\\%u", i);
		json_key(w, key);
		json_object_set_new(same, key, write_any(w, r, depth));
	}
	json_end(w);
	return same;
}

static json_t *write_array(struct json *w, struct rng *r, unsigned depth)
{
	json_t *same = json_array();
	unsigned n = (unsigned)rng_below(r, 5);

	json_begin_array(w);
	for (unsigned i = 0; i < n; i++)
		json_array_append_new(same, write_any(w, r, depth));
	json_end(w);
	return same;
}

/* Writes one value with our writer, builds the same with jansson. */
static json_t *write_any(struct json *w, struct rng *r, unsigned depth)
{
	uint64_t kind = rng_below(r, depth < 6 ? 8 : 6), bits = rng_next(r);
	double real;

	switch (kind) {
	case 0:
		json_int(w, (int64_t)bits);
		return json_integer((json_int_t)bits);
	case 1:
		json_uint(w, bits >> 1);
		return json_integer((json_int_t)(bits >> 1));
	case 2:
		/* jansson reads "5e3" as real, "5000" as integer. */
		real = ldexp((double)(bits >> 11) + 0.5, -20);
		json_double(w, real);
		return json_real(real);
	case 3:
		json_bool(w, bits & 1);
		return json_boolean(bits & 1);
	case 4:
		json_none(w);
		return json_null();
	case 5:
		json_text(w, "\t\"quoted\"\\ \x01\x7f größe");
		return json_string("\t\"quoted\"\\ \x01\x7f größe");
	case 6:
		return write_object(w, r, depth + 1);
	default:
		return write_array(w, r, depth + 1);
	}
}

static void jansson_reads_what_was_meant(void **state)
{
	struct rng r;

	(void)state;
	rng_init(&r, 1, 1);
	for (unsigned i = 0; i < 2000; i++) {
		struct strbuf out = STRBUF_INIT;
		struct json w;

		json_init(&w, &out);
		w.compact = i % 2;
		json_t *meant = write_object(&w, &r, 0);
		json_t *read = parsed(&out);

		if (!json_equal(meant, read))
			fail_msg("%s", out.text);
		json_decref(meant);
		json_decref(read);
		strbuf_fini(&out);
	}
}

static void bytes_that_are_not_utf8_still_give_valid_json(void **state)
{
	struct rng r;
	char text[40];

	(void)state;
	rng_init(&r, 1, 2);
	for (unsigned i = 0; i < 5000; i++) {
		struct strbuf out = STRBUF_INIT;
		struct json w;

		any_text(&r, text, sizeof(text));
		json_init(&w, &out);
		json_begin_array(&w);
		json_text(&w, text);
		json_end(&w);
		json_decref(parsed(&out));
		strbuf_fini(&out);
	}
}

static void numbers_that_json_lacks_become_null(void **state)
{
	struct strbuf out = STRBUF_INIT;
	struct json w;

	(void)state;
	json_init(&w, &out);
	w.compact = true;
	json_begin_array(&w);
	json_double(&w, NAN);
	json_double(&w, -INFINITY);
	json_double(&w, -0.0);
	json_uint(&w, UINT64_MAX);
	json_end(&w);
	assert_string_equal(out.text, "[null,null,-0,18446744073709551615]");
	strbuf_fini(&out);
}

static void lines_are_indented_by_depth(void **state)
{
	struct strbuf out = STRBUF_INIT;
	struct json w;

	(void)state;
	json_init(&w, &out);
	json_begin_object(&w);
	json_key(&w, "a");
	json_begin_array(&w);
	json_uint(&w, 1);
	json_uint(&w, 2);
	json_end(&w);
	json_key(&w, "b");
	json_begin_object(&w);
	json_end(&w);
	json_end(&w);
	assert_string_equal(out.text, "{\n  \"a\": [\n    1,\n    2\n  ],\n"
				      "  \"b\": {}\n}\n");
	strbuf_fini(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jansson_reads_what_was_meant),
		cmocka_unit_test(bytes_that_are_not_utf8_still_give_valid_json),
		cmocka_unit_test(numbers_that_json_lacks_become_null),
		cmocka_unit_test(lines_are_indented_by_depth),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
