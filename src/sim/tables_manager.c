/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/tables_parts.h"

static const struct column columns[] = {
	{ "event", "us", VALUE_REAL, ORIGIN_GIVEN, 3 },
	{ "cables", NULL, VALUE_UINT, ORIGIN_GIVEN },
	{ "noticed", "us", VALUE_REAL, ORIGIN_COMPUTED, 3 },
	{ "computed", "us", VALUE_REAL, ORIGIN_COMPUTED, 3 },
	{ "first written", "us", VALUE_REAL, ORIGIN_COMPUTED, 3 },
	{ "last written", "us", VALUE_REAL, ORIGIN_COMPUTED, 3 },
	{ "switches", NULL, VALUE_UINT, ORIGIN_COMPUTED },
	{ "blocks", NULL, VALUE_UINT, ORIGIN_COMPUTED },
	{ "entries", NULL, VALUE_UINT, ORIGIN_COMPUTED },
	{ "ports lost", NULL, VALUE_UINT, ORIGIN_COMPUTED },
	{ "unreachable meanwhile", "pairs", VALUE_UINT, ORIGIN_COMPUTED },
	{ "in loops meanwhile", "pairs", VALUE_UINT, ORIGIN_COMPUTED },
	{ "in a circle meanwhile", "channels", VALUE_UINT, ORIGIN_COMPUTED },
	{ NULL },
};

static void remark_loops(const struct fabric_sweep *w, struct results *r)
{
	struct strbuf from = STRBUF_INIT, to = STRBUF_INIT;

	hd_time_print(w->computed, &from);
	hd_time_print(w->last, &to);
	if (w->meanwhile.loops)
		results_remark(r,
			       "while tables were written (%s to %s), packets "
			       "of up to %llu pairs of ports went in circles",
			       from.text, to.text,
			       (unsigned long long)w->meanwhile.loops);
	if (w->meanwhile.cycle)
		results_remark(r,
			       "while tables were written (%s to %s), packets "
			       "of old and new routes could wait for each "
			       "other in a circle of %u channels",
			       from.text, to.text, w->meanwhile.n_cycle);
	strbuf_fini(&from);
	strbuf_fini(&to);
}

void findings_manager(const struct sim_findings *f, struct results *r)
{
	const struct fabric *b = f->build;
	struct table *t;

	if (b->n_sweeps == 0)
		return;
	t = results_table(r, "sm",
			  "what the subnet manager did about links that went "
			  "down or came back",
			  columns);
	for (uint32_t i = 0; i < b->n_sweeps; i++) {
		const struct fabric_sweep *w = &b->sweeps[i];

		table_put_time(t, w->event);
		table_put_uint(t, w->n_events);
		table_put_time(t, w->noticed);
		table_put_time(t, w->computed);
		table_put_time(t, w->first);
		table_put_time(t, w->last);
		table_put_uint(t, w->n_switches);
		table_put_uint(t, w->n_writes);
		table_put_uint(t, w->n_entries);
		table_put_uint(t, w->plan.n_lost_ports);
		table_put_uint(t, w->meanwhile.unreachable);
		table_put_uint(t, w->meanwhile.loops);
		table_put_uint(t, w->meanwhile.n_cycle);
		remark_loops(w, r);
	}
}
