/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/collective/fabric.h"

#include <string.h>

#include "base/alloc.h"

enum hd_status coll_fabric_init(struct coll_fabric *f, const char *text,
				const char *file, struct diag *d)
{
	enum hd_status status =
		scenario_parse(text, strlen(text), file, d, &f->scenario);

	if (status == HD_OK)
		status = fabric_build(&f->scenario, d, &f->build);
	if (status != HD_OK) {
		/* The scenario's own copy of the name goes with it. */
		if (d->file)
			d->file = file;
		scenario_fini(&f->scenario);
	}
	return status;
}

void coll_fabric_fini(struct coll_fabric *f)
{
	fabric_fini(&f->build);
	scenario_fini(&f->scenario);
}

static const struct sim_node *find_switch(const struct coll_fabric *f,
					  const char *name)
{
	const struct sim_setup *setup = &f->build.setup;

	for (uint32_t v = 0; v < setup->n_nodes; v++) {
		const struct sim_node *n = &setup->nodes[v];

		if (n->kind == SIM_SWITCH &&
		    strcmp(f->build.topo.nodes[n->node].name, name) == 0)
			return n;
	}
	return NULL;
}

static void add_fault(struct sim_setup *setup, const struct sim_fault *fault)
{
	uint32_t k = setup->n_faults++;

	setup->faults = hd_realloc(setup->faults, setup->n_faults,
				   sizeof(*setup->faults));
	for (; k > 0 && setup->faults[k - 1].time > fault->time; k--)
		setup->faults[k] = setup->faults[k - 1];
	setup->faults[k] = *fault;
}

enum hd_status coll_fabric_fail(struct coll_fabric *f, const char *name,
				hd_time when, struct diag *d)
{
	struct sim_setup *setup = &f->build.setup;
	const struct sim_node *n = find_switch(f, name);

	if (!n)
		return diag_fail(d, HD_ERR_NOT_FOUND, "no switch '%s'", name);
	for (uint32_t i = 0; i <= n->n_ports; i++) {
		uint32_t port = n->first_port + i;

		if (setup->ports[port].peer != SIM_NONE)
			add_fault(setup,
				  &(struct sim_fault){ .time = when,
						       .kind = SIM_LINK_DOWN,
						       .port = port });
	}
	return HD_OK;
}
