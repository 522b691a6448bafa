/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_TESTS_FABRIC_H
#define HD_TESTS_FABRIC_H

/*
 * Small fabrics put together by hand, for tests that need every table under
 * their own control: a topology, the subnet on it and the setup of both.
 *
 *	fabric_init, fabric_switch / fabric_host / fabric_cable,
 *	fabric_finish, then tables and numbers, fabric_fini
 *
 * After fabric_finish the LFTs name no port, MFTs are empty, all SL2VL
 * mappings are table 0 (VL = SL), all ports arbitrate by table 0 (one low
 * entry of weight 255 per data VL), nothing enforces P_Keys. End node k (by
 * the order of creation, hosts on switches' port 0 last) has LID k + 1, the
 * routers' ports have the LIDs after those; no LID is there twice, whatever its
 * subnet. Sim nodes are the topology's, in the same order, followed by the
 * hosts on port 0.
 */

#include "fabric/setup.h"

#define FABRIC_TABLES 8   /* SL2VL and VLArb tables there is room for */
#define FABRIC_GROUPS 4   /* multicast groups there is room for */
#define FABRIC_LIDS   128 /* LFT entries, and nodes */
#define FABRIC_PKEYS  4   /* P_Keys per port there is room for */

struct fabric {
	struct topo topo;
	struct subnet subnet;
	struct sim_setup setup;
	uint32_t *ends; /* sim nodes that are end ports */
	uint32_t n_ends;
	bool own_host[FABRIC_LIDS];     /* by topology node: on its port 0 */
	uint8_t (*sl_of_tclass)[256];   /* of the setup; NULL: none */
	uint8_t (*tclass_of_sl)[N_SLS]; /* the same */
};

void fabric_init(struct fabric *fabric);
void fabric_fini(struct fabric *fabric);
node_id fabric_switch(struct fabric *fabric, unsigned n_ports);
/* After all switches. */
node_id fabric_router(struct fabric *fabric, unsigned n_ports);
node_id fabric_host(struct fabric *fabric);
void fabric_cable(struct fabric *fabric, node_id a, unsigned an, node_id b, unsigned bn);
void fabric_finish(struct fabric *fabric);

/* What every cabled port is unless changed later. */
struct fabric_link {
	struct hd_rate rate;
	hd_time propagation;
	uint32_t in_blocks, out_blocks, vl15_blocks;
	uint8_t vls;
};
void fabric_links_set(struct fabric *fabric, const struct fabric_link *link);

static inline uint32_t fabric_port(const struct fabric *fabric, uint32_t node, unsigned number)
{
	return fabric->setup.nodes[node].first_port + number;
}

/* The one port of an end node. */
static inline uint32_t fabric_end_port(const struct fabric *fabric, uint32_t end)
{
	return fabric_port(fabric, fabric->ends[end], 1);
}

void fabric_route(struct fabric *fabric, node_id sw, lid_t lid, unsigned port);
void fabric_group_add(struct fabric *fabric, lid_t mlid, node_id sw, unsigned port);

#endif
