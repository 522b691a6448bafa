/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CC_MARKING_H
#define HD_CC_MARKING_H

/*
 * When a switch marks packets: a state machine per output (and VL), pure.
 *
 * The switch reports arrivals, input buffers that become full, and departures;
 * at the start of a packet on the output's link it asks whether to mark it.
 *
 *	two-counter	when an input buffer fills, all packets now waiting
 *			for an output that some packet of it wants are marked
 *			as they leave (thesis, chapter 3)
 *	threshold	packets that leave while at least `depth` blocks wait
 *	iba		the architecture's: a threshold of 0..15 on what waits
 *			for the output, in terms of an input buffer; roots
 *			always, victims (outputs without credits) only if
 *			listed; one of every `mark_every` packets, none
 *			below min_bytes
 */

#include <stdbool.h>
#include <stdint.h>

enum mark_rule { MARK_NONE, MARK_TWO_COUNTER, MARK_THRESHOLD, MARK_IBA, N_MARK_RULES };

/* Names of the rules; the last one is two-counter without its guard. */
#define MARK_PUBLISHED N_MARK_RULES
extern const char *const marking_names[]; /* ends with NULL */

/* iba: valid settings of a switch, as bits of its Control_Map. */
enum { MARK_MAP_VICTIMS = 1, MARK_MAP_THRESHOLD = 4, MARK_MAP_RATE = 16 };

struct mark_config {
	enum mark_rule rule;
	/*
	 * two-counter: do not mark at an output without other waiting packets. The published
	 * rule (false) marks a victim flow that only shares the full buffer, and reduces it
	 * below its uncontrolled rate.
	 */
	bool guard;
	uint32_t depth;      /* threshold: blocks, at least 1 */
	uint8_t threshold;   /* iba: 0 off, 1 loose .. 15 aggressive */
	bool mark_victims;   /* iba: this output is in the victim mask */
	uint32_t min_bytes;  /* iba: smaller packets are not marked */
	uint32_t mark_every; /* iba: packets between marks; 0 marks all */
};

struct mark_output {
	uint32_t waiting;    /* packets in the switch waiting for this output */
	uint32_t blocks;     /* size of these packets, blocks */
	uint32_t to_mark;    /* two-counter: how many more to mark */
	uint32_t since_mark; /* iba */
	uint64_t marked;
};

void marking_arrive(struct mark_output *output, uint32_t blocks);
/* The packet's last byte has left on the output's link. */
void marking_leave(struct mark_output *output, uint32_t blocks);
/* An input buffer has become full; at least one of its packets is for this output. */
void marking_input_full(const struct mark_config *config, struct mark_output *output);

/*
 * A packet starts on the output's link: whether to mark it. `fill` is the number of blocks that
 * wait for the output, `capacity` that of an input buffer; `has_credits`: the output could send
 * another packet.
 */
struct mark_departure {
	uint32_t bytes;
	uint32_t fill, capacity;
	bool has_credits;
};
bool marking_departs(const struct mark_config *config, struct mark_output *output,
		     const struct mark_departure *packet);

#endif
