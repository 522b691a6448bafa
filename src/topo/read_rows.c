/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reports with a row for each port: ibnetdiscover -p,
 *
 *	SW     3  4 0x00.. 4x HDR - SW     2  4 0x00.. ( 'leaf2' - 'leaf1' )
 *	SW     3  8 0x00.. 4x SDR                                    'leaf2'
 *
 * iblinkinfo -l,
 *
 *	0x00.. "   leaf2"   3  4[  ] ==( 4X 53.125 Gbps Active/  LinkUp)==>
 *	0x00..   2  4[  ] "leaf1" (Could be 12X )
 *
 * iblinkinfo, where other ends are known by LID and port,
 *
 *	Switch: 0x0000000000200001 leaf2:
 *	       3  4[  ] ==( 4X 53.125 Gbps Active/  LinkUp)==>  2  4[  ] "leaf1"
 *..
 *
 * and the file in which OpenSM keeps neighbours,
 *
 *	0x0000000000200001:4 0x0000000000200000:4
 */
#include <string.h>

#include "topo/rows.h"

static bool number_after_blanks(struct topo_reader *r, uint64_t max, uint64_t *out)
{
	reader_blanks(r);
	return reader_decimal(r, max, out);
}

static bool guid_after_blanks(struct topo_reader *r, uint64_t *out)
{
	reader_blanks(r);
	return reader_skip(r, "0x") && reader_hex(r, out);
}

static bool read_peer_guid(struct topo_reader *r, struct topo_port_row *row)
{
	reader_blanks(r);
	row->peer_text = r->at;
	if (!guid_after_blanks(r, &row->peer_guid))
		return false;
	row->peer_len = (size_t)(r->at - row->peer_text);
	return true;
}

/* ---- ibnetdiscover -p ---- */

static bool read_type(struct topo_reader *r, bool *is_switch, bool *is_router)
{
	*is_switch = reader_skip(r, "SW");
	*is_router = !*is_switch && reader_skip(r, "RT");
	return *is_switch || *is_router || reader_skip(r, "CA");
}

/* Names in "( 'a' - 'b' )"; only the first is this row's. */
static bool read_pair(struct topo_reader *r, struct topo_port_row *row)
{
	static const char between[] = "' - '";

	if (!reader_skip(r, " ( '"))
		return false;
	row->name = r->at;
	for (; r->at < r->line_end; r->at++) {
		row->name_len = (size_t)(r->at - row->name);
		if (reader_skip(r, between))
			return r->line_end - r->at >= 3 && memcmp(r->line_end - 3, "' )", 3) == 0;
	}
	return false;
}

static bool read_alone(struct topo_reader *r, struct topo_port_row *row)
{
	reader_blanks(r);
	if (!reader_skip(r, "'") || r->line_end[-1] != '\'' || r->line_end <= r->at)
		return false;
	row->name = r->at;
	row->name_len = (size_t)(r->line_end - 1 - r->at);
	return true;
}

static bool read_port(struct topo_reader *r, struct topo_port_row *row)
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

/* "4[  ]": a port, and its number on the front of the chassis, which is ignored. */
static bool read_number(struct topo_reader *r, uint64_t *number)
{
	const char *inside;
	size_t len;

	return number_after_blanks(r, TOPO_MAX_PORTS, number) && reader_skip(r, "[") &&
	       reader_until(r, ']', &inside, &len);
}

static bool read_gbps(struct topo_reader *r, struct topo_port_row *row)
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
	/* The rest of the line is the state, in words. */
	for (; r->at < r->line_end; r->at++) {
		if (reader_skip(r, ")==>"))
			return true;
	}
	return false;
}

/* The name is right-aligned in its quotes. */
static bool read_padded(struct topo_reader *r, struct topo_port_row *row)
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

static bool read_line_of_link(struct topo_reader *r, struct topo_port_row *row)
{
	uint64_t peer_lid;

	if (!guid_after_blanks(r, &row->guid) || !reader_skip(r, " ") || !read_padded(r, row) ||
	    !number_after_blanks(r, UINT16_MAX, &row->lid) || !read_number(r, &row->number) ||
	    !reader_skip(r, " ==(") || !read_gbps(r, row))
		return false;
	reader_blanks(r);
	if (reader_skip(r, "[")) /* no cable */
		return true;
	row->is_cabled = true;
	return read_peer_guid(r, row) && number_after_blanks(r, UINT16_MAX, &peer_lid) &&
	       read_number(r, &row->peer_number) && reader_skip(r, " \"") && r->line_end[-1] == ')';
}

/* ---- iblinkinfo ---- */

/* "Switch: 0x0000000000200001 leaf2:", "CA: host4 HCA-1:". */
static bool read_heading(struct topo_reader *r, struct topo_port_row *node)
{
	struct topo_port_row found = { .line = r->line };

	found.is_switch = reader_skip(r, "Switch: ");
	found.is_router = !found.is_switch && reader_skip(r, "Router: ");
	if (!found.is_switch && !found.is_router && !reader_skip(r, "CA: "))
		return false;
	if (found.is_switch && (!guid_after_blanks(r, &found.guid) || !reader_skip(r, " ")))
		return false;
	if (r->at >= r->line_end || r->line_end[-1] != ':')
		return false;
	found.name = r->at;
	found.name_len = (size_t)(r->line_end - 1 - r->at);
	*node = found;
	return true;
}

/* A port of the current node; its peer_guid is a LID until LIDs are resolved. */
static bool read_node_link(struct topo_reader *r, const struct topo_port_row *node,
			   struct topo_port_row *row)
{
	*row = *node;
	row->line = r->line;
	if ((!node->is_switch && !guid_after_blanks(r, &row->guid)) ||
	    !number_after_blanks(r, UINT16_MAX, &row->lid) || !read_number(r, &row->number) ||
	    !reader_skip(r, " ==(") || !read_gbps(r, row))
		return false;
	reader_blanks(r);
	if (reader_skip(r, "["))
		return true; /* no cable */
	row->is_cabled = true;
	row->peer_text = r->at;
	if (!reader_decimal(r, UINT16_MAX, &row->peer_guid))
		return false;
	row->peer_len = (size_t)(r->at - row->peer_text);
	return read_number(r, &row->peer_number) && reader_skip(r, " \"") && r->line_end[-1] == ')';
}

/* Resolves the LIDs of other ends. */
static enum hd_status resolve_lids(struct topo_reader *r, struct rows *rows)
{
	struct map lids = { 0 };

	for (uint32_t i = 0; i < rows->n; i++)
		(void)map_put(&lids, rows->items[i].lid, i);
	for (uint32_t i = 0; i < rows->n && r->d->status == HD_OK; i++) {
		struct topo_port_row *row = &rows->items[i];

		if (!row->is_cabled)
			continue;
		uint32_t owner = row->peer_guid ? map_get(&lids, row->peer_guid) : MAP_NONE;

		if (owner == MAP_NONE) {
			(void)reader_problem(r, PROBLEM_MISSING_END, row->line, 0,
					     "no port in the file has the LID %u of the other end",
					     (unsigned)row->peer_guid);
			row->is_cabled = false;
		} else {
			row->peer_guid = rows->items[owner].guid;
		}
	}
	map_fini(&lids);
	return r->d->status;
}

enum hd_status topo_read_linkinfo_nodes(struct topo_reader *r)
{
	struct rows rows = { 0 };
	struct topo_port_row node = { .name = NULL };

	while (r->d->status == HD_OK && reader_next_line(r)) {
		struct topo_port_row row;

		if (reader_at_end(r) || read_heading(r, &node))
			continue;
		if (!node.name || !read_node_link(r, &node, &row) || row.number == 0)
			reader_refuse(r, "expected 'LID PORT ==(..)==>' and the other end");
		else
			rows_add(&rows, row);
	}
	if (r->d->status == HD_OK && resolve_lids(r, &rows) == HD_OK)
		(void)rows_build(&rows, r);
	rows_fini(&rows);
	return r->d->status;
}

/* ---- OpenSM's neighbors ---- */

/* "0x0000000000200001:4". */
static bool read_end(struct topo_reader *r, uint64_t *guid, uint64_t *number, size_t *len)
{
	const char *start = r->at;

	if (!reader_skip(r, "0x") || !reader_hex(r, guid))
		return false;
	*len = (size_t)(r->at - start);
	return reader_skip(r, ":") && reader_decimal(r, TOPO_MAX_PORTS, number) && *number > 0;
}

enum hd_status topo_read_neighbors(struct topo_reader *r)
{
	struct rows rows = { 0 };

	while (r->d->status == HD_OK && reader_next_line(r)) {
		struct topo_port_row row = { .line = r->line, .is_cabled = true, .name = "" };
		size_t len;

		if (reader_at_end(r))
			continue;
		if (!read_end(r, &row.guid, &row.number, &len) || !reader_skip(r, " ")) {
			reader_refuse(r, "expected 'GUID:PORT GUID:PORT'");
			break;
		}
		row.peer_text = r->at;
		if (!read_end(r, &row.peer_guid, &row.peer_number, &row.peer_len) ||
		    !reader_at_end(r))
			reader_refuse(r, "expected 'GUID:PORT GUID:PORT'");
		rows_add(&rows, row);
	}
	rows_find_switches(&rows);
	rows_sort(&rows);
	if (r->d->status == HD_OK)
		(void)rows_build(&rows, r);
	rows_fini(&rows);
	return r->d->status;
}

/* ---- the others ---- */

enum hd_status topo_read_ports(struct topo_reader *r)
{
	struct rows rows = { 0 };

	while (r->d->status == HD_OK && reader_next_line(r)) {
		struct topo_port_row row = { .line = r->line };

		if (reader_at_end(r))
			continue;
		if (!read_port(r, &row) || row.number == 0)
			reader_refuse(
				r, "expected 'TYPE LID PORT GUID WIDTH SPEED' and the other end");
		rows_add(&rows, row);
	}
	if (r->d->status == HD_OK)
		(void)rows_build(&rows, r);
	rows_fini(&rows);
	return r->d->status;
}

enum hd_status topo_read_linkinfo(struct topo_reader *r)
{
	struct rows rows = { 0 };

	while (r->d->status == HD_OK && reader_next_line(r)) {
		struct topo_port_row row = { .line = r->line };

		if (reader_at_end(r))
			continue;
		if (!read_line_of_link(r, &row) || row.number == 0)
			reader_refuse(
				r, "expected 'GUID \"NAME\" LID PORT ==(..)==>' and the other end");
		rows_add(&rows, row);
	}
	rows_find_switches(&rows);
	if (r->d->status == HD_OK)
		(void)rows_build(&rows, r);
	rows_fini(&rows);
	return r->d->status;
}
