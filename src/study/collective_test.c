/* SPDX-License-Identifier: BSD-2-Clause */
#include "study/collective.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fabric/fabric.h"

#define MAX_HOSTS 256

/* A fabric, and an operation on all or some of its hosts. */
struct bed {
	struct fabric *fabric;
	port_id sources[MAX_HOSTS], members[MAX_HOSTS];
	struct collective_op op;
};

struct wish {
	unsigned columns, rows, vls;
	const char *sw; /* parameters of switches */
	uint64_t bytes;
	const char *faults; /* in YAML, or NULL */
	const char *ports;  /* of qos, in YAML, or NULL */
};

static void set_up(struct bed *b, const struct wish *w)
{
	char text[1024];
	struct diag d = { .status = HD_OK };
	struct overrides overrides = { 0 };

	snprintf(text, sizeof(text),
		 "fabric:\n"
		 "  topology: {kind: node-mesh, columns: %u, rows: %u}\n"
		 "  link: {rate: 2Gb/s, propagation: 5ns}\n"
		 "  switch: {routing_delay: 95ns, arbitration_delay: 0ns%s}\n"
		 "  packet: {overhead: 0}\n"
		 "  routing: {engine: xy, lids: paper}\n"
		 "qos: {vls: %u}\n"
		 "traffic: [{name: op, kind: messages, payload: %u}]\n",
		 w->columns, w->rows, w->sw ? w->sw : "", w->vls,
		 (unsigned)(w->bytes < 4096 ? w->bytes : 4096));
	if (w->faults)
		overrides_put(&overrides, "faults", "faults", "%s", w->faults);
	if (w->ports)
		overrides_put(&overrides, "ports", "qos.ports", "%s", w->ports);
	if (fabric_load(text, strlen(text), "test", &overrides, &d, &b->fabric) != HD_OK)
		fail_msg("%u:%u: %s", d.line, d.column, d.message);
	overrides_fini(&overrides);
	const struct selection *hosts = selector_hosts(b->fabric->selector);

	assert_true(hosts->n <= MAX_HOSTS);
	for (uint32_t i = 0; i < hosts->n; i++)
		b->sources[i] = b->members[i] = hosts->ports[i];
	b->op = (struct collective_op){
		.sources = b->sources,
		.n_sources = hosts->n,
		.members = b->members,
		.n_members = hosts->n,
		.bytes = w->bytes,
		.mtu = 4096,
		.vls = (uint8_t)w->vls,
		.tree = MCAST_XY,
	};
}

/* The port of N(x, y). */
static port_id port_at(const struct bed *b, unsigned x, unsigned y)
{
	const struct subnet *s = &b->fabric->subnet;

	return s->port_of_lid[0][x * b->fabric->topo.dims[1] + y + 1];
}

static void run(struct bed *b, enum collective_scheme scheme, struct collective_result *r)
{
	struct diag d = { .status = HD_OK };

	if (collective_run(b->fabric, &b->op, scheme, &d, r) != HD_OK)
		fail_msg("%s", d.message);
}

/* Runs until everything has arrived once, no earlier than possible. */
static hd_time run_well(struct bed *b, enum collective_scheme scheme)
{
	struct collective_result r;

	run(b, scheme, &r);
	hd_time done = r.completion;
	hd_time bound = collective_bound(&b->fabric->setup, &b->fabric->subnet, &b->op, scheme);

	assert_int_equal(r.state, SIM_IDLE);
	assert_int_equal(r.delivered, r.packets);
	assert_int_equal(r.duplicates + r.strays + r.out_of_order, 0);
	assert_int_equal(r.n_lacking, 0);
	assert_true(r.mean <= (double)done);
	if (done < bound)
		fail_msg("%s: %llu ps is below the bound of %llu ps",
			 scheme ? "multicast" : "unicast", (unsigned long long)done,
			 (unsigned long long)bound);
	collective_result_fini(&r);
	return done;
}

static void all_to_all_delivers_255_copies_to_each_of_256(void **state)
{
	struct bed b;
	struct collective_result r;

	(void)state;
	set_up(&b, &(struct wish){ 16, 16, 1, NULL, 32 });
	for (enum collective_scheme scheme = 0; scheme < N_COLLECTIVE_SCHEMES; scheme++) {
		run(&b, scheme, &r);
		assert_int_equal(r.messages, 255 * 256);
		assert_int_equal(r.delivered, 255 * 256);
		assert_int_equal(r.duplicates + r.strays, 0);
		assert_int_equal(r.n_mlids, scheme == COLLECTIVE_MULTICAST ? 256 : 0);
		/* The ejection of 255 messages of 32 bytes at 4 ns a byte. */
		assert_true(r.completion > 255 * 32 * 4 * HD_NS);
		collective_result_fini(&r);
	}
	fabric_free(b.fabric);
}

static void a_lone_multicast_takes_the_longest_way_and_no_more(void **state)
{
	static const uint64_t sizes[] = { 32, 256, 2048, 4096 };
	struct bed b;

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		set_up(&b, &(struct wish){ 16, 16, 1, NULL, sizes[i] });
		b.op.n_sources = 1;
		b.sources[0] = port_at(&b, 0, 0);
		/* 32 cables and 31 switches to N(15,15), and the message. */
		assert_int_equal(run_well(&b, COLLECTIVE_MULTICAST),
				 32 * 5 * HD_NS + 31 * 95 * HD_NS + sizes[i] * 4 * HD_NS);
		/* 255 copies through one injection link. */
		assert_true(run_well(&b, COLLECTIVE_UNICAST) >= 255 * sizes[i] * 4 * HD_NS);
		fabric_free(b.fabric);
	}
}

static void long_messages_are_sent_in_packets(void **state)
{
	struct bed b;
	struct collective_result r;

	(void)state;
	set_up(&b, &(struct wish){ 4, 4, 1, NULL, 8192 });
	b.op.n_sources = 1;
	assert_int_equal(collective_packets(&b.op), 2);
	run(&b, COLLECTIVE_MULTICAST, &r);
	assert_int_equal(r.messages, 15);
	assert_int_equal(r.packets, 30);
	assert_int_equal(r.delivered, 30);
	collective_result_fini(&r);
	b.op.bytes = 4097;
	assert_int_equal(collective_packets(&b.op), 2);
	b.op.overhead = 26;
	b.op.grh = 40;
	assert_int_equal(collective_wire_bytes(&b.op, COLLECTIVE_UNICAST), 4097 + 52);
	assert_int_equal(collective_wire_bytes(&b.op, COLLECTIVE_MULTICAST), 4097 + 132);
	fabric_free(b.fabric);
}

/* Sources and members in all shares, VLs in all uses, smallest buffers. */
static void nothing_is_lost_or_doubled_however_vls_are_used(void **state)
{
	static const char *const switches[] = {
		", input_buffer: 1 packets",
		", order: fifo, input_buffer: 1 packets",
		", order: fifo, queueing: cioq, speedup: 1, input_buffer: 1 packets, output_buffer: 1 packets",
	};

	(void)state;
	for (unsigned i = 0; i < 27; i++) {
		struct bed b;
		unsigned vls = 1u << i % 3;

		set_up(&b, &(struct wish){ 5, 4, vls, switches[i / 3 % 3], 8192 });
		b.op.per_packet = i / 9 == 1;
		b.op.n_sources = i / 9 == 2 ? 7 : 20;
		b.op.n_members = i / 9 == 2 ? 9 : 20;
		b.op.members = i / 9 == 2 ? &b.members[5] : b.members;
		run_well(&b, COLLECTIVE_UNICAST);
		run_well(&b, COLLECTIVE_MULTICAST);
		fabric_free(b.fabric);
	}
}

/* Two packets per message; on one VL they stay in order. */
static void packets_on_different_vls_overtake_and_are_put_together(void **state)
{
	struct bed b;
	struct collective_result r;

	(void)state;
	set_up(&b, &(struct wish){ 6, 6, 4, ", order: fifo", 6000 });
	for (unsigned i = 0; i < 2; i++) {
		b.op.per_packet = i == 1;
		run(&b, COLLECTIVE_MULTICAST, &r);
		assert_int_equal(r.delivered, 2 * 35 * 36);
		assert_int_equal(r.duplicates + r.out_of_order, 0);
		/* The second packet is the shorter one. */
		if (b.op.per_packet)
			assert_true(r.reordered > 0);
		else
			assert_int_equal(r.reordered, 0);
		collective_result_fini(&r);
	}
	fabric_free(b.fabric);
}

/* Each direction has a VL. Ports: 1 east, 2 north, 3 west, 4 south. */
static hd_time run_dedicated(const unsigned vl[4], enum collective_scheme scheme, double *mean)
{
	char ports[256];
	struct bed b;
	struct collective_result r;

	snprintf(ports, sizeof(ports),
		 "[{ports: 's*:1', sl2vl: %u}, {ports: 's*:2', sl2vl: %u},"
		 " {ports: 's*:3', sl2vl: %u}, {ports: 's*:4', sl2vl: %u}]",
		 vl[0], vl[1], vl[2], vl[3]);
	set_up(&b, &(struct wish){ 6, 5, 4, ", order: fifo, input_buffer: 2 packets", 8192,
				   .ports = ports });
	b.op.vls = 1;
	run(&b, scheme, &r);
	hd_time done = r.completion;

	assert_int_equal(r.delivered, r.packets);
	*mean = r.mean;
	collective_result_fini(&r);
	fabric_free(b.fabric);
	return done;
}

static void both_namings_of_four_vls_give_the_same(void **state)
{
	static const unsigned e_n_w_s[] = { 0, 1, 2, 3 }, n_e_s_w[] = { 1, 0, 3, 2 };
	static const unsigned ne_sw[] = { 0, 0, 1, 1 };

	(void)state;
	for (enum collective_scheme scheme = 0; scheme < N_COLLECTIVE_SCHEMES; scheme++) {
		double text, figures, two;
		hd_time a = run_dedicated(e_n_w_s, scheme, &text);
		hd_time c = run_dedicated(n_e_s_w, scheme, &figures);
		hd_time e = run_dedicated(ne_sw, scheme, &two);

		assert_int_equal(a, c);
		assert_true(text == figures);
		/* A port has one VL either way. */
		assert_int_equal(a, e);
		assert_true(text == two);
	}
}

/*
 * Two multicasts that need east and north of one switch: were both outputs
 * taken one by one, each packet could hold the one and wait for the other.
 */
static void crossing_multicasts_complete(void **state)
{
	struct bed b;

	(void)state;
	set_up(&b, &(struct wish){ 4, 4, 1, ", order: fifo, input_buffer: 1 packets", 4096 });
	for (unsigned x = 0; x < 2; x++) {
		b.op.n_sources = 2;
		b.sources[0] = port_at(&b, 0, 1);
		b.sources[1] = x ? port_at(&b, 1, 0) : port_at(&b, 1, 1);
		b.op.n_members = 4;
		b.members[0] = port_at(&b, 1, 2);
		b.members[1] = port_at(&b, 3, 1);
		b.members[2] = port_at(&b, 1, 3);
		b.members[3] = port_at(&b, 2, 3);
		run_well(&b, COLLECTIVE_MULTICAST);
	}
	fabric_free(b.fabric);
}

static void bit_errors_are_counted_at_each_member(void **state)
{
	struct bed b;
	struct collective_result r;
	uint64_t lacks = 0, lost = 0;

	(void)state;
	set_up(&b, &(struct wish){ 4, 4, 1, NULL, 2048, "{ber: 1e-6}" });
	run(&b, COLLECTIVE_UNICAST, &r);
	for (uint32_t i = 0; i < b.op.n_members; i++)
		lacks += r.member_lacks[i];
	for (unsigned i = SIM_LOST_CORRUPT; i < SIM_FATES; i++)
		lost += r.lost[i];
	assert_true(lacks > 0);
	assert_int_equal(r.state, SIM_IDLE);
	/* A copy of unicast that is lost is one that a member lacks. */
	assert_int_equal(lost, lacks);
	assert_int_equal(r.lost[SIM_LOST_CORRUPT], lacks);
	assert_int_equal(r.delivered + lacks, 240);
	assert_int_equal(r.n_lacking, lacks);
	assert_true(r.completion == HD_TIME_NEVER);
	collective_result_fini(&r);
	/* One multicast message carries all messages behind it. */
	run(&b, COLLECTIVE_MULTICAST, &r);
	assert_true(r.n_lacking >= r.lost[SIM_LOST_CORRUPT]);
	assert_int_equal(r.delivered + r.n_lacking, 240);
	collective_result_fini(&r);
	fabric_free(b.fabric);
}

static void failing_switch_lists_missing_messages(void **state)
{
	struct bed b;
	struct collective_result r;

	(void)state;
	/* N(0,0) sends to a row of four; N(2,0) fails before it is reached. */
	set_up(&b, &(struct wish){ 4, 2, 1, NULL, 4096,
				   "{events: [{at: 150ns, kind: switch-down, port: s-2-0}]}" });
	assert_string_equal(topo_node_of(&b.fabric->topo, port_at(&b, 2, 0))->name, "s-2-0");
	b.op.n_sources = 1;
	b.sources[0] = port_at(&b, 0, 0);
	b.op.n_members = 3;
	for (unsigned x = 1; x < 4; x++)
		b.members[x - 1] = port_at(&b, x, 0);
	for (enum collective_scheme scheme = 0; scheme < N_COLLECTIVE_SCHEMES; scheme++) {
		run(&b, scheme, &r);
		assert_int_equal(r.n_lacking, 2);
		assert_int_equal(r.lacking[0].member, 1);
		assert_int_equal(r.lacking[1].member, 2);
		assert_int_equal(r.delivered, 1);
		assert_true(r.member_done[0] < HD_TIME_NEVER);
		collective_result_fini(&r);
	}
	/* A sender that is cut off keeps its second copy; that is no hang. */
	b.sources[0] = port_at(&b, 2, 0);
	run(&b, COLLECTIVE_UNICAST, &r);
	assert_int_equal(r.delivered, 1);
	assert_int_equal(r.n_lacking, 1);
	assert_int_equal(r.lacking[0].member, 0);
	collective_result_fini(&r);
	fabric_free(b.fabric);
}

static void more_trees_than_mlids_are_refused_with_the_count(void **state)
{
	static port_id many[16384];
	struct bed b;
	struct diag d = { .status = HD_OK };
	struct collective_result r;

	(void)state;
	set_up(&b, &(struct wish){ 2, 2, 1, NULL, 32 });
	for (size_t i = 0; i < 16384; i++)
		many[i] = b.members[0];
	b.op.sources = many;
	b.op.n_sources = 16384;
	assert_int_equal(collective_plant(&b.fabric->subnet, &b.op, &d), HD_ERR_FULL);
	assert_non_null(strstr(d.message, "16384 MLIDs"));
	assert_non_null(strstr(d.message, "has 16383"));
	assert_int_equal(collective_run(b.fabric, &b.op, COLLECTIVE_MULTICAST, &d, &r),
			 HD_ERR_FULL);
	fabric_free(b.fabric);
}

static void senders_outside_the_group_receive_nothing(void **state)
{
	struct bed b;

	(void)state;
	set_up(&b, &(struct wish){ 4, 4, 1, NULL, 256 });
	b.op.tree = MCAST_SHARED;
	b.op.n_sources = 6;
	b.op.members = &b.members[4];
	b.op.n_members = 8;
	run_well(&b, COLLECTIVE_MULTICAST); /* strays are none */
	assert_int_equal(b.fabric->subnet.n_groups, 1);
	fabric_free(b.fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_to_all_delivers_255_copies_to_each_of_256),
		cmocka_unit_test(a_lone_multicast_takes_the_longest_way_and_no_more),
		cmocka_unit_test(long_messages_are_sent_in_packets),
		cmocka_unit_test(nothing_is_lost_or_doubled_however_vls_are_used),
		cmocka_unit_test(packets_on_different_vls_overtake_and_are_put_together),
		cmocka_unit_test(both_namings_of_four_vls_give_the_same),
		cmocka_unit_test(crossing_multicasts_complete),
		cmocka_unit_test(bit_errors_are_counted_at_each_member),
		cmocka_unit_test(failing_switch_lists_missing_messages),
		cmocka_unit_test(more_trees_than_mlids_are_refused_with_the_count),
		cmocka_unit_test(senders_outside_the_group_receive_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
