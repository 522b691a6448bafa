/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_FAULTS_FAULT_H
#define HD_SIM_FAULTS_FAULT_H

/*
 * Faults: links and switches that fail and recover, bit errors, head-of-queue
 * lifetime. Internal to src/sim.
 */

#include "sim/core/sim_internal.h"

void faults_init(struct sim *s);
void fault_strike(struct sim *s, uint32_t id);
/*
 * L_SLOW_PATH of a connected link: true if a packet from `port` can be lost or
 * damaged on the link, or refused or held at its far end.
 */
bool fault_affects_link(const struct sim *s, uint32_t port);
/* At a grant: false if the packet is lost on the link; the packet is freed then. */
bool fault_link_fate(struct sim *s, uint32_t port, struct packet_record *p);
void fault_discard(struct sim *s, uint32_t port);
/* F5: the copy has become first of its queue and ready. */
void fault_hoq_start(struct sim *s, struct packet_record *p);
void fault_hoq_expire(struct sim *s, uint32_t port, uint32_t id);
/* F7: delivery time of a packet whose tail arrives at `tail`. */
hd_time fault_sink_delivery(const struct sim *s, uint32_t port, hd_time tail);

#endif
