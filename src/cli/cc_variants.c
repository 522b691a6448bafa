/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/cc_variants.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/progress.h"
#include "scenario/words.h"
#include "study/processes.h"

/* With "marks" packets are marked, but sources do not respond. */
static bool is_algorithm(const char *name)
{
	return strcmp(name, "marks") != 0;
}

static bool is_named(const struct option_list *list, const char *name)
{
	for (size_t i = 0; i < list->n; i++) {
		if (strcmp(list->items[i], name) == 0)
			return true;
	}
	return false;
}

static int refuse(const struct command *self, const char *name)
{
	struct strbuf names = STRBUF_INIT;

	for (size_t i = 0; scn_algorithm_words[i]; i++) {
		if (is_algorithm(scn_algorithm_words[i]))
			strbuf_printf(&names, "%s%s", i ? ", " : "", scn_algorithm_words[i]);
	}
	int status = command_usage(
		self, "option --algorithm: unknown algorithm '%s' (expected one of: %s)", name,
		names.text);

	strbuf_fini(&names);
	return status;
}

int cli_cc_variants_read(const struct command *self, const struct option_list *wanted,
			 struct study_comparison *c)
{
	size_t n = 0;

	while (scn_algorithm_words[n])
		n++;
	const char **values = hd_alloc(n, sizeof(*values));

	c->field = "congestion.algorithm";
	c->label = "algorithm";
	c->values = values;
	c->n = 0;
	for (size_t i = 0; i < n; i++) {
		const char *name = scn_algorithm_words[i];

		if (is_algorithm(name) && (!wanted->n || is_named(wanted, name)))
			values[c->n++] = name;
	}
	for (size_t i = 0; i < wanted->n; i++) {
		size_t known = 0;

		while (known < c->n && strcmp(values[known], wanted->items[i]) != 0)
			known++;
		if (known == c->n)
			return refuse(self, wanted->items[i]);
	}
	return EXIT_DONE;
}

/* The context of the callbacks of a comparison. */
struct comparing {
	const struct common_options *common;
	double runs;
	struct progress progress;
	bool has_begun;
};

/* From here on signals stop the runs; before, they end the program. */
static void begin_runs(void *context)
{
	struct comparing *x = context;

	progress_begin(&x->progress, x->common, "runs", x->runs);
	x->has_begun = true;
}

static void show_runs(void *context, size_t done, size_t all)
{
	struct comparing *x = context;

	x->progress.total = (double)all;
	progress_show(&x->progress, (double)done);
}

static void watch_runs(struct study_comparison *c, struct comparing *x)
{
	c->at_once = processes_at_once(0);
	c->begin = begin_runs;
	c->tick = show_runs;
	c->context = x;
}

static void end_runs(struct study_comparison *c, struct comparing *x)
{
	if (x->has_begun)
		progress_end(&x->progress);
	c->context = NULL;
}

enum hd_status cli_cc_variants_run(struct study_comparison *c, const struct common_options *common,
				   struct diag *d, struct results *r)
{
	struct comparing x = { .common = common, .runs = (double)c->n };

	watch_runs(c, &x);
	enum hd_status status = comparison_run(c, d, r);

	end_runs(c, &x);
	return status;
}

enum hd_status cli_change_run(struct study_comparison *c, const struct common_options *common,
			      struct diag *d, struct results *r, bool *worse)
{
	struct comparing x = { .common = common, .runs = (double)(c->n * c->seeds) };

	watch_runs(c, &x);
	enum hd_status status = conf_change_run(c, d, r, worse);

	end_runs(c, &x);
	return status;
}

struct results *cli_cc_variants_shown(struct results *r, bool left_out)
{
	const struct table *rates = results_find(r, "rates");

	if (!rates || !left_out)
		return r;
	struct results *shown = results_new(r->command);

	for (size_t i = 0; i < r->n_tables; i++) {
		if (r->tables[i] != rates)
			results_copy_table(shown, r->tables[i]);
	}
	for (size_t i = 0; i < r->n_remarks; i++)
		results_remark(shown, "%s", r->remarks[i]);
	results_remark(
		shown,
		"rates over time: %zu rows, shown with --all, --csv, --json, --html and --db",
		table_rows(rates));
	return shown;
}

/* The context of the callbacks of a search. */
struct tuning {
	const struct tune_options *options;
	const struct common_options *common;
	struct progress progress;
};

static void show_estimate(void *context, size_t runs, double seconds)
{
	const struct tuning *t = context;
	unsigned at_once = t->options->at_once;

	if (!t->common->quiet)
		fprintf(stderr,
			"heddle: about %.0f s: at most %zu more runs of %.2f s, %u at once\n",
			ceil((double)runs * seconds / at_once), runs, seconds, at_once);
}

static void show_trials(void *context, uint32_t trials)
{
	struct tuning *t = context;

	progress_show(&t->progress, trials);
}

enum hd_status cli_cc_tune_run(struct tune_options *o, const struct common_options *common,
			       struct diag *d, struct tune_result *out)
{
	struct tuning t = { .options = o, .common = common };

	o->at_once = processes_at_once(0);
	o->estimate = show_estimate;
	o->progress = show_trials;
	o->context = &t;
	progress_begin(&t.progress, common, "trials", (double)o->budget);
	enum hd_status status = tune_search_parameters(o, d, out);

	progress_end(&t.progress);
	o->context = NULL;
	return status;
}
