/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_BASE_OPTION_H
#define HD_BASE_OPTION_H

/*
 * Command-line options, defined in one table.
 *
 * A command describes each option once; parsing, --help, the man page and shell
 * completion use the same row. Values are stored in a struct of the caller at
 * `offset`. Before parsing, each field is set from `initial`, in user notation;
 * without one it is unchanged.
 *
 * Long options take "--name value" or "--name=value", "--" ends the options,
 * and options and arguments may be mixed. A repeated option replaces its value,
 * except that OPT_LIST appends. Of two rows with the same name the first takes
 * precedence: a command's own row can override a common one. An error is one
 * line in the diag; for an unknown option it suggests the nearest name.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/units.h"

enum option_kind {
	OPT_FLAG,   /* bool */
	OPT_TEXT,   /* const char *, borrowed from argv */
	OPT_INPUT,  /* like OPT_TEXT: a file to read */
	OPT_OUTPUT, /* a file to write; must not be an input except `replaces` */
	OPT_LIST,   /* struct option_list of const char * */
	OPT_UINT,   /* uint64_t, `low`..`high` if high > 0 */
	OPT_DOUBLE, /* double */
	OPT_RATE,   /* struct hd_rate */
	OPT_TIME,   /* hd_time */
	OPT_SIZE,   /* uint64_t, bytes */
	OPT_RATIO,  /* struct hd_ratio */
	OPT_RANGE,  /* struct hd_range */
	OPT_CHOICE, /* unsigned, an index into `choices` */
	/*
	 * struct option_settings: an abbreviation of a scenario field, with its
	 * `path`, which is parsed later. The value is checked as `as` and
	 * stored as written. Without a path the value is PATH=VALUE.
	 */
	OPT_SET,
	OPT_REFUSED, /* not in help; rejected with the reason in `value` */
};

struct option {
	const char *name; /* long name without dashes; NULL ends a table */
	char letter;      /* one-letter form, or 0 */
	enum option_kind kind;
	size_t offset;     /* of the field in the caller's struct */
	const char *value; /* placeholder of the value in help: "FILE" */
	const char *initial;
	const char *help;           /* one sentence, lower case, no full stop */
	const char *const *choices; /* OPT_CHOICE: NULL-terminated */
	uint64_t low, high;         /* OPT_UINT: both inclusive; of OPT_TIME
				     * `low` only, in ps */
	const char *path;           /* OPT_SET */
	const char *replaces;       /* OPT_OUTPUT: the option whose file it may overwrite */
	/* OPT_SET: OPT_FLAG for any text, OPT_INPUT for a file. */
	enum option_kind as;
	/* Appends the words of a text option, each followed by a space, for
	 * completion only; NULL: none are known. */
	void (*words)(struct strbuf *out);
};

struct option_list {
	const char **items;
	size_t n, cap;
};

/* Options of kind OPT_SET, in the order of the command line. */
struct option_settings {
	struct option_setting {
		const struct option *option;
		const char *text; /* borrowed */
	} * items;
	size_t n, cap;
};

/*
 * Parses argv[0..argc) with the options of `tables` (NULL-terminated).
 * Arguments that are not options are moved to the front of argv in order and
 * counted in *n_args. Free lists and settings with options_fini.
 */
HD_MUST_CHECK enum hd_status options_parse(const struct option *const *tables, void *values,
					   int argc, char **argv, struct diag *d, int *n_args);
void option_list_fini(struct option_list *list);
/* Frees the lists and settings of all options. */
void options_fini(const struct option *const *tables, void *values);

/* The option with that long name (the first `len` bytes), or NULL. */
const struct option *option_find(const struct option *const *tables, const char *name, size_t len);
/*
 * Sets one option from its text, as options_parse does, for values that do not
 * come from a command line. The error does not name the option. A text or list
 * item is borrowed.
 */
HD_MUST_CHECK enum hd_status option_set(const struct option *o, void *values, const char *text,
					struct diag *d);
/* Sets every field whose option has an initial value. */
void options_set_initial(const struct option *const *tables, void *values);

/*
 * Joins `first` and `more` (NULL-terminated), whose fields are `offset` bytes
 * into the struct of the first, into one table; to be freed.
 */
struct option *options_join(const struct option *first, const struct option *const *more,
			    size_t offset);

/* Whether help shows the option: it is not a shadowed row and not a former name. */
bool option_is_shown(const struct option *const *tables, const struct option *o);
/* The OPTIONS part of --help: aligned, wrapped at 80 columns. */
void options_help(const struct option *const *tables, struct strbuf *out);
/* The same as man(7) source. */
void options_man(const struct option *const *tables, struct strbuf *out);
/* Escapes text for man(7) source. */
void option_man_text(struct strbuf *out, const char *text);

#endif
