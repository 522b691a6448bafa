/* SPDX-License-Identifier: BSD-2-Clause */
#include "compare.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- plans ---- */

static void arrivals_keep(const struct plan *p, struct scenario *s)
{
	uint32_t next[64] = { 0 }; /* sequence numbers stay without gaps */
	size_t kept = 0;

	assert(s->n_arrivals <= PLAN_MAX_ARRIVALS);
	for (size_t i = 0; i < s->n_arrivals; i++) {
		struct sim_arrival a = s->arrivals[i];

		if (p->no_arrival[i])
			continue;
		assert(a.flow < 64);
		a.sequence = next[a.flow]++;
		s->arrivals[kept++] = a;
	}
	s->n_arrivals = kept;
}

/*
 * Queue pairs that still have something to send; which they do at equal gaps,
 * so that it is always the last messages that were left out.
 */
static void pairs_keep(struct scenario *s)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < s->pairs.n; i++) {
		const struct oracle_pair *p = &s->pairs.list[i];
		bool sends = false;

		for (size_t k = 0; k < s->n_arrivals; k++) {
			struct sim_arrival *a = &s->arrivals[k];

			if (a->flow != p->flow)
				continue;
			a->time = pair_time(p, a->sequence);
			sends = true;
		}
		if (sends)
			s->pairs.list[kept++] = *p;
	}
	s->pairs.n = kept;
	scenario_sort(s);
}

/* The operations of a graph that are left; `first` is the number of its first
 * one in the plan. */
static void graph_keep(const struct plan *p, size_t first, struct oracle_graph *g)
{
	uint32_t to[PLAN_MAX_OPS], kept = 0;
	size_t edges = 0;

	for (size_t i = 0; i < g->n_ops; i++) {
		to[i] = kept;
		if (!p->no_op[first + i])
			g->ops[kept++] = g->ops[i];
	}
	for (size_t i = 0; i < g->n_edges; i++) {
		struct oracle_edge e = g->edges[i];

		if (p->no_op[first + e.op] || p->no_op[first + e.on])
			continue;
		g->edges[edges++] = (struct oracle_edge){ to[e.op], to[e.on], e.started };
	}
	g->n_ops = kept;
	g->n_edges = edges;
}

/* Returns how many the job had. */
static size_t job_keep(const struct plan *p, size_t first, struct oracle_job *j)
{
	size_t n = 0;
	uint32_t kept = 0;

	for (uint32_t r = 0; j->graphs && r < j->n_ranks; r++) {
		size_t had = j->graphs[r].n_ops;

		graph_keep(p, first + n, &j->graphs[r]);
		n += had;
	}
	for (uint32_t i = 0; i < j->n_steps; i++)
		if (!p->no_op[first + n + i])
			j->steps[kept++] = j->steps[i];
	n += j->n_steps;
	j->n_steps = kept;
	return n;
}

static bool job_is_empty(const struct oracle_job *j)
{
	size_t n = j->n_steps;

	for (uint32_t r = 0; j->graphs && r < j->n_ranks; r++)
		n += j->graphs[r].n_ops;
	return n == 0;
}

/* Returns how many operations there were, steps being operations too. */
static size_t jobs_keep(const struct plan *p, struct scenario *s)
{
	size_t n = 0;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < s->jobs.n; i++) {
		struct oracle_job *j = &s->jobs.list[i];

		n += job_keep(p, n, j);
		assert(n <= PLAN_MAX_OPS);
		if (job_is_empty(j))
			job_fini(j);
		else
			s->jobs.list[kept++] = *j;
	}
	s->jobs.n = kept;
	return n;
}

void plan_draw(const struct plan *p, struct scenario *s)
{
	if (p->sharing)
		scenario_draw_sharing(s, p->seed);
	else if (p->managed)
		scenario_draw_managed(s, p->seed);
	else
		(p->spread ? scenario_draw_spread : scenario_draw)(s, p->seed);
}

void plan_apply(const struct plan *p, struct scenario *s)
{
	struct sim_setup *t = &s->fabric.setup;
	uint32_t kept = 0;

	plan_draw(p, s);
	if (p->horizon > 0)
		s->horizon = p->horizon;
	for (int i = 0; i < PLAIN_COUNT; i++)
		if (p->plain >> i & 1)
			scenario_simplify(s, (enum simplification)i);
	arrivals_keep(p, s);
	pairs_keep(s);
	asks_keep(s);
	jobs_keep(p, s);
	scenario_make_trees(s);
	assert(t->n_faults <= PLAN_MAX_FAULTS);
	for (uint32_t i = 0; i < t->n_faults; i++)
		if (!p->no_fault[i])
			t->faults[kept++] = t->faults[i];
	t->n_faults = kept;
	assert(t->n_changes <= PLAN_MAX_CHANGES);
	kept = 0;
	for (uint32_t i = 0; i < t->n_changes; i++)
		if (!p->no_change[i])
			t->changes[kept++] = t->changes[i];
	t->n_changes = kept;
	assert(t->n_routes <= PLAN_MAX_REROUTES);
	kept = 0;
	for (uint32_t i = 0; i < t->n_routes; i++)
		if (!p->no_reroute[i])
			t->routes[kept++] = t->routes[i];
	t->n_routes = kept;
	for (uint32_t e = 0; e < s->fabric.n_ends; e++)
		if (p->unplugged >> e & 1)
			scenario_unplug(s, e);
}

static void left_out_print(const char *option, const bool *left_out, size_t n, FILE *to)
{
	bool any = false;

	for (size_t i = 0; i < n; i++) {
		size_t from = i;

		if (!left_out[i])
			continue;
		while (i + 1 < n && left_out[i + 1])
			i++;
		fprintf(to, "%s%zu", any ? "," : option, from);
		if (i > from)
			fprintf(to, "-%zu", i);
		any = true;
	}
}

void plan_print(const struct plan *p, FILE *to)
{
	fprintf(to, "--scenario 0x%" PRIx64, p->seed);
	if (p->sharing)
		fprintf(to, " --sharing 1");
	if (p->managed)
		fprintf(to, " --managed 1");
	if (p->spread)
		fprintf(to, " --spread 1");
	if (p->horizon)
		fprintf(to, " --horizon %" PRIu64, p->horizon);
	if (p->plain)
		fprintf(to, " --plain 0x%" PRIx64, p->plain);
	if (p->unplugged)
		fprintf(to, " --unplug 0x%x", p->unplugged);
	left_out_print(" --without-arrivals ", p->no_arrival, PLAN_MAX_ARRIVALS, to);
	left_out_print(" --without-faults ", p->no_fault, PLAN_MAX_FAULTS, to);
	left_out_print(" --without-changes ", p->no_change, PLAN_MAX_CHANGES, to);
	left_out_print(" --without-reroutes ", p->no_reroute, PLAN_MAX_REROUTES, to);
	left_out_print(" --without-operations ", p->no_op, PLAN_MAX_OPS, to);
	fputc('\n', to);
}

/* ---- comparing ---- */

static const char *const fates[] = {
	[SIM_DELIVERED] = "delivered",
	[SIM_LOST_CORRUPT] = "corrupted",
	[SIM_LOST_LINK] = "lost with its link",
	[SIM_LOST_DISCARD] = "discarded",
	[SIM_LOST_NO_ROUTE] = "without a route",
	[SIM_LOST_PARTITION] = "refused by partition",
	[SIM_LOST_VL15] = "lost for want of VL15 space",
	[SIM_LOST_HOPS] = "dropped by its hop limit",
	[SIM_LOST_FULL] = "blocked at its source",
};

static const char *const kinds[] = {
	[SIM_DATA] = "data",
	[SIM_ACK] = "ACK",
	[SIM_CNP] = "CNP",
	[SIM_PROBE] = "probe",
	[SIM_ACCEPT] = "accept",
	[SIM_REJECT] = "reject",
	[SIM_CONTRIBUTION] = "contribution",
	[SIM_RESULT] = "result",
};

#define COUNTER(name)                                         \
	{                                                     \
#name, offsetof(struct sim_counters, name), 1 \
	}
#define COUNTERS(name)                                         \
	{                                                      \
#name, offsetof(struct sim_counters, name), 16 \
	}
static const struct {
	const char *name;
	size_t offset;
	unsigned n;
} counter_table[] = {
	COUNTER(xmit_bytes),
	COUNTER(rcv_bytes),
	COUNTER(xmit_packets),
	COUNTER(rcv_packets),
	COUNTER(xmit_multicast),
	COUNTER(rcv_multicast),
	COUNTERS(xmit_bytes_vl),
	COUNTERS(xmit_packets_vl),
	COUNTERS(rcv_bytes_vl),
	COUNTERS(rcv_packets_vl),
	COUNTERS(xmit_bytes_sl),
	COUNTERS(xmit_packets_sl),
	COUNTERS(rcv_bytes_sl),
	COUNTERS(rcv_packets_sl),
	COUNTER(xmit_wait),
	COUNTER(xmit_discards),
	COUNTER(rcv_errors),
	COUNTER(rcv_relay_errors),
	COUNTER(xmit_constraint_errors),
	COUNTER(rcv_constraint_errors),
	COUNTER(vl15_dropped),
	COUNTER(hop_limit_exceeded),
	COUNTER(link_lost),
	COUNTER(link_downed),
	COUNTER(updates_sent),
};

static int by_time(const void *x, const void *y)
{
	const struct sim_event_record *a = x, *b = y;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	if (a->flow != b->flow)
		return a->flow < b->flow ? -1 : 1;
	if (a->sequence != b->sequence)
		return a->sequence < b->sequence ? -1 : 1;
	if (a->where != b->where)
		return a->where < b->where ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->marked != b->marked)
		return a->marked ? 1 : -1;
	return (int)a->fate - (int)b->fate;
}

static void record_sort(struct sim_record *r)
{
	if (r->n_events > 0)
		qsort(r->events, r->n_events, sizeof(*r->events), by_time);
}

static void event_print(const char *who, const struct sim_record *r, size_t i, struct strbuf *to)
{
	const struct sim_event_record *e;

	if (i >= r->n_events) {
		strbuf_printf(to, "  %s: no further event\n", who);
		return;
	}
	e = &r->events[i];
	strbuf_printf(to, "  %s: at %" PRIu64 " ps %s%s of flow %u sequence %u %s at port %u\n",
		      who, e->time, e->marked ? "marked " : "", kinds[e->kind], e->flow,
		      e->sequence, fates[e->fate], e->where);
}

static bool events_differ(const struct sim_record *want, const struct sim_record *got,
			  struct strbuf *why)
{
	for (size_t i = 0; i < want->n_events || i < got->n_events; i++) {
		if (i < want->n_events && i < got->n_events &&
		    by_time(&want->events[i], &got->events[i]) == 0)
			continue;
		if (why) {
			strbuf_printf(why, "event %zu in order of time:\n", i);
			event_print("oracle ", want, i, why);
			event_print("subject", got, i, why);
		}
		return true;
	}
	return false;
}

static uint64_t counter_get(const struct sim_counters *c, size_t which, unsigned k)
{
	uint64_t value;

	memcpy(&value, (const char *)c + counter_table[which].offset + k * sizeof(value),
	       sizeof(value));
	return value;
}

/* The first counter of a port that differs; false if none does. */
static bool port_differs(const struct sim_record *want, const struct sim_record *got, uint32_t port,
			 struct strbuf *why)
{
	size_t n = sizeof(counter_table) / sizeof(counter_table[0]);

	for (size_t i = 0; i < n; i++) {
		for (unsigned k = 0; k < counter_table[i].n; k++) {
			uint64_t w = counter_get(&want->counters[port], i, k);
			uint64_t g = counter_get(&got->counters[port], i, k);

			if (w == g)
				continue;
			if (why)
				strbuf_printf(why,
					      "port %u %s[%u]: oracle %" PRIu64 ", subject %" PRIu64
					      "\n",
					      port, counter_table[i].name, k, w, g);
			return true;
		}
	}
	return false;
}

bool records_differ(struct sim_record *want, struct sim_record *got, uint32_t n_ports,
		    struct strbuf *why)
{
	bool differ;

	record_sort(want);
	record_sort(got);
	differ = events_differ(want, got, why);
	for (uint32_t i = 0; i < n_ports; i++)
		if (port_differs(want, got, i, why))
			return true;
	return differ;
}

bool compare_differs(const struct scenario *s, const struct subject *subject, struct strbuf *why,
		     struct oracle_stats *stats)
{
	struct oracle_case c = scenario_case(s);
	struct oracle_stats seen;
	struct sim_record want, got;
	bool differs;

	c.horizon = subject->replay(&c, subject->context, &got);
	oracle_run(&c, ORACLE_TRUE, &want, stats ? stats : &seen);
	differs = records_differ(&want, &got, c.setup->n_ports, why);
	oracle_record_fini(&want);
	oracle_record_fini(&got);
	return differs;
}

/* ---- shrinking ---- */

static bool plan_differs(const struct plan *p, const struct subject *subject)
{
	struct scenario s;
	bool differs;

	plan_apply(p, &s);
	differs = s.n_arrivals > 0 && compare_differs(&s, subject, NULL, NULL);
	scenario_clear(&s);
	return differs;
}

/* Leaves out what the caller has marked in `trial`, if it is not needed. */
static bool try(struct plan *p, const struct plan *trial, const struct subject *subject)
{
	if (!plan_differs(trial, subject))
		return false;
	*p = *trial;
	return true;
}

/* Arrivals [from, to), if any is left of them. */
static bool shrink_range(struct plan *p, size_t from, size_t to, const struct subject *subject)
{
	struct plan trial = *p;
	bool marked = false;

	for (size_t i = from; i < to; i++) {
		marked |= !trial.no_arrival[i];
		trial.no_arrival[i] = true;
	}
	return marked && try(p, &trial, subject);
}

/* Blocks of arrivals, from half of them down to single ones. */
static bool shrink_arrivals(struct plan *p, size_t n, const struct subject *subject)
{
	bool any = false;

	for (size_t size = n / 2 + 1; size > 0; size /= 2)
		for (size_t from = 0; from < n; from += size)
			any |= shrink_range(p, from, from + size < n ? from + size : n, subject);
	return any;
}

/* One after the other of the first n of a list in the plan. */
static bool shrink_list(struct plan *p, bool *list, size_t n, const struct subject *subject)
{
	bool any = false;

	for (size_t i = 0; i < n; i++) {
		struct plan kept;

		if (list[i])
			continue;
		kept = *p;
		list[i] = true;
		if (plan_differs(p, subject))
			any = true;
		else
			*p = kept;
	}
	return any;
}

static bool shrink_bits(struct plan *p, uint32_t n_ends, const struct subject *subject)
{
	bool any = false;

	for (uint32_t i = 0; i < PLAIN_COUNT; i++) {
		struct plan trial = *p;

		trial.plain |= UINT64_C(1) << i;
		any |= trial.plain != p->plain && try(p, &trial, subject);
	}
	for (uint32_t e = 0; e < n_ends; e++) {
		struct plan trial = *p;

		trial.unplugged |= UINT32_C(1) << e;
		any |= trial.unplugged != p->unplugged && try(p, &trial, subject);
	}
	return any;
}

/* The earliest end at which they differ already, by halving. */
static void shrink_horizon(struct plan *p, hd_time horizon, hd_time tick,
			   const struct subject *subject)
{
	hd_time low = 0, high = horizon / tick;

	while (high - low > 1) {
		struct plan trial = *p;
		hd_time middle = low + (high - low) / 2;

		trial.horizon = middle * tick;
		if (try(p, &trial, subject))
			high = middle;
		else
			low = middle;
	}
}

void compare_shrink(struct plan *p, const struct subject *subject)
{
	struct scenario s;
	const struct sim_setup *t = &s.fabric.setup;
	size_t n_ops;
	bool any = true;

	plan_draw(p, &s);
	n_ops = jobs_keep(&(struct plan){ 0 }, &s);
	shrink_horizon(p, s.horizon, s.tick, subject);
	for (int rounds = 0; any && rounds < 4; rounds++) {
		any = shrink_bits(p, s.fabric.n_ends, subject);
		any |= shrink_arrivals(p, s.n_arrivals, subject);
		any |= shrink_list(p, p->no_fault, t->n_faults, subject);
		any |= shrink_list(p, p->no_change, t->n_changes, subject);
		any |= shrink_list(p, p->no_reroute, t->n_routes, subject);
		any |= shrink_list(p, p->no_op, n_ops, subject);
	}
	shrink_horizon(p, p->horizon ? p->horizon : s.horizon, s.tick, subject);
	scenario_clear(&s);
}

void compare_report(const struct plan *p, const struct subject *subject, FILE *to)
{
	struct strbuf why = STRBUF_INIT;
	struct scenario s;

	plan_apply(p, &s);
	if (!compare_differs(&s, subject, &why, NULL))
		strbuf_puts(&why, "no difference\n");
	scenario_print(&s, to);
	fprintf(to, "%sreproduce with: ", why.text);
	plan_print(p, to);
	strbuf_fini(&why);
	scenario_clear(&s);
}
