/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/port_fill.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static bool reserve(struct port_fill *p, struct fill *f, unsigned vl,
		    uint64_t slots)
{
	const uint32_t used = p->high.total + p->low.total;

	return slots <= FRAME_SLOTS - used &&
	       fill_add(f, vl, (uint32_t)slots) == HD_OK;
}

void port_fill_init(struct port_fill *p, const struct port_fill_params *params,
		    struct strbuf *lost)
{
	const struct hd_rate any = { 1, 1 };

	*p = (struct port_fill){ .params = *params };
	p->lanes = class_fold(params->vls, lost);
	fill_init(&p->high, params->mode, params->place);
	fill_init(&p->low, params->mode, params->place);
	if (params->best_effort.num)
		(void)reserve(p, &p->low, p->lanes.vl[class_sl(TC_BE, any)],
			      slots_of_share(params->best_effort));
	(void)reserve(p, &p->low, p->lanes.vl[class_sl(TC_CH, any)], 1);
	if (params->preferred.num)
		(void)reserve(p, &p->low, p->lanes.vl[class_sl(TC_PBE, any)],
			      slots_of_share(params->preferred));
}

enum hd_status port_request_read(const char *text, struct diag *d,
				 enum traffic_class *class,
				 struct hd_rate *rate)
{
	const char *colon = strchr(text, ':');

	if (!colon)
		return diag_fail(
			d, HD_ERR_INPUT,
			"'%s' is no connection (expected CLASS:RATE, e.g. DB:64Mb/s)",
			text);
	char *name = hd_strndup(text, (size_t)(colon - text));
	enum hd_status status = traffic_class_parse(name, class);

	free(name);
	if (status != HD_OK || *class > TC_PBE)
		return diag_fail(
			d, HD_ERR_INPUT,
			"'%s' is of no class that asks (expected DBTS, DB or PBE)",
			text);
	return hd_rate_parse(colon + 1, d, rate);
}

struct port_answer port_fill_ask(struct port_fill *p, enum traffic_class class,
				 struct hd_rate rate)
{
	const uint8_t sl = class_sl(class, rate);
	struct port_answer a = {
		.sl = sl,
		.vl = p->lanes.vl[sl],
		.slots = slots_for(rate, p->params.link),
	};

	if (class == TC_PBE) {
		uint64_t kept = p->params.preferred.num
					? slots_of_share(p->params.preferred)
					: 0;

		a.admitted = a.slots <= kept - p->preferred_used;
		p->preferred_used += a.admitted ? a.slots : 0;
	} else {
		a.admitted = reserve(p, class == TC_DBTS ? &p->high : &p->low,
				     a.vl, a.slots);
	}
	return a;
}

static const struct column answer_columns[] = {
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

static void put_lane(struct table *t, const struct fill *f, unsigned vl,
		     struct hd_rate link)
{
	struct vlarb_entry entry[VLARB_MAX];
	struct strbuf weights = STRBUF_INIT;
	uint8_t n;

	fill_table(f, entry, &n);
	vlarb_print_weights(entry, n, vl, &weights);
	table_put_uint(t, vl);
	table_put_uint(t, f->slots[vl]);
	table_put_rate(t, slots_rate(f->slots[vl], link));
	table_put_uint(t, fill_gap(f, vl));
	table_put_text(t, weights.text);
	strbuf_fini(&weights);
}

static void show_table(struct results *r, const char *name, const char *title,
		       const struct fill *f, struct hd_rate link)
{
	struct table *t = results_table(r, name, title, lane_columns);

	for (unsigned vl = 0; vl < N_DATA_VLS; vl++) {
		if (f->slots[vl])
			put_lane(t, f, vl, link);
	}
}

enum hd_status port_fill_show(struct port_fill *p, const char *const *words,
			      unsigned n, struct results *r, struct diag *d,
			      unsigned *refused)
{
	struct table *t = results_table(r, "connections",
					"in the order they were asked for",
					answer_columns);
	unsigned left_out = 0;

	for (unsigned i = 0; i < n; i++) {
		enum traffic_class class = TC_DB;
		struct hd_rate rate = { 0, 1 };

		if (port_request_read(words[i], d, &class, &rate) != HD_OK)
			return d->status;
		struct port_answer a = port_fill_ask(p, class, rate);

		table_put_text(t, words[i]);
		table_put_uint(t, a.sl);
		table_put_uint(t, a.vl);
		table_put_uint(t, a.slots);
		table_put_bool(t, a.admitted);
		left_out += !a.admitted;
	}
	if (p->high.total)
		show_table(r, "high", "high-priority table", &p->high,
			   p->params.link);
	show_table(r, "low", "low-priority table", &p->low, p->params.link);
	*refused = left_out;
	return HD_OK;
}
