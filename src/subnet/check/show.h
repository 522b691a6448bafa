/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_CHECK_SHOW_H
#define HD_SUBNET_CHECK_SHOW_H

/* What 'heddle route' tells of a routed subnet, as tables of results. */

#include "measure/results.h"
#include "subnet/multicast/mcast_choose.h"
#include "subnet/routing/load.h"

/* The engines that there are, and what each needs. */
void check_show_engines(struct results *r);

void check_show_routes(struct results *r, const struct subnet *s);

/* What switches may choose from, if they may. */
void check_show_choices(struct results *r, const struct subnet *s);

/* Each returns whether all is well. */
bool check_show_check(struct results *r, const struct subnet *s);
bool check_show_deadlock(struct results *r, const struct subnet *s, bool with_switches);
bool check_show_groups(struct results *r, const struct subnet *s);

/* Which trees were chosen, and what they gain over shared ones. */
void check_show_choice(struct results *r, const struct subnet *s, const struct mcast_choice *c);

void check_show_load(struct results *r, const struct subnet *s, unsigned n_patterns, uint64_t seed,
		     const struct load_traffic *traffic, bool all);

/* Where packets for other subnets go. */
void check_show_routers(struct results *r, const struct subnet *s);

/* The way from one end port to another, switch by switch. */
void check_show_path(struct results *r, const struct subnet *s, port_id from, port_id to);

#endif
