/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_VERBS_COURIERS_H
#define HD_VERBS_COURIERS_H

/*
 * Messages from one end port to another over RC queue pairs, for senders that
 * are no programs of a lab: a courier is a queue pair at its source and one at
 * its destination, on adapters and hosts that cost no time.
 *
 *	if (couriers_new(fabric, n, &d, &all) == HD_OK) {
 *		if (courier_open(all, &want) != HD_OK)
 *			...
 *		couriers_attach(all, s);
 *		sim_run(s, ...);	// whoever is called calls courier_send
 *		couriers_free(all);
 *
 * The simulator was made by lab_rules. A message of more than 1 MiB is several
 * SENDs; a SEND carries its message's number as immediate data. A run may be
 * computed in parts: what a listener is told is told in the part of the end
 * port that it is about.
 */

#include "fabric/fabric.h"
#include "sim/sim.h"
#include "verbs/lab.h"

struct couriers;

struct courier_listener {
	/* At the destination: one more of the message's SENDs is here. */
	void (*arrived)(void *context, uint32_t part, hd_time now, uint32_t message);
	/* At the source: all of it is acknowledged; or never will be. */
	void (*done)(void *context, uint32_t part, hd_time now, uint32_t message,
		     bool is_acknowledged);
	/* A packet of a courier, request or answer, starts on some link. */
	void (*passes)(void *context, const struct sim_passage *x);
};

struct courier_want {
	uint32_t from, to; /* sim's end nodes, of one subnet */
	uint8_t sl;
	uint16_t pkey;
	hd_time ack_timeout;
	const struct courier_listener *listener; /* borrowed */
	void *context;
};

struct courier_counts {
	uint64_t sends, retries;
	uint64_t early; /* packets that came before their turn */
	bool is_broken;
};

/* Room for `most`. The fabric outlives them. */
HD_MUST_CHECK enum hd_status couriers_new(struct fabric *f, uint32_t most, struct diag *d,
					  struct couriers **out);
void couriers_free(struct couriers *all);
/* The next one; they are numbered from 0. HD_ERR_UNFIT if no packet fits on
 * the way and back. */
HD_MUST_CHECK enum hd_status courier_open(struct couriers *all, const struct courier_want *want);
/* Before the first sim_run; once. */
void couriers_attach(struct couriers *all, struct sim *s);

/* SENDs of a message of so many bytes. */
uint32_t courier_pieces(uint64_t bytes);
/* Called in the part of the source. After a loss that is not repaired it does
 * nothing. */
void courier_send(struct couriers *all, uint32_t courier, hd_time now, uint32_t message,
		  uint64_t bytes);
/* While nothing happens. */
struct courier_counts courier_counts(const struct couriers *all, uint32_t courier);

#endif
