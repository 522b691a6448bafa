/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/admission/establish.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "subnet/routing/route.h"
#include "topo/generate.h"

/* Paper 000's 16 switches with 4 hosts each, in three shapes. */
struct shape {
	const char *kind, *engine;
	/* Table 2's last row: 1x, packets of 256 and 4096 bytes. */
	uint32_t small, large;
};

static const struct shape shapes[] = {
	{ "irregular", "updn", 2623, 2631 },
	{ "hypercube", "ecube", 2598, 2679 },
	{ "mesh", "xy", 2518, 2598 },
};

struct fabric {
	struct topo topo;
	struct subnet subnet;
};

static void fabric_route(struct fabric *fabric, const struct generator *g,
			 const struct topo_params *p, const char *engine)
{
	struct diag d = { .status = HD_OK };
	struct lid_options lids = { .order = LIDS_NODES, .sm_port = TOPO_NONE };
	struct route_options options = { 0 };
	uint64_t root;

	assert_int_equal(topo_generate(g, p, &d, &fabric->topo), HD_OK);
	subnet_init(&fabric->subnet, &fabric->topo);
	assert_int_equal(subnet_assign_lids(&fabric->subnet, &lids, &d), HD_OK);
	root = fabric->topo.nodes[fabric->subnet.node_of_switch[0]].guid;
	options.roots = &root;
	options.n_roots = 1;
	assert_int_equal(subnet_route(&fabric->subnet, engine, &options, &d), HD_OK);
}

static void fabric_init(struct fabric *fabric, const struct shape *shape, uint64_t seed)
{
	struct diag d = { .status = HD_OK };
	const struct generator *g = generator_find(shape->kind, &d);
	struct topo_params p;

	assert_non_null(g);
	topo_params_init(g, &p);
	p.columns = p.rows = p.dimensions = p.degree = p.hosts = 4;
	p.switches = 16;
	p.seed = seed;
	fabric_route(fabric, g, &p, shape->engine);
}

static void fabric_of_star(struct fabric *fabric, unsigned hosts)
{
	struct diag d = { .status = HD_OK };
	const struct generator *g = generator_find("star", &d);
	struct topo_params p;

	assert_non_null(g);
	topo_params_init(g, &p);
	p.hosts = hosts;
	fabric_route(fabric, g, &p, "minhop");
}

/* Zero hosts and one host are refused; the number of hosts is a divisor. */
static void fewer_than_two_hosts_are_refused(void **state)
{
	(void)state;
	for (unsigned hosts = 0; hosts < 4; hosts++) {
		struct establish_params params = broker_establish_defaults();
		struct broker_params bp = broker_params_default();
		struct establish_result result = { 0 };
		struct diag d = { .status = HD_OK };
		struct fabric fabric;
		struct broker b;

		fabric_of_star(&fabric, hosts);
		params.tried = 7;
		assert_int_equal(broker_init(&b, &fabric.subnet, &bp, &d), HD_OK);
		assert_int_equal(establish(&b, &params, &d, &result),
				 hosts < 2 ? HD_ERR_UNFIT : HD_OK);
		assert_int_equal(result.established, hosts < 2 ? 0 : 7);
		for (uint32_t i = 0; i < b.n_connections; i++) {
			const struct broker_segment *r = &b.connections[i].request.way.segment[0];

			assert_int_not_equal(r->dlid, fabric.subnet.lid_of_port[r->source]);
		}
		broker_fini(&b);
		subnet_fini(&fabric.subnet);
		topo_fini(&fabric.topo);
	}
}

static struct establish_result fill_up(const struct shape *shape, struct establish_params params,
				       enum fill_mode mode)
{
	struct fabric fabric;
	struct broker b;
	struct broker_params bp = broker_params_default();
	struct establish_result result;
	struct diag d = { .status = HD_OK };

	fabric_init(&fabric, shape, params.seed);
	bp.mode = mode;
	bp.floor_sls = 0; /* as in the paper */
	for (port_id p = 0; p < fabric.topo.n_ports; p++) {
		if (fabric.subnet.rate_of_port[p].num)
			fabric.subnet.rate_of_port[p] = hd_rate_make(2500000000, 1);
	}
	assert_int_equal(broker_init(&b, &fabric.subnet, &bp, &d), HD_OK);
	assert_int_equal(establish(&b, &params, &d, &result), HD_OK);
	assert_int_equal(broker_audit(&b, &d), HD_OK);
	broker_fini(&b);
	subnet_fini(&fabric.subnet);
	topo_fini(&fabric.topo);
	return result;
}

/* The mean over seeds; a single one varies by some percent. */
static double mean_established(const struct shape *shape, uint32_t payload, enum fill_mode mode,
			       int seeds)
{
	double sum = 0;

	for (int seed = 1; seed <= seeds; seed++) {
		struct establish_params p = broker_establish_defaults();

		p.seed = (uint64_t)seed;
		p.payload = payload;
		sum += fill_up(shape, p, mode).established;
	}
	return sum / seeds;
}

static void saturation_is_within_five_percent_of_table_2(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++) {
		double large = mean_established(&shapes[i], 4096, FILL_PAPER, 4);
		double small = mean_established(&shapes[i], 256, FILL_PAPER, 4);

		print_message("%s: %.0f (%u), %.0f (%u)\n", shapes[i].kind, small, shapes[i].small,
			      large, shapes[i].large);
		assert_true(large > 0.95 * shapes[i].large);
		assert_true(large < 1.05 * shapes[i].large);
		assert_true(small > 0.95 * shapes[i].small);
		assert_true(small < 1.05 * shapes[i].small);
	}
}

static void a_modest_demand_is_met_in_full(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++) {
		struct establish_params p = broker_establish_defaults();

		p.tried = 2048;
		assert_int_equal(fill_up(&shapes[i], p, FILL_PAPER).established, 2048);
	}
}

/* 64 entries do limit: some five or six percent fewer connections. */
static void real_entries_cost_connections(void **state)
{
	(void)state;
	double paper = mean_established(&shapes[2], 4096, FILL_PAPER, 4);
	double strict = mean_established(&shapes[2], 4096, FILL_STRICT, 4);

	print_message("paper %.0f, strict %.0f\n", paper, strict);
	assert_true(strict < 0.97 * paper);
	assert_true(strict > 0.91 * paper);
}

static void classes_keep_step_and_links_their_share(void **state)
{
	(void)state;
	struct establish_params p = broker_establish_defaults();
	struct establish_result r = fill_up(&shapes[1], p, FILL_PAPER);
	uint32_t least = UINT32_MAX, most = 0;

	for (uint32_t c = 0; c < 4; c++) {
		least = r.per_class[c] < least ? r.per_class[c] : least;
		most = r.per_class[c] > most ? r.per_class[c] : most;
	}
	assert_true(most <= least * 1.1 + 9);
	assert_true(r.wire_load <= 0.80);
	assert_true(r.wire_load >= 0.74); /* the paper has .757 */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fewer_than_two_hosts_are_refused),
		cmocka_unit_test(saturation_is_within_five_percent_of_table_2),
		cmocka_unit_test(a_modest_demand_is_met_in_full),
		cmocka_unit_test(real_entries_cost_connections),
		cmocka_unit_test(classes_keep_step_and_links_their_share),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
