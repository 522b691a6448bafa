/* SPDX-License-Identifier: BSD-2-Clause */
#include "simplify.h"

#include <inttypes.h>
#include <string.h>

#include "world.h"

bool schedule_fails(uint64_t seed, const struct cuts *c, char *why, size_t room)
{
	static struct plan p;
	struct world *w;
	bool good;

	plan_draw(&p, seed);
	plan_cut(&p, c);
	w = world_new(&p);
	good = world_run(w);
	if (why)
		snprintf(why, room, "%s", w->why);
	world_free(w);
	return !good;
}

/* Compares errors without their numbers. */
static bool alike(const char *a, const char *b)
{
	while (*a && *b) {
		if (*a >= '0' && *a <= '9' && *b >= '0' && *b <= '9') {
			a += strspn(a, "0123456789");
			b += strspn(b, "0123456789");
		} else if (*a++ != *b++) {
			return false;
		}
	}
	return *a == *b;
}

/* Keeps the change if the schedule still fails in the same way. */
static bool try(uint64_t seed, struct cuts *c, const struct cuts *changed)
{
	char was[400], is[400];

	if (memcmp(c, changed, sizeof(*c)) == 0 || !schedule_fails(seed, c, was, sizeof(was)) ||
	    !schedule_fails(seed, changed, is, sizeof(is)) || !alike(was, is))
		return false;
	*c = *changed;
	return true;
}

static bool cut_requests(uint64_t seed, struct cuts *c)
{
	bool any = false;

	for (unsigned i = 0; i < MAX_CONN * 2 * MAX_WR; i++) {
		struct cuts t = *c;
		uint32_t *bits = &t.wr[i / (2 * MAX_WR)][i / MAX_WR % 2];

		*bits |= UINT32_C(1) << i % MAX_WR;
		any |= try(seed, c, &t);
	}
	return any;
}

static bool cut_harms(uint64_t seed, struct cuts *c)
{
	bool any = false;

	for (unsigned i = 0; i < HARM_COUNT; i++) {
		struct cuts t = *c;

		t.harm |= 1u << i;
		any |= try(seed, c, &t);
	}
	for (uint32_t n = 1; n <= 64 && !c->max_harms; n *= 2) {
		struct cuts t = *c;

		t.max_harms = n;
		any |= try(seed, c, &t);
	}
	while (c->max_harms > 1) {
		struct cuts t = *c;

		t.max_harms--;
		if (!try(seed, c, &t))
			break;
	}
	return any;
}

void schedule_shrink(uint64_t seed, struct cuts *c)
{
	bool any = true;

	for (unsigned round = 0; any && round < 5; round++) {
		any = false;
		for (unsigned i = 0; i < MAX_CONN; i++) {
			struct cuts t = *c;

			t.conn |= 1u << i;
			any |= try(seed, c, &t);
		}
		any |= cut_requests(seed, c);
		any |= cut_harms(seed, c);
	}
}

void schedule_report(uint64_t seed, const struct cuts *c, FILE *to)
{
	static struct plan p;
	struct world *w;

	plan_draw(&p, seed);
	plan_cut(&p, c);
	plan_print(&p, to);
	w = world_new(&p);
	w->trace = to;
	if (world_run(w))
		fprintf(to, "as it must be\n");
	else
		fprintf(to, "WRONG at %" PRIu64 " ps: %s\n", w->now, w->why);
	world_free(w);
	cuts_print(seed, c, to);
}
