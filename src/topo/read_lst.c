/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * OpenSM's opensm-subnet.lst: a line for each end of each cable,
 *
 *	{ SW Ports:24 SystemGUID:.. NodeGUID:.. PortGUID:.. VenID:.. DevID:..
 *	Rev:.. {name} LID:0002 PN:01 } { CA ... } PHY=4x LOG=ACT SPD=50
 *
 * with all numbers but the last three in hexadecimal. The left half describes
 * its node; of the right half only GUID and port are used (OpenSM 3.3.23
 * prints its device id wrongly).
 */
#include <string.h>

#include "topo/reader.h"

struct half {
	enum node_kind kind;
	uint64_t ports, system_guid, node_guid, port_guid;
	uint64_t vendor, device, revision, lid, number;
	const char *guid_text; /* 16 digits that match the two ends of a cable */
	const char *name;
	size_t name_len;
};

static bool read_kind(struct topo_reader *r, enum node_kind *kind)
{
	static const struct {
		const char *text;
		enum node_kind kind;
	} known[] = {
		{ "{ CA", NODE_CA },
		{ "{ SW", NODE_SWITCH },
		{ "{ Rt", NODE_ROUTER },
		{ "{ RT", NODE_ROUTER },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		if (!reader_skip(r, known[i].text))
			continue;
		*kind = known[i].kind;
		(void)reader_skip(r, "-SM");
		return true;
	}
	return false;
}

static bool read_field(struct topo_reader *r, const char *tag, uint64_t *out)
{
	return reader_skip(r, tag) && reader_hex(r, out);
}

/* Up to "} LID:", since names may have braces. */
static bool read_name(struct topo_reader *r, struct half *h)
{
	static const char behind[] = "} LID:";

	if (!reader_skip(r, " {"))
		return false;
	h->name = r->at;
	for (; r->at < r->line_end; r->at++) {
		h->name_len = (size_t)(r->at - h->name);
		if (reader_skip(r, behind))
			return true;
	}
	return false;
}

static bool read_half(struct topo_reader *r, struct half *h)
{
	*h = (struct half){ .name = "" };
	if (!read_kind(r, &h->kind) || !read_field(r, " Ports:", &h->ports) ||
	    !read_field(r, " SystemGUID:", &h->system_guid) || !reader_skip(r, " NodeGUID:"))
		return false;
	h->guid_text = r->at;
	return reader_hex(r, &h->node_guid) && r->at - h->guid_text == 16 &&
	       read_field(r, " PortGUID:", &h->port_guid) && read_field(r, " VenID:", &h->vendor) &&
	       read_field(r, " DevID:", &h->device) && read_field(r, " Rev:", &h->revision) &&
	       read_name(r, h) && reader_hex(r, &h->lid) && read_field(r, " PN:", &h->number) &&
	       reader_skip(r, " }");
}

static bool read_speed(struct topo_reader *r, uint16_t *speeds)
{
	static const struct {
		const char *text;
		enum link_speed speed;
	} known[] = {
		{ "FDR10", SPEED_FDR10 }, { "2.5", SPEED_SDR }, { "200", SPEED_XDR },
		{ "100", SPEED_NDR },     { "10", SPEED_QDR },  { "14", SPEED_FDR },
		{ "25", SPEED_EDR },      { "50", SPEED_HDR },  { "5", SPEED_DDR },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		if (!reader_skip(r, known[i].text))
			continue;
		*speeds = (uint16_t)(1u << known[i].speed);
		return true;
	}
	*speeds = 0;
	return reader_skip(r, "??");
}

static bool read_state(struct topo_reader *r, struct topo_port *p)
{
	static const struct {
		const char *text;
		uint8_t set;
	} widths[] = {
		{ "12x", WIDTH_12X }, { "1x", WIDTH_1X }, { "2x", WIDTH_2X },
		{ "4x", WIDTH_4X },   { "8x", WIDTH_8X }, { "??", 0 },
	};
	const char *state;
	size_t len, i = 0;

	if (!reader_skip(r, " PHY="))
		return false;
	while (i < 6 && !reader_skip(r, widths[i].text))
		i++;
	if (i == 6 || !reader_skip(r, " LOG=") || !reader_until(r, ' ', &state, &len) ||
	    !reader_skip(r, "SPD="))
		return false;
	p->widths = widths[i].set;
	return read_speed(r, &p->speeds) && reader_at_end(r);
}

/* The node of the left half, made when it is met first. */
static enum hd_status node_of(struct topo_reader *r, const struct half *h, node_id *out)
{
	node_id node = text_map_get(&r->ids, h->guid_text, 16);

	if (node == MAP_NONE) {
		if (reader_add_node(r, h->kind, h->ports, h->name, h->name_len, &node) != HD_OK ||
		    reader_set_guid(r, node, h->node_guid) != HD_OK)
			return r->d->status;
		struct topo_node *v = &r->t.nodes[node];

		v->system_guid = h->system_guid;
		v->vendor = (uint32_t)h->vendor;
		v->device = (uint32_t)h->device;
		(void)text_map_put(&r->ids, h->guid_text, 16, node);
	}
	const struct topo_node *v = &r->t.nodes[node];

	if (v->kind != h->kind || v->n_ports != h->ports)
		return reader_refuse(r, "this node was another kind or size in line %u", v->line);
	if (h->number < 1 || h->number > v->n_ports)
		return reader_refuse(r, "port %u of a node that has %u", (unsigned)h->number,
				     v->n_ports);
	*out = node;
	return HD_OK;
}

static enum hd_status read_line(struct topo_reader *r)
{
	struct half left, right;
	struct topo_port link = { .node = 0 };
	node_id node = TOPO_NONE;

	if (!read_half(r, &left) || !reader_skip(r, " ") || !read_half(r, &right) ||
	    !read_state(r, &link))
		return reader_refuse(r, "expected '{ ... } { ... } PHY=.. LOG=.. SPD=..'");
	if (left.lid > UINT16_MAX || left.number > TOPO_MAX_PORTS || right.number > TOPO_MAX_PORTS)
		return reader_refuse(r, "a LID or port that is too large");
	if (node_of(r, &left, &node) != HD_OK)
		return r->d->status;
	const struct topo_node *v = &r->t.nodes[node];
	port_id port = v->first_port + (port_id)left.number;
	/* A switch has its addresses at port 0. */
	struct topo_port *end = &r->t.ports[v->kind == NODE_SWITCH ? v->first_port : port];

	end->lid = (uint16_t)left.lid;
	end->guid = left.port_guid;
	r->t.ports[port].widths = link.widths;
	r->t.ports[port].speeds = link.speeds;
	struct cable_claim *c = reader_claim(r, port);

	c->id = right.guid_text;
	c->id_len = 16;
	c->number = (uint16_t)right.number;
	c->guid = right.kind == NODE_SWITCH ? 0 : right.port_guid;
	return HD_OK;
}

enum hd_status topo_read_subnet_lst(struct topo_reader *r)
{
	while (reader_next_line(r)) {
		if (!reader_at_end(r) && read_line(r) != HD_OK)
			return r->d->status;
	}
	return HD_OK;
}
