/* SPDX-License-Identifier: BSD-2-Clause */
/* Findings about classes: shared VLs, and the SL of programs that set none. */
#include <stdio.h>
#include <string.h>

#include "qos/opensm/explain.h"

/* Service of classes on a link of an external switch port. */
struct class_lint {
	const struct opensm_conf *conf;
	struct explain e;
	const struct explain_port *swe;
	struct opensm_findings *out;
};

static const struct opensm_list *list_of(const struct class_lint *l, bool high)
{
	const struct opensm_set *own = &l->conf->set[OPENSM_SWE];
	const struct opensm_set *all = &l->conf->set[OPENSM_DEFAULT];
	const struct opensm_list *list = high ? &own->high : &own->sl2vl;

	return list->line ? list : high ? &all->high : &all->sl2vl;
}

/* Writes an SL2VL list in which `sl` maps to another VL. */
static void write_map(const struct class_lint *l, unsigned sl, unsigned vl, char *out, size_t size)
{
	const bool own = l->conf->set[OPENSM_SWE].sl2vl.line > 0;
	struct sl2vl map = l->swe->tables.sl2vl;
	struct strbuf text = STRBUF_INIT;

	map.vl[sl] = (uint8_t)vl;
	opensm_export_sl2vl(own ? "qos_swe_" : "qos_", &map, &text);
	snprintf(out, size, "%.*s", (int)strcspn(text.text, "\n"), text.text);
	strbuf_fini(&text);
}

static void lint_one_vl(const struct class_lint *l)
{
	const struct explain_view *v = &l->e.view;
	struct opensm_finding f = { .code = "W15", .line = l->conf->max_op_vls_line };
	int n = 0;

	if (!l->conf->qos || !f.line || l->conf->max_op_vls != 1)
		return;
	snprintf(f.message, sizeof(f.message),
		 "max_op_vls 1: all SLs use VL0, and OpenSM programs no arbitration table");
	snprintf(f.effect, sizeof(f.effect), "guaranteed share of each SL: 0 %%");
	for (unsigned i = 0; !v->by_vl && i < v->n_classes && n < 120; i++)
		n += snprintf(f.effect + n, sizeof(f.effect) - (size_t)n, "%s%.20s %.1f %%",
			      i ? ", " : "of a busy link, none guaranteed: ", v->classes[i].name,
			      100 * l->swe->services[i].share);
	snprintf(f.write, sizeof(f.write), "max_op_vls 4");
	opensm_findings_add(l->out, &f);
}

/* A VL with a weight in the low table and without a class; N_DATA_VLS: none. */
static unsigned free_vl(const struct class_lint *l)
{
	const struct opensm_tables *t = &l->swe->tables;

	for (unsigned i = 0; i < t->vlarb.n_low; i++) {
		bool used = t->vlarb.low[i].weight == 0;

		for (unsigned c = 0; c < l->e.view.n_classes; c++)
			used |= l->swe->services[c].vl == t->vlarb.low[i].vl;
		if (!used)
			return t->vlarb.low[i].vl;
	}
	return N_DATA_VLS;
}

/* Reports two named classes that share a VL. */
static void lint_pair(const struct class_lint *l, unsigned a, unsigned b)
{
	const struct explain_class *x = &l->e.view.classes[a], *y = &l->e.view.classes[b];
	const struct explain_service *s = l->swe->services;
	struct opensm_finding f = { .code = "W16", .line = list_of(l, false)->line };
	unsigned vl = free_vl(l);

	snprintf(f.message, sizeof(f.message),
		 "classes '%s' (SL%u) and '%s' (SL%u) share VL%u: neither has a share of its own",
		 x->name, x->sl, y->name, y->sl, s[a].vl);
	snprintf(f.effect, sizeof(f.effect),
		 "of a busy link %.1f %% and %.1f %%, none guaranteed: one can take all %.1f %%",
		 100 * s[a].share, 100 * s[b].share, 100 * s[a].vl_share);
	if (vl < N_DATA_VLS)
		write_map(l, y->sl, vl, f.write, sizeof(f.write));
	opensm_findings_add(l->out, &f);
}

/* The VL of the low table with the largest weight except `not`; N_DATA_VLS: none. */
static unsigned heaviest_low(const struct vlarb *arb, unsigned not )
{
	unsigned weight[N_DATA_VLS] = { 0 }, best = N_DATA_VLS;

	for (unsigned i = 0; i < arb->n_low; i++)
		weight[arb->low[i].vl] += arb->low[i].weight;
	for (unsigned vl = 0; vl < N_DATA_VLS; vl++) {
		if (vl != not &&weight[vl] && (best == N_DATA_VLS || weight[vl] > weight[best]))
			best = vl;
	}
	return best;
}

/* Programs that set no SL use SL 0. */
static void lint_default_sl(const struct class_lint *l)
{
	const struct opensm_tables *t = &l->swe->tables;
	const unsigned vl = t->sl2vl.vl[0], low = heaviest_low(&t->vlarb, vl);
	const struct opensm_list *high = list_of(l, true), *map = list_of(l, false);
	struct opensm_finding f = { .code = "W17", .line = high->line ? high->line : map->line };
	bool is_high = false;

	for (unsigned i = 0; i < t->vlarb.n_high; i++)
		is_high |= t->vlarb.high[i].vl == vl && t->vlarb.high[i].weight;
	/* OpenSM's defaults are not reported, because the file does not set them. */
	if (!l->conf->qos || !f.line || t->vls < 2 || !is_high || low == N_DATA_VLS)
		return;
	snprintf(
		f.message, sizeof(f.message),
		"SL0, which programs that set no SL use, is on VL%u of the high table: they precede all classes of the low table",
		vl);
	struct contention c = { .vls = t->vls, .vlarb = t->vlarb };
	double share[N_DATA_VLS];

	c.packets[vl] = c.packets[low] = (struct shares_vl){
		.size = { { l->e.view.mtu + l->e.view.overhead, 1 } },
		.n = 1,
	};
	contention_shares(&c, share);
	snprintf(f.effect, sizeof(f.effect), "%.1f %% of a link on which VL%u also sends",
		 100 * share[vl], low);
	write_map(l, 0, low, f.write, sizeof(f.write));
	opensm_findings_add(l->out, &f);
}

void opensm_lint_classes(const struct opensm_conf *conf, const struct explain_view *view,
			 struct opensm_findings *out)
{
	struct class_lint l = { .conf = conf, .out = out };

	explain_make(conf, view, NULL, &l.e);
	for (size_t i = 0; i < l.e.n_ports; i++) {
		if (l.e.ports[i].scope == OPENSM_SWE)
			l.swe = &l.e.ports[i];
	}
	lint_one_vl(&l);
	lint_default_sl(&l);
	for (unsigned a = 0; view->n_classes && l.swe->tables.vls > 1 && a < view->n_classes; a++) {
		for (unsigned b = a + 1; b < view->n_classes; b++) {
			if (l.swe->services[a].vl == l.swe->services[b].vl)
				lint_pair(&l, a, b);
		}
	}
	explain_fini(&l.e);
}
