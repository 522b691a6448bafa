/* SPDX-License-Identifier: BSD-2-Clause */
#include "subnet/tables/port_tables.h"

#include <stdlib.h>

#include "base/alloc.h"

void port_tables_fini(struct port_tables *t)
{
	free(t->rows);
	*t = (struct port_tables){ 0 };
}

static bool is_before(const struct port_table *row, uint64_t node, unsigned port)
{
	return row->node < node || (row->node == node && row->port < port);
}

const struct port_table *port_tables_find(const struct port_tables *t, uint64_t node, unsigned port)
{
	size_t low = 0, high = t->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (is_before(&t->rows[middle], node, port))
			low = middle + 1;
		else
			high = middle;
	}
	return low < t->n && t->rows[low].node == node && t->rows[low].port == port ? &t->rows[low]
										    : NULL;
}

const struct port_table *port_tables_of(const struct port_tables *t, const struct topo *topo,
					port_id p)
{
	return port_tables_find(t, topo_node_of(topo, p)->guid, topo->ports[p].number);
}

enum hd_status port_tables_allowed(const struct subnet *s, struct diag *d)
{
	if (!s->sl_of_path && !s->vls_by_engine)
		return HD_OK;
	return diag_fail(
		d, HD_ERR_UNFIT,
		"the routing algorithm '%s' chooses VLs itself: no tables of ports with it",
		s->engine);
}

static bool fits(const struct port_table *row, unsigned vls)
{
	const struct vlarb *t = &row->vlarb;

	for (unsigned i = 0; i < t->n_high; i++) {
		if (t->high[i].weight && t->high[i].vl >= vls)
			return false;
	}
	for (unsigned i = 0; i < t->n_low; i++) {
		if (t->low[i].weight && t->low[i].vl >= vls)
			return false;
	}
	for (unsigned sl = 0; sl < N_SLS; sl++) {
		if (row->sl2vl.vl[sl] >= vls && row->sl2vl.vl[sl] != VL_MANAGEMENT)
			return false;
	}
	return true;
}

static void set_port(struct subnet *s, port_id p, const struct port_table *row)
{
	node_id node = s->topo->ports[p].node;

	subnet_set_vlarb(s, p, &row->vlarb);
	if (!topo_is_switch(s->topo, node)) {
		subnet_set_port_sl2vl(s, p, &row->sl2vl);
		return;
	}
	for (unsigned in = 0; in <= s->topo->nodes[node].n_ports; in++)
		subnet_set_sl2vl(s, s->switch_of_node[node], in, row->port, &row->sl2vl);
}

enum hd_status port_tables_apply(const struct port_tables *t, struct subnet *s, struct diag *d,
				 size_t *n)
{
	size_t set = 0;

	if (port_tables_allowed(s, d) != HD_OK)
		return d->status;
	for (port_id p = 0; p < s->topo->n_ports; p++) {
		const struct port_table *row = port_tables_of(t, s->topo, p);

		if (!row || s->topo->ports[p].peer == TOPO_NONE)
			continue;
		if (!fits(row, s->vls_of_port[p]))
			return diag_fail_at(d, HD_ERR_UNFIT, row->line, 0,
					    "port %u of '%s' has %u data VLs, and its tables more",
					    row->port, topo_node_of(s->topo, p)->name,
					    s->vls_of_port[p]);
		set_port(s, p, row);
		set++;
	}
	*n = set;
	return HD_OK;
}

enum hd_status port_tables_cover(const struct port_tables *t, const struct topo *topo,
				 struct diag *d)
{
	bool *used = hd_alloc(t->n, sizeof(*used));
	enum hd_status status = HD_OK;

	for (port_id p = 0; p < topo->n_ports && status == HD_OK; p++) {
		const struct port_table *row = port_tables_of(t, topo, p);

		if (topo->ports[p].peer == TOPO_NONE)
			continue;
		if (row)
			used[row - t->rows] = true;
		else
			status = diag_fail(d, HD_ERR_UNFIT, "no tables for port %u of '%s'",
					   topo->ports[p].number, topo_node_of(topo, p)->name);
	}
	for (size_t i = 0; i < t->n && status == HD_OK; i++) {
		if (!used[i])
			status =
				diag_fail_at(d, HD_ERR_UNFIT, t->rows[i].line, 0,
					     "the fabric has no cable at port %u of node 0x%016llx",
					     t->rows[i].port, (unsigned long long)t->rows[i].node);
	}
	free(used);
	return status;
}
