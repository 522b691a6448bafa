/* SPDX-License-Identifier: BSD-2-Clause */
/* MADs that take time, held against sums that can be done by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "mgmt/agents/agents.h"
#include "subnet/routing/fabric_for_tests.h"
#include "wire/cursor.h"

/* In ps; and MADs of five blocks, of which so many fit. */
enum { CABLE = 7000, SWITCH = 130000, AGENT = 10000000, ROOM = 9 };
enum { BITS = 8 * (256 + 34), HOPS_MOST = 6 };

struct world {
	struct topo topo;
	struct mad_times times;
	struct agents *agents;
	unsigned answers;
	hd_time now, last;
	uint8_t classes[4]; /* of what has crossed cables */
	unsigned n_crossed;
};

static void arrived(void *context, port_id port, const struct mad_address *from, const uint8_t *mad,
		    size_t size)
{
	struct world *w = context;

	(void)port;
	(void)from;
	assert_int_equal(size, MAD_SIZE);
	if (mad[3] == MAD_GET_RESP) {
		w->answers++;
		w->last = w->now;
	}
}

static void crossed(void *context, const struct agents_crossing *c)
{
	struct world *w = context;

	if (w->n_crossed < sizeof(w->classes))
		w->classes[w->n_crossed] = c->mad[1];
	w->n_crossed++;
}

/* A host at a chain of switches: port 1 leads back, port 2 on. */
static void start(struct world *w, unsigned switches)
{
	struct agents_options o = { 0 };

	*w = (struct world){ .times = { .switch_delay = SWITCH, .vl15_blocks = 5 * ROOM + 4 } };
	const struct agents_events e = { arrived, w, NULL, crossed };

	topo_init(&w->topo);
	for (unsigned i = 0; i < switches; i++)
		add_switch(&w->topo, 2);
	for (unsigned i = 1; i < switches; i++)
		join(&w->topo, i - 1, 2, i, 1);
	add_host(&w->topo, 0, 1);
	for (port_id p = 0; p < w->topo.n_ports; p++) {
		w->topo.ports[p].widths = WIDTH_4X;
		w->topo.ports[p].speeds = 1 << SPEED_SDR;
	}
	topo_number_subnets(&w->topo);
	w->times.cables = hd_alloc(w->topo.n_ports, sizeof(*w->times.cables));
	for (port_id p = 0; p < w->topo.n_ports; p++)
		w->times.cables[p].propagation = CABLE;
	o.times = &w->times;
	w->agents = agents_new(&w->topo, &o, &e);
}

static void finish(struct world *w)
{
	agents_free(w->agents);
	free(w->times.cables);
	topo_fini(&w->topo);
}

static port_id host_of(const struct world *w)
{
	return topo_port_of(&w->topo, w->topo.n_nodes - 1, 1);
}

static void ask(struct world *w, unsigned hops)
{
	struct mad_header h = { .mgmt_class = MAD_SMP_DIRECT,
				.method = MAD_GET,
				.hop_count = (uint8_t)hops,
				.attribute = ATTR_NODE_INFO };
	const struct mad_address to = { .lid = 0xFFFF };
	uint8_t mad[MAD_SIZE];

	mad_write(&h, mad);
	memset(mad + 32, 0xFF, 4);
	for (unsigned i = 1; i <= hops; i++)
		mad[128 + i] = i == 1 ? 1 : 2;
	agents_send(w->agents, host_of(w), &to, mad, MAD_SIZE, w->now);
}

/* Until nothing is under way: notices are said again much later. */
static void run(struct world *w)
{
	while (agents_next(w->agents) < w->now + HD_MS) {
		w->now = agents_next(w->agents);
		agents_run(w->agents, w->now);
	}
}

static void a_question_takes_the_time_of_what_it_passes(void **state)
{
	struct hd_rate rate = hd_rate_of_link(4, SPEED_SDR);

	(void)state;
	for (unsigned hops = 1; hops <= HOPS_MOST; hops++) {
		struct world w;
		hd_time duration = hd_rate_duration(rate, BITS / 8);

		start(&w, HOPS_MOST);
		ask(&w, hops);
		assert_int_equal(w.answers, 0);
		run(&w);
		assert_int_equal(w.answers, 1);
		/* There past hops - 1 switches; back out of each of hops. */
		assert_int_equal(w.last, 2 * duration + 2 * hops * (hd_time)CABLE + AGENT +
						 (2 * (hd_time)hops - 1) * SWITCH);
		finish(&w);
	}
}

/* A link sends one at a time; an agent answers one at a time. */
static void a_row_of_questions_waits_for_the_agent(void **state)
{
	struct hd_rate rate = hd_rate_of_link(4, SPEED_SDR);
	struct world w;

	(void)state;
	start(&w, 1);
	for (unsigned i = 0; i < ROOM; i++)
		ask(&w, 1);
	run(&w);
	assert_int_equal(w.answers, ROOM);
	assert_int_equal(w.last, 2 * (hd_rate_duration(rate, BITS / 8) + CABLE) +
					 ROOM * (hd_time)AGENT + SWITCH);
	finish(&w);
}

static void what_vl15_has_no_room_for_is_lost_and_counted(void **state)
{
	struct world w;
	port_id in;

	(void)state;
	start(&w, 1);
	in = w.topo.ports[host_of(&w)].peer;
	for (unsigned i = 0; i < ROOM + 7; i++)
		ask(&w, 1);
	run(&w);
	assert_int_equal(w.answers, ROOM);
	assert_int_equal(agents_counter(w.agents, in, COUNT_VL15_DROPPED), 7);
	/* The room is free again. */
	for (unsigned i = 0; i < ROOM; i++)
		ask(&w, 1);
	run(&w);
	assert_int_equal(w.answers, 2 * ROOM);
	assert_int_equal(agents_counter(w.agents, in, COUNT_VL15_DROPPED), 7);
	finish(&w);
}

/* A cable that goes while a MAD is under way takes it along, and its room. */
static void what_cannot_go_on_leaves_its_room(void **state)
{
	struct world w;

	(void)state;
	start(&w, 2);
	for (unsigned round = 0; round < 3; round++) {
		w.answers = 0;
		for (unsigned i = 0; i < ROOM; i++)
			ask(&w, 2);
		agents_set_cable(w.agents, topo_port_of(&w.topo, 0, 2), false, w.now);
		run(&w);
		assert_int_equal(w.answers, 0);
		agents_set_cable(w.agents, topo_port_of(&w.topo, 0, 2), true, w.now);
		for (unsigned i = 0; i < ROOM; i++)
			ask(&w, 2);
		run(&w);
		assert_int_equal(w.answers, ROOM);
	}
	finish(&w);
}

/* Performance management waits for a link behind all that is on VL15. */
static void subnet_management_goes_first(void **state)
{
	const struct mad_header h = { .mgmt_class = MAD_PERF, .method = MAD_GET };
	const struct mad_address to = { .lid = 1, .pkey = 0xFFFF, .qp = 1 };
	uint8_t mad[MAD_SIZE];
	struct world w;

	(void)state;
	start(&w, 1);
	agents_port_set(w.agents, host_of(&w), PORT_STATE, LINK_ACTIVE);
	agents_port_set(w.agents, w.topo.ports[host_of(&w)].peer, PORT_STATE, LINK_ACTIVE);
	mad_write(&h, mad);
	for (unsigned i = 0; i < 2; i++)
		agents_send(w.agents, host_of(&w), &to, mad, MAD_SIZE, w.now);
	ask(&w, 1);
	run(&w);
	assert_int_equal(w.n_crossed, 4);
	assert_int_equal(w.classes[0], MAD_SMP_DIRECT);
	assert_int_equal(w.classes[1], MAD_PERF);
	assert_int_equal(w.classes[2], MAD_PERF);
	assert_int_equal(w.classes[3], MAD_SMP_DIRECT);
	finish(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_question_takes_the_time_of_what_it_passes),
		cmocka_unit_test(a_row_of_questions_waits_for_the_agent),
		cmocka_unit_test(what_vl15_has_no_room_for_is_lost_and_counted),
		cmocka_unit_test(what_cannot_go_on_leaves_its_room),
		cmocka_unit_test(subnet_management_goes_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
