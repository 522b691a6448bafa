/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_METRICS_RECORD_H
#define HD_SIM_METRICS_RECORD_H

/*
 * Record of a run: the end of every packet, and the counters of every port. The engine and the
 * oracle have the same format.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/units.h"
#include "fabric/setup.h"

/* Fate of a packet at one of its destinations. */
enum sim_fate {
	SIM_DELIVERED,
	SIM_LOST_CORRUPT,   /* F1 */
	SIM_LOST_LINK,      /* F3 */
	SIM_LOST_DISCARD,   /* F4, F5, A1's VLs */
	SIM_LOST_NO_ROUTE,  /* A1 */
	SIM_LOST_PARTITION, /* A2 */
	SIM_LOST_VL15,      /* A4 */
	SIM_LOST_HOPS,      /* R3 */
	SIM_LOST_FULL,      /* B2 */
	SIM_FATES
};

/*
 * End of one copy. `where` is the sim port at which it ended: the destination's port, the receiving
 * port of a loss at arrival, the output port of a discard. `time` is that of the delivery, of the
 * head's arrival for A1, A2, A4, F1, R3, of the arrival for B2, of the fault for F3, of the discard
 * for F4, F5.
 */
struct sim_event_record {
	uint32_t flow;
	uint32_t sequence;
	uint32_t where;
	enum sim_fate fate;
	hd_time time;
	enum sim_packet_kind kind; /* answers: flow and sequence of the data */
	bool marked;               /* FECN of data, BECN of an answer */
};

/*
 * Per port, with the meaning of PortCounters; data in bytes. Sent packets are counted at the grant.
 * Received packets are counted at head arrival, unless they are corrupted (F1) or lost for lack of
 * VL15 space (A4); dropped packets (A1, A2) count as received.
 */
struct sim_counters {
	uint64_t xmit_bytes, rcv_bytes;         /* LRH to VCRC, all VLs */
	uint64_t xmit_packets, rcv_packets;     /* updates are not packets */
	uint64_t xmit_multicast, rcv_multicast; /* of these, to groups */
	uint64_t xmit_bytes_vl[16], xmit_packets_vl[16];
	uint64_t rcv_bytes_vl[16], rcv_packets_vl[16];
	uint64_t xmit_bytes_sl[16], xmit_packets_sl[16];
	uint64_t rcv_bytes_sl[16], rcv_packets_sl[16];
	hd_time xmit_wait; /* T14 */
	uint64_t xmit_discards;
	uint64_t rcv_errors;
	uint64_t rcv_relay_errors;
	/* A2; the latter of an end port are its P_KeyViolations. */
	uint64_t xmit_constraint_errors, rcv_constraint_errors;
	uint64_t vl15_dropped;
	uint64_t hop_limit_exceeded; /* R3 */
	uint64_t link_lost;          /* F3 */
	uint64_t link_downed;        /* F3: times that the link went down */
	uint64_t updates_sent;       /* exact mode, and delay mode with losses */
	uint64_t updates_received;
};

/* Record of a replay; events are in any order. */
struct sim_record {
	struct sim_event_record *events;
	size_t n_events, events_cap;
	struct sim_counters *counters; /* per sim port */
};

void sim_record_fini(struct sim_record *record);

/*
 * Runs the setup with exactly these arrivals (ordered by time, flow,
 * sequence), through all instants up to and including `horizon`. XmitWait
 * counts time before the horizon. The oracle has a function of this shape.
 */
typedef void sim_replay_fn(const struct sim_setup *setup, const struct sim_arrival *arrivals,
			   size_t n_arrivals, hd_time horizon, struct sim_record *out);
sim_replay_fn sim_replay;

/* Number of domains of a fabric, and the seed of the partition. */
struct sim_replay_cut {
	uint32_t parts, seed;
};

/*
 * The same with several domains, as many as requested if there are as many switches, on one thread
 * or two. Returns their number.
 */
uint32_t sim_replay_parts(const struct sim_setup *setup, const struct sim_arrival *arrivals,
			  size_t n_arrivals, hd_time horizon, struct sim_replay_cut cut,
			  struct sim_record *out);

/*
 * And once more: at the end of the instant `at` its state is saved, and a run
 * that is created again, perhaps in other domains, continues from it. False if that run
 * does not take the state, or would save another.
 */
struct sim_replay {
	const struct sim_setup *setup;
	const struct sim_arrival *arrivals;
	size_t n_arrivals;
	hd_time horizon;
};
struct sim_restart {
	hd_time at;
	struct sim_replay_cut before, after;
};
bool sim_replay_restart(const struct sim_replay *what, const struct sim_restart *how,
			struct sim_record *out);

#endif
