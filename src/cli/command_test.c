/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/manual.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/record.h"
#include "report/writer.h"

/* A program for tests: "weave", and "loom" with two subcommands. */
struct weave_values {
	struct common_options common;
	unsigned pattern;
	uint64_t shuttles, loose;
	struct option_list yarns;
	struct option_settings set;
};

static const char *const patterns[] = { "plain", "twill", NULL };

static void yarn_words(struct strbuf *out)
{
	strbuf_puts(out, "wool silk ");
}

static void part_words(struct strbuf *out)
{
	strbuf_puts(out, "spindle ");
}

static const struct option weave_options[] = {
	{ "pattern", 'p', OPT_CHOICE, offsetof(struct weave_values, pattern), .choices = patterns,
	  .initial = "twill", .help = "how to weave" },
	{ "shuttles", 0, OPT_UINT, offsetof(struct weave_values, shuttles), "N", "8",
	  "how many; .5 would be odd" },
	{ "yarn", 0, OPT_LIST, offsetof(struct weave_values, yarns), "YARN", NULL,
	  "what to weave of", .words = yarn_words },
	{ "set", 0, OPT_SET, offsetof(struct weave_values, set), "PATH=VALUE", NULL,
	  "change a field" },
	{ NULL },
};

static struct weave_values last;
static int last_args;

static int weave_it(const struct command *self, void *values, int n, char **args)
{
	(void)self;
	(void)args;
	last = *(const struct weave_values *)values;
	last_args = n;
	return EXIT_DONE;
}

static const struct weave_values initial = { .loose = 3 };

static const struct example weave_examples[] = {
	{ "heddle weave -p plain", "weaves plainly" },
	{ NULL },
};

static const struct command weave = {
	.name = "weave",
	.summary = "make cloth",
	.arguments = "FILE...",
	.description = "Weaves.\n\n.Dots and 'quotes' - and \\ - are kept.",
	.options = weave_options,
	.examples = weave_examples,
	COMMAND_CALL(weave_it, initial, 1, 3),
	.initial = &initial,
};

static const struct command loom_show = {
	.name = "loom show",
	.summary = "show the loom",
	.arguments = "",
	.description = "Shows.",
	.words = part_words,
	COMMAND_CALL(weave_it, struct weave_values, 0, 0),
};

static const struct command loom_warp = {
	.name = "loom warp",
	.summary = "set the warp",
	.arguments = "",
	.description = "Warps.",
	.options = weave_options,
	COMMAND_CALL(weave_it, struct weave_values, 0, 0),
};

static const struct command *const loom_commands[] = { &loom_show, &loom_warp, NULL };

static const struct command loom = {
	.name = "loom",
	.summary = "the machine",
	.arguments = "",
	.description = "Two things to do.",
	.subcommands = loom_commands,
};

static const struct command *const commands[] = { &weave, &loom, NULL };

static int run(const char *const *words)
{
	char *argv[8];
	int argc = 0;

	for (; words[argc]; argc++)
		argv[argc] = (char *)words[argc];
	return command_dispatch(commands, argc, argv);
}

#define RUN(...) run((const char *const[]){ __VA_ARGS__, NULL })

static void commands_are_found_and_given_their_options(void **state)
{
	(void)state;
	assert_int_equal(RUN("weave", "--pattern", "plain", "a", "--seed=9", "b"), EXIT_DONE);
	assert_int_equal(last.pattern, 0);
	assert_int_equal(last.shuttles, 8);
	assert_int_equal(last.common.seed, 9);
	assert_int_equal(last_args, 2);
	assert_int_equal(last.loose, 3);
	assert_int_equal(RUN("weave", "a", "--yarn=x", "--yarn=y"), EXIT_DONE);
	assert_int_equal(last.yarns.n, 2);
	assert_int_equal(RUN("loom", "warp", "--shuttles=3"), EXIT_DONE);
	assert_int_equal(last.shuttles, 3);
	assert_int_equal(last.loose, 0);
}

static void what_makes_no_sense_is_a_usage_error(void **state)
{
	(void)state;
	assert_int_equal(RUN("waeve"), EXIT_USAGE);
	assert_int_equal(RUN("loom"), EXIT_USAGE);
	assert_int_equal(RUN("loom", "shwo"), EXIT_USAGE);
	assert_int_equal(RUN("loom", "show", "--pattern=plain"), EXIT_USAGE);
	assert_int_equal(RUN("weave", "--seed", "many"), EXIT_USAGE);
	assert_int_equal(RUN("weave"), EXIT_USAGE);
	assert_int_equal(RUN("weave", "a", "b", "c"), EXIT_DONE);
	assert_int_equal(RUN("weave", "a", "b", "c", "d"), EXIT_USAGE);
	assert_int_equal(RUN("loom", "show", "it"), EXIT_USAGE);
	assert_int_equal(RUN("weave", "--json", "--csv"), EXIT_USAGE);
	assert_int_equal(RUN("weave", "--json", "--format=text"), EXIT_USAGE);
}

static void refusals_map_to_exit_statuses(void **state)
{
	static const struct {
		enum hd_status status;
		int expected;
	} rows[] = {
		{ HD_ERR_INPUT, EXIT_BAD_INPUT },     { HD_ERR_RANGE, EXIT_BAD_INPUT },
		{ HD_ERR_NOT_FOUND, EXIT_BAD_INPUT }, { HD_ERR_IO, EXIT_ENVIRONMENT },
		{ HD_ERR_ENV, EXIT_ENVIRONMENT },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct diag d = { .status = rows[i].status, .message = "no" };

		assert_int_equal(command_refuse(&d), rows[i].expected);
	}
}

static void help_shows_options_subcommands_and_examples(void **state)
{
	struct strbuf out = STRBUF_INIT;

	(void)state;
	command_help(&weave, &out);
	assert_non_null(strstr(out.text, "Usage: heddle weave [OPTION...] FILE...\n"));
	assert_non_null(strstr(out.text, "  -p, --pattern plain|twill"));
	assert_non_null(strstr(out.text, "  -o, --output FILE"));
	assert_non_null(strstr(out.text, "  heddle weave -p plain\n"
					 "      weaves plainly\n"));
	strbuf_clear(&out);
	command_help(&loom, &out);
	assert_non_null(strstr(out.text, "  warp         set the warp\n"));
	strbuf_fini(&out);
}

/* Runs `command` on a file with `text`; returns its output, including stderr. */
static char *piped(const char *command, const struct strbuf *text)
{
	char path[] = "/tmp/heddle-cli-XXXXXX", line[200];
	int fd = mkstemp(path);
	struct strbuf got = STRBUF_INIT;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text->text, text->len), text->len);
	close(fd);
	snprintf(line, sizeof(line), "%s %s 2>&1", command, path);
	FILE *pipe = popen(line, "r"); /* NOLINT(cert-env33-c): a constant command */

	assert_non_null(pipe);
	while (fgets(line, sizeof(line), pipe))
		strbuf_puts(&got, line);
	pclose(pipe);
	unlink(path);
	return strbuf_detach(&got);
}

static void check_page(const struct strbuf *page, const char *const *expected)
{
	char *words = piped("groff -man -Tascii -ww -z", page);

	assert_string_equal(words, "");
	free(words);
	words = piped("groff -man -Tascii -P-c -P-b -P-u", page);
	for (; *expected; expected++) {
		if (!strstr(words, *expected))
			fail_msg("no '%s' in:\n%s", *expected, words);
	}
	free(words);
}

static void man_pages_have_the_help_text_and_no_groff_warnings(void **state)
{
	static const char *const of_weave[] = {
		"heddle-weave - make cloth",
		"heddle weave [OPTION...] FILE...",
		".Dots and 'quotes' - and \\ - are kept.",
		"-p, --pattern plain|twill",
		"how many; .5 would be odd (default 8).",
		"-o, --output FILE",
		"EXIT STATUS",
		NULL,
	};
	static const char *const of_loom[] = {
		"heddle loom show [OPTION...]",
		"heddle loom warp [OPTION...]",
		"heddle-loom-warp(1)",
		NULL,
	};
	static const char *const of_warp[] = {
		"heddle-loom-warp - ",
		"heddle loom warp [OPTION...]",
		"Warps.",
		"--shuttles N",
		"heddle-loom(1)",
		NULL,
	};
	static const char *const of_program[] = { "heddle-weave(1)", "the machine.", NULL };
	struct strbuf page = STRBUF_INIT;

	(void)state;
	manual_command(&weave, &page);
	check_page(&page, of_weave);
	strbuf_clear(&page);
	manual_command(&loom, &page);
	check_page(&page, of_loom);
	strbuf_clear(&page);
	manual_command(loom.subcommands[1], &page);
	check_page(&page, of_warp);
	strbuf_clear(&page);
	manual_program(commands, &page);
	check_page(&page, of_program);
	strbuf_fini(&page);
}

/* Asserts the completions that bash offers after `words`; the last word is incomplete. */
static void assert_offers(const char *words, const char *expected)
{
	struct strbuf script = STRBUF_INIT;

	manual_completion(commands, "loom.width\nloom.weave plain twill\n", &script);
	strbuf_printf(&script,
		      "COMP_WORDS=(%s)\n"
		      "COMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n"
		      "_heddle\n"
		      "echo \"${COMPREPLY[*]}\"\n",
		      words);
	char *got = piped("bash --norc", &script);

	assert_string_equal(got, expected);
	free(got);
	strbuf_fini(&script);
}

static void completion_follows_the_tables(void **state)
{
	(void)state;
	assert_offers("heddle ''", "weave loom help --help --version\n");
	assert_offers("heddle w", "weave\n");
	assert_offers("heddle loom w", "warp\n");
	assert_offers("heddle loom warp --sh", "--shuttles\n");
	assert_offers("heddle loom show --sh", "\n");
	assert_offers("heddle weave --pattern ''", "plain twill\n");
	assert_offers("heddle weave --pattern t", "twill\n");
	assert_offers("heddle weave --output ''", "\n");
	assert_offers("heddle weave -o ''", "\n");
	assert_offers("heddle weave file --see", "--seed\n");
	assert_offers("heddle weave --format j", "json\n");
	assert_offers("heddle help l", "loom\n");
	assert_offers("heddle weave --set loom", "loom.width= loom.weave=\n");
	assert_offers("heddle weave --set loom.weave = t", "twill\n");
	assert_offers("heddle weave --set loom.weave =", "plain twill\n");
	assert_offers("heddle weave --set loom.width =", "\n");
	assert_offers("heddle weave --pattern = p", "plain\n");
	assert_offers("heddle weave --yarn ''", "wool silk\n");
	assert_offers("heddle loom show s", "spindle\n");
}

static struct results *one_number(void)
{
	static const struct column columns[] = { { "x", "ns", VALUE_REAL, ORIGIN_COMPUTED },
						 { NULL } };
	struct results *r = results_new("test");

	table_put_values(results_table(r, "t", "a number", columns),
			 (struct value[]){ value_of_real(0.5) });
	return r;
}

static void assert_file_has(const char *path, const char *expected)
{
	struct diag d = { .status = HD_OK };
	struct strbuf got = STRBUF_INIT;

	assert_int_equal(file_read(path, 1 << 20, &d, &got), HD_OK);
	if (!strstr(got.text, expected))
		fail_msg("no '%s' in:\n%s", expected, got.text);
	strbuf_fini(&got);
}

static void results_are_written_in_the_format_asked_for(void **state)
{
	char folder[] = "/tmp/heddle-out-XXXXXX", path[64], plain[64];
	struct common_options o = { .seed = 3 };

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/x.json", folder);
	snprintf(plain, sizeof(plain), "%s/plain", folder);
	o.output = path;
	assert_int_equal(output_results(&o, one_number(), true), EXIT_DONE);
	assert_file_has(path, "\"seed\": 3");
	o.csv = true;
	assert_int_equal(output_results(&o, one_number(), false), EXIT_GOAL_MISSED);
	assert_file_has(path, "x[ns]\n0.5\n");
	o.csv = false;
	o.output = plain;
	assert_int_equal(output_results(&o, one_number(), true), EXIT_DONE);
	assert_file_has(plain, "# t: a number (computed)\n");
	while (strcmp(writer_names[o.format], "checksum") != 0)
		o.format++;
	assert_int_equal(output_results(&o, one_number(), true), EXIT_DONE);
	assert_file_has(plain, "\nall ");
	unlink(path);
	unlink(plain);
	assert_int_equal(rmdir(folder), 0);
}

static void results_go_to_a_database_too(void **state)
{
	char path[] = "/tmp/heddle-db-XXXXXX";
	struct common_options o = { .output = "/dev/null", .db = path };
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(output_results(&o, one_number(), true), EXIT_DONE);
	assert_file_has(path, "SQLite format 3");
	o.db = "/nowhere/x.db";
	assert_int_equal(output_results(&o, one_number(), true), EXIT_ENVIRONMENT);
	unlink(path);
}

static void failed_write_keeps_the_old_file_and_reports_an_error(void **state)
{
	struct common_options o = { .output = "/dev/full" };

	(void)state;
	assert_int_equal(output_results(&o, one_number(), true), EXIT_ENVIRONMENT);
	o.output = "/nowhere/x";
	assert_int_equal(output_results(&o, one_number(), true), EXIT_ENVIRONMENT);
}

static void progress_shows_share_rate_and_time_left(void **state)
{
	struct progress p = { .unit = "packets", .total = 4000000 };
	struct strbuf line = STRBUF_INIT;

	(void)state;
	progress_line(&p, 1000000, 20, &line);
	assert_string_equal(
		line.text,
		"[######..................]  25 %  1.00 M packets, 50 k/s, 1 min 00 s left");
	strbuf_clear(&line);
	progress_line(&p, 5000000, 10, &line); /* more than the expected total */
	assert_string_equal(line.text,
			    "[########################] 100 %  5.00 M packets, 500 k/s, 0 s left");
	strbuf_clear(&line);
	p.total = 0;
	progress_line(&p, 12, 4, &line);
	assert_string_equal(line.text, "12 packets, 3.00/s");
	strbuf_fini(&line);
}

static void progress_is_silent_without_a_terminal(void **state)
{
	static const struct command work = { .name = "work", .is_long = true };
	struct common_options o = { .quiet = false };
	struct progress p;

	(void)state;
	assert_int_equal(record_begin(&work, &o), EXIT_DONE);
	/* stderr is not a terminal: under ctest it is a pipe, here it is replaced. */
	int kept = dup(STDERR_FILENO);
	FILE *file = tmpfile();

	assert_non_null(file);
	dup2(fileno(file), STDERR_FILENO);
	progress_begin(&p, &o, "packets", 10);
	p.shown -= 10;
	progress_show(&p, 5);
	progress_end(&p);
	fflush(stderr);
	dup2(kept, STDERR_FILENO);
	close(kept);
	struct stat st;

	assert_int_equal(fstat(fileno(file), &st), 0);
	assert_int_equal(st.st_size, 0);
	fclose(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(commands_are_found_and_given_their_options),
		cmocka_unit_test(what_makes_no_sense_is_a_usage_error),
		cmocka_unit_test(refusals_map_to_exit_statuses),
		cmocka_unit_test(help_shows_options_subcommands_and_examples),
		cmocka_unit_test(man_pages_have_the_help_text_and_no_groff_warnings),
		cmocka_unit_test(completion_follows_the_tables),
		cmocka_unit_test(results_are_written_in_the_format_asked_for),
		cmocka_unit_test(results_go_to_a_database_too),
		cmocka_unit_test(failed_write_keeps_the_old_file_and_reports_an_error),
		cmocka_unit_test(progress_shows_share_rate_and_time_left),
		cmocka_unit_test(progress_is_silent_without_a_terminal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
