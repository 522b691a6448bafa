/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_ROUTING_VLS_H
#define HD_SUBNET_ROUTING_VLS_H

/*
 * SL2VL tables as OpenSM dumps them (opensm-sl2vl.dump): of each switch one
 * row per input and cabled output, of each adapter one row. With a topology,
 * unicast and multicast tables this is all that decides about credit loops.
 */

#include "base/strbuf.h"
#include "subnet/subnet.h"

void sl2vl_write(const struct subnet *s, struct strbuf *out);

/*
 * Reads `len` bytes, which a NUL follows, into the tables of `s`; what the
 * file does not mention stays. Refuses with the line at fault.
 */
HD_MUST_CHECK enum hd_status sl2vl_read(struct subnet *s, const char *text, size_t len,
					struct diag *d);

#endif
