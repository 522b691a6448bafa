/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_CONGESTION_CONGESTION_H
#define HD_SIM_CONGESTION_CONGESTION_H

/*
 * A run under congestion control: switches mark packets, destinations echo
 * the marks in acknowledgements, sources answer by their rate (cc/).
 *
 * It sits on the simulator's hooks and leaves the engine alone. The switch's
 * view is kept from what links are granted: a packet takes space in the input
 * buffer it enters from the instant at which it is sent there, counts for its
 * output once it is routed, and both until its tail has left again (behind a
 * crossbar the buffer, of the input, is left first); who leaves at the instant
 * at which another arrives still counts. A buffer becomes full with the arrival
 * (as counted) of a packet that leaves no room for another like it. All that is
 * per virtual lane. An output is out of credits (a victim, in the words of the
 * architecture) while the buffer behind it has no room for another packet like
 * the one that leaves.
 *
 * Each flow sends one packet after the other: the next one starts 1/rate (the
 * rate of that moment) after the last, and not before the window of
 * unacknowledged packets allows. Acknowledgements come as packets of their own
 * through the same fabric, or after a fixed delay.
 */

#include "cc/marking.h"
#include "cc/response.h"
#include "fabric/setup.h"
#include "sim/sim.h"

#define CONGESTION_ACK_BYTES 30  /* LRH, BTH, AETH, CRCs */
#define CONGESTION_CNP_BYTES 42  /* LRH, BTH, 16 reserved, CRCs */
#define CONGESTION_MAD_BYTES 290 /* LRH, BTH, DETH, MAD, CRCs */

struct congestion_flow {
	uint32_t source;      /* sim node */
	uint32_t destination; /* sim node, for its acknowledgements */
	lid_t dlid, slid;     /* of the destination, of the source */
	uint8_t sl;
	uint16_t pkey;
	uint32_t bytes;
	hd_time start;
	hd_time stop;   /* sends nothing at or after; 0: never stops */
	uint64_t count; /* packets; 0: no limit */
	double rmin;    /* packets per second; 0: the config's */
	double rmax;    /* packets per second; 0: the config's */
	/* NULL: the run's. CCT and rate functions may stand side by side. */
	const struct cc_algorithm *algorithm;
	uint32_t row; /* traffic row, for results */
	/* Bits per second that it asks for before it sends; 0: asks nobody. */
	uint64_t reserve;
};

/*
 * Admission by probe: before it sends, a flow's adapter checks its own link,
 * then a probe goes from switch to switch, each of which checks the link on
 * which it would send the flow on: what is reserved there and what is asked
 * for must stay below the share of the flow's SL, and below the link's rate in
 * all (both strictly). Who says no sends a packet back along the way, which
 * undoes what those before have noted. The flow's last packet carries what was
 * reserved in its header, and frees each link as it passes. Needs a fabric
 * whose switches have agents on port 0 (fabric/fabric.h gives them to scenarios
 * with reservations).
 */
enum congestion_answer {
	ANSWER_NOT_ASKED,
	ANSWER_OPEN, /* still under way when the run ended */
	ANSWER_ADMITTED,
	ANSWER_REJECTED,
	ANSWER_RELEASED, /* was admitted, and has ended */
};
const char *congestion_answer_name(enum congestion_answer answer);

enum congestion_echo {
	ECHO_ACK, /* BECN in the acknowledgement */
	ECHO_CNP, /* in a packet of its own; CCT only */
};

struct congestion_params {
	const struct cc_algorithm *algorithm; /* NULL: nobody slows down */
	struct cc_config response;
	struct mark_config marking;
	enum congestion_echo echo;
	bool per_sl; /* flows of a port and SL share one index and pace */
	/*
	 * The gap after a packet is that of the rate at its start, even if the
	 * rate rises meanwhile; else the next start follows the rate.
	 */
	bool fixed_gap;
	uint32_t window;   /* unacknowledged packets per flow, at least 1 */
	hd_time ack_delay; /* 0: acknowledgements are packets */
	hd_time warmup, stop;
	hd_time sample; /* interval of the rate series; 0: none */
	/* Told now and then how far the run is; may be NULL. */
	sim_progress_fn *progress;
	void *progress_context;
	double sl_share[N_SLS]; /* of each link, for admission; 0 means all */
	/* Sees every packet, marks and all (watch.h); may be NULL. */
	struct sim_capture *capture;
};

struct congestion_outcome {
	double goodput; /* packets per second, delivered while measuring */
	double rate;    /* time average of the rate variable */
	double marks;   /* marked acknowledgements per second */
	/*
	 * The share of time that marked acknowledgements took: 1/rate each.
	 * A marked one is an interval without an increase, so marks come at
	 * Rmin per second of the time that is left.
	 */
	double marked_time;
	double lowest, highest; /* of the rate variable, all run */
	uint64_t delivered;
	enum congestion_answer answer;
	hd_time answered;     /* how long it took; 0 if there is none */
	uint32_t rejected_by; /* sim port of the link that had no room */
};

struct congestion_sample {
	hd_time time;
	uint32_t flow;
	double rate;        /* the variable */
	uint64_t delivered; /* since the run began */
};

struct congestion_result {
	struct congestion_outcome *flows;
	uint32_t n_flows;
	struct congestion_sample *samples;
	size_t n_samples, samples_cap;
	double *utilisation; /* per sim port: of what it sends */
	uint32_t n_ports;
	/* All run, as a capture of every port has them: */
	uint64_t marked; /* packets in which a switch set FECN */
	uint64_t echoed; /* acknowledgements sent with BECN */
	uint64_t cnps;   /* CNPs sent */
	uint64_t probes, rejects, accepts;
	uint64_t *reserved; /* per sim port, bits per second, at the end */
};

/*
 * HD_ERR_RANGE with the reason for parameters that the algorithm or the
 * marking rule refuses, HD_ERR_UNFIT for algorithms that cannot do with the way
 * of the marks; `out` is then untouched.
 */
HD_MUST_CHECK enum hd_status
congestion_run(const struct sim_setup *setup,
	       const struct congestion_flow *flows, uint32_t n_flows,
	       const struct congestion_params *params, struct diag *d,
	       struct congestion_result *out);
void congestion_result_fini(struct congestion_result *result);

#endif
