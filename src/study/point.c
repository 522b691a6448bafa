/* SPDX-License-Identifier: BSD-2-Clause */
#include "study/point.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/digest.h"
#include "base/file.h"
#include "base/mpi/world.h"
#include "fabric/fabric.h"
#include "run/content.h"
#include "run/run.h"
#include "study/study_internal.h"

/* ---- what it is --------------------------------------------------------- */

static bool has_scenario(const struct study *s)
{
	return s->command && s->command->has_scenario;
}

/* Writes the scenario of a point; `places`: errors name places in the study. */
static enum hd_status put_scenario(const struct study *study, size_t point, bool places,
				   struct diag *d, struct strbuf *out)
{
	struct overrides overrides = { 0 };
	struct scenario s;

	study_scenario_overrides(study, study_cell(study, point), places, &overrides);
	overrides_put(&overrides, "--seeds", "run.seed", "%llu",
		      (unsigned long long)study_seed(study, point));
	enum hd_status status = scenario_parse(study->base, strlen(study->base), study->base_file,
					       &overrides, d, &s);

	if (status == HD_OK && study->command == study_command_default())
		status = scenario_needs_traffic(&s, d);
	if (status == HD_OK)
		status = content_of_scenario(&s, d, out);
	scenario_fini(&s);
	overrides_fini(&overrides);
	return status;
}

/* ---- the command line of a point ---------------------------------------- */

static bool is_flag(const struct study *s, const char *name)
{
	const struct option *o = s->options ? option_find(s->options, name, strlen(name)) : NULL;

	return o && o->kind == OPT_FLAG;
}

/* The seed has its own option; a flag that is not set adds no word. */
static void add_setting(const struct study *s, const struct override *o, struct value_list *out)
{
	struct strbuf word = STRBUF_INIT;

	if (strcmp(o->path, "run.seed") == 0)
		return;
	if (!study_is_option(s, o->path)) {
		value_list_add(out, hd_strdup("--set"));
		strbuf_printf(&word, "%s=%s", o->path, o->value);
	} else if (!is_flag(s, o->path)) {
		strbuf_printf(&word, "--%s=%s", o->path, o->value);
	} else if (strcmp(o->value, "yes") == 0) {
		strbuf_printf(&word, "--%s", o->path);
	} else {
		return;
	}
	value_list_add(out, strbuf_detach(&word));
}

/* The words after "heddle" that repeat the run; free with value_list_fini. */
static void words_of(const struct study *s, size_t point, struct value_list *out)
{
	struct overrides overrides = { 0 };
	struct strbuf word = STRBUF_INIT;

	if (s->template) {
		study_fill_template(s, point, &word);
		value_list_words(out, word.text);
		strbuf_fini(&word);
		return;
	}
	value_list_words(out, s->command->name);
	if (s->command->has_scenario)
		value_list_add(out, hd_strdup(s->base_file));
	if (s->arguments)
		value_list_words(out, s->arguments);
	study_overrides(s, study_cell(s, point), &overrides);
	for (size_t i = 0; i < overrides.n; i++)
		add_setting(s, &overrides.items[i], out);
	strbuf_printf(&word, "--seed=%llu", (unsigned long long)study_seed(s, point));
	value_list_add(out, strbuf_detach(&word));
	overrides_fini(&overrides);
}

/* Adds the content of a scenario and of its files; false if `path` is not a scenario. */
static bool put_scenario_file(const char *path, struct strbuf *out)
{
	const struct overrides none = { 0 };
	struct diag ignored = { .status = HD_OK };
	struct strbuf content = STRBUF_INIT;
	struct scenario s;
	enum hd_status status = scenario_read(path, &none, &ignored, &s);

	if (status == HD_OK)
		status = content_of_scenario(&s, &ignored, &content);
	if (status == HD_OK)
		strbuf_puts(out, content.text);
	scenario_fini(&s);
	strbuf_fini(&content);
	return status == HD_OK;
}

/* Adds a file named in a template, possibly in the working folder. */
static void put_file(const struct study *s, const char *name, struct strbuf *out)
{
	struct diag ignored = { .status = HD_OK };
	struct strbuf path = STRBUF_INIT;

	if (s->folder)
		strbuf_printf(&path, "%s/", s->folder);
	strbuf_puts(&path, name);
	if (access(path.text, R_OK) == 0 && !(s->template && put_scenario_file(path.text, out)))
		(void)!content_of_file(name, path.text, &ignored, out);
	strbuf_fini(&path);
}

/* Adds the content of each word that names a file. */
static void put_words(const struct study *s, size_t point, struct strbuf *out)
{
	struct value_list words = { 0 };

	words_of(s, point, &words);
	for (size_t i = 0; i < words.n; i++) {
		const char *equals = strchr(words.items[i], '=');
		const char *path = words.items[i][0] != '-' ? words.items[i]
				   : equals                 ? equals + 1
							    : "";

		/* The study's scenario is added separately, with its overrides. */
		if (has_scenario(s) && strcmp(path, s->base_file) == 0)
			continue;
		strbuf_printf(out, "# word: %s\n", words.items[i]);
		if (*path)
			put_file(s, path, out);
	}
	value_list_fini(&words);
}

/* Adds the scenario with its overrides, and all other inputs as comments. */
static enum hd_status put_content(const struct study *s, size_t point, struct diag *d,
				  struct strbuf *out)
{
	strbuf_printf(out, "# rules: %d\n", POINT_RULES);
	for (size_t i = 0; i < s->tables.n; i++)
		strbuf_printf(out, "# keep: %s\n", s->tables.items[i]);
	if (s->command != study_command_default())
		put_words(s, point, out);
	return has_scenario(s) ? put_scenario(s, point, false, d, out) : HD_OK;
}

enum hd_status point_identify(const struct study *s, size_t point, struct diag *d,
			      struct point_id *out)
{
	struct strbuf content = STRBUF_INIT, key = STRBUF_INIT;
	enum hd_status status = put_content(s, point, d, &content);

	if (status == HD_OK) {
		struct digest h = DIGEST_START;

		digest_add(&h, content.text, content.len);
		digest_print(&h, &key);
		*out = (struct point_id){ .key = strbuf_detach(&key),
					  .scenario = strbuf_detach(&content) };
	}
	strbuf_fini(&content);
	strbuf_fini(&key);
	return status;
}

enum hd_status point_refuse(const struct study *s, size_t point, struct diag *d)
{
	struct strbuf ignored = STRBUF_INIT;
	enum hd_status status = put_scenario(s, point, true, d, &ignored);

	strbuf_fini(&ignored);
	return status;
}

void point_id_fini(struct point_id *id)
{
	free(id->key);
	free(id->scenario);
	*id = (struct point_id){ 0 };
}

static void overrides_of(const struct study *s, size_t point, struct overrides *out)
{
	study_overrides(s, study_cell(s, point), out);
	overrides_put(out, "--seeds", "run.seed", "%llu", (unsigned long long)study_seed(s, point));
}

/* Writes the words that repeat the run, after 'heddle sim' or 'heddle'. */
static void put_arguments(const struct study *s, size_t point, struct strbuf *out)
{
	struct overrides overrides = { 0 };
	struct value_list words = { 0 };

	if (s->command != study_command_default()) {
		words_of(s, point, &words);
		for (size_t i = 0; i < words.n; i++)
			strbuf_printf(out, i ? " '%s'" : "%s", words.items[i]);
		value_list_fini(&words);
		return;
	}
	overrides_of(s, point, &overrides);
	strbuf_puts(out, s->base_file);
	for (size_t i = 0; i < overrides.n; i++)
		strbuf_printf(out, " --set '%s=%s'", overrides.items[i].path,
			      overrides.items[i].value);
	overrides_fini(&overrides);
}

void point_sign(const struct study *s, size_t point, const struct point_id *id, struct results *r)
{
	struct strbuf words = STRBUF_INIT;

	if (!s->template) {
		put_arguments(s, point, &words);
		results_set_arguments(r, words.text);
		results_set_scenario(r, id->scenario);
		r->seed = study_seed(s, point);
	}
	results_parameter(r, POINT_KEY, id->key);
	for (size_t i = 0; i < s->n_axes; i++)
		results_parameter(r, s->axes[i].field, study_value_text(s, i, point));
	strbuf_fini(&words);
}

/* ---- what it gives ------------------------------------------------------ */

#define HIDDEN "point" /* a table for the headline alone */

/* Values that the tables of a run lack. */
static const struct column hidden_columns[] = {
	{ "p50", "us", VALUE_REAL, ORIGIN_SIMULATED, 3 },
	{ "goals met", NULL, VALUE_BOOL, ORIGIN_SIMULATED },
	{ NULL },
};

/* Whether the run meets its goals; no value if it has none. */
static struct value goals_met(const struct results *all, bool met)
{
	bool asks = results_find(all, "goals") || results_find(all, "job goals") || !met;

	return asks ? value_of_bool(met) : value_of_text(NULL);
}

static struct results *tables_of(const struct study *s, const struct run *run)
{
	bool met;
	bool whole = s->as_sim ? s->all : s->tables.n > 0;
	struct results *all = run_results(run, whole, &met);
	const struct histogram *h = &sim_metrics(run_sim(run))->latency;
	const struct value row[] = {
		value_of_real(h->n ? (double)histogram_percentile(h, 50) / (double)HD_US : NAN),
		goals_met(all, met),
	};

	table_put_values(results_record(all, HIDDEN, "", hidden_columns), row);
	return all;
}

static bool is_kept(const struct study *s, const char *name)
{
	for (size_t i = 0; i < s->tables.n; i++) {
		if (strcmp(s->tables.items[i], name) == 0 || strcmp(s->tables.items[i], "all") == 0)
			return strcmp(name, HIDDEN) != 0;
	}
	return false;
}

/* Adds the headline, and copies the tables that the study keeps. */
static enum hd_status keep(const struct study *s, const struct results *all, struct diag *d,
			   struct results **out)
{
	struct results *r = results_new(POINT_COMMAND);
	enum hd_status status = study_headline_add(&s->measures, all, d, r);

	if (status != HD_OK) {
		results_free(r);
		return status;
	}
	for (size_t i = 0; i < all->n_tables; i++) {
		if (is_kept(s, all->tables[i]->name))
			results_copy_table(r, all->tables[i]);
	}
	for (size_t i = 0; s->tables.n && i < all->n_remarks; i++)
		results_remark(r, "%s", all->remarks[i]);
	*out = r;
	return HD_OK;
}

void point_condense(const struct study *s, struct point_outcome *outcome)
{
	struct diag why = { .status = HD_OK };
	struct results *kept = NULL;

	if (!outcome->results || s->template ||
	    strcmp(outcome->results->command, POINT_COMMAND) == 0)
		return;
	if (keep(s, outcome->results, &why, &kept) != HD_OK) {
		struct strbuf line = STRBUF_INIT;

		diag_print(&why, &line);
		outcome->failure = strbuf_detach(&line);
	}
	results_free(outcome->results);
	outcome->results = kept;
}

/* Stores the kept tables only, because the results of a simulation are large. */
static void leave(const struct study *s, struct results *all, const char *db, struct diag *d)
{
	struct results *r = NULL;

	if (keep(s, all, d, &r) == HD_OK)
		(void)!database_append(db, r, d);
	if (r)
		results_free(r);
	results_free(all);
}

static enum hd_status check_end(const struct study *s, const struct run *run, struct diag *d)
{
	struct strbuf when = STRBUF_INIT;
	enum hd_status status = HD_OK;

	d->file = NULL;
	hd_time_print(sim_now(run_sim(run)), &when);
	if (run_state(run) == SIM_DEADLOCK && !s->as_sim)
		status = diag_fail(d, HD_ERR_INPUT,
				   "deadlock at %s: packets wait for each other in a cycle",
				   when.text);
	strbuf_fini(&when);
	return status;
}

static enum hd_status simulate(const struct study *s, struct fabric *fabric, const char *db,
			       struct diag *d)
{
	const struct run_options options = { .rates = s->rates };
	struct run *run;

	if (run_open(fabric, &options, d, &run) != HD_OK)
		return d->status;
	if (run_to_end(run, d) == HD_OK && check_end(s, run, d) == HD_OK)
		leave(s, tables_of(s, run), db, d);
	run_close(run);
	return d->status;
}

static enum hd_status run_here(const struct study *s, size_t point, const char *db, struct diag *d)
{
	struct overrides overrides = { 0 };
	struct fabric *fabric;

	overrides_of(s, point, &overrides);
	enum hd_status status =
		fabric_load(s->base, strlen(s->base), s->base_file, &overrides, d, &fabric);

	if (status == HD_OK)
		status = simulate(s, fabric, db, d);
	overrides_fini(&overrides);
	return status;
}

/* Replaces this process by the program with the point's command. */
static enum hd_status become(const struct study *s, size_t point, const char *db, struct diag *d)
{
	const char *program = s->program ? s->program : "/proc/self/exe";
	const char *const more[] = { "--quiet", "--format=null", "--db" };
	struct value_list words = { 0 };

	value_list_add(&words, hd_strdup("heddle"));
	words_of(s, point, &words);
	value_list_add(&words, processes_threads_word());
	for (size_t i = 0; i < sizeof(more) / sizeof(*more); i++)
		value_list_add(&words, hd_strdup(more[i]));
	value_list_add(&words, hd_strdup(db));
	value_list_add(&words, NULL);
	world_forget_rank();
	if (!s->folder || chdir(s->folder) == 0)
		execv(program, words.items);
	return diag_fail(d, HD_ERR_ENV, "%s: %s", program, strerror(errno));
}

enum hd_status point_run(const struct study *s, size_t point, const char *db, struct diag *d)
{
	return s->command == study_command_default() ? run_here(s, point, db, d)
						     : become(s, point, db, d);
}
