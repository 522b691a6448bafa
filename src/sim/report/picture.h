/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_REPORT_PICTURE_H
#define HD_SIM_REPORT_PICTURE_H

/*
 * What a page draws and a screen has no room for: distributions as curves, the
 * fabric with its tables and paths, and how the run went over time. They go to
 * a database or a page (docs/report.md says which table becomes what); none of
 * it is printed.
 */

#include "sim/report/tables.h"

/*
 * "latency percentiles" of every traffic row, "delay histogram" of every SL,
 * "lane shares" of the busiest links: what the arbitration tables promise each
 * VL under full load, and what it got.
 */
void sim_picture_curves(const struct sim_findings *f, struct results *r);

/*
 * "layout", "nodes" and "links" (one row per direction); "events", if links or
 * tables change on the way; "forwarding", "lane mapping" and "arbitration" as
 * the switches have them; "paths" of some flows, hop by hop. Forwarding tables
 * that would be huge are left out with a remark.
 */
void sim_picture_fabric(const struct sim_findings *f, struct results *r);

/* Beyond so many directions of links only sums over tiers are kept. */
#define SIM_PICTURE_LINKS 4096

/*
 * How busy each link was and what each traffic row got, sample by sample, of
 * the measured part of a run:
 *
 *	sim_samples_init(&x, &build, s, interval);
 *	do {
 *		state = sim_run(s, sim_samples_next(&x), ...);
 *		sim_samples_take(&x);
 *	} while (state == SIM_PAUSED);
 *
 * Interval 0 begins with a guess. Samples are at most SIM_MAX_SAMPLES: when
 * there are more, every other one is dropped and the interval doubled. A
 * packet counts for the sample in which its last byte arrives, and keeps a
 * link busy while its bytes pass; the samples add up to the run's totals.
 */
#define SIM_MAX_SAMPLES 128

/* Of a traffic row: payload in bytes, latencies in ps. */
struct sim_row_sums {
	double made, got;
	double delay, packets;
};

struct sim_samples {
	const struct fabric *fabric;
	struct sim *sim;
	hd_time every;
	uint32_t n_classes;
	uint32_t *class_of; /* per sim port: link or pair of tiers; SIM_NONE */
	uint32_t *members;  /* per class */
	bool by_tier;
	size_t n;
	hd_time *time;             /* per sample: since measuring began */
	double *used, *waited;     /* per sample and class: time so far, ps */
	struct sim_row_sums *rows; /* per sample and row, so far */

	struct sim_row_sums *sums; /* per row */
};

/* Before the first sim_run; `x` stays where it is until the run is freed. */
void sim_samples_init(struct sim_samples *x, const struct fabric *fabric, struct sim *s,
		      hd_time every);
void sim_samples_fini(struct sim_samples *x);
hd_time sim_samples_next(const struct sim_samples *x);
void sim_samples_take(struct sim_samples *x);
/* As bytes and back. */
void sim_samples_pack(struct sim_samples *x, struct pack *p);
/* Adds "links over time" or "tiers over time", and "traffic over time". */
void sim_samples_tables(const struct sim_samples *x, struct results *r);

#endif
