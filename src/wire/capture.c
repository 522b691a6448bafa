/* SPDX-License-Identifier: BSD-2-Clause */
#define _DEFAULT_SOURCE /* u_char and u_int, of which pcap.h is fond */
#include "wire/capture.h"

#include <errno.h>
#include <pcap/pcap.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/memory.h"
#include "wire/erf.h"
#include "wire/gunzip.h"
#include "wire/pcapng.h"

/*
 * libpcap reads pcap files; pcapng.c reads pcapng (its header has the reason); ERF files are read
 * here, because libpcap reads them only where an Endace card is installed.
 */

#define ERF_RECORD_MAX 65535
#define NS_PER_S       1000000000

struct capture {
	const char *format;
	uint64_t number;       /* of the last record */
	pcap_t *pcap;          /* for pcap, else NULL */
	struct pcapng *pcapng; /* for pcapng, else NULL */
	FILE *stream;          /* owned by pcap once it is open */
	struct gunzip *gunzip; /* for a compressed file, else NULL */
	uint8_t *frame;        /* Ethernet frame made from a cooked record */
	size_t frame_cap;
	uint64_t offset; /* in the ERF file */
	uint8_t *record; /* ERF record, ERF_RECORD_MAX bytes */
	size_t peeked;   /* bytes of `record` that have been read already */
};

/* True for pcap in either byte order, in microseconds or nanoseconds. */
static bool is_pcap(const uint8_t *magic)
{
	static const uint32_t known[] = { 0xA1B2C3D4, 0xD4C3B2A1, 0xA1B23C4D, 0x4D3CB2A1 };

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (load_be32(magic) == known[i])
			return true;
	return false;
}

static bool is_pcapng(const uint8_t *magic)
{
	return load_be32(magic) == 0x0A0D0D0A;
}

/* Puts back the bytes that were read, so that libpcap can read them. */
static enum hd_status unread(FILE *stream, const uint8_t *bytes, size_t n, struct diag *d)
{
	while (n > 0)
		if (ungetc(bytes[--n], stream) == EOF)
			return diag_fail(d, HD_ERR_IO, "cannot rewind the input");
	return HD_OK;
}

const char *capture_link_name(unsigned link_type)
{
	enum { LINKTYPE_RAW = 101 };
	/* The only common type for which libpcap's number differs from that in files. */
	int dlt = link_type == LINKTYPE_RAW ? DLT_RAW : (int)link_type;
	const char *name = pcap_datalink_val_to_name(dlt);

	return name ? name : "unknown";
}

/* Kind of the records of a file or interface with this link type. */
static enum capture_kind kind_of_link(unsigned link_type)
{
	switch (link_type) {
	case DLT_EN10MB:
	case DLT_LINUX_SLL: /* converted to Ethernet frames */
	case DLT_LINUX_SLL2:
		return CAPTURE_ETHERNET;
	case DLT_ERF: /* each record has its own type */
	case DLT_INFINIBAND:
		return CAPTURE_PACKET;
	default:
		return CAPTURE_OTHER;
	}
}

static enum hd_status refuse_link(const char *of, unsigned link_type, struct diag *d)
{
	return diag_fail(
		d, HD_ERR_INPUT,
		"%slink type %u (%s) carries no InfiniBand, expected Ethernet, Linux cooked, ERF or InfiniBand",
		of, link_type, capture_link_name(link_type));
}

static enum hd_status open_pcap(struct capture *c, struct diag *d)
{
	char reason[PCAP_ERRBUF_SIZE];

	if (unread(c->stream, c->record, c->peeked, d) != HD_OK)
		return d->status;
	errno = 0;
	c->pcap = pcap_fopen_offline_with_tstamp_precision(c->stream, PCAP_TSTAMP_PRECISION_NANO,
							   reason);
	if (!c->pcap && errno == ENOMEM)
		memory_refused(0);
	if (!c->pcap)
		return diag_fail(d, HD_ERR_INPUT, "%s", reason);
	unsigned link_type = (unsigned)pcap_datalink(c->pcap);

	return kind_of_link(link_type) == CAPTURE_OTHER ? refuse_link("", link_type, d) : HD_OK;
}

/*
 * A pcapng file needs at least one interface that can carry InfiniBand; packets of other
 * interfaces are CAPTURE_OTHER.
 */
static enum hd_status open_pcapng(struct capture *c, struct diag *d)
{
	if (unread(c->stream, c->record, c->peeked, d) != HD_OK)
		return d->status;
	c->pcapng = pcapng_new(c->stream);
	if (pcapng_begin(c->pcapng, d) != HD_OK)
		return d->status;
	size_t n = pcapng_interfaces(c->pcapng);

	for (size_t i = 0; i < n; i++)
		if (kind_of_link(pcapng_link_type(c->pcapng, i)) != CAPTURE_OTHER)
			return HD_OK;
	if (n == 0)
		return diag_fail(d, HD_ERR_INPUT, "no interface is described in this pcapng file");
	return refuse_link("interface 0: ", pcapng_link_type(c->pcapng, 0), d);
}

/* Reads into `record` up to `size` bytes; false at the end of the file. */
static bool fill(struct capture *c, size_t size)
{
	if (c->peeked < size)
		c->peeked += fread(c->record + c->peeked, 1, size - c->peeked, c->stream);
	return c->peeked >= size;
}

/*
 * ERF files have no magic number, so the type of the first record must be one with which captures
 * of InfiniBand or Ethernet begin. None of these types is a character that text would have at that
 * position.
 */
static bool begins_erf(struct capture *c)
{
	if (!fill(c, ERF_HEADER_SIZE))
		return false;
	unsigned type = c->record[8] & 0x7F;
	size_t size = erf_record_size(c->record);

	return size > 0 &&
	       (type == ERF_ETHERNET || type == ERF_INFINIBAND || type == ERF_INFINIBAND_LINK ||
		type == ERF_META) &&
	       fill(c, size);
}

/* If the file is compressed, continues with its decompressed contents. */
static enum hd_status decompress(struct capture *c, struct diag *d)
{
	if (c->peeked < 4 || !gunzip_begins(c->record))
		return HD_OK;
	FILE *inner = gunzip_open(c->stream, c->record, c->peeked, &c->gunzip);

	if (!inner)
		return diag_fail(d, HD_ERR_ENV, "cannot be decompressed");
	c->stream = inner;
	c->peeked = fread(c->record, 1, 4, c->stream);
	return HD_OK;
}

static enum hd_status open_any(struct capture *c, struct diag *d)
{
	c->peeked = fread(c->record, 1, 4, c->stream);
	if (decompress(c, d) != HD_OK)
		return d->status;
	if (ferror(c->stream))
		return diag_fail(d, errno == EISDIR ? HD_ERR_NOT_FOUND : HD_ERR_IO,
				 "cannot be read: %s", strerror(errno));
	if (c->peeked < 4)
		return diag_fail(d, HD_ERR_INPUT, "%zu bytes are too few for a capture", c->peeked);
	if (is_pcap(c->record)) {
		c->format = "pcap";
		return open_pcap(c, d);
	}
	if (is_pcapng(c->record)) {
		c->format = "pcapng";
		return open_pcapng(c, d);
	}
	if (!begins_erf(c))
		return diag_fail(d, HD_ERR_INPUT, "not a capture, expected pcap, pcapng or ERF");
	c->format = "ERF";
	return HD_OK;
}

/* The reader knows only that a compressed file is truncated; this adds the reason. */
static enum hd_status explain(const struct capture *c, struct diag *d)
{
	const char *problem = gunzip_problem(c->gunzip);

	if (d->status == HD_OK || !problem)
		return d->status;
	d->status = HD_OK; /* otherwise the first reason would remain */
	if (c->number == 0)
		return diag_fail(d, HD_ERR_INPUT, "%s", problem);
	return diag_fail(d, HD_ERR_INPUT, "after record %llu: %s", (unsigned long long)c->number,
			 problem);
}

enum hd_status capture_open(FILE *stream, struct diag *d, struct capture **out)
{
	struct capture *c = hd_alloc(1, sizeof(*c));

	c->record = hd_alloc(ERF_RECORD_MAX, 1);
	c->stream = stream;
	if (open_any(c, d) != HD_OK) {
		explain(c, d);
		capture_close(c);
		return d->status;
	}
	*out = c;
	return HD_OK;
}

void capture_close(struct capture *c)
{
	if (!c)
		return;
	if (c->pcap)
		pcap_close(c->pcap); /* also closes the stream unless it is stdin */
	else if (c->stream != stdin)
		fclose(c->stream);
	pcapng_free(c->pcapng);
	gunzip_free(c->gunzip);
	free(c->frame);
	free(c->record);
	free(c);
}

const char *capture_format(const struct capture *c)
{
	return c->format;
}

static enum capture_kind kind_of_erf(unsigned type)
{
	switch (type) {
	case ERF_INFINIBAND:
		return CAPTURE_PACKET;
	case ERF_INFINIBAND_LINK:
		return CAPTURE_FLOW;
	case ERF_ETHERNET:
		return CAPTURE_ETHERNET;
	default:
		return CAPTURE_OTHER;
	}
}

static enum hd_status take_erf(const uint8_t *bytes, size_t size, struct diag *d,
			       struct capture_record *out)
{
	struct diag why = { .status = HD_OK };
	struct erf erf;

	if (erf_read(bytes, size, &why, &erf) != HD_OK)
		return diag_fail(d, why.status, "record %llu: %s", (unsigned long long)out->number,
				 why.message);
	out->seconds = erf.seconds;
	out->ps = erf.ps;
	out->type = erf.type;
	out->kind = kind_of_erf(erf.type);
	out->bytes = erf.payload;
	out->size = erf.payload_len;
	out->wire_size = erf.wlen;
	return HD_OK;
}

/*
 * Linux cooked captures (tcpdump -i any) have a header of their own in place of Ethernet's, with
 * the protocol, and the sender's address and its length. The receiver's address is not recorded.
 */
static const struct cooked {
	unsigned link_type;
	size_t size, protocol, address, address_len; /* its last byte */
} cooked_links[] = {
	{ DLT_LINUX_SLL, 16, 14, 6, 5 },
	{ DLT_LINUX_SLL2, 20, 0, 12, 11 },
};

/* Converts the record to the Ethernet frame. */
static void take_cooked(struct capture *c, const struct cooked *how, struct capture_record *out)
{
	enum { ADDRESS = 6, ETHERNET = 14 };
	const uint8_t *header = out->bytes;

	out->wire_size = out->wire_size > how->size ? out->wire_size - how->size + ETHERNET : 0;
	if (out->size < how->size) {
		out->size = 0;
		return;
	}
	size_t payload = out->size - how->size;

	c->frame = hd_grow(c->frame, &c->frame_cap, ETHERNET + payload, 1);
	memset(c->frame, 0, ETHERNET);
	if (header[how->address_len] == ADDRESS)
		memcpy(c->frame + ADDRESS, header + how->address, ADDRESS);
	memcpy(c->frame + 2 * ADDRESS, header + how->protocol, 2);
	memcpy(c->frame + ETHERNET, header + how->size, payload);
	out->bytes = c->frame;
	out->size = ETHERNET + payload;
}

/* Completes a record of pcap or pcapng: sets its kind. */
static enum hd_status take_linked(struct capture *c, unsigned link_type, struct diag *d,
				  struct capture_record *out)
{
	out->type = 0;
	out->link_type = link_type;
	if (link_type == DLT_ERF)
		return take_erf(out->bytes, out->size, d, out);
	out->kind = kind_of_link(link_type);
	for (size_t i = 0; i < sizeof(cooked_links) / sizeof(*cooked_links); i++) {
		if (cooked_links[i].link_type == link_type)
			take_cooked(c, &cooked_links[i], out);
	}
	return HD_OK;
}

static enum hd_status next_of_pcap(struct capture *c, struct diag *d, struct capture_record *out,
				   bool *found)
{
	struct pcap_pkthdr *header;
	const u_char *bytes;

	errno = 0;
	int got = pcap_next_ex(c->pcap, &header, &bytes);

	*found = got == 1;
	if (got == PCAP_ERROR && errno == ENOMEM)
		memory_refused(0);
	if (got == PCAP_ERROR_BREAK)
		return HD_OK;
	if (got != 1)
		return diag_fail(d, HD_ERR_INPUT, "after record %llu: %s",
				 (unsigned long long)c->number, pcap_geterr(c->pcap));
	/* libpcap returns the fraction of a damaged file unchecked. */
	uint64_t ns = (uint64_t)header->ts.tv_usec;

	out->number = ++c->number;
	out->seconds = (uint64_t)header->ts.tv_sec;
	out->ps = ns < NS_PER_S ? ns * HD_NS : 0;
	out->bytes = bytes;
	out->size = header->caplen;
	out->wire_size = header->len > header->caplen ? header->len : header->caplen;
	return take_linked(c, (unsigned)pcap_datalink(c->pcap), d, out);
}

static enum hd_status next_of_pcapng(struct capture *c, struct diag *d, struct capture_record *out,
				     bool *found)
{
	struct pcapng_packet packet;

	if (pcapng_next(c->pcapng, d, &packet, found) != HD_OK || !*found)
		return d->status;
	out->number = ++c->number;
	out->seconds = packet.seconds;
	out->ps = packet.ps;
	out->bytes = packet.bytes;
	out->size = packet.size;
	out->wire_size = packet.wire_size;
	return take_linked(c, packet.link_type, d, out);
}

static enum hd_status next_of_erf(struct capture *c, struct diag *d, struct capture_record *out,
				  bool *found)
{
	unsigned long long at = c->offset;

	*found = fill(c, ERF_HEADER_SIZE);
	if (!*found && c->peeked == 0 && !ferror(c->stream))
		return HD_OK;
	size_t size = *found ? erf_record_size(c->record) : ERF_HEADER_SIZE;

	if (size == 0)
		return diag_fail(d, HD_ERR_INPUT, "byte %llu: no ERF record: type %u, length %u",
				 at, c->record[8], load_be16(c->record + 10));
	if (!fill(c, size))
		return diag_fail(d, ferror(c->stream) ? HD_ERR_IO : HD_ERR_INPUT,
				 "byte %llu: the file ends inside a record of %zu bytes", at, size);
	c->peeked = 0;
	c->offset += size;
	out->number = ++c->number;
	out->link_type = DLT_ERF;
	return take_erf(c->record, size, d, out);
}

enum hd_status capture_next(struct capture *c, struct diag *d, struct capture_record *out,
			    bool *found)
{
	enum hd_status status = c->pcap     ? next_of_pcap(c, d, out, found)
				: c->pcapng ? next_of_pcapng(c, d, out, found)
					    : next_of_erf(c, d, out, found);

	return status == HD_OK ? HD_OK : explain(c, d);
}
