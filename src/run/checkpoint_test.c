/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "run/checkpoint.h"

#define SEAL 16 /* bytes of the digest at the end */

static const struct digest content = { 0x1234, 0x5678 };

static struct strbuf a_file(void)
{
	struct strbuf state = STRBUF_INIT, out = STRBUF_INIT;

	strbuf_puts(&state, "state");
	checkpoint_print(&content, &state, &out);
	strbuf_fini(&state);
	return out;
}

static enum hd_status parse(const struct strbuf *b, size_t len, const struct digest *of,
			    struct diag *d)
{
	struct pack p;

	*d = (struct diag){ .status = HD_OK };
	return checkpoint_parse(b->text, len, of, d, &p);
}

static void a_state_comes_back(void **state)
{
	struct strbuf b = a_file();
	struct diag d = { .status = HD_OK };
	struct pack p;

	(void)state;
	assert_int_equal(checkpoint_parse(b.text, b.len, &content, &d, &p), HD_OK);
	assert_int_equal(p.left, 5);
	assert_memory_equal(p.in, "state", 5);
	strbuf_fini(&b);
}

static void every_byte_counts(void **state)
{
	struct strbuf b = a_file();
	struct diag d;

	(void)state;
	for (size_t i = 0; i < b.len; i++) {
		for (unsigned bit = 0; bit < 8; bit++) {
			b.text[i] = (char)(b.text[i] ^ (1 << bit));
			assert_int_equal(parse(&b, b.len, &content, &d), HD_ERR_INPUT);
			b.text[i] = (char)(b.text[i] ^ (1 << bit));
		}
	}
	strbuf_fini(&b);
}

static void every_length_counts(void **state)
{
	struct strbuf b = a_file();
	struct diag d;

	(void)state;
	for (size_t len = 0; len < b.len; len++)
		assert_int_equal(parse(&b, len, &content, &d), HD_ERR_INPUT);
	strbuf_puts(&b, "more");
	assert_int_equal(parse(&b, b.len, &content, &d), HD_ERR_INPUT);
	assert_string_equal(d.message, "the checkpoint is damaged or truncated");
	strbuf_fini(&b);
}

static void other_contents_are_refused(void **state)
{
	const struct digest others[] = { { 0x1234, 0x5679 }, { 0x1235, 0x5678 } };
	struct strbuf b = a_file();
	struct diag d;

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(parse(&b, b.len, &others[i], &d), HD_ERR_UNFIT);
		assert_true(strstr(d.message, "another scenario") != NULL);
	}
	strbuf_fini(&b);
}

/* A complete file with another CHECKPOINT_RULES. */
static void other_rules_are_refused(void **state)
{
	struct strbuf b = a_file();
	char *rules = strchr(b.text, '\n') + 1;
	struct digest h = DIGEST_START;
	struct diag d;

	(void)state;
	/* Packed numbers are stored incremented by 1. */
	assert_int_equal(*rules, CHECKPOINT_RULES + 1);
	*rules = CHECKPOINT_RULES + 2;
	digest_add(&h, b.text, b.len - SEAL);
	for (unsigned i = 0; i < 8; i++) {
		b.text[b.len - SEAL + i] = (char)(h.a >> (8 * i));
		b.text[b.len - SEAL + 8 + i] = (char)(h.b >> (8 * i));
	}
	assert_int_equal(parse(&b, b.len, &content, &d), HD_ERR_UNFIT);
	assert_true(strstr(d.message, "another version") != NULL);
	strbuf_fini(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_state_comes_back),
		cmocka_unit_test(every_byte_counts),
		cmocka_unit_test(every_length_counts),
		cmocka_unit_test(other_contents_are_refused),
		cmocka_unit_test(other_rules_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
