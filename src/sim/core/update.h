/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_CORE_UPDATE_H
#define HD_SIM_CORE_UPDATE_H

/* Flow-control updates and credits. Internal to src/sim. */

#include "sim/core/sim_internal.h"

void updates_init(struct sim *s);
/* Time from the moment at which `from` can send an update until the update arrives. */
hd_time update_takes(const struct sim_port *from);
void update_arrive(struct sim *s, uint32_t port, unsigned vl, uint32_t content);
/* Sends the next pending update of an idle link with exact credits. */
void update_send(struct sim *s, uint32_t port);
/* Delay mode with losses: sends all updates of a port at this instant. */
void updates_flush(struct sim *s, uint32_t port);
void update_refresh(struct sim *s, uint32_t port);
void update_space_freed(struct sim *s, uint32_t in_port, unsigned vl, uint32_t blk);
void update_head_arrived(struct sim *s, uint32_t port, struct packet_record *p);
/* Recomputes the credits of a VL from its flow-control counters. */
void update_credits(struct sim *s, uint32_t port, uint32_t port_vl);

#endif
