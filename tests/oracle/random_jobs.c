/* SPDX-License-Identifier: BSD-2-Clause */
/* Jobs (J1 to J9, J14, S2): graphs of operations and programs, on some of the
 * hosts. */
#include "random_parts.h"

#include <stdlib.h>

#include "base/alloc.h"

#define MAX_JOBS    3
#define MAX_PACKETS 160 /* of a job, about */
#define MAX_OPS     60  /* of all ranks of a graph, about */

/* ---- where ---- */

/* Hosts that have a cable; those on a switch's own port are none. */
static uint32_t hosts_find(const struct scenario *s, uint32_t *hosts)
{
	const struct sim_setup *t = &s->fabric.setup;
	uint32_t n = 0;

	for (uint32_t e = 0; e < s->fabric.n_ends; e++) {
		uint32_t node = s->fabric.ends[e];

		if (t->nodes[node].node == node &&
		    t->ports[fabric_end_port(&s->fabric, e)].peer != SIM_NONE)
			hosts[n++] = node;
	}
	return n;
}

static bool is_reached(const struct scenario *s, uint32_t node, const uint32_t *others, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (!is_way(&s->fabric, node, others[i]) || !is_way(&s->fabric, others[i], node))
			return false;
	return true;
}

/* Ranks, and servers where they can be, that reach each other for the most
 * part. */
static bool places_draw(const struct scenario *s, struct oracle_job *j, struct rng *r)
{
	uint32_t hosts[MAX_HOSTS], n = hosts_find(s, hosts), servers;

	if (n < 2)
		return false;
	rng_shuffle(r, hosts, n);
	j->nodes = hd_alloc(MAX_HOSTS, sizeof(*j->nodes));
	j->servers = hd_alloc(MAX_HOSTS, sizeof(*j->servers));
	for (uint32_t i = 0; i < n; i++)
		if (chance(r, 5) || is_reached(s, hosts[i], j->nodes, j->n_ranks))
			j->nodes[j->n_ranks++] = hosts[i];
	if (j->n_ranks < 2)
		return false;
	n = j->n_ranks;
	servers = below(r, n < 3 ? n + 1 : 4);
	for (uint32_t i = 0; i < servers; i++)
		j->servers[i] = j->nodes[n - 1 - i];
	j->n_servers = servers;
	/* Some of the servers are ranks too. */
	if (chance(r, 50))
		j->n_ranks = 2 + below(r, n - 1);
	return true;
}

/* Whether its packets are not all dropped before they start. */
static bool has_vl(const struct scenario *s, const struct oracle_job *j)
{
	const struct sim_setup *t = &s->fabric.setup;

	for (uint32_t i = 0; i < j->n_ranks; i++) {
		const struct sim_port *p = &t->ports[t->nodes[j->nodes[i]].first_port + 1];

		if (sl2vl_of(&s->fabric.subnet, p->origin)->vl[j->sl] >= p->vls)
			return false;
	}
	return true;
}

static uint64_t bytes_draw(const struct scenario *s, uint32_t most, struct rng *r)
{
	uint32_t mtu = s->jobs.mtu;

	if (chance(r, 12))
		return 0;
	if (chance(r, 25))
		return (uint64_t)mtu * (1 + below(r, most));
	return 1 + below(r, chance(r, 50) ? mtu : most * mtu);
}

/* A duration above 0 that is short compared with a packet's. */
static hd_time little_draw(const struct scenario *s, struct rng *r)
{
	return 1 + rng_below(r, 2 * s->d_max);
}

/* ---- graphs ---- */

static hd_time calc_draw(const struct scenario *s, struct rng *r)
{
	hd_time most = 4 * s->d_max / HD_NS + 1;

	return chance(r, 15) ? 0 : (1 + rng_below(r, most)) * HD_NS;
}

/* In the order of their making; where they stand in the file comes later. */
static void op_add(struct oracle_graph *g, struct oracle_op op, struct rng *r)
{
	uint32_t number = (uint32_t)g->n_ops;
	uint32_t n = number > 0 ? below(r, 3) : 0;

	op.cpu = chance(r, 80) ? 0 : below(r, 3);
	ops_add(g, op);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t near = number < 6 ? number : 6;

		ops_require(g, number, number - 1 - below(r, near), chance(r, 25));
	}
}

/* Of `lost` percent one half is forgotten. */
static void message_draw(const struct scenario *s, struct oracle_job *j, unsigned lost,
			 struct rng *r)
{
	uint32_t from = below(r, j->n_ranks);
	uint32_t to = (from + 1 + below(r, j->n_ranks - 1)) % j->n_ranks;
	struct oracle_op send = { .kind = ORACLE_SEND,
				  .size = bytes_draw(s, 5, r),
				  .peer = to,
				  .tag = below(r, chance(r, 50) ? 1 : 3) };
	struct oracle_op receive = { .kind = ORACLE_RECV,
				     .size = send.size,
				     .peer = chance(r, 80) ? from : ORACLE_ANY,
				     .tag = chance(r, 80) ? send.tag : ORACLE_ANY };

	if (chance(r, 10))
		receive.size = bytes_draw(s, 5, r);
	if (!chance(r, lost))
		op_add(&j->graphs[from], send, r);
	if (!chance(r, lost))
		op_add(&j->graphs[to], receive, r);
}

/* The operations in another order, and what requires what with them. */
static void graph_shuffle(struct oracle_graph *g, struct rng *r)
{
	uint32_t to[2 * MAX_OPS];
	struct oracle_op ops[2 * MAX_OPS];

	for (uint32_t i = 0; i < g->n_ops; i++)
		to[i] = i;
	rng_shuffle(r, to, (uint32_t)g->n_ops);
	for (uint32_t i = 0; i < g->n_ops; i++)
		ops[to[i]] = g->ops[i];
	for (uint32_t i = 0; i < g->n_ops; i++)
		g->ops[i] = ops[i];
	for (uint32_t i = 0; i < g->n_edges; i++) {
		g->edges[i].op = to[g->edges[i].op];
		g->edges[i].on = to[g->edges[i].on];
	}
}

static void graphs_draw(const struct scenario *s, struct oracle_job *j, struct rng *r)
{
	uint32_t n = 2 + below(r, MAX_OPS / 2 - 2);
	unsigned lost = chance(r, 25) ? 4 : 0;

	j->graphs = hd_alloc(MAX_HOSTS, sizeof(*j->graphs));
	for (uint32_t i = 0; i < n; i++) {
		struct oracle_op compute = { .kind = ORACLE_COMPUTE };

		if (chance(r, 75)) {
			message_draw(s, j, lost, r);
			continue;
		}
		compute.size = calc_draw(s, r);
		op_add(&j->graphs[below(r, j->n_ranks)], compute, r);
	}
	if (chance(r, 40))
		for (uint32_t i = 0; i < j->n_ranks; i++)
			graph_shuffle(&j->graphs[i], r);
}

/* ---- programs ---- */

static uint32_t divisor_draw(uint32_t n, struct rng *r)
{
	uint32_t d = 1 + below(r, n);

	while (n % d != 0)
		d--;
	return d;
}

static void grid_draw(struct oracle_step *step, uint32_t p, struct rng *r)
{
	step->grid[0] = divisor_draw(p, r);
	step->grid[1] = divisor_draw(p / step->grid[0], r);
	step->grid[2] = p / step->grid[0] / step->grid[1];
}

static bool is_power(uint32_t p)
{
	return (p & (p - 1)) == 0;
}

static bool is_storage(enum oracle_step_kind kind)
{
	return kind == STEP_READ || kind == STEP_WRITE;
}

/* False: these ranks cannot do it. */
static bool step_draw(const struct scenario *s, const struct oracle_job *j,
		      struct oracle_step *step, struct rng *r)
{
	uint32_t p;
	bool stores;

	*step = (struct oracle_step){
		.kind = chance(r, 25) ? STEP_READ + below(r, 2)
				      : (enum oracle_step_kind)below(r, STEP_BARRIER_NETWORK),
		.amount = bytes_draw(s, 6, r),
		.groups = chance(r, 70) ? 1 : divisor_draw(j->n_ranks, r),
		.strides = chance(r, 50),
		.request = 1 + below(r, 3 * s->jobs.mtu),
		.outstanding = 1 + below(r, 4),
	};
	stores = is_storage(step->kind);
	if (stores || step->kind == STEP_COMPUTE)
		step->groups = 1;
	if (step->groups == 1 || step->groups == j->n_ranks)
		step->strides = false;
	p = j->n_ranks / step->groups;
	step->root = below(r, p);
	grid_draw(step, p, r);
	if (step->kind == STEP_COMPUTE)
		step->amount = little_draw(s, r) * below(r, 3);
	if (step->kind == STEP_BARRIER)
		step->amount = 0;
	if (chance(r, 50))
		step->segment = 1 + below(r, 2 * s->jobs.mtu);
	if (stores && step->amount > 8 * step->request)
		step->request = step->amount / 8;
	if (step->segment && step->amount > 8 * step->segment)
		step->segment = step->amount / 8;
	return (!oracle_step_names[step->kind].of_powers || is_power(p)) &&
	       (!stores || j->n_servers > 0);
}

static void program_draw(const struct scenario *s, struct oracle_job *j, struct rng *r)
{
	uint32_t n = 1 + below(r, 4);

	j->steps = hd_alloc(n, sizeof(*j->steps));
	while (j->n_steps < n)
		j->n_steps += step_draw(s, j, &j->steps[j->n_steps], r);
}

/* ---- jobs ---- */

static uint64_t graph_packets(const struct scenario *s, const struct oracle_graph *g,
			      hd_time *computes)
{
	uint64_t n = 0;

	for (size_t i = 0; i < g->n_ops; i++) {
		if (g->ops[i].kind == ORACLE_COMPUTE)
			*computes += g->ops[i].size;
		else if (g->ops[i].kind == ORACLE_GIVE)
			n += 2 + 2 * g->ops[i].size / s->jobs.payload;
		else if (g->ops[i].kind != ORACLE_RECV)
			n += 1 + g->ops[i].size / s->jobs.mtu;
	}
	return n;
}

/* Packets of an iteration, and what all ranks compute in it. */
static uint64_t job_packets(const struct scenario *s, const struct oracle_job *j, hd_time *computes)
{
	uint64_t n = 0;

	*computes = 0;
	for (uint32_t r = 0; r < j->n_ranks; r++) {
		if (j->graphs)
			n += graph_packets(s, &j->graphs[r], computes);
		for (uint32_t i = 0; i < j->n_steps; i++) {
			struct oracle_graph g;

			rounds_expand(j, i, r, &g);
			n += graph_packets(s, &g, computes);
			ops_fini(&g);
		}
	}
	return n;
}

hd_time jobs_time(const struct scenario *s)
{
	hd_time sum = 0, computes;

	for (uint32_t i = 0; i < s->jobs.n; i++) {
		const struct oracle_job *j = &s->jobs.list[i];
		uint64_t n = job_packets(s, j, &computes);

		sum += j->start + j->repeat * (n * (s->d_max + j->gap + 2 * j->overhead) +
					       n * s->jobs.mtu * j->per_byte / 2 + computes);
	}
	return sum;
}

/* Whether switches may reduce (S1). */
static bool is_reducible(const struct scenario *s)
{
	const struct sim_setup *t = &s->fabric.setup;

	return t->sw.order != SIM_FIFO &&
	       (!s->control || s->control->marking.rule != MARK_TWO_COUNTER);
}

/* Some of the steps that switches can do, they do. */
static void reductions_draw(const struct scenario *s, struct oracle_job *j, struct rng *r)
{
	for (uint32_t i = 0; i < j->n_steps; i++) {
		struct oracle_step *step = &j->steps[i];

		if (!is_reducible(s) || !chance(r, 60))
			continue;
		if (step->kind == STEP_BARRIER)
			step->kind = STEP_BARRIER_NETWORK;
		if (step->kind >= STEP_REDUCE && step->kind <= STEP_ALLREDUCE_TREE)
			step->kind = STEP_ALLREDUCE_NETWORK;
	}
}

/* Whether all ranks and servers reach each other: queue pairs are refused
 * otherwise. */
static bool is_connected(const struct scenario *s, const struct oracle_job *j)
{
	for (uint32_t i = 0; i < j->n_ranks + j->n_servers; i++) {
		uint32_t node = i < j->n_ranks ? j->nodes[i] : j->servers[i - j->n_ranks];

		if (!is_reached(s, node, j->nodes, j->n_ranks))
			return false;
	}
	return true;
}

static bool job_draw(struct scenario *s, struct oracle_job *j, struct rng *r,
		     struct rng *reductions)
{
	hd_time computes;

	*j = (struct oracle_job){ .repeat = 1, .eager = UINT64_MAX };
	if (!places_draw(s, j, r))
		return false;
	do
		j->sl = (uint8_t)below(r, N_SLS);
	while (!has_vl(s, j) && !chance(r, 10));
	if (chance(r, 50))
		graphs_draw(s, j, r);
	else
		program_draw(s, j, r);
	reductions_draw(s, j, reductions);
	if (chance(r, 40))
		j->repeat = 2 + below(r, 2);
	if (chance(r, 40))
		j->start = little_draw(s, r) * below(r, 20);
	if (chance(r, 50))
		j->eager = bytes_draw(s, 3, r);
	if (chance(r, 50))
		j->overhead = little_draw(s, r);
	if (chance(r, 30))
		j->per_byte = 1 + s->d_max / s->sizes[0] / 2;
	if (chance(r, 40))
		j->gap = little_draw(s, r) * (1 + below(r, 3));
	j->rc = chance(r, 40) && is_connected(s, j);
	j->timeout = (uint8_t)(1 + below(r, 3));
	return job_trees_make(&s->fabric, j) &&
	       job_packets(s, j, &computes) * j->repeat <= MAX_PACKETS;
}

void jobs_draw(struct scenario *s, struct rng *r, struct rng *reductions)
{
	uint32_t n = 1 + below(r, MAX_JOBS);

	if (!s->jobbed)
		return;
	s->jobs.mtu = s->paired ? s->pairs.mtu : mtu_draw(s, r);
	s->jobs.payload = 1 + below(reductions, s->jobs.mtu);
	s->fabric.setup.reduction_delay = chance(reductions, 20) ? 0 : little_draw(s, reductions);
	s->jobs.list = hd_alloc(MAX_JOBS, sizeof(*s->jobs.list));
	for (int tries = 0; tries < 40 && s->jobs.n < n; tries++) {
		struct oracle_job *j = &s->jobs.list[s->jobs.n];

		if (job_draw(s, j, r, reductions))
			s->jobs.n++;
		else
			job_fini(j);
	}
	scenario_make_trees(s);
}
