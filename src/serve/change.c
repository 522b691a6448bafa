/* SPDX-License-Identifier: BSD-2-Clause */
#include "serve/change.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define LABEL "a change"

/* Simulator port of a link, or SIM_NONE. */
static uint32_t change_port(const struct fabric *fabric, uint32_t link)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < fabric->setup.n_ports; i++) {
		if (fabric->setup.ports[i].peer != SIM_NONE && n++ == link)
			return i;
	}
	return SIM_NONE;
}

/* Adds an item with a time to a list. */
static void put_at(const char *list, hd_time at, struct overrides *o)
{
	struct strbuf path = STRBUF_INIT, time = STRBUF_INIT;

	strbuf_printf(&path, "%s.+.at", list);
	hd_time_print(at, &time);
	overrides_put(o, LABEL, path.text, "%s", time.text);
	strbuf_fini(&time);
	strbuf_fini(&path);
}

static enum hd_status put_fault(const struct change *c, const struct fabric *fabric, hd_time at,
				struct overrides *o, struct strbuf *words, struct diag *d)
{
	const char *kind = c->kind == CHANGE_CUT ? "link-down" : "link-up";
	uint32_t port = change_port(fabric, c->link);

	if (port == SIM_NONE)
		return diag_fail(d, HD_ERR_NOT_FOUND, "unknown link %u", c->link);
	struct strbuf name = STRBUF_INIT;

	fabric_port_name(fabric, port, &name);
	put_at("faults.events", at, o);
	overrides_put(o, LABEL, "faults.events.-.kind", "%s", kind);
	overrides_put(o, LABEL, "faults.events.-.port", "%s", name.text);
	strbuf_printf(words, "%s %s", kind, name.text);
	strbuf_fini(&name);
	return HD_OK;
}

static void put_weights(const struct change *c, hd_time at, struct overrides *o,
			struct strbuf *words)
{
	put_at("qos.changes", at, o);
	overrides_put(o, LABEL, "qos.changes.-.ports", "all");
	strbuf_puts(words, "tables of all ports:");
	if (*c->high) {
		overrides_put(o, LABEL, "qos.changes.-.high", "%s", c->high);
		strbuf_printf(words, " high %s", c->high);
	}
	if (*c->low) {
		overrides_put(o, LABEL, "qos.changes.-.low", "%s", c->low);
		strbuf_printf(words, " low %s", c->low);
	}
}

/* Copies fields below "traffic[3]." or "goals[0]." of a scenario. */
struct copier {
	const char *prefix;
	const char *list; /* "traffic" */
	struct overrides *to;
	bool begun;
};

static void copy_field(void *context, const char *name, const char *value)
{
	struct copier *c = context;
	size_t len = strlen(c->prefix);

	if (strncmp(name, c->prefix, len) != 0)
		return;
	struct strbuf path = STRBUF_INIT;

	strbuf_printf(&path, "%s.%s.%s", c->list, c->begun ? "-" : "+", name + len);
	overrides_put(c->to, LABEL, path.text, "%s", value);
	c->begun = true;
	strbuf_fini(&path);
}

/* Appends a copy of an item to its list. */
static void copy_item(const struct scenario *s, const char *list, size_t item, struct overrides *to)
{
	struct strbuf prefix = STRBUF_INIT;

	strbuf_printf(&prefix, "%s[%zu].", list, item);
	struct copier c = { .prefix = prefix.text, .list = list, .to = to };

	scenario_settings(s, copy_field, &c);
	strbuf_fini(&prefix);
}

/* Name of the successor of a row: "video" becomes "video-2", then "video-3". */
static char *next_name(const struct scenario *s, const char *name)
{
	struct strbuf out = STRBUF_INIT;
	const char *dash = strrchr(name, '-');
	size_t stem = dash && dash[1] && strspn(dash + 1, "0123456789") == strlen(dash + 1)
			      ? (size_t)(dash - name)
			      : strlen(name);
	uint32_t none = UINT32_MAX;

	for (unsigned k = 2;; k++) {
		struct diag d = { .status = HD_OK };

		strbuf_clear(&out);
		strbuf_add(&out, name, stem);
		strbuf_printf(&out, "-%u", k);
		if (scenario_find_row(s, out.text, "row", &d, &none) != HD_OK)
			return strbuf_detach(&out);
	}
}

static void set_load(const char *path, const struct change *c, struct overrides *o)
{
	static const char *const fields[] = { "load", "rate" };
	bool is_rate = strstr(c->value, "b/s") != NULL;

	for (unsigned i = 0; i < 2; i++) {
		struct strbuf field = STRBUF_INIT;

		strbuf_printf(&field, "%s.%s", path, fields[i]);
		overrides_put(o, LABEL, field.text, "%s", i == is_rate ? c->value : "");
		strbuf_fini(&field);
	}
}

/* Copies the goals of a row for its successor. */
static void copy_goals(const struct scenario *s, const char *row, const char *next,
		       struct overrides *o)
{
	for (size_t i = 0; i < s->n_goals; i++) {
		if (!s->goals[i].row || strcmp(s->goals[i].row, row) != 0)
			continue;
		copy_item(s, "goals", i, o);
		overrides_put(o, LABEL, "goals.-.row", "%s", next);
	}
}

/* Ends the row, and adds a copy with the new load that begins then. */
static void put_successor(const struct scenario *s, const struct change *c, hd_time at,
			  struct overrides *o)
{
	struct strbuf time = STRBUF_INIT, path = STRBUF_INIT;
	char *name = next_name(s, s->traffic[c->row].name);

	hd_time_print(at, &time);
	copy_item(s, "traffic", c->row, o);
	overrides_put(o, LABEL, "traffic.-.name", "%s", name);
	overrides_put(o, LABEL, "traffic.-.start", "%s", time.text);
	set_load("traffic.-", c, o);
	strbuf_printf(&path, "traffic.%u.stop", c->row);
	overrides_put(o, LABEL, path.text, "%s", time.text);
	copy_goals(s, s->traffic[c->row].name, name, o);
	free(name);
	strbuf_fini(&path);
	strbuf_fini(&time);
}

static enum hd_status put_load(const struct change *c, const struct scenario *s, hd_time at,
			       struct overrides *o, struct strbuf *words, struct diag *d)
{
	if (c->row >= s->n_traffic)
		return diag_fail(d, HD_ERR_NOT_FOUND, "unknown traffic row %u", c->row);
	const struct scn_traffic *t = &s->traffic[c->row];
	struct strbuf path = STRBUF_INIT;

	if (t->stop <= at)
		return diag_fail(d, HD_ERR_UNFIT,
				 "traffic row '%s' has ended; change the row that replaced it",
				 t->name);
	strbuf_printf(&path, "traffic.%u", c->row);
	if (t->start >= at)
		set_load(path.text, c, o);
	else
		put_successor(s, c, at, o);
	strbuf_printf(words, "%s: %s", t->name, c->value);
	strbuf_fini(&path);
	return HD_OK;
}

/*
 * Adds a subnet manager whose traps arrive now, relative to the first change of a link. It
 * re-routes now and changes nothing before.
 */
static enum hd_status put_reroute(const struct fabric *fabric, hd_time at, struct overrides *o,
				  struct strbuf *words, struct diag *d)
{
	struct strbuf trap = STRBUF_INIT;
	hd_time first = at;

	if (fabric->scenario->sm.trap != HD_TIME_NEVER ||
	    fabric->scenario->sm.sweep != HD_TIME_NEVER)
		return diag_fail(
			d, HD_ERR_UNFIT,
			"the scenario has a subnet manager already: it re-routes by itself");
	for (uint32_t i = 0; i < fabric->setup.n_faults; i++) {
		const struct sim_fault *f = &fabric->setup.faults[i];

		if ((f->kind == SIM_LINK_DOWN || f->kind == SIM_LINK_UP) && f->time < first)
			first = f->time;
	}
	if (first == at)
		return diag_fail(d, HD_ERR_UNFIT, "no link has failed: cut a cable first");
	hd_time_print(at - first, &trap);
	overrides_put(o, LABEL, "sm.trap", "%s", trap.text);
	strbuf_printf(words, "subnet manager re-routes, %s after a link changes", trap.text);
	strbuf_fini(&trap);
	return HD_OK;
}

enum hd_status change_put(const struct change *c, const struct fabric *fabric, hd_time at,
			  struct overrides *o, struct strbuf *words, struct diag *d)
{
	switch (c->kind) {
	case CHANGE_CUT:
	case CHANGE_MEND:
		return put_fault(c, fabric, at, o, words, d);
	case CHANGE_LOAD:
		return put_load(c, fabric->scenario, at, o, words, d);
	case CHANGE_REROUTE:
		return put_reroute(fabric, at, o, words, d);
	case CHANGE_WEIGHTS:
		break;
	}
	put_weights(c, at, o, words);
	return HD_OK;
}
