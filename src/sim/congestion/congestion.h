/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_CONGESTION_CONGESTION_H
#define HD_SIM_CONGESTION_CONGESTION_H

/*
 * A run under congestion control: switches mark packets, destinations echo
 * the marks in acknowledgements, sources answer by their rate (cc/). The
 * engine does all that (docs/model.md, C1 to C8); here is what a run takes and
 * gives.
 *
 * Each flow sends as much as its throttle and its window of unacknowledged
 * packets let pass.
 */

#include "cc/marking.h"
#include "cc/response.h"
#include "fabric/setup.h"
#include "sim/sim.h"

struct congestion_flow {
	uint32_t source;      /* sim node */
	uint32_t destination; /* sim node, for its acknowledgements */
	lid_t dlid;           /* of the destination */
	uint8_t sl;
	uint16_t pkey;
	uint32_t bytes;
	hd_time start;
	hd_time stop;   /* sends nothing at or after; 0: never stops */
	uint64_t count; /* packets; 0: no limit */
	double rmin;    /* packets per second; 0: the config's */
	double rmax;    /* packets per second; 0: the config's */
	double unit;    /* PIPD's; 0: the config's */
	/* NULL: the run's. CCT and rate functions may stand side by side. */
	const struct cc_algorithm *algorithm;
	bool is_spared; /* no algorithm: its SL is not under control */
	uint32_t row;   /* traffic row, for results */
	/*
	 * Bits per second that it asks for before it sends (C8); 0: asks
	 * nobody. Needs a fabric whose switches have agents on port 0
	 * (fabric/fabric.h gives them to scenarios with reservations).
	 */
	uint64_t reserve;
};

struct congestion_params {
	const struct cc_algorithm *algorithm; /* NULL: nobody slows down */
	struct cc_config response;
	struct mark_config marking;
	enum sim_echo echo; /* CNPs: CCT only */
	bool per_sl;        /* flows of a port and SL share one index and pace */
	/*
	 * The gap after a packet is that of the rate at its start, even if the
	 * rate rises meanwhile; else the next start follows the rate.
	 */
	bool fixed_gap;
	uint32_t window;   /* unacknowledged packets per flow, at least 1 */
	hd_time ack_delay; /* 0: acknowledgements are packets */
	hd_time timeout;   /* of a window that is lost; 0: none */
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
	enum sim_answer answer;
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
HD_MUST_CHECK enum hd_status congestion_run(const struct sim_setup *setup,
					    const struct congestion_flow *flows, uint32_t n_flows,
					    const struct congestion_params *params, struct diag *d,
					    struct congestion_result *out);
void congestion_result_fini(struct congestion_result *result);

#endif
