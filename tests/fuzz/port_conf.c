/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables of ports: what is accepted fits the VLs of the file, is found by its
 * port, and reads back alike when it is written. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/iba.h"
#include "qos/opensm/port_conf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void check_entries(const struct vlarb_entry *e, unsigned n, unsigned vls)
{
	must(n <= VLARB_MAX);
	for (unsigned i = 0; i < n; i++)
		must(e[i].vl < vls);
}

/* An empty list is written as one entry without weight. */
static void check_same(const struct vlarb_entry *a, unsigned n_a, const struct vlarb_entry *b,
		       unsigned n_b)
{
	must(n_a == n_b || (n_a == 0 && n_b == 1 && b->weight == 0));
	must(memcmp(a, b, n_a * sizeof(*a)) == 0);
}

static void write_row(const struct port_table *row, struct strbuf *out)
{
	strbuf_printf(out, "port 0x%llx %u\nqos_high_limit %u\n", (unsigned long long)row->node,
		      row->port, row->vlarb.high_limit);
	opensm_export_vlarb("qos_", "vlarb_high", row->vlarb.high, row->vlarb.n_high, out);
	opensm_export_vlarb("qos_", "vlarb_low", row->vlarb.low, row->vlarb.n_low, out);
	opensm_export_sl2vl("qos_", &row->sl2vl, out);
}

static void check(const struct port_tables *t)
{
	struct diag d = { .status = HD_OK };
	struct strbuf out = STRBUF_INIT;
	struct port_tables again;

	strbuf_printf(&out, "heddle-port-tables 1\nmax_op_vls %u\n", code_of_vls(t->vls));
	for (size_t i = 0; i < t->n; i++) {
		const struct port_table *row = &t->rows[i];

		check_entries(row->vlarb.high, row->vlarb.n_high, t->vls);
		check_entries(row->vlarb.low, row->vlarb.n_low, t->vls);
		must(port_tables_find(t, row->node, row->port) == row);
		write_row(row, &out);
	}
	must(port_conf_read(out.text, &d, &again) == HD_OK);
	must(again.n == t->n && again.vls == t->vls);
	for (size_t i = 0; i < t->n; i++) {
		const struct vlarb *a = &t->rows[i].vlarb, *b = &again.rows[i].vlarb;

		check_same(a->high, a->n_high, b->high, b->n_high);
		check_same(a->low, a->n_low, b->low, b->n_low);
		must(a->high_limit == b->high_limit);
		must(memcmp(&t->rows[i].sl2vl, &again.rows[i].sl2vl, sizeof(struct sl2vl)) == 0);
	}
	port_tables_fini(&again);
	strbuf_fini(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct diag d = { .status = HD_OK };
	char *text = hd_alloc(size + 1, 1);
	struct port_tables t;

	memcpy(text, data, size);
	if (port_conf_read(text, &d, &t) == HD_OK) {
		check(&t);
		port_tables_fini(&t);
	} else {
		must(d.line > 0);
	}
	free(text);
	return 0;
}
