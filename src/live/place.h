/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_LIVE_PLACE_H
#define HD_LIVE_PLACE_H

/*
 * Where a program is, as `heddle live exec` tells it by the environment: on one
 * host, or, if it names several, on the one of the rank that a launcher gave
 * it. Ranks beyond the last host begin with the first again, and who has no
 * rank (the launcher) is there, too.
 */

#include <stdbool.h>

#include "live/protocol.h"

#define PLACE_BETWEEN '\n' /* hosts in LIVE_HOST */

/* False if it is on none. */
bool place_of_program(char host[LIVE_NAME]);

#endif
