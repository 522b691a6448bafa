/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/admission/reserve_run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "qos/admission/fabric_for_tests.h"

#define SUBNETS 3

/* Three subnets in a row with two hosts each: h0, h1 | h2, h3 | h4, h5. */
struct stage {
	struct routed_fabric f;
	struct qos_requests requests;
	struct reserve_run play;
};

static void stage_init(struct stage *s, const char *text, struct reserve_run_params params)
{
	struct diag d = { .status = HD_OK };

	params.broker = broker_params_default();
	params.terms.packets = (struct qos_packets){ 2048, 0 };
	params.terms.margin = (struct hd_ratio){ 0, 1 };
	routed_init(&s->f, "routed", SUBNETS, 2);
	s->requests = requests_of(text);
	assert_int_equal(reserve_run(&s->play, &s->f.subnet, &s->requests, &params, &d), HD_OK);
}

static void stage_fini(struct stage *s)
{
	reserve_run_fini(&s->play);
	qos_requests_fini(&s->requests);
	routed_fini(&s->f);
}

static unsigned count(const struct reserve_run *p, enum reserve_kind kind)
{
	unsigned n = 0;

	for (size_t i = 0; i < p->n_events; i++)
		n += p->events[i].message.kind == kind;
	return n;
}

/* Reservations of all managers after the last change up to `time`. */
static struct reserve_state held_at(const struct reserve_run *p, hd_time time)
{
	struct reserve_state sum = { 0 };

	for (size_t i = 0; i < p->n_states; i++) {
		const struct reserve_state *s = &p->states[i];

		if (s->time > time)
			break;
		if (s->subnet == 0)
			sum = (struct reserve_state){ .time = s->time };
		sum.known += s->known;
		sum.reserved += s->reserved;
	}
	return sum;
}

/* A message is sent from host to manager, between managers, and to a host. */
static void one_round_goes_there_and_back(void **state)
{
	(void)state;
	struct stage s;

	stage_init(&s, "h0 h5 DB 1Gb/s",
		   (struct reserve_run_params){ .lifetime = 30 * HD_S, .repeat = 10 * HD_S });
	const struct reserve_run *p = &s.play;

	assert_int_equal(count(p, RESERVE_PATH), SUBNETS + 1);
	assert_int_equal(count(p, RESERVE_RESV), SUBNETS + 1);
	assert_int_equal(p->n_events, 2 * (SUBNETS + 1));
	assert_int_equal(p->unconfirmed, 0);
	assert_int_equal(held_at(p, 0).reserved, SUBNETS);
	/* Without a refresh all state expires after a lifetime. */
	assert_int_equal(held_at(p, 30 * HD_S - 1).reserved, SUBNETS);
	assert_int_equal(held_at(p, 30 * HD_S).known, 0);
	assert_int_equal(p->states[p->n_states - 1].time, 30 * HD_S);
	assert_int_equal(p->broker.n_live, 0);
	stage_fini(&s);
}

static void what_is_repeated_stays_and_a_tear_ends_it(void **state)
{
	(void)state;
	struct reserve_run_params params = { .lifetime = 15 * HD_S,
					     .repeat = 10 * HD_S,
					     .until = 60 * HD_S };
	struct stage s;

	stage_init(&s, "h0 h5 DB 1Gb/s", params);
	/* At 0, 10, ... 60 s. */
	assert_int_equal(count(&s.play, RESERVE_PATH), 7 * (SUBNETS + 1));
	assert_int_equal(held_at(&s.play, 75 * HD_S - 1).reserved, SUBNETS);
	assert_int_equal(held_at(&s.play, 75 * HD_S).known, 0);
	stage_fini(&s);
	params.tear = true;
	stage_init(&s, "h0 h5 DB 1Gb/s", params);
	assert_int_equal(count(&s.play, RESERVE_TEAR), SUBNETS + 1);
	assert_int_equal(held_at(&s.play, 60 * HD_S).known, 0);
	stage_fini(&s);
	/* Managers with a short lifetime drop the state between two PATHs. */
	params.lifetime = 4 * HD_S;
	params.tear = false;
	stage_init(&s, "h0 h5 DB 1Gb/s", params);
	assert_int_equal(held_at(&s.play, 10 * HD_S - 1).known, 0);
	assert_int_equal(held_at(&s.play, 10 * HD_S).reserved, SUBNETS);
	stage_fini(&s);
}

/* A fifth of 8 Gb/s is kept for best effort: two flows of 4 Gb/s do not fit. */
static void refusal_names_the_subnet(void **state)
{
	(void)state;
	struct stage s;

	stage_init(&s, "h2 h4 DB 4Gb/s\nh0 h4 DB 4Gb/s\nh0 h1 DB 1Gb/s\n",
		   (struct reserve_run_params){ .lifetime = HD_S, .repeat = HD_S });
	const struct reserve_run *p = &s.play;

	assert_true(p->outcomes[0].confirmed);
	assert_false(p->outcomes[1].confirmed);
	assert_true(p->outcomes[1].refused);
	/* RESV comes from the destination, which is also that of the first flow. */
	assert_int_equal(p->outcomes[1].where, 2);
	assert_true(p->outcomes[2].confirmed);
	assert_int_equal(p->unconfirmed, 1);
	/* Two subnets for the first, none for the second, one for the third. */
	assert_int_equal(held_at(p, 0).reserved, 3);
	stage_fini(&s);
}

static void unknown_users_are_refused_with_the_line_of_the_file(void **state)
{
	(void)state;
	struct routed_fabric f;
	struct qos_requests q = requests_of("h0 h5 DB 1Gb/s\nh0 hx DB 1Gb/s\n");
	struct reserve_run_params params = { .lifetime = 1, .repeat = 1 };
	struct reserve_run p;
	struct diag d = { .status = HD_OK };

	q.file = "flows";
	params.broker = broker_params_default();
	params.terms.packets = (struct qos_packets){ 2048, 0 };
	params.terms.margin = (struct hd_ratio){ 0, 1 };
	routed_init(&f, "routed", SUBNETS, 2);
	assert_int_equal(reserve_run(&p, &f.subnet, &q, &params, &d), HD_ERR_NOT_FOUND);
	assert_int_equal(d.line, 2);
	assert_string_equal(d.file, "flows");
	qos_requests_fini(&q);
	routed_fini(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_round_goes_there_and_back),
		cmocka_unit_test(what_is_repeated_stays_and_a_tear_ends_it),
		cmocka_unit_test(refusal_names_the_subnet),
		cmocka_unit_test(unknown_users_are_refused_with_the_line_of_the_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
