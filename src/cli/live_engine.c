/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/live.h"
#include "live/clock/timed.h"

/* The engine of a live fabric, on what its manager has programmed. */

struct engine_origin {
	const struct cli_live_start *wish;
	struct cli_live_tables *tables;
};

static enum hd_status open_fabric(void *context, struct diag *d, struct fabric **out)
{
	struct engine_origin *o = context;
	enum hd_status status = cli_live_tables_open(o->wish->name, false, d, &o->tables);

	if (status == HD_OK)
		status = cli_live_fabric_read(o->tables, o->wish->path, o->wish->overrides, d, out);
	if (status != HD_OK) {
		cli_live_tables_free(o->tables);
		o->tables = NULL;
	}
	return status;
}

static void close_fabric(void *context, struct fabric *fabric)
{
	struct engine_origin *o = context;

	fabric_free(fabric);
	cli_live_tables_free(o->tables);
	o->tables = NULL;
}

static bool is_old(void *context)
{
	const struct engine_origin *o = context;

	return cli_live_tables_changed(o->tables);
}

static enum hd_status run(const char *dir, void *context, void (*ready)(void *who), void *who,
			  struct diag *d)
{
	const struct engine_origin *o = context;
	const struct timed_source from = { open_fabric, close_fabric, is_old, context };

	return timed_run(dir, o->wish->profile, &from, ready, who, d);
}

enum hd_status cli_live_start_engine(const struct cli_live_start *w, struct diag *d)
{
	struct engine_origin o = { .wish = w };
	const struct live_companion c = { run, &o };

	return live_start_companion(w->name, &c, d);
}
