/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/admission/reserve.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "qos/admission/fabric_for_tests.h"

#define LIFETIME (30 * HD_S)
#define SUBNETS  3

/* Three subnets in a row, joined by routers; two hosts in each. */
struct world {
	struct routed_fabric f;
	struct broker broker;
	struct reserve_manager manager[SUBNETS];
	struct reserve_outbox mail;
	port_id host[SUBNETS][2];
	/* Messages received at the two ends. */
	unsigned paths, confirms, errors;
	struct reserve_message last_error;
};

static void world_init(struct world *w)
{
	struct diag d = { .status = HD_OK };
	struct broker_params params = broker_params_default();
	unsigned seen[SUBNETS] = { 0 };

	params.latency.largest = 2048;
	params.latency.high_limit = 255;
	params.latency.mode = BOUND_GROUPED;
	*w = (struct world){ 0 };
	routed_init(&w->f, "routed", SUBNETS, 2);
	params.floor_sls = 0;
	assert_int_equal(broker_init(&w->broker, &w->f.subnet, &params, &d), HD_OK);
	for (port_id q = 0; q < w->f.topo.n_ports; q++) {
		unsigned in = w->f.topo.ports[q].subnet;

		if (topo_is_end_port(&w->f.topo, q) && topo_node_of(&w->f.topo, q)->kind == NODE_CA)
			w->host[in][seen[in]++] = q;
	}
	for (uint32_t i = 0; i < SUBNETS; i++)
		reserve_manager_init(&w->manager[i], &w->broker, i, LIFETIME);
}

static void world_fini(struct world *w)
{
	for (uint32_t i = 0; i < SUBNETS; i++)
		reserve_manager_fini(&w->manager[i]);
	reserve_outbox_fini(&w->mail);
	broker_fini(&w->broker);
	routed_fini(&w->f);
}

/* A host responds to PATH with RESV; other messages are counted. */
static void at_host(struct world *w, hd_time now, const struct reserve_message *in)
{
	struct reserve_message resv = *in;

	switch (in->kind) {
	case RESERVE_PATH:
		w->paths++;
		resv.kind = RESERVE_RESV;
		resv.to = in->from;
		resv.from = RESERVE_HOST;
		reserve_receive(&w->manager[resv.to], now, &resv, &w->mail);
		break;
	case RESERVE_RESV:
		w->confirms++;
		break;
	case RESERVE_RESV_ERROR:
		w->errors++;
		w->last_error = *in;
		break;
	case RESERVE_TEAR:
		break;
	}
}

/* Carries messages until none is left; loses each with chance 1/lose. */
static void carry(struct world *w, hd_time now, struct rng *rng, unsigned lose)
{
	while (w->mail.n) {
		struct reserve_message m = w->mail.items[0];

		memmove(w->mail.items, w->mail.items + 1, --w->mail.n * sizeof(m));
		if (lose && rng_below(rng, lose) == 0)
			continue;
		if (m.to == RESERVE_HOST)
			at_host(w, now, &m);
		else
			reserve_receive(&w->manager[m.to], now, &m, &w->mail);
	}
}

static struct reserve_message path_of(const struct world *w, uint32_t session, unsigned from,
				      unsigned to, uint64_t mbps)
{
	struct reserve_message m = {
		.kind = RESERVE_PATH,
		.from = RESERVE_HOST,
		.to = from,
		.session = session,
		.request = { .rate = hd_rate_make(mbps * 1000000, 1),
			     .burst = 2048,
			     .largest = 2048,
			     .smallest = 2048 },
	};
	static const uint8_t sls[SUBNETS] = { 0, 1, 2 };

	assert_true(broker_way_between(&w->f.subnet, w->host[from][0], w->host[to][1], sls,
				       &m.request.way));
	return m;
}

static void say(struct world *w, hd_time now, struct reserve_message m)
{
	reserve_receive(&w->manager[m.to], now, &m, &w->mail);
	carry(w, now, NULL, 0);
}

static void a_path_through_all_subnets_is_reserved(void **state)
{
	(void)state;
	struct world w;
	struct diag d = { .status = HD_OK };

	world_init(&w);
	say(&w, 0, path_of(&w, 1, 0, 2, 1000));
	assert_int_equal(w.paths, 1);
	assert_int_equal(w.confirms, 1);
	assert_int_equal(w.broker.n_live, 3); /* one part per subnet */
	for (uint32_t i = 0; i < SUBNETS; i++)
		assert_true(w.manager[i].sessions[0].reserved);
	assert_int_equal(broker_audit(&w.broker, &d), HD_OK);
	/* A repeated PATH reserves nothing twice. */
	say(&w, HD_S, path_of(&w, 1, 0, 2, 1000));
	assert_int_equal(w.broker.n_live, 3);
	world_fini(&w);
}

static void within_a_subnet_one_manager_is_enough(void **state)
{
	(void)state;
	struct world w;

	world_init(&w);
	say(&w, 0, path_of(&w, 1, 1, 1, 1000));
	assert_int_equal(w.confirms, 1);
	assert_int_equal(w.broker.n_live, 1);
	assert_int_equal(w.manager[0].n_sessions, 0);
	world_fini(&w);
}

/* The source's own link is full: reservations behind it are released. */
static void refusal_releases_the_parts_behind_it(void **state)
{
	(void)state;
	struct world w;

	world_init(&w);
	say(&w, 0, path_of(&w, 1, 0, 0, 6000));
	assert_int_equal(w.broker.n_live, 1);
	say(&w, 0, path_of(&w, 2, 0, 2, 1000));
	assert_int_equal(w.confirms, 1); /* only the first */
	assert_int_equal(w.errors, 1);
	assert_int_equal(w.last_error.where, 0);
	assert_int_equal(w.last_error.why.link, w.host[0][0]);
	assert_int_equal(w.broker.n_live, 1);
	world_fini(&w);
}

static void teardown_returns_everything_at_once(void **state)
{
	(void)state;
	struct world w;
	struct reserve_message tear;

	world_init(&w);
	say(&w, 0, path_of(&w, 1, 0, 2, 1000));
	tear = path_of(&w, 1, 0, 2, 1000);
	tear.kind = RESERVE_TEAR;
	say(&w, 1, tear);
	assert_int_equal(w.broker.n_live, 0);
	for (uint32_t i = 0; i < SUBNETS; i++)
		assert_int_equal(w.manager[i].n_sessions, 0);
	world_fini(&w);
}

static void what_is_not_repeated_expires(void **state)
{
	(void)state;
	struct world w;

	world_init(&w);
	say(&w, 0, path_of(&w, 1, 0, 2, 1000));
	say(&w, 20 * HD_S, path_of(&w, 1, 0, 2, 1000));
	for (uint32_t i = 0; i < SUBNETS; i++) {
		assert_int_equal(reserve_due(&w.manager[i]), 50 * HD_S);
		reserve_expire(&w.manager[i], 49 * HD_S);
		assert_int_equal(w.manager[i].n_sessions, 1);
		reserve_expire(&w.manager[i], 50 * HD_S);
		assert_int_equal(w.manager[i].n_sessions, 0);
		assert_true(reserve_due(&w.manager[i]) == HD_TIME_NEVER);
	}
	assert_int_equal(w.broker.n_live, 0);
	world_fini(&w);
}

/* A changed demand replaces the old one; it never counts twice. */
static void a_changed_demand_replaces_the_old(void **state)
{
	(void)state;
	struct world w;
	struct diag d = { .status = HD_OK };

	world_init(&w);
	say(&w, 0, path_of(&w, 1, 0, 2, 4000));
	say(&w, 1, path_of(&w, 1, 0, 2, 5000)); /* 9000 would not fit */
	assert_int_equal(w.confirms, 2);
	assert_int_equal(w.broker.n_live, 3);
	assert_int_equal(broker_audit(&w.broker, &d), HD_OK);
	world_fini(&w);
}

/*
 * The parts' bounds add up, and the source's manager holds the sum against the
 * deadline: a little less than the bound is refused, and all parts go back; a
 * flow that would break a promise is refused, too.
 */
static void a_deadline_is_for_all_parts_together(void **state)
{
	(void)state;
	struct world w;
	struct reserve_message m;

	world_init(&w);
	m = path_of(&w, 1, 0, 2, 1000);
	m.request.deadline = HD_S;
	say(&w, 0, m);
	assert_int_equal(w.confirms, 1);
	struct latency l;
	double sum = 0;

	latency_init(&l, &w.broker, NULL, false);
	for (uint32_t i = 0; i < SUBNETS; i++)
		sum += latency_part(&l, w.manager[i].sessions[0].connection);
	assert_true(sum > 0 && sum < 1);
	assert_true(fabs(sum - latency_of(&l, w.manager[0].sessions[0].connection)) < 1e-12);
	latency_fini(&l);
	for (int more = 0; more < 2; more++) {
		m.request.deadline = (hd_time)(sum * (double)HD_S * (more ? 1.01 : 0.99));
		w.errors = 0;
		m.kind = RESERVE_TEAR;
		m.session = 1;
		say(&w, 1, m); /* the first one makes room */
		assert_int_equal(w.broker.n_live, 0);
		m.kind = RESERVE_PATH;
		m.session = 2 + (uint32_t)more;
		say(&w, 1, m);
		assert_int_equal(w.errors, !more);
		assert_int_equal(w.broker.n_live, more ? SUBNETS : 0);
	}
	/* Entries of another VL in the last subnet would make it later. */
	m = path_of(&w, 9, 2, 2, 2000);
	m.request.way.segment[0].sl = 3;
	say(&w, 2, m);
	assert_int_equal(w.errors, 1);
	assert_int_equal(w.last_error.why.reason, BROKER_DEADLINE);
	assert_true(w.broker.connections[w.last_error.why.connection].request.deadline > 0);
	world_fini(&w);
}

/* One second: four sources refresh their reservations over a lossy network. */
static void repeat_all(struct world *w, hd_time now, struct rng *rng)
{
	for (uint32_t id = 1; id <= 4; id++) {
		unsigned from = id % 2 ? 0 : 2;
		struct reserve_message m = path_of(w, id, from, 2 - from, 500 + 100 * id);

		reserve_receive(&w->manager[m.to], now, &m, &w->mail);
		carry(w, now, rng, 6);
	}
	for (uint32_t i = 0; i < SUBNETS; i++)
		reserve_expire(&w->manager[i], now);
}

/* A sixth of all messages is lost: refreshes establish each flow once. */
static void lost_messages_are_made_good_for(void **state)
{
	(void)state;
	struct rng rng;

	rng_init(&rng, 17, 0);
	for (int round = 0; round < 50; round++) {
		struct world w;
		struct diag d = { .status = HD_OK };

		world_init(&w);
		for (hd_time now = 0; now < 60 * HD_S; now += HD_S) {
			repeat_all(&w, now, &rng);
			assert_true(w.broker.n_live <= 4 * SUBNETS);
		}
		assert_int_equal(broker_audit(&w.broker, &d), HD_OK);
		assert_int_equal(w.broker.n_live, 4 * SUBNETS);
		world_fini(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_path_through_all_subnets_is_reserved),
		cmocka_unit_test(within_a_subnet_one_manager_is_enough),
		cmocka_unit_test(refusal_releases_the_parts_behind_it),
		cmocka_unit_test(teardown_returns_everything_at_once),
		cmocka_unit_test(what_is_not_repeated_expires),
		cmocka_unit_test(a_changed_demand_replaces_the_old),
		cmocka_unit_test(a_deadline_is_for_all_parts_together),
		cmocka_unit_test(lost_messages_are_made_good_for),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
