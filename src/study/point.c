/* SPDX-License-Identifier: BSD-2-Clause */
#include "study/point.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "fabric/fabric.h"
#include "study/simulation.h"

/* ---- what it is --------------------------------------------------------- */

/* 128 bits from two hashes that have nothing in common. */
struct digest {
	uint64_t a, b;
};

static void digest_add(struct digest *h, const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char byte = (unsigned char)bytes[i];

		h->a = (h->a ^ byte) * UINT64_C(0x100000001b3);
		h->b = (h->b + byte + 1) * UINT64_C(0x9e3779b97f4a7c15);
		h->b ^= h->b >> 29;
	}
}

static const struct digest digest_start = { UINT64_C(0xcbf29ce484222325), 1 };

static void digest_print(const struct digest *h, struct strbuf *out)
{
	strbuf_printf(out, "%016llx%016llx", (unsigned long long)h->a,
		      (unsigned long long)h->b);
}

/* A file that the scenario names counts by what is in it. */
static enum hd_status note_file(const struct scenario *s, char *const *field,
				struct diag *d, struct strbuf *out)
{
	struct diag inner = { .status = HD_OK };
	struct strbuf text = STRBUF_INIT;

	if (!*field)
		return HD_OK;
	char *path = scenario_path(s, field);
	enum hd_status status = file_read(path, FILE_LIMIT, &inner, &text);

	if (status == HD_OK) {
		struct digest h = digest_start;

		digest_add(&h, text.text, text.len);
		strbuf_printf(out, "# file %s: ", *field);
		digest_print(&h, out);
		strbuf_putc(out, '\n');
	} else {
		status = diag_fail(d, inner.status, "%s: %s", path,
				   inner.message);
	}
	strbuf_fini(&text);
	free(path);
	return status;
}

/* The scenario as it is run, and what else decides, as comments. */
static enum hd_status put_content(const struct study *study,
				  const struct scenario *s, struct diag *d,
				  struct strbuf *out)
{
	enum hd_status status = scenario_needs_traffic(s, d);

	strbuf_printf(out, "# rules: %d\n", POINT_RULES);
	for (size_t i = 0; i < study->tables.n; i++)
		strbuf_printf(out, "# keep: %s\n", study->tables.items[i]);
	if (status == HD_OK)
		status = note_file(s, &s->fabric.topology.file, d, out);
	if (status == HD_OK)
		status = note_file(s, &s->fabric.routing.file, d, out);
	for (size_t i = 0; i < s->n_traffic && status == HD_OK; i++)
		status = note_file(s, &s->traffic[i].file, d, out);
	schema_print(scenario_fields, s, false, out);
	return status;
}

static void overrides_of(const struct study *s, size_t point,
			 struct overrides *out)
{
	study_overrides(s, study_cell(s, point), out);
	overrides_put(out, "--seeds", "run.seed", "%llu",
		      (unsigned long long)study_seed(s, point));
}

enum hd_status point_identify(const struct study *s, size_t point,
			      struct diag *d, struct point_id *out)
{
	struct overrides overrides = { 0 };
	struct strbuf content = STRBUF_INIT, key = STRBUF_INIT;
	struct scenario scenario;

	overrides_of(s, point, &overrides);
	enum hd_status status =
		scenario_parse(s->base, strlen(s->base), s->base_file,
			       &overrides, d, &scenario);

	if (status == HD_OK)
		status = put_content(s, &scenario, d, &content);
	if (status == HD_OK) {
		struct digest h = digest_start;

		digest_add(&h, content.text, content.len);
		digest_print(&h, &key);
		*out = (struct point_id){ .key = strbuf_detach(&key),
					  .scenario = strbuf_detach(&content) };
	}
	strbuf_fini(&content);
	strbuf_fini(&key);
	scenario_fini(&scenario);
	overrides_fini(&overrides);
	return status;
}

void point_id_fini(struct point_id *id)
{
	free(id->key);
	free(id->scenario);
	*id = (struct point_id){ 0 };
}

void point_sign(const struct study *s, size_t point, const struct point_id *id,
		struct results *r)
{
	struct overrides overrides = { 0 };
	struct strbuf words = STRBUF_INIT;

	overrides_of(s, point, &overrides);
	strbuf_puts(&words, s->base_file);
	for (size_t i = 0; i < overrides.n; i++)
		strbuf_printf(&words, " --set '%s=%s'", overrides.items[i].path,
			      overrides.items[i].value);
	results_set_arguments(r, words.text);
	results_set_scenario(r, id->scenario);
	r->seed = study_seed(s, point);
	results_parameter(r, POINT_KEY, id->key);
	for (size_t i = 0; i < s->n_axes; i++)
		results_parameter(r, s->axes[i].field,
				  s->axes[i].values.items[study_value(
					  s, i, study_cell(s, point))]);
	strbuf_fini(&words);
	overrides_fini(&overrides);
}

/* ---- what it gives ------------------------------------------------------ */

static double cell_of(const struct results *r, const char *table, size_t row,
		      const char *column)
{
	const struct table *t = results_find(r, table);

	for (size_t i = 0; t && i < t->n_columns && row < table_rows(t); i++) {
		if (strcmp(t->columns[i].name, column) == 0)
			return value_real(table_cell(t, row, i));
	}
	return NAN;
}

/* Of the traffic row that is shared worst. */
static double least_fairness(const struct results *r)
{
	const struct table *t = results_find(r, "traffic");
	double least = NAN;

	for (size_t row = 0; row < table_rows(t); row++)
		least = fmin(least, cell_of(r, "traffic", row, "fairness"));
	return least;
}

static void put_headline(const struct sim_metrics *m, const struct results *all,
			 bool met, struct results *r)
{
	struct table *t = results_record(r, "headline", "the point in short",
					 point_measures);

	table_put_real(t, cell_of(all, "summary", 0, "offered"));
	table_put_real(t, cell_of(all, "summary", 0, "delivered"));
	table_put_real(t, cell_of(all, "summary", 0, "latency mean"));
	if (m->latency.n)
		table_put_time(t, histogram_percentile(&m->latency, 50));
	else
		table_put_none(t);
	table_put_real(t, cell_of(all, "summary", 0, "latency p99"));
	table_put_real(t, cell_of(all, "summary", 0, "latency max"));
	table_put_real(t, least_fairness(all));
	table_put_real(t, cell_of(all, "summary", 0, "busiest link used"));
	table_put_uint(t, (uint64_t)cell_of(all, "summary", 0, "lost"));
	if (results_find(all, "goals"))
		table_put_bool(t, met);
	else
		table_put_none(t);
}

static bool is_kept(const struct study *s, const char *name)
{
	for (size_t i = 0; i < s->tables.n; i++) {
		if (strcmp(s->tables.items[i], name) == 0 ||
		    strcmp(s->tables.items[i], "all") == 0)
			return true;
	}
	return false;
}

static struct results *keep(const struct study *s, const struct simulation *run)
{
	struct results *r = results_new(POINT_COMMAND);
	bool met;
	struct results *all = simulation_results(run, s->tables.n > 0, &met);

	put_headline(sim_metrics(simulation_sim(run)), all, met, r);
	for (size_t i = 0; i < all->n_tables; i++) {
		if (is_kept(s, all->tables[i]->name))
			results_copy_table(r, all->tables[i]);
	}
	for (size_t i = 0; s->tables.n && i < all->n_remarks; i++)
		results_remark(r, "%s", all->remarks[i]);
	results_free(all);
	return r;
}

static enum hd_status check_end(const struct simulation *run, struct diag *d)
{
	struct strbuf when = STRBUF_INIT;
	enum hd_status status = HD_OK;

	d->file = NULL;
	hd_time_print(sim_now(simulation_sim(run)), &when);
	if (simulation_state(run) == SIM_DEADLOCK)
		status = diag_fail(d, HD_ERR_INPUT,
				   "deadlock at %s: packets wait for each "
				   "other in a circle",
				   when.text);
	strbuf_fini(&when);
	return status;
}

static enum hd_status simulate(const struct study *s, struct fabric *f,
			       struct diag *d, struct results **out)
{
	const struct simulation_options options = { .sampled = false };
	struct simulation *run;

	if (simulation_new(f, &options, d, &run) != HD_OK)
		return d->status;
	if (simulation_run(run, d) == HD_OK && check_end(run, d) == HD_OK)
		*out = keep(s, run);
	simulation_free(run);
	return d->status;
}

enum hd_status point_run(const struct study *s, size_t point, struct diag *d,
			 struct results **out)
{
	struct overrides overrides = { 0 };
	struct fabric *f;

	overrides_of(s, point, &overrides);
	enum hd_status status = fabric_load(s->base, strlen(s->base),
					    s->base_file, &overrides, d, &f);

	if (status == HD_OK)
		status = simulate(s, f, d, out);
	overrides_fini(&overrides);
	return status;
}
