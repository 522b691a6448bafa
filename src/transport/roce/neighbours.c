/* SPDX-License-Identifier: BSD-2-Clause */
#include "transport/roce/neighbours.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "wire/cursor.h"
#include "wire/roce.h"

enum {
	ARP_SIZE = 28,
	ARP_ETHERNET = 1,
	ARP_ASKS = 1,
	ARP_SAYS = 2,
	IP_ICMPV6 = 58,
	ND_HOPS = 255,
	ND_SIZE = 32, /* a solicitation or advertisement with one option */
	ND_ASKS = 135,
	ND_SAYS = 136,
	ND_OPTION = 24,
	ND_OF_SOURCE = 1,
	ND_OF_TARGET = 2,
};

enum {
	MOST = 256,     /* neighbours; the next ones take turns */
	MOST_HELD = 64, /* frames that wait for one neighbour */
	TRIES = 50,
};

/* Shorter than the timeout of a queue pair. */
#define ASK_AGAIN (20 * HD_MS)

static const uint8_t everybody[MAC_SIZE] = { 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF };

/* ---- lists of frames */

struct frame {
	struct frame *next;
	size_t size;
	uint8_t bytes[];
};

struct frames {
	struct frame *first, *last;
	unsigned n;
};

static void frames_add(struct frames *f, const uint8_t *bytes, size_t size)
{
	struct frame *one = hd_alloc(1, sizeof(*one) + size);

	one->size = size;
	memcpy(one->bytes, bytes, size);
	if (f->last)
		f->last->next = one;
	else
		f->first = one;
	f->last = one;
	f->n++;
}

static void frames_drop(struct frames *f)
{
	struct frame *one = f->first;

	f->first = one->next;
	if (!f->first)
		f->last = NULL;
	f->n--;
	free(one);
}

static void frames_clear(struct frames *f)
{
	while (f->first)
		frames_drop(f);
}

/* ---- the table */

struct neighbour {
	uint8_t gid[GID_SIZE];
	uint8_t mac[MAC_SIZE];
	bool is_known;
	unsigned tries;
	hd_time again; /* time of the next request */
	struct frames held;
};

struct neighbours {
	struct roce_address own;
	struct neighbour rows[MOST];
	unsigned n, oldest;
	struct frames ready;
};

static const uint8_t mapped[12] = { [10] = 0xFF, [11] = 0xFF };

bool gid_is_ipv4(const uint8_t *gid)
{
	return memcmp(gid, mapped, sizeof(mapped)) == 0;
}

static void gid_of_ipv4(uint8_t *gid, const uint8_t *address)
{
	memcpy(gid, mapped, sizeof(mapped));
	memcpy(gid + sizeof(mapped), address, 4);
}

struct roce_address roce_address_of(const uint8_t ipv4[4])
{
	/* Locally administered; no vendor has it. */
	struct roce_address a = { .mac = { 0x02, 0x48 }, .gid = { { 0xFE, 0x80 } } };
	uint8_t *link = a.gid[ROCE_GID_LINK];

	memcpy(a.mac + 2, ipv4, 4);
	gid_of_ipv4(a.gid[ROCE_GID_IPV4], ipv4);
	/* The modified EUI-64 of RFC 4291, appendix A. */
	memcpy(link + 8, a.mac, 3);
	link[8] ^= 0x02;
	memcpy(link + 11, (uint8_t[]){ 0xFF, 0xFE }, 2);
	memcpy(link + 13, a.mac + 3, 3);
	return a;
}

struct neighbours *neighbours_new(const struct roce_address *own)
{
	struct neighbours *n = hd_alloc(1, sizeof(*n));

	n->own = *own;
	return n;
}

void neighbours_free(struct neighbours *n)
{
	for (unsigned i = 0; i < n->n; i++)
		frames_clear(&n->rows[i].held);
	frames_clear(&n->ready);
	free(n);
}

static struct neighbour *row_of(struct neighbours *n, const uint8_t *gid)
{
	for (unsigned i = 0; i < n->n; i++)
		if (memcmp(n->rows[i].gid, gid, GID_SIZE) == 0)
			return &n->rows[i];
	return NULL;
}

static struct neighbour *row_make(struct neighbours *n, const uint8_t *gid)
{
	struct neighbour *row = row_of(n, gid);

	if (row)
		return row;
	row = &n->rows[n->n < MOST ? n->n++ : n->oldest++ % MOST];
	frames_clear(&row->held);
	*row = (struct neighbour){ .again = HD_TIME_NEVER };
	memcpy(row->gid, gid, GID_SIZE);
	return row;
}

/* A neighbour announces its MAC address: pending frames to it leave. */
static void row_learn(struct neighbours *n, struct neighbour *row, const uint8_t *mac)
{
	memcpy(row->mac, mac, MAC_SIZE);
	row->is_known = true;
	row->again = HD_TIME_NEVER;
	while (row->held.first) {
		struct frame *f = row->held.first;

		memcpy(f->bytes, mac, MAC_SIZE);
		frames_add(&n->ready, f->bytes, f->size);
		frames_drop(&row->held);
	}
}

/* ---- ARP */

static void write_ethernet(struct byte_writer *w, const struct neighbours *n, const uint8_t *to,
			   uint16_t type)
{
	write_bytes(w, to, MAC_SIZE);
	write_bytes(w, n->own.mac, MAC_SIZE);
	write_be16(w, type);
}

static void arp_send(struct neighbours *n, uint16_t operation, const uint8_t *mac,
		     const uint8_t *ipv4)
{
	static const uint8_t unknown[MAC_SIZE];
	bool asks = operation == ARP_ASKS;
	uint8_t frame[ETHER_SIZE + ARP_SIZE];
	struct byte_writer w;

	writer_init(&w, frame, sizeof(frame));
	write_ethernet(&w, n, asks ? everybody : mac, ETHER_ARP);
	write_be16(&w, ARP_ETHERNET);
	write_be16(&w, ETHER_IPV4);
	write_u8(&w, MAC_SIZE);
	write_u8(&w, 4);
	write_be16(&w, operation);
	write_bytes(&w, n->own.mac, MAC_SIZE);
	write_bytes(&w, n->own.gid[ROCE_GID_IPV4] + 12, 4);
	write_bytes(&w, asks ? unknown : mac, MAC_SIZE);
	write_bytes(&w, ipv4, 4);
	frames_add(&n->ready, frame, sizeof(frame));
}

static void arp_receive(struct neighbours *n, const uint8_t *arp, size_t size)
{
	static const uint8_t kind[] = { 0, ARP_ETHERNET, 8, 0, MAC_SIZE, 4 };
	uint8_t sender[GID_SIZE], target[GID_SIZE];

	if (size < ARP_SIZE || memcmp(arp, kind, sizeof(kind)) != 0)
		return;
	unsigned operation = load_be16(arp + 6);
	const uint8_t *mac = arp + 8;

	gid_of_ipv4(sender, arp + 14);
	gid_of_ipv4(target, arp + 24);
	bool is_for_us = memcmp(target, n->own.gid[ROCE_GID_IPV4], GID_SIZE) == 0;
	struct neighbour *row = is_for_us ? row_make(n, sender) : row_of(n, sender);

	/* RFC 826: known neighbours are updated by any of their packets. */
	if (row)
		row_learn(n, row, mac);
	if (is_for_us && operation == ARP_ASKS)
		arp_send(n, ARP_SAYS, mac, arp + 14);
}

/* ---- neighbour discovery */

/* The sum of RFC 1071 over an ICMPv6 message and its pseudo-header. */
static uint16_t icmp_sum(const uint8_t *ip, const uint8_t *message, size_t size)
{
	uint32_t sum = IP_ICMPV6 + (uint32_t)size;

	for (unsigned i = 8; i < IPV6_SIZE; i += 2)
		sum += load_be16(ip + i);
	for (size_t i = 0; i + 1 < size; i += 2)
		sum += load_be16(message + i);
	if (size % 2)
		sum += (uint32_t)message[size - 1] << 8;
	while (sum >> 16)
		sum = (sum & 0xFFFF) + (sum >> 16);
	return (uint16_t)~sum;
}

struct nd_message {
	uint8_t type, option;
	uint32_t flags;
	const uint8_t *mac, *to, *target;
};

static void nd_send(struct neighbours *n, const struct nd_message *m)
{
	uint8_t frame[ETHER_SIZE + IPV6_SIZE + ND_SIZE];
	uint8_t *ip = frame + ETHER_SIZE, *icmp = ip + IPV6_SIZE;
	struct byte_writer w;

	writer_init(&w, frame, sizeof(frame));
	write_ethernet(&w, n, m->mac, ETHER_IPV6);
	write_be32(&w, UINT32_C(6) << 28);
	write_be16(&w, ND_SIZE);
	write_u8(&w, IP_ICMPV6);
	write_u8(&w, ND_HOPS);
	write_bytes(&w, n->own.gid[ROCE_GID_LINK], GID_SIZE);
	write_bytes(&w, m->to, GID_SIZE);
	write_u8(&w, m->type);
	write_u8(&w, 0);
	write_be16(&w, 0);
	write_be32(&w, m->flags);
	write_bytes(&w, m->target, GID_SIZE);
	write_u8(&w, m->option);
	write_u8(&w, 1); /* eight bytes */
	write_bytes(&w, n->own.mac, MAC_SIZE);
	store_be16(icmp + 2, icmp_sum(ip, icmp, ND_SIZE));
	frames_add(&n->ready, frame, sizeof(frame));
}

static void nd_ask(struct neighbours *n, const uint8_t *gid)
{
	uint8_t group[GID_SIZE] = { 0xFF, 0x02, [11] = 0x01, [12] = 0xFF };
	uint8_t mac[MAC_SIZE] = { 0x33, 0x33, 0xFF };

	/* The solicited-node address. */
	memcpy(group + 13, gid + 13, 3);
	memcpy(mac + 3, gid + 13, 3);
	nd_send(n, &(struct nd_message){ .type = ND_ASKS,
					 .option = ND_OF_SOURCE,
					 .mac = mac,
					 .to = group,
					 .target = gid });
}

static void nd_answer(struct neighbours *n, const uint8_t *mac, const uint8_t *to)
{
	const uint32_t solicited = UINT32_C(1) << 30;
	const uint32_t override = UINT32_C(1) << 29;

	nd_send(n, &(struct nd_message){ .type = ND_SAYS,
					 .option = ND_OF_TARGET,
					 .flags = solicited | override,
					 .mac = mac,
					 .to = to,
					 .target = n->own.gid[ROCE_GID_LINK] });
}

/* The MAC address in an option of that kind; or NULL. */
static const uint8_t *nd_option(const uint8_t *icmp, size_t size, uint8_t kind)
{
	size_t at = ND_OPTION;

	while (at + 8 <= size && icmp[at + 1] != 0) {
		if (icmp[at] == kind)
			return icmp + at + 2;
		at += icmp[at + 1] * 8U;
	}
	return NULL;
}

static void nd_receive(struct neighbours *n, const uint8_t *ip, size_t size)
{
	static const uint8_t zero[GID_SIZE];
	const uint8_t *icmp = ip + IPV6_SIZE, *from = ip + 8;

	if (size < IPV6_SIZE + ND_OPTION || ip[0] >> 4 != 6 || ip[6] != IP_ICMPV6 ||
	    ip[7] != ND_HOPS)
		return;
	size_t length = load_be16(ip + 4);

	if (length < ND_OPTION || length > size - IPV6_SIZE || icmp_sum(ip, icmp, length) != 0)
		return;
	const uint8_t *target = icmp + 8;
	bool asks = icmp[0] == ND_ASKS;
	const uint8_t *mac = nd_option(icmp, length, asks ? ND_OF_SOURCE : ND_OF_TARGET);

	if (!mac || memcmp(from, zero, GID_SIZE) == 0)
		return;
	if (asks && memcmp(target, n->own.gid[ROCE_GID_LINK], GID_SIZE) == 0) {
		row_learn(n, row_make(n, from), mac);
		nd_answer(n, mac, from);
	} else if (icmp[0] == ND_SAYS) {
		struct neighbour *row = row_of(n, target);

		if (row)
			row_learn(n, row, mac);
	}
}

/* ---- what comes, and what goes */

void neighbours_receive(struct neighbours *n, const uint8_t *frame, size_t size)
{
	if (size < ETHER_SIZE)
		return;
	unsigned type = load_be16(frame + ETHER_SIZE - 2);

	if (type == ETHER_ARP)
		arp_receive(n, frame + ETHER_SIZE, size - ETHER_SIZE);
	else if (type == ETHER_IPV6)
		nd_receive(n, frame + ETHER_SIZE, size - ETHER_SIZE);
}

static void row_ask(struct neighbours *n, struct neighbour *row, hd_time now)
{
	row->tries++;
	row->again = now + ASK_AGAIN;
	if (gid_is_ipv4(row->gid))
		arp_send(n, ARP_ASKS, everybody, row->gid + 12);
	else
		nd_ask(n, row->gid);
}

void neighbours_send(struct neighbours *n, const uint8_t *gid, const uint8_t *frame, size_t size,
		     hd_time now)
{
	struct neighbour *row = row_make(n, gid);

	if (!row->is_known && row->held.n == MOST_HELD)
		return;
	frames_add(&row->held, frame, size);
	if (row->is_known)
		row_learn(n, row, row->mac);
	else if (row->again == HD_TIME_NEVER)
		row_ask(n, row, now);
}

bool neighbours_next(struct neighbours *n, uint8_t *frame, size_t room, size_t *size)
{
	const struct frame *f = n->ready.first;

	if (!f || f->size > room)
		return false;
	memcpy(frame, f->bytes, f->size);
	*size = f->size;
	frames_drop(&n->ready);
	return true;
}

hd_time neighbours_due(const struct neighbours *n)
{
	hd_time due = HD_TIME_NEVER;

	for (unsigned i = 0; i < n->n; i++)
		if (n->rows[i].again < due)
			due = n->rows[i].again;
	return due;
}

void neighbours_timer(struct neighbours *n, hd_time now)
{
	for (unsigned i = 0; i < n->n; i++) {
		struct neighbour *row = &n->rows[i];

		if (row->again > now)
			continue;
		if (row->tries < TRIES) {
			row_ask(n, row, now);
			continue;
		}
		/* No neighbour answered; later frames start a new request. */
		frames_clear(&row->held);
		row->again = HD_TIME_NEVER;
		row->tries = 0;
	}
}
