/* SPDX-License-Identifier: BSD-2-Clause */
#include "mgmt/sm/manager.h"

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
 * Managers on the agents of a fabric, without sockets: what they send goes
 * through a queue, and what nobody answers comes back when nothing else is
 * under way.
 */

enum { MANAGERS = 3, TID = 12 };
#define SECOND UINT64_C(1000000000000)

struct letter {
	struct letter *next;
	unsigned manager; /* for whom it is, or from whom */
	bool outgoing, is_request;
	struct mad_address peer;
	size_t size;
	uint8_t mad[];
};

struct world {
	struct topo topo;
	struct agents *agents;
	struct manager *managers[MANAGERS];
	port_id port[MANAGERS];
	unsigned n;
	struct letter *first, **last;
	struct letter *waiting; /* requests that nobody has answered */
	struct rng rng;
	unsigned lost_of; /* one of so many requests is lost; 0: none */
	hd_time now;
	uint64_t n_sent;
	uint64_t key; /* SM_Key of questions */
	bool varies;  /* cables differ in MTU, speed and width */
};

struct address {
	struct world *world;
	unsigned manager;
};

static struct address addresses[MANAGERS];

static struct letter *put(struct world *w, unsigned manager, bool outgoing, const uint8_t *mad,
			  size_t size)
{
	struct letter *l = hd_alloc(1, sizeof(*l) + size);

	*l = (struct letter){ .manager = manager, .outgoing = outgoing, .size = size };
	memcpy(l->mad, mad, size);
	*w->last = l;
	w->last = &l->next;
	return l;
}

static void send_mad(void *context, const struct mad_address *to, const uint8_t *mad, size_t size,
		     bool is_request)
{
	const struct address *a = context;
	struct letter *l = put(a->world, a->manager, true, mad, size);

	l->is_request = is_request;
	l->peer = *to;
	a->world->n_sent++;
}

static void keep_quiet(void *context, const char *line)
{
	(void)context;
	assert_true(line[0] != '\0');
}

static void arrived(void *context, port_id port, const struct mad_address *from, const uint8_t *mad,
		    size_t size)
{
	struct world *w = context;

	for (unsigned i = 0; i < w->n; i++) {
		if (w->port[i] != port || !w->managers[i])
			continue;
		put(w, i, false, mad, size)->peer = *from;
	}
}

/* ---- the post */

static void forget_waiting(struct world *w, unsigned manager, const uint8_t *mad)
{
	for (struct letter **at = &w->waiting; *at; at = &(*at)->next) {
		struct letter *l = *at;

		if (l->manager != manager || memcmp(l->mad + TID, mad + TID, 4) != 0)
			continue;
		*at = l->next;
		free(l);
		return;
	}
}

static void deliver(struct world *w, struct letter *l)
{
	struct manager *m = w->managers[l->manager];

	if (!l->outgoing) {
		if (mad_is_response(l->mad))
			forget_waiting(w, l->manager, l->mad);
		if (m)
			manager_take(m, &l->peer, l->mad, l->size, w->now);
		free(l);
		return;
	}
	const struct mad_address to = { .lid = l->peer.lid, .sl = l->peer.sl, .pkey = 0xFFFF };
	bool is_lost = l->is_request && w->lost_of && rng_below(&w->rng, w->lost_of) == 0;

	if (!is_lost)
		agents_send(w->agents, w->port[l->manager], &to, l->mad, l->size, w->now);
	if (l->is_request) {
		l->next = w->waiting;
		w->waiting = l;
	} else {
		free(l);
	}
}

/*
 * The next of what is under way; after all of it, what was not answered comes
 * back. False if there is nothing left.
 */
static bool step(struct world *w)
{
	struct letter *l = w->first;

	if (l) {
		w->first = l->next;
		if (!w->first)
			w->last = &w->first;
		l->next = NULL;
		deliver(w, l);
	} else if (w->waiting) {
		l = w->waiting;
		w->waiting = l->next;
		if (w->managers[l->manager])
			manager_lost(w->managers[l->manager], l->mad, w->now);
		free(l);
	} else {
		return false;
	}
	return true;
}

static void settle(struct world *w)
{
	for (unsigned steps = 0; step(w); steps++)
		assert_true(steps < 10000000);
}

/* Half a second goes by, and managers do what is due. */
static void wait_half(struct world *w)
{
	w->now += SECOND / 2;
	agents_run(w->agents, w->now);
	for (unsigned k = 0; k < w->n; k++)
		if (w->managers[k] && manager_next(w->managers[k]) <= w->now)
			manager_run(w->managers[k], w->now);
	settle(w);
}

static void pass(struct world *w, unsigned seconds)
{
	for (unsigned i = 0; i < 2 * seconds; i++)
		wait_half(w);
}

/* ---- a fabric */

static void add_manager(struct world *w, port_id port, const char *engine, unsigned priority)
{
	const struct manager_options o = {
		.engine = engine,
		.priority = (uint8_t)priority,
		.key = 1,
	};
	unsigned i = w->n++;

	addresses[i] = (struct address){ w, i };
	const struct manager_events e = { send_mad, keep_quiet, &addresses[i] };

	w->port[i] = port;
	w->managers[i] = manager_new(&o, &e);
	agents_set_sm(w->agents, port, true, w->now);
	manager_start(w->managers[i], w->now);
	settle(w);
}

static const struct {
	uint16_t bytes;
	uint8_t code;
} mtus[] = { { 256, 1 }, { 512, 2 }, { 1024, 3 }, { 2048, 4 }, { 4096, 5 } };

/* Both ends of a cable can do the same. */
static void vary_cables(struct world *w)
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

/* Switches in a tree with some cables more; a host on each. */
static void random_world(struct world *w, uint64_t seed, unsigned switches)
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

static void finish(struct world *w)
{
	w->lost_of = 0;
	for (unsigned i = 0; i < w->n; i++)
		manager_free(w->managers[i]);
	while (w->first) {
		struct letter *l = w->first;

		w->first = l->next;
		free(l);
	}
	agents_free(w->agents);
	topo_fini(&w->topo);
}

/* ---- what must hold of what was programmed */

static bool is_plugged(const struct world *w, port_id p)
{
	return w->topo.ports[p].peer != TOPO_NONE &&
	       agents_port_get(w->agents, p, PORT_STATE) != LINK_DOWN;
}

static void assert_links_are_active(const struct world *w)
{
	for (port_id p = 0; p < w->topo.n_ports; p++)
		if (is_plugged(w, p))
			assert_int_equal(agents_port_get(w->agents, p, PORT_STATE), LINK_ACTIVE);
}

/* By tables as they stand in the agents, over cables that are there. */
static void assert_all_are_reached(const struct world *w)
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
	check_routes(&s, &c);
	assert_true(c.n_pairs > 0);
	assert_int_equal(c.n_unreachable, 0);
	assert_int_equal(c.n_switch_unreachable, 0);
	subnet_fini(&s);
	topo_fini(&t);
}

static const char *const engines[] = { "minhop", "updn", "dfsssp", "lash" };

static void any_fabric_comes_up(void **state)
{
	unsigned runs = cases_of_run(40, 500);

	(void)state;
	for (unsigned i = 0; i < runs; i++) {
		unsigned switches = 2 + i % 9;
		struct world w = { 0 };

		random_world(&w, i, switches);
		add_manager(&w, host_port(&w.topo, i % switches), engines[i % 4], 0);
		assert_true(manager_is_up(w.managers[0]));
		assert_links_are_active(&w);
		assert_all_are_reached(&w);
		/* What was said at the beginning is heard, and looked into: all
		 * is as it is. Then there are looks at switches, and nothing
		 * else. */
		struct strbuf before = STRBUF_INIT, after = STRBUF_INIT;

		agents_save(w.agents, &before);
		pass(&w, 12);
		agents_save(w.agents, &after);
		assert_int_equal(before.len, after.len);
		assert_memory_equal(before.text, after.text, after.len);
		strbuf_fini(&before);
		strbuf_fini(&after);
		w.n_sent = 0;
		pass(&w, 10);
		assert_int_equal(w.n_sent, switches);
		finish(&w);
	}
}

static void lost_requests_are_made_up_for(void **state)
{
	unsigned runs = cases_of_run(20, 300);

	(void)state;
	for (unsigned i = 0; i < runs; i++) {
		unsigned switches = 2 + i % 7;
		struct world w = { 0 };

		random_world(&w, 1000 + i, switches);
		w.lost_of = 10 + i;
		add_manager(&w, host_port(&w.topo, 0), engines[i % 4], 0);
		pass(&w, 60);
		w.lost_of = 0;
		pass(&w, 30);
		assert_true(manager_is_up(w.managers[0]));
		assert_links_are_active(&w);
		assert_all_are_reached(&w);
		finish(&w);
	}
}

/* A cable between switches whose loss leaves the fabric in one piece. */
static port_id spare_cable(const struct world *w)
{
	for (port_id p = 0; p < w->topo.n_ports; p++) {
		port_id peer = w->topo.ports[p].peer;

		if (peer != TOPO_NONE && w->topo.ports[p].number == 18 &&
		    w->topo.ports[peer].number == 19)
			return p;
	}
	return TOPO_NONE;
}

static void cables_may_come_and_go(void **state)
{
	unsigned tried = 0;

	(void)state;
	for (unsigned i = 0; i < 20; i++) {
		struct world w = { 0 };

		random_world(&w, 2000 + i, 6);
		port_id p = spare_cable(&w);

		add_manager(&w, host_port(&w.topo, 0), engines[i % 4], 0);
		for (unsigned k = 0; p != TOPO_NONE && k < 4; k++) {
			agents_set_cable(w.agents, p, k % 2, w.now);
			settle(&w);
			assert_true(manager_is_up(w.managers[0]));
			assert_links_are_active(&w);
			assert_all_are_reached(&w);
			tried++;
		}
		finish(&w);
	}
	assert_true(tried > 40);
}

static void the_best_manager_is_master(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 10; i++) {
		struct world w = { 0 };

		random_world(&w, 3000 + i, 4);
		add_manager(&w, host_port(&w.topo, 0), "minhop", 3);
		assert_int_equal(manager_role(w.managers[0]), MANAGER_MASTER);
		add_manager(&w, host_port(&w.topo, 3), "updn", i % 2 ? 7 : 1);
		pass(&w, 15);
		unsigned best = i % 2 ? 1 : 0;

		assert_int_equal(manager_role(w.managers[best]), MANAGER_MASTER);
		assert_true(manager_is_up(w.managers[best]));
		assert_int_equal(manager_role(w.managers[1 - best]), MANAGER_STANDBY);
		assert_all_are_reached(&w);
		/* It is gone: the other goes on. */
		manager_free(w.managers[best]);
		w.managers[best] = NULL;
		agents_set_sm(w.agents, w.port[best], false, w.now);
		pass(&w, 15);
		assert_true(manager_is_up(w.managers[1 - best]));
		assert_all_are_reached(&w);
		finish(&w);
	}
}

/*
 * In whichever order they come: the master is that of the highest priority, of
 * equals that of the lowest GUID (IBA, Initialization). All others stand by.
 */
static void elections_have_one_winner(void **state)
{
	unsigned runs = cases_of_run(60, 1000), ties = 0;

	(void)state;
	for (unsigned i = 0; i < runs; i++) {
		unsigned priority[MANAGERS], best = 0;
		struct world w = { 0 };

		random_world(&w, 7000 + i, 5);
		for (unsigned k = 0; k < MANAGERS; k++) {
			priority[k] = (unsigned)rng_below(&w.rng, 3) * 7;
			add_manager(&w, host_port(&w.topo, (i * 2 + k * 3) % 5), "minhop",
				    priority[k]);
		}
		for (unsigned k = 1; k < MANAGERS; k++) {
			bool is_tie = priority[k] == priority[best];

			ties += is_tie;
			if (is_tie ? port_guid(&w.topo, w.port[k]) <
					     port_guid(&w.topo, w.port[best])
				   : priority[k] > priority[best])
				best = k;
		}
		pass(&w, 40);
		for (unsigned k = 0; k < MANAGERS; k++)
			assert_int_equal(manager_role(w.managers[k]),
					 k == best ? MANAGER_MASTER : MANAGER_STANDBY);
		assert_true(manager_is_up(w.managers[best]));
		assert_all_are_reached(&w);
		finish(&w);
	}
	assert_true(ties > runs / 4);
}

/* A master that does not answer four polls, 500 ms apart, is gone. */
static void four_lost_polls_make_a_master(void **state)
{
	(void)state;
	for (unsigned silent = 1; silent <= 6; silent++) {
		struct manager *master;
		struct world w = { 0 };

		random_world(&w, 7500 + silent, 4);
		add_manager(&w, host_port(&w.topo, 0), "minhop", 7);
		add_manager(&w, host_port(&w.topo, 2), "minhop", 1);
		pass(&w, 5);
		assert_int_equal(manager_role(w.managers[1]), MANAGER_STANDBY);
		/* It is there, and hears nothing. */
		master = w.managers[0];
		w.managers[0] = NULL;
		for (unsigned k = 0; k < silent; k++) {
			assert_int_equal(manager_role(w.managers[1]),
					 k < 4 ? MANAGER_STANDBY : MANAGER_MASTER);
			wait_half(&w);
			if (k < 3)
				assert_int_equal(manager_next(w.managers[1]), w.now + SECOND / 2);
		}
		assert_int_equal(manager_role(w.managers[1]),
				 silent < 4 ? MANAGER_STANDBY : MANAGER_MASTER);
		/* A poll that is answered ends the count. */
		w.managers[0] = master;
		if (silent < 4) {
			pass(&w, 1);
			w.managers[0] = NULL;
			for (unsigned k = 0; k < 3; k++)
				wait_half(&w);
			assert_int_equal(manager_role(w.managers[1]), MANAGER_STANDBY);
			w.managers[0] = master;
		}
		finish(&w);
	}
}

/* ---- what hosts ask and tell */

enum { MOST_ANSWER = 1 << 16 };
struct answer {
	uint8_t mad[MOST_ANSWER];
	size_t size;
};

#define UNANSWERED UINT_MAX

static const struct letter *find_answer(const struct world *w)
{
	const struct letter *l = w->first;

	while (l && !(l->outgoing && mad_is_response(l->mad)))
		l = l->next;
	return l;
}

/*
 * One question of the host at `from`, with w->key; the answer's status. All is
 * as it is when the answer leaves.
 */
static unsigned hear(struct world *w, port_id from, const struct mad_header *h, uint64_t mask,
		     const uint8_t *record, struct answer *answer)
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
	manager_take(w->managers[0], &peer, mad, MAD_SIZE, w->now);
	const struct letter *l;

	while (!(l = find_answer(w)))
		if (!step(w))
			return UNANSWERED;
	assert_int_equal(load_be64(l->mad + SA_KEY), 0);
	assert_true(l->size <= MOST_ANSWER);
	assert_int_equal(l->peer.lid, peer.lid);
	memcpy(answer->mad, l->mad, l->size);
	answer->size = l->size;
	return load_be16(answer->mad + 4);
}

/* The same, and whatever comes of it. */
static unsigned ask(struct world *w, port_id from, const struct mad_header *h, uint64_t mask,
		    const uint8_t *record, struct answer *answer)
{
	unsigned status = hear(w, from, h, mask, record, answer);

	settle(w);
	return status;
}

/* How many records of `each` bytes all that fit make. */
static size_t count(struct world *w, uint16_t attribute, size_t each, uint64_t mask,
		    const uint8_t *record, struct answer *answer)
{
	const struct mad_header h = { .mgmt_class = MAD_SA,
				      .method = MAD_GET_TABLE,
				      .attribute = attribute };

	assert_int_equal(ask(w, w->port[0], &h, mask, record, answer), 0);
	assert_int_equal((answer->size - SA_DATA) % each, 0);
	return (answer->size - SA_DATA) / each;
}

static void small_world(struct world *w, uint64_t seed)
{
	random_world(w, seed, 5);
	add_manager(w, host_port(&w->topo, 0), "minhop", 0);
	assert_true(manager_is_up(w->managers[0]));
}

/* Subscribes to notices of a trap, or ends that. */
static unsigned inform(struct world *w, unsigned host, unsigned trap, bool subscribe)
{
	const struct mad_header h = { .mgmt_class = MAD_SA, .method = MAD_SET, .attribute = 0x03 };
	uint8_t record[MAD_SIZE] = { 0 };
	struct answer answer;

	record[22] = 1; /* generic */
	record[23] = subscribe;
	store_be16(record + 26, (uint16_t)trap);
	return ask(w, host_port(&w->topo, host), &h, 0, record, &answer);
}

static void subscriptions_are_known_by_who_and_what(void **state)
{
	enum { REQUEST_INVALID = 0x0200 };
	uint8_t none[MAD_SIZE] = { 0 };
	struct world w = { 0 };
	struct answer answer;

	(void)state;
	small_world(&w, 4000);
	for (unsigned again = 0; again < 2; again++)
		for (unsigned host = 1; host < 4; host++)
			for (unsigned trap = 64; trap < 67; trap++)
				assert_int_equal(inform(&w, host, trap, true), 0);
	assert_int_equal(count(&w, 0xF3, 64, 0, none, &answer), 9);
	assert_int_equal(inform(&w, 2, 65, false), 0);
	assert_int_equal(inform(&w, 2, 65, false), REQUEST_INVALID);
	assert_int_equal(inform(&w, 1, 144, false), REQUEST_INVALID);
	assert_int_equal(count(&w, 0xF3, 64, 0, none, &answer), 8);
	finish(&w);
}

/* Whatever stands where a record has nothing. */
static void reserved_components_do_not_count(void **state)
{
	static const struct {
		uint16_t attribute, each;
		uint64_t reserved;
	} kinds[] = {
		{ ATTR_NODE_RECORD, 112, 1 << 1 },
		{ ATTR_PORT_INFO_RECORD, 72, 1 << 2 | 1 << 19 },
	};
	uint8_t none[MAD_SIZE] = { 0 }, full[MAD_SIZE];
	struct answer answer;

	(void)state;
	memset(full, 0xFF, sizeof(full));
	for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct world w = { 0 };

		small_world(&w, 5000 + i);
		size_t all = count(&w, kinds[i].attribute, kinds[i].each, 0, none, &answer);

		assert_true(all >= 10);
		assert_int_equal(count(&w, kinds[i].attribute, kinds[i].each, kinds[i].reserved,
				       full, &answer),
				 all);
		/* But the LID does. */
		assert_int_equal(count(&w, kinds[i].attribute, kinds[i].each, 1, full, &answer), 0);
		finish(&w);
	}
}

/* ---- paths */

/* The least of the cables on a way: MTU in bytes, rate in Mb/s. */
struct least {
	const struct world *world;
	unsigned mtu, mbps;
};

static void cross(void *context, port_id out, port_id in)
{
	const struct topo_port *a, *b;
	struct least *l = context;

	a = &l->world->topo.ports[out];
	b = &l->world->topo.ports[in];
	unsigned mtu = a->mtu < b->mtu ? a->mtu : b->mtu;
	unsigned wide = (a->widths & WIDTH_12X) ? 12 : (a->widths & WIDTH_4X) ? 4 : 1;
	unsigned mbps = (a->speeds >> SPEED_EDR & 1)   ? 25000
			: (a->speeds >> SPEED_QDR & 1) ? 10000
			: (a->speeds >> SPEED_DDR & 1) ? 5000
						       : 2500;

	l->mtu = mtu < l->mtu ? mtu : l->mtu;
	l->mbps = wide * mbps < l->mbps ? wide * mbps : l->mbps;
}

static void arrive_anywhere(void *context, port_id end)
{
	(void)context;
	(void)end;
}

/* By the codes of the architecture's PathRecord. */
static void assert_path(struct world *w, port_id from, port_id to)
{
	static const struct {
		unsigned mbps;
		uint8_t code;
	} rates[] = {
		{ 2500, 2 },   { 10000, 3 },   { 30000, 4 },   { 5000, 5 },
		{ 20000, 6 },  { 40000, 7 },   { 60000, 8 },   { 120000, 10 },
		{ 25000, 15 }, { 100000, 16 }, { 300000, 18 },
	};
	struct least least = { w, 4096, 300000 };
	const struct agents_path_observer way = { cross, arrive_anywhere, &least };
	const uint16_t lids[] = {
		(uint16_t)agents_port_get(w->agents, to, PORT_LID),
		(uint16_t)agents_port_get(w->agents, from, PORT_LID),
	};
	uint8_t record[MAD_SIZE] = { 0 };
	struct answer answer;
	unsigned mtu = 0, rate = 0;

	store_be16(record + 40, lids[0]);
	store_be16(record + 42, lids[1]);
	assert_int_equal(count(w, ATTR_PATH_RECORD, 64, 1 << 4 | 1 << 5, record, &answer), 1);
	agents_trace(w->agents, from, lids[0], 0, &way);
	for (unsigned i = 0; i < sizeof(mtus) / sizeof(mtus[0]); i++)
		if (mtus[i].bytes == least.mtu)
			mtu = mtus[i].code;
	for (unsigned i = 0; i < sizeof(rates) / sizeof(rates[0]); i++)
		if (rates[i].mbps == least.mbps)
			rate = rates[i].code;
	assert_int_equal(answer.mad[SA_DATA + 54], 2 << 6 | mtu);
	assert_int_equal(answer.mad[SA_DATA + 55], 2 << 6 | rate);
}

static void paths_have_the_least_of_their_cables(void **state)
{
	unsigned runs = cases_of_run(10, 200);

	(void)state;
	for (unsigned i = 0; i < runs; i++) {
		struct world w = { .varies = true };

		small_world(&w, 8000 + i);
		for (unsigned a = 0; a < 5; a++)
			for (unsigned b = 0; b < 5; b++)
				if (a != b)
					assert_path(&w, host_port(&w.topo, a),
						    host_port(&w.topo, b));
		finish(&w);
	}
}

/* ---- groups */

static void reached(void *context, port_id end)
{
	uint8_t *times = context;

	times[end]++;
}

/* Packets of each member come to all others, once, and to nobody else. */
static void assert_group(const struct world *w, uint16_t mlid, const bool *is_member)
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

/* By MGID, port, and how. */
static const uint64_t JOIN = 1 << 0 | 1 << 1 | 1 << 16;
enum { HOSTS = 5, MLID_AT = 36 };

/* A member of the group of IPoIB, which is there from the beginning. */
static void write_member(const struct world *w, port_id p, uint8_t *record)
{
	static const uint8_t mgid[16] = { 0xFF, 0x12,        0x40, 0x1B, 0xFF,
					  0xFF, [12] = 0xFF, 0xFF, 0xFF, 0xFF };
	enum { FULL_MEMBER = 1 };

	memset(record, 0, MAD_SIZE);
	memcpy(record, mgid, sizeof(mgid));
	store_be64(record + 16, UINT64_C(0xFE80000000000000));
	store_be64(record + 24, port_guid(&w->topo, p));
	record[48] = FULL_MEMBER;
}

static void who_joins_a_group_has_its_packets(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 8; i++) {
		uint8_t record[MAD_SIZE];
		struct world w = { 0 };
		struct answer answer;

		small_world(&w, 6000 + i);
		bool *is_member = hd_alloc(w.topo.n_ports, sizeof(bool));

		/* All come, one after the other; then they go. */
		for (unsigned k = 0; k < 2 * HOSTS; k++) {
			port_id p = host_port(&w.topo, (i + k) % HOSTS);
			const struct mad_header h = {
				.mgmt_class = MAD_SA,
				.method = k < HOSTS ? MAD_SET : MAD_DELETE,
				.attribute = ATTR_MC_MEMBER_RECORD,
			};

			is_member[p] = k < HOSTS;
			write_member(&w, p, record);
			assert_int_equal(hear(&w, p, &h, JOIN, record, &answer), 0);
			uint16_t mlid = load_be16(answer.mad + SA_DATA + MLID_AT);

			/* From the answer on; who goes, some time after it. */
			if (k < HOSTS)
				assert_group(&w, mlid, is_member);
			settle(&w);
			assert_group(&w, mlid, is_member);
		}
		free(is_member);
		finish(&w);
	}
}

static void send_join(struct world *w, port_id p)
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
	manager_take(w->managers[0], &peer, mad, MAD_SIZE, w->now);
}

/* The port that the next answer is for; it has got it. */
static port_id next_answered(struct world *w)
{
	struct letter **at = &w->first;
	lid_t lid;

	while (!find_answer(w))
		assert_true(step(w));
	while (*at != find_answer(w))
		at = &(*at)->next;
	struct letter *l = *at;

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

/* Packets of those who were answered before come to this one. */
static void assert_is_reached(const struct world *w, port_id p, const port_id *others, unsigned n)
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

/* While others are being programmed, some twice, and beside a sweep. */
static void many_who_join_at_once_are_all_answered_in_time(void **state)
{
	enum { JOINS = HOSTS + 3 };

	(void)state;
	for (unsigned i = 0; i < 60; i++) {
		port_id answered[JOINS];
		struct world w = { 0 };

		small_world(&w, 6100 + i);
		/* Who lost a block is written to again, later. */
		w.lost_of = i % 3 == 2 ? 5 : 0;
		if (i % 4 == 3) {
			w.now += 20 * SECOND;
			manager_run(w.managers[0], w.now);
		}
		for (unsigned k = 0; k < JOINS; k++) {
			send_join(&w, host_port(&w.topo, (i + k) % HOSTS));
			for (uint64_t n = rng_below(&w.rng, 8); n > 0; n--)
				if (!find_answer(&w))
					(void)step(&w);
		}
		for (unsigned k = 0; k < JOINS; k++) {
			answered[k] = next_answered(&w);
			if (!w.lost_of)
				assert_is_reached(&w, answered[k], answered, k);
		}
		settle(&w);
		finish(&w);
	}
}

static unsigned sa(struct world *w, port_id from, uint8_t method, uint16_t attribute,
		   const uint8_t *record)
{
	const struct mad_header h = { .mgmt_class = MAD_SA,
				      .method = method,
				      .attribute = attribute };
	struct answer answer;

	return ask(w, from, &h, method == MAD_SET ? JOIN : 0, record, &answer);
}

/* A group of three, a service with a key, a subscriber at queue pair 9. */
static void fill_registers(struct world *w)
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

/* As OpenSM has it (cli.live_sm asks both): none, the right and a wrong key. */
static void who_has_no_key_is_not_told_all(void **state)
{
	enum { INVALID = 0x0200, MEMBER = 56 };
	uint8_t none[MAD_SIZE] = { 0 };
	struct world w = { 0 };
	struct answer a;

	(void)state;
	small_world(&w, 7000);
	fill_registers(&w);
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
		cmocka_unit_test(any_fabric_comes_up),
		cmocka_unit_test(lost_requests_are_made_up_for),
		cmocka_unit_test(cables_may_come_and_go),
		cmocka_unit_test(the_best_manager_is_master),
		cmocka_unit_test(elections_have_one_winner),
		cmocka_unit_test(four_lost_polls_make_a_master),
		cmocka_unit_test(paths_have_the_least_of_their_cables),
		cmocka_unit_test(subscriptions_are_known_by_who_and_what),
		cmocka_unit_test(reserved_components_do_not_count),
		cmocka_unit_test(who_joins_a_group_has_its_packets),
		cmocka_unit_test(many_who_join_at_once_are_all_answered_in_time),
		cmocka_unit_test(who_has_no_key_is_not_told_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
