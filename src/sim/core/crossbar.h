/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_CORE_CROSSBAR_H
#define HD_SIM_CORE_CROSSBAR_H

/* Arbitration of crossbar outputs with separate speed (T8). Internal to src/sim. */

#include "sim/core/sim_internal.h"

void crossbar_arbitrate(struct sim *s, uint32_t port);
void crossbar_output_ready(struct sim *s, struct packet_record *p);
/* T8: sorts ports by switch, last grant and number. */
void crossbar_sort_ports(struct sim *s, struct port_list *l);
bool crossbar_reader_free(struct sim *s, uint32_t in_port, uint32_t slot);
void crossbar_reader_take(struct sim *s, uint32_t in_port, uint32_t slot, hd_time until);
void crossbar_reader_released(struct sim *s, uint32_t in_port);

#endif
