/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_WIRE_HEX_H
#define HD_WIRE_HEX_H

/* Bytes as people paste them. */

#include "base/diag.h"
#include "base/strbuf.h"

/*
 * Appends the bytes that `text` spells, two digits each, to `out`. Between
 * bytes there may be spaces, line breaks, colons, dots or dashes.
 */
HD_MUST_CHECK enum hd_status hex_parse(const char *text, struct diag *d, struct strbuf *out);

#endif
