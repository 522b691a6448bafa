/* SPDX-License-Identifier: BSD-2-Clause */
#include <math.h>
#include <stdlib.h>

#include "qos/contention.h"
#include "qos/path.h"
#include "sim/evaluation/goals.h"
#include "sim/show/tables.h"

#define NEAR 0.005 /* half a point of the link is as good as none */

/* ---- what can be --------------------------------------------------------- */

/* The longest way to the first host, and the slowest link of any host's. */
struct way {
	uint32_t links;
	double rate; /* bits per second */
};

static struct way longest_way(const struct fabric *f)
{
	const struct selection *hosts = selector_hosts(f->selector);
	struct way way = { .links = 2, .rate = HUGE_VAL };

	for (uint32_t i = 0; i < hosts->n; i++) {
		struct path path;
		port_id to = hosts->ports[i ? 0 : hosts->n - 1];
		double rate =
			hd_rate_bps(f->subnet.rate_of_port[hosts->ports[i]]);

		if (path_walk(&f->subnet, hosts->ports[i],
			      f->subnet.lid_of_port[to], 0, &path) == HD_OK &&
		    path.n_hops > way.links)
			way.links = path.n_hops;
		if (rate > 0)
			way.rate = fmin(way.rate, rate);
	}
	return way;
}

static struct contention contention_of(const struct goals_case *v)
{
	const struct goals *g = v->goals;
	const struct plan *p = v->plan;
	struct contention c = { .vls = p->tables.vls,
				.vlarb = p->tables.vlarb };

	for (unsigned i = 0; i < g->n; i++) {
		struct shares_lane *lane = &c.lanes[p->outcome[i].vl];

		lane->size[lane->n++].bytes =
			g->items[i].payload + v->link->overhead;
		for (unsigned k = 0; k < lane->n; k++)
			lane->size[k].part = 1.0 / lane->n;
	}
	return c;
}

enum hd_status goals_bounds(const struct goals_case *v, struct diag *d,
			    struct goal_verdict *out)
{
	const struct goals *g = v->goals;
	const struct plan *p = v->plan;
	const struct scn_fabric *model = &v->fabric->scenario->fabric;
	const struct contention c = contention_of(v);
	const struct way way = longest_way(v->fabric);
	double wait[N_DATA_VLS];

	contention_waits(&c, wait);
	for (unsigned i = 0; i < g->n; i++) {
		uint32_t bytes = g->items[i].payload + v->link->overhead;
		double packet = 8.0 * bytes / way.rate;
		/* Heads pass switches while their tails still come. */
		double fixed =
			way.links * (double)model->link.propagation * 1e-12 +
			(way.links - 1) * 1e-12 *
				(double)(model->sw.routing +
					 model->sw.arbitration);

		out[i] = (struct goal_verdict){
			.floor_latency = fixed + packet,
			.bound = fixed +
				 way.links *
					 (packet + 8 * wait[p->outcome[i].vl] /
							   way.rate),
			.share = HUGE_VAL,
		};
		double wanted = (double)g->items[i].latency * 1e-12;

		if (g->items[i].latency && wanted < out[i].floor_latency)
			return diag_fail(
				d, HD_ERR_RANGE,
				"class '%s' wants %.3f us; over %u links at %.4g Gb/s a packet of %u bytes takes %.3f us on an idle fabric, which is the nearest",
				g->items[i].name, wanted * 1e6, way.links,
				way.rate / 1e9, bytes,
				out[i].floor_latency * 1e6);
	}
	return HD_OK;
}

/* ---- what is ------------------------------------------------------------- */

static void put_entries(struct overrides *o, const char *path,
			const struct vlarb_entry *entry, unsigned n)
{
	struct strbuf text = STRBUF_INIT;

	for (unsigned i = 0; i < n; i++)
		strbuf_printf(&text, "%s%u:%u", i ? "," : "", entry[i].vl,
			      entry[i].weight);
	overrides_put(o, "--verify", path, "%s", n ? text.text : "none");
	strbuf_fini(&text);
}

static void put_tables(struct overrides *o, const struct opensm_tables *t)
{
	struct strbuf map = STRBUF_INIT;

	for (unsigned sl = 0; sl < N_SLS; sl++)
		strbuf_printf(&map, "%s%u", sl ? "," : "", t->sl2vl.vl[sl]);
	overrides_put(o, "--verify", "qos.lanes", "%u", t->vls);
	overrides_put(o, "--verify", "qos.sl2vl", "%s", map.text);
	put_entries(o, "qos.high", t->vlarb.high, t->vlarb.n_high);
	put_entries(o, "qos.low", t->vlarb.low, t->vlarb.n_low);
	overrides_put(o, "--verify", "qos.high_limit", "%u",
		      t->vlarb.high_limit);
	strbuf_fini(&map);
}

static void put_row(struct overrides *o, const struct plan_class *c,
		    unsigned number, uint32_t source, unsigned sl)
{
	overrides_put(o, "--verify", "traffic.+.name", "%u", number);
	overrides_put(o, "--verify", "traffic.-.kind", "%s",
		      c->latency ? "cbr" : "saturating");
	overrides_put(o, "--verify", "traffic.-.pattern", "pairs");
	overrides_put(o, "--verify", "traffic.-.source", "%u", source);
	overrides_put(o, "--verify", "traffic.-.destination", "0");
	overrides_put(o, "--verify", "traffic.-.sl", "%u", sl);
	overrides_put(o, "--verify", "traffic.-.payload", "%u", c->payload);
	if (c->latency)
		overrides_put(o, "--verify", "traffic.-.load", "%.6g",
			      (double)c->share.num / (double)c->share.den);
}

/* Classes come from hosts that are far apart, and all go to the first one; the
 * first class from the last host, which is farthest in most fabrics. */
static void put_traffic(struct overrides *o, const struct goals_case *v,
			unsigned silent)
{
	uint32_t hosts = selector_hosts(v->fabric->selector)->n;

	overrides_put(o, "--verify", "traffic", "%s", "");
	for (unsigned i = 0; i < v->goals->n; i++) {
		if (i != silent)
			put_row(o, &v->goals->classes[i], i,
				hosts - 1 - i * (hosts - 1) / v->goals->n,
				v->plan->outcome[i].sl);
	}
}

/* Long enough for some hundred rounds of the tables, by the slowest link. */
static void put_run(struct overrides *o, const struct goals_case *v)
{
	const struct way way = longest_way(v->fabric);
	double round = 0;

	for (unsigned i = 0; i < v->plan->tables.vlarb.n_low; i++)
		round += 64.0 * v->plan->tables.vlarb.low[i].weight + 4122;
	/* Bursts of the high table pass before each packet of a round. */
	double seconds = 100 * 8 * (2 * round + 65536) / way.rate;

	overrides_put(o, "--verify", "run", "%s", "");
	overrides_put(o, "--verify", "run.warmup", "%.0fns",
		      seconds * 1e9 / 10 + 1);
	overrides_put(o, "--verify", "run.measure", "%.0fns",
		      seconds * 1e9 + 1);
	overrides_put(o, "--verify", "run.seed", "1");
}

static void judge_rows(const struct goals_case *v, unsigned silent,
		       const struct fabric *f, const struct sim_metrics *m,
		       struct goal_verdict *out)
{
	struct sim_row *rows = sim_rows(f, m);
	double seconds = (double)(m->to - m->from) * 1e-12;
	const struct selection *hosts = selector_hosts(f->selector);
	double link = hd_rate_bps(f->subnet.rate_of_port[hosts->ports[0]]);
	unsigned row = 0;

	for (unsigned i = 0; i < v->goals->n; i++) {
		const struct plan_class *c = &v->goals->classes[i];

		if (i == silent)
			continue;
		double share = (double)rows[row].delivered_payload *
			       (c->payload + v->link->overhead) / c->payload *
			       8 / seconds / link;

		out[i].share = fmin(out[i].share, share);
		if (rows[row].delivered)
			out[i].latency =
				fmax(out[i].latency,
				     (double)rows[row].latency.max * 1e-12);
		row++;
	}
	sim_rows_free(rows, f->scenario->n_traffic);
}

/* How far it is with a mix, for whoever looks. */
struct watch {
	const struct goals_case *c;
	unsigned done; /* mixes before it */
};

static bool goes_on(const struct watch *w, double share)
{
	return !w->c->progress ||
	       w->c->progress(w->c->context, w->done + share);
}

static bool show_mix(void *context, const struct sim_progress *p)
{
	return goes_on(context, p->share);
}

/* False if it was ended before its time: it says nothing then. */
static bool simulate_mix(const struct fabric *f, struct watch *w,
			 unsigned silent, struct goal_verdict *out)
{
	struct sim *s = sim_new(&f->setup, f->flows, f->n_flows, &f->rules);
	bool whole = sim_run(s, HD_TIME_NEVER, show_mix, w) != SIM_PAUSED;

	if (whole)
		judge_rows(w->c, silent, f, sim_metrics(s), out);
	sim_free(s);
	return whole;
}

static enum hd_status run_mix(struct watch *w, unsigned silent, struct diag *d,
			      struct goal_verdict *out)
{
	const struct goals_case *v = w->c;
	struct overrides o = { 0 };
	struct fabric *f;

	overrides_copy(v->overrides, &o);
	put_tables(&o, &v->plan->tables);
	put_traffic(&o, v, silent);
	put_run(&o, v);
	/* A lane that is alone must be able to fill its link. */
	overrides_put(&o, "--verify", "fabric.switch.input_buffer", "64KiB");
	overrides_put(&o, "--verify", "fabric.host.input_buffer", "64KiB");
	enum hd_status status = fabric_open(v->name, &o, d, &f);

	if (status == HD_OK) {
		/* A few hosts send to one: threads would mostly wait. */
		f->rules.threads = 1;
		w->done += simulate_mix(f, w, silent, out);
		fabric_free(f);
	}
	overrides_fini(&o);
	return status;
}

unsigned goals_mixes(const struct goals *g)
{
	return g->n > 1 ? g->n + 1 : 1;
}

/* A class that was silent in all mixes that are done had no chance yet. */
static void judge(const struct goals_case *v, bool whole,
		  struct goal_verdict *out)
{
	for (unsigned i = 0; i < v->goals->n; i++) {
		const struct goal *goal = &v->goals->items[i];
		double wanted = v->plan->outcome[i].wanted;

		out[i].missed =
			out[i].share < wanted - NEAR ||
			(goal->latency &&
			 out[i].latency > (double)goal->latency * 1e-12);
		out[i].met = whole && !out[i].missed;
	}
}

enum hd_status goals_verify(const struct goals_case *v, struct diag *d,
			    struct goal_verdict *out, unsigned *done)
{
	const struct goals *g = v->goals;
	uint32_t hosts = selector_hosts(v->fabric->selector)->n;
	enum hd_status status = HD_OK;
	struct watch w = { .c = v };

	*done = 0;
	if (hosts <= g->n)
		return diag_fail(
			d, HD_ERR_UNFIT,
			"--verify lets each of %u classes come from a host of its own, and there are %u hosts",
			g->n, hosts);
	for (unsigned i = 0; i < g->n; i++) {
		out[i].share = HUGE_VAL;
		out[i].latency = 0;
	}
	/* All of them; then without each. */
	for (unsigned i = 0;
	     i < goals_mixes(g) && status == HD_OK && goes_on(&w, 0); i++)
		status = run_mix(&w, i ? i - 1 : g->n, d, out);
	judge(v, w.done == goals_mixes(g), out);
	*done = w.done;
	return status;
}

/* ---- as a table ---------------------------------------------------------- */

struct verdict_row {
	const char *class, *goal, *verdict;
	double share, latency, floor, bound;
};

static const struct column columns[] = {
	{ "class", NULL, CELL(verdict_row, class) },
	{ "goal", NULL, CELL(verdict_row, goal) },
	{ "latency alone", "us", CELL(verdict_row, floor), ORIGIN_COMPUTED, 3 },
	{ "bound", "us", CELL(verdict_row, bound), ORIGIN_COMPUTED, 3 },
	{ "least share", "%", CELL(verdict_row, share), ORIGIN_SIMULATED, 2 },
	{ "most latency", "us", CELL(verdict_row, latency), ORIGIN_SIMULATED,
	  3 },
	{ "verdict", NULL, CELL(verdict_row, verdict), ORIGIN_SIMULATED },
	{ NULL },
};

static const char *print_goal(struct table *t, const struct goal *g)
{
	struct strbuf text = STRBUF_INIT;

	if (g->leftovers)
		return "leftovers";
	if (g->has_share)
		strbuf_printf(&text, "at least %.4g%%",
			      100.0 * (double)g->share.num /
				      (double)g->share.den);
	if (g->latency)
		strbuf_printf(&text, "%slatency %.4g us", text.len ? ", " : "",
			      (double)g->latency * 1e-6);
	return table_take(t, &text);
}

static const char *print_verdict(const struct goal_verdict *v)
{
	return v->missed ? "missed" : v->met ? "met" : NULL;
}

void goals_show(const struct goals *g, const struct goal_verdict *v,
		unsigned done, struct results *r)
{
	struct table *t = results_table(
		r, "goals", "what each class asked for and has", columns);

	for (unsigned i = 0; i < g->n; i++) {
		bool seen = v[i].share < HUGE_VAL;

		table_put_row(
			t,
			&(struct verdict_row){
				.class = g->items[i].name,
				.goal = print_goal(t, &g->items[i]),
				.floor = v[i].floor_latency * 1e6,
				.bound = g->items[i].latency ? v[i].bound * 1e6
							     : NAN,
				.share = seen ? 100 * v[i].share : NAN,
				.latency = seen ? v[i].latency * 1e6 : NAN,
				.verdict = print_verdict(&v[i]),
			});
	}
	results_remark(
		r,
		"bound: of a packet of a class that sends no more than its share, over the longest way, each link contended");
	if (done)
		results_remark(
			r,
			"simulated: all classes meet at one host's link, and all but each in turn; latency classes send their share, others without end; buffers hold 64 KiB per lane");
}
