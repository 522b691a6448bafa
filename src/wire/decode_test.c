/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/decode.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* A flow-control packet of VL 3 with a correct LPCRC. */
#define FLOW "01 23 34 56 d1 9f"

struct shown {
	struct decoder decoder;
	struct strbuf out;
	struct diag d;
	enum hd_status status;
};

static void show(struct shown *s, struct decoder how, const char *hex, unsigned kind)
{
	*s = (struct shown){ .decoder = how, .out = STRBUF_INIT };
	decoder_begin(&s->decoder, &s->out);
	s->status = decoder_hex(&s->decoder, hex, kind, &s->d);
	decoder_end(&s->decoder);
}

static void fini(struct shown *s)
{
	decoder_fini(&s->decoder);
	strbuf_fini(&s->out);
}

static unsigned kind_of(const char *name)
{
	unsigned i = 0;

	while (strcmp(decode_kind_names[i], name) != 0)
		i++;
	return i;
}

/* Six bytes are decoded as a flow-control packet unless a kind is given. */
static void six_bytes_are_flow_control(void **state)
{
	struct shown s;

	(void)state;
	show(&s, (struct decoder){ .form = DECODE_TEXT }, FLOW, 0);
	assert_int_equal(s.status, HD_OK);
	assert_int_equal(s.decoder.counts.flows, 1);
	assert_int_equal(s.decoder.counts.vcrc_bad, 0);
	fini(&s);
	show(&s, (struct decoder){ .form = DECODE_TEXT }, FLOW, kind_of("packet"));
	assert_int_equal(s.decoder.counts.flows, 0);
	assert_int_equal(s.decoder.counts.malformed, 1);
	fini(&s);
}

/* Every form has counts, and JSON is complete. */
static void forms_begin_and_end(void **state)
{
	struct shown s;

	(void)state;
	show(&s, (struct decoder){ .form = DECODE_JSON }, FLOW, 0);
	assert_true(strncmp(s.out.text, "{", 1) == 0);
	assert_non_null(strstr(s.out.text, "\"packets\""));
	assert_non_null(strstr(s.out.text, "\"counts\""));
	assert_string_equal(s.out.text + s.out.len - 2, "}\n");
	fini(&s);
	show(&s, (struct decoder){ .form = DECODE_CSV }, FLOW, 0);
	unsigned lines = 0;

	for (const char *c = s.out.text; *c; c++)
		lines += *c == '\n';
	assert_int_equal(lines, 2); /* the header line, and one row */
	fini(&s);
	show(&s, (struct decoder){ .form = DECODE_TEXT, .summary = true }, FLOW, 0);
	assert_true(s.out.text[0] == '#');
	fini(&s);
}

static void rejects_other_files(void **state)
{
	struct decoder x = { .form = DECODE_TEXT };
	struct strbuf out = STRBUF_INIT;
	struct diag d = { .status = HD_OK };

	(void)state;
	decoder_begin(&x, &out);
	assert_int_equal(decoder_file(&x, "/nowhere/at/all", &d), HD_ERR_NOT_FOUND);
	d = (struct diag){ .status = HD_OK };
	assert_int_equal(decoder_file(&x, HD_SOURCE_DIR "/README.md", &d), HD_ERR_INPUT);
	d = (struct diag){ .status = HD_OK };
	assert_int_not_equal(decoder_hex(&x, "0x", 0, &d), HD_OK);
	assert_int_equal(x.counts.records, 0);
	decoder_fini(&x);
	strbuf_fini(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(six_bytes_are_flow_control),
		cmocka_unit_test(forms_begin_and_end),
		cmocka_unit_test(rejects_other_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
