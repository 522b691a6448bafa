/* SPDX-License-Identifier: BSD-2-Clause */
#include "study/goals.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "base/seeds_for_tests.h"

static const char said[] = "mpi: at least 70 %, packets 2KiB\n"
			   "mds: latency 20us, packets 256\n"
			   "ost: 20%\n"
			   "backup: leftovers\n";

static void goals_are_parsed_from_plain_words(void **state)
{
	struct diag d = { .status = HD_OK };
	struct goals g;

	(void)state;
	assert_int_equal(goals_read(said, strlen(said), 4096, &d, &g), HD_OK);
	assert_int_equal(g.n, 4);
	assert_true(g.items[0].share.num * 10 == 7 * g.items[0].share.den);
	assert_int_equal(g.items[0].payload, 2048);
	assert_true(g.items[1].latency == 20 * HD_US && g.classes[1].latency);
	assert_true(g.items[3].leftovers && g.items[3].payload == 4096);
	goals_fini(&g);
}

static void senders_are_a_positive_number(void **state)
{
	static const char text[] =
		"mds: latency 20us, senders 2\nb: latency 30us, senders 1000000\n";
	struct diag d = { .status = HD_OK };
	struct goals g;

	(void)state;
	assert_int_equal(goals_read(text, strlen(text), 4096, &d, &g), HD_OK);
	assert_int_equal(g.items[0].senders, 2);
	assert_int_equal(g.items[1].senders, 1000000);
	goals_fini(&g);
}

struct refusal {
	const char *text, *says;
	unsigned line;
};

static const struct refusal refusals[] = {
	{ "a: 70%\nb: soon\n", "class 'b': unknown goal 'soon'", 2 },
	{ "a: latency 3\n", "class 'a'", 1 },
	{ "a: latency 0us\n", "class 'a': a latency must be above 0", 1 },
	{ "a: latency 3us, latency 5us\n", "'latency 5us' repeats", 1 },
	{ "a: at least 3%, 5%\n", "'5%' repeats", 1 },
	{ "a: 3%, packets 64, packets 64\n", "'packets 64' repeats", 1 },
	{ "a: 70%, packets 2049\n", "1 to 2048 bytes", 1 },
	{ "a: packets 256\n", "no goal is given", 1 },
	{ "a: leftovers, 5%\n", "cannot be combined", 1 },
	{ "a: 10%\na: 5%\n", "given twice", 2 },
	{ "a: 10%, senders 0\n", "invalid number of senders '0'", 1 },
	{ "a: 10%, senders -1\n", "invalid number of senders '-1'", 1 },
	{ "a: 10%, senders 1000001\n", "invalid number of senders '1000001'", 1 },
	{ "a: 10%, senders 2x\n", "invalid number of senders '2x'", 1 },
	{ "a: 10%, senders 2, senders 3\n", "'senders 3' repeats", 1 },
	{ "- a\n", "not a list", 1 },
	{ "a: [1, 2]\n", "not a list", 1 },
	/* 80 + 40 in 94: 62.6 and 31.3. */
	{ "a: 80%\nb: 40%\nc: latency 9us\nd: leftovers\n",
	  "a 80% + b 40% + c 5% + d 1% is 126% of the link; nearest: a 62.6%, b 31.3%", 0 },
};

static void nonsense_is_refused_with_its_line(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(refusals) / sizeof(*refusals); i++) {
		const struct refusal *r = &refusals[i];
		struct diag d = { .status = HD_OK };
		struct goals g;

		assert_int_not_equal(goals_read(r->text, strlen(r->text), 2048, &d, &g), HD_OK);
		goals_fini(&g);
		if (!strstr(d.message, r->says) || d.line != r->line)
			fail_msg("%u: %s", d.line, d.message);
	}
}

/* ---- random goals on a fabric -------------------------------------------- */

static const char fabric_name[] = "fat-tree --radix 4 --levels 2";

/* Two to five classes of several sizes, 40 to 85 % of the link together. */
static void draw(struct rng *rng, struct strbuf *out)
{
	static const unsigned sizes[] = { 256, 512, 1024, 2048, 4096 };
	unsigned n = 2 + (unsigned)rng_below(rng, 4);

	for (unsigned i = 0; i < n; i++) {
		unsigned share = 8 + (unsigned)rng_below(rng, 9);

		strbuf_printf(out, "c%u: ", i);
		if (i == 0 && rng_below(rng, 2))
			strbuf_printf(out, "latency 80us");
		else if (i + 1 == n && rng_below(rng, 2))
			strbuf_puts(out, "leftovers");
		else
			strbuf_printf(out, "at least %u%%", share);
		strbuf_printf(out, ", packets %u\n", sizes[rng_below(rng, 5)]);
	}
}

/* The measured shares in the worst mix equal the guaranteed ones, and the bounds hold. */
static void check_set(struct rng *rng, const struct fabric *fabric)
{
	const struct plan_link link = { .vls = 8, .entries = 64, .overhead = 26 };
	struct strbuf text = STRBUF_INIT;
	struct diag d = { .status = HD_OK };
	struct goal_verdict v[N_SLS];
	struct goals g;
	struct plan p;
	unsigned done = 0;

	draw(rng, &text);
	assert_int_equal(goals_read(text.text, text.len, 4096, &d, &g), HD_OK);
	assert_int_equal(plan_make(g.classes, g.n, &link, &d, &p), HD_OK);
	const struct goals_case c = { &g, &p, &link, fabric, fabric_name };

	if (goals_bounds(&c, &d, v) != HD_OK || goals_verify(&c, &d, v, &done) != HD_OK)
		fail_msg("%s", d.message);
	assert_int_equal(done, goals_mixes(&g));
	for (unsigned i = 0; i < g.n; i++) {
		bool kept = v[i].met && fabs(v[i].share - p.outcome[i].achieved) < 0.02;

		/* A latency class sends its share, and not more. */
		if (g.items[i].latency)
			kept &= v[i].latency <= v[i].bound;
		if (!kept)
			fail_msg("%s%s: promised %.4f, has %.4f, %.3f us of %.3f", text.text,
				 g.items[i].name, p.outcome[i].achieved, v[i].share,
				 v[i].latency * 1e6, v[i].bound * 1e6);
	}
	plan_fini(&p);
	goals_fini(&g);
	strbuf_fini(&text);
}

static void random_goals_are_met(void **state)
{
	const unsigned sets = cases_of_run(40, 200);
	struct diag d = { .status = HD_OK };
	struct fabric *fabric;
	struct rng rng;

	(void)state;
	assert_int_equal(fabric_open(fabric_name, NULL, &d, &fabric), HD_OK);
	rng_init(&rng, 23, 1);
	for (unsigned i = 0; i < sets; i++)
		check_set(&rng, fabric);
	fabric_free(fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(senders_are_a_positive_number),
		cmocka_unit_test(goals_are_parsed_from_plain_words),
		cmocka_unit_test(nonsense_is_refused_with_its_line),
		cmocka_unit_test(random_goals_are_met),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
