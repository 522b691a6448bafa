/* SPDX-License-Identifier: BSD-2-Clause */
#include "subnet/routing/vls.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/map.h"
#include "subnet/routing/order.h"
#include "topo/reader.h"

static const char ruler[] = "#--------------------------------------------------------\n";

static const char *const kind_names[] = {
	[NODE_CA] = "Channel Adapter",
	[NODE_SWITCH] = "Switch",
	[NODE_ROUTER] = "Router",
};

static void write_row(struct strbuf *out, unsigned in, unsigned port, const struct sl2vl *vls)
{
	strbuf_printf(out, "%-3u %-3u :", in, port);
	for (unsigned sl = 0; sl < N_SLS; sl++)
		strbuf_printf(out, sl + 1 < N_SLS ? " %-2u" : " %u", vls->vl[sl]);
	strbuf_putc(out, '\n');
}

static void write_rows(const struct subnet *s, port_id p, struct strbuf *out)
{
	const struct topo_node *v = topo_node_of(s->topo, p);
	switch_id sw = s->switch_of_node[s->topo->ports[p].node];

	if (sw == TOPO_NONE) {
		write_row(out, 0, 0, sl2vl_of(s, p));
		return;
	}
	for (unsigned port = 1; port <= v->n_ports; port++) {
		if (s->topo->ports[v->first_port + port].peer == TOPO_NONE)
			continue;
		for (unsigned in = 0; in <= v->n_ports; in++)
			write_row(out, in, port, sl2vl_at(s, sw, in, port));
	}
}

void sl2vl_write(const struct subnet *s, struct strbuf *out)
{
	port_id *ports = hd_alloc(s->topo->n_ports, sizeof(*ports));
	uint32_t n = order_ports_by_guid(s, ports);

	for (uint32_t i = 0; i < n; i++) {
		const struct topo_node *v = topo_node_of(s->topo, ports[i]);

		strbuf_printf(out, "%s 0x%016" PRIx64 ", base LID %u, \"%s", kind_names[v->kind],
			      order_port_guid(s->topo, ports[i]), s->lid_of_port[ports[i]],
			      v->name);
		strbuf_puts(out, "\"\n#in out :");
		for (unsigned sl = 0; sl < N_SLS; sl++)
			strbuf_printf(out, sl + 1 < N_SLS ? " %-2u" : " %u", sl);
		strbuf_putc(out, '\n');
		strbuf_puts(out, ruler);
		write_rows(s, ports[i], out);
		strbuf_puts(out, ruler);
		strbuf_putc(out, '\n');
	}
	free(ports);
}

struct vls_reader {
	struct topo_reader r;
	struct subnet *s;
	struct map ports; /* by GUID */
	port_id at;       /* owner of the next rows, or TOPO_NONE */
	bool any;
};

/* "Switch 0x..., base LID 2, "leaf1"" */
static enum hd_status read_heading(struct vls_reader *l)
{
	uint64_t guid;

	if (!reader_number(&l->r, UINT64_MAX, &guid) || !reader_skip(&l->r, ", base LID "))
		return reader_refuse(&l->r, "expected a GUID and ', base LID '");
	l->at = map_get(&l->ports, guid);
	if (l->at == MAP_NONE)
		return reader_refuse(&l->r, "no port of the fabric has the GUID 0x%016" PRIx64,
				     guid);
	l->any = true;
	return HD_OK;
}

static enum hd_status read_vls(struct vls_reader *l, struct sl2vl *vls)
{
	for (unsigned sl = 0; sl < N_SLS; sl++) {
		uint64_t vl;

		reader_blanks(&l->r);
		if (!reader_decimal(&l->r, VL_MANAGEMENT, &vl))
			return reader_refuse(&l->r, "expected the VL of SL %u, 0 to 15", sl);
		vls->vl[sl] = (uint8_t)vl;
	}
	if (!reader_at_end(&l->r))
		return reader_refuse(&l->r, "more than 16 VLs");
	return HD_OK;
}

/* "0   1   : 0  1  2 ..." */
static enum hd_status read_row(struct vls_reader *l)
{
	struct topo_reader *r = &l->r;
	uint64_t in, out;
	struct sl2vl vls;

	if (l->at == TOPO_NONE)
		return reader_refuse(r, "expected a table as in opensm-sl2vl.dump");
	bool numbers = reader_decimal(r, UINT32_MAX, &in);

	reader_blanks(r);
	numbers = numbers && reader_decimal(r, UINT32_MAX, &out);
	reader_blanks(r);
	if (!numbers || !reader_skip(r, ":"))
		return reader_refuse(r, "expected ports 'in out :'");
	const struct topo_node *v = topo_node_of(l->s->topo, l->at);
	switch_id sw = l->s->switch_of_node[l->s->topo->ports[l->at].node];

	if (in > v->n_ports || out > v->n_ports)
		return reader_refuse(r, "ports %" PRIu64 " and %" PRIu64 ", but '%s' has %u ports",
				     in, out, v->name, v->n_ports);
	if (read_vls(l, &vls) != HD_OK)
		return r->d->status;
	if (sw == TOPO_NONE)
		subnet_set_port_sl2vl(l->s, l->at, &vls);
	else
		subnet_set_sl2vl(l->s, sw, (unsigned)in, (unsigned)out, &vls);
	if (l->s->n_sl2vl_tables > SUBNET_MOST_SL2VL)
		return reader_refuse(r, "more than %d different tables", SUBNET_MOST_SL2VL);
	return HD_OK;
}

static enum hd_status read_line(struct vls_reader *l)
{
	if (reader_at_end(&l->r) || reader_skip(&l->r, "#"))
		return HD_OK;
	for (size_t i = 0; i < 3; i++) {
		if (reader_skip(&l->r, kind_names[i]) && reader_skip(&l->r, " "))
			return read_heading(l);
	}
	return read_row(l);
}

enum hd_status sl2vl_read(struct subnet *s, const char *text, size_t len, struct diag *d)
{
	struct vls_reader l = { .s = s, .at = TOPO_NONE };
	port_id *ports = hd_alloc(s->topo->n_ports, sizeof(*ports));
	uint32_t n = order_ports_by_node(s, ports);
	enum hd_status status = HD_OK;

	for (uint32_t i = 0; i < n; i++)
		map_put(&l.ports, order_port_guid(s->topo, ports[i]), ports[i]);
	reader_init(&l.r, text, len, NULL, d);
	while (status == HD_OK && reader_next_line(&l.r))
		status = read_line(&l);
	if (status == HD_OK && !l.any)
		status = diag_fail(d, HD_ERR_INPUT, "no SL2VL table in the file");
	reader_fini(&l.r);
	map_fini(&l.ports);
	free(ports);
	return status;
}
