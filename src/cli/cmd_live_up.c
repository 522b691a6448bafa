/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>

#include "cli/commands.h"
#include "cli/live/live.h"
#include "fabric/fabric.h"

struct values {
	struct common_options common;
	const char *name;
	bool foreground;
};

#define V(member) offsetof(struct values, member)

static const struct option options[] = {
	LIVE_NAME_OPTION(struct values),
	{ "foreground", 0, OPT_FLAG, V(foreground), NULL, NULL,
	  "stay, and end the fabric when interrupted", NULL, 0, 0 },
	{ NULL },
};

static void print_what_next(const struct values *v, const struct topo *t)
{
	const char *host = NULL;
	unsigned hosts = 0, switches = 0;

	for (node_id n = 0; n < t->n_nodes; n++) {
		if (t->nodes[n].kind == NODE_SWITCH) {
			switches++;
			continue;
		}
		hosts++;
		if (!host)
			host = t->nodes[n].name;
	}
	printf("'%s' is up: %u hosts, %u switches, not managed yet\n", v->name,
	       hosts, switches);
	if (host)
		printf("heddle live exec %s -- opensm\n", host);
}

static int run(const struct command *self, int argc, char **argv)
{
	struct values v = { 0 };
	struct diag d = { .status = HD_OK };
	struct fabric *f;
	int n_args, status;

	if (!command_parse(self, &v, argc, argv, &n_args, &status))
		return status;
	if (n_args != 1)
		return command_usage(self, "which SCENARIO or FABRIC?");
	if (!live_is_name(v.name))
		return command_usage(self, "'%s' is no name for a fabric",
				     v.name);
	if (fabric_open(argv[0], NULL, &d, &f) != HD_OK)
		return command_refuse(&d);
	status = live_start(&f->topo, v.name, !v.foreground, &d) == HD_OK
			 ? EXIT_DONE
			 : command_refuse(&d);
	if (status == EXIT_DONE && !v.foreground && !v.common.quiet)
		print_what_next(&v, &f->topo);
	fabric_free(f);
	return status;
}

static const struct example examples[] = {
	{ "heddle live up site.ibnet", "the fabric of a file" },
	{ "heddle live up 'fat-tree --radix 36 --levels 2' --name lab",
	  "a generated one" },
	{ NULL, NULL },
};

const struct command command_live_up = {
	.name = "live up",
	.summary = "start a fabric",
	.arguments = "SCENARIO|FABRIC",
	.description =
		"Starts the daemon of a fabric: all cables are plugged in, all "
		"links are trained, and no subnet manager has been there. "
		"Programs attach with 'heddle live exec'; other users are "
		"refused. Its folder is in $XDG_RUNTIME_DIR, or else in /tmp.",
	.options = options,
	.examples = examples,
	.run = run,
};
