/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/jobs/packet.h"

void message_packet(const struct fabric *fabric, port_id from, port_id to,
		    struct packet_label label, uint32_t payload, struct sim_arrival *out)
{
	struct sim_address way = { .target = TOPO_NONE };

	fabric_address(fabric, from, to, &way);
	*out = (struct sim_arrival){
		.source = fabric->end_of_origin[from],
		.pkey = fabric_key(fabric, label.partition, from, to),
		.bytes = payload + (uint32_t)fabric->scenario->fabric.overhead,
		.kind = SIM_DATA,
		.dlid = way.dlid,
		.global = way.target != TOPO_NONE,
		.target = way.target,
		.tclass = (uint8_t)label.sl,
		.hop_limit = 64,
		.sl = path_sl(&fabric->subnet, from, way.dlid, (uint8_t)label.sl),
	};
	if (out->global)
		out->bytes += fabric->grh_bytes;
	if (out->bytes < SIM_LEAST_BYTES)
		out->bytes = SIM_LEAST_BYTES;
}
