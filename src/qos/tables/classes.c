/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/tables/classes.h"

#include <assert.h>
#include <strings.h>

#include "qos/tables/vls.h"

enum {
	SL_DB = 0,
	SL_DBTS = 4,
	SL_BE = 8,
	SL_CH = 9,
	SL_PBE = 10,
};

static const char *const names[TC_COUNT] = {
	[TC_DBTS] = "DBTS", [TC_DB] = "DB", [TC_PBE] = "PBE", [TC_BE] = "BE", [TC_CH] = "CH",
};

const char *class_name(enum traffic_class class)
{
	assert(class < TC_COUNT);
	return names[class];
}

enum hd_status class_parse(const char *text, enum traffic_class *out)
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
	static const struct hd_rate limits[CLASS_BANDS - 1] = { { 64000, 1 },
								{ 1550000, 1 },
								{ 64000000, 1 } };
	unsigned band = 0;

	while (band < CLASS_BANDS - 1 && hd_rate_compare(mean, limits[band]) > 0)
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

#define BAND(first, n, of)                                      \
	{                                                       \
		.sl = (first) + (n), .kind = (of), .vl = VL_ANY \
	}

const struct vl_plan *class_plan(void)
{
	static const struct vl_class classes[] = {
		BAND(SL_DBTS, 0, TC_DBTS), BAND(SL_DBTS, 1, TC_DBTS), BAND(SL_DBTS, 2, TC_DBTS),
		BAND(SL_DBTS, 3, TC_DBTS), BAND(SL_DB, 0, TC_DB),     BAND(SL_DB, 1, TC_DB),
		BAND(SL_DB, 2, TC_DB),     BAND(SL_DB, 3, TC_DB),     BAND(SL_BE, 0, TC_BE),
		BAND(SL_CH, 0, TC_CH),     BAND(SL_PBE, 0, TC_PBE),
	};
	static const struct vl_plan plan = {
		.vls = N_DATA_VLS,
		.classes = classes,
		.n_classes = sizeof(classes) / sizeof(*classes),
	};

	return &plan;
}

struct sl2vl class_fold(unsigned vls, struct strbuf *lost)
{
	struct sl2vl map = qos_vls_map(class_plan(), vls);

	qos_vls_sharing(class_plan(), &map, lost);
	return map;
}

uint16_t class_sls_of(enum traffic_class class)
{
	const struct vl_plan *p = class_plan();
	uint16_t sls = 0;

	for (size_t i = 0; i < p->n_classes; i++) {
		if (class == TC_COUNT || p->classes[i].kind == class)
			sls |= (uint16_t)(1u << p->classes[i].sl);
	}
	return sls;
}

uint16_t class_floor_sls(void)
{
	return class_sls_of(TC_COUNT) & (uint16_t)~class_sls_of(TC_PBE);
}

uint16_t class_unreserved_sls(void)
{
	return class_sls_of(TC_BE) | class_sls_of(TC_PBE) | class_sls_of(TC_CH);
}
