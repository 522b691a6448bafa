/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench/message.h"

#include <math.h>
#include <string.h>

#include "bench/ranks.h"
#include "wire/cursor.h"

#define GREETING 0x4862 /* "Hb" */
#define VERSION  1

enum message_kind { KIND_ADDRESS, KIND_NUMBER, KIND_REAL, KIND_HEAD, KINDS };

static const struct {
	const char *name;
	size_t size;
} kinds[KINDS] = {
	[KIND_ADDRESS] = { "an address", ADDRESS_SIZE },
	[KIND_NUMBER] = { "a number", NUMBER_SIZE },
	[KIND_REAL] = { "a rate", NUMBER_SIZE },
	[KIND_HEAD] = { "a point", HEAD_SIZE },
};

static void begin(struct byte_writer *w, enum message_kind kind, uint8_t *out)
{
	writer_init(w, out, kinds[kind].size);
	write_be16(w, GREETING);
	write_u8(w, (uint8_t)kind);
	write_u8(w, VERSION);
}

static enum hd_status expect(struct byte_reader *r, enum message_kind kind, const uint8_t *bytes,
			     size_t size, struct diag *d)
{
	reader_init(r, bytes, size);
	uint16_t ours = read_be16(r);
	uint8_t found = read_u8(r), version = read_u8(r);

	if (ours != GREETING || version != VERSION)
		return diag_fail(d, HD_ERR_INPUT, "the other side is another version");
	if (found != kind || size != kinds[kind].size)
		return diag_fail(d, HD_ERR_INPUT, "expected %s from the other side, and %s came",
				 kinds[kind].name,
				 found < KINDS ? kinds[found].name : "something else");
	return HD_OK;
}

/* ---- addresses ---------------------------------------------------------- */

void bench_write_address(const struct nic_address *a, uint8_t out[ADDRESS_SIZE])
{
	struct byte_writer w;

	begin(&w, KIND_ADDRESS, out);
	write_be16(&w, a->lid);
	write_bytes(&w, a->gid, sizeof(a->gid));
	write_be24(&w, a->qpn);
	write_be24(&w, a->psn);
	write_be64(&w, a->addr);
	write_be32(&w, a->rkey);
}

enum hd_status bench_read_address(const uint8_t *bytes, size_t size, struct diag *d,
				  struct nic_address *out)
{
	struct byte_reader r;
	enum hd_status status = expect(&r, KIND_ADDRESS, bytes, size, d);

	if (status != HD_OK)
		return status;
	out->lid = read_be16(&r);
	read_copy(&r, out->gid, sizeof(out->gid));
	out->qpn = read_be24(&r);
	out->psn = read_be24(&r);
	out->addr = read_be64(&r);
	out->rkey = read_be32(&r);
	return HD_OK;
}

/* ---- numbers ------------------------------------------------------------ */

void bench_write_number(uint64_t number, uint8_t out[NUMBER_SIZE])
{
	struct byte_writer w;

	begin(&w, KIND_NUMBER, out);
	write_be64(&w, number);
}

enum hd_status bench_read_number(const uint8_t *bytes, size_t size, struct diag *d, uint64_t *out)
{
	struct byte_reader r;
	enum hd_status status = expect(&r, KIND_NUMBER, bytes, size, d);

	if (status == HD_OK)
		*out = read_be64(&r);
	return status;
}

/* IEEE 754, 64 bits, in network order. */
void bench_write_real(double real, uint8_t out[NUMBER_SIZE])
{
	struct byte_writer w;
	uint64_t bits;

	memcpy(&bits, &real, sizeof(bits));
	begin(&w, KIND_REAL, out);
	write_be64(&w, bits);
}

enum hd_status bench_read_real(const uint8_t *bytes, size_t size, struct diag *d, double *out)
{
	struct byte_reader r;
	enum hd_status status = expect(&r, KIND_REAL, bytes, size, d);

	if (status != HD_OK)
		return status;
	uint64_t bits = read_be64(&r);
	double real;

	memcpy(&real, &bits, sizeof(real));
	if (!isfinite(real) || signbit(real))
		return diag_fail(d, HD_ERR_INPUT,
				 "the peer sent a rate that is negative or not finite");
	*out = real;
	return HD_OK;
}

/* ---- points -------------------------------------------------------------- */

void bench_write_head(const struct point_head *h, uint8_t out[HEAD_SIZE])
{
	struct byte_writer w;

	begin(&w, KIND_HEAD, out);
	write_u8(&w, (uint8_t)h->what);
	write_u8(&w, (uint8_t)h->rank);
	write_u8(&w, (uint8_t)h->n_ranks);
	write_be32(&w, h->len);
}

enum hd_status bench_read_head(const uint8_t *bytes, size_t size, struct diag *d,
			       struct point_head *out)
{
	struct byte_reader r;
	enum hd_status status = expect(&r, KIND_HEAD, bytes, size, d);

	if (status != HD_OK)
		return status;
	uint8_t what = read_u8(&r);
	struct point_head h = { .rank = read_u8(&r) };

	h.n_ranks = read_u8(&r);
	h.len = read_be32(&r);
	if (what > HEAD_END)
		return diag_fail(d, HD_ERR_INPUT, "the other side says %u of a point", what);
	h.what = (enum head_what)what;
	/* Only a point has ranks and a letter. */
	bool idle = h.rank == 0 && h.n_ranks == 0 && h.len == 0;

	if (h.what == HEAD_POINT
		    ? h.rank == 0 || h.rank >= h.n_ranks || h.n_ranks > RANKS_MAX || h.len == 0
		    : !idle)
		return diag_fail(d, HD_ERR_INPUT, "the other side asks for rank %u of %u", h.rank,
				 h.n_ranks);
	*out = h;
	return HD_OK;
}
