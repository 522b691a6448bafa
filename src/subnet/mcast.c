/* SPDX-License-Identifier: BSD-2-Clause */
#include "subnet/mcast.h"

#include <stdlib.h>

void mcast_clear(struct subnet *s)
{
	for (uint32_t i = 0; i < s->n_groups; i++)
		free(s->groups[i].members);
	s->n_groups = 0;
	for (unsigned i = 0; i < s->n_subnets; i++) {
		free(s->mft[i].ports);
		s->mft[i] = (struct mft){ .ports = NULL };
	}
}
