/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Goals as people say them. What is taken has one to sixteen classes of
 * different names, packets that fit the MTU, and no more than a link; what is
 * refused says why; and the same text is always taken alike.
 */
#include <stdlib.h>
#include <string.h>

#include "study/goals.h"

#define MTU 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int condition)
{
	if (!condition)
		abort();
}

static double ratio(struct hd_ratio r)
{
	return (double)r.num / (double)r.den;
}

static void check_goals(const struct goals *g)
{
	double sum = 0;

	check(g->n >= 1 && g->n <= N_SLS);
	for (unsigned i = 0; i < g->n; i++) {
		const struct class_goal *one = &g->items[i];
		const struct plan_class *c = &g->classes[i];

		check(strcmp(one->name, c->name) == 0);
		check(c->payload >= 1 && c->payload <= MTU);
		check(ratio(c->share) >= 0 && ratio(c->share) <= 1);
		check(c->latency == (one->latency > 0));
		sum += ratio(c->share);
		for (unsigned k = 0; k < i; k++)
			check(strcmp(one->name, g->items[k].name) != 0);
	}
	check(sum <= 1 + 1e-9);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct diag d = { .status = HD_OK }, again = { .status = HD_OK };
	struct goals g, other;
	enum hd_status status = goals_read((const char *)data, size, MTU, &d, &g);

	if (status == HD_OK)
		check_goals(&g);
	else
		check(d.status == status && *d.message);
	check(goals_read((const char *)data, size, MTU, &again, &other) == status &&
	      other.n == g.n && strcmp(d.message, again.message) == 0);
	goals_fini(&g);
	goals_fini(&other);
	return 0;
}
