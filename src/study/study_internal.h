/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_STUDY_STUDY_INTERNAL_H
#define HD_STUDY_STUDY_INTERNAL_H

/*
 * Between study.c, which reads, study_resolve.c, which makes the grid, and
 * study_cells.c, which knows its cells.
 */

#include "study/study.h"

/* The line of the study's file that says a field; 0 if none does. */
unsigned study_line(const struct study *s, const void *field);

/* Refuses with that line, if there is one. */
HD_PRINTF(4, 5)
enum hd_status study_refuse(const struct study *s, struct diag *d, const void *field,
			    const char *format, ...);

/*
 * What makes the scenario that of a cell, without the command's options. What
 * is refused is named by the study's places that say it, or else by its field
 * alone: so are the refusals of a point, which does not know its study.
 */
void study_scenario_overrides(const struct study *s, size_t cell, bool places,
			      struct overrides *out);

/* What refusals call an override: "study.yaml:7: traffic.0.load". */
void study_label(const struct study *s, unsigned line, const char *path, struct strbuf *out);

#endif
