/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>

#include "scenario/scenario.h"
#include "scenario/schema.h"

#define INDENT    2
#define MAX_DEPTH 16

/*
 * The printed form (schema_print) is regular: two blanks a level, "- " where a
 * list item begins, "name:" or "name: value" on every line. Its lines are the
 * settings; the levels around them are their names.
 */
struct settings_walk {
	struct {
		char name[64];
		size_t item; /* of a list, counted from 1; 0: not a list */
	} level[MAX_DEPTH];
	scenario_setting_fn *put;
	void *context;
};

static void put_setting(const struct settings_walk *w, size_t depth, const char *value)
{
	struct strbuf name = STRBUF_INIT, plain = STRBUF_INIT;
	size_t len = strlen(value);

	for (size_t i = 0; i <= depth; i++) {
		if (!w->level[i].name[0])
			continue; /* the level of a list's dashes */
		strbuf_printf(&name, "%s%s", name.len ? "." : "", w->level[i].name);
		if (w->level[i].item)
			strbuf_printf(&name, "[%zu]", w->level[i].item - 1);
	}
	if (len >= 2 && value[0] == '"' && value[len - 1] == '"')
		strbuf_add(&plain, value + 1, len - 2);
	else
		strbuf_puts(&plain, value);
	w->put(w->context, name.text, plain.text);
	strbuf_fini(&name);
	strbuf_fini(&plain);
}

static void walk_line(struct settings_walk *w, char *line)
{
	size_t blanks = strspn(line, " ");
	bool item = strncmp(line + blanks, "- ", 2) == 0;
	size_t depth = blanks / INDENT + item;
	char *name = line + depth * INDENT;
	char *colon = strchr(name, ':');

	if (!colon || depth >= MAX_DEPTH)
		return;
	*colon = '\0';
	if (item && depth >= 2)
		w->level[depth - 2].item++;
	snprintf(w->level[depth].name, sizeof(w->level[depth].name), "%s", name);
	w->level[depth].item = 0;
	for (size_t i = depth + 1; i < MAX_DEPTH; i++) {
		w->level[i].name[0] = '\0';
		w->level[i].item = 0;
	}
	if (colon[1] == ' ')
		put_setting(w, depth, colon + 2);
}

void scenario_settings(const struct scenario *s, scenario_setting_fn *put, void *context)
{
	struct strbuf text = STRBUF_INIT;
	struct settings_walk w = { .put = put, .context = context };

	schema_print(scenario_fields, s, false, &text);
	for (char *line = text.text; *line;) {
		char *end = line + strcspn(line, "\n");
		bool last = !*end;

		*end = '\0';
		walk_line(&w, line);
		line = last ? end : end + 1;
	}
	strbuf_fini(&text);
}
