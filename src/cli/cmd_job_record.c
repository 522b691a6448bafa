/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "workload/record.h"

struct job_record_options {
	struct common_options common;
	bool no_compute;
};

#define FIELD(name) offsetof(struct job_record_options, name)

static const struct option options[] = {
	{ "no-compute", 0, OPT_FLAG, FIELD(no_compute), NULL, NULL,
	  "leave out the times between calls: what remains is communication" },
	{ .name = NULL },
};

static int write_goal(const struct job_record_options *v, const struct opgraph *g)
{
	struct output_stream out;
	int status = output_open(&v->common, &out);

	if (status != EXIT_DONE)
		return status;
	opgraph_write(g, &out.text);
	return output_close(&out, true);
}

static int run(const struct command *self, void *values, int n, char **args)
{
	const struct job_record_options *v = values;
	const struct record_how how = { .has_compute = !v->no_compute, .aside = !v->common.output };
	char **words = hd_alloc((size_t)n + 1, sizeof(*words));
	struct diag d = { .status = HD_OK };
	struct opgraph g;
	int status;

	(void)self;
	memcpy(words, args, (size_t)n * sizeof(*words));
	enum hd_status done = record_run(words, &how, &d, &g);

	free(words);
	if (done != HD_OK)
		return command_refuse(&d);
	status = write_goal(v, &g);
	opgraph_fini(&g);
	return status;
}

static const struct example examples[] = {
	{ "heddle job record -o app.goal -- mpirun -n 8 ./app",
	  "what a program does, for 'heddle job show' and 'jobs' of a scenario" },
	{ NULL, NULL },
};

const struct command command_job_record = {
	.name = "job record",
	.summary = "record the operations of an MPI program as GOAL",
	.arguments = "-- PROGRAM [ARGUMENT...]",
	.description = "Runs PROGRAM, a launcher of an MPI program in C or C++, with a library\n"
		       "preloaded that notes what every rank does: messages, requests,\n"
		       "communicators, collectives and the times between calls. Collectives\n"
		       "become messages by algorithms that docs/jobs.md names, whatever the\n"
		       "program's MPI does. Without -o the program's output goes to standard\n"
		       "error.\n",
	.options = options,
	.examples = examples,
	.writes = WRITES_TEXT,
	COMMAND_CALL(run, struct job_record_options, 1, ANY_NUMBER),
};
