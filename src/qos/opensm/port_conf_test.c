/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/opensm/port_conf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/rng.h"
#include "base/seeds_for_tests.h"
#include "qos/admission/fabric_for_tests.h"

enum { VLS = 8 };

#define HEAD   "heddle-port-tables 1\nmax_op_vls 4\n"
#define PORT   "port 0x1a 1\n"
#define LIMIT  "qos_high_limit 255\n"
#define HIGH   "qos_vlarb_high 7:255\n"
#define LOW    "qos_vlarb_low 0:4,1:0,0:9\n"
#define MAP    "qos_sl2vl 0,1,2,3,4,5,6,7,0,1,2,3,4,5,6,15\n"
#define TABLES LIMIT HIGH LOW MAP

static void every_field_of_a_port_is_read(void **state)
{
	struct diag d = { .status = HD_OK };
	struct port_tables t;

	(void)state;
	assert_int_equal(port_conf_read(HEAD "\n# a comment\n"
					     "port 0x2 3 # h1\n" LIMIT LOW MAP HIGH "port 0x1A 1\n"
					     "qos_sl2vl 1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1\n"
					     "qos_vlarb_low 5:6 # why\nqos_vlarb_high 0:0\n"
					     "qos_high_limit 0",
					&d, &t),
			 HD_OK);
	assert_int_equal(t.vls, 8);
	assert_int_equal(t.n, 2);
	const struct port_table *a = port_tables_find(&t, 2, 3), *b = port_tables_find(&t, 0x1a, 1);

	assert_non_null(a);
	assert_non_null(b);
	assert_null(port_tables_find(&t, 2, 1));
	assert_null(port_tables_find(&t, 0x1a, 2));
	assert_int_equal(a->line, 5);
	assert_int_equal(a->vlarb.high_limit, 255);
	assert_int_equal(a->vlarb.n_high, 1);
	assert_int_equal(a->vlarb.high[0].vl, 7);
	assert_int_equal(a->vlarb.high[0].weight, 255);
	assert_int_equal(a->vlarb.n_low, 3);
	assert_int_equal(a->vlarb.low[1].weight, 0);
	assert_int_equal(a->vlarb.low[2].weight, 9);
	assert_int_equal(a->sl2vl.vl[9], 1);
	assert_int_equal(a->sl2vl.vl[15], 15);
	assert_int_equal(b->vlarb.high_limit, 0);
	assert_int_equal(b->vlarb.low[0].vl, 5);
	assert_int_equal(b->sl2vl.vl[0], 1);
	port_tables_fini(&t);
}

static void malformed_texts_are_refused_at_their_line(void **state)
{
	static const struct {
		const char *text;
		unsigned line;
	} cases[] = {
		{ "", 1 },
		{ "qos TRUE\n" LOW, 1 },
		{ "heddle-port-tables 2\nmax_op_vls 4\n" PORT TABLES, 1 },
		{ HEAD, 3 },
		{ "heddle-port-tables 1\n" PORT TABLES, 2 },
		{ "heddle-port-tables 1\nmax_op_vls 6\n" PORT TABLES, 2 },
		{ HEAD "qos TRUE\n" PORT TABLES, 2 },
		{ HEAD "port 1a 1\n" TABLES, 3 },
		{ HEAD "port 0x 1\n" TABLES, 3 },
		{ HEAD "port 0x11112222333344445 1\n" TABLES, 3 },
		{ HEAD "port 0x1a\n" TABLES, 3 },
		{ HEAD "port 0x1a 0\n" TABLES, 3 },
		{ HEAD "port 0x1a 255\n" TABLES, 3 },
		{ HEAD "port 0x1a 1 h0\n" TABLES, 3 },
		{ HEAD PORT HIGH LOW MAP, 3 },
		{ HEAD PORT LIMIT LOW MAP, 3 },
		{ HEAD PORT LIMIT HIGH MAP, 3 },
		{ HEAD PORT LIMIT HIGH LOW, 3 },
		{ HEAD PORT TABLES LOW, 3 },
		{ HEAD PORT TABLES "qos_max_vls 8\n", 3 },
		{ HEAD PORT LIMIT HIGH LOW "qos_ca_sl2vl 0\n", 3 },
		{ HEAD PORT TABLES "qos_vlarb 0:1\n", 8 },
		{ HEAD PORT "qos_high_limit 256\n" HIGH LOW MAP, 4 },
		{ HEAD PORT "qos_high_limit -1\n" HIGH LOW MAP, 4 },
		{ HEAD PORT "qos_high_limit all\n" HIGH LOW MAP, 4 },
		{ HEAD PORT LIMIT "qos_vlarb_high 8:1\n" LOW MAP, 5 },
		{ HEAD PORT LIMIT HIGH "qos_vlarb_low 0:256\n" MAP, 6 },
		{ HEAD PORT LIMIT HIGH "qos_vlarb_low 4294967296:1\n" MAP, 6 },
		{ HEAD PORT LIMIT HIGH "qos_vlarb_low 0:4294967297\n" MAP, 6 },
		{ HEAD PORT LIMIT HIGH "qos_vlarb_low -1:1\n" MAP, 6 },
		{ HEAD PORT LIMIT HIGH "qos_vlarb_low 0:010\n" MAP, 6 },
		{ HEAD PORT LIMIT HIGH "qos_vlarb_low 0,1\n" MAP, 6 },
		{ HEAD PORT LIMIT HIGH "qos_vlarb_low 0:1;1:1\n" MAP, 6 },
		{ HEAD PORT LIMIT HIGH LOW "qos_sl2vl 0,1,2\n", 7 },
		{ HEAD PORT LIMIT HIGH LOW "qos_sl2vl 0,1,2,3,4,5,6,7,0,1,2,3,4,5,6,8\n", 7 },
		{ HEAD PORT LIMIT HIGH LOW "qos_sl2vl 0,1,2,3,4,5,6,7,0,1,2,3,4,5,6,a\n", 7 },
		{ HEAD PORT TABLES "port 0x1b 1\n" TABLES "port 0x01A 1\n" TABLES, 13 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct diag d = { .status = HD_OK };
		struct port_tables t;

		if (port_conf_read(cases[i].text, &d, &t) != HD_ERR_INPUT ||
		    d.line != cases[i].line)
			fail_msg("case %zu: line %u, not %u: %s", i, d.line, cases[i].line,
				 d.message);
	}
}

/* The 65th entry, and a line that OpenSM's reader would cut. */
static void long_lists_are_refused(void **state)
{
	(void)state;
	for (unsigned n = VLARB_MAX; n <= 400; n += n == VLARB_MAX ? 1 : 335) {
		struct diag d = { .status = HD_OK };
		struct strbuf text = STRBUF_INIT;
		struct port_tables t;

		strbuf_puts(&text, HEAD PORT LIMIT HIGH MAP "qos_vlarb_low 0:1");
		for (unsigned i = 1; i < n; i++)
			strbuf_puts(&text, ",0:1");
		strbuf_puts(&text, "\n");
		if (n == VLARB_MAX) {
			assert_int_equal(port_conf_read(text.text, &d, &t), HD_OK);
			assert_int_equal(t.rows[0].vlarb.n_low, VLARB_MAX);
			port_tables_fini(&t);
		} else {
			assert_int_equal(port_conf_read(text.text, &d, &t), HD_ERR_INPUT);
			assert_int_equal(d.line, 7);
		}
		strbuf_fini(&text);
	}
}

static uint8_t draw_entries(struct rng *rng, struct vlarb_entry *out)
{
	const uint8_t n = (uint8_t)(1 + rng_below(rng, VLARB_MAX));

	for (unsigned i = 0; i < n; i++)
		out[i] = (struct vlarb_entry){ (uint8_t)rng_below(rng, VLS),
					       (uint8_t)rng_below(rng, 256) };
	return n;
}

/* Draws a random map for each port, and random tables. */
static struct vlarb *draw_tables(struct routed_fabric *f, struct rng *rng)
{
	struct vlarb *tables = hd_alloc(f->topo.n_ports, sizeof(*tables));

	for (port_id p = 0; p < f->topo.n_ports; p++) {
		node_id node = f->topo.ports[p].node;
		struct sl2vl map;

		for (unsigned sl = 0; sl < N_SLS; sl++)
			map.vl[sl] = (uint8_t)rng_below(rng, VLS);
		tables[p].n_high = draw_entries(rng, tables[p].high);
		tables[p].n_low = draw_entries(rng, tables[p].low);
		tables[p].high_limit = (uint8_t)rng_below(rng, 256);
		if (!topo_is_switch(&f->topo, node))
			subnet_set_port_sl2vl(&f->subnet, p, &map);
		for (unsigned in = 0;
		     topo_is_switch(&f->topo, node) && in <= f->topo.nodes[node].n_ports; in++)
			subnet_set_sl2vl(&f->subnet, f->subnet.switch_of_node[node], in,
					 f->topo.ports[p].number, &map);
	}
	return tables;
}

static void assert_same_entries(const struct vlarb_entry *a, unsigned n_a,
				const struct vlarb_entry *b, unsigned n_b)
{
	assert_int_equal(n_a, n_b);
	for (unsigned i = 0; i < n_a; i++) {
		assert_int_equal(a[i].vl, b[i].vl);
		assert_int_equal(a[i].weight, b[i].weight);
	}
}

static void assert_same_port(const struct subnet *a, const struct vlarb *tables,
			     const struct subnet *b, port_id p)
{
	const struct topo *t = a->topo;
	node_id node = t->ports[p].node;
	const struct vlarb *x = &tables[p], *y = vlarb_of(b, p);

	assert_int_equal(x->high_limit, y->high_limit);
	assert_same_entries(x->high, x->n_high, y->high, y->n_high);
	assert_same_entries(x->low, x->n_low, y->low, y->n_low);
	if (!topo_is_switch(t, node)) {
		assert_memory_equal(sl2vl_of(a, p), sl2vl_of(b, p), N_SLS);
		return;
	}
	for (unsigned in = 0; in <= t->nodes[node].n_ports; in++)
		assert_memory_equal(sl2vl_at(a, a->switch_of_node[node], in, t->ports[p].number),
				    sl2vl_at(b, b->switch_of_node[node], in, t->ports[p].number),
				    N_SLS);
}

/* Tables are written, read, and applied to the same fabric without them. */
static void tables_go_through_a_file_unchanged(void **state)
{
	const unsigned cases = cases_of_run(20, 400);
	struct rng rng;

	(void)state;
	rng_init(&rng, seed_of_run(3701), 0);
	for (unsigned i = 0; i < cases; i++) {
		struct diag d = { .status = HD_OK };
		struct routed_fabric from, to;
		struct strbuf text = STRBUF_INIT;
		struct port_tables t;
		size_t n, cables = 0;

		routed_init(&from, "routed", 2 + i % 3, 2);
		routed_init(&to, "routed", 2 + i % 3, 2);
		subnet_limit_vls(&from.subnet, VLS);
		subnet_limit_vls(&to.subnet, VLS);
		struct vlarb *tables = draw_tables(&from, &rng);

		routed_must(port_conf_write(&from.subnet, tables, &d, &text), &d);
		routed_must(port_conf_read(text.text, &d, &t), &d);
		assert_int_equal(t.vls, VLS);
		routed_must(port_tables_cover(&t, &to.topo, &d), &d);
		routed_must(port_tables_apply(&t, &to.subnet, &d, &n), &d);
		for (port_id p = 0; p < to.topo.n_ports; p++) {
			if (to.topo.ports[p].peer == TOPO_NONE)
				continue;
			assert_same_port(&from.subnet, tables, &to.subnet, p);
			cables++;
		}
		assert_int_equal(n, cables);
		assert_int_equal(t.n, cables);
		free(tables);
		port_tables_fini(&t);
		strbuf_fini(&text);
		routed_fini(&from);
		routed_fini(&to);
	}
}

static void tables_that_ports_cannot_have_are_refused(void **state)
{
	struct strbuf text = STRBUF_INIT;
	struct routed_fabric f;
	struct port_tables t;
	struct diag d = { .status = HD_OK };
	size_t n = 77;

	(void)state;
	routed_init(&f, "routed", 2, 2);
	subnet_limit_vls(&f.subnet, VLS);
	struct vlarb *tables = hd_alloc(f.topo.n_ports, sizeof(*tables));

	for (port_id p = 0; p < f.topo.n_ports; p++)
		tables[p] = vlarb_default(VLS);
	routed_must(port_conf_write(&f.subnet, tables, &d, &text), &d);
	routed_must(port_conf_read(text.text, &d, &t), &d);
	/* A port that has fewer VLs. */
	subnet_limit_vls(&f.subnet, VLS / 2);
	assert_int_equal(port_tables_apply(&t, &f.subnet, &d, &n), HD_ERR_UNFIT);
	assert_int_equal(n, 77);
	subnet_limit_vls(&f.subnet, VLS);
	/* A row that no port has, and a port that no row has. */
	t.n--;
	d.status = HD_OK;
	assert_int_equal(port_tables_cover(&t, &f.topo, &d), HD_ERR_UNFIT);
	t.n++;
	t.rows[t.n - 1].node++;
	d.status = HD_OK;
	assert_int_equal(port_tables_cover(&t, &f.topo, &d), HD_ERR_UNFIT);
	/* A routing algorithm that chooses VLs. */
	f.subnet.vls_by_engine = true;
	d.status = HD_OK;
	assert_int_equal(port_tables_apply(&t, &f.subnet, &d, &n), HD_ERR_UNFIT);
	d.status = HD_OK;
	assert_int_equal(port_conf_write(&f.subnet, tables, &d, &text), HD_ERR_UNFIT);
	port_tables_fini(&t);
	strbuf_fini(&text);
	free(tables);
	routed_fini(&f);
}

static void inexpressible_tables_are_refused(void **state)
{
	struct strbuf text = STRBUF_INIT;
	struct routed_fabric f;
	struct diag d = { .status = HD_OK };
	port_id out = 0;

	(void)state;
	routed_init(&f, "routed", 2, 2);
	struct vlarb *tables = hd_alloc(f.topo.n_ports, sizeof(*tables));
	/* SLs go elsewhere for packets from one port. */
	const struct sl2vl other = { .vl = { 3 } };

	while (!topo_is_switch(&f.topo, f.topo.ports[out].node) ||
	       f.topo.ports[out].peer == TOPO_NONE)
		out++;
	const unsigned number = f.topo.ports[out].number;

	subnet_set_sl2vl(&f.subnet, f.subnet.switch_of_node[f.topo.ports[out].node],
			 number == 1 ? 2 : 1, number, &other);
	assert_int_equal(port_conf_write(&f.subnet, tables, &d, &text), HD_ERR_UNFIT);
	assert_non_null(strstr(d.message, "input port"));
	routed_fini(&f);
	routed_init(&f, "routed", 2, 2);
	d = (struct diag){ .status = HD_OK };
	f.topo.nodes[f.topo.ports[out].node].guid = 0;
	assert_int_equal(port_conf_write(&f.subnet, tables, &d, &text), HD_ERR_UNFIT);
	assert_non_null(strstr(d.message, "no GUID"));
	strbuf_fini(&text);
	free(tables);
	routed_fini(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_field_of_a_port_is_read),
		cmocka_unit_test(malformed_texts_are_refused_at_their_line),
		cmocka_unit_test(long_lists_are_refused),
		cmocka_unit_test(tables_go_through_a_file_unchanged),
		cmocka_unit_test(tables_that_ports_cannot_have_are_refused),
		cmocka_unit_test(inexpressible_tables_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
