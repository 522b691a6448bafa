/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/admission/diffserv.h"

#include "qos/tables/vls.h"

struct diffserv_af diffserv_af(uint8_t dscp)
{
	struct diffserv_af af = { dscp >> 3, (dscp >> 1) & 3 };
	bool is_af = !(dscp & 1) && af.class >= 1 && af.class <= 4 && af.precedence >= 1;

	return is_af ? af : (struct diffserv_af){ 0, 0 };
}

void diffserv_name(uint8_t dscp, struct strbuf *out)
{
	struct diffserv_af af = diffserv_af(dscp);

	if (dscp == DSCP_EF)
		strbuf_puts(out, "EF");
	else if (dscp == DSCP_DEFAULT)
		strbuf_puts(out, "default");
	else if (dscp == DSCP_LOWER_EFFORT)
		strbuf_puts(out, "LE");
	else if (af.class)
		strbuf_printf(out, "AF%u%u", af.class, af.precedence);
	else if (dscp % 8 == 0)
		strbuf_printf(out, "CS%u", dscp / 8);
	else
		strbuf_printf(out, "%u", dscp);
}

/* SLs of the two maps. AF4 is the most urgent AF class. */
struct diffserv_layout {
	uint8_t ef, af[5], be, ch; /* af[1..4] */
};

static const struct diffserv_layout separate = { 0, { 0, 4, 3, 2, 1 }, 5, 6 };
static const struct diffserv_layout together = { 0, { 0, 1, 1, 1, 1 }, 2, 3 };

static void map_dscp(struct diffserv_map *map, const struct diffserv_layout *l, uint8_t dscp)
{
	unsigned af = diffserv_af(dscp).class;

	if (dscp == DSCP_EF) {
		map->class[dscp] = TC_DBTS;
		map->sl[dscp] = l->ef;
	} else if (af) {
		map->class[dscp] = TC_DB;
		map->sl[dscp] = l->af[af];
	} else if (dscp == DSCP_CS6 || dscp == DSCP_CS7) {
		/* RFC 2474, 4.2.2.2: better than default; routing protocols use it */
		map->class[dscp] = TC_DB;
		map->sl[dscp] = l->af[4];
	} else if (dscp == DSCP_LOWER_EFFORT || dscp == DSCP_CS1) {
		map->class[dscp] = TC_CH;
		map->sl[dscp] = l->ch;
	} else {
		map->class[dscp] = TC_BE;
		map->sl[dscp] = l->be;
	}
}

static struct sl2vl layout_vls(const struct diffserv_layout *l, unsigned vls)
{
	const struct vl_class classes[] = {
		{ .sl = l->ef, .kind = TC_DBTS, .vl = VL_ANY },
		{ .sl = l->be, .kind = TC_BE, .vl = VL_ANY },
		{ .sl = l->ch, .kind = TC_CH, .vl = VL_ANY },
		{ .sl = l->af[1], .kind = TC_DB, .vl = VL_ANY },
		{ .sl = l->af[2], .kind = TC_DB, .vl = VL_ANY },
		{ .sl = l->af[3], .kind = TC_DB, .vl = VL_ANY },
		{ .sl = l->af[4], .kind = TC_DB, .vl = VL_ANY },
	};
	const struct vl_plan plan = {
		.vls = vls,
		.classes = classes,
		/* The four AF classes have one SL in common, or one each. */
		.n_classes = l->af[1] == l->af[2] ? 4 : 7,
	};

	return qos_vls_map(&plan, vls);
}

struct diffserv_map diffserv_map_for(unsigned vls)
{
	struct diffserv_map map = { .separate_af = vls >= 8 };
	const struct diffserv_layout *l = map.separate_af ? &separate : &together;

	for (unsigned dscp = 0; dscp < DSCP_COUNT; dscp++)
		map_dscp(&map, l, (uint8_t)dscp);
	/* DSCP of each SL; drop precedence 1, since the fabric drops no packet. */
	for (unsigned af = 1; af <= 4; af++)
		map.dscp[l->af[af]] = (uint8_t)(af << 3 | 1 << 1);
	map.dscp[l->ef] = DSCP_EF;
	map.dscp[l->ch] = DSCP_LOWER_EFFORT;
	map.vls = layout_vls(l, vls);
	return map;
}
