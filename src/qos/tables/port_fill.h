/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_QOS_TABLES_PORT_FILL_H
#define HD_QOS_TABLES_PORT_FILL_H

/*
 * The two arbitration tables of one port, filled by connections one after the other: VLs of DBTS in
 * the high table, the others in the low one, with at most the slots of a frame in both. Best effort
 * and preferential best effort always have their shares, the other VLs one slot in the low table;
 * connections of preferential best effort are counted against its share.
 */

#include "base/diag.h"
#include "measure/results.h"
#include "qos/tables/classes.h"
#include "qos/tables/fill.h"

struct port_fill_params {
	struct hd_rate link;
	struct hd_ratio best_effort, preferred; /* together at most 1 */
	enum fill_mode mode;
	enum fill_place place;
	unsigned vls; /* data VLs, onto which classes are folded */
};

struct port_fill {
	struct port_fill_params params;
	struct sl2vl vls;
	struct fill high, low;
	uint16_t high_vls;
	uint16_t unreserved_vls; /* of BE, PBE and CH */
	uint64_t preferred_used; /* slots */
};

/*
 * `lost` describes the effect of shared VLs. HD_ERR_FULL if the shares leave no slot for the other
 * classes.
 */
HD_MUST_CHECK enum hd_status fill_port_init(struct port_fill *p,
					    const struct port_fill_params *params,
					    struct strbuf *lost, struct diag *d);

/* Parses "DB:64Mb/s"; the class is DBTS, DB or PBE. */
HD_MUST_CHECK enum hd_status port_request_read(const char *text, struct diag *d,
					       enum traffic_class *class, struct hd_rate *rate);

struct port_answer {
	uint8_t sl, vl;
	uint64_t slots;
	bool admitted;
};
struct port_answer fill_port_ask(struct port_fill *p, enum traffic_class class,
				 struct hd_rate rate);

/*
 * Requests connections in the format of users and adds a table of responses, followed by the
 * resulting tables. Returns the number of rejected ones; on an error (a word that is no connection)
 * the results are incomplete.
 */
HD_MUST_CHECK enum hd_status fill_port_show(struct port_fill *p, const char *const *words,
					    unsigned n, struct results *r, struct diag *d,
					    unsigned *refused);

#endif
