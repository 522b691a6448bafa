/* SPDX-License-Identifier: BSD-2-Clause */
/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
/* clang-format on */

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/strbuf.h"
#include "fabric/fabric.h"
#include "fabric/limits.h"
#include "subnet/routing/vls.h"
#include "topo/read.h"

/* Counted ports without rows in memory. */
struct counted {
	struct subnet subnet;
	struct sim_setup setup;
	struct sim_control control;
	struct sim_flow flow;
	uint32_t n_flows;
};

/* Sets what row `i` of the table counts; false if a test below has it. */
static bool set_count(struct counted *c, unsigned i, uint64_t n)
{
	const char *what = fabric_limits[i].what;

	*c = (struct counted){ .n_flows = 0 };
	c->setup.subnet = &c->subnet;
	c->setup.control = &c->control;
	if (strcmp(what, "different VL arbitration tables") == 0)
		c->subnet.n_vlarb_tables = (uint32_t)n;
	else if (strcmp(what, "different SL to VL tables") == 0)
		c->subnet.n_sl2vl_tables = (uint32_t)n;
	else if (strcmp(what, "blocks of 64 bytes in a packet") == 0)
		c->flow.bytes = (uint32_t)n * 64, c->n_flows = 1;
	else if (strcmp(what, "faults") == 0)
		c->setup.n_faults = (uint32_t)n;
	else if (strcmp(what, "changes of arbitration tables") == 0)
		c->setup.n_changes = (uint32_t)n;
	else if (strcmp(what, "changes of routes") == 0)
		c->setup.n_routes = (uint32_t)n;
	else if (strcmp(what, "throttles") == 0)
		c->control.n_throttles = (uint32_t)n;
	else
		return false;
	return true;
}

static void takes_all_that_fits_and_no_more(void **state)
{
	unsigned tried = 0;
	struct counted c;

	(void)state;
	for (unsigned i = 0; i < fabric_n_limits; i++) {
		struct diag d = { .status = HD_OK };
		char want[120];

		if (!set_count(&c, i, fabric_limits[i].most))
			continue;
		assert_int_equal(fabric_limits_check(&c.setup, &c.flow, c.n_flows, &d), HD_OK);
		set_count(&c, i, fabric_limits[i].most + 1);
		assert_int_equal(fabric_limits_check(&c.setup, &c.flow, c.n_flows, &d),
				 HD_ERR_RANGE);
		snprintf(want, sizeof(want), "%llu %s: a simulation takes",
			 (unsigned long long)fabric_limits[i].most + 1, fabric_limits[i].what);
		assert_non_null(strstr(d.message, want));
		tried++;
	}
	/* Ports, flows and rates are not only counted. */
	assert_int_equal(tried, fabric_n_limits - 3);
}

/* Limits are checked before ports are created. */
static void ports_have_numbers_of_so_many_bits(void **state)
{
	struct subnet subnet = { .n_subnets = 1 };
	const struct sim_setup setup = { .subnet = &subnet, .n_ports = SIM_MOST_PORTS + 1 };
	struct diag d = { .status = HD_OK };
	char want[80];

	(void)state;
	assert_int_equal(fabric_limits_check(&setup, NULL, 0, &d), HD_ERR_RANGE);
	snprintf(want, sizeof(want), "%llu ports: a simulation takes at most %llu",
		 (unsigned long long)SIM_MOST_PORTS + 1, (unsigned long long)SIM_MOST_PORTS);
	assert_string_equal(d.message, want);
}

static enum hd_status build_with_rates(unsigned n, struct diag *d)
{
	struct strbuf text = STRBUF_INIT;
	struct fabric *fabric;

	strbuf_puts(&text,
		    "fabric:\n  topology: {kind: mesh, columns: 6, rows: 6, hosts: 8}\n  links:\n");
	for (unsigned i = 0; i < n; i++)
		strbuf_printf(&text, "    - {ports: h%u, rate: %uMb/s}\n", i, 1000 + i);
	strbuf_puts(&text, "traffic:\n  - {name: t, kind: poisson, load: 1%}\n");
	enum hd_status status = fabric_load(text.text, text.len, "x.yaml", NULL, d, &fabric);

	strbuf_fini(&text);
	if (status == HD_OK)
		fabric_free(fabric);
	return status;
}

/* Rates are numbered in a byte. */
static void links_have_at_most_256_rates(void **state)
{
	struct sim_port *ports = hd_alloc(600, sizeof(*ports));
	struct subnet subnet = { .n_subnets = 1 };
	struct sim_setup setup = { .subnet = &subnet, .ports = ports };
	struct diag d = { .status = HD_OK };

	(void)state;
	for (uint32_t i = 0; i < 600; i++)
		ports[i] =
			(struct sim_port){ .peer = i ^ 1, .rate = hd_rate_make(1000 + i / 2, 1) };
	setup.n_ports = 512;
	assert_int_equal(fabric_limits_check(&setup, NULL, 0, &d), HD_OK);
	setup.n_ports = 514;
	assert_int_equal(fabric_limits_check(&setup, NULL, 0, &d), HD_ERR_RANGE);
	assert_string_equal(d.message, "257 different link rates: a simulation takes at most 256");
	/* An equal rate with another fraction. */
	ports[512].rate = ports[513].rate = (struct hd_rate){ 2000, 2 };
	d = (struct diag){ .status = HD_OK };
	assert_int_equal(fabric_limits_check(&setup, NULL, 0, &d), HD_OK);
	/* A port without a cable has no rate. */
	ports[512].rate = ports[513].rate = (struct hd_rate){ 5, 1 };
	ports[512].peer = ports[513].peer = SIM_NONE;
	assert_int_equal(fabric_limits_check(&setup, NULL, 0, &d), HD_OK);
	free(ports);
	/* The cables between switches have one more. */
	assert_int_equal(build_with_rates(255, &d), HD_OK);
	assert_int_equal(build_with_rates(256, &d), HD_ERR_RANGE);
}

/* A packet larger than a buffer would wait for ever. */
static void packets_fit_the_smallest_buffer(void **state)
{
	struct sim_node nodes[] = { { .kind = SIM_SWITCH }, { .kind = SIM_END } };
	struct sim_port ports[] = {
		{ .peer = 1, .rate = { 1, 1 }, .in_blocks = 9, .out_blocks = 4 },
		{ .node = 1, .rate = { 1, 1 }, .in_blocks = 5 },
		{ .peer = SIM_NONE },
	};
	struct subnet subnet = { .n_subnets = 1 };
	struct sim_setup setup = {
		.subnet = &subnet, .nodes = nodes, .ports = ports, .n_nodes = 2, .n_ports = 3
	};
	struct sim_flow flow = { .bytes = 5 * 64 };
	struct diag d = { .status = HD_OK };

	(void)state;
	assert_int_equal(fabric_limits_check(&setup, &flow, 1, &d), HD_OK);
	flow.bytes++;
	assert_int_equal(fabric_limits_check(&setup, &flow, 1, &d), HD_ERR_UNFIT);
	flow.management = true; /* VL15 drops it instead */
	d = (struct diag){ .status = HD_OK };
	assert_int_equal(fabric_limits_check(&setup, &flow, 1, &d), HD_OK);
	flow = (struct sim_flow){ .bytes = 5 * 64 };
	setup.sw.queueing = SIM_CIOQ;
	assert_int_equal(fabric_limits_check(&setup, &flow, 1, &d), HD_ERR_UNFIT);
}

/* The limit applies to tables in use at one time, not to all tables of a run. */
static void only_tables_in_use_at_one_time_count(void **state)
{
	const uint32_t n = 70000;
	struct subnet subnet = { .n_subnets = 1, .n_vlarb_tables = n };
	struct sim_setup setup = { .subnet = &subnet, .n_changes = n };
	struct diag d = { .status = HD_OK };

	(void)state;
	subnet.vlarb_of_port = hd_alloc(n, sizeof(*subnet.vlarb_of_port));
	setup.ports = hd_alloc(n, sizeof(*setup.ports));
	setup.changes = hd_alloc(n, sizeof(*setup.changes));
	setup.n_ports = n;
	for (uint32_t i = 0; i < n; i++) {
		setup.ports[i] = (struct sim_port){
			.origin = i,
			.peer = i ^ 1,
			.in_blocks = SIM_MOST_BLOCKS,
			.rate = { 8000000000, 1 },
		};
		/* One port, with one table after the other. */
		setup.changes[i] = (struct sim_table_change){ i, 0, i };
	}
	assert_int_equal(fabric_limits_check(&setup, NULL, 0, &d), HD_OK);
	/* All ports, each with its own table. */
	for (uint32_t i = 0; i < n; i++)
		setup.changes[i].port = i;
	assert_int_equal(fabric_limits_check(&setup, NULL, 0, &d), HD_ERR_RANGE);
	setup.n_changes = SIM_MOST_TABLES;
	d = (struct diag){ .status = HD_OK };
	assert_int_equal(fabric_limits_check(&setup, NULL, 0, &d), HD_OK);
	free(subnet.vlarb_of_port);
	free(setup.ports);
	free(setup.changes);
}

/* Two switches of 255 ports have twice as many pairs as numbers. */
static void a_file_of_too_many_vl_tables_is_refused_by_its_line(void **state)
{
	struct diag d = { .status = HD_OK };
	struct strbuf text = STRBUF_INIT;
	struct topo t;
	struct subnet s;
	uint32_t n = 0;

	(void)state;
	topo_init(&t);
	for (unsigned k = 0; k < 2; k++) {
		node_id v = topo_add_node(&t, NODE_SWITCH, 255, k ? "b" : "a");

		t.nodes[v].guid = 0x100 + k;
		t.ports[t.nodes[v].first_port].guid = 0x100 + k;
	}
	topo_link(&t, topo_port_of(&t, 0, 1), topo_port_of(&t, 1, 1));
	subnet_init(&s, &t);
	uint32_t before = s.n_sl2vl_tables;

	for (unsigned k = 0; k < 2; k++) {
		strbuf_printf(&text, "Switch 0x%x, base LID %u, \"x\"\n", 0x100 + k, k + 1);
		for (unsigned i = 0; i < 65536; i++, n++) {
			strbuf_printf(&text, "%u %u :", i / 256, i % 256);
			/* All sixteen SLs beyond what is there by default. */
			for (unsigned sl = 0; sl < N_SLS; sl++)
				strbuf_printf(&text, " %u", sl < 5 ? n >> 4 * sl & 15u : 14);
			strbuf_puts(&text, "\n");
		}
	}
	assert_int_not_equal(sl2vl_read(&s, text.text, text.len, &d), HD_OK);
	assert_non_null(strstr(d.message, "more than 65536 different tables"));
	/* The heading is line 1; tables that were there count. */
	assert_int_equal(d.line, 1 + 65536 - before + 1);
	strbuf_fini(&text);
	subnet_fini(&s);
	topo_fini(&t);
}

/* A switch without a cable is a subnet of its own. */
static void a_file_of_too_many_subnets_is_refused(void **state)
{
	static const uint32_t most = TOPO_MOST_SUBNETS;
	struct strbuf text = STRBUF_INIT;
	size_t enough = 0;
	struct topo t;

	(void)state;
	for (uint32_t i = 0; i <= most; i++) {
		enough = i == most ? text.len : enough;
		strbuf_printf(&text,
			      "switchguid=0x%x(%x)\n"
			      "Switch 1 \"S-%016x\" # \"s\"\n\n",
			      i + 1, i + 1, i + 1);
	}
	for (unsigned more = 0; more < 2; more++) {
		struct diag d = { .status = HD_OK };
		size_t len = more ? text.len : enough;
		char *part = hd_strndup(text.text, len);
		enum hd_status status = topo_read(part, len, NULL, &d, &t);

		free(part);
		if (more) {
			assert_int_not_equal(status, HD_OK);
			assert_non_null(strstr(d.message, "more than 65534 subnets"));
			continue;
		}
		assert_int_equal(status, HD_OK);
		assert_int_equal(t.n_subnets, most);
		topo_fini(&t);
	}
	strbuf_fini(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_all_that_fits_and_no_more),
		cmocka_unit_test(ports_have_numbers_of_so_many_bits),
		cmocka_unit_test(links_have_at_most_256_rates),
		cmocka_unit_test(packets_fit_the_smallest_buffer),
		cmocka_unit_test(only_tables_in_use_at_one_time_count),
		cmocka_unit_test(a_file_of_too_many_vl_tables_is_refused_by_its_line),
		cmocka_unit_test(a_file_of_too_many_subnets_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
