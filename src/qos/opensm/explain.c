/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/opensm/explain.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* ---- classes ------------------------------------------------------------ */

/* Parses "SL[,PAYLOAD]" in place. */
static enum hd_status read_class(char *text, const struct explain_view *view, struct diag *d,
				 struct explain_class *out)
{
	char *size = strchr(text, ',');
	uint64_t sl, payload = view->mtu;
	struct diag inner = { .status = HD_OK };

	if (size)
		*size++ = '\0';
	if (hd_uint_parse(text, &inner, &sl) != HD_OK || sl >= N_SLS)
		return diag_fail(d, HD_ERR_INPUT, "class '%s': an SL is 0 to 15, not '%.20s'",
				 out->name, text);
	if (size &&
	    (hd_size_parse(size, &inner, &payload) != HD_OK || payload == 0 || payload > view->mtu))
		return diag_fail(d, HD_ERR_INPUT,
				 "class '%s': '%.20s' is not a payload of 1 to %u bytes", out->name,
				 size, view->mtu);
	out->sl = (uint8_t)sl;
	out->payload = (uint32_t)payload;
	return HD_OK;
}

static enum hd_status add_class(const char *word, struct diag *d, struct explain_view *view)
{
	struct explain_class c = { .name = "" };
	const char *at = strchr(word, '=');

	if (!at || at == word)
		return diag_fail(d, HD_ERR_INPUT,
				 "'%.60s' is not a class (expected NAME=SL[,PAYLOAD])", word);
	snprintf(c.name, sizeof(c.name), "%.*s", (int)(at - word), word);
	char *rest = hd_strdup(at + 1);
	enum hd_status status = read_class(rest, view, d, &c);

	free(rest);
	for (unsigned k = 0; k < view->n_classes && status == HD_OK; k++) {
		if (view->classes[k].sl == c.sl)
			status = diag_fail(d, HD_ERR_INPUT, "'%s' and '%s' both have SL %u",
					   view->classes[k].name, c.name, c.sl);
		else if (strcmp(view->classes[k].name, c.name) == 0)
			status = diag_fail(d, HD_ERR_INPUT, "class '%s' is given twice", c.name);
	}
	if (status == HD_OK)
		view->classes[view->n_classes++] = c;
	return status;
}

enum hd_status explain_classes(const struct option_list *words, struct diag *d,
			       struct explain_view *out)
{
	enum hd_status status = HD_OK;

	/* Classes have distinct SLs, so there is room for all. */
	for (size_t i = 0; i < words->n && status == HD_OK; i++)
		status = add_class(words->items[i], d, out);
	return status;
}

static void every_sl(struct explain_view *v)
{
	v->by_vl = true;
	for (unsigned sl = 0; sl < N_SLS; sl++) {
		struct explain_class *c = &v->classes[v->n_classes++];

		snprintf(c->name, sizeof(c->name), "SL%u", sl);
		c->sl = (uint8_t)sl;
		c->payload = v->mtu;
	}
}

/* ---- what a port gives -------------------------------------------------- */

/* The packets of a VL are those of all its classes, in equal numbers. */
static void add_size(struct shares_vl *packets, uint32_t bytes)
{
	unsigned k = 0;

	while (k < packets->n && packets->size[k].bytes != bytes)
		k++;
	if (k == packets->n)
		packets->size[packets->n++].bytes = bytes;
	packets->size[k].part += 1;
}

/* Converts the number of classes of each size to shares. */
static void divide_sizes(struct shares_vl *packets)
{
	double classes = 0;

	for (unsigned k = 0; k < packets->n; k++)
		classes += packets->size[k].part;
	for (unsigned k = 0; k < packets->n; k++)
		packets->size[k].part /= classes;
}

static void serve(const struct explain_view *v, struct explain_port *p)
{
	struct contention c = { .vls = p->tables.vls, .vlarb = p->tables.vlarb };
	double share[N_DATA_VLS], floor[N_DATA_VLS], wait[N_DATA_VLS];
	uint16_t users[N_DATA_VLS] = { 0 };
	double bytes[N_DATA_VLS] = { 0 }; /* of one packet of each class */

	for (unsigned i = 0; i < v->n_classes; i++) {
		unsigned vl = p->tables.sl2vl.vl[v->classes[i].sl];

		if (vl >= N_DATA_VLS)
			continue;
		add_size(&c.packets[vl], v->classes[i].payload + v->overhead);
		bytes[vl] += v->classes[i].payload + v->overhead;
		users[vl] |= (uint16_t)(1u << v->classes[i].sl);
	}
	for (unsigned vl = 0; vl < N_DATA_VLS; vl++)
		divide_sizes(&c.packets[vl]);
	contention_shares(&c, share);
	contention_floors(&c, floor);
	contention_waits(&c, wait);
	p->burst = contention_burst(&c);
	for (unsigned i = 0; i < v->n_classes; i++) {
		unsigned sl = v->classes[i].sl;
		unsigned vl = p->tables.sl2vl.vl[sl];
		struct explain_service *s = &p->services[i];

		*s = (struct explain_service){ .vl = (uint8_t)vl, .wait = HUGE_VAL };
		if (vl >= N_DATA_VLS)
			continue;
		s->vl_share = share[vl];
		s->share = share[vl] * (v->classes[i].payload + v->overhead) / bytes[vl];
		s->floor = floor[vl];
		s->wait = wait[vl] * 8 / hd_rate_bps(p->rate);
		s->served = contention_served(&c, vl);
		s->with = users[vl] & (uint16_t) ~(1u << sl);
	}
}

static struct explain_port *port_of(struct explain *e, enum opensm_scope scope, unsigned vls,
				    struct hd_rate rate)
{
	for (size_t i = 0; i < e->n_ports; i++) {
		struct explain_port *p = &e->ports[i];

		if (p->scope != scope || p->vls != vls)
			continue;
		if (hd_rate_compare(rate, p->rate) < 0)
			p->rate = rate;
		return p;
	}
	e->ports = hd_grow(e->ports, &e->cap, e->n_ports + 1, sizeof(*e->ports));
	struct explain_port *p = &e->ports[e->n_ports++];

	*p = (struct explain_port){ .scope = scope, .vls = vls, .rate = rate };
	return p;
}

static void count_ports(struct explain *e, const struct subnet *s)
{
	const struct topo *t = s->topo;

	for (port_id p = 0; p < t->n_ports; p++) {
		const struct topo_node *node = topo_node_of(t, p);
		bool is_own = node->kind == NODE_SWITCH && t->ports[p].number == 0;

		if (is_own ? !node->enhanced_port0 : t->ports[p].peer == TOPO_NONE)
			continue;
		enum opensm_scope scope = is_own                      ? OPENSM_SW0
					  : node->kind == NODE_SWITCH ? OPENSM_SWE
					  : node->kind == NODE_ROUTER ? OPENSM_ROUTER
								      : OPENSM_CA;

		port_of(e, scope, s->vls_of_port[p], is_own ? e->view.rate : s->rate_of_port[p])
			->n++;
	}
}

static int by_scope(const void *a, const void *b)
{
	const struct explain_port *x = a, *y = b;

	if (x->scope != y->scope)
		return x->scope < y->scope ? -1 : 1;
	return (x->vls < y->vls) - (x->vls > y->vls);
}

void explain_make(const struct opensm_conf *conf, const struct explain_view *view,
		  const struct subnet *s, struct explain *out)
{
	struct explain e = { .view = *view, .qos = conf->qos };

	if (e.view.n_classes == 0)
		every_sl(&e.view);
	if (s) {
		count_ports(&e, s);
	} else {
		for (unsigned i = OPENSM_CA; i < OPENSM_SCOPES; i++)
			port_of(&e, (enum opensm_scope)i, view->vls, view->rate);
	}
	if (e.n_ports)
		qsort(e.ports, e.n_ports, sizeof(*e.ports), by_scope);
	for (size_t i = 0; i < e.n_ports; i++) {
		struct explain_port *p = &e.ports[i];
		const struct opensm_port at = { .scope = p->scope,
						.vls = p->vls,
						.low_cap = view->entries,
						.high_cap = view->entries };

		opensm_effective(conf, &at, &p->tables);
		serve(&e.view, p);
	}
	*out = e;
}

void explain_fini(struct explain *e)
{
	free(e->ports);
	*e = (struct explain){ 0 };
}
