/* SPDX-License-Identifier: BSD-2-Clause */
#include "subnet/failures/analysis.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/parallel_for.h"
#include "subnet/failures/analysis_cases.h"
#include "subnet/routing/check.h"
#include "subnet/routing/deadlock.h"
#include "subnet/routing/load.h"

const char *const failure_kind_names[] = {
	[FAILURE_SWITCHES] = "switches", [FAILURE_LINKS] = "links", [ANALYSIS_HOSTS] = "hosts",
	[FAILURE_PAIRS] = "pairs",       [N_FAILURE_KINDS] = NULL,
};

const char *const failure_verdict_names[] = {
	[FAILURE_REFUSED] = "refused",     [FAILURE_LOCKS] = "can lock up",
	[FAILURE_BROKEN] = "paths broken", [FAILURE_LOST] = "end ports lost",
	[FAILURE_SLOWER] = "slower",       [ANALYSIS_HARMLESS] = "harmless",
	[N_FAILURE_VERDICTS] = NULL,
};

/* While it runs. */
struct failure_search {
	const struct failure_options *o;
	struct failure_analysis *out;
	bool **down; /* per member of the pool: a flag per port */
	bool *done;  /* per case */
	pthread_mutex_t lock;
	size_t n_done;
	bool is_over;
};

bool failure_fail(struct failure_options *o, const char *kind)
{
	for (unsigned k = 0; k < FAILURE_PAIRS; k++) {
		if (strcmp(kind, failure_kind_names[k]) == 0)
			return o->kinds[k] = true;
	}
	return false;
}

static uint32_t count_ends(const struct subnet *s)
{
	uint32_t n = 0;

	for (port_id p = 0; p < s->topo->n_ports; p++)
		n += s->lid_of_port[p] && topo_is_end_port(s->topo, p);
	return n;
}

static bool can_lock(const struct subnet *s)
{
	struct deadlock_check c;

	route_check_deadlock(s, DEADLOCK_PLAIN, &c);
	bool found = c.cycle != NULL;

	route_deadlock_fini(&c);
	return found;
}

/* `is_free`: routing is known to be free of deadlock. */
static struct failure_figures look_at(const struct subnet *s, const struct failure_options *o,
				      bool is_free)
{
	struct load_spread spread;
	struct load_shares shares = { .mean_share = NAN };
	struct route_check c;

	route_check(s, &c);
	load_all_to_all(s, &spread);
	if (o->n_permutations)
		load_patterns(s, LOAD_PERMUTATION, (unsigned)o->n_permutations, o->seed, &shares);
	return (struct failure_figures){
		.n_ends = count_ends(s),
		.n_reached = c.n_pairs - c.n_unreachable,
		.n_broken = c.n_unreachable,
		.most_flows = spread.max,
		.share = shares.mean_share,
		.can_lock = !is_free && can_lock(s),
	};
}

static enum failure_verdict judge(const struct failure_figures *before,
				  const struct failure_case *c)
{
	const struct failure_figures *now = &c->figures;

	return c->refusal                             ? FAILURE_REFUSED
	       : now->can_lock                        ? FAILURE_LOCKS
	       : now->n_broken > before->n_broken     ? FAILURE_BROKEN
	       : c->n_lost                            ? FAILURE_LOST
	       : now->most_flows > before->most_flows ? FAILURE_SLOWER
	       : now->share < before->share           ? FAILURE_SLOWER
						      : ANALYSIS_HARMLESS;
}

/* Entries went, with the LIDs that are lost, and no other changed. */
static bool only_lost_entries(const struct replan *r)
{
	for (uint32_t i = 0; i < r->n_changes; i++) {
		if (r->changes[i].after != LFT_NO_PORT)
			return false;
	}
	return true;
}

static void try_case(const struct failure_search *y, struct failure_case *c, const bool *down)
{
	const struct failure_figures *before = &y->out->before;
	const struct subnet *whole = y->out->whole;
	struct replan_options o = y->o->replan;
	struct diag d = { .status = HD_OK };
	struct replan now;

	o.manager = failure_manager(whole->topo, c, down);
	if (replan(whole, whole, down, &o, &d, &now) != HD_OK) {
		c->refusal = hd_strdup(d.message);
		return;
	}
	/*
	 * Fewer paths on the same VLs add no cycle, and an algorithm that does not choose VLs by
	 * path keeps the VLs.
	 */
	bool is_free = !before->can_lock && !now.subnet.sl_of_path && !now.subnet.vls_by_engine &&
		       only_lost_entries(&now);

	c->figures = look_at(&now.subnet, y->o, is_free);
	c->n_lost = before->n_ends - c->figures.n_ends;
	c->n_writes = now.n_writes;
	c->n_changes = now.n_changes;
	replan_fini(&now);
}

static bool is_over(struct failure_search *y)
{
	pthread_mutex_lock(&y->lock);
	bool over = y->is_over;

	pthread_mutex_unlock(&y->lock);
	return over;
}

static void one_case(void *context, unsigned member, size_t i)
{
	struct failure_search *y = context;
	struct failure_case *c = &y->out->cases[i];
	const struct topo *t = y->out->whole->topo;

	if (is_over(y))
		return;
	failure_mark(t, c, true, y->down[member]);
	try_case(y, c, y->down[member]);
	failure_mark(t, c, false, y->down[member]);
	c->verdict = judge(&y->out->before, c);
	pthread_mutex_lock(&y->lock);
	y->done[i] = true;
	y->n_done++;
	if (y->o->tick && !y->o->tick(y->o->context, y->n_done, y->out->n))
		y->is_over = true;
	pthread_mutex_unlock(&y->lock);
}

/* Comparison for sorting in descending order. */
#define GREATER_FIRST(a, b) (((a) < (b)) - ((a) > (b)))

static int compare_cases(const void *left, const void *right)
{
	const struct failure_case *a = left, *b = right;
	const struct failure_figures *x = &a->figures, *y = &b->figures;
	int order = GREATER_FIRST(b->kind, a->kind);

	if (!order)
		order = GREATER_FIRST(b->verdict, a->verdict);
	if (!order)
		order = GREATER_FIRST(x->n_broken, y->n_broken);
	if (!order)
		order = GREATER_FIRST(a->n_lost, b->n_lost);
	if (!order)
		order = GREATER_FIRST(x->most_flows, y->most_flows);
	if (!order)
		order = GREATER_FIRST(y->share, x->share);
	if (!order)
		order = GREATER_FIRST(b->what[0], a->what[0]);
	return order ? order : GREATER_FIRST(b->what[1], a->what[1]);
}

/* An interrupted analysis keeps the completed cases only. */
static void keep_done(struct failure_analysis *s, const bool *done)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++) {
		if (done[i])
			s->cases[n++] = s->cases[i];
	}
	s->n_left = s->n - n;
	s->n = n;
}

static void rank(struct failure_analysis *s)
{
	if (s->n)
		qsort(s->cases, s->n, sizeof(*s->cases), compare_cases);
	for (size_t i = 0; i < s->n; i++)
		s->n_of[s->cases[i].kind][s->cases[i].verdict]++;
}

/* Switches often have the default description of their vendor. */
static bool *find_shared_names(const struct topo *t)
{
	bool *shared = hd_alloc(t->n_nodes, sizeof(*shared));
	struct text_map names = { 0 };

	for (node_id v = 0; v < t->n_nodes; v++) {
		const char *name = t->nodes[v].name;
		uint32_t other = text_map_put(&names, name, strlen(name), v);

		if (other != MAP_NONE)
			shared[v] = shared[other] = true;
	}
	text_map_fini(&names);
	return shared;
}

void failure_run(const struct subnet *whole, const struct failure_options *o,
		 struct failure_analysis *out)
{
	struct failure_search y = { .o = o, .out = out };
	uint64_t entries = (uint64_t)whole->n_switches * whole->lft_stride;

	*out = (struct failure_analysis){ .whole = whole,
					  .permuted = o->n_permutations > 0,
					  .shares_name = find_shared_names(whole->topo) };
	out->before = look_at(whole, o, false);
	failure_list(whole->topo, o, out);
	/* About ten accesses per entry of the tables of each case. */
	struct parallel_pool *pool = parallel_pool_new(10 * entries * out->n);
	unsigned n = parallel_pool_size(pool);

	pthread_mutex_init(&y.lock, NULL);
	y.down = hd_alloc(n, sizeof(*y.down));
	y.done = hd_alloc(out->n, sizeof(*y.done));
	for (unsigned i = 0; i < n; i++)
		y.down[i] = hd_alloc(whole->topo->n_ports, sizeof(**y.down));
	parallel_for(pool, out->n, one_case, &y);
	for (unsigned i = 0; i < n; i++)
		free(y.down[i]);
	free(y.down);
	pthread_mutex_destroy(&y.lock);
	parallel_pool_free(pool);
	keep_done(out, y.done);
	free(y.done);
	rank(out);
}

void failure_fini(struct failure_analysis *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->cases[i].refusal);
	free(s->cases);
	free(s->shares_name);
	*s = (struct failure_analysis){ .n = 0 };
}

bool failure_is_well(const struct failure_analysis *s)
{
	for (size_t i = 0; i < s->n; i++) {
		if (s->cases[i].verdict < FAILURE_LOST)
			return false;
	}
	return true;
}
