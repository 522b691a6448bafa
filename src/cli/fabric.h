/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CLI_FABRIC_H
#define HD_CLI_FABRIC_H

/*
 * A fabric as commands take it: what topo_open understands, addressed and
 * routed by an engine.
 */

#include "cli/command.h"
#include "subnet/subnet.h"
#include "topo/topo.h"

struct routed {
	struct topo topo;
	struct subnet subnet;
};

/* Whether there is such an engine; if not, *status is what to return. */
bool fabric_engine_known(const struct command *self, const char *engine,
			 int *status);

/* d->file names `path`; `f` is initialised on success only. */
HD_MUST_CHECK enum hd_status fabric_open(const char *path, const char *engine,
					 struct diag *d, struct routed *f);
void fabric_close(struct routed *f);

/* The end port of the node with this name, or TOPO_NONE. */
port_id fabric_find_end(const struct routed *f, const char *name);

#endif
