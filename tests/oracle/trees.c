/* SPDX-License-Identifier: BSD-2-Clause */
/* Multicast trees of jobs, programmed as a subnet manager would (J8, S1). */
#include <stdlib.h>

#include "base/alloc.h"
#include "random.h"
#include "subnet/multicast/mcast.h"

/* The tree of the group that a rank is in; false: there can be none. */
static bool tree_make(struct fabric *fabric, const struct oracle_job *j,
		      const struct oracle_step *step, uint32_t group, uint16_t *mlid)
{
	const struct sim_setup *t = &fabric->setup;
	struct mcast_group want = { .method = MCAST_SHARED, .sl = j->sl, .source = TOPO_NONE };
	struct diag d = { .status = HD_OK };
	bool made;

	want.members = hd_alloc(j->n_ranks, sizeof(port_id));
	for (uint32_t i = 0; i < j->n_ranks; i++)
		if (group_of_rank(j, step, i) == group)
			want.members[want.n_members++] =
				t->ports[t->nodes[j->nodes[i]].first_port + 1].origin;
	made = mcast_add(&fabric->subnet, &want, &d) == HD_OK;
	if (made)
		*mlid = fabric->subnet.groups[fabric->subnet.n_groups - 1].mlid;
	free(want.members);
	return made;
}

bool job_trees_make(struct fabric *fabric, struct oracle_job *j)
{
	j->n_trees = 0;
	for (uint32_t i = 0; i < j->n_steps; i++) {
		const struct oracle_step *s = &j->steps[i];

		bool alone = s->groups == j->n_ranks; /* with nothing to do */

		for (uint32_t g = 0; step_has_tree(s) && !alone && g < s->groups; g++) {
			struct oracle_tree made = { tree_place_of(s, i), s->groups, g, s->strides,
						    0 };
			uint32_t first = s->strides ? g : g * (j->n_ranks / s->groups);

			if (tree_of_rank(j, i, first))
				continue;
			if (!tree_make(fabric, j, s, g, &made.mlid))
				return false;
			j->trees =
				hd_grow(j->trees, &j->trees_cap, j->n_trees + 1, sizeof(*j->trees));
			j->trees[j->n_trees++] = made;
		}
	}
	return true;
}

void scenario_make_trees(struct scenario *s)
{
	mcast_drop(&s->fabric.subnet, 0);
	for (uint32_t i = 0; i < s->jobs.n; i++)
		if (!job_trees_make(&s->fabric, &s->jobs.list[i]))
			abort(); /* it was asked when the job was drawn */
}
