/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/fabric.h"

#include <string.h>

#include "base/text.h"
#include "subnet/route.h"
#include "topo/read.h"

bool fabric_engine_known(const struct command *self, const char *engine,
			 int *status)
{
	const char *names[32];

	if (route_engine_find(engine))
		return true;
	for (unsigned i = 0; i < n_route_engines; i++)
		names[i] = route_engines[i].name;
	const char *near = text_nearest(engine, names, n_route_engines);

	*status = command_usage(self, "unknown routing engine '%s'%s%s%s",
				engine, near ? " (did you mean '" : "",
				near ? near : "", near ? "'?)" : "");
	return false;
}

static enum hd_status route(struct routed *f, const char *engine,
			    struct diag *d)
{
	struct lid_options lids = { .order = LIDS_OPENSM,
				    .sm_port = TOPO_NONE };
	struct route_options options = { 0 };
	enum hd_status status = subnet_assign_lids(&f->subnet, &lids, d);

	if (status == HD_OK)
		status = subnet_route(&f->subnet, engine, &options, d);
	return status;
}

enum hd_status fabric_open(const char *path, const char *engine, struct diag *d,
			   struct routed *f)
{
	enum hd_status status = topo_open(path, 1, NULL, d, &f->topo);

	if (status != HD_OK)
		return status;
	subnet_init(&f->subnet, &f->topo);
	status = route(f, engine, d);
	if (status != HD_OK)
		fabric_close(f);
	return status;
}

void fabric_close(struct routed *f)
{
	subnet_fini(&f->subnet);
	topo_fini(&f->topo);
}

port_id fabric_find_end(const struct routed *f, const char *name)
{
	for (port_id p = 0; p < f->topo.n_ports; p++) {
		if (topo_is_end_port(&f->topo, p) &&
		    strcmp(topo_node_of(&f->topo, p)->name, name) == 0)
			return p;
	}
	return TOPO_NONE;
}
