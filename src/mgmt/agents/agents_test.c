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

/* The last MAD that arrived, the number of arrivals, and of cables that MADs have crossed. */
struct last_mad {
	unsigned n, cables;
	port_id port;
	struct mad_address from;
	uint8_t mad[MAD_SIZE];
};

static void keep(void *context, port_id port, const struct mad_address *from, const uint8_t *mad,
		 size_t size)
{
	struct last_mad *last = context;

	assert_int_equal(size, MAD_SIZE);
	last->n++;
	last->port = port;
	last->from = *from;
	memcpy(last->mad, mad, size);
}

static void count_cable(void *context, const struct agents_link_event *event)
{
	struct last_mad *last = context;

	(void)event;
	last->cables++;
}

struct agents_fixture {
	struct topo topo;
	struct agents *agents;
	struct last_mad last;
};

static void start(struct agents_fixture *w)
{
	const struct agents_options o = { 0 };
	const struct agents_events e = { .arrived = keep,
					 .context = &w->last,
					 .on_link = count_cable };

	w->agents = agents_new(&w->topo, &o, &e);
}

static void finish(struct agents_fixture *w)
{
	agents_free(w->agents);
	topo_fini(&w->topo);
}

static void random_fixture(struct agents_fixture *w, struct rng *r)
{
	*w = (struct agents_fixture){ 0 };
	build_tree(&w->topo, r, 1 + (unsigned)rng_below(r, 6), 8);
	start(w);
}

/* A directed-route SMP. */
struct dr_request {
	const uint8_t *path; /* InitialPath, from index 1 */
	unsigned hops;
	uint8_t method;
	uint16_t attribute;
	uint32_t modifier;
	const uint8_t *data; /* NULL: zeros */
	uint16_t last;       /* DrDLID; 0: the permissive LID */
};

static const uint8_t direct_path[64] = { 0, 1 };

/* True if a response returned to the sender; it is in last_mad. */
static bool send_request(struct agents_fixture *w, port_id from, const struct dr_request *q)
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
	store_be16(mad + 34, q->last ? q->last : LID_DIRECT);
	for (unsigned i = 1; i <= q->hops; i++)
		mad[INITIAL + i] = q->path[i];
	if (q->data)
		memcpy(mad + DATA, q->data, 64);
	unsigned before = w->last.n;

	agents_send(w->agents, from, &to, mad, MAD_SIZE, 0);
	if (w->last.n == before)
		return false;
	assert_int_equal(w->last.n, before + 1);
	assert_int_equal(w->last.port, from);
	assert_int_equal(load_be64(w->last.mad + 8), 77);
	assert_int_equal(w->last.mad[3], MAD_GET_RESP);
	return true;
}

static uint16_t status_of(const struct agents_fixture *w)
{
	return load_be16(w->last.mad + 4) & 0x7FFF;
}

/* The input port at which a path of cables ends, or TOPO_NONE. */
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

static void directed_routes_follow_cables(void **state)
{
	struct rng r;
	unsigned reached = 0, lost = 0;

	(void)state;
	rng_init(&r, 21, 0);
	for (unsigned round = 0; round < 60; round++) {
		struct agents_fixture w;

		random_fixture(&w, &r);
		for (unsigned i = 0; i < 50; i++) {
			unsigned hops = (unsigned)rng_below(&r, 6);
			uint8_t path[64] = { 0 }, back[64] = { 0 };

			path[1] = 1;
			for (unsigned k = 2; k <= hops; k++)
				path[k] = (uint8_t)rng_below(&r, 10);
			port_id from = host_port(&w.topo, 0);
			port_id to = follow(&w.topo, from, path, hops, back);
			const struct dr_request q = {
				path, hops, MAD_GET, ATTR_NODE_INFO, 0, NULL
			};
			bool answered = send_request(&w, from, &q);

			assert_int_equal(answered, to != TOPO_NONE);
			lost += !answered;
			if (!answered)
				continue;
			reached++;
			assert_int_equal(load_be64(w.last.mad + DATA + 12),
					 topo_node_of(&w.topo, to)->guid);
			assert_int_equal(w.last.mad[DATA + 36], w.topo.ports[to].number);
			assert_int_equal(w.last.mad[6], 0);
			assert_int_equal(load_be16(w.last.mad + 4), 0x8000);
			assert_memory_equal(w.last.mad + RETURN + 1, back + 1, hops);
		}
		finish(&w);
	}
	assert_true(reached > 500 && lost > 500);
}

/* A directed route that ends at an adapter and continues by LID: adapters do not forward. */
static void adapters_do_not_forward_what_continues_by_lid(void **state)
{
	struct rng r;
	unsigned ended = 0;

	(void)state;
	rng_init(&r, 28, 0);
	for (unsigned i = 0; i < 2000; i++) {
		uint8_t path[64] = { 0, 1 }, back[64] = { 0 };
		struct agents_fixture w;

		random_fixture(&w, &r);
		path[2] = (uint8_t)rng_below(&r, 10);
		path[3] = (uint8_t)rng_below(&r, 10);
		unsigned hops = 2 + (unsigned)rng_below(&r, 2);
		port_id from = host_port(&w.topo, 0), to = follow(&w.topo, from, path, hops, back);
		const struct dr_request q = { .path = path,
					      .hops = hops,
					      .last = (uint16_t)(1 + rng_below(&r, 100)),
					      .method = MAD_GET,
					      .attribute = ATTR_NODE_INFO };

		if (to != TOPO_NONE && topo_is_end_port(&w.topo, to) &&
		    topo_node_of(&w.topo, to)->kind != NODE_SWITCH) {
			assert_false(send_request(&w, from, &q));
			assert_int_equal(w.last.cables, hops);
			ended++;
		}
		finish(&w);
	}
	assert_true(ended > 100);
}

/* Tables of one block, with the attribute modifier of each. */
static const struct sma_table {
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

/* Sets or reads a random table; a read returns the last Set. */
static void access_table(struct agents_fixture *w, struct rng *r, uint8_t set[N_TABLES][64],
			 bool known[N_TABLES])
{
	unsigned k = (unsigned)rng_below(r, N_TABLES);
	const struct sma_table *t = &tables[k];
	struct dr_request q = { direct_path,  t->at_switch ? 1 : 0, MAD_GET,
				t->attribute, t->modifier,          NULL };

	if (rng_below(r, 2)) {
		for (unsigned b = 0; b < 64; b++)
			set[k][b] = (uint8_t)rng_next(r);
		q.method = MAD_SET;
		q.data = set[k];
		known[k] = true;
	}
	assert_true(send_request(w, host_port(&w->topo, 0), &q));
	assert_int_equal(status_of(w), 0);
	if (known[k])
		assert_memory_equal(w->last.mad + DATA, set[k], t->size);
}

/* A read returns the last Set of the same table, in any order of Sets. */
static void get_returns_the_last_set(void **state)
{
	struct rng r;

	(void)state;
	rng_init(&r, 22, 0);
	for (unsigned round = 0; round < 40; round++) {
		uint8_t set[N_TABLES][64];
		bool known[N_TABLES] = { false };
		struct agents_fixture w;

		random_fixture(&w, &r);
		for (unsigned i = 0; i < 80; i++)
			access_table(&w, &r, set, known);
		finish(&w);
	}
}

static void put_info(struct agents_fixture *w, uint8_t *info, const char *field, uint64_t value)
{
	struct field f;

	(void)w;
	assert_true(field_record_find(mad_attribute(mad_class(MAD_SMP), ATTR_PORT_INFO)->record,
				      field, &f));
	field_set(&f, info, value);
}

/* Transitions of PortState by Set, for each present state. */
static void port_state_transitions_follow_the_specification(void **state)
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
	struct agents_fixture w;

	(void)state;
	rng_init(&r, 23, 0);
	random_fixture(&w, &r);
	port_id mine = host_port(&w.topo, 0), peer = w.topo.ports[mine].peer;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint8_t info[64] = { 0 };

		agents_port_set(w.agents, peer, PORT_STATE, rows[i].from);
		put_info(&w, info, "LinkState", rows[i].to);
		const struct dr_request q = { direct_path, 1, MAD_SET, ATTR_PORT_INFO, 8, info };
		assert_true(send_request(&w, mine, &q) || rows[i].to == LINK_DOWN);
		if (rows[i].to != LINK_DOWN)
			assert_int_equal(status_of(&w) == 0, rows[i].obeys);
		/* A link that is set to Down trains again at once. */
		unsigned after = !rows[i].obeys            ? rows[i].from
				 : rows[i].to == LINK_DOWN ? LINK_INIT
							   : rows[i].to;
		assert_int_equal(agents_port_get(w.agents, peer, PORT_STATE), after);
	}
	assert_int_equal(agents_counter(w.agents, peer, COUNT_LINK_DOWNED), 1);
	assert_int_equal(agents_counter(w.agents, mine, COUNT_LINK_DOWNED), 1);
	finish(&w);
}

static void set_port(struct agents_fixture *w, port_id p, unsigned lid, unsigned sm)
{
	agents_port_set(w->agents, p, PORT_LID, lid);
	agents_port_set(w->agents, p, PORT_SM_LID, sm);
}

/* A switch repeats trap 128 until it is repressed. */
static void traps_are_repeated_until_repressed(void **state)
{
	struct rng r;
	struct agents_fixture w;
	uint8_t lft[64];

	(void)state;
	rng_init(&r, 24, 0);
	random_fixture(&w, &r);
	port_id mine = host_port(&w.topo, 0), peer = w.topo.ports[mine].peer;
	const struct topo_node *sw = topo_node_of(&w.topo, peer);

	memset(lft, LFT_NO_PORT, sizeof(lft));
	lft[1] = 8; /* the host */
	lft[2] = 0; /* the switch */
	const struct dr_request q = { direct_path, 1, MAD_SET, ATTR_LINEAR_FORWARDING, 0, lft };
	assert_true(send_request(&w, mine, &q));
	set_port(&w, mine, 1, 1);
	set_port(&w, sw->first_port, 2, 1);
	agents_port_set(w.agents, sw->first_port, PORT_SUBNET_TIMEOUT, 10);
	assert_int_equal(agents_next(w.agents), HD_TIME_NEVER);
	/* Port 7 has no cable. */
	assert_false(agents_set_cable(w.agents, sw->first_port + 7, false, 5));
	unsigned before = w.last.n;

	assert_true(agents_set_cable(w.agents, peer, false, 5));
	/* The path to the manager is down, too. */
	assert_int_equal(w.last.n, before);
	assert_true(agents_set_cable(w.agents, peer, true, 6));
	assert_int_equal(w.last.n, before + 1);
	assert_int_equal(w.last.port, mine);
	assert_int_equal(w.last.mad[3], MAD_TRAP);
	assert_int_equal(load_be16(w.last.mad + DATA + 4), 128);
	assert_int_equal(load_be16(w.last.mad + DATA + 6), 2);
	assert_int_equal(load_be16(w.last.mad + DATA + 10), 2);
	hd_time due = 6 + ((hd_time)4096000 << 10);

	assert_int_equal(agents_next(w.agents), due);
	agents_run(w.agents, due - 1);
	assert_int_equal(w.last.n, before + 1);
	agents_run(w.agents, due);
	assert_int_equal(w.last.n, before + 2);
	w.last.mad[3] = MAD_TRAP_REPRESS;
	const struct mad_address to = { .lid = 2 };
	uint8_t repress[MAD_SIZE];

	memcpy(repress, w.last.mad, MAD_SIZE);
	agents_send(w.agents, mine, &to, repress, MAD_SIZE, due);
	assert_int_equal(agents_next(w.agents), HD_TIME_NEVER);
	finish(&w);
}

/* Counters saturate, and a Set writes only the selected counters. */
static void counters_saturate_and_sets_write_selected_ones(void **state)
{
	const struct mad_address to = { .lid = 1, .pkey = 0xFFFF };
	struct mad_header h = { .mgmt_class = MAD_PERF,
				.method = MAD_GET,
				.attribute = ATTR_PORT_COUNTERS };
	struct rng r;
	uint8_t mad[MAD_SIZE];
	struct agents_fixture w;

	(void)state;
	rng_init(&r, 25, 0);
	random_fixture(&w, &r);
	port_id mine = host_port(&w.topo, 0);

	set_port(&w, mine, 1, 1);
	agents_count(w.agents, mine, COUNT_LINK_DOWNED, 300);
	agents_count(w.agents, mine, COUNT_SYMBOL_ERROR, 7);
	mad_write(&h, mad);
	mad_set(mad, "PortSelect", 1);
	agents_send(w.agents, mine, &to, mad, MAD_SIZE, 0);
	assert_int_equal(mad_get(w.last.mad, "LinkDownedCounter"), 255);
	assert_int_equal(mad_get(w.last.mad, "SymbolErrorCounter"), 7);
	h.method = MAD_SET;
	mad_write(&h, mad);
	mad_set(mad, "PortSelect", 1);
	mad_set(mad, "CounterSelect", 1 << 2);
	agents_send(w.agents, mine, &to, mad, MAD_SIZE, 0);
	assert_int_equal(mad_get(w.last.mad, "LinkDownedCounter"), 0);
	assert_int_equal(agents_counter(w.agents, mine, COUNT_SYMBOL_ERROR), 7);
	finish(&w);
}

/* A shorter MAD is padded with zeros; class 0 is ignored. */
static void short_mads_are_padded_with_zeros(void **state)
{
	static const struct {
		uint8_t mgmt_class;
		uint16_t attribute;
	} requests[] = { { MAD_SMP, ATTR_NODE_INFO },
			 { MAD_PERF, ATTR_CLASS_PORT_INFO },
			 { MAD_CC, ATTR_CLASS_PORT_INFO },
			 { 0, ATTR_NODE_INFO } };
	struct rng r;
	struct agents_fixture w;

	(void)state;
	rng_init(&r, 27, 0);
	random_fixture(&w, &r);
	port_id mine = host_port(&w.topo, 0);

	set_port(&w, mine, 1, 1);
	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		const struct mad_header h = {
			.mgmt_class = requests[i].mgmt_class,
			.method = MAD_GET,
			.attribute = requests[i].attribute,
		};
		const struct mad_address to = {
			.lid = 1, .pkey = 0xFFFF, .qp = h.mgmt_class != MAD_SMP, .qkey = MAD_QKEY
		};
		uint8_t mad[MAD_SIZE] = { 0 }, whole[MAD_SIZE];

		mad_write(&h, mad);
		agents_send(w.agents, mine, &to, mad, MAD_SIZE, 0);
		memcpy(whole, w.last.mad, MAD_SIZE);
		for (size_t size = 24; size < MAD_SIZE; size++) {
			w.last.n = 0;
			agents_send(w.agents, mine, &to, mad, size, 0);
			assert_int_equal(w.last.n, h.mgmt_class != 0);
			assert_memory_equal(w.last.mad, whole, MAD_SIZE);
		}
		if (requests[i].attribute == ATTR_CLASS_PORT_INFO) {
			assert_int_equal(mad_get(whole, "BaseVersion"), 1);
			assert_int_equal(mad_get(whole, "ClassVersion"),
					 mad_class(requests[i].mgmt_class)->version);
		}
	}
	finish(&w);
}

/* True if a packed change can be unpacked; asserts that it is equal. */
static bool unpacks(const struct topo *t, struct agent_change d)
{
	struct strbuf bytes = STRBUF_INIT;
	struct agent_change again = { .kind = AGENT_CHANGE_RUN };
	struct pack p;

	pack_to(&p, &bytes);
	agent_change_pack(&p, t, &d);
	pack_from(&p, bytes.text, bytes.len);
	agent_change_pack(&p, t, &again);
	bool good = pack_is_done(&p);

	if (good) {
		assert_int_equal(again.kind, d.kind);
		assert_int_equal(again.which, d.which);
		assert_int_equal(again.value, d.value);
	}
	strbuf_fini(&bytes);
	return good;
}

/* True if unpacking accepts a change of this kind whose members are 0. */
static bool kind_is_valid(const struct topo *t, uint32_t kind)
{
	struct strbuf bytes = STRBUF_INIT;
	struct agent_change d = { .kind = AGENT_CHANGE_RUN };
	struct pack p;

	pack_to(&p, &bytes);
	pack_u32(&p, &kind);
	for (unsigned i = 0; i < 16; i++)
		pack_u64(&p, &(uint64_t){ 0 });
	pack_from(&p, bytes.text, bytes.len);
	agent_change_pack(&p, t, &d);
	strbuf_fini(&bytes);
	return !p.refused;
}

/* Unpacking accepts existing fields, counters and kinds only. */
static void changes_name_existing_fields_and_counters(void **state)
{
	static const struct {
		enum agent_change_kind kind;
		uint32_t n;
	} named[] = { { AGENT_CHANGE_FIELD, N_PORT_FIELDS },
		      { AGENT_CHANGE_COUNT, N_PORT_COUNTERS },
		      { AGENT_CHANGE_ERROR, N_PORT_COUNTERS } };
	struct rng r;
	struct agents_fixture w;

	(void)state;
	rng_init(&r, 26, 0);
	random_fixture(&w, &r);
	for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++) {
		for (uint32_t k = 0; k < named[i].n + 3; k++) {
			const struct agent_change of = { .kind = named[i].kind,
							 .which = k,
							 .value = 1 };

			assert_int_equal(unpacks(&w.topo, of), k < named[i].n);
		}
	}
	assert_true(kind_is_valid(&w.topo, AGENT_CHANGE_RUN));
	assert_false(kind_is_valid(&w.topo, N_AGENT_CHANGES));
	finish(&w);
}

/* GUIDCap counts GUIDs by blocks of eight and is 0 at external ports of switches. */
static void ports_that_have_an_agent_have_a_guid_table(void **state)
{
	struct rng r;
	struct agents_fixture w;

	(void)state;
	rng_init(&r, 27, 0);
	random_fixture(&w, &r);
	for (port_id p = 0; p < w.topo.n_ports; p++) {
		bool external = !topo_is_end_port(&w.topo, p) && w.topo.ports[p].number > 0;

		assert_int_equal(agents_port_get(w.agents, p, PORT_GUID_CAP), external ? 0 : 8);
	}
	finish(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(directed_routes_follow_cables),
		cmocka_unit_test(adapters_do_not_forward_what_continues_by_lid),
		cmocka_unit_test(get_returns_the_last_set),
		cmocka_unit_test(port_state_transitions_follow_the_specification),
		cmocka_unit_test(traps_are_repeated_until_repressed),
		cmocka_unit_test(counters_saturate_and_sets_write_selected_ones),
		cmocka_unit_test(short_mads_are_padded_with_zeros),
		cmocka_unit_test(changes_name_existing_fields_and_counters),
		cmocka_unit_test(ports_that_have_an_agent_have_a_guid_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
