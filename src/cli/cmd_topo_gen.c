/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>

#include "cli/commands.h"
#include "cli/topo_formats.h"
#include "topo/generate.h"

struct topo_gen_options {
	struct common_options common;
	const char *to;
	struct topo_params params;
};

static const struct option own_options[] = {
	TOPO_TO_OPTION(struct topo_gen_options, to),
	{ .name = NULL },
};

static int make(const struct command *self, const struct generator *g, struct topo_gen_options *v)
{
	struct diag d = { .status = HD_OK };
	struct topo t;

	v->params.seed = v->common.seed;
	int status = cli_topo_output_check(self, &v->common, v->to);

	if (status != EXIT_DONE)
		return status;
	if (topo_generate(g, &v->params, &d, &t) != HD_OK)
		return command_refuse(&d);
	status = cli_topo_output(self, &v->common, v->to, &t);

	topo_fini(&t);
	return status;
}

static int run_kind(const struct generator *g, int argc, char **argv)
{
	const struct option *const theirs[] = { g->params, generator_common, NULL };
	struct option *options =
		options_join(own_options, theirs, offsetof(struct topo_gen_options, params));
	char name[64], line[160];
	const struct example shown[] = {
		{ line, "writes it to standard output" },
		{ NULL, NULL },
	};
	const struct command self = {
		.name = name,
		.summary = g->summary,
		.arguments = "",
		.description = g->description,
		.options = options,
		.examples = shown,
	};
	struct topo_gen_options v = { 0 };
	int n_args, status;

	snprintf(name, sizeof(name), "topo gen %s", g->name);
	snprintf(line, sizeof(line), "heddle topo gen %s", g->example);
	if (command_parse(&self, &v, argc, argv, &n_args, &status))
		status = n_args ? command_usage(&self, "unexpected '%s'", argv[0])
				: make(&self, g, &v);
	free(options);
	return status;
}

static int which_kind(const struct command *self)
{
	struct strbuf kinds = STRBUF_INIT;

	for (const struct generator *g = topo_generators; g->name; g++)
		strbuf_printf(&kinds, "%s%s", g == topo_generators ? "" : ", ", g->name);
	int status = command_usage(self, "missing argument: expected KIND, one of %s", kinds.text);

	strbuf_fini(&kinds);
	return status;
}

static int run(const struct command *self, int argc, char **argv)
{
	struct diag d = { .status = HD_OK };
	struct topo_gen_options v = { 0 };
	int n_args, status;

	if (argc > 0 && argv[0][0] != '-') {
		const struct generator *g = generator_find(argv[0], &d);

		return g ? run_kind(g, argc - 1, argv + 1) : command_usage(self, "%s", d.message);
	}
	/* Without a kind: prints help or an error. */
	if (!command_parse(self, &v, argc, argv, &n_args, &status))
		return status;
	return which_kind(self);
}

static void list_kinds(struct strbuf *out)
{
	for (const struct generator *g = topo_generators; g->name; g++)
		strbuf_printf(out, "%s  %-14s  %s", g == topo_generators ? "" : "\n", g->name,
			      g->summary);
}

static const struct example examples[] = {
	{ "heddle topo gen mesh --columns 4 --rows 4 --hosts 4",
	  "a 4x4 mesh with 4 hosts on each switch" },
	{ "heddle topo gen fat-tree --radix 36 --levels 3 -o big.ibnet",
	  "11664 hosts and 1620 switches: XGFT(3; 18,18,36; 1,18,18)" },
	{ "heddle topo gen irregular --switches 16 --seed 7 --to ibsim",
	  "a random fabric as a net for ibsim" },
	{ "heddle topo gen mesh --help", "the options of one kind" },
	{ NULL, NULL },
};

const struct command command_topo_gen = {
	.name = "topo gen",
	.summary = "generate a topology",
	.arguments = "KIND",
	.description = "Makes a fabric of one of the kinds below; 'heddle topo gen KIND "
		       "--help' shows the options of a kind. All take --link, "
		       "--host-link and --trunk-link (width and speed, as in '4x "
		       "HDR'), --vls, --host-vls, --mtu and --host-mtu. The same "
		       "options and seed give the same file.",
	.list = list_kinds,
	.words = generator_words,
	.options = own_options,
	.examples = examples,
	.run = run,
};
