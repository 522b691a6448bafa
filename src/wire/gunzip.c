/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE /* fopencookie */
#include "wire/gunzip.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <zlib.h>

#include "base/alloc.h"

#define CHUNK       ((size_t)1 << 16)
#define GZIP_ONLY   (MAX_WBITS + 16)
#define HEADER_SIZE 10

struct gunzip {
	FILE *in;
	z_stream z;
	bool inside; /* inside a member */
	const char *problem;
	uint8_t chunk[CHUNK];
};

bool gunzip_begins(const uint8_t *magic)
{
	/* The third byte is the method; only 8 (deflate) is defined. */
	return magic[0] == 0x1F && magic[1] == 0x8B && magic[2] == 8;
}

/* Moves unread input to the front and reads more; false at the end of the input. */
static bool read_on(struct gunzip *g)
{
	size_t left = g->z.avail_in;

	memmove(g->chunk, g->z.next_in, left);
	size_t n = fread(g->chunk + left, 1, CHUNK - left, g->in);

	g->z.next_in = g->chunk;
	g->z.avail_in = (unsigned)(left + n);
	if (ferror(g->in))
		g->problem = "the compressed file cannot be read";
	return n > 0;
}

/* True if another member follows. */
static bool next_member(struct gunzip *g)
{
	while (g->z.avail_in < HEADER_SIZE && read_on(g))
		;
	if (g->problem || g->z.avail_in < HEADER_SIZE || !gunzip_begins(g->z.next_in))
		return false;
	g->inside = inflateReset(&g->z) == Z_OK;
	return g->inside;
}

/* Decompresses some bytes; false at the end or after an error. */
static bool inflate_some(struct gunzip *g)
{
	if (!g->inside && !next_member(g))
		return false;
	if (g->z.avail_in == 0 && !read_on(g)) {
		if (!g->problem)
			g->problem = "the compressed file ends too early";
		return false;
	}
	int got = inflate(&g->z, Z_NO_FLUSH);

	if (got == Z_STREAM_END)
		g->inside = false;
	else if (got == Z_MEM_ERROR)
		g->problem = "no memory to decompress";
	else if (got != Z_OK && got != Z_BUF_ERROR)
		g->problem = "the compressed data are damaged";
	return !g->problem;
}

static ssize_t cookie_read(void *cookie, char *out, size_t room)
{
	struct gunzip *g = cookie;
	unsigned most = room < CHUNK ? (unsigned)room : (unsigned)CHUNK;

	g->z.next_out = (Bytef *)out;
	g->z.avail_out = most;
	while (g->z.avail_out == most && !g->problem && inflate_some(g))
		;
	if (g->z.avail_out < most || !g->problem)
		return (ssize_t)(most - g->z.avail_out);
	errno = EIO;
	return -1;
}

static int cookie_close(void *cookie)
{
	struct gunzip *g = cookie;

	inflateEnd(&g->z);
	if (g->in != stdin)
		fclose(g->in);
	return 0;
}

FILE *gunzip_open(FILE *in, const uint8_t *ahead, size_t n, struct gunzip **state)
{
	const cookie_io_functions_t functions = { .read = cookie_read, .close = cookie_close };
	struct gunzip *g = hd_alloc(1, sizeof(*g));

	assert(n <= CHUNK);
	g->in = in;
	memcpy(g->chunk, ahead, n);
	g->z.next_in = g->chunk;
	g->z.avail_in = (unsigned)n;
	FILE *stream =
		inflateInit2(&g->z, GZIP_ONLY) == Z_OK ? fopencookie(g, "rb", functions) : NULL;

	if (!stream) {
		inflateEnd(&g->z);
		free(g);
		return NULL;
	}
	*state = g;
	return stream;
}

const char *gunzip_problem(const struct gunzip *g)
{
	return g ? g->problem : NULL;
}

void gunzip_free(struct gunzip *g)
{
	free(g);
}
