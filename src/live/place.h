/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_LIVE_PLACE_H
#define HD_LIVE_PLACE_H

/*
 * Host of a program, from the environment that `heddle live exec` sets: one host, or a list of
 * hosts from which the rank that a launcher assigned selects one. Ranks beyond the last host start
 * again with the first. A process without a rank (the launcher) is on the first host.
 */

#include <stdbool.h>

#include "live/protocol.h"

/*
 * Variables of an adapter on an Ethernet, set by `heddle live roce`: the IPv4 address, the names
 * of the sockets, the size of a datagram in bytes, and n if one of n frames is lost.
 */
#define LIVE_ROCE        "HEDDLE_ROCE"
#define LIVE_ROCE_LOCAL  "HEDDLE_ROCE_LOCAL"
#define LIVE_ROCE_REMOTE "HEDDLE_ROCE_REMOTE"
#define LIVE_ROCE_MTU    "HEDDLE_ROCE_MTU"
#define LIVE_ROCE_LOSE   "HEDDLE_ROCE_LOSE"

/* Set: gethostname() and uname() return the name of the program's host. */
#define LIVE_HOSTNAME "HEDDLE_HOSTNAME"

#define PLACE_BETWEEN '\n' /* separates hosts in LIVE_HOST */

/* False if the program is on no host. */
bool live_place_of_program(char host[LIVE_NAME]);

#endif
