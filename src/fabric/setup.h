/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_FABRIC_SETUP_H
#define HD_FABRIC_SETUP_H

/*
 * The setup of a simulation, resolved to numbers: the only input of the engine and of its
 * oracle. Comments name the rules of docs/timing-rules.md (T1, ... F7) that use a field.
 *
 * Nodes are switches and end ports. Each end port is a node: an adapter with two ports is two
 * nodes, and a switch's own host is a node, on port 0. Ports are numbered as in struct
 * topo: port n of node v is ports[v.first_port + n], n = 0 .. v.n_ports. An end node has a
 * single port with number 1; unused slots have no peer.
 *
 * Forwarding, VLs, arbitration and partitions are those of the subnet, indexed by sim_node.sw
 * (switches) and sim_port.origin.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/units.h"
#include "cc/marking.h"
#include "cc/response.h"
#include "scenario/model.h"
#include "subnet/subnet.h"
#include "subnet/tables/packet.h"

#define SIM_NONE UINT32_MAX

enum sim_node_kind { SIM_END, SIM_SWITCH, SIM_ROUTER };

struct sim_node {
	enum sim_node_kind kind;
	uint32_t first_port;
	uint32_t n_ports;
	switch_id sw; /* switches: row of the forwarding tables */
	node_id node; /* in the topology */
};

struct sim_port {
	uint32_t node;
	uint32_t peer;        /* SIM_NONE: no cable */
	port_id origin;       /* in the topology and the subnet */
	struct hd_rate rate;  /* of the link, the same in both directions */
	hd_time propagation;  /* P >= 1 */
	uint32_t in_blocks;   /* input buffer per data VL (T1) */
	uint32_t out_blocks;  /* output buffer per VL, cioq switches only */
	uint32_t vl15_blocks; /* input buffer of VL15 (A4) */
	uint8_t vls;          /* data VLs in operation: 0 .. vls - 1 */
	double ber;           /* of what this port sends (F1) */
	double update_loss;   /* of flow-control updates it sends (F2) */
	hd_time hoq_life;     /* of a switch output (F5); 0 = no limit */
};

/* Properties that all switches of a run share. */
struct sim_switch_model {
	enum sim_queueing queueing;
	enum sim_order order;
	enum sim_pick pick;
	uint32_t readers;        /* 0 = no limit */
	struct hd_ratio speedup; /* cioq; at least 1 */
	hd_time routing;         /* r */
	hd_time arbitration;     /* a */
};

/* Kind of a packet, for the components that respond to it (C4, C5, C8). */
enum sim_packet_kind {
	SIM_DATA,
	SIM_ACK,
	SIM_CNP,
	SIM_PROBE,
	SIM_ACCEPT,
	SIM_REJECT,
	SIM_CONTRIBUTION, /* to a reduction (S2) */
	SIM_RESULT        /* of one (S5) */
};

/* A packet offered to the fabric. */
struct sim_arrival {
	hd_time time;
	uint32_t flow;             /* orders arrivals of one instant, with sequence */
	uint32_t sequence;         /* within the flow, from 0 */
	uint32_t source;           /* end node */
	uint32_t bytes;            /* T1: all of it, LRH to VCRC */
	port_id target;            /* the destination end port */
	enum sim_packet_kind kind; /* SIM_DATA, or set by an endpoint */
	/*
	 * Of a contribution: its transaction (S2); otherwise used by endpoints that observe
	 * passages.
	 */
	uint32_t number;
	lid_t dlid; /* unicast or multicast */
	uint16_t pkey;
	/* T13p: which of the source's; 0 for flows of throttles (C1). */
	uint16_t sender;
	uint8_t sl;
	bool management; /* on VL15 */
	/* To another subnet (R1): `dlid` is a router's, the rest in the GRH. */
	bool global;
	uint8_t tclass, hop_limit;
	/*
	 * Order among packets that an endpoint offers at an end port for one instant: the lowest
	 * first, ties in the order of the calls.
	 */
	uint8_t turn;
};

struct sim_fault {
	hd_time time;
	enum sim_fault_kind kind; /* of a link or a sink */
	uint32_t port;            /* either end of the link; the sink's port */
};

/*
 * T11c: from `time` on, the link of `port` is arbitrated by `table`, one of the
 * subnet's.
 */
struct sim_table_change {
	hd_time time;
	uint32_t port;
	uint32_t table;
};

/*
 * T11r: from `time` on, switch `node` forwards `lid` by `port` (LFT_NO_PORT:
 * not at all), or a multicast one by the set `ports`, as mft_get() gives it.
 */
struct sim_route_change {
	hd_time time;
	uint32_t node;
	lid_t lid;
	uint8_t port;
	const uint64_t *ports;
};

/*
 * T11r: from `time` on, the SLs of paths are those of `subnet`; T11l: and with
 * `vls` its SL2VL, VLs in operation and partitions hold, too.
 */
struct sim_path_change {
	hd_time time;
	const struct subnet *subnet;
	bool vls;
};

/* S1: the aggregation trees that hold from then on. */
struct sim_tree_change {
	hd_time time;
	const struct subnet *subnet;
};

/* C9: from `time` on, switches mark and throttles answer like this. */
struct sim_control_change {
	hd_time time;
	struct mark_config marking;      /* by the rule of the beginning */
	const struct cc_config *configs; /* per throttle */
	/* Responses of queue pairs, as fabric.responses. */
	struct cc_config *const *responses;
};

/*
 * VL sharing (docs/timing-rules.md, B1 to B9) at end ports, outputs of switches or both: a VL with
 * many packets acquires other VLs. The capacity of the injection queues belongs to it.
 */
#define SIM_MAX_ACQUIRED (N_DATA_VLS - 1)
struct sim_vl_sharing {
	bool on;           /* anywhere */
	bool hosts;        /* at end ports */
	bool switches;     /* at outputs of switches and routers */
	uint32_t capacity; /* packets per VL of an end port; 0 = no limit */
	/* With thresholds[vl][k] jobs a VL is entitled to k + 1 additional VLs (B3). */
	unsigned n_thresholds[N_DATA_VLS];
	uint32_t thresholds[N_DATA_VLS][SIM_MAX_ACQUIRED]; /* rising, at least 2 */
	uint16_t shareable[N_DATA_VLS]; /* per VL: set of the VLs that it may acquire */
};

#define SIM_LEAST_BYTES PLAIN_OVERHEAD             /* of any packet */
#define SIM_ACK_BYTES   (PLAIN_OVERHEAD + 4)       /* AETH */
#define SIM_CNP_BYTES   (PLAIN_OVERHEAD + 16)      /* reserved ones */
#define SIM_MAD_BYTES   (PLAIN_OVERHEAD + 8 + 256) /* DETH, MAD */

/* Who slows down (C1): a flow, or all flows of one port and SL. */
struct sim_throttle {
	uint32_t node;                        /* end node */
	uint32_t sender;                      /* its number there, from 1 */
	const struct cc_algorithm *algorithm; /* NULL: never slows down */
	struct cc_config config;
};

/* Congestion control (docs/timing-rules.md, C1 to C8). */
struct sim_control {
	struct mark_config marking;
	enum sim_echo echo;
	bool fixed_gap;    /* C2 */
	uint32_t window;   /* packets outstanding per flow, at least 1 */
	hd_time ack_delay; /* 0: acknowledgements are packets */
	hd_time timeout;   /* C6; 0: none */
	const struct sim_throttle *throttles;
	uint32_t n_throttles;
	/* By flow id, below n_flows; SIM_NONE: not controlled. */
	const uint32_t *throttle_of_flow;
	uint32_t n_flows;
	/*
	 * C8: bits per second that a flow reserves before it starts, by flow
	 * id; 0: no reservation. NULL: no flow reserves. A flow that does has
	 * one destination.
	 */
	const uint64_t *reserve;
	double sl_share[N_SLS]; /* of a link, for an SL; 0: all */
};

/* Choice of a switch among the ports of a group (D4), and its unit. */
enum sim_ar_choice { SIM_AR_LOAD, SIM_AR_RANDOM, SIM_AR_TURNS };
enum sim_ar_unit { SIM_AR_PACKET, SIM_AR_FLOW, SIM_AR_FLOWLET };

/* Adaptive routing (docs/timing-rules.md, D1 to D7); the subnet has the groups. */
struct sim_adaptive {
	enum sim_ar_choice choice;
	enum sim_ar_unit per;
	uint32_t threshold, hysteresis; /* blocks */
	uint32_t around;                /* blocks; where the subnet has ways around */
	hd_time gap;                    /* that ends a flowlet, if it is longer */
	hd_time heal;                   /* after this time a port detects that its link is down */
	hd_time notify;                 /* after this time the neighbours are notified; 0: never */
};

struct sim_setup {
	const struct subnet *subnet;
	struct sim_node *nodes;
	uint32_t n_nodes;
	struct sim_port *ports;
	uint32_t n_ports;

	struct sim_switch_model sw;
	enum sim_arbiter arbiter; /* of every link, end ports' too */
	enum sim_credits credits;
	/* R4: [subnet number][TClass]; NULL: TClass modulo 16. */
	const uint8_t (*sl_of_tclass)[256];
	/* R4m: [subnet number][SL]; 0: no mark; NULL: no marks at all. */
	const uint8_t (*tclass_of_sl)[N_SLS];

	/* Sorted by time. */
	struct sim_fault *faults;
	struct sim_table_change *changes;
	struct sim_route_change *routes;
	struct sim_path_change *paths;
	struct sim_tree_change *trees;
	uint32_t n_faults, n_changes, n_routes, n_paths, n_trees;
	/* T1: size of the largest packet that the fabric carries; 0: that is sent. */
	uint32_t most_bytes;
	struct sim_vl_sharing vl_sharing;
	const struct sim_control *control;   /* NULL: none */
	struct sim_control_change *settings; /* of it, by time */
	uint32_t n_settings;
	const struct sim_adaptive *adaptive; /* NULL: off */
	hd_time reduction_delay;             /* of a switch that reduces (S4) */
	uint64_t seed;
};

#endif
