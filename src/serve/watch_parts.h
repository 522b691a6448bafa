/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SERVE_WATCH_PARTS_H
#define HD_SERVE_WATCH_PARTS_H

/* State shared by watch.c and watch_tables.c; private to serve/. */

#include "mgmt/agents/agents.h"
#include "serve/prometheus.h"
#include "serve/watch.h"
#include "subnet/check/picture.h"

#define WATCH_SAMPLES 240

/* A cable that a user of the view removed or reconnected. */
struct watch_note {
	double at; /* seconds */
	char *words;
};

/* Data that hosts sent between two samples. */
struct watch_sample {
	double time; /* seconds */
	double rate; /* b/s */
};

struct fabric_watch {
	const char *name;
	char *dir;

	/* The fabric as of `version`; `born` is its start time. */
	bool is_known;
	uint64_t born, version;
	struct topo topo;
	struct agents *agents;
	struct picture_link *links; /* current state of ports with a cable */
	size_t n_links;
	struct strbuf picture; /* JSON of the page, without the use of links */
	unsigned drawn;        /* incremented when `picture` changes */

	/* All counters of prometheus_counter, per port. */
	uint64_t *counters;
	uint64_t *before; /* values at the last sample of links */
	double began, looked;

	struct watch_sample samples[WATCH_SAMPLES]; /* the latest samples */
	size_t n_samples;
	struct watch_note *notes;
	size_t n_notes, notes_cap;
};

/* Value of a counter of a port in an array. */
static inline uint64_t watch_counter(const uint64_t *of, port_id port, size_t index)
{
	return of[(size_t)port * N_PROMETHEUS_COUNTERS + index];
}

/* ---- watch_tables.c */

/* Data that the page draws once. */
void watch_put_picture(const struct fabric_watch *w, struct strbuf *out);
/* Data that changes continuously. */
void watch_put_state(const struct fabric_watch *w, struct strbuf *out);
void watch_put_metrics(const struct fabric_watch *w, struct strbuf *out);

#endif
