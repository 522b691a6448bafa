/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_ROUTING_ENGINES_FOR_TESTS_H
#define HD_SUBNET_ROUTING_ENGINES_FOR_TESTS_H

/* For tests of all routing algorithms on random fabrics. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/seeds_for_tests.h"
#include "subnet/routing/fabric_for_tests.h"
#include "subnet/routing/route.h"

/* Number of random fabrics per property; HD_LONG=1 multiplies it. */
static inline unsigned rounds(unsigned quick)
{
	return run_is_long() ? quick * 50 : quick;
}

static inline enum hd_status try_route(struct subnet *s, const char *engine, unsigned lmc,
				       struct diag *d)
{
	struct lid_options o = { .lmc = lmc, .sm_port = TOPO_NONE };

	if (subnet_assign_lids(s, &o, d) != HD_OK)
		return d->status;
	return subnet_route(s, engine, NULL, d);
}

/* Removes `n` cables between switches. */
static inline void degrade(struct topo *t, struct rng *r, unsigned n)
{
	while (n > 0) {
		port_id p = (port_id)rng_below(r, t->n_ports);
		port_id peer = t->ports[p].peer;

		if (peer == TOPO_NONE || !topo_is_switch(t, t->ports[p].node) ||
		    !topo_is_switch(t, t->ports[peer].node))
			continue;
		topo_unlink(t, p);
		n--;
	}
}

#endif
