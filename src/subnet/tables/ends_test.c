/* SPDX-License-Identifier: BSD-2-Clause */
#include "subnet/tables/ends.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "subnet/multicast/mcast.h"
#include "subnet/routing/fabric_for_tests.h"
#include "subnet/routing/route.h"

#define HOSTS 4

/* One switch, host0 to host3, and an adapter with two ports. */
struct fabric {
	struct topo topo;
	struct subnet subnet;
	port_id host[HOSTS], dual[2];
};

static void fabric_init(struct fabric *fabric)
{
	struct lid_options lids = { .order = LIDS_NODES, .sm_port = TOPO_NONE };
	struct route_options options = { 0 };
	struct diag d = { .status = HD_OK };

	topo_init(&fabric->topo);
	node_id hub = add_switch(&fabric->topo, HOSTS + 2);

	for (unsigned i = 0; i < HOSTS; i++)
		fabric->host[i] =
			topo_port_of(&fabric->topo, add_host(&fabric->topo, hub, i + 1), 1);
	node_id dual = topo_add_node(&fabric->topo, NODE_CA, 2, "dual");

	for (unsigned i = 0; i < 2; i++) {
		fabric->dual[i] = topo_port_of(&fabric->topo, dual, i + 1);
		join(&fabric->topo, dual, i + 1, hub, HOSTS + 1 + i);
	}
	subnet_init(&fabric->subnet, &fabric->topo);
	assert_int_equal(subnet_assign_lids(&fabric->subnet, &lids, &d), HD_OK);
	assert_int_equal(subnet_route(&fabric->subnet, "minhop", &options, &d), HD_OK);
}

static void fabric_fini(struct fabric *fabric)
{
	subnet_fini(&fabric->subnet);
	topo_fini(&fabric->topo);
}

static port_id found(const struct fabric *fabric, const char *text)
{
	struct diag d = { .status = HD_OK };
	port_id out = TOPO_NONE;

	return end_find(&fabric->subnet, text, &d, &out) == HD_OK ? out : TOPO_NONE;
}

static port_id named(const struct topo *t, const char *name)
{
	struct diag d = { .status = HD_OK };
	port_id out = TOPO_NONE;

	if (end_named(t, name, &d, &out) != HD_OK)
		assert_int_equal(d.status, HD_ERR_NOT_FOUND);
	return out;
}

static void every_end_has_a_name_a_lid_and_a_guid(void **state)
{
	(void)state;
	struct fabric fabric;
	char text[32];

	fabric_init(&fabric);
	for (unsigned i = 0; i < HOSTS; i++) {
		snprintf(text, sizeof(text), "host%u", i);
		assert_int_equal(found(&fabric, text), fabric.host[i]);
		assert_int_equal(named(&fabric.topo, text), fabric.host[i]);
		snprintf(text, sizeof(text), "%u", fabric.subnet.lid_of_port[fabric.host[i]]);
		assert_int_equal(found(&fabric, text), fabric.host[i]);
		snprintf(text, sizeof(text), "0x%llx", (unsigned long long)(HOST_GUID + 2 * i + 1));
		assert_int_equal(found(&fabric, text), fabric.host[i]);
		assert_int_equal(named(&fabric.topo, text), fabric.host[i]);
		/* Its node's. */
		snprintf(text, sizeof(text), "0x%llx", (unsigned long long)(HOST_GUID + 2 * i));
		assert_int_equal(found(&fabric, text), fabric.host[i]);
		assert_int_equal(named(&fabric.topo, text), fabric.host[i]);
	}
	assert_int_equal(found(&fabric, "dual"), fabric.dual[0]);
	assert_int_equal(found(&fabric, "dual/1"), fabric.dual[0]);
	assert_int_equal(found(&fabric, "dual/2"), fabric.dual[1]);
	/* LIDs are decimal, whatever their first digit. */
	fabric.subnet.port_of_lid[0][10] = fabric.host[2];
	assert_int_equal(found(&fabric, "0010"), fabric.host[2]);
	fabric_fini(&fabric);
}

static void rejects_names_of_other_ports(void **state)
{
	(void)state;
	struct fabric fabric;
	const char *const wrong[] = {
		"",        "host", "host9", "host0/2", "dual/3", "dual/",
		"switch0", "0",    "49151", "65536",   "0x1",    "3x",
	};

	fabric_init(&fabric);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(found(&fabric, wrong[i]), TOPO_NONE);
	assert_int_equal(named(&fabric.topo, "switch0"), TOPO_NONE);
	assert_int_equal(named(&fabric.topo, "dual/2"), TOPO_NONE);
	fabric_fini(&fabric);
}

static void a_star_is_everybody_and_auto_is_left_open(void **state)
{
	(void)state;
	struct fabric fabric;
	struct group_list open = { 0 };
	struct diag d = { .status = HD_OK };

	fabric_init(&fabric);
	assert_int_equal(group_add(&fabric.subnet, "shared=*", 3, &open, &d), HD_OK);
	assert_int_equal(fabric.subnet.n_groups, 1);
	assert_int_equal(fabric.subnet.groups[0].n_members, HOSTS + 2);
	assert_int_equal(fabric.subnet.groups[0].sl, 3);
	/* A source outside the group sends and receives nothing. */
	assert_int_equal(group_add(&fabric.subnet, "shared@host3=host0,host1", 0, &open, &d),
			 HD_OK);
	assert_int_equal(fabric.subnet.groups[1].n_members, 2);
	assert_int_equal(fabric.subnet.groups[1].n_senders, 1);
	assert_int_equal(fabric.subnet.groups[1].senders[0], fabric.host[3]);
	assert_int_equal(open.n, 0);
	assert_int_equal(group_add(&fabric.subnet, "auto=host0,host2", 0, &open, &d), HD_OK);
	assert_int_equal(fabric.subnet.n_groups, 2);
	assert_int_equal(open.n, 1);
	tables_group_list_fini(&open);
	fabric_fini(&fabric);
}

static void rejects_invalid_groups_without_adding_any(void **state)
{
	(void)state;
	struct fabric fabric;
	const char *const wrong[] = { "host0,host1", "tree=host0", "shared=host0,host9",
				      "shortest@host9=host0" };
	const char *const unnamed[] = { "shared=host0", ":shared=host0", "a:auto=host0,host1" };

	fabric_init(&fabric);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct group_list open = { 0 };
		struct diag d = { .status = HD_OK };

		assert_int_not_equal(group_add(&fabric.subnet, wrong[i], 0, &open, &d), HD_OK);
		assert_int_equal(fabric.subnet.n_groups + open.n, 0);
	}
	for (size_t i = 0; i < sizeof(unnamed) / sizeof(unnamed[0]); i++) {
		const char *one[] = { unnamed[i] };
		struct option_list list = { .items = one, .n = 1 };
		struct diag d = { .status = HD_OK };

		assert_int_equal(named_groups_add(&fabric.subnet, &list, &d), HD_ERR_INPUT);
	}
	fabric_fini(&fabric);
}

/* Names refer to the last groups of the subnet, whatever existed before. */
static void names_lead_to_groups_and_trees_to_their_source(void **state)
{
	(void)state;
	struct fabric fabric;
	const char *names[] = { "a:shared=host0,host1", "ab:shortest@host2=host0,host1" };
	struct option_list list = { .items = names, .n = 2 };
	struct group_list open = { 0 };
	struct diag d = { .status = HD_OK };
	uint32_t group = 0;

	fabric_init(&fabric);
	assert_int_equal(group_add(&fabric.subnet, "shared=*", 0, &open, &d), HD_OK);
	assert_int_equal(named_groups_add(&fabric.subnet, &list, &d), HD_OK);
	assert_int_equal(
		named_group_find(&fabric.subnet, &list, "group:a", fabric.host[3], &d, &group),
		HD_OK);
	assert_int_equal(group, 1);
	assert_int_equal(fabric.subnet.groups[1].n_senders, 1);
	assert_int_equal(
		named_group_find(&fabric.subnet, &list, "group:ab", fabric.host[2], &d, &group),
		HD_OK);
	assert_int_equal(group, 2);
	assert_int_equal(
		named_group_find(&fabric.subnet, &list, "group:ab", fabric.host[3], &d, &group),
		HD_ERR_UNFIT);
	d = (struct diag){ .status = HD_OK };
	assert_int_equal(
		named_group_find(&fabric.subnet, &list, "group:abc", fabric.host[3], &d, &group),
		HD_ERR_NOT_FOUND);
	fabric_fini(&fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_end_has_a_name_a_lid_and_a_guid),
		cmocka_unit_test(rejects_names_of_other_ports),
		cmocka_unit_test(a_star_is_everybody_and_auto_is_left_open),
		cmocka_unit_test(rejects_invalid_groups_without_adding_any),
		cmocka_unit_test(names_lead_to_groups_and_trees_to_their_source),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
