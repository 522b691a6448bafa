/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/report/report_internal.h"
#include "subnet/routing/adaptive.h"

static const struct column columns[] = {
	{ "event", "us", CELL_TIME(fabric_sweep, event), ORIGIN_GIVEN, 3 },
	{ "cables", NULL, CELL(fabric_sweep, n_events) },
	{ "noticed", "us", CELL_TIME(fabric_sweep, noticed), ORIGIN_COMPUTED, 3 },
	{ "computed", "us", CELL_TIME(fabric_sweep, computed), ORIGIN_COMPUTED, 3 },
	{ "first written", "us", CELL_TIME(fabric_sweep, first), ORIGIN_COMPUTED, 3 },
	{ "last written", "us", CELL_TIME(fabric_sweep, last), ORIGIN_COMPUTED, 3 },
	{ "switches", NULL, CELL(fabric_sweep, n_switches), ORIGIN_COMPUTED },
	{ "blocks", NULL, CELL(fabric_sweep, n_writes), ORIGIN_COMPUTED },
	{ "entries", NULL, CELL(fabric_sweep, n_entries), ORIGIN_COMPUTED },
	{ "ports lost", NULL, CELL(fabric_sweep, plan.n_lost_ports), ORIGIN_COMPUTED },
	{ "unreachable meanwhile", "pairs", CELL(fabric_sweep, meanwhile.unreachable),
	  ORIGIN_COMPUTED },
	{ "in loops meanwhile", "pairs", CELL(fabric_sweep, meanwhile.loops), ORIGIN_COMPUTED },
	{ "in a circle meanwhile", "channels", CELL(fabric_sweep, meanwhile.n_cycle),
	  ORIGIN_COMPUTED },
	{ NULL },
};

static void remark_loops(const struct fabric_sweep *w, struct results *r)
{
	struct strbuf from = STRBUF_INIT, to = STRBUF_INIT;

	hd_time_print(w->computed, &from);
	hd_time_print(w->last, &to);
	if (w->meanwhile.loops)
		results_remark(
			r,
			"while tables were written (%s to %s), packets of up to %llu pairs of ports went in circles",
			from.text, to.text, (unsigned long long)w->meanwhile.loops);
	if (w->meanwhile.cycle)
		results_remark(
			r,
			"while tables were written (%s to %s), packets of old and new routes could wait for each other in a circle of %u channels",
			from.text, to.text, w->meanwhile.n_cycle);
	strbuf_fini(&from);
	strbuf_fini(&to);
}

/* ---- switches that choose ----------------------------------------------- */

struct chosen {
	uint64_t taken, away;
	double share;
	uint64_t out_of_order;
};
static const struct column chosen_columns[] = {
	{ "choices", NULL, CELL(chosen, taken), ORIGIN_SIMULATED },
	{ "other than the table's", NULL, CELL(chosen, away), ORIGIN_SIMULATED },
	{ "their share", "%", CELL(chosen, share), ORIGIN_SIMULATED, 1 },
	{ "packets out of order", NULL, CELL(chosen, out_of_order), ORIGIN_SIMULATED },
	{ NULL },
};

struct went_around {
	uint64_t packets;
};
static const struct column around_columns[] = {
	{ "packets", NULL, CELL(went_around, packets), ORIGIN_SIMULATED },
	{ NULL },
};

void findings_choices(const struct report_input *f, struct results *r)
{
	struct sim_choice_counts c;

	if (!f->fabric->setup.adaptive)
		return;
	sim_choices(f->metrics->sim, &c);
	struct table *t = results_record(
		r, "adaptive", "what switches chose, where they had a choice", chosen_columns);

	table_put_row(t, &(struct chosen){
				 .taken = c.taken,
				 .away = c.away,
				 .share = c.taken ? 100.0 * (double)c.away / (double)c.taken : 0,
				 .out_of_order = f->metrics->checks.out_of_order,
			 });
	if (!f->fabric->subnet.adaptive->detours)
		return;
	t = results_record(r, "around", "what went by a third group", around_columns);
	table_put_row(t, &(struct went_around){ .packets = c.around });
}

void findings_manager(const struct report_input *f, struct results *r)
{
	const struct fabric *fabric = f->fabric;
	struct table *t;

	if (fabric->n_sweeps == 0)
		return;
	t = results_table(r, "sm",
			  "what the subnet manager did about links that went down or came back",
			  columns);
	for (uint32_t i = 0; i < fabric->n_sweeps; i++) {
		const struct fabric_sweep *w = &fabric->sweeps[i];

		table_put_row(t, w);
		remark_loops(w, r);
	}
}
