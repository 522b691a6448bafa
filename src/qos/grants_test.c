/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/grants.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "qos/fabric_for_tests.h"

static struct grants_params params(void)
{
	return (struct grants_params){
		.blrm = { .mode = BOUND_GROUPED,
			  .reservable = { 4, 5 },
			  .db_latency = HD_MS },
		.packets = { 2048, 26 },
	};
}

/* On a hub with five hosts, h0 to h4. */
struct bench {
	struct routed_fabric f;
	struct qos_requests requests;
	struct grants g;
};

static void bench_init(struct bench *b, const char *flows,
		       struct grants_params p)
{
	struct diag d = { .status = HD_OK };

	routed_init(&b->f, "star", 1, 5);
	b->requests = requests_of(flows);
	assert_int_equal(grants_run(&b->g, &b->f.subnet, &p, &b->requests, &d),
			 HD_OK);
}

static void bench_fini(struct bench *b)
{
	grants_fini(&b->g);
	qos_requests_fini(&b->requests);
	routed_fini(&b->f);
}

static double bound_of(const struct bench *b, size_t answer)
{
	return b->g.blrm.flows[b->g.answers[answer].flow].bound;
}

/* The bound, asked of the manager itself, of one flow alone. */
static double bound_alone(struct routed_fabric *f, const char *line)
{
	struct qos_requests q = requests_of(line);
	struct blrm_params p = params().blrm;
	const struct qos_packets packets = params().packets;
	struct blrm_request request;
	struct diag d = { .status = HD_OK };
	struct blrm blrm;
	uint32_t id;
	double told;

	p.max_packet = p.min_packet = 2048 + 26;
	blrm_init(&blrm, &f->subnet, &p);
	port_id from = topo_port_of(&f->topo, 1, 1);

	assert_string_equal(f->topo.nodes[1].name, q.items[0].source);
	assert_int_equal(
		blrm_request_of(&q.items[0], &packets, from, &d, &request),
		HD_OK);
	request.dlid = f->subnet.lid_of_port[topo_port_of(&f->topo, 2, 1)];
	assert_string_equal(f->topo.nodes[2].name, q.items[0].destination);
	assert_int_equal(blrm_request(&blrm, &request, &d, &id, &told), HD_OK);
	double bound = blrm.flows[id].bound;

	blrm_fini(&blrm);
	qos_requests_fini(&q);
	return bound;
}

static void a_flow_alone_has_the_managers_bound(void **state)
{
	(void)state;
	struct bench b;

	bench_init(&b, "h0 h1 DB 8Mb/s\n", params());
	assert_int_equal(b.g.n, 1);
	assert_null(b.g.answers[0].reason);
	assert_true(bound_of(&b, 0) > 0);
	assert_true(fabs(bound_of(&b, 0) -
			 bound_alone(&b.f, "h0 h1 DB 8Mb/s\n")) < 1e-15);
	bench_fini(&b);
}

/* A burst of 5000 bytes ends with 904 of payload; 930 on the wire. */
static void packets_are_as_large_and_small_as_flows_say(void **state)
{
	(void)state;
	const char *names[] = { "all:shared=h1,h2" };
	struct grants_params p = params();
	struct bench b;

	bench_init(&b, "h0 h1 DB 8Mb/s\nh0 h2 DB 8Mb/s 5000\n", p);
	assert_int_equal(b.g.blrm.params.max_packet, 2074);
	assert_int_equal(b.g.blrm.params.min_packet, 930);
	bench_fini(&b);
	p.least = 64;
	p.groups = (struct option_list){ .items = names, .n = 1 };
	bench_init(&b, "h0 h1 DB 8Mb/s\n", p);
	assert_int_equal(b.g.blrm.params.max_packet, 2074 + 40);
	assert_int_equal(b.g.blrm.params.min_packet, 64 + 26);
	bench_fini(&b);
}

static void a_group_is_one_flow_to_each_other_member(void **state)
{
	(void)state;
	const char *names[] = { "all:shared=h0,h1,h2,h3" };
	struct grants_params p = params();
	struct bench b;

	p.groups = (struct option_list){ .items = names, .n = 1 };
	bench_init(&b, "h0 group:all DB 8Mb/s\nh4 group:all DB 8Mb/s\n", p);
	/* Three hear h0, who is a member; four hear h4. */
	assert_int_equal(b.g.n, 3 + 4);
	assert_int_equal(b.g.refused, 0);
	assert_string_equal(b.g.answers[0].to, "h1");
	assert_string_equal(b.g.answers[3].to, "h0");
	for (size_t i = 0; i < b.g.n; i++)
		assert_int_equal(b.g.answers[i].flow, i);
	bench_fini(&b);
}

/* What is refused to one member leaves nothing behind of the others. */
static void a_group_that_is_refused_changes_nothing(void **state)
{
	(void)state;
	const char *names[] = { "all:shared=h1,h2,h3" };
	const char before[] = "h0 h1 DB 8Mb/s\nh4 h3 DB 5Gb/s\n";
	const char after[] = "h0 h1 DB 8Mb/s\nh4 h3 DB 5Gb/s\n"
			     "h0 group:all DB 2Gb/s\nh0 h2 DB 8Mb/s\n";
	const char without[] = "h0 h1 DB 8Mb/s\nh4 h3 DB 5Gb/s\n"
			       "h0 h2 DB 8Mb/s\n";
	struct grants_params p = params();
	struct bench with, never;

	p.groups = (struct option_list){ .items = names, .n = 1 };
	/* 80 % of 8 Gb/s may be reserved: 5 and 2 do not fit together. */
	bench_init(&with, after, p);
	assert_int_equal(with.g.refused, 1);
	assert_int_equal(with.g.n, 4);
	assert_non_null(with.g.answers[2].reason);
	assert_string_equal(with.g.answers[2].to, "group:all");
	bench_init(&never, without, p);
	assert_int_equal(blrm_hops(&with.g.blrm), blrm_hops(&never.g.blrm));
	assert_true(fabs(bound_of(&with, 0) - bound_of(&never, 0)) < 1e-15);
	assert_true(fabs(bound_of(&with, 3) - bound_of(&never, 2)) < 1e-15);
	bench_fini(&never);
	bench_fini(&with);
	bench_init(&never, before, p);
	assert_int_equal(never.g.refused, 0);
	bench_fini(&never);
}

/* Every flow has a row, and every hop of what was granted: two on a hub. */
static void tables_have_a_row_for_each_hop(void **state)
{
	(void)state;
	struct bench b;
	struct results *r = results_new("test");

	bench_init(&b, "h0 h1 DB 8Mb/s\nh0 h2 DBTS 8Mb/s 2KiB 1ns\n", params());
	grants_show(&b.g, r);
	const struct table *flows = results_find(r, "flows");
	const struct table *hops = results_find(r, "hops");

	assert_int_equal(b.g.refused, 1);
	assert_int_equal(flows->n_cells, 2 * flows->n_columns);
	assert_int_equal(hops->n_cells, 2 * hops->n_columns);
	assert_string_equal(hops->cells[0].text, "h0 -> h1");
	double sum = 0;

	for (size_t row = 0; row < 2; row++)
		sum += hops->cells[row * hops->n_columns + 4].real;
	assert_true(fabs(sum - bound_of(&b, 0) * 1e6) < 1e-9);
	results_free(r);
	bench_fini(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_flow_alone_has_the_managers_bound),
		cmocka_unit_test(packets_are_as_large_and_small_as_flows_say),
		cmocka_unit_test(a_group_is_one_flow_to_each_other_member),
		cmocka_unit_test(a_group_that_is_refused_changes_nothing),
		cmocka_unit_test(tables_have_a_row_for_each_hop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
