/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_HCA_MESSAGE_CHANNEL_H
#define HD_HCA_MESSAGE_CHANNEL_H

/*
 * Messages of rows and jobs from one end port to another. A channel is an external
 * queue pair (external_qp.h) at its source and one at its destination.
 *
 *	hca_channels_open(lab, n);
 *	channel_open(lab, &params);		// n times
 *	lab_use_sim(lab, s);
 *	sim_run(s, ...);			// listeners may call channel_send
 *	lab_free(lab);
 *
 * A message that is longer than its channel's `piece` is several SENDs. A run
 * may be computed in parts (sim.h): a listener is called in the part of the end
 * port that the event is about.
 */

#include "hca/lab.h"
#include "sim/sim.h"
#include "transport/qp.h"

#define CHANNEL_PIECE (UINT32_C(1) << 20) /* bytes of a SEND, if nothing is against it */

struct message_event {
	uint32_t channel, part; /* part: of the run */
	uint32_t message;       /* as it was given; of `arrived`: its immediate data */
	hd_time when;
	bool is_acknowledged; /* of `done` */
};

struct channel_listener {
	/* At the destination: a SEND of the message is here. */
	void (*arrived)(void *context, const struct message_event *e);
	/* At the source: RC: all of it is acknowledged, or never will be.
	 * UC, UD: it has left. After a failure nothing more is sent. */
	void (*done)(void *context, const struct message_event *e);
	/* Nothing is queued, and there is room: may call channel_queue. Or NULL. */
	void (*refill)(void *context, uint32_t channel);
	/* A packet of the channel, request or answer, starts on a link. Or NULL; then of
	 * all channels. */
	void (*passes)(void *context, const struct sim_passage *x);
};

struct channel_params {
	enum qp_kind kind;
	uint32_t from, to; /* sim's end nodes, of one subnet */
	uint32_t piece;    /* bytes of a SEND, at most */
	uint32_t receives; /* that are posted; restocked after every event */
	uint16_t pkey;
	uint8_t sl;
	bool has_number; /* a SEND has the message's number as immediate data */
	hd_time ack_timeout;
	const struct channel_listener *listener; /* borrowed */
	void *context;
};

struct channel_counts {
	uint64_t sends, retries;
	uint64_t early; /* packets that came before their turn */
	bool is_broken; /* a SEND has failed */
};

/* Of a lab that has none: room for `most`. */
void hca_channels_open(struct lab *lab, uint32_t most);
/* The next one; they are numbered from 0. HD_ERR_UNFIT if no packet fits on
 * the way and back. */
HD_MUST_CHECK enum hd_status channel_open(struct lab *lab, const struct channel_params *p);

/* Number of SENDs of a message of `bytes`. */
uint32_t channel_pieces(uint64_t bytes);
/* Called in the part of the source: queues a message; posts what there is room
 * for; does both at `now`. */
void channel_queue(struct lab *lab, uint32_t channel, uint32_t message, uint64_t bytes);
void channel_post(struct lab *lab, uint32_t channel);
void channel_send(struct lab *lab, uint32_t channel, hd_time now, uint32_t message, uint64_t bytes);
/* While nothing happens. */
struct channel_counts channel_counts(const struct lab *lab, uint32_t channel);

#endif
