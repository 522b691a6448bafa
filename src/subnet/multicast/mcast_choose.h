/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_MULTICAST_MCAST_CHOOSE_H
#define HD_SUBNET_MULTICAST_MCAST_CHOOSE_H

/*
 * Chooses the kind of tree for each of a set of groups. The choice minimises
 * the load of the busiest cable between switches when every sender of every
 * group sends one message. OpenSM's choice, a shared tree per group, is always
 * a candidate, so the result is never worse.
 *
 * Trees may close a cycle of channels that unicast routes do not have. If there
 * are candidates without a cycle, one of them is chosen.
 */

#include "subnet/multicast/mcast_load.h"

struct mcast_choice {
	enum mcast_method *methods; /* per requested group */
	uint32_t n;
	struct mcast_peak shared; /* with shared trees for all groups */
	bool shared_fits;         /* false: shared trees cannot be built */
	uint32_t shared_cycle;    /* channels in a cycle; 0: no cycle */
	struct mcast_peak chosen;
	uint32_t chosen_cycle;
	uint32_t n_mlids; /* MLIDs of the requested groups */
};

/*
 * Adds the groups to those of the subnet. The `method` of each group is
 * ignored; in a group without a source all members send. Returns the errors of
 * mcast_add if no kind of tree fits. Free after HD_OK.
 */
HD_MUST_CHECK enum hd_status mcast_choose(struct subnet *s, const struct mcast_group *wanted,
					  uint32_t n, struct diag *d, struct mcast_choice *out);
void mcast_choice_fini(struct mcast_choice *c);

#endif
