/* SPDX-License-Identifier: BSD-2-Clause */
/* Grids: meshes, tori, rings, hypercubes. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "topo/builder.h"

/* Ports of a mesh switch, as paper 002 numbers them. */
enum { EAST = 1, NORTH, WEST, SOUTH };

static void set_coords(struct topo *t, node_id sw, const uint32_t *coord)
{
	for (unsigned i = 0; i < t->n_dims; i++)
		t->nodes[sw].coord[i] = (uint16_t)coord[i];
	t->nodes[sw].tier = 1;
}

/* Node order is column by column: (x, y) is number x * rows + y. */
static void mesh_switches(const struct topo_params *p, struct topo *t, unsigned n_ports)
{
	uint32_t columns = (uint32_t)p->columns, rows = (uint32_t)p->rows;

	t->n_dims = 2;
	t->dims[0] = columns;
	t->dims[1] = rows;
	for (uint32_t x = 0; x < columns; x++) {
		for (uint32_t y = 0; y < rows; y++) {
			node_id sw = build_switch(t, n_ports, "s-%u-%u", x, y);
			const uint32_t coord[TOPO_MAX_DIMS] = { x, y };

			set_coords(t, sw, coord);
		}
	}
	for (uint32_t x = 0; x < columns; x++) {
		for (uint32_t y = 0; y < rows; y++) {
			node_id sw = x * rows + y;

			if (x + 1 < columns)
				build_cable(t, sw, EAST, sw + rows, WEST);
			if (y + 1 < rows)
				build_cable(t, sw, NORTH, sw + 1, SOUTH);
		}
	}
}

static void hosts_everywhere(const struct topo_params *p, struct topo *t, unsigned first_port)
{
	uint32_t n_switches = t->n_nodes, n_hosts = 0;

	for (node_id sw = 0; sw < n_switches; sw++)
		build_hosts(t, p, sw, first_port, &n_hosts);
}

enum hd_status build_mesh(const struct topo_params *p, struct diag *d, struct topo *t)
{
	uint64_t n = p->columns * p->rows;

	if (build_check_size(p, n, n * p->hosts, d) != HD_OK ||
	    build_check_ports(SOUTH + build_host_ports(p), d) != HD_OK)
		return d->status;
	mesh_switches(p, t, (unsigned)(SOUTH + build_host_ports(p)));
	hosts_everywhere(p, t, SOUTH + 1);
	return HD_OK;
}

enum hd_status build_node_mesh(const struct topo_params *p, struct diag *d, struct topo *t)
{
	if (build_check_size(p, p->columns * p->rows, 0, d) != HD_OK)
		return d->status;
	mesh_switches(p, t, SOUTH);
	for (node_id sw = 0; sw < t->n_nodes; sw++)
		t->nodes[sw].enhanced_port0 = true;
	return HD_OK;
}

/*
 * Cables along dimension `i`: port 2i + 1 leads up, 2i + 2 down. Two switches
 * have one cable between them, not two: there is no way around.
 */
static void torus_cables(struct topo *t, unsigned i, uint32_t stride)
{
	uint32_t size = t->dims[i], n = t->n_nodes;

	assert(size > 0 && stride > 0);

	for (node_id sw = 0; sw < n; sw++) {
		uint32_t at = sw / stride % size;
		uint32_t to = at + 1 < size ? sw + stride : sw - (size - 1) * stride;

		if (size > 2 || at + 1 < size)
			build_cable(t, sw, 2 * i + 1, to, 2 * i + 2);
	}
}

static void torus_name(const uint32_t *coord, unsigned n_dims, char *out, size_t size)
{
	size_t len = 0;

	for (unsigned i = 0; i < n_dims && len < size; i++)
		len += (size_t)snprintf(out + len, size - len, "-%u", coord[i]);
}

/* Node order has the last dimension running fastest. */
static enum hd_status grid(const struct topo_params *p, struct diag *d, struct topo *t)
{
	uint64_t n = 1, ports = 2 * t->n_dims + build_host_ports(p);

	for (unsigned i = 0; i < t->n_dims; i++) {
		n *= t->dims[i];
		if (build_check_size(p, n, n * p->hosts, d) != HD_OK)
			return d->status;
	}
	if (build_check_ports(ports, d) != HD_OK)
		return d->status;
	for (uint32_t number = 0; number < n; number++) {
		uint32_t coord[TOPO_MAX_DIMS] = { 0 }, rest = number;
		char name[TOPO_MAX_DIMS * 8];

		for (unsigned i = t->n_dims; i-- > 0;) {
			coord[i] = rest % t->dims[i];
			rest /= t->dims[i];
		}
		torus_name(coord, t->n_dims, name, sizeof(name));
		set_coords(t, build_switch(t, (unsigned)ports, "s%s", name), coord);
	}
	uint32_t stride = 1;

	for (unsigned i = t->n_dims; i-- > 0;) {
		torus_cables(t, i, stride);
		stride *= t->dims[i];
	}
	hosts_everywhere(p, t, 2 * t->n_dims + 1);
	return HD_OK;
}

enum hd_status build_torus(const struct topo_params *p, struct diag *d, struct topo *t)
{
	if (build_read_list(p->sizes, "sizes", TOPO_MAX_DIMS, d, t->dims, &t->n_dims) != HD_OK)
		return d->status;
	return grid(p, d, t);
}

enum hd_status build_ring(const struct topo_params *p, struct diag *d, struct topo *t)
{
	t->n_dims = 1;
	t->dims[0] = (uint32_t)p->switches;
	return grid(p, d, t);
}

/* Port i + 1 leads along dimension i, that is to number ^ (1 << i). */
enum hd_status build_hypercube(const struct topo_params *p, struct diag *d, struct topo *t)
{
	unsigned n_dims = (unsigned)p->dimensions;
	uint32_t n = 1u << n_dims;

	if (build_check_size(p, n, n * p->hosts, d) != HD_OK ||
	    build_check_ports(n_dims + build_host_ports(p), d) != HD_OK)
		return d->status;
	t->n_dims = n_dims;
	for (unsigned i = 0; i < n_dims; i++)
		t->dims[i] = 2;
	for (uint32_t number = 0; number < n; number++) {
		uint32_t coord[TOPO_MAX_DIMS] = { 0 };

		for (unsigned i = 0; i < n_dims; i++)
			coord[i] = number >> i & 1;
		set_coords(
			t,
			build_switch(t, (unsigned)(n_dims + build_host_ports(p)), "s-%u", number),
			coord);
	}
	for (uint32_t number = 0; number < n; number++) {
		for (unsigned i = 0; i < n_dims; i++) {
			if (!(number >> i & 1))
				build_cable(t, number, i + 1, number | 1u << i, i + 1);
		}
	}
	hosts_everywhere(p, t, n_dims + 1);
	return HD_OK;
}
