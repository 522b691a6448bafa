/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CLI_LIVE_H
#define HD_CLI_LIVE_H

/* Functions shared by the commands of 'heddle live'. */

#include "cli/command.h"
#include "live/live.h"

#define LIVE_USUAL_NAME "fabric"
#define LIVE_NAME_OPTION(type)                                                        \
	{                                                                             \
		"name", 'n', OPT_TEXT, offsetof(type, name), "NAME", LIVE_USUAL_NAME, \
			"name of the fabric", NULL, 0, 0                              \
	}

/* Allows letters, digits, '-' and '_': the name becomes part of a path. */
bool cli_live_is_name(const char *name);

/*
 * Sends the command `verb` with `n` words to the fabric `name`; returns the exit status. The
 * output is in `out`, which the caller frees.
 */
int cli_live_request(const char *name, const char *verb, char **words, int n, struct strbuf *out);
/* Also passes an open file, or -1. */
int cli_live_request_with_file(const char *name, const char *verb, char **words, int n, int file,
			       struct strbuf *out);

/* Options of commands with a fabric name only. */
struct cli_live_name {
	/* cppcheck-suppress unusedStructMember ; read by command_parse */
	struct common_options common;
	const char *name;
};
extern const struct option cli_live_name_options[];
/* Function of commands whose words are sent to the daemon unchanged; prints its output or error. */
int cli_live_forward(const struct command *self, void *values, int n, char **words);

/* Parameters to start a fabric with its engine or subnet manager. */
struct cli_live_start {
	const char *name;
	const char *path;                  /* scenario or topology to start */
	const struct overrides *overrides; /* overrides of its fields */
	const char *engine; /* routing algorithm of the built-in subnet manager; NULL: no manager */
	hd_time patience;   /* time allowed for bringing up the subnet */
	const char *profile; /* adapter profile for the simulated clock; or NULL */
	const char *faults;  /* a file of faults, or NULL */
	bool stays;          /* runs in the foreground */
	struct live_options options;
};

/* Starts all processes, or none. False, with a message, if the subnet is not up yet. */
bool cli_live_bring_up(const struct cli_live_start *w, const struct topo *t, struct diag *d);
/* Prints that the fabric is up, and commands to use it. */
void cli_live_print_hints(const struct cli_live_start *w, const struct topo *t);

/* True if the words are a selection (fabric/select.h) and not the name of one host. */
bool cli_live_is_selection(const char *hosts);
/* Names of the selected hosts, separated as in place.h. */
HD_MUST_CHECK enum hd_status cli_live_find_hosts(const char *name, const char *hosts,
						 struct diag *d, struct strbuf *out);

/*
 * Sets environment variables of MPI libraries so that ranks use the adapter instead of shared
 * memory, unless the user has set them.
 */
void cli_live_use_adapter(void);

/*
 * Adds libraries of Heddle (NULL-terminated) before all others to those preloaded by programs that
 * are started from now on.
 */
bool cli_live_preload(const char *const *names, struct diag *d);
/* Executes a program of `n` words; returns only on failure. */
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
/* Counters of packets of programs; NULL in other processes. */
const struct sim_counters *cli_live_program_counters(port_id port);

#endif
