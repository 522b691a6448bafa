/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The engine against the oracle on random scenarios: every event and every
 * counter equal, or the scenario is shrunk and printed.
 *
 *	compare_test [--seed S] [--count N] [--parts N] [--jobbed 1]
 *		     [--spread 1] [--sharing 1] [--managed 1] [--adaptive 1] [--around 1]
 *		     [--brief 1]
 *	compare_test --scenario S [--spread 1] [--sharing 1] [--horizon PS] [--plain BITS]
 *		     [--unplug BITS]
 *		     [--without-arrivals LIST] [--without-faults LIST]
 *		     [--without-changes LIST] [--without-reroutes LIST]
 *		     [--without-operations LIST] [--parts N] [--shrink 1]
 *
 * The first form draws N scenarios from one seed, always the same one unless
 * it is given; the second runs one scenario as a failure has printed it. With
 * --parts N the fabric is cut into N domains; otherwise each scenario into 1, 2, 3
 * and 7 parts in turn, and into as many as it has switches. With --jobbed those
 * without jobs are passed over, with --adaptive those whose switches do not
 * choose, with --around those without ways around; with --spread all have queue
 * pairs on switches that choose (scenario_draw_spread), else one of 16; with
 * --sharing all have thresholds at switches (scenario_draw_sharing), else one of 8;
 * with --managed datagrams have routes of their own (scenario_draw_managed), else one of 8.
 * With --brief the first difference ends it, and is not shrunk.
 * HD_LONG=1 means 4,000 scenarios from a fresh seed.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/rng.h"
#include "base/seeds_for_tests.h"
#include "compare.h"
#include "engine.h"

#define FIXED_SEED    UINT64_C(0x6f7261636c65)
#define COUNT_DEFAULT 400
#define COUNT_LONG    4000
#define MAX_FAILURES  3
#define SPREAD_EVERY  16
#define SHARING_EVERY 8
/* Switches that lead to each other alone, and tell each other so (D6). */
#define MUTUAL        UINT64_C(0x1781d8ce01aef963)
/* A link comes up that is up already (F3). */
#define UP_ALREADY    UINT64_C(0x2028ca0370b29188)
/* A packet completes more messages than most receivers have room for (Q8). */
#define CLOSED_GAP    UINT64_C(0xf9bdb145007ce696)
/* Two adapters of a port share a rate, and one of them was idle until now. */
#define IDLE_ADAPTER  UINT64_C(0xdeafd63cc6faede7)

/* How the next scenario is cut, and what that came to. */
static struct {
	struct sim_replay_cut how;
	uint64_t cut, uncut;
} cutting;

/* Scenarios in which switches choose, with links that fail, in which a notice
 * changes what they choose, in which they have ways around, packets take one,
 * and the loads of both ways are why; and those that have control and jobs. */
static uint64_t shared, managed, of_switches;
static uint64_t adaptive, failing, noticed, with_ways, around, overloaded, controlled, jobbed;

static hd_time subject_replay(const struct oracle_case *c, void *context, struct sim_record *out)
{
	hd_time end;
	uint32_t parts = engine_replay(c, cutting.how, out, &end);

	(void)context;
	cutting.cut += parts > 1;
	cutting.uncut += parts == 1 && cutting.how.parts > 1;
	return end;
}

static const struct subject engine = { subject_replay, NULL };

static const uint32_t cuts[] = { 1, 2, 3, 7, 1000 };
#define CUTS (sizeof(cuts) / sizeof(*cuts))

/* A crash must name its scenario too. */
static char current[80];

static void on_crash(int number)
{
	ssize_t written = write(STDERR_FILENO, current, strlen(current));

	(void)written;
	signal(number, SIG_DFL);
	raise(number);
}

static void current_set(uint64_t seed)
{
	snprintf(current, sizeof(current), "died in: compare_test --scenario 0x%" PRIx64 "\n",
		 seed);
}

static bool number_parse(const char *text, uint64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoull(text, &end, 0);
	return errno == 0 && end != text && *end == '\0';
}

/* "0-4,7": marks those. */
static bool list_parse(const char *text, bool *marks, size_t n)
{
	while (*text) {
		char *end;
		size_t from = strtoul(text, &end, 10), to = from;

		if (end == text)
			return false;
		if (*end == '-')
			to = strtoul(end + 1, &end, 10);
		if (to >= n)
			return false;
		for (size_t i = from; i <= to; i++)
			marks[i] = true;
		text = *end == ',' ? end + 1 : end;
		if (end == text && *end)
			return false;
	}
	return true;
}

struct options {
	uint64_t seed, count;
	uint32_t parts;        /* 0: all of cuts[] in turn */
	bool jobbed;           /* no others */
	bool adaptive, around; /* the same */
	bool brief;            /* the first difference is enough */
	bool one;              /* the plan's scenario, and no other */
	bool shrink;           /* it first */
	struct plan plan;
};

static bool option_parse(struct options *o, const char *name, const char *value)
{
	struct plan *p = &o->plan;
	uint64_t number = 0;
	bool is_number = number_parse(value, &number);

	if (strcmp(name, "--without-arrivals") == 0)
		return list_parse(value, p->no_arrival, PLAN_MAX_ARRIVALS);
	if (strcmp(name, "--without-faults") == 0)
		return list_parse(value, p->no_fault, PLAN_MAX_FAULTS);
	if (strcmp(name, "--without-changes") == 0)
		return list_parse(value, p->no_change, PLAN_MAX_CHANGES);
	if (strcmp(name, "--without-reroutes") == 0)
		return list_parse(value, p->no_reroute, PLAN_MAX_REROUTES);
	if (strcmp(name, "--without-operations") == 0)
		return list_parse(value, p->no_op, PLAN_MAX_OPS);
	if (strcmp(name, "--seed") == 0)
		o->seed = number;
	else if (strcmp(name, "--count") == 0)
		o->count = number;
	else if (strcmp(name, "--parts") == 0)
		o->parts = (uint32_t)number;
	else if (strcmp(name, "--jobbed") == 0)
		o->jobbed = number > 0;
	else if (strcmp(name, "--spread") == 0)
		p->spread = number > 0;
	else if (strcmp(name, "--sharing") == 0)
		p->sharing = number > 0;
	else if (strcmp(name, "--managed") == 0)
		p->managed = number > 0;
	else if (strcmp(name, "--brief") == 0)
		o->brief = number > 0;
	else if (strcmp(name, "--adaptive") == 0)
		o->adaptive = number > 0;
	else if (strcmp(name, "--around") == 0)
		o->around = number > 0;
	else if (strcmp(name, "--scenario") == 0)
		p->seed = number;
	else if (strcmp(name, "--horizon") == 0)
		p->horizon = number;
	else if (strcmp(name, "--plain") == 0)
		p->plain = number;
	else if (strcmp(name, "--shrink") == 0)
		o->shrink = number > 0;
	else if (strcmp(name, "--unplug") == 0)
		p->unplugged = (uint32_t)number;
	else
		return false;
	o->one |= strcmp(name, "--scenario") == 0;
	return is_number;
}

static void defaults_set(struct options *o)
{
	o->seed = seed_of_run(FIXED_SEED);
	o->count = cases_of_run(COUNT_DEFAULT, COUNT_LONG);
}

static void failure_report(struct plan *p, bool brief)
{
	fprintf(stderr, "scenario 0x%" PRIx64 " differs%s\n", p->seed,
		brief ? "" : "; shrinking it");
	if (brief)
		return;
	compare_shrink(p, &engine);
	compare_report(p, &engine, stderr);
	fprintf(stderr, "with --parts %u\n", cutting.how.parts);
}

static bool has_failing_link(const struct sim_setup *setup)
{
	for (uint32_t i = 0; i < setup->n_faults; i++) {
		if (setup->faults[i].kind == SIM_LINK_DOWN)
			return true;
	}
	return false;
}

static void tally(const struct scenario *s, const struct oracle_stats *stats)
{
	adaptive += s->adaptive;
	failing += s->adaptive && has_failing_link(&s->fabric.setup);
	noticed += stats->noticed > 0;
	with_ways += s->around;
	around += stats->around > 0;
	overloaded += stats->overloaded > 0;
	controlled += s->controlled;
	shared += stats->shared > 0;
	managed += stats->mads > 0;
	of_switches += stats->mads_of_switches > 0;
	jobbed += s->jobs.n > 0;
}

static void sum_up(void)
{
	printf("engine and oracle agree; %" PRIu64 " were cut, %" PRIu64 " were not; in %" PRIu64
	       " switches choose, in %" PRIu64 " of them with links that fail and in %" PRIu64
	       " by notifications of neighbours, in %" PRIu64
	       " with ways around, which packets take in %" PRIu64 " and for the load in %" PRIu64
	       "; %" PRIu64 " have control, %" PRIu64 " have jobs; in %" PRIu64
	       " VLs are shared, in %" PRIu64 " datagrams have routes of their own, in %" PRIu64
	       " of switches\n",
	       cutting.cut, cutting.uncut, adaptive, failing, noticed, with_ways, around,
	       overloaded, controlled, jobbed, shared, managed, of_switches);
}

static bool is_passed_over(const struct options *o, uint64_t seed)
{
	return (o->jobbed && !scenario_is_jobbed(seed)) ||
	       (o->adaptive && !scenario_is_adaptive(seed)) ||
	       (o->around && !scenario_is_around(seed));
}

/* Scenario i of those drawn; the first are some that few seeds come upon. */
static uint64_t known_or(uint64_t drawn, const struct options *o, uint64_t i, bool spread)
{
	if (spread)
		return i == 0 ? MUTUAL : drawn;
	if (o->jobbed || o->adaptive || o->around)
		return drawn;
	return i == 1 ? UP_ALREADY : i == 2 ? CLOSED_GAP : i == 3 ? IDLE_ADAPTER : drawn;
}

static int compare_many(const struct options *o)
{
	unsigned failures = 0, most = o->brief ? 1 : MAX_FAILURES;
	struct rng seeds;

	printf("seed 0x%" PRIx64 ", %" PRIu64 " scenarios\n", o->seed, o->count);
	fflush(stdout);
	rng_init(&seeds, o->seed, 0);
	for (uint64_t i = 0; i < o->count && failures < most; i++) {
		uint64_t seed = rng_next(&seeds);
		struct oracle_stats stats;
		struct scenario s;
		bool differs;

		if (is_passed_over(o, seed)) {
			i--;
			continue;
		}
		bool spread = o->plan.spread ||
			      (!o->jobbed && !o->adaptive && !o->around && i % SPREAD_EVERY == 0);
		static struct plan p;

		p = (struct plan){ .seed = known_or(seed, o, i, spread), .spread = spread };
		p.sharing = o->plan.sharing ||
			    (!o->jobbed && !o->adaptive && !o->around && i % SHARING_EVERY == 4);
		p.managed = o->plan.managed ||
			    (!o->jobbed && !o->adaptive && !o->around && i % SHARING_EVERY == 6);
		cutting.how.parts = o->parts ? o->parts : cuts[i % CUTS];
		cutting.how.seed = (uint32_t)p.seed;
		current_set(p.seed);
		plan_draw(&p, &s);
		differs = compare_differs(&s, &engine, NULL, &stats);
		tally(&s, &stats);
		scenario_clear(&s);
		if (!differs)
			continue;
		failures++;
		failure_report(&p, o->brief);
	}
	if (failures > 0)
		fprintf(stderr, "compare_test --seed 0x%" PRIx64 " failed\n", o->seed);
	else
		sum_up();
	return failures > 0;
}

static int compare_one(struct options *o)
{
	struct scenario s;
	bool differs;

	cutting.how.parts = o->parts ? o->parts : 1;
	cutting.how.seed = (uint32_t)o->plan.seed;
	current_set(o->plan.seed);
	plan_apply(&o->plan, &s);
	differs = compare_differs(&s, &engine, NULL, NULL);
	scenario_clear(&s);
	if (differs && o->shrink)
		compare_shrink(&o->plan, &engine);
	compare_report(&o->plan, &engine, stdout);
	return differs;
}

int main(int argc, char **argv)
{
	static struct options o;
	bool valid = argc % 2 == 1;

	defaults_set(&o);
	for (int i = 1; valid && i < argc; i += 2)
		valid = option_parse(&o, argv[i], argv[i + 1]);
	if (!valid) {
		fprintf(stderr, "compare_test: see the top of its source\n");
		return 2;
	}
	signal(SIGABRT, on_crash);
	signal(SIGSEGV, on_crash);
	return o.one ? compare_one(&o) : compare_many(&o);
}
