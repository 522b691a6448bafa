/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What `make bench` measures is a right run: the checked build computes the
 * same checksum as the fast one, and the path that is compiled for plain runs
 * the same as the general one, which the oracle is compared with too.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <setjmp.h>

#include <cmocka.h>

#include "base/seeds_for_tests.h"
#include "sim/core/workload_for_tests.h"

/* Its presence alone sends the run down the general path. */
static void watch(void *context, hd_time now, uint32_t port, const struct sim_packet *p)
{
	uint64_t *seen = context;

	(void)now;
	(void)port;
	(void)p;
	++*seen;
}

enum way { PLAIN, GENERAL, WITHOUT_METRICS };

static uint64_t run(const struct workload *w, enum way way, uint32_t parts, uint64_t *hops)
{
	struct sim_rules rules;
	uint64_t seen = 0;
	struct sim_observer observer = { .context = &seen, .granted = watch };

	sim_rules_init(&rules);
	if (way == WITHOUT_METRICS)
		rules.flow_metrics = rules.port_metrics = false;
	rules.parts = parts;
	rules.threads = parts > 1 ? 2 : 1;
	struct sim *s = sim_new(&w->fabric.setup, w->flows, w->n_flows, &rules);

	if (way == GENERAL)
		sim_observe(s, &observer);
	sim_run(s, WORKLOAD_WARM, NULL, NULL);
	const struct sim_metrics *m = sim_metrics(s);
	uint64_t checksum = m->checksum;

	*hops = m->hops;
	if (way == GENERAL)
		assert_int_equal(seen, m->hops);
	/* No packet is in flight for longer than the run; no packet is lost. */
	assert_in_range(m->made - m->delivered, 0, m->made / 4);
	assert_int_equal(m->checks.out_of_order + m->checks.duplicates, 0);
	sim_free(s);
	return checksum;
}

static void every_way_of_computing_a_workload_gives_the_held_checksum(void **x)
{
	(void)x;
	for (unsigned i = 0; i < WORKLOADS; i++) {
		uint64_t hops[3];
		struct workload w;

		/* The largest one takes as long as all others together. */
		if (i + 1 == WORKLOADS && !run_is_long())
			continue;
		workload_init(&w, &workload_specs[i]);
		assert_int_equal(run(&w, PLAIN, 1, &hops[0]), w.spec->checksum);
		assert_int_equal(run(&w, GENERAL, 1, &hops[1]), w.spec->checksum);
		assert_int_equal(run(&w, WITHOUT_METRICS, 1, &hops[2]), w.spec->checksum);
		assert_int_equal(hops[0], hops[1]);
		assert_int_equal(hops[0], hops[2]);
		assert_int_equal(run(&w, PLAIN, 5, &hops[1]), w.spec->checksum);
		assert_int_equal(hops[0], hops[1]);
		workload_fini(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_way_of_computing_a_workload_gives_the_held_checksum),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
