/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/admission/broker.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "base/seeds_for_tests.h"
#include "subnet/routing/fabric_for_tests.h"
#include "subnet/routing/route.h"

/* A 4 x 4 mesh with two hosts per switch, 4x SDR, routed XY. */
struct fabric {
	struct topo topo;
	struct subnet subnet;
	port_id host[32];
	uint32_t n_hosts;
};

static void fabric_init(struct fabric *fabric)
{
	const uint32_t dims[] = { 4, 4 };
	struct lid_options lids = { .order = LIDS_NODES, .sm_port = TOPO_NONE };
	struct route_options options = { 0 };
	struct diag d = { .status = HD_OK };

	build_grid(&fabric->topo, FAMILY_MESH, 2, dims, 2);
	fabric->n_hosts = 0;
	for (port_id p = 0; p < fabric->topo.n_ports; p++) {
		fabric->topo.ports[p].widths = WIDTH_4X;
		fabric->topo.ports[p].speeds = 1 << SPEED_SDR;
		if (topo_is_end_port(&fabric->topo, p) &&
		    topo_node_of(&fabric->topo, p)->kind == NODE_CA)
			fabric->host[fabric->n_hosts++] = p;
	}
	subnet_init(&fabric->subnet, &fabric->topo);
	assert_int_equal(subnet_assign_lids(&fabric->subnet, &lids, &d), HD_OK);
	assert_int_equal(subnet_route(&fabric->subnet, "dor", &options, &d), HD_OK);
	assert_int_equal(fabric->n_hosts, 32);
}

static void fabric_fini(struct fabric *fabric)
{
	subnet_fini(&fabric->subnet);
	topo_fini(&fabric->topo);
}

static struct broker_request request(const struct fabric *fabric, uint32_t from, uint32_t to,
				     uint8_t sl, uint64_t mbps)
{
	return broker_request_of(fabric->host[from], fabric->subnet.lid_of_port[fabric->host[to]],
				 sl, hd_rate_make(mbps * 1000000, 1));
}

/* Without floors, so that slots are what requests and shares have. */
static struct broker_params bare_params(void)
{
	struct broker_params params = broker_params_default();

	params.floor_sls = 0;
	return params;
}

static void open_broker(struct broker *b, const struct fabric *fabric)
{
	struct broker_params params = bare_params();
	struct diag d = { .status = HD_OK };

	assert_int_equal(broker_init(b, &fabric->subnet, &params, &d), HD_OK);
}

static void assert_admitted(struct broker *b, struct broker_request r, uint32_t *id)
{
	struct broker_refusal why;

	assert_int_equal(broker_admit(b, &r, id, &why), HD_OK);
}

/*
 * A tenth of 8 Gb/s is kept for PBE: 0.8 Gb/s of its connections are admitted, whatever others
 * have, and others never use that tenth.
 */
static void preferential_best_effort_has_a_share_of_its_own(void **state)
{
	(void)state;
	struct fabric fabric;
	struct broker b;
	struct broker_params params = bare_params();
	struct diag d = { .status = HD_OK };
	struct broker_refusal why;
	uint32_t first, id;

	fabric_init(&fabric);
	params.preferred = (struct hd_ratio){ 1, 10 };
	assert_int_equal(broker_init(&b, &fabric.subnet, &params, &d), HD_OK);
	const struct fill *low = &b.links[fabric.host[0]].low;
	uint8_t vl = sl2vl_of(&fabric.subnet, fabric.host[0])->vl[10];

	/* A tenth of 64 entries of 255; with SL 2 on the same VL, no more. */
	assert_int_equal(low->slots[vl], 64 * 255 / 10);
	assert_admitted(&b, request(&fabric, 0, 31, 10, 500), &first);
	assert_int_equal(low->slots[vl], 64 * 255 / 10);
	struct broker_request more = request(&fabric, 0, 31, 10, 500);

	assert_int_equal(broker_admit(&b, &more, &id, &why), HD_ERR_FULL);
	assert_int_equal(why.reason, BROKER_SL_FULL);
	/* 5.6 Gb/s are left of 8 without a fifth and a tenth. */
	assert_admitted(&b, request(&fabric, 0, 31, 3, 5300), &id);
	more = request(&fabric, 0, 31, 3, 301);
	assert_int_equal(broker_admit(&b, &more, &id, &why), HD_ERR_FULL);
	assert_int_equal(why.reason, BROKER_LINK_FULL);
	assert_int_equal(broker_release(&b, first), HD_OK);
	assert_admitted(&b, request(&fabric, 0, 31, 10, 800), &id);
	assert_int_equal(broker_audit(&b, &d), HD_OK);
	broker_fini(&b);
	fabric_fini(&fabric);
}

/* 4x SDR carries 8 Gb/s; 20 % is best effort's, so 6.4 Gb/s can be had. */
static void a_link_is_full_when_its_slots_are(void **state)
{
	(void)state;
	struct fabric fabric;
	struct broker b;
	struct broker_refusal why;
	struct strbuf text = STRBUF_INIT;
	uint32_t id;

	fabric_init(&fabric);
	open_broker(&b, &fabric);
	/* 3 Gb/s = 6120 slots; twice is 12240, and 13055 were free. */
	for (int i = 0; i < 2; i++) {
		struct broker_request r = request(&fabric, 0, 9, 0, 3000);

		assert_int_equal(broker_admit(&b, &r, &id, &why), HD_OK);
	}
	struct broker_request third = request(&fabric, 0, 9, 1, 500);

	assert_int_equal(broker_admit(&b, &third, &id, &why), HD_ERR_FULL);
	assert_int_equal(why.reason, BROKER_LINK_FULL);
	assert_int_equal(why.link, fabric.host[0]);
	assert_int_equal(why.needed, 1020);
	assert_int_equal(why.left, 815);
	broker_refusal_print(&b, &why, &text);
	assert_non_null(strstr(text.text, "is full: needs 1020 slots, has 815"));
	strbuf_fini(&text);
	broker_fini(&b);
	fabric_fini(&fabric);
}

/* A rejection at the last link releases the first. */
static void refusal_takes_nothing(void **state)
{
	(void)state;
	struct fabric fabric;
	struct broker b;
	struct broker_refusal why;
	struct diag d = { .status = HD_OK };
	uint32_t id, admitted = 0;

	fabric_init(&fabric);
	open_broker(&b, &fabric);
	/* Different sources, one destination: its link is what runs out. */
	for (uint32_t from = 1; from < 32; from++) {
		struct broker_request r = request(&fabric, from, 0, 0, 1000);

		if (broker_admit(&b, &r, &id, &why) == HD_OK)
			admitted++;
		else
			assert_int_equal(fabric.topo.ports[why.link].peer, fabric.host[0]);
	}
	assert_int_equal(admitted, 6);
	assert_int_equal(broker_audit(&b, &d), HD_OK);
	broker_fini(&b);
	fabric_fini(&fabric);
}

static void an_sl_keeps_to_its_share(void **state)
{
	(void)state;
	struct fabric fabric;
	struct broker b;
	struct broker_params params = bare_params();
	struct broker_refusal why;
	struct diag d = { .status = HD_OK };
	uint32_t id;

	fabric_init(&fabric);
	params.sl_share[2] = (struct hd_ratio){ 1, 10 }; /* 800 Mb/s */
	assert_int_equal(broker_init(&b, &fabric.subnet, &params, &d), HD_OK);
	struct broker_request r = request(&fabric, 0, 5, 2, 500);

	assert_int_equal(broker_admit(&b, &r, &id, &why), HD_OK);
	assert_int_equal(broker_admit(&b, &r, &id, &why), HD_ERR_FULL);
	assert_int_equal(why.reason, BROKER_SL_FULL);
	r.way.segment[0].sl = 3;
	assert_int_equal(broker_admit(&b, &r, &id, &why), HD_OK);
	broker_fini(&b);
	fabric_fini(&fabric);
}

static struct broker_request random_request(const struct fabric *fabric, struct rng *rng)
{
	uint32_t from = (uint32_t)rng_below(rng, 32);
	uint32_t to = (from + 1 + (uint32_t)rng_below(rng, 31)) % 32;

	return request(fabric, from, to, (uint8_t)rng_below(rng, 8), 1 + rng_below(rng, 400));
}

/* Admits and releases at random, then releases everything; all slots must be free. */
static void release_gives_everything_back(void **state)
{
	(void)state;
	struct fabric fabric;
	struct broker b, empty;
	struct rng rng;
	struct broker_refusal why;
	struct diag d = { .status = HD_OK };
	uint32_t id = 0;

	fabric_init(&fabric);
	open_broker(&b, &fabric);
	open_broker(&empty, &fabric);
	rng_init(&rng, 3, 0);
	for (int i = 0; i < 3000; i++) {
		struct broker_request r = random_request(&fabric, &rng);

		if (rng_below(&rng, 3) == 0 && b.n_connections)
			id = (uint32_t)rng_below(&rng, b.n_connections);
		else if (broker_admit(&b, &r, &id, &why) == HD_OK)
			continue;
		bool live = id < b.n_connections && b.connections[id].live;

		assert_int_equal(broker_release(&b, id), live ? HD_OK : HD_ERR_NOT_FOUND);
	}
	assert_int_equal(broker_audit(&b, &d), HD_OK);
	for (id = 0; id < b.n_connections; id++) {
		if (b.connections[id].live)
			assert_int_equal(broker_release(&b, id), HD_OK);
	}
	assert_int_equal(b.n_live, 0);
	for (port_id p = 0; p < fabric.topo.n_ports; p++) {
		assert_int_equal(b.links[p].low.total, empty.links[p].low.total);
		assert_int_equal(b.links[p].low.n_entries, empty.links[p].low.n_entries);
	}
	broker_fini(&empty);
	broker_fini(&b);
	fabric_fini(&fabric);
}

/* Slots that a connection holds on the path of a request within a subnet. */
static uint32_t held_on(const struct broker *b, uint32_t id, const struct broker_way *way)
{
	const struct broker_connection *c = &b->connections[id];
	struct tree_path links;
	uint32_t n = 0;

	assert_int_equal(broker_links(b, way, &links), HD_OK);
	for (uint32_t i = 0; i < links.n; i++)
		for (uint32_t k = 0; k < c->n_holds; k++)
			n += c->holds[k].port == links.links[i].port ? c->holds[k].slots : 0;
	tree_path_fini(&links);
	return n;
}

/* The reverse path is part of the request: both are held, or neither. */
static void reverse_paths_are_all_or_nothing(void **state)
{
	(void)state;
	struct fabric fabric;
	struct broker b;
	struct broker_refusal why;
	struct diag d = { .status = HD_OK };
	uint32_t id, big;

	fabric_init(&fabric);
	open_broker(&b, &fabric);
	struct broker_request r = request(&fabric, 3, 17, 2, 1000);
	const struct broker_request back = request(&fabric, 17, 3, 2, 100);

	r.reverse = back.way;
	r.reverse_rate = back.rate;
	assert_admitted(&b, r, &id);
	assert_true(held_on(&b, id, &r.way) > 9 * held_on(&b, id, &r.reverse));
	assert_true(held_on(&b, id, &r.reverse) > 0);
	assert_int_equal(broker_audit(&b, &d), HD_OK);
	assert_int_equal(broker_release(&b, id), HD_OK);
	/* The reverse direction is full: nothing is reserved in the other one. */
	assert_admitted(&b, request(&fabric, 17, 3, 3, 6200), &big);
	assert_int_equal(broker_admit(&b, &r, &id, &why), HD_ERR_FULL);
	assert_int_equal(fabric.topo.ports[why.link].node, fabric.topo.ports[fabric.host[17]].node);
	assert_int_equal(b.links[fabric.host[3]].sl_slots[2], 0);
	assert_int_equal(broker_audit(&b, &d), HD_OK);
	broker_fini(&b);
	fabric_fini(&fabric);
}

/* The hops of a flow lead from one host to another, each from where the last one ends. */
static void assert_leads(const struct fabric *fabric, const struct latency *l, uint32_t flow,
			 const port_id ends[2])
{
	const struct topo_port *ports = fabric->topo.ports;
	const struct latency_hop *hop = &l->hops[l->flows[flow].first];
	uint32_t n = l->flows[flow].n_hops;

	assert_int_equal(hop[0].port, ends[0]);
	for (uint32_t h = 1; h < n; h++)
		assert_int_equal(ports[ports[hop[h - 1].port].peer].node, ports[hop[h].port].node);
	assert_int_equal(ports[hop[n - 1].port].peer, ends[1]);
}

/*
 * Delay bounds count the reverse path as a flow of its own. Hosts 3 and 17 are at the switches (0,
 * 1) and (2, 0): three links between switches and two to hosts.
 */
static void bounds_have_a_flow_for_the_reverse_path(void **state)
{
	(void)state;
	struct fabric fabric;
	struct broker b;
	struct latency l;
	uint32_t id;

	fabric_init(&fabric);
	open_broker(&b, &fabric);
	struct broker_request r = request(&fabric, 3, 17, 2, 1000);
	const struct broker_request back = request(&fabric, 17, 3, 2, 100);
	const port_id ends[] = { fabric.host[3], fabric.host[17], fabric.host[3] };

	assert_admitted(&b, r, &id);
	r.reverse = back.way;
	r.reverse_rate = back.rate;
	assert_admitted(&b, r, &id);
	latency_init(&l, &b, NULL, false);
	assert_int_equal(l.n_flows, 3);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(l.flows[i].connection, i > 0);
		assert_int_equal(l.flows[i].reverse, i == 2);
		assert_int_equal(l.flows[i].n_hops, 5);
		assert_leads(&fabric, &l, i, &ends[i == 2]);
	}
	latency_fini(&l);
	broker_fini(&b);
	fabric_fini(&fabric);
}

/* ---- laws of the tables at the start ------------------------------------ */

static uint32_t weight_in(const struct vlarb_entry *entries, unsigned n, unsigned vl)
{
	uint32_t sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += entries[i].vl == vl ? entries[i].weight : 0;
	return sum;
}

/* VLs by output port of the mesh, one of them by input port as well. */
static void draw_maps(struct fabric *fabric, struct rng *r)
{
	struct subnet *s = &fabric->subnet;
	struct sl2vl map;

	for (port_id p = 0; p < fabric->topo.n_ports; p++) {
		const struct topo_port *port = &fabric->topo.ports[p];
		switch_id sw = s->switch_of_node[port->node];
		unsigned in = (unsigned)rng_below(r, 5);

		for (unsigned sl = 0; sl < N_SLS; sl++)
			map.vl[sl] = (uint8_t)rng_below(r, s->vls_of_port[p]);
		if (s->rate_of_port[p].num == 0)
			continue;
		if (sw == TOPO_NONE)
			subnet_set_port_sl2vl(s, p, &map);
		else
			subnet_set_sl2vl(s, sw, in, port->number, &map);
	}
}

/* The VL of an SL at an output, by input port; VL_MANAGEMENT: none. */
static unsigned vl_at(const struct fabric *fabric, port_id p, unsigned in, uint8_t sl)
{
	const struct topo_port *port = &fabric->topo.ports[p];
	switch_id sw = fabric->subnet.switch_of_node[port->node];

	if (sw == TOPO_NONE)
		return in ? VL_MANAGEMENT : sl2vl_of(&fabric->subnet, p)->vl[sl];
	return in <= fabric->topo.nodes[port->node].n_ports
		       ? sl2vl_at(&fabric->subnet, sw, in, port->number)->vl[sl]
		       : VL_MANAGEMENT;
}

/* The table of one port: see every_vl_of_a_class_has_an_entry. */
static void check_entries(const struct fabric *fabric, const struct broker *b, port_id p)
{
	const struct broker_link *link = &b->links[p];
	struct vlarb t = { 0 };

	broker_tables(b, p, &t);
	for (unsigned i = 0; i < 9 * N_SLS; i++) {
		uint8_t sl = (uint8_t)(i % N_SLS);
		unsigned vl = vl_at(fabric, p, i / N_SLS, sl);

		if (sl > 9 || vl == VL_MANAGEMENT)
			continue;
		assert_true(weight_in(t.low, t.n_low, vl) > 0);
		if (sl >= 4 && sl < 8)
			assert_ptr_equal(broker_fill(link, vl), &link->high);
	}
	assert_true(link->low.total >= 3264 + 1);
}

/* Whatever the maps: no VL of a class is without an entry at a port, DBTS is
 * in the high table where it has reservations, and shares are kept. */
static void every_vl_of_a_class_has_an_entry(void **state)
{
	struct rng r;

	(void)state;
	rng_init(&r, seed_of_run(11), 0);
	for (unsigned round = 0; round < cases_of_run(10, 200); round++) {
		struct broker_params params = broker_params_default();
		struct diag d = { .status = HD_OK };
		struct fabric fabric;
		struct broker b;

		fabric_init(&fabric);
		draw_maps(&fabric, &r);
		params.high_sls = 0xf0;
		assert_int_equal(broker_init(&b, &fabric.subnet, &params, &d), HD_OK);
		for (port_id p = 0; p < fabric.topo.n_ports; p++) {
			if (b.links[p].rate.num)
				check_entries(&fabric, &b, p);
		}
		broker_fini(&b);
		fabric_fini(&fabric);
	}
}

/* Best effort on SL 8 has the VL of SL 0, on which nothing can be guaranteed. */
static void unreserved_packets_refuse_promises_on_their_vl(void **state)
{
	struct broker_params params = broker_params_default();
	struct diag d = { .status = HD_OK };
	struct broker_refusal why;
	struct fabric fabric;
	struct broker b;
	uint32_t id;

	(void)state;
	fabric_init(&fabric);
	subnet_limit_vls(&fabric.subnet, 8);
	params.unreserved_sls = 1 << 8;
	assert_int_equal(broker_init(&b, &fabric.subnet, &params, &d), HD_OK);
	struct broker_request r = request(&fabric, 0, 9, 0, 100);

	assert_int_equal(sl2vl_of(&fabric.subnet, fabric.host[0])->vl[8], 0);
	assert_int_equal(broker_admit(&b, &r, &id, &why), HD_ERR_FULL);
	assert_int_equal(why.reason, BROKER_SHARED_VL);
	assert_int_equal(why.link, fabric.host[0]);
	assert_admitted(&b, request(&fabric, 0, 9, 1, 100), &id);
	broker_fini(&b);
	fabric_fini(&fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_link_is_full_when_its_slots_are),
		cmocka_unit_test(preferential_best_effort_has_a_share_of_its_own),
		cmocka_unit_test(refusal_takes_nothing),
		cmocka_unit_test(an_sl_keeps_to_its_share),
		cmocka_unit_test(release_gives_everything_back),
		cmocka_unit_test(reverse_paths_are_all_or_nothing),
		cmocka_unit_test(bounds_have_a_flow_for_the_reverse_path),
		cmocka_unit_test(every_vl_of_a_class_has_an_entry),
		cmocka_unit_test(unreserved_packets_refuse_promises_on_their_vl),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
