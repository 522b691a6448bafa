/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_QOS_ADMISSION_BROKER_H
#define HD_QOS_ADMISSION_BROKER_H

/*
 * Admission: who may have how much of which link.
 *
 * The broker keeps, for every output port of a routed subnet, the two
 * arbitration tables as reservations fill them. A request is granted on all
 * links of its path or on none; one to a multicast group on every link of its
 * tree, each of them once. Best effort's share and the one slot of
 * challenged traffic are in every table from the start, and so is the share of
 * preferential best effort: its connections are promised nothing, but no more
 * of them are admitted than that share is worth, so they never take from what
 * others can reserve. Every other VL that an SL of a class can have at a port
 * has one slot in the port's low table (the floor), so that no packet waits
 * forever.
 *
 * A VL is in the high table of a port if an SL of DBTS has it there; DB that
 * shares the VL is reserved in the high table, too. On a VL that also carries
 * SLs on which unreserved packets are sent nothing can be promised: requests
 * for it are refused.
 *
 * A reservation's size is a matter of its rate and of each link's, so paths
 * may mix link speeds.
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
	struct hd_ratio best_effort; /* of every link, kept for be_sl */
	struct hd_ratio preferred;   /* the same for pbe_sl, in addition */
	/* BROKER_NO_SL: absent */
	uint8_t be_sl, ch_sl, pbe_sl;
	uint16_t high_sls;       /* set of SLs served by the high table */
	uint16_t floor_sls;      /* SLs whose VLs have a slot in every low table */
	uint16_t unreserved_sls; /* SLs on which unreserved packets are sent */
	/* The most that one SL may have of a link; den 0: no limit. */
	struct hd_ratio sl_share[N_SLS];
	struct latency_model latency; /* what deadlines are checked with */
	/* Blocks of the largest packet that the MTU allows, and most weight of
	 * an entry (service.h); 0: 255, and switches are not modelled. */
	uint32_t quantum;
	/* Why the switches keep no promise; NULL: they do. */
	const char *no_service;
	/* Of jobs, which hold their reservations before any other request
	 * (broker_admit_standing); borrowed. */
	const struct broker_request *standing;
	uint32_t n_standing;
};

/*
 * Best effort 20 % on SL 8, challenged on SL 9, nothing for preferential best
 * effort on SL 10, a floor for all classes, nothing unreserved, strict, first
 * free entry.
 */
struct broker_params broker_params_default(void);

/* The part of a path that lies in one subnet. */
struct broker_segment {
	port_id source; /* an end port, or the sending port of a router */
	lid_t dlid;     /* unicast, of the next router, or of a group */
	uint8_t sl;
};

/* A path through one subnet or, across routers, through several. */
#define BROKER_SEGMENTS 8
struct broker_way {
	struct broker_segment segment[BROKER_SEGMENTS];
	uint32_t n;
};

#define BROKER_BURST_UNKNOWN UINT64_MAX

/* Everything that admission of one connection depends on. */
struct broker_request {
	struct broker_way way;
	struct hd_rate rate; /* as arbiters charge it (slots_charged_rate) */
	/* The reverse path, of acknowledgements; n 0: nothing is reserved. */
	struct broker_way reverse;
	struct hd_rate reverse_rate;
	/* Bytes on the wire that the flow sends at once; 0: one packet. */
	uint64_t burst;
	uint32_t largest, smallest; /* packet on the wire, bytes; 0: unknown */
	hd_time deadline;           /* of each packet, end to end; 0: none */
	/* Of all pairs of these hosts, in place of ways; NULL: none. Lives as
	 * long as the connection. */
	const struct broker_hose *hose;
	/* It may send more than its rate: all that its VL's entries let it. */
	bool greedy;
	/*
	 * 1 + the connection that continues its way in the next subnet, whose
	 * bound counts for the deadline; 0: it ends at its destination.
	 */
	uint32_t then;
};

/* A request within one subnet, in one direction. */
struct broker_request broker_request_of(port_id source, lid_t dlid, uint8_t sl,
					struct hd_rate rate);
/*
 * The way of packets from end port `from` to end port `to`, across routers if
 * they are in different subnets; `sl` is that of each subnet, by its number.
 * False without a route, or if it crosses too many subnets.
 */
bool broker_way_between(const struct subnet *s, port_id from, port_id to, const uint8_t *sl,
			struct broker_way *out);

enum broker_reason {
	BROKER_NO_PATH,    /* the forwarding tables do not lead there */
	BROKER_LINK_DOWN,  /* they do, by a link that is down */
	BROKER_NO_VL,      /* SL2VL drops the SL on that link */
	BROKER_SHARED_VL,  /* unreserved packets have the same VL there */
	BROKER_SL_FULL,    /* the SL's own share of the link is used up */
	BROKER_LINK_FULL,  /* the link's slots are used up */
	BROKER_NO_ENTRY,   /* slots are left, but no table entry */
	BROKER_NO_SERVICE, /* the switch would serve less (service.h) */
	BROKER_DEADLINE,   /* a bound would be above its deadline */
};

#define BROKER_NEWEST UINT32_MAX

struct broker_refusal {
	enum broker_reason reason;
	port_id link;
	uint32_t needed, left; /* slots */
	/* BROKER_DEADLINE: whose; the connection that asks is BROKER_NEWEST. */
	uint32_t connection;
	double deadline, bound; /* seconds */
	/* Why it has no bound, NULL: it has one; why there is no service. */
	const char *none;
};

/* What a connection has of one link; an output port. */
struct broker_hold {
	port_id port;
	uint32_t slots;
	uint8_t vl, sl;
	uint16_t least, most; /* packet, in blocks */
	bool greedy;          /* as its request */
	bool stale;           /* its ways no longer use it */
	bool used;            /* by the ways that are being taken */
};

struct broker_connection {
	struct broker_request request;
	struct broker_hold *holds;
	uint32_t n_holds;
	double bound; /* seconds, the largest so far (latency_record) */
	bool live;
	/* Routes have changed, and it does not hold its new path yet: bounds do
	 * not count with it until it does (broker_follow). */
	bool moving;
};

/* Packets of the connections that hold entries of one VL of a link. */
struct broker_packets {
	uint32_t n, n_greedy;
	uint16_t least, most; /* blocks; since the VL was free last */
};

struct broker_link {
	struct fill high, low;
	struct broker_packets packets[N_DATA_VLS];
	uint32_t sl_slots[N_SLS];
	struct hd_rate rate;     /* num 0: no link */
	uint16_t high_vls;       /* in the high table */
	uint16_t unreserved_vls; /* of unreserved_sls */
	uint16_t rest_vls;       /* of BE, PBE and CH */
	bool changed;            /* is in the broker's list */
};

struct broker {
	const struct subnet *subnet;
	const bool *down; /* links, per port_id; NULL: all are up */
	struct broker_params params;
	struct broker_link *links; /* per port_id */
	/* Whose tables may differ from those when changes were forgotten. */
	port_id *changed;
	uint32_t n_changed;
	size_t changed_cap;
	struct broker_connection *connections;
	/*
	 * What ended connections had and deadlines of others still need: more
	 * weight makes the rounds of a VL shorter.
	 */
	struct broker_hold *kept;
	uint32_t n_kept;
	size_t kept_cap;
	uint32_t n_connections; /* ever; also the next id */
	uint32_t n_live;
	bool has_deadlines; /* a connection had one */
	size_t cap;
};

/* HD_ERR_FULL if not even the initial reservations fit a table. */
HD_MUST_CHECK enum hd_status broker_init(struct broker *b, const struct subnet *s,
					 const struct broker_params *params, struct diag *d);
void broker_fini(struct broker *b);

/*
 * Grants all or nothing. HD_OK and an id, or HD_ERR_FULL (or NOT_FOUND,
 * UNFIT) and why.
 */
HD_MUST_CHECK enum hd_status broker_admit(struct broker *b, const struct broker_request *request,
					  uint32_t *id, struct broker_refusal *refusal);
/*
 * Admits the standing requests of the parameters: connections 0 to n_standing - 1
 * of a new broker. HD_ERR_FULL and a message that names the job; *refused is its
 * number in `standing`.
 */
HD_MUST_CHECK enum hd_status broker_admit_standing(struct broker *b, struct diag *d,
						   uint32_t *refused);
/* The links of a way, trees of groups included; free them in any case. */
HD_MUST_CHECK enum hd_status broker_links(const struct broker *b, const struct broker_way *way,
					  struct tree_path *out);
/* HD_ERR_NOT_FOUND if no such connection is live. */
HD_MUST_CHECK enum hd_status broker_release(struct broker *b, uint32_t id);

/*
 * Routes that change. From now on ways follow the tables of `s`, a subnet of
 * the same ports, and links that are `down` (NULL: none) refuse. What
 * connections hold stays as it is.
 */
void broker_set_routes(struct broker *b, const struct subnet *s, const bool *down);
/*
 * Takes the links of a live connection's ways that it does not hold yet; holds
 * that its ways no longer use become stale. *moved: anything changed. On
 * failure the connection has what it had, and `refusal` says why.
 */
HD_MUST_CHECK enum hd_status broker_follow(struct broker *b, uint32_t id, bool *moved,
					   struct broker_refusal *refusal);
/* Makes all holds of a live connection stale. */
void broker_abandon(struct broker *b, uint32_t id);
/*
 * Gives back the stale holds of a live connection, but for what deadlines of
 * others need (broker.kept), which is given back when they no longer do.
 */
void broker_drop_stale(struct broker *b, uint32_t id);
/* A link that the connection uses and that is down; TOPO_NONE: none. */
port_id broker_cut(const struct broker *b, uint32_t id);

/* The list of changed links starts empty again. */
void broker_forget_changes(struct broker *b);

/* The table in which a VL of a link has its reservations. */
static inline const struct fill *broker_fill(const struct broker_link *link, unsigned vl)
{
	return link->high_vls >> vl & 1 ? &link->high : &link->low;
}

/* The tables to program into a port, high limit left to the caller. */
void broker_tables(const struct broker *b, port_id port, struct vlarb *out);
/* Those of all ports, by port_id, with the high limit; without entries where no link is. */
void broker_all_tables(const struct broker *b, struct vlarb *out);
/*
 * broker_tables with every entry at its own place, free ones with weight 0: for a
 * port that is arbitrating, since what changes for one VL then moves no
 * other's entry. Not for mode paper, which has no places.
 */
void broker_image(const struct broker *b, port_id port, struct vlarb *out);

/*
 * Recounts every link from what live connections hold; HD_ERR_INPUT and the
 * first link that differs if the state does not add up.
 */
HD_MUST_CHECK enum hd_status broker_audit(const struct broker *b, struct diag *d);

/* "is down", "is full": what the link of a refusal does. */
const char *broker_reason_name(enum broker_reason reason);
/* One line: "link S1[3] -> H4[1] is full: needs 105 slots, has 12". */
void broker_refusal_print(const struct broker *b, const struct broker_refusal *refusal,
			  struct strbuf *out);

#endif
