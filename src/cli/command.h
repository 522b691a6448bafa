/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CLI_COMMAND_H
#define HD_CLI_COMMAND_H

/*
 * A command is one record (struct command), from which dispatch, --help, the man page and shell
 * completion are derived. Each command is in cmd_<name>.c and listed in commands[] (main.c); a
 * command with subcommands has no function of its own.
 *
 * A command gets its options, calls the library and passes the results to a writer. It returns one
 * of the exit statuses below.
 */

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/option.h"

enum exit_status {
	EXIT_DONE = 0,        /* success, and all goals met */
	EXIT_GOAL_MISSED = 1, /* success, but a goal was missed */
	/*
	 * The command line is invalid, independent of the contents of files: an unknown option, an
	 * unknown name of a built-in list, a value of the wrong type.
	 */
	EXIT_USAGE = 2,
	/*
	 * A file or another description (a fabric, a class, a group), or an item looked up in it,
	 * is invalid.
	 */
	EXIT_BAD_INPUT = 3,
	EXIT_ENVIRONMENT = 4, /* the host lacks a resource: disk, device, ... */
};

struct example {
	const char *command;
	const char *meaning;
};

/* Kind of output; it determines which common options a command has. */
enum command_writes {
	WRITES_RESULTS,  /* tables: all options */
	WRITES_TEXT,     /* text: no formats, database and page */
	WRITES_NOTHING,  /* no output file: no --output either */
	BECOMES_ANOTHER, /* runs another program: --help only */
};

struct command {
	const char *name;        /* as typed after "heddle": "topo gen" */
	const char *summary;     /* one line, lower case, no full stop */
	const char *arguments;   /* "FILE...", or "" without arguments */
	const char *description; /* paragraphs separated by blank lines */
	/* Appends a list from a table to the description; or NULL. */
	void (*list)(struct strbuf *out);
	/* Possible arguments, for completion; NULL: files. */
	void (*words)(struct strbuf *out);
	const struct option *options;             /* own options; NULL: common options only */
	const struct example *examples;           /* ends with a NULL command */
	const struct command *const *subcommands; /* NULL-terminated */
	/*
	 * Function of the command. `values` are `size` bytes that begin with a struct
	 * common_options; they are copied from `initial` (NULL: zero) before options are parsed,
	 * and lists in them are freed after the call. There are `least` to `most` arguments.
	 */
	int (*call)(const struct command *self, void *values, int n, char **args);
	size_t size; /* 0: struct common_options only */
	const void *initial;
	int least, most;
	/*
	 * The command may take long: it shows progress (cli/progress.h) and keeps its partial
	 * results when interrupted.
	 */
	bool is_long;
	enum command_writes writes;
	/* The command calls output_check_own_formats(). */
	bool has_own_formats;
	/* Used instead of `call` by a command that parses its words itself. */
	int (*run)(const struct command *self, int argc, char **argv);
};
/* Initializer of a command: calls `function` with a struct `type` and `low` to `high` arguments. */
#define COMMAND_CALL(function, type, low, high) \
	.call = (function), .size = sizeof(type), .least = (low), .most = (high)
/* The same, with initial values copied from `values`. */
#define COMMAND_CALL_FROM(function, values, low, high) \
	COMMAND_CALL(function, values, low, high), .initial = &(values)
#define ANY_NUMBER INT_MAX

/* Options that all commands have; first member of each command's values. */
struct common_options {
	bool help;
	bool json;
	bool csv;
	bool quiet;
	unsigned format;    /* index into writer_names */
	const char *table;  /* the only table to write, or NULL */
	const char *output; /* NULL: standard output */
	const char *db;     /* database to which results are appended, or NULL */
	const char *html;   /* HTML page of the results, or NULL */
	uint64_t memory;    /* limit in bytes; 0: nine tenths of free memory */
	uint64_t threads;   /* 0: as many as are useful */
	bool verbose;       /* prints the number of threads used */
	uint64_t seed;      /* default 0, or the command's own */
};

extern const struct option command_common_options[]; /* of struct common_options */
/* Common options of a command: those that its kind of output has. */
const struct option *command_common(const struct command *c);

/*
 * Parses the command line into `values`, whose first member is a struct common_options. True:
 * continue with argv[0..*n_args). False: help was printed or the command line was refused, and
 * *status is the exit status.
 */
bool command_parse(const struct command *self, void *values, int argc, char **argv, int *n_args,
		   int *status);

/*
 * Checks that the extension of --output selects a format if no option does: EXIT_DONE, or a usage
 * error with the list of extensions.
 */
int command_check_ending(const struct command *self, const struct common_options *common);

/* Appends the description and the command's list. */
void command_describe(const struct command *self, struct strbuf *out);

/* Prints "heddle: <message>"; returns the exit status of the error. */
int command_refuse(const struct diag *d);
/* The exit status of the error, without a message. */
int command_status(const struct diag *d);
/* Prints "heddle NAME: <message>" and where to find help; EXIT_USAGE. */
HD_PRINTF(2, 3)
int command_usage(const struct command *self, const char *format, ...);

void command_help(const struct command *self, struct strbuf *out);

/* The last word of a command's name: "gen" of "topo gen". */
const char *command_short_name(const struct command *c);
/* The command that `words` name ("topo", "gen"); NULL if it does not exist. */
const struct command *command_find(const struct command *const *commands, int n_words,
				   char **words);

/* Parses the command line and calls `self`: used by dispatch for every command with a `call`. */
int command_call(const struct command *self, int argc, char **argv);

/* Runs the command of the NULL-terminated list `commands` that argv[0] names. */
int command_dispatch(const struct command *const *commands, int argc, char **argv);

#endif
