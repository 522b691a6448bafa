/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Queue pairs over a wire that loses, doubles, corrupts, delays and reorders,
 * against a model of what memory and completions must be: random schedules;
 * one that fails is made small and printed.
 *
 *	adversary_test [--seed S] [--count N] [--brief N]
 *	adversary_test --shrink S
 *	adversary_test --schedule S [--no-conn BITS] [--no-harm BITS]
 *		       [--harms N] [--no-wr BITS,...]
 *
 * The first form draws N schedules from one seed, always the same one unless it
 * is given; brief names up to N failures and shrinks none. The second makes one
 * schedule small, the third runs what a failure has printed. HD_LONG=1 means
 * 10,000 schedules from a fresh seed.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/rng.h"
#include "base/seeds_for_tests.h"
#include "simplify.h"
#include "world.h"

#define FIXED_SEED   UINT64_C(0x616476657273)
#define COUNT_SHORT  400
#define COUNT_LONG   10000
#define MAX_FAILURES 3

/* A crash must name its schedule too. */
static char current[100];

static void on_crash(int number)
{
	ssize_t written = write(STDERR_FILENO, current, strlen(current));

	(void)written;
	signal(number, SIG_DFL);
	raise(number);
}

struct options {
	uint64_t seed, count, schedule;
	uint64_t brief;
	bool one, shrink;
	struct cuts cuts;
};

static bool number_parse(const char *text, uint64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoull(text, &end, 0);
	return errno == 0 && end != text && *end == '\0';
}

static bool bits_parse(const char *text, struct cuts *c)
{
	for (unsigned i = 0; i < 2 * MAX_CONN; i++) {
		char *end;

		c->wr[i / 2][i % 2] = (uint32_t)strtoul(text, &end, 16);
		if (end == text || (*end != ',' && *end))
			return false;
		text = *end ? end + 1 : end;
	}
	return *text == '\0';
}

static bool option_parse(struct options *o, const char *name, const char *value)
{
	uint64_t number = 0;
	bool is_number = number_parse(value, &number);

	if (strcmp(name, "--no-wr") == 0)
		return bits_parse(value, &o->cuts);
	if (strcmp(name, "--seed") == 0)
		o->seed = number;
	else if (strcmp(name, "--count") == 0)
		o->count = number;
	else if (strcmp(name, "--brief") == 0)
		o->brief = number;
	else if (strcmp(name, "--no-conn") == 0)
		o->cuts.conn = (uint32_t)number;
	else if (strcmp(name, "--no-harm") == 0)
		o->cuts.harm = (uint32_t)number;
	else if (strcmp(name, "--harms") == 0)
		o->cuts.max_harms = (uint32_t)number;
	else if (strcmp(name, "--schedule") == 0 || strcmp(name, "--shrink") == 0)
		o->schedule = number;
	else
		return false;
	o->shrink |= strcmp(name, "--shrink") == 0;
	o->one |= o->shrink || strcmp(name, "--schedule") == 0;
	return is_number;
}

static void defaults_set(struct options *o)
{
	o->seed = seed_of_run(FIXED_SEED);
	o->count = cases_of_run(COUNT_SHORT, COUNT_LONG);
}

/* Counters of the schedules, to detect a test without effect. */
struct sum {
	uint64_t packets, delivered, harms, completions;
};

static bool run_one(uint64_t seed, struct sum *sum, char *why, size_t room)
{
	static struct plan p;
	struct world *w;
	bool good;

	snprintf(current, sizeof(current), "died in: adversary_test --schedule 0x%" PRIx64 "\n",
		 seed);
	plan_draw(&p, seed);
	w = world_new(&p);
	good = world_run(w);
	snprintf(why, room, "%s", w->why);
	sum->packets += w->n_packets;
	sum->delivered += w->n_delivered;
	sum->harms += w->n_harms;
	sum->completions += w->n_success;
	world_free(w);
	return good;
}

static int run_many(const struct options *o)
{
	uint64_t failures = 0, limit = o->brief ? o->brief : MAX_FAILURES;
	struct sum sum = { 0 };
	struct rng seeds;
	uint64_t i = 0;

	printf("seed 0x%" PRIx64 ", %" PRIu64 " schedules\n", o->seed, o->count);
	fflush(stdout);
	rng_init(&seeds, o->seed, 0);
	for (; i < o->count && failures < limit; i++) {
		uint64_t seed = rng_next(&seeds);
		struct cuts c = { 0 };
		char why[400];

		if (run_one(seed, &sum, why, sizeof(why)))
			continue;
		failures++;
		fprintf(stderr, "schedule 0x%" PRIx64 ": %s\n", seed, why);
		if (o->brief)
			continue;
		schedule_shrink(seed, &c);
		schedule_report(seed, &c, stderr);
	}
	printf("%" PRIu64 " schedules: %" PRIu64 " packets sent, %" PRIu64 " harmed, %" PRIu64
	       " delivered; %" PRIu64 " completions as they must be\n",
	       i, sum.packets, sum.harms, sum.delivered, sum.completions);
	if (failures > 0)
		fprintf(stderr, "adversary_test --seed 0x%" PRIx64 " failed\n", o->seed);
	return failures > 0 || sum.completions == 0;
}

int main(int argc, char **argv)
{
	static struct options o;
	bool valid = argc % 2 == 1;

	defaults_set(&o);
	for (int i = 1; valid && i < argc; i += 2)
		valid = option_parse(&o, argv[i], argv[i + 1]);
	if (!valid) {
		fprintf(stderr, "adversary_test: see the top of its source\n");
		return 2;
	}
	signal(SIGABRT, on_crash);
	signal(SIGSEGV, on_crash);
	if (!o.one)
		return run_many(&o);
	if (o.shrink)
		schedule_shrink(o.schedule, &o.cuts);
	schedule_report(o.schedule, &o.cuts, stdout);
	return schedule_fails(o.schedule, &o.cuts, NULL, 0);
}
