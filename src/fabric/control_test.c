/* SPDX-License-Identifier: BSD-2-Clause */
/* Fields of congestion control become throttles and rules. */
#include "fabric/build_for_tests.h"

static void without_an_algorithm_there_is_no_control(void **state)
{
	struct fabric *fabric;

	(void)state;
	must_build(SMALL "traffic: [{name: a, kind: saturating}]\n"
			 "congestion: {marking: iba}\n",
		   &fabric);
	assert_null(fabric->setup.control);
	fabric_free(fabric);
}

/* Four hosts, two rows each: eight flows. */
static void every_flow_has_a_throttle_or_shares_one(void **state)
{
	static const struct {
		const char *congestion;
		uint32_t throttles;
		const char *first, *second; /* algorithms */
	} cases[] = {
		{ "{algorithm: pipd}", 8, "pipd", "cct" },
		{ "{algorithm: cct}", 8, "cct", "cct" },
		{ "{algorithm: cct, cct: {per: sl}}", 4, "cct", "cct" },
		{ "{algorithm: marks}", 0, NULL, NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fabric *fabric;
		char text[400];

		snprintf(
			text, sizeof(text),
			SMALL
			"traffic:\n- {name: a, kind: saturating}\n"
			"- {name: b, kind: saturating, control: cct, rate_steps: 16}\ncongestion: %s\n",
			cases[i].congestion);
		must_build(text, &fabric);
		const struct sim_control *c = fabric->setup.control;

		assert_non_null(c);
		assert_int_equal(c->n_flows, 8);
		assert_int_equal(c->n_throttles, cases[i].throttles);
		for (uint32_t f = 0; f < 8 && !cases[i].first; f++)
			assert_int_equal(c->throttle_of_flow[f], SIM_NONE);
		for (uint32_t f = 0; f < 8 && cases[i].first; f++) {
			const struct sim_throttle *t = &c->throttles[c->throttle_of_flow[f]];
			bool is_second = fabric->flows[f].row == 1;

			assert_int_equal(t->node, fabric->flows[f].source);
			assert_in_range(t->sender, 1, 2);
			assert_string_equal(t->algorithm->name,
					    is_second ? cases[i].second : cases[i].first);
			if (c->n_throttles == 8)
				assert_true(t->config.rmax ==
					    t->config.rmin * (is_second ? 16 : 256));
		}
		fabric_free(fabric);
	}
}

static void groups_and_management_are_not_controlled(void **state)
{
	struct fabric *fabric;

	(void)state;
	must_build(SMALL
		   "traffic:\n- {name: a, kind: saturating}\n"
		   "- {name: m, kind: cbr, rate: 1Mb/s, payload: 256, management: true}\n"
		   "congestion: {algorithm: aimd, window: 7, timeout: never, ack: {delay: 3us}}\n",
		   &fabric);
	const struct sim_control *c = fabric->setup.control;

	assert_int_equal(c->n_throttles, 4);
	assert_int_equal(c->window, 7);
	assert_int_equal(c->timeout, 0);
	assert_int_equal(c->ack_delay, 3 * HD_US);
	for (uint32_t f = 0; f < fabric->n_flows; f++)
		assert_int_equal(c->throttle_of_flow[f] == SIM_NONE, fabric->flows[f].management);
	fabric_free(fabric);
}

static void must_refuse(const char *text, const char *says)
{
	struct diag d = { .status = HD_OK };
	struct fabric *fabric;

	assert_int_equal(fabric_load(text, strlen(text), "x.yaml", NULL, &d, &fabric),
			 HD_ERR_INPUT);
	assert_non_null(strstr(d.message, says));
	assert_true(d.line > 3);
}

static void what_does_not_fit_is_refused_at_its_line(void **state)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{ "congestion:\n  algorithm: fimd\n  echo: cnp\n", "only CCT can do with CNPs" },
		{ "congestion:\n  algorithm: lipd\n  cct: {per: sl}\n", "only CCT has one per SL" },
		{ "congestion: {algorithm: pipd, m: 0.5}\n", "congestion.algorithm: " },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[400];

		snprintf(text, sizeof(text), SMALL "traffic: [{name: a, kind: saturating}]\n%s",
			 cases[i].text);
		must_refuse(text, cases[i].says);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_an_algorithm_there_is_no_control),
		cmocka_unit_test(every_flow_has_a_throttle_or_shares_one),
		cmocka_unit_test(groups_and_management_are_not_controlled),
		cmocka_unit_test(what_does_not_fit_is_refused_at_its_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
