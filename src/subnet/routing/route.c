/* SPDX-License-Identifier: BSD-2-Clause */
#include "subnet/routing/route.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "subnet/engine_list.h"
#include "subnet/routing/adaptive.h"
#include "subnet/routing/deadlock.h"
#include "subnet/routing/share.h"
#include "subnet/tables/tables.h"

const struct route_engine *route_engine_find(const char *name)
{
	for (unsigned i = 0; i < route_n_engines; i++) {
		if (strcmp(route_engines[i]->name, name) == 0)
			return route_engines[i];
	}
	return NULL;
}

enum hd_status route_engine_known(const char *name, struct diag *d)
{
	const char *names[sizeof(route_engines) / sizeof(route_engines[0])];

	if (route_engine_find(name))
		return HD_OK;
	for (unsigned i = 0; i < route_n_engines; i++)
		names[i] = route_engines[i]->name;
	const char *nearest = text_nearest(name, names, route_n_engines);

	if (nearest)
		return diag_fail(d, HD_ERR_NOT_FOUND, "unknown routing engine '%s'%s", name,
				 text_hint(nearest).text);
	struct strbuf words = STRBUF_INIT;

	route_engine_words(&words);
	diag_fail(d, HD_ERR_NOT_FOUND, "unknown routing engine '%s' (%.*s)", name,
		  (int)words.len - 1, words.text);
	strbuf_fini(&words);
	return d->status;
}

void route_engine_words(struct strbuf *out)
{
	for (unsigned i = 0; i < route_n_engines; i++)
		strbuf_printf(out, "%s ", route_engines[i]->name);
}

static void forget_routes(struct subnet *s)
{
	if (s->lft_at)
		lft_clear(s);
	else
		memset(s->lft, LFT_NO_PORT, (size_t)s->n_switches * s->lft_stride);
	subnet_forget_sls(s);
	adaptive_forget(s);
	s->engine = NULL;
	s->vls_used = 0;
	s->note[0] = '\0';
	if (s->vls_by_engine || s->split.n_classes)
		subnet_reset_vls(s);
	s->split = (struct vl_split){ .n_classes = 0 };
}

/* Choices must exist if requested, and must be free of deadlock. */
static enum hd_status check_choices(const struct subnet *s, bool around, struct diag *d)
{
	struct strbuf circle = STRBUF_INIT, line = STRBUF_INIT;
	struct deadlock_check c;
	enum hd_status status = HD_OK;

	if (!s->adaptive)
		return diag_fail(
			d, HD_ERR_UNFIT,
			"leaves switches no choice of ports, which adaptive routing needs");
	if (around && !adaptive_goes_around(s->adaptive))
		return diag_fail(
			d, HD_ERR_UNFIT,
			"has no ways around by another group of a dragonfly, which needs a switch with cables to two others");
	route_check_deadlock(s, DEADLOCK_PLAIN, &c);
	if (c.n_cycle > 0) {
		route_print_cycle(s, &c, &circle);
		char *rest;

		for (char *from = strtok_r(circle.text, "\n", &rest); from;
		     from = strtok_r(NULL, "\n", &rest))
			strbuf_printf(&line, "%s%s", line.len ? "; " : "", from);
		status = diag_fail(d, HD_ERR_UNFIT,
				   "choosing among its ports could lock the fabric up: %s",
				   line.text);
	}
	route_deadlock_fini(&c);
	strbuf_fini(&circle);
	strbuf_fini(&line);
	return status;
}

enum hd_status subnet_route(struct subnet *s, const char *engine, const struct route_options *o,
			    struct diag *d)
{
	static const struct route_options none = { .n_roots = 0 };
	const struct route_engine *e = route_engine_find(engine);
	struct diag why = { .status = HD_OK };
	struct sw_graph g;

	memory_for("routes");
	if (!e)
		return route_engine_known(engine, d);
	if (!s->lft)
		return diag_fail(d, HD_ERR_UNFIT, "%s: LIDs must be assigned before routing",
				 engine);
	forget_routes(s);
	graph_init(&g, s);
	s->vls_used = 1;
	enum hd_status status = e->route(s, &g, o ? o : &none, &why);

	graph_fini(&g);
	if (status == HD_OK && o && o->adaptive)
		status = check_choices(s, o->around, &why);
	if (status == HD_OK) {
		s->engine = e->name;
		return HD_OK;
	}
	forget_routes(s);
	if (why.line)
		return diag_fail_at(d, status, why.line, why.column, "%s", why.message);
	return diag_fail(d, status, "%s: %s", e->name, why.message);
}

static enum hd_status route_file(struct subnet *s, const struct sw_graph *g,
				 const struct route_options *o, struct diag *d)
{
	struct tables_found found;

	(void)g;
	if (!o->tables)
		return diag_fail(d, HD_ERR_INPUT, "no file of routes is given");
	enum hd_status status = tables_read_stream(s, o->tables, d, &found);

	if (status == HD_OK && found.n_unicast == 0)
		status = diag_fail(d, HD_ERR_INPUT, "the file has multicast tables only");
	return status;
}

const struct route_engine engine_file = {
	.name = "file",
	.needs = "a dump of dump_fts or OpenSM for the fabric at hand",
	.route = route_file,
};
