/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/tables/contention.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/rng.h"
#include "qos/tables/arbiter.h"
#include "subnet/tables/packet.h"

#define LIMIT_BLOCKS 64u        /* per step of LimitOfHighPriority: 4096 bytes */
#define PACKETS      (1u << 20) /* that a run of the arbiter grants */
#define WEIGHTS      256

static bool has_entry(const struct vlarb_entry *table, unsigned n, unsigned vl)
{
	for (unsigned i = 0; i < n; i++) {
		if (table[i].vl == vl && table[i].weight)
			return true;
	}
	return false;
}

enum contention_table contention_served(const struct contention *c, unsigned vl)
{
	bool low = has_entry(c->vlarb.low, c->vlarb.n_low, vl);
	bool high = has_entry(c->vlarb.high, c->vlarb.n_high, vl);

	return high && low ? SERVED_BOTH : high ? SERVED_HIGH : low ? SERVED_LOW : SERVED_NEVER;
}

static bool is_used(const struct contention *c, bool high, unsigned vl)
{
	return c->packets[vl].n > 0 && (high ? has_entry(c->vlarb.high, c->vlarb.n_high, vl)
					     : has_entry(c->vlarb.low, c->vlarb.n_low, vl));
}

/* ---- shares ------------------------------------------------------------- */

/* The packet that a VL sends next. */
static uint32_t draw(const struct shares_vl *packets, struct rng *rng)
{
	unsigned k = 0;

	if (packets->n == 1)
		return packets->size[0].bytes;
	for (double at = rng_uniform(rng); k + 1 < packets->n; k++) {
		at -= packets->size[k].part;
		if (at < 0)
			break;
	}
	return packets->size[k].bytes;
}

/* The only VL in operation has all. */
static bool is_alone(const struct contention *c, double value[N_DATA_VLS], double alone)
{
	if (c->vls > 1)
		return false;
	memset(value, 0, N_DATA_VLS * sizeof(*value));
	value[0] = alone;
	return true;
}

void contention_shares(const struct contention *c, double share[N_DATA_VLS])
{
	double bytes[N_DATA_VLS] = { 0 }, all = 0;
	struct arbiter_table table;
	struct arbiter arbiter;
	struct rng rng;
	uint32_t busy = 0;

	if (is_alone(c, share, c->packets[0].n > 0))
		return;
	for (unsigned vl = 0; vl < c->vls; vl++)
		busy |= (uint32_t)(c->packets[vl].n > 0) << vl;
	rng_init(&rng, 1, 0);
	arbiter_table_init(&table, &c->vlarb);
	arbiter_init(&arbiter, &table);
	for (unsigned i = 0; i < PACKETS && busy; i++) {
		bool is_high;
		unsigned vl = arbiter_choose(&arbiter, &table, busy, &is_high);

		if (vl >= N_DATA_VLS)
			break; /* no VL in use has an entry */
		uint32_t packet = draw(&c->packets[vl], &rng);

		arbiter_charge(&arbiter, is_high, blocks_of(packet));
		bytes[vl] += packet;
		all += packet;
	}
	for (unsigned vl = 0; vl < N_DATA_VLS; vl++)
		share[vl] = all > 0 ? bytes[vl] / all : 0;
}

/* ---- what is sure ------------------------------------------------------- */

/* The sizes of packets on the VLs of a table, each once. */
struct sizes {
	unsigned n;
	uint32_t bytes[N_DATA_VLS * N_SLS];
};

static void add_size(struct sizes *s, uint32_t bytes)
{
	for (unsigned i = 0; i < s->n; i++) {
		if (s->bytes[i] == bytes)
			return;
	}
	s->bytes[s->n++] = bytes;
}

static struct sizes sizes_of(const struct contention *c, bool high)
{
	struct sizes s = { 0 };

	for (unsigned vl = 0; vl < c->vls; vl++) {
		if (!is_used(c, high, vl))
			continue;
		for (unsigned k = 0; k < c->packets[vl].n; k++)
			add_size(&s, c->packets[vl].size[k].bytes);
	}
	return s;
}

/* 0 if no VL uses the table. */
static uint32_t largest_packet(const struct contention *c, bool high)
{
	const struct sizes s = sizes_of(c, high);
	uint32_t largest = 0;

	for (unsigned i = 0; i < s.n; i++)
		largest = s.bytes[i] > largest ? s.bytes[i] : largest;
	return largest;
}

/* Extends the maximum of bytes per number of blocks by one packet more than `blocks`. */
static void extend(const struct sizes *s, double *bytes, unsigned blocks)
{
	for (unsigned i = 0; i < s->n; i++) {
		unsigned then = blocks + blocks_of(s->bytes[i]);

		bytes[then] = fmax(bytes[then], bytes[blocks] + s->bytes[i]);
	}
}

/*
 * The least number of blocks is the smallest sum of packets that reaches the
 * limit, and the most bytes are the best that fits below it, and one packet.
 */
struct contention_burst contention_burst(const struct contention *c)
{
	unsigned limit = c->vlarb.high_limit;
	unsigned most = limit ? limit * LIMIT_BLOCKS : 1;
	const struct sizes sizes = sizes_of(c, true);
	uint32_t largest = largest_packet(c, true);
	unsigned end = most + blocks_of(largest);

	if (!largest)
		return (struct contention_burst){ 0, 0 };
	if (limit == LIMIT_NONE)
		return (struct contention_burst){ HUGE_VAL, HUGE_VAL };
	struct contention_burst b = { .least_blocks = HUGE_VAL };
	double *bytes = hd_alloc(end, sizeof(*bytes)); /* below 0: not possible */

	for (unsigned i = 1; i < end; i++)
		bytes[i] = -1;
	for (unsigned i = 0; i < most; i++) {
		if (bytes[i] >= 0)
			extend(&sizes, bytes, i);
	}
	for (unsigned i = most; i < end; i++) {
		if (bytes[i] < 0)
			continue;
		b.least_blocks = fmin(b.least_blocks, i);
		b.most_bytes = fmax(b.most_bytes, bytes[i]);
	}
	free(bytes);
	return b;
}

/* Time that a packet costs the VLs that wait for it. */
struct cost {
	double byte, block, packet;
};

static double cost_of(const struct cost *c, const struct shares_sent *s)
{
	/* Without a packet the cost is 0, even if a packet costs an infinite time. */
	return c->byte * s->bytes + c->block * s->blocks +
	       (s->packets > 0 ? c->packet * s->packets : 0);
}

/* The maximum cost of a turn of each weight over all packet sizes of the VL. */
static void longest_turns(const struct shares_vl *packets, const struct cost *cost,
			  double turn[WEIGHTS])
{
	turn[0] = 0;
	for (unsigned weight = 1; weight < WEIGHTS; weight++) {
		turn[weight] = 0;
		for (unsigned k = 0; k < packets->n; k++) {
			uint32_t bytes = packets->size[k].bytes;
			uint32_t blocks = blocks_of(bytes);
			unsigned left = blocks < weight ? weight - blocks : 0;
			const struct shares_sent one = { 1, blocks, bytes };

			turn[weight] = fmax(turn[weight], cost_of(cost, &one) + turn[left]);
		}
	}
}

/*
 * Guaranteed shares of the VLs of a table: their packets in a round, divided by the cost of these
 * and the maximum cost of all others. Idle VLs only shorten a round.
 */
static void floors_of(const struct contention *c, bool high, const struct cost *cost,
		      double floor[N_DATA_VLS])
{
	const struct vlarb_entry *table = high ? c->vlarb.high : c->vlarb.low;
	unsigned n = high ? c->vlarb.n_high : c->vlarb.n_low;
	double most[N_DATA_VLS] = { 0 };
	struct shares_sent own[N_DATA_VLS];

	shares_round(table, n, c->packets, own);
	for (unsigned vl = 0; vl < N_DATA_VLS; vl++) {
		double turn[WEIGHTS];

		longest_turns(&c->packets[vl], cost, turn);
		for (unsigned i = 0; i < n; i++)
			most[vl] += table[i].vl == vl ? turn[table[i].weight] : 0;
	}
	for (unsigned vl = 0; vl < N_DATA_VLS; vl++) {
		double others = 0;

		for (unsigned i = 0; i < N_DATA_VLS; i++)
			others += i != vl ? most[i] : 0;
		floor[vl] =
			own[vl].bytes > 0 ? own[vl].bytes / (cost_of(cost, &own[vl]) + others) : 0;
	}
}

/*
 * In the high table bursts as short as can be are each followed by the largest
 * low packet; in the low one each packet waits for the longest burst. A VL of
 * both has the better.
 */
void contention_floors(const struct contention *c, double floor[N_DATA_VLS])
{
	const struct contention_burst burst = contention_burst(c);
	double between = burst.least_blocks > 0 ? largest_packet(c, false) / burst.least_blocks : 0;
	double low[N_DATA_VLS];

	if (is_alone(c, floor, c->packets[0].n > 0))
		return;
	floors_of(c, true, &(struct cost){ .byte = 1, .block = between }, floor);
	floors_of(c, false, &(struct cost){ .byte = 1, .packet = burst.most_bytes }, low);
	for (unsigned vl = 0; vl < N_DATA_VLS; vl++)
		floor[vl] = fmax(floor[vl], low[vl]);
}

/* ---- waiting ------------------------------------------------------------ */

/*
 * The most that others' entries take between two of the VL's, around the end
 * of the table; cost[vl][weight] is what one takes.
 */
static double longest_gap(const struct vlarb_entry *table, unsigned n, unsigned vl,
			  double (*cost)[WEIGHTS])
{
	double gap = 0, longest = 0;

	for (unsigned i = 0; i < 2 * n; i++) {
		const struct vlarb_entry *e = &table[i % n];

		gap = e->vl == vl && e->weight ? 0
		      : e->vl < N_DATA_VLS     ? gap + cost[e->vl][e->weight]
					       : gap;
		longest = fmax(longest, gap);
	}
	return longest;
}

/* Before a packet of the high table: others' turns, and low ones between. */
static double high_wait(const struct contention *c, unsigned vl,
			const struct contention_burst *burst)
{
	double turns[N_DATA_VLS][WEIGHTS];
	double low = largest_packet(c, false);

	for (unsigned i = 0; i < N_DATA_VLS; i++)
		longest_turns(&c->packets[i], &(struct cost){ .block = 1 }, turns[i]);
	double blocks = longest_gap(c->vlarb.high, c->vlarb.n_high, vl, turns);

	for (unsigned i = 0; i < N_DATA_VLS; i++)
		longest_turns(&c->packets[i], &(struct cost){ .byte = 1 }, turns[i]);
	double gap = longest_gap(c->vlarb.high, c->vlarb.n_high, vl, turns);
	double passes = low > 0 && burst->least_blocks < HUGE_VAL
				? 1 + floor(blocks / burst->least_blocks)
				: 0;

	return gap + passes * low;
}

/* Before one of the low table: others' turns, each packet after a burst. */
static double low_wait(const struct contention *c, unsigned vl,
		       const struct contention_burst *burst)
{
	const struct cost cost = { .byte = 1, .packet = burst->most_bytes };
	double turns[N_DATA_VLS][WEIGHTS];

	for (unsigned i = 0; i < N_DATA_VLS; i++)
		longest_turns(&c->packets[i], &cost, turns[i]);
	return longest_gap(c->vlarb.low, c->vlarb.n_low, vl, turns) + burst->most_bytes;
}

void contention_waits(const struct contention *c, double wait[N_DATA_VLS])
{
	const struct contention_burst burst = contention_burst(c);
	double under_way = fmax(largest_packet(c, true), largest_packet(c, false));

	if (is_alone(c, wait, 0))
		return;
	for (unsigned vl = 0; vl < N_DATA_VLS; vl++) {
		wait[vl] = HUGE_VAL;
		if (is_used(c, true, vl))
			wait[vl] = under_way + high_wait(c, vl, &burst);
		if (is_used(c, false, vl) && burst.most_bytes < HUGE_VAL)
			wait[vl] = fmin(wait[vl], under_way + low_wait(c, vl, &burst));
	}
}
