/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE /* sched_getaffinity */
#include "base/team.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/crew.h"

/* To start a thread and to wait for it costs some ten microseconds. */
#define STEPS_WORTH_A_THREAD 1000000

struct team {
	struct crew *crew; /* NULL: the caller alone */
	team_fn *fn;
	void *context;
	size_t n;
	atomic_size_t next;
};

/* Of the process. */
static unsigned asked;
static unsigned sharing = 1;
static _Thread_local struct team_use noted; /* of who had it computed */
static _Thread_local bool is_member;        /* of a team that is at work */

void team_ask(unsigned n)
{
	asked = n < TEAM_MOST ? n : TEAM_MOST;
}

unsigned team_asked(void)
{
	return asked;
}

void team_note(const struct team_use *use)
{
	noted = *use;
}

struct team_use team_noted(void)
{
	return noted;
}

void team_share(unsigned processes)
{
	sharing = processes;
}

static unsigned processors(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) == 0)
		return (unsigned)CPU_COUNT(&set);
	/* More processors than the set has room for. */
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	return n > 0 ? (unsigned)n : 1;
}

unsigned team_processors(void)
{
	unsigned n = processors() / sharing;

	return n ? n : 1;
}

static unsigned size_for(uint64_t steps)
{
	if (is_member)
		return 1;
	if (asked)
		return asked;
	uint64_t most = steps / STEPS_WORTH_A_THREAD;
	unsigned n = most > 1 ? team_processors() : 1;

	n = n < TEAM_MOST ? n : TEAM_MOST;
	return n < most ? n : most > 1 ? (unsigned)most : 1;
}

static void take_pieces(void *context, unsigned member)
{
	struct team *t = context;
	bool was_member = is_member;
	size_t i;

	is_member = is_member || t->crew;
	while ((i = atomic_fetch_add(&t->next, 1)) < t->n)
		t->fn(t->context, member, i);
	is_member = was_member;
}

struct team *team_new(uint64_t steps)
{
	struct team *t = hd_alloc(1, sizeof(*t));
	unsigned n = size_for(steps);

	if (n > 1)
		t->crew = crew_new(n, take_pieces, t);
	return t;
}

void team_free(struct team *t)
{
	if (!t)
		return;
	crew_free(t->crew);
	free(t);
}

unsigned team_size(const struct team *t)
{
	return t->crew ? crew_size(t->crew) : 1;
}

void team_each(struct team *t, size_t n, team_fn *fn, void *context)
{
	t->fn = fn;
	t->context = context;
	t->n = n;
	atomic_store(&t->next, 0);
	if (t->crew && n > 1)
		crew_turn(t->crew);
	else
		take_pieces(t, 0);
}
