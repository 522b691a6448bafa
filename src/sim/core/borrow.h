/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_CORE_BORROW_H
#define HD_SIM_CORE_BORROW_H

/*
 * Buffer space shared between VLs by thresholds (B1 to B5). Only runs with
 * sim.borrow may call these functions, except borrow_init() and borrow_fini().
 * Internal to src/sim.
 */

#include "sim/core/state.h"

struct pack;

void borrow_init(struct sim *s);
void borrow_fini(struct sim *s);
/* Resets the counters at the end of the warm-up. */
void borrow_restart(struct sim *s);
/*
 * B2: true if there is room for a packet of this VL; the packet is counted and
 * must enter its injection queue. False: the packet is lost and freed.
 */
bool borrow_admit(struct sim *s, struct packet *p);
/* Call before the link grants of the ports with L_TOUCHED at this instant. */
void borrow_prepare(struct sim *s);
/* Results of one domain. */
void borrow_pack(struct pack *k, struct sim *part);

#endif
