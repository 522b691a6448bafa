/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "cli/build_info.h"
#include "cli/colour.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/manual.h"
#include "cli/out_of_memory.h"
#include "cli/record.h"
#include "cli/threads.h"
#include "scenario/scenario.h"

/* One per line, in the order of --help. */
/* clang-format off */
static const struct command *const commands[] = {
	&command_topo,
	&command_route,
	&command_failures,
	&command_decode,
	&command_qos,
	&command_cc,
	&command_model,
	&command_sim,
	&command_sweep,
	&command_job,
	&command_mcast,
	&command_bench,
	&command_live,
	&command_paper,
	&command_report,
	&command_serve,
	NULL,
};
/* clang-format on */

static void print_help(struct strbuf *out)
{
	strbuf_puts(out, "heddle - an InfiniBand fabric in software\n\n"
			 "Usage: heddle COMMAND [OPTION...]\n\n"
			 "Commands:\n");
	for (size_t i = 0; commands[i]; i++)
		strbuf_printf(out, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
	strbuf_puts(out,
		    "\n'heddle COMMAND --help' explains a command, with examples.\n"
		    "'heddle --version' prints the version, the commit and the build.\n\n"
		    "Exit status: 0 done and every goal met, 1 a stated goal missed, 2 usage,\n"
		    "3 bad input, 4 the host lacks something.\n");
}

/* Refuses words that do not name a command, with the message of dispatch. */
static int refuse_words(int n_words, char **words)
{
	const struct command *group = command_find(commands, 1, words);

	if (!group || n_words < 2)
		return command_dispatch(commands, 1, words);
	if (group->subcommands)
		return command_dispatch(commands, 2, words);
	return command_usage(group, "'%s' has no subcommands", group->name);
}

/* "heddle help topo gen" is "heddle topo gen --help". */
static int help_on(struct strbuf *out, int n_words, char **words)
{
	if (n_words == 0) {
		print_help(out);
		return EXIT_DONE;
	}
	const struct command *c = command_find(commands, n_words, words);

	if (!c)
		return refuse_words(n_words, words);
	command_help(c, out);
	return EXIT_DONE;
}

/* Output for the build; not in --help. */
static int write_manual(struct strbuf *out, int n_words, char **words)
{
	if (n_words == 0) {
		manual_program(commands, out);
		return EXIT_DONE;
	}
	const struct command *c = command_find(commands, n_words, words);

	if (!c)
		return refuse_words(n_words, words);
	manual_command(c, out);
	return EXIT_DONE;
}

/* Lists commands one per line, each group before its commands; `only_long`: those with progress. */
static int list_commands(struct strbuf *out, bool only_long)
{
	for (size_t i = 0; commands[i]; i++) {
		const struct command *const *own = commands[i]->subcommands;

		if (!only_long || commands[i]->is_long)
			strbuf_printf(out, "%s\n", commands[i]->name);
		for (size_t k = 0; own && own[k]; k++) {
			if (!only_long || own[k]->is_long)
				strbuf_printf(out, "%s\n", own[k]->name);
		}
	}
	return EXIT_DONE;
}

static int refuse_option(const char *word)
{
	static const char *const names[] = { "--help", "--version" };
	const char *nearest = text_nearest(word, names, 2);
	struct strbuf line = STRBUF_INIT;

	strbuf_puts(&line, "unknown option '");
	text_show(&line, word);
	strbuf_printf(&line, "'%s; options of a command follow its name", text_hint(nearest).text);
	cli_print_error("heddle", line.text);
	strbuf_fini(&line);
	return EXIT_USAGE;
}

#define NOT_OWN (-1)

/* Options of the program itself, and "help"; NOT_OWN for other words. */
static int run_own(struct strbuf *out, int argc, char **argv)
{
	const char *word = argv[1];

	if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0)
		return help_on(out, argc - 2, argv + 2);
	if (strcmp(word, "--version") == 0) {
		strbuf_printf(out, "heddle " HD_VERSION " (%s)\n", cli_build_info);
		return EXIT_DONE;
	}
	if (strcmp(word, "--man") == 0)
		return write_manual(out, argc - 2, argv + 2);
	if (strcmp(word, "--man-scenario") == 0) {
		scenario_man(out);
		return EXIT_DONE;
	}
	if (strcmp(word, "--commands") == 0)
		return list_commands(out, false);
	if (strcmp(word, "--long-commands") == 0)
		return list_commands(out, true);
	if (strcmp(word, "--completion") == 0) {
		struct strbuf paths = STRBUF_INIT;

		override_paths(scenario_fields, &paths);
		manual_completion(commands, paths.text, out);
		strbuf_fini(&paths);
		return EXIT_DONE;
	}
	return word[0] == '-' ? refuse_option(word) : NOT_OWN;
}

int main(int argc, char **argv)
{
	struct strbuf out = STRBUF_INIT;
	int status;

	out_of_memory_guard();
	/* Exceeding the file size limit is reported as an error instead of ending the program. */
	signal(SIGXFSZ, SIG_IGN);
	cleanup_install_handlers();
	if (argc < 2) {
		print_help(&out);
		fputs(out.text, stderr);
		status = EXIT_USAGE;
	} else {
		status = run_own(&out, argc, argv);
		fputs(out.text, stdout);
	}
	strbuf_fini(&out);
	if (status == NOT_OWN) {
		record_arguments(argc - 1, argv + 1);
		status = command_dispatch(commands, argc - 1, argv + 1);
		record_end(status);
		threads_report();
	}
	/* Output that could not be written must not be reported as success. */
	errno = 0;
	bool arrived = fflush(stdout) == 0 && !ferror(stdout);
	int why = errno;

	cleanup_deliver_signal();
	if (!arrived) {
		char line[160];

		snprintf(line, sizeof(line), "cannot write to standard output%s%s", why ? ": " : "",
			 why ? strerror(why) : "");
		cli_print_error("heddle", line);
		return EXIT_ENVIRONMENT;
	}
	return status;
}
