/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_MGMT_AGENTS_AGENTS_INTERNAL_H
#define HD_MGMT_AGENTS_AGENTS_INTERNAL_H

/* What the agents hold; private to agent/. */

#include <string.h>

#include "base/eventq.h"
#include "mgmt/agents/agents.h"

enum {
	PORT_INFO_SIZE = 64,
	BLOCK_SIZE = 64,  /* of most tables: that of one MAD's data */
	PKEY_BLOCK = 32,  /* P_Keys in a block */
	VLARB_BLOCKS = 4, /* low, low, high, high */
	SL2VL_SIZE = 8,   /* sixteen lanes of four bits */
	CA_PKEY_BLOCKS = 4,
	SWITCH_PKEY_BLOCKS = 1,
	CCT_BLOCKS = 2, /* of 64 entries */
	CC_SETTING_SIZE = 132,
	SWITCH_SETTING_SIZE = 76,
	SWITCH_PORT_BLOCK = 128, /* settings of 32 ports */
	SWITCH_PORT_BLOCKS = 8,
	KEY_INFO_SIZE = 16,
};

/* In the place of a status: say nothing. */
#define MAD_NO_ANSWER 0xFFFF

/* What congestion control was told; of an adapter's port, or of a switch. */
struct congestion_settings {
	uint8_t key_info[KEY_INFO_SIZE];
	uint8_t switch_setting[SWITCH_SETTING_SIZE];
	uint8_t port_settings[SWITCH_PORT_BLOCKS][SWITCH_PORT_BLOCK];
	uint8_t ca_setting[CC_SETTING_SIZE];
	uint8_t table[CCT_BLOCKS][CC_SETTING_SIZE];
};

/* MADs that wait for a link, if they take time; linked by travel.next. */
#define NO_FLIGHT UINT32_MAX
struct line {
	hd_time busy;         /* sending until then */
	hd_time look_at;      /* when it looks for one; HD_TIME_NEVER: not */
	uint32_t first, last; /* of agents.flights; NO_FLIGHT: none */
	uint8_t turn[2];      /* input that had it last; on VL15, and others */
};

/* What is not there is as it was made: most ports never get any of it. */
struct agent_port {
	uint8_t info[PORT_INFO_SIZE];
	uint8_t (*vlarb)[BLOCK_SIZE];
	uint8_t (*pkeys)[BLOCK_SIZE];
	uint8_t (*guids)[BLOCK_SIZE];
	struct congestion_settings *congestion;
	uint64_t *counters; /* N_PORT_COUNTERS */
	hd_time lease_end;  /* of the M_Key's protection; HD_TIME_NEVER */
	struct line line;   /* of those that leave by it */
	uint16_t held;      /* blocks in its buffer of VL15 */
	bool unplugged;
};

struct agent_node {
	uint8_t switch_info[SWITCH_INFO_SIZE];
	uint8_t *lft; /* of lft_size LIDs; none of the others */
	uint32_t lft_size;
	uint32_t n_mlids;
	uint16_t *mft;                /* [mlid][position]: 16 ports each */
	uint8_t (*sl2vl)[SL2VL_SIZE]; /* [in][out], or of an adapter [port] */
	uint8_t (*name)[BLOCK_SIZE];  /* NodeDescription, once it was set */
	hd_time busy;                 /* the agent, if MADs take time */
};

/* A notice that a node wants its subnet manager to hear of. */
struct notice {
	port_id port; /* whose LID and SM LID: an end port or a switch's 0 */
	uint16_t trap;
	uint64_t tid;
	hd_time due; /* when it is said again */
	uint8_t data[BLOCK_SIZE];
};

struct agents {
	const struct topo *topo;
	struct agents_options options;
	struct agents_events events;
	struct agent_node *nodes; /* per node_id */
	struct agent_port *ports; /* per port_id */
	/* To be freed after the topology, too. */
	uint32_t n_nodes, n_ports;
	struct notice *notices; /* not answered yet */
	size_t n_notices, notices_cap;
	uint64_t next_tid;
	uint32_t next_psn;
	hd_time now; /* of the latest deed */

	/* MADs under way, if they take time. */
	struct travel *flights; /* a free slot has no agents */
	size_t n_flights, flights_cap;
	uint32_t next_slot;
	uint64_t turn;
	struct eventq *due;

	/* Where fields stand, and which bits a Set of PortInfo may change. */
	struct field port_fields[N_PORT_FIELDS];
	struct field switch_fields[N_SWITCH_FIELDS];
	uint8_t writable[PORT_INFO_SIZE];     /* of every port */
	uint8_t writable_end[PORT_INFO_SIZE]; /* of those with a LID */
	uint8_t writable_switch[SWITCH_INFO_SIZE];
};

/* A MAD at the agent of a node, which makes the answer of it in place. */
struct request {
	struct agents *agents;
	port_id port;   /* by which it came */
	uint8_t *bytes; /* MAD_SIZE */
	uint8_t *data;  /* of the attribute */
	uint8_t method; /* MAD_GET or MAD_SET */
	uint16_t attribute;
	uint32_t modifier;
	hd_time now;
};

static inline bool at_switch(const struct request *r)
{
	return topo_node_of(r->agents->topo, r->port)->kind == NODE_SWITCH;
}

/* Copies a block of settings out, or in first: for both methods. */
static inline uint16_t request_exchange(struct request *r, uint8_t *block, size_t size)
{
	if (r->method == MAD_SET)
		memcpy(block, r->data, size);
	memcpy(r->data, block, size);
	return MAD_OK;
}

/* What agents answer: the status, or MAD_NO_ANSWER. */
uint16_t subnet_agent(struct request *r);
uint16_t performance_agent(struct request *r);
uint16_t congestion_agent(struct request *r);

/* PortInfo of port `p` of the node, once the M_Key was looked at. */
uint16_t port_info_set(struct request *r, port_id p);
void port_info_init(struct agents *a, port_id p);
void port_fields_init(struct agents *a);

/* The data lanes that a port uses: what its OperVLs stands for. */
unsigned port_lanes(const struct agents *a, port_id p);

/* The port that has the LID, the M_Key and the SM's LID for `p`. */
port_id agents_owner(const struct agents *a, port_id p);

/* ---- paths.c: where a packet that stands at a port goes next */

enum { WAY_MAX_HOPS = 63 };
enum way_end { WAY_LOST, WAY_HERE, WAY_ON };

struct way {
	const struct agents *agents;
	uint16_t lid;
	uint8_t sl;
	bool management; /* on VL15: passes links that are not active yet */
};

/* By the forwarding tables; `begins`: nobody has passed it on yet. */
enum way_end way_next(const struct way *w, port_id at, bool begins, port_id *out);
/* Whether the cable of `out` carries it; and on which lane, come by `at`. */
bool way_crosses(const struct way *w, port_id out);
unsigned way_lane(const struct way *w, port_id at, port_id out);

/* Links: both ends go down, or train if nothing keeps them from it. */
void link_down(struct agents *a, port_id p, hd_time now);
void link_up(struct agents *a, port_id p, hd_time now);

/*
 * Whether it may have trained to less than both ends can do: PortInfo has no
 * name for some of what they can (FDR10).
 */
bool link_is_told(const struct agents *a, port_id p);

/* Says `trap` to the subnet manager of `owner` until it answers. */
void notice_raise(struct agents *a, port_id owner, uint16_t trap, const uint8_t *details,
		  size_t size, hd_time now);
/* The answer: nothing more is said of it. */
void notice_repress(struct agents *a, port_id owner, uint16_t trap, uint64_t tid);
/* Sends a MAD from an end port or, if it is the node's, a switch's port 0. */
void mad_send(struct agents *a, port_id from, const struct mad_address *to, const uint8_t *mad,
	      size_t size, hd_time now);

/* What deeds do, without being told of. */
void count_more(struct agents *a, port_id port, unsigned counter, uint64_t more);
void error_note(struct agents *a, port_id port, unsigned counter, uint64_t more, hd_time now);
void violation_note(struct agents *a, port_id port, const struct violation *v, uint64_t n,
		    hd_time now);
void sm_note(struct agents *a, port_id port, bool is_sm, hd_time now);
void cable_set(struct agents *a, port_id port, bool plugged, hd_time now);
void link_retrain(struct agents *a, port_id port, hd_time now);
hd_time notices_next(const struct agents *a);
void notices_run(struct agents *a, hd_time now);
void flights_init(struct agents *a);
void flights_fini(struct agents *a);
hd_time flights_next(const struct agents *a);
void flights_run(struct agents *a, hd_time now);

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

/* An array of `n` that is made, of zeros, when it is first needed. */
#define ensure(pointer, n) ((pointer) ? (pointer) : ((pointer) = hd_alloc((n), sizeof(*(pointer)))))

#endif
