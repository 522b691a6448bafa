/* SPDX-License-Identifier: BSD-2-Clause */
#include "subnet/check/show.h"

#include "subnet/multicast/mcast.h"
#include "topo/topo.h"

struct mcast_group_row {
	const char *mlid, *mgid, *tree, *source, *root;
	uint32_t members;
};
static const struct column group_columns[] = {
	{ "MLID", NULL, CELL(mcast_group_row, mlid), ORIGIN_COMPUTED },
	{ "MGID", NULL, CELL(mcast_group_row, mgid), ORIGIN_COMPUTED },
	{ "tree", NULL, CELL(mcast_group_row, tree) },
	{ "source", NULL, CELL(mcast_group_row, source) },
	{ "root", NULL, CELL(mcast_group_row, root), ORIGIN_COMPUTED },
	{ "members", NULL, CELL(mcast_group_row, members) },
	{ NULL },
};

/* Fate of the packets, and size of the tables. */
struct group_deliveries {
	struct mcast_check c;
	uint64_t mlids_left, entries;
	double size;
};
static const struct column mcast_columns[] = {
	{ "deliveries", NULL, CELL(group_deliveries, c.n_expected), ORIGIN_COMPUTED },
	{ "missing", NULL, CELL(group_deliveries, c.n_missing), ORIGIN_COMPUTED },
	{ "duplicates", NULL, CELL(group_deliveries, c.n_duplicates), ORIGIN_COMPUTED },
	{ "strays", NULL, CELL(group_deliveries, c.n_strays), ORIGIN_COMPUTED },
	{ "loops", NULL, CELL(group_deliveries, c.n_loops), ORIGIN_COMPUTED },
	{ "copies on cables", NULL, CELL(group_deliveries, c.n_cables), ORIGIN_COMPUTED },
	{ "most hops", NULL, CELL(group_deliveries, c.max_hops), ORIGIN_COMPUTED },
	{ "MLIDs left", NULL, CELL(group_deliveries, mlids_left), ORIGIN_COMPUTED },
	{ "MFT entries", NULL, CELL(group_deliveries, entries), ORIGIN_COMPUTED },
	{ "MFT size", "KiB", CELL(group_deliveries, size), ORIGIN_COMPUTED, 1 },
	{ NULL },
};

static const char *source_name(const struct topo *topo, struct table *t,
			       const struct mcast_group *m)
{
	if (m->source != TOPO_NONE)
		return topo_node_of(topo, m->source)->name;
	return m->n_senders ? table_text(t, "any member, %u more", m->n_senders) : "any member";
}

static unsigned mgid_word(unsigned shift)
{
	return MCAST_MGID_PREFIX >> shift & 0xffff;
}

static void list_groups(struct results *r, const struct subnet *s)
{
	const struct topo *topo = s->topo;
	struct table *t = results_table(r, "groups", "multicast groups", group_columns);

	for (uint32_t i = 0; i < s->n_groups; i++) {
		const struct mcast_group *m = &s->groups[i];

		struct mcast_group_row row = {
			.mlid = table_text(t, "0x%04x", m->mlid),
			.mgid = table_text(t, "%x:%x:%x::%x", mgid_word(48), mgid_word(32),
					   mgid_word(16), m->mlid),
			.tree = mcast_method_names[m->method],
			.source = source_name(topo, t, m),
			.members = m->n_members,
		};

		if (m->root != TOPO_NONE)
			row.root = switch_node(s, m->root)->name;
		table_put_row(t, &row);
	}
}

/* Content of the tables, and their memory. */
static void measure_tables(const struct subnet *s, struct group_deliveries *out)
{
	uint64_t words = 0;

	for (unsigned i = 0; i < s->n_subnets; i++) {
		const struct mft *m = &s->mft[i];

		words += (uint64_t)m->n_mlids * s->n_switches * m->words;
		out->entries += mcast_entries(s, i);
	}
	out->size = (double)words * sizeof(uint64_t) / 1024;
}

struct tree_choice_row {
	const char *trees, *which;
	uint32_t mlids, cycle;
	struct mcast_peak peak;
};
static const struct column choice_columns[] = {
	{ "trees", NULL, CELL(tree_choice_row, trees), ORIGIN_COMPUTED },
	{ "MLIDs", NULL, CELL(tree_choice_row, mlids), ORIGIN_COMPUTED },
	{ "busiest cable", "messages", CELL(tree_choice_row, peak.link), ORIGIN_COMPUTED },
	{ "which", NULL, CELL(tree_choice_row, which), ORIGIN_COMPUTED },
	{ "all cables", "messages", CELL(tree_choice_row, peak.total), ORIGIN_COMPUTED },
	{ "cycle", "channels", CELL(tree_choice_row, cycle), ORIGIN_COMPUTED },
	{ NULL },
};

static void put_choice(struct table *t, const struct topo *topo, struct tree_choice_row row)
{
	port_id p = row.peak.link_at;

	if (p != TOPO_NONE)
		row.which =
			table_text(t, "%s[%u]", topo_node_of(topo, p)->name, topo->ports[p].number);
	table_put_row(t, &row);
}

void check_show_choice(struct results *r, const struct subnet *s, const struct mcast_choice *c)
{
	struct table *t = results_table(r, "choice", "one message of every sender, by these trees",
					choice_columns);
	uint32_t n[N_MCAST_METHODS] = { 0 };

	for (uint32_t i = 0; i < c->n; i++)
		n[c->methods[i]]++;
	const char *trees = table_text(t, "chosen: %u shared, %u union, %u shortest",
				       n[MCAST_SHARED], n[MCAST_UNION], n[MCAST_SHORTEST]);

	put_choice(t, s->topo,
		   (struct tree_choice_row){ .trees = trees,
					     .mlids = c->n_mlids,
					     .cycle = c->chosen_cycle,
					     .peak = c->chosen });
	if (!c->shared_fits)
		return;
	put_choice(t, s->topo,
		   (struct tree_choice_row){ .trees = "all shared, as OpenSM's",
					     .mlids = c->n,
					     .cycle = c->shared_cycle,
					     .peak = c->shared });
	if (c->chosen.link < c->shared.link)
		results_remark(r, "the choice takes %.0f %% off the busiest cable",
			       100.0 - 100.0 * (double)c->chosen.link / (double)c->shared.link);
	else if (c->chosen.link > c->shared.link)
		results_remark(r, "shared trees would load less, but close a circle of %u channels",
			       c->shared_cycle);
}

bool check_show_groups(struct results *r, const struct subnet *s)
{
	struct group_deliveries row = { .mlids_left = mcast_mlids_left(s, 0) };

	list_groups(r, s);
	mcast_check(s, &row.c);
	measure_tables(s, &row);
	struct table *t =
		results_record(r, "multicast", "one packet from every sender", mcast_columns);

	const struct mcast_check *c = &row.c;

	table_put_row(t, &row);
	if (!mcast_check_is_clean(c))
		results_remark(
			r,
			"the first fault is of MLID 0x%04x, sent by '%s': '%s' receives %llu copies",
			s->groups[c->fault_group].mlid,
			topo_node_of(s->topo, c->fault_sender)->name,
			c->fault_receiver == TOPO_NONE
				? "no port"
				: topo_node_of(s->topo, c->fault_receiver)->name,
			(unsigned long long)c->fault_copies);
	return mcast_check_is_clean(c);
}
