/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/loss.h"

#include <stdlib.h>

#include "base/alloc.h"

/* Where the sums would leave a double's range, all are made smaller. */
#define TOO_LARGE 0x1p800

void loss_shared(uint32_t places, const struct loss_class *classes, uint32_t n_classes,
		 double *lost)
{
	/* q[j]: weight of the states in which j places are taken. */
	double *q = hd_alloc((size_t)places + 1, sizeof(*q));
	double sum = 1;

	q[0] = 1;
	for (uint32_t j = 1; j <= places; j++) {
		for (uint32_t i = 0; i < n_classes; i++) {
			const struct loss_class *c = &classes[i];

			if (c->size <= j)
				q[j] += c->load * c->size * q[j - c->size] / j;
		}
		sum += q[j];
		for (uint32_t k = 0; sum > TOO_LARGE && k <= j; k++)
			q[k] /= TOO_LARGE;
		sum = sum > TOO_LARGE ? sum / TOO_LARGE : sum;
	}
	for (uint32_t i = 0; i < n_classes; i++) {
		uint32_t size = classes[i].size;
		uint32_t first = size > places ? 0 : places - size + 1;

		lost[i] = 0;
		for (uint32_t j = first; j <= places; j++)
			lost[i] += q[j] / sum;
	}
	free(q);
}
