/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Trees: stars, and XGFT(h; m1..mh; w1..wh) with parallel cables, of which
 * k-ary n-trees and the fat trees of real machine rooms are cases.
 *
 * A node of level l is labelled by h digits. Digit i (from 1) says which of
 * wi equal parents it is if i <= l, and which of mi children otherwise; a
 * child and a parent, one level apart, differ in one digit only. A level is
 * numbered with digit h running slowest, so that the hosts of one leaf are
 * neighbours in number. In code, arrays are indexed from 0: digit i is [i - 1].
 */
#include <stdio.h>

#include "topo/builder.h"

#define MAX_LEVELS 5

struct xgft {
	unsigned h;
	uint32_t m[MAX_LEVELS]; /* children of a node of level i + 1 */
	uint32_t w[MAX_LEVELS]; /* parents of a node of level i */
	uint32_t p[MAX_LEVELS]; /* cables between a parent and a child */
};

/* The radix of digit i (from 0) at a level. */
static uint32_t base_of(const struct xgft *x, unsigned level, unsigned i)
{
	return i < level ? x->w[i] : x->m[i];
}

static uint64_t level_size(const struct xgft *x, unsigned level)
{
	uint64_t n = 1;

	for (unsigned i = 0; i < x->h && n <= BUILD_MAX_NODES; i++)
		n *= base_of(x, level, i);
	return n;
}

static void digits_of(const struct xgft *x, unsigned level, uint32_t number, uint32_t *digits)
{
	for (unsigned i = 0; i < x->h; i++) {
		digits[i] = number % base_of(x, level, i);
		number /= base_of(x, level, i);
	}
}

static uint32_t number_of(const struct xgft *x, unsigned level, const uint32_t *digits)
{
	uint32_t number = 0;

	for (unsigned i = x->h; i-- > 0;)
		number = number * base_of(x, level, i) + digits[i];
	return number;
}

static unsigned ports_down(const struct xgft *x, unsigned level)
{
	return level ? x->m[level - 1] * x->p[level - 1] : 0;
}

static unsigned ports_up(const struct xgft *x, unsigned level)
{
	return level < x->h ? x->w[level] * x->p[level] : 0;
}

static enum hd_status check(const struct topo_params *p, const struct xgft *x, struct diag *d)
{
	uint64_t switches = 0;

	for (unsigned level = 1; level <= x->h; level++) {
		uint64_t ports = (uint64_t)x->m[level - 1] * x->p[level - 1];

		switches += level_size(x, level);
		if (level < x->h)
			ports += (uint64_t)x->w[level] * x->p[level];
		if (build_check_ports(ports, d) != HD_OK)
			return d->status;
	}
	if (build_check_ports((uint64_t)x->w[0] * x->p[0], d) != HD_OK)
		return d->status;
	return build_check_size(p, switches, level_size(x, 0), d);
}

static node_id add_level(const struct xgft *x, unsigned level, struct topo *t)
{
	uint32_t n = (uint32_t)level_size(x, level);
	node_id first = t->n_nodes;
	unsigned ports = ports_down(x, level) + ports_up(x, level);

	for (uint32_t number = 0; number < n; number++) {
		uint32_t digits[MAX_LEVELS];
		node_id id;

		digits_of(x, level, number, digits);
		if (level) {
			id = build_switch(t, ports, "s%u-%u", level, number);
		} else {
			char name[32];

			snprintf(name, sizeof(name), "h%u", number);
			id = topo_add_node(t, NODE_CA, ports, name);
		}
		t->nodes[id].tier = (uint16_t)level;
		for (unsigned i = 0; i < x->h; i++)
			t->nodes[id].coord[i] = (uint16_t)digits[i];
	}
	return first;
}

/* Cables all children of level `level` + 1. */
static void join(const struct xgft *x, unsigned level, node_id children, node_id parents,
		 struct topo *t)
{
	uint32_t n = (uint32_t)level_size(x, level), cables = x->p[level];
	unsigned up = ports_down(x, level); /* uplinks follow these */

	for (uint32_t number = 0; number < n; number++) {
		uint32_t digits[MAX_LEVELS];

		digits_of(x, level, number, digits);
		uint32_t child = digits[level];

		for (uint32_t i = 0; i < x->w[level] * cables; i++) {
			digits[level] = i / cables;
			build_cable(t, children + number, up + 1 + i,
				    parents + number_of(x, level + 1, digits),
				    child * cables + i % cables + 1);
		}
	}
}

static enum hd_status make(const struct topo_params *p, const struct xgft *x, struct diag *d,
			   struct topo *t)
{
	node_id first[MAX_LEVELS + 1];

	if (check(p, x, d) != HD_OK)
		return d->status;
	t->n_dims = x->h;
	for (unsigned i = 0; i < x->h; i++) {
		t->dims[i] = x->m[i];
		t->dims[x->h + i] = x->w[i];
		t->dims[2 * x->h + i] = x->p[i];
	}
	/* Switches from the leaves up, hosts last, as everywhere. */
	for (unsigned level = 1; level <= x->h; level++)
		first[level] = add_level(x, level, t);
	first[0] = add_level(x, 0, t);
	for (unsigned level = 0; level < x->h; level++)
		join(x, level, first[level], first[level + 1], t);
	return HD_OK;
}

enum hd_status build_xgft(const struct topo_params *p, struct diag *d, struct topo *t)
{
	struct xgft x = { .p = { 1, 1, 1, 1, 1 } };
	unsigned ups, parallels;

	if (build_read_list(p->down, "down", MAX_LEVELS, d, x.m, &x.h) != HD_OK ||
	    build_read_list(p->up, "up", MAX_LEVELS, d, x.w, &ups) != HD_OK)
		return d->status;
	if (ups != x.h)
		return diag_fail(d, HD_ERR_INPUT,
				 "down has %u levels and up %u: both must have the same number",
				 x.h, ups);
	if (!p->parallel)
		return make(p, &x, d, t);
	if (build_read_list(p->parallel, "parallel", MAX_LEVELS, d, x.p, &parallels) != HD_OK)
		return d->status;
	if (parallels != x.h)
		return diag_fail(
			d, HD_ERR_INPUT,
			"down has %u levels and parallel %u: both must have the same number", x.h,
			parallels);
	return make(p, &x, d, t);
}

enum hd_status build_tree(const struct topo_params *p, struct diag *d, struct topo *t)
{
	struct xgft x = { .h = (unsigned)p->levels, .p = { 1, 1, 1, 1, 1 } };

	for (unsigned i = 0; i < x.h; i++) {
		x.m[i] = (uint32_t)p->arity;
		x.w[i] = i ? (uint32_t)p->arity : 1;
	}
	return make(p, &x, d, t);
}

/* All ports of all switches in use; leaves have `taper` down for one up. */
enum hd_status build_fat_tree(const struct topo_params *p, struct diag *d, struct topo *t)
{
	struct xgft x = { .h = (unsigned)p->levels, .p = { 1, 1, 1, 1, 1 } };
	uint32_t radix = (uint32_t)p->radix;
	uint64_t parts = p->taper.num + p->taper.den;

	if (x.h == 1) {
		x.m[0] = radix;
		x.w[0] = 1;
		return make(p, &x, d, t);
	}
	if (p->taper.num == 0 || parts > radix || radix % parts != 0)
		return diag_fail(
			d, HD_ERR_RANGE, "%u ports cannot be shared %llu:%llu between down and up",
			radix, (unsigned long long)p->taper.num, (unsigned long long)p->taper.den);
	if (x.h > 2 && radix % 2 != 0)
		return diag_fail(
			d, HD_ERR_RANGE,
			"a radix of %u is odd: the middle levels need as many ports up as down",
			radix);
	for (unsigned i = 0; i < x.h; i++) {
		x.m[i] = i + 1 < x.h ? radix / 2 : radix;
		x.w[i] = radix / 2;
	}
	x.m[0] = (uint32_t)(radix / parts * p->taper.num);
	x.w[0] = 1;
	x.w[1] = radix - x.m[0];
	return make(p, &x, d, t);
}

/*
 * A hub. With switches = 0 the hosts are plugged into it; otherwise into that
 * many switches around it, whose port 1 leads to the hub.
 */
enum hd_status build_star(const struct topo_params *p, struct diag *d, struct topo *t)
{
	uint32_t n = (uint32_t)p->switches, n_hosts = 0;
	uint64_t of_hosts = build_host_ports(p);
	/* Nothing may be plugged into a hub, but it has a port. */
	uint64_t of_hub = n ? n : of_hosts ? of_hosts : 1;

	if (build_check_size(p, n + 1, (n ? n : 1) * p->hosts, d) != HD_OK ||
	    build_check_ports(of_hub, d) != HD_OK ||
	    build_check_ports(of_hosts + (n > 0), d) != HD_OK)
		return d->status;
	node_id hub = build_switch(t, (unsigned)of_hub, "hub");

	t->nodes[hub].tier = n ? 2 : 1;
	t->n_dims = 1;
	t->dims[0] = n;
	for (uint32_t i = 0; i < n; i++) {
		node_id sw = build_switch(t, (unsigned)(1 + of_hosts), "s-%u", i);

		t->nodes[sw].tier = 1;
		t->nodes[sw].coord[0] = (uint16_t)i;
		build_cable(t, hub, i + 1, sw, 1);
	}
	for (uint32_t i = 0; i < n; i++)
		build_hosts(t, p, hub + 1 + i, 2, &n_hosts);
	if (n == 0)
		build_hosts(t, p, hub, 1, &n_hosts);
	return HD_OK;
}

/* ---- rails --------------------------------------------------------------- */

struct rails {
	uint32_t rails, units, hosts, spines, planes;
	node_id first_leaf;
};

static enum hd_status check_rails(const struct topo_params *p, struct diag *d)
{
	uint64_t leaves = p->rails * p->units;

	if (p->rails % p->planes || p->spines % p->planes)
		return diag_fail(d, HD_ERR_RANGE,
				 "%llu rails and %llu spines cannot be divided into %llu planes",
				 (unsigned long long)p->rails, (unsigned long long)p->spines,
				 (unsigned long long)p->planes);
	if (build_check_ports(p->hosts + p->spines / p->planes, d) != HD_OK ||
	    (p->spines && build_check_ports(leaves / p->planes, d) != HD_OK))
		return d->status;
	return build_check_size(p, leaves + p->spines, p->units * p->hosts, d);
}

static void add_leaves(const struct rails *x, struct topo *t)
{
	for (uint32_t i = 0; i < x->units * x->rails; i++) {
		node_id leaf = build_switch(t, x->hosts + x->spines / x->planes, "leaf-%u-%u",
					    i / x->rails, i % x->rails);

		t->nodes[leaf].tier = 1;
		t->nodes[leaf].coord[0] = (uint16_t)(i / x->rails);
		t->nodes[leaf].coord[1] = (uint16_t)(i % x->rails);
	}
}

/* Spine n is of plane n modulo their number, as rails are. */
static void add_spines(const struct rails *x, struct topo *t)
{
	uint32_t rails = x->rails / x->planes;

	for (uint32_t n = 0; n < x->spines; n++) {
		node_id spine = build_switch(t, x->units * rails, "spine-%u", n);

		t->nodes[spine].tier = 2;
		t->nodes[spine].coord[0] = (uint16_t)n;
		for (uint32_t i = 0; i < x->units * rails; i++) {
			uint32_t rail = i % rails * x->planes + n % x->planes;
			node_id leaf = x->first_leaf + i / rails * x->rails + rail;

			build_cable(t, spine, i + 1, leaf, x->hosts + n / x->planes + 1);
		}
	}
}

enum hd_status build_rail(const struct topo_params *p, struct diag *d, struct topo *t)
{
	const struct rails x = {
		.rails = (uint32_t)p->rails,
		.units = (uint32_t)p->units,
		.hosts = (uint32_t)p->hosts,
		.spines = (uint32_t)p->spines,
		.planes = (uint32_t)p->planes,
		.first_leaf = t->n_nodes,
	};

	if (check_rails(p, d) != HD_OK)
		return d->status;
	t->n_dims = 2;
	t->dims[0] = x.units;
	t->dims[1] = x.rails;
	add_leaves(&x, t);
	add_spines(&x, t);
	for (uint32_t n = 0; n < x.units * x.hosts; n++) {
		char name[32];

		snprintf(name, sizeof(name), "h%u", n);
		node_id host = topo_add_node(t, NODE_CA, x.rails, name);

		t->nodes[host].coord[0] = (uint16_t)(n / x.hosts);
		for (uint32_t r = 0; r < x.rails; r++)
			build_cable(t, host, r + 1, x.first_leaf + n / x.hosts * x.rails + r,
				    n % x.hosts + 1);
	}
	return HD_OK;
}
