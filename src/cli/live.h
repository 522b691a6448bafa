/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CLI_LIVE_H
#define HD_CLI_LIVE_H

/* What the commands of 'heddle live' share. */

#include "cli/command.h"
#include "fabric/fabric.h"
#include "live/live.h"
#include "sim/sim.h"

#define LIVE_USUAL_NAME "fabric"
#define LIVE_NAME_OPTION(type)                                                        \
	{                                                                             \
		"name", 'n', OPT_TEXT, offsetof(type, name), "NAME", LIVE_USUAL_NAME, \
			"which fabric, if several run", NULL, 0, 0                    \
	}

/* Letters, digits, '-' and '_': it becomes part of a path. */
bool cli_live_is_name(const char *name);

/*
 * Asks the fabric `name` to do `verb` with `n` words; the exit status. What it
 * prints is left in `out`, which the caller frees.
 */
int cli_live_request(const char *name, const char *verb, char **words, int n, struct strbuf *out);
/* The same with an open file for it; or -1. */
int cli_live_request_with_file(const char *name, const char *verb, char **words, int n, int file,
			       struct strbuf *out);

/* Of commands that need no more than a fabric. */
struct cli_live_name {
	/* cppcheck-suppress unusedStructMember ; read by command_parse */
	struct common_options common;
	const char *name;
};
extern const struct option cli_live_name_options[];
/*
 * Calls commands whose words go to the fabric as they are; it says what is
 * wrong with them, or what they asked for, which is printed.
 */
int cli_live_forward(const struct command *self, void *values, int n, char **words);

/*
 * The tables of the live fabric `name`: those at the start of a run and those
 * found later during it. Fails with `needs_manager` if the subnet manager does
 * not answer; otherwise applications choose the SLs then.
 */
struct cli_live_tables;
HD_MUST_CHECK enum hd_status cli_live_tables_open(const char *name, bool needs_manager,
						  struct diag *d, struct cli_live_tables **out);
void cli_live_tables_free(struct cli_live_tables *l);
/* Whether something else is programmed now than when they were opened. */
bool cli_live_tables_changed(struct cli_live_tables *l);
/* Looks again: what has changed holds from the time `at` of the run on. */
HD_MUST_CHECK enum hd_status cli_live_tables_update(struct cli_live_tables *l,
						    const struct fabric *fabric, hd_time at,
						    struct diag *d, bool *changed);

/*
 * The scenario in `path` on that fabric: its topology must be that one's; LIDs,
 * routes, VLs, tables and partitions are what was programmed there, and links
 * that are not active are down. What was found later happens at its time. Lives
 * no longer than `l`.
 */
HD_MUST_CHECK enum hd_status cli_live_fabric_read(struct cli_live_tables *l, const char *path,
						  const struct overrides *o, struct diag *d,
						  struct fabric **out);

/* A fabric to start, with its engine or subnet manager. */
struct cli_live_start {
	const char *name;
	const char *path;                  /* what it is started from, */
	const struct overrides *overrides; /* and what is changed in it */
	const char *engine;                /* of a manager of ours; NULL: none */
	hd_time patience;                  /* for it to bring the subnet up */
	const char *profile;               /* of adapters, if data take time; or NULL */
	const char *faults;                /* a file of faults, or NULL */
	bool stays;                        /* in the foreground */
	struct live_options options;
};

/*
 * What MADs take on their way through it, of a bare fabric; its cables are to
 * be freed. Refused where packets go by rules that MADs do not know.
 */
struct agents_timing;
HD_MUST_CHECK enum hd_status cli_live_times(const struct fabric *fabric, struct diag *d,
					    struct agents_timing *out);

/* Starts all of it, or nothing. Says it if the subnet is not up yet: false. */
bool cli_live_bring_up(const struct cli_live_start *w, const struct topo *t, struct diag *d);
/* Says that it is up, and what to do with it. */
void cli_live_print_hints(const struct cli_live_start *w, const struct topo *t);

/* Words of a selection (fabric/select.h), not the name of one host. */
bool cli_live_is_selection(const char *hosts);
/* Their names, as place.h wants several. */
HD_MUST_CHECK enum hd_status cli_live_find_hosts(const char *name, const char *hosts,
						 struct diag *d, struct strbuf *out);

/*
 * Ranks of one machine would talk over its memory: from now on over the
 * adapter, by what their libraries read, unless the user has said otherwise.
 */
void cli_live_use_adapter(void);

/*
 * Programs started from now on load these libraries of ours (NULL ends them)
 * before all others, and what is preloaded already behind them.
 */
bool cli_live_preload(const char *const *names, struct diag *d);
/* Becomes a program of `n` words; returns only if it could not be started. */
void cli_live_exec(char **words, int n, struct diag *d);

/* Runs the engine of a fabric in a process of its own. */
HD_MUST_CHECK enum hd_status cli_live_start_engine(const struct cli_live_start *w, struct diag *d);

/* In the engine's process while it runs the traffic of 'live traffic': live/clock/timed.h. */
struct run;
enum cli_live_pause { LIVE_CHANGED, LIVE_OVER, LIVE_DETACHED };
bool cli_live_is_engine(void);
HD_MUST_CHECK enum hd_status cli_live_engine_enter(struct run *run, hd_time now, struct diag *d);
void cli_live_engine_leave(void);
enum cli_live_pause cli_live_engine_carry(void);
/* Of packets of programs; NULL in other processes. */
const struct sim_counters *cli_live_program_counters(port_id port);

/*
 * What a subnet manager has set of congestion control, in place of what a
 * scenario says: when switches mark; and what a port does about marks on an
 * SL, false: nothing. Refused if switches are to mark in different ways.
 */
struct agents;
HD_MUST_CHECK enum hd_status cli_live_control(const struct agents *a, struct scn_congestion *c,
					      struct diag *d);
bool cli_live_throttle(const struct agents *a, port_id source, unsigned sl, struct cc_config *c);
/* The same, where others at other times are controlled: off if it is not. */
HD_MUST_CHECK enum hd_status cli_live_control_or_off(const struct agents *a,
						     struct scn_congestion *c, struct diag *d);
bool cli_live_throttle_or_off(const struct agents *a, port_id source, unsigned sl,
			      struct cc_config *c);

/* Adds what a run counted to the counters of its ports there. */
HD_MUST_CHECK enum hd_status cli_live_count(const char *name, const struct fabric *fabric,
					    const struct sim_metrics *m, struct diag *d);

/* Notes whose packets a run's ports refuse; tells the fabric of it. */
struct cli_live_watch;
struct cli_live_watch *cli_live_watch_new(const struct fabric *fabric, struct sim *s);
HD_MUST_CHECK enum hd_status cli_live_watch_report(const struct cli_live_watch *w, const char *name,
						   struct diag *d);
void cli_live_watch_free(struct cli_live_watch *w);

#endif
