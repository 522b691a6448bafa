/* SPDX-License-Identifier: BSD-2-Clause */
/* What switches count, and which packets they mark: C3, C4. */
#include <stdlib.h>

#include "base/alloc.h"
#include "state.h"

struct waiter *waiter_add(struct oracle *o, uint32_t in, const struct slot *slot,
			  const struct copy *copy)
{
	struct waiter *w;

	if (!o->setup->control || copy->vl == VL_MANAGEMENT)
		return NULL;
	w = hd_alloc(1, sizeof(*w));
	*w = (struct waiter){
		.in = in,
		.out = copy->out,
		.in_vl = slot->vl,
		.vl = copy->vl,
		.packet = copy->packet,
		.blocks = packet_blocks(copy->packet),
		.begins = slot->head + o->setup->sw.routing,
		.left_buffer = NEVER,
		.left_link = NEVER,
	};
	if (o->mutation == MUT_WAITS_FROM_HEAD)
		w->begins = slot->head;
	o->waiters =
		hd_grow(o->waiters, &o->waiters_cap, o->n_waiters + 1, sizeof(struct waiter *));
	o->waiters[o->n_waiters++] = w;
	return w;
}

/* C3 (b): the buffer of `came`, if it is full now. */
static void buffer_look(struct oracle *o, const struct waiter *came)
{
	bool told[256][N_DATA_VLS] = { { false } };
	uint32_t first = node_of(o, came->in)->first_port;
	uint32_t size, more = came->blocks;

	if (is_results_input(o, came->in)) /* no buffer */
		return;
	size = o->setup->ports[came->in].in_blocks;
	if (o->mutation == MUT_FULL_WITHOUT_ANOTHER)
		more = 1;
	if (o->ports[came->in].fill[came->in_vl] + more <= size)
		return;
	o->stats->full_inputs++;
	for (size_t i = 0; i < o->n_waiters; i++) {
		const struct waiter *w = o->waiters[i];
		bool wants = w->in == came->in && w->in_vl == came->in_vl && w->begins <= o->now &&
			     w->left_buffer >= o->now;

		if (o->mutation == MUT_FULL_FOR_ITSELF)
			wants = wants && w->begins == o->now;
		if (!wants || told[w->out - first][w->vl])
			continue;
		told[w->out - first][w->vl] = true;
		marking_input_full(&o->marking, &o->ports[w->out].marks[w->vl]);
	}
}

/* When a copy stops to count. */
static hd_time counts_until(const struct oracle *o, const struct waiter *w)
{
	if (o->mutation == MUT_DISCARDED_WAITS_ON && w->left_link != NEVER)
		return later(w->left_link, w->left_buffer);
	return w->left_link;
}

/* C3 (c) */
void marks_leave(struct oracle *o)
{
	size_t kept = 0;

	if (!o->setup->control)
		return;
	for (size_t i = 0; i < o->n_waiters; i++) {
		struct waiter *w = o->waiters[i];

		if (w->counts && counts_until(o, w) <= o->now) {
			marking_leave(&o->ports[w->out].marks[w->vl], w->blocks);
			w->counts = false;
		}
		/* Copies that have left both are not needed any more. */
		if (w->begins <= o->now && !w->counts &&
		    later(w->left_link, w->left_buffer) < o->now)
			free(w);
		else
			o->waiters[kept++] = w;
	}
	o->n_waiters = kept;
	for (uint32_t i = 0; i < o->setup->n_ports; i++)
		for (int vl = 0; vl < ALL_VLS; vl++) {
			o->ports[i].fill[vl] -= o->ports[i].leaving[vl];
			o->ports[i].leaving[vl] = 0;
		}
}

/* C4: end ports take whatever comes, in the end. */
static bool has_credits(const struct oracle *o, uint32_t out, uint8_t vl, uint32_t blk)
{
	const struct sim_port *far = &o->setup->ports[o->setup->ports[out].peer];
	uint64_t needed = 2 * (uint64_t)blk;

	if (o->mutation == MUT_CREDITS_WITHOUT_ITS_OWN)
		needed = 3 * (uint64_t)blk;
	if (o->mutation == MUT_CREDITS_FOR_ONE)
		needed = blk;
	if (o->setup->nodes[far->node].kind == SIM_END && o->mutation != MUT_SINK_NEEDS_CREDITS)
		return true;
	return link_credits(o, out, vl) >= needed;
}

static bool is_marked(struct oracle *o, const struct waiter *w)
{
	struct mark_output *counted = &o->ports[w->out].marks[w->vl];
	const struct sim_port *near = &o->setup->ports[w->out];
	struct mark_departure d = {
		.bytes = w->packet->as.bytes,
		.fill = counted->blocks,
		.capacity = is_results_input(o, w->in) ? 0 : o->setup->ports[w->in].in_blocks,
		.has_credits = has_credits(o, w->out, w->vl, w->blocks),
	};

	if (w->packet->kind != SIM_DATA && o->mutation != MUT_ANSWERS_ARE_MARKED)
		return false;
	if (w->packet->marked && o->mutation == MUT_MARKED_NOT_ASKED)
		return false;
	if (o->mutation == MUT_CAPACITY_BEYOND)
		d.capacity = o->setup->ports[near->peer].in_blocks;
	return marking_departs(&o->marking, counted, &d);
}

/* T2, phase 2: C3 (a), (b) and (c). */
void marks_count(struct oracle *o)
{
	if (!o->setup->control)
		return;
	if (o->mutation == MUT_LEAVES_BEFORE_ARRIVALS)
		marks_leave(o);
	for (size_t i = 0; i < o->n_waiters; i++) {
		struct waiter *w = o->waiters[i];

		if (w->begins != o->now)
			continue;
		marking_arrive(&o->ports[w->out].marks[w->vl], w->blocks);
		w->counts = true;
	}
	for (size_t i = 0; i < o->n_waiters; i++) {
		struct waiter *w = o->waiters[i];

		if (w->begins != o->now)
			continue;
		buffer_look(o, w);
		if (o->mutation == MUT_MARK_AT_ARRIVAL)
			w->marked = is_marked(o, w);
	}
	marks_leave(o);
}

const struct packet *marks_decide(struct oracle *o, struct waiter *w, hd_time left)
{
	bool mark = o->mutation == MUT_MARK_AT_ARRIVAL ? w->marked : is_marked(o, w);
	struct packet *marked;

	w->left_link = o->mutation == MUT_WAITS_UNTIL_GRANT ? o->now : left;
	if (!mark)
		return w->packet;
	o->stats->marks++;
	marked = packet_new(o, w->packet);
	marked->marked = true;
	return marked;
}
