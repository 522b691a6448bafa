/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every example is followed, and every kind of request is made at INSTANTS fractions of its
 * duration.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "run/examples_for_tests.h"
#include "serve/follow_for_tests.h"

static uint64_t n_asked;

static void ask_for_all(struct followed *x)
{
	static const enum request_kind kinds[] = {
		REQUEST_STATE, REQUEST_METRICS, REQUEST_FABRIC, REQUEST_SCENARIO, REQUEST_REPORT,
	};
	struct strbuf text = STRBUF_INIT;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const struct http_request r = { .kind = kinds[i] };

		assert_int_equal(follow_ask(x, &r, &text), 200);
		assert_true(text.len > 20);
		n_asked++;
	}
	strbuf_fini(&text);
}

static void follow_one(const struct example *e)
{
	const struct http_request again = { .kind = REQUEST_RESTART };
	struct strbuf state = STRBUF_INIT;
	struct followed x;
	hd_time at = 0;

	follow_begin(&x, e->path, &e->overrides);
	ask_for_all(&x);
	follow_step(&x, HD_S, &state);
	hd_time end = (hd_time)(number_after(state.text, "\"now\":") * (double)HD_US);

	ask_for_all(&x);
	assert_int_equal(follow_ask(&x, &again, NULL), 200);
	for (size_t k = 0; k < INSTANTS; k++) {
		hd_time until = end / INSTANTS * (k + 1) - k;

		follow_step(&x, until - at, &state);
		at = until;
		ask_for_all(&x);
	}
	follow_stop(&x);
	follow_free(x.s);
	strbuf_fini(&state);
}

static void every_example_can_be_followed(void **state)
{
	(void)state;
	each_example(HD_SOURCE_DIR, follow_one);
	printf("%llu requests\n", (unsigned long long)n_asked);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_example_can_be_followed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
