/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The state of the run is listed each time all ranks have ended an iteration. If three
 * states at equal distances are equal, except for the time and for counters that grow by equal
 * amounts, then every later period equals the last one. The effects of n periods are added
 * in one step, where n is limited so that no rank reaches its last iteration, and the run continues
 * from there.
 *
 * Three states are necessary because some counters propagate (critical paths): x' = y + c
 * with another counter y. If all counters have grown by the same amounts in two periods,
 * they grow by these amounts in every later period.
 */
#include "run/repeat.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/memory.h"

#define MOST_BYTES   ((uint64_t)256 << 20) /* limit of listed states and notes */
#define LEAST_LOOKS  3
#define LEAST_GAIN   4   /* least number of iterations worth skipping */
#define ROOM_FACTOR  8   /* a multiple of the memory in use must be free for a second run */
#define HOP_NUMBERS  20  /* numbers listed in the time of one hop */
#define SHARE        100 /* listing may take 1 / SHARE of the run's time */
#define PORT_NUMBERS 64  /* initial estimate of a list's length, per port */

/* Three states at equal distances, and the notes of the jobs at these states. */
struct repeat {
	const struct boundary *at[3];
	struct jobs_repeat notes;
};

/* ---- one number in three states ----------------------------------------- */

static unsigned role_of(const struct state_list *l, size_t i)
{
	return l->roles[i] & ~(unsigned)PACK_ROLE_IS_SMALL;
}

/* An instant advances by one period each time, or is in the past and constant. */
static bool time_repeats(const struct repeat *r, uint64_t a, uint64_t b, uint64_t c)
{
	if (a == b && b == c)
		return a == HD_TIME_NEVER || a <= r->at[0]->now;
	return b - a == r->notes.period && c - b == r->notes.period;
}

static bool number_repeats(const struct repeat *r, size_t i)
{
	const struct state_list *l = &r->at[2]->state;
	uint64_t a = r->at[0]->state.values[i], b = r->at[1]->state.values[i], c = l->values[i];

	if (l->roles[i] != r->at[0]->state.roles[i] || l->roles[i] != r->at[1]->state.roles[i])
		return false;
	switch (role_of(l, i)) {
	case ROLE_TIME:
		return time_repeats(r, a, b, c);
	case ROLE_SUM:
		return b - a == c - b;
	case ROLE_SQUARE:
	case ROLE_ANY:
	case ROLE_EVERY:
		return true;
	default:
		return a == b && b == c;
	}
}

/* How many more periods this number can grow without reaching its limit. */
static uint64_t room_of(const struct repeat *r, size_t i)
{
	const struct state_list *l = &r->at[2]->state;
	uint64_t c = l->values[i], d = c - r->at[1]->state.values[i], most = UINT64_MAX;

	if (role_of(l, i) != ROLE_SUM || d == 0)
		return UINT64_MAX;
	if (l->roles[i] & PACK_ROLE_IS_SMALL)
		most = UINT32_MAX - 1;
	if (i > 0 && role_of(l, i - 1) == ROLE_LIMIT)
		most = l->values[i - 1];
	else if (most == UINT64_MAX)
		return UINT64_MAX;
	return c <= most ? (most - c) / d : 0;
}

/* First expiry of a periodic timer after the skipped periods. */
static uint64_t timer_after(const struct repeat *r, uint64_t when, uint64_t interval)
{
	hd_time now = r->at[2]->now + r->notes.n * r->notes.period;

	return when > now ? when : when + ((now - when) / interval + 1) * interval;
}

static uint64_t number_after(const struct repeat *r, size_t i)
{
	const struct state_list *l = &r->at[2]->state;
	uint64_t b = r->at[1]->state.values[i], c = l->values[i], n = r->notes.n;
	uint64_t more = c - b - (b - r->at[0]->state.values[i]);

	switch (role_of(l, i)) {
	case ROLE_TIME:
	case ROLE_SUM:
	case ROLE_ANY:
		return c + n * (c - b);
	case ROLE_SQUARE: /* n + 1 or n is even */
		return c + n * (c - b) + (n % 2 ? (n + 1) / 2 * n : n / 2 * (n + 1)) * more;
	case ROLE_EVERY:
		return timer_after(r, c, l->values[i + 1]);
	default:
		return c;
	}
}

/* ---- complete states ---------------------------------------------------- */

static bool lists_repeat(struct repeat *r)
{
	size_t n = r->at[2]->state.n;

	if (r->at[0]->state.n != n || r->at[1]->state.n != n)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (!number_repeats(r, i))
			return false;
		uint64_t room = room_of(r, i);

		r->notes.n = room < r->notes.n ? room : r->notes.n;
	}
	return true;
}

/* Hash of the parts that are equal in states that repeat. */
static uint64_t hash_of(const struct state_list *l, hd_time now)
{
	uint64_t hash = l->n;

	for (size_t i = 0; i < l->n; i++) {
		unsigned role = role_of(l, i);
		uint64_t v = l->values[i];

		if (role == ROLE_TIME)
			v = v == HD_TIME_NEVER || v <= now ? 0 : v - now;
		else if (role != ROLE_STATE && role != ROLE_LIMIT)
			continue;
		hash = (hash ^ v) * UINT64_C(0x9e3779b97f4a7c15);
		hash ^= hash >> 29;
	}
	return hash;
}

/* ---- searching for a repetition ------------------------------------------ */

static void boundary_fini(struct boundary *b)
{
	pack_list_fini(&b->state);
	jobs_mark_free(b->mark);
	*b = (struct boundary){ .now = 0 };
}

static void forget(struct repeats *r)
{
	for (uint32_t i = 0; i < r->n; i++)
		boundary_fini(&r->all[i]);
	r->n = 0;
}

static uint64_t hops_of(const struct sim *s)
{
	struct sim_progress p;

	sim_progress(s, &p);
	return p.hops;
}

void run_repeats_init(struct repeats *r, struct fabric *fabric, uint32_t which,
		      const struct sim_rules *rules, enum run_repeat how)
{
	*r = (struct repeats){
		.fabric = fabric,
		.which = which,
		.rules = *rules,
		.numbers = (uint64_t)fabric->setup.n_ports * PORT_NUMBERS,
		/*
		 * These rules count packets and end the run, or its warm-up, at instants of
		 * their own.
		 */
		.is_cheap = how == RUN_REPEAT_ALWAYS,
		.is_off = how == RUN_REPEAT_NEVER || rules->packets || rules->packets_per_flow ||
			  rules->packets_per_sl || rules->precision > 0 || rules->warmup_packets,
	};
}

void run_repeats_fini(struct repeats *r)
{
	forget(r);
}

static void stop(struct repeats *r, struct jobs *jobs)
{
	jobs_unwatch(jobs);
	forget(r);
	r->is_watching = false;
}

void run_repeats_begin(struct repeats *r, struct jobs *jobs, const struct sim *s)
{
	if (r->is_off || r->is_watching)
		return;
	/* Skipping replaces the simulation: endpoints and observers of the caller would be lost. */
	r->left = !sim_is_watched(s, jobs_number(jobs)) && jobs_may_repeat(jobs) ? jobs_watch(jobs)
										 : 0;
	r->is_watching = r->left > 0;
	r->is_off = !r->is_watching;
	r->has_given_up = false;
	r->hops = hops_of(s);
}

/* No further look before the watched job ends; then another job may repeat. */
static void give_up(struct repeats *r, struct jobs *jobs)
{
	jobs_watch_last(jobs);
	forget(r);
	r->has_given_up = true;
}

/* Number of states worth listing, if the time of a run is proportional to its hops. */
static uint64_t looks_that_pay(const struct repeats *r, uint64_t hops)
{
	return r->is_cheap ? UINT64_MAX : hops * r->left * HOP_NUMBERS / SHARE / r->numbers;
}

/* Lists the current state. Returns false if the search is not worth its time or memory. */
static bool look(struct repeats *r, const struct jobs *jobs, struct sim *s)
{
	struct boundary *b = &r->all[r->n];
	uint64_t hops = hops_of(s) - r->hops;
	uint64_t bytes = r->numbers * (r->n + 1) * (sizeof(uint64_t) + 1) + jobs_noted(jobs);

	r->hops += hops;
	r->left -= r->left > 0;
	if (r->left < LEAST_GAIN || r->n == REPEAT_LOOKS ||
	    looks_that_pay(r, hops) < (uint64_t)r->n + LEAST_LOOKS || bytes > MOST_BYTES ||
	    bytes > memory_room() / 4)
		return false;
	sim_list(s, &b->state);
	r->numbers = b->state.n;
	b->now = sim_now(s);
	b->hash = hash_of(&b->state, b->now);
	b->mark = jobs_mark_new(jobs);
	r->n++;
	return true;
}

static bool is_same(const struct boundary *a, const struct boundary *b)
{
	return a->hash == b->hash && a->state.n == b->state.n;
}

/* Compares the last state with those `distance` and 2 x `distance` looks earlier. */
static bool try_distance(const struct repeats *r, const struct jobs *jobs, uint32_t distance,
			 hd_time limit, struct repeat *out)
{
	const struct boundary *now = &r->all[r->n - 1];

	for (unsigned i = 0; i < 3; i++) {
		out->at[i] = now - (2 - i) * (size_t)distance;
		out->notes.marks[i] = out->at[i]->mark;
	}
	out->notes.begin = out->at[0]->now;
	out->notes.period = now->now - out->at[1]->now;
	if (!is_same(out->at[0], now) || !is_same(out->at[1], now) || limit <= now->now ||
	    out->at[1]->now - out->at[0]->now != out->notes.period)
		return false;
	out->notes.n = (limit - now->now - 1) / out->notes.period;
	return lists_repeat(out) && out->notes.n * distance >= LEAST_GAIN &&
	       jobs_repeat(jobs, &out->notes);
}

static void list_after(const struct repeat *r, struct state_list *out)
{
	const struct state_list *l = &r->at[2]->state;

	out->n = l->n;
	out->values = hd_alloc(l->n, sizeof(*out->values));
	out->roles = hd_alloc(l->n, sizeof(*out->roles));
	for (size_t i = 0; i < l->n; i++) {
		out->values[i] = number_after(r, i);
		out->roles[i] = l->roles[i];
	}
}

/*
 * Replaces the run by a new one that starts after the skipped periods. Returns false, with no
 * effect, if the new run cannot be built.
 */
static bool continue_after(struct repeats *r, const struct repeat *found, struct jobs **jobs,
			   struct sim **s)
{
	struct diag ignored = { .status = HD_OK };
	struct state_list after = { .n = 0 };
	struct jobs *new_jobs;

	/* Both runs exist until the state is copied, and freed memory is fragmented. */
	if (memory_room() < ROOM_FACTOR * memory_used() ||
	    jobs_new(r->fabric, r->which, &ignored, &new_jobs) != HD_OK)
		return false;
	struct sim *new_sim = sim_new(&r->fabric->setup, NULL, 0, &r->rules);

	jobs_attach(new_jobs, new_sim);
	list_after(found, &after);
	bool is_well = sim_load_list(new_sim, &after);

	pack_list_fini(&after);
	if (is_well)
		jobs_continue(*jobs, new_jobs, &found->notes);
	sim_free(is_well ? *s : new_sim);
	jobs_free(is_well ? *jobs : new_jobs);
	if (is_well) {
		*s = new_sim;
		*jobs = new_jobs;
	}
	return is_well;
}

bool run_repeats_skip(struct repeats *r, struct jobs **jobs, struct sim **s, hd_time limit)
{
	struct repeat found;

	if (r->rules.stop && limit > r->rules.stop)
		limit = r->rules.stop;
	if (!r->is_watching || !sim_has_paused(*s))
		return false;
	if (jobs_watch_is_stale(*jobs)) {
		/* Another job has the fewest iterations: the search starts again with that job. */
		stop(r, *jobs);
		return false;
	}
	if (r->has_given_up)
		return false;
	if (!look(r, *jobs, *s)) {
		give_up(r, *jobs);
		return false;
	}
	for (uint32_t distance = 1; 2 * distance < r->n; distance++) {
		if (!try_distance(r, *jobs, distance, limit, &found))
			continue;
		r->period = found.notes.period;
		r->n_skipped += found.notes.n * distance;
		r->is_off = !continue_after(r, &found, jobs, s);
		stop(r, *jobs);
		return !r->is_off;
	}
	return false;
}
