/* SPDX-License-Identifier: BSD-2-Clause */
/* Blocking agrees with closed forms; rows without a closed form have none. */
#include "fabric/build_for_tests.h"

#include <math.h>

#include "model/loss.h"

#define RUNS  8 /* of other seeds, that an interval is taken over */
/* Student's t for 99.9 % and 7 degrees of freedom. */
#define T_999 5.408

#define STAR(hosts, classes)                                                   \
	"fabric:\n  topology: {kind: star, hosts: " hosts "}\n"                \
	"  link: 8Gb/s\nqos:\n  vls: 15\n  admission: {release_delay: 10us}\n" \
	"  classes: [{name: db, sl: 2, kind: DB}, {name: db2, sl: 3, "         \
	"kind: DB}, {name: ts, sl: 4, kind: DBTS}, " classes "]\ntraffic:\n"
/*
 * 47 whole entries (11,985 slots) are left for DB and DBTS; each of the three VLs keeps an entry in
 * the low table.
 */
#define WHOLE                                        \
	"{name: be, sl: 8, kind: BE, weight: 2805}," \
	" {name: pbe, sl: 10, kind: PBE, weight: 1530}"
/* 13 entries, one of CH and two of the other VLs: 48, 12,240 slots, are left
 * of 13,053. */
#define BROKEN "{name: be, sl: 8, kind: BE}, {name: ch, sl: 9, kind: CH}"
#define ROW(name, class, from, rate, gap, holding)                                              \
	"- {name: " name ", class: " class ", kind: cbr, rate: 1Mb/s, " from ", reserve: " rate \
					   ", arrivals: " gap ", holding: " holding "}\n"
#define RUN  "run: {seed: %u, measure: 200ms}\n"
#define ONE  "source: h0, destination: h1"
#define MANY "pattern: incast, destination: h0"

struct agreeing {
	const char *text;
	uint32_t places;
	uint32_t n;
	struct loss_class classes[2];
	const char *form;
};

/* Loads are (holding + 10 us) / gap; 8 Gb/s are 16,320 slots. */
static const struct agreeing agreeing[] = {
	/* 1,020 slots: 11 calls. */
	{ STAR("2", WHOLE) ROW("a", "db", ONE, "500Mb/s", "12us", "90us") RUN,
	  11,
	  1,
	  { { 1, 100.0 / 12 } },
	  "Erlang B" },
	/* 1,428 slots: 9 by slots, 8 by what entries hold (12,240). */
	{ STAR("2", BROKEN) ROW("a", "db", ONE, "700Mb/s", "15us", "90us") RUN,
	  8,
	  1,
	  { { 1, 100.0 / 15 } },
	  "Erlang B" },
	{ STAR("2", WHOLE)
		  ROW("a", "db", ONE, "500Mb/s", "25us", "{mean: 90us, distribution: constant}")
			  ROW("b", "ts", ONE, "2Gb/s", "100us", "90us") RUN,
	  11,
	  2,
	  { { 1, 4 }, { 4, 1 } },
	  "Kaufman-Roberts" },
	/* From three hosts to one: the last link decides. */
	{ STAR("4", WHOLE) ROW("a", "db", MANY, "500Mb/s", "25us", "90us")
		  ROW("b", "ts", "source: h1, destination: h0", "2Gb/s", "100us", "90us") RUN,
	  11,
	  2,
	  { { 1, 4 }, { 4, 1 } },
	  "Kaufman-Roberts" },
	/* Rows alike are one stream; preferred ones have 15 places. */
	{ STAR("2", WHOLE) ROW("a", "db", ONE, "500Mb/s", "20us", "90us")
		  ROW("b", "db2", ONE, "500Mb/s", "30us", "90us") RUN,
	  11,
	  2,
	  { { 1, 5 }, { 1, 10.0 / 3 } },
	  "Erlang B" },
	{ STAR("2", WHOLE) ROW("p", "pbe", ONE, "50Mb/s", "10us", "90us") ROW(
		  "d", "db", ONE, "500Mb/s", "{gap: 100us, distribution: constant}", "90us") RUN,
	  15,
	  1,
	  { { 1, 10 } },
	  "Erlang B" },
};

static struct fabric *build(const char *text, unsigned seed)
{
	char whole[4096];
	struct fabric *fabric;

	snprintf(whole, sizeof(whole), text, seed);
	must_build(whole, &fabric);
	return fabric;
}

/* The share of a row that was refused after the first tenth of a run. */
static double blocking(const struct fabric *fabric, uint32_t row)
{
	uint64_t asked = 0, refused = 0;

	for (uint32_t i = 0; i < fabric->n_requests; i++) {
		const struct fabric_request *q = &fabric->requests[i];

		if (q->row != row || q->at < fabric->rules.stop / 10)
			continue;
		asked++;
		refused += q->flow == SIM_NONE;
	}
	assert_true(asked > 1000);
	return (double)refused / (double)asked;
}

static void assert_agrees(const double found[RUNS], double exact)
{
	double mean = 0, variance = 0;

	for (int i = 0; i < RUNS; i++)
		mean += found[i] / RUNS;
	for (int i = 0; i < RUNS; i++)
		variance += (found[i] - mean) * (found[i] - mean) / (RUNS - 1);
	double half = T_999 * sqrt(variance / RUNS);

	print_message("blocking %.5f +- %.5f, by formula %.5f\n", mean, half, exact);
	assert_true(fabs(mean - exact) <= half);
	assert_true(half < 0.25 * exact);
}

static void check_agreeing(const struct agreeing *a)
{
	double exact[2], found[2][RUNS];

	loss_shared(a->places, a->classes, a->n, exact);
	for (unsigned run = 0; run < RUNS; run++) {
		struct fabric *fabric = build(a->text, run + 1);

		for (uint32_t row = 0; row < a->n; row++) {
			const struct fabric_loss *l = &fabric->losses[row];

			assert_string_equal(l->form, a->form);
			assert_true(fabs(l->blocking - exact[row]) < 1e-9);
			found[row][run] = blocking(fabric, row);
		}
		fabric_free(fabric);
	}
	for (uint32_t row = 0; row < a->n; row++)
		assert_agrees(found[row], exact[row]);
}

static void what_is_found_agrees(void **state)
{
	(void)state;
	for (size_t c = 0; c < sizeof(agreeing) / sizeof(*agreeing); c++)
		check_agreeing(&agreeing[c]);
}

static const struct {
	const char *text, *why;
} without[] = {
	{ STAR("2", WHOLE)
		  ROW("a", "db", ONE, "500Mb/s", "{gap: 12us, distribution: constant}", "90us"),
	  "none: arrivals are not Poisson" },
	{ STAR("2", WHOLE) "- {name: a, class: db, kind: saturating, " ONE
			   ", reserve: 500Mb/s, arrivals: 12us}\n",
	  "none: they stay" },
	{ STAR("2", WHOLE) "- {name: a, class: db, kind: saturating, " ONE
			   ", reserve: 1Gb/s, pattern: pairs}\n",
	  "none: they stay" },
	{ STAR("2", WHOLE) ROW("a", "db", ONE, "500Mb/s", "12us", "90us, stop: 2ms"),
	  "none: they come for a part of the run" },
	{ STAR("4", WHOLE) ROW("a", "db", "pattern: uniform", "500Mb/s", "12us", "90us"),
	  "none: no single link decides" },
	/* Each fills its own link and the shared one. */
	{ STAR("3", WHOLE) ROW("a", "db", ONE, "500Mb/s", "12us", "90us")
		  ROW("b", "db", "source: h0, destination: h2", "500Mb/s",
		      "{gap: 12us, distribution: constant}", "90us"),
	  "none: another row on its links has none" },
	/* VLs that leave parts of entries free, and no entry to spare. */
	{ STAR("2", BROKEN) ROW("a", "db", ONE, "700Mb/s", "12us", "90us")
		  ROW("b", "db2", ONE, "500Mb/s", "12us", "90us"),
	  "none: table entries limit, too" },
	{ STAR("2", WHOLE) ROW("a", "db", ONE, "500Mb/s", "12us", "90us")
		  ROW("b", "ts", ONE, "2Gb/s", "12us",
		      "90us") "congestion: {limits: [{sl: 2, share: 50%%}]}\n",
	  "none: an SL has a share of its own" },
};

static void missing_formula_has_a_reason(void **state)
{
	(void)state;
	for (size_t c = 0; c < sizeof(without) / sizeof(*without); c++) {
		char text[4096];

		snprintf(text, sizeof(text), "%srun: {seed: %%u, measure: 5ms}\n", without[c].text);
		struct fabric *fabric = build(text, 1);

		assert_string_equal(fabric->losses[0].form, without[c].why);
		assert_true(isnan(fabric->losses[0].blocking));
		fabric_free(fabric);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_found_agrees),
		cmocka_unit_test(missing_formula_has_a_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
