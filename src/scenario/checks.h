/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SCENARIO_CHECKS_H
#define HD_SCENARIO_CHECKS_H

/* What the files behind scenario.h ask of each other; private to the room. */

#include "scenario/scenario.h"

/* Classes with kinds, and connections that come and go (admission.c). */
HD_MUST_CHECK enum hd_status check_admission(const struct scenario *s,
					     struct diag *d);

#endif
