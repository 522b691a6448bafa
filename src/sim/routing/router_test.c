/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fabric/setup_for_tests.h"
#include "sim/sim.h"
#include "subnet/routing/router.h"

#define P     7777 /* propagation */
#define R     (100 * HD_NS)
#define A     (23 * HD_NS)
#define BYTES 2114 /* 2 KiB, and 66 of headers with a GRH */
#define HOPS  16

/* `n` subnets in a row, a switch and a host in each. */
static void fabric_init(struct test_fabric *f, unsigned n, uint8_t vls)
{
	char subnets[32];
	const char *words[] = { "routed", subnets, "--hosts=1", NULL };
	const struct test_links links = {
		.rate = hd_rate_of_link(4, SPEED_EDR),
		.propagation = P,
		.in_blocks = 64,
		.vls = vls,
	};

	snprintf(subnets, sizeof(subnets), "--subnets=%u", n);
	test_fabric_init(f, words, "minhop", &links);
	f->setup.sw.routing = R;
	f->setup.sw.arbitration = A;
	assert_int_equal(f->n_ends, n);
}

static port_id port_of_end(const struct test_fabric *f, uint32_t end)
{
	return f->topo.nodes[f->end_nodes[end]].first_port + 1;
}

/* From the first host to the last one. */
static struct sim_arrival arrival(const struct test_fabric *f)
{
	port_id to = port_of_end(f, f->n_ends - 1);

	return (struct sim_arrival){
		.time = 1000,
		.source = f->end_nodes[0],
		.dlid = route_dlid(&f->subnet, port_of_end(f, 0), to),
		.pkey = 0xffff,
		.bytes = BYTES,
		.global = true,
		.hop_limit = 64,
		.target = to,
	};
}

/* The router after subnet `i`, and its ports 1 (in) and 2 (out). */
static uint32_t router_port(const struct test_fabric *f, unsigned i, unsigned number)
{
	for (node_id v = 0; v < f->topo.n_nodes; v++) {
		if (f->topo.nodes[v].kind == NODE_ROUTER && i-- == 0)
			return f->topo.nodes[v].first_port + number;
	}
	return SIM_NONE;
}

/* n switches and n - 1 routers, 2 n cables. */
static void zero_load_latency_over_routers_is_the_closed_form(void **state)
{
	(void)state;
	for (unsigned n = 2; n <= 5; n++) {
		struct test_fabric f;

		fabric_init(&f, n, 1);
		struct sim_arrival a = arrival(&f);

		for (unsigned speed = 0; speed < SPEED_COUNT; speed++) {
			struct hd_rate rate = hd_rate_of_link(4, speed);
			struct sim_record r;

			for (uint32_t i = 0; i < f.setup.n_ports; i++)
				f.setup.ports[i].rate = rate;
			sim_replay(&f.setup, &a, 1, HD_S, &r);
			assert_int_equal(r.n_events, 1);
			assert_int_equal(r.events[0].fate, SIM_DELIVERED);
			assert_int_equal(r.events[0].where, port_of_end(&f, n - 1));
			assert_int_equal(r.events[0].time, 1000 + 2 * n * P +
								   (2 * n - 1) * (R + A) +
								   exact_duration(rate, BYTES));
			sim_record_fini(&r);
		}
		test_fabric_fini(&f);
	}
}

/* H hops: H - 1 routers forward the packet, the next one drops it at its arrival. */
static void hop_limit_ends_a_packet_at_the_router_that_exhausts_it(void **state)
{
	const unsigned n = 5;
	struct test_fabric f;

	(void)state;
	fabric_init(&f, n, 1);
	for (unsigned limit = 0; limit <= n; limit++) {
		struct sim_arrival a = arrival(&f);
		struct sim_record r;

		a.hop_limit = (uint8_t)limit;
		sim_replay(&f.setup, &a, 1, HD_S, &r);
		assert_int_equal(r.n_events, 1);
		if (limit == n) {
			assert_int_equal(r.events[0].fate, SIM_DELIVERED);
			sim_record_fini(&r);
			break;
		}
		unsigned passed = limit > 0 ? limit - 1 : 0;
		uint32_t in = router_port(&f, passed, 1);

		assert_int_equal(r.events[0].fate, SIM_LOST_HOPS);
		assert_int_equal(r.events[0].where, in);
		assert_int_equal(r.events[0].time,
				 1000 + 2 * (passed + 1) * P + (2 * passed + 1) * (R + A));
		assert_int_equal(r.counters[in].hop_limit_exceeded, 1);
		assert_int_equal(r.counters[in].rcv_packets, 1);
		assert_int_equal(r.counters[in + 1].xmit_packets, 0);
		sim_record_fini(&r);
	}
	test_fabric_fini(&f);
}

struct seen {
	struct sim_packet packets[HOPS];
	uint32_t ports[HOPS];
	unsigned n;
};

static void see(void *context, hd_time now, uint32_t port, const struct sim_packet *p)
{
	struct seen *seen = context;

	(void)now;
	assert_true(seen->n < HOPS);
	seen->ports[seen->n] = port;
	seen->packets[seen->n++] = *p;
}

/* Records the packets on each link of a path. */
static void watch(struct test_fabric *f, const struct sim_arrival *a, struct seen *seen)
{
	const struct sim_flow flow = {
		.kind = SIM_TRACE,
		.source = a->source,
		.sl = a->sl,
		.pkey = a->pkey,
		.bytes = a->bytes,
		.packets = 1,
		.trace = a,
		.n_trace = 1,
	};
	struct sim_rules rules;
	struct sim_observer observer = { .context = seen, .granted = see };

	sim_rules_init(&rules);
	struct sim *s = sim_new(&f->setup, &flow, 1, &rules);

	sim_observe(s, &observer);
	assert_int_equal(sim_run(s, HD_S, NULL, NULL), SIM_IDLE);
	assert_int_equal(sim_metrics(s)->delivered, 1);
	assert_int_equal(sim_metrics(s)->flows[0].delivered_global, 1);
	sim_free(s);
}

/*
 * SL 1 in the first subnet; TClass 0xb8 is SL 2 in the second and, without an entry, SL 8 in the
 * third. Each subnet has two links: to the switch and from it.
 */
static void each_subnet_has_its_own_lids_sl_and_vl(void **state)
{
	static const uint8_t sls[] = { 1, 2, 8 }, vls[] = { 1, 2, 0 };
	static uint8_t maps[3][256];
	struct seen seen = { .n = 0 };
	struct test_fabric f;

	(void)state;
	fabric_init(&f, 3, 4);
	for (unsigned i = 0; i < 3 * 256; i++)
		maps[i / 256][i % 256] = i % N_SLS;
	maps[1][0xb8] = 2;
	f.setup.sl_of_tclass = (const uint8_t(*)[256])maps;
	const struct sl2vl by_four = { { 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3 } };
	for (port_id p = 0; p < f.topo.n_ports; p++) {
		if (topo_is_end_port(&f.topo, p))
			subnet_set_port_sl2vl(&f.subnet, p, &by_four);
	}
	for (switch_id sw = 0; sw < f.subnet.n_switches; sw++) {
		for (unsigned i = 0; i < 16; i++)
			subnet_set_sl2vl(&f.subnet, sw, i / 4, i % 4, &by_four);
	}
	struct sim_arrival a = arrival(&f);

	a.sl = 1;
	a.tclass = 0xb8;
	watch(&f, &a, &seen);
	assert_int_equal(seen.n, 6);
	const lid_t *lids = f.subnet.lid_of_port;
	const lid_t slids[] = { 0, lids[router_port(&f, 0, 2)], lids[router_port(&f, 1, 2)] };
	const lid_t dlids[] = { lids[router_port(&f, 0, 1)], lids[router_port(&f, 1, 1)],
				lids[port_of_end(&f, 2)] };

	for (unsigned i = 0; i < seen.n; i++) {
		const struct sim_packet *p = &seen.packets[i];

		assert_int_equal(p->sl, sls[i / 2]);
		assert_int_equal(p->vl, vls[i / 2]);
		assert_int_equal(p->slid, slids[i / 2]);
		assert_int_equal(p->dlid, dlids[i / 2]);
		assert_int_equal(p->hop_limit, 64 - i / 2);
		assert_int_equal(p->tclass, 0xb8);
		assert_int_equal(p->target, port_of_end(&f, 2));
	}
	test_fabric_fini(&f);
}

/*
 * Over three subnets. The first router marks SL 2 of an unmarked packet with 0x28, which is SL 7 in
 * the second subnet. The marks of the second subnet differ for SL 7, but only the first router
 * marks. A mark of the source is kept; SL 3 has no mark.
 */
static void the_first_router_marks_what_its_source_did_not(void **state)
{
	static const struct {
		uint8_t sl, tclass;     /* at the source */
		uint8_t marked, sls[3]; /* behind the router; in each subnet */
	} cases[] = {
		{ 2, 0, 0x28, { 2, 7, 8 } },
		{ 2, 0xb8, 0xb8, { 2, 8, 8 } },
		{ 3, 0, 0, { 3, 0, 0 } },
	};
	static uint8_t marks[3][N_SLS], maps[3][256];
	struct test_fabric f;

	(void)state;
	fabric_init(&f, 3, 1);
	for (unsigned i = 0; i < 3 * 256; i++)
		maps[i / 256][i % 256] = i % N_SLS;
	maps[1][0x28] = 7;
	marks[0][2] = 0x28;
	marks[1][7] = marks[1][0] = marks[1][8] = 0x44;
	f.setup.sl_of_tclass = (const uint8_t(*)[256])maps;
	f.setup.tclass_of_sl = (const uint8_t(*)[N_SLS])marks;
	for (unsigned c = 0; c < 3; c++) {
		struct sim_arrival a = arrival(&f);
		struct seen seen = { .n = 0 };

		a.sl = cases[c].sl;
		a.tclass = cases[c].tclass;
		watch(&f, &a, &seen);
		assert_int_equal(seen.n, 6);
		for (unsigned i = 0; i < seen.n; i++) {
			assert_int_equal(seen.packets[i].sl, cases[c].sls[i / 2]);
			assert_int_equal(seen.packets[i].tclass,
					 i < 2 ? cases[c].tclass : cases[c].marked);
		}
	}
	test_fabric_fini(&f);
}

/* Counters by SL use the SL on the link. */
static void service_levels_are_counted_as_they_are_on_each_link(void **state)
{
	struct test_fabric f;
	struct sim_record r;

	(void)state;
	fabric_init(&f, 2, 4);
	struct sim_arrival a = arrival(&f);
	uint32_t in = router_port(&f, 0, 1), out = router_port(&f, 0, 2);

	a.sl = 1;
	a.tclass = 3;
	sim_replay(&f.setup, &a, 1, HD_S, &r);
	assert_int_equal(r.counters[in].rcv_bytes_sl[1], BYTES);
	assert_int_equal(r.counters[in].rcv_bytes_sl[3], 0);
	assert_int_equal(r.counters[out].xmit_bytes_sl[3], BYTES);
	assert_int_equal(r.counters[out].xmit_bytes_sl[1], 0);
	sim_record_fini(&r);
	test_fabric_fini(&f);
}

static void check_drop(struct test_fabric *f, const struct sim_arrival *a, enum sim_fate fate,
		       uint32_t where)
{
	const hd_time head = 1000 + 2 * P + R + A;
	struct sim_record r;

	sim_replay(&f->setup, a, 1, HD_S, &r);
	assert_int_equal(r.n_events, 1);
	assert_int_equal(r.events[0].fate, fate);
	assert_int_equal(r.events[0].where, where);
	assert_int_equal(r.events[0].time, head);
	assert_int_equal(r.counters[where].rcv_relay_errors, fate == SIM_LOST_NO_ROUTE);
	assert_int_equal(r.counters[where].xmit_discards, fate == SIM_LOST_DISCARD);
	assert_int_equal(r.counters[where].rcv_constraint_errors +
				 r.counters[where].xmit_constraint_errors,
			 fate == SIM_LOST_PARTITION);
	sim_record_fini(&r);
}

static void routers_drop_what_has_no_grh_no_vl_or_no_way(void **state)
{
	struct test_fabric f;

	(void)state;
	fabric_init(&f, 2, 4);
	uint32_t in = router_port(&f, 0, 1);
	struct sim_arrival a = arrival(&f);

	a.global = false;
	check_drop(&f, &a, SIM_LOST_NO_ROUTE, in);
	a.global = true;
	a.management = true;
	check_drop(&f, &a, SIM_LOST_NO_ROUTE, in);
	a.management = false;
	/* The next cable has two VLs, and its table maps to the fourth. */
	f.setup.ports[in + 1].vls = 2;
	a.tclass = 3;
	struct sl2vl plain = sl2vl_default(4);
	subnet_set_port_sl2vl(&f.subnet, in + 1, &plain);
	check_drop(&f, &a, SIM_LOST_DISCARD, in + 1);
	test_fabric_fini(&f);
}

static void check_passes(struct test_fabric *f, const struct sim_arrival *a)
{
	struct sim_record r;

	sim_replay(&f->setup, a, 1, HD_S, &r);
	assert_int_equal(r.n_events, 1);
	assert_int_equal(r.events[0].fate, SIM_DELIVERED);
	sim_record_fini(&r);
}

/* A2: an input accepts a limited member; an output does not accept two of them. */
static void routers_enforce_partitions_as_switches_do(void **state)
{
	static const uint16_t other = 0x8005, limited = 0x7fff;
	struct test_fabric f;

	(void)state;
	fabric_init(&f, 2, 4);
	uint32_t in = router_port(&f, 0, 1), out = router_port(&f, 0, 2);
	struct sim_arrival a = arrival(&f);

	subnet_set_pkeys(&f.subnet, in, &other, 1);
	subnet_set_pkeys(&f.subnet, out, &limited, 1);
	check_passes(&f, &a);
	f.subnet.pkeys[in].enforce_in = true;
	check_drop(&f, &a, SIM_LOST_PARTITION, in);
	subnet_set_pkeys(&f.subnet, in, &limited, 1);
	f.subnet.pkeys[in].enforce_in = true;
	f.subnet.pkeys[out].enforce_out = true;
	check_passes(&f, &a);
	a.pkey = limited;
	check_drop(&f, &a, SIM_LOST_PARTITION, out);
	/* Of several errors, the one that is checked first is counted. */
	f.setup.ports[out].vls = 1;
	a.tclass = 3;
	check_drop(&f, &a, SIM_LOST_PARTITION, out);
	a.global = false;
	check_drop(&f, &a, SIM_LOST_NO_ROUTE, in);
	a.pkey = other;
	check_drop(&f, &a, SIM_LOST_PARTITION, in);
	test_fabric_fini(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(zero_load_latency_over_routers_is_the_closed_form),
		cmocka_unit_test(hop_limit_ends_a_packet_at_the_router_that_exhausts_it),
		cmocka_unit_test(each_subnet_has_its_own_lids_sl_and_vl),
		cmocka_unit_test(the_first_router_marks_what_its_source_did_not),
		cmocka_unit_test(service_levels_are_counted_as_they_are_on_each_link),
		cmocka_unit_test(routers_drop_what_has_no_grh_no_vl_or_no_way),
		cmocka_unit_test(routers_enforce_partitions_as_switches_do),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
