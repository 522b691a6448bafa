/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_MEASURE_CELL_H
#define HD_MEASURE_CELL_H

/*
 * Location and representation of a column's value in the struct of its row. A
 * column names the member once, with CELL. The kind of value follows from the
 * member's type, and a type that no table can show does not compile.
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
 * A member may be nested (a.b) or an element of an array (a[3]), but not a
 * bit-field.
 *
 * These members are shown as empty cells: a NULL text, a double that is not
 * finite, a time of HD_TIME_NEVER, and the integer given to CELL_UNLESS.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/units.h"

enum stored {
	STORED_NOT,   /* not in a struct: for table_put_values */
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
	size_t row_size, offset; /* size of the struct; offset in it */
	const char *const *names;
	bool may_lack;
	uint64_t lack; /* if lacks: the integer that means "no value" */
};

/* A designated cell; the next initialiser is the origin. */
#define CELL(row, member) \
	.cell = { CELL_PLACE(row, member, CELL_STORED(row, member)) }, .kind = VALUE_NONE
/* An integer; the value `none` is shown as an empty cell. */
#define CELL_UNLESS(row, member, none)                                                       \
	.cell = { CELL_PLACE(row, member, CELL_STORED_WHOLE(row, member)), .may_lack = true, \
		  .lack = (none) },                                                          \
	.kind = VALUE_NONE
/* Picoseconds, integer or double, in a column with a unit of time. */
#define CELL_TIME(row, member) \
	.cell = { CELL_PLACE(row, member, CELL_STORED_TIME(row, member)) }, .kind = VALUE_NONE
/* Bits per second, as a double, in a column with a unit of rate. */
#define CELL_BITS(row, member) \
	.cell = { CELL_PLACE(row, member, CELL_STORED_BITS(row, member)) }, .kind = VALUE_NONE
/* A share of one in a column whose unit is "%". */
#define CELL_SHARE(row, member) \
	.cell = { CELL_PLACE(row, member, CELL_STORED_SHARE(row, member)) }, .kind = VALUE_NONE
/* An index into `texts`. */
#define CELL_NAME(row, member, texts)                                                         \
	.cell = { CELL_PLACE(row, member, CELL_STORED_NAME(row, member)), .names = (texts) }, \
	.kind = VALUE_NONE

#define CELL_MEMBER(row, member) ((struct row *)0)->member
/* clang-format off */
/* The address distinguishes a pointer to char from an array of char. */
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
/* Does not compile if no table can show the type. */
#define CELL_PLACE(row, member, how)                                                            \
	.stored = (how),                                                                        \
	.size = sizeof(char[(how) != STORED_NOT ? (int)sizeof(CELL_MEMBER(row, member)) : -1]), \
	.row_size = sizeof(struct row), .offset = offsetof(struct row, member)

#endif
