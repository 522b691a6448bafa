/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_CORE_VL_SHARING_H
#define HD_SIM_CORE_VL_SHARING_H

/*
 * VL sharing by thresholds (docs/timing-rules.md, B1 to B9). A VL with many packets, the user,
 * acquires other VLs of its port and releases them. Only runs with sim.sharing may call these
 * functions, except vl_sharing_init() and vl_sharing_fini(). Internal to src/sim.
 */

#include "sim/core/sim_internal.h"

struct pack;

void vl_sharing_init(struct sim *s);
/* End ports have senders 1, 2, ...: B7 and B8 hold there. */
void vl_sharing_with_senders(struct sim *s);
void vl_sharing_fini(struct sim *s);
/* Resets the counters at the end of the warm-up. */
void vl_sharing_restart(struct sim *s);
/*
 * B2: true if there is room for a packet of this VL; the packet is counted and
 * must enter its injection queue. False: the packet is lost and freed.
 */
bool vl_sharing_admit(struct sim *s, struct packet_record *p);
/* B7, B8: a packet is ready on its own VL. */
void vl_sharing_ready(struct sim *s, uint32_t port, unsigned vl);
/* The queue from which a VL sends now: its own, or that of the user that acquired it. */
struct port_vl *vl_sharing_queue(struct sim *s, uint32_t port, struct port_vl *port_vl,
				 unsigned vl);
/* B7, B8: a packet left its queue, for the link or by a discard. */
void vl_sharing_granted(struct sim *s, uint32_t port, const struct packet_record *p);
void vl_sharing_discarded(struct sim *s, uint32_t port, unsigned vl);
/* The packet of a throttle is not ready any more. */
void vl_sharing_withdrawn(struct sim *s, uint32_t port, unsigned vl);
/* Call before the link grants of the ports with L_PENDING at this instant. */
void vl_sharing_prepare(struct sim *s);
/* Results of one domain. */
void vl_sharing_pack(struct pack *k, struct sim *part);

#endif
