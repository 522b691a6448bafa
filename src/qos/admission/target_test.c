/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/admission/target.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "qos/admission/fabric_for_tests.h"
#include "subnet/multicast/mcast.h"
#include "subnet/tables/ends.h"

#define HEADERS 26 /* LRH, BTH, ICRC, VCRC */

static enum hd_status find(struct subnet *s, const struct option_list *groups, const char *line,
			   struct diag *d, struct qos_target *out)
{
	struct qos_requests q = requests_of(line);
	const struct qos_terms terms = { .packets = { 2048, HEADERS },
					 .margin = { 0, 1 },
					 .groups = *groups };

	*d = (struct diag){ .status = HD_OK };
	enum hd_status status = qos_find_target(s, &terms, &q.items[0], d, out);

	qos_requests_fini(&q);
	return status;
}

static void names_become_ports_and_lids(void **state)
{
	(void)state;
	struct routed_fabric f;
	struct option_list none = { 0 };
	struct qos_target to;
	struct diag d;

	routed_init(&f, "star", 1, 3);
	assert_int_equal(find(&f.subnet, &none, "h0 h2 DB 1Mb/s", &d, &to), HD_OK);
	assert_string_equal(topo_node_of(&f.topo, to.from)->name, "h0");
	assert_null(to.group);
	assert_int_equal(to.request.burst, 2048 + HEADERS);
	assert_int_equal(to.request.way.n, 1);
	assert_int_equal(to.request.way.segment[0].source, to.from);
	port_id there = f.subnet.port_of_lid[0][to.request.way.segment[0].dlid];

	assert_int_equal(there, to.to);
	assert_string_equal(topo_node_of(&f.topo, there)->name, "h2");
	routed_fini(&f);
}

static void what_is_not_there_is_refused_with_its_line(void **state)
{
	(void)state;
	struct routed_fabric f;
	struct option_list none = { 0 };
	struct qos_target to;
	struct diag d;

	routed_init(&f, "star", 1, 3);
	assert_int_equal(find(&f.subnet, &none, "\n\nh0 h9 DB 1Mb/s", &d, &to), HD_ERR_NOT_FOUND);
	assert_int_equal(d.line, 3);
	assert_string_equal(d.message, "no end port is called 'h9'");
	assert_int_equal(find(&f.subnet, &none, "\nh8 h9 DB 1Mb/s", &d, &to), HD_ERR_NOT_FOUND);
	assert_int_equal(d.line, 2);
	assert_string_equal(d.message, "no end port is called 'h8'");
	assert_int_equal(find(&f.subnet, &none, "h0 group:video DB 1Mb/s", &d, &to),
			 HD_ERR_NOT_FOUND);
	assert_int_equal(d.line, 1);
	assert_int_equal(find(&f.subnet, &none, "\nh1 h1 DB 1Mb/s", &d, &to), HD_ERR_INPUT);
	assert_int_equal(d.line, 2);
	assert_string_equal(d.message, "'h1' asks for a way to itself");
	routed_fini(&f);
}

/* Across subnets packets have a GRH, and each subnet an SL for the TClass. */
static void a_way_to_another_subnet_has_a_part_in_each(void **state)
{
	(void)state;
	struct routed_fabric f;
	struct qos_requests q = requests_of("h0 h5 DBTS 1Gb/s 2048 90us");
	static uint8_t sls[3][256];
	const struct qos_terms terms = {
		.packets = { 2048, HEADERS },
		.margin = { 0, 1 },
		.sl_of_tclass = (const uint8_t(*)[256])sls,
	};
	struct diag d = { .status = HD_OK };
	struct qos_target to;

	/* DBTS of 1 Gb/s is SL 7, and so is its TClass. */
	sls[1][7] = 3;
	sls[2][7] = 9;
	routed_init(&f, "routed", 3, 2);
	assert_int_equal(qos_find_target(&f.subnet, &terms, &q.items[0], &d, &to), HD_OK);
	assert_int_equal(to.request.way.n, 3);
	assert_int_equal(to.request.burst, 2048 + HEADERS + 40);
	assert_int_equal(to.request.deadline, 90 * HD_US);
	static const uint8_t expected[] = { 7, 3, 9 };

	for (uint32_t i = 0; i < 3; i++) {
		const struct broker_segment *g = &to.request.way.segment[i];

		assert_int_equal(f.topo.ports[g->source].subnet, i);
		assert_int_equal(g->sl, expected[i]);
	}
	qos_requests_fini(&q);
	routed_fini(&f);
}

/* Packets to a group have a GRH of 40 bytes; a sender may join. */
static void a_group_is_found_by_its_name(void **state)
{
	(void)state;
	struct routed_fabric f;
	const char *names[] = { "a:shared=h1,h2", "b:shared=h2,h3" };
	struct option_list groups = { .items = names, .n = 2 };
	struct diag d = { .status = HD_OK };
	struct qos_target to;

	routed_init(&f, "star", 1, 5);
	assert_int_equal(named_groups_add(&f.subnet, &groups, &d), HD_OK);
	assert_int_equal(find(&f.subnet, &groups, "h0 group:b DB 1Mb/s", &d, &to), HD_OK);
	assert_ptr_equal(to.group, &f.subnet.groups[1]);
	assert_int_equal(to.request.way.segment[0].dlid, f.subnet.groups[1].mlid);
	assert_int_equal(to.request.burst, 2048 + HEADERS + 40);
	assert_int_equal(to.group->n_senders, 1);
	assert_int_equal(to.group->senders[0], to.from);
	routed_fini(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_become_ports_and_lids),
		cmocka_unit_test(what_is_not_there_is_refused_with_its_line),
		cmocka_unit_test(a_way_to_another_subnet_has_a_part_in_each),
		cmocka_unit_test(a_group_is_found_by_its_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
