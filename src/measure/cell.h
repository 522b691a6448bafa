/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_MEASURE_CELL_H
#define HD_MEASURE_CELL_H

/*
 * Where a column's value is in the struct that is a row of its table, and
 * how it is stored there. A column names the member once, with CELL; what kind
 * of value the column has follows from the member's type, and a type that no
 * table can show does not compile.
 *
 *	struct flow_row {
 *		const char *flow;
 *		uint64_t packets;
 *		hd_time p99;
 *	};
 *	static const struct column flow_columns[] = {
 *		{ "flow", NULL, CELL(flow_row, flow) },
 *		{ "packets", NULL, CELL(flow_row, packets), ORIGIN_SIMULATED },
 *		{ "p99", "us", CELL_TIME(flow_row, p99), ORIGIN_SIMULATED, 3 },
 *		{ NULL },
 *	};
 *
 * The struct may be one that a library made for itself; a member may be nested
 * (a.b) or an element of an array (a[3]), but no bit-field.
 *
 * No value is: a text that is NULL, a double that is not finite, a time that is
 * HD_TIME_NEVER, and a whole number that CELL_UNLESS names.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/units.h"

enum stored {
	STORED_NOT,   /* in no struct: rows of values are put */
	STORED_UINT,  /* unsigned, or an enum, of any width */
	STORED_INT,   /* signed, of any width */
	STORED_REAL,  /* double */
	STORED_BOOL,  /* bool */
	STORED_TEXT,  /* char * */
	STORED_CHARS, /* char[] */
	STORED_RATE,  /* struct hd_rate, shown in the column's unit */
	STORED_TIME,  /* hd_time, shown in the column's unit */
	STORED_SPAN,  /* double of ps or b/s, shown in the column's unit */
	STORED_SHARE, /* double, shown in hundredths */
	STORED_NAME,  /* an enum, shown by its name */
};
#define N_STORED 12

struct cell {
	enum stored stored;
	unsigned size;           /* of the member */
	size_t row_size, offset; /* of the struct; in it */
	const char *const *names;
	bool may_lack;
	uint64_t lack; /* if so: the whole number that means no value */
};

/* A designated cell; the next initialiser is the origin. */
#define CELL(row, member) \
	.cell = { CELL_PLACE(row, member, CELL_STORED(row, member)) }, .kind = VALUE_NONE
/* A whole number; the value `none` is shown as an empty cell. */
#define CELL_UNLESS(row, member, none)                                                       \
	.cell = { CELL_PLACE(row, member, CELL_STORED_WHOLE(row, member)), .may_lack = true, \
		  .lack = (none) },                                                          \
	.kind = VALUE_NONE
/* Picoseconds, whole or double, in a column whose unit is one of time. */
#define CELL_TIME(row, member) \
	.cell = { CELL_PLACE(row, member, CELL_STORED_TIME(row, member)) }, .kind = VALUE_NONE
/* Bits per second, as a double, in a column whose unit is one of rate. */
#define CELL_BITS(row, member) \
	.cell = { CELL_PLACE(row, member, CELL_STORED_BITS(row, member)) }, .kind = VALUE_NONE
/* A share of one in a column whose unit is "%". */
#define CELL_SHARE(row, member) \
	.cell = { CELL_PLACE(row, member, CELL_STORED_SHARE(row, member)) }, .kind = VALUE_NONE
/* One of `texts`, by its number. */
#define CELL_NAME(row, member, texts)                                                         \
	.cell = { CELL_PLACE(row, member, CELL_STORED_NAME(row, member)), .names = (texts) }, \
	.kind = VALUE_NONE

#define CELL_MEMBER(row, member) ((struct row *)0)->member
/* clang-format off */
/* An address tells a pointer to char from an array of char. */
#define CELL_STORED(row, member)                       \
	_Generic(&CELL_MEMBER(row, member),            \
		bool *: STORED_BOOL,                   \
		uint8_t *: STORED_UINT,                \
		uint16_t *: STORED_UINT,               \
		uint32_t *: STORED_UINT,               \
		unsigned long *: STORED_UINT,          \
		unsigned long long *: STORED_UINT,     \
		int8_t *: STORED_INT,                  \
		int16_t *: STORED_INT,                 \
		int32_t *: STORED_INT,                 \
		long *: STORED_INT,                    \
		long long *: STORED_INT,               \
		double *: STORED_REAL,                 \
		char **: STORED_TEXT,                  \
		const char **: STORED_TEXT,            \
		struct hd_rate *: STORED_RATE,         \
		default: _Generic(CELL_MEMBER(row, member), \
			char *: STORED_CHARS,          \
			default: STORED_NOT))
#define CELL_STORED_TIME(row, member)       \
	_Generic(&CELL_MEMBER(row, member), \
		double *: STORED_SPAN,      \
		uint64_t *: STORED_TIME)
#define CELL_STORED_BITS(row, member) \
	_Generic(&CELL_MEMBER(row, member), double *: STORED_SPAN)
#define CELL_STORED_SHARE(row, member) \
	_Generic(&CELL_MEMBER(row, member), double *: STORED_SHARE)
/* clang-format on */
#define CELL_STORED_NAME(row, member) \
	(CELL_STORED(row, member) == STORED_UINT ? STORED_NAME : STORED_NOT)
#define CELL_STORED_WHOLE(row, member) \
	(CELL_STORED(row, member) == STORED_UINT ? STORED_UINT : STORED_NOT)
/* Does not compile if it is stored as nothing that a table can show. */
#define CELL_PLACE(row, member, how)                                                            \
	.stored = (how),                                                                        \
	.size = sizeof(char[(how) != STORED_NOT ? (int)sizeof(CELL_MEMBER(row, member)) : -1]), \
	.row_size = sizeof(struct row), .offset = offsetof(struct row, member)

#endif
