/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_ROUTING_VLS_H
#define HD_SUBNET_ROUTING_VLS_H

/*
 * SL2VL tables in OpenSM's dump format (opensm-sl2vl.dump): for each switch one
 * row per input and cabled output, for each adapter one row. Together with
 * topology and unicast and multicast tables they determine the credit loops.
 */

#include "base/strbuf.h"
#include "subnet/subnet.h"

void sl2vl_write(const struct subnet *s, struct strbuf *out);

/*
 * Reads `len` bytes into the tables of `s`; text[len] must be NUL. Tables that
 * the file does not mention are unchanged. An error has the line.
 */
HD_MUST_CHECK enum hd_status sl2vl_read(struct subnet *s, const char *text, size_t len,
					struct diag *d);

#endif
