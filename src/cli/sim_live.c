/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A run on a live fabric. It checks regularly for changed tables; a change takes effect in the run
 * at that time. All changes must be known when a run starts (sim/sim.h), so the run is rebuilt
 * with the changes known so far and advanced again to that time.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "cli/live.h"
#include "cli/sim_session.h"
#include "live/tables/tables.h"

static const hd_time LOOK = HD_MS * 20; /* interval of checks, by the machine's clock */

struct live_run {
	struct sim_session_options *v;
	const char *file;
	struct run **s;
	struct live_tables_watch *watch;
	hd_time begun; /* by the machine's clock */
	hd_time slice; /* simulated time until the next check */
};

static void sleep_for(hd_time time)
{
	const struct timespec t = { .tv_sec = (time_t)(time / HD_S),
				    .tv_nsec = (long)(time % HD_S / HD_NS) };

	nanosleep(&t, NULL);
}

/* Rebuilds the run with the changes found so far and advances it to the current time. */
static enum hd_status remake(struct live_run *r, hd_time now, struct diag *d)
{
	struct run *next;
	struct fabric *fabric;
	enum hd_status status =
		live_tables_fabric(r->v->tables, r->file, &r->v->scenario.overrides, d, &fabric);

	if (status == HD_OK)
		status = run_open(fabric, &r->v->run, d, &next);
	if (status != HD_OK)
		return status;
	if (cli_live_is_engine())
		cli_live_engine_leave();
	run_close(*r->s);
	live_tables_watch_free(r->watch);
	*r->s = next;
	r->watch = live_tables_watch_new(fabric, run_sim(next));
	return cli_live_is_engine() ? cli_live_engine_enter(next, now, d)
				    : run_advance(next, now, d);
}

static enum hd_status look(struct live_run *r, struct diag *d)
{
	hd_time now = sim_now(run_sim(*r->s));
	/* Events at `now` have been processed: the change applies from the next nanosecond on. */
	hd_time at = (now / HD_NS + 1) * HD_NS;
	bool changed;
	enum hd_status status =
		live_tables_update(r->v->tables, run_fabric(*r->s), at, d, &changed);

	return status == HD_OK && changed ? remake(r, now, d) : status;
}

/* Simulated time of the next check; waits for the machine's clock if the pace requires it. */
static hd_time next_stop(struct live_run *r, hd_time took)
{
	hd_time now = sim_now(run_sim(*r->s));

	/* The run ends at its next check for signals. */
	if (cleanup_signal_is_pending())
		return HD_TIME_NEVER;
	if (r->v->pace > 0) {
		if (took < LOOK)
			sleep_for(LOOK - took);
		hd_time due = (hd_time)((double)(clock_time() - r->begun) * r->v->pace);

		return due > now ? due : now;
	}
	if (took < LOOK)
		r->slice *= 2;
	else if (took > 4 * LOOK && r->slice > HD_NS)
		r->slice /= 2;
	return now + r->slice;
}

static enum hd_status go_on(struct live_run *r, struct diag *d)
{
	enum hd_status status = HD_OK;
	hd_time took = 0;

	/* Standard input cannot be read twice. */
	if (strcmp(r->file, "-") == 0)
		return run_to_end(*r->s, d);
	do {
		hd_time before = clock_time();

		status = run_advance(*r->s, next_stop(r, took), d);
		took = clock_time() - before;
		if (status != HD_OK || run_is_stopped(*r->s) || run_is_over(*r->s))
			break;
		status = look(r, d);
	} while (status == HD_OK);
	return status == HD_OK ? run_stop(*r->s, d) : status;
}

/* With the simulated clock, only the engine simulates traffic. */
static enum hd_status check_clock(const char *name, struct diag *d)
{
	const char *const words[] = { "time" };
	struct strbuf out = STRBUF_INIT;
	struct diag free_clock = { .status = HD_OK };
	char *dir = live_folder(name);
	enum hd_status status = live_call(dir, words, 1, &free_clock, &out);

	free(dir);
	strbuf_fini(&out);
	if (status != HD_OK)
		return HD_OK;
	return diag_fail(d, HD_ERR_UNFIT,
			 "fabric '%s' has the simulated clock; use 'heddle live traffic'", name);
}

/* In the engine: runs together with the queue pairs of programs. */
static enum hd_status carry(struct live_run *r, struct diag *d)
{
	enum cli_live_pause pause = LIVE_CHANGED;

	if (r->v->pace > 0)
		return diag_fail(d, HD_ERR_USAGE,
				 "--pace needs the free clock; programs pace a simulated one");
	enum hd_status status = cli_live_engine_enter(*r->s, 0, d);

	while (status == HD_OK && (pause = cli_live_engine_carry()) == LIVE_CHANGED)
		status = look(r, d);
	if (status == HD_OK && pause == LIVE_OVER)
		status = run_advance(*r->s, HD_TIME_NEVER, d);
	else
		run_interrupt(*r->s);
	cli_live_engine_leave();
	return status == HD_OK ? run_stop(*r->s, d) : status;
}

enum hd_status sim_session_live(struct sim_session_options *v, const char *file, struct run **s,
				struct diag *d)
{
	struct live_run r = {
		.v = v,
		.file = file,
		.s = s,
		.watch = live_tables_watch_new(run_fabric(*s), run_sim(*s)),
		.begun = clock_time(),
		.slice = HD_US,
	};
	enum hd_status status = cli_live_is_engine() ? carry(&r, d) : check_clock(v->live, d);

	if (status == HD_OK && !cli_live_is_engine())
		status = go_on(&r, d);

	if (status == HD_OK)
		status = live_tables_count(v->live, run_fabric(*s), sim_metrics(run_sim(*s)),
					   cli_live_program_counters, d);
	if (status == HD_OK)
		status = live_tables_watch_report(r.watch, v->live, d);
	live_tables_watch_free(r.watch);
	return status;
}
