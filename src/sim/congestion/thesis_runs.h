/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_CONGESTION_THESIS_RUNS_H
#define HD_SIM_CONGESTION_THESIS_RUNS_H

/* The runs of the thesis' experiment; private to its files. */

#include "sim/congestion/flows.h"
#include "sim/congestion/thesis.h"

#define THESIS_RMAX (1e9 / 2068) /* packets per second */
#define THESIS_RMIN (THESIS_RMAX / 256)
/* Flows of the two classes, in the order of the scenario. */
enum { A_R1, A_R2, B_R1, B_R2, VICTIM, TWO_CLASSES };

struct thesis {
	const struct thesis_options *options;
	struct diag *d;
	struct results *results;
	struct table *claims;
	unsigned done, all; /* runs */
};

/* A scenario, built. */
struct stage {
	struct overrides overrides;
	struct fabric *build;
	struct congestion_flow *flows;
	struct congestion_params params;
};
HD_MUST_CHECK enum hd_status stage_open(struct thesis *t, const char *text,
					struct stage *s);
void stage_close(struct stage *s);
/* Counts the run, and runs it under the stage's parameters. */
HD_MUST_CHECK enum hd_status stage_run(struct thesis *t, struct stage *s,
				       struct congestion_result *out);
/* N remote and N local flows and a victim, buffers of so many packets. */
HD_MUST_CHECK enum hd_status stage_open_switches(struct thesis *t, unsigned n,
						 unsigned buffer,
						 struct stage *s);

/* "what is said", the value said and ours as texts, whether it holds. */
HD_PRINTF(5, 6)
void thesis_claim(struct thesis *t, const char *said, const char *published,
		  bool holds, const char *ours, ...);

/* The parts, each a file's. */
HD_MUST_CHECK enum hd_status thesis_classes(struct thesis *t);
HD_MUST_CHECK enum hd_status thesis_start(struct thesis *t);
HD_MUST_CHECK enum hd_status thesis_totals(struct thesis *t);
HD_MUST_CHECK enum hd_status thesis_thresholds(struct thesis *t);
/* How many runs they make together. */
#define THESIS_RUNS (18 + 4 + 6 + 23)

#endif
