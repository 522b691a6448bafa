/* SPDX-License-Identifier: BSD-2-Clause */
#include "measure/hurst.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define MAX_SCALES 64

/* Half the mean square difference of neighbours. */
static double allan_variance(const double *means, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i + 1 < n; i++) {
		double step = means[i + 1] - means[i];

		sum += step * step;
	}
	return sum / (2 * (double)(n - 1));
}

/* Means of blocks of `size` values, in place; how many there are. */
static size_t take_means(double *values, size_t n, size_t size)
{
	size_t blocks = n / size;

	for (size_t i = 0; i < blocks; i++) {
		double sum = 0;

		for (size_t k = 0; k < size; k++)
			sum += values[i * size + k];
		values[i] = sum / (double)size;
	}
	return blocks;
}

struct regression_line {
	double weight, x, y, xx, xy;
};

static void add_point(struct regression_line *l, double x, double y, double weight)
{
	l->weight += weight;
	l->x += weight * x;
	l->y += weight * y;
	l->xx += weight * x * x;
	l->xy += weight * x * y;
}

void hurst_estimate(const double *values, size_t n, size_t first, struct hurst *out)
{
	double *means = hd_alloc(n, sizeof(*means));
	struct regression_line l = { 0 };
	size_t size = first ? first : 1, blocks = 0;

	*out = (struct hurst){ .h = NAN, .error = NAN, .first = size };
	if (n)
		memcpy(means, values, n * sizeof(*means));
	blocks = take_means(means, n, size);
	for (; blocks >= HURST_MIN_BLOCKS && out->n_scales < MAX_SCALES;
	     blocks = take_means(means, blocks, 2), size *= 2) {
		double variance = allan_variance(means, blocks);

		if (variance <= 0)
			break;
		/* A log of a variance from n blocks varies as 2 / n or so. */
		add_point(&l, log2((double)size), log2(variance), (double)blocks);
		out->n_scales++;
		out->last = size;
	}
	free(means);
	if (out->n_scales < HURST_MIN_SCALES) {
		out->n_scales = 0;
		return;
	}
	double spread = l.xx - l.x * l.x / l.weight;
	double slope = (l.xy - l.x * l.y / l.weight) / spread;

	out->h = 1 + slope / 2;
	/* var(log2 V) = 3 / (ln 2)^2 / n for differences that overlap. */
	out->error = sqrt(3 / spread) / log(2) / 2;
}
