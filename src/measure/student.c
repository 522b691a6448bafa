/* SPDX-License-Identifier: BSD-2-Clause */
#define _DEFAULT_SOURCE /* lgamma_r */
#include "measure/student.h"

#include <assert.h>
#include <float.h>
#include <math.h>

static double away_from_zero(double x)
{
	return fabs(x) < DBL_MIN ? DBL_MIN : x;
}

/* Lentz's evaluation of the continued fraction of the incomplete beta. */
static double beta_fraction(double x, double a, double b)
{
	double c = 1, d = 1 / away_from_zero(1 - (a + b) * x / (a + 1));
	double value = d;

	for (int m = 1; m < 10000; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));

		d = 1 / away_from_zero(1 + even * d);
		c = away_from_zero(1 + even / c);
		value *= c * d;
		d = 1 / away_from_zero(1 + odd * d);
		c = away_from_zero(1 + odd / c);
		value *= c * d;
		if (fabs(c * d - 1) < DBL_EPSILON)
			break;
	}
	return value;
}

/* lgamma stores the sign in a global variable, which is not thread-safe. */
static double log_gamma(double x)
{
	int sign;

	return lgamma_r(x, &sign);
}

/* Regularised incomplete beta function; y = 1 - x, given to keep digits. */
static double beta_share(double x, double y, double a, double b)
{
	if (x <= 0)
		return 0;
	if (y <= 0)
		return 1;
	double scale =
		exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log(y));

	/* The fraction converges fast on this side of the mean only. */
	if (x < (a + 1) / (a + b + 2))
		return scale * beta_fraction(x, a, b) / a;
	return 1 - scale * beta_fraction(y, b, a) / b;
}

/* P(T > t) for t >= 0. */
static double upper_tail(double t, double freedom)
{
	double x = freedom / (freedom + t * t), y = t * t / (freedom + t * t);

	return beta_share(x, y, freedom / 2, 0.5) / 2;
}

double student_cdf(double t, double freedom)
{
	assert(freedom > 0);
	return t < 0 ? upper_tail(-t, freedom) : 1 - upper_tail(t, freedom);
}

double student_quantile(double p, double freedom)
{
	assert(p > 0 && p < 1 && freedom > 0);
	if (p < 0.5)
		return -student_quantile(1 - p, freedom);
	double low = 0, high = 1;

	while (upper_tail(high, freedom) > 1 - p)
		high *= 2;
	/* The tail falls all the way, so halving ends at neighbours. */
	for (int i = 0; i < 200; i++) {
		double middle = low + (high - low) / 2;

		if (middle <= low || middle >= high)
			break;
		if (upper_tail(middle, freedom) > 1 - p)
			low = middle;
		else
			high = middle;
	}
	return high;
}
