/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_REPORT_WATCH_H
#define HD_SIM_REPORT_WATCH_H

/*
 * What can be observed during a run: packets for Wireshark, a line of
 * text per event, and how self-similar traffic was.
 *
 *	struct report_observers w;
 *	report_observers_init(&w, &build);
 *	... report_observers_capture, report_observers_trace ...
 *	report_observers_attach(&w, sim);
 *	... sim_run ...
 *	report_observers_finish(&w);
 *
 * Streams are the caller's, and so is what could not be written to them: their
 * commit tells the reason. Watching changes nothing in the run.
 */

#include <stdio.h>

#include "fabric/fabric.h"
#include "measure/results.h"
#include "sim/sim.h"

struct report_capture;

/* Flow-control packets in a capture. */
enum report_capture_flow {
	REPORT_FLOW_NONE,
	REPORT_FLOW_BARE,   /* 6 bytes, as on the link */
	REPORT_FLOW_PADDED, /* to 48, for Wireshark: see wire/capture.h */
};
extern const char *const report_capture_flow_names[]; /* "none", ...; NULL ends */

/* Packets that a row made, per time bin. */
struct report_bins {
	hd_time width; /* 0: the row is not watched */
	double *counts;
	size_t n, cap;
};

struct report_observers {
	const struct fabric *fabric;
	const struct sim *sim;
	struct report_capture *capture;
	bool capture_flow; /* its flow-control packets too */
	FILE *trace;
	const bool *ports;        /* per sim port: looked at; NULL: all */
	struct report_bins *bins; /* per traffic row; NULL: none */
};

void report_observers_init(struct report_observers *w, const struct fabric *fabric);
void report_observers_fini(struct report_observers *w);

/*
 * Writes every packet that the ports send or receive to `stream`, as pcap with valid checksums;
 * `ports` per sim port, or NULL for all ports, in which case packets are written where they are
 * sent. HD_ERR_UNFIT if the scenario's packets have no format: an overhead other than 26 or 66
 * bytes, or payloads that are no multiple of 4; or if flow-control packets are requested while
 * credits cost only delay.
 */
HD_MUST_CHECK enum hd_status report_observers_capture(struct report_observers *w, FILE *stream,
						      const bool *ports,
						      enum report_capture_flow flow,
						      struct diag *d);
/* A line for each packet sent, delivered and lost at these ports. */
void report_observers_trace(struct report_observers *w, FILE *stream, const bool *ports);

/* Packs the state; the caller owns the written data. */
void report_observers_pack(struct report_observers *w, struct pack *p);

void report_observers_attach(struct report_observers *w, struct sim *s);
/* After the run: writes all delayed data to the streams. */
void report_observers_finish(struct report_observers *w);

/* The Hurst exponent of every Pareto row, estimated and expected. */
void report_observers_similarity(const struct report_observers *w, const struct sim_metrics *m,
				 struct results *r);

/* capture.c */
enum hd_status report_capture_new(const struct fabric *fabric, FILE *stream, const bool *ports,
				  enum report_capture_flow flow, struct diag *d,
				  struct report_capture **out);
void report_capture_free(struct report_capture *c);
void report_capture_grant(struct report_capture *c, hd_time now, uint32_t port,
			  const struct sim_packet *p);

void report_capture_update(struct report_capture *c, hd_time now, uint32_t port,
			   const struct sim_update *u);
void report_capture_pack(struct report_capture *c, struct pack *p);
void report_capture_finish(struct report_capture *c);

#endif
