/* SPDX-License-Identifier: BSD-2-Clause */
#include "study/axis.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"

/* All values, joined by "|", or what was refused. */
static void expand(const char *field, const char *values, struct strbuf *out)
{
	struct diag d = { .status = HD_OK };
	struct axis a;

	if (axis_init(&a, field, values, NULL, &d) != HD_OK)
		strbuf_printf(out, "refused: %s", d.message);
	for (size_t i = 0; d.status == HD_OK && i < a.values.n; i++)
		strbuf_printf(out, "%s%s", i ? "|" : "", a.values.items[i]);
	axis_fini(&a);
}

#define LOAD    "traffic.0.load"
#define PAYLOAD "traffic.0.payload"

static void values_are_lists_and_ranges(void **state)
{
	static const struct {
		const char *field, *values, *expected;
	} cases[] = {
		{ LOAD, "10%..50%:20%", "10%|30%|50%" },
		{ LOAD, "10..35:10%", "10%|20%|30%" },
		{ LOAD, "0.1..0.5:0.1", "0.1|0.2|0.3|0.4|0.5" },
		{ LOAD, "0.99..1.01:0.005", "0.99|0.995|1|1.005|1.01" },
		{ LOAD, " 5% , 7.5%,10%..12%:1%", "5%|7.5%|10%|11%|12%" },
		{ LOAD, "7%..7%:1%", "7%" },
		{ PAYLOAD, "64..1024:*2", "64|128|256|512|1024" },
		{ PAYLOAD, "1KiB..9KiB:*3", "1KiB|3KiB|9KiB" },
		{ PAYLOAD, "1KiB..3KiB:1KiB", "1KiB|2KiB|3KiB" },
		/* A size without a unit is in bytes, here too. */
		{ PAYLOAD, "256..4KiB:*4", "256|1024|4096" },
		{ PAYLOAD, "0.5KiB..2KiB:512", "512|1024|1536|2048" },
		{ PAYLOAD, "512B..2KiB:*2", "512|1024|2048" },
		{ "run.measure", "1us..3us:1us", "1us|2us|3us" },
		{ "fabric.switch.input_buffer", "1 packets..3 packets:1",
		  "1 packets|2 packets|3 packets" },
		{ "fabric.topology", "{kind: ring, switches: 4},{kind: single}",
		  "{kind: ring, switches: 4}|{kind: single}" },
		{ "traffic.0.to", "h0..h3", "h0..h3" }, /* a set, no range */
		{ "fabric.topology.radix", "4..8:2", "4|6|8" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct strbuf out = STRBUF_INIT;

		expand(cases[i].field, cases[i].values, &out);
		assert_string_equal(out.text, cases[i].expected);
		strbuf_fini(&out);
	}
}

static void what_is_no_axis_is_refused(void **state)
{
	static const struct {
		const char *field, *values, *part;
	} cases[] = {
		{ LOAD, "", "no values" },
		{ LOAD, "  ", "no values" },
		{ LOAD, "10%,,20%", "a value is empty" },
		{ LOAD, "20%..10%:1%", "is empty" },
		{ LOAD, "10%..20%:0%", "does not reach its end" },
		{ LOAD, "0..20%:*2", "does not reach its end" },
		{ LOAD, "1%..20%:*1", "not a whole number" },
		{ LOAD, "1%..20%:*1.5", "not a whole number" },
		{ LOAD, "1%..2us:1%", "mixes units" },
		{ LOAD, "10%..20%", "LOW..HIGH:STEP" },
		{ LOAD, "10%,fast", "'fast' is not a share" },
		{ LOAD, "10%..2000%:10%", "out of range" },
		{ PAYLOAD, "0..1000000000:1", "has 1000000001 values" },
		{ PAYLOAD, "0.00000000000001..99999999999999:1", "too many digits" },
		{ "qos.vls", "1,2,3", "'3' is not one of" },
		{ "traffic.0.kind", "cbr,poison", "did you mean 'poisson'" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct strbuf out = STRBUF_INIT;

		expand(cases[i].field, cases[i].values, &out);
		if (strncmp(out.text, "refused", 7) != 0 || !strstr(out.text, cases[i].part))
			fail_msg("%s=%s: %s", cases[i].field, cases[i].values, out.text);
		strbuf_fini(&out);
	}
}

/* Compares with whole numbers: LOW, LOW + STEP ... in hundredths. */
static void a_range_is_what_counting_gives(void **state)
{
	struct rng rng;

	(void)state;
	rng_init(&rng, 7, 1);
	for (int n = 0; n < 500; n++) {
		unsigned low = (unsigned)rng_below(&rng, 500);
		unsigned step = 1 + (unsigned)rng_below(&rng, 90);
		unsigned high = low + (unsigned)rng_below(&rng, 500);
		struct diag d = { .status = HD_OK };
		char text[96];
		struct axis a;

		snprintf(text, sizeof(text), "%u.%02u..%u.%02u:%u.%02u", low / 100, low % 100,
			 high / 100, high % 100, step / 100, step % 100);
		assert_int_equal(axis_init(&a, "a field that no table has", text, NULL, &d), HD_OK);
		assert_int_equal(a.values.n, (high - low) / step + 1);
		for (unsigned i = 0; i < a.values.n; i++)
			assert_true(fabs(a.numbers[i] * 100 - low - i * step) < 1e-6);
		axis_fini(&a);
	}
}

static void numbers_have_one_unit(void **state)
{
	static const struct {
		const char *field, *values, *unit;
		double last; /* NAN: words */
	} cases[] = {
		{ LOAD, "0.1,50%", "%", 50 },
		{ "run.measure", "500ns,2us,1ms", "us", 1000 },
		{ "fabric.link.rate", "4x SDR,100Gb/s", "Gb/s", 100 },
		{ PAYLOAD, "100,2KiB", "B", 2048 },
		{ "qos.vls", "1,8", "", 8 },
		{ "fabric.topology.radix", "4,6", "", 6 },
		{ "fabric.switch.input_buffer", "2 packets,4 packets", "packets", 4 },
		{ "fabric.switch.input_buffer", "2 packets,4KiB", "", NAN },
		{ "fabric.routing", "ftree,updn", "", NAN },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct diag d = { .status = HD_OK };
		struct axis a;

		assert_int_equal(axis_init(&a, cases[i].field, cases[i].values, NULL, &d), HD_OK);
		assert_string_equal(a.unit, cases[i].unit);
		assert_int_equal(a.kind, isnan(cases[i].last) ? VALUE_TEXT : VALUE_REAL);
		if (a.kind == VALUE_REAL)
			assert_true(a.numbers[a.values.n - 1] == cases[i].last);
		axis_fini(&a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_lists_and_ranges),
		cmocka_unit_test(what_is_no_axis_is_refused),
		cmocka_unit_test(a_range_is_what_counting_gives),
		cmocka_unit_test(numbers_have_one_unit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
