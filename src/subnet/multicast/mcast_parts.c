/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "subnet/multicast/mcast_rows.h"
#include "subnet/routing/grid.h"

/*
 * Multicast on a mesh in parts, after Lin, McKinley and Ni.
 *
 * Dual-path and multi-path number the switches along a Hamiltonian path that
 * goes through the rows to and fro. Channels to higher numbers and channels to
 * lower ones make up two networks without circles. A packet visits its members
 * in the order of their numbers: one goes up from the source, another down;
 * with multi-path each of these is parted again by columns, so that up to four
 * leave the source side by side. A path is a tree without branches, so that
 * switches need no more than one entry of it.
 *
 * Double-channel XY parts the members by quadrants. In each quadrant an XY tree
 * uses one direction of each dimension; two VLs keep the quadrants that share
 * a direction apart.
 */

#define N_PARTS 4

struct mesh {
	struct subnet *s;
	struct sw_graph g;
	struct grid grid;
	const struct mcast_group *want;
	switch_id source;
};

static uint32_t label_of(const struct mesh *m, switch_id sw)
{
	const uint16_t *at = grid_at(&m->grid, sw);
	uint32_t columns = m->grid.size[0];

	return at[1] * columns + (at[1] % 2 ? columns - 1 - at[0] : at[0]);
}

/* ---- members of each part ------------------------------------------------ */

/*
 * The neighbour of the source in its row, up or down the path. TOPO_NONE if the source has no
 * neighbour above or below it, so that there is one part only.
 */
static switch_id row_neighbour(const struct mesh *m, bool up)
{
	uint32_t here = label_of(m, m->source);
	switch_id side = TOPO_NONE;
	bool other = false;

	for (edge_id e = m->g.first[m->source]; e < m->g.first[m->source + 1]; e++) {
		switch_id to = m->g.edges[e].to;

		if ((label_of(m, to) > here) != up)
			continue;
		if (m->grid.direction[e] / 2 == 0)
			side = to;
		else
			other = true;
	}
	return other ? side : TOPO_NONE;
}

static unsigned quadrant(const uint16_t *from, const uint16_t *to)
{
	if (to[0] > from[0])
		return to[1] >= from[1] ? 0 : 1;
	if (to[0] < from[0])
		return to[1] > from[1] ? 3 : 2;
	return to[1] >= from[1] ? 0 : 2;
}

static unsigned part_of(const struct mesh *m, switch_id home)
{
	const uint16_t *from = grid_at(&m->grid, m->source);
	const uint16_t *to = grid_at(&m->grid, home);
	bool up = label_of(m, home) >= label_of(m, m->source);

	if (m->want->method == MCAST_DOUBLE)
		return quadrant(from, to);
	if (m->want->method == MCAST_DUAL)
		return up ? 0 : 2;
	switch_id side = row_neighbour(m, up);
	bool sideways = false;

	if (side != TOPO_NONE && home != m->source) {
		const uint16_t *at = grid_at(&m->grid, side);

		sideways = at[0] < from[0] ? to[0] <= at[0] : to[0] >= at[0];
	}
	return (up ? 0u : 2u) + (sideways ? 1u : 0u);
}

/* ---- paths --------------------------------------------------------------- */

struct stop {
	uint32_t label;
	port_id member;
};

static int upward(const void *a, const void *b)
{
	const struct stop *x = a, *y = b;

	return (x->label > y->label) - (x->label < y->label);
}

static int downward(const void *a, const void *b)
{
	return upward(b, a);
}

/* The neighbour that is nearest to the target's number, and not beyond it. */
static edge_id next_step(const struct mesh *m, switch_id at, switch_id target)
{
	uint32_t to = label_of(m, target), from = label_of(m, at), best = from;
	edge_id step = TOPO_NONE;

	for (edge_id e = m->g.first[at]; e < m->g.first[at + 1]; e++) {
		uint32_t label = label_of(m, m->g.edges[e].to);
		bool nearer = to > from ? label > best && label <= to : label < best && label >= to;

		if (nearer) {
			best = label;
			step = e;
		}
	}
	return step;
}

static void go(const struct mesh *m, const struct mcast_group *part, switch_id *at,
	       switch_id target)
{
	while (*at != target) {
		edge_id e = next_step(m, *at, target);

		mcast_set_port(mcast_row(m->s, part, *at), m->g.edges[e].out);
		*at = m->g.edges[e].to;
	}
}

/* From the source to each member in the order of the path. */
static void write_path(const struct mesh *m, const struct mcast_group *part, unsigned which)
{
	const struct topo *t = m->s->topo;
	struct stop *stops = hd_alloc(part->n_members, sizeof(*stops));
	bool up = which < 2, sideways = which % 2;
	switch_id at = m->source;

	for (uint32_t i = 0; i < part->n_members; i++)
		stops[i] = (struct stop){ label_of(m, mcast_home(m->s, part->members[i])),
					  part->members[i] };
	qsort(stops, part->n_members, sizeof(*stops), up ? upward : downward);
	if (sideways)
		go(m, part, &at, row_neighbour(m, up));
	for (uint32_t i = 0; i < part->n_members; i++) {
		port_id p = stops[i].member;
		switch_id home = mcast_home(m->s, p);

		go(m, part, &at, home);
		mcast_set_port(mcast_row(m->s, part, home),
			       t->ports[p].number == 0 ? 0 : t->ports[t->ports[p].peer].number);
	}
	free(stops);
}

/* ---- groups -------------------------------------------------------------- */

/* Distinct members of one part. */
static struct mcast_group part_group(const struct mesh *m, unsigned which)
{
	const struct mcast_group *want = m->want;
	struct mcast_group part = *want;

	part.members = hd_alloc(want->n_members + 1, sizeof(*part.members));
	part.n_members = 0;
	part.root = TOPO_NONE;
	part.senders = NULL;
	part.n_senders = 0;
	part.senders_cap = 0;
	for (uint32_t i = 0; i < want->n_members; i++) {
		port_id p = want->members[i];
		uint32_t k = 0;

		while (k < part.n_members && part.members[k] != p)
			k++;
		if (k == part.n_members && p != want->source &&
		    part_of(m, mcast_home(m->s, p)) == which)
			part.members[part.n_members++] = p;
	}
	/* Quadrants that share a direction are neighbours. */
	if (want->method == MCAST_DOUBLE)
		part.sl = which % 2;
	return part;
}

static enum hd_status add_part(struct mesh *m, unsigned which, struct diag *d)
{
	struct mcast_group part = part_group(m, which);

	if (part.n_members == 0) {
		free(part.members);
		return HD_OK;
	}
	if (m->want->method == MCAST_DOUBLE) {
		part.method = MCAST_XY;
		enum hd_status status = mcast_add(m->s, &part, d);

		free(part.members);
		if (status == HD_OK)
			m->s->groups[m->s->n_groups - 1].method = MCAST_DOUBLE;
		return status;
	}
	uint32_t n = m->s->mft[part.subnet].n_mlids;

	part.mlid = (lid_t)(LID_FIRST_MCAST + n);
	mcast_make_room(m->s, part.subnet, n + 1);
	write_path(m, &part, which);
	mcast_keep(m->s, &part);
	return HD_OK;
}

static enum hd_status check_mesh(const struct mesh *m, struct diag *d)
{
	const struct mcast_group *want = m->want;

	if (m->grid.n_dims != 2 || m->grid.wraps[0] || m->grid.wraps[1])
		return diag_fail(d, HD_ERR_UNFIT, "multicast: '%s' needs a mesh of two dimensions",
				 mcast_method_names[want->method]);
	if (mcast_mlids_left(m->s, want->subnet) < N_PARTS)
		return diag_fail(d, HD_ERR_FULL, "multicast: all %u MLIDs are in use",
				 LID_LAST_MCAST - LID_FIRST_MCAST + 1u);
	return HD_OK;
}

/* A source and members, on switches of the subnet. */
static enum hd_status check_ends(const struct subnet *s, const struct mcast_group *want,
				 struct diag *d)
{
	bool good = want->source != TOPO_NONE && want->n_members > 0 &&
		    mcast_home(s, want->source) != TOPO_NONE;

	for (uint32_t i = 0; i < want->n_members && good; i++)
		good = mcast_home(s, want->members[i]) != TOPO_NONE;
	if (good)
		return HD_OK;
	return diag_fail(d, HD_ERR_INPUT,
			 "multicast: '%s' needs a source and members, all on switches",
			 mcast_method_names[want->method]);
}

enum hd_status mcast_add_parts(struct subnet *s, const struct mcast_group *want, struct diag *d)
{
	struct mesh m = { .s = s, .want = want };

	if (!mcast_has_parts(want->method))
		return mcast_add(s, want, d);
	if (check_ends(s, want, d) != HD_OK)
		return d->status;
	m.source = mcast_home(s, want->source);
	graph_init(&m.g, s);
	enum hd_status status = grid_init(&m.grid, s, &m.g, d);

	if (status == HD_OK)
		status = check_mesh(&m, d);
	for (unsigned i = 0; i < N_PARTS && status == HD_OK; i++)
		status = add_part(&m, i, d);
	grid_fini(&m.grid);
	graph_fini(&m.g);
	return status;
}
