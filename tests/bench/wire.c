/* SPDX-License-Identifier: BSD-2-Clause */
/* Checksums, and whole packets to bytes and back. */
#include <stdlib.h>

#include "bench.h"
#include "wire/crc.h"
#include "wire/packet.h"

struct sample {
	struct packet packet;
	uint8_t bytes[PACKET_MAX];
	size_t size;
	uint32_t sink; /* so that nothing is optimised away */
};

static void make(struct sample *s, size_t payload)
{
	packet_init(&s->packet, OP_WRITE_ONLY);
	s->packet.payload_len = payload;
	if (packet_encode(&s->packet, s->bytes, sizeof(s->bytes), &s->size) != HD_OK)
		abort();
}

static void icrc_once(void *arg)
{
	struct sample *s = arg;

	s->sink += packet_icrc(s->bytes, s->size - ICRC_SIZE - VCRC_SIZE);
}

static void vcrc_once(void *arg)
{
	struct sample *s = arg;

	s->sink += crc16(s->bytes, s->size - VCRC_SIZE);
}

static void encode_once(void *arg)
{
	struct sample *s = arg;

	if (packet_encode(&s->packet, s->bytes, sizeof(s->bytes), &s->size) != HD_OK)
		abort();
}

static void decode_once(void *arg)
{
	struct sample *s = arg;
	struct diag d;

	d.status = HD_OK;
	if (packet_decode(s->bytes, s->size, &d, &s->packet) != HD_OK)
		abort();
	s->packet.payload = NULL;
}

/* Some microseconds of work per call, to drown the call itself. */
static void many(void (*once)(void *), struct sample *s)
{
	for (int i = 0; i < 64; i++)
		once(s);
}

static void icrc(void *arg)
{
	many(icrc_once, arg);
}

static void vcrc(void *arg)
{
	many(vcrc_once, arg);
}

static void encode(void *arg)
{
	many(encode_once, arg);
}

static void decode(void *arg)
{
	many(decode_once, arg);
}

int main(void)
{
	struct sample s;
	struct bench b;

	bench_begin(&b, "wire");
	s.sink = 0;
	make(&s, 256);
	double size = 64.0 * (double)s.size;

	bench_at_least(&b, "ICRC, 256 B payload", "GB/s", 1, bench_rate(icrc, &s, size) / 1e9);
	bench_at_least(&b, "VCRC, 256 B payload", "GB/s", 1, bench_rate(vcrc, &s, size) / 1e9);
	bench_at_least(&b, "encode, 256 B payload", "M packets/s", 1,
		       bench_rate(encode, &s, 64) / 1e6);
	bench_at_least(&b, "decode, 256 B payload", "M packets/s", 10,
		       bench_rate(decode, &s, 64) / 1e6);
	make(&s, 4096);
	size = 64.0 * (double)s.size;
	bench_at_least(&b, "ICRC, 4 KiB payload", "GB/s", 1, bench_rate(icrc, &s, size) / 1e9);
	bench_at_least(&b, "VCRC, 4 KiB payload", "GB/s", 1, bench_rate(vcrc, &s, size) / 1e9);
	return bench_end(&b);
}
