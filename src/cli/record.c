/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/record.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "report/database.h"

/* The record of the run; a program runs one command. */
static struct {
	int n_words;
	char **words; /* the original order: parsing reorders argv */
	const char *command;
	bool is_long;
	const char *db;
	char *content; /* NULL: not specified */
	bool tried;    /* an attempt to begin the run was made */
	int64_t run;   /* run in the database; 0: none */
	const struct page_run *parts;
	size_t n_parts;
} noted;

void record_arguments(int argc, char **argv)
{
	noted.n_words = argc;
	noted.words = hd_alloc((size_t)argc, sizeof(*noted.words));
	for (int i = 0; i < argc; i++)
		noted.words[i] = argv[i];
}

/* Quotes a word for a shell: 'it'\''s'. */
static void put_word(const char *word, struct strbuf *out)
{
	static const char plain[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789%+,-./:=@_^";

	if (*word && !word[strspn(word, plain)]) {
		strbuf_puts(out, word);
		return;
	}
	strbuf_putc(out, '\'');
	for (; *word; word++) {
		if (*word == '\'')
			strbuf_puts(out, "'\\'");
		strbuf_putc(out, *word);
	}
	strbuf_putc(out, '\'');
}

/* Writes the arguments after the command's name, quoted for a shell. */
static void put_arguments(struct strbuf *out)
{
	int skip = 1;

	for (const char *c = noted.command; c && *c; c++)
		skip += *c == ' ';
	for (int i = skip; i < noted.n_words; i++) {
		if (out->len)
			strbuf_putc(out, ' ');
		put_word(noted.words[i], out);
	}
}

int record_begin(const struct command *self, const struct common_options *common)
{
	struct diag d = { .status = HD_OK };

	noted.command = self->name;
	noted.is_long = self->is_long;
	noted.db = common->db;
	if (noted.db && database_check(noted.db, &d) != HD_OK)
		return command_refuse(&d);
	return EXIT_DONE;
}

void record_content(const char *text)
{
	free(noted.content);
	noted.content = hd_strdup(text);
}

void record_work(void)
{
	struct diag ignored = { .status = HD_OK };
	struct strbuf arguments = STRBUF_INIT;

	/* A command that shows progress must have is_long set in its record. */
	assert(!noted.command || noted.is_long);
	if (!noted.db || noted.tried)
		return;
	noted.tried = true;
	put_arguments(&arguments);
	/* An error is reported when there are results to write. */
	if (database_begin(noted.db, noted.command, arguments.text,
			   noted.content ? noted.content : "", &ignored, &noted.run) != HD_OK)
		noted.run = 0;
	strbuf_fini(&arguments);
}

void record_parts(const struct page_run *runs, size_t n)
{
	noted.parts = runs;
	noted.n_parts = n;
}

static int write_page(const char *path, const struct results *r)
{
	struct page_run *runs = hd_alloc(noted.n_parts + 1, sizeof(*runs));

	runs[0].results = r;
	for (size_t i = 0; i < noted.n_parts; i++)
		runs[i + 1] = noted.parts[i];
	int status = record_page(path, runs, noted.n_parts + 1);

	free(runs);
	return status;
}

int record_page(const char *path, const struct page_run *runs, size_t n)
{
	struct diag d = { .status = HD_OK };
	struct strbuf page = STRBUF_INIT;
	int status = EXIT_DONE;

	if (page_write(runs, n, &page, &d) != HD_OK ||
	    file_write(path, page.text, page.len, &d) != HD_OK)
		status = command_refuse(&d);
	strbuf_fini(&page);
	return status;
}

int record_results(const struct common_options *common, struct results *r)
{
	struct diag d = { .status = HD_OK };
	struct strbuf arguments = STRBUF_INIT;

	put_arguments(&arguments);
	results_set_arguments(r, arguments.text);
	strbuf_fini(&arguments);
	results_set_version(r, HD_VERSION);
	r->seed = common->seed;
	int status = EXIT_DONE;

	if (common->db && database_finish(common->db, noted.run, r, &d) != HD_OK)
		status = command_refuse(&d);
	else
		noted.run = 0;
	int shown = common->html ? write_page(common->html, r) : EXIT_DONE;

	return status == EXIT_DONE ? shown : status;
}

void record_end(int status)
{
	free(noted.words);
	noted.words = NULL;
	noted.n_words = 0;
	free(noted.content);
	noted.content = NULL;
	if (!noted.run)
		return;
	if (status == EXIT_ENVIRONMENT)
		database_give_up(noted.db, noted.run);
	else
		database_forget(noted.db, noted.run);
	noted.run = 0;
}
