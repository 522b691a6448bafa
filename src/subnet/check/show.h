/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_CHECK_SHOW_H
#define HD_SUBNET_CHECK_SHOW_H

/* Tables of 'heddle route' for a routed subnet. */

#include "measure/results.h"
#include "subnet/multicast/mcast_choose.h"
#include "subnet/routing/load.h"

/* Routing algorithms and their requirements. */
void check_show_engines(struct results *r);

void check_show_routes(struct results *r, const struct subnet *s);

/* Adaptive groups of the switches, if there are any. */
void check_show_choices(struct results *r, const struct subnet *s);

/* Each returns whether all checks passed. */
bool check_show_check(struct results *r, const struct subnet *s);
bool check_show_deadlock(struct results *r, const struct subnet *s, bool with_switches);
bool check_show_groups(struct results *r, const struct subnet *s);

/* The chosen trees, and their gain over shared trees. */
void check_show_choice(struct results *r, const struct subnet *s, const struct mcast_choice *c);

void check_show_load(struct results *r, const struct subnet *s, unsigned n_patterns, uint64_t seed,
		     const struct load_traffic *traffic, bool all);

/* Routers for packets to other subnets. */
void check_show_routers(struct results *r, const struct subnet *s);

/* The path between two end ports, switch by switch. */
void check_show_path(struct results *r, const struct subnet *s, port_id from, port_id to);

#endif
