/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_BASE_UNITS_H
#define HD_BASE_UNITS_H

/*
 * Parses and prints quantities in user notation: "2.5Gb/s", "4x SDR", "20ns",
 * "4KiB", "20%".
 *
 * Every value is an exact integer or a ratio of integers; a value that is not
 * representable is rejected, never rounded. Spaces may separate a number and
 * its unit. Parsers read the whole string. On error they return HD_ERR_INPUT or
 * HD_ERR_RANGE and, if `d` is not NULL, a message with the expected form.
 * Printing gives a short form that reads back as the same value. The exception
 * is a ratio without a finite decimal representation (a third; FDR's rates have
 * names), which is printed as the nearest double.
 */

#include <stdint.h>

#include "base/diag.h"
#include "base/strbuf.h"

/* Simulated time or a duration, in picoseconds: 64 bits hold 213 days. */
typedef uint64_t hd_time;
#define HD_TIME_NEVER UINT64_MAX

#define HD_NS UINT64_C(1000)
#define HD_US UINT64_C(1000000)
#define HD_MS UINT64_C(1000000000)
#define HD_S  UINT64_C(1000000000000)

/* A data rate of num/den bits per second, in lowest terms; den is never 0. */
struct hd_rate {
	uint64_t num;
	uint64_t den;
};

/* A share or factor num/den in lowest terms; 20 % is {1, 5}. */
struct hd_ratio {
	uint64_t num;
	uint64_t den;
};

/* InfiniBand link speeds per lane, in order of their introduction. */
enum link_speed {
	SPEED_SDR,
	SPEED_DDR,
	SPEED_QDR,
	SPEED_FDR10,
	SPEED_FDR,
	SPEED_EDR,
	SPEED_HDR,
	SPEED_NDR,
	SPEED_XDR,
	SPEED_COUNT
};

/* Permitted widths are 1, 2, 4, 8 and 12 lanes. */
struct hd_rate hd_rate_of_link(unsigned lanes, enum link_speed speed);
const char *hd_link_speed_name(enum link_speed speed); /* "SDR" */
HD_MUST_CHECK enum hd_status link_speed_parse(const char *text, enum link_speed *out);

struct hd_rate hd_rate_make(uint64_t num, uint64_t den);
double hd_rate_bps(struct hd_rate rate);
int hd_rate_compare(struct hd_rate a, struct hd_rate b);

/*
 * The duration of `bytes` at `rate`: ceil(8e12 * bytes * den / num)
 * picoseconds. No other code rounds durations. HD_TIME_NEVER if it exceeds
 * hd_time.
 */
hd_time hd_rate_duration(struct hd_rate rate, uint64_t bytes);

HD_MUST_CHECK enum hd_status hd_rate_parse(const char *text, struct diag *d, struct hd_rate *out);
HD_MUST_CHECK enum hd_status hd_time_parse(const char *text, struct diag *d, hd_time *out);
HD_MUST_CHECK enum hd_status hd_size_parse(const char *text, struct diag *d, uint64_t *out);
/* "20%" or a plain number such as 0.2; at least 0, no upper bound. */
HD_MUST_CHECK enum hd_status hd_ratio_parse(const char *text, struct diag *d, struct hd_ratio *out);
HD_MUST_CHECK enum hd_status hd_uint_parse(const char *text, struct diag *d, uint64_t *out);
HD_MUST_CHECK enum hd_status hd_double_parse(const char *text, struct diag *d, double *out);

/* "2..11" or a single "5" (low = high). */
struct hd_range {
	uint64_t low;
	uint64_t high;
};
HD_MUST_CHECK enum hd_status hd_range_parse(const char *text, struct diag *d, struct hd_range *out);
struct hd_rate_range {
	struct hd_rate low;
	struct hd_rate high;
};

void hd_rate_print(struct hd_rate rate, struct strbuf *out);
void hd_time_print(hd_time time, struct strbuf *out);
void hd_size_print(uint64_t bytes, struct strbuf *out);
void hd_ratio_print(struct hd_ratio ratio, struct strbuf *out);

#endif
