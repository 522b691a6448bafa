/* SPDX-License-Identifier: BSD-2-Clause */
#include "mgmt/sm/sm.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/rng.h"
#include "base/seeds_for_tests.h"
#include "mgmt/agents/agents.h"
#include "subnet/routing/check.h"
#include "subnet/routing/fabric_for_tests.h"
#include "subnet/routing/order.h"
#include "wire/cursor.h"

/*
 * Subnet managers on the agents of a fabric, without sockets. Their MADs pass through a queue, and
 * unanswered requests time out when the queue is empty.
 */

enum { MANAGERS = 3, TID = 12 };
#define SECOND UINT64_C(1000000000000)

struct queued_mad {
	struct queued_mad *next;
	unsigned manager; /* receiver or sender */
	bool outgoing, is_request;
	struct mad_address peer;
	size_t size;
	uint8_t mad[];
};

struct sm_fixture {
	struct topo topo;
	struct agents *agents;
	struct sm *managers[MANAGERS];
	port_id port[MANAGERS];
	unsigned n;
	struct queued_mad *first, **last;
	struct queued_mad *outstanding; /* outstanding requests */
	struct rng rng;
	unsigned lost_of; /* one of `lost_of` requests is lost; 0: none */
	hd_time now;
	uint64_t n_sent;
	uint64_t key; /* SM_Key of requests */
	bool varies;  /* cables differ in MTU, speed and width */
};

struct sm_address {
	struct sm_fixture *sm_fixture;
	unsigned manager;
};

static struct sm_address addresses[MANAGERS];

static struct queued_mad *put(struct sm_fixture *w, unsigned manager, bool outgoing,
			      const uint8_t *mad, size_t size)
{
	struct queued_mad *l = hd_alloc(1, sizeof(*l) + size);

	*l = (struct queued_mad){ .manager = manager, .outgoing = outgoing, .size = size };
	memcpy(l->mad, mad, size);
	*w->last = l;
	w->last = &l->next;
	return l;
}

static void send_mad(void *context, const struct mad_address *to, const uint8_t *mad, size_t size,
		     bool is_request)
{
	const struct sm_address *a = context;
	struct queued_mad *l = put(a->sm_fixture, a->manager, true, mad, size);

	l->is_request = is_request;
	l->peer = *to;
	a->sm_fixture->n_sent++;
}

static void ignore_log(void *context, const char *line)
{
	(void)context;
	assert_true(line[0] != '\0');
}

static void arrived(void *context, port_id port, const struct mad_address *from, const uint8_t *mad,
		    size_t size)
{
	struct sm_fixture *w = context;

	for (unsigned i = 0; i < w->n; i++) {
		if (w->port[i] != port || !w->managers[i])
			continue;
		put(w, i, false, mad, size)->peer = *from;
	}
}

/* ---- transport of MADs */

static void forget_waiting(struct sm_fixture *w, unsigned manager, const uint8_t *mad)
{
	for (struct queued_mad **at = &w->outstanding; *at; at = &(*at)->next) {
		struct queued_mad *l = *at;

		if (l->manager != manager || memcmp(l->mad + TID, mad + TID, 4) != 0)
			continue;
		*at = l->next;
		free(l);
		return;
	}
}

static void deliver(struct sm_fixture *w, struct queued_mad *l)
{
	struct sm *m = w->managers[l->manager];

	if (!l->outgoing) {
		if (mad_is_response(l->mad))
			forget_waiting(w, l->manager, l->mad);
		if (m)
			sm_receive(m, &l->peer, l->mad, l->size, w->now);
		free(l);
		return;
	}
	const struct mad_address to = { .lid = l->peer.lid, .sl = l->peer.sl, .pkey = 0xFFFF };
	bool is_lost = l->is_request && w->lost_of && rng_below(&w->rng, w->lost_of) == 0;

	if (!is_lost)
		agents_send(w->agents, w->port[l->manager], &to, l->mad, l->size, w->now);
	if (l->is_request) {
		l->next = w->outstanding;
		w->outstanding = l;
	} else {
		free(l);
	}
}

/*
 * Delivers the next MAD. When the queue is empty, outstanding requests time out. False if nothing
 * is left.
 */
static bool step(struct sm_fixture *w)
{
	struct queued_mad *l = w->first;

	if (l) {
		w->first = l->next;
		if (!w->first)
			w->last = &w->first;
		l->next = NULL;
		deliver(w, l);
	} else if (w->outstanding) {
		l = w->outstanding;
		w->outstanding = l->next;
		if (w->managers[l->manager])
			sm_timeout(w->managers[l->manager], l->mad, w->now);
		free(l);
	} else {
		return false;
	}
	return true;
}

static void settle(struct sm_fixture *w)
{
	for (unsigned steps = 0; step(w); steps++)
		assert_true(steps < 10000000);
}

/* Half a second passes; managers run their timers. */
static void wait_half(struct sm_fixture *w)
{
	w->now += SECOND / 2;
	agents_run(w->agents, w->now);
	for (unsigned k = 0; k < w->n; k++)
		if (w->managers[k] && sm_next(w->managers[k]) <= w->now)
			sm_run(w->managers[k], w->now);
	settle(w);
}

static void wait_seconds(struct sm_fixture *w, unsigned seconds)
{
	for (unsigned i = 0; i < 2 * seconds; i++)
		wait_half(w);
}

/* ---- fabrics */

static void add_manager(struct sm_fixture *w, port_id port, const char *engine, unsigned priority)
{
	const struct sm_options o = {
		.engine = engine,
		.priority = (uint8_t)priority,
		.key = 1,
	};
	unsigned i = w->n++;

	addresses[i] = (struct sm_address){ w, i };
	const struct sm_events e = { send_mad, ignore_log, &addresses[i] };

	w->port[i] = port;
	w->managers[i] = sm_new(&o, &e);
	agents_set_sm(w->agents, port, true, w->now);
	sm_start(w->managers[i], w->now);
	settle(w);
}

static const struct {
	uint16_t bytes;
	uint8_t code;
} mtus[] = { { 256, 1 }, { 512, 2 }, { 1024, 3 }, { 2048, 4 }, { 4096, 5 } };

/* Both ends of a cable have the same capabilities. */
static void vary_cables(struct sm_fixture *w)
{
	static const uint8_t widths[] = { WIDTH_1X, WIDTH_4X, WIDTH_12X };
	static const enum link_speed speeds[] = { SPEED_SDR, SPEED_DDR, SPEED_QDR, SPEED_EDR };

	for (port_id p = 0; p < w->topo.n_ports; p++) {
		port_id peer = w->topo.ports[p].peer;

		if (peer == TOPO_NONE || peer < p)
			continue;
		for (unsigned end = 0; end < 2; end++) {
			struct topo_port *at = &w->topo.ports[end ? peer : p];

			at->mtu = mtus[rng_below(&w->rng, 5)].bytes;
			at->widths = widths[0];
			at->speeds = 1U << speeds[0];
		}
		uint64_t width = rng_below(&w->rng, 3);
		uint64_t speed = rng_below(&w->rng, 4);

		for (unsigned end = 0; end < 2; end++) {
			struct topo_port *at = &w->topo.ports[end ? peer : p];

			at->widths |= widths[width];
			for (unsigned i = 0; i <= speed; i++)
				at->speeds |= (uint16_t)(1U << speeds[i]);
		}
	}
}

/* A tree of switches with additional cables and a host on each switch. */
static void random_fixture(struct sm_fixture *w, uint64_t seed, unsigned switches)
{
	const struct agents_options o = { 0 };
	const struct agents_events e = { arrived, w };
	enum { PORTS = 20 };

	w->last = &w->first;
	rng_init(&w->rng, seed, 0);
	build_tree(&w->topo, &w->rng, switches, PORTS);
	for (unsigned i = 0; i < switches; i++) {
		node_id other = (node_id)rng_below(&w->rng, switches);
		port_id a = topo_port_of(&w->topo, i, PORTS - 2);
		port_id b = topo_port_of(&w->topo, other, PORTS - 1);

		if (other != i && w->topo.ports[a].peer == TOPO_NONE &&
		    w->topo.ports[b].peer == TOPO_NONE)
			topo_link(&w->topo, a, b);
	}
	if (w->varies)
		vary_cables(w);
	w->agents = agents_new(&w->topo, &o, &e);
}

static void finish(struct sm_fixture *w)
{
	w->lost_of = 0;
	for (unsigned i = 0; i < w->n; i++)
		sm_free(w->managers[i]);
	while (w->first) {
		struct queued_mad *l = w->first;

		w->first = l->next;
		free(l);
	}
	agents_free(w->agents);
	topo_fini(&w->topo);
}

/* ---- requirements on the programmed state */

static bool is_plugged(const struct sm_fixture *w, port_id p)
{
	return w->topo.ports[p].peer != TOPO_NONE &&
	       agents_port_get(w->agents, p, PORT_STATE) != LINK_DOWN;
}

static void assert_links_are_active(const struct sm_fixture *w)
{
	for (port_id p = 0; p < w->topo.n_ports; p++)
		if (is_plugged(w, p))
			assert_int_equal(agents_port_get(w->agents, p, PORT_STATE), LINK_ACTIVE);
}

/* By the tables in the agents, over cables that are up. */
static void assert_all_reachable(const struct sm_fixture *w)
{
	const struct lid_options keep = { .order = LIDS_KEEP };
	struct diag d = { .status = HD_OK };
	struct route_check c;
	struct subnet s;
	struct topo t;

	topo_copy(&w->topo, &t);
	for (port_id p = 0; p < t.n_ports; p++)
		if (t.ports[p].peer != TOPO_NONE && !is_plugged(w, p))
			topo_unlink(&t, p);
	agents_copy_lids(w->agents, &t);
	subnet_init(&s, &t);
	assert_int_equal(subnet_assign_lids(&s, &keep, &d), HD_OK);
	agents_program(w->agents, &s);
	route_check(&s, &c);
	assert_true(c.n_pairs > 0);
	assert_int_equal(c.n_unreachable, 0);
	assert_int_equal(c.n_switch_unreachable, 0);
	subnet_fini(&s);
	topo_fini(&t);
}

static const char *const engines[] = { "minhop", "updn", "dfsssp", "lash" };

static void every_fabric_comes_up(void **state)
{
	unsigned runs = cases_of_run(40, 500);

	(void)state;
	for (unsigned i = 0; i < runs; i++) {
		unsigned switches = 2 + i % 9;
		struct sm_fixture w = { 0 };

		random_fixture(&w, i, switches);
		add_manager(&w, host_port(&w.topo, i % switches), engines[i % 4], 0);
		assert_true(sm_is_up(w.managers[0]));
		assert_links_are_active(&w);
		assert_all_reachable(&w);
		/* Initial traps are handled first; then there are light sweeps only. */
		struct strbuf before = STRBUF_INIT, after = STRBUF_INIT;

		agents_save(w.agents, &before);
		wait_seconds(&w, 12);
		agents_save(w.agents, &after);
		assert_int_equal(before.len, after.len);
		assert_memory_equal(before.text, after.text, after.len);
		strbuf_fini(&before);
		strbuf_fini(&after);
		w.n_sent = 0;
		wait_seconds(&w, 10);
		assert_int_equal(w.n_sent, switches);
		finish(&w);
	}
}

static void lost_requests_are_repeated(void **state)
{
	unsigned runs = cases_of_run(20, 300);

	(void)state;
	for (unsigned i = 0; i < runs; i++) {
		unsigned switches = 2 + i % 7;
		struct sm_fixture w = { 0 };

		random_fixture(&w, 1000 + i, switches);
		w.lost_of = 10 + i;
		add_manager(&w, host_port(&w.topo, 0), engines[i % 4], 0);
		wait_seconds(&w, 60);
		w.lost_of = 0;
		wait_seconds(&w, 30);
		assert_true(sm_is_up(w.managers[0]));
		assert_links_are_active(&w);
		assert_all_reachable(&w);
		finish(&w);
	}
}

/* A cable between switches that is not a bridge of the topology. */
static port_id spare_cable(const struct sm_fixture *w)
{
	for (port_id p = 0; p < w->topo.n_ports; p++) {
		port_id peer = w->topo.ports[p].peer;

		if (peer != TOPO_NONE && w->topo.ports[p].number == 18 &&
		    w->topo.ports[peer].number == 19)
			return p;
	}
	return TOPO_NONE;
}

static void subnet_recovers_from_cable_changes(void **state)
{
	unsigned tried = 0;

	(void)state;
	for (unsigned i = 0; i < 20; i++) {
		struct sm_fixture w = { 0 };

		random_fixture(&w, 2000 + i, 6);
		port_id p = spare_cable(&w);

		add_manager(&w, host_port(&w.topo, 0), engines[i % 4], 0);
		for (unsigned k = 0; p != TOPO_NONE && k < 4; k++) {
			agents_set_cable(w.agents, p, k % 2, w.now);
			settle(&w);
			assert_true(sm_is_up(w.managers[0]));
			assert_links_are_active(&w);
			assert_all_reachable(&w);
			tried++;
		}
		finish(&w);
	}
	assert_true(tried > 40);
}

static void highest_priority_becomes_master(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 10; i++) {
		struct sm_fixture w = { 0 };

		random_fixture(&w, 3000 + i, 4);
		add_manager(&w, host_port(&w.topo, 0), "minhop", 3);
		assert_int_equal(sm_state(w.managers[0]), SM_MASTER);
		add_manager(&w, host_port(&w.topo, 3), "updn", i % 2 ? 7 : 1);
		wait_seconds(&w, 15);
		unsigned best = i % 2 ? 1 : 0;

		assert_int_equal(sm_state(w.managers[best]), SM_MASTER);
		assert_true(sm_is_up(w.managers[best]));
		assert_int_equal(sm_state(w.managers[1 - best]), SM_STANDBY);
		assert_all_reachable(&w);
		/* The other manager becomes master. */
		sm_free(w.managers[best]);
		w.managers[best] = NULL;
		agents_set_sm(w.agents, w.port[best], false, w.now);
		wait_seconds(&w, 15);
		assert_true(sm_is_up(w.managers[1 - best]));
		assert_all_reachable(&w);
		finish(&w);
	}
}

/*
 * In any order of arrival, the master has the highest priority, among equals the lowest GUID (IBA,
 * Initialization). All others are in standby.
 */
static void elections_have_one_master(void **state)
{
	unsigned runs = cases_of_run(60, 1000), ties = 0;

	(void)state;
	for (unsigned i = 0; i < runs; i++) {
		unsigned priority[MANAGERS], best = 0;
		struct sm_fixture w = { 0 };

		random_fixture(&w, 7000 + i, 5);
		for (unsigned k = 0; k < MANAGERS; k++) {
			priority[k] = (unsigned)rng_below(&w.rng, 3) * 7;
			add_manager(&w, host_port(&w.topo, (i * 2 + k * 3) % 5), "minhop",
				    priority[k]);
		}
		for (unsigned k = 1; k < MANAGERS; k++) {
			bool is_tie = priority[k] == priority[best];

			ties += is_tie;
			if (is_tie ? order_port_guid(&w.topo, w.port[k]) <
					     order_port_guid(&w.topo, w.port[best])
				   : priority[k] > priority[best])
				best = k;
		}
		wait_seconds(&w, 40);
		for (unsigned k = 0; k < MANAGERS; k++)
			assert_int_equal(sm_state(w.managers[k]),
					 k == best ? SM_MASTER : SM_STANDBY);
		assert_true(sm_is_up(w.managers[best]));
		assert_all_reachable(&w);
		finish(&w);
	}
	assert_true(ties > runs / 4);
}

/* A master that misses four polls, 500 ms apart, is replaced. */
static void standby_becomes_master_after_four_lost_polls(void **state)
{
	(void)state;
	for (unsigned silent = 1; silent <= 6; silent++) {
		struct sm *master;
		struct sm_fixture w = { 0 };

		random_fixture(&w, 7500 + silent, 4);
		add_manager(&w, host_port(&w.topo, 0), "minhop", 7);
		add_manager(&w, host_port(&w.topo, 2), "minhop", 1);
		wait_seconds(&w, 5);
		assert_int_equal(sm_state(w.managers[1]), SM_STANDBY);
		/* The master exists but gets no MADs. */
		master = w.managers[0];
		w.managers[0] = NULL;
		for (unsigned k = 0; k < silent; k++) {
			assert_int_equal(sm_state(w.managers[1]), k < 4 ? SM_STANDBY : SM_MASTER);
			wait_half(&w);
			if (k < 3)
				assert_int_equal(sm_next(w.managers[1]), w.now + SECOND / 2);
		}
		assert_int_equal(sm_state(w.managers[1]), silent < 4 ? SM_STANDBY : SM_MASTER);
		/* A response to a poll resets the count. */
		w.managers[0] = master;
		if (silent < 4) {
			wait_seconds(&w, 1);
			w.managers[0] = NULL;
			for (unsigned k = 0; k < 3; k++)
				wait_half(&w);
			assert_int_equal(sm_state(w.managers[1]), SM_STANDBY);
			w.managers[0] = master;
		}
		finish(&w);
	}
}

/* ---- SA queries */

enum { MAX_RESPONSE = 1 << 16 };
struct sa_response {
	uint8_t mad[MAX_RESPONSE];
	size_t size;
};

#define UNANSWERED UINT_MAX

static const struct queued_mad *find_response(const struct sm_fixture *w)
{
	const struct queued_mad *l = w->first;

	while (l && !(l->outgoing && mad_is_response(l->mad)))
		l = l->next;
	return l;
}

/*
 * One query of the host at `from` with w->key; returns the status. The fabric is unchanged when the
 * response is sent.
 */
static unsigned query_sa(struct sm_fixture *w, port_id from, const struct mad_header *h,
			 uint64_t mask, const uint8_t *record, struct sa_response *sa_response)
{
	const struct mad_address peer = {
		.lid = (uint16_t)agents_port_get(w->agents, from, PORT_LID),
		.qp = 1,
	};
	uint8_t mad[MAD_SIZE];

	assert_null(w->first);
	mad_write(h, mad);
	store_be64(mad + SA_KEY, w->key);
	store_be64(mad + SA_MASK, mask);
	memcpy(mad + SA_DATA, record, MAD_SIZE - SA_DATA);
	sm_receive(w->managers[0], &peer, mad, MAD_SIZE, w->now);
	const struct queued_mad *l;

	while (!(l = find_response(w)))
		if (!step(w))
			return UNANSWERED;
	assert_int_equal(load_be64(l->mad + SA_KEY), 0);
	assert_true(l->size <= MAX_RESPONSE);
	assert_int_equal(l->peer.lid, peer.lid);
	memcpy(sa_response->mad, l->mad, l->size);
	sa_response->size = l->size;
	return load_be16(sa_response->mad + 4);
}

/* The same, then processes all following MADs. */
static unsigned query_and_settle(struct sm_fixture *w, port_id from, const struct mad_header *h,
				 uint64_t mask, const uint8_t *record,
				 struct sa_response *sa_response)
{
	unsigned status = query_sa(w, from, h, mask, record, sa_response);

	settle(w);
	return status;
}

/* Number of records of `each` bytes that match. */
static size_t count(struct sm_fixture *w, uint16_t attribute, size_t each, uint64_t mask,
		    const uint8_t *record, struct sa_response *sa_response)
{
	const struct mad_header h = { .mgmt_class = MAD_SA,
				      .method = MAD_GET_TABLE,
				      .attribute = attribute };

	assert_int_equal(query_and_settle(w, w->port[0], &h, mask, record, sa_response), 0);
	assert_int_equal((sa_response->size - SA_DATA) % each, 0);
	return (sa_response->size - SA_DATA) / each;
}

static void small_fixture(struct sm_fixture *w, uint64_t seed)
{
	random_fixture(w, seed, 5);
	add_manager(w, host_port(&w->topo, 0), "minhop", 0);
	assert_true(sm_is_up(w->managers[0]));
}

/* Subscribes to a trap, or unsubscribes. */
static unsigned inform(struct sm_fixture *w, unsigned host, unsigned trap, bool subscribe)
{
	const struct mad_header h = { .mgmt_class = MAD_SA, .method = MAD_SET, .attribute = 0x03 };
	uint8_t record[MAD_SIZE] = { 0 };
	struct sa_response sa_response;

	record[22] = 1; /* generic */
	record[23] = subscribe;
	store_be16(record + 26, (uint16_t)trap);
	return query_and_settle(w, host_port(&w->topo, host), &h, 0, record, &sa_response);
}

static void subscriptions_are_identified_by_lid_and_trap(void **state)
{
	enum { REQUEST_INVALID = 0x0200 };
	uint8_t none[MAD_SIZE] = { 0 };
	struct sm_fixture w = { 0 };
	struct sa_response sa_response;

	(void)state;
	small_fixture(&w, 4000);
	for (unsigned again = 0; again < 2; again++)
		for (unsigned host = 1; host < 4; host++)
			for (unsigned trap = 64; trap < 67; trap++)
				assert_int_equal(inform(&w, host, trap, true), 0);
	assert_int_equal(count(&w, 0xF3, 64, 0, none, &sa_response), 9);
	assert_int_equal(inform(&w, 2, 65, false), 0);
	assert_int_equal(inform(&w, 2, 65, false), REQUEST_INVALID);
	assert_int_equal(inform(&w, 1, 144, false), REQUEST_INVALID);
	assert_int_equal(count(&w, 0xF3, 64, 0, none, &sa_response), 8);
	finish(&w);
}

/* Reserved components of a record are ignored. */
static void reserved_components_are_ignored(void **state)
{
	static const struct {
		uint16_t attribute, each;
		uint64_t reserved;
	} kinds[] = {
		{ ATTR_NODE_RECORD, 112, 1 << 1 },
		{ ATTR_PORT_INFO_RECORD, 72, 1 << 2 | 1 << 19 },
	};
	uint8_t none[MAD_SIZE] = { 0 }, full[MAD_SIZE];
	struct sa_response sa_response;

	(void)state;
	memset(full, 0xFF, sizeof(full));
	for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct sm_fixture w = { 0 };

		small_fixture(&w, 5000 + i);
		size_t all = count(&w, kinds[i].attribute, kinds[i].each, 0, none, &sa_response);

		assert_true(all >= 10);
		assert_int_equal(count(&w, kinds[i].attribute, kinds[i].each, kinds[i].reserved,
				       full, &sa_response),
				 all);
		/* The LID is compared. */
		assert_int_equal(
			count(&w, kinds[i].attribute, kinds[i].each, 1, full, &sa_response), 0);
		finish(&w);
	}
}

/* ---- paths */

/* Minimum over the cables of a path: MTU in bytes, rate in Mb/s. */
struct path_minimum {
	const struct sm_fixture *sm_fixture;
	unsigned mtu, mbps;
};

static void on_link(void *context, port_id out, port_id in)
{
	const struct topo_port *a, *b;
	struct path_minimum *l = context;

	a = &l->sm_fixture->topo.ports[out];
	b = &l->sm_fixture->topo.ports[in];
	unsigned mtu = a->mtu < b->mtu ? a->mtu : b->mtu;
	unsigned wide = (a->widths & WIDTH_12X) ? 12 : (a->widths & WIDTH_4X) ? 4 : 1;
	unsigned mbps = (a->speeds >> SPEED_EDR & 1)   ? 25000
			: (a->speeds >> SPEED_QDR & 1) ? 10000
			: (a->speeds >> SPEED_DDR & 1) ? 5000
						       : 2500;

	l->mtu = mtu < l->mtu ? mtu : l->mtu;
	l->mbps = wide * mbps < l->mbps ? wide * mbps : l->mbps;
}

static void ignore_arrival(void *context, port_id end)
{
	(void)context;
	(void)end;
}

/* By PathRecord's codes. */
static void assert_path(struct sm_fixture *w, port_id from, port_id to)
{
	static const struct {
		unsigned mbps;
		uint8_t code;
	} rates[] = {
		{ 2500, 2 },   { 10000, 3 },   { 30000, 4 },   { 5000, 5 },
		{ 20000, 6 },  { 40000, 7 },   { 60000, 8 },   { 120000, 10 },
		{ 25000, 15 }, { 100000, 16 }, { 300000, 18 },
	};
	struct path_minimum path_minimum = { w, 4096, 300000 };
	const struct agents_path_observer way = { on_link, ignore_arrival, &path_minimum };
	const uint16_t lids[] = {
		(uint16_t)agents_port_get(w->agents, to, PORT_LID),
		(uint16_t)agents_port_get(w->agents, from, PORT_LID),
	};
	uint8_t record[MAD_SIZE] = { 0 };
	struct sa_response sa_response;
	unsigned mtu = 0, rate = 0;

	store_be16(record + 40, lids[0]);
	store_be16(record + 42, lids[1]);
	assert_int_equal(count(w, ATTR_PATH_RECORD, 64, 1 << 4 | 1 << 5, record, &sa_response), 1);
	agents_trace(w->agents, from, lids[0], 0, &way);
	for (unsigned i = 0; i < sizeof(mtus) / sizeof(mtus[0]); i++)
		if (mtus[i].bytes == path_minimum.mtu)
			mtu = mtus[i].code;
	for (unsigned i = 0; i < sizeof(rates) / sizeof(rates[0]); i++)
		if (rates[i].mbps == path_minimum.mbps)
			rate = rates[i].code;
	assert_int_equal(sa_response.mad[SA_DATA + 54], 2 << 6 | mtu);
	assert_int_equal(sa_response.mad[SA_DATA + 55], 2 << 6 | rate);
}

static void path_records_have_the_minimum_of_their_cables(void **state)
{
	unsigned runs = cases_of_run(10, 200);

	(void)state;
	for (unsigned i = 0; i < runs; i++) {
		struct sm_fixture w = { .varies = true };

		small_fixture(&w, 8000 + i);
		for (unsigned a = 0; a < 5; a++)
			for (unsigned b = 0; b < 5; b++)
				if (a != b)
					assert_path(&w, host_port(&w.topo, a),
						    host_port(&w.topo, b));
		finish(&w);
	}
}

/* ---- multicast groups */

static void reached(void *context, port_id end)
{
	uint8_t *times = context;

	times[end]++;
}

/* Packets of each member reach every other member once, and no other port. */
static void assert_group(const struct sm_fixture *w, uint16_t mlid, const bool *is_member)
{
	uint8_t *times = hd_alloc(w->topo.n_ports, sizeof(*times));
	const struct agents_path_observer way = { NULL, reached, times };

	for (port_id from = 0; from < w->topo.n_ports; from++) {
		if (!is_member[from])
			continue;
		memset(times, 0, w->topo.n_ports);
		agents_trace(w->agents, from, mlid, 0, &way);
		for (port_id p = 0; p < w->topo.n_ports; p++)
			if (p != from)
				assert_int_equal(times[p], is_member[p]);
	}
	free(times);
}

/* MGID, PortGID and JoinState. */
static const uint64_t JOIN = 1 << 0 | 1 << 1 | 1 << 16;
enum { HOSTS = 5, MLID_AT = 36 };

/* A member of the IPoIB broadcast group, which always exists. */
static void write_member(const struct sm_fixture *w, port_id p, uint8_t *record)
{
	static const uint8_t mgid[16] = { 0xFF, 0x12,        0x40, 0x1B, 0xFF,
					  0xFF, [12] = 0xFF, 0xFF, 0xFF, 0xFF };
	enum { FULL_MEMBER = 1 };

	memset(record, 0, MAD_SIZE);
	memcpy(record, mgid, sizeof(mgid));
	store_be64(record + 16, UINT64_C(0xFE80000000000000));
	store_be64(record + 24, order_port_guid(&w->topo, p));
	record[48] = FULL_MEMBER;
}

static void join_takes_effect_before_its_response(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 8; i++) {
		uint8_t record[MAD_SIZE];
		struct sm_fixture w = { 0 };
		struct sa_response sa_response;

		small_fixture(&w, 6000 + i);
		bool *is_member = hd_alloc(w.topo.n_ports, sizeof(bool));

		/* All hosts join in turn, then leave in turn. */
		for (unsigned k = 0; k < 2 * HOSTS; k++) {
			port_id p = host_port(&w.topo, (i + k) % HOSTS);
			const struct mad_header h = {
				.mgmt_class = MAD_SA,
				.method = k < HOSTS ? MAD_SET : MAD_DELETE,
				.attribute = ATTR_MC_MEMBER_RECORD,
			};

			is_member[p] = k < HOSTS;
			write_member(&w, p, record);
			assert_int_equal(query_sa(&w, p, &h, JOIN, record, &sa_response), 0);
			uint16_t mlid = load_be16(sa_response.mad + SA_DATA + MLID_AT);

			/* A join takes effect before its response; a leave some time later. */
			if (k < HOSTS)
				assert_group(&w, mlid, is_member);
			settle(&w);
			assert_group(&w, mlid, is_member);
		}
		free(is_member);
		finish(&w);
	}
}

static void send_join(struct sm_fixture *w, port_id p)
{
	const struct mad_header h = { .mgmt_class = MAD_SA,
				      .method = MAD_SET,
				      .attribute = ATTR_MC_MEMBER_RECORD };
	const struct mad_address peer = {
		.lid = (uint16_t)agents_port_get(w->agents, p, PORT_LID),
	};
	uint8_t record[MAD_SIZE], mad[MAD_SIZE];

	write_member(w, p, record);
	mad_write(&h, mad);
	store_be64(mad + SA_MASK, JOIN);
	memcpy(mad + SA_DATA, record, MAD_SIZE - SA_DATA);
	sm_receive(w->managers[0], &peer, mad, MAD_SIZE, w->now);
}

/* The port of the next response, which it has received. */
static port_id next_response(struct sm_fixture *w)
{
	struct queued_mad **at = &w->first;
	lid_t lid;

	while (!find_response(w))
		assert_true(step(w));
	while (*at != find_response(w))
		at = &(*at)->next;
	struct queued_mad *l = *at;

	lid = l->peer.lid;
	*at = l->next;
	if (!*at)
		w->last = at;
	free(l);
	for (unsigned i = 0; i < HOSTS; i++)
		if (agents_port_get(w->agents, host_port(&w->topo, i), PORT_LID) == lid)
			return host_port(&w->topo, i);
	fail();
	return TOPO_NONE;
}

/* Packets of the earlier members reach this port. */
static void assert_receives_packets(const struct sm_fixture *w, port_id p, const port_id *others,
				    unsigned n)
{
	uint8_t *times = hd_alloc(w->topo.n_ports, sizeof(*times));
	const struct agents_path_observer way = { NULL, reached, times };

	for (unsigned i = 0; i < n; i++) {
		memset(times, 0, w->topo.n_ports);
		agents_trace(w->agents, others[i], LID_FIRST_MCAST, 0, &way);
		if (others[i] != p)
			assert_int_equal(times[p], 1);
	}
	free(times);
}

/* During programming, with repeated joins, and during sweeps. */
static void concurrent_joins_take_effect_before_their_responses(void **state)
{
	enum { JOINS = HOSTS + 3 };

	(void)state;
	for (unsigned i = 0; i < 60; i++) {
		port_id answered[JOINS];
		struct sm_fixture w = { 0 };

		small_fixture(&w, 6100 + i);
		/* Tables whose Set was lost are written again later. */
		w.lost_of = i % 3 == 2 ? 5 : 0;
		if (i % 4 == 3) {
			w.now += 20 * SECOND;
			sm_run(w.managers[0], w.now);
		}
		for (unsigned k = 0; k < JOINS; k++) {
			send_join(&w, host_port(&w.topo, (i + k) % HOSTS));
			for (uint64_t n = rng_below(&w.rng, 8); n > 0; n--)
				if (!find_response(&w))
					(void)step(&w);
		}
		for (unsigned k = 0; k < JOINS; k++) {
			answered[k] = next_response(&w);
			if (!w.lost_of)
				assert_receives_packets(&w, answered[k], answered, k);
		}
		settle(&w);
		finish(&w);
	}
}

static unsigned sa(struct sm_fixture *w, port_id from, uint8_t method, uint16_t attribute,
		   const uint8_t *record)
{
	const struct mad_header h = { .mgmt_class = MAD_SA,
				      .method = method,
				      .attribute = attribute };
	struct sa_response sa_response;

	return query_and_settle(w, from, &h, method == MAD_SET ? JOIN : 0, record, &sa_response);
}

/* A group with three members, a service with a key, and a subscriber with QP 9. */
static void fill_sa_database(struct sm_fixture *w)
{
	uint8_t record[MAD_SIZE];

	for (unsigned k = 1; k < 4; k++) {
		port_id p = host_port(&w->topo, k);

		write_member(w, p, record);
		assert_int_equal(sa(w, p, MAD_SET, ATTR_MC_MEMBER_RECORD, record), 0);
	}
	memset(record, 0xA5, sizeof(record));
	assert_int_equal(sa(w, w->port[0], MAD_SET, ATTR_SERVICE_RECORD, record), 0);
	memset(record, 0, sizeof(record));
	record[22] = record[23] = 1;
	record[30] = 9;
	assert_int_equal(sa(w, w->port[0], MAD_SET, ATTR_INFORM_INFO, record), 0);
}

/* As OpenSM does (cli.live_sm compares): no key, the right key, a wrong key. */
static void untrusted_queries_hide_secrets(void **state)
{
	enum { INVALID = 0x0200, MEMBER = 56 };
	uint8_t none[MAD_SIZE] = { 0 };
	struct sm_fixture w = { 0 };
	struct sa_response a;

	(void)state;
	small_fixture(&w, 7000);
	fill_sa_database(&w);
	for (w.key = 0; w.key < 2; w.key++) {
		assert_int_equal(sa(&w, w.port[0], MAD_GET_TABLE, ATTR_PKEY_TABLE_RECORD, none),
				 w.key ? 0 : INVALID);
		assert_int_equal(count(&w, ATTR_MC_MEMBER_RECORD, MEMBER, 0, none, &a),
				 w.key ? 3 : 1);
		assert_int_equal(load_be64(a.mad + SA_DATA + 24) != 0, w.key);
		assert_int_equal(count(&w, ATTR_SERVICE_RECORD, 176, 0, none, &a), 1);
		assert_int_equal(a.mad[SA_DATA + 32], w.key ? 0xA5 : 0);
		assert_int_equal(a.mad[SA_DATA + 47], w.key ? 0xA5 : 0);
		assert_int_equal(a.mad[SA_DATA + 48], 0xA5);
		assert_int_equal(count(&w, ATTR_INFORM_INFO_RECORD, 64, 0, none, &a), 1);
		assert_int_equal(a.mad[SA_DATA + 24 + 30], w.key ? 9 : 0);
	}
	w.key = 7;
	assert_int_equal(sa(&w, w.port[0], MAD_GET_TABLE, ATTR_NODE_RECORD, none), UNANSWERED);
	finish(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_fabric_comes_up),
		cmocka_unit_test(lost_requests_are_repeated),
		cmocka_unit_test(subnet_recovers_from_cable_changes),
		cmocka_unit_test(highest_priority_becomes_master),
		cmocka_unit_test(elections_have_one_master),
		cmocka_unit_test(standby_becomes_master_after_four_lost_polls),
		cmocka_unit_test(path_records_have_the_minimum_of_their_cables),
		cmocka_unit_test(subscriptions_are_identified_by_lid_and_trap),
		cmocka_unit_test(reserved_components_are_ignored),
		cmocka_unit_test(join_takes_effect_before_its_response),
		cmocka_unit_test(concurrent_joins_take_effect_before_their_responses),
		cmocka_unit_test(untrusted_queries_hide_secrets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
