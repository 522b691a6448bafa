/* SPDX-License-Identifier: BSD-2-Clause */
/* OpenSM's policy files: whatever is accepted gives every query an SL. */
#include <stdlib.h>
#include <string.h>

#include "qos/policy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = calloc(1, size + 1);
	struct diag d = { .status = HD_OK };
	struct policy p;

	if (!text)
		abort();
	if (size > 0)
		memcpy(text, data, size);
	if (policy_read(text, &d, &p) == HD_OK) {
		struct policy_query q = { .source = TOPO_NONE,
					  .destination = TOPO_NONE,
					  .has_service_id = true,
					  .service_id = size,
					  .has_pkey = size & 1,
					  .pkey = 0xffff };

		if (policy_match(&p, NULL, &q).sl >= N_SLS)
			abort();
	} else if (!d.message[0]) {
		abort();
	}
	policy_fini(&p);
	free(text);
	return 0;
}
