/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_INJECTION_ACK_H
#define HD_SIM_INJECTION_ACK_H

/* Acknowledgements and notifications that destinations send back (C5). Internal to src/sim. */

#include "sim/core/sim_internal.h"

/* Fields of an arrived packet that congestion control needs. */
struct arrived {
	uint32_t flow, sequence, nth;
	uint32_t source; /* node */
	uint32_t device; /* C8 */
	uint16_t pkey;
	uint8_t sl;
	uint8_t kind; /* enum sim_packet_kind */
	bool marked;
};
void ack_delivered(struct sim *s, uint32_t port, const struct arrived *p);

#endif
