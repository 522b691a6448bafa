/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/pack.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

void pack_to(struct pack *p, struct strbuf *out)
{
	*p = (struct pack){ .out = out };
}

void pack_from(struct pack *p, const void *bytes, size_t len)
{
	*p = (struct pack){ .reads = true, .in = bytes, .left = len };
}

void pack_to_list(struct pack *p, struct state_list *l)
{
	*p = (struct pack){ .list = l };
	l->n = 0;
}

void pack_from_list(struct pack *p, const struct state_list *l)
{
	/* Reading does not change it. */
	*p = (struct pack){ .reads = true, .list = (struct state_list *)l, .left = l->n };
}

void pack_list_fini(struct state_list *l)
{
	free(l->values);
	free(l->roles);
	*l = (struct state_list){ .n = 0 };
}

bool pack_is_done(const struct pack *p)
{
	return p->reads && !p->refused && p->left == 0;
}

bool pack_check(struct pack *p, bool holds)
{
	if (!p->reads)
		return true;
	if (!holds) {
		p->refused = true;
		p->left = 0;
	}
	return holds;
}

/* ---- lists -------------------------------------------------------------- */

static void list_add(struct pack *p, uint64_t v, unsigned size)
{
	struct state_list *l = p->list;

	if (l->n == l->roles_cap)
		l->roles = hd_grow(l->roles, &l->roles_cap, l->n + 1, sizeof(*l->roles));
	if (l->n == l->values_cap)
		l->values = hd_grow(l->values, &l->values_cap, l->n + 1, sizeof(*l->values));
	l->values[l->n] = v;
	l->roles[l->n++] = p->role | (size < sizeof(v) ? PACK_ROLE_IS_SMALL : 0);
}

static uint64_t list_take(struct pack *p)
{
	return pack_check(p, p->left > 0) ? p->list->values[p->list->n - p->left--] : 0;
}

/* A number of `size` bytes, either way. */
static uint64_t list_number(struct pack *p, uint64_t v, unsigned size)
{
	if (p->reads)
		return list_take(p);
	list_add(p, v, size);
	return v;
}

static void list_bytes(struct pack *p, unsigned char *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		bytes[i] = (unsigned char)list_number(p, bytes[i], 1);
}

/* ---- bytes -------------------------------------------------------------- */

void pack_bytes(struct pack *p, void *bytes, size_t n)
{
	if (p->list) {
		list_bytes(p, bytes, n);
	} else if (!p->reads) {
		strbuf_add(p->out, bytes, n);
	} else if (pack_check(p, n <= p->left)) {
		memcpy(bytes, p->in, n);
		p->in += n;
		p->left -= n;
	} else {
		memset(bytes, 0, n);
	}
}

/* ---- numbers: seven bits a byte, the lowest first ------------------------ */

static void write_number(struct pack *p, uint64_t v)
{
	char bytes[10];
	size_t n = 0;

	for (; v >= 128; v >>= 7)
		bytes[n++] = (char)(v | 128);
	bytes[n++] = (char)v;
	strbuf_add(p->out, bytes, n);
}

/* Accepts only the form that write_number writes: no leading zeros, at most 64 bits. */
static uint64_t read_number(struct pack *p)
{
	uint64_t v = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		unsigned char byte = 0;

		pack_bytes(p, &byte, 1);
		if (shift == 63 && byte > 1)
			break;
		v |= (uint64_t)(byte & 127) << shift;
		if (byte < 128) {
			if (byte == 0 && shift)
				break;
			return v;
		}
	}
	pack_check(p, false);
	return 0;
}

static uint64_t ones(unsigned size)
{
	return UINT64_MAX >> (64 - 8 * size);
}

/* Packs a whole number of `size` bytes as its successor, so that all ones take one byte. */
static uint64_t pack_whole(struct pack *p, unsigned size, uint64_t v)
{
	uint64_t above;

	if (p->list)
		return list_number(p, v, size);
	if (!p->reads) {
		write_number(p, (v + 1) & ones(size));
		return v;
	}
	above = read_number(p);
	if (!pack_check(p, above <= ones(size)) || p->refused)
		return 0;
	return (above - 1) & ones(size);
}

void pack_u8(struct pack *p, uint8_t *v)
{
	pack_bytes(p, v, 1);
}

void pack_u16(struct pack *p, uint16_t *v)
{
	*v = (uint16_t)pack_whole(p, sizeof(*v), *v);
}

void pack_u32(struct pack *p, uint32_t *v)
{
	*v = (uint32_t)pack_whole(p, sizeof(*v), *v);
}

void pack_u64(struct pack *p, uint64_t *v)
{
	*v = pack_whole(p, sizeof(*v), *v);
}

/* The sign is the lowest bit: small numbers are short on both sides of 0. */
static int64_t pack_signed(struct pack *p, unsigned size, int64_t v)
{
	uint64_t folded = (uint64_t)v << 1 ^ (v < 0 ? UINT64_MAX : 0);

	if (p->list)
		return (int64_t)list_number(p, (uint64_t)v, size);
	if (!p->reads) {
		write_number(p, folded);
		return v;
	}
	folded = read_number(p);
	if (!pack_check(p, folded <= ones(size)))
		return 0;
	return (int64_t)(folded >> 1 ^ (0 - (folded & 1)));
}

void pack_size(struct pack *p, size_t *v)
{
	*v = pack_whole(p, sizeof(*v), *v);
}

void pack_bool(struct pack *p, bool *v)
{
	uint8_t byte = !p->reads && *v;

	pack_u8(p, &byte);
	*v = pack_check(p, byte <= 1) && byte;
}

void pack_real(struct pack *p, double *v)
{
	unsigned char bytes[8];
	uint64_t bits = 0;

	_Static_assert(sizeof(*v) == sizeof(bits), "IEEE 754's binary64");
	if (!p->reads)
		memcpy(&bits, v, sizeof(bits));
	for (unsigned i = 0; i < 8; i++)
		bytes[i] = (unsigned char)(bits >> (8 * i));
	pack_bytes(p, bytes, sizeof(bytes));
	bits = 0;
	for (unsigned i = 0; i < 8; i++)
		bits |= (uint64_t)bytes[i] << (8 * i);
	memcpy(v, &bits, sizeof(bits));
}

size_t pack_count(struct pack *p, size_t n)
{
	if (p->list) {
		n = list_number(p, n, sizeof(n));
		return pack_check(p, n <= p->left) ? n : 0;
	}
	if (!p->reads) {
		write_number(p, n);
		return n;
	}
	n = read_number(p);
	return pack_check(p, n <= p->left) ? n : 0;
}

void pack_same(struct pack *p, uint64_t v)
{
	if (p->list)
		return;
	if (!p->reads)
		write_number(p, v);
	else
		pack_check(p, read_number(p) == v && !p->refused);
}

void pack_time(struct pack *p, uint64_t *v)
{
	p->role = ROLE_TIME;
	pack_u64(p, v);
	p->role = ROLE_STATE;
}

void pack_sum(struct pack *p, uint64_t *v)
{
	p->role = ROLE_SUM;
	pack_u64(p, v);
	p->role = ROLE_STATE;
}

void pack_sum_u32(struct pack *p, uint32_t *v)
{
	p->role = ROLE_SUM;
	pack_u32(p, v);
	p->role = ROLE_STATE;
}

void pack_sum_below(struct pack *p, uint32_t *v, uint32_t most)
{
	p->role = ROLE_LIMIT;
	if (p->list)
		pack_u32(p, &most);
	pack_sum_u32(p, v);
}

/* ---- structs ----------------------------------------------------------- */

/* A number of `size` bytes at any alignment. */
static uint64_t load(const void *at, unsigned size)
{
	uint16_t two;
	uint32_t four;
	uint64_t eight;

	switch (size) {
	case 1:
		return *(const uint8_t *)at;
	case 2:
		memcpy(&two, at, sizeof(two));
		return two;
	case 4:
		memcpy(&four, at, sizeof(four));
		return four;
	default:
		memcpy(&eight, at, sizeof(eight));
		return eight;
	}
}

static void store(void *at, unsigned size, uint64_t v)
{
	uint8_t one = (uint8_t)v;
	uint16_t two = (uint16_t)v;
	uint32_t four = (uint32_t)v;

	switch (size) {
	case 1:
		memcpy(at, &one, sizeof(one));
		return;
	case 2:
		memcpy(at, &two, sizeof(two));
		return;
	case 4:
		memcpy(at, &four, sizeof(four));
		return;
	default:
		memcpy(at, &v, sizeof(v));
	}
}

static void pack_uint_at(struct pack *p, void *at, unsigned size)
{
	if (size == 1)
		pack_u8(p, at);
	else
		store(at, size, pack_whole(p, size, load(at, size)));
}

static void pack_int_at(struct pack *p, void *at, unsigned size)
{
	unsigned unused = 64 - 8 * size;
	int64_t v = (int64_t)(load(at, size) << unused) >> unused;

	store(at, size, (uint64_t)pack_signed(p, size, v));
}

void pack_members(struct pack *p, const struct pack_member *m, size_t n, void *row)
{
	for (const struct pack_member *end = m + n; m < end; m++) {
		unsigned char *at = (unsigned char *)row + m->offset;

		p->role = (uint8_t)m->role;
		for (size_t i = 0; i < m->n; i++, at += m->size) {
			if (m->how == PACKED_UINT)
				pack_uint_at(p, at, m->size);
			else if (m->how == PACKED_INT)
				pack_int_at(p, at, m->size);
			else if (m->how == PACKED_BOOL)
				pack_bool(p, (bool *)at);
			else
				pack_real(p, (double *)(void *)at);
		}
	}
	p->role = ROLE_STATE;
}
