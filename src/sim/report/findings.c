/* SPDX-License-Identifier: BSD-2-Clause */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/report/report_internal.h"

struct goal_result_row {
	const char *traffic, *goal, *asked, *found;
	bool met;
};

static const struct column goal_columns[] = {
	{ "traffic", NULL, CELL(goal_result_row, traffic) },
	{ "goal", NULL, CELL(goal_result_row, goal) },
	{ "asked", NULL, CELL(goal_result_row, asked) },
	{ "found", NULL, CELL(goal_result_row, found), ORIGIN_SIMULATED },
	{ "met", NULL, CELL(goal_result_row, met), ORIGIN_SIMULATED },
	{ NULL },
};

struct finding_judge {
	struct table *t;
	const char *row;
	const struct report_row *r;
	double time; /* measured time in seconds */
	bool all_met;
};

static void judge(struct finding_judge *j, const char *goal, struct strbuf *asked,
		  struct strbuf *found, bool met)
{
	const struct goal_result_row shown = {
		.traffic = j->row,
		.goal = goal,
		.asked = asked->text,
		.found = found->text,
		.met = met,
	};

	table_put_row(j->t, &shown);
	strbuf_fini(asked);
	strbuf_fini(found);
	j->all_met &= met;
}

/* The limit of a latency goal; -1: of the mean. */
static void judge_latency(struct finding_judge *j, const char *goal, hd_time asked, double percent)
{
	struct strbuf want = STRBUF_INIT, got = STRBUF_INIT;
	const struct histogram *h = &j->r->latency;
	bool met = false;

	if (!asked)
		return;
	strbuf_puts(&want, "<= ");
	hd_time_print(asked, &want);
	if (h->n == 0) {
		strbuf_puts(&got, "no packet");
	} else {
		double found =
			percent < 0 ? histogram_mean(h) : (double)histogram_percentile(h, percent);

		met = found <= (double)asked;
		strbuf_printf(&got, "%.3f us", found / (double)HD_US);
	}
	judge(j, goal, &want, &got, met);
}

/*
 * A goal for packets that no source offers counts as missed, because it is usually a mistake in the
 * file.
 */
static bool judge_nothing(struct finding_judge *j, const char *goal, struct strbuf *want,
			  struct strbuf *got)
{
	if (j->r->expected)
		return false;
	strbuf_clear(got);
	strbuf_puts(got, "nothing offered");
	judge(j, goal, want, got, false);
	return true;
}

static void judge_share(struct finding_judge *j, const char *goal, struct hd_ratio asked,
			double found)
{
	struct strbuf want = STRBUF_INIT, got = STRBUF_INIT;

	if (!asked.num)
		return;
	strbuf_puts(&want, ">= ");
	hd_ratio_print(asked, &want);
	if (judge_nothing(j, goal, &want, &got))
		return;
	if (isnan(found))
		strbuf_puts(&got, "nothing delivered");
	else
		strbuf_printf(&got, "%.2f%%", found * 100);
	judge(j, goal, &want, &got, found * (double)asked.den >= (double)asked.num);
}

/* A run may end before anything is measured. */
static void judge_throughput(struct finding_judge *j, struct hd_rate asked)
{
	struct strbuf want = STRBUF_INIT, got = STRBUF_INIT;
	double bits = (double)j->r->delivered_payload * 8;
	double found = j->time > 0 ? bits / j->time : NAN;

	if (!asked.num)
		return;
	strbuf_puts(&want, ">= ");
	hd_rate_print(asked, &want);
	if (isnan(found))
		strbuf_puts(&got, "nothing measured");
	else
		strbuf_printf(&got, "%.3f Gb/s", found / 1e9);
	judge(j, "throughput", &want, &got, found >= hd_rate_bps(asked));
}

static void judge_rest(struct finding_judge *j, const struct scn_goal *g)
{
	const struct report_row *r = j->r;

	judge_share(j, "delivered", g->delivered, (double)r->delivered / (double)r->expected);
	judge_share(j, "fairness", g->fairness, r->jain);
	judge_throughput(j, g->throughput);
	if (g->lost != SCN_UNLIMITED) {
		struct strbuf want = STRBUF_INIT, got = STRBUF_INIT;

		strbuf_printf(&want, "<= %llu", (unsigned long long)g->lost);
		if (judge_nothing(j, "lost", &want, &got))
			return;
		strbuf_printf(&got, "%llu", (unsigned long long)r->lost);
		judge(j, "lost", &want, &got, r->lost <= g->lost);
	}
}

/* A row whose flows request no admission has no blocking goal, unless it is named. */
static void judge_blocking(struct finding_judge *j, const struct report_input *f, uint32_t row,
			   const struct scn_goal *g)
{
	struct strbuf want = STRBUF_INIT, got = STRBUF_INIT;
	struct row_connections c;

	if (g->blocking.num == SCN_ANY || (!findings_row_connections(f, row, &c) && !g->row))
		return;
	strbuf_puts(&want, "<= ");
	hd_ratio_print(g->blocking, &want);
	if (c.asked)
		strbuf_printf(&got, "%.2f%%", 100 * c.blocking.mean);
	else
		strbuf_puts(&got, "no requests");
	judge(j, "blocking", &want, &got,
	      c.asked && c.blocking.mean * (double)g->blocking.den <= (double)g->blocking.num);
}

static void judge_broken(struct finding_judge *j, const struct report_input *f, uint32_t row,
			 const struct scn_goal *g)
{
	struct strbuf want = STRBUF_INIT, got = STRBUF_INIT;
	struct row_connections c;

	if (g->broken == SCN_UNLIMITED || (!findings_row_connections(f, row, &c) && !g->row))
		return;
	strbuf_printf(&want, "<= %llu", (unsigned long long)g->broken);
	if (c.asked > c.blocked)
		strbuf_printf(&got, "%llu", (unsigned long long)c.broken);
	else
		strbuf_puts(&got, "none admitted");
	judge(j, "broken", &want, &got, c.asked > c.blocked && c.broken <= g->broken);
}

/* Each admitted connection meets the deadline of its row. */
static void judge_deadline(struct finding_judge *j, const struct report_input *f, uint32_t row)
{
	struct strbuf want = STRBUF_INIT, got = STRBUF_INIT;
	struct row_connections c;

	(void)findings_row_connections(f, row, &c);
	if (!c.deadline || c.asked == c.blocked || !c.worst)
		return;
	strbuf_puts(&want, "<= ");
	hd_time_print(c.deadline, &want);
	strbuf_printf(&got, "%.3f us", (double)c.worst / (double)HD_US);
	judge(j, "deadline", &want, &got, c.late == 0);
}

static bool has_deadlines(const struct scenario *s)
{
	bool any = false;

	for (size_t i = 0; i < s->n_traffic; i++)
		any |= s->traffic[i].deadline > 0;
	return any;
}

bool findings_goals(const struct report_input *f, const struct report_row *rows, struct results *r)
{
	const struct scenario *s = f->fabric->scenario;
	struct finding_judge j = {
		.time = findings_seconds(f->metrics),
		.all_met = true,
	};

	if (!s->n_traffic || (!s->n_goals && !has_deadlines(s)))
		return true;
	j.t = results_table(r, "goals", "what the scenario asks for", goal_columns);
	for (size_t i = 0; i < s->n_goals; i++) {
		const struct scn_goal *g = &s->goals[i];

		for (size_t k = 0; k < s->n_traffic; k++) {
			if (g->row && strcmp(g->row, s->traffic[k].name) != 0)
				continue;
			j.row = s->traffic[k].name;
			j.r = &rows[k];
			judge_latency(&j, "mean", g->mean, -1);
			judge_latency(&j, "p50", g->p50, 50);
			judge_latency(&j, "p99", g->p99, 99);
			judge_latency(&j, "p99.9", g->p999, 99.9);
			judge_latency(&j, "max", g->max, 100);
			judge_rest(&j, g);
			judge_blocking(&j, f, (uint32_t)k, g);
			judge_broken(&j, f, (uint32_t)k, g);
		}
	}
	for (size_t k = 0; k < s->n_traffic; k++) {
		j.row = s->traffic[k].name;
		judge_deadline(&j, f, (uint32_t)k);
	}
	return j.all_met;
}

struct wait_row {
	uint64_t step;
	const char *node;
	uint64_t in_port, vl, waits_for_port, of_vl;
	const char *towards, *packet_of;
};

static const struct column wait_columns[] = {
	{ "step", NULL, CELL(wait_row, step) },
	{ "node", NULL, CELL(wait_row, node) },
	{ "in port", NULL, CELL(wait_row, in_port), ORIGIN_SIMULATED },
	{ "VL", NULL, CELL(wait_row, vl), ORIGIN_SIMULATED },
	{ "waits for port", NULL, CELL(wait_row, waits_for_port), ORIGIN_SIMULATED },
	{ "of VL", NULL, CELL(wait_row, of_vl), ORIGIN_SIMULATED },
	{ "towards", NULL, CELL(wait_row, towards) },
	{ "packet of", NULL, CELL(wait_row, packet_of), ORIGIN_SIMULATED },
	{ NULL },
};

static unsigned number_of(const struct fabric *fabric, uint32_t port)
{
	return port - fabric->setup.nodes[fabric->setup.ports[port].node].first_port;
}

static const char *node_name(const struct fabric *fabric, uint32_t port)
{
	return topo_node_of(&fabric->topo, fabric->setup.ports[port].origin)->name;
}

static const char *packet_name(const struct fabric *fabric, const struct sim_wait *w,
			       struct table *t)
{
	struct strbuf name = STRBUF_INIT;

	if (w->flow < fabric->n_flows)
		findings_flow_name(fabric, w->flow, &name);
	strbuf_printf(&name, " #%u", w->sequence);
	return table_take(t, &name);
}

void findings_deadlock(const struct report_input *f, struct results *r)
{
	const struct fabric *fabric = f->fabric;
	struct sim_wait *waits = NULL;
	uint32_t n = sim_deadlock(f->sim, &waits);

	if (n == 0) {
		results_remark(
			r, "the fabric is blocked at %.3f us: it holds packets that cannot move",
			(double)sim_now(f->sim) / (double)HD_US);
		free(waits);
		return;
	}
	struct strbuf ring = STRBUF_INIT;
	struct table *t = results_table(
		r, "deadlock",
		"packets that wait for each other in a circle: each for space in the next one's buffer",
		wait_columns);

	for (uint32_t i = 0; i < n; i++) {
		const struct sim_wait *w = &waits[i];

		const struct wait_row row = {
			.step = i + 1,
			.node = node_name(fabric, w->out_port),
			.in_port = number_of(fabric, w->in_port),
			.vl = w->vl,
			.waits_for_port = number_of(fabric, w->out_port),
			.of_vl = w->out_vl,
			.towards = node_name(fabric, fabric->setup.ports[w->out_port].peer),
			.packet_of = packet_name(fabric, w, t),
		};

		table_put_row(t, &row);
		strbuf_printf(&ring, "%s -> ", node_name(fabric, w->out_port));
	}
	results_remark(r, "deadlock at %.3f us: %s%s; no packet of this circle can ever move",
		       (double)sim_now(f->sim) / (double)HD_US, ring.text,
		       node_name(fabric, waits[0].out_port));
	free(waits);
	strbuf_fini(&ring);
}
