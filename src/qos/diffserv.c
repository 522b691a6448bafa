/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/diffserv.h"

struct diffserv_af diffserv_af(uint8_t dscp)
{
	struct diffserv_af af = { dscp >> 3, (dscp >> 1) & 3 };
	bool is_af = !(dscp & 1) && af.class >= 1 && af.class <= 4 &&
		     af.precedence >= 1;

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

/* SLs of the two maps. AF4 is the most urgent of its kind. */
struct layout {
	uint8_t ef, af[5], be, ch; /* af[1..4] */
};

static const struct layout separate = { 0, { 0, 4, 3, 2, 1 }, 5, 6 };
static const struct layout together = { 0, { 0, 1, 1, 1, 1 }, 2, 3 };

static void map_dscp(struct diffserv_map *map, const struct layout *l,
		     uint8_t dscp)
{
	unsigned af = diffserv_af(dscp).class;

	if (dscp == DSCP_EF) {
		map->class[dscp] = TC_DBTS;
		map->sl[dscp] = l->ef;
	} else if (af) {
		map->class[dscp] = TC_DB;
		map->sl[dscp] = l->af[af];
	} else if (dscp == DSCP_CS6 || dscp == DSCP_CS7) {
		/* RFC 2474, 4.2.2.2: better than default; routing lives here */
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

struct diffserv_map diffserv_map_for(unsigned vls)
{
	struct diffserv_map map = { .separate_af = vls >= 8 };
	const struct layout *l = map.separate_af ? &separate : &together;

	for (unsigned dscp = 0; dscp < DSCP_COUNT; dscp++)
		map_dscp(&map, l, (uint8_t)dscp);
	/* An SL's own mark; precedence 1, since nothing is ever dropped. */
	for (unsigned af = 1; af <= 4; af++)
		map.dscp[l->af[af]] = (uint8_t)(af << 3 | 1 << 1);
	map.dscp[l->ef] = DSCP_EF;
	map.dscp[l->ch] = DSCP_LOWER_EFFORT;
	for (unsigned sl = 0; sl < N_SLS; sl++) {
		unsigned own = map.separate_af || vls >= 4 ? sl : sl / 2;
		unsigned be = map.separate_af || vls >= 4 ? l->be : 1;

		map.lanes.vl[sl] = (uint8_t)(sl <= l->ch ? own : be);
		if (vls == 1)
			map.lanes.vl[sl] = 0;
	}
	return map;
}
