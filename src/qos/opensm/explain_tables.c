/* SPDX-License-Identifier: BSD-2-Clause */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "qos/opensm/explain.h"
#include "qos/tables/fill.h"

static const char *const kinds[OPENSM_SCOPES] = {
	[OPENSM_DEFAULT] = "all", [OPENSM_CA] = "adapter",    [OPENSM_SW0] = "switch port 0",
	[OPENSM_SWE] = "switch",  [OPENSM_ROUTER] = "router",
};

/* ---- tables as programmed ----------------------------------------------- */

struct port_row {
	const char *ports, *high, *low, *sl2vl;
	uint64_t n, vls, limit;
};

static const struct column port_columns[] = {
	{ "ports", NULL, CELL(port_row, ports) },
	{ "number", NULL, CELL_UNLESS(port_row, n, 0) },
	{ "vls", NULL, CELL(port_row, vls), ORIGIN_COMPUTED },
	{ "high limit", "x 4096 B", CELL(port_row, limit), ORIGIN_COMPUTED },
	{ "high", "VL:64 B", CELL(port_row, high), ORIGIN_COMPUTED },
	{ "low", "VL:64 B", CELL(port_row, low), ORIGIN_COMPUTED },
	{ "sl2vl", NULL, CELL(port_row, sl2vl), ORIGIN_COMPUTED },
	{ NULL },
};

/* Entries after the last one with a weight are omitted. */
static const char *print_entries(struct table *t, const struct vlarb_entry *entry, unsigned n)
{
	struct strbuf out = STRBUF_INIT;

	while (n && !entry[n - 1].weight)
		n--;
	for (unsigned i = 0; i < n; i++)
		strbuf_printf(&out, "%s%u:%u", i ? "," : "", entry[i].vl, entry[i].weight);
	if (!n)
		strbuf_puts(&out, "none");
	return table_take(t, &out);
}

static const char *print_map(struct table *t, const struct sl2vl *map)
{
	struct strbuf out = STRBUF_INIT;

	for (unsigned sl = 0; sl < N_SLS; sl++)
		strbuf_printf(&out, "%s%u", sl ? "," : "", map->vl[sl]);
	return table_take(t, &out);
}

static void show_ports(const struct explain *e, struct results *r)
{
	struct table *t =
		results_table(r, "ports", "what OpenSM programs, by kind of port", port_columns);

	for (size_t i = 0; i < e->n_ports; i++) {
		const struct explain_port *p = &e->ports[i];
		const struct vlarb *arb = &p->tables.vlarb;

		table_put_row(t, &(struct port_row){
					 .ports = kinds[p->scope],
					 .n = p->n,
					 .vls = p->tables.vls,
					 .limit = arb->high_limit,
					 .high = print_entries(t, arb->high, arb->n_high),
					 .low = print_entries(t, arb->low, arb->n_low),
					 .sl2vl = print_map(t, &p->tables.sl2vl),
				 });
	}
}

/* ---- services ----------------------------------------------------------- */

struct service_row {
	const char *ports, *class, *table, *weights, *with, *note;
	uint64_t vls, sl, vl, bytes;
	double share, vl_share, floor, wait;
};

static const struct column service_columns[] = {
	{ "ports", NULL, CELL(service_row, ports) },
	{ "vls", NULL, CELL(service_row, vls), ORIGIN_COMPUTED },
	{ "class", NULL, CELL(service_row, class) },
	{ "sl", NULL, CELL_UNLESS(service_row, sl, N_SLS) },
	{ "packet", "B", CELL(service_row, bytes) },
	{ "vl", NULL, CELL(service_row, vl), ORIGIN_COMPUTED },
	{ "with", NULL, CELL(service_row, with), ORIGIN_COMPUTED },
	{ "table", NULL, CELL(service_row, table), ORIGIN_COMPUTED },
	{ "weights", "64 B", CELL(service_row, weights), ORIGIN_COMPUTED },
	{ "share", "%", CELL(service_row, share), ORIGIN_COMPUTED, 2 },
	{ "vl share", "%", CELL(service_row, vl_share), ORIGIN_COMPUTED, 2 },
	{ "floor", "%", CELL(service_row, floor), ORIGIN_COMPUTED, 2 },
	{ "wait", "us", CELL(service_row, wait), ORIGIN_COMPUTED, 3 },
	{ "note", NULL, CELL(service_row, note), ORIGIN_COMPUTED },
	{ NULL },
};

static const char *note_of(const struct explain_port *p, const struct explain_service *s,
			   bool by_vl)
{
	if (s->vl >= N_DATA_VLS)
		return "dropped: its VL is VL15";
	if (p->tables.vls > 1 && s->served == SERVED_NEVER)
		return "never sends: its VL has no weight";
	if (s->floor <= 0)
		return "starves while a high VL is busy: no high limit";
	if (s->with && !by_vl)
		return "no floor: it queues with others of its VL";
	return NULL;
}

/* Weights of the VL: in the high table, then in the low one. */
static const char *print_weights(struct table *t, const struct explain_port *p,
				 const struct explain_service *s)
{
	const struct vlarb *arb = &p->tables.vlarb;
	struct strbuf out = STRBUF_INIT;

	if (p->tables.vls == 1)
		return NULL;
	if (s->served & SERVED_HIGH)
		fill_print_weights(arb->high, arb->n_high, s->vl, &out);
	if (s->served == SERVED_BOTH)
		strbuf_putc(&out, ' ');
	if (s->served & SERVED_LOW)
		fill_print_weights(arb->low, arb->n_low, s->vl, &out);
	return out.len ? table_take(t, &out) : NULL;
}

static void put_sls(uint16_t sls, struct strbuf *out)
{
	const char *comma = "";

	for (unsigned sl = 0; sl < N_SLS; sl++) {
		if (!(sls >> sl & 1))
			continue;
		strbuf_printf(out, "%s%u", comma, sl);
		comma = ",";
	}
}

static const char *print_sls(struct table *t, uint16_t sls)
{
	struct strbuf out = STRBUF_INIT;

	put_sls(sls, &out);
	return out.len ? table_take(t, &out) : NULL;
}

/* Whether a lower SL of the same VL has the row of the VL. */
static bool has_vl_row(const struct explain *e, const struct explain_port *p, unsigned class)
{
	unsigned before = (1u << e->view.classes[class].sl) - 1;

	return e->view.by_vl && p->services[class].with & before;
}

/* "SL0,4": all SLs of the VL, if rows are per VL. */
static const char *print_class(struct table *t, const struct explain *e,
			       const struct explain_port *p, unsigned class)
{
	const struct explain_class *c = &e->view.classes[class];
	uint16_t all = p->services[class].with | (uint16_t)(1u << c->sl);

	return e->view.by_vl ? table_text(t, "SL%s", print_sls(t, all)) : c->name;
}

/* Share of the whole VL, if rows are per VL. */
static double own_share(const struct explain *e, const struct explain_service *s)
{
	return e->view.by_vl ? s->vl_share : s->share;
}

/* Guaranteed share in percent; 0 if another class of the VL may precede it. */
static double own_floor(const struct explain *e, const struct explain_service *s)
{
	return s->with && !e->view.by_vl ? NAN : 100 * s->floor;
}

static void put_service(struct table *t, const struct explain *e, const struct explain_port *p,
			unsigned class, const char *ports)
{
	static const char *const tables[] = { NULL, "low", "high", "high, low" };
	const struct explain_class *c = &e->view.classes[class];
	const struct explain_service *s = &p->services[class];

	table_put_row(t, &(struct service_row){
				 .ports = ports,
				 .vls = p->tables.vls,
				 .class = print_class(t, e, p, class),
				 .sl = e->view.by_vl ? N_SLS : c->sl,
				 .bytes = c->payload + e->view.overhead,
				 .vl = s->vl,
				 .with = e->view.by_vl ? NULL : print_sls(t, s->with),
				 .table = p->tables.vls > 1 ? tables[s->served] : NULL,
				 .weights = print_weights(t, p, s),
				 .share = 100 * own_share(e, s),
				 .vl_share = 100 * s->vl_share,
				 .floor = own_floor(e, s),
				 .wait = s->wait * 1e6,
				 .note = note_of(p, s, e->view.by_vl),
			 });
}

/* Whether two kinds of port serve all classes equally. */
static bool is_like(const struct explain_port *a, const struct explain_port *b)
{
	const struct opensm_tables *x = &a->tables, *y = &b->tables;

	return x->vls == y->vls && memcmp(&x->vlarb, &y->vlarb, sizeof(x->vlarb)) == 0 &&
	       memcmp(&x->sl2vl, &y->sl2vl, sizeof(x->sl2vl)) == 0 &&
	       hd_rate_compare(a->rate, b->rate) == 0;
}

static void show_services(const struct explain *e, struct results *r)
{
	struct table *t =
		results_table(r, "services", "what each class gets of a link on which all compete",
			      service_columns);

	for (size_t i = 0; i < e->n_ports; i++) {
		struct strbuf names = STRBUF_INIT;
		size_t first = 0;

		while (!is_like(&e->ports[first], &e->ports[i]))
			first++;
		for (size_t k = i; first == i && k < e->n_ports; k++) {
			if (is_like(&e->ports[i], &e->ports[k]))
				strbuf_printf(&names, "%s%s", names.len ? ", " : "",
					      kinds[e->ports[k].scope]);
		}
		for (unsigned c = 0; first == i && c < e->view.n_classes; c++) {
			if (!has_vl_row(e, &e->ports[i], c))
				put_service(t, e, &e->ports[i], c, names.text);
		}
		strbuf_fini(&names);
	}
}

/* ---- in words ----------------------------------------------------------- */

static bool has_same_limit(const struct explain_port *a, const struct explain_port *b)
{
	return a->tables.vlarb.high_limit == b->tables.vlarb.high_limit &&
	       a->burst.most_bytes == b->burst.most_bytes;
}

static void tell_limit(const struct explain_port *p, const char *ports, struct results *r)
{
	unsigned limit = p->tables.vlarb.high_limit;

	if (p->burst.most_bytes <= 0 || p->tables.vls < 2)
		return;
	if (limit == LIMIT_NONE)
		results_remark(
			r,
			"high limit 255 means unlimited: while a high VL has packets, no low one sends (%s)",
			ports);
	else
		results_remark(
			r,
			"high limit %u: up to %.0f bytes of high VLs, in whole packets, then one packet of a low VL (%s)",
			limit, p->burst.most_bytes, ports);
}

static void tell(const struct explain *e, struct results *r)
{
	if (!e->qos)
		results_remark(
			r,
			"qos is not TRUE: OpenSM sends none of this, and ports keep the tables that they came up with");
	for (size_t i = 0; i < e->n_ports; i++) {
		struct strbuf names = STRBUF_INIT;
		size_t first = 0;

		while (!has_same_limit(&e->ports[first], &e->ports[i]))
			first++;
		for (size_t k = i; first == i && k < e->n_ports; k++) {
			if (has_same_limit(&e->ports[i], &e->ports[k]))
				strbuf_printf(&names, "%s%s", names.len ? ", " : "",
					      kinds[e->ports[k].scope]);
		}
		if (first == i)
			tell_limit(&e->ports[i], names.text, r);
		strbuf_fini(&names);
	}
	results_remark(
		r,
		"share: all classes send without end, those of one VL as many packets each; vl share: of all on it; floor: whichever of the others do; wait: of a packet at the head of its VL, on one link with credits, VL15 not counted");
}

void explain_show(const struct explain *e, struct results *r)
{
	show_services(e, r);
	show_ports(e, r);
	tell(e, r);
}

/* ---- two of them -------------------------------------------------------- */

struct difference {
	const char *ports, *class; /* of struct differences */
	const char *what;
	double before, after, weight; /* rows are ordered by falling weight */
	const char *note;
	size_t order; /* order among equal weights */
};

static const struct column difference_columns[] = {
	{ "ports", NULL, CELL(difference, ports) },
	{ "class", NULL, CELL(difference, class) },
	{ "what", NULL, CELL(difference, what) },
	{ "before", NULL, CELL(difference, before), ORIGIN_COMPUTED, 2 },
	{ "after", NULL, CELL(difference, after), ORIGIN_COMPUTED, 2 },
	{ "note", NULL, CELL(difference, note), ORIGIN_COMPUTED },
	{ NULL },
};

struct differences {
	struct difference *items;
	size_t n, cap;
};

static void add(struct differences *out, const struct difference *d)
{
	if (d->before == d->after || !(d->weight > 0))
		return;
	out->items = hd_grow(out->items, &out->cap, out->n + 1, sizeof(*out->items));
	struct difference *own = &out->items[out->n];

	*own = *d;
	own->ports = hd_strdup(d->ports);
	own->class = hd_strdup(d->class);
	own->order = out->n++;
}

static void differences_fini(struct differences *out)
{
	for (size_t i = 0; i < out->n; i++) {
		free((char *)out->items[i].ports);
		free((char *)out->items[i].class);
	}
	free(out->items);
}

/*
 * Weight of a difference: 1000 if the class is served only before or after, then percents of the
 * link, then times.
 */
static void compare_class(const struct explain *e, unsigned class, const struct explain_port *a,
			  const struct explain_port *b, struct difference d,
			  struct differences *out)
{
	const struct explain_service *x = &a->services[class];
	const struct explain_service *y = &b->services[class];
	const char *bad = note_of(b, y, e->view.by_vl);
	const char *was = note_of(a, x, e->view.by_vl);

	d.what = "share [%]";
	d.before = 100 * own_share(e, x);
	d.after = 100 * own_share(e, y);
	d.weight = fabs(d.after - d.before) + (bad == was ? 0 : 1000);
	d.note = bad ? bad : was ? "is served from now on" : NULL;
	if (bad != was && d.before == d.after)
		d.after += 1e-9;
	/* Differences below this are noise of the arbiter run. */
	if (d.weight >= 0.05)
		add(out, &d);
	d.note = NULL;
	d.what = "floor [%]";
	d.before = 100 * x->floor;
	d.after = 100 * y->floor;
	d.weight = fabs(d.after - d.before) / 2;
	add(out, &d);
	d.what = "wait [us]";
	d.before = x->wait * 1e6;
	d.after = y->wait * 1e6;
	d.weight = x->wait < HUGE_VAL && y->wait < HUGE_VAL ? 1e-3 : 0;
	add(out, &d);
}

static int heavier(const void *a, const void *b)
{
	const struct difference *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight < y->weight ? 1 : -1;
	return (x->order > y->order) - (x->order < y->order);
}

/* Whether two kinds of port are alike both before and after. */
static bool are_like(const struct explain *before, const struct explain *after, size_t i, size_t k)
{
	return is_like(&before->ports[i], &before->ports[k]) &&
	       is_like(&after->ports[i], &after->ports[k]);
}

/* Names of all kinds like the i-th; NULL if an earlier kind is alike. */
static char *name_like(const struct explain *before, const struct explain *after, size_t i)
{
	struct strbuf names = STRBUF_INIT;

	for (size_t k = 0; k < after->n_ports; k++) {
		if (!are_like(before, after, i, k))
			continue;
		if (k < i)
			return NULL;
		strbuf_printf(&names, "%s%s", names.len ? ", " : "", kinds[after->ports[k].scope]);
	}
	return strbuf_detach(&names);
}

/*
 * A class, or the SLs that share one VL before and one after if rows are per VL; NULL if it is not
 * the first of them.
 */
static char *name_together(const struct explain *e, const struct explain_port *a,
			   const struct explain_port *b, unsigned class)
{
	const struct explain_class *c = &e->view.classes[class];
	unsigned own = 1u << c->sl;
	unsigned all = a->services[class].with & b->services[class].with;
	struct strbuf out = STRBUF_INIT;

	if (!e->view.by_vl)
		return hd_strdup(c->name);
	if (all & (own - 1))
		return NULL;
	strbuf_puts(&out, "SL");
	put_sls((uint16_t)(all | own), &out);
	return strbuf_detach(&out);
}

/* Compares one kind of port and all that are alike. */
static void compare_ports(const struct explain *before, const struct explain *after, size_t i,
			  struct differences *out)
{
	const struct explain_port *a = &before->ports[i];
	const struct explain_port *b = &after->ports[i];
	char *ports = name_like(before, after, i);

	for (unsigned c = 0; ports && c < after->view.n_classes; c++) {
		char *name = name_together(after, a, b, c);
		const struct difference d = { .ports = ports, .class = name };

		if (name)
			compare_class(after, c, a, b, d, out);
		free(name);
	}
	free(ports);
}

void explain_compare(const struct explain *before, const struct explain *after, struct results *r)
{
	struct differences found = { 0 };
	struct table *t = results_table(r, "differences", "what changes, the most important first",
					difference_columns);

	for (size_t i = 0; i < after->n_ports; i++)
		compare_ports(before, after, i, &found);
	if (found.n)
		qsort(found.items, found.n, sizeof(*found.items), heavier);
	for (size_t i = 0; i < found.n; i++)
		table_put_row(t, &found.items[i]);
	differences_fini(&found);
	if (before->qos != after->qos)
		results_remark(r, "OpenSM sends %s tables by the second file",
			       after->qos ? "its" : "no");
}
