/* SPDX-License-Identifier: BSD-2-Clause */
#include "subnet/inspect/show.h"

#include "subnet/mcast.h"
#include "topo/topo.h"

static const struct column group_columns[] = {
	{ "MLID", NULL, VALUE_TEXT, ORIGIN_COMPUTED, 0 },
	{ "MGID", NULL, VALUE_TEXT, ORIGIN_COMPUTED, 0 },
	{ "tree", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "source", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "root", NULL, VALUE_TEXT, ORIGIN_COMPUTED, 0 },
	{ "members", NULL, VALUE_UINT, ORIGIN_GIVEN, 0 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

static const struct column mcast_columns[] = {
	{ "deliveries", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "missing", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "duplicates", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "strays", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "loops", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "copies on cables", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "most hops", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "MLIDs left", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "MFT entries", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "MFT size", "KiB", VALUE_REAL, ORIGIN_COMPUTED, 1 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

static void list_groups(struct results *r, const struct subnet *s)
{
	const struct topo *topo = s->topo;
	struct table *t =
		results_table(r, "groups", "multicast groups", group_columns);

	for (uint32_t i = 0; i < s->n_groups; i++) {
		const struct mcast_group *m = &s->groups[i];

		table_put_textf(t, "0x%04x", m->mlid);
		table_put_textf(
			t, "%x:%x:%x::%x", (unsigned)(MCAST_MGID_PREFIX >> 48),
			(unsigned)(MCAST_MGID_PREFIX >> 32 & 0xffff),
			(unsigned)(MCAST_MGID_PREFIX >> 16 & 0xffff), m->mlid);
		table_put_text(t, mcast_method_names[m->method]);
		if (m->source == TOPO_NONE && m->n_senders)
			table_put_textf(t, "any member, %u more", m->n_senders);
		else if (m->source == TOPO_NONE)
			table_put_text(t, "any member");
		else
			table_put_text(t, topo_node_of(topo, m->source)->name);
		if (m->root == TOPO_NONE)
			table_put_none(t);
		else
			table_put_text(
				t,
				topo->nodes[s->node_of_switch[m->root]].name);
		table_put_uint(t, m->n_members);
	}
}

/* Rows with a port in them, and what the tables take in memory. */
static void put_table_size(struct table *t, const struct subnet *s)
{
	uint64_t entries = 0, words = 0;

	for (unsigned i = 0; i < s->n_subnets; i++) {
		const struct mft *m = &s->mft[i];
		size_t rows = (size_t)m->n_mlids * s->n_switches;

		words += rows * m->words;
		for (size_t row = 0; row < rows; row++) {
			bool any = false;

			for (uint32_t w = 0; w < m->words; w++)
				any |= m->ports[row * m->words + w] != 0;
			entries += any;
		}
	}
	table_put_uint(t, entries);
	table_put_real(t, (double)words * sizeof(uint64_t) / 1024);
}

static const struct column choice_columns[] = {
	{ "trees", NULL, VALUE_TEXT, ORIGIN_COMPUTED, 0 },
	{ "MLIDs", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "busiest cable", "messages", VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "which", NULL, VALUE_TEXT, ORIGIN_COMPUTED, 0 },
	{ "all cables", "messages", VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "cycle", "channels", VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

static void put_peak(struct table *t, const struct subnet *s,
		     const struct mcast_peak *peak)
{
	const struct topo *topo = s->topo;
	port_id p = peak->link_at;

	table_put_uint(t, peak->link);
	if (p == TOPO_NONE)
		table_put_none(t);
	else
		table_put_textf(t, "%s[%u]", topo_node_of(topo, p)->name,
				topo->ports[p].number);
	table_put_uint(t, peak->total);
}

void show_choice(struct results *r, const struct subnet *s,
		 const struct mcast_choice *c)
{
	struct table *t = results_table(
		r, "choice", "one message of every sender, by these trees",
		choice_columns);
	uint32_t n[N_MCAST_METHODS] = { 0 };

	for (uint32_t i = 0; i < c->n; i++)
		n[c->methods[i]]++;
	table_put_textf(t, "chosen: %u shared, %u union, %u shortest",
			n[MCAST_SHARED], n[MCAST_UNION], n[MCAST_SHORTEST]);
	table_put_uint(t, c->n_mlids);
	put_peak(t, s, &c->chosen);
	table_put_uint(t, c->chosen_cycle);
	if (!c->shared_fits)
		return;
	table_put_text(t, "all shared, as OpenSM's");
	table_put_uint(t, c->n);
	put_peak(t, s, &c->shared);
	table_put_uint(t, c->shared_cycle);
	if (c->chosen.link < c->shared.link)
		results_remark(r,
			       "the choice takes %.0f %% off the busiest cable",
			       100.0 - 100.0 * (double)c->chosen.link /
					       (double)c->shared.link);
	else if (c->chosen.link > c->shared.link)
		results_remark(r,
			       "shared trees would load less, but close a "
			       "circle of %u channels",
			       c->shared_cycle);
}

bool show_groups(struct results *r, const struct subnet *s)
{
	struct mcast_check c;

	list_groups(r, s);
	check_mcast(s, &c);
	struct table *t = results_record(
		r, "multicast", "one packet from every sender", mcast_columns);

	table_put_uint(t, c.n_expected);
	table_put_uint(t, c.n_missing);
	table_put_uint(t, c.n_duplicates);
	table_put_uint(t, c.n_strays);
	table_put_uint(t, c.n_loops);
	table_put_uint(t, c.n_cables);
	table_put_uint(t, c.max_hops);
	table_put_uint(t, mcast_mlids_left(s, 0));
	put_table_size(t, s);
	if (!mcast_check_is_clean(&c))
		results_remark(
			r,
			"the first fault is of MLID 0x%04x, sent by '%s': "
			"'%s' receives %llu copies",
			s->groups[c.fault_group].mlid,
			topo_node_of(s->topo, c.fault_sender)->name,
			c.fault_receiver == TOPO_NONE
				? "nobody"
				: topo_node_of(s->topo, c.fault_receiver)->name,
			(unsigned long long)c.fault_copies);
	return mcast_check_is_clean(&c);
}
