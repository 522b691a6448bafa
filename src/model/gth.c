/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/gth.h"

#include <math.h>

/* Takes state k out of the chain: what passed through it goes around it. */
static enum hd_status eliminate(double *rate, size_t n, size_t k)
{
	const double *out = rate + k * n;
	double leave = 0;

	for (size_t t = 0; t < k; t++)
		leave += out[t];
	if (!(leave > 0) || !isfinite(leave))
		return HD_ERR_INPUT;
	for (size_t s = 0; s < k; s++) {
		double *from = rate + s * n;

		if (from[k] == 0)
			continue;
		from[k] /= leave;
		for (size_t t = 0; t < k; t++)
			from[t] += from[k] * out[t];
	}
	return HD_OK;
}

enum hd_status gth_solve(double *rate, size_t n, double *p)
{
	for (size_t k = n; k-- > 1;) {
		if (eliminate(rate, n, k) != HD_OK)
			return HD_ERR_INPUT;
	}
	double sum = 1;

	p[0] = 1;
	for (size_t k = 1; k < n; k++) {
		p[k] = 0;
		for (size_t s = 0; s < k; s++)
			p[k] += p[s] * rate[s * n + k];
		sum += p[k];
		/* Relative to state 0 they may leave the range of a double. */
		if (sum > 0x1p500) {
			for (size_t s = 0; s <= k; s++)
				p[s] /= sum;
			sum = 1;
		}
	}
	for (size_t k = 0; k < n; k++)
		p[k] /= sum;
	return HD_OK;
}
