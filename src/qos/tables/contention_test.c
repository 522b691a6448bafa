/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/tables/contention.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/rng.h"
#include "base/seeds_for_tests.h"

/* ---- closed forms ------------------------------------------------------- */

struct known {
	const char *what;
	struct contention c;
	double share[3], floor[3], wait[3];
};

/* Packets of `wire` bytes. */
#define VL(wire)                                  \
	{                                         \
		.n = 1, .size = { { (wire), 1 } } \
	}

/* A packet of 4122 bytes has 65 blocks. */
static const struct known known[] = {
	{ "a weight below one packet is one packet",
	  { .vls = 4,
	    .vlarb = { .low = { { 0, 1 }, { 1, 2 }, { 2, 4 } }, .n_low = 3 },
	    .packets = { VL(4122), VL(4122), VL(4122) } },
	  { 1 / 3., 1 / 3., 1 / 3. },
	  { 1 / 3., 1 / 3., 1 / 3. },
	  { 3 * 4122, 3 * 4122, 3 * 4122 } },
	{ "66 is twice 65",
	  { .vls = 4,
	    .vlarb = { .low = { { 0, 65 }, { 1, 66 } }, .n_low = 2 },
	    .packets = { VL(4122), VL(4122) } },
	  { 1 / 3., 2 / 3. },
	  { 1 / 3., 2 / 3. },
	  { 3 * 4122, 2 * 4122, HUGE_VAL } },
	{ "no limit starves the low table",
	  { .vls = 4,
	    .vlarb = { .high = { { 0, 65 } },
		       .n_high = 1,
		       .low = { { 1, 65 } },
		       .n_low = 1,
		       .high_limit = 255 },
	    .packets = { VL(4122), VL(4122) } },
	  { 1, 0 },
	  { 1, 0 },
	  { 4122, HUGE_VAL, HUGE_VAL } },
	{ "limit 0: one packet each",
	  { .vls = 4,
	    .vlarb = { .high = { { 0, 255 } }, .n_high = 1, .low = { { 1, 1 } }, .n_low = 1 },
	    .packets = { VL(4122), VL(4122) } },
	  { .5, .5 },
	  { .5, .5 },
	  { 2 * 4122, 2 * 4122, HUGE_VAL } },
	/* 128 blocks are two packets of 65. */
	{ "limit 2: two high packets, then a low one",
	  { .vls = 4,
	    .vlarb = { .high = { { 0, 255 } },
		       .n_high = 1,
		       .low = { { 1, 1 } },
		       .n_low = 1,
		       .high_limit = 2 },
	    .packets = { VL(4122), VL(4122) } },
	  { 2 / 3., 1 / 3. },
	  { 2 / 3., 1 / 3. },
	  { 2 * 4122, 3 * 4122, HUGE_VAL } },
	{ "a VL without an entry never sends",
	  { .vls = 4,
	    .vlarb = { .low = { { 0, 65 } }, .n_low = 1 },
	    .packets = { VL(4122), VL(4122) } },
	  { 1, 0 },
	  { 1, 0 },
	  { 4122, HUGE_VAL, HUGE_VAL } },
	{ "one VL knows no tables",
	  { .vls = 1, .vlarb = { .n_low = 0 }, .packets = { VL(4122) } },
	  { 1 },
	  { 1 },
	  { 0 } },
};

static void known_tables_give_known_shares(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		const struct known *k = &known[i];
		double share[N_DATA_VLS], floor[N_DATA_VLS], wait[N_DATA_VLS];

		contention_shares(&k->c, share);
		contention_floors(&k->c, floor);
		contention_waits(&k->c, wait);
		for (unsigned vl = 0; vl < 3; vl++) {
			bool good = fabs(share[vl] - k->share[vl]) < 1e-4 &&
				    fabs(floor[vl] - k->floor[vl]) < 1e-9;

			/* Unused VLs have no waiting time. */
			good &= !k->c.packets[vl].n || k->wait[vl] == wait[vl];
			if (!good)
				print_message("%s: VL%u has %g, floor %g, waits %g\n", k->what, vl,
					      share[vl], floor[vl], wait[vl]);
			assert_true(good);
		}
	}
}

/* ---- an independent arbiter, from the rules ----------------------------- */

/* One table: T10, entry by entry. */
struct table {
	const struct vlarb_entry *entry;
	unsigned n, at;
	int left;
};

/* The entry that sends next if those VLs have packets; -1: none. */
static int next_entry(const struct table *t, const bool *busy, bool *moved)
{
	const struct vlarb_entry *now = &t->entry[t->at];

	*moved = false;
	if (t->n && t->left > 0 && now->weight && busy[now->vl])
		return (int)t->at;
	*moved = true;
	for (unsigned i = 1; i <= t->n; i++) {
		unsigned k = (t->at + i) % t->n;

		if (t->entry[k].weight && busy[t->entry[k].vl])
			return (int)k;
	}
	return -1;
}

struct link {
	struct table high, low;
	unsigned limit, sent; /* blocks of the high table, T11 */
};

/* Which VL sends; -1: none. */
static int grant(struct link *l, const bool *busy, const uint32_t *packet)
{
	bool high_anew, low_anew;
	int high = next_entry(&l->high, busy, &high_anew);
	int low = next_entry(&l->low, busy, &low_anew);
	bool expired = l->limit != 255 && l->sent > 0 && 64 * l->sent >= 4096 * l->limit;
	bool is_high = high >= 0 && !(expired && low >= 0);
	struct table *t = is_high ? &l->high : &l->low;
	int chosen = is_high ? high : low;

	if (chosen < 0)
		return -1;
	unsigned vl = t->entry[chosen].vl;
	unsigned blocks = (packet[vl] + 63) / 64;

	if (is_high ? high_anew : low_anew)
		t->left = t->entry[chosen].weight;
	t->at = (unsigned)chosen;
	t->left -= (int)blocks;
	l->sent = !is_high ? 0 : expired ? blocks : l->sent + blocks;
	return (int)vl;
}

static void draw_table(struct rng *rng, unsigned vls, struct vlarb_entry *out, uint8_t *n)
{
	*n = (uint8_t)rng_below(rng, 7);
	for (unsigned i = 0; i < *n; i++)
		out[i] = (struct vlarb_entry){
			.vl = (uint8_t)rng_below(rng, vls),
			.weight = (uint8_t)(rng_below(rng, 4) ? rng_below(rng, 256)
							      : rng_below(rng, 3)),
		};
}

static struct contention draw_link(struct rng *rng)
{
	static const uint32_t sizes[] = { 90, 282, 1050, 2074, 4122 };
	struct contention c = { .vls = 4 };

	draw_table(rng, c.vls, c.vlarb.high, &c.vlarb.n_high);
	draw_table(rng, c.vls, c.vlarb.low, &c.vlarb.n_low);
	c.vlarb.high_limit = (uint8_t)(rng_below(rng, 6) ? rng_below(rng, 9) : 255);
	for (unsigned vl = 0; vl < c.vls; vl++) {
		unsigned n = (unsigned)rng_below(rng, 4);

		for (unsigned k = 0; k < n; k++)
			c.packets[vl].size[c.packets[vl].n++].bytes = sizes[rng_below(rng, 5)];
		for (unsigned k = 0; k < n; k++)
			c.packets[vl].size[k].part = 1.0 / n;
	}
	return c;
}

/* Results of a run: per VL, of the link, and the longest wait. */
struct seen {
	double share[N_DATA_VLS], wait[N_DATA_VLS];
};

/*
 * VLs of `always` send all the time, others now and then, and one more
 * packet is at the head of its VL only from time to time.
 */
static void play(const struct contention *c, struct rng *rng, const bool *always, unsigned packets,
		 struct seen *out)
{
	struct link l = {
		{ c->vlarb.high, c->vlarb.n_high, 0, c->vlarb.high[0].weight },
		{ c->vlarb.low, c->vlarb.n_low, 0, c->vlarb.low[0].weight },
		c->vlarb.high_limit,
		0,
	};
	bool busy[N_DATA_VLS + 1] = { false };
	uint32_t packet[N_DATA_VLS] = { 0 };
	double since[N_DATA_VLS] = { 0 }, sent[N_DATA_VLS] = { 0 }, now = 0;

	*out = (struct seen){ 0 };
	for (unsigned i = 0; i < packets; i++) {
		for (unsigned vl = 0; vl < c->vls; vl++) {
			const struct shares_vl *sizes = &c->packets[vl];

			if (busy[vl] || !sizes->n || (!always[vl] && rng_below(rng, 8)))
				continue;
			busy[vl] = true;
			packet[vl] = sizes->size[rng_below(rng, sizes->n)].bytes;
			since[vl] = now;
		}
		int vl = grant(&l, busy, packet);

		if (vl < 0)
			continue;
		out->wait[vl] = fmax(out->wait[vl], now - since[vl]);
		now += packet[vl];
		sent[vl] += packet[vl];
		busy[vl] = false;
	}
	for (unsigned vl = 0; vl < c->vls; vl++)
		out->share[vl] = now > 0 ? sent[vl] / now : 0;
}

/* Bounds of a link, and how near the waits came to them. */
struct said {
	double share[N_DATA_VLS], floor[N_DATA_VLS], wait[N_DATA_VLS];
	unsigned waits, near;
};

/* VLs of `always` have packets all the time, and so at least their floor. */
static void check_floors(const struct contention *c, const struct said *said, const bool *always,
			 const struct seen *seen)
{
	for (unsigned vl = 0; vl < c->vls; vl++) {
		if (always[vl] && c->packets[vl].n && seen->share[vl] < said->floor[vl] - 0.01)
			fail_msg("VL%u has %.4f, floor %.4f", vl, seen->share[vl], said->floor[vl]);
		if (seen->wait[vl] > said->wait[vl])
			fail_msg("VL%u waits %g, said %g", vl, seen->wait[vl], said->wait[vl]);
	}
}

/* One of the classes of each VL sends; the others are idle. */
static void check_silence(const struct contention *c, struct rng *rng, const struct said *said)
{
	struct contention some = *c;
	bool always[N_DATA_VLS];
	struct seen seen;

	for (unsigned vl = 0; vl < N_DATA_VLS; vl++) {
		struct shares_vl *packets = &some.packets[vl];

		always[vl] = true;
		if (packets->n > 1)
			*packets = shares_vl_of(packets->size[rng_below(rng, packets->n)].bytes);
	}
	play(&some, rng, always, 60000, &seen);
	for (unsigned vl = 0; vl < N_DATA_VLS; vl++)
		always[vl] = c->packets[vl].n == 1;
	check_floors(c, said, always, &seen);
}

static void check_link(struct rng *rng, struct said *said)
{
	const struct contention c = draw_link(rng);
	bool always[N_DATA_VLS];
	struct seen all, some;

	contention_shares(&c, said->share);
	contention_floors(&c, said->floor);
	contention_waits(&c, said->wait);
	for (unsigned vl = 0; vl < N_DATA_VLS; vl++)
		always[vl] = true;
	play(&c, rng, always, 300000, &all);
	check_floors(&c, said, always, &all);
	for (unsigned vl = 0; vl < c.vls; vl++)
		always[vl] = rng_below(rng, 2);
	play(&c, rng, always, 60000, &some);
	check_floors(&c, said, always, &some);
	check_silence(&c, rng, said);
	for (unsigned vl = 0; vl < c.vls; vl++) {
		double wait = fmax(all.wait[vl], some.wait[vl]);

		if (fabs(all.share[vl] - said->share[vl]) > 0.01)
			fail_msg("VL%u has %.4f, said %.4f", vl, all.share[vl], said->share[vl]);
		if (!c.packets[vl].n || said->wait[vl] == HUGE_VAL)
			continue;
		/* A packet in transmission counts as a whole. */
		said->waits++;
		said->near += wait > 0.8 * said->wait[vl] - 4122;
	}
}

static void the_arbiter_keeps_what_is_said_of_it(void **state)
{
	const unsigned links = cases_of_run(60, 4000);
	struct said said = { .waits = 0 };
	struct rng rng;

	(void)state;
	rng_init(&rng, 23, 0);
	for (unsigned i = 0; i < links; i++)
		check_link(&rng, &said);
	print_message("%u of %u waits came near\n", said.near, said.waits);
	/* The bound is tight: some wait comes near. */
	assert_true(2 * said.near > said.waits);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_tables_give_known_shares),
		cmocka_unit_test(the_arbiter_keeps_what_is_said_of_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
