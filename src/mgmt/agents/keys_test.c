/* SPDX-License-Identifier: BSD-2-Clause */
#include "mgmt/agents/agents.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "subnet/multicast/mcast.h"
#include "subnet/routing/fabric_for_tests.h"
#include "subnet/subnet.h"
#include "wire/cursor.h"

/*
 * A switch with three hosts, the first of which is the manager's: P_Keys, Q_Keys and multicast
 * tables, set by MADs.
 */

enum { HOSTS = 3, SWITCH_LID = 10, DATA = 64, DIRECT = 0xFFFF };

struct keys_fixture {
	struct topo topo;
	struct agents *agents;
	port_id hosts[HOSTS]; /* on ports 1 .. 3 of node 0, with LIDs 1 .. 3 */
	unsigned arrived[HOSTS];
	unsigned traps[3];  /* 257 .. 259 */
	unsigned errors[3]; /* 129 .. 131 */
	uint8_t notice[64];
	uint8_t answer[MAD_SIZE];
};

static void keep(void *context, port_id port, const struct mad_address *from, const uint8_t *mad,
		 size_t size)
{
	struct keys_fixture *w = context;
	uint16_t trap = load_be16(mad + DATA + 4);

	(void)from;
	assert_int_equal(size, MAD_SIZE);
	if (mad[1] == MAD_SMP && mad[3] == MAD_TRAP) {
		if (trap >= 129 && trap <= 131)
			w->errors[trap - 129]++;
		else
			assert_in_range(trap, 257, 259);
		if (trap >= 257)
			w->traps[trap - 257]++;
		memcpy(w->notice, mad + DATA, sizeof(w->notice));
		return;
	}
	memcpy(w->answer, mad, size);
	for (unsigned i = 0; i < HOSTS; i++)
		w->arrived[i] += w->hosts[i] == port;
}

/*
 * A Set by a directed route: `behind` 0 is the switch, 1 is the sender, others are hosts behind
 * that switch port.
 */
static void set(struct keys_fixture *w, unsigned behind, uint16_t attribute, uint32_t modifier,
		const uint8_t *data)
{
	struct mad_header h = { .mgmt_class = MAD_SMP_DIRECT,
				.method = MAD_SET,
				.hop_count = behind > 1 ? 2
					     : behind   ? 0
							: 1,
				.attribute = attribute,
				.modifier = modifier };
	const struct mad_address to = { .lid = DIRECT };
	uint8_t mad[MAD_SIZE];

	mad_write(&h, mad);
	store_be16(mad + 32, DIRECT);
	store_be16(mad + 34, DIRECT);
	mad[129] = 1;
	mad[130] = (uint8_t)behind;
	memcpy(mad + DATA, data, 64);
	agents_send(w->agents, w->hosts[0], &to, mad, MAD_SIZE, 0);
	assert_int_equal(load_be16(w->answer + 4) & 0x7FFF, 0);
}

static void start(struct keys_fixture *w)
{
	const struct agents_options o = { 0 };
	struct agents_events e = { .arrived = keep };
	uint8_t lft[64];

	*w = (struct keys_fixture){ 0 };
	e.context = w;
	topo_init(&w->topo);
	add_switch(&w->topo, HOSTS);
	for (unsigned i = 0; i < HOSTS; i++)
		w->hosts[i] = topo_port_of(&w->topo, add_host(&w->topo, 0, i + 1), 1);
	topo_number_subnets(&w->topo);
	w->agents = agents_new(&w->topo, &o, &e);
	memset(lft, LFT_NO_PORT, sizeof(lft));
	for (unsigned i = 0; i < HOSTS; i++)
		lft[i + 1] = (uint8_t)(i + 1);
	lft[SWITCH_LID] = 0;
	set(w, 0, ATTR_LINEAR_FORWARDING, 0, lft);
	for (port_id p = 0; p < w->topo.n_ports; p++)
		agents_port_set(w->agents, p, PORT_STATE, LINK_ACTIVE);
	for (unsigned i = 0; i < HOSTS; i++)
		agents_port_set(w->agents, w->hosts[i], PORT_LID, i + 1);
	agents_port_set(w->agents, 0, PORT_LID, SWITCH_LID);
	for (unsigned i = 0; i < HOSTS; i++)
		agents_port_set(w->agents, w->hosts[i], PORT_SM_LID, 1);
	agents_port_set(w->agents, 0, PORT_SM_LID, 1);
}

static void finish(struct keys_fixture *w)
{
	agents_free(w->agents);
	topo_fini(&w->topo);
}

/* A vendor-class MAD from host 1 to host 2. */
static void send_vendor_mad(struct keys_fixture *w, uint16_t pkey, uint32_t qkey)
{
	struct mad_header h = { .mgmt_class = 0x0A, .method = MAD_SEND };
	const struct mad_address to = { .lid = 3, .qp = 1, .pkey = pkey, .qkey = qkey, .sl = 5 };
	uint8_t mad[MAD_SIZE] = { 0 };

	mad_write(&h, mad);
	agents_send(w->agents, w->hosts[1], &to, mad, MAD_SIZE, 0);
}

/* Up to two P_Keys of two partitions, full and limited. */
static unsigned draw_keys(struct rng *r, uint16_t keys[2])
{
	static const uint16_t all[] = { 0x8001, 0x0001, 0x8002, 0x0002 };
	unsigned n = (unsigned)rng_below(r, 3);

	for (unsigned i = 0; i < n; i++)
		keys[i] = all[rng_below(r, 4)];
	return n;
}

/* The matching rule: equal partition numbers, and not both limited. */
static bool pkey_matches_any(const uint16_t *keys, unsigned n, uint16_t key)
{
	for (unsigned i = 0; i < n; i++) {
		bool same = keys[i] % 0x8000 == key % 0x8000;

		if (same && (keys[i] >= 0x8000 || key >= 0x8000))
			return true;
	}
	return false;
}

/* P_Key tables of the switch ports of sender and receiver, and of the receiver. */
struct pkey_tables {
	uint16_t keys[3][2];
	unsigned n[3];
	bool enforced[2];
};

static void set_tables(struct keys_fixture *w, struct rng *r, struct pkey_tables *t)
{
	for (unsigned i = 0; i < 3; i++) {
		uint8_t block[64] = { 0 };

		t->n[i] = draw_keys(r, t->keys[i]);
		for (unsigned k = 0; k < t->n[i]; k++)
			store_be16(block + 2 * (size_t)k, t->keys[i][k]);
		set(w, i < 2 ? 0 : 3, ATTR_PKEY_TABLE, i < 2 ? (i + 2) << 16 : 0, block);
	}
	t->enforced[0] = rng_below(r, 2);
	t->enforced[1] = rng_below(r, 2);
	agents_port_set(w->agents, 2, PORT_ENFORCE_IN, t->enforced[0]);
	agents_port_set(w->agents, 3, PORT_ENFORCE_OUT, t->enforced[1]);
}

/* The first port that refuses the packet sends the trap: the switch 259, the end port 257. */
static void partitions_separate_datagrams(void **state)
{
	struct rng r;

	(void)state;
	rng_init(&r, 31, 0);
	for (unsigned round = 0; round < 400; round++) {
		uint16_t key = 0x8001;
		struct pkey_tables t = { 0 };
		struct keys_fixture w;

		start(&w);
		set_tables(&w, &r, &t);
		if (rng_below(&r, 2))
			key = 0x0001;
		send_vendor_mad(&w, key, MAD_QKEY);
		/* A limited member may send to the switch. */
		bool in = t.enforced[0] && !pkey_matches_any(t.keys[0], t.n[0], key | 0x8000);
		bool out = !in && t.enforced[1] && !pkey_matches_any(t.keys[1], t.n[1], key);
		bool end = !in && !out && !pkey_matches_any(t.keys[2], t.n[2], key);

		assert_int_equal(w.arrived[2], !in && !out && !end);
		assert_int_equal(w.traps[2], in || out);
		assert_int_equal(w.traps[0], end);
		assert_int_equal(agents_counter(w.agents, 2, COUNT_RCV_CONSTRAINT), in);
		assert_int_equal(agents_counter(w.agents, 3, COUNT_XMIT_CONSTRAINT), out);
		assert_int_equal(agents_port_get(w.agents, w.hosts[2], PORT_PKEY_VIOLATIONS), end);
		finish(&w);
	}
}

/* Notice details: LIDs, key, SL and queue pairs of the refused packet. */
static void notices_describe_the_refused_packet(void **state)
{
	struct keys_fixture w;

	(void)state;
	start(&w);
	send_vendor_mad(&w, 0xFFFF, 0x1234);
	assert_int_equal(w.arrived[2], 0);
	assert_int_equal(w.traps[1], 1);
	assert_int_equal(agents_port_get(w.agents, w.hosts[2], PORT_QKEY_VIOLATIONS), 1);
	/* DataDetails begin at offset 10. */
	assert_int_equal(load_be16(w.notice + 12), 2);
	assert_int_equal(load_be16(w.notice + 14), 3);
	assert_int_equal(load_be32(w.notice + 16), 0x1234);
	assert_int_equal(load_be32(w.notice + 20), 0x50000001);
	assert_int_equal(load_be32(w.notice + 24), 1);
	agents_port_set(w.agents, 2, PORT_ENFORCE_IN, 1);
	send_vendor_mad(&w, 0x8005, MAD_QKEY);
	assert_int_equal(w.traps[2], 1);
	assert_int_equal(load_be16(w.notice + 12), 2);
	assert_int_equal(load_be16(w.notice + 16), 0x8005);
	assert_int_equal(load_be16(w.notice + 58), SWITCH_LID);
	assert_int_equal(w.notice[60], 2);
	finish(&w);
}

/* Errors of a switch port, `more` at once, and the resulting traps. */
static void check_traps(unsigned counter, uint64_t more)
{
	const bool raises[3] = {
		counter == COUNT_LINK_INTEGRITY,
		counter == COUNT_BUFFER_OVERRUN,
		counter >= COUNT_VL_FLOW_ERRORS && counter < COUNT_VL_FLOW_ERRORS + 16,
	};
	port_id sw_port;
	struct keys_fixture w;

	start(&w);
	sw_port = w.topo.ports[w.hosts[1]].peer;
	uint64_t had = agents_counter(w.agents, sw_port, counter);

	agents_error(w.agents, sw_port, counter, more, 0);
	assert_int_equal(agents_counter(w.agents, sw_port, counter), had + more);
	for (unsigned i = 0; i < 3; i++) {
		bool is_sent = more > 0 && raises[i];

		assert_int_equal(w.errors[i], is_sent);
		if (!is_sent)
			continue;
		assert_int_equal(w.notice[0], 0x80 | 1);
		assert_int_equal(load_be16(w.notice + 6), SWITCH_LID);
		assert_int_equal(load_be16(w.notice + 12), SWITCH_LID);
		assert_int_equal(load_be16(w.notice + 10), 0);
		assert_int_equal(w.notice[14], 2);
	}
	finish(&w);
}

/*
 * Three kinds of counters have a trap: local link integrity 129, excessive buffer overruns 130, and
 * the flow control updates of each of 16 VLs 131. Details: the LID at 2 and the port at 4 (IBA,
 * Notice DataDetails for traps 129 to 131).
 */
static void errors_raise_their_traps(void **state)
{
	(void)state;
	for (unsigned counter = 0; counter < N_PORT_COUNTERS; counter++) {
		for (uint64_t more = 0; more < 3; more++)
			check_traps(counter, more);
	}
}

/* Multicast tables set by MADs are those of the subnet. */
static void groups_equal_the_programmed_tables(void **state)
{
	const struct lid_options keep_lids = { .order = LIDS_KEEP };
	struct diag d = { .status = HD_OK };
	uint16_t sets[32];
	uint8_t block[64];
	struct subnet s;
	struct keys_fixture w;
	struct rng r;

	(void)state;
	rng_init(&r, 32, 0);
	start(&w);
	for (unsigned i = 0; i < 32; i++) {
		sets[i] = (uint16_t)(rng_below(&r, 8) << 1);
		store_be16(block + 2 * (size_t)i, sets[i]);
	}
	set(&w, 0, ATTR_MULTICAST_FORWARDING, 0, block);
	agents_copy_lids(w.agents, &w.topo);
	subnet_init(&s, &w.topo);
	assert_int_equal(subnet_assign_lids(&s, &keep_lids, &d), HD_OK);
	agents_program(w.agents, &s);
	for (unsigned i = 0; i < 32; i++)
		assert_int_equal(*mft_get(&s.mft[0], 0, 1, (lid_t)(LID_FIRST_MCAST + i)), sets[i]);
	for (uint32_t i = 0; i < s.n_groups; i++) {
		uint16_t set_of = sets[s.groups[i].mlid - LID_FIRST_MCAST];

		assert_int_equal(s.groups[i].n_members, __builtin_popcount(set_of));
	}
	subnet_fini(&s);
	finish(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(partitions_separate_datagrams),
		cmocka_unit_test(notices_describe_the_refused_packet),
		cmocka_unit_test(errors_raise_their_traps),
		cmocka_unit_test(groups_equal_the_programmed_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
