/* SPDX-License-Identifier: BSD-2-Clause */
#include "measure/results.h"
#include "qos/admission/diffserv.h"

struct class_row {
	const char *mark;
	uint64_t dscp, tclass;
	const char *class;
	uint64_t sl, vl;
};

static const struct column class_columns[] = {
	{ "mark", NULL, CELL(class_row, mark) },
	{ "DSCP", NULL, CELL(class_row, dscp) },
	{ "TClass", NULL, CELL(class_row, tclass), ORIGIN_COMPUTED },
	{ "class", NULL, CELL(class_row, class), ORIGIN_COMPUTED },
	{ "SL", NULL, CELL(class_row, sl), ORIGIN_COMPUTED },
	{ "VL", NULL, CELL(class_row, vl), ORIGIN_COMPUTED },
	{ NULL },
};

struct mark_row {
	uint64_t sl;
	const char *mark;
	uint64_t tclass;
};

static const struct column mark_columns[] = {
	{ "SL", NULL, CELL(mark_row, sl) },
	{ "mark", NULL, CELL(mark_row, mark), ORIGIN_COMPUTED },
	{ "TClass", NULL, CELL(mark_row, tclass), ORIGIN_COMPUTED },
	{ NULL },
};

/* DSCPs with a name; all others are best effort. */
static bool is_named(uint8_t dscp)
{
	return dscp == DSCP_EF || dscp == DSCP_LOWER_EFFORT || dscp % 8 == 0 ||
	       diffserv_af(dscp).class > 0;
}

static const char *name_of(struct table *t, uint8_t dscp)
{
	struct strbuf name = STRBUF_INIT;

	diffserv_name(dscp, &name);
	return table_take(t, &name);
}

static void show_classes(struct results *r, const struct diffserv_map *map)
{
	struct table *t =
		results_table(r, "classes", "what becomes of a packet's mark", class_columns);

	for (unsigned dscp = 0; dscp < DSCP_COUNT; dscp++) {
		if (!is_named((uint8_t)dscp))
			continue;
		const struct class_row row = {
			.mark = name_of(t, (uint8_t)dscp),
			.dscp = dscp,
			.tclass = 4 * dscp,
			.class = class_name(map->class[dscp]),
			.sl = map->sl[dscp],
			.vl = map->vls.vl[map->sl[dscp]],
		};

		table_put_row(t, &row);
	}
}

/* The SL of each DSCP. */
static void show_marks(struct results *r, const struct diffserv_map *map)
{
	struct table *t =
		results_table(r, "marks", "what the first router writes for an SL", mark_columns);
	unsigned used = 0;

	for (unsigned dscp = 0; dscp < DSCP_COUNT; dscp++)
		used |= 1u << map->sl[dscp];
	for (uint8_t sl = 0; sl < N_SLS; sl++) {
		if (!(used >> sl & 1))
			continue;
		const struct mark_row row = {
			.sl = sl,
			.mark = name_of(t, map->dscp[sl]),
			.tclass = diffserv_tclass(map, sl),
		};

		table_put_row(t, &row);
	}
}

void diffserv_tables(const struct diffserv_map *map, struct results *r)
{
	show_classes(r, map);
	show_marks(r, map);
}
