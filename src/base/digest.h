/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_BASE_DIGEST_H
#define HD_BASE_DIGEST_H

/*
 * A 128-bit digest of any number of bytes, from two independent hashes. It
 * detects accidental differences; it is not safe against an attacker.
 *
 *	struct digest h = DIGEST_START;
 *	digest_add(&h, bytes, len);
 *	digest_print(&h, &out);
 */

#include "base/strbuf.h"

#include <stdint.h>

struct digest {
	uint64_t a, b;
};

#define DIGEST_START                            \
	{                                       \
		UINT64_C(0xcbf29ce484222325), 1 \
	}

static inline void digest_add(struct digest *h, const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char byte = (unsigned char)bytes[i];

		h->a = (h->a ^ byte) * UINT64_C(0x100000001b3);
		h->b = (h->b + byte + 1) * UINT64_C(0x9e3779b97f4a7c15);
		h->b ^= h->b >> 29;
	}
}

/* Writes 32 hexadecimal digits. */
static inline void digest_print(const struct digest *h, struct strbuf *out)
{
	strbuf_printf(out, "%016llx%016llx", (unsigned long long)h->a, (unsigned long long)h->b);
}

#endif
