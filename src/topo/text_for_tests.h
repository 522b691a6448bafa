/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_TOPO_TEXT_FOR_TESTS_H
#define HD_TOPO_TEXT_FOR_TESTS_H

/* For tests: conversion of topologies from and to text; an error ends the test. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/file.h"
#include "topo/read.h"
#include "topo/write.h"

#define FIXTURE(name) HD_SOURCE_DIR "/tests/fixtures/topo/" name

static inline void load(const char *path, struct strbuf *out)
{
	struct diag d = { .status = HD_OK };

	if (file_read(path, FILE_LIMIT, &d, out) != HD_OK)
		fail_msg("%s: %s", path, d.message);
}

static inline void read_text(const char *text, struct topo *t)
{
	struct diag d = { .status = HD_OK };

	if (topo_read(text, strlen(text), NULL, &d, t) != HD_OK)
		fail_msg("line %u: %s", d.line, d.message);
}

static inline void read_path(const char *path, struct topo *t)
{
	struct diag d = { .status = HD_OK };

	if (topo_read_file(path, NULL, &d, t) != HD_OK)
		fail_msg("%s:%u: %s", path, d.line, d.message);
}

static inline void write_as(const struct topo *t, const char *format, struct strbuf *out)
{
	const struct topo_writer *w = topo_writer_find(format);

	assert_non_null(w);
	w->write(t, out);
}

static inline void links_of(const char *path, struct strbuf *out)
{
	struct topo t;

	read_path(path, &t);
	write_as(&t, "links", out);
	topo_fini(&t);
}

#endif
