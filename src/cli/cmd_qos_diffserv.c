/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/commands.h"
#include "cli/output.h"
#include "qos/diffserv.h"

static const char *const lane_counts[] = { "1", "2", "4", "8", "15", NULL };
static const unsigned lanes_of_choice[] = { 1, 2, 4, 8, 15 };

struct values {
	struct common_options common;
	unsigned vls;
};

#define FIELD(name) offsetof(struct values, name)

static const struct option options[] = {
	{ "vls", 0, OPT_CHOICE, FIELD(vls), NULL, "8",
	  "data lanes of the subnet's links", lane_counts },
	{ .name = NULL },
};

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

/* Marks that have a name; all others are best effort. */
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
	struct table *t = results_table(
		r, "classes", "what becomes of a packet's mark", class_columns);

	for (unsigned dscp = 0; dscp < DSCP_COUNT; dscp++) {
		if (!is_named((uint8_t)dscp))
			continue;
		const struct class_row row = {
			.mark = name_of(t, (uint8_t)dscp),
			.dscp = dscp,
			.tclass = 4 * dscp,
			.class = traffic_class_name(map->class[dscp]),
			.sl = map->sl[dscp],
			.vl = map->lanes.vl[map->sl[dscp]],
		};

		table_put_row(t, &row);
	}
}

/* SLs that a mark leads to. */
static void show_marks(struct results *r, const struct diffserv_map *map)
{
	struct table *t = results_table(
		r, "marks", "what the first router writes for an SL",
		mark_columns);
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

static int run(const struct command *self, void *values, int n, char **args)
{
	const struct values *v = values;
	unsigned vls = lanes_of_choice[v->vls];
	struct diffserv_map map = diffserv_map_for(vls);
	struct results *r = results_new(self->name);

	(void)n;
	(void)args;
	show_classes(r, &map);
	show_marks(r, &map);
	results_remark(r, "AF's drop precedence has no counterpart: a lossless "
			  "fabric drops nothing, so AF11, AF12 and AF13 are "
			  "one");
	if (!map.separate_af)
		results_remark(r,
			       "AF1 to AF4 share an SL: %u lanes do not allow "
			       "one for each",
			       vls);
	if (vls == 2)
		results_remark(r, "EF and AF share a lane, default and lower "
				  "effort the other");
	if (vls == 1)
		results_remark(r, "one lane: no class is told from another");
	return output_results(&v->common, r, true);
}

static const struct example examples[] = {
	{ "heddle qos diffserv --vls 4",
	  "DSCP to class, SL and VL, and back, with four lanes" },
	{ NULL, NULL },
};

const struct command command_qos_diffserv = {
	.name = "qos diffserv",
	.summary = "DSCP to class, service level and lane, and back",
	.arguments = "",
	.description =
		"Prints how a subnet treats DiffServ's marks: EF is DBTS, AF1x to AF4x\n"
		"are DB (an SL each where lanes allow), default is best effort, lower\n"
		"effort challenged; other marks are best effort. The TClass of the GRH\n"
		"carries the DS byte, 4 times the DSCP, over routers, which choose the\n"
		"SL anew in each subnet (qos.tclasses of a scenario). Then the TClass\n"
		"that the first router writes, by the SL, where a source has not\n"
		"(qos.marks).\n",
	.options = options,
	.examples = examples,
	COMMAND_CALL(run, struct values, 0, 0),
};
