/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/policy.h"

static const struct column columns[] = {
	{ "sl", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "line", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "level", NULL, VALUE_TEXT, ORIGIN_COMPUTED, 0 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

void policy_answer_show(const struct policy_answer *a, struct results *r)
{
	struct table *t = results_record(
		r, "label", "what the subnet manager answers", columns);

	table_put_uint(t, a->sl);
	if (a->line)
		table_put_uint(t, a->line);
	else
		table_put_none(t);
	if (a->level)
		table_put_text(t, a->level);
	else
		table_put_none(t);
}
