/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_TOPO_BUILDER_H
#define HD_TOPO_BUILDER_H

/*
 * Helpers of the generators: adding switches and hosts, plugging cables, and
 * parsing lists of numbers. Private to the generators.
 */

#include "topo/generate.h"

/* Above the size of any subnet, but small enough to limit memory. */
#define BUILD_MAX_NODES UINT64_C(1000000)

/* Rejects fabrics with more than p->max_nodes switches and hosts. */
HD_MUST_CHECK enum hd_status build_check_size(const struct topo_params *p, uint64_t switches,
					      uint64_t hosts, struct diag *d);
/* Rejects a switch with more than TOPO_MAX_PORTS ports. */
HD_MUST_CHECK enum hd_status build_check_ports(uint64_t ports, struct diag *d);

HD_PRINTF(3, 4)
node_id build_switch(struct topo *t, unsigned n_ports, const char *format, ...);

/* Ports of a switch that its hosts occupy. */
static inline uint64_t build_host_ports(const struct topo_params *p)
{
	return p->hosts * p->host_ports;
}

/*
 * Adds the hosts of switch `sw` to its ports, starting at `first`, with the
 * coordinates of the switch. `*n_hosts` counts hosts for their names.
 */
void build_hosts(struct topo *t, const struct topo_params *p, node_id sw, unsigned first,
		 uint32_t *n_hosts);

/* Connects port `pa` of node `a` to port `pb` of node `b`. */
void build_cable(struct topo *t, node_id a, unsigned pa, node_id b, unsigned pb);

/* Parses "4x4x8" or "4,4,8": at most `max` numbers, each at least 1. */
HD_MUST_CHECK enum hd_status build_read_list(const char *text, const char *what, unsigned max,
					     struct diag *d, uint32_t *out, unsigned *n);

enum hd_status build_mesh(const struct topo_params *p, struct diag *d, struct topo *t);
enum hd_status build_node_mesh(const struct topo_params *p, struct diag *d, struct topo *t);
enum hd_status build_torus(const struct topo_params *p, struct diag *d, struct topo *t);
enum hd_status build_hypercube(const struct topo_params *p, struct diag *d, struct topo *t);
enum hd_status build_ring(const struct topo_params *p, struct diag *d, struct topo *t);
enum hd_status build_star(const struct topo_params *p, struct diag *d, struct topo *t);
enum hd_status build_tree(const struct topo_params *p, struct diag *d, struct topo *t);
enum hd_status build_fat_tree(const struct topo_params *p, struct diag *d, struct topo *t);
enum hd_status build_xgft(const struct topo_params *p, struct diag *d, struct topo *t);
enum hd_status build_rail(const struct topo_params *p, struct diag *d, struct topo *t);
enum hd_status build_dragonfly(const struct topo_params *p, struct diag *d, struct topo *t);
enum hd_status build_dragonfly_plus(const struct topo_params *p, struct diag *d, struct topo *t);
enum hd_status build_irregular(const struct topo_params *p, struct diag *d, struct topo *t);
enum hd_status build_back_to_back(const struct topo_params *p, struct diag *d, struct topo *t);
enum hd_status build_two_switch(const struct topo_params *p, struct diag *d, struct topo *t);
enum hd_status build_blrm(const struct topo_params *p, struct diag *d, struct topo *t);
enum hd_status build_routed(const struct topo_params *p, struct diag *d, struct topo *t);

#endif
