/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_MGMT_AGENTS_AGENTS_INTERNAL_H
#define HD_MGMT_AGENTS_AGENTS_INTERNAL_H

/* State of the agents and functions shared by the files of mgmt/agents. */

#include <string.h>

#include "mgmt/agents/agents.h"

enum {
	PORT_INFO_SIZE = 64,
	BLOCK_SIZE = 64,  /* of most tables: the data of one MAD */
	PKEY_BLOCK = 32,  /* P_Keys in a block */
	VLARB_BLOCKS = 4, /* low, low, high, high */
	SL2VL_SIZE = 8,   /* 16 VLs of four bits */
	CA_PKEY_BLOCKS = 4,
	SWITCH_PKEY_BLOCKS = 1,
	CCT_BLOCKS = 2, /* of 64 entries */
	CC_SETTING_SIZE = 132,
	SWITCH_SETTING_SIZE = 76,
	SWITCH_PORT_BLOCK = 128, /* settings of 32 ports */
	SWITCH_PORT_BLOCKS = 8,
	KEY_INFO_SIZE = 16,
};

/* Returned in place of a status: send no response. */
#define MAD_NO_ANSWER 0xFFFF

/* Congestion control settings of an adapter's port or of a switch. */
struct congestion_settings {
	uint8_t key_info[KEY_INFO_SIZE];
	uint8_t switch_setting[SWITCH_SETTING_SIZE];
	uint8_t port_settings[SWITCH_PORT_BLOCKS][SWITCH_PORT_BLOCK];
	uint8_t ca_setting[CC_SETTING_SIZE];
	uint8_t table[CCT_BLOCKS][CC_SETTING_SIZE];
};

/* A NULL table has its default contents; tables are allocated by the first Set. */
struct agent_port {
	uint8_t info[PORT_INFO_SIZE];
	uint8_t (*vlarb)[BLOCK_SIZE];
	uint8_t (*pkeys)[BLOCK_SIZE];
	uint8_t (*guids)[BLOCK_SIZE];
	struct congestion_settings *congestion;
	uint64_t *counters; /* N_PORT_COUNTERS */
	hd_time lease_end;  /* of the M_Key's protection; HD_TIME_NEVER: not running */
	bool unplugged;
};

struct agent_node {
	uint8_t switch_info[SWITCH_INFO_SIZE];
	uint8_t *lft; /* of lft_size LIDs; higher LIDs have no route */
	uint32_t lft_size;
	uint32_t n_mlids;
	uint16_t *mft;                /* [mlid][position]: bits of 16 ports each */
	uint8_t (*sl2vl)[SL2VL_SIZE]; /* switch: [in][out]; adapter: [port] */
	uint8_t (*name)[BLOCK_SIZE];  /* NodeDescription after a Set */
	hd_time busy;                 /* the agent is busy until then, if MADs take time */
};

/* A notice for the subnet manager that has not been repressed yet. */
struct notice {
	port_id port; /* holder of the LID and SM LID: an end port or a switch's port 0 */
	uint16_t trap;
	uint64_t tid;
	hd_time due; /* time of the next repetition */
	uint8_t data[BLOCK_SIZE];
};

struct agents {
	const struct topo *topo;
	struct agents_options options;
	struct agents_events events;
	struct agent_node *nodes; /* per node_id */
	struct agent_port *ports; /* per port_id */
	/* Copies of the topology's counts: agents_free() may run after the topology is gone. */
	uint32_t n_nodes, n_ports;
	struct notice *notices; /* not repressed yet */
	size_t n_notices, notices_cap;
	uint64_t next_tid;
	uint32_t next_psn;
	hd_time now; /* time of the latest change */

	struct timed_transits *timed; /* NULL: MADs arrive at once */

	/* Positions of fields, and masks of the bits that a Set may change. */
	struct field port_fields[N_PORT_FIELDS];
	struct field switch_fields[N_SWITCH_FIELDS];
	uint8_t writable[PORT_INFO_SIZE];     /* of every port */
	uint8_t writable_end[PORT_INFO_SIZE]; /* of ports with a LID */
	uint8_t writable_switch[SWITCH_INFO_SIZE];
};

/* A request at the agent of a node. The response is made in place. */
struct agent_request {
	struct agents *agents;
	port_id port;   /* the port that received it */
	uint8_t *bytes; /* MAD_SIZE */
	uint8_t *data;  /* of the attribute */
	uint8_t method; /* MAD_GET or MAD_SET */
	uint16_t attribute;
	uint32_t modifier;
	hd_time now;
};

static inline bool at_switch(const struct agent_request *r)
{
	return topo_node_of(r->agents->topo, r->port)->kind == NODE_SWITCH;
}

/* A Set stores the block; both methods return it. */
static inline uint16_t request_exchange(struct agent_request *r, uint8_t *block, size_t size)
{
	if (r->method == MAD_SET)
		memcpy(block, r->data, size);
	memcpy(r->data, block, size);
	return MAD_OK;
}

/* Handlers of SMPs, performance and congestion control; they return the status or MAD_NO_ANSWER. */
uint16_t agents_handle_smp(struct agent_request *r);
uint16_t agents_handle_perf(struct agent_request *r);
uint16_t agents_handle_cc(struct agent_request *r);

/* Applies a Set of PortInfo to port `p` of the node; the M_Key has been checked. */
uint16_t agents_port_info_set(struct agent_request *r, port_id p);
void agents_port_info_init(struct agents *a, port_id p);
void agents_fields_init(struct agents *a);

/* Number of data VLs that a port uses (its OperVLs). */
unsigned agents_data_vls(const struct agents *a, port_id p);

/* The port that holds the LID, M_Key and SM LID of `p`: `p`, or a switch's port 0. */
port_id agents_owner(const struct agents *a, port_id p);

/* ---- paths.c: forwarding */

enum { PATH_MAX_HOPS = 63 };
enum path_step { PATH_LOST, PATH_ARRIVED, PATH_FORWARD };

struct lid_path {
	const struct agents *agents;
	uint16_t lid;
	uint8_t sl;
	bool management; /* on VL15: links in Initialize carry it */
};

/*
 * The next output port by the forwarding tables; `is_source`: the packet has not been forwarded
 * yet.
 */
enum path_step agents_path_next(const struct lid_path *w, port_id at, bool is_source, port_id *out);
/* True if the link of `out` can carry the packet; and its VL there, after input `at`. */
bool agents_path_open(const struct lid_path *w, port_id out);
unsigned agents_path_vl(const struct lid_path *w, port_id at, port_id out);

/* Takes both ends down, or trains them if both poll and the cable is plugged. */
void agents_link_down(struct agents *a, port_id p, hd_time now);
void agents_link_up(struct agents *a, port_id p, hd_time now);

/*
 * True if a width or speed is disabled at an end of the link. PortInfo has no code for FDR10, so
 * the trained rate is authoritative only then.
 */
bool agents_link_is_limited(const struct agents *a, port_id p);

/* Sends `trap` to the subnet manager of `owner`, and repeats it until it is repressed. */
void agents_notice_raise(struct agents *a, port_id owner, uint16_t trap, const uint8_t *details,
			 size_t size, hd_time now);
/* TrapRepress: ends the repetition. */
void agents_notice_repress(struct agents *a, port_id owner, uint16_t trap, uint64_t tid);
/* Sends a MAD from an end port or, if the node is a switch, from its port 0. */
void agents_mad_send(struct agents *a, port_id from, const struct mad_address *to,
		     const uint8_t *mad, size_t size, hd_time now);

/* Effects of changes; they do not call agents_events.before_change. */
void agents_counter_add(struct agents *a, port_id port, unsigned counter, uint64_t more);
void agents_error_add(struct agents *a, port_id port, unsigned counter, uint64_t more, hd_time now);
void agents_violation_add(struct agents *a, port_id port, const struct key_violation *v, uint64_t n,
			  hd_time now);
void agents_sm_set(struct agents *a, port_id port, bool is_sm, hd_time now);
void agents_cable_plug(struct agents *a, port_id port, bool plugged, hd_time now);
void agents_link_retrain(struct agents *a, port_id port, hd_time now);
hd_time agents_notices_next(const struct agents *a);
void agents_notices_run(struct agents *a, hd_time now);

/* ---- transit.c */

/*
 * Parts of a route. A directed-route SMP may have an LID-routed part before and after its directed
 * part; other MADs have the first part only.
 */
enum smp_part { PART_FIRST, PART_DIRECTED, PART_LAST };

/* A message of several segments; each segment is a packet of its own if MADs take time. */
struct mad_message {
	uint32_t arrived; /* segments */
	uint32_t users;   /* transits that refer to it */
	uint8_t bytes[];
};

/* A MAD on its way through the fabric. */
struct mad_transit {
	struct agents *agents;
	port_id source;
	port_id at; /* the input port, or the port of the source */
	enum smp_part part;
	unsigned hops; /* in this part */
	struct lid_path path;
	struct mad_address from; /* the sender; keys of the packet */
	uint16_t to_lid;
	uint32_t to_qp;
	uint32_t psn;
	hd_time now;
	uint8_t vl;              /* on the cable that it crosses */
	bool on_cable;           /* has left a port and has not arrived at the next one */
	bool has_left;           /* has left its source: adapters beyond do not forward it */
	uint8_t first[MAD_SIZE]; /* the first segment; agents modify it */
	const uint8_t *bytes;    /* all segments if there are several, else NULL */
	size_t size;
	/* Timed: the message of `bytes`, which owns them, and the segment that this packet is. */
	struct mad_message *message;
	uint32_t segment;
};

/* Steps of a transit; it ends when the MAD is lost, or delivered without a response. */
/* At a port of a node: PATH_FORWARD: it has left by *out, and `at` is the input port beyond. */
enum path_step agents_transit_step(struct mad_transit *t, port_id *out);
/* At the other end of the cable; false if the MAD is dropped there. */
bool agents_transit_land(struct mad_transit *t);
/* At the destination; true if the transit is that of the response now, at its source. */
bool agents_transit_receive(struct mad_transit *t);
/* True if the agent of the node processes the MAD, not a program. */
bool agents_transit_is_for_agent(const struct mad_transit *t);

/* ---- timed_transit.c: MADs that take time */

/* Begins a transit at its source; copies it with its bytes. */
void agents_timed_start(const struct mad_transit *t);
void agents_timed_init(struct agents *a);
void agents_timed_fini(struct agents *a);
/* The link of `p` has trained. */
void agents_timed_retrain(struct agents *a, port_id p);
hd_time agents_timed_next(const struct agents *a);
void agents_timed_run(struct agents *a, hd_time now);

static inline uint64_t info_get(const struct agents *a, const uint8_t *info, enum port_field f)
{
	return field_get(&a->port_fields[f], info);
}

static inline void info_set(const struct agents *a, uint8_t *info, enum port_field f,
			    uint64_t value)
{
	field_set(&a->port_fields[f], info, value);
}

static inline const struct agent_node *node_of(const struct agents *a, port_id p)
{
	return &a->nodes[a->topo->ports[p].node];
}

/* Allocates an array of `n` zeros at first use. */
#define ensure(pointer, n) ((pointer) ? (pointer) : ((pointer) = hd_alloc((n), sizeof(*(pointer)))))

#endif
