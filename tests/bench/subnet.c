/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The subnet room on fabrics of the size that machine rooms have: a fat tree
 * of three levels of 36-port switches (11,664 hosts, 1,620 switches), and one
 * that uses all unicast LIDs. Goals are seconds on one core and memory of the
 * whole process.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "bench.h"
#include "subnet/routing/check.h"
#include "subnet/routing/deadlock.h"
#include "subnet/routing/route.h"
#include "topo/generate.h"

#define GIB (1024.0 * 1024.0 * 1024.0)

static double peak_gib(void)
{
	struct rusage use;

	getrusage(RUSAGE_SELF, &use);
	return (double)use.ru_maxrss * 1024.0 / GIB;
}

/* All of it runs on one thread, so this is what one core needs. */
static double cpu_seconds(void)
{
	return (double)clock() / CLOCKS_PER_SEC;
}

static void build(struct topo *t, const char *radix)
{
	struct diag d = { .status = HD_OK };
	char word[32];
	char levels[] = "--levels=3";
	char *argv[] = { word, levels };

	snprintf(word, sizeof(word), "--radix=%s", radix);
	if (topo_generate_words(generator_find("fat-tree", &d), 2, argv, 1, &d, t) != HD_OK)
		abort();
}

static void route(struct subnet *s, const char *engine, unsigned lmc)
{
	struct lid_options o = { .lmc = lmc, .sm_port = TOPO_NONE };
	struct diag d = { .status = HD_OK };

	if (subnet_assign_lids(s, &o, &d) != HD_OK || subnet_route(s, engine, NULL, &d) != HD_OK) {
		fprintf(stderr, "%s\n", d.message);
		abort();
	}
}

static void fat_tree(struct bench *b)
{
	struct topo t;
	struct subnet s;
	struct route_check c;
	struct deadlock_check lock;
	double start = cpu_seconds();

	build(&t, b->tiny ? "8" : "36");
	subnet_init(&s, &t);
	route(&s, "minhop", 0);
	double routed = cpu_seconds();

	route_check(&s, &c);
	double checked = cpu_seconds();

	bench_at_most(b, "11,664 hosts: generate, LIDs, minhop", "s", 0, routed - start);
	bench_at_most(b, "11,664 hosts: the same + reachability of all pairs", "s", 6,
		      checked - start);
	route_check_deadlock(&s, DEADLOCK_PLAIN, &lock);
	bench_at_most(b, "11,664 hosts: deadlock check", "s", 10, cpu_seconds() - checked);
	if (!route_check_is_clean(&c) || lock.n_cycle)
		abort();
	bench_at_most(b, "11,664 hosts: peak memory", "GiB", 1, peak_gib());
	route_deadlock_fini(&lock);
	subnet_fini(&s);
	topo_fini(&t);
}

/* Other engines on the same fabric; there is no goal for them yet. */
static void engines(struct bench *b)
{
	static const char *const names[] = { "updn", "ftree", "dfsssp" };

	for (size_t i = 0; i < 3; i++) {
		struct topo t;
		struct subnet s;
		char what[64];

		build(&t, b->tiny ? "8" : "36");
		subnet_init(&s, &t);
		double start = cpu_seconds();

		route(&s, names[i], 0);
		snprintf(what, sizeof(what), "11,664 hosts: %s", names[i]);
		bench_at_most(b, what, "s", 0, cpu_seconds() - start);
		subnet_fini(&s);
		topo_fini(&t);
	}
}

/* Seconds per (switch, LID) of routing and checking. */
static double cost_per_entry(const char *radix)
{
	struct topo t;
	struct subnet s;
	struct route_check c;
	double start;

	build(&t, radix);
	subnet_init(&s, &t);
	start = cpu_seconds();
	route(&s, "minhop", 0);
	route_check(&s, &c);
	double cost = (cpu_seconds() - start) / (double)c.n_entries;

	subnet_fini(&s);
	topo_fini(&t);
	return cost;
}

/*
 * 3.2 times the switches and LIDs each: ten times the entries. Least CPU times
 * of turns about, since others run here too and disturb now the one, now the
 * other; the smaller fabric is measured more often, as it takes less time.
 */
static void growth(struct bench *b)
{
	double small = INFINITY, large = INFINITY;

	for (unsigned i = 0; i < (b->tiny ? 1u : 5u); i++) {
		for (unsigned k = 0; k < 3; k++)
			small = fmin(small, cost_per_entry(b->tiny ? "4" : "24"));
		large = fmin(large, cost_per_entry(b->tiny ? "8" : "36"));
	}
	bench_at_most(b, "cost per (switch, LID): 3,456 hosts", "ns", 0, 1e9 * small);
	bench_at_most(b, "cost per (switch, LID): 11,664 hosts", "ns", 0, 1e9 * large);
	bench_at_most(b, "cost per (switch, LID): 11,664 against 3,456 hosts", "times", 2,
		      small > 0 ? large / small : 1);
}

/* All that fits into 48K LIDs: 11,664 hosts with LMC 2 and 1,620 switches. */
static void all_lids(struct bench *b)
{
	struct topo t;
	struct subnet s;
	struct route_check c;
	double start = cpu_seconds();

	build(&t, b->tiny ? "8" : "36");
	subnet_init(&s, &t);
	route(&s, "minhop", 2);
	route_check(&s, &c);
	if (!route_check_is_clean(&c))
		abort();
	bench_at_most(b, "48K LIDs: generate, LIDs, minhop, reachability", "s", 0,
		      cpu_seconds() - start);
	bench_at_most(b, "48K LIDs: peak memory", "GiB", 8, peak_gib());
	subnet_fini(&s);
	topo_fini(&t);
}

int main(void)
{
	struct bench b;

	bench_begin(&b, "subnet");
	fat_tree(&b);
	growth(&b);
	engines(&b);
	all_lids(&b);
	return bench_end(&b);
}
