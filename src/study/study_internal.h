/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_STUDY_STUDY_INTERNAL_H
#define HD_STUDY_STUDY_INTERNAL_H

/*
 * Interface between study.c (reading), study_resolve.c (building the grid) and
 * study_cells.c (looking up cells).
 */

#include "study/study.h"

/* The line of the study's file that sets a field; 0 if none does. */
unsigned study_line(const struct study *s, const void *field);

/* Reports an error at that line, if there is one. */
HD_PRINTF(4, 5)
enum hd_status study_refuse(const struct study *s, struct diag *d, const void *field,
			    const char *format, ...);

/*
 * Adds the overrides of a cell to the scenario, without the command's options.
 * With `places`, errors name the place in the study that sets the override;
 * otherwise they name its field only. Errors of a point name the field only,
 * because a point does not know its study.
 */
void study_scenario_overrides(const struct study *s, size_t cell, bool places,
			      struct overrides *out);

/* Writes the name of an override for errors: "study.yaml:7: traffic.0.load". */
void study_label(const struct study *s, unsigned line, const char *path, struct strbuf *out);

#endif
