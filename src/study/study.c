/* SPDX-License-Identifier: BSD-2-Clause */
#include "study/study.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/text.h"
#include "scenario/scenario.h"
#include "study/study_internal.h"

#define STUDY(m) offsetof(struct study, m)
#define AXIS(m)  offsetof(struct study_axis, m)

static const struct schema_row study_fields[] = {
	{ "title", SCHEMA_TEXT, STUDY(title), .optional = true, .help = "what the study is about" },
	{ "command", SCHEMA_TEXT, STUDY(command_text), .optional = true,
	  .help = "what a point is a run of, as after 'heddle'; sim" },
	{ "scenario", SCHEMA_TEXT, STUDY(scenario), .optional = true,
	  .help = "the file that all points start from, as seen from here; some commands take none" },
	{ "arguments", SCHEMA_TEXT, STUDY(arguments), .optional = true,
	  .help = "what else the command takes, as a test of bench" },
	{ "set", SCHEMA_TEXT, STUDY(set), .optional = true, .joins = true,
	  .help = "PATH=VALUE, ...: what all points have other than the file; of commands also OPTION=VALUE" },
	{ "axes", SCHEMA_LIST, STUDY(written), .count = STUDY(n_written),
	  .item_size = sizeof(struct study_axis), .help = "fields that take several values" },
	{ "axes[].field", SCHEMA_TEXT, AXIS(field), .help = "the path of a field, as after --set" },
	{ "axes[].values", SCHEMA_TEXT, AXIS(values), .joins = true,
	  .help = "a list, LOW..HIGH:STEP or LOW..HIGH:*FACTOR" },
	{ "axes[].labels", SCHEMA_TEXT, AXIS(labels), .optional = true, .joins = true,
	  .help = "a label for each value, shown in tables and plots" },
	{ "axes[].with", SCHEMA_TEXT, AXIS(with), .optional = true,
	  .help = "axes of one name here go along together" },
	{ "seeds", SCHEMA_UINT, STUDY(seeds), .initial = "1", .low = "1", .high = "1000000",
	  .help = "runs of each cell, with other seeds" },
	{ "skip", SCHEMA_TEXT, STUDY(skip), .optional = true, .joins = true,
	  .help = "conditions on fields: cells where one holds are left out" },
	{ "keep", SCHEMA_TEXT, STUDY(keep), .optional = true, .joins = true,
	  .help = "tables of each point to keep, or all" },
	{ "stop", SCHEMA_TEXT, STUDY(stop), .optional = true,
	  .help = "FIELD when CONDITION: beyond its first value where the condition holds nothing is run" },
	{ "find", SCHEMA_TEXT, STUDY(find), .optional = true,
	  .help = "largest FIELD with CONDITION, or smallest: by bisection" },
	{ NULL },
};

/* ---- reading ------------------------------------------------------------ */

static bool is_study(struct document *doc)
{
	const yaml_node_t *root = document_root(doc);

	if (!root || root->type != YAML_MAPPING_NODE)
		return false;
	for (const yaml_node_pair_t *p = root->data.mapping.pairs.start;
	     p < root->data.mapping.pairs.top; p++) {
		const yaml_node_t *key = document_node(doc, p->key);

		if (key->type == YAML_SCALAR_NODE &&
		    (strcmp((const char *)key->data.scalar.value, "scenario") == 0 ||
		     strcmp((const char *)key->data.scalar.value, "command") == 0 ||
		     strcmp((const char *)key->data.scalar.value, "axes") == 0))
			return true;
	}
	return false;
}

/* Axes move when others are added; their places do not. */
static void note_lines(struct study *s)
{
	for (size_t i = 0; i < s->n_written; i++) {
		const struct schema_place *at = schema_place_of(&s->places, &s->written[i].values);

		s->written[i].line = at ? at->line : 0;
	}
}

enum hd_status study_parse(const char *text, size_t len, const char *path, struct diag *d,
			   struct study *out)
{
	struct document doc;

	*out = (struct study){ .seeds = 1, .base_file = hd_strdup(path) };
	d->file = out->base_file;
	enum hd_status status = document_load(text, len, "the scenario", d, &doc);

	if (status != HD_OK)
		return status;
	if (is_study(&doc)) {
		out->file = out->base_file;
		out->base_file = NULL;
		doc.what = "the study";
		status = schema_read(study_fields, &doc, NULL, d, out, &out->places);
		note_lines(out);
	} else {
		out->base = hd_strndup(text, len);
	}
	document_fini(&doc);
	return status;
}

/* The scenario's name, from where we are. */
static void find_base(struct study *s)
{
	const char *slash = strrchr(s->file, '/');
	struct strbuf path = STRBUF_INIT;

	if (slash && s->scenario[0] != '/' && strcmp(s->scenario, "-") != 0)
		strbuf_add(&path, s->file, (size_t)(slash - s->file) + 1);
	strbuf_puts(&path, s->scenario);
	s->base_file = strbuf_detach(&path);
}

static enum hd_status read_base(struct study *s, struct diag *d)
{
	struct strbuf text = STRBUF_INIT;

	find_base(s);
	struct diag inner = { .status = HD_OK };
	enum hd_status status = file_read(s->base_file, SCENARIO_LIMIT, &inner, &text);

	if (status != HD_OK) {
		struct strbuf why = STRBUF_INIT;

		diag_print(&inner, &why);
		status = study_refuse(s, d, &s->scenario, "%s", why.text);
		strbuf_fini(&why);
	} else {
		s->base = hd_strndup(text.text, text.len);
	}
	strbuf_fini(&text);
	return status;
}

/* Reads the settings of the study's own file. */
static enum hd_status read_settings(struct study *s, struct diag *d)
{
	struct value_list items = { 0 };
	enum hd_status status = HD_OK;

	if (s->set)
		value_list_split(&items, s->set);
	for (size_t i = 0; i < items.n && status == HD_OK; i++) {
		char *equals = strchr(items.items[i], '=');

		if (!equals || equals == items.items[i]) {
			status = study_refuse(s, d, &s->set, "'%.80s' is not PATH=VALUE",
					      items.items[i]);
			continue;
		}
		char *path = text_trimmed(items.items[i], (size_t)(equals - items.items[i]));
		char *value = text_trimmed(equals + 1, strlen(equals + 1));
		struct strbuf label = STRBUF_INIT;

		study_label(s, study_line(s, &s->set), path, &label);
		overrides_put(&s->overrides, label.text, path, "%s", value);
		strbuf_fini(&label);
		free(path);
		free(value);
	}
	value_list_fini(&items);
	return status;
}

/* No scenario is as good as an empty one. */
static void study_lack_base(struct study *s)
{
	s->base_file = hd_strdup("");
	s->base = hd_strdup("");
}

void study_init(struct study *s, const struct overrides *overrides)
{
	*s = (struct study){ .seeds = 1 };
	study_lack_base(s);
	overrides_copy(overrides, &s->overrides);
}

void study_init_template(struct study *s, const char *template, const char *file)
{
	*s = (struct study){ .seeds = 1, .template = hd_strdup(template) };
	s->file = file ? hd_strdup(file) : NULL;
	study_lack_base(s);
}

void study_add_axis(struct study *s, const char *field, const char *values, unsigned line)
{
	s->written = hd_realloc(s->written, s->n_written + 1, sizeof(*s->written));
	s->written[s->n_written++] = (struct study_axis){ .field = hd_strdup(field),
							  .values = hd_strdup(values),
							  .line = line };
}

void study_select(struct study *s, const char *field, const char *labels)
{
	struct condition c = { 0 };

	for (bool more = true; more; labels++) {
		size_t len = strcspn(labels, "|");

		c.terms = hd_grow(c.terms, &c.cap, c.n + 1, sizeof(*c.terms));
		c.terms[c.n++] = (struct term){ .left = hd_strdup(field),
						.relation = RELATION_OTHER,
						.right = hd_strndup(labels, len) };
		labels += len;
		more = *labels != '\0';
	}
	s->skips = hd_realloc(s->skips, s->n_skips + 1, sizeof(*s->skips));
	s->skips[s->n_skips++] = c;
}

enum hd_status study_read(const char *path, const struct overrides *overrides, struct diag *d,
			  struct study *out)
{
	struct strbuf text = STRBUF_INIT;
	enum hd_status status = file_read(path, SCENARIO_LIMIT, d, &text);

	*out = (struct study){ 0 };
	if (status == HD_OK)
		status = study_parse(text.text, text.len, path, d, out);
	if (status == HD_OK && out->file && out->scenario)
		status = read_base(out, d);
	else if (status == HD_OK && out->file)
		study_lack_base(out);
	if (status == HD_OK && out->file)
		status = read_settings(out, d);
	if (status == HD_OK)
		overrides_copy(overrides, &out->overrides);
	strbuf_fini(&text);
	return status;
}

/* ---- the command line --------------------------------------------------- */

void study_append(char **list, const char *text)
{
	struct strbuf all = STRBUF_INIT;

	if (*list)
		strbuf_printf(&all, "%s, ", *list);
	strbuf_puts(&all, text);
	free(*list);
	*list = strbuf_detach(&all);
}

static enum hd_status add_axis(struct study *s, const char *text, size_t len, const char *with,
			       struct diag *d)
{
	const char *equals = memchr(text, '=', len);
	size_t invalid = utf8_find_invalid(text);

	d->file = NULL;
	if (invalid < len)
		return diag_fail(d, HD_ERR_USAGE, "--vary is not UTF-8 at byte %zu (0x%02x)",
				 invalid + 1, (unsigned char)text[invalid]);
	if (!equals || equals == text)
		return diag_fail(d, HD_ERR_USAGE, "--vary takes FIELD=VALUES, not '%.*s'",
				 len < 80 ? (int)len : 80, text);
	s->written = hd_realloc(s->written, s->n_written + 1, sizeof(*s->written));
	s->written[s->n_written++] = (struct study_axis){
		.field = text_trimmed(text, (size_t)(equals - text)),
		.values = text_trimmed(equals + 1, (size_t)(text + len - equals) - 1),
		.with = with ? hd_strdup(with) : NULL,
	};
	return HD_OK;
}

enum hd_status study_vary(struct study *s, const char *text, struct diag *d)
{
	enum hd_status status = HD_OK;
	const char *with = strstr(text, " & ") ? text : NULL;

	for (bool more = true; more && status == HD_OK;) {
		const char *and = strstr(text, " & ");
		size_t len = and? (size_t)(and-text) : strlen(text);

		status = add_axis(s, text, len, with, d);
		more = and != NULL;
		text += len + (more ? strlen(" & ") : 0);
	}
	return status;
}

enum hd_status study_label_values(struct study *s, const char *text, struct diag *d)
{
	const char *equals = strchr(text, '=');
	size_t len = equals ? (size_t)(equals - text) : 0, invalid = utf8_find_invalid(text);

	d->file = NULL;
	if (text[invalid])
		return diag_fail(d, HD_ERR_USAGE, "--label is not UTF-8 at byte %zu (0x%02x)",
				 invalid + 1, (unsigned char)text[invalid]);
	for (size_t i = 0; i < s->n_written && len; i++) {
		struct study_axis *a = &s->written[i];

		if (strlen(a->field) != len || memcmp(a->field, text, len) != 0)
			continue;
		free(a->labels);
		a->labels = hd_strdup(equals + 1);
		return HD_OK;
	}
	return len ? diag_fail(d, HD_ERR_USAGE, "--label: %.*s is not varied",
			       len < 80 ? (int)len : 80, text)
		   : diag_fail(d, HD_ERR_USAGE, "--label takes FIELD=LABELS, not '%.80s'", text);
}

void study_fini(struct study *s)
{
	schema_release(study_fields, s);
	free(s->places.items);
	free(s->file);
	free(s->base_file);
	free(s->base);
	free(s->template);
	overrides_fini(&s->overrides);
	for (size_t i = 0; i < s->n_axes; i++)
		axis_fini(&s->axes[i]);
	free(s->axes);
	free(s->lengths);
	for (size_t i = 0; i < s->n_skips; i++)
		condition_fini(&s->skips[i]);
	free(s->skips);
	value_list_fini(&s->tables);
	measures_fini(&s->measures);
	condition_fini(&s->search.condition);
	free(s->cells);
	*s = (struct study){ 0 };
}
