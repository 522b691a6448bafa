/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/classes.h"

#include <assert.h>
#include <strings.h>

#include "qos/lanes.h"

enum {
	SL_DB = 0,
	SL_DBTS = 4,
	SL_BE = 8,
	SL_CH = 9,
	SL_PBE = 10,
};

static const char *const names[TC_COUNT] = {
	[TC_DBTS] = "DBTS", [TC_DB] = "DB", [TC_PBE] = "PBE",
	[TC_BE] = "BE",     [TC_CH] = "CH",
};

const char *traffic_class_name(enum traffic_class class)
{
	assert(class < TC_COUNT);
	return names[class];
}

enum hd_status traffic_class_parse(const char *text, enum traffic_class *out)
{
	for (unsigned i = 0; i < TC_COUNT; i++) {
		if (strcasecmp(names[i], text) == 0) {
			*out = (enum traffic_class)i;
			return HD_OK;
		}
	}
	return HD_ERR_NOT_FOUND;
}

unsigned class_band(struct hd_rate mean)
{
	static const struct hd_rate limits[CLASS_BANDS - 1] = {
		{ 64000, 1 }, { 1550000, 1 }, { 64000000, 1 }
	};
	unsigned band = 0;

	while (band < CLASS_BANDS - 1 &&
	       hd_rate_compare(mean, limits[band]) > 0)
		band++;
	return band;
}

uint8_t class_sl(enum traffic_class class, struct hd_rate mean)
{
	switch (class) {
	case TC_DBTS:
		return (uint8_t)(SL_DBTS + class_band(mean));
	case TC_DB:
		return (uint8_t)(SL_DB + class_band(mean));
	case TC_CH:
		return SL_CH;
	case TC_PBE:
		return SL_PBE;
	default:
		return SL_BE;
	}
}

enum traffic_class class_of_sl(uint8_t sl)
{
	if (sl < SL_DB + CLASS_BANDS)
		return TC_DB;
	if (sl < SL_DBTS + CLASS_BANDS)
		return TC_DBTS;
	if (sl == SL_CH)
		return TC_CH;
	return sl == SL_PBE ? TC_PBE : TC_BE;
}

uint16_t class_high_sls(void)
{
	return 0xf << SL_DBTS;
}

/* One row per number of lanes: where each class goes, and what that costs. */
struct folding {
	unsigned vls;
	uint8_t dbts[CLASS_BANDS], db[CLASS_BANDS];
	uint8_t pbe, be, ch;
	const char *lost;
};

static const struct folding foldings[] = {
	{ 15, { 4, 5, 6, 7 }, { 0, 1, 2, 3 }, 10, 8, 9, NULL },
	{ 8,
	  { 0, 1, 2, 3 },
	  { 4, 4, 5, 5 },
	  6,
	  6,
	  7,
	  "DB's bandwidth bands share lanes two by two, PBE shares BE's" },
	{ 4,
	  { 0, 0, 0, 0 },
	  { 1, 1, 1, 1 },
	  2,
	  2,
	  3,
	  "bandwidth bands share a lane (head-of-line blocking between slow and fast connections), PBE shares BE's" },
	{ 2,
	  { 0, 0, 0, 0 },
	  { 0, 0, 0, 0 },
	  1,
	  1,
	  1,
	  "DBTS shares a lane with DB, so its latency bound counts DB's bursts too; CH is no longer kept from BE" },
	{ 1,
	  { 0, 0, 0, 0 },
	  { 0, 0, 0, 0 },
	  0,
	  0,
	  0,
	  "one lane: no class is protected from another" },
};

struct sl2vl class_fold(unsigned vls, struct strbuf *lost)
{
	const struct folding *f = foldings;
	struct sl2vl map;

	while (f->vls > vls)
		f++;
	for (unsigned sl = 0; sl < N_SLS; sl++)
		map.vl[sl] = f->be;
	for (unsigned band = 0; band < CLASS_BANDS; band++) {
		map.vl[SL_DBTS + band] = f->dbts[band];
		map.vl[SL_DB + band] = f->db[band];
	}
	map.vl[SL_CH] = f->ch;
	map.vl[SL_PBE] = f->pbe;
	if (f->lost)
		strbuf_puts(lost, f->lost);
	return map;
}

void class_program(struct subnet *s)
{
	struct sl2vl map[N_DATA_VLS + 1] = { 0 };
	struct strbuf lost = STRBUF_INIT;

	for (unsigned lanes = 1; lanes <= N_DATA_VLS; lanes++)
		map[lanes] = class_fold(lanes, &lost);
	strbuf_fini(&lost);
	lanes_program_each(s, map);
}
