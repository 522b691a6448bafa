/* SPDX-License-Identifier: BSD-2-Clause */
#include "cc/response.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"

/* Rates in multiples of Rmin, Rmax = 256 Rmin; computed by hand elsewhere. */
struct reference {
	const char *name;
	double m;
	double rmin, rmax, unit;
	double rate, increase, decrease;
};

static const struct reference references[] = {
	{ "fimd", 4, 1, 256, 0, 1, 4, 1 },
	{ "fimd", 4, 1, 256, 0, 2, 4, 1 },
	{ "fimd", 4, 1, 256, 0, 4, 5.656854, 1 },
	{ "fimd", 4, 1, 256, 0, 16, 17.448124, 4 },
	{ "fimd", 4, 1, 256, 0, 64, 65.401418, 16 },
	{ "fimd", 4, 1, 256, 0, 128, 129.393829, 32 },
	{ "fimd", 4, 1, 256, 0, 256, 256, 64 },
	{ "fimd", 2, 1, 256, 0, 1, 2, 1 },
	{ "fimd", 2, 1, 256, 0, 2, 2.828427, 1 },
	{ "fimd", 2, 1, 256, 0, 4, 4.756828, 2 },
	{ "fimd", 2, 1, 256, 0, 16, 16.708381, 8 },
	{ "fimd", 2, 1, 256, 0, 64, 64.696914, 32 },
	{ "fimd", 2, 1, 256, 0, 128, 128.695027, 64 },
	{ "fimd", 2, 1, 256, 0, 256, 256, 128 },
	{ "lipd", 4, 1, 256, 0, 1, 1.003922, 1 },
	{ "lipd", 4, 1, 256, 0, 2, 2.007843, 1.984496 },
	{ "lipd", 4, 1, 256, 0, 4, 4.015686, 3.938462 },
	{ "lipd", 4, 1, 256, 0, 16, 16.062745, 15.058824 },
	{ "lipd", 4, 1, 256, 0, 64, 64.250980, 51.2 },
	{ "lipd", 4, 1, 256, 0, 128, 128.501961, 85.333333 },
	{ "lipd", 4, 1, 256, 0, 256, 256, 128 },
	{ "pipd", 4, 2, 512, 1, 2, 16, 2 },
	{ "pipd", 4, 2, 512, 1, 4, 16, 2 },
	{ "pipd", 4, 2, 512, 1, 16, 27.036349, 2 },
	{ "pipd", 4, 2, 512, 1, 64, 76.938974, 2.828427 },
	{ "pipd", 4, 2, 512, 1, 256, 271.934293, 4 },
	{ "pipd", 4, 2, 512, 1, 512, 512, 4.756828 },
	/* MB/s as the unit, Rmax 1000 MB/s: not even monotone. */
	{ "pipd", 4, 3.90625, 1000, 1, 3.90625, 232.830644, 3.90625 },
	{ "aimd", 4, 1, 256, 0, 16, 19, 4 },
	{ "aimd", 4, 1, 256, 0, 255, 256, 63.75 },
};

static struct cc_config config_of(const struct reference *ref)
{
	struct cc_config config = cc_config_default(ref->rmin, ref->rmax);

	config.m = ref->m;
	config.unit = ref->unit;
	config.add = 3;
	return config;
}

static void functions_give_the_reference_values(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(references) / sizeof(*references); i++) {
		const struct reference *ref = &references[i];
		const struct cc_algorithm *a = cc_find(ref->name);
		struct cc_config config = config_of(ref);

		assert_non_null(a);
		assert_true(fabs(a->increase(&config, ref->rate) - ref->increase) < 1e-6);
		assert_true(fabs(a->decrease(&config, ref->rate) - ref->decrease) < 1e-6);
	}
}

/* Scaling rates and unit together scales the results only. */
static void the_unit_of_packets_per_second_does_not_matter(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(references) / sizeof(*references); i++) {
		const struct reference *ref = &references[i];
		const struct cc_algorithm *a = cc_find(ref->name);
		struct cc_config one = config_of(ref), other = one;
		const double scale = 1888.9;

		other.rmin *= scale;
		other.rmax *= scale;
		other.unit *= scale;
		other.add *= scale;
		double up = a->increase(&one, ref->rate) * scale;
		double scaled_up = a->increase(&other, ref->rate * scale);
		double down = a->decrease(&one, ref->rate) * scale;
		double scaled_down = a->decrease(&other, ref->rate * scale);

		assert_true(fabs(up - scaled_up) <= 1e-9 * up);
		assert_true(fabs(down - scaled_down) <= 1e-9 * down);
	}
}

/* The unit has no effect on a whole run either, per second or per hour. */
static void the_unit_does_not_matter_to_a_flow(void **state)
{
	(void)state;
	for (size_t i = 0; cc_algorithms[i]->increase; i++) {
		const struct cc_algorithm *a = cc_algorithms[i];
		struct cc_config one = cc_config_default(2, 512), other = one;
		const double scale = 1 / 3600.0;
		struct cc_state s, t;
		struct rng rng;

		other.rmin *= scale;
		other.rmax *= scale;
		other.unit *= scale;
		other.add *= scale;
		cc_init(a, &one, &s);
		cc_init(a, &other, &t);
		rng_init(&rng, 12, i);
		for (int ack = 0; ack < 1000; ack++) {
			bool marked = rng_below(&rng, 3) == 0;

			cc_on_ack(a, &one, &s, marked, 0);
			cc_on_ack(a, &other, &t, marked, 0);
			assert_true(fabs(s.rate * scale - t.rate) <= 1e-9 * t.rate);
		}
	}
}

static void rates_stay_within_their_bounds(void **state)
{
	(void)state;
	struct rng rng;

	rng_init(&rng, 11, 0);
	for (int round = 0; round < 2000; round++) {
		const struct cc_algorithm *a = cc_algorithms[rng_below(&rng, 4)];
		double rmin = 100 + 5000 * rng_uniform(&rng);
		struct cc_config config =
			cc_config_default(rmin, rmin * (2 + 500 * rng_uniform(&rng)));
		struct cc_state s;

		config.m = 1.1 + 5 * rng_uniform(&rng);
		config.cap_first_increase = rng_below(&rng, 2);
		cc_init(a, &config, &s);
		for (int ack = 0; ack < 200; ack++) {
			cc_on_ack(a, &config, &s, rng_below(&rng, 4) == 0, 0);
			assert_true(s.rate >= config.rmin);
			assert_true(s.rate <= config.rmax);
		}
	}
}

/*
 * Condition 1, f_inc(f_dec(r)) <= r: true without exception once the first
 * increase is capped. Without the cap it breaks where the clamp at Rmin is at
 * work: FIMD below m Rmin, PIPD below Rmin^m in its unit, LIPD next to Rmin.
 */
static void a_mark_and_an_ack_never_gain(void **state)
{
	(void)state;
	for (size_t i = 0; cc_algorithms[i]->increase; i++) {
		const struct cc_algorithm *a = cc_algorithms[i];
		struct cc_config config = cc_config_default(2, 512);

		if (strcmp(a->name, "aimd") == 0)
			continue; /* has no recovery time, hence no condition */
		for (int step = 0; step <= 557; step++) {
			double r = fmin(512, 2 * pow(1.01, step));
			struct cc_state s = { .rate = r };
			double bare = a->increase(&config, a->decrease(&config, r));
			double floor = strcmp(a->name, "fimd") == 0   ? 2 * 4
				       : strcmp(a->name, "pipd") == 0 ? 16
								      : 2 * 1.01;

			if (r >= floor)
				assert_true(bare <= r * (1 + 1e-12));
			cc_on_ack(a, &config, &s, true, 0);
			cc_on_ack(a, &config, &s, false, 0);
			assert_true(s.rate <= r * (1 + 1e-12));
		}
	}
}

/* Known exceptions really are exceptions, or the test above is too kind. */
static void without_the_cap_the_clamp_breaks_condition_one(void **state)
{
	(void)state;
	struct cc_config config = cc_config_default(2, 512);
	const struct cc_algorithm *fimd = cc_find("fimd");
	const struct cc_algorithm *pipd = cc_find("pipd");

	assert_true(fimd->increase(&config, fimd->decrease(&config, 5)) > 5);
	assert_true(pipd->increase(&config, pipd->decrease(&config, 5)) > 5);
}

/* Conditions 2 and 3: from Rmin it takes 1/Rmin times a bounded excess. */
static void recovery_takes_the_stated_time(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		double m, most;
	} cases[] = { { "fimd", 2, 1.40 }, { "fimd", 4, 1.20 }, { "lipd", 4, 1.79 } };

	for (size_t i = 0; i < 3; i++) {
		const struct cc_algorithm *a = cc_find(cases[i].name);
		struct cc_config config = cc_config_default(1888.9, 483559);

		config.m = cases[i].m;
		/* From f_dec(r) back to r, for all r out of the clamp. */
		for (int step = 0; step < 58; step++) {
			double r = 1888.9 * 5 * pow(1.07, step);
			double low = a->decrease(&config, r);
			double steps =
				cc_recover(a, &config, low, r, 1000000).seconds * config.rmin;

			assert_true(steps >= 1 - 1e-9 || low == config.rmin);
			assert_true(steps <= cases[i].most);
		}
	}
}

/*
 * Condition 3, for all three and any m: steps lie on the curve F, which takes
 * 1/Rmin; the last step may overshoot by its own interval, which is shorter
 * than the first one. Exceptions: rates whose decrease meets the clamp.
 */
static void steps_follow_the_curve(void **state)
{
	(void)state;
	static const char *const names[] = { "fimd", "lipd", "pipd" };
	struct rng rng;

	rng_init(&rng, 17, 0);
	for (int round = 0; round < 3000; round++) {
		const struct cc_algorithm *a = cc_find(names[rng_below(&rng, 3)]);
		double rmin = 1000 + 5000 * rng_uniform(&rng);
		struct cc_config config = cc_config_default(rmin, rmin * 256);

		config.m = 1.5 + 4 * rng_uniform(&rng);
		double r = rmin * pow(256, rng_uniform(&rng));
		double low = a->decrease(&config, r);

		if (low <= rmin * (1 + 1e-9))
			continue;
		double took = cc_recover(a, &config, low, r, 1000000).seconds * rmin;

		assert_true(took >= 1 - 1e-9);
		assert_true(took <= 1 + rmin / low);
	}
}

/* Condition 2, stepping may overshoot by one ACK. */
static void slower_flows_recover_no_later(void **state)
{
	(void)state;
	static const char *const names[] = { "fimd", "lipd", "pipd" };
	struct cc_config config = cc_config_default(1, 256);

	for (int i = 0; i < 3 * 81; i++) {
		const struct cc_algorithm *a = cc_find(names[i / 81]);
		double r = pow(2, i % 81 / 10.0);
		double slower = pow(2, (i % 81 - 1) / 10.0);

		if (i % 81 == 0)
			continue;
		double low = a->decrease(&config, r);
		double time = cc_recover(a, &config, low, r, 100000).seconds;
		double before = cc_recover(a, &config, a->decrease(&config, slower), slower, 100000)
					.seconds;

		assert_true(time + 1 / low >= before);
	}
	/* A rate that is not reached within three ACKs is reported as such. */
	assert_int_equal(cc_recover(cc_find("fimd"), &config, 1, 256, 3).acks, 0);
}

static void refusals_name_the_rule(void **state)
{
	(void)state;
	struct diag d = { .status = HD_OK };
	struct cc_config config = cc_config_default(2, 512);

	config.unit = 2;
	assert_int_equal(cc_check(cc_find("pipd"), &config, &d), HD_ERR_RANGE);
	assert_non_null(strstr(d.message, "above 1 in its unit"));
	config.unit = 1;
	d = (struct diag){ .status = HD_OK };
	assert_int_equal(cc_check(cc_find("pipd"), &config, &d), HD_OK);
	assert_null(cc_warning(cc_find("pipd"), &config));
	config.unit = 2 / 6.36;
	assert_non_null(cc_warning(cc_find("pipd"), &config));
	config.unit = 2 / 6.34;
	assert_null(cc_warning(cc_find("pipd"), &config));
	config.rmin = 600;
	assert_int_equal(cc_check(cc_find("fimd"), &config, &d), HD_ERR_RANGE);
	assert_null(cc_find("none"));
}

static void cct_counts_marks_up_and_time_down(void **state)
{
	(void)state;
	const struct cc_algorithm *a = cc_find("cct");
	struct cc_config config = cc_config_default(1, 2);
	struct cc_state s;
	const hd_time period = 10 * 1024 * HD_NS;

	config.ccti_limit = 5;
	config.ccti_increase = 2;
	config.ccti_timer = 10;
	config.trigger = 4;
	config.cct[4] = 1 << 14 | 3; /* (Tp >> 1) * 3 */
	cc_init(a, &config, &s);
	assert_true(s.due == HD_TIME_NEVER);
	assert_int_equal(cc_gap(a, &config, &s, 1000), 1000);
	cc_on_ack(a, &config, &s, false, 5);
	assert_int_equal(s.ccti, 0);
	cc_on_ack(a, &config, &s, true, 7);
	assert_int_equal(s.ccti, 2);
	assert_int_equal(s.due, 7 + period);
	cc_on_ack(a, &config, &s, true, 9);
	assert_int_equal(s.ccti, 4);
	assert_int_equal(s.triggered, 1);
	assert_int_equal(s.due, 7 + period); /* not restarted */
	assert_int_equal(cc_gap(a, &config, &s, 1001), 1001 + 500 * 3);
	assert_true(fabs(s.rate - 2 / 2.5) < 1e-12); /* rmax / (1 + 3/2) */
	cc_on_ack(a, &config, &s, true, 10);
	assert_int_equal(s.ccti, 5); /* the limit */
	for (int left = 4; left >= 0; left--) {
		hd_time now = s.due;

		cc_on_timer(a, &config, &s, now);
		assert_int_equal(s.ccti, left);
		assert_true(s.due == (left ? now + period : HD_TIME_NEVER));
	}
}

static void rate_flows_are_paced_by_the_current_rate(void **state)
{
	(void)state;
	const struct cc_algorithm *a = cc_find("fimd");
	struct cc_config config = cc_config_default(1000, 1000000);
	struct cc_state s;

	cc_init(a, &config, &s);
	assert_int_equal(cc_gap(a, &config, &s, 1000), HD_MS);
	s.rate = 1000000;
	assert_int_equal(cc_gap(a, &config, &s, 1000), HD_US);
	/* Never faster than the packets themselves take. */
	assert_int_equal(cc_gap(a, &config, &s, 2 * HD_US), 2 * HD_US);
}

/* An index beyond the new limit falls to it; one below the least rises. */
static void an_index_stays_within_the_new_limits(void **state)
{
	struct cc_config c = cc_config_default(1, 1000);
	const struct cc_algorithm *cct = cc_find("cct");
	struct cc_state s;

	(void)state;
	for (uint16_t i = 0; i < 8; i++)
		c.cct[i] = i;
	c.ccti_limit = 7;
	cc_init(cct, &c, &s);
	for (unsigned i = 0; i < 5; i++)
		cc_on_ack(cct, &c, &s, true, 0);
	assert_int_equal(s.ccti, 5);
	hd_time due = s.due;

	c.ccti_limit = 3;
	cc_adapt(cct, &c, &s, 1000);
	assert_int_equal(s.ccti, 3);
	assert_int_equal(s.due, due); /* the timer is unchanged */
	assert_int_equal(cc_gap(cct, &c, &s, 100), 400);
	assert_true(s.rate == 250);
	c.ccti_limit = 0;
	cc_adapt(cct, &c, &s, 2000);
	assert_int_equal(cc_gap(cct, &c, &s, 100), 100);
	c.ccti_limit = 7;
	c.ccti_min = 2;
	cc_adapt(cct, &c, &s, 3000);
	assert_int_equal(cc_gap(cct, &c, &s, 100), 300);
	c.ccti_timer = 0;
	cc_adapt(cct, &c, &s, 4000);
	assert_int_equal(s.due, HD_TIME_NEVER);
}

static void rates_stay_within_the_new_ones(void **state)
{
	struct cc_config c = cc_config_default(10, 1000);
	const struct cc_algorithm *fimd = cc_find("fimd");
	struct cc_state s;

	(void)state;
	cc_init(fimd, &c, &s);
	c.rmin = 20;
	cc_adapt(fimd, &c, &s, 0);
	assert_true(s.rate == 20);
	c.rmin = 1;
	cc_adapt(fimd, &c, &s, 0);
	assert_true(s.rate == 20);
	c.rmax = 15;
	cc_adapt(fimd, &c, &s, 0);
	assert_true(s.rate == 15);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_give_the_reference_values),
		cmocka_unit_test(the_unit_of_packets_per_second_does_not_matter),
		cmocka_unit_test(the_unit_does_not_matter_to_a_flow),
		cmocka_unit_test(rates_stay_within_their_bounds),
		cmocka_unit_test(a_mark_and_an_ack_never_gain),
		cmocka_unit_test(without_the_cap_the_clamp_breaks_condition_one),
		cmocka_unit_test(recovery_takes_the_stated_time),
		cmocka_unit_test(steps_follow_the_curve),
		cmocka_unit_test(slower_flows_recover_no_later),
		cmocka_unit_test(refusals_name_the_rule),
		cmocka_unit_test(cct_counts_marks_up_and_time_down),
		cmocka_unit_test(rate_flows_are_paced_by_the_current_rate),
		cmocka_unit_test(an_index_stays_within_the_new_limits),
		cmocka_unit_test(rates_stay_within_the_new_ones),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
