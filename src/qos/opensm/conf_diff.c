/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/opensm/conf_diff.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

struct conf_key {
	char *key, *value;
	unsigned line;
};

struct conf_keys {
	struct conf_key *items;
	size_t n, cap;
};

struct key_row {
	const char *key, *running, *planned;
	unsigned line;
};

static const struct column key_columns[] = {
	{ "line", NULL, CELL_UNLESS(key_row, line, 0) },
	{ "key", NULL, CELL(key_row, key) },
	{ "running", NULL, CELL(key_row, running) },
	{ "planned", NULL, CELL(key_row, planned), ORIGIN_COMPUTED },
	{ NULL },
};

static struct conf_key *find(const struct conf_keys *all, const char *key)
{
	for (size_t i = 0; i < all->n; i++) {
		if (strcmp(all->items[i].key, key) == 0)
			return &all->items[i];
	}
	return NULL;
}

/* Parses "key value"; a comment or an empty line has no key. */
static void read_line(struct conf_keys *all, char *line, unsigned number)
{
	line[strcspn(line, "#\r")] = '\0';
	char *rest = line, *key = strtok_r(rest, " \t", &rest);

	if (!key)
		return;
	rest += strspn(rest, " \t");
	for (size_t end = strlen(rest); end && strchr(" \t", rest[end - 1]); end--)
		rest[end - 1] = '\0';
	struct conf_key *known = find(all, key);

	if (!known) {
		all->items = hd_grow(all->items, &all->cap, all->n + 1, sizeof(*all->items));
		known = &all->items[all->n++];
		*known = (struct conf_key){ .key = hd_strdup(key) };
	}
	free(known->value);
	known->value = hd_strdup(rest);
	known->line = number;
}

static void read_keys(const char *text, struct conf_keys *out)
{
	*out = (struct conf_keys){ .items = NULL };
	for (unsigned number = 1; *text; number++) {
		size_t len = strcspn(text, "\n");
		char *line = hd_strndup(text, len);

		read_line(out, line, number);
		free(line);
		text += len + (text[len] == '\n');
	}
}

static void keys_fini(struct conf_keys *all)
{
	for (size_t i = 0; i < all->n; i++) {
		free(all->items[i].key);
		free(all->items[i].value);
	}
	free(all->items);
}

/* Whether the key belongs to one kind of port and overrides a general key of the plan. */
static bool overrides_plan(const char *key, const struct conf_keys *plan)
{
	static const char *const kinds[] = { "qos_ca_", "qos_sw0_", "qos_swe_", "qos_rtr_" };
	char general[64];

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (strncmp(key, kinds[i], strlen(kinds[i])) != 0)
			continue;
		snprintf(general, sizeof(general), "qos_%s", key + strlen(kinds[i]));
		return find(plan, general) && !find(plan, key);
	}
	return false;
}

void opensm_conf_diff_show(const char *running, const char *plan, struct results *r)
{
	struct conf_keys now, planned;
	struct table *t =
		results_table(r, "keys", "lines of the running file that change", key_columns);

	read_keys(running, &now);
	read_keys(plan, &planned);
	for (size_t i = 0; i < planned.n; i++) {
		const struct conf_key *is = find(&now, planned.items[i].key);
		const struct key_row row = {
			.line = is ? is->line : 0,
			.key = planned.items[i].key,
			.running = is ? is->value : "absent",
			.planned = planned.items[i].value,
		};

		if (!is || strcmp(is->value, row.planned) != 0)
			table_put_row(t, &row);
	}
	for (size_t i = 0; i < now.n; i++) {
		const struct key_row row = {
			.line = now.items[i].line,
			.key = now.items[i].key,
			.running = now.items[i].value,
			.planned = "remove",
		};

		if (overrides_plan(row.key, &planned))
			table_put_row(t, &row);
	}
	keys_fini(&now);
	keys_fini(&planned);
}
