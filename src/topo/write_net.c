/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ibnetdiscover's topology file, to the byte as infiniband-diags 44 prints it,
 * and nets for ibsim.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/iba.h"
#include "base/map.h"
#include "topo/grouping.h"
#include "topo/write.h"

struct net_writer {
	const struct topo *t;
	struct strbuf *out;
	const struct grouping *groups; /* NULL: not grouped */
	bool *done;                    /* by node: written with its chassis */
	bool full, ibsim;
	const bool *id_is_name; /* by node; NULL: no id is a name */
};

/* ---- what a port runs at ---- */

static unsigned highest(unsigned set)
{
	unsigned bit = 0;

	while (set >> 1) {
		set >>= 1;
		bit++;
	}
	return bit;
}

static bool is_single(unsigned set)
{
	return (set & (set - 1)) == 0;
}

static unsigned lanes_of(unsigned widths)
{
	if (widths & WIDTH_12X)
		return 12;
	if (widths & WIDTH_8X)
		return 8;
	if (widths & WIDTH_4X)
		return 4;
	return widths & WIDTH_2X ? 2 : 1;
}

static unsigned width_of_lanes(unsigned lanes)
{
	switch (lanes) {
	case 12:
		return WIDTH_12X;
	case 8:
		return WIDTH_8X;
	case 4:
		return WIDTH_4X;
	case 2:
		return WIDTH_2X;
	default:
		return WIDTH_1X;
	}
}

/* Width and speed to print: one bit each, or 0 if unknown. */
struct running {
	unsigned width, speed;
};

/*
 * A port with a single value (from a file) has this value. A port with several runs at the value of
 * its link; ibsim expects the supported values.
 */
static struct running running_at(const struct net_writer *w, port_id port)
{
	const struct topo_port *p = &w->t->ports[port];
	struct topo_link_state state;
	struct running at = { .width = p->widths, .speed = p->speeds };
	bool agreed = !w->ibsim && topo_link_state(w->t, port, &state) == HD_OK;

	if (!is_single(at.width))
		at.width = width_of_lanes(agreed ? state.lanes : lanes_of(at.width));
	if (!is_single(at.speed))
		at.speed = 1u << (agreed ? state.speed : highest(at.speed));
	return at;
}

static void put_running(const struct net_writer *w, struct running at)
{
	if (at.width)
		strbuf_printf(w->out, " %ux", lanes_of(at.width));
	else
		strbuf_puts(w->out, " ??");
	strbuf_puts(w->out,
		    at.speed ? hd_link_speed_name((enum link_speed)highest(at.speed)) : "???");
}

/* " s=4 w=2 v=4": PortInfo's LinkSpeedActive, LinkWidthActive, VLCap. */
static void put_full(const struct net_writer *w, port_id port, struct running at)
{
	unsigned speed = at.speed > 4 ? 4 : at.speed;

	if (!w->full)
		return;
	if (w->t->as_read && w->t->as_read[port].speed_code)
		speed = w->t->as_read[port].speed_code;
	strbuf_printf(w->out, " s=%u w=%u v=%u", speed, at.width,
		      code_of_vls(w->t->ports[port].vls));
}

/* ---- nodes ---- */

static const char kind_letters[] = { [NODE_CA] = 'H', [NODE_SWITCH] = 'S', [NODE_ROUTER] = 'R' };

static void put_id(const struct net_writer *w, node_id node)
{
	const struct topo_node *v = &w->t->nodes[node];

	if (w->id_is_name && w->id_is_name[node])
		strbuf_printf(w->out, "\"%s\"", v->name);
	else
		strbuf_printf(w->out, "\"%c-%016" PRIx64 "\"", kind_letters[v->kind], v->guid);
}

/* LIDs of a switch are those of its port 0. */
static unsigned lid_of(const struct topo *t, port_id port)
{
	const struct topo_node *v = topo_node_of(t, port);

	return t->ports[v->kind == NODE_SWITCH ? v->first_port : port].lid;
}

/* GUIDs of Xsigo adapters contain their type, which ibnetdiscover prints. */
static bool is_xsigo(uint64_t guid, unsigned type)
{
	return guid >> 32 == (UINT64_C(0x00139700) | type);
}

/* Position in a chassis, or NULL. */
static const struct topo_place *place_of(const struct net_writer *w, node_id node)
{
	return w->groups ? w->groups->place[node] : NULL;
}

static void put_ids(const struct net_writer *w, node_id node)
{
	const struct topo_node *v = &w->t->nodes[node];
	const struct topo_place *place = place_of(w, node);
	const char *note = place ? place->chassis_note : NULL;

	strbuf_printf(w->out, "\nvendid=0x%x\ndevid=0x%x\n", v->vendor, v->device);
	/* ibsim uses the node GUID as default. */
	bool said = v->system_guid && !(w->ibsim && v->system_guid == v->guid);

	if (said)
		strbuf_printf(w->out, "sysimgguid=0x%" PRIx64, v->system_guid);
	if (note)
		strbuf_printf(w->out, "\t\t# %s", note);
	if (said || note)
		strbuf_putc(w->out, '\n');
}

/*
 * ibsim ends a name at the second quote. A name that contains quotes is written
 * without quotes and ends where the following fields begin.
 */
static bool must_be_bare(const char *name)
{
	size_t len = strlen(name);

	return strchr(name, '"') && name[0] != '"' && name[0] != ' ' && name[len - 1] != ' ' &&
	       !strstr(name, " enhanced port ") && !strstr(name, " base port ") &&
	       !strstr(name, " lid ") && !strstr(name, " lmc ");
}

/* ibsim identifies a node without a name by its id. */
static void put_name(const struct net_writer *w, node_id node)
{
	const char *name = w->t->nodes[node].name;

	if (w->ibsim && !*name)
		put_id(w, node);
	else if (w->ibsim && must_be_bare(name))
		strbuf_puts(w->out, name);
	else
		strbuf_printf(w->out, "\"%s\"", name);
}

static void put_switch(const struct net_writer *w, node_id node)
{
	const struct topo_node *v = &w->t->nodes[node];
	const struct topo_port *p = &w->t->ports[v->first_port];

	put_ids(w, node);
	strbuf_printf(w->out, "switchguid=0x%" PRIx64 "(%" PRIx64 ")", v->guid, p->guid);
	const struct topo_place *place = place_of(w, node);

	if (w->groups)
		strbuf_printf(w->out, "\t# %s", place && place->slot_note ? place->slot_note : "");
	strbuf_printf(w->out, "\nSwitch\t%u ", v->n_ports);
	put_id(w, node);
	strbuf_puts(w->out, "\t\t# ");
	put_name(w, node);
	strbuf_printf(w->out, " %s port 0 lid %u lmc %u\n", v->enhanced_port0 ? "enhanced" : "base",
		      p->lid, p->lmc);
}

static void put_adapter(const struct net_writer *w, node_id node)
{
	const struct topo_node *v = &w->t->nodes[node];
	bool router = v->kind == NODE_ROUTER;

	put_ids(w, node);
	strbuf_printf(w->out, "%sguid=0x%" PRIx64 "\n%s\t%u ", router ? "rt" : "ca", v->guid,
		      router ? "Rt" : "Ca", v->n_ports);
	put_id(w, node);
	strbuf_puts(w->out, "\t\t# ");
	put_name(w, node);
	if (w->groups && is_xsigo(v->guid, 2))
		strbuf_puts(w->out, " (scp)");
	strbuf_putc(w->out, '\n');
}

/* ---- cables ---- */

static void put_bracket(const struct net_writer *w, port_id port)
{
	strbuf_printf(w->out, "[%u]", w->t->ports[port].number);
	if (w->groups && w->groups->external[port])
		strbuf_printf(w->out, "[ext %u]", w->groups->external[port]);
}

/* In ibsim, even a comment must not look like a setting. */
static void put_peer_name(const struct net_writer *w, const struct topo_node *v)
{
	strbuf_putc(w->out, '"');
	if (!w->ibsim || !strpbrk(v->name, "=\""))
		strbuf_puts(w->out, v->name);
	strbuf_putc(w->out, '"');
}

static void put_switch_port(const struct net_writer *w, port_id port)
{
	const struct topo *t = w->t;
	const struct topo_port *peer = &t->ports[t->ports[port].peer];
	struct running at = running_at(w, port);

	put_bracket(w, port);
	strbuf_putc(w->out, '\t');
	put_id(w, peer->node);
	put_bracket(w, t->ports[port].peer);
	if (!topo_is_switch(t, peer->node))
		strbuf_printf(w->out, "(%" PRIx64 ") ", peer->guid);
	strbuf_puts(w->out, "\t\t# ");
	put_peer_name(w, &t->nodes[peer->node]);
	strbuf_printf(w->out, " lid %u", lid_of(t, t->ports[port].peer));
	put_running(w, at);
	put_full(w, port, at);
	if (topo_is_switch(t, peer->node))
		strbuf_putc(w->out, '\n');
	else if (is_xsigo(peer->guid, 3))
		strbuf_printf(w->out, " slot %u\n", t->ports[port].number);
	else
		strbuf_puts(w->out, is_xsigo(peer->guid, 2) ? " (scp)\n" : "\n");
}

static void put_adapter_port(const struct net_writer *w, port_id port)
{
	const struct topo *t = w->t;
	const struct topo_port *p = &t->ports[port], *peer = &t->ports[p->peer];
	struct running at = running_at(w, port);

	strbuf_printf(w->out, "[%u](%" PRIx64 ") \t", p->number, p->guid);
	put_id(w, peer->node);
	put_bracket(w, p->peer);
	if (!topo_is_switch(t, peer->node))
		strbuf_printf(w->out, " (%" PRIx64 ") ", peer->guid);
	strbuf_printf(w->out, "\t\t# lid %u lmc %u ", p->lid, p->lmc);
	put_peer_name(w, &t->nodes[peer->node]);
	strbuf_printf(w->out, " lid %u", lid_of(t, p->peer));
	put_running(w, at);
	put_full(w, port, at);
	strbuf_putc(w->out, '\n');
}

static void put_node(const struct net_writer *w, node_id node)
{
	const struct topo_node *v = &w->t->nodes[node];
	bool is_switch = v->kind == NODE_SWITCH;

	if (is_switch)
		put_switch(w, node);
	else
		put_adapter(w, node);
	for (unsigned n = 1; n <= v->n_ports; n++) {
		port_id port = v->first_port + n;

		if (w->t->ports[port].peer == TOPO_NONE)
			continue;
		if (is_switch)
			put_switch_port(w, port);
		else
			put_adapter_port(w, port);
	}
}

/* ---- files ---- */

/* Lets the reader restore the family and the positions of nodes. */
static void put_recipe(const struct net_writer *w, const char *before, const char *behind)
{
	strbuf_puts(w->out, before);
	if (w->t->recipe)
		strbuf_printf(w->out, " topo gen %s", w->t->recipe);
	strbuf_puts(w->out, behind);
}

static void put_header(const struct net_writer *w)
{
	const struct topo_source *s = &w->t->source;
	uint64_t node = s->from_node, port = s->from_port;

	port_id origin = topo_origin(w->t);

	if (!port && origin != TOPO_NONE) {
		node = topo_node_of(w->t, origin)->guid;
		port = w->t->ports[origin].guid;
	}
	strbuf_puts(w->out, "#\n# Topology file: generated ");
	if (s->date)
		strbuf_printf(w->out, "on %s\n#\n", s->date);
	else
		put_recipe(w, "by heddle", "\n#\n");
	strbuf_printf(w->out, "# Initiated from node %016" PRIx64 " port %016" PRIx64 "\n", node,
		      port);
}

/* Nodes of a chassis in one kind of slot, under a heading. */
static void put_slots(const struct net_writer *w, const char *heading, uint16_t chassis,
		      enum node_kind kind, int slot)
{
	strbuf_printf(w->out, "\n# %s", heading);
	for (node_id i = 0; i < w->groups->n_order; i++) {
		node_id node = w->groups->order[i];
		const struct topo_place *place = w->groups->place[node];

		if (w->done[node] || !place || place->chassis != chassis ||
		    (int)place->slot != slot || w->t->nodes[node].kind != kind)
			continue;
		put_node(w, node);
		w->done[node] = true;
	}
}

static void put_chassis(const struct net_writer *w, const struct topo_chassis *c)
{
	strbuf_printf(w->out, "\nChassis %u", c->number);
	if (c->guid)
		strbuf_printf(w->out, " (guid 0x%" PRIx64 ")", c->guid);
	strbuf_putc(w->out, '\n');
	if (c->hostname)
		strbuf_printf(w->out, "Hostname: %s\n", c->hostname);
	put_slots(w, "Spine Nodes", c->number, NODE_SWITCH, SLOT_SPINE);
	put_slots(w, "Line Nodes", c->number, NODE_SWITCH, SLOT_LINE);
	put_slots(w, "Chassis Switches", c->number, NODE_SWITCH, SLOT_OTHER);
	put_slots(w, "Chassis CAs", c->number, NODE_CA, SLOT_OTHER);
}

static void put_ibnetdiscover(const struct topo *t, struct strbuf *out, bool full, bool grouped)
{
	node_id *order = topo_file_order(t, false);
	bool *done = hd_alloc(t->n_nodes, sizeof(*done));
	struct grouping groups = { .n_chassis = 0 };
	const struct net_writer w = {
		.t = t,
		.out = out,
		.full = full,
		.groups = grouped ? &groups : NULL,
		.done = done,
	};

	grouping_init(&groups, t, order);
	put_header(&w);
	for (uint32_t i = 0; i < groups.n_chassis && grouped; i++)
		put_chassis(&w, &groups.chassis[i]);
	if (grouped)
		strbuf_puts(out, "\nNon-Chassis Nodes\n");
	for (node_id i = 0; i < t->n_nodes; i++) {
		if (!done[order[i]])
			put_node(&w, order[i]);
	}
	grouping_fini(&groups, t);
	free(done);
	free(order);
}

void topo_write_ibnetdiscover(const struct topo *t, struct strbuf *out)
{
	put_ibnetdiscover(t, out, false, false);
}

void topo_write_ibnetdiscover_f(const struct topo *t, struct strbuf *out)
{
	put_ibnetdiscover(t, out, true, false);
}

void topo_write_ibnetdiscover_g(const struct topo *t, struct strbuf *out)
{
	put_ibnetdiscover(t, out, false, true);
}

void topo_write_ibnetdiscover_fg(const struct topo *t, struct strbuf *out)
{
	put_ibnetdiscover(t, out, true, true);
}

/* ---- ibsim ---- */

/* A name is usable as an id if ibsim parses it as one and it does not look like a GUID. */
static bool can_be_id(const char *name)
{
	size_t len = strlen(name);

	if (len == 0 || len > 64 || strpbrk(name, "\"#@"))
		return false;
	for (const char *c = name; *c; c++) {
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			return false;
	}
	return !(name[1] == '-' && strchr("SHR", name[0]) && len == 18);
}

/* Selects the nodes identified by name: those with a unique, valid name. */
static bool *choose_ids(const struct topo *t)
{
	bool *fit = hd_alloc(t->n_nodes, sizeof(*fit));
	struct text_map first = { 0 };

	for (node_id v = 0; v < t->n_nodes; v++) {
		const char *name = t->nodes[v].name;

		fit[v] = can_be_id(name);
		if (!fit[v])
			continue;
		uint32_t other = text_map_put(&first, name, strlen(name), v);

		if (other != MAP_NONE)
			fit[v] = fit[other] = false;
	}
	text_map_fini(&first);
	return fit;
}

void topo_write_ibsim(const struct topo *t, struct strbuf *out)
{
	bool *id_is_name = choose_ids(t);
	node_id *order = topo_file_order(t, true);
	const struct net_writer w = {
		.t = t,
		.out = out,
		.ibsim = true,
		.id_is_name = id_is_name,
	};

	put_recipe(&w, "# A net for ibsim, by heddle", "\n");
	for (node_id i = 0; i < t->n_nodes; i++)
		put_node(&w, order[i]);
	free(order);
	free(id_is_name);
}
