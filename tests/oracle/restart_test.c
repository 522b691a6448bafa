/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A run that is saved at any instant and read into another one, in any number
 * of parts, continues with the same results: random scenarios of every mode,
 * every event and every counter.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/rng.h"
#include "base/seeds_for_tests.h"
#include "compare.h"

#define FIXED_SEED    UINT64_C(0x72657374617274)
#define COUNT_DEFAULT 800
#define COUNT_LONG    4000

static const uint32_t cuts[] = { 1, 2, 3, 7, 1000 };
#define CUTS (sizeof(cuts) / sizeof(*cuts))

static struct sim_restart draw_restart(struct rng *r, hd_time horizon)
{
	return (struct sim_restart){
		.at = rng_below(r, horizon),
		.before = { cuts[rng_below(r, CUTS)], (uint32_t)rng_next(r) },
		.after = { cuts[rng_below(r, CUTS)], (uint32_t)rng_next(r) },
	};
}

static bool restart_differs(uint64_t seed, struct rng *r)
{
	struct strbuf why = STRBUF_INIT;
	struct sim_record want, got;
	struct scenario s;

	scenario_draw_unpaired(&s, seed);
	struct oracle_case c = scenario_case(&s);
	const struct sim_replay what = { c.setup, c.arrivals, c.n_arrivals, c.horizon };
	const struct sim_restart how = draw_restart(r, c.horizon);

	sim_replay(c.setup, c.arrivals, c.n_arrivals, c.horizon, &want);
	bool same_bytes = sim_replay_restart(&what, &how, &got);

	if (!same_bytes)
		strbuf_puts(&why, "the state is not taken, or saved again otherwise");
	bool differs = !same_bytes || records_differ(&want, &got, c.setup->n_ports, &why);

	if (differs)
		fprintf(stderr,
			"scenario 0x%" PRIx64 ", saved at %" PRIu64
			" in %u parts, read in %u: %s\n",
			seed, how.at, how.before.parts, how.after.parts, why.text);
	sim_record_fini(&want);
	sim_record_fini(&got);
	strbuf_fini(&why);
	scenario_clear(&s);
	return differs;
}

int main(void)
{
	uint64_t seed = seed_of_run(FIXED_SEED), failures = 0;
	uint64_t count = cases_of_run(COUNT_DEFAULT, COUNT_LONG);
	struct rng r;

	rng_init(&r, seed, 0);
	for (uint64_t i = 0; i < count; i++)
		failures += restart_differs(rng_next(&r), &r);
	printf("%" PRIu64 " of %" PRIu64 " runs differ after a restart\n", failures, count);
	return failures > 0;
}
