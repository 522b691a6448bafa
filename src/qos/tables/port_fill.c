/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/tables/port_fill.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static bool reserve(struct port_fill *p, unsigned vl, uint64_t slots)
{
	const uint32_t used = p->high.total + p->low.total;
	struct fill *f = p->high_vls >> vl & 1 ? &p->high : &p->low;

	/* A VL with unreserved packets cannot guarantee bandwidth. */
	if (p->unreserved_vls >> vl & 1)
		return false;
	return slots <= FRAME_SLOTS && fill_needs(f, vl, (uint32_t)slots) <= FRAME_SLOTS - used &&
	       fill_add(f, vl, (uint32_t)slots) == HD_OK;
}

/* The VLs of a set of SLs. */
static uint16_t vls_of(const struct port_fill *p, uint16_t sls)
{
	uint16_t vls = 0;

	for (unsigned sl = 0; sl < N_SLS; sl++) {
		if (sls >> sl & 1)
			vls |= (uint16_t)(1u << p->vls.vl[sl]);
	}
	return vls;
}

enum hd_status fill_port_init(struct port_fill *p, const struct port_fill_params *params,
			      struct strbuf *lost, struct diag *d)
{
	*p = (struct port_fill){ .params = *params };
	p->vls = class_fold(params->vls, lost);
	p->high_vls = vls_of(p, class_sls_of(TC_DBTS));
	p->unreserved_vls = vls_of(p, class_unreserved_sls());
	const struct fill_start start = {
		.be_vls = vls_of(p, class_sls_of(TC_BE)),
		.pbe_vls = vls_of(p, class_sls_of(TC_PBE)),
		.ch_vls = vls_of(p, class_sls_of(TC_CH)),
		.be = params->best_effort,
		.pbe = params->preferred,
		.floor_vls = vls_of(p, class_floor_sls()),
	};

	fill_init(&p->high, params->mode, params->place);
	fill_init(&p->low, params->mode, params->place);
	return fill_begin(&p->low, &start) == HD_OK
		       ? HD_OK
		       : diag_fail(d, HD_ERR_FULL,
				   "the shares of best effort leave no slot for the other classes");
}

enum hd_status port_request_read(const char *text, struct diag *d, enum traffic_class *class,
				 struct hd_rate *rate)
{
	const char *colon = strchr(text, ':');

	if (!colon)
		return diag_fail(d, HD_ERR_INPUT,
				 "'%s' is not a connection (expected CLASS:RATE, e.g. DB:64Mb/s)",
				 text);
	char *name = hd_strndup(text, (size_t)(colon - text));
	enum hd_status status = class_parse(name, class);

	free(name);
	if (status != HD_OK || *class > TC_PBE)
		return diag_fail(d, HD_ERR_INPUT,
				 "'%s' is of no class that asks (expected DBTS, DB or PBE)", text);
	return hd_rate_parse(colon + 1, d, rate);
}

struct port_answer fill_port_ask(struct port_fill *p, enum traffic_class class, struct hd_rate rate)
{
	const uint8_t sl = class_sl(class, rate);
	struct port_answer a = {
		.sl = sl,
		.vl = p->vls.vl[sl],
		.slots = slots_for(rate, p->params.link),
	};

	if (class == TC_PBE) {
		uint64_t kept = p->params.preferred.num ? slots_of_share(p->params.preferred) : 0;

		a.admitted = a.slots <= kept - p->preferred_used;
		p->preferred_used += a.admitted ? a.slots : 0;
	} else {
		a.admitted = reserve(p, a.vl, a.slots);
	}
	return a;
}

struct answer_row {
	const char *connection;
	uint64_t sl, vl, slots;
	bool admitted;
};

static const struct column answer_columns[] = {
	{ "connection", NULL, CELL(answer_row, connection) },
	{ "sl", NULL, CELL(answer_row, sl), ORIGIN_COMPUTED },
	{ "vl", NULL, CELL(answer_row, vl), ORIGIN_COMPUTED },
	{ "slots", NULL, CELL(answer_row, slots), ORIGIN_COMPUTED },
	{ "admitted", NULL, CELL(answer_row, admitted), ORIGIN_COMPUTED },
	{ NULL },
};

struct port_fill_vl_row {
	uint64_t vl, slots;
	struct hd_rate guaranteed;
	uint64_t largest_gap;
	const char *weights;
};

static const struct column vl_columns[] = {
	{ "vl", NULL, CELL(port_fill_vl_row, vl) },
	{ "slots", NULL, CELL(port_fill_vl_row, slots), ORIGIN_COMPUTED },
	{ "guaranteed", "Mb/s", CELL(port_fill_vl_row, guaranteed), ORIGIN_COMPUTED, 3 },
	{ "largest gap", "slots", CELL(port_fill_vl_row, largest_gap), ORIGIN_COMPUTED },
	{ "weights", "64 B", CELL(port_fill_vl_row, weights), ORIGIN_COMPUTED },
	{ NULL },
};

static void put_vl(struct table *t, const struct fill *f, unsigned vl, struct hd_rate link)
{
	struct vlarb_entry entry[VLARB_MAX];
	struct strbuf weights = STRBUF_INIT;
	uint8_t n;

	fill_table(f, entry, &n);
	fill_print_weights(entry, n, vl, &weights);
	const struct port_fill_vl_row row = {
		.vl = vl,
		.slots = f->slots[vl],
		.guaranteed = slots_rate(f->slots[vl], link),
		.largest_gap = fill_gap(f, vl),
		.weights = weights.text,
	};

	table_put_row(t, &row);
	strbuf_fini(&weights);
}

static void show_table(struct results *r, const char *name, const char *title, const struct fill *f,
		       struct hd_rate link)
{
	struct table *t = results_table(r, name, title, vl_columns);

	for (unsigned vl = 0; vl < N_DATA_VLS; vl++) {
		if (f->slots[vl])
			put_vl(t, f, vl, link);
	}
}

enum hd_status fill_port_show(struct port_fill *p, const char *const *words, unsigned n,
			      struct results *r, struct diag *d, unsigned *refused)
{
	struct table *t =
		results_table(r, "connections", "in the order they were asked for", answer_columns);
	unsigned left_out = 0;

	for (unsigned i = 0; i < n; i++) {
		enum traffic_class class = TC_DB;
		struct hd_rate rate = { 0, 1 };

		if (port_request_read(words[i], d, &class, &rate) != HD_OK)
			return d->status;
		struct port_answer a = fill_port_ask(p, class, rate);

		const struct answer_row row = {
			.connection = words[i],
			.sl = a.sl,
			.vl = a.vl,
			.slots = a.slots,
			.admitted = a.admitted,
		};

		table_put_row(t, &row);
		left_out += !a.admitted;
	}
	if (p->high.total)
		show_table(r, "high", "high-priority table", &p->high, p->params.link);
	show_table(r, "low", "low-priority table", &p->low, p->params.link);
	*refused = left_out;
	return HD_OK;
}
