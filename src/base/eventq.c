/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/eventq.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define NONE           EVENTQ_NONE
#define SLOTS_LOG2_MIN 12
#define SLOTS_LOG2_MAX 20
#define NEAR_TARGET    32  /* events a refill stops at */
#define NEAR_SLACK     192 /* popped events kept before moving down */
#define NEAR_SPAN      128 /* slots beyond the next event that it looks at */
#define NEAR_MOST      128 /* events: beyond that, some go to rest or late */
#define SORT_BY_HAND   24
#define TUNE_EVERY     8192

#define unlikely(x) __builtin_expect(!!(x), 0)

/* Compares 128-bit numbers, which avoids an unpredictable branch. */
static bool before(const struct event *a, const struct event *b)
{
	__extension__ typedef unsigned __int128 u128;

	return ((u128)a->when << 64 | a->key) < ((u128)b->when << 64 | b->key);
}

static int compare(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	if (before(x, y))
		return -1;
	return before(y, x);
}

static void wheel_alloc(struct eventq *q)
{
	size_t slots = (size_t)1 << q->slots_log2;

	q->slot_mask = slots - 1;
	free(q->heads);
	q->heads = hd_alloc_dense(slots, sizeof(*q->heads));
	memset(q->heads, 0xff, slots * sizeof(*q->heads));
	free(q->bits);
	free(q->summary);
	q->bits = hd_alloc(slots / 64, sizeof(*q->bits));
	q->summary = hd_alloc(slots / 4096, sizeof(*q->summary));
}

static void frontier_set(struct eventq *q, uint64_t half)
{
	q->frontier = half;
	q->wheel_end = (half + 1) << (q->slots_log2 - 1);
}

void eventq_init(struct eventq *q)
{
	*q = (struct eventq){
		.shift = 10,
		.slots_log2 = SLOTS_LOG2_MIN,
		.free_node = NONE,
		.tune_at = 1024,
	};
	memset(q->far, 0xff, sizeof(q->far));
	wheel_alloc(q);
	frontier_set(q, 1);
	q->near = hd_grow(NULL, &q->near_cap, 256, sizeof(*q->near));
}

void eventq_fini(struct eventq *q)
{
	free(q->near);
	free(q->rest);
	free(q->late);
	free(q->heads);
	free(q->bits);
	free(q->summary);
	free(q->nodes);
}

/* ---- late: a heap in which the children of i are 4 i + 1 .. 4 i + 4 ------- */

static void late_push(struct eventq *q, struct event e)
{
	q->late = hd_grow(q->late, &q->late_cap, (size_t)q->n_late + 1, sizeof(*q->late));
	uint32_t i = q->n_late++;
	for (; i > 0 && before(&e, &q->late[(i - 1) / 4]); i = (i - 1) / 4)
		q->late[i] = q->late[(i - 1) / 4];
	q->late[i] = e;
}

static uint32_t late_least(const struct event *late, uint32_t first, uint32_t end)
{
	uint32_t least = first;

	for (uint32_t i = first + 1; i < end; i++)
		least = before(&late[i], &late[least]) ? i : least;
	return least;
}

static struct event late_pop(struct eventq *q)
{
	struct event *late = q->late, first = late[0], e = late[--q->n_late];
	uint32_t n = q->n_late, i = 0;

	while (4 * i + 1 < n) {
		uint32_t end = 4 * i + 5 < n ? 4 * i + 5 : n;
		uint32_t child = late_least(late, 4 * i + 1, end);

		if (!before(&late[child], &e))
			break;
		late[i] = late[child];
		i = child;
	}
	late[i] = e;
	return first;
}

/* ---- near and rest -------------------------------------------------------- */

static bool has_more(const struct eventq *q)
{
	return q->n_late > 0 || q->rest_at < q->rest_end;
}

/* Sorted insertion; new events tend to belong at the end. */
static void near_insert(struct eventq *q, struct event e)
{
	if (has_more(q) && (q->at == q->end || before(&q->near[q->end - 1], &e))) {
		late_push(q, e);
		return;
	}
	if (q->end - q->at >= NEAR_MOST) {
		for (uint32_t keep = q->at + NEAR_MOST / 2; q->end > keep;)
			late_push(q, q->near[--q->end]);
		near_insert(q, e);
		return;
	}
	q->near = hd_grow(q->near, &q->near_cap, (size_t)q->end + 1, sizeof(*q->near));
	uint32_t i = q->end++;
	for (; i > q->at && before(&e, &q->near[i - 1]); i--)
		q->near[i] = q->near[i - 1];
	q->near[i] = e;
}

/* Fills near from rest and late, up to `target`. */
static void near_take_more(struct eventq *q, uint32_t target)
{
	q->near = hd_grow(q->near, &q->near_cap, target, sizeof(*q->near));
	while (q->end < target && has_more(q)) {
		bool from_late = q->rest_at == q->rest_end ||
				 (q->n_late > 0 && before(&q->late[0], &q->rest[q->rest_at]));

		if (from_late)
			q->near[q->end++] = late_pop(q);
		else
			q->near[q->end++] = q->rest[q->rest_at++];
	}
}

/* Events of `near` after `target` become `rest`, which is empty. */
static void near_leave_rest(struct eventq *q, uint32_t target)
{
	uint32_t n = q->end - target;

	q->rest = hd_grow(q->rest, &q->rest_cap, n, sizeof(*q->rest));
	memcpy(q->rest, &q->near[target], n * sizeof(*q->rest));
	q->rest_at = 0;
	q->rest_end = n;
	q->end = target;
}

static uint32_t node_new(struct eventq *q, struct event e, uint32_t next)
{
	uint32_t i = q->free_node;

	if (i != NONE) {
		q->free_node = q->nodes[i].next;
	} else {
		q->nodes = hd_grow_dense(q->nodes, &q->nodes_cap, (size_t)q->n_nodes + 1,
					 sizeof(*q->nodes));
		i = q->n_nodes++;
	}
	q->nodes[i] = (struct eventq_node){ .e = e, .next = next };
	return i;
}

/* The half of the wheel that a slot lies in. */
static uint64_t half_of(const struct eventq *q, uint64_t slot)
{
	return slot >> (q->slots_log2 - 1);
}

static void wheel_add(struct eventq *q, uint64_t number, struct event e)
{
	uint64_t i = number & q->slot_mask;

	q->n_wheel++;
	q->heads[i] = node_new(q, e, q->heads[i]);
	q->bits[i / 64] |= (uint64_t)1 << (i % 64);
	q->summary[i / 4096] |= (uint64_t)1 << (i / 64 % 64);
}

static void far_add(struct eventq *q, uint64_t half, struct event e)
{
	unsigned list = 63u - (unsigned)__builtin_clzll(half ^ q->frontier);

	q->n_far++;
	q->far[list] = node_new(q, e, q->far[list]);
	q->far_mask |= (uint64_t)1 << list;
}

static uint32_t node_free(struct eventq *q, uint32_t node)
{
	uint32_t next = q->nodes[node].next;

	q->nodes[node].next = q->free_node;
	q->free_node = node;
	return next;
}

/* An event in the past would be handled out of order, without a sign of it. */
static _Noreturn void push_failed(const struct eventq *q, hd_time when)
{
	fprintf(stderr,
		"heddle: internal error: event at %" PRIu64 " ps scheduled at %" PRIu64
		" ps; please report it\n",
		when, q->now);
	abort();
}

void eventq_push_apart(struct eventq *q, hd_time when, uint64_t key)
{
	struct event e = { when, key };
	uint64_t slot = when >> q->shift;

	if (slot <= q->last) {
		if (unlikely(when < q->now))
			push_failed(q, when);
		near_insert(q, e);
		q->taken++; /* otherwise slots would widen because few events use them */
	} else if (slot < q->wheel_end) {
		wheel_add(q, slot, e);
	} else {
		far_add(q, half_of(q, slot), e);
		q->far_pushes++;
	}
}

/* Moves the wheel's end to `half`; what lies at it leaves the far tier. */
static void frontier_advance(struct eventq *q, uint64_t half)
{
	unsigned list = 63u - (unsigned)__builtin_clzll(half ^ q->frontier);
	uint32_t node = q->far[list];

	frontier_set(q, half);
	q->far[list] = NONE;
	q->far_mask &= ~((uint64_t)1 << list);
	while (node != NONE) {
		struct event e = q->nodes[node].e;
		uint64_t slot = e.when >> q->shift;

		node = node_free(q, node);
		q->n_far--;
		if (half_of(q, slot) == half)
			wheel_add(q, slot, e);
		else
			far_add(q, half_of(q, slot), e);
	}
}

/* With an empty wheel: brings in the first half that has an event. */
static void frontier_jump(struct eventq *q)
{
	uint32_t node = q->far[__builtin_ctzll(q->far_mask)];
	uint64_t half = UINT64_MAX;

	for (; node != NONE; node = q->nodes[node].next) {
		uint64_t h = half_of(q, q->nodes[node].e.when >> q->shift);

		half = h < half ? h : half;
	}
	frontier_advance(q, half);
}

/*
 * The first slot after `last` that has events. The wheel is not empty. The
 * search wraps: indices below that of last + 1 belong to the later half.
 */
static uint64_t wheel_next(const struct eventq *q)
{
	uint32_t mask = (uint32_t)q->slot_mask;
	/* Halves before the frontier's predecessor have been consumed. */
	uint64_t from = (q->frontier - 1) << (q->slots_log2 - 1);

	if (from <= q->last)
		from = q->last + 1;
	uint32_t start = (uint32_t)from & mask;
	uint32_t word = start / 64, words = (mask + 1) / 64;
	uint64_t bits = q->bits[word] & (~(uint64_t)0 << (start % 64));

	while (!bits) {
		word = (word + 1) & (words - 1);
		uint64_t sum = q->summary[word / 64] >> (word % 64);
		if (sum) {
			word += (uint32_t)__builtin_ctzll(sum);
			bits = q->bits[word];
		} else {
			word |= 63;
		}
	}
	uint32_t i = word * 64 + (uint32_t)__builtin_ctzll(bits);
	return from + ((i - start) & mask);
}

static void near_sort(struct event *e, uint32_t n)
{
	if (n > SORT_BY_HAND) {
		qsort(e, n, sizeof(*e), compare);
		return;
	}
	for (uint32_t i = 1; i < n; i++) {
		struct event x = e[i];
		uint32_t k = i;

		for (; k > 0 && before(&x, &e[k - 1]); k--)
			e[k] = e[k - 1];
		e[k] = x;
	}
}

/* Moves slot i of the wheel to the end of near[], which is all before it. */
static void slot_take(struct eventq *q, uint64_t i)
{
	uint32_t first = q->end, end = first, head = q->heads[i];
	uint32_t node = head, last;
	struct event *near = q->near;
	const struct eventq_node *nodes = q->nodes;
	size_t cap = q->near_cap;

	q->heads[i] = NONE;
	do {
		if (unlikely(end == cap)) {
			near = q->near =
				hd_grow(near, &q->near_cap, (size_t)end + 1, sizeof(*near));
			cap = q->near_cap;
		}
		near[end++] = nodes[node].e;
		last = node;
		node = nodes[node].next;
	} while (node != NONE);
	/* Frees the whole list at once. */
	q->nodes[last].next = q->free_node;
	q->free_node = head;
	q->end = end;
	if (end - first > 1)
		near_sort(&near[first], end - first);
}

/* Lists are short: what their first nodes hold is on its way by then. */
static void word_prefetch(const struct eventq *q, uint64_t word)
{
	const uint32_t *heads = &q->heads[word * 64];

	for (uint64_t bits = q->bits[word]; bits; bits &= bits - 1)
		__builtin_prefetch(&q->nodes[heads[__builtin_ctzll(bits)]]);
}

/*
 * Takes slot `number`, which has events, and the used slots in the same word of the bitmap, until
 * near[] is full.
 */
static void word_take(struct eventq *q, uint64_t number, uint64_t limit, uint32_t target)
{
	uint64_t mask = q->slot_mask;
	uint64_t word = (number & mask) / 64, bits = q->bits[word];
	uint64_t base = number & ~(uint64_t)63;
	uint32_t first = q->end;

	if ((number & 63) == (uint64_t)__builtin_ctzll(bits))
		word_prefetch(q, (word + 1) & (mask / 64));
	do {
		uint64_t next = base + (unsigned)__builtin_ctzll(bits);

		if (next > limit)
			break;
		bits &= bits - 1;
		slot_take(q, next & mask);
		q->last = next;
	} while (bits && q->end < target);
	q->bits[word] = bits;
	if (!bits)
		q->summary[word / 64] &= ~((uint64_t)1 << (word % 64));
	q->n_wheel -= q->end - first;
	q->taken += q->end - first;
	uint64_t half = half_of(q, number);
	if (half == q->frontier)
		frontier_advance(q, half + 1);
}

static size_t chain_list(const struct eventq *q, uint32_t id, struct event *out)
{
	size_t n = 0;

	for (; id != NONE; id = q->nodes[id].next)
		out[n++] = q->nodes[id].e;
	return n;
}

void eventq_list(const struct eventq *q, struct event *out)
{
	size_t slots = (size_t)1 << q->slots_log2, n = 0;

	for (uint32_t i = q->at; i < q->end; i++)
		out[n++] = q->near[i];
	for (uint32_t i = q->rest_at; i < q->rest_end; i++)
		out[n++] = q->rest[i];
	for (uint32_t i = 0; i < q->n_late; i++)
		out[n++] = q->late[i];
	for (size_t i = 0; i < slots; i++)
		n += chain_list(q, q->heads[i], out + n);
	for (unsigned i = 0; i < 64; i++) {
		if (q->far_mask >> i & 1)
			n += chain_list(q, q->far[i], out + n);
	}
	assert(n == eventq_count(q));
}

/* Empties all tiers and schedules everything again, in slots of 2^shift. */
static void rebuild(struct eventq *q, unsigned shift, unsigned slots_log2)
{
	size_t n = eventq_count(q);
	struct event *all = hd_alloc(n, sizeof(*all));

	eventq_list(q, all);
	qsort(all, n, sizeof(*all), compare);

	q->shift = shift;
	q->slots_log2 = slots_log2;
	wheel_alloc(q);
	memset(q->far, 0xff, sizeof(q->far));
	q->far_mask = 0;
	q->free_node = NONE;
	q->n_nodes = 0;
	q->n_wheel = q->n_far = 0;
	q->at = q->end = q->rest_at = q->rest_end = q->n_late = 0;
	q->last = q->now >> shift;
	frontier_set(q, half_of(q, q->last) + 1);
	for (size_t i = 0; i < n; i++)
		eventq_push(q, all[i].when, all[i].key);
	free(all);
}

/* Aims at half an event to one per slot, and at few in far lists. */
static void tune(struct eventq *q)
{
	uint64_t gap = (q->now - q->tuned_when) / q->taken;
	unsigned shift = q->shift, slots = q->slots_log2;
	size_t n = eventq_count(q);

	/*
	 * Slots are half a gap wide, with hysteresis: few lists then have a second event, whose
	 * order costs an unpredictable branch.
	 */
	if ((uint64_t)8 << shift < 3 * gap || (uint64_t)2 << shift > 3 * gap) {
		shift = 0;
		while (shift < 40 && (gap >> shift) > 1)
			shift++;
	}
	if (q->far_pushes * 8 > q->taken && slots < SLOTS_LOG2_MAX && n >> slots > 0)
		slots++;
	if (slots != q->slots_log2 || shift != q->shift)
		rebuild(q, shift, slots);
	q->tuned_when = q->now;
	q->taken = q->far_pushes = 0;
	q->tune_at = n > TUNE_EVERY ? n : TUNE_EVERY;
}

bool eventq_refill(struct eventq *q)
{
	if (q->taken >= q->tune_at)
		tune(q);
	if (q->n_wheel == 0 && !has_more(q)) {
		if (q->at < q->end)
			return true;
		if (q->n_far == 0)
			return false;
		frontier_jump(q);
	}
	if (q->at == q->end) {
		q->at = q->end = 0;
	} else if (q->at > NEAR_SLACK) {
		q->end -= q->at;
		memmove(q->near, q->near + q->at, q->end * sizeof(*q->near));
		q->at = 0;
	}
	uint32_t target = q->at + NEAR_TARGET;
	uint64_t limit = UINT64_MAX;

	if (has_more(q))
		near_take_more(q, target);
	while (q->n_wheel > 0 && q->end < target) {
		uint64_t slot = wheel_next(q);

		if (q->end > q->at)
			limit = (q->near[q->at].when >> q->shift) + NEAR_SPAN;
		if (slot > limit)
			break;
		word_take(q, slot, limit, target);
	}
	if (q->end - q->at > NEAR_MOST)
		near_leave_rest(q, target);
	return true;
}
