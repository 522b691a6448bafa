/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/commands.h"
#include "cli/topo_formats.h"
#include "topo/read.h"

struct topo_convert_options {
	struct common_options common;
	const char *to;
};

static const struct option options[] = {
	TOPO_TO_OPTION(struct topo_convert_options, to),
	{ .name = NULL },
};

static int run(const struct command *self, void *values, int n, char **args)
{
	const struct topo_convert_options *v = values;
	struct diag d = { .status = HD_OK };
	struct topo t;
	int status = cli_topo_output_check(self, &v->common, v->to);

	(void)n;
	if (status != EXIT_DONE)
		return status;
	if (topo_open(args[0], v->common.seed, NULL, &d, &t) != HD_OK)
		return command_refuse(&d);
	status = cli_topo_output(self, &v->common, v->to, &t);
	topo_fini(&t);
	return status;
}

static const struct example examples[] = {
	{ "ibnetdiscover | heddle topo convert - --to ibsim -o site.net",
	  "a live fabric as a net for ibsim" },
	{ "heddle topo convert opensm-subnet.lst -o site.ibnet",
	  "OpenSM's list as ibnetdiscover's file" },
	{ "heddle topo convert site.ibnet -o site.svg", "a picture" },
	{ "diff <(heddle topo convert a --to links) <(heddle topo convert b --to links)",
	  "what two fabrics differ in" },
	{ NULL, NULL },
};

const struct command command_topo_convert = {
	.name = "topo convert",
	.summary = "write a topology in another format",
	.arguments = "FABRIC",
	.description = "Reads a fabric in any format and writes it in another. A file "
		       "of ibnetdiscover that is read and written in its own format "
		       "comes out as it was. What a format cannot say is lost: only "
		       "ibnetdiscover -f has VLs, none has MTUs (but fabrics made by "
		       "'heddle topo gen' remember how they were made).",
	.options = options,
	.examples = examples,
	COMMAND_CALL(run, struct topo_convert_options, 1, 1),
};
