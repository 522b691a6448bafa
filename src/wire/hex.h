/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_WIRE_HEX_H
#define HD_WIRE_HEX_H

/* Parser of hexadecimal text. */

#include "base/diag.h"
#include "base/strbuf.h"

/*
 * Appends the bytes of `text`, two digits each, to `out`. Spaces, line breaks, colons, dots and
 * dashes are allowed between bytes.
 */
HD_MUST_CHECK enum hd_status hex_parse(const char *text, struct diag *d, struct strbuf *out);

#endif
