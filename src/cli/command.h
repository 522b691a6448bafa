/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CLI_COMMAND_H
#define HD_CLI_COMMAND_H

/*
 * What a command is: one record from which dispatch, --help, its man page and
 * shell completion follow. A command lives in its cmd_<name>.c and is listed
 * in commands[] (main.c); a command with subcommands has no run of its own.
 *
 * A command is given its options, calls the library, and hands the outcome to a
 * writer. It returns one of the exit statuses below.
 */

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/option.h"

enum exit_status {
	EXIT_DONE = 0,        /* done, and every goal met */
	EXIT_GOAL_MISSED = 1, /* done, but a stated goal was missed */
	/*
	 * The command line is invalid, whatever the files contain: an unknown
	 * option, a name out of a list of ours, a value of the wrong kind.
	 */
	EXIT_USAGE = 2,
	/*
	 * A file or another description (a fabric, a class, a group) was
	 * refused, wherever it was written, or what is looked up in it.
	 */
	EXIT_BAD_INPUT = 3,
	EXIT_ENVIRONMENT = 4, /* the host lacks something: disk, device, ... */
};

struct example {
	const char *command;
	const char *meaning;
};

/* What a command writes says which of the common options it has. */
enum command_writes {
	WRITES_RESULTS,  /* tables: all of them */
	WRITES_TEXT,     /* a text of its own: no formats, database and page */
	WRITES_NOTHING,  /* to no file that they name: not --output either */
	BECOMES_ANOTHER, /* what the other program does: --help alone */
};

struct command {
	const char *name;        /* as typed after "heddle": "topo gen" */
	const char *summary;     /* one line, lower case, no stop */
	const char *arguments;   /* "FILE...", "" if it takes none */
	const char *description; /* paragraphs separated by blank lines */
	/* One more, of what some table has; NULL: none. */
	void (*list)(struct strbuf *out);
	/* Words that its arguments may be, for completion; NULL: files. */
	void (*words)(struct strbuf *out);
	const struct option *options;             /* NULL if only the common ones */
	const struct example *examples;           /* ends with a NULL command */
	const struct command *const *subcommands; /* NULL-terminated */
	/*
	 * What call is given: `size` bytes of values, which begin with a struct
	 * common_options, as `initial` has them (NULL: zero) before options
	 * are read, and whose lists are freed afterwards; and `least` to
	 * `most` arguments.
	 */
	int (*call)(const struct command *self, void *values, int n, char **args);
	size_t size; /* 0: of the common options */
	const void *initial;
	int least, most;
	/*
	 * Its work may take long: it shows how far it is (cli/progress.h) and,
	 * interrupted, keeps what it has.
	 */
	bool is_long;
	enum command_writes writes;
	/* It calls output_check_own_formats(). */
	bool has_own_formats;
	/* Instead, of a command that reads its words itself. */
	int (*run)(const struct command *self, int argc, char **argv);
};
/* In a command: call `function` with a struct `type` and `low` to `high` arguments. */
#define COMMAND_CALL(function, type, low, high) \
	.call = (function), .size = sizeof(type), .least = (low), .most = (high)
/* The same, with values that begin as `values` are. */
#define COMMAND_CALL_FROM(function, values, low, high) \
	COMMAND_CALL(function, values, low, high), .initial = &(values)
#define ANY_NUMBER INT_MAX

/* The same options everywhere; first member of each command's values. */
struct common_options {
	bool help;
	bool json;
	bool csv;
	bool quiet;
	unsigned format;    /* index into writer_names */
	const char *table;  /* the only table to write, or NULL */
	const char *output; /* NULL: standard output */
	const char *db;     /* a database to append the results to, or NULL */
	const char *html;   /* a page to write them to, or NULL */
	uint64_t memory;    /* most bytes to take; 0: most of what is free */
	uint64_t threads;   /* 0: as many as are worth it, */
	bool verbose;       /* and how many those were is said */
	uint64_t seed;      /* before parsing 0, or a default of one's own */
};

extern const struct option command_common_options[]; /* of struct common_options */
/* Those of a command: all; of one without results, or of several, the last. */
const struct option *command_common(const struct command *c);

/*
 * Reads the command line into `values`, whose first member is a struct
 * common_options. True to continue with argv[0..*n_args); false if all is done
 * (help was printed) or refused, *status then being what to return.
 */
bool command_parse(const struct command *self, void *values, int argc, char **argv, int *n_args,
		   int *status);

/*
 * Whether the ending of --output selects a format, if no option does:
 * EXIT_DONE, or a usage error with the list of endings.
 */
int command_check_ending(const struct command *self, const struct common_options *common);

/* The description and what is listed. */
void command_describe(const struct command *self, struct strbuf *out);

/* Prints "heddle: <what was refused>"; returns the matching exit status. */
int command_refuse(const struct diag *d);
/* That status, without the line. */
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

/*
 * Reads the command line and calls `self` with what it says: what dispatch does
 * with every command that has a call.
 */
int command_call(const struct command *self, int argc, char **argv);

/* Runs the one of `commands` (NULL-terminated) that argv[0] names. */
int command_dispatch(const struct command *const *commands, int argc, char **argv);

#endif
