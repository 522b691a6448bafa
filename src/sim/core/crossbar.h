/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_CORE_CROSSBAR_H
#define HD_SIM_CORE_CROSSBAR_H

/* Arbitration of crossbar outputs with separate speed (T8). Internal to src/sim. */

#include "sim/core/state.h"

void cross_arbitrate(struct sim *s, uint32_t port);
void cross_output_ready(struct sim *s, struct packet *p);
/* T8: sorts ports by switch, last grant and number. */
void ports_by_last_grant(struct sim *s, struct port_list *l);
bool reader_free(struct sim *s, uint32_t in_port, uint32_t slot);
void reader_take(struct sim *s, uint32_t in_port, uint32_t slot, hd_time until);
void reader_released(struct sim *s, uint32_t in_port);

#endif
