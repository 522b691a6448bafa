/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_BASE_PACK_H
#define HD_BASE_PACK_H

/*
 * Structs to bytes and back, by one text for both ways, so that what is
 * written cannot differ from what is read.
 *
 *	static const struct pack_member link_members[] = {
 *		PACK(link, busy_until),
 *		PACK(link, flags),
 *		PACK_EACH(link, sent),
 *	};
 *
 *	static void pack_link(struct pack *p, struct link *l)
 *	{
 *		PACK_STRUCT(p, link_members, l);
 *		l->n = pack_count(p, l->n);
 *		if (p->reads)
 *			l->queue = hd_alloc(l->n, sizeof(*l->queue));
 *		for (size_t i = 0; i < l->n; i++)
 *			pack_u32(p, &l->queue[i]);
 *	}
 *
 * The bytes are the same on every machine. Whole numbers take as few as they
 * need, seven bits each, and so do those whose bits are all set, which mean
 * never or none.
 *
 * Bytes that are read are not trusted. What they cannot mean (they end too
 * early, a number does not fit its member, a count is larger than the bytes
 * that are left) is refused: p->refused is set, and all that is read from then
 * on is 0. So a reader need look only once, at its end, but what is used as an
 * index must be looked at before (pack_check).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"

/*
 * Meaning of a number when two states of a run are compared (struct
 * state_list). The default role is a state, which must be equal.
 */
enum pack_role {
	ROLE_STATE,
	ROLE_TIME,   /* an instant: relative to now, or unchanged and past */
	ROLE_SUM,    /* a counter: grows by the same amount in each period */
	ROLE_LIMIT,  /* maximum of the sum that follows */
	ROLE_SQUARE, /* a counter of instants: its growth increases by the same amount */
	ROLE_ANY,    /* does not influence the run */
	ROLE_EVERY,  /* the next instant of a timer; its interval follows */
};

#define PACK_ROLE_IS_SMALL 128 /* flag of a role: the number has 32 bits */

/* The numbers of a state, in the order in which they are packed. */
struct state_list {
	uint64_t *values;
	uint8_t *roles;
	size_t n, values_cap, roles_cap;
};

struct pack {
	bool reads;
	bool refused;
	uint8_t role;            /* of the next number of a list */
	struct strbuf *out;      /* written to */
	const unsigned char *in; /* bytes to read */
	size_t left;
	struct state_list *list; /* written or read instead of bytes; may be NULL */
};

/* Appends to `out`, whose drain may remove the bytes. */
void pack_to(struct pack *p, struct strbuf *out);
/* `bytes` are borrowed. */
void pack_from(struct pack *p, const void *bytes, size_t len);
/* Like pack_to and pack_from, for a list. A list is not a checkpoint and may have less data. */
void pack_to_list(struct pack *p, struct state_list *l);
void pack_from_list(struct pack *p, const struct state_list *l);
void pack_list_fini(struct state_list *l);
/* After reading: whether all bytes were valid and none are left. */
bool pack_is_done(const struct pack *p);

void pack_u8(struct pack *p, uint8_t *v);
void pack_u16(struct pack *p, uint16_t *v);
void pack_u32(struct pack *p, uint32_t *v);
void pack_u64(struct pack *p, uint64_t *v);
void pack_size(struct pack *p, size_t *v);
void pack_bool(struct pack *p, bool *v);
/* Preserves every bit of the double. */
void pack_real(struct pack *p, double *v);
void pack_bytes(struct pack *p, void *bytes, size_t n);
/* Numbers with a role. */
void pack_time(struct pack *p, uint64_t *v);
void pack_sum(struct pack *p, uint64_t *v);
void pack_sum_u32(struct pack *p, uint32_t *v);
/* A sum of at most `most` in this period of the run. */
void pack_sum_below(struct pack *p, uint32_t *v, uint32_t most);

/*
 * Number of the following elements, each of at least one byte: writes n, or
 * returns the number that was written, at most the number of remaining bytes.
 */
size_t pack_count(struct pack *p, size_t n);
/* Reading: sets p->refused unless `holds`, and returns `holds`. Writing: returns true. */
bool pack_check(struct pack *p, bool holds);
/* A number that must be equal when written and read, such as the size of an array. */
void pack_same(struct pack *p, uint64_t v);

enum packed {
	PACKED_NOT,
	PACKED_UINT, /* unsigned, or an enum, of any width */
	PACKED_INT,  /* signed, of any width */
	PACKED_BOOL,
	PACKED_REAL, /* double */
};

/* One member of a struct, or an array of them. */
struct pack_member {
	enum packed how;
	unsigned size; /* size of one element */
	size_t n, offset;
	enum pack_role role;
};

/* Bit-fields and pointers do not compile here. */
#define PACK(type, member)                                                              \
	{                                                                               \
		PACK_HOW(PACK_MEMBER(type, member)), sizeof(PACK_MEMBER(type, member)), \
			1 / (PACK_HOW(PACK_MEMBER(type, member)) != PACKED_NOT),        \
			offsetof(struct type, member), ROLE_STATE                       \
	}
#define PACK_EACH(type, member)                                                                   \
	{                                                                                         \
		PACK_HOW(PACK_MEMBER(type, member)[0]), sizeof(PACK_MEMBER(type, member)[0]),     \
			sizeof(PACK_MEMBER(type, member)) / sizeof(PACK_MEMBER(type, member)[0]), \
			offsetof(struct type, member), ROLE_STATE                                 \
	}
/* With its role in a list. */
#define PACK_AS(type, member, as)                                                       \
	{                                                                               \
		PACK_HOW(PACK_MEMBER(type, member)), sizeof(PACK_MEMBER(type, member)), \
			1 / (PACK_HOW(PACK_MEMBER(type, member)) != PACKED_NOT),        \
			offsetof(struct type, member), as                               \
	}
#define PACK_TIME(type, member)   PACK_AS(type, member, ROLE_TIME)
#define PACK_SUM(type, member)    PACK_AS(type, member, ROLE_SUM)
#define PACK_MEMBER(type, member) ((struct type *)0)->member
/* clang-format off */
#define PACK_HOW(value)                        \
	_Generic(&(value),                     \
		bool *: PACKED_BOOL,           \
		uint8_t *: PACKED_UINT,        \
		uint16_t *: PACKED_UINT,       \
		uint32_t *: PACKED_UINT,       \
		unsigned long *: PACKED_UINT,  \
		unsigned long long *: PACKED_UINT, \
		int8_t *: PACKED_INT,          \
		int16_t *: PACKED_INT,         \
		int32_t *: PACKED_INT,         \
		long *: PACKED_INT,            \
		long long *: PACKED_INT,       \
		double *: PACKED_REAL,         \
		default: PACKED_NOT)
/* clang-format on */

/*
 * Place it next to the table. It asserts the size of the struct on 64-bit
 * machines, so that a new member requires a decision whether the table saves
 * it.
 */
#define PACK_KNOWS(type, size)                                               \
	_Static_assert(sizeof(void *) != 8 || sizeof(struct type) == (size), \
		       "struct " #type " changed: is all of it packed?")

void pack_members(struct pack *p, const struct pack_member *m, size_t n, void *row);
#define PACK_STRUCT(p, members, row) \
	pack_members(p, members, sizeof(members) / sizeof((members)[0]), row)

#endif
