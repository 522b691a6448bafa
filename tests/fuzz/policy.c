/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * OpenSM's policy files: whatever is accepted gives every query an SL. The same
 * text as a file of partitions: keys are keys, and told apart; and as what
 * tools read back: values are within their tables.
 */
#include <stdlib.h>
#include <string.h>

#include "qos/opensm/partitions.h"
#include "qos/opensm/policy.h"
#include "qos/opensm/readback.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_partitions(const char *text)
{
	struct diag d = { .status = HD_OK };
	struct partitions p;

	if (partitions_read(text, &d, &p) != HD_OK && !d.message[0])
		abort();
	for (size_t i = 0; i < p.n; i++) {
		const struct partition *x = &p.items[i];

		if (!x->key || x->key > 0x7fff || x->sl >= N_SLS ||
		    partitions_keyed(&p, x->key) != x)
			abort();
	}
	partitions_fini(&p);
}

static void look_at(void *context, const struct readback *r)
{
	bool entry = r->kind == READBACK_HIGH || r->kind == READBACK_LOW;

	++*(size_t *)context;
	if ((entry && (r->index >= VLARB_MAX || r->weight > 255)) ||
	    (r->kind == READBACK_MAP && r->index >= N_SLS) || !r->line)
		abort();
}

static void try_readback(const char *text)
{
	size_t n = 0;

	if (opensm_readback_parse(text, look_at, &n) != n)
		abort();
}

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
	try_partitions(text);
	try_readback(text);
	free(text);
	return 0;
}
