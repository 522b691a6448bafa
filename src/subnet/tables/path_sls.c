/* SPDX-License-Identifier: BSD-2-Clause */
#include "subnet/tables/path_sls.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "subnet/routing/order.h"
#include "topo/reader.h"

#define LID_UNSAID UINT64_MAX

/* A record of saquery, as far as it has been read. */
struct sls_record {
	uint64_t slid, dlid, sl;
	uint32_t line;
	bool open;
};

struct sls_reader {
	struct topo_reader r;
	struct subnet *s;
	struct map ports; /* by GUID */
	uint8_t **rows;   /* per port_id; NULL until it is a source */
	port_id source;   /* of the lines that follow; TOPO_NONE: none */
	struct sls_record record;
	uint64_t n_records;
};

static uint8_t *row_of(struct sls_reader *l, port_id source)
{
	if (!l->rows[source]) {
		l->rows[source] = hd_alloc(l->s->lft_stride, 1);
		memset(l->rows[source], SL_UNKNOWN, l->s->lft_stride);
	}
	return l->rows[source];
}

static enum hd_status refuse_at(struct sls_reader *l, uint32_t line, const char *what,
				uint64_t value)
{
	return diag_fail_at(l->r.d, HD_ERR_INPUT, line, 0, "%s %" PRIu64, what, value);
}

static port_id owner_of(const struct sls_reader *l, uint64_t lid)
{
	return lid <= l->s->top_lid[0] ? l->s->port_of_lid[0][lid] : TOPO_NONE;
}

static enum hd_status set_sl(struct sls_reader *l, uint32_t line, port_id source, uint64_t dlid,
			     uint64_t sl)
{
	if (owner_of(l, dlid) == TOPO_NONE)
		return refuse_at(l, line, "no port of the fabric has the LID", dlid);
	if (sl >= N_SLS)
		return refuse_at(l, line, "expected an SL, 0 to 15, not", sl);
	uint8_t *at = &row_of(l, source)[dlid];

	if (*at != SL_UNKNOWN && *at != sl)
		return diag_fail_at(l->r.d, HD_ERR_INPUT, line, 0,
				    "SL %" PRIu64 " from '%s' to LID %" PRIu64
				    ", which had SL %u before",
				    sl, topo_node_of(l->s->topo, source)->name, dlid, *at);
	*at = (uint8_t)sl;
	l->n_records++;
	return HD_OK;
}

/* Evaluates the output of saquery between two headings. */
static enum hd_status end_record(struct sls_reader *l)
{
	const struct sls_record *x = &l->record;

	if (!x->open)
		return HD_OK;
	l->record.open = false;
	if (x->slid == LID_UNSAID || x->dlid == LID_UNSAID || x->sl == LID_UNSAID)
		return diag_fail_at(l->r.d, HD_ERR_INPUT, x->line, 0,
				    "a path record without slid, dlid or sl");
	port_id source = owner_of(l, x->slid);

	if (source == TOPO_NONE)
		return refuse_at(l, x->line, "no port of the fabric has the LID", x->slid);
	return set_sl(l, x->line, source, x->dlid, x->sl);
}

/* "slid....................10": a name, dots, a number. */
static enum hd_status read_field(struct sls_reader *l)
{
	static const char *const names[] = { "slid.", "dlid.", "sl." };
	uint64_t *values[] = { &l->record.slid, &l->record.dlid, &l->record.sl };

	for (size_t i = 0; i < 3; i++) {
		if (!reader_skip(&l->r, names[i]))
			continue;
		while (reader_skip(&l->r, "."))
			;
		if (!reader_number(&l->r, UINT16_MAX, values[i]))
			return reader_refuse(&l->r, "expected a number");
		return HD_OK;
	}
	return HD_OK;
}

/* "Channel Adapter 0x..., base LID 4, "h0", port 1" */
static enum hd_status read_source(struct sls_reader *l)
{
	uint64_t guid;

	if (!reader_number(&l->r, UINT64_MAX, &guid))
		return reader_refuse(&l->r, "expected the GUID of a port");
	l->source = map_get(&l->ports, guid);
	if (l->source == MAP_NONE)
		return reader_refuse(&l->r, "no port of the fabric has the GUID 0x%016" PRIx64,
				     guid);
	return HD_OK;
}

/* "0x0005 : 1  : 4   : 3" or "0x0005 : UNREACHABLE" */
static enum hd_status read_path(struct sls_reader *l)
{
	struct topo_reader *r = &l->r;
	uint64_t dlid, sl;

	if (!reader_number(r, UINT16_MAX, &dlid) || !reader_skip(r, " : "))
		return reader_refuse(
			r,
			"expected a path record of saquery, or a line of opensm-path-records.dump");
	if (reader_skip(r, "UNREACHABLE"))
		return HD_OK;
	if (!reader_decimal(r, UINT16_MAX, &sl))
		return reader_refuse(r, "expected an SL");
	return set_sl(l, r->line, l->source, dlid, sl);
}

static enum hd_status read_line(struct sls_reader *l)
{
	static const char *const kinds[] = { "Channel Adapter ", "Switch ", "Router " };
	struct topo_reader *r = &l->r;

	if (reader_skip(r, "PathRecord dump:")) {
		if (end_record(l) != HD_OK)
			return r->d->status;
		l->record =
			(struct sls_record){ LID_UNSAID, LID_UNSAID, LID_UNSAID, r->line, true };
		return HD_OK;
	}
	for (size_t i = 0; i < 3; i++) {
		if (reader_skip(r, kinds[i]))
			return read_source(l);
	}
	reader_blanks(r);
	if (reader_at_end(r) || *r->at == '#')
		return HD_OK;
	if (l->record.open)
		return read_field(l);
	if (l->source == TOPO_NONE)
		return reader_refuse(
			r, "expected path records: of saquery, or opensm-path-records.dump");
	return read_path(l);
}

/* A row of the ports on the same switch that is the same, or TOPO_NONE. */
static uint32_t same_row(const struct subnet *s, uint8_t *const *rows, port_id p)
{
	const struct topo *t = s->topo;
	switch_id sw = subnet_switch_at(s, p);

	if (sw == TOPO_NONE)
		return TOPO_NONE;
	const struct topo_node *v = switch_node(s, sw);

	for (unsigned k = 1; k <= v->n_ports; k++) {
		port_id other = t->ports[v->first_port + k].peer;

		if (other < p && rows[other] && memcmp(rows[other], rows[p], s->lft_stride) == 0)
			return s->sl_row[other];
	}
	return TOPO_NONE;
}

void path_sls_keep(struct subnet *s, uint8_t *const *rows)
{
	const struct topo *t = s->topo;
	size_t cap = 0;

	subnet_forget_sls(s);
	s->sl_row = hd_alloc(t->n_ports, sizeof(*s->sl_row));
	for (port_id p = 0; p < t->n_ports; p++) {
		s->sl_row[p] = TOPO_NONE;
		if (!rows[p])
			continue;
		s->sl_row[p] = same_row(s, rows, p);
		if (s->sl_row[p] != TOPO_NONE)
			continue;
		s->sl_row[p] = s->n_sl_rows++;
		s->sl_of_path = hd_grow(s->sl_of_path, &cap, s->n_sl_rows, s->lft_stride);
		memcpy(&s->sl_of_path[(size_t)s->sl_row[p] * s->lft_stride], rows[p],
		       s->lft_stride);
	}
	for (size_t i = 0; i < (size_t)s->n_sl_rows * s->lft_stride; i++) {
		if (s->sl_of_path[i] == SL_UNKNOWN)
			s->sl_of_path[i] = 0;
	}
}

/* Pairs of end ports that traffic may have and no record names. */
static uint64_t count_missing(const struct sls_reader *l)
{
	const struct subnet *s = l->s;
	const struct topo *t = s->topo;
	uint64_t n = 0;

	for (port_id p = 0; p < t->n_ports; p++) {
		if (!topo_is_end_port(t, p))
			continue;
		for (uint32_t lid = 1; lid <= s->top_lid[0]; lid++) {
			port_id to = s->port_of_lid[0][lid];

			n += to != TOPO_NONE && to != p && topo_is_end_port(t, to) &&
			     (!l->rows[p] || l->rows[p][lid] == SL_UNKNOWN);
		}
	}
	return n;
}

static enum hd_status read_all(struct sls_reader *l)
{
	while (reader_next_line(&l->r)) {
		if (read_line(l) != HD_OK)
			return l->r.d->status;
	}
	if (l->r.status != HD_OK)
		return l->r.status;
	if (end_record(l) != HD_OK)
		return l->r.d->status;
	if (l->n_records == 0)
		return diag_fail(l->r.d, HD_ERR_INPUT, "no path records in the file");
	return HD_OK;
}

enum hd_status path_sls_read(struct subnet *s, FILE *in, struct diag *d,
			     struct path_sls_found *found)
{
	struct sls_reader l = { .s = s, .source = TOPO_NONE };
	port_id *ports = hd_alloc(s->topo->n_ports, sizeof(*ports));
	uint32_t n = order_ports_by_node(s, ports);

	subnet_forget_sls(s);
	for (uint32_t i = 0; i < n; i++)
		map_put(&l.ports, order_port_guid(s->topo, ports[i]), ports[i]);
	l.rows = hd_alloc(s->topo->n_ports, sizeof(*l.rows));
	reader_init_stream(&l.r, in, d);
	enum hd_status status =
		s->n_subnets == 1 ? read_all(&l)
				  : diag_fail(d, HD_ERR_UNFIT,
					      "path records are of one subnet, the fabric has %u",
					      s->n_subnets);

	if (status == HD_OK) {
		*found = (struct path_sls_found){ l.n_records, count_missing(&l) };
		path_sls_keep(s, l.rows);
	}
	reader_fini(&l.r);
	map_fini(&l.ports);
	for (port_id p = 0; p < s->topo->n_ports; p++)
		free(l.rows[p]);
	free(l.rows);
	free(ports);
	return status;
}
