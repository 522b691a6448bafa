/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/opensm/policy.h"

static const struct column columns[] = {
	{ "sl", NULL, CELL(policy_answer, sl), ORIGIN_COMPUTED },
	{ "line", NULL, CELL_UNLESS(policy_answer, line, 0), ORIGIN_COMPUTED },
	{ "level", NULL, CELL(policy_answer, level), ORIGIN_COMPUTED },
	{ NULL },
};

void policy_answer_show(const struct policy_answer *a, struct results *r)
{
	table_put_row(results_record(r, "label", "what the subnet manager answers", columns), a);
}
