/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Dragonflies: groups of switches, every two groups joined by cables.
 *
 * The global ports of a group are numbered through, k = 0 .. n - 1. They are
 * used in rounds of g - 1, one to each other group, so that every two groups
 * have the same number of cables; what is left of the last round stays
 * unplugged. In round r, port q of group i leads
 *
 *	absolute   to group q if q < i, else q + 1
 *	palmtree   to group i - q - 1 (mod g)
 *
 * (the arrangements of Camarero et al., ACM TACO 11(4), 2014).
 */
#include <assert.h>

#include "topo/builder.h"

struct dragonfly_groups {
	uint32_t n;            /* groups */
	uint32_t globals;      /* global ports of a group */
	uint32_t per_switch;   /* ... of one of its switches */
	uint32_t first_switch; /* of those in the group that have any */
	unsigned first_port;   /* number of a switch's first global port */
	uint32_t stride;       /* nodes from group to group */
	enum dragonfly_arrangement arrangement;
};

/* Port q of group i leads to this group and port within a round. */
static void other_end(const struct dragonfly_groups *s, uint32_t i, uint32_t q, uint32_t *group,
		      uint32_t *port)
{
	if (s->arrangement == ARRANGE_PALMTREE) {
		*group = (i + s->n - q - 1) % s->n;
		*port = s->n - 2 - q;
		return;
	}
	*group = q < i ? q : q + 1;
	*port = i < *group ? i : i - 1;
}

static void global_cable(const struct dragonfly_groups *s, struct topo *t, uint32_t i, uint32_t k)
{
	uint32_t round = k / (s->n - 1), group, port;

	other_end(s, i, k % (s->n - 1), &group, &port);
	if (group < i)
		return; /* done from the other end */
	port += round * (s->n - 1);
	build_cable(t, i * s->stride + s->first_switch + k / s->per_switch,
		    s->first_port + k % s->per_switch,
		    group * s->stride + s->first_switch + port / s->per_switch,
		    s->first_port + port % s->per_switch);
}

static void global_cables(const struct dragonfly_groups *s, struct topo *t)
{
	if (s->n < 2)
		return;
	uint32_t used = s->globals / (s->n - 1) * (s->n - 1);

	for (uint32_t i = 0; i < s->n; i++) {
		for (uint32_t k = 0; k < used; k++)
			global_cable(s, t, i, k);
	}
}

/* The maximum number of groups, unless the user gave a number. */
static enum hd_status count_groups(const struct topo_params *p, uint64_t globals, struct diag *d,
				   uint32_t *out)
{
	uint64_t groups = p->groups ? p->groups : globals + 1;

	if (groups > globals + 1)
		return diag_fail(
			d, HD_ERR_RANGE,
			"%llu groups: a group has %llu global ports and so reaches at most %llu others",
			(unsigned long long)groups, (unsigned long long)globals,
			(unsigned long long)globals);
	*out = (uint32_t)groups;
	return HD_OK;
}

/*
 * Ports of a switch: 1 .. a - 1 to the others of its group, in their order,
 * then h global ones, then hosts.
 */
enum hd_status build_dragonfly(const struct topo_params *p, struct diag *d, struct topo *t)
{
	uint32_t a = (uint32_t)p->routers, h = (uint32_t)p->globals;
	uint64_t ports = a - 1 + h + build_host_ports(p);
	struct dragonfly_groups s = { .globals = a * h, .per_switch = h, .stride = a };
	uint32_t n_hosts = 0;

	assert(a > 0 && h > 0);
	if (count_groups(p, s.globals, d, &s.n) != HD_OK || build_check_ports(ports, d) != HD_OK ||
	    build_check_size(p, (uint64_t)s.n * a, (uint64_t)s.n * a * p->hosts, d) != HD_OK)
		return d->status;
	s.first_port = a;
	s.arrangement = (enum dragonfly_arrangement)p->arrangement;
	t->n_dims = 2;
	t->dims[0] = s.n;
	t->dims[1] = a;
	t->dims[2] = h;
	for (uint32_t i = 0; i < s.n * a; i++) {
		node_id sw = build_switch(t, (unsigned)ports, "s-%u-%u", i / a, i % a);

		t->nodes[sw].tier = 1;
		t->nodes[sw].coord[0] = (uint16_t)(i / a);
		t->nodes[sw].coord[1] = (uint16_t)(i % a);
	}
	for (uint32_t i = 0; i < s.n * a; i++) {
		/* Port r of router i % a leads to router r, itself left out. */
		for (uint32_t r = i % a + 1; r < a; r++)
			build_cable(t, i, r, i - i % a + r, i % a + 1);
	}
	global_cables(&s, t);
	for (uint32_t i = 0; i < s.n * a; i++)
		build_hosts(t, p, i, a + h, &n_hosts);
	return HD_OK;
}

static void plus_group(const struct topo_params *p, uint32_t group, struct topo *t)
{
	uint32_t leaves = (uint32_t)p->leaves, spines = (uint32_t)p->spines;
	node_id first = t->n_nodes;

	for (uint32_t i = 0; i < leaves + spines; i++) {
		bool leaf = i < leaves;
		uint64_t ports = leaf ? spines + build_host_ports(p) : leaves + p->globals;
		uint32_t at = leaf ? i : i - leaves;
		node_id sw = build_switch(t, (unsigned)ports, "%s-%u-%u", leaf ? "leaf" : "spine",
					  group, at);

		t->nodes[sw].tier = leaf ? 1 : 2;
		t->nodes[sw].coord[0] = (uint16_t)group;
		t->nodes[sw].coord[1] = (uint16_t)at;
	}
	for (uint32_t i = 0; i < leaves; i++) {
		for (uint32_t j = 0; j < spines; j++)
			build_cable(t, first + i, j + 1, first + leaves + j, i + 1);
	}
}

/*
 * Ports of a leaf: 1 .. spines up, then hosts; of a spine: 1 .. leaves down,
 * then global ones.
 */
enum hd_status build_dragonfly_plus(const struct topo_params *p, struct diag *d, struct topo *t)
{
	uint32_t leaves = (uint32_t)p->leaves, spines = (uint32_t)p->spines;
	struct dragonfly_groups s = {
		.globals = spines * (uint32_t)p->globals,
		.per_switch = (uint32_t)p->globals,
		.stride = leaves + spines,
		.first_switch = leaves,
		.first_port = leaves + 1,
		.arrangement = (enum dragonfly_arrangement)p->arrangement,
	};
	uint32_t n_hosts = 0;

	if (count_groups(p, s.globals, d, &s.n) != HD_OK ||
	    build_check_ports(spines + build_host_ports(p), d) != HD_OK ||
	    build_check_ports(leaves + p->globals, d) != HD_OK ||
	    build_check_size(p, (uint64_t)s.n * s.stride, (uint64_t)s.n * leaves * p->hosts, d) !=
		    HD_OK)
		return d->status;
	t->n_dims = 2;
	t->dims[0] = s.n;
	t->dims[1] = leaves;
	t->dims[2] = spines;
	t->dims[3] = (uint32_t)p->globals;
	for (uint32_t i = 0; i < s.n; i++)
		plus_group(p, i, t);
	global_cables(&s, t);
	for (uint32_t i = 0; i < s.n * leaves; i++)
		build_hosts(t, p, i / leaves * s.stride + i % leaves, spines + 1, &n_hosts);
	return HD_OK;
}
