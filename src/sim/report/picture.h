/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_REPORT_PICTURE_H
#define HD_SIM_REPORT_PICTURE_H

/*
 * Data of a page's plots: distributions as curves, the fabric with its tables and paths, and the
 * course of the run over time. They are written to a database or a page (docs/report.md lists the
 * tables) and never printed.
 */

#include "sim/report/tables.h"

/*
 * "latency percentiles" of every traffic row, "delay histogram" of every SL, "VL shares" of the
 * busiest links: the guaranteed share of each VL by the arbitration tables, and the measured one.
 */
void report_picture_curves(const struct report_input *f, struct results *r);

/*
 * "layout", "nodes" and "links" (one row per direction); "events", if links or tables change during
 * the run; "forwarding", "VL mapping" and "arbitration" of the switches; "paths" of some flows, hop
 * by hop. Very large forwarding tables are omitted with a remark.
 */
void report_picture_fabric(const struct report_input *f, struct results *r);

/* Beyond this number of directions of links only sums over tiers are kept. */
#define REPORT_PICTURE_LINKS 4096

/*
 * How busy each link was and what each traffic row got, sample by sample, of
 * the measured part of a run:
 *
 *	report_samples_init(&x, &build, s, interval);
 *	do {
 *		state = sim_run(s, report_samples_next(&x), ...);
 *		report_samples_take(&x);
 *	} while (state == SIM_PAUSED);
 *
 * Interval 0 begins with a guess. Samples are at most REPORT_MAX_SAMPLES: when
 * there are more, every other one is dropped and the interval doubled. A
 * packet counts for the sample in which its last byte arrives, and keeps a
 * link busy while its bytes pass; the samples add up to the run's totals.
 */
#define REPORT_MAX_SAMPLES 128

/* Sums of a traffic row: payload in bytes, latencies in ps. */
struct report_row_sums {
	double made, got;
	double delay, packets;
};

struct report_samples {
	const struct fabric *fabric;
	struct sim *sim;
	hd_time every;
	uint32_t n_classes;
	uint32_t *class_of; /* per sim port: link or pair of tiers; SIM_NONE */
	uint32_t *members;  /* per class */
	bool by_tier;
	size_t n;
	hd_time *time;                /* per sample: since measuring began */
	double *used, *waited;        /* per sample and class: time so far, ps */
	struct report_row_sums *rows; /* per sample and row, so far */

	struct report_row_sums *sums; /* per row */
};

/* Before the first sim_run; `x` stays where it is until the run is freed. */
void report_samples_init(struct report_samples *x, const struct fabric *fabric, struct sim *s,
			 hd_time every);
void report_samples_fini(struct report_samples *x);
hd_time report_samples_next(const struct report_samples *x);
void report_samples_take(struct report_samples *x);
/* Packs the samples. */
void report_samples_pack(struct report_samples *x, struct pack *p);
/* Adds "links over time" or "tiers over time", and "traffic over time". */
void report_samples_tables(const struct report_samples *x, struct results *r);

#endif
