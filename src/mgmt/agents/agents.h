/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_MGMT_AGENTS_AGENTS_H
#define HD_MGMT_AGENTS_AGENTS_H

/*
 * The management agents of all nodes of a fabric: what adapters and switches
 * answer to a subnet manager and to the tools of an administrator, and how
 * they are programmed by it.
 *
 * Pure: a MAD that a program sends goes in, and what arrives at end ports for
 * programs there comes out. There are no sockets and no clocks; `now` is an
 * argument. A MAD goes the way that the fabric has for it at that moment:
 * hop by hop as it says itself, or by the forwarding tables that were
 * programmed so far, over links that are up. One that cannot go on is lost, as
 * it would be on hardware, and whoever waits for an answer times out.
 *
 *	struct agents *a = agents_new(&topo, &options, &events);
 *	agents_send(a, port, &to, mad, MAD_SIZE, now);
 *
 * Tables are kept as they stand on the wire, byte for byte: what was set is
 * what is read back.
 */

#include "topo/topo.h"
#include "wire/mad.h"
#include "wire/port_fields.h"

/* A MAD on a cable. */
struct agents_crossing {
	hd_time now;
	port_id out, in;
	uint8_t vl;
	struct mad_address from; /* whose SL and keys are the packet's */
	uint16_t dlid;
	uint32_t to_qp;
	uint32_t psn;
	const uint8_t *mad; /* as it stands there */
	size_t size;        /* above MAD_SIZE: in several packets */
};

struct deed;

struct agents_events {
	/*
	 * A MAD has come to an end port, for a program there. More than
	 * MAD_SIZE bytes are an answer in several segments, put together. NULL:
	 * nobody is there.
	 */
	void (*arrived)(void *context, port_id port, const struct mad_address *from,
			const uint8_t *mad, size_t size);
	void *context;
	/* What is about to be done, and what crosses cables; or NULL. */
	void (*noted)(void *context, const struct deed *d);
	void (*crossed)(void *context, const struct agents_crossing *c);
	/* A port has other P_Keys, and nobody was told so yet; or NULL. */
	void (*keys_set)(void *context, port_id port);
};

/*
 * What MADs that take time find on their way: as a simulation of the fabric
 * has it (fabric/setup.h), by the rules of docs/timing-rules.md.
 */
struct mad_times {
	hd_time switch_delay; /* from a head's arrival until it may leave */
	uint32_t vl15_blocks; /* room of each port; of 64 bytes */
	bool oldest;          /* goes first (T7); else inputs in turn */
	struct mad_cable {
		hd_time propagation;
		struct hd_rate rate; /* num 0: what its link trained to */
	} * cables;                  /* per port_id */
};

/* Whether times on such ways can be added up: no link below 1 kb/s. */
bool mad_times_fit(const struct mad_times *m, const struct topo *t);

struct pack;
/*
 * To bytes, or back, of the cables of `t`: what makes no sense is refused. What
 * was read is to be freed, also then.
 */
void mad_times_pack(struct pack *p, const struct topo *t, struct mad_times *m);

/* What the devices can do; 0 stands for the default. */
struct agents_options {
	uint16_t linear_fdb_cap; /* LIDs that a switch can forward */
	uint16_t mcast_fdb_cap;
	uint8_t vlarb_cap; /* entries of each arbitration table */
	/*
	 * MADs take the time of links, switches and agents, and are lost where
	 * VL15 has no room for them; borrowed. NULL: they arrive at once.
	 */
	const struct mad_times *times;
};

struct agents;

/* All cables plugged, all links trained (Initialize), nothing programmed. */
struct agents *agents_new(const struct topo *t, const struct agents_options *o,
			  const struct agents_events *events);
/* Also where the topology is gone already. */
void agents_free(struct agents *a);

const struct topo *agents_topo(const struct agents *a);

/* A program at `from`, an end port, sends a MAD of `size` bytes. */
void agents_send(struct agents *a, port_id from, const struct mad_address *to, const uint8_t *mad,
		 size_t size, hd_time now);

/*
 * Notices that nobody has answered are sent again, and MADs that take time
 * arrive: when, or HD_TIME_NEVER.
 */
hd_time agents_next(const struct agents *a);
void agents_run(struct agents *a, hd_time now);

/* ---- what happens to a fabric besides MADs */

/* Pulls the cable at `port`, or plugs it in again; false if there is none. */
bool agents_set_cable(struct agents *a, port_id port, bool plugged, hd_time now);
/* A program says that it is the subnet manager of `port`, or that no longer. */
void agents_set_sm(struct agents *a, port_id port, bool is_sm, hd_time now);

/* ---- what a port is like now */

/* A field of the PortInfo of `port`, and one that the fabric sets itself. */
uint64_t agents_port_get(const struct agents *a, port_id port, enum port_field f);
void agents_port_set(struct agents *a, port_id port, enum port_field f, uint64_t value);
/* What its link trained to when it last came up. */
void agents_link(const struct agents *a, port_id port, unsigned *lanes, enum link_speed *speed);
/* Both ends of the cable train again with what is enabled now. */
void agents_retrain(struct agents *a, port_id port, hd_time now);

/* Entry `i` of a P_Key table; 0 beyond its end. */
uint16_t agents_pkey(const struct agents *a, port_id port, unsigned i);
unsigned agents_pkey_cap(const struct agents *a, port_id port);
/* The entry of the partition that `key` names, or -1 if the port is in none. */
int agents_pkey_find(const struct agents *a, port_id port, uint16_t key);

/* ---- the way of data */

/* Who hears of packets under way. */
struct agents_way {
	/* They cross the cable from `out` to `in`; NULL: nobody asks. */
	void (*pass)(void *context, port_id out, port_id in);
	/* They are at an end port: of a multicast LID at each that has them. */
	void (*arrive)(void *context, port_id end);
	void *context;
};

/*
 * Data packets of a service level go from an end port to a LID, by the tables
 * and links as they are now. Those that cannot go on are lost.
 */
void agents_follow(const struct agents *a, port_id from, uint16_t lid, unsigned sl,
		   const struct agents_way *way);

/* ---- what was programmed, elsewhere */

struct subnet;

/* All of it as bytes, and back into agents of the same topology. */
void agents_save(const struct agents *a, struct strbuf *out);
HD_MUST_CHECK enum hd_status agents_load(struct agents *a, const void *bytes, size_t size,
					 struct diag *d);
/* Says the LIDs in the topology, as a file of it would. */
void agents_take_lids(const struct agents *a, struct topo *t);
/* Ports can do there what their links were told to train to, and no more. */
void agents_take_links(const struct agents *a, struct topo *t);
/*
 * Forwarding, multicast too, lanes, arbitration and partitions; LIDs must be
 * assigned.
 */
void agents_program(const struct agents *a, struct subnet *s);
/*
 * A copy of the topology with its LIDs, and the subnet on it with all that;
 * both are to be ended, also if there are no LIDs yet: then nothing else is
 * in them.
 */
HD_MUST_CHECK enum hd_status agents_subnet(const struct agents *a, struct diag *d, struct topo *t,
					   struct subnet *s);

/*
 * What congestion control was told: the data of an attribute's block, of an
 * end port or a switch's port 0. NULL if nobody has set it.
 */
const uint8_t *agents_congestion(const struct agents *a, port_id port, uint16_t attribute,
				 unsigned block);

/* ---- packets with keys that are not allowed */

/* What a port refused. Queue pairs may be 0: not known. */
struct violation {
	bool is_qkey; /* else its P_Key */
	uint16_t slid, dlid;
	uint8_t sl;
	uint32_t key;
	uint32_t from_qp, to_qp;
};

/*
 * A port refused `n` packets like this one: it notes so, and tells its subnet
 * manager (traps 257 and 258; 259 of a switch that enforces partitions).
 */
void agents_violation(struct agents *a, port_id port, const struct violation *v, uint64_t n,
		      hd_time now);

/* ---- counters, as performance management has them */

enum port_counter {
	COUNT_XMIT_DATA, /* in words of four bytes */
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
	/* Sixteen of each: by VL, by SL, by lane of the cable. */
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
/* Counts errors, and says to the subnet manager what it is to hear of them. */
void agents_error(struct agents *a, port_id port, unsigned counter, uint64_t more, hd_time now);
/* By the name that perfquery prints, "SymbolErrorCounter"; -1: no such name. */
int agents_counter_named(const char *name);

/* ---- deeds: all of what changes agents, or makes them say something */

enum deed_kind {
	DEED_SEND,  /* `to`, `mad`, `size` */
	DEED_RUN,   /* time has passed */
	DEED_CABLE, /* value: plugged */
	DEED_SM,    /* value: whether one is there */
	DEED_FIELD, /* which: an enum port_field; value */
	DEED_RETRAIN,
	DEED_REFUSED, /* violation; value: how many */
	DEED_COUNT,   /* which: a counter; value: more */
	DEED_ERROR,   /* the same */
	N_DEEDS
};

struct deed {
	enum deed_kind kind;
	hd_time now;
	port_id port;
	uint32_t which;
	uint64_t value;
	struct violation violation;
	struct mad_address to;
	const uint8_t *mad;
	size_t size;
};

/*
 * Does it: the functions above are short for this. Whatever does the same
 * deeds to agents of the same topology finds them in the same state, and sees
 * the same MADs cross the same cables.
 */
void agents_do(struct agents *a, const struct deed *d);

/*
 * A deed to bytes, or back; what makes no sense on `t` is refused. The MAD of
 * one that was read is in the bytes.
 */
void deed_pack(struct pack *p, const struct topo *t, struct deed *d);

#endif
