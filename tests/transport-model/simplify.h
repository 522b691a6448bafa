/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_TRANSPORT_MODEL_SIMPLIFY_H
#define HD_TRANSPORT_MODEL_SIMPLIFY_H

/* Makes a failing schedule small: what is left still fails. */

#include "plan.h"

/* Whether the schedule that is left after the cuts fails, and how. */
bool schedule_fails(uint64_t seed, const struct cuts *c, char *why, size_t room);
void schedule_shrink(uint64_t seed, struct cuts *c);
/* The plan, its packets and completions, and what went wrong. */
void schedule_report(uint64_t seed, const struct cuts *c, FILE *to);

#endif
