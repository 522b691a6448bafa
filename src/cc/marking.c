/* SPDX-License-Identifier: BSD-2-Clause */
#include "cc/marking.h"

#include <assert.h>
#include <stddef.h>

const char *const marking_names[] = {
	[MARK_NONE] = "none", [MARK_TWO_COUNTER] = "two-counter", [MARK_THRESHOLD] = "threshold",
	[MARK_IBA] = "iba",   [MARK_PUBLISHED] = "published",     [MARK_PUBLISHED + 1] = NULL,
};

void marking_arrive(struct mark_output *output, uint32_t blocks)
{
	output->waiting++;
	output->blocks += blocks;
}

void marking_leave(struct mark_output *output, uint32_t blocks)
{
	assert(output->waiting > 0 && output->blocks >= blocks);
	output->waiting--;
	output->blocks -= blocks;
}

void marking_input_full(const struct mark_config *config, struct mark_output *output)
{
	if (config->rule != MARK_TWO_COUNTER)
		return;
	if (config->guard && output->waiting <= 1)
		return;
	output->to_mark = output->waiting;
}

static bool two_counter(struct mark_output *output)
{
	if (output->to_mark == 0)
		return false;
	output->to_mark--;
	return true;
}

/*
 * The specification leaves the level of a threshold to the implementation. Here, thresholds divide
 * the buffer evenly: T is reached at (16 - T)/16 of the capacity.
 */
static bool iba(const struct mark_config *config, struct mark_output *output,
		const struct mark_departure *packet)
{
	if (config->threshold == 0 || packet->bytes < config->min_bytes)
		return false;
	if (16u * packet->fill < (16u - config->threshold) * packet->capacity)
		return false;
	if (!packet->has_credits && !config->mark_victims)
		return false;
	if (output->since_mark < config->mark_every) {
		output->since_mark++;
		return false;
	}
	output->since_mark = 0;
	return true;
}

bool marking_departs(const struct mark_config *config, struct mark_output *output,
		     const struct mark_departure *packet)
{
	bool mark = false;

	switch (config->rule) {
	case MARK_NONE:
	case N_MARK_RULES:
		break;
	case MARK_TWO_COUNTER:
		mark = two_counter(output);
		break;
	case MARK_THRESHOLD:
		mark = output->blocks >= config->depth;
		break;
	case MARK_IBA:
		mark = iba(config, output, packet);
		break;
	}
	output->marked += mark;
	return mark;
}
