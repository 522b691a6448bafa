/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "cli/commands.h"
#include "cli/output.h"
#include "qos/classes.h"
#include "qos/fill.h"

static const char *const mode_names[] = { "strict", "paper", "et", NULL };
static const char *const place_names[] = { "first", "spread", NULL };

struct values {
	struct common_options common;
	struct hd_rate link;
	struct hd_ratio best_effort;
	unsigned mode;
	unsigned place;
	uint64_t vls;
};

static const struct option options[] = {
	{ .name = "link",
	  .kind = OPT_RATE,
	  .offset = offsetof(struct values, link),
	  .value = "RATE",
	  .initial = "10Gb/s",
	  .help = "data rate of the link" },
	{ .name = "mode",
	  .kind = OPT_CHOICE,
	  .offset = offsetof(struct values, mode),
	  .choices = mode_names,
	  .initial = "strict",
	  .help = "64 entries enforced, slots only, or full entries" },
	{ .name = "place",
	  .kind = OPT_CHOICE,
	  .offset = offsetof(struct values, place),
	  .choices = place_names,
	  .initial = "first",
	  .help = "where a lane's next entry goes" },
	{ .name = "best-effort",
	  .kind = OPT_RATIO,
	  .offset = offsetof(struct values, best_effort),
	  .value = "SHARE",
	  .initial = "20%",
	  .help = "kept for best-effort traffic" },
	{ .name = "vls",
	  .kind = OPT_UINT,
	  .offset = offsetof(struct values, vls),
	  .value = "N",
	  .initial = "15",
	  .low = 1,
	  .high = 15,
	  .help = "data lanes; classes fold onto fewer" },
	{ .name = NULL },
};

static const struct column request_columns[] = {
	{ "connection", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "sl", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "vl", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "slots", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "admitted", NULL, VALUE_BOOL, ORIGIN_COMPUTED, 0 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

static const struct column lane_columns[] = {
	{ "vl", NULL, VALUE_UINT, ORIGIN_GIVEN, 0 },
	{ "slots", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "guaranteed", "Mb/s", VALUE_REAL, ORIGIN_COMPUTED, 3 },
	{ "largest gap", "slots", VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "weights", "64 B", VALUE_TEXT, ORIGIN_COMPUTED, 0 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

/* The low table of one port, and the high one of DBTS. */
struct port {
	struct fill high, low;
	struct sl2vl lanes;
	unsigned refused;
};

static bool admit(struct port *p, enum traffic_class class, uint8_t sl,
		  uint64_t slots)
{
	struct fill *f = class == TC_DBTS ? &p->high : &p->low;
	uint32_t used = p->high.total + p->low.total;

	return slots <= FRAME_SLOTS - used &&
	       fill_add(f, p->lanes.vl[sl], (uint32_t)slots) == HD_OK;
}

/* "DB:64Mb/s"; cuts `word` up. */
static enum hd_status read_request(char *word, struct diag *d,
				   enum traffic_class *class,
				   struct hd_rate *rate)
{
	char *colon = strchr(word, ':');

	if (!colon)
		return diag_fail(
			d, HD_ERR_INPUT,
			"'%s' is no connection (expected CLASS:RATE, e.g. DB:64Mb/s)",
			word);
	*colon = '\0';
	enum hd_status status = traffic_class_parse(word, class);

	*colon = ':';
	if (status != HD_OK || *class > TC_DB)
		return diag_fail(
			d, HD_ERR_INPUT,
			"'%s' is of no class that reserves (expected DBTS or DB)",
			word);
	return hd_rate_parse(colon + 1, d, rate);
}

static void show_table(struct results *r, const char *name, const char *title,
		       const struct fill *f, struct hd_rate link)
{
	struct table *t = results_table(r, name, title, lane_columns);
	struct vlarb_entry entry[VLARB_MAX];
	uint8_t n;

	fill_table(f, entry, &n);
	for (unsigned vl = 0; vl < N_DATA_VLS; vl++) {
		struct strbuf weights = STRBUF_INIT;

		if (f->slots[vl] == 0)
			continue;
		for (unsigned i = 0; i < n; i++) {
			if (entry[i].vl == vl)
				strbuf_printf(&weights, "%s%u",
					      weights.len ? "+" : "",
					      entry[i].weight);
		}
		table_put_uint(t, vl);
		table_put_uint(t, f->slots[vl]);
		table_put_rate(t, slots_rate(f->slots[vl], link));
		table_put_uint(t, fill_gap(f, vl));
		table_put_text(t, weights.text);
		strbuf_fini(&weights);
	}
}

static void init_port(const struct values *v, struct results *r, struct port *p)
{
	struct strbuf lost = STRBUF_INIT;
	const struct hd_rate any = { 1, 1 };

	p->refused = 0;
	p->lanes = class_fold((unsigned)v->vls, &lost);
	if (lost.len)
		results_remark(r, "%u lanes: %s", (unsigned)v->vls, lost.text);
	strbuf_fini(&lost);
	fill_init(&p->high, (enum fill_mode)v->mode, (enum fill_place)v->place);
	fill_init(&p->low, (enum fill_mode)v->mode, (enum fill_place)v->place);
	if (v->best_effort.num)
		(void)admit(p, TC_BE, class_sl(TC_BE, any),
			    slots_of_share(v->best_effort));
	(void)admit(p, TC_CH, class_sl(TC_CH, any), 1);
}

/* Asks for one connection and notes the answer. */
static enum hd_status put_request(char *word, struct hd_rate link,
				  struct port *p, struct table *t,
				  struct diag *d)
{
	enum traffic_class class = TC_DB;
	struct hd_rate rate = { 0, 1 };
	enum hd_status status = read_request(word, d, &class, &rate);

	if (status != HD_OK)
		return status;
	uint8_t sl = class_sl(class, rate);
	uint64_t slots = slots_for(rate, link);
	bool admitted = admit(p, class, sl, slots);

	table_put_text(t, word);
	table_put_uint(t, sl);
	table_put_uint(t, p->lanes.vl[sl]);
	table_put_uint(t, slots);
	table_put_bool(t, admitted);
	p->refused += !admitted;
	return HD_OK;
}

static int run(const struct command *self, int argc, char **argv)
{
	struct values v = { 0 };
	struct diag d = { .status = HD_OK };
	struct port port;
	int n, status;

	if (!command_parse(self, &v, argc, argv, &n, &status))
		return status;
	if (v.best_effort.num > v.best_effort.den)
		return command_usage(
			self, "best effort cannot have more than the link");
	struct results *r = results_new("qos table");

	struct table *t = results_table(r, "connections",
					"in the order they were asked for",
					request_columns);

	init_port(&v, r, &port);
	for (int i = 0; i < n; i++) {
		if (put_request(argv[i], v.link, &port, t, &d) != HD_OK) {
			results_free(r);
			return command_refuse(&d);
		}
	}
	if (port.high.total)
		show_table(r, "high", "high-priority table", &port.high,
			   v.link);
	show_table(r, "low", "low-priority table", &port.low, v.link);
	return output_results(&v.common, r, port.refused == 0);
}

static const struct example examples[] = {
	{ "heddle qos table --link 2.5Gb/s DB:64Kb/s DB:64Mb/s DB:300Mb/s",
	  "how three connections share entries" },
	{ "heddle qos table --place spread DBTS:1Gb/s DB:2Gb/s",
	  "spread over the table, so that no lane waits long" },
	{ NULL, NULL },
};

const struct command command_qos_table = {
	.name = "qos table",
	.summary = "fill one port's arbitration tables with connections",
	.arguments = "CLASS:RATE...",
	.description =
		"Counts each connection in slots of 64 bytes per frame of 64 entries\n"
		"times 255, groups the connections of a service level into entries,\n"
		"and prints the tables. Best effort has its share and challenged\n"
		"traffic its one slot from the start. Classes are DBTS (high table)\n"
		"and DB; the bandwidth decides the service level. Exit status 1 if a\n"
		"connection does not fit.\n",
	.options = options,
	.examples = examples,
	.run = run,
};
