/* SPDX-License-Identifier: BSD-2-Clause */
/* Node lines of ibnetdiscover and ibsim, and the lines before them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "topo/net.h"

enum hd_status net_read_vendor(struct net *n)
{
	uint64_t value = 0;

	if (net_expect_number(n, UINT32_MAX, &value) != HD_OK)
		return n->r->d->status;
	n->vendor = (uint32_t)value;
	return net_expect_end(n);
}

enum hd_status net_read_device(struct net *n)
{
	uint64_t value = 0;

	if (net_expect_number(n, UINT32_MAX, &value) != HD_OK)
		return n->r->d->status;
	n->device = (uint32_t)value;
	return net_expect_end(n);
}

/* "Chassis 1 (name) slot 2" behind the system image GUID, with -g. */
enum hd_status net_read_chassis_note(struct net *n)
{
	struct topo_reader *r = n->r;
	uint64_t number;

	reader_blanks(r);
	if (!reader_skip(r, "# "))
		return net_expect_end(n);
	const char *start = r->at;

	if (!reader_skip(r, "Chassis ") || !reader_decimal(r, UINT16_MAX, &number)) {
		r->at = start;
		return n->strict ? reader_refuse(r, "expected 'Chassis' and its number") : HD_OK;
	}
	n->place.chassis = (uint16_t)number;
	r->at = start;
	free(n->place.chassis_note);
	n->place.chassis_note = net_copy_rest(r);
	return HD_OK;
}

enum hd_status net_read_system_guid(struct net *n)
{
	if (net_expect_number(n, UINT64_MAX, &n->system_guid) != HD_OK)
		return n->r->d->status;
	return net_read_chassis_note(n);
}

/* "switchguid=0x2(2)", "caguid=0x1", and ibsim's "switchguid+16". */
static enum hd_status read_guid(struct net *n, enum node_kind kind)
{
	struct topo_reader *r = n->r;
	bool relative = reader_skip(r, "+");
	uint64_t guid;

	if ((!relative && !reader_skip(r, "=")) || !reader_number(r, UINT64_MAX, &guid))
		return reader_refuse(r, "expected '=' and a GUID");
	if (!relative)
		n->base[kind] = guid;
	n->guid[kind] = relative ? n->base[kind] + guid : guid;
	n->has_guid = true;
	n->has_port_guid = false;
	if (kind != NODE_SWITCH || !reader_skip(r, "("))
		return net_expect_end(n);
	if (!reader_hex(r, &n->switch_port_guid) || !reader_skip(r, ")"))
		return reader_refuse(r, "expected a GUID and ')'");
	n->has_port_guid = true;
	if (!reader_skip(r, "\t# "))
		return net_expect_end(n);
	free(n->place.slot_note);
	n->place.slot_note = net_copy_rest(r);
	return HD_OK;
}

enum hd_status net_read_switch_guid(struct net *n)
{
	return read_guid(n, NODE_SWITCH);
}

enum hd_status net_read_ca_guid(struct net *n)
{
	return read_guid(n, NODE_CA);
}

enum hd_status net_read_router_guid(struct net *n)
{
	return read_guid(n, NODE_ROUTER);
}

/* Parses from the first quote to the last one of the line; false if there are no quotes. */
bool net_quoted_name(struct topo_reader *r, struct slice *name)
{
	const char *first = r->at, *last = r->line_end - 1;

	if (first >= r->line_end || *first != '"')
		return false;
	while (last > first && *last != '"')
		last--;
	if (last == first)
		return false;
	*name = (struct slice){ first + 1, (size_t)(last - first - 1) };
	r->at = last + 1;
	return true;
}

/* A name without quotes ends where the following fields begin. */
static struct slice plain_name(struct topo_reader *r)
{
	static const char *const stops[] = { " enhanced port ", " base port ", " lid ", " lmc " };
	struct slice rest = net_rest(r);
	size_t len = rest.len;

	for (size_t i = 0; i < 4; i++) {
		size_t stop = strlen(stops[i]);

		for (size_t at = 0; at + stop <= len; at++) {
			if (memcmp(rest.text + at, stops[i], stop) == 0)
				len = at;
		}
	}
	r->at += len;
	while (len && (rest.text[len - 1] == ' ' || rest.text[len - 1] == '\t'))
		len--;
	return (struct slice){ rest.text, len };
}

/* " lid 3" or " lmc 0"; moves on only if it is there. */
bool net_tagged(struct topo_reader *r, const char *tag, uint64_t max, uint64_t *out)
{
	const char *start = r->at;

	reader_blanks(r);
	if (reader_skip(r, tag) && reader_decimal(r, max, out))
		return true;
	r->at = start;
	return false;
}

/* " enhanced port 0 lid 3 lmc 0", behind the name of a switch. */
static enum hd_status read_switch_tail(struct net *n, node_id node)
{
	struct topo_reader *r = n->r;
	struct topo_node *v = &r->t.nodes[node];
	struct topo_port *p = &r->t.ports[v->first_port];
	uint64_t lid = 0, lmc = 0;

	reader_blanks(r);
	v->enhanced_port0 = reader_skip(r, "enhanced port 0");
	bool whole = v->enhanced_port0 || reader_skip(r, "base port 0");

	whole = net_tagged(r, "lid ", UINT16_MAX, &lid) && whole;
	whole = net_tagged(r, "lmc ", 7, &lmc) && whole;
	p->lid = (uint16_t)lid;
	p->lmc = (uint8_t)lmc;
	if ((n->strict && !whole) || !reader_at_end(r))
		return reader_refuse(
			r, "expected 'base port 0 lid L lmc M' or 'enhanced port 0 lid L lmc M'");
	return HD_OK;
}

/* The remark behind a node's id: its name, and more for switches. */
static enum hd_status read_name(struct net *n, struct slice id, struct slice *name)
{
	struct topo_reader *r = n->r;
	struct slice quoted;

	*name = id;
	reader_blanks(r);
	if (!reader_skip(r, "#"))
		return n->strict || !reader_at_end(r)
			       ? reader_refuse(r, "expected '#' and the name in quotes")
			       : HD_OK;
	reader_blanks(r);
	if (net_quoted_name(r, &quoted))
		*name = quoted;
	else if (n->strict || (r->at < r->line_end && *r->at == '"'))
		return reader_refuse(r, "expected the name in quotes");
	else if (r->at < r->line_end)
		*name = plain_name(r);
	if (!name->len)
		*name = n->strict ? *name : id;
	return HD_OK;
}

/* In ibnetdiscover's form the id repeats the GUID: "S-0000000000200001". */
static enum hd_status check_id(struct net *n, enum node_kind kind, struct slice id)
{
	static const char letters[] = { [NODE_CA] = 'H', [NODE_SWITCH] = 'S', [NODE_ROUTER] = 'R' };
	char expected[32];

	if (!n->strict)
		return HD_OK;
	if (!n->has_guid)
		return reader_refuse(n->r, "no line with its GUID before this node");
	snprintf(expected, sizeof(expected), "%c-%016" PRIx64, letters[kind], n->guid[kind]);
	if (id.len == strlen(expected) && memcmp(id.text, expected, id.len) == 0)
		return HD_OK;
	return reader_refuse(n->r, "the GUID before this node makes it '%s'", expected);
}

/* Moves the values of the preceding lines into the node. */
static enum hd_status describe(struct net *n, node_id node)
{
	struct topo_reader *r = n->r;
	struct topo_node *v = &r->t.nodes[node];
	uint64_t guid = n->guid[v->kind];

	v->vendor = n->vendor;
	v->device = n->device;
	v->system_guid = n->system_guid;
	if (!v->system_guid && !n->strict)
		v->system_guid = guid;
	if (r->t.source.is_grouped) {
		v->place = hd_alloc(1, sizeof(*v->place));
		*v->place = n->place;
		n->place.chassis = 0;
		n->place.chassis_note = n->place.slot_note = NULL;
	}
	for (unsigned i = 0; i <= v->n_ports && !n->strict; i++) {
		r->t.ports[v->first_port + i].widths = n->widths;
		r->t.ports[v->first_port + i].speeds = n->speeds;
	}
	/* ibsim keeps the device and increments the GUID. */
	n->guid[v->kind] += v->kind == NODE_SWITCH ? 1 : v->n_ports + 1u;
	n->has_guid = false;
	n->vendor = 0;
	n->device = n->strict ? 0 : n->device;
	n->system_guid = 0;
	n->node = node;
	if (reader_set_guid(r, node, guid) != HD_OK)
		return r->d->status;
	if (v->kind == NODE_SWITCH && n->has_port_guid)
		r->t.ports[v->first_port].guid = n->switch_port_guid;
	n->has_port_guid = false;
	return HD_OK;
}

static enum hd_status read_node(struct net *n, enum node_kind kind)
{
	struct topo_reader *r = n->r;
	struct slice id, name;
	uint64_t ports;
	node_id node;

	reader_blanks(r);
	if (!reader_decimal(r, UINT64_MAX, &ports))
		return reader_refuse(r, "expected the number of ports");
	reader_blanks(r);
	if (!reader_skip(r, "\"") || !reader_until(r, '"', &id.text, &id.len) || id.len == 0)
		return reader_refuse(r, "expected an id in quotes");
	if (check_id(n, kind, id) != HD_OK || read_name(n, id, &name) != HD_OK)
		return r->d->status;
	struct slice full = net_full_id(n, id);
	uint32_t first = text_map_get(&r->ids, full.text, full.len);

	if (first != MAP_NONE)
		return reader_refuse(r, "'%.*s' is the node of line %u already",
				     full.len > 100 ? 100 : (int)full.len, full.text,
				     r->t.nodes[first].line);
	if (reader_add_node(r, kind, ports, name.text, name.len, &node) != HD_OK)
		return r->d->status;
	(void)text_map_put(&r->ids, full.text, full.len, node);
	if (describe(n, node) != HD_OK)
		return r->d->status;
	if (kind == NODE_SWITCH)
		return read_switch_tail(n, node);
	reader_blanks(r);
	(void)reader_skip(r, "(scp)");
	return net_expect_end(n);
}

enum hd_status net_read_switch(struct net *n)
{
	return read_node(n, NODE_SWITCH);
}

enum hd_status net_read_ca(struct net *n)
{
	return read_node(n, NODE_CA);
}

enum hd_status net_read_router(struct net *n)
{
	return read_node(n, NODE_ROUTER);
}
