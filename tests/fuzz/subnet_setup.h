/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_FUZZ_SUBNET_SETUP_H
#define HD_FUZZ_SUBNET_SETUP_H

/*
 * For harnesses of tables: the input as text, read into a fabric that each
 * harness builds. A refusal must have a reason.
 */

#include <stdlib.h>
#include <string.h>

#include "subnet/routing/fabric_for_tests.h"
#include "subnet/routing/route.h"

struct fuzz_subnet {
	struct topo topo;
	struct subnet subnet;
};

/* Whose topology is built: addressed, and routed unless `engine` is NULL. */
static inline void fuzz_subnet_program(struct fuzz_subnet *f, const char *engine)
{
	static const struct lid_options o = { .sm_port = TOPO_NONE };
	struct diag d = { .status = HD_OK };

	subnet_init(&f->subnet, &f->topo);
	if (subnet_assign_lids(&f->subnet, &o, &d) != HD_OK ||
	    (engine && subnet_route(&f->subnet, engine, NULL, &d) != HD_OK))
		abort();
}

static inline void fuzz_subnet_fini(struct fuzz_subnet *f)
{
	subnet_fini(&f->subnet);
	topo_fini(&f->topo);
}

/* With the NUL that readers rely on, where a read too far is seen. */
static inline char *fuzz_text(const uint8_t *data, size_t size)
{
	char *text = calloc(1, size + 1);

	if (!text)
		abort();
	if (size > 0)
		memcpy(text, data, size);
	return text;
}

#endif
