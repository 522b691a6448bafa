/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/commands.h"
#include "cli/output.h"
#include "workload/show.h"

struct job_show_options {
	struct common_options common;
	struct ideal_net net;
	bool all, goal;
};

#define FIELD(name) offsetof(struct job_show_options, name)

static const struct option options[] = {
	{ "latency", 0, OPT_TIME, FIELD(net.latency), "TIME", "1us",
	  "latency of a message on the ideal network, from its last byte leaving to its arrival" },
	{ "rate", 0, OPT_RATE, FIELD(net.rate), "RATE", "4x HDR",
	  "rate at which a rank sends on the ideal network" },
	{ "all", 'a', OPT_FLAG, FIELD(all), NULL, NULL,
	  "show every pair of ranks and every failed operation, not only the first" },
	{ "goal", 0, OPT_FLAG, FIELD(goal), NULL, NULL,
	  "write the operations as GOAL text, instead of results" },
	{ .name = NULL },
};

static int show(const struct command *self, const struct job_show_options *v, const char *file,
		const struct opgraph *g)
{
	struct diag d = { .status = HD_OK, .file = file };
	const struct job_view view = { file, v->net, v->all };
	struct results *r = results_new(self->name);
	struct output_stream out;
	bool well;
	enum hd_status found = opgraph_show(g, &view, &d, r, &well);

	if (found == HD_OK && !v->goal)
		return output_results(&v->common, r, well);
	results_free(r);
	if (found != HD_OK)
		return command_refuse(&d);
	int status = output_open(&v->common, &out);

	if (status != EXIT_DONE)
		return status;
	opgraph_write(g, &out.text);
	return output_close(&out, well);
}

static int run(const struct command *self, void *values, int n, char **args)
{
	const struct job_show_options *v = values;
	const struct output_own_format own[] = { { "--goal", v->goal }, { NULL, false } };
	struct diag d = { .status = HD_OK };
	struct opgraph g;
	int status = output_check_own_formats(self, &v->common, own);

	(void)n;
	if (status != EXIT_DONE)
		return status;
	if (opgraph_read_file(args[0], &d, &g) != HD_OK)
		return command_refuse(&d);
	status = show(self, v, args[0], &g);
	opgraph_fini(&g);
	return status;
}

static const struct example examples[] = {
	{ "heddle job show trace.goal", "operations, messages and pairs of ranks of a trace" },
	{ "heddle job show trace.goal --latency 600ns --rate '4x NDR'",
	  "how long it takes at best there" },
	{ "heddle job show flows.cm --goal -o flows.goal", "a connection matrix as GOAL" },
	{ NULL, NULL },
};

const struct command command_job_show = {
	.name = "job show",
	.summary = "summarize a file of operations",
	.arguments = "FILE",
	.description =
		"Prints operations and bytes of all ranks, bytes for each pair of ranks, and\n"
		"the critical path on an ideal network: a rank sends one message at a\n"
		"time, each arrives a latency later, and messages do not compete.\n"
		"The exit status is 1 if an operation fails: a receive without a send, a\n"
		"send without a receive, or a message larger than its receive. The line\n"
		"and rank are printed.\n",
	.has_own_formats = true,
	.options = options,
	.examples = examples,
	COMMAND_CALL(run, struct job_show_options, 1, 1),
};
