/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/pcapng.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/units.h"
#include "wire/cursor.h"

enum {
	BLOCK_SECTION = 0x0A0D0D0A, /* the same in either byte order */
	BLOCK_INTERFACE = 1,
	BLOCK_OBSOLETE = 2,
	BLOCK_SIMPLE = 3,
	BLOCK_ENHANCED = 6,
	BYTE_ORDER_MAGIC = 0x1A2B3C4D,
	OPTION_RESOLUTION = 9,
	OPTION_OFFSET = 14,
	/* Type and length before the body, and the length after it. */
	BLOCK_FRAME = 12,
	/* Also libpcap's limit; packets are much smaller. */
	BLOCK_MAX = 16 << 20,
};

struct interface {
	unsigned link_type;
	uint32_t snap_length; /* 0: no limit */
	uint64_t resolution;  /* clock units per second */
	int64_t offset;       /* seconds to add to time stamps */
};

struct pcapng {
	FILE *stream;
	bool big;        /* byte order of this section */
	bool pending;    /* the block is a packet that has not been returned yet */
	uint64_t offset; /* offset of this block in the file, for messages */
	uint64_t next;   /* offset of the next block */
	uint32_t type;   /* of this block */
	uint8_t *body;
	size_t size, cap;
	struct interface *interfaces;
	size_t n_interfaces, interfaces_cap;
};

struct pcapng *pcapng_new(FILE *stream)
{
	struct pcapng *p = hd_alloc(1, sizeof(*p));

	p->stream = stream;
	return p;
}

void pcapng_free(struct pcapng *p)
{
	if (!p)
		return;
	free(p->body);
	free(p->interfaces);
	free(p);
}

static uint16_t get16(const struct pcapng *p, const uint8_t *at)
{
	return p->big ? load_be16(at) : load_le16(at);
}

static uint32_t get32(const struct pcapng *p, const uint8_t *at)
{
	return p->big ? load_be32(at) : load_le32(at);
}

HD_PRINTF(3, 4)
static enum hd_status refuse(const struct pcapng *p, struct diag *d, const char *format, ...)
{
	char text[sizeof(d->message)];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return diag_fail(d, HD_ERR_INPUT, "byte %llu: %s", (unsigned long long)p->offset, text);
}

static enum hd_status refuse_cut(const struct pcapng *p, struct diag *d)
{
	if (ferror(p->stream))
		return diag_fail(d, HD_ERR_IO, "cannot be read");
	return refuse(p, d, "truncated: the file ends inside a block");
}

static bool fill(struct pcapng *p, size_t size)
{
	p->body = hd_grow(p->body, &p->cap, size, 1);
	p->size += fread(p->body + p->size, 1, size - p->size, p->stream);
	return p->size == size;
}

/* The byte order of a section must be known before its length can be read. */
static enum hd_status read_order(struct pcapng *p, struct diag *d)
{
	if (!fill(p, 4))
		return refuse_cut(p, d);
	p->big = load_be32(p->body) == BYTE_ORDER_MAGIC;
	if (!p->big && load_le32(p->body) != BYTE_ORDER_MAGIC)
		return refuse(p, d, "no pcapng section: byte order 0x%08x", load_be32(p->body));
	return HD_OK;
}

/* Reads the next block into type, body and size; false at a regular end. */
static enum hd_status read_block(struct pcapng *p, struct diag *d, bool *found)
{
	uint8_t head[8], tail[4];
	size_t got = fread(head, 1, sizeof(head), p->stream);

	p->offset = p->next;
	p->size = 0;
	*found = got == sizeof(head);
	if (got == 0 && !ferror(p->stream))
		return HD_OK;
	if (!*found)
		return refuse_cut(p, d);
	p->type = get32(p, head);
	if (p->type == BLOCK_SECTION && read_order(p, d) != HD_OK)
		return d->status;
	uint32_t length = get32(p, head + 4);

	if (length < BLOCK_FRAME + p->size || length % 4 || length > BLOCK_MAX)
		return refuse(p, d, "no pcapng block: length %u", length);
	p->next = p->offset + length;
	if (!fill(p, length - BLOCK_FRAME) ||
	    fread(tail, 1, sizeof(tail), p->stream) != sizeof(tail))
		return refuse_cut(p, d);
	if (get32(p, tail) != length)
		return refuse(p, d, "a block of %u bytes says %u bytes at its end", length,
			      get32(p, tail));
	return HD_OK;
}

/* 10^-n, or with the top bit 2^-n; 0 if it does not fit. */
static uint64_t resolution_of(uint8_t code)
{
	unsigned n = code & 0x7F;
	uint64_t units = 1;

	if (code & 0x80)
		return n < 64 ? UINT64_C(1) << n : 0;
	if (n > 19)
		return 0;
	while (n-- > 0)
		units *= 10;
	return units;
}

static enum hd_status read_option(struct pcapng *p, struct diag *d, unsigned code,
				  const uint8_t *value, size_t size, struct interface *out)
{
	if (code == OPTION_RESOLUTION && size == 1) {
		out->resolution = resolution_of(value[0]);
		if (out->resolution == 0)
			return refuse(p, d,
				      "interface %zu: resolution %d^-%u of its clock is too fine",
				      p->n_interfaces, value[0] & 0x80 ? 2 : 10, value[0] & 0x7Fu);
	}
	if (code == OPTION_OFFSET && size == 8) {
		uint64_t high = get32(p, value + (p->big ? 0 : 4));

		out->offset = (int64_t)(high << 32 | get32(p, value + (p->big ? 4 : 0)));
	}
	return HD_OK;
}

/* Code and length, 2 bytes each, then the value padded to 4; code 0 ends. */
static enum hd_status read_interface(struct pcapng *p, struct diag *d)
{
	struct interface new = { .resolution = 1000000 };
	struct byte_reader r;

	reader_init(&r, p->body, p->size);
	const uint8_t *fixed = read_bytes(&r, 8);

	if (!fixed)
		return refuse(p, d, "an interface description of %zu bytes", p->size);
	new.link_type = get16(p, fixed);
	new.snap_length = get32(p, fixed + 4);
	while (reader_left(&r) > 0) {
		const uint8_t *head = read_bytes(&r, 4);

		if (!head || get16(p, head) == 0)
			break;
		size_t size = get16(p, head + 2);
		const uint8_t *value = read_bytes(&r, (size + 3) / 4 * 4);

		if (!value)
			return refuse(
				p, d,
				"interface %zu: an option of %zu bytes reaches past its block",
				p->n_interfaces, size);
		if (read_option(p, d, get16(p, head), value, size, &new) != HD_OK)
			return d->status;
	}
	p->interfaces =
		hd_grow(p->interfaces, &p->interfaces_cap, p->n_interfaces + 1, sizeof(new));
	p->interfaces[p->n_interfaces++] = new;
	return HD_OK;
}

static bool is_packet(uint32_t type)
{
	return type == BLOCK_ENHANCED || type == BLOCK_SIMPLE || type == BLOCK_OBSOLETE;
}

enum hd_status pcapng_begin(struct pcapng *p, struct diag *d)
{
	bool found = true;

	while (!p->pending && found) {
		if (read_block(p, d, &found) != HD_OK)
			return d->status;
		if (found && p->type == BLOCK_SECTION)
			p->n_interfaces = 0;
		else if (found && p->type == BLOCK_INTERFACE && read_interface(p, d) != HD_OK)
			return d->status;
		p->pending = found && is_packet(p->type);
	}
	return HD_OK;
}

size_t pcapng_interfaces(const struct pcapng *p)
{
	return p->n_interfaces;
}

unsigned pcapng_link_type(const struct pcapng *p, size_t interface)
{
	return p->interfaces[interface].link_type;
}

static void set_time(const struct interface *from, uint64_t units, struct pcapng_packet *out)
{
	__extension__ typedef unsigned __int128 u128;
	uint64_t rest = units % from->resolution;
	/* Modulo 2^64: the result is defined for any invalid clock. */
	uint64_t seconds = units / from->resolution + (uint64_t)from->offset;

	/* Times before 1970 cannot be represented. */
	out->seconds = seconds > INT64_MAX ? 0 : seconds;
	out->ps = (uint64_t)((u128)rest * HD_S / from->resolution);
}

/* Fields of a packet block before the packet's bytes. */
struct packet_head {
	size_t size; /* size of these fields */
	uint32_t interface;
	uint64_t time;
	uint32_t stored, original;
};

static bool read_head(const struct pcapng *p, struct packet_head *out)
{
	const uint8_t *at = p->body;

	if (p->type == BLOCK_SIMPLE) {
		uint32_t limit = p->n_interfaces ? p->interfaces[0].snap_length : 0;

		if (p->size < 4)
			return false;
		uint32_t original = get32(p, at);
		uint32_t stored = limit && limit < original ? limit : original;

		*out = (struct packet_head){ .size = 4, .stored = stored, .original = original };
		return true;
	}
	if (p->size < 20)
		return false;
	*out = (struct packet_head){
		.size = 20,
		.interface = p->type == BLOCK_OBSOLETE ? get16(p, at) : get32(p, at),
		.time = (uint64_t)get32(p, at + 4) << 32 | get32(p, at + 8),
		.stored = get32(p, at + 12),
		.original = get32(p, at + 16),
	};
	return true;
}

enum hd_status pcapng_next(struct pcapng *p, struct diag *d, struct pcapng_packet *out, bool *found)
{
	struct packet_head h;

	if (pcapng_begin(p, d) != HD_OK)
		return d->status;
	*found = p->pending;
	if (!p->pending)
		return HD_OK;
	p->pending = false;
	if (!read_head(p, &h) || h.stored > p->size - h.size)
		return refuse(p, d, "a packet reaches past its block of %zu bytes",
			      p->size + BLOCK_FRAME);
	if (h.interface >= p->n_interfaces)
		return refuse(p, d, "a packet of interface %u, but %zu %s described", h.interface,
			      p->n_interfaces, p->n_interfaces == 1 ? "is" : "are");
	out->interface = h.interface;
	out->link_type = p->interfaces[h.interface].link_type;
	set_time(&p->interfaces[h.interface], h.time, out);
	out->bytes = p->body + h.size;
	out->size = h.stored;
	out->wire_size = h.original > h.stored ? h.original : h.stored;
	return HD_OK;
}
