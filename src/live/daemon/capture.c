/* SPDX-License-Identifier: BSD-2-Clause */
#include "live/daemon/capture.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "wire/capture.h"
#include "wire/cursor.h"
#include "wire/packet.h"

struct live_capture {
	FILE *stream;
	struct capture_writer writer;
	bool owns;
	port_id only;
};

struct live_capture *live_capture_new(FILE *stream, bool owns, port_id only)
{
	struct live_capture *c = hd_alloc(1, sizeof(*c));

	*c = (struct live_capture){ .stream = stream, .owns = owns, .only = only };
	capture_begin(&c->writer, stream, false);
	return c;
}

void live_capture_flush(struct live_capture *c)
{
	fflush(c->stream);
}

bool live_capture_close(struct live_capture *c)
{
	if (!c)
		return true;
	bool good = capture_finish(&c->writer) == HD_OK;

	if (c->owns)
		fclose(c->stream);
	free(c);
	return good;
}

/* ---- packets */

static void write_packet(struct live_capture *c, const struct agents_link_event *what,
			 const uint8_t *mad, uint32_t segment)
{
	uint8_t bytes[PACKET_MAX];
	struct packet p;
	size_t size;

	packet_init(&p, SERVICE_UD | OP_SEND_ONLY);
	p.lrh.vl = what->vl;
	p.lrh.sl = what->from.sl;
	p.lrh.slid = what->from.lid;
	p.lrh.dlid = what->dlid;
	p.bth.pkey = what->from.pkey;
	p.bth.dest_qp = what->to_qp;
	p.bth.psn = (what->psn + segment) & 0xFFFFFF;
	p.deth.qkey = what->from.qkey;
	p.deth.src_qp = what->from.qp;
	p.payload = mad;
	p.payload_len = MAD_SIZE;
	if (packet_encode(&p, bytes, sizeof(bytes), &size) == HD_OK)
		capture_write_packet(&c->writer, what->now, 0, bytes, size);
}

/* ---- messages longer than a MAD are written as RMPP segments */

/* Offset of the data; the headers before it are repeated in each segment. */
static size_t data_of(const uint8_t *mad)
{
	const struct mad_class *class = mad_class(mad[MAD_CLASS]);

	return class && class->data > RMPP_HEADER_END ? class->data : RMPP_HEADER_END;
}

static void write_segments(struct live_capture *c, const struct agents_link_event *what)
{
	size_t head = data_of(what->mad), room = MAD_SIZE - head;
	size_t data = what->size - head, n = (data + room - 1) / room;
	size_t total = data + n * (head - RMPP_HEADER_END);

	for (size_t i = 0; i < n; i++) {
		uint8_t mad[MAD_SIZE] = { 0 };
		size_t here = i + 1 < n ? room : data - i * room;
		size_t says = i == 0 ? total : i + 1 == n ? here + head - RMPP_HEADER_END : 0;

		memcpy(mad, what->mad, head);
		memcpy(mad + head, what->mad + head + i * room, here);
		mad[RMPP_FLAGS] =
			(uint8_t)((mad[RMPP_FLAGS] & ~(RMPP_FIRST | RMPP_LAST)) | RMPP_ACTIVE |
				  (i == 0 ? RMPP_FIRST : 0) | (i + 1 == n ? RMPP_LAST : 0));
		store_be32(mad + RMPP_SEGMENT, (uint32_t)(i + 1));
		store_be32(mad + RMPP_PAYLOAD, (uint32_t)says);
		write_packet(c, what, mad, (uint32_t)i);
	}
}

void live_capture_write(struct live_capture *c, const struct agents_link_event *what)
{
	if (c->only != TOPO_NONE && c->only != what->out && c->only != what->in)
		return;
	if (what->size > MAD_SIZE)
		write_segments(c, what);
	else
		write_packet(c, what, what->mad, 0);
}
