/* SPDX-License-Identifier: BSD-2-Clause */
#include "mgmt/agents/agents.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "subnet/routing/fabric_for_tests.h"
#include "subnet/subnet.h"
#include "wire/cursor.h"

/*
 * Requirements of the InfiniBand Architecture Specification on agents, one row each: a request, the
 * status of its response, and one field of it. The values are from the chapters on subnet
 * management (14.2) and performance management (16.1). Fabrics are random.
 */

enum {
	PORTS = 8,
	/* MAD status values, 13.4.7. */
	OK = 0,
	BAD_VERSION = 0x04,
	NO_SUCH = 0x0C, /* unsupported combination of method and attribute */
	BAD_FIELD = 0x1C,
	SILENCE = 0xFFFF,
};
#define SECOND UINT64_C(1000000000000)

struct conformance_fixture {
	struct topo topo;
	struct agents *agents;
	port_id host;
	unsigned n; /* responses that arrived at `host` */
	uint8_t mad[MAD_SIZE];
	uint8_t trap[MAD_SIZE]; /* the last trap */
	hd_time now;
};

static void keep(void *context, port_id port, const struct mad_address *from, const uint8_t *mad,
		 size_t size)
{
	struct conformance_fixture *w = context;

	(void)from;
	assert_int_equal(size, MAD_SIZE);
	if (port != w->host)
		return;
	if (mad[3] == MAD_TRAP) {
		memcpy(w->trap, mad, size);
		return;
	}
	w->n++;
	memcpy(w->mad, mad, size);
}

/* A tree of switches with a host on port 8 of each; requests come from the first host. */
static void start(struct conformance_fixture *w, struct rng *r)
{
	const struct agents_options o = { 0 };
	const struct agents_events e = { keep, w };

	*w = (struct conformance_fixture){ 0 };
	build_tree(&w->topo, r, 1 + (unsigned)rng_below(r, 5), PORTS);
	w->host = host_port(&w->topo, 0);
	w->topo.ports[w->host].speeds = 1U << SPEED_FDR | 1U << SPEED_EDR;
	w->agents = agents_new(&w->topo, &o, &e);
}

static void finish(struct conformance_fixture *w)
{
	agents_free(w->agents);
	topo_fini(&w->topo);
}

/* The destination: the host itself, or its switch. */
enum destination { HOST, SWITCH };

struct conformance_row {
	enum destination destination;
	uint8_t method;
	uint16_t attribute;
	uint32_t modifier;
	const char *in; /* field to set first; NULL: none */
	uint64_t value;
	uint16_t status;
	const char *out; /* field of the response to check; NULL: none */
	uint64_t expected;
	uint8_t class; /* 0: subnet management */
	uint8_t version;
};

static const struct record *record_of(const struct conformance_row *r)
{
	const struct mad_attribute *a =
		mad_attribute(mad_class(r->class ? r->class : MAD_SMP), r->attribute);

	return a ? a->record : NULL;
}

static uint8_t *field_in(const struct conformance_row *r, const char *name, uint8_t *mad,
			 struct field *f)
{
	if (!field_record_find(record_of(r), name, f))
		fail_msg("no field %s", name);
	return mad + mad_class(r->class ? r->class : MAD_SMP)->data;
}

/* Returns the status of the response, which is in w->mad, or SILENCE. */
static uint16_t send(struct conformance_fixture *w, enum destination destination, uint8_t *mad)
{
	struct mad_address to = { .lid = 0xFFFF, .pkey = 0xFFFF };
	unsigned before = w->n;

	store_be16(mad + 32, 0xFFFF);
	store_be16(mad + 34, 0xFFFF);
	mad[7] = destination == SWITCH;
	mad[128 + 1] = 1;
	agents_send(w->agents, w->host, &to, mad, MAD_SIZE, w->now);
	if (w->n == before)
		return SILENCE;
	assert_int_equal(w->n, before + 1);
	assert_int_equal(w->mad[3], MAD_GET_RESP);
	return load_be16(w->mad + 4) & 0x7FFF;
}

/* A Set begins with the data of a Get, as a subnet manager's does. */
static uint16_t send_row(struct conformance_fixture *w, const struct conformance_row *r,
			 uint64_t key)
{
	struct mad_header h = { .mgmt_class = MAD_SMP_DIRECT,
				.method = MAD_GET,
				.tid = 9,
				.attribute = r->attribute,
				.modifier = r->modifier };
	uint8_t mad[MAD_SIZE];
	struct field f;

	mad_write(&h, mad);
	store_be64(mad + 24, key);
	if (r->method == MAD_SET && send(w, r->destination, mad) == OK)
		memcpy(mad + 64, w->mad + 64, 64);
	mad[3] = r->method;
	if (r->version)
		mad[2] = r->version;
	/* Link states of 0 mean no change. */
	if (r->attribute == ATTR_PORT_INFO && r->method == MAD_SET) {
		mad[64 + 32] &= 0xF0;
		mad[64 + 33] &= 0x0F;
	}
	if (r->in) {
		uint8_t *data = field_in(r, r->in, mad, &f);

		field_set(&f, data, r->value);
	}
	return send(w, r->destination, mad);
}

static const struct conformance_row rows[] = {
	/* NodeInfo is read-only. */
	{ HOST, MAD_GET, ATTR_NODE_INFO, 0, NULL, 0, OK, "NodeType", 1 },
	{ SWITCH, MAD_GET, ATTR_NODE_INFO, 0, NULL, 0, OK, "NodeType", 2 },
	{ SWITCH, MAD_GET, ATTR_NODE_INFO, 0, NULL, 0, OK, "NumPorts", PORTS },
	{ SWITCH, MAD_GET, ATTR_NODE_INFO, 0, NULL, 0, OK, "LocalPort", PORTS },
	{ HOST, MAD_GET, ATTR_NODE_INFO, 0, NULL, 0, OK, "LocalPort", 1 },
	{ HOST, MAD_SET, ATTR_NODE_INFO, 0, NULL, 0, NO_SUCH, NULL, 0 },
	{ HOST, MAD_GET, 0xFF, 0, NULL, 0, NO_SUCH, NULL, 0 },
	{ HOST, MAD_GET, ATTR_NODE_INFO, 0, NULL, 0, BAD_VERSION, NULL, 0, 0, 9 },
	/* Attributes of switches only, and writable fields of SwitchInfo. */
	{ HOST, MAD_GET, ATTR_SWITCH_INFO, 0, NULL, 0, NO_SUCH, NULL, 0 },
	{ HOST, MAD_GET, ATTR_LINEAR_FORWARDING, 0, NULL, 0, NO_SUCH, NULL, 0 },
	{ HOST, MAD_GET, ATTR_MULTICAST_FORWARDING, 0, NULL, 0, NO_SUCH, NULL, 0 },
	{ SWITCH, MAD_SET, ATTR_SWITCH_INFO, 0, "LinearFdbTop", 77, OK, "LinearFdbTop", 77 },
	{ SWITCH, MAD_SET, ATTR_SWITCH_INFO, 0, "LinearFdbTop", 0xFFFF, BAD_FIELD, NULL, 0 },
	{ SWITCH, MAD_GET, ATTR_SWITCH_INFO, 0, NULL, 0, OK, "LinearFdbTop", 77 },
	{ SWITCH, MAD_SET, ATTR_SWITCH_INFO, 0, "LifeTime", 12, OK, "LifeTime", 12 },
	{ SWITCH, MAD_SET, ATTR_SWITCH_INFO, 0, "DefPort", 3, OK, "DefPort", 3 },
	{ SWITCH, MAD_SET, ATTR_SWITCH_INFO, 0, "DefMcastPrimPort", 4, OK, "DefMcastPrimPort", 4 },
	{ SWITCH, MAD_SET, ATTR_SWITCH_INFO, 0, "DefMcastNotPrimPort", 5, OK, "DefMcastNotPrimPort",
	  5 },
	{ SWITCH, MAD_SET, ATTR_SWITCH_INFO, 0, "LinearFdbCap", 1, OK, "LinearFdbCap", 0xC000 },
	{ SWITCH, MAD_SET, ATTR_SWITCH_INFO, 0, "RandomFdbCap", 1, OK, "RandomFdbCap", 0 },
	/* Blocks beyond the capacity of a table. */
	{ SWITCH, MAD_GET, ATTR_LINEAR_FORWARDING, 0xC000 / 64, NULL, 0, BAD_FIELD, NULL, 0 },
	{ SWITCH, MAD_GET, ATTR_MULTICAST_FORWARDING, 1U << 28, NULL, 0, BAD_FIELD, NULL, 0 },
	{ SWITCH, MAD_GET, ATTR_PKEY_TABLE, (PORTS + 1U) << 16, NULL, 0, BAD_FIELD, NULL, 0 },
	{ SWITCH, MAD_GET, ATTR_PKEY_TABLE, 0x7FFF, NULL, 0, BAD_FIELD, NULL, 0 },
	{ HOST, MAD_GET, ATTR_PKEY_TABLE, 0x7FFF, NULL, 0, BAD_FIELD, NULL, 0 },
	{ SWITCH, MAD_GET, ATTR_SL_TO_VL, (PORTS + 1U) << 8, NULL, 0, BAD_FIELD, NULL, 0 },
	{ SWITCH, MAD_GET, ATTR_SL_TO_VL, PORTS + 1U, NULL, 0, BAD_FIELD, NULL, 0 },
	{ SWITCH, MAD_GET, ATTR_VL_ARBITRATION, 1, NULL, 0, BAD_FIELD, NULL, 0 },
	{ SWITCH, MAD_GET, ATTR_VL_ARBITRATION, 5U << 16 | 1, NULL, 0, BAD_FIELD, NULL, 0 },
	{ SWITCH, MAD_GET, ATTR_VL_ARBITRATION, 1U << 16 | (PORTS + 1U), NULL, 0, BAD_FIELD, NULL,
	  0 },
	{ HOST, MAD_GET, ATTR_GUID_INFO, 99, NULL, 0, BAD_FIELD, NULL, 0 },
	/* LIDs, and values that a port does not support. */
	{ SWITCH, MAD_GET, ATTR_PORT_INFO, PORTS + 1, NULL, 0, BAD_FIELD, NULL, 0 },
	{ HOST, MAD_SET, ATTR_PORT_INFO, 1, "Lid", 5, OK, "Lid", 5 },
	{ HOST, MAD_SET, ATTR_PORT_INFO, 1, "Lid", 0xC000, BAD_FIELD, NULL, 0 },
	{ HOST, MAD_SET, ATTR_PORT_INFO, 1, "Lid", 0xFFFF, BAD_FIELD, NULL, 0 },
	{ HOST, MAD_SET, ATTR_PORT_INFO, 1, "SMLid", 0xC000, BAD_FIELD, NULL, 0 },
	{ HOST, MAD_GET, ATTR_PORT_INFO, 1, NULL, 0, OK, "Lid", 5 },
	{ HOST, MAD_SET, ATTR_PORT_INFO, 1, "LMC", 3, OK, "LMC", 3 },
	{ HOST, MAD_SET, ATTR_PORT_INFO, 1, "OperVLs", 6, BAD_FIELD, NULL, 0 },
	{ HOST, MAD_SET, ATTR_PORT_INFO, 1, "NeighborMTU", 6, BAD_FIELD, NULL, 0 },
	{ HOST, MAD_SET, ATTR_PORT_INFO, 1, "LinkDownDefState", 3, BAD_FIELD, NULL, 0 },
	{ HOST, MAD_SET, ATTR_PORT_INFO, 1, "PhysLinkState", 4, BAD_FIELD, NULL, 0 },
	{ HOST, MAD_SET, ATTR_PORT_INFO, 1, "VLHighLimit", 9, OK, "VLHighLimit", 9 },
	/* LinkSpeedExtEnabled: a supported speed, all (31), or none (30). */
	{ HOST, MAD_SET, ATTR_PORT_INFO, 1, "LinkSpeedExtEnabled", 1, OK, "LinkSpeedExtEnabled",
	  1 },
	{ HOST, MAD_SET, ATTR_PORT_INFO, 1, "LinkSpeedExtEnabled", 4, BAD_FIELD, NULL, 0 },
	{ HOST, MAD_SET, ATTR_PORT_INFO, 1, "LinkSpeedExtEnabled", 30, OK, "LinkSpeedExtEnabled",
	  0 },
	{ HOST, MAD_SET, ATTR_PORT_INFO, 1, "LinkSpeedExtEnabled", 31, OK, "LinkSpeedExtEnabled",
	  3 },
	/* VLCap is read-only. */
	{ HOST, MAD_SET, ATTR_PORT_INFO, 1, "VLCap", 1, OK, "VLCap", 5 },
	{ HOST, MAD_SET, ATTR_PORT_INFO, 1, "ClientReregister", 1, OK, "ClientReregister", 1 },
	{ HOST, MAD_GET, ATTR_PORT_INFO, 1, NULL, 0, OK, "ClientReregister", 0 },
	/* PortState goes from Init to Armed to Active only. */
	{ HOST, MAD_SET, ATTR_PORT_INFO, 1, "LinkState", 4, BAD_FIELD, NULL, 0 },
	{ HOST, MAD_GET, ATTR_PORT_INFO, 1, NULL, 0, OK, "LinkState", 2 },
	{ HOST, MAD_SET, ATTR_PORT_INFO, 1, "LinkState", 3, OK, "LinkState", 3 },
	{ HOST, MAD_SET, ATTR_PORT_INFO, 1, "LinkState", 4, OK, "LinkState", 4 },
	{ HOST, MAD_SET, ATTR_PORT_INFO, 1, "LinkState", 2, BAD_FIELD, NULL, 0 },
	{ HOST, MAD_SET, ATTR_PORT_INFO, 1, "LinkState", 3, BAD_FIELD, NULL, 0 },
	{ HOST, MAD_SET, ATTR_PORT_INFO, 1, "LinkState", 1, OK, "LinkState", 2 },
};

static void check_row(struct conformance_fixture *w, size_t i)
{
	const struct conformance_row *r = &rows[i];
	uint16_t status = send_row(w, r, 0);
	struct field f;

	if (status != r->status)
		fail_msg("row %zu: status 0x%x, not 0x%x", i, status, r->status);
	if (!r->out)
		return;
	const uint8_t *data = field_in(r, r->out, w->mad, &f);

	if (field_get(&f, data) != r->expected)
		fail_msg("row %zu: %s is %llu", i, r->out, (unsigned long long)field_get(&f, data));
}

static void responses_conform_to_the_specification(void **state)
{
	struct rng rng;

	(void)state;
	rng_init(&rng, 31, 0);
	for (unsigned round = 0; round < 50; round++) {
		struct conformance_fixture w = { 0 };

		start(&w, &rng);
		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
			check_row(&w, i);
		finish(&w);
	}
}

/*
 * The M_Key, 14.2.4: whether a Get and a Set with another key get a response at each protection
 * level, and whether the response shows the key.
 */
static void mkey_protection_levels_conform(void **state)
{
	enum { KEY = 0x1234, OTHER = 0x99, LEASE = 7 };
	static const struct {
		uint64_t protect;
		bool get, shown;
	} levels[] = {
		{ 0, true, true }, { 1, true, false }, { 2, false, false }, { 3, false, false }
	};
	const struct conformance_row get = { HOST, MAD_GET, ATTR_PORT_INFO, 1 };
	const struct conformance_row set = { HOST, MAD_SET, ATTR_PORT_INFO, 1, "VLHighLimit", 3 };
	struct rng rng;

	(void)state;
	rng_init(&rng, 32, 0);
	for (unsigned i = 0; i < 4; i++) {
		struct conformance_fixture w = { 0 };

		start(&w, &rng);
		agents_port_set(w.agents, w.host, PORT_MKEY, KEY);
		agents_port_set(w.agents, w.host, PORT_LEASE, LEASE);
		agents_port_set(w.agents, w.host, PORT_LID, 5);
		agents_port_set(w.agents, w.host, PORT_SM_LID, 5);
		agents_port_set(w.agents, w.host, PORT_PROTECT, levels[i].protect);
		assert_int_equal(send_row(&w, &get, KEY), OK);
		assert_int_equal(load_be64(w.mad + 64), KEY);
		assert_int_equal(send_row(&w, &get, OTHER), levels[i].get ? OK : SILENCE);
		if (levels[i].get)
			assert_int_equal(load_be64(w.mad + 64), levels[i].shown ? KEY : 0);
		assert_int_equal(send_row(&w, &set, OTHER), SILENCE);
		/* Trap 256, type security, with the request's key. */
		assert_int_equal(w.trap[64], 0x80 | 2);
		assert_int_equal(load_be16(w.trap + 64 + 4), 256);
		assert_int_equal(load_be16(w.trap + 64 + 10 + 2), 5);
		assert_int_equal(w.trap[64 + 10 + 6], MAD_SET);
		assert_int_equal(load_be16(w.trap + 64 + 10 + 8), ATTR_PORT_INFO);
		assert_int_equal(load_be64(w.trap + 64 + 10 + 14), OTHER);
		assert_true(agents_port_get(w.agents, w.host, PORT_MKEY_VIOLATIONS) >= 1);
		/* The lease has expired: the key can be read and still protects Sets. */
		w.now = LEASE * SECOND;
		assert_int_equal(send_row(&w, &get, OTHER), OK);
		assert_int_equal(load_be64(w.mad + 64), KEY);
		assert_int_equal(send_row(&w, &set, OTHER), SILENCE);
		assert_int_equal(send_row(&w, &set, KEY), OK);
		finish(&w);
	}
}

/*
 * The response to a Set of the M_Key shows the new key: the manager takes the response as the
 * port's state.
 */
static void response_to_set_shows_the_new_mkey(void **state)
{
	enum { KEY = 0x1234 };
	const struct conformance_row set = { HOST, MAD_SET, ATTR_PORT_INFO, 1, "Mkey", KEY };
	struct rng rng;

	(void)state;
	rng_init(&rng, 35, 0);
	for (uint64_t level = 0; level < 4; level++) {
		struct conformance_fixture w = { 0 };

		start(&w, &rng);
		agents_port_set(w.agents, w.host, PORT_PROTECT, level);
		assert_int_equal(send_row(&w, &set, 0), OK);
		assert_int_equal(agents_port_get(w.agents, w.host, PORT_PROTECT), level);
		assert_int_equal(load_be64(w.mad + 64), KEY);
		finish(&w);
	}
}

/* A request with the right key stops the lease timer. */
static void right_mkey_stops_the_lease_timer(void **state)
{
	enum { KEY = 0x1234, LEASE = 7 };
	const struct conformance_row get = { HOST, MAD_GET, ATTR_PORT_INFO, 1 };
	struct rng rng;
	struct conformance_fixture w = { 0 };

	(void)state;
	rng_init(&rng, 33, 0);
	start(&w, &rng);
	agents_port_set(w.agents, w.host, PORT_MKEY, KEY);
	agents_port_set(w.agents, w.host, PORT_LEASE, LEASE);
	agents_port_set(w.agents, w.host, PORT_PROTECT, 2);
	assert_int_equal(send_row(&w, &get, 1), SILENCE);
	w.now = LEASE * SECOND - 1;
	assert_int_equal(send_row(&w, &get, KEY), OK);
	w.now = LEASE * SECOND;
	assert_int_equal(send_row(&w, &get, 1), SILENCE);
	finish(&w);
}

/* Counters of thresholds raise their trap, 14.2.5.1. */
static void threshold_counters_raise_their_traps(void **state)
{
	static const struct {
		unsigned counter;
		uint16_t trap; /* 0: none */
	} causes[] = { { COUNT_LINK_INTEGRITY, 129 }, { COUNT_BUFFER_OVERRUN, 130 },
		       { COUNT_VL_FLOW_ERRORS, 131 }, { COUNT_VL_FLOW_ERRORS + 15, 131 },
		       { COUNT_SYMBOL_ERROR, 0 },     { COUNT_SL_RCV_DATA + 15, 0 } };
	struct rng rng;

	(void)state;
	rng_init(&rng, 34, 0);
	for (size_t i = 0; i < sizeof(causes) / sizeof(causes[0]); i++) {
		struct conformance_fixture w = { 0 };

		start(&w, &rng);
		agents_port_set(w.agents, w.host, PORT_LID, 5);
		agents_port_set(w.agents, w.host, PORT_SM_LID, 5);
		agents_error(w.agents, w.host, causes[i].counter, 0, 0);
		assert_int_equal(w.trap[3], 0);
		agents_error(w.agents, w.host, causes[i].counter, 3, 0);
		assert_int_equal(agents_counter(w.agents, w.host, causes[i].counter), 3);
		assert_int_equal(w.trap[3], causes[i].trap ? MAD_TRAP : 0);
		assert_int_equal(load_be16(w.trap + 64 + 4), causes[i].trap);
		if (causes[i].trap) {
			assert_int_equal(w.trap[64], 0x80 | 1);
			assert_int_equal(load_be16(w.trap + 64 + 12), 5);
			assert_int_equal(w.trap[64 + 14], 1);
		}
		finish(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(responses_conform_to_the_specification),
		cmocka_unit_test(mkey_protection_levels_conform),
		cmocka_unit_test(response_to_set_shows_the_new_mkey),
		cmocka_unit_test(right_mkey_stops_the_lease_timer),
		cmocka_unit_test(threshold_counters_raise_their_traps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
