/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/units.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

__extension__ typedef unsigned __int128 u128;

/* A decimal as written, digits * 10^-places, without needless zeros. */
struct decimal {
	uint64_t digits;
	unsigned places;
};

#define MAX_PLACES 19 /* 10^19 is the largest power of ten in 64 bits */

/* One unit: `factor` of the base unit; tables end with a NULL name. */
struct unit {
	const char *name;
	uint64_t factor;
};

static const struct unit time_units[] = {
	{ "ps", 1 },   { "ns", HD_NS },      { "us", HD_US },      { "ms", HD_MS },
	{ "s", HD_S }, { "min", 60 * HD_S }, { "h", 3600 * HD_S }, { NULL, 0 },
};

static const struct unit size_units[] = {
	{ "B", 1 },
	{ "", 1 },
	{ "KiB", UINT64_C(1) << 10 },
	{ "MiB", UINT64_C(1) << 20 },
	{ "GiB", UINT64_C(1) << 30 },
	{ "TiB", UINT64_C(1) << 40 },
	{ "kB", 1000 },
	{ "KB", 1000 },
	{ "MB", 1000000 },
	{ "GB", 1000000000 },
	{ "TB", UINT64_C(1000000000000) },
	{ NULL, 0 },
};

static const struct unit rate_units[] = {
	{ "b/s", 1 },
	{ "kb/s", 1000 },
	{ "Kb/s", 1000 },
	{ "Mb/s", 1000000 },
	{ "Gb/s", 1000000000 },
	{ "Tb/s", UINT64_C(1000000000000) },
	{ "B/s", 8 },
	{ "kB/s", 8000 },
	{ "KB/s", 8000 },
	{ "MB/s", 8000000 },
	{ "GB/s", UINT64_C(8000000000) },
	{ "TB/s", UINT64_C(8000000000000) },
	{ NULL, 0 },
};

static uint64_t gcd(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static const char *skip_blanks(const char *s)
{
	while (*s == ' ' || *s == '\t')
		s++;
	return s;
}

/* Says that the user's text is not what was `expected`; d may be NULL. */
static enum hd_status refuse(struct diag *d, enum hd_status status, const char *text,
			     const char *expected)
{
	if (d)
		diag_fail(d, status, "'%.80s' is not %s", text, expected);
	return status;
}

/*
 * Reads digits[.digits] and leaves *rest behind it. HD_ERR_INPUT if there is
 * no number, HD_ERR_RANGE if it has more digits than 64 bits hold.
 */
static enum hd_status read_decimal(const char *s, struct decimal *out, const char **rest)
{
	struct decimal value = { 0, 0 };
	bool any = false, after_point = false, fits = true;

	for (;; s++) {
		if (*s == '.' && !after_point && is_digit(s[1])) {
			after_point = true;
			continue;
		}
		if (!is_digit(*s))
			break;
		uint64_t digit = (uint64_t)(*s - '0');

		any = true;
		fits = fits && value.digits <= (UINT64_MAX - digit) / 10;
		value.digits = value.digits * 10 + digit;
		value.places += after_point;
	}
	while (value.places > 0 && value.digits % 10 == 0) {
		value.digits /= 10;
		value.places--;
	}
	*out = value;
	*rest = s;
	if (!any)
		return HD_ERR_INPUT;
	return fits ? HD_OK : HD_ERR_RANGE;
}

static uint64_t power_of_ten(unsigned exponent)
{
	uint64_t power = 1;

	while (exponent--)
		power *= 10;
	return power;
}

/* num/den, in lowest terms, as a decimal; false if it never ends or has too many digits. */
static bool to_decimal(u128 num, uint64_t den, struct decimal *out)
{
	for (unsigned places = 0; places <= MAX_PLACES; places++) {
		uint64_t scale = power_of_ten(places);

		if (scale % den != 0)
			continue;
		u128 factor = scale / den;

		if (num > UINT64_MAX / factor)
			return false;
		*out = (struct decimal){ (uint64_t)(num * factor), places };
		return true;
	}
	return false;
}

static const struct unit *find_unit(const struct unit *units, const char *name)
{
	for (; units->name; units++) {
		if (strcmp(units->name, name) == 0)
			return units;
	}
	return NULL;
}

/*
 * Number and unit as the ratio num/den of the base unit, in lowest terms.
 * What is accepted also fits a decimal in base units, so that it can be
 * printed exactly.
 */
static enum hd_status read_quantity(const char *text, const struct unit *units,
				    struct hd_ratio *out)
{
	struct decimal value;
	const char *rest;
	enum hd_status status = read_decimal(skip_blanks(text), &value, &rest);

	if (status == HD_ERR_INPUT)
		return status;
	const struct unit *unit = find_unit(units, skip_blanks(rest));

	if (!unit)
		return HD_ERR_INPUT;
	if (status != HD_OK)
		return status;
	u128 digits = (u128)value.digits * unit->factor;

	while (value.places > 0 && digits % 10 == 0) {
		digits /= 10;
		value.places--;
	}
	if (digits > UINT64_MAX || value.places > MAX_PLACES)
		return HD_ERR_RANGE;
	uint64_t den = power_of_ten(value.places);
	uint64_t common = gcd((uint64_t)digits, den);

	*out = (struct hd_ratio){ (uint64_t)digits / common, den / common };
	return HD_OK;
}

/* A quantity that must be a whole number of base units. */
static enum hd_status read_whole(const char *text, const struct unit *units, uint64_t *out)
{
	struct hd_ratio value;
	enum hd_status status = read_quantity(text, units, &value);

	if (status != HD_OK)
		return status;
	if (value.den != 1)
		return HD_ERR_RANGE;
	*out = value.num;
	return HD_OK;
}

enum hd_status hd_time_parse(const char *text, struct diag *d, hd_time *out)
{
	enum hd_status status = read_whole(text, time_units, out);

	if (status == HD_ERR_INPUT)
		return refuse(d, status, text, "a time (expected e.g. 20ns, 1.5us, 3ms, 2s)");
	if (status == HD_ERR_RANGE)
		return refuse(d, status, text, "a whole number of picoseconds below 213 days");
	return status;
}

enum hd_status hd_size_parse(const char *text, struct diag *d, uint64_t *out)
{
	enum hd_status status = read_whole(text, size_units, out);

	if (status == HD_ERR_INPUT)
		return refuse(d, status, text, "a size (expected e.g. 256, 4KiB, 1MB)");
	if (status == HD_ERR_RANGE)
		return refuse(d, status, text, "a whole number of bytes below 2^64");
	return status;
}

static const struct {
	const char *name;
	struct hd_rate lane;
} speeds[SPEED_COUNT] = {
	[SPEED_SDR] = { "SDR", { UINT64_C(2000000000), 1 } },
	[SPEED_DDR] = { "DDR", { UINT64_C(4000000000), 1 } },
	[SPEED_QDR] = { "QDR", { UINT64_C(8000000000), 1 } },
	[SPEED_FDR10] = { "FDR10", { UINT64_C(10000000000), 1 } },
	[SPEED_FDR] = { "FDR", { UINT64_C(150000000000), 11 } },
	[SPEED_EDR] = { "EDR", { UINT64_C(25000000000), 1 } },
	[SPEED_HDR] = { "HDR", { UINT64_C(50000000000), 1 } },
	[SPEED_NDR] = { "NDR", { UINT64_C(100000000000), 1 } },
	[SPEED_XDR] = { "XDR", { UINT64_C(200000000000), 1 } },
};

const char *hd_link_speed_name(enum link_speed speed)
{
	assert(speed < SPEED_COUNT);
	return speeds[speed].name;
}

enum hd_status link_speed_parse(const char *text, enum link_speed *out)
{
	for (unsigned i = 0; i < SPEED_COUNT; i++) {
		if (strcmp(speeds[i].name, text) == 0) {
			*out = (enum link_speed)i;
			return HD_OK;
		}
	}
	return HD_ERR_NOT_FOUND;
}

static bool is_width(uint64_t lanes)
{
	return lanes == 1 || lanes == 2 || lanes == 4 || lanes == 8 || lanes == 12;
}

struct hd_rate hd_rate_make(uint64_t num, uint64_t den)
{
	assert(den > 0);
	uint64_t common = gcd(num, den);

	return (struct hd_rate){ num / common, den / common };
}

struct hd_rate hd_rate_of_link(unsigned lanes, enum link_speed speed)
{
	assert(is_width(lanes) && speed < SPEED_COUNT);
	return hd_rate_make(speeds[speed].lane.num * lanes, speeds[speed].lane.den);
}

double hd_rate_bps(struct hd_rate rate)
{
	return (double)rate.num / (double)rate.den;
}

int hd_rate_compare(struct hd_rate a, struct hd_rate b)
{
	u128 left = (u128)a.num * b.den, right = (u128)b.num * a.den;

	return (left > right) - (left < right);
}

hd_time hd_rate_duration(struct hd_rate rate, uint64_t bytes)
{
	static const uint64_t ps_per_byte_at_1bps = UINT64_C(8000000000000);

	assert(rate.num > 0);
	/* Every packet at all but FDR's rates: one 64-bit division. */
	if (rate.den == 1 && bytes <= UINT64_C(1) << 20) {
		uint64_t work = bytes * ps_per_byte_at_1bps;

		return work / rate.num + (work % rate.num != 0);
	}
	/* Dividing first keeps every product within 128 bits. */
	u128 work = (u128)bytes * ps_per_byte_at_1bps;
	u128 whole = work / rate.num;
	u128 rest = (work % rate.num) * rate.den;

	rest = rest / rate.num + (rest % rate.num != 0);
	if (whole > (UINT64_MAX - (uint64_t)rest) / rate.den)
		return HD_TIME_NEVER;
	return (hd_time)(whole * rate.den + rest);
}

/* "4x SDR"; HD_ERR_INPUT if it is not of that form. */
static enum hd_status read_link_rate(const char *text, struct hd_rate *out)
{
	struct decimal lanes;
	const char *rest;
	enum link_speed speed;

	if (read_decimal(skip_blanks(text), &lanes, &rest) != HD_OK)
		return HD_ERR_INPUT;
	if (lanes.places || (*rest != 'x' && *rest != 'X'))
		return HD_ERR_INPUT;
	if (!is_width(lanes.digits))
		return HD_ERR_INPUT;
	if (link_speed_parse(skip_blanks(rest + 1), &speed) != HD_OK)
		return HD_ERR_INPUT;
	*out = hd_rate_of_link((unsigned)lanes.digits, speed);
	return HD_OK;
}

enum hd_status hd_rate_parse(const char *text, struct diag *d, struct hd_rate *out)
{
	struct hd_ratio value;

	if (read_link_rate(text, out) == HD_OK)
		return HD_OK;
	enum hd_status status = read_quantity(text, rate_units, &value);

	if (status == HD_ERR_INPUT)
		return refuse(d, status, text, "a rate (expected e.g. 2.5Gb/s, 300MB/s, 4x HDR)");
	if (status != HD_OK || value.num == 0)
		return refuse(d, HD_ERR_RANGE, text, "a rate above 0 and below 2^64 b/s");
	*out = (struct hd_rate){ value.num, value.den };
	return HD_OK;
}

enum hd_status hd_ratio_parse(const char *text, struct diag *d, struct hd_ratio *out)
{
	/* As if "%" were a unit of 1/100. */
	static const struct unit shares[] = {
		{ "", 100 },
		{ "%", 1 },
		{ NULL, 0 },
	};
	struct hd_ratio percents;
	enum hd_status status = read_quantity(text, shares, &percents);

	if (status == HD_ERR_INPUT)
		return refuse(d, status, text, "a share (expected e.g. 20% or 0.2)");
	uint64_t common = status == HD_OK ? gcd(percents.num, 100) : 0;

	if (status != HD_OK || percents.den > UINT64_MAX / (100 / common))
		return refuse(d, HD_ERR_RANGE, text, "a share of at most 19 digits");
	*out = (struct hd_ratio){ percents.num / common, percents.den * (100 / common) };
	return HD_OK;
}

enum hd_status hd_uint_parse(const char *text, struct diag *d, uint64_t *out)
{
	uint64_t value = 0;
	const char *s = skip_blanks(text);
	unsigned base = 10;

	if (s[0] == '0' && (s[1] == 'x' || s[1] == 'X')) {
		base = 16;
		s += 2;
	}
	if (!*s)
		return refuse(d, HD_ERR_INPUT, text, "a whole number (expected e.g. 64 or 0x40)");
	for (; *s; s++) {
		static const char digits[] = "0123456789abcdef";
		char c = *s >= 'A' && *s <= 'F' ? (char)(*s + 32) : *s;
		const char *digit = memchr(digits, c, base);

		if (!digit)
			return refuse(d, HD_ERR_INPUT, text,
				      "a whole number (expected e.g. 64 or 0x40)");
		uint64_t add = (uint64_t)(digit - digits);

		if (value > (UINT64_MAX - add) / base)
			return refuse(d, HD_ERR_RANGE, text, "a whole number below 2^64");
		value = value * base + add;
	}
	*out = value;
	return HD_OK;
}

enum hd_status hd_double_parse(const char *text, struct diag *d, double *out)
{
	char *end;
	const char *s = skip_blanks(text);

	/* strtod also takes "inf", "nan" and hex, which no user means. */
	if (!is_digit(*s) && *s != '-' && *s != '.')
		return refuse(d, HD_ERR_INPUT, text, "a number");
	errno = 0;
	double value = strtod(s, &end);

	if (end == s || *end || strpbrk(s, "xXnN"))
		return refuse(d, HD_ERR_INPUT, text, "a number");
	if (!isfinite(value))
		return refuse(d, HD_ERR_RANGE, text, "a finite number");
	*out = value;
	return HD_OK;
}

/* Cuts "a..b" in two; without "..", both are the whole. */
static bool split_range(const char *text, char *low, char *high, size_t size)
{
	const char *dots = strstr(text, "..");
	size_t len = dots ? (size_t)(dots - text) : strlen(text);
	const char *rest = dots ? dots + 2 : text;

	if (len >= size || strlen(rest) >= size)
		return false;
	memcpy(low, text, len);
	low[len] = '\0';
	memcpy(high, rest, strlen(rest) + 1);
	return true;
}

enum hd_status hd_range_parse(const char *text, struct diag *d, struct hd_range *out)
{
	char low[64], high[64];
	struct hd_range range;

	if (!split_range(text, low, high, sizeof(low)) ||
	    hd_uint_parse(low, NULL, &range.low) != HD_OK ||
	    hd_uint_parse(high, NULL, &range.high) != HD_OK || range.low > range.high)
		return refuse(d, HD_ERR_INPUT, text,
			      "a number or a rising range (expected e.g. 5 or 2..11)");
	*out = range;
	return HD_OK;
}

static void print_decimal(struct decimal value, struct strbuf *out)
{
	uint64_t one = power_of_ten(value.places);

	strbuf_printf(out, "%llu", (unsigned long long)(value.digits / one));
	if (value.places)
		strbuf_printf(out, ".%0*llu", (int)value.places,
			      (unsigned long long)(value.digits % one));
}

/* Powers of ten only, rising: dividing by one moves the point. */
struct decade {
	const char *name;
	unsigned exponent;
};

static struct decimal divide_by_decade(struct decimal value, unsigned exponent)
{
	value.places += exponent;
	while (value.places > 0 && value.digits % 10 == 0) {
		value.digits /= 10;
		value.places--;
	}
	return value;
}

/*
 * In the largest unit that the value reaches and that needs at most three
 * places; in the first one if all need more.
 */
static void print_with_unit(struct decimal value, const struct decade *units, struct strbuf *out)
{
	struct decimal best = value;
	const char *name = units->name;

	if (value.digits == 0)
		units += 1;
	for (; value.digits && units->name; units++) {
		struct decimal v = divide_by_decade(value, units->exponent);

		if (v.places > 3 || v.digits < power_of_ten(v.places))
			continue;
		best = v;
		name = units->name;
	}
	print_decimal(best, out);
	strbuf_puts(out, name);
}

void hd_time_print(hd_time time, struct strbuf *out)
{
	static const struct decade units[] = {
		{ "ps", 0 }, { "ns", 3 }, { "us", 6 }, { "ms", 9 }, { "s", 12 }, { NULL, 0 },
	};

	print_with_unit((struct decimal){ time, 0 }, units, out);
}

void hd_size_print(uint64_t bytes, struct strbuf *out)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	unsigned n = 0;

	while (n < 4 && bytes && bytes % 1024 == 0) {
		bytes /= 1024;
		n++;
	}
	strbuf_printf(out, "%llu%s", (unsigned long long)bytes, units[n]);
}

static const struct decade rate_decades[] = {
	{ "b/s", 0 }, { "kb/s", 3 }, { "Mb/s", 6 }, { "Gb/s", 9 }, { "Tb/s", 12 }, { NULL, 0 },
};

/* FDR's 150/11 never ends as a decimal, but is a number of lanes. */
static bool print_as_link(struct hd_rate rate, struct strbuf *out)
{
	static const unsigned widths[] = { 1, 2, 4, 8, 12 };

	for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
		struct hd_rate link = hd_rate_of_link(widths[i], SPEED_FDR);

		if (hd_rate_compare(link, rate) == 0) {
			strbuf_printf(out, "%ux FDR", widths[i]);
			return true;
		}
	}
	return false;
}

void hd_rate_print(struct hd_rate rate, struct strbuf *out)
{
	struct decimal value;

	assert(rate.den > 0);
	if (to_decimal(rate.num, rate.den, &value)) {
		print_with_unit(value, rate_decades, out);
		return;
	}
	if (print_as_link(rate, out))
		return;
	const struct decade *unit = rate_decades;
	double bps = hd_rate_bps(rate);

	while (unit[1].name && bps >= pow(10, unit[1].exponent))
		unit++;
	text_double(out, bps / pow(10, unit->exponent));
	strbuf_puts(out, unit->name);
}

void hd_ratio_print(struct hd_ratio ratio, struct strbuf *out)
{
	struct decimal value;
	bool exact;

	assert(ratio.den > 0);
	uint64_t common = gcd(100, ratio.den);

	exact = to_decimal((u128)ratio.num * (100 / common), ratio.den / common, &value);
	if (exact)
		print_decimal(value, out);
	else
		text_double(out, (double)ratio.num / (double)ratio.den * 100);
	strbuf_putc(out, '%');
}
