/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One record of any kind (the first byte says which): it is shown or refused
 * with a reason; and a packet that was taken apart, put together and taken
 * apart again is the same.
 */
#include <stdlib.h>
#include <string.h>

#include "wire/dissect.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int condition)
{
	if (!condition)
		abort();
}

static void round_trip(const struct packet *p)
{
	static uint8_t bytes[PACKET_MAX];
	struct diag d = { .status = HD_OK };
	struct packet again;
	size_t size;

	check(packet_encode(p, bytes, sizeof(bytes), &size) == HD_OK);
	check(packet_decode(bytes, size, &d, &again) == HD_OK);
	check(packet_check(bytes, size).vcrc == CRC_GOOD);
	check(again.headers == p->headers);
	check(memcmp(&again.lrh, &p->lrh, sizeof(p->lrh)) == 0);
	if (packet_has(p, HEADER_BTH)) {
		check(packet_check(bytes, size).icrc == CRC_GOOD);
		check(again.bth.psn == p->bth.psn && again.bth.dest_qp == p->bth.dest_qp);
	}
	/* A raw packet's padding is payload to those who read it. */
	check(again.payload_len >= p->payload_len &&
	      memcmp(again.payload, p->payload, p->payload_len) == 0);
}

static void show(const struct dissection *d)
{
	struct strbuf out = STRBUF_INIT;
	struct json w;

	dissection_full(d, &out);
	dissection_csv(d, &out);
	strbuf_clear(&out);
	json_init(&w, &out);
	dissection_json(d, true, &w);
	check(w.depth == 0);
	strbuf_fini(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const enum capture_kind kinds[] = { CAPTURE_PACKET, CAPTURE_FLOW, CAPTURE_ETHERNET,
						   CAPTURE_OTHER };
	static struct dissection d;

	if (size == 0)
		return 0;
	struct capture_record rec = { .number = 1,
				      .kind = kinds[data[0] & 3],
				      .bytes = data + 1,
				      .size = size - 1,
				      .wire_size = size - 1 };

	rec.wire_size += data[0] >> 7;
	dissect(&rec, &d);
	check((d.state == DISSECT_WHOLE) == (d.why.message[0] == 0));
	show(&d);
	if (d.packet && rec.kind == CAPTURE_PACKET)
		round_trip(d.packet);
	return 0;
}
