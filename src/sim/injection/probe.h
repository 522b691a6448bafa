/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_INJECTION_PROBE_H
#define HD_SIM_INJECTION_PROBE_H

/* Admission by probe packets (C8). Internal to src/sim. */

#include "sim/core/sim_internal.h"

struct pack;

void probes_init(struct sim *s);
void probes_fini(struct sim *s);
bool flow_reserves(const struct sim *s, uint32_t flow);
void probe_ask(struct sim *s, uint32_t flow);
/* An admission datagram has arrived at a device of the flow's path. */
void probe_delivered(struct sim *s, uint32_t flow, enum sim_packet_kind kind, unsigned device);
/* The last packet of the flow starts on the link of `port`. */
void probe_pass(struct sim *s, uint32_t flow, uint32_t port);
/* State that every domain may change. */
void probes_pack(struct pack *k, struct sim *s);
/* Results of one domain. */
void probes_pack_promises(struct pack *k, struct sim *part);

#endif
