/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_QOS_BROKER_H
#define HD_QOS_BROKER_H

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
 * others can reserve.
 *
 * A reservation's size is a matter of its rate and of each link's, so paths
 * may mix link speeds.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/strbuf.h"
#include "qos/fill.h"
#include "qos/tree.h"

#define BROKER_NO_SL 255

struct broker_params {
	enum fill_mode mode;
	enum fill_place place;
	struct hd_ratio best_effort; /* of every link, kept for be_sl */
	struct hd_ratio preferred;   /* the same for pbe_sl, beside it */
	/* BROKER_NO_SL: there is none */
	uint8_t be_sl, ch_sl, pbe_sl;
	uint16_t high_sls; /* set of SLs served by the high table */
	/* The most that one SL may have of a link; den 0: no limit. */
	struct hd_ratio sl_share[N_SLS];
};

/*
 * Best effort 20 % on SL 8, challenged on SL 9, nothing for preferential best
 * effort on SL 10, strict, first free entry.
 */
struct broker_params broker_params_default(void);

struct broker_request {
	port_id source;
	lid_t dlid; /* unicast, or of a group */
	uint8_t sl;
	struct hd_rate rate; /* on the wire, headers included */
};

enum broker_reason {
	BROKER_NO_PATH,   /* the forwarding tables do not lead there */
	BROKER_NO_LANE,   /* SL2VL drops the SL on that link */
	BROKER_SL_FULL,   /* the SL's own share of the link is used up */
	BROKER_LINK_FULL, /* the link's slots are used up */
	BROKER_NO_ENTRY,  /* slots are left, but no table entry */
};

struct broker_refusal {
	enum broker_reason reason;
	port_id link;
	uint32_t needed, left; /* slots */
};

struct broker_connection {
	struct broker_request request;
	bool live;
};

struct broker_link {
	struct fill high, low;
	uint32_t sl_slots[N_SLS];
	struct hd_rate rate; /* num 0: no link */
	bool changed;        /* is in the broker's list */
};

struct broker {
	const struct subnet *subnet;
	struct broker_params params;
	struct broker_link *links; /* per port_id */
	/* Whose tables may differ from those when changes were forgotten. */
	port_id *changed;
	uint32_t n_changed;
	size_t changed_cap;
	struct broker_connection *connections;
	uint32_t n_connections; /* ever; also the next id */
	uint32_t n_live;
	size_t cap;
};

/* HD_ERR_FULL if not even the initial reservations fit a table. */
HD_MUST_CHECK enum hd_status broker_init(struct broker *b,
					 const struct subnet *s,
					 const struct broker_params *params,
					 struct diag *d);
void broker_fini(struct broker *b);

/*
 * Grants all or nothing. HD_OK and an id, or HD_ERR_FULL (or NOT_FOUND,
 * UNFIT) and why.
 */
HD_MUST_CHECK enum hd_status broker_admit(struct broker *b,
					  const struct broker_request *request,
					  uint32_t *id,
					  struct broker_refusal *refusal);
/* The links of its path, or of a tree if it is to a group; free them in any
 * case. */
HD_MUST_CHECK enum hd_status broker_links(const struct broker *b,
					  const struct broker_request *request,
					  struct tree_path *out);
/* HD_ERR_NOT_FOUND if no such connection is live. */
HD_MUST_CHECK enum hd_status broker_release(struct broker *b, uint32_t id);

/* The list of changed links begins anew. */
void broker_forget_changes(struct broker *b);

/* The tables to program into a port, high limit left to the caller. */
void broker_tables(const struct broker *b, port_id port, struct vlarb *out);
/*
 * The same with every entry at its own place, free ones with weight 0: for a
 * port that is arbitrating, since what changes for one lane then moves no
 * other's entry. Not for mode paper, which has no places.
 */
void broker_image(const struct broker *b, port_id port, struct vlarb *out);

/*
 * Recounts every link from the live connections; HD_ERR_INPUT and the first
 * link that differs if the state does not add up.
 */
HD_MUST_CHECK enum hd_status broker_audit(const struct broker *b,
					  struct diag *d);

/* One line: "link S1[3] -> H4[1] is full: needs 105 slots, has 12". */
void broker_refusal_print(const struct broker *b,
			  const struct broker_refusal *refusal,
			  struct strbuf *out);

#endif
