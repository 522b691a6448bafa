/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/admission/tree.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "qos/admission/broker.h"
#include "qos/admission/tree_for_tests.h"
#include "subnet/multicast/mcast.h"
#include "subnet/routing/fabric_for_tests.h"
#include "subnet/routing/route.h"

/* A row of four switches, one host each, 4x SDR; host 0 sends to the rest. */
struct row {
	struct topo topo;
	struct subnet subnet;
	port_id host[4];
	lid_t mlid;
};

static void row_init_on(struct row *f, enum topo_family family, unsigned n_dims,
			const uint32_t *dims)
{
	struct lid_options lids = { .order = LIDS_NODES, .sm_port = TOPO_NONE };
	struct diag d = { .status = HD_OK };
	uint32_t n = 0;

	build_grid(&f->topo, family, n_dims, dims, 1);
	for (port_id p = 0; p < f->topo.n_ports; p++) {
		f->topo.ports[p].widths = WIDTH_4X;
		f->topo.ports[p].speeds = 1 << SPEED_SDR;
		if (topo_is_end_port(&f->topo, p))
			f->host[n++] = p;
	}
	assert_int_equal(n, 4);
	subnet_init(&f->subnet, &f->topo);
	assert_int_equal(subnet_assign_lids(&f->subnet, &lids, &d), HD_OK);
	assert_int_equal(subnet_route(&f->subnet, "minhop", NULL, &d), HD_OK);
	struct mcast_group m = {
		.method = MCAST_SHORTEST, .source = f->host[0], .members = f->host, .n_members = 4
	};

	assert_int_equal(mcast_add(&f->subnet, &m, &d), HD_OK);
	f->mlid = f->subnet.groups[0].mlid;
}

static void row_init(struct row *f)
{
	const uint32_t dims[] = { 4, 1 };

	row_init_on(f, FAMILY_MESH, 2, dims);
}

static void row_fini(struct row *f)
{
	subnet_fini(&f->subnet);
	topo_fini(&f->topo);
}

static void a_tree_has_each_link_once(void **state)
{
	struct row f;
	struct tree_path t;
	struct path path;

	(void)state;
	row_init(&f);
	assert_int_equal(tree_walk(&f.subnet, f.host[0], f.mlid, 0, &t), HD_OK);
	/* Up, three cables along the row, three down; not the sender's own host. */
	assert_int_equal(t.n, 1 + 3 + 4 - 1);
	for (uint32_t i = 0; i < t.n; i++) {
		for (uint32_t k = 0; k < i; k++)
			assert_int_not_equal(t.links[i].port, t.links[k].port);
		assert_true(t.links[i].before == TREE_ROOT || t.links[i].before < i);
	}
	for (unsigned i = 1; i < 4; i++) {
		assert_int_equal(tree_path_to(&t, &f.subnet, f.host[i], &path), HD_OK);
		assert_int_equal(path.n_hops, i + 2);
		assert_int_equal(path.port[0], f.host[0]);
		assert_int_equal(f.topo.ports[path.port[i + 1]].peer, f.host[i]);
	}
	assert_int_equal(tree_path_to(&t, &f.subnet, f.host[0], &path), HD_ERR_NOT_FOUND);
	tree_path_fini(&t);
	assert_int_equal(tree_walk(&f.subnet, f.host[0], f.mlid + 1, 0, &t), HD_ERR_NOT_FOUND);
	tree_path_fini(&t);
	row_fini(&f);
}

static void a_circle_ends_the_walk(void **state)
{
	const uint32_t dims[] = { 4 };
	struct row f;
	struct tree_path t;

	(void)state;
	row_init_on(&f, FAMILY_RING, 1, dims);
	/* Both directions from every switch: a cycle. */
	for (switch_id sw = 0; sw < f.subnet.n_switches; sw++)
		f.subnet.mft[0].ports[sw * f.subnet.mft[0].words] |= 1 << 1 | 1 << 2;
	assert_int_equal(tree_walk(&f.subnet, f.host[0], f.mlid, 0, &t), HD_ERR_NOT_FOUND);
	assert_true(t.n > f.topo.n_ports);
	tree_path_fini(&t);
	row_fini(&f);
}

static struct broker_request ask(const struct row *f, uint32_t from, lid_t to, uint64_t mbps)
{
	return broker_request_of(f->host[from], to, 1, hd_rate_make(mbps * 1000000, 1));
}

/* 4x SDR carries 8 Gb/s; 20 % is best effort's: 6.4 Gb/s can be had. */
static void a_group_is_admitted_on_all_links_or_none(void **state)
{
	struct row f;
	struct broker b;
	struct broker_params params = broker_params_default();
	struct broker_refusal why;
	struct diag d = { .status = HD_OK };
	uint32_t id, unicast;

	(void)state;
	row_init(&f);
	params.floor_sls = 0;
	assert_int_equal(broker_init(&b, &f.subnet, &params, &d), HD_OK);
	/* Host 2 to 3 takes most of the last cable of the row ... */
	struct broker_request last = ask(&f, 2, f.subnet.lid_of_port[f.host[3]], 4000);

	assert_int_equal(broker_admit(&b, &last, &unicast, &why), HD_OK);
	/* ... so 3 Gb/s to all do not fit there, and nowhere then. */
	struct broker_request big = ask(&f, 0, f.mlid, 3000);

	assert_int_equal(broker_admit(&b, &big, &id, &why), HD_ERR_FULL);
	assert_int_equal(why.reason, BROKER_LINK_FULL);
	assert_int_equal(broker_audit(&b, &d), HD_OK);
	/* 2 Gb/s fit, once on each link although three members receive them. */
	struct broker_request small = ask(&f, 0, f.mlid, 2000);

	assert_int_equal(broker_admit(&b, &small, &id, &why), HD_OK);
	assert_int_equal(broker_audit(&b, &d), HD_OK);
	struct broker_request second = ask(&f, 0, f.subnet.lid_of_port[f.host[1]], 4000);

	assert_int_equal(broker_admit(&b, &second, &id, &why), HD_OK);
	/* Released slots are available again. */
	assert_int_equal(broker_release(&b, unicast), HD_OK);
	assert_int_equal(broker_release(&b, 1), HD_OK);
	assert_int_equal(broker_release(&b, id), HD_OK);
	assert_int_equal(broker_admit(&b, &big, &id, &why), HD_OK);
	assert_int_equal(broker_audit(&b, &d), HD_OK);
	broker_fini(&b);
	row_fini(&f);
}

/* 4x SDR: 1000 bytes a microsecond. */
static struct bound_port *make_ports(const struct topo *t)
{
	struct bound_port *ports = calloc(t->n_ports, sizeof(*ports));

	for (port_id p = 0; p < t->n_ports; p++)
		ports[p] = (struct bound_port){
			.rate = 1e9,
			.max_packet = 1000,
			.high_limit = HIGH_LIMIT_NONE,
		};
	return ports;
}

static void members_are_served_within_their_bounds(void **state)
{
	struct row f;
	struct tree_path t;
	struct path paths[3];
	struct bound_flow flows[4];
	double delay[3 + 4 + 5 + 3];
	struct diag d = { .status = HD_OK };

	(void)state;
	row_init(&f);
	assert_int_equal(tree_walk(&f.subnet, f.host[0], f.mlid, 0, &t), HD_OK);
	struct tree_flow group = {
		.tree = &t,
		.subnet = &f.subnet,
		.like = { .class = CLASS_DBTS, .burst = 1000, .period = 1e-3 },
		.members = &f.host[1],
		.n_members = 3,
	};

	assert_int_equal(tree_flows(&group, paths, flows), HD_OK);
	assert_int_equal(flows[0].n_trunk, 0);
	assert_int_equal(flows[1].n_trunk, 2); /* up, and one cable */
	assert_int_equal(flows[2].n_trunk, 3);
	assert_int_equal(flows[2].trunk, 1);
	struct bound_port *ports = make_ports(&f.topo);
	struct bound_network network = { ports, f.topo.n_ports, flows, 3, false };

	/* Alone: at each link its own packet, and one of a lower class. */
	assert_int_equal(bound_delays(BOUND_PERIODIC, &network, &d, delay), HD_OK);
	for (unsigned i = 0; i < 12; i++)
		assert_true(fabs(delay[i] - 2e-6) < 1e-12);
	/* A unicast flow of host 1 to 2 waits for one copy, not for two. */
	struct path unicast;

	assert_int_equal(
		path_walk(&f.subnet, f.host[1], f.subnet.lid_of_port[f.host[2]], 0, &unicast),
		HD_OK);
	flows[3] = (struct bound_flow){ .class = CLASS_DBTS,
					.burst = 1000,
					.period = 1e-3,
					.path = unicast.port,
					.n_hops = unicast.n_hops };
	network = (struct bound_network){ ports, f.topo.n_ports, flows, 4, false };
	assert_int_equal(bound_delays(BOUND_PERIODIC, &network, &d, delay), HD_OK);
	assert_true(fabs(delay[12] - 2e-6) < 1e-12);
	assert_true(fabs(delay[12 + 1] - 3e-6) < 1e-12);
	free(ports);
	tree_path_fini(&t);
	row_fini(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_tree_has_each_link_once),
		cmocka_unit_test(a_circle_ends_the_walk),
		cmocka_unit_test(a_group_is_admitted_on_all_links_or_none),
		cmocka_unit_test(members_are_served_within_their_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
