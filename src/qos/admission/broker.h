/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_QOS_ADMISSION_BROKER_H
#define HD_QOS_ADMISSION_BROKER_H

/*
 * Admission control: reserves slots of arbitration tables on the links of a path.
 *
 * The broker keeps the two VL arbitration tables of every output port of a routed subnet, as
 * filled by reservations. A request is granted on all links of its path or on none; a request
 * to a multicast group is granted on every link of its tree, once per link. All tables have the
 * share of best effort, the single slot of challenged traffic and the share of preferential
 * best effort from the start. Connections of preferential best effort have no guarantee,
 * but at most as many are admitted as fit its share, so that they never use what
 * others can reserve. Every other VL that an SL of a class can have at a port has one slot in
 * the port's low table (the floor), so that no packet waits for ever.
 *
 * A VL is in the high table of a port if an SL of DBTS uses it there; DB on the same VL
 * is then also reserved in the high table. A VL that also carries SLs of unreserved packets
 * has no guarantee: requests for it are refused.
 *
 * The number of slots follows from the rate of the request and that of each link, so a path
 * may have links of different speeds.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/strbuf.h"
#include "qos/admission/hose.h"
#include "qos/admission/latency.h"
#include "qos/admission/tree.h"
#include "qos/tables/fill.h"

#define BROKER_NO_SL 255

struct broker_params {
	enum fill_mode mode;
	enum fill_place place;
	struct hd_ratio best_effort; /* share of every link, for be_sl */
	struct hd_ratio preferred;   /* additional share, for pbe_sl */
	/* BROKER_NO_SL: not present */
	uint8_t be_sl, ch_sl, pbe_sl;
	uint16_t high_sls;       /* set of SLs that use the high table */
	uint16_t floor_sls;      /* SLs whose VLs have a slot in every low table */
	uint16_t unreserved_sls; /* SLs with unreserved packets */
	/* Largest share of a link per SL; den 0: no limit. */
	struct hd_ratio sl_share[N_SLS];
	struct latency_model latency; /* model for the check of deadlines */
	/*
	 * Blocks of the largest packet that the MTU allows, which is the largest weight of an
	 * entry (service.h); 0: weights up to 255, and switches are not modelled.
	 */
	uint32_t quantum;
	/* Why the switches give no guarantees; NULL: they do. */
	const char *no_service;
	/*
	 * Reservations of jobs, admitted before any other request (broker_admit_standing);
	 * borrowed.
	 */
	const struct broker_request *standing;
	uint32_t n_standing;
};

/*
 * Default parameters: best effort 20 % on SL 8, challenged on SL 9, no share for preferential
 * best effort on SL 10, a floor for all classes, no unreserved SLs, strict mode, first free
 * entry.
 */
struct broker_params broker_params_default(void);

/* The part of a path within one subnet. */
struct broker_segment {
	port_id source; /* end port, or sending port of a router */
	lid_t dlid;     /* unicast, of the next router, or multicast */
	uint8_t sl;
};

/* A path through one or several subnets. */
#define BROKER_SEGMENTS 8
struct broker_way {
	struct broker_segment segment[BROKER_SEGMENTS];
	uint32_t n;
};

#define BROKER_BURST_UNKNOWN UINT64_MAX

/* All inputs of the admission of a connection. */
struct broker_request {
	struct broker_way way;
	struct hd_rate rate; /* as charged by arbiters (slots_charged_rate) */
	/* Reverse path, for acknowledgements; n 0: nothing is reserved. */
	struct broker_way reverse;
	struct hd_rate reverse_rate;
	/* Bytes on the wire sent at once; 0: one packet. */
	uint64_t burst;
	uint32_t largest, smallest; /* packet sizes on the wire, bytes; 0: unknown */
	hd_time deadline;           /* end to end, per packet; 0: none */
	/* Instead of paths: all pairs of these hosts; NULL: none. Must outlive the connection. */
	const struct broker_hose *hose;
	/* The flow may exceed its rate, up to what the entries of its VL allow. */
	bool greedy;
	/*
	 * 1 + the connection that continues the path in the next subnet, whose bound is added
	 * for the deadline; 0: the path ends at its destination.
	 */
	uint32_t then;
};

/* A request within one subnet, in one direction. */
struct broker_request broker_request_of(port_id source, lid_t dlid, uint8_t sl,
					struct hd_rate rate);
/*
 * The path from end port `from` to end port `to`, across routers if they are in different
 * subnets; sl[i] is the SL in subnet i. False without a route, or if the path crosses more than
 * BROKER_SEGMENTS subnets.
 */
bool broker_way_between(const struct subnet *s, port_id from, port_id to, const uint8_t *sl,
			struct broker_way *out);

enum broker_reason {
	BROKER_NO_PATH,    /* no forwarding entry */
	BROKER_LINK_DOWN,  /* the path uses a link that is down */
	BROKER_NO_VL,      /* SL2VL drops the SL on that link */
	BROKER_SHARED_VL,  /* the VL also carries unreserved packets */
	BROKER_SL_FULL,    /* the SL's share of the link is exhausted */
	BROKER_LINK_FULL,  /* the link has too few free slots */
	BROKER_NO_ENTRY,   /* free slots, but no free table entry */
	BROKER_NO_SERVICE, /* the switch would serve less than the reservation (service.h) */
	BROKER_DEADLINE,   /* a delay bound would exceed its deadline */
};

#define BROKER_NEWEST UINT32_MAX

struct broker_refusal {
	enum broker_reason reason;
	port_id link;
	uint32_t needed, left; /* slots */
	/* BROKER_DEADLINE: connection whose deadline fails; BROKER_NEWEST: the new one. */
	uint32_t connection;
	double deadline, bound; /* seconds */
	/* Reason why it has no bound, or NULL; reason of BROKER_NO_SERVICE. */
	const char *none;
};

/* The reservation of a connection on one link (output port). */
struct broker_hold {
	port_id port;
	uint32_t slots;
	uint8_t vl, sl;
	uint16_t least, most; /* packet sizes, in blocks */
	bool greedy;          /* as in the request */
	bool stale;           /* no longer on the connection's path */
	bool used;            /* on the new path (during broker_follow) */
};

struct broker_connection {
	struct broker_request request;
	struct broker_hold *holds;
	uint32_t n_holds;
	double bound; /* largest so far, seconds (latency_record) */
	bool live;
	/*
	 * Routes have changed and the connection does not hold its new path yet: bounds exclude
	 * it until it does (broker_follow).
	 */
	bool moving;
};

/* Packets of the connections with entries of one VL of a link. */
struct broker_packets {
	uint32_t n, n_greedy;
	uint16_t least, most; /* sizes in blocks, since the VL was last unused */
};

struct broker_link {
	struct fill high, low;
	struct broker_packets packets[N_DATA_VLS];
	uint32_t sl_slots[N_SLS];
	struct hd_rate rate;     /* num 0: no link */
	uint16_t high_vls;       /* in the high table */
	uint16_t unreserved_vls; /* VLs of unreserved_sls */
	uint16_t rest_vls;       /* VLs of BE, PBE and CH */
	bool changed;            /* in broker.changed */
};

struct broker {
	const struct subnet *subnet;
	const bool *down; /* links, per port_id; NULL: all are up */
	struct broker_params params;
	struct broker_link *links; /* per port_id */
	/* Ports whose tables may differ from those at the last broker_forget_changes. */
	port_id *changed;
	uint32_t n_changed;
	size_t changed_cap;
	struct broker_connection *connections;
	/*
	 * Reservations of ended connections that the deadlines of others still need: more weight
	 * makes the rounds of a VL shorter.
	 */
	struct broker_hold *kept;
	uint32_t n_kept;
	size_t kept_cap;
	uint32_t n_connections; /* ever created; also the next id */
	uint32_t n_live;
	bool has_deadlines; /* some connection had a deadline */
	size_t cap;
};

/* HD_ERR_FULL if the initial shares do not fit a table. */
HD_MUST_CHECK enum hd_status broker_init(struct broker *b, const struct subnet *s,
					 const struct broker_params *params, struct diag *d);
void broker_fini(struct broker *b);

/*
 * Grants all links or none. HD_OK and *id, or HD_ERR_FULL (HD_ERR_NOT_FOUND, HD_ERR_UNFIT) and
 * the reason.
 */
HD_MUST_CHECK enum hd_status broker_admit(struct broker *b, const struct broker_request *request,
					  uint32_t *id, struct broker_refusal *refusal);
/*
 * Admits the standing requests of the parameters as connections 0 to n_standing - 1 of a new
 * broker. HD_ERR_FULL and a message with the job's name; *refused is its index in `standing`.
 */
HD_MUST_CHECK enum hd_status broker_admit_standing(struct broker *b, struct diag *d,
						   uint32_t *refused);
/* The links of a path, including multicast trees. The caller frees them, also on failure. */
HD_MUST_CHECK enum hd_status broker_links(const struct broker *b, const struct broker_way *way,
					  struct tree_path *out);
/* HD_ERR_NOT_FOUND if the connection is not live. */
HD_MUST_CHECK enum hd_status broker_release(struct broker *b, uint32_t id);

/*
 * After a change of routes: paths follow the tables of `s`, a subnet with the same ports, and
 * links that are `down` (NULL: none) are refused. Existing reservations are not changed.
 */
void broker_set_routes(struct broker *b, const struct subnet *s, const bool *down);
/*
 * Reserves the links of a live connection's path that it does not hold yet; reservations no
 * longer on the path become stale. *moved: anything changed. On failure the connection is
 * unchanged, and `refusal` has the reason.
 */
HD_MUST_CHECK enum hd_status broker_follow(struct broker *b, uint32_t id, bool *moved,
					   struct broker_refusal *refusal);
/* Marks all reservations of a live connection as stale. */
void broker_abandon(struct broker *b, uint32_t id);
/*
 * Releases the stale reservations of a live connection, except those that deadlines of others
 * need (broker.kept); these are released when no deadline needs them.
 */
void broker_drop_stale(struct broker *b, uint32_t id);
/* A link used by the connection that is down; TOPO_NONE: none. */
port_id broker_cut(const struct broker *b, uint32_t id);

/* Clears the list of changed links. */
void broker_forget_changes(struct broker *b);

/* The table with the reservations of a VL of a link. */
static inline const struct fill *broker_fill(const struct broker_link *link, unsigned vl)
{
	return link->high_vls >> vl & 1 ? &link->high : &link->low;
}

/* The tables to program at a port; the caller sets the high limit. */
void broker_tables(const struct broker *b, port_id port, struct vlarb *out);
/* The tables of all ports, by port_id, with the high limit; no entries for ports without a link. */
void broker_all_tables(const struct broker *b, struct vlarb *out);
/*
 * As broker_tables, with every entry at its own index and weight 0 for free entries: changing
 * one VL does not move entries of other VLs, as required while the port arbitrates. Not for mode
 * paper, whose entries have no fixed index.
 */
void broker_image(const struct broker *b, port_id port, struct vlarb *out);

/*
 * Recomputes every link from the reservations of live connections. HD_ERR_INPUT and the first
 * link that differs.
 */
HD_MUST_CHECK enum hd_status broker_audit(const struct broker *b, struct diag *d);

/* "is down", "is full": the reason as a predicate of the refusing link. */
const char *broker_reason_name(enum broker_reason reason);
/* One line: "link S1[3] -> H4[1] is full: needs 105 slots, has 12". */
void broker_refusal_print(const struct broker *b, const struct broker_refusal *refusal,
			  struct strbuf *out);

#endif
