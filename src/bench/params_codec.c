/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench/params_codec.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "bench/ranks.h"
#include "wire/cursor.h"

#define VERSION UINT64_C(0x4864426e63680002) /* "HdBnch", 2 */

/* Memory, queues and tables are made by these: more would be an attack. */
#define MOST_BYTES    (UINT64_C(1) << 30)
#define MOST_REQUESTS (UINT64_C(1) << 24)
#define ANY           UINT64_MAX

struct params_field {
	const char *name;
	size_t offset, size;
	uint64_t low, high;
};

#define FIELD(field, low, high)                                                  \
	{                                                                        \
#field, offsetof(struct bench_params, field),                    \
			sizeof(((struct bench_params *)0)->field), (low), (high) \
	}

static const struct params_field fields[] = {
	FIELD(core, 0, CORE_COST),
	FIELD(verb, 0, VERB_ATOMIC),
	FIELD(cost, 0, COST_POLL_EMPTY),
	FIELD(transport, 0, QP_UD),
	FIELD(size, 1, MOST_BYTES),
	FIELD(iterations, 0, ANY),
	FIELD(warmup, 0, MOST_REQUESTS),
	FIELD(duration, 0, ANY),
	FIELD(limit, 0, ANY),
	FIELD(window, 1, MOST_REQUESTS),
	FIELD(qps, 1, BENCH_MAX_QPS),
	FIELD(segments, 1, WR_MAX_SGE),
	FIELD(max_sge, 1, WR_MAX_SGE),
	FIELD(mtu, 256, 4096),
	FIELD(contenders, 0, RANKS_MAX),
	FIELD(loaders, 0, RANKS_MAX),
	FIELD(receivers, 0, RANKS_MAX),
	FIELD(threads, 1, RANKS_MAX),
	FIELD(scheme, 0, 2),
	FIELD(reuse, 0, 100),
	FIELD(work_share, 0, 10000),
	FIELD(entries, 1, MOST_REQUESTS),
	FIELD(pkey, 0, UINT16_MAX),
	FIELD(peer_pkey, 0, UINT16_MAX),
	FIELD(sl, 0, 15),
	FIELD(load_sl, 0, 15),
	FIELD(events, 0, 1),
	FIELD(huge, 0, 1),
	FIELD(weighted, 0, 1),
	FIELD(may_fail, 0, 1),
};

static_assert(sizeof(fields) / sizeof(*fields) == PARAMS_N_FIELDS,
	      "a letter has room for every field");

/* Fields are unsigned integers of 1, 2, 4 or 8 bytes. */
static uint64_t param_get(const struct params_field *f, const void *params)
{
	const uint8_t *at = (const uint8_t *)params + f->offset;
	uint16_t half;
	uint32_t word;
	uint64_t all;

	switch (f->size) {
	case 1:
		return *at;
	case 2:
		memcpy(&half, at, sizeof(half));
		return half;
	case 4:
		memcpy(&word, at, sizeof(word));
		return word;
	default:
		memcpy(&all, at, sizeof(all));
		return all;
	}
}

static void param_set(const struct params_field *f, void *params, uint64_t value)
{
	uint8_t *at = (uint8_t *)params + f->offset;
	uint16_t half = (uint16_t)value;
	uint32_t word = (uint32_t)value;

	switch (f->size) {
	case 1:
		*at = (uint8_t)value;
		break;
	case 2:
		memcpy(at, &half, sizeof(half));
		break;
	case 4:
		memcpy(at, &word, sizeof(word));
		break;
	default:
		memcpy(at, &value, sizeof(value));
		break;
	}
}

void params_encode(const struct bench_params *p, uint8_t out[PARAMS_CODE_SIZE])
{
	store_be64(out, VERSION);
	for (size_t i = 0; i < PARAMS_N_FIELDS; i++)
		store_be64(out + 8 * (i + 1), param_get(&fields[i], p));
}

enum hd_status params_decode(const uint8_t *bytes, size_t size, struct diag *d,
			     struct bench_params *out)
{
	struct bench_params p = { 0 };

	if (size != PARAMS_CODE_SIZE || load_be64(bytes) != VERSION)
		return diag_fail(d, HD_ERR_INPUT, "the other side is another version");
	for (size_t i = 0; i < PARAMS_N_FIELDS; i++) {
		const struct params_field *f = &fields[i];
		uint64_t value = load_be64(bytes + 8 * (i + 1));

		if (value < f->low || value > f->high)
			return diag_fail(d, HD_ERR_INPUT,
					 "the other side asks for %s %llu, expected %llu to %llu",
					 f->name, (unsigned long long)value,
					 (unsigned long long)f->low, (unsigned long long)f->high);
		param_set(f, &p, value);
	}
	*out = p;
	return HD_OK;
}
