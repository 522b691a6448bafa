/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_MGMT_AGENTS_TRAVEL_H
#define HD_MGMT_AGENTS_TRAVEL_H

/* A MAD under way; private to agent/. */

#include "mgmt/agents/agents_internal.h"

/*
 * A way has up to three parts: by LIDs to where a MAD's own route begins, that
 * route, and by LIDs from its end. All but SMPs that say their route have the
 * first alone.
 */
enum leg { LEG_FIRST, LEG_DIRECTED, LEG_LAST };

struct travel {
	struct agents *agents;
	/* Where it stands: by which it came, or where it begins. */
	port_id at;
	enum leg leg;
	unsigned hops; /* of this part */
	struct way way;
	struct mad_address from; /* of whoever sent it; its keys */
	uint16_t to_lid;
	uint32_t to_qp;
	uint32_t psn;
	hd_time now;
	uint8_t vl;    /* on the cable that it crosses */
	bool crosses;  /* has left a port, and is not at the other end yet */
	bool served;   /* it is at its end, and has had its time there */
	port_id holds; /* whose buffer it is in; TOPO_NONE: none */
	/* If it takes time: when its head came here, or comes, and its tail. */
	hd_time head, whole;
	hd_time ready;           /* to leave, in line of an output, */
	uint32_t next;           /* before this one, */
	uint8_t in;              /* come by the port of that number; 0: it begins here */
	uint8_t first[MAD_SIZE]; /* what agents take apart, and change */
	const uint8_t *bytes;    /* all of it, if it is longer; else NULL */
	size_t size;
};

/* Goes on until it has arrived, is lost, or has to wait. */
void travel_on(struct travel *t);

/* ---- flight.c: MADs that take time */

/* From `here` over the cable of `out`, to whose other end it is on its way. */
void flight_cross(struct travel *t, port_id here, port_id out);
/* At the end of the way: all of it comes, and an agent has its time for it. */
bool flight_serve(struct travel *t, bool by_agent); /* false: at once */
/* Has come to a port; false if there is no room for it. Leaves that room. */
bool flight_land(struct travel *t);
void flight_leave(struct travel *t);

#endif
