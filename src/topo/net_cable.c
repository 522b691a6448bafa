/* SPDX-License-Identifier: BSD-2-Clause */
/* Cables in ibnetdiscover's and ibsim's text. */
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/iba.h"
#include "topo/net.h"

/* "[4]", and with -g "[4][ext 4]". */
static bool read_bracket(struct topo_reader *r, uint64_t max, uint64_t *number, uint64_t *external)
{
	const char *start = r->at;

	*external = 0;
	if (!reader_skip(r, "[") || !reader_decimal(r, max, number) || !reader_skip(r, "]")) {
		r->at = start;
		return false;
	}
	const char *behind = r->at;

	if (reader_skip(r, "[ext ") && !(reader_decimal(r, 255, external) && reader_skip(r, "]")))
		r->at = behind;
	return true;
}

/* "(100005)", with or without a blank before it. */
static bool read_port_guid(struct topo_reader *r, uint64_t *guid)
{
	const char *start = r->at;

	reader_blanks(r);
	if (reader_skip(r, "(") && reader_hex(r, guid) && reader_skip(r, ")"))
		return true;
	r->at = start;
	return false;
}

/* A width or speed and all lower ones, as for ports of ibsim. */
static uint8_t widths_up_to(uint8_t width)
{
	if (width == WIDTH_12X || width == WIDTH_8X)
		return (uint8_t)(width | WIDTH_4X | WIDTH_1X);
	return width ? (uint8_t)(width | WIDTH_1X) : 0;
}

static uint16_t speeds_up_to(uint16_t speed)
{
	return speed ? (uint16_t)(2u * speed - 1) : 0;
}

/* ibsim's sets: LinkSpeedEnabled, and the extended one. */
void net_set_speeds(struct topo_port *p, uint64_t base, uint64_t extended)
{
	unsigned set = (unsigned)base & 7;

	if (extended)
		set |= 1u << SPEED_FDR10;
	set |= ((unsigned)extended & 15) << SPEED_FDR;
	p->speeds = (uint16_t)set;
}

/* Expected LinkSpeedActive; extended speeds are reported as QDR. */
static uint8_t code_of_speed(uint16_t speeds)
{
	if (!speeds)
		return 0;
	return speeds >= 1u << SPEED_QDR ? 4 : (uint8_t)speeds;
}

/* " s=4 w=2 v=4": of an active link with -f, sets of possible ones in ibsim. */
static enum hd_status read_settings(struct net *n, port_id port, bool active)
{
	struct topo_reader *r = n->r;
	struct topo_port *p = &r->t.ports[port];
	uint64_t value, base = p->speeds & 7u, extended = p->speeds >> SPEED_FDR;

	for (;;) {
		const char *start = r->at;

		reader_blanks(r);
		if (reader_skip(r, "s=") && reader_number(r, 15, &value)) {
			base = value ? value : 4;
			if (active && value != code_of_speed(p->speeds))
				n->as_read[r->n_claims - 1].speed_code = (uint8_t)value;
			r->t.source.is_full |= active;
		} else if (reader_skip(r, "w=") && reader_number(r, 31, &value)) {
			p->widths = active ? p->widths : (uint8_t)value;
		} else if (!active && reader_skip(r, "e=") && reader_number(r, 15, &value)) {
			extended = value;
		} else if (reader_skip(r, "v=") && reader_number(r, 5, &value)) {
			if (value)
				p->vls = (uint8_t)vls_of_code(value);
		} else {
			r->at = start;
			break;
		}
	}
	if (!active)
		net_set_speeds(p, base, extended);
	return HD_OK;
}

/* The remark: "# "host3" lid 5 4xHDR", "# lid 6 lmc 0 "leaf2" lid 3 4xHDR". */
static enum hd_status read_remark(struct net *n, port_id port)
{
	struct topo_reader *r = n->r;
	struct topo_port *p = &r->t.ports[port];
	bool of_switch = topo_is_switch(&r->t, p->node), whole = true;
	uint64_t lid = 0, lmc = 0, other;
	struct slice name;
	uint8_t widths;
	uint16_t speeds;

	reader_blanks(r);
	if (!of_switch)
		whole = net_tagged(r, "lid ", UINT16_MAX, &lid) && net_tagged(r, "lmc ", 7, &lmc);
	reader_blanks(r);
	whole = whole && net_quoted_name(r, &name);
	whole = net_tagged(r, "lid ", UINT16_MAX, &other) && whole;
	reader_blanks(r);
	whole = reader_link(r, "", &widths, &speeds) && whole;
	if (!whole)
		return n->strict
			       ? reader_refuse(
					 r,
					 of_switch
						 ? "expected '# \"NAME\" lid L WIDTHxSPEED'"
						 : "expected '# lid L lmc M \"NAME\" lid L WIDTHxSPEED'")
			       : HD_OK;
	p->lid = (uint16_t)lid;
	p->lmc = (uint8_t)lmc;
	p->widths = n->strict ? widths : widths_up_to(widths);
	p->speeds = n->strict ? speeds : speeds_up_to(speeds);
	if (n->strict && read_settings(n, port, true) != HD_OK)
		return r->d->status;
	reader_blanks(r);
	(void)(net_tagged(r, "slot ", 255, &other) || reader_skip(r, "(scp)"));
	return net_expect_end(n);
}

static void note_external(struct net *n, uint64_t external)
{
	size_t i = n->r->n_claims - 1;

	n->as_read = hd_grow(n->as_read, &n->as_read_cap, i + 1, sizeof(*n->as_read));
	n->as_read[i] = (struct topo_as_read){ .external = (uint8_t)external };
}

/* The other end: a name, or in ibsim an alias of a port. */
static enum hd_status read_other(struct net *n, struct cable_claim *c)
{
	struct topo_reader *r = n->r;
	uint64_t number, external;
	struct slice id;

	reader_blanks(r);
	if (!reader_skip(r, "\"") || !reader_until(r, '"', &id.text, &id.len))
		return reader_refuse(r, "expected the other end's id in quotes");
	if (!n->strict && net_has(id, '@')) {
		struct slice key = id;

		if (*id.text == '@' && n->module.len)
			key = net_join(n, n->module, '@',
				       (struct slice){ id.text + 1, id.len - 1 });
		uint32_t port = text_map_get(&n->aliases, key.text, key.len);

		if (port == MAP_NONE)
			return reader_refuse(r, "no port before this line has the alias '%.*s'",
					     id.len > 100 ? 100 : (int)id.len, id.text);
		c->node = r->t.ports[port].node;
		c->number = r->t.ports[port].number;
		c->one_sided = true;
		return HD_OK;
	}
	id = net_full_id(n, id);
	c->id = id.text;
	c->id_len = (uint32_t)id.len;
	if (!n->strict)
		reader_blanks(r);
	if (read_bracket(r, TOPO_MAX_PORTS, &number, &external))
		c->number = (uint16_t)number;
	else if (n->strict || (r->at < r->line_end && *r->at == '['))
		return reader_refuse(r, "expected the other end's port in brackets, 1 to %u",
				     TOPO_MAX_PORTS);
	(void)read_port_guid(r, &c->guid);
	return HD_OK;
}

enum hd_status net_read_cable(struct net *n)
{
	struct topo_reader *r = n->r;
	uint64_t number, external, guid;

	r->at--; /* back to the bracket */
	if (n->node == TOPO_NONE)
		return reader_refuse(r, "a cable, but no node before it");
	const struct topo_node *v = &r->t.nodes[n->node];

	if (!read_bracket(r, UINT64_MAX, &number, &external))
		return reader_refuse(r, "expected a port in brackets");
	if (number < 1 || number > v->n_ports)
		return reader_refuse(r, "port %" PRIu64 " of a node that has %u (line %u)", number,
				     v->n_ports, v->line);
	port_id port = v->first_port + (port_id)number;

	if (read_port_guid(r, &guid) && v->kind != NODE_SWITCH)
		r->t.ports[port].guid = guid;
	struct cable_claim *c = reader_claim(r, port);

	note_external(n, external);
	n->any_external |= external != 0;
	if (read_other(n, c) != HD_OK)
		return r->d->status;
	if (!n->strict && read_settings(n, port, false) != HD_OK)
		return r->d->status;
	reader_blanks(r);
	if (reader_skip(r, "#"))
		return read_remark(n, port);
	if (n->strict || !reader_at_end(r))
		return reader_refuse(r, "expected '#' and what the cable runs at");
	return HD_OK;
}

/* @[3] "alias": a second name of a port, which other nodes may use. */
enum hd_status net_read_alias(struct net *n)
{
	struct topo_reader *r = n->r;
	uint64_t number, external;
	struct slice alias;

	if (n->node == TOPO_NONE || n->strict)
		return reader_refuse(r, "an alias, but no node before it");
	const struct topo_node *v = &r->t.nodes[n->node];

	if (!read_bracket(r, UINT64_MAX, &number, &external) || number < 1 || number > v->n_ports)
		return reader_refuse(r, "expected a port in brackets, 1 to %u", v->n_ports);
	reader_blanks(r);
	if (!reader_skip(r, "\"") || !reader_until(r, '"', &alias.text, &alias.len))
		return reader_refuse(r, "expected an alias in quotes");
	struct slice key = net_join(n, n->module, '@', alias);

	if (text_map_put(&n->aliases, key.text, key.len, v->first_port + (port_id)number) !=
	    MAP_NONE)
		return reader_refuse(r, "the alias '%.*s' is taken",
				     alias.len > 100 ? 100 : (int)alias.len, alias.text);
	return HD_OK;
}
