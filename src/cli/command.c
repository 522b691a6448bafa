/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/command.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/guard.h"
#include "base/alloc.h"
#include "base/file.h"
#include "base/output_files.h"
#include "base/parallel_for.h"
#include "base/text.h"
#include "cli/colour.h"
#include "cli/out_of_memory.h"
#include "cli/record.h"
#include "cli/threads.h"
#include "report/writer.h"
#include "topo/read.h"

/* Common options in groups: results, output files, computation, help. */
const struct option command_common_options[] = {
	{ .name = "json",
	  .kind = OPT_FLAG,
	  .offset = offsetof(struct common_options, json),
	  .help = "write the results as JSON" },
	{ .name = "csv",
	  .kind = OPT_FLAG,
	  .offset = offsetof(struct common_options, csv),
	  .help = "write the results as CSV" },
	{ .name = "format",
	  .kind = OPT_CHOICE,
	  .offset = offsetof(struct common_options, format),
	  .choices = writer_names,
	  .help = "how to write the results; auto goes by the extension of the output file" },
	{ .name = "table",
	  .kind = OPT_TEXT,
	  .offset = offsetof(struct common_options, table),
	  .value = "NAME",
	  .help = "write this table only; as CSV it is a header and rows, without comments" },
	{ .name = "db",
	  .kind = OPT_OUTPUT,
	  .offset = offsetof(struct common_options, db),
	  .value = "FILE",
	  .help = "append the results to the SQLite database FILE too" },
	{ .name = "html",
	  .kind = OPT_OUTPUT,
	  .offset = offsetof(struct common_options, html),
	  .value = "FILE",
	  .help = "write a page with plots of the results to FILE too" },
	{ .name = "output",
	  .letter = 'o',
	  .kind = OPT_OUTPUT,
	  .offset = offsetof(struct common_options, output),
	  .value = "FILE",
	  .help = "write to FILE instead of standard output" },
	{ .name = "seed",
	  .kind = OPT_UINT,
	  .offset = offsetof(struct common_options, seed),
	  .value = "N",
	  .help = "seed of all that is random (default: the scenario's, or 1)" },
	{ .name = "memory",
	  .kind = OPT_SIZE,
	  .offset = offsetof(struct common_options, memory),
	  .value = "SIZE",
	  .help = "end with status 4 rather than take more memory than this (default: nine tenths of what is free)" },
	{ .name = "threads",
	  .kind = OPT_UINT,
	  .offset = offsetof(struct common_options, threads),
	  .value = "N",
	  .help = "compute on N threads; results are the same for any N (default: one per processor, if the work is large enough to keep them busy)",
	  .low = 1,
	  .high = PARALLEL_MAX_THREADS },
	{ .name = "quiet",
	  .letter = 'q',
	  .kind = OPT_FLAG,
	  .offset = offsetof(struct common_options, quiet),
	  .help = "show no progress and no remarks" },
	{ .name = "help",
	  .letter = 'h',
	  .kind = OPT_FLAG,
	  .offset = offsetof(struct common_options, help),
	  .help = "show this help" },
	{ .name = NULL },
};

const struct option *command_common(const struct command *c)
{
	static const char *const first[] = {
		[WRITES_RESULTS] = "json",
		[WRITES_TEXT] = "output",
		[WRITES_NOTHING] = "seed",
		[BECOMES_ANOTHER] = "help",
	};
	const struct option *o = command_common_options;

	while (strcmp(o->name, first[c->subcommands ? BECOMES_ANOTHER : c->writes]) != 0)
		o++;
	return o;
}

static const struct option no_options[] = { { .name = NULL } };

#define OPTION_TABLES(self)                                                                \
	{                                                                                  \
		(self)->options ? (self)->options : no_options, command_common(self), NULL \
	}

/*
 * The file named by the option if it is of that kind; NULL if the option is of another kind, was
 * not given, or is replaced by another row.
 */
static const char *file_of(const struct option *const *tables, const struct option *o,
			   enum option_kind kind, const void *values)
{
	return o->kind == kind && option_find(tables, o->name, strlen(o->name)) == o
		       ? *(const char *const *)((const char *)values + o->offset)
		       : NULL;
}

/* True if `path` is the input file of the option that this one may replace. */
static bool is_replaced(const struct option *const *tables, const struct option *o,
			const char *path, const void *values)
{
	const struct option *other =
		o->replaces ? option_find(tables, o->replaces, strlen(o->replaces)) : NULL;
	const char *read = other ? file_of(tables, other, OPT_INPUT, values) : NULL;

	return read && file_is_same(path, read);
}

static bool is_common(const struct option *o)
{
	for (const struct option *c = command_common_options; c->name; c++) {
		if (c == o)
			return true;
	}
	return false;
}

/*
 * Checks output files before the work begins. If several processes compute a run, one of them
 * checks the files of the run later.
 */
static int check_output(const struct command *self, const struct option *const *tables,
			const struct option *o, const void *values)
{
	const char *path = file_of(tables, o, OPT_OUTPUT, values);
	struct diag d = { .status = HD_OK };

	if (!path)
		return EXIT_DONE;
	const char *other = output_files_add(path, o->name, is_replaced(tables, o, path, values));

	if (other)
		return command_usage(self, "--%s and --%s name the same file", other, o->name);
	if (is_common(o) && file_check_place(path, &d) != HD_OK)
		return command_refuse(&d);
	return EXIT_DONE;
}

static int check_reading(const struct command *self, const struct option *o, const char *path)
{
	const char *writer = path ? output_files_find(path) : NULL;

	return writer ? command_usage(self, "--%s would overwrite the file that --%s reads", writer,
				      o->name)
		      : EXIT_DONE;
}

static int check_input(const struct command *self, const struct option *const *tables,
		       const struct option *o, const void *values)
{
	int status = check_reading(self, o, file_of(tables, o, OPT_INPUT, values));

	if (o->kind != OPT_SET || o->as != OPT_INPUT)
		return status;
	const struct option_settings *set = (const void *)((const char *)values + o->offset);

	for (size_t i = 0; i < set->n && status == EXIT_DONE; i++) {
		if (set->items[i].option == o)
			status = check_reading(self, o, set->items[i].text);
	}
	return status;
}

/*
 * Output files must differ from each other and from input files. Input files that are named inside
 * other files are checked when they are opened.
 */
static int check_files(const struct command *self, const struct option *const *tables,
		       const void *values)
{
	static int (*const checks[])(const struct command *, const struct option *const *,
				     const struct option *,
				     const void *) = { check_output, check_input };
	int status = EXIT_DONE;

	output_files_clear();
	for (size_t i = 0; i < sizeof(checks) / sizeof(*checks); i++) {
		for (size_t k = 0; tables[k]; k++) {
			for (const struct option *o = tables[k]; o->name && status == EXIT_DONE;
			     o++)
				status = checks[i](self, tables, o, values);
		}
	}
	return status;
}

/* The name of a generator among words that should be one argument with it; or NULL. */
static const char *find_loose_words(const struct command *self, int argc, char **argv)
{
	for (int i = 0; i < argc && strstr(self->arguments, "FABRIC"); i++) {
		if (topo_is_words(argv[i]) && !strchr(argv[i], ' '))
			return argv[i];
	}
	return NULL;
}

static int refuse_options(const struct command *self, const struct diag *d, int argc, char **argv)
{
	const char *kind = find_loose_words(self, argc, argv);

	if (self->subcommands)
		return command_usage(self, "%s; put options after the name of the subcommand",
				     d->message);
	if (self->writes == BECOMES_ANOTHER)
		return command_usage(self, "%s; put options of the started command after '--'",
				     d->message);
	if (kind)
		return command_usage(self, "%s; quote generator words as one argument: '%s ...'",
				     d->message, kind);
	return command_usage(self, "%s", d->message);
}

int command_check_ending(const struct command *self, const struct common_options *common)
{
	const char *slash = common->output ? strrchr(common->output, '/') : NULL;
	const char *name = slash ? slash + 1 : common->output;
	const char *dot = name ? strrchr(name, '.') : NULL;

	if (!dot || common->json || common->csv || common->format || writer_of_path(name))
		return EXIT_DONE;
	struct strbuf endings = STRBUF_INIT;

	for (const struct writer *w = writers; w[1].name; w++)
		strbuf_printf(&endings, "%s.%s", w == writers ? "" : ", ", w->extension);
	int status = command_usage(
		self,
		"output file '%s': unknown ending '%s' (expected one of %s, or add --format; --html FILE draws results)",
		common->output, dot, endings.text);

	strbuf_fini(&endings);
	return status;
}

/* Checks the format options; EXIT_DONE, or the exit status. */
static int check_format(const struct command *self, const struct common_options *common,
			const struct option *const *tables)
{
	static const char *const drawn[] = { ".png", ".pdf", ".html", ".htm", NULL };
	int given = common->json + common->csv + (common->format != 0);
	const char *dot = common->output ? strrchr(common->output, '.') : NULL;
	bool is_drawn = false;

	for (size_t i = 0; dot && drawn[i]; i++)
		is_drawn = is_drawn || strcmp(dot, drawn[i]) == 0;
	if (given > 1)
		return command_usage(self, "at most one of --json, --csv and --format can be used");
	/* With --to the output is a fabric, which can be drawn as SVG only. */
	bool has_to = option_find(tables, "to", strlen("to"));

	if (is_drawn && has_to)
		return command_usage(self, "output file '%s': fabrics are drawn as .svg only",
				     common->output);
	return self->writes == WRITES_RESULTS && !self->has_own_formats && !has_to
		       ? command_check_ending(self, common)
		       : EXIT_DONE;
}

bool command_parse(const struct command *self, void *values, int argc, char **argv, int *n_args,
		   int *status)
{
	const struct option *tables[] = OPTION_TABLES(self);
	struct common_options *common = values;
	struct diag d = { .status = HD_OK };

	if (common->seed == 0)
		common->seed = 1;
	if (options_parse(tables, values, argc, argv, &d, n_args) != HD_OK) {
		*status = refuse_options(self, &d, argc, argv);
		return false;
	}
	*status = check_format(self, common, tables);
	if (*status != EXIT_DONE)
		return false;
	if (common->help) {
		struct strbuf out = STRBUF_INIT;

		command_help(self, &out);
		fputs(out.text, stdout);
		strbuf_fini(&out);
		*status = EXIT_DONE;
		return false;
	}
	out_of_memory_limit(common->memory);
	threads_apply(common);
	*status = check_files(self, tables, values);
	if (*status == EXIT_DONE)
		*status = record_begin(self, common);
	return *status == EXIT_DONE;
}

int command_status(const struct diag *d)
{
	return api_code_of_status(d->status);
}

int command_refuse(const struct diag *d)
{
	struct strbuf line = STRBUF_INIT;

	/* A failure without a reason is a bug in the command. */
	if (d->status == HD_OK)
		abort();
	diag_print(d, &line);
	cli_print_error("heddle", line.text);
	strbuf_fini(&line);
	return command_status(d);
}

int command_usage(const struct command *self, const char *format, ...)
{
	struct strbuf message = STRBUF_INIT, line = STRBUF_INIT;
	struct strbuf who = STRBUF_INIT;
	va_list args;

	va_start(args, format);
	strbuf_vprintf(&message, format, args);
	va_end(args);
	text_show(&line, message.text);
	strbuf_printf(&who, "heddle %s", self->name);
	strbuf_printf(&line, "; '%s --help' shows how", who.text);
	cli_print_error(who.text, line.text);
	strbuf_fini(&who);
	strbuf_fini(&message);
	strbuf_fini(&line);
	return EXIT_USAGE;
}

const char *command_short_name(const struct command *c)
{
	const char *space = strrchr(c->name, ' ');

	return space ? space + 1 : c->name;
}

static void help_synopsis(const struct command *self, struct strbuf *out)
{
	strbuf_printf(out, "Usage: heddle %s %s", self->name,
		      self->subcommands ? "COMMAND [OPTION...]" : "[OPTION...]");
	if (*self->arguments)
		strbuf_printf(out, " %s", self->arguments);
	strbuf_puts(out, "\n\n");
}

void command_describe(const struct command *self, struct strbuf *out)
{
	strbuf_puts(out, self->description);
	if (self->list) {
		strbuf_puts(out, "\n\n");
		self->list(out);
	}
	if (self->is_long)
		strbuf_puts(
			out,
			"\n\nInterrupted (Ctrl-C, or a signal of a batch system), it shows what is done by then, says so, and ends by the signal.");
}

void command_help(const struct command *self, struct strbuf *out)
{
	const struct option *tables[] = OPTION_TABLES(self);
	struct strbuf prose = STRBUF_INIT;

	command_describe(self, &prose);
	strbuf_printf(out, "heddle %s - %s\n\n", self->name, self->summary);
	help_synopsis(self, out);
	text_wrap(out, prose.text, 0);
	strbuf_fini(&prose);
	if (self->subcommands) {
		strbuf_puts(out, "\nCommands:\n");
		for (size_t i = 0; self->subcommands[i]; i++)
			strbuf_printf(out, "  %-12s %s\n", command_short_name(self->subcommands[i]),
				      self->subcommands[i]->summary);
	}
	strbuf_puts(out, "\nOptions:\n");
	options_help(tables, out);
	if (!self->examples)
		return;
	strbuf_puts(out, "\nExamples:\n");
	for (const struct example *e = self->examples; e->command; e++) {
		/* A command stays on one line, so that it can be copied. */
		strbuf_printf(out, "  %s\n      ", e->command);
		text_wrap(out, e->meaning, 6);
	}
}

const struct command *command_find(const struct command *const *commands, int n_words, char **words)
{
	const struct command *found = NULL;

	for (int i = 0; i < n_words; i++) {
		if (found)
			commands = found->subcommands;
		found = NULL;
		for (size_t k = 0; commands && commands[k]; k++) {
			if (strcmp(command_short_name(commands[k]), words[i]) == 0)
				found = commands[k];
		}
		if (!found)
			return NULL;
	}
	return found;
}

/*
 * Prints an unknown command; `group` is the command it was given to, NULL for the program itself.
 */
static int refuse_command(const struct command *group, const struct command *const *commands,
			  const char *word)
{
	const char *names[64];
	size_t n = 0;
	struct diag d = { .status = HD_OK };
	struct strbuf line = STRBUF_INIT, who = STRBUF_INIT;

	for (; n < 64 && commands[n]; n++)
		names[n] = command_short_name(commands[n]);
	const char *nearest = text_nearest(word, names, n);

	diag_fail(&d, HD_ERR_INPUT, "unknown command '%.80s'", word);
	diag_print(&d, &line);
	strbuf_puts(&line, text_hint(nearest).text);
	strbuf_printf(&who, "heddle%s%s", group ? " " : "", group ? group->name : "");
	strbuf_printf(&line, "; '%s --help' lists them", who.text);
	cli_print_error(who.text, line.text);
	strbuf_fini(&who);
	strbuf_fini(&line);
	return EXIT_USAGE;
}

/* Prints that there are too few or too many arguments; returns the exit status. */
static int refuse_arguments(const struct command *self, int n, char **args)
{
	return n < self->least
		       ? command_usage(self, "missing argument: expected %s", self->arguments)
		       : command_usage(self, "unexpected argument '%s'", args[self->most]);
}

int command_call(const struct command *self, int argc, char **argv)
{
	const struct option *tables[] = OPTION_TABLES(self);
	size_t size = self->size ? self->size : sizeof(struct common_options);
	void *values = hd_alloc(1, size);
	int n, status;

	if (self->initial)
		memcpy(values, self->initial, size);
	if (command_parse(self, values, argc, argv, &n, &status))
		status = n < self->least || n > self->most ? refuse_arguments(self, n, argv)
							   : self->call(self, values, n, argv);
	options_fini(tables, values);
	free(values);
	return status;
}

static int dispatch(const struct command *group, const struct command *const *commands, int argc,
		    char **argv);

static int run_group(const struct command *group, int argc, char **argv)
{
	if (argc > 1 && argv[1][0] != '-')
		return dispatch(group, group->subcommands, argc - 1, argv + 1);

	struct common_options values = { 0 };
	int n_args, status;

	if (!command_parse(group, &values, argc - 1, argv + 1, &n_args, &status))
		return status;
	struct strbuf names = STRBUF_INIT;

	for (size_t i = 0; group->subcommands[i]; i++)
		strbuf_printf(&names, "%s%s", i ? ", " : "",
			      command_short_name(group->subcommands[i]));
	status =
		command_usage(group, "missing argument: expected a command, one of %s", names.text);
	strbuf_fini(&names);
	return status;
}

static int dispatch(const struct command *group, const struct command *const *commands, int argc,
		    char **argv)
{
	const struct command *c = command_find(commands, 1, argv);

	if (!c)
		return refuse_command(group, commands, argv[0]);
	if (c->subcommands)
		return run_group(c, argc, argv);
	return (c->run ? c->run : command_call)(c, argc - 1, argv + 1);
}

int command_dispatch(const struct command *const *commands, int argc, char **argv)
{
	return dispatch(NULL, commands, argc, argv);
}
