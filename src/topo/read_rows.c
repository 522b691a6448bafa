/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reports with a row for each port: ibnetdiscover -p,
 *
 *	SW     3  4 0x00.. 4x HDR - SW     2  4 0x00.. ( 'leaf2' - 'leaf1' )
 *	SW     3  8 0x00.. 4x SDR                                    'leaf2'
 *
 * and iblinkinfo -l,
 *
 *	0x00.. "   leaf2"   3  4[  ] ==( 4X 53.125 Gbps Active/  LinkUp)==>
 *	0x00..   2  4[  ] "leaf1" (Could be 12X )
 *
 * Neither says which ports make a node. The ports of a switch all have the
 * switch's GUID; those of an adapter have consecutive GUIDs, the same name,
 * and stand together. An adapter's own GUID is taken to be the one before its
 * port 1's, as vendors used to number them, unless that is somebody else's:
 * then it is its port's.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "topo/reader.h"

struct row {
	bool is_switch, is_router, is_cabled;
	uint64_t lid, number, guid;
	uint8_t widths;
	uint16_t speeds;
	const char *name;
	size_t name_len;
	uint64_t peer_guid, peer_number;
	const char *peer_text; /* the peer's GUID as printed */
	size_t peer_len;
	uint32_t line;
};

struct rows {
	struct row *items;
	size_t n, cap;
};

static void add(struct rows *rows, struct row row)
{
	rows->items = hd_grow(rows->items, &rows->cap, rows->n + 1,
			      sizeof(*rows->items));
	rows->items[rows->n++] = row;
}

static bool number_after_blanks(struct reader *r, uint64_t max, uint64_t *out)
{
	reader_blanks(r);
	return reader_decimal(r, max, out);
}

static bool guid_after_blanks(struct reader *r, uint64_t *out)
{
	reader_blanks(r);
	return reader_skip(r, "0x") && reader_hex(r, out);
}

static bool read_peer_guid(struct reader *r, struct row *row)
{
	reader_blanks(r);
	row->peer_text = r->at;
	if (!guid_after_blanks(r, &row->peer_guid))
		return false;
	row->peer_len = (size_t)(r->at - row->peer_text);
	return true;
}

/* ---- ibnetdiscover -p ---- */

static bool read_type(struct reader *r, bool *is_switch, bool *is_router)
{
	*is_switch = reader_skip(r, "SW");
	*is_router = !*is_switch && reader_skip(r, "RT");
	return *is_switch || *is_router || reader_skip(r, "CA");
}

/* Names in "( 'a' - 'b' )"; only the first is this row's. */
static bool read_pair(struct reader *r, struct row *row)
{
	static const char between[] = "' - '";

	if (!reader_skip(r, " ( '"))
		return false;
	row->name = r->at;
	for (; r->at < r->line_end; r->at++) {
		row->name_len = (size_t)(r->at - row->name);
		if (reader_skip(r, between))
			return r->line_end - r->at >= 3 &&
			       memcmp(r->line_end - 3, "' )", 3) == 0;
	}
	return false;
}

static bool read_alone(struct reader *r, struct row *row)
{
	reader_blanks(r);
	if (!reader_skip(r, "'") || r->line_end[-1] != '\'' ||
	    r->line_end <= r->at)
		return false;
	row->name = r->at;
	row->name_len = (size_t)(r->line_end - 1 - r->at);
	return true;
}

static bool read_port(struct reader *r, struct row *row)
{
	bool peer_is_switch, peer_is_router;
	uint64_t peer_lid;

	if (!read_type(r, &row->is_switch, &row->is_router) ||
	    !number_after_blanks(r, UINT16_MAX, &row->lid) ||
	    !number_after_blanks(r, TOPO_MAX_PORTS, &row->number) ||
	    !guid_after_blanks(r, &row->guid) || !reader_skip(r, " ") ||
	    !reader_link(r, " ", &row->widths, &row->speeds))
		return false;
	if (!reader_skip(r, " - "))
		return read_alone(r, row);
	row->is_cabled = true;
	if (!read_type(r, &peer_is_switch, &peer_is_router) ||
	    !number_after_blanks(r, UINT16_MAX, &peer_lid) ||
	    !number_after_blanks(r, TOPO_MAX_PORTS, &row->peer_number))
		return false;
	return read_peer_guid(r, row) && read_pair(r, row);
}

/* ---- iblinkinfo -l ---- */

/* "4[  ]": a port, and its number on the chassis' front, which is not kept. */
static bool read_number(struct reader *r, uint64_t *number)
{
	const char *inside;
	size_t len;

	return number_after_blanks(r, TOPO_MAX_PORTS, number) &&
	       reader_skip(r, "[") && reader_until(r, ']', &inside, &len);
}

static bool read_gbps(struct reader *r, struct row *row)
{
	static const struct {
		const char *text;
		enum link_speed speed;
	} known[] = {
		{ "2.5 Gbps", SPEED_SDR },     { "5.0 Gbps", SPEED_DDR },
		{ "10.0 Gbps", SPEED_QDR },    { "FDR10", SPEED_FDR10 },
		{ "14.0625 Gbps", SPEED_FDR }, { "25.78125 Gbps", SPEED_EDR },
		{ "53.125 Gbps", SPEED_HDR },  { "106.25 Gbps", SPEED_NDR },
		{ "212.5 Gbps", SPEED_XDR },
	};
	static const struct {
		const char *text;
		uint8_t set;
	} widths[] = {
		{ "12X", WIDTH_12X }, { "1X", WIDTH_1X }, { "2X", WIDTH_2X },
		{ "4X", WIDTH_4X },   { "8X", WIDTH_8X },
	};

	reader_blanks(r);
	for (size_t i = 0; i < 5; i++) {
		if (reader_skip(r, widths[i].text))
			row->widths = widths[i].set;
	}
	reader_blanks(r);
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		if (reader_skip(r, known[i].text))
			row->speeds = (uint16_t)(1u << known[i].speed);
	}
	/* What is left is the state, in words. */
	for (; r->at < r->line_end; r->at++) {
		if (reader_skip(r, ")==>"))
			return true;
	}
	return false;
}

/* The name stands right-aligned in its quotes. */
static bool read_padded(struct reader *r, struct row *row)
{
	static const char arrow[] = "==(";
	const char *at = r->at, *stop = NULL, *last;

	for (; at + 3 <= r->line_end && !stop; at++)
		stop = memcmp(at, arrow, 3) == 0 ? at : NULL;
	if (!stop || !reader_skip(r, "\""))
		return false;
	for (last = stop; last > r->at && *last != '"';)
		last--;
	if (*last != '"' || last < r->at)
		return false;
	while (r->at < last && *r->at == ' ')
		r->at++;
	row->name = r->at;
	row->name_len = (size_t)(last - r->at);
	r->at = last + 1;
	return true;
}

static bool read_link(struct reader *r, struct row *row)
{
	uint64_t peer_lid;

	if (!guid_after_blanks(r, &row->guid) || !reader_skip(r, " ") ||
	    !read_padded(r, row) ||
	    !number_after_blanks(r, UINT16_MAX, &row->lid) ||
	    !read_number(r, &row->number) || !reader_skip(r, " ==(") ||
	    !read_gbps(r, row))
		return false;
	reader_blanks(r);
	if (reader_skip(r, "[")) /* nothing is plugged in */
		return true;
	row->is_cabled = true;
	return read_peer_guid(r, row) &&
	       number_after_blanks(r, UINT16_MAX, &peer_lid) &&
	       read_number(r, &row->peer_number) && reader_skip(r, " \"") &&
	       r->line_end[-1] == ')';
}

/* ---- rows to nodes ---- */

static bool same_node(const struct row *a, const struct row *b)
{
	if (a->is_switch || b->is_switch)
		return a->is_switch && b->is_switch && a->guid == b->guid;
	return a->is_router == b->is_router && a->number != b->number &&
	       a->guid - a->number == b->guid - b->number &&
	       a->name_len == b->name_len &&
	       memcmp(a->name, b->name, a->name_len) == 0;
}

static uint64_t guess_guid(const struct row *row, const struct map *taken)
{
	uint64_t guess = row->guid - row->number;

	return row->is_switch || map_get(taken, guess) != MAP_NONE ? row->guid
								   : guess;
}

/* Adds the node of rows[0..n). */
static enum hd_status add_node(struct reader *r, const struct row *rows,
			       size_t n, const struct map *taken,
			       struct map *ports)
{
	uint64_t most = 0;
	node_id node;

	for (size_t i = 0; i < n; i++)
		most = rows[i].number > most ? rows[i].number : most;
	r->line = rows[0].line;
	r->at = r->line_start;
	enum node_kind kind = rows[0].is_switch   ? NODE_SWITCH
			      : rows[0].is_router ? NODE_ROUTER
						  : NODE_CA;

	if (reader_add_node(r, kind, most, rows[0].name, rows[0].name_len,
			    &node) != HD_OK ||
	    reader_set_guid(r, node, guess_guid(rows, taken)) != HD_OK)
		return r->d->status;
	struct topo_node *v = &r->t.nodes[node];

	for (size_t i = 0; i < n; i++) {
		struct topo_port *p =
			&r->t.ports[v->first_port + rows[i].number];

		p->line = rows[i].line;
		p->widths = rows[i].is_cabled ? rows[i].widths : 0;
		p->speeds = rows[i].is_cabled ? rows[i].speeds : 0;
		p = rows[i].is_switch ? &r->t.ports[v->first_port] : p;
		p->lid = (uint16_t)rows[i].lid;
		(void)map_put(ports, rows[i].guid, node);
	}
	return HD_OK;
}

static void add_claims(struct reader *r, const struct rows *rows,
		       const struct map *ports)
{
	for (size_t i = 0; i < rows->n; i++) {
		const struct row *row = &rows->items[i];

		if (!row->is_cabled)
			continue;
		node_id node = map_get(ports, row->guid);

		r->line = row->line;
		struct claim *c = reader_claim(
			r, topo_port_of(&r->t, node, (unsigned)row->number));

		c->node = map_get(ports, row->peer_guid);
		c->id = row->peer_text;
		c->id_len = (uint32_t)row->peer_len;
		c->number = (uint16_t)row->peer_number;
	}
}

static enum hd_status add_all(struct reader *r, const struct rows *rows)
{
	struct map ports = { 0 }; /* by port GUID: the node */
	struct map taken = { 0 }; /* all port GUIDs */
	enum hd_status status = HD_OK;
	size_t n;

	for (size_t i = 0; i < rows->n; i++)
		(void)map_put(&taken, rows->items[i].guid, 0);
	for (size_t i = 0; i < rows->n && status == HD_OK; i += n) {
		n = 1;
		while (i + n < rows->n &&
		       same_node(&rows->items[i], &rows->items[i + n]))
			n++;
		status = add_node(r, &rows->items[i], n, &taken, &ports);
	}
	if (status == HD_OK)
		add_claims(r, rows, &ports);
	map_fini(&ports);
	map_fini(&taken);
	return status;
}

enum hd_status read_ports(struct reader *r)
{
	struct rows rows = { 0 };

	while (r->d->status == HD_OK && reader_next_line(r)) {
		struct row row = { .line = r->line };

		if (reader_at_end(r))
			continue;
		if (!read_port(r, &row) || row.number == 0)
			reader_refuse(r, "expected 'TYPE LID PORT GUID WIDTH "
					 "SPEED' and the other end");
		add(&rows, row);
	}
	if (r->d->status == HD_OK)
		(void)add_all(r, &rows);
	free(rows.items);
	return r->d->status;
}

enum hd_status read_linkinfo(struct reader *r)
{
	struct rows rows = { 0 };
	struct map seen = { 0 };

	while (r->d->status == HD_OK && reader_next_line(r)) {
		struct row row = { .line = r->line };

		if (reader_at_end(r))
			continue;
		if (!read_link(r, &row) || row.number == 0)
			reader_refuse(r, "expected 'GUID \"NAME\" LID PORT "
					 "==(..)==>' and the other end");
		add(&rows, row);
	}
	/* A GUID with several ports is a switch's. */
	for (uint32_t i = 0; i < rows.n; i++) {
		uint32_t first = map_put(&seen, rows.items[i].guid, i);

		if (first == MAP_NONE)
			continue;
		rows.items[first].is_switch = rows.items[i].is_switch = true;
	}
	if (r->d->status == HD_OK)
		(void)add_all(r, &rows);
	map_fini(&seen);
	free(rows.items);
	return r->d->status;
}
