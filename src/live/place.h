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

/*
 * Or on an Ethernet instead of a fabric, for `heddle live roce`: the IPv4 address,
 * the names of the sockets, the bytes of a datagram, and n if every n-th frame is
 * lost.
 */
#define LIVE_ROCE        "HEDDLE_ROCE"
#define LIVE_ROCE_LOCAL  "HEDDLE_ROCE_LOCAL"
#define LIVE_ROCE_REMOTE "HEDDLE_ROCE_REMOTE"
#define LIVE_ROCE_MTU    "HEDDLE_ROCE_MTU"
#define LIVE_ROCE_LOSE   "HEDDLE_ROCE_LOSE"

/* Set: programs read the name of their host as the machine's. */
#define LIVE_HOSTNAME "HEDDLE_HOSTNAME"

#define PLACE_BETWEEN '\n' /* hosts in LIVE_HOST */

/* False if it is on none. */
bool live_place_of_program(char host[LIVE_NAME]);

#endif
