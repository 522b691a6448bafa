/* SPDX-License-Identifier: BSD-2-Clause */
#include "mgmt/agents/agents.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/pack.h"
#include "base/rng.h"
#include "subnet/routing/fabric_for_tests.h"
#include "subnet/subnet.h"
#include "wire/cursor.h"

enum { INITIAL = 128, RETURN = 192, DATA = 64, LID_DIRECT = 0xFFFF };

/* What arrived last, and how often. */
struct mailbox {
	unsigned n;
	port_id port;
	struct mad_address from;
	uint8_t mad[MAD_SIZE];
};

static void keep(void *context, port_id port, const struct mad_address *from, const uint8_t *mad,
		 size_t size)
{
	struct mailbox *box = context;

	assert_int_equal(size, MAD_SIZE);
	box->n++;
	box->port = port;
	box->from = *from;
	memcpy(box->mad, mad, size);
}

struct world {
	struct topo topo;
	struct agents *agents;
	struct mailbox box;
};

static void start(struct world *w)
{
	const struct agents_options o = { 0 };
	const struct agents_events e = { keep, &w->box };

	w->agents = agents_new(&w->topo, &o, &e);
}

static void finish(struct world *w)
{
	agents_free(w->agents);
	topo_fini(&w->topo);
}

static void random_world(struct world *w, struct rng *r)
{
	*w = (struct world){ 0 };
	build_tree(&w->topo, r, 1 + (unsigned)rng_below(r, 6), 8);
	start(w);
}

/* A request that says its route. */
struct question {
	const uint8_t *path; /* from 1 on */
	unsigned hops;
	uint8_t method;
	uint16_t attribute;
	uint32_t modifier;
	const uint8_t *data; /* NULL: zeros */
};

static const uint8_t near[64] = { 0, 1 };

/* Whether an answer came to the sender; it is then in the mailbox. */
static bool ask(struct world *w, port_id from, const struct question *q)
{
	struct mad_header h = { .mgmt_class = MAD_SMP_DIRECT,
				.method = q->method,
				.hop_count = (uint8_t)q->hops,
				.tid = 77,
				.attribute = q->attribute,
				.modifier = q->modifier };
	const struct mad_address to = { .lid = LID_DIRECT };
	uint8_t mad[MAD_SIZE];

	mad_write(&h, mad);
	store_be16(mad + 32, LID_DIRECT);
	store_be16(mad + 34, LID_DIRECT);
	for (unsigned i = 1; i <= q->hops; i++)
		mad[INITIAL + i] = q->path[i];
	if (q->data)
		memcpy(mad + DATA, q->data, 64);
	unsigned before = w->box.n;

	agents_send(w->agents, from, &to, mad, MAD_SIZE, 0);
	if (w->box.n == before)
		return false;
	assert_int_equal(w->box.n, before + 1);
	assert_int_equal(w->box.port, from);
	assert_int_equal(load_be64(w->box.mad + 8), 77);
	assert_int_equal(w->box.mad[3], MAD_GET_RESP);
	return true;
}

static uint16_t status_of(const struct world *w)
{
	return load_be16(w->box.mad + 4) & 0x7FFF;
}

/* Where a path leads by the cables alone; TOPO_NONE if nowhere. */
static port_id follow(const struct topo *t, port_id at, const uint8_t *path, unsigned hops,
		      uint8_t *back)
{
	for (unsigned i = 1; i <= hops; i++) {
		const struct topo_node *n = topo_node_of(t, at);

		if (i > 1 && n->kind != NODE_SWITCH)
			return TOPO_NONE;
		if (path[i] == 0 || path[i] > n->n_ports)
			return TOPO_NONE;
		at = t->ports[n->first_port + path[i]].peer;
		if (at == TOPO_NONE)
			return TOPO_NONE;
		back[i] = t->ports[at].number;
	}
	return at;
}

static void test_routes_lead_where_cables_do(void **state)
{
	struct rng r;
	unsigned reached = 0, lost = 0;

	(void)state;
	rng_init(&r, 21, 0);
	for (unsigned round = 0; round < 60; round++) {
		struct world w;

		random_world(&w, &r);
		for (unsigned i = 0; i < 50; i++) {
			unsigned hops = (unsigned)rng_below(&r, 6);
			uint8_t path[64] = { 0 }, back[64] = { 0 };

			path[1] = 1;
			for (unsigned k = 2; k <= hops; k++)
				path[k] = (uint8_t)rng_below(&r, 10);
			port_id from = host_port(&w.topo, 0);
			port_id to = follow(&w.topo, from, path, hops, back);
			const struct question q = { path, hops, MAD_GET, ATTR_NODE_INFO, 0, NULL };
			bool answered = ask(&w, from, &q);

			assert_int_equal(answered, to != TOPO_NONE);
			lost += !answered;
			if (!answered)
				continue;
			reached++;
			assert_int_equal(load_be64(w.box.mad + DATA + 12),
					 topo_node_of(&w.topo, to)->guid);
			assert_int_equal(w.box.mad[DATA + 36], w.topo.ports[to].number);
			assert_int_equal(w.box.mad[6], 0);
			assert_int_equal(load_be16(w.box.mad + 4), 0x8000);
			assert_memory_equal(w.box.mad + RETURN + 1, back + 1, hops);
		}
		finish(&w);
	}
	assert_true(reached > 500 && lost > 500);
}

/* Tables of one block each, and by which modifier one finds them. */
static const struct table {
	uint16_t attribute;
	uint32_t modifier;
	size_t size;
	bool at_switch;
} tables[] = {
	{ ATTR_VL_ARBITRATION, 0x10003, 64, true },  { ATTR_VL_ARBITRATION, 0x30003, 64, true },
	{ ATTR_VL_ARBITRATION, 0x10002, 64, true },  { ATTR_SL_TO_VL, 0x0203, 8, true },
	{ ATTR_SL_TO_VL, 0x0302, 8, true },          { ATTR_LINEAR_FORWARDING, 0, 64, true },
	{ ATTR_LINEAR_FORWARDING, 5, 64, true },     { ATTR_MULTICAST_FORWARDING, 0, 64, true },
	{ ATTR_MULTICAST_FORWARDING, 3, 64, true },  { ATTR_PKEY_TABLE, 0x30000, 64, true },
	{ ATTR_PKEY_TABLE, 0, 64, false },           { ATTR_PKEY_TABLE, 3, 64, false },
	{ ATTR_VL_ARBITRATION, 0x10000, 64, false }, { ATTR_SL_TO_VL, 0, 8, false },
};

enum { N_TABLES = sizeof(tables) / sizeof(tables[0]) };

/* One of the tables, set anew or read, is as it was set last. */
static void use_table(struct world *w, struct rng *r, uint8_t set[N_TABLES][64],
		      bool known[N_TABLES])
{
	unsigned k = (unsigned)rng_below(r, N_TABLES);
	const struct table *t = &tables[k];
	struct question q = {
		near, t->at_switch ? 1 : 0, MAD_GET, t->attribute, t->modifier, NULL
	};

	if (rng_below(r, 2)) {
		for (unsigned b = 0; b < 64; b++)
			set[k][b] = (uint8_t)rng_next(r);
		q.method = MAD_SET;
		q.data = set[k];
		known[k] = true;
	}
	assert_true(ask(w, host_port(&w->topo, 0), &q));
	assert_int_equal(status_of(w), 0);
	if (known[k])
		assert_memory_equal(w->box.mad + DATA, set[k], t->size);
}

/* Whatever is set, in any order, is what is read: here and nowhere else. */
static void test_what_is_set_is_read(void **state)
{
	struct rng r;

	(void)state;
	rng_init(&r, 22, 0);
	for (unsigned round = 0; round < 40; round++) {
		uint8_t set[N_TABLES][64];
		bool known[N_TABLES] = { false };
		struct world w;

		random_world(&w, &r);
		for (unsigned i = 0; i < 80; i++)
			use_table(&w, &r, set, known);
		finish(&w);
	}
}

static void put_info(struct world *w, uint8_t *info, const char *field, uint64_t value)
{
	struct field f;

	(void)w;
	assert_true(
		record_find(mad_attribute(mad_class(MAD_SMP), ATTR_PORT_INFO)->record, field, &f));
	field_set(&f, info, value);
}

/* Which commands a link obeys, from each state. */
static void test_link_states(void **state)
{
	static const struct {
		unsigned from, to;
		bool obeys;
	} rows[] = {
		{ LINK_INIT, LINK_ARMED, true },   { LINK_INIT, LINK_ACTIVE, false },
		{ LINK_ARMED, LINK_ACTIVE, true }, { LINK_ARMED, LINK_INIT, false },
		{ LINK_ACTIVE, LINK_INIT, false }, { LINK_ACTIVE, LINK_DOWN, true },
	};
	struct rng r;
	struct world w;

	(void)state;
	rng_init(&r, 23, 0);
	random_world(&w, &r);
	port_id mine = host_port(&w.topo, 0), peer = w.topo.ports[mine].peer;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint8_t info[64] = { 0 };

		agents_port_set(w.agents, peer, PORT_STATE, rows[i].from);
		put_info(&w, info, "LinkState", rows[i].to);
		const struct question q = { near, 1, MAD_SET, ATTR_PORT_INFO, 8, info };
		assert_true(ask(&w, mine, &q) || rows[i].to == LINK_DOWN);
		if (rows[i].to != LINK_DOWN)
			assert_int_equal(status_of(&w) == 0, rows[i].obeys);
		/* One that was told to go down trains again at once. */
		unsigned after = !rows[i].obeys            ? rows[i].from
				 : rows[i].to == LINK_DOWN ? LINK_INIT
							   : rows[i].to;
		assert_int_equal(agents_port_get(w.agents, peer, PORT_STATE), after);
	}
	assert_int_equal(agents_counter(w.agents, peer, COUNT_LINK_DOWNED), 1);
	assert_int_equal(agents_counter(w.agents, mine, COUNT_LINK_DOWNED), 1);
	finish(&w);
}

static void set_port(struct world *w, port_id p, unsigned lid, unsigned sm)
{
	agents_port_set(w->agents, p, PORT_LID, lid);
	agents_port_set(w->agents, p, PORT_SM_LID, sm);
}

/* A switch says that a cable went, again and again until it is answered. */
static void test_notices(void **state)
{
	struct rng r;
	struct world w;
	uint8_t lft[64];

	(void)state;
	rng_init(&r, 24, 0);
	random_world(&w, &r);
	port_id mine = host_port(&w.topo, 0), peer = w.topo.ports[mine].peer;
	const struct topo_node *sw = topo_node_of(&w.topo, peer);

	memset(lft, LFT_NO_PORT, sizeof(lft));
	lft[1] = 8; /* the host */
	lft[2] = 0; /* the switch */
	const struct question q = { near, 1, MAD_SET, ATTR_LINEAR_FORWARDING, 0, lft };
	assert_true(ask(&w, mine, &q));
	set_port(&w, mine, 1, 1);
	set_port(&w, sw->first_port, 2, 1);
	agents_port_set(w.agents, sw->first_port, PORT_SUBNET_TIMEOUT, 10);
	assert_int_equal(agents_next(w.agents), HD_TIME_NEVER);
	/* A port without a cable cannot lose it; this one can. */
	assert_false(agents_set_cable(w.agents, sw->first_port + 7, false, 5));
	unsigned before = w.box.n;

	assert_true(agents_set_cable(w.agents, peer, false, 5));
	/* The way to the manager is gone with it. */
	assert_int_equal(w.box.n, before);
	assert_true(agents_set_cable(w.agents, peer, true, 6));
	assert_int_equal(w.box.n, before + 1);
	assert_int_equal(w.box.port, mine);
	assert_int_equal(w.box.mad[3], MAD_TRAP);
	assert_int_equal(load_be16(w.box.mad + DATA + 4), 128);
	assert_int_equal(load_be16(w.box.mad + DATA + 6), 2);
	assert_int_equal(load_be16(w.box.mad + DATA + 10), 2);
	hd_time due = 6 + ((hd_time)4096000 << 10);

	assert_int_equal(agents_next(w.agents), due);
	agents_run(w.agents, due - 1);
	assert_int_equal(w.box.n, before + 1);
	agents_run(w.agents, due);
	assert_int_equal(w.box.n, before + 2);
	w.box.mad[3] = MAD_TRAP_REPRESS;
	const struct mad_address to = { .lid = 2 };
	uint8_t repress[MAD_SIZE];

	memcpy(repress, w.box.mad, MAD_SIZE);
	agents_send(w.agents, mine, &to, repress, MAD_SIZE, due);
	assert_int_equal(agents_next(w.agents), HD_TIME_NEVER);
	finish(&w);
}

/* Counters stay at their greatest value, and a reset takes what it names. */
static void test_counters(void **state)
{
	const struct mad_address to = { .lid = 1, .pkey = 0xFFFF };
	struct mad_header h = { .mgmt_class = MAD_PERF,
				.method = MAD_GET,
				.attribute = ATTR_PORT_COUNTERS };
	struct rng r;
	uint8_t mad[MAD_SIZE];
	struct world w;

	(void)state;
	rng_init(&r, 25, 0);
	random_world(&w, &r);
	port_id mine = host_port(&w.topo, 0);

	set_port(&w, mine, 1, 1);
	agents_count(w.agents, mine, COUNT_LINK_DOWNED, 300);
	agents_count(w.agents, mine, COUNT_SYMBOL_ERROR, 7);
	mad_write(&h, mad);
	mad_set(mad, "PortSelect", 1);
	agents_send(w.agents, mine, &to, mad, MAD_SIZE, 0);
	assert_int_equal(mad_get(w.box.mad, "LinkDownedCounter"), 255);
	assert_int_equal(mad_get(w.box.mad, "SymbolErrorCounter"), 7);
	h.method = MAD_SET;
	mad_write(&h, mad);
	mad_set(mad, "PortSelect", 1);
	mad_set(mad, "CounterSelect", 1 << 2);
	agents_send(w.agents, mine, &to, mad, MAD_SIZE, 0);
	assert_int_equal(mad_get(w.box.mad, "LinkDownedCounter"), 0);
	assert_int_equal(agents_counter(w.agents, mine, COUNT_SYMBOL_ERROR), 7);
	finish(&w);
}

/* What is cut of a MAD is zero; without a class it is none. */
static void test_short_mads_end_in_zeros(void **state)
{
	static const struct {
		uint8_t mgmt_class;
		uint16_t attribute;
	} asked[] = { { MAD_SMP, ATTR_NODE_INFO },
		      { MAD_PERF, ATTR_CLASS_PORT_INFO },
		      { MAD_CC, ATTR_CLASS_PORT_INFO },
		      { 0, ATTR_NODE_INFO } };
	struct rng r;
	struct world w;

	(void)state;
	rng_init(&r, 27, 0);
	random_world(&w, &r);
	port_id mine = host_port(&w.topo, 0);

	set_port(&w, mine, 1, 1);
	for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
		const struct mad_header h = {
			.mgmt_class = asked[i].mgmt_class,
			.method = MAD_GET,
			.attribute = asked[i].attribute,
		};
		const struct mad_address to = {
			.lid = 1, .pkey = 0xFFFF, .qp = h.mgmt_class != MAD_SMP, .qkey = MAD_QKEY
		};
		uint8_t mad[MAD_SIZE] = { 0 }, whole[MAD_SIZE];

		mad_write(&h, mad);
		agents_send(w.agents, mine, &to, mad, MAD_SIZE, 0);
		memcpy(whole, w.box.mad, MAD_SIZE);
		for (size_t size = 24; size < MAD_SIZE; size++) {
			w.box.n = 0;
			agents_send(w.agents, mine, &to, mad, size, 0);
			assert_int_equal(w.box.n, h.mgmt_class != 0);
			assert_memory_equal(w.box.mad, whole, MAD_SIZE);
		}
		if (asked[i].attribute == ATTR_CLASS_PORT_INFO) {
			assert_int_equal(mad_get(whole, "BaseVersion"), 1);
			assert_int_equal(mad_get(whole, "ClassVersion"),
					 mad_class(asked[i].mgmt_class)->version);
		}
	}
	finish(&w);
}

/* Whether a deed that was written is read, and is the same. */
static bool is_read(const struct topo *t, struct deed d)
{
	struct strbuf bytes = STRBUF_INIT;
	struct deed again = { .kind = DEED_RUN };
	struct pack p;

	pack_to(&p, &bytes);
	deed_pack(&p, t, &d);
	pack_from(&p, bytes.text, bytes.len);
	deed_pack(&p, t, &again);
	bool good = pack_is_done(&p);

	if (good) {
		assert_int_equal(again.kind, d.kind);
		assert_int_equal(again.which, d.which);
		assert_int_equal(again.value, d.value);
	}
	strbuf_fini(&bytes);
	return good;
}

/* Whether nothing is wrong with a deed of this kind that is 0 otherwise. */
static bool kind_is_known(const struct topo *t, uint32_t kind)
{
	struct strbuf bytes = STRBUF_INIT;
	struct deed d = { .kind = DEED_RUN };
	struct pack p;

	pack_to(&p, &bytes);
	pack_u32(&p, &kind);
	for (unsigned i = 0; i < 16; i++)
		pack_u64(&p, &(uint64_t){ 0 });
	pack_from(&p, bytes.text, bytes.len);
	deed_pack(&p, t, &d);
	strbuf_fini(&bytes);
	return !p.refused;
}

/* Every field and counter that there is, and no other; no kind but those. */
static void test_deeds_name_what_there_is(void **state)
{
	static const struct {
		enum deed_kind kind;
		uint32_t n;
	} named[] = { { DEED_FIELD, N_PORT_FIELDS },
		      { DEED_COUNT, N_PORT_COUNTERS },
		      { DEED_ERROR, N_PORT_COUNTERS } };
	struct rng r;
	struct world w;

	(void)state;
	rng_init(&r, 26, 0);
	random_world(&w, &r);
	for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++) {
		for (uint32_t k = 0; k < named[i].n + 3; k++) {
			const struct deed of = { .kind = named[i].kind, .which = k, .value = 1 };

			assert_int_equal(is_read(&w.topo, of), k < named[i].n);
		}
	}
	assert_true(kind_is_known(&w.topo, DEED_RUN));
	assert_false(kind_is_known(&w.topo, N_DEEDS));
	finish(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_routes_lead_where_cables_do),
		cmocka_unit_test(test_what_is_set_is_read),
		cmocka_unit_test(test_link_states),
		cmocka_unit_test(test_notices),
		cmocka_unit_test(test_counters),
		cmocka_unit_test(test_short_mads_end_in_zeros),
		cmocka_unit_test(test_deeds_name_what_there_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
