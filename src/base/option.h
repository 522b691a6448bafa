/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_BASE_OPTION_H
#define HD_BASE_OPTION_H

/*
 * Command-line options from one table.
 *
 * A command describes each option once; reading the command line, --help, the
 * man page and shell completion all follow from that row. Values land in a
 * struct of the caller's at `offset`; before reading, each field is set from
 * `initial`, written as a user would type it, or else left as it is.
 *
 * Long options take "--name value" or "--name=value", "--" ends the options,
 * options and arguments may mix. Repeating an option replaces its value, but
 * OPT_LIST collects. Of two rows of one name the first counts: a command's own
 * may stand in for a common one. A refusal is one line in the diag; an unknown
 * option suggests the nearest.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/units.h"

enum option_kind {
	OPT_FLAG,   /* bool */
	OPT_TEXT,   /* const char *, borrowed from argv */
	OPT_INPUT,  /* the same: a file that is read */
	OPT_OUTPUT, /* a file that is written, and no input but `replaces` */
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
	 * struct option_settings: short for a field of a description that is
	 * read later, by its `path`. The value is checked as `as` and kept as
	 * it was written. Without a path the value is PATH=VALUE.
	 */
	OPT_SET,
	OPT_REFUSED, /* not in help; refused with the reason in `value` */
};

struct option {
	const char *name; /* long name without dashes; NULL ends a table */
	char letter;      /* one-letter form, or 0 */
	enum option_kind kind;
	size_t offset;     /* of the field in the caller's struct */
	const char *value; /* what to call the value in help: "FILE" */
	const char *initial;
	const char *help;           /* one sentence, lower case, no stop */
	const char *const *choices; /* OPT_CHOICE: NULL-terminated */
	uint64_t low, high;         /* OPT_UINT: both inclusive; of OPT_TIME
				     * `low` only, in ps */
	const char *path;           /* OPT_SET */
	const char *replaces;       /* OPT_OUTPUT: the option whose file it may be */
	/* OPT_SET: OPT_FLAG for any text, OPT_INPUT for a file. */
	enum option_kind as;
	/* Words that a text may be, a blank after each, for completion only;
	 * NULL: none are known. */
	void (*words)(struct strbuf *out);
};

struct option_list {
	const char **items;
	size_t n, cap;
};

/* Options of kind OPT_SET, in the order in which they were given. */
struct option_settings {
	struct option_setting {
		const struct option *option;
		const char *text; /* borrowed */
	} * items;
	size_t n, cap;
};

/*
 * Reads argv[0..argc), in which `tables` (NULL-terminated) name the options.
 * Arguments that are not options are moved to the front of argv in order and
 * counted in *n_args. Lists and settings are freed with options_fini.
 */
HD_MUST_CHECK enum hd_status options_parse(const struct option *const *tables, void *values,
					   int argc, char **argv, struct diag *d, int *n_args);
void option_list_fini(struct option_list *list);
/* Frees the lists and settings of all options. */
void options_fini(const struct option *const *tables, void *values);

/* The option of that long name (the first `len` bytes), or NULL. */
const struct option *option_find(const struct option *const *tables, const char *name, size_t len);
/*
 * What options_parse does with one option and its text, for those who take
 * values from elsewhere than a command line. The message does not name the
 * option. A text or list item is borrowed.
 */
HD_MUST_CHECK enum hd_status option_set(const struct option *o, void *values, const char *text,
					struct diag *d);
/* Sets every field whose option has an initial value. */
void options_set_initial(const struct option *const *tables, void *values);

/*
 * One table, to be freed, of `first` and `more` (NULL-terminated), whose fields
 * lie `offset` bytes into the struct of the first.
 */
struct option *options_join(const struct option *first, const struct option *const *more,
			    size_t offset);

/* Whether users are to see it: no later row of a name, no former name. */
bool option_is_shown(const struct option *const *tables, const struct option *o);
/* The OPTIONS part of --help: aligned, wrapped at 80 columns. */
void options_help(const struct option *const *tables, struct strbuf *out);
/* The same as man(7) source. */
void options_man(const struct option *const *tables, struct strbuf *out);
/* Text of ours as man(7) source: what roff would interpret is escaped. */
void option_man_text(struct strbuf *out, const char *text);

#endif
