/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_MGMT_AGENTS_AGENTS_H
#define HD_MGMT_AGENTS_AGENTS_H

/*
 * The management agents (SMA, PMA, CCA) of all nodes of a fabric: they answer MADs of the subnet
 * manager and of administration tools, and store what the manager programs.
 *
 * The module is pure: sent MADs go in, and MADs that arrive at end ports come out through
 * callbacks. There are no sockets and no clocks; `now` is an argument. A MAD is forwarded hop by
 * hop as the fabric is at that moment: by its directed route, or by the forwarding tables
 * programmed so far, over links that are up. A MAD that cannot be forwarded is lost, as on
 * hardware, and the requester times out.
 *
 *         struct agents *a = agents_new(&topo, &options, &events);
 *         agents_send(a, port, &to, mad, MAD_SIZE, now);
 *
 * Tables are stored in their wire format: a Get returns the bytes of the last Set. The caller owns
 * the topology, which must live as long as the agents.
 */

#include "topo/topo.h"
#include "wire/mad.h"
#include "wire/port_fields.h"

/* A MAD on a cable, as a capture sees it. */
struct agents_link_event {
	hd_time now;
	port_id out, in;
	uint8_t vl;
	struct mad_address from; /* the sender; SL, P_Key and Q_Key are those of the packet */
	uint16_t dlid;
	uint32_t to_qp;
	uint32_t psn;
	const uint8_t *mad; /* as it is on this cable */
	size_t size;        /* above MAD_SIZE: several segments */
};

struct agent_change;

struct agents_events {
	/*
	 * A MAD has arrived at an end port for a program there. More than MAD_SIZE bytes are an
	 * RMPP message with its segments joined. NULL: no programs.
	 */
	void (*arrived)(void *context, port_id port, const struct mad_address *from,
			const uint8_t *mad, size_t size);
	void *context;
	/* Called before each change, and for each MAD on a cable; may be NULL. */
	void (*before_change)(void *context, const struct agent_change *d);
	void (*on_link)(void *context, const struct agents_link_event *c);
	/* The P_Key table of a port has been set; may be NULL. */
	void (*pkeys_set)(void *context, port_id port);
};

/*
 * Delays and buffers for MADs that take time. They equal those of a simulation of the fabric
 * (fabric/setup.h) and follow the rules of docs/timing-rules.md.
 */
struct agents_timing {
	hd_time switch_delay; /* from the arrival of the head until it may leave */
	hd_time agent_delay;  /* of an agent per MAD, one MAD after the other */
	uint32_t vl15_blocks; /* buffer of each port on VL15, in blocks of 64 bytes */
	bool oldest;          /* the oldest packet first (T7); else round robin over inputs */
	struct agents_cable_timing {
		hd_time propagation;
		struct hd_rate rate; /* num 0: the rate that the link trained to */
	} * cables;                  /* per port_id */
};

enum { AGENTS_MOST_RATES = 128 };
/*
 * True if times on these cables cannot overflow: no link is slower than 1 kb/s, and the links have
 * at most AGENTS_MOST_RATES configured rates.
 */
bool agents_timing_valid(const struct agents_timing *m, const struct topo *t);

struct pack;
/*
 * Packs or unpacks the timing of the cables of `t`; invalid values are refused. The caller frees
 * `cables` after unpacking, also after a refusal.
 */
void agents_timing_pack(struct pack *p, const struct topo *t, struct agents_timing *m);

/* Capabilities of the devices; 0 selects the default. */
struct agents_options {
	uint16_t linear_fdb_cap; /* LIDs in a linear forwarding table */
	uint16_t mcast_fdb_cap;
	uint8_t vlarb_cap; /* entries of each arbitration table */
	/*
	 * Borrowed. MADs take the time of links, switches and agents, and are lost where the VL15
	 * buffer is full. NULL: MADs arrive at once.
	 */
	const struct agents_timing *times;
};

struct agents;

/* All cables are plugged, all links are in Initialize, and no table is set. */
struct agents *agents_new(const struct topo *t, const struct agents_options *o,
			  const struct agents_events *events);
/* Also valid after the topology has been freed. */
void agents_free(struct agents *a);

const struct topo *agents_topo(const struct agents *a);

/* A program at end port `from` sends a MAD of `size` bytes. */
void agents_send(struct agents *a, port_id from, const struct mad_address *to, const uint8_t *mad,
		 size_t size, hd_time now);

/* Time of the next repeated notice or timed arrival, or HD_TIME_NEVER. */
hd_time agents_next(const struct agents *a);
void agents_run(struct agents *a, hd_time now);

/* ---- changes of the fabric besides MADs */

/* Unplugs or plugs the cable at `port`; false if the port has no cable. */
bool agents_set_cable(struct agents *a, port_id port, bool plugged, hd_time now);
/* Sets or clears IsSM of `port`: a subnet manager runs there or has ended. */
void agents_set_sm(struct agents *a, port_id port, bool is_sm, hd_time now);

/* ---- state of a port */

/* A field of the port's PortInfo. Setting is for fields that the fabric itself changes. */
uint64_t agents_port_get(const struct agents *a, port_id port, enum port_field f);
void agents_port_set(struct agents *a, port_id port, enum port_field f, uint64_t value);
/* Width and speed that the link trained to when it last came up. */
void agents_link(const struct agents *a, port_id port, unsigned *lanes, enum link_speed *speed);
/* The link of `port` goes down and trains with the widths and speeds enabled now. */
void agents_retrain(struct agents *a, port_id port, hd_time now);

/* Entry `i` of the P_Key table; 0 beyond its end. */
uint16_t agents_pkey(const struct agents *a, port_id port, unsigned i);
unsigned agents_pkey_cap(const struct agents *a, port_id port);
/* Index of the P_Key of the partition that `key` names, or -1. */
int agents_pkey_find(const struct agents *a, port_id port, uint16_t key);

/* ---- paths of data packets */

/* Callbacks of agents_trace. */
struct agents_path_observer {
	/* A packet crosses the cable from `out` to `in`; may be NULL. */
	void (*on_link)(void *context, port_id out, port_id in);
	/*
	 * A packet has arrived at an end port; for a multicast LID, called for each member reached.
	 */
	void (*on_arrival)(void *context, port_id end);
	void *context;
};

/*
 * Traces data packets of a service level from an end port to a LID by the current tables and links.
 * Packets that cannot be forwarded are lost.
 */
void agents_trace(const struct agents *a, port_id from, uint16_t lid, unsigned sl,
		  const struct agents_path_observer *observer);

/* ---- copies of the programmed state */

struct subnet;

/* Saves the whole state as bytes, or loads it into agents of the same topology. */
void agents_save(const struct agents *a, struct strbuf *out);
HD_MUST_CHECK enum hd_status agents_load(struct agents *a, const void *bytes, size_t size,
					 struct diag *d);
/* Copies the assigned LIDs into the topology. */
void agents_copy_lids(const struct agents *a, struct topo *t);
/*
 * Restricts the topology's ports to the widths and speeds that their links trained to, where some
 * are disabled.
 */
void agents_copy_links(const struct agents *a, struct topo *t);
/*
 * Copies forwarding tables, multicast tables, SL2VL, arbitration and P_Keys into the subnet; LIDs
 * must be assigned.
 */
void agents_program(const struct agents *a, struct subnet *s);
/*
 * Makes a copy of the topology with its LIDs, and its subnet with all programmed tables. The caller
 * frees both, also after a failure (no LIDs assigned); the subnet is then empty.
 */
HD_MUST_CHECK enum hd_status agents_subnet(const struct agents *a, struct diag *d, struct topo *t,
					   struct subnet *s);

/*
 * Data of a congestion control attribute's block, at an end port or a switch's port 0; NULL if it
 * was never set.
 */
const uint8_t *agents_congestion(const struct agents *a, port_id port, uint16_t attribute,
				 unsigned block);

/* ---- violations of keys */

/* A packet that a port refused. Queue pairs are 0 if they are unknown. */
struct key_violation {
	bool is_qkey; /* else its P_Key */
	uint16_t slid, dlid;
	uint8_t sl;
	uint32_t key;
	uint32_t from_qp, to_qp;
};

/*
 * A port refused `n` packets like this one. It counts them and sends a trap to its subnet manager
 * (257 or 258; 259 at a switch that enforces partitions).
 */
void agents_refuse(struct agents *a, port_id port, const struct key_violation *v, uint64_t n,
		   hd_time now);

/* ---- counters of performance management */

enum port_counter {
	COUNT_XMIT_DATA, /* unit: four bytes */
	COUNT_RCV_DATA,
	COUNT_XMIT_PKTS,
	COUNT_RCV_PKTS,
	COUNT_UNICAST_XMIT,
	COUNT_UNICAST_RCV,
	COUNT_MULTICAST_XMIT,
	COUNT_MULTICAST_RCV,
	COUNT_SYMBOL_ERROR,
	COUNT_LINK_RECOVERY,
	COUNT_LINK_DOWNED,
	COUNT_RCV_ERRORS,
	COUNT_RCV_REMOTE_PHYSICAL,
	COUNT_RCV_SWITCH_RELAY,
	COUNT_XMIT_DISCARDS,
	COUNT_XMIT_CONSTRAINT,
	COUNT_RCV_CONSTRAINT,
	COUNT_LINK_INTEGRITY,
	COUNT_BUFFER_OVERRUN,
	COUNT_QP1_DROPPED,
	COUNT_VL15_DROPPED,
	COUNT_XMIT_WAIT,
	COUNT_LOCAL_PHYSICAL,
	COUNT_MALFORMED,
	COUNT_OVERRUN,
	COUNT_DLID_MAPPING,
	COUNT_VL_MAPPING,
	COUNT_LOOPING,
	COUNT_INACTIVE_DISCARDS,
	COUNT_MTU_DISCARDS,
	COUNT_LIFETIME_DISCARDS,
	COUNT_HOQ_DISCARDS,
	COUNT_RCV_FECN,
	COUNT_RCV_BECN,
	COUNT_XMIT_FLOW,
	COUNT_RCV_FLOW,
	COUNT_OP_RCV_PKTS,
	COUNT_OP_RCV_DATA,
	COUNT_XMIT_TIME_CONG,
	COUNT_SYNC_HEADER,
	COUNT_UNKNOWN_BLOCK,
	/* Sixteen of each: by VL, by SL, by physical lane of the cable. */
	COUNT_VL_PACKETS,
	COUNT_VL_DATA = COUNT_VL_PACKETS + 16,
	COUNT_VL_XMIT_WAIT = COUNT_VL_DATA + 16,
	COUNT_SL_XMIT_DATA = COUNT_VL_XMIT_WAIT + 16,
	COUNT_SL_RCV_DATA = COUNT_SL_XMIT_DATA + 16,
	COUNT_VL_FLOW_ERRORS = COUNT_SL_RCV_DATA + 16,
	COUNT_SW_VL_CONGESTION = COUNT_VL_FLOW_ERRORS + 16,
	COUNT_SL_RCV_FECN = COUNT_SW_VL_CONGESTION + 16,
	COUNT_SL_RCV_BECN = COUNT_SL_RCV_FECN + 16,
	COUNT_VL_TIME_CONG = COUNT_SL_RCV_BECN + 16,
	COUNT_LANE_ERRORS = COUNT_VL_TIME_CONG + 16,
	COUNT_LANE_CORRECTED = COUNT_LANE_ERRORS + 16,
	COUNT_LANE_UNCORRECTED = COUNT_LANE_CORRECTED + 16,
	N_PORT_COUNTERS = COUNT_LANE_UNCORRECTED + 16
};

uint64_t agents_counter(const struct agents *a, port_id port, unsigned counter);
void agents_count(struct agents *a, port_id port, unsigned counter, uint64_t more);
/* Counts errors and raises the trap of the counter, if it has one (129 to 131). */
void agents_error(struct agents *a, port_id port, unsigned counter, uint64_t more, hd_time now);
/* By perfquery's name, e.g. "SymbolErrorCounter"; -1: unknown name. */
int agents_counter_named(const char *name);

/* ---- changes: every input that modifies agents or makes them send */

enum agent_change_kind {
	AGENT_CHANGE_SEND,  /* `to`, `mad`, `size` */
	AGENT_CHANGE_RUN,   /* timers and timed MADs up to `now` */
	AGENT_CHANGE_CABLE, /* value: plugged */
	AGENT_CHANGE_SM,    /* value: a subnet manager runs there */
	AGENT_CHANGE_FIELD, /* which: an enum port_field; value */
	AGENT_CHANGE_RETRAIN,
	AGENT_CHANGE_VIOLATION, /* violation; value: number of packets */
	AGENT_CHANGE_COUNT,     /* which: an enum port_counter; value: increment */
	AGENT_CHANGE_ERROR,     /* as AGENT_CHANGE_COUNT */
	N_AGENT_CHANGES
};

struct agent_change {
	enum agent_change_kind kind;
	hd_time now;
	port_id port;
	uint32_t which;
	uint64_t value;
	struct key_violation violation;
	struct mad_address to;
	const uint8_t *mad;
	size_t size;
};

/*
 * Applies a change; the functions above are wrappers. Agents of the same topology that apply the
 * same changes have the same state and send the same MADs over the same cables.
 */
void agents_apply(struct agents *a, const struct agent_change *d);

/*
 * Packs or unpacks a change; values that are invalid for `t` are refused. The MAD of an unpacked
 * change points into the packed bytes.
 */
void agent_change_pack(struct pack *p, const struct topo *t, struct agent_change *d);

#endif
