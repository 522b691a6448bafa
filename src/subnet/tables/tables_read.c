/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "subnet/multicast/mcast.h"
#include "subnet/routing/order.h"
#include "subnet/tables/tables.h"
#include "topo/reader.h"

/* The switch whose table is being read. */
enum block_kind {
	BLOCK_NONE,
	BLOCK_LIST, /* dump_fts, opensm-lfts.dump: ends with a count */
	BLOCK_FDBS,
	BLOCK_MASK, /* dump_fts -M: ends with a count */
	BLOCK_MCFDBS,
};

struct tables_reader {
	struct topo_reader r;
	struct subnet *s;
	struct tables_found found;
	struct map switches; /* by GUID */
	bool *has_unicast, *has_multicast;
	enum block_kind block;
	switch_id sw;
	uint32_t started;   /* line of the block's first line */
	uint32_t n_entries; /* of the block */
	bool is_opensm;     /* it counts LIDs, not entries */
};

static const struct topo_node *node_at(const struct tables_reader *t)
{
	return switch_node(t->s, t->sw);
}

static bool is_multicast(enum block_kind kind)
{
	return kind == BLOCK_MASK || kind == BLOCK_MCFDBS;
}

/* Forgets what the subnet had, at the first table of a kind. */
static void first_of_kind(struct tables_reader *t)
{
	struct subnet *s = t->s;

	if (is_multicast(t->block) && t->found.n_multicast++ == 0)
		mcast_clear(s);
	if (!is_multicast(t->block) && t->found.n_unicast++ == 0) {
		subnet_own(s);
		memset(s->lft, LFT_NO_PORT, (size_t)s->n_switches * s->lft_stride);
	}
}

static enum hd_status refuse_unfinished(struct tables_reader *t)
{
	return diag_fail_at(
		t->r.d, HD_ERR_INPUT, t->r.line, 0,
		"the table of '%s', which begins at line %u, is cut short: its count is missing",
		node_at(t)->name, t->started);
}

static bool needs_count(const struct tables_reader *t)
{
	return t->block == BLOCK_LIST || t->block == BLOCK_MASK;
}

static enum hd_status start_block(struct tables_reader *t, enum block_kind kind, uint64_t guid)
{
	switch_id sw = map_get(&t->switches, guid);

	if (needs_count(t))
		return refuse_unfinished(t);
	if (sw == MAP_NONE)
		return reader_refuse(&t->r, "no switch of the fabric has the GUID 0x%016" PRIx64,
				     guid);
	bool *has = is_multicast(kind) ? t->has_multicast : t->has_unicast;

	t->sw = sw;
	if (has[sw])
		return reader_refuse(&t->r, "a second table for the switch '%s'", node_at(t)->name);
	has[sw] = true;
	t->block = kind;
	t->started = t->r.line;
	t->n_entries = 0;
	first_of_kind(t);
	return HD_OK;
}

/* " guid 0x..." somewhere in the rest of the line. */
static bool find_guid(struct topo_reader *r, uint64_t *guid)
{
	static const char key[] = " guid ";

	for (; r->at + sizeof(key) < r->line_end; r->at++) {
		if (memcmp(r->at, key, sizeof(key) - 1) != 0)
			continue;
		r->at += sizeof(key) - 1;
		return reader_number(r, UINT64_MAX, guid);
	}
	return false;
}

static enum hd_status read_header(struct tables_reader *t, enum block_kind kind)
{
	struct topo_reader *r = &t->r;
	uint64_t first, last, guid;
	bool hex;

	t->is_opensm = false;
	if (!reader_skip(r, "["))
		return reader_refuse(r, "expected '[' and a range of LIDs");
	hex = r->line_end - r->at > 1 && r->at[1] == 'x';
	if (!reader_number(r, UINT16_MAX, &first) || !reader_skip(r, "-") ||
	    !reader_number(r, UINT16_MAX, &last) || !reader_skip(r, "]"))
		return reader_refuse(r, "expected a range of LIDs, as [0x0-0x6]");
	t->is_opensm = !hex;
	if (!find_guid(r, &guid))
		return reader_refuse(r, "expected ' guid ' and the GUID of a switch");
	return start_block(t, kind, guid);
}

static enum hd_status check_port(struct tables_reader *t, uint64_t port)
{
	if (port <= node_at(t)->n_ports)
		return HD_OK;
	return reader_refuse(&t->r, "port %" PRIu64 ", but '%s' has %u ports", port,
			     node_at(t)->name, node_at(t)->n_ports);
}

/* If the line names the owner of the LID, it must be ours. */
static enum hd_status check_owner(struct tables_reader *t, uint64_t lid)
{
	static const char key[] = "portguid ";
	struct topo_reader *r = &t->r;
	unsigned sub = subnet_of_switch(t->s, t->sw);
	uint64_t guid;

	while (r->at + sizeof(key) < r->line_end && memcmp(r->at, key, sizeof(key) - 1) != 0)
		r->at++;
	if (!reader_skip(r, key) || !reader_number(r, UINT64_MAX, &guid))
		return HD_OK;
	port_id owner = t->s->port_of_lid[sub][lid];

	if (owner == TOPO_NONE)
		return reader_refuse(r, "LID %" PRIu64 " belongs to no port of the fabric", lid);
	if (order_port_guid(t->s->topo, owner) != guid)
		return reader_refuse(r,
				     "LID %" PRIu64 " is said to be that of port 0x%016" PRIx64
				     ", in the fabric it is '%s', port 0x%016" PRIx64,
				     lid, guid, topo_node_of(t->s->topo, owner)->name,
				     order_port_guid(t->s->topo, owner));
	return HD_OK;
}

static enum hd_status set_entry(struct tables_reader *t, uint64_t lid, uint64_t port)
{
	struct subnet *s = t->s;

	if (lid > LID_MAX_UNICAST)
		return reader_refuse(&t->r, "LID 0x%" PRIx64 " is not a unicast LID", lid);
	if (check_port(t, port) != HD_OK)
		return t->r.d->status;
	if (lid >= s->lft_stride)
		return reader_refuse(&t->r, "LID %" PRIu64 " is above all LIDs of the fabric", lid);
	uint8_t *entry = &s->lft[(size_t)t->sw * s->lft_stride + lid];

	if (*entry != LFT_NO_PORT)
		return reader_refuse(&t->r, "a second entry for LID %" PRIu64, lid);
	*entry = (uint8_t)port;
	t->n_entries++;
	return HD_OK;
}

/* "0x0001 003 : (...)" or "0x0001 003 # ..." */
static enum hd_status read_list_entry(struct tables_reader *t)
{
	struct topo_reader *r = &t->r;
	uint64_t lid, port;

	if (!reader_number(r, UINT16_MAX, &lid))
		return reader_refuse(r, "expected a LID, as 0x0001");
	reader_blanks(r);
	if (!reader_decimal(r, UINT32_MAX, &port))
		return reader_refuse(r, "expected a port, as 003");
	if (set_entry(t, lid, port) != HD_OK)
		return r->d->status;
	return check_owner(t, lid);
}

/* "0x0001 : 001  : 01   : yes" or "0x0001 : UNREACHABLE" */
static enum hd_status read_fdbs_entry(struct tables_reader *t)
{
	struct topo_reader *r = &t->r;
	uint64_t lid, port;

	if (!reader_number(r, UINT16_MAX, &lid) || !reader_skip(r, " : "))
		return reader_refuse(r, "expected a LID and a port, as '0x0001 : 003'");
	if (reader_skip(r, "UNREACHABLE"))
		return HD_OK;
	if (!reader_decimal(r, UINT32_MAX, &port))
		return reader_refuse(r, "expected a port or UNREACHABLE");
	return set_entry(t, lid, port);
}

/* The row of the switch at hand for an MLID, made if need be. */
static uint64_t *mcast_row(struct tables_reader *t, uint64_t mlid)
{
	struct subnet *s = t->s;
	struct mft *m = &s->mft[subnet_of_switch(s, t->sw)];
	uint32_t group = (uint32_t)mlid - LID_FIRST_MCAST;

	mcast_make_room(s, subnet_of_switch(s, t->sw), group + 1);
	return &m->ports[((size_t)group * s->n_switches + t->sw) * m->words];
}

static enum hd_status set_mcast(struct tables_reader *t, uint64_t mlid, uint64_t port)
{
	if (check_port(t, port) != HD_OK)
		return t->r.d->status;
	mcast_set_port(mcast_row(t, mlid), (unsigned)port);
	return HD_OK;
}

static enum hd_status read_mlid(struct tables_reader *t, uint64_t *mlid)
{
	if (!reader_number(&t->r, UINT16_MAX, mlid) || *mlid < LID_FIRST_MCAST ||
	    *mlid > LID_LAST_MCAST)
		return reader_refuse(&t->r, "expected an MLID, 0xc000 to 0xfffe");
	return HD_OK;
}

#define MASK_COLUMN 12 /* of port 0 */

static unsigned hex_value(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (unsigned)(at - digits) : 16;
}

/* dump_fts -M -n: four hex digits per 16 ports, the lowest ports first */
static enum hd_status read_hex_mask(struct tables_reader *t, uint64_t mlid)
{
	struct topo_reader *r = &t->r;
	unsigned first = 0, digit = 0;

	for (reader_blanks(r); r->at < r->line_end && *r->at != ' '; r->at++) {
		unsigned value = hex_value(*r->at);

		if (value == 16)
			return reader_refuse(r, "expected a mask of ports");
		for (unsigned bit = 0; bit < 4; bit++) {
			unsigned port = first + 4 * (3 - digit) + bit;

			if (value >> bit & 1 && set_mcast(t, mlid, port) != HD_OK)
				return r->d->status;
		}
		first += digit == 3 ? 16 : 0;
		digit = (digit + 1) % 4;
	}
	return HD_OK;
}

/* "0xc000      x   x  ": port n in column 12 + 2n; or masks of 16 ports */
static enum hd_status read_mask_entry(struct tables_reader *t)
{
	struct topo_reader *r = &t->r;
	uint64_t mlid;

	if (read_mlid(t, &mlid) != HD_OK)
		return r->d->status;
	t->n_entries++;
	if (r->line_end - r->line_start > MASK_COLUMN && hex_value(r->line_start[MASK_COLUMN]) < 16)
		return read_hex_mask(t, mlid);
	for (; r->at < r->line_end; r->at++) {
		size_t column = (size_t)(r->at - r->line_start);

		if (*r->at == ' ')
			continue;
		if (*r->at != 'x' || column < MASK_COLUMN || column % 2)
			return reader_refuse(r, "expected 'x' under a port");
		if (set_mcast(t, mlid, (column - MASK_COLUMN) / 2) != HD_OK)
			return r->d->status;
	}
	return HD_OK;
}

/* "0xC000 : 0x001  0x003 " */
static enum hd_status read_mcfdbs_entry(struct tables_reader *t)
{
	struct topo_reader *r = &t->r;
	uint64_t mlid, port;

	if (read_mlid(t, &mlid) != HD_OK)
		return r->d->status;
	if (!reader_skip(r, " :"))
		return reader_refuse(r, "expected ' :' and ports");
	for (reader_blanks(r); !reader_at_end(r); reader_blanks(r)) {
		if (!reader_number(r, UINT32_MAX, &port))
			return reader_refuse(r, "expected a port, as 0x003");
		if (set_mcast(t, mlid, port) != HD_OK)
			return r->d->status;
	}
	return HD_OK;
}

/* "6 valid lids dumped": the end of a block. OpenSM counts LIDs, so its count is not compared. */
static enum hd_status read_count(struct tables_reader *t)
{
	struct topo_reader *r = &t->r;
	uint64_t n;

	if (!reader_decimal(r, UINT32_MAX, &n) ||
	    !(reader_skip(r, " valid lids dumped") || reader_skip(r, " lids dumped") ||
	      reader_skip(r, " valid mlids dumped")))
		return reader_refuse(r, "expected an entry or the count of entries");
	if (!t->is_opensm && n != t->n_entries)
		return reader_refuse(r, "%" PRIu64 " entries are said to be there, but %u are", n,
				     t->n_entries);
	t->block = BLOCK_NONE;
	return HD_OK;
}

static bool starts_with(const struct topo_reader *r, const char *text)
{
	size_t len = strlen(text);

	return (size_t)(r->line_end - r->at) >= len && memcmp(r->at, text, len) == 0;
}

/* Headings without data. */
static bool is_heading(const struct topo_reader *r)
{
	return starts_with(r, "LID    :") || starts_with(r, "  Lid  Out") ||
	       starts_with(r, "       Port") || starts_with(r, "     Ports:") ||
	       starts_with(r, " MLid") || starts_with(r, "            ") ||
	       starts_with(r, "*** WARNING ***") || reader_at_end(r);
}

static enum hd_status read_entry(struct tables_reader *t)
{
	bool is_number = starts_with(&t->r, "0x");

	switch (t->block) {
	case BLOCK_LIST:
		return is_number ? read_list_entry(t) : read_count(t);
	case BLOCK_MASK:
		return is_number ? read_mask_entry(t) : read_count(t);
	case BLOCK_FDBS:
		return read_fdbs_entry(t);
	case BLOCK_MCFDBS:
		return read_mcfdbs_entry(t);
	case BLOCK_NONE:
	default:
		return reader_refuse(
			&t->r,
			"expected a forwarding table: of dump_fts, opensm-lfts.dump, opensm.fdbs or opensm.mcfdbs");
	}
}

static enum hd_status read_guid_header(struct tables_reader *t, enum block_kind kind)
{
	uint64_t guid;

	if (!reader_number(&t->r, UINT64_MAX, &guid))
		return reader_refuse(&t->r, "expected the GUID of a switch");
	return start_block(t, kind, guid);
}

static enum hd_status read_line(struct tables_reader *t)
{
	struct topo_reader *r = &t->r;

	if (reader_skip(r, "Unicast lids "))
		return read_header(t, BLOCK_LIST);
	if (reader_skip(r, "Multicast mlids "))
		return read_header(t, BLOCK_MASK);
	if (reader_skip(r, "dump_ucast_routes: Switch "))
		return read_guid_header(t, BLOCK_FDBS);
	if (reader_skip(r, "Switch "))
		return read_guid_header(t, BLOCK_MCFDBS);
	if (is_heading(r))
		return HD_OK;
	return read_entry(t);
}

static enum hd_status read_all(struct tables_reader *t)
{
	while (reader_next_line(&t->r)) {
		if (read_line(t) != HD_OK)
			return t->r.d->status;
	}
	if (t->r.status != HD_OK)
		return t->r.status;
	if (needs_count(t))
		return refuse_unfinished(t);
	if (t->found.n_unicast + t->found.n_multicast == 0)
		return diag_fail_at(t->r.d, HD_ERR_INPUT, t->r.line, 0,
				    "no forwarding table in the file");
	for (switch_id sw = 0; t->found.n_unicast && sw < t->s->n_switches; sw++) {
		if (!t->has_unicast[sw])
			return diag_fail(t->r.d, HD_ERR_INPUT,
					 "the file has no table for the switch '%s'",
					 switch_node(t->s, sw)->name);
	}
	return HD_OK;
}

/* Reads what t->r gives, and ends it. */
static enum hd_status read_tables(struct tables_reader *t, struct tables_found *found)
{
	struct subnet *s = t->s;

	t->has_unicast = hd_alloc(s->n_switches, sizeof(bool));
	t->has_multicast = hd_alloc(s->n_switches, sizeof(bool));
	for (switch_id sw = 0; sw < s->n_switches; sw++)
		map_put(&t->switches, switch_node(s, sw)->guid, sw);
	enum hd_status status = read_all(t);

	if (status == HD_OK) {
		if (t->found.n_multicast)
			mcast_groups_from_tables(s);
		*found = t->found;
	}
	reader_fini(&t->r);
	map_fini(&t->switches);
	free(t->has_unicast);
	free(t->has_multicast);
	return status;
}

enum hd_status tables_read(struct subnet *s, const char *text, size_t len, struct diag *d,
			   struct tables_found *found)
{
	struct tables_reader t = { .s = s };

	reader_init(&t.r, text, len, NULL, d);
	return read_tables(&t, found);
}

enum hd_status tables_read_stream(struct subnet *s, FILE *in, struct diag *d,
				  struct tables_found *found)
{
	struct tables_reader t = { .s = s };

	reader_init_stream(&t.r, in, d);
	return read_tables(&t, found);
}
