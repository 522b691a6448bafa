/* SPDX-License-Identifier: BSD-2-Clause */
#include "topo/facts.h"

#include <math.h>

/* Marks a row without a number of links. */
#define NO_BISECTION UINT64_MAX

struct fabric_row {
	const char *family, *bisection_is;
	struct topo_facts facts;
};

#define FACT(member) CELL(fabric_row, facts.member)

static const struct column fabric_columns[] = {
	{ "family", NULL, CELL(fabric_row, family) },
	{ "switches", NULL, FACT(switches) },
	{ "hosts", NULL, FACT(adapters) },
	{ "target adapters", NULL, FACT(tcas) },
	{ "routers", NULL, FACT(routers) },
	{ "end ports", NULL, FACT(end_ports) },
	{ "subnets", NULL, FACT(subnets), ORIGIN_COMPUTED },
	{ "parts", NULL, FACT(parts), ORIGIN_COMPUTED },
	{ "links", NULL, FACT(cables) },
	{ "links between switches", NULL, FACT(trunks) },
	{ "least radix", "ports", FACT(least_radix) },
	{ "radix", "ports", FACT(most_radix) },
	{ "diameter", "links", FACT(distances.longest), ORIGIN_COMPUTED },
	{ "mean distance", "links", FACT(distances.mean), ORIGIN_COMPUTED, 3 },
	{ "bisection", "links", CELL_UNLESS(fabric_row, facts.bisection.cables, NO_BISECTION),
	  ORIGIN_COMPUTED },
	{ "bisection is", NULL, CELL(fabric_row, bisection_is), ORIGIN_COMPUTED },
	{ "bisection at least", "links",
	  CELL_UNLESS(fabric_row, facts.bisection.least, NO_BISECTION), ORIGIN_COMPUTED },
	{ "share of full bisection", NULL, FACT(bisection_share), ORIGIN_COMPUTED, 3 },
	{ NULL },
};

struct tier_row {
	unsigned tier;
	struct facts_tier of;
};

static const struct column tier_columns[] = {
	{ "tier", NULL, CELL(tier_row, tier), ORIGIN_COMPUTED },
	{ "switches", NULL, CELL(tier_row, of.switches) },
	{ "least ports", NULL, CELL(tier_row, of.least_ports) },
	{ "ports", NULL, CELL(tier_row, of.most_ports) },
	{ "links down", NULL, CELL(tier_row, of.cables_down), ORIGIN_COMPUTED },
	{ "links across", NULL, CELL(tier_row, of.cables_across), ORIGIN_COMPUTED },
	{ "links up", NULL, CELL(tier_row, of.cables_up), ORIGIN_COMPUTED },
	{ NULL },
};

struct link_kind_row {
	const char *link;
	double rate; /* Gb/s; NaN if the ends do not agree */
	struct facts_links of;
};

static const struct column link_columns[] = {
	{ "link", NULL, CELL(link_kind_row, link) },
	{ "rate", "Gb/s", CELL(link_kind_row, rate), ORIGIN_COMPUTED, 3 },
	{ "between switches", NULL, CELL(link_kind_row, of.between_switches) },
	{ "to hosts", NULL, CELL(link_kind_row, of.to_hosts) },
	{ NULL },
};

static void show_fabric(struct results *r, const struct topo *topo, const struct topo_facts *f)
{
	struct fabric_row row = {
		.family = topo_family_name(topo->family),
		.bisection_is = "none",
		.facts = *f,
	};

	if (f->bisection.kind == BISECTION_NONE) {
		row.facts.bisection.cables = NO_BISECTION;
		row.facts.bisection.least = NO_BISECTION;
		row.facts.bisection_share = NAN;
	} else {
		row.bisection_is = bisection_kind_text(f->bisection.kind);
	}
	table_put_row(results_record(r, "fabric", "the fabric in numbers", fabric_columns), &row);
}

static void show_tiers(struct results *r, const struct topo_facts *f)
{
	struct table *t =
		results_table(r, "tiers", "switches by distance from hosts", tier_columns);

	for (unsigned i = 1; i < f->n_tiers; i++) {
		const struct tier_row row = { .tier = i, .of = f->tier[i] };

		table_put_row(t, &row);
	}
}

static void show_links(struct results *r, const struct topo_facts *f)
{
	struct table *t = results_table(r, "links", "what links run at", link_columns);

	for (size_t i = 0; i < f->n_links; i++) {
		const struct facts_links *l = &f->links[i];
		struct link_kind_row row = { "mismatch", NAN, *l };

		if (l->lanes) {
			row.link = table_text(t, "%ux %s", l->lanes, hd_link_speed_name(l->speed));
			row.rate = hd_rate_bps(hd_rate_of_link(l->lanes, l->speed)) / 1e9;
		}
		table_put_row(t, &row);
	}
}

void topo_facts_show(const struct topo_facts *f, const struct topo *t, struct results *r)
{
	show_fabric(r, t, f);
	show_tiers(r, f);
	show_links(r, f);
}
