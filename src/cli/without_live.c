/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions of the live fabric in a build with HEDDLE_LIVE=OFF: each refuses with one line. */
#include "cli/commands.h"
#include "cli/live.h"
#include "cli/live_serve.h"
#include "cli/sim_session.h"
#include "live/tables/tables.h"

static enum hd_status refuse(struct diag *d)
{
	return diag_fail(
		d, HD_ERR_ENV,
		"this program is built without the live fabric; configure with -DHEDDLE_LIVE=ON");
}

static int run(const struct command *self, int argc, char **argv)
{
	struct diag d = { .status = HD_OK };

	(void)self;
	(void)argc;
	(void)argv;
	(void)!refuse(&d);
	return command_refuse(&d);
}

int cli_live_serve(const struct command *self, const char *name,
		   const struct listen_options *listen)
{
	(void)name;
	(void)listen;
	return run(self, 0, NULL);
}

enum hd_status live_tables_open(const char *name, bool needs_manager, struct diag *d,
				struct live_tables **out)
{
	(void)name;
	(void)needs_manager;
	(void)out;
	return refuse(d);
}

void live_tables_free(struct live_tables *l)
{
	(void)l;
}

enum hd_status live_tables_fabric(struct live_tables *l, const char *path,
				  const struct overrides *o, struct diag *d, struct fabric **out)
{
	(void)l;
	(void)path;
	(void)o;
	(void)out;
	return refuse(d);
}

bool cli_live_is_engine(void)
{
	return false;
}

enum hd_status sim_session_live(struct sim_session_options *v, const char *file, struct run **s,
				struct diag *d)
{
	(void)v;
	(void)file;
	(void)s;
	return refuse(d);
}

const struct command command_live = {
	.name = "live",
	.summary = "live fabric: not in this build",
	.arguments = "",
	.description = "This program is built with -DHEDDLE_LIVE=OFF.",
	.writes = BECOMES_ANOTHER,
	.run = run,
};
