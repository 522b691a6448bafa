/* SPDX-License-Identifier: BSD-2-Clause */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "qos/admission/bound.h"
#include "qos/opensm/path.h"
#include "run/run.h"
#include "sim/report/tables.h"
#include "study/goals.h"

#define NEAR 0.005 /* half a percentage point of the link */

/* ---- what can be --------------------------------------------------------- */

/* The longest path to the first host, and the minimum rate of the hosts' links. */
struct longest_path {
	uint32_t links;
	double rate; /* bits per second */
};

static struct longest_path longest_way(const struct fabric *fabric)
{
	const struct selection *hosts = selector_hosts(fabric->selector);
	struct longest_path way = { .links = 2, .rate = HUGE_VAL };

	for (uint32_t i = 0; i < hosts->n; i++) {
		struct path path;
		port_id to = hosts->ports[i ? 0 : hosts->n - 1];
		double rate = hd_rate_bps(fabric->subnet.rate_of_port[hosts->ports[i]]);

		if (path_walk(&fabric->subnet, hosts->ports[i], fabric->subnet.lid_of_port[to], 0,
			      &path) == HD_OK &&
		    path.n_hops > way.links)
			way.links = path.n_hops;
		if (rate > 0)
			way.rate = fmin(way.rate, rate);
	}
	return way;
}

/* The senders of a latency class: the hosts farthest from the first one. */
struct senders {
	uint32_t *host; /* host numbers, as in selector_hosts */
	struct path *path;
	uint32_t n;
};

static int by_distance(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* All hosts but the first that have a path to it, the farthest first. */
static struct senders all_senders(const struct fabric *fabric)
{
	const struct selection *hosts = selector_hosts(fabric->selector);
	lid_t dlid = fabric->subnet.lid_of_port[hosts->ports[0]];
	uint64_t *key = hd_alloc(hosts->n, sizeof(*key));
	struct senders s = { 0 };

	s.host = hd_alloc(hosts->n, sizeof(*s.host));
	s.path = hd_alloc(hosts->n, sizeof(*s.path));
	for (uint32_t i = 1; i < hosts->n; i++) {
		if (path_walk(&fabric->subnet, hosts->ports[i], dlid, 0, &s.path[0]) == HD_OK)
			key[s.n++] =
				(uint64_t)(PATH_MAX_HOPS - s.path[0].n_hops) << 32 | (hosts->n - i);
	}
	qsort(key, s.n, sizeof(*key), by_distance);
	for (uint32_t i = 0; i < s.n; i++) {
		s.host[i] = hosts->n - (uint32_t)key[i];
		(void)!path_walk(&fabric->subnet, hosts->ports[s.host[i]], dlid, 0, &s.path[i]);
	}
	free(key);
	return s;
}

static void senders_fini(struct senders *s)
{
	free(s->host);
	free(s->path);
}

static uint32_t senders_of(const struct class_goal *g, const struct senders *all)
{
	return g->senders ? g->senders : all->n;
}

/* The senders of the latency classes on the ports of their paths. */
struct latency_flows {
	struct bound_network network;
	struct bound_port *ports; /* by port_id */
	struct bound_flow *flows;
	uint8_t *vls;    /* PATH_MAX_HOPS per class */
	unsigned *class; /* per flow */
	uint32_t n_delays;
};

/* Sizes on the wire of all packets, and of those with priority. */
static struct bound_port port_like(const struct goals_case *v)
{
	struct bound_port p = { .min_fill = 1,
				.table = v->link->vls > 1 ? &v->plan->tables.vlarb : NULL };

	for (unsigned i = 0; i < v->goals->n; i++) {
		double bytes = v->goals->items[i].payload + v->link->overhead;

		p.max_packet = fmax(p.max_packet, bytes);
		if (!v->goals->items[i].latency)
			continue;
		p.min_fill = fmin(p.min_fill, bytes / (64 * ceil(bytes / 64)));
		if (p.min_packet == 0 || bytes < p.min_packet)
			p.min_packet = bytes;
	}
	return p;
}

static void latency_flows_ports(struct latency_flows *c, const struct goals_case *v)
{
	const struct fabric *fabric = v->fabric;
	const struct bound_port like = port_like(v);
	const struct scn_fabric *model = &fabric->scenario->fabric;

	c->ports = hd_alloc(fabric->topo.n_ports, sizeof(*c->ports));
	for (port_id p = 0; p < fabric->topo.n_ports; p++) {
		hd_time fixed = model->link.propagation;
		struct hd_rate rate = fabric->subnet.rate_of_port[p];

		if (topo_is_switch(&fabric->topo, fabric->topo.ports[p].node))
			fixed += model->sw.routing_delay + model->sw.arbitration_delay;
		c->ports[p] = like;
		c->ports[p].fixed = (double)fixed * 1e-12;
		c->ports[p].rate = rate.num ? hd_rate_bps(rate) / 8 : 1;
	}
	c->network = (struct bound_network){
		.ports = c->ports,
		.n_ports = fabric->topo.n_ports,
		.any_order = model->sw.arbitration == SIM_ROUND_ROBIN,
	};
}

static void latency_flows_init(struct latency_flows *c, const struct goals_case *v,
			       const struct senders *all, double link)
{
	const struct goals *g = v->goals;
	uint32_t n = 0;

	latency_flows_ports(c, v);
	c->flows = hd_alloc((size_t)g->n * all->n, sizeof(*c->flows));
	c->class = hd_alloc((size_t)g->n * all->n, sizeof(*c->class));
	c->vls = hd_alloc((size_t)g->n * PATH_MAX_HOPS, 1);
	c->n_delays = 0;
	for (unsigned i = 0; i < g->n; i++) {
		uint32_t bytes = g->items[i].payload + v->link->overhead;
		uint32_t senders = senders_of(&g->items[i], all);
		uint8_t *vls = &c->vls[(size_t)i * PATH_MAX_HOPS];

		memset(vls, v->plan->outcome[i].vl, PATH_MAX_HOPS);
		for (uint32_t k = 0; g->items[i].latency && k < senders; k++) {
			c->class[n] = i;
			c->n_delays += all->path[k].n_hops;
			c->flows[n++] = (struct bound_flow){
				.class = CLASS_DBTS,
				.burst = bytes,
				.largest = bytes,
				.smallest = bytes,
				.period = bytes * senders / (v->plan->outcome[i].wanted * link),
				.path = all->path[k].port,
				.vls = vls,
				.n_hops = all->path[k].n_hops,
			};
		}
	}
	c->network.flows = c->flows;
	c->network.n_flows = n;
}

static void latency_flows_fini(struct latency_flows *c)
{
	free(c->ports);
	free(c->flows);
	free(c->class);
	free(c->vls);
}

/* The bound of each latency class: the maximum over its senders' packets. */
static void bound_classes(const struct goals_case *v, const struct senders *all, double link,
			  struct goal_verdict *out)
{
	const bool fifo = v->fabric->scenario->fabric.sw.order == SIM_FIFO;
	const bool mixed = v->link->vls == 1 && v->goals->n > 1;
	struct diag why = { .status = HD_OK };
	struct latency_flows c;

	for (unsigned i = 0; i < v->goals->n; i++)
		out[i].bound = fifo || mixed ? HUGE_VAL : 0;
	if (fifo || mixed)
		return;
	latency_flows_init(&c, v, all, link);
	double *delay = hd_alloc(c.n_delays, sizeof(*delay));

	if (bound_delays(BOUND_PERIODIC, &c.network, &why, delay) != HD_OK) {
		for (unsigned i = 0; i < v->goals->n; i++)
			out[i].bound = HUGE_VAL;
	} else {
		uint32_t at = 0;

		for (uint32_t f = 0; f < c.network.n_flows; f++) {
			double sum = 0;

			for (uint32_t h = 0; h < c.flows[f].n_hops; h++)
				sum += delay[at++];
			out[c.class[f]].bound = fmax(out[c.class[f]].bound, sum);
		}
	}
	free(delay);
	latency_flows_fini(&c);
}

/*
 * A class that was silent in all completed mixes is not judged. A latency is
 * met only if its bound meets it, too.
 */
static void judge(const struct goals_case *v, bool whole, struct goal_verdict *out)
{
	for (unsigned i = 0; i < v->goals->n; i++) {
		const struct class_goal *goal = &v->goals->items[i];
		double wanted = v->plan->outcome[i].wanted;
		double longest = fmax(out[i].latency, out[i].bound);

		out[i].missed = out[i].share < wanted - NEAR ||
				(goal->latency && longest > (double)goal->latency * 1e-12);
		out[i].met = whole && !out[i].missed;
	}
}

/* Whether a goal is possible: duration of its packets, and number of senders. */
static enum hd_status check_goal(const struct class_goal *goal, struct longest_path way,
				 uint32_t bytes, const struct senders *all,
				 const struct goal_verdict *v, struct diag *d)
{
	double wanted = (double)goal->latency * 1e-12;

	if (goal->senders > all->n)
		return diag_fail(
			d, HD_ERR_RANGE,
			"class '%s' has %u senders; there are %u hosts that can send to one",
			goal->name, goal->senders, all->n);
	if (goal->latency && wanted < v->floor_latency)
		return diag_fail(
			d, HD_ERR_RANGE,
			"class '%s' wants %.3f us; over %u links at %.4g Gb/s a packet of %u bytes takes %.3f us on an idle fabric, which is the nearest",
			goal->name, wanted * 1e6, way.links, way.rate / 1e9, bytes,
			v->floor_latency * 1e6);
	return HD_OK;
}

enum hd_status goals_bounds(const struct goals_case *v, struct diag *d, struct goal_verdict *out)
{
	const struct goals *g = v->goals;
	const struct scn_fabric *model = &v->fabric->scenario->fabric;
	const struct longest_path way = longest_way(v->fabric);
	struct senders all = all_senders(v->fabric);
	enum hd_status status = HD_OK;

	for (unsigned i = 0; i < g->n && status == HD_OK; i++) {
		uint32_t bytes = g->items[i].payload + v->link->overhead;
		/* Cut-through: the head of a packet is forwarded while its tail arrives. */
		double fixed =
			way.links * (double)model->link.propagation * 1e-12 +
			(way.links - 1) * 1e-12 *
				(double)(model->sw.routing_delay + model->sw.arbitration_delay);

		out[i] = (struct goal_verdict){
			.floor_latency = fixed + 8.0 * bytes / way.rate,
			.share = HUGE_VAL,
			.senders = senders_of(&g->items[i], &all),
		};
		status = check_goal(&g->items[i], way, bytes, &all, &out[i], d);
	}
	if (status == HD_OK) {
		bound_classes(v, &all, way.rate / 8, out);
		judge(v, false, out);
	}
	senders_fini(&all);
	return status;
}

/* ---- what is ------------------------------------------------------------- */

static void put_entries(struct overrides *o, const char *path, const struct vlarb_entry *entry,
			unsigned n)
{
	struct strbuf text = STRBUF_INIT;

	for (unsigned i = 0; i < n; i++)
		strbuf_printf(&text, "%s%u:%u", i ? "," : "", entry[i].vl, entry[i].weight);
	overrides_put(o, "--verify", path, "%s", n ? text.text : "none");
	strbuf_fini(&text);
}

static void put_tables(struct overrides *o, const struct opensm_tables *t)
{
	struct strbuf map = STRBUF_INIT;

	for (unsigned sl = 0; sl < N_SLS; sl++)
		strbuf_printf(&map, "%s%u", sl ? "," : "", t->sl2vl.vl[sl]);
	overrides_put(o, "--verify", "qos.vls", "%u", t->vls);
	overrides_put(o, "--verify", "qos.sl2vl", "%s", map.text);
	put_entries(o, "qos.high", t->vlarb.high, t->vlarb.n_high);
	put_entries(o, "qos.low", t->vlarb.low, t->vlarb.n_low);
	overrides_put(o, "--verify", "qos.high_limit", "%u", t->vlarb.high_limit);
	strbuf_fini(&map);
}

/* The senders of a class by number; for a latency class, all of them. */
static void put_sources(struct overrides *o, const struct goals_case *v, const struct senders *all,
			unsigned class)
{
	uint32_t hosts = selector_hosts(v->fabric->selector)->n;
	struct strbuf text = STRBUF_INIT;

	/* Other classes use hosts that are far apart. */
	if (!v->goals->classes[class].latency)
		strbuf_printf(&text, "%u", hosts - 1 - class * (hosts - 1) / v->goals->n);
	for (uint32_t i = 0;
	     v->goals->classes[class].latency && i < senders_of(&v->goals->items[class], all); i++)
		strbuf_printf(&text, "%s%u", i ? "," : "", all->host[i]);
	overrides_put(o, "--verify", "traffic.-.source", "%s", text.text);
	strbuf_fini(&text);
}

static void put_row(struct overrides *o, const struct goals_case *v, const struct senders *all,
		    unsigned class)
{
	const struct plan_class *c = &v->goals->classes[class];

	overrides_put(o, "--verify", "traffic.+.name", "%u", class);
	overrides_put(o, "--verify", "traffic.-.kind", "%s", c->latency ? "cbr" : "saturating");
	overrides_put(o, "--verify", "traffic.-.pattern", "incast");
	put_sources(o, v, all, class);
	overrides_put(o, "--verify", "traffic.-.destination", "0");
	overrides_put(o, "--verify", "traffic.-.sl", "%u", v->plan->outcome[class].sl);
	overrides_put(o, "--verify", "traffic.-.payload", "%u", c->payload);
	if (!c->latency)
		return;
	overrides_put(o, "--verify", "traffic.-.aligned", "true");
	overrides_put(o, "--verify", "traffic.-.load", "%.9f",
		      (double)c->share.num / (double)c->share.den /
			      senders_of(&v->goals->items[class], all));
}

/* All classes send to the first host. The first class with a share sends from
 * the last host, which is farthest in most fabrics. Traffic, jobs and goals of
 * the scenario are removed. */
static void put_traffic(struct overrides *o, const struct goals_case *v, unsigned silent)
{
	struct senders all = all_senders(v->fabric);

	overrides_put(o, "--verify", "traffic", "%s", "");
	overrides_put(o, "--verify", "jobs", "%s", "");
	overrides_put(o, "--verify", "goals", "%s", "");
	for (unsigned i = 0; i < v->goals->n; i++) {
		if (i != silent)
			put_row(o, v, &all, i);
	}
	senders_fini(&all);
}

/* Long enough for some hundred rounds of the tables on the slowest link. */
static void put_run(struct overrides *o, const struct goals_case *v)
{
	const struct longest_path way = longest_way(v->fabric);
	double round = 0;

	for (unsigned i = 0; i < v->plan->tables.vlarb.n_low; i++)
		round += 64.0 * v->plan->tables.vlarb.low[i].weight + 4122;
	/* Bursts of the high table precede each packet of a round. */
	double seconds = 100 * 8 * (2 * round + 65536) / way.rate;

	overrides_put(o, "--verify", "run", "%s", "");
	overrides_put(o, "--verify", "run.warmup", "%.0fns", seconds * 1e9 / 10 + 1);
	overrides_put(o, "--verify", "run.measure", "%.0fns", seconds * 1e9 + 1);
	overrides_put(o, "--verify", "run.seed", "1");
}

static void judge_rows(const struct goals_case *v, unsigned silent, const struct fabric *fabric,
		       const struct sim_metrics *m, struct goal_verdict *out)
{
	struct report_row *rows = report_rows(fabric, m);
	double seconds = (double)(m->to - m->from) * 1e-12;
	const struct selection *hosts = selector_hosts(fabric->selector);
	double link = hd_rate_bps(fabric->subnet.rate_of_port[hosts->ports[0]]);
	unsigned row = 0;

	for (unsigned i = 0; i < v->goals->n; i++) {
		const struct plan_class *c = &v->goals->classes[i];

		if (i == silent)
			continue;
		double share = (double)rows[row].delivered_payload *
			       (c->payload + v->link->overhead) / c->payload * 8 / seconds / link;

		out[i].share = fmin(out[i].share, share);
		if (rows[row].delivered)
			out[i].latency =
				fmax(out[i].latency, (double)rows[row].latency.max * 1e-12);
		row++;
	}
	report_rows_free(rows, fabric->scenario->n_traffic);
}

/* Reports the progress with a mix. */
struct verify_progress {
	const struct goals_case *c;
	unsigned done; /* completed mixes */
};

static bool goes_on(const struct verify_progress *w, double share)
{
	return !w->c->progress || w->c->progress(w->c->context, w->done + share);
}

static bool show_mix(void *context, const struct sim_progress *p)
{
	return goes_on(context, p->share);
}

/* Takes ownership of the fabric. An interrupted mix is not judged. */
static enum hd_status simulate_mix(struct fabric *fabric, struct verify_progress *w,
				   unsigned silent, struct diag *d, struct goal_verdict *out)
{
	const struct run_options options = { .progress = show_mix, .context = w };
	struct run *run;

	/* A few hosts send to one: threads would mostly wait. */
	fabric->rules.threads = 1;
	enum hd_status status = run_open(fabric, &options, d, &run);

	if (status != HD_OK)
		return status;
	status = run_to_end(run, d);
	if (status == HD_OK && run_state(run) != SIM_PAUSED) {
		judge_rows(w->c, silent, fabric, sim_metrics(run_sim(run)), out);
		w->done++;
	}
	run_close(run);
	return status;
}

static enum hd_status run_mix(struct verify_progress *w, unsigned silent, struct diag *d,
			      struct goal_verdict *out)
{
	const struct goals_case *v = w->c;
	struct overrides o = { 0 };
	struct fabric *fabric;

	overrides_copy(v->overrides, &o);
	put_tables(&o, &v->plan->tables);
	put_traffic(&o, v, silent);
	put_run(&o, v);
	/* A VL that is alone must be able to fill its link. */
	overrides_put(&o, "--verify", "fabric.switch.input_buffer", "64KiB");
	overrides_put(&o, "--verify", "fabric.host.input_buffer", "64KiB");
	enum hd_status status = fabric_open(v->name, &o, d, &fabric);

	if (status == HD_OK)
		status = simulate_mix(fabric, w, silent, d, out);
	overrides_fini(&o);
	return status;
}

unsigned goals_mixes(const struct goals *g)
{
	return g->n > 1 ? g->n + 1 : 1;
}

enum hd_status goals_verify(const struct goals_case *v, struct diag *d, struct goal_verdict *out,
			    unsigned *done)
{
	const struct goals *g = v->goals;
	uint32_t hosts = selector_hosts(v->fabric->selector)->n;
	enum hd_status status = HD_OK;
	struct verify_progress w = { .c = v };

	*done = 0;
	if (hosts <= g->n)
		return diag_fail(
			d, HD_ERR_UNFIT,
			"--verify needs a host for each of %u classes; the fabric has %u hosts",
			g->n, hosts);
	for (unsigned i = 0; i < g->n; i++) {
		out[i].share = HUGE_VAL;
		out[i].latency = 0;
	}
	/* All of them; then without each. */
	for (unsigned i = 0; i < goals_mixes(g) && status == HD_OK && goes_on(&w, 0); i++)
		status = run_mix(&w, i ? i - 1 : g->n, d, out);
	judge(v, w.done == goals_mixes(g), out);
	*done = w.done;
	return status;
}

/* ---- as a table ---------------------------------------------------------- */

struct class_verdict_row {
	const char *class, *goal, *verdict;
	double senders, share, latency, floor, bound;
};

static const struct column columns[] = {
	{ "class", NULL, CELL(class_verdict_row, class) },
	{ "goal", NULL, CELL(class_verdict_row, goal) },
	{ "senders", NULL, CELL(class_verdict_row, senders), ORIGIN_GIVEN, 0 },
	{ "latency alone", "us", CELL(class_verdict_row, floor), ORIGIN_COMPUTED, 3 },
	{ "bound", "us", CELL(class_verdict_row, bound), ORIGIN_COMPUTED, 3 },
	{ "least share", "%", CELL(class_verdict_row, share), ORIGIN_SIMULATED, 2 },
	{ "most latency", "us", CELL(class_verdict_row, latency), ORIGIN_SIMULATED, 3 },
	{ "verdict", NULL, CELL(class_verdict_row, verdict), ORIGIN_SIMULATED },
	{ NULL },
};

static const char *print_goal(struct table *t, const struct class_goal *g)
{
	struct strbuf text = STRBUF_INIT;

	if (g->leftovers)
		return "leftovers";
	if (g->has_share)
		strbuf_printf(&text, "at least %.4g%%",
			      100.0 * (double)g->share.num / (double)g->share.den);
	if (g->latency)
		strbuf_printf(&text, "%slatency %.4g us", text.len ? ", " : "",
			      (double)g->latency * 1e-6);
	return table_take(t, &text);
}

static const char *print_verdict(const struct goal_verdict *v)
{
	return v->missed ? "missed" : v->met ? "met" : NULL;
}

static double print_bound(const struct class_goal *g, const struct goal_verdict *v)
{
	return g->latency && v->bound < HUGE_VAL ? v->bound * 1e6 : NAN;
}

void goals_show(const struct goals *g, const struct goal_verdict *v, unsigned done,
		struct results *r)
{
	struct table *t = results_table(r, "goals", "what each class asked for and has", columns);

	for (unsigned i = 0; i < g->n; i++) {
		bool seen = v[i].share < HUGE_VAL;

		table_put_row(t, &(struct class_verdict_row){
					 .class = g->items[i].name,
					 .goal = print_goal(t, &g->items[i]),
					 .floor = v[i].floor_latency * 1e6,
					 .senders = g->items[i].latency ? (double)v[i].senders
									: (double)NAN,
					 .bound = print_bound(&g->items[i], &v[i]),
					 .share = seen ? 100 * v[i].share : NAN,
					 .latency = seen ? v[i].latency * 1e6 : NAN,
					 .verdict = print_verdict(&v[i]),
				 });
	}
	results_remark(
		r,
		"bound: of a packet of a class whose senders send a packet each to one host at the same time, and together no more than its share");
	if (done)
		results_remark(
			r,
			"simulated: all classes meet at one host's link, and all but each in turn; the senders of latency classes send their share in aligned bursts, others without end; buffers hold 64 KiB per VL");
}
