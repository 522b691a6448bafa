/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/signal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "qos/fabric_for_tests.h"

#define LIFETIME (30 * HD_S)
#define SUBNETS  3

/* Three subnets in a row, joined by routers; two hosts in each. */
struct world {
	struct routed_fabric f;
	struct broker broker;
	struct signal_manager manager[SUBNETS];
	struct signal_outbox mail;
	port_id host[SUBNETS][2];
	/* What reached the two ends. */
	unsigned paths, confirms, errors;
	struct signal_message last_error;
};

static void world_init(struct world *w)
{
	struct diag d = { .status = HD_OK };
	struct broker_params params = broker_params_default();
	unsigned seen[SUBNETS] = { 0 };

	*w = (struct world){ 0 };
	routed_init(&w->f, "routed", SUBNETS, 2);
	assert_int_equal(broker_init(&w->broker, &w->f.subnet, &params, &d),
			 HD_OK);
	for (port_id q = 0; q < w->f.topo.n_ports; q++) {
		unsigned in = w->f.topo.ports[q].subnet;

		if (topo_is_end_port(&w->f.topo, q) &&
		    topo_node_of(&w->f.topo, q)->kind == NODE_CA)
			w->host[in][seen[in]++] = q;
	}
	for (uint32_t i = 0; i < SUBNETS; i++)
		signal_manager_init(&w->manager[i], &w->broker, i, LIFETIME);
}

static void world_fini(struct world *w)
{
	for (uint32_t i = 0; i < SUBNETS; i++)
		signal_manager_fini(&w->manager[i]);
	signal_outbox_fini(&w->mail);
	broker_fini(&w->broker);
	routed_fini(&w->f);
}

/* A host answers PATH with RESV; everything else is noted. */
static void at_host(struct world *w, hd_time now,
		    const struct signal_message *in)
{
	struct signal_message resv = *in;

	switch (in->kind) {
	case SIGNAL_PATH:
		w->paths++;
		resv.kind = SIGNAL_RESV;
		resv.to = in->from;
		resv.from = SIGNAL_HOST;
		signal_receive(&w->manager[resv.to], now, &resv, &w->mail);
		break;
	case SIGNAL_RESV:
		w->confirms++;
		break;
	case SIGNAL_RESV_ERROR:
		w->errors++;
		w->last_error = *in;
		break;
	case SIGNAL_TEAR:
		break;
	}
}

/* Carries messages until none is left; loses each with chance 1/lose. */
static void carry(struct world *w, hd_time now, struct rng *rng, unsigned lose)
{
	while (w->mail.n) {
		struct signal_message m = w->mail.items[0];

		memmove(w->mail.items, w->mail.items + 1,
			--w->mail.n * sizeof(m));
		if (lose && rng_below(rng, lose) == 0)
			continue;
		if (m.to == SIGNAL_HOST)
			at_host(w, now, &m);
		else
			signal_receive(&w->manager[m.to], now, &m, &w->mail);
	}
}

static struct signal_message path_of(const struct world *w, uint32_t session,
				     unsigned from, unsigned to, uint64_t mbps)
{
	return (struct signal_message){
		.kind = SIGNAL_PATH,
		.from = SIGNAL_HOST,
		.to = from,
		.session = session,
		.source = w->host[from][0],
		.destination = w->host[to][1],
		.tclass = DSCP_EF << 2,
		.rate = hd_rate_make(mbps * 1000000, 1),
	};
}

static void say(struct world *w, hd_time now, struct signal_message m)
{
	signal_receive(&w->manager[m.to], now, &m, &w->mail);
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
	/* Said again, nothing is reserved twice. */
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

/* The source's own link is full: parts already held further on go back. */
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
	struct signal_message tear;

	world_init(&w);
	say(&w, 0, path_of(&w, 1, 0, 2, 1000));
	tear = path_of(&w, 1, 0, 2, 1000);
	tear.kind = SIGNAL_TEAR;
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
		assert_int_equal(signal_due(&w.manager[i]), 50 * HD_S);
		signal_expire(&w.manager[i], 49 * HD_S);
		assert_int_equal(w.manager[i].n_sessions, 1);
		signal_expire(&w.manager[i], 50 * HD_S);
		assert_int_equal(w.manager[i].n_sessions, 0);
		assert_true(signal_due(&w.manager[i]) == HD_TIME_NEVER);
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

/* One second: four sources repeat themselves over a lossy network. */
static void repeat_all(struct world *w, hd_time now, struct rng *rng)
{
	for (uint32_t id = 1; id <= 4; id++) {
		unsigned from = id % 2 ? 0 : 2;
		struct signal_message m =
			path_of(w, id, from, 2 - from, 500 + 100 * id);

		signal_receive(&w->manager[m.to], now, &m, &w->mail);
		carry(w, now, rng, 6);
	}
	for (uint32_t i = 0; i < SUBNETS; i++)
		signal_expire(&w->manager[i], now);
}

/* A sixth of all messages lost: repetition gets everybody there, once. */
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
		cmocka_unit_test(lost_messages_are_made_good_for),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
