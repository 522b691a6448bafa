/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/sim_session.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "cli/colour.h"
#include "cli/live.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/threads.h"
#include "live/tables/tables.h"

/* Adds a remark about the interruption of the run. */
static void put_interruption(const struct sim_session_options *v, const struct run *s,
			     struct strbuf *out)
{
	hd_time saved;

	strbuf_puts(out, "interrupted at ");
	hd_time_print(sim_now(run_sim(s)), out);
	strbuf_puts(out, " of simulated time: ");
	strbuf_puts(out, v->checksum || v->counters ? "there are no results"
						    : "these are the results until then");
	if (!run_is_saved(s, &saved))
		return;
	strbuf_printf(out, "; --restart %s continues from ", v->run.checkpoint);
	if (saved == sim_now(run_sim(s)))
		strbuf_puts(out, "there");
	else
		hd_time_print(saved, out);
}

/* Reports that a checkpoint could not be written. */
static void say_unsaved(void *context, const char *line)
{
	(void)context;
	cli_print_error("heddle", line);
}

/* Shows results as one number or in the format of perfquery; nothing for an interrupted run. */
static int show_shaped(const struct sim_session_options *v, const struct run *s, bool met)
{
	struct strbuf out = STRBUF_INIT;

	if (run_is_stopped(s))
		return EXIT_DONE;
	if (v->checksum)
		run_checksum(s, &out);
	else
		run_counters(s, &out);
	return output_text(&v->common, &out, met);
}

/* Captures and traces of an interrupted run are written, too, up to the interruption. */
static int show(const struct sim_session_options *v, const struct run *s)
{
	struct strbuf why = STRBUF_INIT;
	bool met;
	struct results *shown = run_results(s, v->all, &met);
	struct results *kept = output_is_recorded(&v->common) ? run_record(s) : shown;

	if (run_is_stopped(s))
		put_interruption(v, s, &why);
	if (why.len && !v->common.quiet)
		cli_print_error("heddle", why.text);
	if (why.len)
		results_remark(shown, "%s", why.text);
	if (why.len && kept != shown)
		results_remark(kept, "%s", why.text);
	strbuf_fini(&why);
	/* As text, the results of a run with jobs start with the jobs. */
	if (output_is_text(&v->common)) {
		results_move_first(shown, "steps");
		results_move_first(shown, "jobs");
	}
	if (!v->checksum && !v->counters)
		return output_shown_and_recorded(&v->common, shown, kept, met);
	results_free(shown);
	return show_shaped(v, s, met);
}

/* All processes refuse; the first one prints the error. */
static int refuse(const struct sim_session_options *v, const struct diag *d)
{
	return v->world.rank == 0 ? command_refuse(d) : command_status(d);
}

/* Checks that all processes have the same run. */
static enum hd_status compare(const struct sim_session_options *v, const struct fabric *fabric,
			      struct diag *d)
{
	struct strbuf mine = STRBUF_INIT;

	if (v->world.n == 1)
		return HD_OK;
	strbuf_puts(&mine, HD_VERSION " ");
	run_identity(fabric, &v->run, &mine);
	enum hd_status status = world_same(&v->world, "scenario, option or version", &mine, d);

	strbuf_fini(&mine);
	return status;
}

static enum hd_status begin(struct sim_session_options *v, struct fabric *fabric, struct diag *d,
			    struct run **out)
{
	enum hd_status status = compare(v, fabric, d);

	if (status != HD_OK) {
		fabric_free(fabric);
		return status;
	}
	status = run_open(fabric, &v->run, d, out);
	if (v->world.n == 1)
		return status;
	enum hd_status all = world_agree(&v->world, status, d);

	if (all != HD_OK && status == HD_OK)
		run_close(*out);
	return all;
}

/* The first process shows the results, which all have. */
static int finish(struct sim_session_options *v, struct run *s, enum hd_status done, struct diag *d)
{
	int status = EXIT_DONE;

	/* Results up to the exhaustion of memory are shown before the error. */
	if (done == HD_OK || run_state(s) == SIM_FULL)
		status = show(v, s);
	if (done != HD_OK)
		return command_refuse(d);
	return run_is_unsaved(s) ? EXIT_ENVIRONMENT : status;
}

static void report_left_out(const struct run *s)
{
	struct strbuf line = STRBUF_INIT;
	hd_time period;
	uint64_t n = run_left_out(s, &period);

	if (n == 0)
		return;
	hd_time_print(period, &line);
	fprintf(stderr,
		"heddle: %llu iterations of jobs were not computed: all that happens repeats every %s\n",
		(unsigned long long)n, line.text);
	strbuf_fini(&line);
}

static int simulate(struct sim_session_options *v, const char *file, struct fabric *fabric)
{
	const bool is_first = v->world.rank == 0;
	struct diag d = { .status = HD_OK };
	struct progress progress = { 0 };
	struct run *s = NULL;
	int status = EXIT_DONE;

	v->run.world = v->world.n > 1 ? &v->world : NULL;
	v->run.carries_programs = v->live && cli_live_is_engine();
	v->run.sampled = output_is_recorded(&v->common) && !v->run.carries_programs;
	v->run.progress = progress_packets;
	v->run.unsaved = is_first ? say_unsaved : NULL;
	v->run.context = &progress;
	if (begin(v, fabric, &d, &s) != HD_OK)
		return refuse(v, &d);
	if (is_first)
		progress_begin(&progress, &v->common, "packets", 0);
	/* Signals are not deferred with several processes: each would end at another time. */
	if (is_first && v->world.n > 1)
		cleanup_resume_signals();
	enum hd_status done = v->live ? sim_session_live(v, file, &s, &d) : run_to_end(s, &d);

	if (is_first)
		progress_end(&progress);
	if (is_first && v->common.verbose)
		report_left_out(s);
	if (is_first || run_state(s) == SIM_BROKEN)
		status = finish(v, s, done, &d);
	if (run_state(s) == SIM_BROKEN)
		world_abort(&v->world, status);
	run_close(s);
	return status;
}

/* The option that is not supported with several processes, or NULL. */
static const char *needs_one_process(const struct sim_session_options *v, const char *file)
{
	if (v->live)
		return "a live fabric";
	return strcmp(file, "-") == 0 ? "standard input" : NULL;
}

static enum hd_status choose(struct sim_session_options *v, const char *file, struct diag *d,
			     struct fabric **out)
{
	const char *alone = needs_one_process(v, file);
	enum hd_status status;

	if (v->world.n == 1)
		return fabric_choice_open_scenario(&v->scenario, v->tables, file, &v->common.seed,
						   d, out);
	if (alone)
		status = diag_fail(d, HD_ERR_USAGE,
				   "%s supports one process only; %u were started together", alone,
				   v->world.n);
	else
		status = fabric_choice_open_scenario(&v->scenario, NULL, file, &v->common.seed, d,
						     out);
	enum hd_status all = world_agree(&v->world, status, d);

	if (all != HD_OK && status == HD_OK)
		fabric_free(*out);
	return all;
}

/* Only the first process prints. */
static int explain(struct sim_session_options *v, const char *file)
{
	if (v->world.rank > 0)
		return EXIT_DONE;
	return fabric_choice_print(&v->scenario, &v->common, file);
}

int sim_session_run(struct sim_session_options *v, const char *file)
{
	struct diag d = { .status = HD_OK };
	struct fabric *fabric = NULL;
	int status;

	if (world_open(&v->world, &d) != HD_OK)
		return refuse(v, &d);
	if (v->world.rank > 0) {
		v->common.verbose = false;
		threads_apply(&v->common);
	}
	if (v->explain)
		status = explain(v, file);
	else if ((!v->live || v->world.n > 1 ||
		  live_tables_open(v->live, true, &d, &v->tables) == HD_OK) &&
		 choose(v, file, &d, &fabric) == HD_OK)
		status = simulate(v, file, fabric);
	else
		status = refuse(v, &d);
	live_tables_free(v->tables);
	world_close(&v->world);
	return status;
}
