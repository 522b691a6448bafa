/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_WIRE_FIELD_H
#define HD_WIRE_FIELD_H

/*
 * What a standard's table says of a record: one row per field, with its name,
 * the bit at which it starts (counted from the most significant bit of the
 * first byte), its width, and what its value means. Getting, setting and
 * printing all follow from the row.
 *
 * A record whose fields repeat (the 16 entries of a table) names the first
 * entry's fields in a group; `count` copies follow one another `stride` bits
 * apart.
 *
 * Fields of up to 64 bits are numbers. Wider ones are bytes: they start and
 * end at whole bytes.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "base/strbuf.h"

enum field_kind {
	FIELD_UINT,   /* decimal */
	FIELD_HEX,    /* as many digits as the width has */
	FIELD_MASK,   /* hexadecimal without leading zeros, bits by name */
	FIELD_ENUM,   /* one of `names`; what is not there is a number */
	FIELD_SET,    /* bits of which `names` tells, joined by "or" */
	FIELD_BYTES,  /* hexadecimal without prefix */
	FIELD_GID,    /* 128 bits, written as an IPv6 address */
	FIELD_STRING, /* text up to the first NUL */
};

/* A value, or in a mask or set a bit's weight, and what it is called. */
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

/* Rows of a table, short enough to read like the standard's. */
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

/* How the entries of a group are printed: as the field's own tools do. */
enum group_style {
	GROUP_ENTRIES, /* one line each, fields by name */
	GROUP_WRAPPED, /* eight 16-bit values (or so) a line, after an index */
	GROUP_CELLS,   /* one line: | 0| 1| ... like smpquery sl2vl */
	GROUP_ROWS,    /* one line per field: |0x1 |... like smpquery vlarb */
};

struct field_group {
	const char *name;           /* of one entry: "Entry" */
	const struct field *fields; /* offsets within an entry */
	uint16_t offset;            /* of entry 0, in bits */
	uint16_t stride;            /* in bits */
	uint16_t count;
	enum group_style style;
};

struct record;

/* A record inside another: NodeRecord holds NodeInfo. */
struct record_part {
	const struct record *record; /* NULL ends a list */
	uint16_t offset;             /* in bytes */
};

struct record {
	const char *name;
	uint16_t size; /* in bytes */
	const struct field *fields;
	const struct field_group *group; /* NULL: no repeated fields */
	const struct record_part *parts; /* NULL: none; printed after fields */
};

/*
 * The field called `name`, of the record or of a part of it, with its offset
 * in the whole; false if not found.
 */
bool field_record_find(const struct record *r, const char *name, struct field *out);

/* Numbers: up to 64 bits. `bytes` must hold the whole record. */
uint64_t field_get(const struct field *f, const uint8_t *bytes);
void field_set(const struct field *f, uint8_t *bytes, uint64_t value);

/* By name, for code that looks at records now and then; asserts the name. */
uint64_t field_record_get(const struct record *r, const uint8_t *bytes, const char *name);
/* Field `name` of entry `i` of the group. */
uint64_t field_record_get_entry(const struct record *r, const uint8_t *bytes, unsigned i,
				const char *name);
void field_record_set_entry(const struct record *r, uint8_t *bytes, unsigned i, const char *name,
			    uint64_t value);

/* The value alone, as the field's kind prints it. */
void field_print(const struct field *f, const uint8_t *bytes, struct strbuf *out);
/*
 * All fields, one per line, in the shape of smpquery and perfquery: the name,
 * a colon, dots up to column 33, the value. Lines begin with `indent`.
 */
void field_record_print(const struct record *r, const uint8_t *bytes, const char *indent,
			struct strbuf *out);
/* All fields as one object; numbers as numbers, other kinds as text. */
void field_record_json(const struct record *r, const uint8_t *bytes, struct json *w);

/* An IPv6 address or GID in its canonical text form (RFC 5952). */
void field_print_gid(const uint8_t *gid, struct strbuf *out);

#endif
