/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/target.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "qos/fabric_for_tests.h"
#include "subnet/ends.h"
#include "subnet/mcast.h"

#define HEADERS 26 /* LRH, BTH, ICRC, VCRC */
#define PACKETS ((struct qos_packets){ 2048, HEADERS })

static enum hd_status find(struct subnet *s, const struct option_list *groups,
			   const char *line, struct diag *d,
			   struct qos_target *out)
{
	struct qos_requests q = requests_of(line);

	*d = (struct diag){ .status = HD_OK };
	enum hd_status status =
		qos_find_target(s, groups, &q.items[0], PACKETS, d, out);

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
	assert_int_equal(find(&f.subnet, &none, "h0 h2 DB 1Mb/s", &d, &to),
			 HD_OK);
	assert_string_equal(topo_node_of(&f.topo, to.from)->name, "h0");
	assert_null(to.group);
	assert_int_equal(to.packets.overhead, HEADERS);
	port_id there = f.subnet.port_of_lid[0][to.dlid];

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
	assert_int_equal(find(&f.subnet, &none, "\n\nh0 h9 DB 1Mb/s", &d, &to),
			 HD_ERR_NOT_FOUND);
	assert_int_equal(d.line, 3);
	assert_string_equal(d.message, "no end port is called 'h9'");
	assert_int_equal(find(&f.subnet, &none, "\nh8 h9 DB 1Mb/s", &d, &to),
			 HD_ERR_NOT_FOUND);
	assert_int_equal(d.line, 2);
	assert_string_equal(d.message, "no end port is called 'h8'");
	assert_int_equal(
		find(&f.subnet, &none, "h0 group:video DB 1Mb/s", &d, &to),
		HD_ERR_NOT_FOUND);
	assert_int_equal(d.line, 1);
	assert_int_equal(find(&f.subnet, &none, "\nh1 h1 DB 1Mb/s", &d, &to),
			 HD_ERR_INPUT);
	assert_int_equal(d.line, 2);
	assert_string_equal(d.message, "'h1' asks for a way to itself");
	routed_fini(&f);
}

static void another_subnet_is_out_of_reach(void **state)
{
	(void)state;
	struct routed_fabric f;
	struct option_list none = { 0 };
	struct qos_requests q = requests_of("h0 h3 DB 1Mb/s");
	struct diag d = { .status = HD_OK };
	struct qos_target to;
	port_id from, there;

	routed_init(&f, "routed", 2, 2);
	assert_int_equal(find(&f.subnet, &none, "h0 h3 DB 1Mb/s", &d, &to),
			 HD_ERR_UNFIT);
	assert_non_null(strstr(d.message, "in different subnets"));
	d = (struct diag){ .status = HD_OK };
	assert_int_equal(qos_find_ends(&f.topo, &q.items[0], &d, &from, &there),
			 HD_OK);
	assert_int_not_equal(f.topo.ports[from].subnet,
			     f.topo.ports[there].subnet);
	qos_requests_fini(&q);
	routed_fini(&f);
}

/* To a group packets have a GRH of 40 bytes; a sender is let in. */
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
	assert_int_equal(
		find(&f.subnet, &groups, "h0 group:b DB 1Mb/s", &d, &to),
		HD_OK);
	assert_ptr_equal(to.group, &f.subnet.groups[1]);
	assert_int_equal(to.dlid, f.subnet.groups[1].mlid);
	assert_int_equal(to.packets.overhead, HEADERS + 40);
	assert_int_equal(to.group->n_senders, 1);
	assert_int_equal(to.group->senders[0], to.from);
	routed_fini(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_become_ports_and_lids),
		cmocka_unit_test(what_is_not_there_is_refused_with_its_line),
		cmocka_unit_test(another_subnet_is_out_of_reach),
		cmocka_unit_test(a_group_is_found_by_its_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
