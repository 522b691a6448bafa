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
	port_id host[HOSTS], twin[2];
};

static void fabric_init(struct fabric *f)
{
	struct lid_options lids = { .order = LIDS_NODES, .sm_port = TOPO_NONE };
	struct route_options options = { 0 };
	struct diag d = { .status = HD_OK };

	topo_init(&f->topo);
	node_id hub = add_switch(&f->topo, HOSTS + 2);

	for (unsigned i = 0; i < HOSTS; i++)
		f->host[i] = topo_port_of(&f->topo, add_host(&f->topo, hub, i + 1), 1);
	node_id twin = topo_add_node(&f->topo, NODE_CA, 2, "twin");

	for (unsigned i = 0; i < 2; i++) {
		f->twin[i] = topo_port_of(&f->topo, twin, i + 1);
		join(&f->topo, twin, i + 1, hub, HOSTS + 1 + i);
	}
	subnet_init(&f->subnet, &f->topo);
	assert_int_equal(subnet_assign_lids(&f->subnet, &lids, &d), HD_OK);
	assert_int_equal(subnet_route(&f->subnet, "minhop", &options, &d), HD_OK);
}

static void fabric_fini(struct fabric *f)
{
	subnet_fini(&f->subnet);
	topo_fini(&f->topo);
}

static port_id found(const struct fabric *f, const char *text)
{
	struct diag d = { .status = HD_OK };
	port_id out = TOPO_NONE;

	return end_find(&f->subnet, text, &d, &out) == HD_OK ? out : TOPO_NONE;
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
	struct fabric f;
	char text[32];

	fabric_init(&f);
	for (unsigned i = 0; i < HOSTS; i++) {
		snprintf(text, sizeof(text), "host%u", i);
		assert_int_equal(found(&f, text), f.host[i]);
		assert_int_equal(named(&f.topo, text), f.host[i]);
		snprintf(text, sizeof(text), "%u", f.subnet.lid_of_port[f.host[i]]);
		assert_int_equal(found(&f, text), f.host[i]);
		snprintf(text, sizeof(text), "0x%llx", (unsigned long long)(HOST_GUID + 2 * i + 1));
		assert_int_equal(found(&f, text), f.host[i]);
		assert_int_equal(named(&f.topo, text), f.host[i]);
		/* Its node's. */
		snprintf(text, sizeof(text), "0x%llx", (unsigned long long)(HOST_GUID + 2 * i));
		assert_int_equal(found(&f, text), f.host[i]);
		assert_int_equal(named(&f.topo, text), f.host[i]);
	}
	assert_int_equal(found(&f, "twin"), f.twin[0]);
	assert_int_equal(found(&f, "twin/1"), f.twin[0]);
	assert_int_equal(found(&f, "twin/2"), f.twin[1]);
	/* LIDs are decimal, whatever they begin with. */
	f.subnet.port_of_lid[0][10] = f.host[2];
	assert_int_equal(found(&f, "0010"), f.host[2]);
	fabric_fini(&f);
}

static void what_is_no_end_port_is_not_found(void **state)
{
	(void)state;
	struct fabric f;
	const char *const wrong[] = {
		"",        "host", "host9", "host0/2", "twin/3", "twin/",
		"switch0", "0",    "49151", "65536",   "0x1",    "3x",
	};

	fabric_init(&f);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(found(&f, wrong[i]), TOPO_NONE);
	assert_int_equal(named(&f.topo, "switch0"), TOPO_NONE);
	assert_int_equal(named(&f.topo, "twin/2"), TOPO_NONE);
	fabric_fini(&f);
}

static void a_star_is_everybody_and_auto_is_left_open(void **state)
{
	(void)state;
	struct fabric f;
	struct group_list open = { 0 };
	struct diag d = { .status = HD_OK };

	fabric_init(&f);
	assert_int_equal(group_add(&f.subnet, "shared=*", 3, &open, &d), HD_OK);
	assert_int_equal(f.subnet.n_groups, 1);
	assert_int_equal(f.subnet.groups[0].n_members, HOSTS + 2);
	assert_int_equal(f.subnet.groups[0].sl, 3);
	/* A source beside the members sends and receives nothing. */
	assert_int_equal(group_add(&f.subnet, "shared@host3=host0,host1", 0, &open, &d), HD_OK);
	assert_int_equal(f.subnet.groups[1].n_members, 2);
	assert_int_equal(f.subnet.groups[1].n_senders, 1);
	assert_int_equal(f.subnet.groups[1].senders[0], f.host[3]);
	assert_int_equal(open.n, 0);
	assert_int_equal(group_add(&f.subnet, "auto=host0,host2", 0, &open, &d), HD_OK);
	assert_int_equal(f.subnet.n_groups, 2);
	assert_int_equal(open.n, 1);
	group_list_fini(&open);
	fabric_fini(&f);
}

static void what_is_no_group_is_refused_and_adds_none(void **state)
{
	(void)state;
	struct fabric f;
	const char *const wrong[] = { "host0,host1", "tree=host0", "shared=host0,host9",
				      "shortest@host9=host0" };
	const char *const unnamed[] = { "shared=host0", ":shared=host0", "a:auto=host0,host1" };

	fabric_init(&f);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct group_list open = { 0 };
		struct diag d = { .status = HD_OK };

		assert_int_not_equal(group_add(&f.subnet, wrong[i], 0, &open, &d), HD_OK);
		assert_int_equal(f.subnet.n_groups + open.n, 0);
	}
	for (size_t i = 0; i < sizeof(unnamed) / sizeof(unnamed[0]); i++) {
		const char *one[] = { unnamed[i] };
		struct option_list list = { .items = one, .n = 1 };
		struct diag d = { .status = HD_OK };

		assert_int_equal(named_groups_add(&f.subnet, &list, &d), HD_ERR_INPUT);
	}
	fabric_fini(&f);
}

/* Names are the last groups of the subnet, whatever was there before. */
static void names_lead_to_groups_and_trees_to_their_source(void **state)
{
	(void)state;
	struct fabric f;
	const char *names[] = { "a:shared=host0,host1", "ab:shortest@host2=host0,host1" };
	struct option_list list = { .items = names, .n = 2 };
	struct group_list open = { 0 };
	struct diag d = { .status = HD_OK };
	uint32_t group = 0;

	fabric_init(&f);
	assert_int_equal(group_add(&f.subnet, "shared=*", 0, &open, &d), HD_OK);
	assert_int_equal(named_groups_add(&f.subnet, &list, &d), HD_OK);
	assert_int_equal(named_group_find(&f.subnet, &list, "group:a", f.host[3], &d, &group),
			 HD_OK);
	assert_int_equal(group, 1);
	assert_int_equal(f.subnet.groups[1].n_senders, 1);
	assert_int_equal(named_group_find(&f.subnet, &list, "group:ab", f.host[2], &d, &group),
			 HD_OK);
	assert_int_equal(group, 2);
	assert_int_equal(named_group_find(&f.subnet, &list, "group:ab", f.host[3], &d, &group),
			 HD_ERR_UNFIT);
	d = (struct diag){ .status = HD_OK };
	assert_int_equal(named_group_find(&f.subnet, &list, "group:abc", f.host[3], &d, &group),
			 HD_ERR_NOT_FOUND);
	fabric_fini(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_end_has_a_name_a_lid_and_a_guid),
		cmocka_unit_test(what_is_no_end_port_is_not_found),
		cmocka_unit_test(a_star_is_everybody_and_auto_is_left_open),
		cmocka_unit_test(what_is_no_group_is_refused_and_adds_none),
		cmocka_unit_test(names_lead_to_groups_and_trees_to_their_source),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
