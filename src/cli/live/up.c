/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>

#include "cli/live/live.h"
#include "subnet/subnet.h"

const char *live_first_host(const struct topo *t)
{
	port_id p = subnet_manager_port(t, 0);

	return p == TOPO_NONE ? NULL : topo_node_of(t, p)->name;
}

/* What runs beside the fabric: an engine, a manager. */
static enum hd_status start_others(const struct live_wish *w, const char *host,
				   struct diag *d)
{
	enum hd_status status = HD_OK;

	if (w->profile)
		status = live_start_engine(w, d);
	if (status == HD_OK && w->engine)
		status = live_start_manager(w->name, host, w->engine, 0, d);
	return status;
}

void live_bring_up(const struct live_wish *w, const struct topo *t,
		   struct diag *d)
{
	const char *const down[] = { "down" };
	struct strbuf out = STRBUF_INIT;
	const char *host = live_first_host(t);

	if (w->engine && !host)
		diag_fail(d, HD_ERR_UNFIT, "no host for a subnet manager");
	if (d->status == HD_OK &&
	    live_start(t, w->name, &w->options, !w->stays, d) == HD_OK &&
	    start_others(w, host, d) != HD_OK) {
		struct diag quiet = { .status = HD_OK };
		char *dir = live_folder(w->name);

		(void)!live_call(dir, down, 1, &quiet, &out);
		live_await_end(w->name);
		free(dir);
	}
	strbuf_fini(&out);
}
