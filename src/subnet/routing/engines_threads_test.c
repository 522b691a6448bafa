/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables and verdicts do not depend on the number of threads. */
#include "base/parallel_for.h"
#include "subnet/routing/check.h"
#include "subnet/routing/deadlock.h"
#include "subnet/routing/engines_for_tests.h"
#include "subnet/routing/load.h"

/* All results of routing and checking a fabric, as bytes. */
static void put_verdict(const struct subnet *s, struct strbuf *out)
{
	struct route_check c;
	struct deadlock_check lock;
	struct load_spread l;

	route_check(s, &c);
	route_check_deadlock(s, DEADLOCK_WITH_SWITCHES, &lock);
	load_all_to_all(s, &l);
	strbuf_printf(out, "%llu %llu %llu %llu %llu %llu %u %llu %llu %llu",
		      (unsigned long long)c.n_pairs, (unsigned long long)c.n_unreachable,
		      (unsigned long long)c.n_loops, (unsigned long long)c.n_not_minimal,
		      (unsigned long long)c.hops, (unsigned long long)c.minimal_hops, c.max_hops,
		      (unsigned long long)c.n_switch_unreachable, (unsigned long long)c.n_entries,
		      (unsigned long long)c.n_faulty_entries);
	if (c.n_unreachable)
		strbuf_printf(out, " fault %d %u %u", (int)c.fault, c.fault_at.from,
			      c.fault_at.lid);
	if (c.n_switch_unreachable)
		strbuf_printf(out, " switch %u %u", c.switch_fault_at.from, c.switch_fault_at.lid);
	if (c.n_not_minimal)
		strbuf_printf(out, " detour %u %u", c.detour_at.from, c.detour_at.lid);
	for (unsigned i = 0; i <= CHECK_MAX_HOPS; i++)
		strbuf_printf(out, " %llu", (unsigned long long)c.n_by_hops[i]);
	strbuf_printf(out, " | %llu %u %x %llu %u %u |",
		      (unsigned long long)lock.size.n_dependencies, lock.size.n_channels,
		      lock.size.vls, (unsigned long long)lock.n_dropped,
		      lock.n_dropped ? lock.dropped_at : 0, lock.n_dropped ? lock.dropped_sl : 0);
	route_print_cycle(s, &lock, out);
	strbuf_printf(out, "| %llu %llu %llu %llu %u\n", (unsigned long long)l.n_flows,
		      (unsigned long long)l.n_lost, (unsigned long long)l.total,
		      (unsigned long long)l.max, l.max_at);
	route_deadlock_fini(&lock);
}

/* The tables of one engine and all verdicts; or why it refuses. */
static void put_routes(const struct topo *t, const char *engine, unsigned lmc, struct rng r,
		       struct strbuf *out)
{
	struct diag d = { .status = HD_OK };
	struct subnet s;

	/* On several threads, rows are shared while they are computed. */
	const struct lid_options lids = { .lmc = lmc,
					  .sm_port = TOPO_NONE,
					  .shares = parallel_threads() > 1 };

	subnet_init(&s, t);
	if (subnet_assign_lids(&s, &lids, &d) != HD_OK ||
	    subnet_route(&s, engine, NULL, &d) != HD_OK) {
		strbuf_puts(out, d.message);
		subnet_fini(&s);
		return;
	}
	subnet_own(&s);
	size_t size = (size_t)s.n_switches * s.lft_stride;

	strbuf_add(out, (const char *)s.lft, size);
	if (s.sl_of_path)
		strbuf_add(out, (const char *)s.sl_of_path, (size_t)s.n_sl_rows * s.lft_stride);
	strbuf_printf(out, "%s %u\n", s.note, s.vls_used);
	put_verdict(&s, out);
	/* Tables with mistakes: which is named first must not depend either. */
	for (unsigned i = 0; i < 5; i++)
		s.lft[rng_below(&r, size)] = (uint8_t)rng_below(&r, 6);
	put_verdict(&s, out);
	subnet_fini(&s);
}

static void make_any(struct topo *t, unsigned i, struct rng *r)
{
	static const char *const words[] = { "fat-tree --radix=6 --levels=3",
					     "torus --sizes=5x3 --hosts=2",
					     "xgft --down=3,4,2 --up=1,2,2 --parallel=1,2,1",
					     "mesh --columns=4 --rows=3",
					     "dragonfly",
					     "hypercube --dimensions=3",
					     "routed" };
	const unsigned n_words = sizeof(words) / sizeof(*words);
	uint32_t n = 2 + (uint32_t)rng_below(r, 30);

	if (i % 2)
		build_random(t, i, n, (uint32_t)rng_below(r, 3 * n));
	else
		generate(t, words[i / 2 % n_words]);
	/* The last has no cable between its switches. */
	if (i / 2 / n_words % 2 && i / 2 % n_words < n_words - 1)
		degrade(t, r, 1);
}

/* Routes on one and on n threads and compares. */
static void assert_threads_agree(const struct topo *t, const char *engine, unsigned lmc, unsigned n,
				 const struct rng *r)
{
	struct strbuf one = STRBUF_INIT, other = STRBUF_INIT;

	parallel_set_threads(1);
	put_routes(t, engine, lmc, *r, &one);
	parallel_set_threads(n);
	put_routes(t, engine, lmc, *r, &other);
	parallel_set_threads(0);
	assert_int_equal(one.len, other.len);
	assert_memory_equal(one.text, other.text, one.len);
	strbuf_fini(&one);
	strbuf_fini(&other);
}

static void tables_are_the_same_on_any_number_of_threads(void **state)
{
	static const unsigned threads[] = { 2, 3, 8 };

	(void)state;
	for (unsigned i = 0; i < rounds(28); i++) {
		struct topo t;
		struct rng r;

		rng_init(&r, 31, i);
		make_any(&t, i, &r);
		for (unsigned e = 0; e < route_n_engines; e++) {
			if (strcmp(route_engines[e]->name, "file") != 0)
				assert_threads_agree(&t, route_engines[e]->name, i % 3 == 0,
						     threads[(i + e) % 3], &r);
		}
		topo_fini(&t);
	}
}

/* Its threads share what is to be done for one destination, if it is much. */
static void dfsssp_is_the_same_on_two_threads(void **state)
{
	struct topo t;
	struct rng r;

	(void)state;
	rng_init(&r, 32, 0);
	generate(&t, "xgft --down=1,128 --up=1,128");
	assert_threads_agree(&t, "dfsssp", 0, 2, &r);
	topo_fini(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_are_the_same_on_any_number_of_threads),
		cmocka_unit_test(dfsssp_is_the_same_on_two_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
