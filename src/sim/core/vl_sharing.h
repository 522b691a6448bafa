/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_CORE_VL_SHARING_H
#define HD_SIM_CORE_VL_SHARING_H

/*
 * Buffer space shared between VLs by thresholds (B1 to B5). Only runs with
 * sim.borrow may call these functions, except vl_sharing_init() and vl_sharing_fini().
 * Internal to src/sim.
 */

#include "sim/core/sim_internal.h"

struct pack;

void vl_sharing_init(struct sim *s);
void vl_sharing_fini(struct sim *s);
/* Resets the counters at the end of the warm-up. */
void vl_sharing_restart(struct sim *s);
/*
 * B2: true if there is room for a packet of this VL; the packet is counted and
 * must enter its injection queue. False: the packet is lost and freed.
 */
bool vl_sharing_admit(struct sim *s, struct packet_record *p);
/* Call before the link grants of the ports with L_PENDING at this instant. */
void vl_sharing_prepare(struct sim *s);
/* Results of one domain. */
void vl_sharing_pack(struct pack *k, struct sim *part);

#endif
