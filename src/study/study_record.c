/* SPDX-License-Identifier: BSD-2-Clause */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "study/tables.h"

/* Names of the run's parameters; what follows a blank is a path. */
#define NAME_SCENARIO "study scenario"
#define NAME_SEEDS    "study seeds"
#define NAME_RULES    "study rules"
#define NAME_SET      "study set "
#define NAME_AXIS     "study axis "
#define NAME_WITH     "study with "
#define NAME_LABELS   "study labels "

/* The texts that a study may have. */
static const struct {
	const char *name;
	size_t offset;
} texts[] = {
	{ "study title", offsetof(struct study, title) },
	{ "study command", offsetof(struct study, command_text) },
	{ "study arguments", offsetof(struct study, arguments) },
	{ "study skip", offsetof(struct study, skip) },
	{ "study keep", offsetof(struct study, keep) },
	{ "study stop", offsetof(struct study, stop) },
	{ "study find", offsetof(struct study, find) },
};
#define N_TEXTS (sizeof(texts) / sizeof(*texts))

static void put_named(struct results *r, const char *kind, const char *path, const char *value)
{
	struct strbuf name = STRBUF_INIT;

	strbuf_printf(&name, "%s%s", kind, path);
	results_parameter(r, name.text, value);
	strbuf_fini(&name);
}

void study_record(const struct study *s, struct results *r)
{
	char number[24];

	results_set_scenario(r, s->base);
	results_parameter(r, NAME_SCENARIO, s->base_file);
	snprintf(number, sizeof(number), "%llu", (unsigned long long)s->seeds);
	results_parameter(r, NAME_SEEDS, number);
	snprintf(number, sizeof(number), "%d", POINT_RULES);
	results_parameter(r, NAME_RULES, number);
	for (size_t i = 0; i < s->overrides.n; i++)
		put_named(r, NAME_SET, s->overrides.items[i].path, s->overrides.items[i].value);
	for (size_t i = 0; i < s->n_written; i++) {
		put_named(r, NAME_AXIS, s->written[i].field, s->written[i].values);
		if (s->written[i].with)
			put_named(r, NAME_WITH, s->written[i].field, s->written[i].with);
		if (s->written[i].labels)
			put_named(r, NAME_LABELS, s->written[i].field, s->written[i].labels);
	}
	for (size_t i = 0; i < N_TEXTS; i++) {
		const char *text = *(char *const *)((const char *)s + texts[i].offset);

		if (text)
			results_parameter(r, texts[i].name, text);
	}
}

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static void restore_text(const char *name, const char *value, struct study *s)
{
	for (size_t i = 0; i < N_TEXTS; i++) {
		if (strcmp(name, texts[i].name) == 0)
			*(char **)((char *)s + texts[i].offset) = hd_strdup(value);
	}
}

static void restore_axis(const char *name, const char *value, struct study *s)
{
	if (begins(name, NAME_WITH) && s->n_written) {
		s->written[s->n_written - 1].with = hd_strdup(value);
		return;
	}
	if (begins(name, NAME_LABELS) && s->n_written) {
		s->written[s->n_written - 1].labels = hd_strdup(value);
		return;
	}
	s->written = hd_realloc(s->written, s->n_written + 1, sizeof(*s->written));
	s->written[s->n_written++] = (struct study_axis){
		.field = hd_strdup(name + strlen(NAME_AXIS)),
		.values = hd_strdup(value),
	};
}

enum hd_status study_restore(const struct results *r, study_options_fn *options_of, struct diag *d,
			     struct study *out)
{
	uint64_t rules = 0;

	*out = (struct study){ .base = hd_strdup(r->scenario), .options_of = options_of };
	for (size_t i = 0; i < r->n_parameters; i++) {
		const char *name = r->parameters[i].name;
		const char *value = r->parameters[i].value;

		if (strcmp(name, NAME_SCENARIO) == 0 && !out->base_file)
			out->base_file = hd_strdup(value);
		else if (strcmp(name, NAME_SEEDS) == 0)
			out->seeds = strtoull(value, NULL, 10);
		else if (strcmp(name, NAME_RULES) == 0)
			rules = strtoull(value, NULL, 10);
		else if (begins(name, NAME_SET))
			overrides_put(&out->overrides, "--set", name + strlen(NAME_SET), "%s",
				      value);
		else if (begins(name, NAME_AXIS) || begins(name, NAME_WITH) ||
			 begins(name, NAME_LABELS))
			restore_axis(name, value, out);
		else
			restore_text(name, value, out);
	}
	if (!out->base_file || !out->seeds)
		return diag_fail(d, HD_ERR_INPUT, "holds no sweep");
	if (rules != POINT_RULES)
		return diag_fail(
			d, HD_ERR_INPUT,
			"its points were computed by another version of heddle; use a new database");
	return study_resolve(out, d);
}
