/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_MULTICAST_MCAST_FOR_TESTS_H
#define HD_SUBNET_MULTICAST_MCAST_FOR_TESTS_H

/* For tests: routed fabrics with multicast groups. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "subnet/multicast/mcast.h"
#include "subnet/routing/fabric_for_tests.h"
#include "subnet/routing/route.h"

static const struct lid_options by_opensm = { .sm_port = TOPO_NONE };
static const struct lid_options by_paper = { .order = LIDS_PAPER, .sm_port = TOPO_NONE };

static inline void program(struct topo *t, struct subnet *s, const char *engine,
			   const struct lid_options *lids)
{
	struct diag d = { .status = HD_OK };

	subnet_init(s, t);
	if (subnet_assign_lids(s, lids, &d) != HD_OK || subnet_route(s, engine, NULL, &d) != HD_OK)
		fail_msg("%s", d.message);
}

static inline void set_up(struct topo *t, struct subnet *s, const char *fabric, const char *engine,
			  const struct lid_options *lids)
{
	generate(t, fabric);
	program(t, s, engine, lids);
}

/* Switches 0 to 4 in a line: port 1 up, port 2 down, a host at port 5 of each. */
static inline void set_up_line(struct topo *t, struct subnet *s)
{
	static const uint32_t dims[] = { 5, 1 };

	build_grid(t, FAMILY_MESH, 2, dims, 1);
	program(t, s, "minhop", &by_opensm);
}

/* A random fabric with up*-down* routes; returns its end ports. */
static inline uint32_t set_up_random(struct topo *t, struct subnet *s, struct rng *r, unsigned seed,
				     port_id *ends)
{
	uint32_t switches = 2 + (uint32_t)rng_below(r, 30);

	build_random(t, seed, switches, (uint32_t)rng_below(r, 40));
	program(t, s, "updn", &by_opensm);
	return topo_end_ports(t, ends);
}

static inline void tear_down(struct topo *t, struct subnet *s)
{
	subnet_fini(s);
	topo_fini(t);
}

/* The switch at column x, row y. */
static inline switch_id found_at(const struct subnet *s, unsigned x, unsigned y)
{
	for (switch_id sw = 0; sw < s->n_switches; sw++) {
		const struct topo_node *v = switch_node(s, sw);

		if (v->coord[0] == x && v->coord[1] == y)
			return sw;
	}
	return TOPO_NONE;
}

static inline void add(struct subnet *s, enum mcast_method method, port_id source,
		       const port_id *members, uint32_t n)
{
	struct mcast_group m = {
		.method = method,
		.source = source,
		.members = (port_id *)members,
		.n_members = n,
	};
	struct diag d = { .status = HD_OK };

	if (mcast_add(s, &m, &d) != HD_OK)
		fail_msg("%s", d.message);
}

#endif
