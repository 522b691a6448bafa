/* SPDX-License-Identifier: BSD-2-Clause */
/* Quantities: whatever is accepted prints in a form that reads back equal. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/units.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int condition)
{
	if (!condition)
		abort();
}

static void try_rate(const char *text, struct strbuf *out)
{
	struct hd_rate rate, again;
	struct diag d = { .status = HD_OK };

	if (hd_rate_parse(text, &d, &rate) != HD_OK) {
		check(d.message[0]);
		return;
	}
	hd_rate_print(rate, out);
	check(hd_rate_parse(out->text, NULL, &again) == HD_OK && hd_rate_compare(rate, again) == 0);
}

static void try_whole(const char *text, struct strbuf *out)
{
	uint64_t value, again;

	if (hd_time_parse(text, NULL, &value) == HD_OK) {
		hd_time_print(value, out);
		check(hd_time_parse(out->text, NULL, &again) == HD_OK && value == again);
	}
	strbuf_clear(out);
	if (hd_size_parse(text, NULL, &value) == HD_OK) {
		hd_size_print(value, out);
		check(hd_size_parse(out->text, NULL, &again) == HD_OK && value == again);
	}
}

static void try_ratio(const char *text, struct strbuf *out)
{
	struct hd_ratio ratio, again;

	if (hd_ratio_parse(text, NULL, &ratio) != HD_OK)
		return;
	hd_ratio_print(ratio, out);
	check(hd_ratio_parse(out->text, NULL, &again) == HD_OK && ratio.num == again.num &&
	      ratio.den == again.den);
}

static void try_rest(const char *text)
{
	struct hd_range range;
	double number;
	uint64_t whole;

	if (hd_range_parse(text, NULL, &range) == HD_OK)
		check(range.low <= range.high);
	(void)!hd_double_parse(text, NULL, &number);
	(void)!hd_uint_parse(text, NULL, &whole);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = hd_strndup((const char *)data, size);
	struct strbuf out = STRBUF_INIT;

	try_rate(text, &out);
	strbuf_clear(&out);
	try_whole(text, &out);
	strbuf_clear(&out);
	try_ratio(text, &out);
	try_rest(text);
	strbuf_fini(&out);
	free(text);
	return 0;
}
