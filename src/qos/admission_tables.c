/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "qos/admission.h"
#include "subnet/mcast.h"

static const struct column request_columns[] = {
	{ "source", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "destination", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "sl", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "rate", "Mb/s", VALUE_REAL, ORIGIN_GIVEN, 3 },
	{ "admitted", NULL, VALUE_BOOL, ORIGIN_COMPUTED, 0 },
	{ "reason", NULL, VALUE_TEXT, ORIGIN_COMPUTED, 0 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

static const struct column tolerant_columns[] = {
	{ "source", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "destination", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "sl", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "peak", "Mb/s", VALUE_REAL, ORIGIN_GIVEN, 3 },
	{ "mean", "Mb/s", VALUE_REAL, ORIGIN_GIVEN, 3 },
	{ "admitted", NULL, VALUE_BOOL, ORIGIN_COMPUTED, 0 },
	{ "by peak", NULL, VALUE_BOOL, ORIGIN_COMPUTED, 0 },
	{ "reason", NULL, VALUE_TEXT, ORIGIN_COMPUTED, 0 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

static const struct column random_columns[] = {
	{ "tried", NULL, VALUE_UINT, ORIGIN_GIVEN, 0 },
	{ "established", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "attempts", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "load with headers", "%", VALUE_REAL, ORIGIN_COMPUTED, 2 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

static const struct column group_columns[] = {
	{ "group", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "tree", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "MLID", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "members", NULL, VALUE_UINT, ORIGIN_GIVEN, 0 },
	{ "senders besides", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

static const struct column summary_columns[] = {
	{ "live", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "fullest link", NULL, VALUE_TEXT, ORIGIN_COMPUTED, 0 },
	{ "reserved there", "%", VALUE_REAL, ORIGIN_COMPUTED, 2 },
	{ "mean reserved", "%", VALUE_REAL, ORIGIN_COMPUTED, 2 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

static const struct column violation_columns[] = {
	{ "link", NULL, VALUE_TEXT, ORIGIN_COMPUTED, 0 },
	{ "sources", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "asked", "%", VALUE_REAL, ORIGIN_GIVEN, 4 },
	{ "bound", "%", VALUE_REAL, ORIGIN_COMPUTED, 4 },
	{ "seen", "%", VALUE_REAL, ORIGIN_SIMULATED, 4 },
	{ "seen +-", "%", VALUE_REAL, ORIGIN_SIMULATED, 4 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

static void put_link(struct table *t, const struct topo *topo, port_id p)
{
	table_put_textf(t, "%s[%u]", topo_node_of(topo, p)->name,
			topo->ports[p].number);
}

static void show_answers(const struct admission *a, struct results *r)
{
	bool tolerant = a->params.violations.num > 0;
	struct table *t =
		results_table(r, "requests", "in the order of the file",
			      tolerant ? tolerant_columns : request_columns);

	for (size_t i = 0; i < a->n_answers; i++) {
		const struct admission_answer *one = &a->answers[i];

		table_put_text(t, one->request->source);
		table_put_text(t, one->request->destination);
		table_put_uint(t, one->sl);
		table_put_rate(t, one->request->rate);
		if (tolerant)
			table_put_rate(t, one->request->mean);
		table_put_bool(t, one->admitted);
		if (tolerant)
			table_put_bool(t, one->by_peak);
		table_put_text(t, one->reason);
	}
}

static void show_random(const struct admission *a, struct results *r)
{
	struct table *t = results_record(r, "random", "random connections",
					 random_columns);

	table_put_uint(t, a->params.random);
	table_put_uint(t, a->random.established);
	table_put_uint(t, a->random.attempts);
	table_put_real(t, 100 * a->random.wire_load);
}

static void show_groups(const struct admission *a, struct results *r)
{
	struct table *t =
		results_table(r, "groups", "multicast groups", group_columns);

	const size_t n = a->params.groups.n;

	for (size_t i = 0; i < n; i++) {
		const char *text = a->params.groups.items[i];
		/* The last ones: a scenario has its own before them. */
		const struct mcast_group *m =
			&a->subnet->groups[a->subnet->n_groups - n + i];

		table_put_textf(t, "%.*s", (int)strcspn(text, ":"), text);
		table_put_text(t, mcast_method_names[m->method]);
		table_put_uint(t, m->mlid);
		table_put_uint(t, m->n_members);
		table_put_uint(t, m->n_senders);
	}
}

static void show_summary(const struct admission *a, struct results *r)
{
	const struct admission_load load = admission_load_of(&a->broker);
	struct table *t = results_record(r, "summary", "after all requests",
					 summary_columns);

	table_put_uint(t, a->broker.n_live);
	put_link(t, a->subnet->topo, load.fullest);
	table_put_real(t, load.most);
	table_put_real(t, load.mean);
}

/* The links that more than one source uses. */
static void show_violations(const struct admission *a, struct results *r)
{
	const struct stat_broker *b = &a->tolerant;
	struct table *t =
		results_table(r, "violations",
			      "how often a link is asked for more than it has",
			      violation_columns);

	for (port_id p = 0; p < a->subnet->topo->n_ports; p++) {
		if (stat_broker_users(b, p) < 2)
			continue;
		put_link(t, a->subnet->topo, p);
		table_put_uint(t, stat_broker_users(b, p));
		table_put_real(t, 100 * b->allowed);
		table_put_real(t, 100 * stat_broker_bound(b, p));
		table_put_real(t, 100 * a->seen[p].mean);
		table_put_real(t, 100 * a->seen[p].half_width);
	}
}

void admission_show(const struct admission *a, struct results *r)
{
	if (a->requests)
		show_answers(a, r);
	if (a->params.random)
		show_random(a, r);
	if (a->params.groups.n)
		show_groups(a, r);
	if (a->params.violations.num > 0)
		show_violations(a, r);
	else
		show_summary(a, r);
}
