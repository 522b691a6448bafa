/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/erf.h"

/* 10^12 = 2^12 * 5^12: picoseconds and 2^-32 seconds meet at this ratio. */
#define FIVE_12 UINT64_C(244140625)

size_t erf_record_size(const uint8_t *header)
{
	unsigned type = header[8] & 0x7F;
	size_t rlen = load_be16(header + 10);

	if (type == 0 || type > ERF_TYPE_MAX || rlen < ERF_HEADER_SIZE)
		return 0;
	return rlen;
}

static void read_time(const uint8_t *bytes, struct erf *out)
{
	uint64_t fraction = load_le32(bytes);

	out->seconds = load_le32(bytes + 4);
	out->ps = fraction * FIVE_12 >> 20;
}

/* Each extension header is 8 bytes; its top bit says that one more follows. */
static void skip_extensions(struct byte_reader *r, uint8_t type)
{
	bool more = type & 0x80;

	while (more && !r->failed) {
		const uint8_t *extension = read_bytes(r, 8);

		more = extension && extension[0] & 0x80;
	}
}

enum hd_status erf_read(const uint8_t *bytes, size_t size, struct diag *d, struct erf *out)
{
	struct byte_reader r;

	if (size < ERF_HEADER_SIZE)
		return diag_fail(d, HD_ERR_INPUT, "%zu bytes are too few for an ERF header (%d)",
				 size, ERF_HEADER_SIZE);
	if (erf_record_size(bytes) == 0)
		return diag_fail(d, HD_ERR_INPUT, "no ERF record: type %u, length %u", bytes[8],
				 load_be16(bytes + 10));
	read_time(bytes, out);
	out->type = bytes[8] & 0x7F;
	out->interface = bytes[9] & 3;
	out->rlen = load_be16(bytes + 10);
	out->wlen = load_be16(bytes + 14);
	reader_init(&r, bytes, size < out->rlen ? size : out->rlen);
	read_bytes(&r, ERF_HEADER_SIZE);
	skip_extensions(&r, bytes[8]);
	if (out->type == ERF_ETHERNET)
		read_bytes(&r, 2);
	if (r.failed)
		return diag_fail(d, HD_ERR_INPUT, "ERF record ends inside its headers");
	out->payload = r.at;
	out->payload_len = reader_left(&r);
	if (out->payload_len > out->wlen)
		out->payload_len = out->wlen;
	return HD_OK;
}

void erf_write_header(struct byte_writer *w, const struct erf *h)
{
	uint8_t *p = write_room(w, ERF_HEADER_SIZE);

	if (!p)
		return;
	uint64_t fraction = ((h->ps << 20) + FIVE_12 - 1) / FIVE_12;
	uint64_t stamp = (h->seconds << 32) + fraction;

	store_le32(p, (uint32_t)stamp);
	store_le32(p + 4, (uint32_t)(stamp >> 32));
	p[8] = h->type;
	p[9] = (uint8_t)(ERF_FLAG_VARYING | (h->interface & 3));
	store_be16(p + 10, h->rlen);
	store_be16(p + 12, 0);
	store_be16(p + 14, h->wlen);
}
