/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/capture.h"
#include "wire/erf.h"

/*
 * Written without libpcap's dumper, which uses the byte order of its host: the capture of a
 * simulation is the same file on every machine.
 */

#define PCAP_MAGIC_NS UINT32_C(0xA1B23C4D)

enum { LINKTYPE_ERF = 197, SNAPLEN = 65535, RECORD_HEADER = 16 };

static void put(struct capture_writer *w, const void *bytes, size_t size)
{
	if (fwrite(bytes, 1, size, w->stream) != size)
		w->failed = true;
}

void capture_begin(struct capture_writer *w, FILE *stream, bool pad_flow)
{
	uint8_t header[24] = { 0 };

	*w = (struct capture_writer){ .stream = stream, .pad_flow = pad_flow };
	store_le32(header, PCAP_MAGIC_NS);
	store_le16(header + 4, 2); /* version 2.4 */
	store_le16(header + 6, 4);
	store_le32(header + 16, SNAPLEN);
	store_le32(header + 20, LINKTYPE_ERF);
	put(w, header, sizeof(header));
}

static void put_record(struct capture_writer *w, hd_time at, struct erf *h, size_t size)
{
	uint8_t head[RECORD_HEADER + ERF_HEADER_SIZE];
	uint32_t length = (uint32_t)(ERF_HEADER_SIZE + size);
	struct byte_writer out;

	w->last = at;
	h->seconds = at / HD_S;
	h->ps = at % HD_S;
	h->rlen = (uint16_t)length;
	h->wlen = (uint16_t)size;
	store_le32(head, (uint32_t)h->seconds);
	store_le32(head + 4, (uint32_t)(h->ps / HD_NS));
	store_le32(head + 8, length);
	store_le32(head + 12, length);
	writer_init(&out, head + RECORD_HEADER, ERF_HEADER_SIZE);
	erf_write_header(&out, h);
	put(w, head, sizeof(head));
}

void capture_write_packet(struct capture_writer *w, hd_time at, unsigned interface,
			  const uint8_t *bytes, size_t size)
{
	struct erf h = { .type = ERF_INFINIBAND, .interface = (uint8_t)interface };

	assert(size <= SNAPLEN - ERF_HEADER_SIZE);
	put_record(w, at, &h, size);
	put(w, bytes, size);
}

void capture_write_flow(struct capture_writer *w, hd_time at, unsigned interface,
			const struct flow_packet *flow)
{
	uint8_t bytes[CAPTURE_FLOW_PADDED];
	size_t size = w->pad_flow ? CAPTURE_FLOW_PADDED : FLOW_SIZE;
	struct erf h = { .type = ERF_INFINIBAND_LINK, .interface = (uint8_t)interface };
	struct byte_writer out;

	memset(bytes, 0xFF, sizeof(bytes));
	writer_init(&out, bytes, sizeof(bytes));
	flow_packet_write(&out, flow);
	put_record(w, at, &h, size);
	put(w, bytes, size);
}

enum hd_status capture_finish(struct capture_writer *w)
{
	if (fflush(w->stream) != 0)
		w->failed = true;
	return w->failed ? HD_ERR_IO : HD_OK;
}
