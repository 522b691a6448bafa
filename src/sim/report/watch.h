/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_REPORT_WATCH_H
#define HD_SIM_REPORT_WATCH_H

/*
 * What can be looked at while a run goes on: packets for Wireshark, a line of
 * text per event, and how self-similar traffic was.
 *
 *	struct sim_watch w;
 *	sim_watch_init(&w, &build);
 *	... sim_watch_capture, sim_watch_trace ...
 *	sim_watch_attach(&w, sim);
 *	... sim_run ...
 *	sim_watch_finish(&w);
 *
 * Streams are the caller's, and so is what could not be written to them: their
 * commit tells the reason. Watching changes nothing in the run.
 */

#include <stdio.h>

#include "fabric/fabric.h"
#include "measure/results.h"
#include "sim/sim.h"

struct sim_capture;

/* Flow-control packets in a capture. */
enum sim_capture_flow {
	SIM_FLOW_NONE,
	SIM_FLOW_BARE,   /* 6 bytes, as on the link */
	SIM_FLOW_PADDED, /* to 48, for Wireshark: see wire/capture.h */
};
extern const char *const sim_capture_flow_names[]; /* "none", ...; NULL ends */

/* Packets that a row made, per time bin. */
struct sim_bins {
	hd_time width; /* 0: the row is not watched */
	double *counts;
	size_t n, cap;
};

struct sim_watch {
	const struct fabric *fabric;
	const struct sim *sim;
	struct sim_capture *capture;
	bool capture_flow; /* its flow-control packets too */
	FILE *trace;
	const bool *ports;     /* per sim port: looked at; NULL: all */
	struct sim_bins *bins; /* per traffic row; NULL: none */
};

void sim_watch_init(struct sim_watch *w, const struct fabric *fabric);
void sim_watch_fini(struct sim_watch *w);

/*
 * Writes every packet that the ports send or receive to `stream`, as pcap
 * with valid checksums; `ports` per sim port, or NULL for all of them, in
 * which case packets are written where they are sent. HD_ERR_UNFIT if the
 * scenario's packets have no format: an overhead other than 26 or 66 bytes, or
 * payloads that are no multiple of 4; or if flow-control packets are asked for
 * where credits cost only delay.
 */
HD_MUST_CHECK enum hd_status sim_watch_capture(struct sim_watch *w, FILE *stream, const bool *ports,
					       enum sim_capture_flow flow, struct diag *d);
/* A line for each packet sent, delivered and lost at these ports. */
void sim_watch_trace(struct sim_watch *w, FILE *stream, const bool *ports);

/* What it remembers, as bytes and back; what it has written is the caller's. */
void sim_watch_pack(struct sim_watch *w, struct pack *p);

void sim_watch_attach(struct sim_watch *w, struct sim *s);
/* After the run: nothing is held back from the streams any more. */
void sim_watch_finish(struct sim_watch *w);

/* The Hurst exponent of every Pareto row, estimated and expected. */
void sim_watch_similarity(const struct sim_watch *w, const struct sim_metrics *m,
			  struct results *r);

/* capture.c */
enum hd_status sim_capture_new(const struct fabric *fabric, FILE *stream, const bool *ports,
			       enum sim_capture_flow flow, struct diag *d,
			       struct sim_capture **out);
void sim_capture_free(struct sim_capture *c);
void sim_capture_grant(struct sim_capture *c, hd_time now, uint32_t port,
		       const struct sim_packet *p);

void sim_capture_update(struct sim_capture *c, hd_time now, uint32_t port,
			const struct sim_update *u);
void sim_capture_pack(struct sim_capture *c, struct pack *p);
void sim_capture_finish(struct sim_capture *c);

#endif
