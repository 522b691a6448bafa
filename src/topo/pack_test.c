/* SPDX-License-Identifier: BSD-2-Clause */
#include "topo/pack.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "topo/generate.h"

static const char *const recipes[] = {
	"star --hosts=3",
	"fat-tree --radix=4 --levels=3",
	"torus --sizes=3x3",
	"dragonfly --routers=2 --hosts=1 --globals=1",
	"irregular --switches=7 --hosts=2",
	"routed",
};
enum { N_RECIPES = sizeof(recipes) / sizeof(recipes[0]) };

static void make(const char *recipe, struct topo *t)
{
	struct diag d = { .status = HD_OK };

	if (topo_generate_text(recipe, 1, 0, &d, t) != HD_OK)
		fail_msg("%s: %s", recipe, d.message);
	/* Members that only files set. */
	t->nodes[0].is_tca = true;
	t->nodes[0].vendor = 0x2c9;
	t->ports[1].lid = 77;
	t->ports[1].lmc = 3;
}

static void same_node(const struct topo_node *a, const struct topo_node *b)
{
	assert_int_equal(a->kind, b->kind);
	assert_int_equal(a->is_tca, b->is_tca);
	assert_int_equal(a->enhanced_port0, b->enhanced_port0);
	assert_int_equal(a->guid, b->guid);
	assert_int_equal(a->system_guid, b->system_guid);
	assert_int_equal(a->vendor, b->vendor);
	assert_int_equal(a->device, b->device);
	assert_string_equal(a->name, b->name);
	assert_int_equal(a->first_port, b->first_port);
	assert_int_equal(a->n_ports, b->n_ports);
	assert_int_equal(a->tier, b->tier);
	assert_memory_equal(a->coord, b->coord, sizeof(a->coord));
}

static void same_port(const struct topo_port *a, const struct topo_port *b)
{
	assert_int_equal(a->node, b->node);
	assert_int_equal(a->peer, b->peer);
	assert_int_equal(a->guid, b->guid);
	assert_int_equal(a->speeds, b->speeds);
	assert_int_equal(a->subnet, b->subnet);
	assert_int_equal(a->lid, b->lid);
	assert_int_equal(a->lmc, b->lmc);
	assert_int_equal(a->number, b->number);
	assert_int_equal(a->widths, b->widths);
	assert_int_equal(a->vls, b->vls);
	assert_int_equal(a->mtu, b->mtu);
}

static void reads_back_what_was_written(void **state)
{
	(void)state;
	for (unsigned i = 0; i < N_RECIPES; i++) {
		struct strbuf bytes = STRBUF_INIT;
		struct topo t, back;
		struct pack p;

		make(recipes[i], &t);
		pack_to(&p, &bytes);
		topo_pack(&p, &t);
		pack_from(&p, bytes.text, bytes.len);
		topo_pack(&p, &back);
		assert_true(pack_is_done(&p));
		assert_int_equal(back.n_nodes, t.n_nodes);
		assert_int_equal(back.n_ports, t.n_ports);
		assert_int_equal(back.n_subnets, t.n_subnets);
		for (node_id v = 0; v < t.n_nodes; v++)
			same_node(&t.nodes[v], &back.nodes[v]);
		for (port_id q = 0; q < t.n_ports; q++)
			same_port(&t.ports[q], &back.ports[q]);
		topo_fini(&t);
		topo_fini(&back);
		strbuf_fini(&bytes);
	}
}

/* Cut anywhere it is refused; changed, refused or a fabric that holds. */
static void anything_else_is_refused_or_a_fabric(void **state)
{
	struct strbuf bytes = STRBUF_INIT;
	struct topo t;
	struct pack p;
	struct rng r;

	(void)state;
	rng_init(&r, 1, 0);
	make(recipes[1], &t);
	pack_to(&p, &bytes);
	topo_pack(&p, &t);
	topo_fini(&t);
	for (size_t n = 0; n < bytes.len; n += 7) {
		pack_from(&p, bytes.text, n);
		topo_pack(&p, &t);
		assert_true(p.refused);
		topo_fini(&t);
	}
	for (unsigned i = 0; i < 2000; i++) {
		size_t at = rng_below(&r, bytes.len);
		char old = bytes.text[at];

		bytes.text[at] = (char)rng_below(&r, 256);
		pack_from(&p, bytes.text, bytes.len);
		topo_pack(&p, &t);
		for (port_id q = 0; q < t.n_ports; q++)
			if (t.ports[q].peer != TOPO_NONE)
				assert_int_equal(t.ports[t.ports[q].peer].peer, q);
		topo_fini(&t);
		bytes.text[at] = old;
	}
	strbuf_fini(&bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_back_what_was_written),
		cmocka_unit_test(anything_else_is_refused_or_a_fabric),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
