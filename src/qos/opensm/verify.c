/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/opensm/verify.h"

#include <stdlib.h>

#include "base/alloc.h"

struct difference_row {
	const char *port, *what, *planned, *found, *where;
};

static const struct column difference_columns[] = {
	{ "port", NULL, CELL(difference_row, port) },
	{ "what", NULL, CELL(difference_row, what) },
	{ "planned", NULL, CELL(difference_row, planned), ORIGIN_COMPUTED },
	{ "found", NULL, CELL(difference_row, found), ORIGIN_MEASURED },
	{ "where", NULL, CELL(difference_row, where) },
	{ NULL },
};

void verify_init(struct verify *v, const struct subnet *s, const struct port_tables *tables,
		 struct results *r)
{
	const struct topo *t = s->topo;

	*v = (struct verify){ .subnet = s, .tables = tables, .results = r };
	v->of_lid = hd_alloc(LID_FIRST_MCAST, sizeof(*v->of_lid));
	v->seen = hd_alloc(t->n_ports, sizeof(*v->seen));
	for (unsigned lid = 0; lid < LID_FIRST_MCAST; lid++)
		v->of_lid[lid] = TOPO_NONE;
	bool has_lids = false;

	for (port_id p = 0; p < t->n_ports; p++)
		has_lids |= t->ports[p].lid != 0;
	for (port_id p = 0; p < t->n_ports; p++) {
		unsigned lid = has_lids ? t->ports[p].lid : s->lid_of_port[p];

		if (lid && lid < LID_FIRST_MCAST)
			v->of_lid[lid] = p;
	}
	v->differences = results_table(r, "differences", "what is not as it was planned",
				       difference_columns);
}

/* A port by number of the node of `of`; of an adapter, the named port itself. */
static port_id port_of_node(const struct topo *t, port_id of, unsigned number)
{
	node_id node = t->ports[of].node;

	if (!topo_is_switch(t, node))
		return of;
	return number <= t->nodes[node].n_ports ? topo_port_of(t, node, number) : TOPO_NONE;
}

/* OpenSM identifies switches by node GUID, adapters by port GUID. */
static port_id port_of_guid(const struct topo *t, const struct readback *r)
{
	for (node_id n = 0; n < t->n_nodes; n++) {
		if (topo_is_switch(t, n) && t->nodes[n].guid == r->guid)
			return r->port <= t->nodes[n].n_ports ? topo_port_of(t, n, r->port)
							      : TOPO_NONE;
	}
	for (port_id p = 0; p < t->n_ports; p++) {
		if (t->ports[p].guid == r->guid && !topo_is_switch(t, t->ports[p].node))
			return p;
	}
	return TOPO_NONE;
}

static port_id port_of(const struct verify *v, const struct readback *r)
{
	const struct topo *t = v->subnet->topo;

	if (!r->guid) {
		port_id of = r->lid < LID_FIRST_MCAST ? v->of_lid[r->lid] : TOPO_NONE;

		return of == TOPO_NONE ? of : port_of_node(t, of, r->port);
	}
	return port_of_guid(t, r);
}

/* Whether the subnet manager programs the port by the plan. */
static bool is_programmed(const struct verify *v, port_id p)
{
	const struct subnet *s = v->subnet;
	const struct topo_node *n = topo_node_of(s->topo, p);

	if (v->tables && !port_tables_of(v->tables, s->topo, p))
		return false;
	if (s->topo->ports[p].number == 0)
		return n->kind == NODE_SWITCH && n->enhanced_port0;
	return s->topo->ports[p].peer != TOPO_NONE;
}

static void put_entry(struct table *t, const struct vlarb_entry *e, const char **out)
{
	*out = table_text(t, "%u:%u", e->vl, e->weight);
}

/* The planned value as text if it differs; otherwise NULL. */
static const char *compare_entry(struct verify *v, const struct readback *r, port_id p,
				 const char **found)
{
	const struct vlarb *t = vlarb_of(v->subnet, p);
	bool high = r->kind == READBACK_HIGH;
	unsigned n = high ? t->n_high : t->n_low;
	struct vlarb_entry e = { 0 };
	const struct vlarb_entry is = { .vl = (uint8_t)r->value, .weight = (uint8_t)r->weight };
	const char *planned;

	if (r->index < n)
		e = high ? t->high[r->index] : t->low[r->index];
	if (e.weight == is.weight && (!e.weight || e.vl == is.vl))
		return NULL;
	put_entry(v->differences, &is, found);
	put_entry(v->differences, &e, &planned);
	return planned;
}

static const struct sl2vl *map_of(const struct subnet *s, port_id p, unsigned in)
{
	const struct topo *t = s->topo;
	node_id node = t->ports[p].node;

	if (!topo_is_switch(t, node))
		return sl2vl_of(s, p);
	return in <= t->nodes[node].n_ports
		       ? sl2vl_at(s, s->switch_of_node[node], in, t->ports[p].number)
		       : NULL;
}

static const char *compare_number(struct verify *v, unsigned planned, unsigned is,
				  const char **found)
{
	if (planned == is)
		return NULL;
	*found = table_text(v->differences, "%u", is);
	return table_text(v->differences, "%u", planned);
}

static const char *compare(struct verify *v, const struct readback *r, port_id p,
			   const char **found)
{
	const struct subnet *s = v->subnet;
	const struct sl2vl *map;

	switch (r->kind) {
	case READBACK_VLS:
		return compare_number(v, s->vls_of_port[p], r->value, found);
	case READBACK_LIMIT:
		return compare_number(v, vlarb_of(s, p)->high_limit, r->value, found);
	case READBACK_HIGH:
	case READBACK_LOW:
		return compare_entry(v, r, p, found);
	case READBACK_MAP:
		map = map_of(s, p, r->in);
		return map ? compare_number(v, map->vl[r->index], r->value, found) : NULL;
	}
	return NULL;
}

static const char *describe(struct verify *v, const struct readback *r)
{
	struct table *t = v->differences;

	switch (r->kind) {
	case READBACK_VLS:
		return "VLs";
	case READBACK_LIMIT:
		return "high limit";
	case READBACK_HIGH:
		return table_text(t, "high entry %u", r->index);
	case READBACK_LOW:
		return table_text(t, "low entry %u", r->index);
	case READBACK_MAP:
		return table_text(t, "VL of SL %u from port %u", r->index, r->in);
	}
	return "";
}

static void look_at(void *context, const struct readback *r)
{
	struct verify *v = context;
	const struct subnet *s = v->subnet;
	port_id p = port_of(v, r);
	const char *found = NULL;

	if (p == TOPO_NONE) {
		v->strange++;
		return;
	}
	/* With one VL there is no arbitration, and OpenSM sends no table. */
	if (!is_programmed(v, p) ||
	    (s->vls_of_port[p] == 1 && r->kind >= READBACK_LIMIT && r->kind <= READBACK_LOW))
		return;
	v->seen[p] |= (uint8_t)(1u << r->kind);
	v->compared++;
	const char *planned = compare(v, r, p, &found);

	if (!planned)
		return;
	v->different++;
	const struct difference_row row = {
		.port = table_text(v->differences, "%s:%u", topo_node_of(s->topo, p)->name,
				   s->topo->ports[p].number),
		.what = describe(v, r),
		.planned = planned,
		.found = found,
		.where = table_text(v->differences, "%s:%u", v->file, r->line),
	};

	table_put_row(v->differences, &row);
}

size_t verify_read(struct verify *v, const char *text, const char *file)
{
	v->file = file;
	return opensm_readback_parse(text, look_at, v);
}

struct verify_summary_row {
	uint64_t ports, vls, limits, tables, maps, compared, different;
};

static const struct column summary_columns[] = {
	{ "ports", NULL, CELL(verify_summary_row, ports), ORIGIN_COMPUTED },
	{ "VLs read", NULL, CELL(verify_summary_row, vls), ORIGIN_MEASURED },
	{ "limits read", NULL, CELL(verify_summary_row, limits), ORIGIN_MEASURED },
	{ "tables read", NULL, CELL(verify_summary_row, tables), ORIGIN_MEASURED },
	{ "maps read", NULL, CELL(verify_summary_row, maps), ORIGIN_MEASURED },
	{ "values", NULL, CELL(verify_summary_row, compared), ORIGIN_MEASURED },
	{ "different", NULL, CELL(verify_summary_row, different), ORIGIN_COMPUTED },
	{ NULL },
};

bool verify_finish(struct verify *v)
{
	const struct subnet *s = v->subnet;
	struct verify_summary_row sum = { .compared = v->compared, .different = v->different };
	const unsigned both = 1u << READBACK_HIGH | 1u << READBACK_LOW;
	uint64_t unread = 0;

	for (port_id p = 0; p < s->topo->n_ports; p++) {
		if (!is_programmed(v, p))
			continue;
		sum.ports++;
		sum.vls += v->seen[p] >> READBACK_VLS & 1;
		sum.limits += v->seen[p] >> READBACK_LIMIT & 1;
		sum.tables += (v->seen[p] & both) == both;
		sum.maps += v->seen[p] >> READBACK_MAP & 1;
		unread += v->seen[p] == 0;
	}
	table_put_row(results_record(v->results, "compared",
				     "ports that a manager programs, and of how many what was read",
				     summary_columns),
		      &sum);
	if (unread)
		results_remark(v->results, "nothing was read of %llu ports",
			       (unsigned long long)unread);
	if (v->strange)
		results_remark(v->results, "%llu values are of ports that the fabric does not have",
			       (unsigned long long)v->strange);
	free(v->of_lid);
	free(v->seen);
	return v->different == 0;
}
