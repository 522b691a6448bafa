/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "mgmt/agents/agents_internal.h"
#include "wire/cursor.h"

/*
 * The programmed state as bytes, for another process with the same topology. Each node has its GUID
 * and tables, each port its PortInfo and tables; a length of 0 means a table that was never
 * set. SwitchInfo's PortStateChange is saved as 0, so that images of the same tables are equal.
 */

static const uint32_t MAGIC = 0x68644132; /* "hdA2" */

static void put_u32(struct strbuf *out, size_t value)
{
	uint8_t bytes[4];

	store_be32(bytes, (uint32_t)value);
	strbuf_add(out, (const char *)bytes, sizeof(bytes));
}

static void put_block(struct strbuf *out, const void *bytes, size_t size)
{
	put_u32(out, bytes ? size : 0);
	if (bytes)
		strbuf_add(out, bytes, size);
}

static size_t positions_of(const struct topo_node *n)
{
	return n->n_ports / 16U + 1;
}

static size_t sl2vl_count(const struct topo_node *n)
{
	size_t ports = n->n_ports + 1U;

	return n->kind == NODE_SWITCH ? ports * ports : ports;
}

static void save_node(const struct agents *a, node_id v, struct strbuf *out)
{
	const struct topo_node *t = &a->topo->nodes[v];
	const struct agent_node *n = &a->nodes[v];
	uint8_t guid[8], info[SWITCH_INFO_SIZE];

	store_be64(guid, t->guid);
	memcpy(info, n->switch_info, sizeof(info));
	field_set(&a->switch_fields[SWITCH_STATE_CHANGE], info, 0);
	put_block(out, guid, sizeof(guid));
	put_block(out, info, sizeof(info));
	put_block(out, n->lft, n->lft_size);
	put_block(out, n->mft, (size_t)n->n_mlids * positions_of(t) * sizeof(*n->mft));
	put_block(out, n->sl2vl, sl2vl_count(t) * SL2VL_SIZE);
}

static size_t pkey_bytes(const struct agents *a, port_id p)
{
	return (size_t)agents_pkey_cap(a, p) / PKEY_BLOCK * BLOCK_SIZE;
}

static void save_port(const struct agents *a, port_id p, struct strbuf *out)
{
	const struct agent_port *port = &a->ports[p];

	put_block(out, port->info, PORT_INFO_SIZE);
	put_block(out, port->vlarb, (size_t)VLARB_BLOCKS * BLOCK_SIZE);
	put_block(out, port->pkeys, pkey_bytes(a, p));
	put_block(out, port->congestion, sizeof(*port->congestion));
}

void agents_save(const struct agents *a, struct strbuf *out)
{
	put_u32(out, MAGIC);
	put_u32(out, a->topo->n_nodes);
	put_u32(out, a->topo->n_ports);
	put_u32(out, a->options.vlarb_cap);
	for (node_id v = 0; v < a->topo->n_nodes; v++)
		save_node(a, v, out);
	for (port_id p = 0; p < a->topo->n_ports; p++)
		save_port(a, p, out);
}

/* ---- loading */

/* The next block, of `size` bytes or empty; another size fails the reader. */
static const uint8_t *take_block(struct byte_reader *r, size_t size)
{
	uint32_t n = read_be32(r);

	if (n == 0)
		return NULL;
	if (n != size)
		r->failed = true;
	return read_bytes(r, n);
}

static void *copy_of(const uint8_t *bytes, size_t size)
{
	void *copy = NULL;

	if (bytes) {
		copy = hd_alloc(size, 1);
		memcpy(copy, bytes, size);
	}
	return copy;
}

static bool load_node(struct agents *a, node_id v, struct byte_reader *r)
{
	const struct topo_node *t = &a->topo->nodes[v];
	struct agent_node *n = &a->nodes[v];
	const uint8_t *guid = take_block(r, 8);
	const uint8_t *info = take_block(r, SWITCH_INFO_SIZE);

	if (!guid || !info || load_be64(guid) != t->guid)
		return false;
	memcpy(n->switch_info, info, SWITCH_INFO_SIZE);
	n->lft_size = read_be32(r);
	n->lft = copy_of(read_bytes(r, n->lft_size), n->lft_size);
	uint32_t size = read_be32(r);

	n->mft = copy_of(read_bytes(r, size), size);
	n->n_mlids = (uint32_t)(size / sizeof(*n->mft) / positions_of(t));
	size_t vls = sl2vl_count(t) * SL2VL_SIZE;

	n->sl2vl = copy_of(take_block(r, vls), vls);
	return !r->failed;
}

static bool load_port(struct agents *a, port_id p, struct byte_reader *r)
{
	struct agent_port *port = &a->ports[p];
	const uint8_t *info = take_block(r, PORT_INFO_SIZE);
	size_t tables = (size_t)VLARB_BLOCKS * BLOCK_SIZE;

	if (!info)
		return false;
	memcpy(port->info, info, PORT_INFO_SIZE);
	port->vlarb = copy_of(take_block(r, tables), tables);
	port->pkeys = copy_of(take_block(r, pkey_bytes(a, p)), pkey_bytes(a, p));
	port->congestion =
		copy_of(take_block(r, sizeof(*port->congestion)), sizeof(*port->congestion));
	return !r->failed;
}

enum hd_status agents_load(struct agents *a, const void *bytes, size_t size, struct diag *d)
{
	struct byte_reader r;
	bool same;

	reader_init(&r, bytes, size);
	same = read_be32(&r) == MAGIC && read_be32(&r) == a->topo->n_nodes &&
	       read_be32(&r) == a->topo->n_ports;
	a->options.vlarb_cap = (uint8_t)read_be32(&r);
	for (node_id v = 0; same && v < a->topo->n_nodes; v++)
		same = load_node(a, v, &r);
	for (port_id p = 0; same && p < a->topo->n_ports; p++)
		same = load_port(a, p, &r);
	if (!same || r.failed || reader_left(&r) > 0)
		return diag_fail(
			d, HD_ERR_INPUT,
			"the live fabric has another topology than the scenario; run 'live down' and 'live up' with this scenario");
	return HD_OK;
}
