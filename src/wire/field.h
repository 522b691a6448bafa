/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_WIRE_FIELD_H
#define HD_WIRE_FIELD_H

/*
 * Descriptions of binary records: one row per field with its name, the bit at which it starts
 * (counted from the most significant bit of the first byte), its width, and the meaning of its
 * values. Getting, setting and printing use the rows.
 *
 * Repeated fields (for example the 16 entries of a table) are a group: the fields of the first
 * entry, and `count` copies at a distance of `stride` bits.
 *
 * Fields of up to 64 bits are numbers. Wider fields are bytes and are byte-aligned.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "base/strbuf.h"

enum field_kind {
	FIELD_UINT,   /* decimal */
	FIELD_HEX,    /* as many digits as the width needs */
	FIELD_MASK,   /* hexadecimal without leading zeros, and the names of bits */
	FIELD_ENUM,   /* one of `names`; unnamed values are printed as numbers */
	FIELD_SET,    /* names of bits, joined by "or" */
	FIELD_BYTES,  /* hexadecimal without prefix */
	FIELD_GID,    /* 128 bits, written as an IPv6 address */
	FIELD_STRING, /* text up to the first NUL */
};

/* Name of a value, or of a bit of a mask or set. */
struct field_name {
	uint64_t value;
	const char *name; /* NULL ends a list */
};

struct field {
	const char *name; /* NULL ends a table */
	uint16_t offset;  /* in bits */
	uint16_t width;   /* in bits */
	enum field_kind kind;
	const struct field_name *names;
};

/* Initializers of rows, short enough to look like the standard's tables. */
#define F_ROW(name, offset, width, kind, names)    \
	{                                          \
		name, offset, width, kind, (names) \
	}
#define F_UINT(name, offset, width)        F_ROW(name, offset, width, FIELD_UINT, NULL)
#define F_HEX(name, offset, width)         F_ROW(name, offset, width, FIELD_HEX, NULL)
#define F_MASK(name, offset, width, names) F_ROW(name, offset, width, FIELD_MASK, names)
#define F_ENUM(name, offset, width, names) F_ROW(name, offset, width, FIELD_ENUM, names)
#define F_SET(name, offset, width, names)  F_ROW(name, offset, width, FIELD_SET, names)
#define F_BYTES(name, offset, width)       F_ROW(name, offset, width, FIELD_BYTES, NULL)
#define F_GID(name, offset)                F_ROW(name, offset, 128, FIELD_GID, NULL)
#define F_STRING(name, offset, width)      F_ROW(name, offset, width, FIELD_STRING, NULL)
#define F_END                              F_ROW(NULL, 0, 0, FIELD_UINT, NULL)

/* Formats of a group's entries, as in the tools that print the field. */
enum group_style {
	GROUP_ENTRIES, /* one line each, with names of fields */
	GROUP_WRAPPED, /* eight 16-bit values per line, after an index */
	GROUP_CELLS,   /* one line: | 0| 1| ..., as smpquery sl2vl */
	GROUP_ROWS,    /* one line per field: |0x1 |..., as smpquery vlarb */
};

struct field_group {
	const char *name;           /* name of an entry: "Entry" */
	const struct field *fields; /* offsets within an entry */
	uint16_t offset;            /* of entry 0, in bits */
	uint16_t stride;            /* in bits */
	uint16_t count;
	enum group_style style;
};

struct record;

/* A record within another: NodeRecord contains NodeInfo. */
struct record_part {
	const struct record *record; /* NULL ends a list */
	uint16_t offset;             /* in bytes */
};

struct record {
	const char *name;
	uint16_t size; /* in bytes */
	const struct field *fields;
	const struct field_group *group; /* NULL: no group */
	const struct record_part *parts; /* NULL: none; printed after the fields */
};

/*
 * Finds a field by name, in the record or in a part of it; its offset is relative to the whole
 * record. False if not found.
 */
bool field_record_find(const struct record *r, const char *name, struct field *out);

/* Numbers of up to 64 bits. `bytes` must contain the whole record. */
uint64_t field_get(const struct field *f, const uint8_t *bytes);
void field_set(const struct field *f, uint8_t *bytes, uint64_t value);

/* The same by name, for infrequent use; asserts that the field exists. */
uint64_t field_record_get(const struct record *r, const uint8_t *bytes, const char *name);
/* Field `name` of entry `i` of the group. */
uint64_t field_record_get_entry(const struct record *r, const uint8_t *bytes, unsigned i,
				const char *name);
void field_record_set_entry(const struct record *r, uint8_t *bytes, unsigned i, const char *name,
			    uint64_t value);

/* Prints the value only, in the format of the field's kind. */
void field_print(const struct field *f, const uint8_t *bytes, struct strbuf *out);
/*
 * Prints all fields, one per line, in the format of smpquery and perfquery: name, colon, dots up
 * to column 33, value. Lines begin with `indent`.
 */
void field_record_print(const struct record *r, const uint8_t *bytes, const char *indent,
			struct strbuf *out);
/* Writes all fields as one object; numbers as numbers, other kinds as text. */
void field_record_json(const struct record *r, const uint8_t *bytes, struct json *w);

/* Prints an IPv6 address or GID in canonical text form (RFC 5952). */
void field_print_gid(const uint8_t *gid, struct strbuf *out);

#endif
