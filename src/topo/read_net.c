/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ibnetdiscover's topology file, and the looser form of it that ibsim reads.
 *
 *	switchguid=0x200001(200001)
 *	Switch  8 "S-0000000000200001"          # "leaf2" enhanced port 0 ...
 *	[1]     "H-0000000000100004"[1](100005)         # "host3" lid 5 4xHDR
 *
 * Lines before a node's own line describe it, lines after it are its cables.
 * ibnetdiscover's form (strict) always has all parts, so a line that lacks
 * one was cut. In ibsim's form guids count up by themselves, names stand for
 * ids, remarks are free, and a width or speed includes the lesser ones.
 */
#include "topo/net.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"

/* ibsim's defaults: LinkWidthEnabled 1x or 4x, LinkSpeedEnabled SDR. */
#define IBSIM_WIDTHS (WIDTH_1X | WIDTH_4X)
#define IBSIM_SPEEDS (1u << SPEED_SDR)

static const char *own(struct net *n, char *text)
{
	n->owned = hd_grow(n->owned, &n->owned_cap, n->n_owned + 1, sizeof(*n->owned));
	n->owned[n->n_owned++] = text;
	return text;
}

bool net_has(struct slice s, char c)
{
	return s.len && memchr(s.text, c, s.len);
}

/* <a><separator><b>, owned. */
struct slice net_join(struct net *n, struct slice a, char separator, struct slice b)
{
	struct strbuf out = STRBUF_INIT;

	if (a.len)
		strbuf_add(&out, a.text, a.len);
	strbuf_putc(&out, separator);
	strbuf_add(&out, b.text, b.len);
	size_t len = out.len;

	return (struct slice){ own(n, strbuf_detach(&out)), len };
}

/* The node ID of a quoted name within the current module. */
struct slice net_full_id(struct net *n, struct slice id)
{
	if (!n->module.len || net_has(id, '#'))
		return id;
	return net_join(n, n->module, '#', id);
}

struct slice net_rest(const struct topo_reader *r)
{
	return (struct slice){ r->at, (size_t)(r->line_end - r->at) };
}

char *net_copy_rest(const struct topo_reader *r)
{
	struct slice rest = net_rest(r);

	return text_inert(rest.text, rest.len);
}

enum hd_status net_expect_number(struct net *n, uint64_t max, uint64_t *out)
{
	struct topo_reader *r = n->r;

	if (!reader_skip(r, "=") || !reader_number(r, max, out))
		return reader_refuse(r, "expected '=' and a number");
	return HD_OK;
}

enum hd_status net_expect_end(struct net *n)
{
	struct slice rest = net_rest(n->r);

	if (n->strict && !reader_at_end(n->r))
		return reader_refuse(n->r, "unexpected '%.*s'", rest.len > 40 ? 40 : (int)rest.len,
				     rest.text);
	return HD_OK;
}

/* ---- what only one of the two forms has ---- */

static enum hd_status read_width(struct net *n)
{
	uint64_t value = 0;

	if (net_expect_number(n, 31, &value) != HD_OK)
		return n->r->d->status;
	n->widths = (uint8_t)value;
	return HD_OK;
}

static enum hd_status read_speed(struct net *n)
{
	uint64_t value = 0;

	if (net_expect_number(n, 7, &value) != HD_OK)
		return n->r->d->status;
	n->speeds = (uint16_t)((n->speeds & ~7u) | value);
	return HD_OK;
}

static enum hd_status read_extended_speed(struct net *n)
{
	uint64_t value = 0;
	struct topo_port p = { .node = 0 };

	if (net_expect_number(n, 15, &value) != HD_OK)
		return n->r->d->status;
	net_set_speeds(&p, n->speeds & 7u, value);
	n->speeds = p.speeds;
	return HD_OK;
}

static enum hd_status read_module(struct net *n)
{
	struct topo_reader *r = n->r;

	reader_blanks(r);
	(void)reader_skip(r, "=");
	reader_blanks(r);
	if (!reader_skip(r, "\"") || !reader_until(r, '"', &n->module.text, &n->module.len))
		return reader_refuse(r, "expected a prefix in quotes");
	return HD_OK;
}

static enum hd_status read_include(struct net *n)
{
	return reader_refuse(n->r, "included files are not followed: put them into one file first");
}

static enum hd_status read_do(struct net *n)
{
	return reader_refuse(
		n->r, "console commands are not carried out: take them out of the file first");
}

static enum hd_status read_nothing(struct net *n)
{
	(void)n;
	return HD_OK;
}

/* "Chassis 1 (guid 0x2c9000000500)". */
static enum hd_status read_chassis(struct net *n)
{
	struct topo_reader *r = n->r;
	struct topo *t = &r->t;
	uint64_t number, guid = 0;

	if (!reader_decimal(r, UINT16_MAX, &number) || number == 0)
		return reader_refuse(r, "expected the number of a chassis");
	if (reader_skip(r, " (guid 0x") && (!reader_hex(r, &guid) || !reader_skip(r, ")")))
		return reader_refuse(r, "expected a GUID and ')'");
	t->chassis =
		hd_grow(t->chassis, &n->chassis_cap, (size_t)t->n_chassis + 1, sizeof(*t->chassis));
	t->chassis[t->n_chassis++] = (struct topo_chassis){
		.number = (uint16_t)number,
		.guid = guid,
	};
	t->source.is_grouped = true;
	n->place.slot = SLOT_OTHER;
	return net_expect_end(n);
}

static enum hd_status read_hostname(struct net *n)
{
	struct topo *t = &n->r->t;

	if (t->n_chassis && !t->chassis[t->n_chassis - 1].hostname)
		t->chassis[t->n_chassis - 1].hostname = net_copy_rest(n->r);
	return HD_OK;
}

static enum hd_status read_no_chassis(struct net *n)
{
	n->r->t.source.is_grouped = true;
	n->place.slot = SLOT_OTHER;
	return HD_OK;
}

/* Reads comments with data. */
static enum hd_status read_comment(struct net *n)
{
	struct topo_reader *r = n->r;
	struct topo_source *s = &r->t.source;

	if (reader_skip(r, " Topology file: generated by heddle topo gen ") ||
	    reader_skip(r, " A net for ibsim, by heddle topo gen ")) {
		free(r->t.recipe);
		r->t.recipe = net_copy_rest(r);
	} else if (n->strict && reader_skip(r, " Topology file: generated on ")) {
		free(s->date);
		s->date = net_copy_rest(r);
	} else if (n->strict && reader_skip(r, " Initiated from node ")) {
		if (!reader_hex(r, &s->from_node) || !reader_skip(r, " port ") ||
		    !reader_hex(r, &s->from_port))
			return reader_refuse(r, "expected two GUIDs");
		r->origin_line = r->line;
	} else if (reader_skip(r, " Spine Nodes")) {
		n->place.slot = SLOT_SPINE;
	} else if (reader_skip(r, " Line Nodes")) {
		n->place.slot = SLOT_LINE;
	} else if (reader_skip(r, " Chassis Switches") || reader_skip(r, " Chassis CAs")) {
		n->place.slot = SLOT_OTHER;
	}
	return HD_OK;
}

/* ---- all lines ---- */

static const struct {
	const char *start;
	enum hd_status (*read)(struct net *n);
	enum { BOTH, ONLY_IBSIM, ONLY_STRICT } form;
} keywords[] = {
	{ "#", read_comment, BOTH },
	{ "[", net_read_cable, BOTH },
	{ "@", net_read_alias, ONLY_IBSIM },
	{ "vendid", net_read_vendor, BOTH },
	{ "devid", net_read_device, BOTH },
	{ "sysimgguid", net_read_system_guid, BOTH },
	{ "\t\t# ", net_read_chassis_note, ONLY_STRICT },
	{ "switchguid", net_read_switch_guid, BOTH },
	{ "caguid", net_read_ca_guid, BOTH },
	{ "hcaguids", net_read_ca_guid, ONLY_IBSIM },
	{ "rtguid", net_read_router_guid, BOTH },
	{ "Switch", net_read_switch, BOTH },
	{ "Hca", net_read_ca, ONLY_IBSIM },
	{ "Ca", net_read_ca, BOTH },
	{ "Rt", net_read_router, BOTH },
	{ "Chassis ", read_chassis, ONLY_STRICT },
	{ "Non-Chassis Nodes", read_no_chassis, ONLY_STRICT },
	{ "Hostname: ", read_hostname, ONLY_STRICT },
	{ "width", read_width, ONLY_IBSIM },
	{ "speed", read_speed, ONLY_IBSIM },
	{ "extspeed", read_extended_speed, ONLY_IBSIM },
	{ "module", read_module, ONLY_IBSIM },
	{ "include", read_include, ONLY_IBSIM },
	{ "pdebug", read_nothing, ONLY_IBSIM },
	{ "do", read_do, ONLY_IBSIM },
};

static enum hd_status read_line(struct net *n)
{
	struct topo_reader *r = n->r;

	if (reader_at_end(r)) {
		n->node = TOPO_NONE; /* an empty line ends a node */
		return HD_OK;
	}
	for (size_t i = 0; i < sizeof(keywords) / sizeof(*keywords); i++) {
		if ((keywords[i].form == ONLY_IBSIM && n->strict) ||
		    (keywords[i].form == ONLY_STRICT && !n->strict) ||
		    !reader_skip(r, keywords[i].start))
			continue;
		if (*keywords[i].start != '#' && *keywords[i].start != '[' &&
		    *keywords[i].start != '@')
			n->node = TOPO_NONE;
		return keywords[i].read(n);
	}
	return reader_refuse(r, "expected a node, a cable or what belongs to a node, not '%.*s'",
			     net_rest(r).len > 40 ? 40 : (int)net_rest(r).len, r->at);
}

/* Stores the data noted per claim, by port. */
static void keep_as_read(struct net *n)
{
	struct topo *t = &n->r->t;
	bool any = n->any_external;

	for (size_t i = 0; i < n->r->n_claims && n->as_read; i++)
		any |= n->as_read[i].speed_code != 0;
	if (!any || !n->as_read)
		return;
	t->as_read = hd_alloc(t->n_ports, sizeof(*t->as_read));
	for (size_t i = 0; i < n->r->n_claims; i++)
		t->as_read[n->r->claims[i].from] = n->as_read[i];
}

enum hd_status topo_read_net(struct topo_reader *r, bool strict)
{
	struct net n = {
		.r = r,
		.strict = strict,
		.guid = { [NODE_CA] = 0x100000, [NODE_SWITCH] = 0x200000 },
		.node = TOPO_NONE,
		.widths = IBSIM_WIDTHS,
		.speeds = IBSIM_SPEEDS,
	};
	enum hd_status status = HD_OK;

	memcpy(n.base, n.guid, sizeof(n.base));
	while (status == HD_OK && reader_next_line(r))
		status = read_line(&n);
	if (status == HD_OK)
		keep_as_read(&n);
	free(n.as_read);
	free(n.place.chassis_note);
	free(n.place.slot_note);
	text_map_fini(&n.aliases);
	/* Claims and ids point into these until the cables are joined. */
	r->owned = n.owned;
	r->n_owned = n.n_owned;
	return status;
}
