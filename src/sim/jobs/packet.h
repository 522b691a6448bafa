/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_JOBS_PACKET_H
#define HD_SIM_JOBS_PACKET_H

/*
 * Messages as packets of the fabric's MTU (docs/timing-rules.md, J4): number and fields of the
 * packets. Used for jobs, and for programs that send messages.
 */

#include "fabric/fabric.h"

static inline uint64_t message_packets(uint64_t bytes, uint64_t mtu)
{
	return bytes ? (bytes + mtu - 1) / mtu : 1;
}

/* Payload of packet `number`, counted from 0. */
static inline uint32_t message_payload(uint64_t bytes, uint64_t mtu, uint64_t number)
{
	uint64_t rest = bytes - number * mtu;

	return (uint32_t)(rest < mtu ? rest : mtu);
}

struct packet_label {
	unsigned sl;
	const char *partition; /* partition name, or NULL (fabric_key) */
};

/*
 * Fills all fields but the time of a packet between two end ports. A path between them must
 * exist.
 */
void message_packet(const struct fabric *fabric, port_id from, port_id to,
		    struct packet_label label, uint32_t payload, struct sim_arrival *out);

#endif
