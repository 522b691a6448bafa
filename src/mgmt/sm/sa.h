/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_MGMT_SM_SA_H
#define HD_MGMT_SM_SA_H

/*
 * Subnet administration: questions about records, answered from what the last
 * sweep saw and what is planned; private to manager/.
 *
 * A kind of record says how its bytes are cut into components, bit by bit as
 * the mask of a request counts them. Whoever makes records puts all there are;
 * those that differ from the request in a component of its mask are left out.
 */

#include "mgmt/sm/sm_internal.h"

#define SA_MOST      176 /* bytes of a record */
#define SA_LIFE_TIME 18  /* of packets, in records: 4.096 us * 2^18 */

/*
 * Who asks with the SM_Key is trusted, as OpenSM has it: P_Keys are told to no
 * one else, M_Keys, keys of services, queue pairs of subscribers and members of
 * groups are left out. Another key than that, or none, gets no answer at all.
 */

struct query {
	struct manager *manager;
	const struct mad_address *from;
	const uint8_t *mad;
	const uint8_t *data; /* of the record that is asked for */
	uint64_t mask;
	bool is_trusted; /* has the SM_Key */
	const struct sa_kind *kind;
	struct strbuf out;
	uint32_t n;
	bool waits; /* until groups are programmed, for its answer */
};

struct component {
	uint16_t offset, width; /* in bits; width 0: does not count */
};

struct sa_kind {
	uint16_t attribute;
	uint16_t size;
	uint32_t n_components;
	const struct component *components;
	void (*each)(struct query *q);
	/* Set and Delete: the status; the record is put. NULL: none. */
	uint16_t (*change)(struct query *q);
};

static inline bool query_has(const struct query *q, unsigned component)
{
	return q->mask >> component & 1;
}

/* Whether a record of the kind is what was asked for. */
bool query_fits(const struct query *q, const uint8_t *record);
/* One record of the kind; if it is what was asked for. */
void query_put(struct query *q, const uint8_t *record);
/* Whatever was asked for. */
void query_put_anyway(struct query *q, const uint8_t *record);

/* The LID of an end port or a switch of the plan. */
static inline lid_t lid_at(const struct manager *m, const struct found_node *n, unsigned port)
{
	node_id v = planned_node(m, n);

	return v == TOPO_NONE ? 0
			      : planned_now(m)->lid_of_port[topo_port_of(planned_now(m)->topo, v,
									 n->is_switch ? 0 : port)];
}

void paths_each(struct query *q);
void groups_each(struct query *q);
uint16_t groups_change(struct query *q);
void services_each(struct query *q);
uint16_t services_change(struct query *q);
void informs_each(struct query *q);
uint16_t informs_change(struct query *q);

#endif
