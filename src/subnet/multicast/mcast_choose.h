/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_MULTICAST_MCAST_CHOOSE_H
#define HD_SUBNET_MULTICAST_MCAST_CHOOSE_H

/*
 * Chooses the trees of a set of groups: the kind of each, such that the
 * busiest cable between switches carries least when every sender of every
 * group sends one message. What OpenSM would do, a shared tree for each, is
 * always among the choices, so the choice is never worse than it.
 *
 * Trees may close a circle of channels that unicast routes do not. Where
 * choices without a circle exist, one of them is taken.
 */

#include "subnet/multicast/mcast_load.h"

struct mcast_choice {
	enum mcast_method *methods; /* per group wanted */
	uint32_t n;
	struct mcast_peak shared; /* with shared trees for all */
	bool shared_fits;         /* false: they cannot be had */
	uint32_t shared_cycle;    /* channels in a circle; 0: none */
	struct mcast_peak chosen;
	uint32_t chosen_cycle;
	uint32_t n_mlids; /* that the groups wanted take */
};

/*
 * Adds the groups to those of the subnet. The `method` of each group
 * is ignored; without a source all its members send. Refuses as
 * mcast_add does if no kind of tree fits. Free after HD_OK.
 */
HD_MUST_CHECK enum hd_status mcast_choose(struct subnet *s, const struct mcast_group *wanted,
					  uint32_t n, struct diag *d, struct mcast_choice *out);
void mcast_choice_fini(struct mcast_choice *c);

#endif
