/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A subnet manager that routes around failures (docs/timing-rules.md, T11r). What it
 * notices depends on the faults and never on packets, so all that it will do is
 * known before the run begins.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "fabric/fabric_internal.h"
#include "subnet/multicast/aggregate.h"
#include "subnet/routing/order.h"

#define MLIDS_PER_BLOCK 32

struct manager {
	struct fabric *fabric;
	struct replan_options options;
	struct route_options route;
	bool *down, *known;    /* per port of the topology: now, when it looked */
	uint8_t *lft;          /* what is in the switches */
	const uint64_t **sets; /* the same for [group][switch] */
	uint32_t first_group;  /* groups before it are not written */
	struct subnet present; /* what it planned last, with that */
	hd_time idle_from;
	hd_time horizon;
	uint32_t next; /* fault */
	size_t routes_cap, paths_cap;
};

static bool is_of_link(const struct sim_fault *f)
{
	return f->kind == SIM_LINK_DOWN || f->kind == SIM_LINK_UP;
}

/* When something that happens at `at` is noticed. */
static hd_time notice_of(const struct scn_sm *sm, hd_time at)
{
	hd_time heard = HD_TIME_NEVER, seen = HD_TIME_NEVER;

	if (sm->trap < HD_TIME_NEVER - at)
		heard = at + sm->trap;
	if (sm->sweep != HD_TIME_NEVER) {
		hd_time k = at / sm->sweep + (at % sm->sweep != 0);

		k += k == 0;
		if (k <= (HD_TIME_NEVER - 1) / sm->sweep)
			seen = k * sm->sweep;
	}
	return heard < seen ? heard : seen;
}

/* Lets everything happen that happens until `now`; returns how many. */
static uint32_t catch_up(struct manager *m, hd_time now)
{
	const struct sim_setup *s = &m->fabric->setup;
	uint32_t n = 0;

	for (; m->next < s->n_faults && s->faults[m->next].time <= now; m->next++) {
		const struct sim_fault *f = &s->faults[m->next];
		port_id p = s->ports[f->port].origin;
		port_id peer = m->fabric->topo.ports[p].peer;

		/* A switch and the host inside it are one device. */
		if (!is_of_link(f) || peer == TOPO_NONE)
			continue;
		m->down[p] = m->down[peer] = f->kind == SIM_LINK_DOWN;
		n++;
	}
	return n;
}

static uint32_t node_of_switch(const struct manager *m, switch_id sw)
{
	const struct fabric *fabric = m->fabric;
	port_id own = topo_port_of(&fabric->topo, fabric->subnet.node_of_switch[sw], 0);

	return fabric->setup.ports[fabric->port_of_origin[own]].node;
}

static void add_route(struct manager *m, const struct sim_route_change *c)
{
	struct sim_setup *s = &m->fabric->setup;

	s->routes = hd_grow(s->routes, &m->routes_cap, s->n_routes + 1u, sizeof(*s->routes));
	s->routes[s->n_routes++] = *c;
}

/* A write changes what differs from what is there. */
static uint32_t write_block(struct manager *m, const struct subnet *plan, const struct lft_write *w,
			    hd_time when)
{
	uint32_t n = 0;

	for (uint32_t k = 0; k < LFT_BLOCK_LIDS; k++) {
		lid_t lid = (lid_t)(w->block * LFT_BLOCK_LIDS + k);
		uint8_t *at = &m->lft[(size_t)w->sw * plan->lft_stride + lid];

		if (lid >= plan->lft_stride || *at == lft_get(plan, w->sw, lid))
			continue;
		*at = lft_get(plan, w->sw, lid);
		add_route(m, &(struct sim_route_change){ .time = when,
							 .node = node_of_switch(m, w->sw),
							 .lid = lid,
							 .port = *at });
		n++;
	}
	return n;
}

/* The set of ports that a switch has for a group. */
static const uint64_t *set_of(const struct subnet *s, switch_id sw, const struct mcast_group *g)
{
	return mft_get(&s->mft[g->subnet], sw, s->n_switches, g->mlid);
}

/* Counts the sets of a block of MLIDs that change at a switch. */
static uint32_t write_sets(struct manager *m, const struct subnet *plan, switch_id sw,
			   uint32_t block, hd_time when)
{
	const struct subnet *whole = &m->fabric->subnet;
	uint32_t n = 0;

	for (uint32_t i = m->first_group; i < whole->n_groups; i++) {
		const struct mcast_group *g = &whole->groups[i];
		size_t words = plan->mft[g->subnet].words, size = words * sizeof(uint64_t);

		if ((g->mlid - LID_FIRST_MCAST) / MLIDS_PER_BLOCK != (int)block ||
		    subnet_of_switch(plan, sw) != g->subnet)
			continue;
		const uint64_t **at = &m->sets[(size_t)i * plan->n_switches + sw];
		const uint64_t *after = set_of(plan, sw, g);

		if (memcmp(*at, after, size) == 0)
			continue;
		*at = after;
		/* Tables of groups move when a group is added. */
		uint64_t *ports = fabric_keep(m->fabric, words, sizeof(*ports));

		memcpy(ports, after, size);
		add_route(m, &(struct sim_route_change){ .time = when,
							 .node = node_of_switch(m, sw),
							 .lid = g->mlid,
							 .ports = ports });
		n++;
	}
	return n;
}

static void add_paths(struct manager *m, const struct subnet *plan, hd_time when)
{
	struct sim_setup *s = &m->fabric->setup;

	if (!plan->sl_of_path)
		return;
	s->paths = hd_grow(s->paths, &m->paths_cap, s->n_paths + 1u, sizeof(*s->paths));
	s->paths[s->n_paths++] = (struct sim_path_change){ when, plan, false };
}

/* After the unicast tables, by blocks of MLIDs, switches as these are. */
static void write_groups(struct manager *m, struct fabric_sweep *w, bool *written)
{
	const struct subnet *plan = &w->plan.subnet;
	port_id *ports = hd_alloc(plan->topo->n_ports, sizeof(*ports));
	uint32_t n = order_ports_by_guid(plan, ports), n_blocks = 0;
	hd_time step = m->fabric->scenario->sm.program;

	for (unsigned i = 0; i < plan->n_subnets; i++) {
		uint32_t here = (plan->mft[i].n_mlids + MLIDS_PER_BLOCK - 1) / MLIDS_PER_BLOCK;

		n_blocks = here > n_blocks ? here : n_blocks;
	}
	for (uint32_t k = 0; k < n * n_blocks; k++) {
		port_id p = ports[k % n];
		switch_id sw = plan->switch_of_node[plan->topo->ports[p].node];

		if (sw == TOPO_NONE || plan->lid_of_port[p] == 0)
			continue;
		uint32_t sets = write_sets(m, plan, sw, k / n, w->last + step);

		if (sets == 0)
			continue;
		w->last += step;
		if (w->n_writes++ == 0)
			w->first = w->last;
		w->n_switches += !written[sw];
		written[sw] = true;
		w->n_entries += sets;
	}
	free(ports);
}

/* Writes blocks one after the other, from `computed` on. */
static void write_all(struct manager *m, struct fabric_sweep *w)
{
	const struct replan *plan = &w->plan;
	bool *written = hd_alloc(plan->subnet.n_switches, sizeof(*written));
	hd_time step = m->fabric->scenario->sm.program;

	w->first = w->last = w->computed;
	w->n_writes = plan->n_writes;
	for (uint32_t i = 0; i < plan->n_writes; i++) {
		const struct lft_write *x = &plan->writes[i];

		w->last += step;
		if (i == 0)
			w->first = w->last;
		w->n_switches += !written[x->sw];
		written[x->sw] = true;
		w->n_entries += write_block(m, &plan->subnet, x, w->last);
	}
	write_groups(m, w, written);
	free(written);
	add_paths(m, &plan->subnet, w->last);
	m->idle_from = w->last;
}

/* True if both send every SL on the same VLs, wherever cables are left. */
static bool vls_agree(const struct subnet *whole, const struct subnet *plan)
{
	const struct topo *t = plan->topo;

	for (switch_id sw = 0; sw < plan->n_switches; sw++) {
		const struct topo_node *v = switch_node(plan, sw);

		for (unsigned i = 0; i < (v->n_ports + 1u) * (v->n_ports + 1u); i++) {
			unsigned in = i / (v->n_ports + 1u);
			unsigned out = i % (v->n_ports + 1u);

			if (t->ports[v->first_port + in].peer != TOPO_NONE &&
			    t->ports[v->first_port + out].peer != TOPO_NONE &&
			    memcmp(sl2vl_at(whole, sw, in, out), sl2vl_at(plan, sw, in, out),
				   sizeof(struct sl2vl)) != 0)
				return false;
		}
	}
	return true;
}

static enum hd_status refuse(const struct manager *m, struct diag *d, hd_time at, const char *why)
{
	const struct scenario *s = m->fabric->scenario;
	struct strbuf time = STRBUF_INIT;

	hd_time_print(at, &time);
	enum hd_status status =
		scenario_refuse(s, d, s->sm.trap != HD_TIME_NEVER ? &s->sm.trap : &s->sm.sweep,
				"sm: what is left at %s cannot be routed: %s", time.text, why);

	strbuf_fini(&time);
	return status;
}

static enum hd_status plan_routes(struct manager *m, struct fabric_sweep *w, struct diag *d)
{
	const struct subnet *whole = &m->fabric->subnet;
	struct diag inner = { .status = HD_OK };

	if (replan(whole, &m->present, m->down, &m->options, &inner, &w->plan) != HD_OK)
		return refuse(m, d, w->noticed, inner.message);
	if (mcast_replan(whole, 0, &w->plan.subnet, &inner) != HD_OK) {
		replan_fini(&w->plan);
		return refuse(m, d, w->noticed, inner.message);
	}
	if (!whole->vls_by_engine || vls_agree(whole, &w->plan.subnet))
		return HD_OK;
	replan_fini(&w->plan);
	return refuse(m, d, w->noticed,
		      "the engine needs other SL2VL tables, which do not change during a run");
}

/* The manager looks at the fabric at `now` and does what is to be done. */
static enum hd_status sweep(struct manager *m, hd_time event, hd_time now, struct diag *d)
{
	struct fabric *fabric = m->fabric;
	uint32_t n_events = catch_up(m, now);
	size_t n_ports = fabric->topo.n_ports;

	m->idle_from = now;
	if (memcmp(m->down, m->known, n_ports * sizeof(*m->down)) == 0)
		return HD_OK;
	struct fabric_sweep *w = &fabric->sweeps[fabric->n_sweeps];

	*w = (struct fabric_sweep){
		.event = event,
		.noticed = now,
		.computed = now + fabric->scenario->sm.compute,
		.n_events = n_events,
	};
	enum hd_status status = plan_routes(m, w, d);

	if (status != HD_OK)
		return status;
	fabric->n_sweeps++;
	transition_check(&m->present, &w->plan, &fabric->subnet, &w->meanwhile);
	write_all(m, w);
	memcpy(m->known, m->down, n_ports * sizeof(*m->known));
	m->present = w->plan.subnet;
	m->present.lft = m->lft;
	return HD_OK;
}

/* Fault after fault, until the run must end. */
static enum hd_status follow_faults(struct manager *m, struct diag *d)
{
	const struct sim_setup *s = &m->fabric->setup;
	enum hd_status status = HD_OK;

	while (status == HD_OK && m->next < s->n_faults) {
		const struct sim_fault *f = &s->faults[m->next];

		if (!is_of_link(f)) {
			m->next++;
			continue;
		}
		hd_time now = notice_of(&m->fabric->scenario->sm, f->time);

		if (now < m->idle_from)
			now = m->idle_from;
		if (now > m->horizon)
			break;
		status = sweep(m, f->time, now, d);
	}
	return status;
}

/* For each group and switch, as it is before any sweep. */
static const uint64_t **sets_at_first(const struct subnet *s)
{
	size_t n = (size_t)s->n_groups * s->n_switches;
	const uint64_t **sets = hd_alloc(n, sizeof(*sets));

	for (size_t i = 0; i < n; i++)
		sets[i] = set_of(s, (switch_id)(i % s->n_switches), &s->groups[i / s->n_switches]);
	return sets;
}

enum hd_status fabric_build_manager(struct fabric *fabric, struct diag *d)
{
	const struct scn_sm *sm = &fabric->scenario->sm;
	const struct subnet *s = &fabric->subnet;

	if ((sm->sweep == HD_TIME_NEVER && sm->trap == HD_TIME_NEVER) ||
	    fabric->setup.n_faults == 0)
		return HD_OK;
	struct manager m = {
		.fabric = fabric,
		.down = hd_alloc(fabric->topo.n_ports, sizeof(*m.down)),
		.known = hd_alloc(fabric->topo.n_ports, sizeof(*m.known)),
		.lft = lft_rows(s),
		.present = *s,
		.horizon = fabric->rules.stop,
		.options = {
			.engine = strcmp(s->engine, "file") == 0 ? "minhop"
								 : s->engine,
			.route = &m.route,
			.mode = (enum replan_mode)sm->replan,
			.manager = lid_options_for(&fabric->topo, 0).sm_port,
		},
	};
	/* Plans keep their addresses: at most one per fault. */
	fabric->sweeps = hd_alloc(fabric->setup.n_faults, sizeof(*fabric->sweeps));
	m.sets = sets_at_first(s);
	m.present.lft = m.lft;
	m.present.lft_at = NULL;
	enum hd_status status = fabric_route_options(fabric, d, &m.route);

	if (status == HD_OK)
		status = follow_faults(&m, d);
	free(m.down);
	free(m.known);
	free(m.lft);
	free(m.sets);
	return status;
}

void fabric_free_manager(struct fabric *fabric)
{
	for (uint32_t i = 0; i < fabric->n_sweeps; i++) {
		transition_fini(&fabric->sweeps[i].meanwhile);
		replan_fini(&fabric->sweeps[i].plan);
	}
	free(fabric->sweeps);
	free(fabric->setup.routes);
	free(fabric->setup.paths);
	free(fabric->setup.settings);
	free(fabric->setup.trees);
}

/* ---- trees of jobs ------------------------------------------------------- */

/* Aggregation trees of the groups, where members are left. */
static enum hd_status plan_aggregations(const struct fabric_trees *trees, struct subnet *plan,
					const struct subnet *whole, struct diag *d)
{
	const struct aggregation_limit limit = { trees->most, 0 };
	enum hd_status status = HD_OK;

	/* Trees of another run, which has read them. */
	aggregation_drop(plan, 0);
	for (uint32_t i = trees->first_aggregation; i < whole->n_aggregations && status == HD_OK;
	     i++) {
		const struct aggregation *a = &whole->aggregations[i];
		const struct mcast_group *g = mcast_group_of(plan, a->subnet, a->mlid);

		if (g)
			status = aggregation_add(plan, (uint32_t)(g - plan->groups), limit, d);
	}
	return status;
}

static enum hd_status plan_trees(struct manager *m, const struct fabric_trees *trees,
				 struct fabric_sweep *w, struct diag *d)
{
	const struct subnet *whole = &m->fabric->subnet;
	struct diag inner = { .status = HD_OK };
	enum hd_status status = mcast_replan(whole, trees->first_group, &w->plan.subnet, &inner);

	if (status == HD_OK)
		status = plan_aggregations(trees, &w->plan.subnet, whole, &inner);
	return status == HD_OK ? HD_OK : refuse(m, d, w->noticed, inner.message);
}

/* Trees are written after everything else of the sweep. */
static void write_trees(struct manager *m, const struct fabric_trees *trees, struct fabric_sweep *w)
{
	struct sim_setup *s = &m->fabric->setup;
	bool *written = hd_alloc(w->plan.subnet.n_switches, sizeof(*written));
	struct fabric_sweep unshown = *w, *to = trees->is_shown ? w : &unshown;

	if (to->last < m->idle_from)
		to->last = m->idle_from;
	write_groups(m, to, written);
	m->idle_from = to->last;
	free(written);
	s->trees = hd_realloc(s->trees, s->n_trees + 1u, sizeof(*s->trees));
	s->trees[s->n_trees++] = (struct sim_tree_change){ to->last, &w->plan.subnet };
}

/* Changes by time, and those from `middle` on by time, as one list by time. */
static void merge_routes(struct sim_setup *s, uint32_t middle)
{
	struct sim_route_change *all = hd_alloc(s->n_routes, sizeof(*all));
	uint32_t old = 0, new = middle;

	for (uint32_t i = 0; i < s->n_routes; i++) {
		bool is_new = old == middle ||
			      (new < s->n_routes && s->routes[new].time < s->routes[old].time);

		all[i] = s->routes[is_new ? new ++ : old++];
	}
	free(s->routes);
	s->routes = all;
}

enum hd_status fabric_follow_trees(struct fabric *fabric, const struct fabric_trees *trees,
				   struct diag *d)
{
	struct sim_setup *s = &fabric->setup;
	uint32_t n_before = s->n_routes;
	struct manager m = { .fabric = fabric,
			     .first_group = trees->first_group,
			     .routes_cap = n_before };
	enum hd_status status = HD_OK;

	s->n_trees = 0;
	if (fabric->n_sweeps == 0 || trees->first_group == fabric->subnet.n_groups)
		return HD_OK;
	m.sets = sets_at_first(&fabric->subnet);
	for (uint32_t i = 0; i < fabric->n_sweeps && status == HD_OK; i++) {
		status = plan_trees(&m, trees, &fabric->sweeps[i], d);
		if (status == HD_OK)
			write_trees(&m, trees, &fabric->sweeps[i]);
	}
	free(m.sets);
	merge_routes(s, n_before);
	return status;
}
