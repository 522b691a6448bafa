/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Claims of paper 000 about bandwidth that reservations leave, measured in the simulator: best
 * effort, challenged traffic and reservations share it.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "fabric/fabric.h"
#include "fabric/setup_for_tests.h"
#include "qos/admission/broker.h"
#include "sim/guarantees/star_for_tests.h"
#include "sim/report/run_for_tests.h"

/* A broker's star: DB reserved, SLs 8 and 9 for best effort and challenged. */
struct booth {
	struct fabric *fabric;
	struct broker broker;
	port_id host[4];
	struct sim_flow flows[16];
	struct sim_address to;
	uint32_t n_flows;
	struct sim *sim;
	const struct sim_metrics *m;
};

static void booth_init(struct booth *b)
{
	static const char text[] = STAR "qos: {vls: 15}\n"
					"traffic:\n"
					"- {name: x, kind: saturating, sl: 8, payload: 4096}\n"
					"run: {seed: 5}\n";
	struct broker_params params = broker_params_default();
	struct diag d = { .status = HD_OK };

	memset(b, 0, sizeof(*b));
	params.floor_sls = 0; /* SLs 1 to 3, 8 and 9 are all that is sent */
	if (fabric_load(text, strlen(text), "test", NULL, &d, &b->fabric) != HD_OK)
		fail_msg("%u: %s", d.line, d.message);
	const struct selection *hosts = selector_hosts(b->fabric->selector);

	for (uint32_t i = 0; i < 4; i++)
		b->host[i] = hosts->ports[i];
	assert_int_equal(broker_init(&b->broker, &b->fabric->subnet, &params, &d), HD_OK);
	b->to.dlid = b->fabric->subnet.lid_of_port[b->host[3]];
	b->to.target = TOPO_NONE;
}

static void booth_send(struct booth *b, uint32_t from, uint8_t sl)
{
	b->flows[b->n_flows++] = (struct sim_flow){
		.kind = SIM_SATURATING,
		.source = b->fabric->end_of_origin[b->host[from]],
		.to = { .list = &b->to, .n = 1, .self = SIM_NONE },
		.sl = sl,
		.pkey = 0xffff,
		.bytes = 4122,
		.packets = 1,
	};
}

static bool booth_reserve(struct booth *b, uint32_t from, uint8_t sl, uint64_t mbps)
{
	const struct broker_request r =
		broker_request_of(b->host[from], b->to.dlid, sl, hd_rate_make(mbps * 1000000, 1));
	struct broker_refusal why;
	uint32_t id;

	return broker_admit(&b->broker, &r, &id, &why) == HD_OK;
}

static void booth_run(struct booth *b)
{
	struct subnet *s = &b->fabric->subnet;
	struct sim_rules rules;

	for (port_id p = 0; p < s->topo->n_ports; p++) {
		struct vlarb table = { .high_limit = 255 };

		if (b->broker.links[p].rate.num == 0)
			continue;
		broker_tables(&b->broker, p, &table);
		table.high_limit = 255;
		subnet_set_vlarb(s, p, &table);
	}
	sim_rules_init(&rules);
	rules.warmup = HD_MS;
	rules.stop = 40 * HD_MS;
	rules.check_order = false;
	b->sim = sim_new(&b->fabric->setup, b->flows, b->n_flows, &rules);
	(void)sim_run(b->sim, HD_TIME_NEVER, NULL, NULL);
	b->m = sim_metrics(b->sim);
}

static void booth_fini(struct booth *b)
{
	sim_free(b->sim);
	broker_fini(&b->broker);
	fabric_free(b->fabric);
}

/* Share of the link to h3. */
static double part(const struct booth *b, uint32_t flow)
{
	double seconds = (double)(b->m->to - b->m->from) * 1e-12;

	return (double)b->m->flows[flow].delivered_bytes / seconds / 1e9;
}

static void be_and_ch_take_what_db_leaves(void **state)
{
	static struct booth b;

	(void)state;
	booth_init(&b);
	assert_true(booth_reserve(&b, 0, 3, 4000));
	booth_send(&b, 1, 8);
	booth_run(&b); /* DB silent: best effort has all */
	assert_true(part(&b, 0) > 0.99);
	booth_fini(&b);

	booth_init(&b);
	booth_send(&b, 2, 9);
	booth_run(&b); /* no other sender: challenged has all */
	assert_true(part(&b, 0) > 0.99);
	booth_fini(&b);
}

/* Everybody busy: CH sends one packet each time around the table. */
static void ch_sends_one_packet_per_frame(void **state)
{
	static struct booth b;
	uint32_t slots = 0;

	(void)state;
	booth_init(&b);
	for (uint32_t i = 0; i < 3; i++)
		assert_true(booth_reserve(&b, i, 3, 2000));
	for (uint32_t i = 0; i < 3; i++)
		booth_send(&b, i, 3);
	booth_send(&b, 1, 8);
	booth_send(&b, 2, 9);
	booth_run(&b);
	port_id last = b.fabric->topo.ports[b.host[3]].peer;
	const struct fill *f = &b.broker.links[last].low;
	uint32_t packets = 0;

	/* Each entry sends whole packets of 65 blocks. */
	for (uint32_t i = 0; i < FRAME_ENTRIES; i++) {
		if (f->entry[i].vl == 3)
			packets += (f->entry[i].weight + 64u) / 65;
		slots += f->entry[i].weight;
	}
	double db = part(&b, 0) + part(&b, 1) + part(&b, 2);
	double frames = db * 1e9 * 39e-3 / 4122 / packets;
	double ch = (double)b.m->flows[4].delivered;

	print_message("%u slots, %.1f frames, CH %.0f packets\n", slots, frames, ch);
	assert_true(fabs(ch - frames) <= 2);
	booth_fini(&b);
}

/*
 * All send at most the link rate: each gets more than its reservation, unless the link is fully
 * reserved.
 */
static void a_connection_gets_more_than_it_asked_for(void **state)
{
	static const uint64_t asked[2][3] = { { 800, 800, 400 }, { 2900, 1900, 1300 } };
	static struct booth b;

	(void)state;
	for (int full = 0; full < 2; full++) {
		booth_init(&b);
		for (uint32_t i = 0; i < 3; i++)
			assert_true(
				booth_reserve(&b, i, (uint8_t)(i + 1), asked[full][i] * 99 / 100));
		for (uint32_t i = 0; i < 3; i++)
			booth_send(&b, i, (uint8_t)(i + 1));
		booth_send(&b, 0, 8);
		booth_run(&b);
		for (uint32_t i = 0; i < 3; i++) {
			double got = part(&b, i) * 8000;

			/* 65 blocks of 255 round up to 4 packets of 65. */
			assert_true(got >= 0.98 * (double)asked[full][i]);
			if (!full)
				assert_true(got > 1.5 * (double)asked[0][i]);
			else
				assert_true(got < 1.15 * (double)asked[1][i]);
		}
		booth_fini(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(be_and_ch_take_what_db_leaves),
		cmocka_unit_test(ch_sends_one_packet_per_frame),
		cmocka_unit_test(a_connection_gets_more_than_it_asked_for),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
