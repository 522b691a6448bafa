/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/json.h"
#include "subnet/multicast/mcast.h"
#include "subnet/routing/order.h"
#include "subnet/tables/tables.h"

static void json_lft(const struct subnet *s, switch_id sw, struct json *w)
{
	unsigned sub = subnet_of_switch(s, sw);

	/* Ports by LID from 0; null: no path. */
	json_key(w, "lft");
	json_begin_array(w);
	for (uint32_t lid = 0; lid <= s->top_lid[sub]; lid++) {
		uint8_t port = lft_get(s, sw, (lid_t)lid);

		if (port == LFT_NO_PORT)
			json_none(w);
		else
			json_uint(w, port);
	}
	json_end(w);
}

static void json_mft(const struct subnet *s, switch_id sw, struct json *w)
{
	json_key(w, "mft");
	json_begin_object(w);
	const struct mft *m = &s->mft[subnet_of_switch(s, sw)];

	for (uint32_t i = 0; i < m->n_mlids; i++) {
		lid_t mlid = (lid_t)(LID_FIRST_MCAST + i);
		const uint64_t *row = mft_get(m, sw, s->n_switches, mlid);
		char key[16];

		snprintf(key, sizeof(key), "0x%04x", mlid);
		json_key(w, key);
		json_begin_array(w);
		for (unsigned n = 0; n <= switch_node(s, sw)->n_ports; n++) {
			if (mcast_has_port(row, n))
				json_uint(w, n);
		}
		json_end(w);
	}
	json_end(w);
}

static void json_hex(struct json *w, const char *key, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%016" PRIx64, value);
	json_put_text(w, key, text);
}

static void json_ports(const struct subnet *s, struct json *w)
{
	port_id *ports = hd_alloc(s->topo->n_ports, sizeof(*ports));
	uint32_t n = order_ports_by_node(s, ports);

	json_key(w, "ports");
	json_begin_array(w);
	for (uint32_t i = 0; i < n; i++) {
		const struct topo_port *p = &s->topo->ports[ports[i]];

		json_begin_object(w);
		json_put_text(w, "node", s->topo->nodes[p->node].name);
		json_put_uint(w, "port", p->number);
		json_hex(w, "guid", order_port_guid(s->topo, ports[i]));
		json_put_uint(w, "subnet", p->subnet);
		json_hex(w, "gid prefix", subnet_gid_prefix(s, ports[i]));
		json_put_uint(w, "lid", s->lid_of_port[ports[i]]);
		json_put_uint(w, "lmc", s->lmc_of_port[ports[i]]);
		if (s->sl_row && s->sl_row[ports[i]] != TOPO_NONE)
			json_put_uint(w, "sl row", s->sl_row[ports[i]]);
		json_end(w);
	}
	json_end(w);
	free(ports);
}

/* The last LID of each row: of the subnet that its source ports are in. */
static lid_t *top_of_rows(const struct subnet *s)
{
	lid_t *top = hd_alloc(s->n_sl_rows, sizeof(*top));

	for (port_id p = 0; p < s->topo->n_ports; p++) {
		uint32_t row = s->sl_row ? s->sl_row[p] : TOPO_NONE;

		if (row != TOPO_NONE)
			top[row] = s->top_lid[s->topo->ports[p].subnet];
	}
	return top;
}

/* By row of the source port, then by LID from 0. */
static void json_path_sls(const struct subnet *s, struct json *w)
{
	lid_t *top = top_of_rows(s);

	json_key(w, "path sls");
	json_begin_array(w);
	for (uint32_t i = 0; i < s->n_sl_rows; i++) {
		json_begin_array(w);
		for (uint32_t lid = 0; lid <= top[i]; lid++)
			json_uint(w, s->sl_of_path[(size_t)i * s->lft_stride + lid]);
		json_end(w);
	}
	json_end(w);
	free(top);
}

void tables_write_json(const struct subnet *s, struct strbuf *out)
{
	struct json w;

	json_init(&w, out);
	json_begin_object(&w);
	json_put_text(&w, "engine", s->engine ? s->engine : "");
	json_put_uint(&w, "vls", s->vls_used);
	json_ports(s, &w);
	if (s->sl_of_path)
		json_path_sls(s, &w);
	json_key(&w, "switches");
	json_begin_array(&w);
	for (switch_id sw = 0; sw < s->n_switches; sw++) {
		json_begin_object(&w);
		json_put_text(&w, "name", switch_node(s, sw)->name);
		json_hex(&w, "guid", switch_node(s, sw)->guid);
		json_put_uint(&w, "subnet", subnet_of_switch(s, sw));
		json_lft(s, sw, &w);
		json_mft(s, sw, &w);
		json_end(&w);
	}
	json_end(&w);
	json_end(&w);
	strbuf_putc(out, '\n');
}
