/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "live/clock/seen.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/ring.h"
#include "live/protocol.h"
#include "wire/capture.h"
#include "wire/packet.h"

/*
 * Capture of programs' packets. Simulated packets have headers but no payload; payload and the
 * remaining headers come from the program's request. They are set on the first link of a packet's
 * path and hold for all links. The data of READ and atomic responses are known once the program
 * has executed the request; until then these packets, and all later ones, are delayed.
 */

enum { PAYLOAD = 4096, MOST_PIECES = 64, MULTICAST = 0xFFFFFF };

/* A packet with its content; the same on all links. */
struct image {
	struct packet packet;
	uint8_t data[PAYLOAD];
	uint32_t users;
	bool is_known;
	/* Requester whose memory has the content, if it is not known yet. */
	uint32_t qpn;
	uint64_t number, offset;
	struct image *next; /* next image with unknown content */
};

/* A packet captured at a port. */
struct captured_packet {
	hd_time at;
	struct image *image;
	uint8_t vl, interface;
	bool is_marked, is_corrupt;
};

struct seen {
	FILE *stream;
	struct capture_writer writer;
	uint32_t serial;
	port_id only;
	struct image **images; /* by packet ID; NULL: not seen */
	size_t n_images, images_cap;
	struct image *unknown;
	struct captured_packet *packets; /* ring, in the order of time */
	uint32_t head, tail, places;
};

static void image_release(struct image *i)
{
	if (--i->users == 0)
		free(i);
}

/* ---- content of messages */

/* An address in the program; only the kernel reads there. */
static void *address_of(uint64_t address)
{
	/* NOLINTNEXTLINE(performance-no-int-to-ptr) */
	return (void *)(uintptr_t)address;
}

/* Reads bytes of the message from `offset` on; unreadable bytes are zeros. */
static void fetch(const struct pair *of, const struct message *m, uint64_t offset, void *out,
		  size_t size)
{
	const struct live_content *c = &m->request.content;
	struct live_piece list[MOST_PIECES];
	struct iovec here = { out, size }, there[MOST_PIECES];
	pid_t pid = of->of->memory->pid;
	unsigned n = 0;
	size_t left = size;

	memset(out, 0, size);
	if (c->is_inline) {
		there[0] = (struct iovec){ address_of(c->at + offset), size };
		(void)!process_vm_readv(pid, &here, 1, there, 1, 0);
		return;
	}
	struct iovec lists[] = { { list, c->n_pieces * sizeof(list[0]) },
				 { address_of(c->at), c->n_pieces * sizeof(list[0]) } };

	if (c->n_pieces > MOST_PIECES ||
	    process_vm_readv(pid, &lists[0], 1, &lists[1], 1, 0) != (ssize_t)lists[0].iov_len)
		return;
	for (uint32_t i = 0; i < c->n_pieces && left > 0; i++) {
		uint64_t skip = offset < list[i].length ? offset : list[i].length;
		uint64_t some = list[i].length - skip;

		offset -= skip;
		some = some < left ? some : left;
		if (some == 0)
			continue;
		there[n++] = (struct iovec){ address_of(list[i].where + skip), some };
		left -= some;
	}
	(void)!process_vm_readv(pid, &here, 1, there, n, 0);
}

static void image_fetch(struct image *i, const struct pair *of, const struct message *m)
{
	if (packet_has(&i->packet, HEADER_ATOMICACKETH))
		fetch(of, m, 0, &i->packet.atomicacketh.original,
		      sizeof(i->packet.atomicacketh.original));
	else
		fetch(of, m, i->offset, i->data, i->packet.payload_len);
	i->is_known = true;
}

/* ---- packets as on a cable */

static void set_atomic(struct packet *p, const struct message *m)
{
	bool swaps = m->request.operation == WR_CMP_SWAP;
	const struct live_content *c = &m->request.content;

	p->atomiceth.va = c->remote_addr;
	p->atomiceth.rkey = c->rkey;
	p->atomiceth.swap_add = swaps ? c->swap : c->compare;
	p->atomiceth.compare = swaps ? c->compare : 0;
}

static void set_grh(struct packet *p, const struct live_content *c)
{
	p->grh.tclass = c->traffic_class;
	p->grh.hop_limit = c->hop_limit;
	p->grh.flow_label = c->flow_label & 0xFFFFF;
	memcpy(p->grh.sgid, c->sgid, sizeof(p->grh.sgid));
	memcpy(p->grh.dgid, c->dgid, sizeof(p->grh.dgid));
}

/* The last packet of a message that consumes a receive may request an event. */
static bool is_solicited(const struct packet *p, const struct message *m)
{
	return m->request.content.solicited && m->request.operation != WR_WRITE &&
	       opcode_flags(p->bth.opcode) & (OPCODE_LAST | OPCODE_ONLY);
}

static void say(struct packet *p, const struct message *m, uint64_t offset)
{
	const struct live_content *c = &m->request.content;

	if (packet_has(p, HEADER_RETH)) {
		p->reth.va = c->remote_addr + offset;
		p->reth.rkey = c->rkey;
	}
	if (packet_has(p, HEADER_ATOMICETH))
		set_atomic(p, m);
	if (packet_has(p, HEADER_IMMDT))
		p->immdt.data = ntohl(c->imm);
	if (packet_has(p, HEADER_GRH))
		set_grh(p, c);
	p->bth.se = is_solicited(p, m);
}

static void address(struct packet *p, const struct pair *from, const struct message *m)
{
	if (packet_has(p, HEADER_DETH))
		p->deth.src_qp = from->qpn;
	if (!pair_is_ud(from))
		p->bth.dest_qp = from->asked.dest_qpn;
	else if (m && p->bth.dest_qp != MULTICAST)
		p->bth.dest_qp = m->request.pair.dest_qpn;
}

static struct image *image_new(struct seen *s, const struct external_hop *p)
{
	const struct pair *of = p->owner;
	const struct message *m = of ? clock_pair_message(of, p->number) : NULL;
	bool answers = opcode_flags(p->packet->bth.opcode) & OPCODE_RESPONSE;
	bool brings = packet_has(p->packet, HEADER_ATOMICACKETH) || p->packet->payload_len > 0;
	struct image *i = hd_alloc(1, sizeof(*i));

	i->packet = *p->packet;
	i->packet.payload = i->data;
	i->users = 1;
	i->offset = p->offset;
	i->is_known = true;
	if (p->sender)
		address(&i->packet, p->sender, m);
	if (m && !answers)
		say(&i->packet, m, p->offset);
	/* Time advances only after programs have handled their notes. */
	if (m && brings && (!answers || m->has_landed)) {
		image_fetch(i, of, m);
	} else if (m && brings) {
		i->is_known = false;
		i->qpn = of->qpn;
		i->number = p->number;
		i->users++;
		i->next = s->unknown;
		s->unknown = i;
	}
	return i;
}

/* ---- writing in the order of time */

static void captured_write(struct seen *s, const struct captured_packet *r)
{
	struct packet p = r->image->packet;
	uint8_t bytes[PACKET_MAX];
	size_t size;

	p.lrh.vl = r->vl;
	p.bth.fecn |= r->is_marked;
	if (packet_encode(&p, bytes, sizeof(bytes), &size) != HD_OK)
		return;
	/*
	 * The position of the bit error is not simulated: the last bit before the CRCs is inverted.
	 */
	if (r->is_corrupt)
		bytes[size - ICRC_SIZE - VCRC_SIZE - 1] ^= 1;
	capture_write_packet(&s->writer, r->at, r->interface, bytes, size);
}

/* Writes the packets up to time `until` whose content is known. */
static void flush(struct seen *s, hd_time until)
{
	while (s->head != s->tail) {
		const struct captured_packet *r = &s->packets[s->head % s->places];

		if (r->at > until || !r->image->is_known)
			return;
		captured_write(s, r);
		image_release(r->image);
		s->head++;
	}
}

static void captured_put(struct seen *s, const struct captured_packet *r)
{
	s->packets = ring_grow(s->packets, &s->places, s->head, s->tail, sizeof(*s->packets));
	uint32_t at = s->tail++;

	for (; at != s->head && s->packets[(at - 1) % s->places].at > r->at; at--)
		s->packets[at % s->places] = s->packets[(at - 1) % s->places];
	s->packets[at % s->places] = *r;
	r->image->users++;
}

static struct image *image_of(struct seen *s, const struct external_hop *p)
{
	while (p->id >= s->n_images) {
		s->images =
			hd_grow(s->images, &s->images_cap, s->n_images + 1, sizeof(struct image *));
		s->images[s->n_images++] = NULL;
	}
	struct image **at = &s->images[p->id];

	if (p->is_first) {
		if (*at)
			image_release(*at);
		*at = image_new(s, p);
	}
	return *at;
}

void clock_seen_hop(struct engine *e, const struct external_hop *p)
{
	struct seen *s = e->seen;
	struct image *i = image_of(s, p);
	bool is_all = s->only == TOPO_NONE;
	struct captured_packet r = {
		.at = e->base + p->now, .image = i, .vl = p->vl, .is_marked = p->is_marked
	};

	/* The packet was sent before the capture began. */
	if (!i)
		return;
	if (is_all || s->only == p->out)
		captured_put(s, &r);
	if (!is_all && s->only == p->in && !p->is_lost) {
		r.at = e->base + p->there;
		r.interface = 1;
		r.is_corrupt = p->is_corrupt;
		captured_put(s, &r);
	}
}

void clock_seen_settle(struct engine *e)
{
	struct seen *s = e->seen;

	if (!s)
		return;
	for (struct image **at = &s->unknown, *i; (i = *at);) {
		const struct pair *of = clock_pair_find(e, i->qpn);
		const struct message *m = of ? clock_pair_message(of, i->number) : NULL;

		if (m && !m->has_landed) {
			at = &i->next;
			continue;
		}
		if (m)
			image_fetch(i, of, m);
		i->is_known = true;
		*at = i->next;
		image_release(i);
	}
	flush(s, engine_now(e));
	if (e->under_way == 0)
		fflush(s->stream);
}

/* ---- start and end */

void clock_seen_leave(struct engine *e)
{
	struct seen *s = e->seen;

	if (!s)
		return;
	for (struct image *i = s->unknown, *next; i; i = next) {
		next = i->next;
		i->is_known = true;
		image_release(i);
	}
	s->unknown = NULL;
	flush(s, HD_TIME_NEVER);
	for (size_t i = 0; i < s->n_images; i++)
		if (s->images[i])
			image_release(s->images[i]);
	s->n_images = 0;
}

static void begin(struct engine *e, uint32_t serial, uint32_t only, int file)
{
	FILE *stream = fdopen(file, "wb");

	if (!stream) {
		close(file);
		return;
	}
	e->seen = hd_alloc(1, sizeof(*e->seen));
	*e->seen = (struct seen){ .stream = stream, .serial = serial, .only = only };
	capture_begin(&e->seen->writer, stream, false);
	clock_observe(e);
}

void clock_seen_end(struct engine *e)
{
	struct seen *s = e->seen;
	size_t nothing = 0;

	if (!s)
		return;
	clock_seen_leave(e);
	uint32_t is_whole = capture_finish(&s->writer) == HD_OK;
	const struct asked a = { LIVE_CAPTURED, &is_whole, sizeof(is_whole) };

	is_whole &= fclose(s->stream) == 0;
	free(s->images);
	free(s->packets);
	free(s);
	e->seen = NULL;
	clock_observe(e);
	(void)!clock_ask_daemon(e, &a, NULL, &nothing, NULL);
}

void clock_seen_look(struct engine *e)
{
	uint32_t known = e->seen ? e->seen->serial : 0;
	const struct asked a = { LIVE_ASK_CAPTURE, &known, sizeof(known) };
	struct live_capture_wanted want = { 0 };
	size_t size = sizeof(want);
	int file = -1;

	if (clock_ask_daemon(e, &a, &want, &size, &file) != 0 || size != sizeof(want))
		want.serial = 0;
	if (want.serial != known) {
		clock_seen_settle(e);
		clock_seen_end(e);
	}
	if (want.serial != known && want.serial != 0 && file >= 0)
		begin(e, want.serial, want.port, file);
	else if (file >= 0)
		close(file);
}
