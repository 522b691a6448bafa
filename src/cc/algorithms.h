/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CC_ALGORITHMS_H
#define HD_CC_ALGORITHMS_H

/* The entries of cc_algorithms[], one per file. Private to src/cc. */

#include "cc/response.h"

extern const struct cc_algorithm cc_fimd, cc_lipd, cc_pipd, cc_aimd, cc_cct;

/* CCT reacts to events and has no rate function. */
void cct_on_becn(const struct cc_config *config, struct cc_state *state, hd_time now);
void cct_adapt(const struct cc_config *config, struct cc_state *state, hd_time now);
void cct_on_timer(const struct cc_config *config, struct cc_state *state, hd_time now);
/* (packet_time >> shift) * multiplier of one table entry. */
hd_time cct_delay(uint16_t entry, hd_time packet_time);

static inline double cc_clamp(const struct cc_config *config, double rate)
{
	if (rate < config->rmin)
		return config->rmin;
	return rate > config->rmax ? config->rmax : rate;
}

#endif
