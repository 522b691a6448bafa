/* SPDX-License-Identifier: BSD-2-Clause */
#include "topo/facts.h"

static const struct column fabric_columns[] = {
	{ "family", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "switches", NULL, VALUE_UINT, ORIGIN_GIVEN, 0 },
	{ "hosts", NULL, VALUE_UINT, ORIGIN_GIVEN, 0 },
	{ "target adapters", NULL, VALUE_UINT, ORIGIN_GIVEN, 0 },
	{ "routers", NULL, VALUE_UINT, ORIGIN_GIVEN, 0 },
	{ "end ports", NULL, VALUE_UINT, ORIGIN_GIVEN, 0 },
	{ "subnets", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "parts", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "links", NULL, VALUE_UINT, ORIGIN_GIVEN, 0 },
	{ "links between switches", NULL, VALUE_UINT, ORIGIN_GIVEN, 0 },
	{ "least radix", "ports", VALUE_UINT, ORIGIN_GIVEN, 0 },
	{ "radix", "ports", VALUE_UINT, ORIGIN_GIVEN, 0 },
	{ "diameter", "links", VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "mean distance", "links", VALUE_REAL, ORIGIN_COMPUTED, 3 },
	{ "bisection", "links", VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "bisection is", NULL, VALUE_TEXT, ORIGIN_COMPUTED, 0 },
	{ "bisection at least", "links", VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "share of full bisection", NULL, VALUE_REAL, ORIGIN_COMPUTED, 3 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

static const struct column tier_columns[] = {
	{ "tier", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "switches", NULL, VALUE_UINT, ORIGIN_GIVEN, 0 },
	{ "least ports", NULL, VALUE_UINT, ORIGIN_GIVEN, 0 },
	{ "ports", NULL, VALUE_UINT, ORIGIN_GIVEN, 0 },
	{ "links down", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "links across", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "links up", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

static const struct column link_columns[] = {
	{ "link", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "rate", "Gb/s", VALUE_REAL, ORIGIN_COMPUTED, 3 },
	{ "between switches", NULL, VALUE_UINT, ORIGIN_GIVEN, 0 },
	{ "to hosts", NULL, VALUE_UINT, ORIGIN_GIVEN, 0 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

static void show_fabric(struct results *r, const struct topo *topo,
			const struct topo_facts *f)
{
	struct table *t = results_record(r, "fabric", "the fabric in numbers",
					 fabric_columns);

	table_put_text(t, topo_family_name(topo->family));
	table_put_uint(t, f->switches);
	table_put_uint(t, f->adapters);
	table_put_uint(t, f->tcas);
	table_put_uint(t, f->routers);
	table_put_uint(t, f->end_ports);
	table_put_uint(t, f->subnets);
	table_put_uint(t, f->parts);
	table_put_uint(t, f->cables);
	table_put_uint(t, f->trunks);
	table_put_uint(t, f->least_radix);
	table_put_uint(t, f->most_radix);
	table_put_uint(t, f->distances.longest);
	table_put_real(t, f->distances.mean);
	if (f->bisection.kind == BISECTION_NONE) {
		table_put_none(t);
		table_put_text(t, "none");
		table_put_none(t);
		table_put_none(t);
		return;
	}
	table_put_uint(t, f->bisection.cables);
	table_put_text(t, bisection_kind_text(f->bisection.kind));
	table_put_uint(t, f->bisection.least);
	table_put_real(t, f->bisection_share);
}

static void show_tiers(struct results *r, const struct topo_facts *f)
{
	struct table *t = results_table(
		r, "tiers", "switches by distance from hosts", tier_columns);

	for (unsigned i = 1; i < f->n_tiers; i++) {
		const struct facts_tier *tier = &f->tier[i];

		table_put_uint(t, i);
		table_put_uint(t, tier->switches);
		table_put_uint(t, tier->least_ports);
		table_put_uint(t, tier->most_ports);
		table_put_uint(t, tier->cables_down);
		table_put_uint(t, tier->cables_across);
		table_put_uint(t, tier->cables_up);
	}
}

static void show_links(struct results *r, const struct topo_facts *f)
{
	struct table *t =
		results_table(r, "links", "what links run at", link_columns);

	for (size_t i = 0; i < f->n_links; i++) {
		const struct facts_links *l = &f->links[i];

		if (l->lanes) {
			table_put_textf(t, "%ux %s", l->lanes,
					link_speed_name(l->speed));
			table_put_rate(t, hd_rate_of_link(l->lanes, l->speed));
		} else {
			table_put_text(t, "mismatch");
			table_put_none(t);
		}
		table_put_uint(t, l->between_switches);
		table_put_uint(t, l->to_hosts);
	}
}

void topo_facts_show(const struct topo_facts *f, const struct topo *t,
		     struct results *r)
{
	show_fabric(r, t, f);
	show_tiers(r, f);
	show_links(r, f);
}
