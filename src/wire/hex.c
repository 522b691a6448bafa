/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/hex.h"

#include <ctype.h>
#include <string.h>

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

enum hd_status hex_parse(const char *text, struct diag *d, struct strbuf *out)
{
	const char *at = text;

	while (*at) {
		if (strchr(" \t\r\n:.-", *at)) {
			at++;
			continue;
		}
		int high = digit(at[0]);
		int low = high < 0 ? -1 : digit(at[1]);

		if (high >= 0 && !at[1])
			return diag_fail(d, HD_ERR_INPUT,
					 "half a byte at the end: '%c' has no second digit", at[0]);
		if (low < 0) {
			const char *wrong = high < 0 ? at : at + 1;

			return diag_fail(d, HD_ERR_INPUT,
					 "'%c' at character %zu is not a hexadecimal digit",
					 isprint((unsigned char)*wrong) ? *wrong : '?',
					 (size_t)(wrong - text) + 1);
		}
		strbuf_putc(out, (char)(high << 4 | low));
		at += 2;
	}
	return HD_OK;
}
