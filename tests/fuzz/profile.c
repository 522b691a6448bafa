/* SPDX-License-Identifier: BSD-2-Clause */
/* Profiles: what is accepted prints as a profile that reads back. */
#include <stdlib.h>

#include "hca/profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct diag d = { .status = HD_OK };
	struct strbuf text = STRBUF_INIT;
	struct hca_profile p, again;

	if (profile_parse((const char *)data, size, &d, &p) != HD_OK) {
		if (!d.message[0])
			abort();
		return 0;
	}
	profile_print(&p, &text);
	if (profile_parse(text.text, text.len, &d, &again) != HD_OK ||
	    p.bus_overhead != again.bus_overhead || p.entries != again.entries)
		abort();
	strbuf_fini(&text);
	profile_fini(&again);
	profile_fini(&p);
	return 0;
}
