/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_INJECTION_SOURCE_H
#define HD_SIM_INJECTION_SOURCE_H

/* Traffic sources: when flows create packets. Internal to src/sim. */

#include "sim/core/sim_internal.h"

void sources_init(struct sim *s);
/* Starts a flow at `start` or later. */
void source_begin(struct sim *s, uint32_t flow, hd_time start);
void source_fire(struct sim *s, uint32_t flow);
/* A packet of a saturating flow was granted. */
void source_granted(struct sim *s, uint32_t flow);
void source_fire_arrivals(struct sim *s);
void source_packet_enter(struct sim *s, uint32_t id);
/* A1: sets the VL of the packet; false if its SL has no VL, and the packet is lost. */
bool source_packet_vl(struct sim *s, struct packet_record *p);

#endif
