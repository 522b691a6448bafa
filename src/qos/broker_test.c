/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/broker.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "subnet/fabric_for_tests.h"
#include "subnet/route.h"

/* A 4 x 4 mesh with two hosts per switch, 4x SDR, routed XY. */
struct fabric {
	struct topo topo;
	struct subnet subnet;
	port_id host[32];
	uint32_t n_hosts;
};

static void fabric_init(struct fabric *f)
{
	const uint32_t dims[] = { 4, 4 };
	struct lid_options lids = { .order = LIDS_NODES, .sm_port = TOPO_NONE };
	struct route_options options = { 0 };
	struct diag d = { .status = HD_OK };

	build_grid(&f->topo, FAMILY_MESH, 2, dims, 2);
	f->n_hosts = 0;
	for (port_id p = 0; p < f->topo.n_ports; p++) {
		f->topo.ports[p].widths = WIDTH_4X;
		f->topo.ports[p].speeds = 1 << SPEED_SDR;
		if (topo_is_end_port(&f->topo, p) &&
		    topo_node_of(&f->topo, p)->kind == NODE_CA)
			f->host[f->n_hosts++] = p;
	}
	subnet_init(&f->subnet, &f->topo);
	assert_int_equal(subnet_assign_lids(&f->subnet, &lids, &d), HD_OK);
	assert_int_equal(subnet_route(&f->subnet, "dor", &options, &d), HD_OK);
	assert_int_equal(f->n_hosts, 32);
}

static void fabric_fini(struct fabric *f)
{
	subnet_fini(&f->subnet);
	topo_fini(&f->topo);
}

static struct broker_request request(const struct fabric *f, uint32_t from,
				     uint32_t to, uint8_t sl, uint64_t mbps)
{
	return (struct broker_request){
		.source = f->host[from],
		.dlid = f->subnet.lid_of_port[f->host[to]],
		.sl = sl,
		.rate = hd_rate_make(mbps * 1000000, 1),
	};
}

static void open_broker(struct broker *b, const struct fabric *f)
{
	struct broker_params params = broker_params_default();
	struct diag d = { .status = HD_OK };

	assert_int_equal(broker_init(b, &f->subnet, &params, &d), HD_OK);
}

static void assert_admitted(struct broker *b, struct broker_request r,
			    uint32_t *id)
{
	struct broker_refusal why;

	assert_int_equal(broker_admit(b, &r, id, &why), HD_OK);
}

/*
 * Of 8 Gb/s a tenth is kept for PBE: 0.8 Gb/s of its connections are admitted,
 * whatever others have, and others never get that tenth.
 */
static void preferential_best_effort_has_a_share_of_its_own(void **state)
{
	(void)state;
	struct fabric f;
	struct broker b;
	struct broker_params params = broker_params_default();
	struct diag d = { .status = HD_OK };
	struct broker_refusal why;
	uint32_t first, id;

	fabric_init(&f);
	params.preferred = (struct hd_ratio){ 1, 10 };
	assert_int_equal(broker_init(&b, &f.subnet, &params, &d), HD_OK);
	const struct fill *low = &b.links[f.host[0]].low;
	uint8_t vl = sl2vl_of(&f.subnet, f.host[0])->vl[10];

	/* A tenth of 64 entries of 255; with SL 2 on the same lane, no more. */
	assert_int_equal(low->slots[vl], 64 * 255 / 10);
	assert_admitted(&b, request(&f, 0, 31, 10, 500), &first);
	assert_int_equal(low->slots[vl], 64 * 255 / 10);
	struct broker_request more = request(&f, 0, 31, 10, 500);

	assert_int_equal(broker_admit(&b, &more, &id, &why), HD_ERR_FULL);
	assert_int_equal(why.reason, BROKER_SL_FULL);
	/* 5.6 Gb/s are left of 8 without a fifth and a tenth. */
	assert_admitted(&b, request(&f, 0, 31, 3, 5300), &id);
	more = request(&f, 0, 31, 3, 301);
	assert_int_equal(broker_admit(&b, &more, &id, &why), HD_ERR_FULL);
	assert_int_equal(why.reason, BROKER_LINK_FULL);
	assert_int_equal(broker_release(&b, first), HD_OK);
	assert_admitted(&b, request(&f, 0, 31, 10, 800), &id);
	assert_int_equal(broker_audit(&b, &d), HD_OK);
	broker_fini(&b);
	fabric_fini(&f);
}

/* 4x SDR carries 8 Gb/s; 20 % is best effort's, so 6.4 Gb/s can be had. */
static void a_link_is_full_when_its_slots_are(void **state)
{
	(void)state;
	struct fabric f;
	struct broker b;
	struct broker_refusal why;
	struct strbuf text = STRBUF_INIT;
	uint32_t id;

	fabric_init(&f);
	open_broker(&b, &f);
	/* 3 Gb/s = 6120 slots; twice is 12240, and 13055 were free. */
	for (int i = 0; i < 2; i++) {
		struct broker_request r = request(&f, 0, 9, 0, 3000);

		assert_int_equal(broker_admit(&b, &r, &id, &why), HD_OK);
	}
	struct broker_request third = request(&f, 0, 9, 1, 500);

	assert_int_equal(broker_admit(&b, &third, &id, &why), HD_ERR_FULL);
	assert_int_equal(why.reason, BROKER_LINK_FULL);
	assert_int_equal(why.link, f.host[0]);
	assert_int_equal(why.needed, 1020);
	assert_int_equal(why.left, 815);
	broker_refusal_print(&b, &why, &text);
	assert_non_null(
		strstr(text.text, "is full: needs 1020 slots, has 815"));
	strbuf_fini(&text);
	broker_fini(&b);
	fabric_fini(&f);
}

/* The refusal on the last link leaves nothing behind on the first. */
static void refusal_takes_nothing(void **state)
{
	(void)state;
	struct fabric f;
	struct broker b;
	struct broker_refusal why;
	struct diag d = { .status = HD_OK };
	uint32_t id, admitted = 0;

	fabric_init(&f);
	open_broker(&b, &f);
	/* Different sources, one destination: its link is what runs out. */
	for (uint32_t from = 1; from < 32; from++) {
		struct broker_request r = request(&f, from, 0, 0, 1000);

		if (broker_admit(&b, &r, &id, &why) == HD_OK)
			admitted++;
		else
			assert_int_equal(f.topo.ports[why.link].peer,
					 f.host[0]);
	}
	assert_int_equal(admitted, 6);
	assert_int_equal(broker_audit(&b, &d), HD_OK);
	broker_fini(&b);
	fabric_fini(&f);
}

static void an_sl_keeps_to_its_share(void **state)
{
	(void)state;
	struct fabric f;
	struct broker b;
	struct broker_params params = broker_params_default();
	struct broker_refusal why;
	struct diag d = { .status = HD_OK };
	uint32_t id;

	fabric_init(&f);
	params.sl_share[2] = (struct hd_ratio){ 1, 10 }; /* 800 Mb/s */
	assert_int_equal(broker_init(&b, &f.subnet, &params, &d), HD_OK);
	struct broker_request r = request(&f, 0, 5, 2, 500);

	assert_int_equal(broker_admit(&b, &r, &id, &why), HD_OK);
	assert_int_equal(broker_admit(&b, &r, &id, &why), HD_ERR_FULL);
	assert_int_equal(why.reason, BROKER_SL_FULL);
	r.sl = 3;
	assert_int_equal(broker_admit(&b, &r, &id, &why), HD_OK);
	broker_fini(&b);
	fabric_fini(&f);
}

static struct broker_request random_request(const struct fabric *f,
					    struct rng *rng)
{
	uint32_t from = (uint32_t)rng_below(rng, 32);
	uint32_t to = (from + 1 + (uint32_t)rng_below(rng, 31)) % 32;

	return request(f, from, to, (uint8_t)rng_below(rng, 8),
		       1 + rng_below(rng, 400));
}

/* Admits and releases at random, then everything; nothing may remain. */
static void release_gives_everything_back(void **state)
{
	(void)state;
	struct fabric f;
	struct broker b, empty;
	struct rng rng;
	struct broker_refusal why;
	struct diag d = { .status = HD_OK };
	uint32_t id = 0;

	fabric_init(&f);
	open_broker(&b, &f);
	open_broker(&empty, &f);
	rng_init(&rng, 3, 0);
	for (int i = 0; i < 3000; i++) {
		struct broker_request r = random_request(&f, &rng);

		if (rng_below(&rng, 3) == 0 && b.n_connections)
			id = (uint32_t)rng_below(&rng, b.n_connections);
		else if (broker_admit(&b, &r, &id, &why) == HD_OK)
			continue;
		bool live = id < b.n_connections && b.connections[id].live;

		assert_int_equal(broker_release(&b, id),
				 live ? HD_OK : HD_ERR_NOT_FOUND);
	}
	assert_int_equal(broker_audit(&b, &d), HD_OK);
	for (id = 0; id < b.n_connections; id++) {
		if (b.connections[id].live)
			assert_int_equal(broker_release(&b, id), HD_OK);
	}
	assert_int_equal(b.n_live, 0);
	for (port_id p = 0; p < f.topo.n_ports; p++) {
		assert_int_equal(b.links[p].low.total,
				 empty.links[p].low.total);
		assert_int_equal(b.links[p].low.n_entries,
				 empty.links[p].low.n_entries);
	}
	broker_fini(&empty);
	broker_fini(&b);
	fabric_fini(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_link_is_full_when_its_slots_are),
		cmocka_unit_test(
			preferential_best_effort_has_a_share_of_its_own),
		cmocka_unit_test(refusal_takes_nothing),
		cmocka_unit_test(an_sl_keeps_to_its_share),
		cmocka_unit_test(release_gives_everything_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
