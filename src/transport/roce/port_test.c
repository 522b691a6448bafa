/* SPDX-License-Identifier: BSD-2-Clause */
#include "transport/roce/port.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/rng.h"
#include "base/seeds_for_tests.h"
#include "transport/wire_for_tests.h"

/*
 * Two ports at the ends of a cable that may lose, duplicate and damage frames. Each has three queue
 * pairs with separate memory: side i of wire k is at port i.
 */
enum { WIRES = 3, MOST_FRAMES = 64, BLOCK = 8192 };

struct frame {
	uint8_t bytes[ROCE_MAX];
	size_t size;
};

struct cable {
	struct roce_port *port[2];
	struct roce_address address[2];
	struct side *side[WIRES][2];
	struct frame frames[2][MOST_FRAMES]; /* on their way to it */
	unsigned n[2];
	hd_time now;
	struct rng rng;
	unsigned harm; /* one of this number of frames; 0: none */
	unsigned lost;
};

static void connect_side(struct cable *c, unsigned wire, unsigned i, enum qp_kind kind,
			 enum roce_gid gid)
{
	struct side *s = calloc(1, sizeof(*s));
	struct qp_params params = { .kind = kind,
				    .qpn = 0x4000 + 16 * i + wire,
				    .pd = PD,
				    .max_send = 64,
				    .max_recv = 64 };
	struct qp_attr a = pair_attr(i);

	assert_non_null(s);
	a.slid = a.dlid = 0;
	a.global = true;
	a.hop_limit = 64;
	a.mtu = 1024;
	a.timeout = 16;
	a.dest_qpn = 0x4000 + 16 * (1 - i) + wire;
	memcpy(a.sgid, c->address[i].gid[gid], GID_SIZE);
	memcpy(a.dgid, c->address[1 - i].gid[gid], GID_SIZE);
	s->owner = (struct qp_owner){ s,           side_allows,     side_read,     side_write,
				      side_atomic, side_invalidate, side_complete, side_event,
				      side_take };
	s->qp = qp_new(&params, &s->owner);
	assert_int_equal(pair_raise(s->qp, a, kind), HD_OK);
	roce_port_add(c->port[i], s->qp);
	c->side[wire][i] = s;
}

static struct cable *cable_new(enum qp_kind kind, enum roce_gid gid, uint64_t seed)
{
	struct cable *c = calloc(1, sizeof(*c));

	assert_non_null(c);
	rng_init(&c->rng, seed, 0);
	for (unsigned i = 0; i < 2; i++) {
		c->address[i] = roce_address_of((uint8_t[]){ 10, 0, 0, (uint8_t)(1 + i) });
		c->port[i] = roce_port_new(&c->address[i], 14);
	}
	for (unsigned wire = 0; wire < WIRES; wire++)
		for (unsigned i = 0; i < 2; i++)
			connect_side(c, wire, i, kind, gid);
	return c;
}

static void cable_free(struct cable *c)
{
	for (unsigned i = 0; i < 2; i++) {
		for (unsigned wire = 0; wire < WIRES; wire++) {
			roce_port_remove(c->port[i], c->side[wire][i]->qp);
			qp_free(c->side[wire][i]->qp);
			free(c->side[wire][i]);
		}
		roce_port_free(c->port[i]);
	}
	free(c);
}

/* Loses, duplicates and damages some frames. */
static void carry(struct cable *c, unsigned to, struct frame *f)
{
	unsigned what = c->harm ? (unsigned)rng_below(&c->rng, 3 * c->harm) : 3;

	/* ARP has no checksum: on a cable, the frame's checksum would be wrong. */
	if (what == 0 || (what == 1 && f->bytes[13] == 0x06)) {
		c->lost++;
		return;
	}
	if (what == 1) {
		uint64_t bit = rng_below(&c->rng, 8 * f->size);

		f->bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	for (unsigned i = 0; i < (what == 2 ? 2 : 1) && c->n[to] < MOST_FRAMES; i++)
		c->frames[to][c->n[to]++] = *f;
}

static bool collect(struct cable *c)
{
	static struct frame f;
	bool any = false;

	for (unsigned i = 0; i < 2; i++)
		if (c->n[1 - i] < MOST_FRAMES / 2 &&
		    roce_port_next(c->port[i], c->now, f.bytes, &f.size)) {
			carry(c, 1 - i, &f);
			any = true;
		}
	return any;
}

static void deliver(struct cable *c, unsigned to)
{
	struct frame *f = c->frames[to];

	roce_port_receive(c->port[to], f->bytes, f->size, c->now);
	memmove(f, f + 1, --c->n[to] * sizeof(*f));
}

/* Runs until no frame is in flight and no timer is left. */
static void run_cable(struct cable *c)
{
	for (unsigned steps = 0; steps < 200000; steps++) {
		if (collect(c) && steps % 4)
			continue;
		if (c->n[0] || c->n[1]) {
			deliver(c, c->n[0] && (!c->n[1] || steps % 2) ? 0 : 1);
			continue;
		}
		hd_time next = roce_port_due(c->port[0]);

		if (roce_port_due(c->port[1]) < next)
			next = roce_port_due(c->port[1]);
		if (next == HD_TIME_NEVER)
			return;
		c->now = next > c->now ? next : c->now;
		roce_port_timer(c->port[0], c->now);
		roce_port_timer(c->port[1], c->now);
	}
	fail_msg("it does not end");
}

static uint8_t byte_of(size_t i, unsigned salt)
{
	return (uint8_t)(i * 131 + (i >> 8) * 29 + salt * 17);
}

static void fill(struct side *s, size_t at, unsigned salt)
{
	for (size_t i = 0; i < BLOCK; i++)
		s->memory[at + i] = byte_of(i, salt);
}

static void compare(const struct side *s, size_t at, unsigned salt, size_t size)
{
	for (size_t i = 0; i < size; i++)
		assert_int_equal(s->memory[at + i], byte_of(i, salt));
	for (size_t i = size; i < BLOCK; i++)
		assert_int_equal(s->memory[at + i], 0);
}

static void successes(const struct side *s, unsigned n)
{
	assert_int_equal(s->n_done, n);
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(s->done[i].status, WC_SUCCESS);
}

/*
 * On each wire, each way: a send, a write, a read, of any size up to two
 * blocks. Memory: what is sent, where it arrives, what is written, what is
 * read there, and where that arrives, a block each.
 */
static void exchange(struct cable *c)
{
	size_t sizes[WIRES][2][3];

	for (unsigned wire = 0; wire < WIRES; wire++)
		for (unsigned i = 0; i < 2; i++) {
			struct side *s = c->side[wire][i];
			size_t *n = sizes[wire][i];
			struct recv_wr r = pair_recv(9, BLOCK, BLOCK);

			for (unsigned k = 0; k < 3; k++)
				n[k] = (size_t)rng_below(&c->rng, BLOCK + 1);
			fill(s, 0, 10 * wire + i);
			fill(s, 3 * BLOCK, 10 * wire + i + 5);
			assert_int_equal(qp_post_recv(s->qp, &r), HD_OK);
		}
	for (unsigned wire = 0; wire < WIRES; wire++)
		for (unsigned i = 0; i < 2; i++) {
			const size_t *n = sizes[wire][i];
			struct send_wr w[3] = {
				pair_wr(1, WR_SEND, 0, (uint32_t)n[0], 0),
				pair_wr(2, WR_WRITE, 0, (uint32_t)n[1], 2 * BLOCK),
				pair_wr(3, WR_READ, 4 * BLOCK, (uint32_t)n[2], 3 * BLOCK),
			};

			for (unsigned k = 0; k < 3; k++)
				assert_int_equal(qp_post_send(c->side[wire][i]->qp, &w[k]), HD_OK);
		}
	run_cable(c);
	for (unsigned wire = 0; wire < WIRES; wire++)
		for (unsigned i = 0; i < 2; i++) {
			const struct side *s = c->side[wire][i];
			const size_t *here = sizes[wire][i];
			const size_t *there = sizes[wire][1 - i];

			successes(s, 4);
			compare(s, BLOCK, 10 * wire + 1 - i, there[0]);
			compare(s, 2 * BLOCK, 10 * wire + 1 - i, there[1]);
			compare(s, 4 * BLOCK, 10 * wire + 1 - i + 5, here[2]);
		}
}

static void every_byte_arrives(void **state)
{
	(void)state;
	for (unsigned gid = 0; gid < ROCE_GIDS; gid++) {
		struct cable *c = cable_new(QP_RC, (enum roce_gid)gid, 1);

		exchange(c);
		assert_int_equal(c->lost, 0);
		cable_free(c);
	}
}

static void bad_cables_change_no_byte(void **state)
{
	uint64_t seed = seed_of_run(20);
	unsigned cases = cases_of_run(40, 2000), lost = 0;

	(void)state;
	for (unsigned i = 0; i < cases; i++) {
		struct cable *c = cable_new(QP_RC, (enum roce_gid)(i % ROCE_GIDS), seed + i);

		c->harm = 12 + i % 30;
		exchange(c);
		lost += c->lost;
		cable_free(c);
	}
	assert_true(lost > cases / 2);
}

/* The first packet of a send, on its way from port 0. */
static void first_packet(struct cable *c, struct frame *out)
{
	struct send_wr w = pair_wr(1, WR_SEND, 0, 100, 0);
	struct recv_wr r = pair_recv(2, BLOCK, BLOCK);

	assert_int_equal(qp_post_recv(c->side[0][1]->qp, &r), HD_OK);
	assert_int_equal(qp_post_send(c->side[0][0]->qp, &w), HD_OK);
	for (;;) {
		struct diag d = { .status = HD_OK };
		struct roce decoded;

		assert_true(roce_port_next(c->port[0], 0, out->bytes, &out->size) ||
			    roce_port_next(c->port[1], 0, out->bytes, &out->size));
		if (wire_roce_decode(out->bytes, out->size, &d, &decoded) == HD_OK)
			return;
		roce_port_receive(c->port[0], out->bytes, out->size, 0);
		roce_port_receive(c->port[1], out->bytes, out->size, 0);
	}
}

/* Every bit that routers do not change is covered by the ICRC. */
static void damaged_frames_and_those_of_others_are_not_taken(void **state)
{
	enum { IP = 14, UDP = 34, BTH = 42 };
	struct cable *c = cable_new(QP_RC, ROCE_GID_IPV4, 1);
	const struct side *s = c->side[0][1];
	struct frame f;

	(void)state;
	first_packet(c, &f);
	for (size_t at = 0; at < f.size; at++) {
		bool may_change = (at >= MAC_SIZE && at < 2 * MAC_SIZE) || at == IP + 1 ||
				  at == IP + 8 || at == IP + 10 || at == IP + 11 || at == UDP + 6 ||
				  at == UDP + 7 || at == BTH + 4;

		for (unsigned bit = 0; !may_change && bit < 8; bit++) {
			f.bytes[at] ^= (uint8_t)(1 << bit);
			roce_port_receive(c->port[1], f.bytes, f.size, 0);
			f.bytes[at] ^= (uint8_t)(1 << bit);
		}
		roce_port_receive(c->port[1], f.bytes, at, 0);
		assert_int_equal(s->n_done, 0);
	}
	roce_port_receive(c->port[1], f.bytes, f.size, 0);
	assert_int_equal(s->n_done, 1);
	cable_free(c);
}

/* Compares addresses, length and checksum with those of the frame. */
static void datagrams_come_with_their_ip_header(void **state)
{
	(void)state;
	for (unsigned gid = 0; gid < ROCE_GIDS; gid++) {
		struct cable *c = cable_new(QP_UD, (enum roce_gid)gid, 1);
		struct send_wr w = pair_wr(1, WR_SEND, 0, 100, 0);
		struct recv_wr r = pair_recv(2, BLOCK, BLOCK);
		const struct side *s = c->side[0][1];
		size_t skip = gid == ROCE_GID_IPV4 ? 20 : 0;
		struct frame f;

		fill(c->side[0][0], 0, 1);
		w.to = (struct wr_datagram){ .qpn = 0x4010,
					     .qkey = 0x11111111,
					     .global = true,
					     .hop_limit = 3,
					     .tclass = 0x20,
					     .pd = PD };
		memcpy(w.to.dgid, c->address[1].gid[gid], GID_SIZE);
		assert_int_equal(qp_post_recv(c->side[0][1]->qp, &r), HD_OK);
		assert_int_equal(qp_post_send(c->side[0][0]->qp, &w), HD_OK);
		while (s->n_done == 0) {
			assert_true(roce_port_next(c->port[0], 0, f.bytes, &f.size) ||
				    roce_port_next(c->port[1], 0, f.bytes, &f.size));
			roce_port_receive(c->port[0], f.bytes, f.size, 0);
			roce_port_receive(c->port[1], f.bytes, f.size, 0);
		}
		assert_int_equal(s->done[0].byte_len, GRH_SIZE + 100);
		assert_int_equal(s->done[0].src_qp, 0x4000);
		assert_memory_equal(s->memory + BLOCK + skip, f.bytes + 14, GRH_SIZE - skip);
		for (size_t i = 0; i < 100; i++)
			assert_int_equal(s->memory[BLOCK + GRH_SIZE + i], byte_of(i, 1));
		cable_free(c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_byte_arrives),
		cmocka_unit_test(bad_cables_change_no_byte),
		cmocka_unit_test(damaged_frames_and_those_of_others_are_not_taken),
		cmocka_unit_test(datagrams_come_with_their_ip_header),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
