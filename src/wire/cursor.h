/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_WIRE_CURSOR_H
#define HD_WIRE_CURSOR_H

/*
 * Cursors to read and write big-endian data, the byte order of InfiniBand.
 *
 * A cursor records errors instead of returning them: a read past the end returns 0, a write past
 * the end writes nothing, and either sets `failed` permanently. Callers read or write a whole
 * header and check `failed` once. `at` never exceeds `end`, so a failed cursor is safe to use.
 *
 * Cursors borrow their bytes and allocate nothing.
 */

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct byte_reader {
	const uint8_t *at;
	const uint8_t *end;
	bool failed;
};

static inline void reader_init(struct byte_reader *r, const void *bytes, size_t size)
{
	r->at = bytes;
	r->end = bytes ? r->at + size : NULL;
	r->failed = false;
}

static inline size_t reader_left(const struct byte_reader *r)
{
	return (size_t)(r->end - r->at);
}

/* Consumes the next `n` bytes; NULL if there are fewer. */
static inline const uint8_t *read_bytes(struct byte_reader *r, size_t n)
{
	const uint8_t *bytes = r->at;

	if (r->failed || n > reader_left(r)) {
		r->failed = true;
		return NULL;
	}
	r->at += n;
	return bytes;
}

static inline uint16_t load_be16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static inline uint32_t load_be24(const uint8_t *p)
{
	return (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2];
}

static inline uint32_t load_be32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | load_be24(p + 1);
}

static inline uint64_t load_be64(const uint8_t *p)
{
	return (uint64_t)load_be32(p) << 32 | load_be32(p + 4);
}

static inline uint16_t load_le16(const uint8_t *p)
{
	return (uint16_t)(p[1] << 8 | p[0]);
}

static inline uint32_t load_le32(const uint8_t *p)
{
	return (uint32_t)load_le16(p + 2) << 16 | load_le16(p);
}

static inline uint8_t read_u8(struct byte_reader *r)
{
	const uint8_t *p = read_bytes(r, 1);

	return p ? p[0] : 0;
}

static inline uint16_t read_be16(struct byte_reader *r)
{
	const uint8_t *p = read_bytes(r, 2);

	return p ? load_be16(p) : 0;
}

static inline uint32_t read_be24(struct byte_reader *r)
{
	const uint8_t *p = read_bytes(r, 3);

	return p ? load_be24(p) : 0;
}

static inline uint32_t read_be32(struct byte_reader *r)
{
	const uint8_t *p = read_bytes(r, 4);

	return p ? load_be32(p) : 0;
}

static inline uint64_t read_be64(struct byte_reader *r)
{
	const uint8_t *p = read_bytes(r, 8);

	return p ? load_be64(p) : 0;
}

/* Copies the next `n` bytes to `out`; zeros after a failure. */
static inline void read_copy(struct byte_reader *r, uint8_t *out, size_t n)
{
	const uint8_t *p = read_bytes(r, n);

	if (p)
		memcpy(out, p, n);
	else
		memset(out, 0, n);
}

struct byte_writer {
	uint8_t *at;
	uint8_t *end;
	bool failed;
};

static inline void writer_init(struct byte_writer *w, void *bytes, size_t size)
{
	w->at = bytes;
	w->end = bytes ? w->at + size : NULL;
	w->failed = false;
}

static inline size_t writer_left(const struct byte_writer *w)
{
	return (size_t)(w->end - w->at);
}

/* Reserves `n` bytes, which the caller fills; NULL if there is not enough room. */
static inline uint8_t *write_room(struct byte_writer *w, size_t n)
{
	uint8_t *room = w->at;

	if (w->failed || n > writer_left(w)) {
		w->failed = true;
		return NULL;
	}
	w->at += n;
	return room;
}

static inline void store_be16(uint8_t *p, uint16_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

static inline void store_be24(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 16);
	p[1] = (uint8_t)(v >> 8);
	p[2] = (uint8_t)v;
}

static inline void store_be32(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 24);
	store_be24(p + 1, v);
}

static inline void store_be64(uint8_t *p, uint64_t v)
{
	store_be32(p, (uint32_t)(v >> 32));
	store_be32(p + 4, (uint32_t)v);
}

static inline void store_le16(uint8_t *p, uint16_t v)
{
	p[0] = (uint8_t)v;
	p[1] = (uint8_t)(v >> 8);
}

static inline void store_le32(uint8_t *p, uint32_t v)
{
	store_le16(p, (uint16_t)v);
	store_le16(p + 2, (uint16_t)(v >> 16));
}

static inline void write_u8(struct byte_writer *w, uint8_t v)
{
	uint8_t *p = write_room(w, 1);

	if (p)
		p[0] = v;
}

static inline void write_be16(struct byte_writer *w, uint16_t v)
{
	uint8_t *p = write_room(w, 2);

	if (p)
		store_be16(p, v);
}

static inline void write_be24(struct byte_writer *w, uint32_t v)
{
	uint8_t *p = write_room(w, 3);

	if (p)
		store_be24(p, v);
}

static inline void write_be32(struct byte_writer *w, uint32_t v)
{
	uint8_t *p = write_room(w, 4);

	if (p)
		store_be32(p, v);
}

static inline void write_be64(struct byte_writer *w, uint64_t v)
{
	uint8_t *p = write_room(w, 8);

	if (p)
		store_be64(p, v);
}

/* `bytes` NULL writes zeros. */
static inline void write_bytes(struct byte_writer *w, const void *bytes, size_t n)
{
	uint8_t *p = write_room(w, n);

	if (!p || n == 0)
		return;
	if (bytes)
		memcpy(p, bytes, n);
	else
		memset(p, 0, n);
}

/*
 * Value of a field of `width` bits (1..64) that starts at bit `offset` of `bytes`, counted from
 * the most significant bit of the first byte, as in the standard's tables. The field need not be
 * aligned. The caller ensures that the bytes exist.
 */
static inline uint64_t bits_get(const uint8_t *bytes, size_t offset, unsigned width)
{
	uint64_t v = 0;

	assert(width >= 1 && width <= 64);
	while (width > 0) {
		unsigned skip = (unsigned)(offset % 8);
		unsigned take = 8 - skip < width ? 8 - skip : width;
		unsigned byte = bytes[offset / 8] & (0xFFU >> skip);

		v = v << take | byte >> (8 - skip - take);
		offset += take;
		width -= take;
	}
	return v;
}

/* Bits of `v` above `width` are ignored; bits outside the field are kept. */
static inline void bits_put(uint8_t *bytes, size_t offset, unsigned width, uint64_t v)
{
	assert(width >= 1 && width <= 64);
	while (width > 0) {
		unsigned skip = (unsigned)(offset % 8);
		unsigned take = 8 - skip < width ? 8 - skip : width;
		unsigned shift = 8 - skip - take;
		unsigned mask = ((1U << take) - 1) << shift;
		unsigned part = (unsigned)(v >> (width - take)) << shift;
		uint8_t *byte = &bytes[offset / 8];

		*byte = (uint8_t)((*byte & ~mask) | (part & mask));
		offset += take;
		width -= take;
	}
}

#endif
