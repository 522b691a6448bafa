/* SPDX-License-Identifier: BSD-2-Clause */
/* The engine of the simulated clock, and the traffic that 'live traffic' attaches to it. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/commands.h"
#include "cli/live.h"
#include "hca/lab.h"
#include "live/clock/timed.h"
#include "live/tables/tables.h"

struct engine_origin {
	const struct cli_live_start *wish;
	struct live_tables *tables;
	struct fabric *fabric;
};

/* The engine of this process while it runs attached traffic; else NULL. */
static struct engine *attached;

static void close_run(void *context, struct run *run)
{
	struct engine_origin *o = context;

	if (run)
		run_close(run);
	if (o->fabric)
		fabric_free(o->fabric);
	o->fabric = NULL;
	live_tables_free(o->tables);
	o->tables = NULL;
}

static enum hd_status open_run(void *context, struct diag *d, struct run **out)
{
	struct engine_origin *o = context;
	struct run_load load = { .ends_without_memory = true };
	const struct run_options options = { .load = &load, .carries_programs = true };
	enum hd_status status = live_tables_open(o->wish->name, false, d, &o->tables);

	lab_program_rules(&load.rules);
	if (status == HD_OK)
		status = live_tables_fabric(o->tables, o->wish->path, o->wish->overrides, d,
					    &o->fabric);
	if (status == HD_OK)
		status = run_open(o->fabric, &options, d, out);
	if (status != HD_OK)
		close_run(o, NULL);
	return status;
}

static bool is_old(void *context)
{
	const struct engine_origin *o = context;

	return live_tables_changed(o->tables);
}

/* ---- attached traffic: 'heddle sim' in this process, with the client's output and folder */

/* Redirects a stream to `file`; returns a copy of its old descriptor to restore it. */
static int redirect(FILE *stream, int file)
{
	int number = fileno(stream);

	fflush(stream);
	int before = fcntl(number, F_DUPFD_CLOEXEC, 0);

	dup2(file, number);
	return before;
}

static void restore(FILE *stream, int before)
{
	redirect(stream, before);
	close(before);
}

/* Runs the command of the words from `at` on, each terminated by NUL. */
static int run_words(const struct strbuf *words, size_t at)
{
	char **all = hd_alloc(words->len + 1, sizeof(*all));
	int n = 0;

	for (; at < words->len; at += strlen(words->text + at) + 1)
		all[n++] = words->text + at;
	int status = command_call(&command_sim, n, all);

	free(all);
	return status;
}

static void read_all(int file, struct strbuf *out)
{
	char text[4096];
	ssize_t got;

	for (off_t at = 0; (got = pread(file, text, sizeof(text), at)) > 0; at += got)
		strbuf_add(out, text, (size_t)got);
}

static int run_traffic(void *context, struct engine *e, const struct strbuf *words, int file,
		       struct strbuf *errors)
{
	const size_t folder = strlen(words->text) + 1;
	const size_t first = folder + strlen(words->text + folder) + 1;
	int messages = memfd_create("heddle-messages", MFD_CLOEXEC);
	int here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int status = EXIT_ENVIRONMENT;

	(void)context;
	if (messages >= 0 && here >= 0 && chdir(words->text + folder) == 0) {
		int out = redirect(stdout, file), err = redirect(stderr, messages);

		attached = e;
		status = run_words(words, first);
		attached = NULL;
		restore(stdout, out);
		restore(stderr, err);
		read_all(messages, errors);
		(void)!fchdir(here);
	} else {
		strbuf_puts(errors, "heddle: the engine cannot enter this folder\n");
	}
	if (here >= 0)
		close(here);
	if (messages >= 0)
		close(messages);
	return status;
}

bool cli_live_is_engine(void)
{
	return attached;
}

enum hd_status cli_live_engine_enter(struct run *run, hd_time now, struct diag *d)
{
	return timed_enter(attached, run, now, d);
}

void cli_live_engine_leave(void)
{
	clock_leave(attached);
}

enum cli_live_pause cli_live_engine_carry(void)
{
	switch (clock_carry(attached)) {
	case TIMED_CHANGED:
		return LIVE_CHANGED;
	case TIMED_DETACHED:
		return LIVE_DETACHED;
	default:
		return LIVE_OVER;
	}
}

const struct sim_counters *cli_live_program_counters(port_id port)
{
	return attached ? clock_program_counters(attached, port) : NULL;
}

/* ---- the process of the engine */

static enum hd_status run(const char *dir, void *context, void (*ready)(void *who), void *who,
			  struct diag *d)
{
	const struct engine_origin *o = context;
	const struct timed_source from = { open_run, close_run, is_old, run_traffic, context };

	return timed_run(dir, o->wish->profile, &from, ready, who, d);
}

enum hd_status cli_live_start_engine(const struct cli_live_start *w, struct diag *d)
{
	struct engine_origin o = { .wish = w };
	const struct live_companion c = { run, &o };

	return live_start_companion(w->name, &c, d);
}
