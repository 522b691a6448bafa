/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_DOMAINS_TEMPO_H
#define HD_SIM_DOMAINS_TEMPO_H

/*
 * Decides whether the windows of a run are computed by all threads or by one. Internal to
 * src/sim.
 *
 * Which is faster depends on the work per window and on what else runs on the processors, so both
 * are measured all the time: the slower way gets a few per cent of the time. The results do not
 * depend on the decision.
 */

#include <stdbool.h>
#include <stdint.h>

#define TEMPO_SLICE 8192 /* events, which take about 1 ms */

enum tempo_way {
	TEMPO_ALONE,
	TEMPO_ALL,
	TEMPO_WAYS,
};

struct tempo {
	enum tempo_way way;  /* of the next window */
	enum tempo_way best; /* according to the measurements */
	/* Of the last slices, older ones with less weight. */
	struct tempo_sum {
		uint64_t work, ns;
	} sums[TEMPO_WAYS];
	uint64_t work;   /* of the current slice */
	uint64_t begun;  /* ns; when this slice began */
	uint64_t rest;   /* ns until the other way is measured again */
	unsigned factor; /* ratio of the rest to the measurement before it */
};

uint64_t tempo_clock(void); /* ns */
void tempo_init(struct tempo *t);
/* Begins a slice, after an interruption of the run. */
void tempo_resume(struct tempo *t, uint64_t now);
/* The current slice, of t->work, is complete. */
void tempo_end_slice(struct tempo *t, uint64_t now);

/* After a window with this number of events. */
static inline void tempo_add(struct tempo *t, uint64_t events)
{
	t->work += events + 1;
	if (t->work >= TEMPO_SLICE)
		tempo_end_slice(t, tempo_clock());
}

#endif
