/* SPDX-License-Identifier: BSD-2-Clause */
/* Scenarios: what is accepted explains itself in a text that reads back. */
#include <stdlib.h>
#include <string.h>

#include "scenario/scenario.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int condition)
{
	if (!condition)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct diag d = { .status = HD_OK };
	struct scenario s;
	struct strbuf once = STRBUF_INIT, twice = STRBUF_INIT;

	if (scenario_parse((const char *)data, size, "f", NULL, &d, &s) != HD_OK) {
		check(d.status != HD_OK && d.message[0]);
		scenario_fini(&s);
		return 0;
	}
	scenario_explain(&s, &once);
	scenario_fini(&s);
	check(scenario_parse(once.text, once.len, "f", NULL, &d, &s) == HD_OK);
	scenario_explain(&s, &twice);
	scenario_fini(&s);
	check(strcmp(once.text, twice.text) == 0);
	strbuf_fini(&once);
	strbuf_fini(&twice);
	return 0;
}
