/* SPDX-License-Identifier: BSD-2-Clause */
#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/live.h"
#include "subnet/subnet.h"

/* Default host of a subnet manager; NULL: the fabric has no host. */
static const char *first_host(const struct topo *t)
{
	port_id p = subnet_manager_port(t, 0);

	return p == TOPO_NONE ? NULL : topo_node_of(t, p)->name;
}

static int in_ms(hd_time t)
{
	return t / HD_MS < INT_MAX ? (int)(t / HD_MS) : INT_MAX;
}

/* Sends one line of a file of faults to the daemon. */
static enum hd_status send_fault(const char *dir, char *line, struct diag *d)
{
	enum { MAX_WORDS = 16 };
	const char *words[MAX_WORDS] = { "fault" };
	struct strbuf out = STRBUF_INIT;
	size_t n = 1;
	char *rest = NULL;

	line[strcspn(line, "#")] = '\0';
	for (char *w = strtok_r(line, " \t\r", &rest); w && n < MAX_WORDS;
	     w = strtok_r(NULL, " \t\r", &rest))
		words[n++] = w;
	if (n > 1)
		(void)!live_call(dir, words, n, d, &out);
	strbuf_fini(&out);
	return d->status;
}

static enum hd_status send_faults(const struct cli_live_start *w, struct diag *d)
{
	struct strbuf text = STRBUF_INIT;
	struct diag line_diag = { .status = HD_OK };
	char *dir = live_folder(w->name), *rest = NULL;

	if (file_read(w->faults, FILE_WRITTEN_LIMIT, d, &text) == HD_OK && text.len > 0) {
		unsigned number = 0;

		for (char *line = text.text; line && d->status == HD_OK; line = rest) {
			rest = strchr(line, '\n');
			if (rest)
				*rest++ = '\0';
			number++;
			if (send_fault(dir, line, &line_diag) != HD_OK)
				diag_fail(d,
					  line_diag.status == HD_ERR_USAGE ? HD_ERR_INPUT
									   : line_diag.status,
					  "%s:%u: %s", w->faults, number, line_diag.message);
		}
	}
	strbuf_fini(&text);
	free(dir);
	return d->status;
}

/* Starts the processes that accompany the daemon: engine, subnet manager. */
static enum hd_status start_others(const struct cli_live_start *w, const char *host, struct diag *d,
				   bool *is_late)
{
	enum hd_status status = HD_OK;

	if (w->faults)
		status = send_faults(w, d);
	if (status == HD_OK && w->profile)
		status = cli_live_start_engine(w, d);
	if (status == HD_OK && w->engine)
		status = live_start_manager(w->name, host, w->engine, in_ms(w->patience), d,
					    is_late);
	return status;
}

/* The fabric and its manager run, but the subnet is not up yet. */
static void say_late(const struct cli_live_start *w, const char *host)
{
	char *dir = live_folder(w->name);

	fprintf(stderr,
		"heddle live up: the subnet is not up after %g s; its manager continues, see %s/manager-%s.log\n",
		(double)w->patience / (double)HD_S, dir, host);
	free(dir);
}

bool cli_live_bring_up(const struct cli_live_start *w, const struct topo *t, struct diag *d)
{
	const char *const down[] = { "down" };
	struct strbuf out = STRBUF_INIT;
	const char *host = first_host(t);
	bool is_late = false;

	/* Signals are deferred until all started processes have ended. */
	if (!w->stays)
		cleanup_defer_signals();
	if (w->engine && !host)
		diag_fail(d, HD_ERR_UNFIT, "the fabric has no host for a subnet manager");
	if (d->status == HD_OK && live_start(t, w->name, &w->options, !w->stays, d) == HD_OK &&
	    start_others(w, host, d, &is_late) != HD_OK) {
		struct diag quiet = { .status = HD_OK };
		char *dir = live_folder(w->name);

		(void)!live_call(dir, down, 1, &quiet, &out);
		live_await_end(w->name);
		free(dir);
	}
	strbuf_fini(&out);
	if (!w->stays)
		cleanup_resume_signals();
	if (is_late)
		say_late(w, host);
	return !is_late;
}

/* Prints a word quoted for a shell: names of nodes may have any character. */
static void print_word(const char *word)
{
	struct strbuf shown = STRBUF_INIT;
	bool plain = word[0] != '\0';

	text_show(&shown, word);
	for (const char *c = shown.text; *c; c++)
		plain &= isalnum((unsigned char)*c) || strchr("-_.:", *c);
	if (!plain)
		putchar('\'');
	for (const char *c = shown.text; *c; c++)
		if (*c == '\'')
			fputs("'\\''", stdout);
		else
			putchar(*c);
	if (!plain)
		putchar('\'');
	strbuf_fini(&shown);
}

void cli_live_print_hints(const struct cli_live_start *w, const struct topo *t)
{
	const char *host = first_host(t);
	bool is_named = strcmp(w->name, LIVE_USUAL_NAME) != 0;
	unsigned switches = 0;

	for (node_id n = 0; n < t->n_nodes; n++)
		switches += t->nodes[n].kind == NODE_SWITCH;
	printf("'%s' is up: %u hosts, %u switches, ", w->name, (unsigned)t->n_nodes - switches,
	       switches);
	if (w->engine)
		printf("routed by %s\n", w->engine);
	else
		puts("not managed yet");
	if (!host)
		return;
	printf("heddle live exec %s%s%s", is_named ? "--name " : "", is_named ? w->name : "",
	       is_named ? " " : "");
	print_word(host);
	printf(" -- %s\n", w->engine ? "ibnetdiscover" : "opensm");
}
