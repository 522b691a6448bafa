/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SERVE_WATCH_PARTS_H
#define HD_SERVE_WATCH_PARTS_H

/* What watch.c and watch_tables.c know of a live fabric. Internal. */

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

/* What hosts sent between two looks. */
struct watch_sample {
	double time; /* seconds */
	double rate; /* b/s */
};

struct fabric_watch {
	const char *name;
	char *dir;

	/* The fabric as it was at `version`; `born` tells it from others. */
	bool is_known;
	uint64_t born, version;
	struct topo topo;
	struct agents *agents;
	struct picture_link *links; /* ports with a cable, as they are now */
	size_t n_links;
	struct strbuf picture; /* for the page, without the use of links */
	unsigned drawn;        /* raised when that has become another */

	/* All counters of prometheus_counter, per port. */
	uint64_t *counters;
	uint64_t *before; /* as they were when links were looked at last */
	double began, looked;

	struct watch_sample samples[WATCH_SAMPLES]; /* the last ones */
	size_t n_samples;
	struct watch_note *notes;
	size_t n_notes, notes_cap;
};

/* A counter of a port now, or at the look before. */
static inline uint64_t watch_counter(const uint64_t *of, port_id port, size_t index)
{
	return of[(size_t)port * N_PROMETHEUS_COUNTERS + index];
}

/* ---- watch_tables.c */

/* What a page draws once. */
void watch_put_picture(const struct fabric_watch *w, struct strbuf *out);
/* And what changes all the time. */
void watch_put_state(const struct fabric_watch *w, struct strbuf *out);
void watch_put_metrics(const struct fabric_watch *w, struct strbuf *out);

#endif
