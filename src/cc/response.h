/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CC_RESPONSE_H
#define HD_CC_RESPONSE_H

/*
 * Response of a source to congestion marks: one state machine per flow, without clock or packets.
 * An algorithm is one file and one row of cc_algorithms[].
 *
 * Rates are packets per second within [rmin, rmax]. The simulator calls on_ack for each
 * acknowledgement, marked or not, and on_timer at the state's `due`. gap returns the minimum time
 * between the starts of two packets.
 *
 *	FIMD  fast increase, multiplicative decrease
 *	LIPD  linear inter-packet delay
 *	PIPD  power increase, power decrease (the thesis' proposal)
 *	AIMD  additive increase, multiplicative decrease
 *	CCT   InfiniBand's own congestion control table
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/units.h"

#define CCT_MAX_ENTRIES 128

/* Parameters of all algorithms; each algorithm uses some of them. */
struct cc_config {
	double rmin, rmax; /* packets per second, 0 < rmin < rmax */
	double m;          /* FIMD, PIPD, AIMD: factor or root, > 1 */
	double add;        /* AIMD: packets per second added per ACK, > 0 */
	/*
	 * PIPD: packets per second in its unit; the rule is not homogeneous,
	 * so the unit is part of the algorithm. 0 means rmin / 2.
	 */
	double unit;
	/*
	 * The first increase after a decrease does not exceed the rate before it. Without this
	 * limit, the clamp at rmin lets a decrease and an increase end above the original rate.
	 */
	bool cap_first_increase;

	/* CCT: the architecture's parameters. */
	uint16_t cct[CCT_MAX_ENTRIES]; /* shift in bits 15..14, multiplier */
	uint16_t ccti_limit;           /* last entry in use */
	uint16_t ccti_increase;
	uint16_t ccti_min;
	uint16_t ccti_timer; /* in units of 1.024 us; 0 = never decreases */
	uint16_t trigger;    /* log when CCTI reaches it; 0 = never */
};

struct cc_state {
	double rate;    /* packets per second allowed now */
	double ceiling; /* of the next increase; 0 = none */
	uint16_t ccti;
	uint32_t triggered; /* times the trigger threshold was reached */
	hd_time due;        /* time of the next on_timer call; HD_TIME_NEVER: none */
};

struct cc_algorithm {
	const char *name;
	const char *summary;
	/* Refuses what breaks the algorithm, naming the rule; may be NULL. */
	enum hd_status (*check)(const struct cc_config *config, struct diag *d);
	/* A remark on parameters that work but disappoint; may be NULL. */
	const char *(*warning)(const struct cc_config *config);
	double (*increase)(const struct cc_config *config, double rate);
	double (*decrease)(const struct cc_config *config, double rate);
};

/* NULL-terminated, in the order of tables. */
extern const struct cc_algorithm *const cc_algorithms[];
/* NULL if no algorithm has that name. */
const struct cc_algorithm *cc_find(const char *name);

/* The thesis' parameters: m = 4, unit rmin / 2, the cap on. */
struct cc_config cc_config_default(double rmin, double rmax);

/* Checks that rates are ordered, then the conditions of the algorithm. */
HD_MUST_CHECK enum hd_status cc_check(const struct cc_algorithm *algorithm,
				      const struct cc_config *config, struct diag *d);

/* A remark on parameters that work but disappoint, or NULL. */
const char *cc_warning(const struct cc_algorithm *algorithm, const struct cc_config *config);

/* A flow begins at rmin, or unthrottled under CCT. */
void cc_init(const struct cc_algorithm *algorithm, const struct cc_config *config,
	     struct cc_state *state);
void cc_on_ack(const struct cc_algorithm *algorithm, const struct cc_config *config,
	       struct cc_state *state, bool marked, hd_time now);
void cc_on_timer(const struct cc_algorithm *algorithm, const struct cc_config *config,
		 struct cc_state *state, hd_time now);
/*
 * Applies `config` from now on. The CCT index is limited to the new maximum; a running timer keeps
 * its due time.
 */
void cc_adapt(const struct cc_algorithm *algorithm, const struct cc_config *config,
	      struct cc_state *state, hd_time now);
/*
 * From the start of a packet that takes `packet_time` on the link to the
 * earliest start of the next one.
 */
hd_time cc_gap(const struct cc_algorithm *algorithm, const struct cc_config *config,
	       const struct cc_state *state, hd_time packet_time);

/*
 * The same for packets of any size: rates are shares of the link, rmax is the whole link, and the
 * gap is proportional to the packet's time on the link.
 */
hd_time cc_gap_of_share(const struct cc_algorithm *algorithm, const struct cc_config *config,
			const struct cc_state *state, hd_time packet_time);

/*
 * Recovery: number of unmarked ACKs, and time, in which a source that sends one packet per 1/rate
 * rises from rmin to rmax. Rate algorithms only; 0 if it needs more than `limit` ACKs.
 */
struct cc_recovery {
	uint64_t acks;
	double seconds;
};
struct cc_recovery cc_recover(const struct cc_algorithm *algorithm, const struct cc_config *config,
			      double from, double to, uint64_t limit);

#endif
