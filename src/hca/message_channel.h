/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_HCA_MESSAGE_CHANNEL_H
#define HD_HCA_MESSAGE_CHANNEL_H

/*
 * Messages of rows and jobs between end ports. A channel is a pair of external queue pairs
 * (external_qp.h), one at its source and one at its destination.
 *
 *	hca_channels_open(lab, n);
 *	channel_open(lab, &params);		// n times
 *	lab_use_sim(lab, s);
 *	sim_run(s, ...);			// listeners may call channel_queue
 *	lab_free(lab);
 *
 * A message longer than the `piece` of its channel is sent as several SENDs. In a partitioned
 * run (sim.h), a listener is called in the domain of the end port where the event occurs.
 * The lab owns the channels.
 */

#include "hca/lab.h"
#include "sim/sim.h"
#include "transport/qp.h"

#define CHANNEL_PIECE (UINT32_C(1) << 20) /* default size of a SEND, bytes */

struct message_event {
	uint32_t channel, part; /* part: number of the domain */
	uint32_t message;       /* as given to channel_queue; for `arrived`: its immediate data */
	hd_time when;
	bool is_acknowledged; /* for `done` */
};

struct channel_listener {
	/* At the destination: a SEND of the message has arrived. */
	void (*arrived)(void *context, const struct message_event *e);
	/*
	 * At the source. RC: the whole message is acknowledged, or has failed. UC, UD: it has
	 * left. After a failure nothing more is sent.
	 */
	void (*done)(void *context, const struct message_event *e);
	/* The queue is empty and has room: may call channel_queue. Or NULL. */
	void (*refill)(void *context, uint32_t channel);
	/*
	 * A packet of the channel, request or response, starts on a link. NULL for all channels,
	 * or for none.
	 */
	void (*passes)(void *context, const struct sim_passage *x);
};

struct channel_params {
	enum qp_kind kind;
	uint32_t from, to; /* simulator's end nodes, in one subnet */
	uint32_t piece;    /* maximum size of a SEND, bytes */
	uint32_t receives; /* posted receives; replenished after every event */
	uint16_t pkey;
	uint8_t sl;
	bool has_number; /* SENDs carry the message number as immediate data */
	hd_time ack_timeout;
	const struct channel_listener *listener; /* borrowed */
	void *context;
};

struct channel_counts {
	uint64_t sends, retries;
	uint64_t early; /* packets that arrived out of order */
	bool is_broken; /* a SEND has failed */
};

/* Creates an empty set of up to `most` channels. */
void hca_channels_open(struct lab *lab, uint32_t most);
/*
 * Creates the next channel; numbers start from 0. HD_ERR_UNFIT if no packet fits on the path in
 * either direction.
 */
HD_MUST_CHECK enum hd_status channel_open(struct lab *lab, const struct channel_params *p);

/* Number of SENDs of a message of `bytes`. */
uint32_t channel_pieces(uint64_t bytes);
/*
 * Call in the domain of the source. Queues a message and posts as many SENDs as there is room
 * for, at `now`.
 */
void channel_queue(struct lab *lab, uint32_t channel, uint32_t message, uint64_t bytes);
void channel_post(struct lab *lab, uint32_t channel);
void channel_send(struct lab *lab, uint32_t channel, hd_time now, uint32_t message, uint64_t bytes);
/* Call while the simulation is not running. */
struct channel_counts channel_counts(const struct lab *lab, uint32_t channel);

#endif
