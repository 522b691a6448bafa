/* SPDX-License-Identifier: BSD-2-Clause */
/* Every example is followed, and all that can be asked for is, at INSTANTS
 * shares of its time. */
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/seeds_for_tests.h"
#include "serve/follow_for_tests.h"

#define INSTANTS 20

static uint64_t n_asked;

static void ask_for_all(struct followed *x, size_t turn)
{
	static const enum request_kind kinds[] = {
		REQUEST_STATE, REQUEST_METRICS, REQUEST_FABRIC, REQUEST_SCENARIO, REQUEST_REPORT,
	};
	enum { N = sizeof(kinds) / sizeof(kinds[0]) };
	struct strbuf text = STRBUF_INIT;

	for (size_t i = 0; i < N; i++) {
		const struct request r = { .kind = kinds[i] };

		/* The state is what a page looks at all the time. */
		if (i > 0 && !has_its_turn(i - 1, N - 1, turn))
			continue;
		assert_int_equal(follow_ask(x, &r, &text), 200);
		assert_true(text.len > 20);
		n_asked++;
	}
	strbuf_fini(&text);
}

static void follow_one(const char *path, size_t number)
{
	const struct request again = { .kind = REQUEST_RESTART };
	struct overrides o = { .items = NULL };
	struct strbuf state = STRBUF_INIT;
	struct followed x;
	hd_time at = 0;

	if (!run_is_long()) {
		overrides_put(&o, "test", "run.warmup", "3us");
		overrides_put(&o, "test", "run.measure", "20us");
		overrides_put(&o, "test", "run.horizon", "25us");
	}
	follow_begin(&x, path, &o);
	ask_for_all(&x, number);
	follow_step(&x, HD_S, &state);
	hd_time end = (hd_time)(number_after(state.text, "\"now\":") * (double)HD_US);

	ask_for_all(&x, number + 1);
	assert_int_equal(follow_ask(&x, &again, NULL), 200);
	for (size_t k = 0; k < INSTANTS; k++) {
		if (k > 0 && !has_its_turn(k % 5, 5, number))
			continue;
		hd_time until = end / INSTANTS * (k + 1) - k;

		follow_step(&x, until - at, &state);
		at = until;
		ask_for_all(&x, number + k);
	}
	follow_stop(&x);
	follow_free(x.s);
	overrides_fini(&o);
	strbuf_fini(&state);
}

/* A study is no scenario. */
static bool is_scenario(const char *path)
{
	struct diag d = { .status = HD_OK };
	struct strbuf text = STRBUF_INIT;

	assert_int_equal(file_read(path, 1 << 20, &d, &text), HD_OK);
	bool is = !strstr(text.text, "\nscenario:");

	strbuf_fini(&text);
	return is;
}

static void every_example_can_be_followed(void **state)
{
	glob_t found;

	(void)state;
	assert_int_equal(glob(HD_SOURCE_DIR "/examples/*.yaml", 0, NULL, &found), 0);
	assert_true(found.gl_pathc > 30);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		const char *path = found.gl_pathv[i];

		/* With sanitizers every third, and those with jobs. */
		if (is_scenario(path) &&
		    (cases_of_run(3, 3) == 3 || i % 3 == 0 || strstr(path, "job")))
			follow_one(path, i);
	}
	globfree(&found);
	printf("%llu requests\n", (unsigned long long)n_asked);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_example_can_be_followed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
