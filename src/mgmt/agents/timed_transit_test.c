/* SPDX-License-Identifier: BSD-2-Clause */
/* Timed MADs against sums computed by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "mgmt/agents/agents.h"
#include "subnet/routing/fabric_for_tests.h"
#include "wire/cursor.h"

/* Times in ps; ROOM MADs of five blocks fit into the VL15 buffer. */
enum { CABLE = 7000, SWITCH = 130000, AGENT = 10000000, ROOM = 9 };
enum { BITS = 8 * (256 + 34), HOPS_MOST = 6 };

struct transit_fixture {
	struct topo topo;
	struct agents_timing times;
	struct agents *agents;
	unsigned responses;
	hd_time now, last;
	size_t size;        /* of the last message of several segments */
	uint8_t classes[4]; /* of MADs in the order in which they crossed cables */
	unsigned n_on_link;
};

static void arrived(void *context, port_id port, const struct mad_address *from, const uint8_t *mad,
		    size_t size)
{
	struct transit_fixture *w = context;

	(void)port;
	(void)from;
	if (size > MAD_SIZE) {
		w->size = size;
		w->last = w->now;
	} else if (mad[3] == MAD_GET_RESP) {
		w->responses++;
		w->last = w->now;
	}
}

static void on_link(void *context, const struct agents_link_event *c)
{
	struct transit_fixture *w = context;

	if (w->n_on_link < sizeof(w->classes))
		w->classes[w->n_on_link] = c->mad[1];
	w->n_on_link++;
}

/* A host on a chain of switches: port 1 leads back to it, port 2 away. */
static void start(struct transit_fixture *w, unsigned switches)
{
	struct agents_options o = { 0 };

	*w = (struct transit_fixture){ .times = { .switch_delay = SWITCH,
						  .agent_delay = AGENT,
						  .vl15_blocks = 5 * ROOM + 4 } };
	const struct agents_events e = { arrived, w, NULL, on_link };

	topo_init(&w->topo);
	for (unsigned i = 0; i < switches; i++) {
		node_id v = add_switch(&w->topo, 2);

		w->topo.nodes[v].enhanced_port0 = true;
	}
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

static void finish(struct transit_fixture *w)
{
	agents_free(w->agents);
	free(w->times.cables);
	topo_fini(&w->topo);
}

static port_id host_of(const struct transit_fixture *w)
{
	return topo_port_of(&w->topo, w->topo.n_nodes - 1, 1);
}

static void send_request(struct transit_fixture *w, unsigned hops)
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

/* Runs until no MAD is in transit; notices are repeated much later. */
static void run(struct transit_fixture *w)
{
	while (agents_next(w->agents) < w->now + HD_MS) {
		w->now = agents_next(w->agents);
		agents_run(w->agents, w->now);
	}
}

static void request_takes_the_time_of_links_switches_and_agent(void **state)
{
	struct hd_rate rate = hd_rate_of_link(4, SPEED_SDR);

	(void)state;
	for (unsigned hops = 1; hops <= HOPS_MOST; hops++) {
		struct transit_fixture w;
		hd_time duration = hd_rate_duration(rate, BITS / 8);

		start(&w, HOPS_MOST);
		send_request(&w, hops);
		assert_int_equal(w.responses, 0);
		run(&w);
		assert_int_equal(w.responses, 1);
		/* hops - 1 switches on the way there, hops on the way back. */
		assert_int_equal(w.last, 2 * duration + 2 * hops * (hd_time)CABLE + AGENT +
						 (2 * (hd_time)hops - 1) * SWITCH);
		finish(&w);
	}
}

/* Of all nodes, down to 0; the agent of the switch adds it once. */
static void agent_delay_is_that_of_the_timing(void **state)
{
	const hd_time delays[] = { 0, 1, 700 * HD_NS, 900 * HD_US };

	(void)state;
	for (size_t i = 0; i < sizeof(delays) / sizeof(delays[0]); i++) {
		struct transit_fixture w;

		start(&w, 1);
		w.times.agent_delay = delays[i];
		send_request(&w, 1);
		run(&w);
		assert_int_equal(w.responses, 1);
		assert_int_equal(w.last,
				 2 * hd_rate_duration(hd_rate_of_link(4, SPEED_SDR), BITS / 8) +
					 2 * CABLE + SWITCH + delays[i]);
		finish(&w);
	}
}

/* A link transmits one MAD at a time; an agent processes one at a time. */
static void agent_processes_requests_one_at_a_time(void **state)
{
	struct hd_rate rate = hd_rate_of_link(4, SPEED_SDR);
	struct transit_fixture w;

	(void)state;
	start(&w, 1);
	for (unsigned i = 0; i < ROOM; i++)
		send_request(&w, 1);
	run(&w);
	assert_int_equal(w.responses, ROOM);
	assert_int_equal(w.last, 2 * (hd_rate_duration(rate, BITS / 8) + CABLE) +
					 ROOM * (hd_time)AGENT + SWITCH);
	finish(&w);
}

static void mads_beyond_the_vl15_buffer_are_dropped_and_counted(void **state)
{
	struct transit_fixture w;
	port_id in;

	(void)state;
	start(&w, 1);
	in = w.topo.ports[host_of(&w)].peer;
	for (unsigned i = 0; i < ROOM + 7; i++)
		send_request(&w, 1);
	run(&w);
	assert_int_equal(w.responses, ROOM);
	assert_int_equal(agents_counter(w.agents, in, COUNT_VL15_DROPPED), 7);
	/* The buffer is free again. */
	for (unsigned i = 0; i < ROOM; i++)
		send_request(&w, 1);
	run(&w);
	assert_int_equal(w.responses, 2 * ROOM);
	assert_int_equal(agents_counter(w.agents, in, COUNT_VL15_DROPPED), 7);
	finish(&w);
}

/* MADs lost with a cable release their buffer. */
static void lost_mads_release_their_buffer(void **state)
{
	struct transit_fixture w;

	(void)state;
	start(&w, 2);
	for (unsigned round = 0; round < 3; round++) {
		w.responses = 0;
		for (unsigned i = 0; i < ROOM; i++)
			send_request(&w, 2);
		agents_set_cable(w.agents, topo_port_of(&w.topo, 0, 2), false, w.now);
		run(&w);
		assert_int_equal(w.responses, 0);
		agents_set_cable(w.agents, topo_port_of(&w.topo, 0, 2), true, w.now);
		for (unsigned i = 0; i < ROOM; i++)
			send_request(&w, 2);
		run(&w);
		assert_int_equal(w.responses, ROOM);
	}
	finish(&w);
}

/* On a link, performance MADs wait for all MADs on VL15. */
static void smps_precede_performance_mads(void **state)
{
	const struct mad_header h = { .mgmt_class = MAD_PERF, .method = MAD_GET };
	const struct mad_address to = { .lid = 1, .pkey = 0xFFFF, .qp = 1 };
	uint8_t mad[MAD_SIZE];
	struct transit_fixture w;

	(void)state;
	start(&w, 1);
	agents_port_set(w.agents, host_of(&w), PORT_STATE, LINK_ACTIVE);
	agents_port_set(w.agents, w.topo.ports[host_of(&w)].peer, PORT_STATE, LINK_ACTIVE);
	mad_write(&h, mad);
	for (unsigned i = 0; i < 2; i++)
		agents_send(w.agents, host_of(&w), &to, mad, MAD_SIZE, w.now);
	send_request(&w, 1);
	run(&w);
	assert_int_equal(w.n_on_link, 4);
	assert_int_equal(w.classes[0], MAD_SMP_DIRECT);
	assert_int_equal(w.classes[1], MAD_PERF);
	assert_int_equal(w.classes[2], MAD_PERF);
	assert_int_equal(w.classes[3], MAD_SMP_DIRECT);
	finish(&w);
}

/* The words of PortXmitData of one MAD: all bytes but the VCRC. */
enum { WORDS = (256 + 34 - 2) / 4 };

static void assert_counted(const struct transit_fixture *w, port_id port, unsigned sent,
			   unsigned received)
{
	assert_int_equal(agents_counter(w->agents, port, COUNT_XMIT_PKTS), sent);
	assert_int_equal(agents_counter(w->agents, port, COUNT_XMIT_DATA), sent * WORDS);
	assert_int_equal(agents_counter(w->agents, port, COUNT_UNICAST_XMIT), sent);
	assert_int_equal(agents_counter(w->agents, port, COUNT_RCV_PKTS), received);
	assert_int_equal(agents_counter(w->agents, port, COUNT_RCV_DATA), received * WORDS);
	assert_int_equal(agents_counter(w->agents, port, COUNT_UNICAST_RCV), received);
}

static void mads_count_at_both_ends_of_each_cable(void **state)
{
	struct transit_fixture w;

	(void)state;
	start(&w, 3);
	send_request(&w, 1);
	send_request(&w, 2);
	run(&w);
	assert_int_equal(w.responses, 2);
	assert_counted(&w, host_of(&w), 2, 2);
	assert_counted(&w, topo_port_of(&w.topo, 0, 1), 2, 2);
	assert_counted(&w, topo_port_of(&w.topo, 0, 2), 1, 1);
	assert_counted(&w, topo_port_of(&w.topo, 1, 1), 1, 1);
	assert_counted(&w, topo_port_of(&w.topo, 1, 2), 0, 0);
	finish(&w);
}

/* A message of several segments takes their time, one after the other, and arrives as a whole. */
static void segments_of_a_message_follow_one_another(void **state)
{
	enum { SEGMENTS = 5, LID = 7 };
	const struct mad_header h = { .mgmt_class = MAD_SA, .method = MAD_SEND };
	const struct mad_address to = {
		.lid = LID, .pkey = 0xFFFF, .qp = 1, .qkey = MAD_QKEY, .sl = 3
	};
	uint8_t mads[SEGMENTS * MAD_SIZE] = { 0 };
	struct transit_fixture w;

	(void)state;
	start(&w, 1);
	agents_port_set(w.agents, host_of(&w), PORT_STATE, LINK_ACTIVE);
	agents_port_set(w.agents, w.topo.ports[host_of(&w)].peer, PORT_STATE, LINK_ACTIVE);
	agents_port_set(w.agents, topo_port_of(&w.topo, 0, 0), PORT_LID, LID);
	mad_write(&h, mads);
	agents_send(w.agents, host_of(&w), &to, mads, sizeof(mads) - 100, w.now);
	run(&w);
	assert_int_equal(w.size, sizeof(mads) - 100);
	assert_int_equal(w.last,
			 SEGMENTS * hd_rate_duration(hd_rate_of_link(4, SPEED_SDR), BITS / 8) +
				 CABLE);
	assert_int_equal(w.n_on_link, 1);
	assert_counted(&w, host_of(&w), SEGMENTS, 0);
	assert_int_equal(agents_counter(w.agents, host_of(&w), COUNT_SL_XMIT_DATA + 3),
			 SEGMENTS * WORDS);
	/* To the program itself, at once. */
	agents_port_set(w.agents, host_of(&w), PORT_LID, LID);
	w.size = 0;
	agents_send(w.agents, host_of(&w), &to, mads, sizeof(mads), w.now);
	run(&w);
	assert_int_equal(w.size, sizeof(mads));
	assert_int_equal(w.last, w.now);
	assert_counted(&w, host_of(&w), SEGMENTS, 0);
	finish(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(request_takes_the_time_of_links_switches_and_agent),
		cmocka_unit_test(agent_delay_is_that_of_the_timing),
		cmocka_unit_test(agent_processes_requests_one_at_a_time),
		cmocka_unit_test(mads_beyond_the_vl15_buffer_are_dropped_and_counted),
		cmocka_unit_test(lost_mads_release_their_buffer),
		cmocka_unit_test(smps_precede_performance_mads),
		cmocka_unit_test(mads_count_at_both_ends_of_each_cable),
		cmocka_unit_test(segments_of_a_message_follow_one_another),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
