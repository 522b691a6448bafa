/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_TRANSPORT_MODEL_ALLOW_FOR_TESTS_H
#define HD_TRANSPORT_MODEL_ALLOW_FOR_TESTS_H

#include <stdbool.h>
#include <stdint.h>

/* For owners of queue pairs all of whose memory may be used (qp_owner). */
static inline bool allow_all(void *context, uint32_t pd, uint32_t key, uint64_t addr, uint64_t len,
			     unsigned access)
{
	(void)context;
	(void)pd;
	(void)key;
	(void)addr;
	(void)len;
	(void)access;
	return true;
}

#endif
