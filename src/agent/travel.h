/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_AGENT_TRAVEL_H
#define HD_AGENT_TRAVEL_H

/* A MAD under way; private to agent/. */

#include "agent/state.h"

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
	bool served;   /* the agent has had its time for it */
	port_id holds; /* whose buffer it is in; TOPO_NONE: none */
	uint8_t first[MAD_SIZE]; /* what agents take apart, and change */
	const uint8_t *bytes;    /* all of it, if it is longer; else NULL */
	size_t size;
};

/* Goes on until it has arrived, is lost, or has to wait. */
void travel_on(struct travel *t);

/* ---- flight.c: MADs that take time */

/* Crosses the cable of `out`; waits for the agent at the end of the way. */
void flight_cross(struct travel *t, port_id out);
void flight_serve(struct travel *t);
/* Has come to a port; false if there is no room for it. Leaves that room. */
bool flight_land(struct travel *t);
void flight_leave(struct travel *t);

#endif
