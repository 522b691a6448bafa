/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_QOS_ADMISSION_BINOMIAL_FOR_TESTS_H
#define HD_QOS_ADMISSION_BINOMIAL_FOR_TESTS_H

#include <math.h>
#include <stdint.h>

/* P(more than k of n are on), summed exactly. */
static inline double binomial_tail(uint32_t n, double on, uint32_t k)
{
	double tail = 0;

	for (uint32_t i = k + 1; i <= n; i++)
		tail += exp(lgamma(n + 1.) - lgamma(i + 1.) - lgamma(n - i + 1.) + i * log(on) +
			    (n - i) * log1p(-on));
	return tail;
}

#endif
