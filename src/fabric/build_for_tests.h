/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_FABRIC_BUILD_FOR_TESTS_H
#define HD_FABRIC_BUILD_FOR_TESTS_H

/* For tests of fabric_load: one scenario at a time, from its text. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/fabric.h"

#define MESH                                                             \
	"fabric:\n  topology: {kind: mesh, columns: 4, rows: 4, hosts: " \
	"1}\n"
#define SMALL "fabric:\n  topology: {kind: star, hosts: 4}\n  link: 8Gb/s\n"
#define ANY   "traffic: [{name: a, kind: saturating}]\n"

static inline void must_build(const char *text, struct fabric **out)
{
	struct diag d = { .status = HD_OK };

	if (fabric_load(text, strlen(text), "x.yaml", NULL, &d, out) == HD_OK)
		return;
	fail_msg("refused: %u:%u: %s", d.line, d.column, d.message);
	abort(); /* unreachable: cppcheck does not know fail_msg */
}

static inline void write_file(const char *name, const char *text)
{
	FILE *f = fopen(name, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

#endif
