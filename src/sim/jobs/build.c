/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/memory.h"
#include "base/text.h"
#include "hca/lab.h"
#include "sim/jobs/jobs_internal.h"
#include "subnet/multicast/aggregate.h"
#include "subnet/tables/packet.h"
#include "workload/place.h"

/* Limits of the messages recorded for the critical path: per job, and per rank. */
#define MOST_NOTES  (1u << 20)
#define LEAST_NOTES 16u

/* ---- programs of ranks -------------------------------------------------- */

static enum hd_status read_goal(struct placed_job *p, struct diag *d)
{
	const struct scenario *s = p->fabric->scenario;
	char *path = scenario_path(s, &p->scn->goal);
	struct diag inner = { .status = HD_OK };
	enum hd_status status = opgraph_read_file(path, &inner, &p->graph);

	if (status == HD_OK)
		p->job.graph = &p->graph;
	else if (inner.line)
		scenario_refuse(s, d, &p->scn->goal, "jobs[].goal: %s:%u: %s", path, inner.line,
				inner.message);
	else
		scenario_refuse(s, d, &p->scn->goal, "jobs[].goal: %s: %s", path, inner.message);
	free(path);
	p->job.n_steps = 1;
	p->job.n_cpus = 1;
	for (uint32_t i = 0; status == HD_OK && i < p->graph.n_ops; i++) {
		if (p->graph.ops[i].cpu >= p->job.n_cpus)
			p->job.n_cpus = p->graph.ops[i].cpu + 1u;
	}
	return status == HD_OK ? HD_OK : d->status;
}

/* Reads a grid such as "8x8x4". */
static bool read_grid(const char *text, uint32_t *grid)
{
	char *end;

	for (unsigned i = 0; i < STEP_DIMENSIONS; i++) {
		unsigned long n = strtoul(text, &end, 10);

		if (end == text || n == 0 || n > UINT32_MAX || *text == '-')
			return false;
		grid[i] = (uint32_t)n;
		if (!*end)
			return i > 0;
		if (*end != 'x')
			return false;
		text = end + 1;
	}
	return false;
}

/* Chooses a grid as close to a square as possible. */
static void make_grid(uint32_t p, uint32_t *grid)
{
	for (uint32_t n = 1; (uint64_t)n * n <= p; n++) {
		if (p % n == 0)
			grid[1] = n;
	}
	grid[0] = p / grid[1];
}

static const struct algorithm *find_algorithm(const struct scenario *s, const struct scn_step *scn,
					      const char *operation, struct diag *d)
{
	const struct algorithm *found = workload_algorithm_find(operation, scn->algorithm);
	const char *names[8];
	size_t n = 0;

	if (found)
		return found;
	for (size_t i = 0; i < workload_n_algorithms && n < 8; i++) {
		if (strcmp(workload_algorithms[i].operation, operation) == 0)
			names[n++] = workload_algorithms[i].name;
	}
	struct strbuf all = STRBUF_INIT;

	for (size_t i = 0; i < n; i++)
		strbuf_printf(&all, "%s%s", i ? ", " : "", names[i]);
	scenario_refuse(s, d, &scn->algorithm, "%s has no algorithm '%s' (expected one of: %s)%s",
			operation, scn->algorithm, all.text,
			text_hint(text_nearest(scn->algorithm, names, n)).text);
	strbuf_fini(&all);
	return NULL;
}

/*
 * Refuses settings that have no meaning for the algorithm, unless they have the default value,
 * as in scenarios that list all fields.
 */
static enum hd_status check_uses(const struct placed_job *p, const struct scn_step *scn,
				 const struct algorithm *a, struct diag *d)
{
	const struct {
		const char *name;
		const void *field;
		unsigned use;
		bool is_asked;
	} fields[] = {
		{ "root", &scn->root, STEP_ROOT, scn->root != 0 },
		{ "groups", &scn->groups, STEP_GROUPS, scn->groups != 1 },
		{ "layout", &scn->layout, STEP_GROUPS, scn->layout != SCN_BLOCKS },
		{ "grid", &scn->grid, STEP_GRID, scn->grid != NULL },
		{ "segment", &scn->segment, STEP_SEGMENT, scn->segment != 0 },
		{ "request", &scn->request, STEP_REQUESTS, scn->request != SCN_REQUEST },
		{ "outstanding", &scn->outstanding, STEP_REQUESTS,
		  scn->outstanding != SCN_OUTSTANDING },
	};

	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		if (fields[i].is_asked && !(a->uses & fields[i].use))
			return scenario_refuse(p->fabric->scenario, d, fields[i].field,
					       "job '%s': '%s' has no meaning for %s by '%s'",
					       p->scn->name, fields[i].name, a->operation, a->name);
	}
	return HD_OK;
}

static enum hd_status make_step(struct placed_job *p, size_t number, struct diag *d)
{
	const struct scenario *s = p->fabric->scenario;
	const struct scn_step *scn = &p->scn->program[number];
	enum scn_operation what = scn_step_operation(scn);
	struct diag inner = { .status = HD_OK };
	struct workload_step *step = &p->steps[number];

	*step = (struct workload_step){
		.algorithm = find_algorithm(s, scn, scn_operation_names[what], d),
		.size = scn->amount[what],
		.root = (uint32_t)scn->root,
		.groups = (uint32_t)scn->groups,
		.strides = scn->layout == SCN_STRIDES,
		.grid = { 1, 1, 1 },
		.segment = scn->segment,
		.request = scn->request,
		.outstanding = (uint32_t)scn->outstanding,
	};
	if (!step->algorithm || check_uses(p, scn, step->algorithm, d) != HD_OK)
		return d->status;
	if (scn->grid && !read_grid(scn->grid, step->grid))
		return scenario_refuse(s, d, &scn->grid,
				       "'%s' is not a grid (expected 8x8 or 4x4x4)", scn->grid);
	if (what == SCN_HALO && !scn->grid)
		make_grid(p->job.n_ranks / step->groups, step->grid);
	if (step_check(step, p->job.n_ranks, &inner) != HD_OK)
		return scenario_refuse(s, d, scn, "job '%s', %s: %s", p->scn->name,
				       scn_operation_names[what], inner.message);
	return HD_OK;
}

/* ---- placement ---------------------------------------------------------- */

static void actor_add(struct placed_job *p, port_id port)
{
	p->actors[p->n_actors++] = (struct actor){
		.node = p->fabric->end_of_origin[port],
		.port = port,
		.first = RANK_GROUP_NONE,
		.left_at = HD_TIME_NEVER,
		.reduces = RANK_GROUP_NONE,
		.inner_first = RANK_GROUP_NONE,
		.inner_leaves = RANK_GROUP_NONE,
		.inner_left = HD_TIME_NEVER,
	};
}

/* The switch to which the host is connected. */
static uint32_t leaf_of(const struct fabric *fabric, port_id port)
{
	const struct sim_port *at = &fabric->setup.ports[fabric->port_of_origin[port]];

	return at->peer == SIM_NONE ? SIM_NONE : fabric->setup.ports[at->peer].node;
}

static void place(struct placed_job *p, const struct selection *hosts)
{
	const struct fabric *fabric = p->fabric;
	uint32_t *leaf = hd_alloc(hosts->n, sizeof(*leaf));
	uint32_t *host = hd_alloc(p->job.n_ranks, sizeof(*host));
	struct rng rng;

	for (uint32_t i = 0; i < hosts->n; i++)
		leaf[i] = leaf_of(fabric, hosts->ports[i]);
	rng_init(&rng, fabric->scenario->run.seed, fabric_stream(STREAM_PLACES, p->scn->name));
	place_ranks((enum placement)p->scn->place, leaf, hosts->n, &rng, p->job.n_ranks, host);
	p->actors = hd_alloc(p->job.n_ranks, sizeof(*p->actors));
	for (uint32_t i = 0; i < p->job.n_ranks; i++)
		actor_add(p, hosts->ports[host[i]]);
	free(leaf);
	free(host);
}

static enum hd_status count_ranks(struct placed_job *p, const struct selection *hosts,
				  struct diag *d)
{
	const struct scenario *s = p->fabric->scenario;
	const struct scn_job *scn = p->scn;
	uint64_t n = scn->ranks;

	if (scn->goal && n && n != p->graph.n_ranks)
		return scenario_refuse(s, d, &scn->ranks, "job '%s' has %u ranks by its file",
				       scn->name, p->graph.n_ranks);
	if (!n)
		n = scn->goal ? p->graph.n_ranks : hosts->n;
	if (n > hosts->n)
		return scenario_refuse(s, d,
				       scn->ranks ? (const void *)&scn->ranks : (const void *)scn,
				       "job '%s' has %llu ranks, but there are %u hosts for it",
				       scn->name, (unsigned long long)n, hosts->n);
	p->job.n_ranks = (uint32_t)n;
	return HD_OK;
}

/*
 * Resolves the host names of a job. A host named twice would stand for two of something that
 * exists once, so it is refused (J1).
 */
static enum hd_status hosts_of(struct placed_job *p, char *const *words, const char *field,
			       struct rng *rng, struct diag *d, struct selection *out)
{
	const struct fabric *fabric = p->fabric;
	struct diag inner = { .status = HD_OK };

	if (select_hosts(fabric->selector, *words, rng, &inner, out) != HD_OK)
		return scenario_refuse(fabric->scenario, d, words, "%s: %s", field, inner.message);
	if (out->again == TOPO_NONE)
		return HD_OK;
	const struct topo_node *twice = topo_node_of(&fabric->topo, out->again);

	selection_fini(out);
	return scenario_refuse(
		fabric->scenario, d, words,
		"%s: '%s' is named twice, but a port has one rank or server of a job", field,
		twice->name);
}

static enum hd_status place_job(struct placed_job *p, struct diag *d)
{
	const struct fabric *fabric = p->fabric;
	struct selection hosts;
	struct rng rng;

	rng_init(&rng, fabric->scenario->run.seed, fabric_stream(STREAM_HOSTS, p->scn->name));
	enum hd_status status = hosts_of(p, &p->scn->on, "jobs[].on", &rng, d, &hosts);

	if (status != HD_OK)
		return status;
	status = count_ranks(p, &hosts, d);

	if (status == HD_OK)
		place(p, &hosts);
	selection_fini(&hosts);
	return status;
}

/* J9: the server at a port. All steps share it and its message queue. */
static uint32_t server_at(struct placed_job *p, port_id port)
{
	for (uint32_t i = p->job.n_ranks; i < p->n_actors; i++) {
		if (p->actors[i].port == port)
			return i;
	}
	actor_add(p, port);
	return p->n_actors - 1;
}

static enum hd_status add_servers(struct placed_job *p, size_t number, struct diag *d)
{
	const struct fabric *fabric = p->fabric;
	const struct scn_step *scn = &p->scn->program[number];
	struct selection hosts;
	struct rng rng;

	if (!scn->to)
		return HD_OK;
	rng_init(&rng, fabric->scenario->run.seed,
		 fabric_stream(STREAM_SERVERS, p->scn->name) + number);
	enum hd_status status = hosts_of(p, &scn->to, "jobs[].program[].to", &rng, d, &hosts);

	if (status != HD_OK)
		return status;
	p->actors = hd_realloc(p->actors, (size_t)p->n_actors + hosts.n, sizeof(*p->actors));
	p->servers[number] = hd_alloc(hosts.n, sizeof(**p->servers));
	for (uint32_t i = 0; i < hosts.n; i++)
		p->servers[number][i] = server_at(p, hosts.ports[i]);
	p->steps[number].servers = hosts.n;
	selection_fini(&hosts);
	return HD_OK;
}

enum hd_status job_trees(struct placed_job *p, size_t number, struct diag *d)
{
	struct subnet *subnet = &p->fabric->subnet;
	const struct workload_step *step = &p->steps[number];
	uint32_t n = step_members(step, p->job.n_ranks);
	port_id *members = hd_alloc(n, sizeof(*members));
	const struct mcast_group want = {
		.method = MCAST_SHARED,
		.source = TOPO_NONE,
		.members = members,
		.n_members = n,
		.sl = p->sl,
	};
	enum hd_status status = HD_OK;
	struct diag inner = { .status = HD_OK };

	p->mlids[number] = hd_alloc(step->groups, sizeof(**p->mlids));
	for (uint32_t g = 0; g < step->groups && status == HD_OK && n > 1; g++) {
		for (uint32_t i = 0; i < n; i++)
			members[i] = p->actors[step_member(step, p->job.n_ranks, g, i)].port;
		status = mcast_add(subnet, &want, &inner);
		if (status == HD_OK)
			p->mlids[number][g] = subnet->groups[subnet->n_groups - 1].mlid;
		else
			scenario_refuse(p->fabric->scenario, d, &p->scn->program[number].algorithm,
					"job '%s': %s", p->scn->name, inner.message);
	}
	free(members);
	return status == HD_OK ? HD_OK : d->status;
}

static enum hd_status make_program(struct placed_job *p, struct diag *d)
{
	size_t n = p->scn->n_program;
	enum hd_status status = HD_OK;

	p->steps = hd_alloc(n, sizeof(*p->steps));
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): of pointers */
	p->servers = hd_alloc(n, sizeof(*p->servers));
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): of pointers */
	p->mlids = hd_alloc(n, sizeof(*p->mlids));
	p->trees_of = hd_alloc(n, sizeof(*p->trees_of));
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): of pointers */
	p->begun = hd_alloc(n, sizeof(*p->begun));
	p->job.steps = p->steps;
	p->job.n_steps = (uint32_t)n;
	p->job.n_cpus = 1;
	for (size_t i = 0; i < n && status == HD_OK; i++) {
		status = make_step(p, i, d);
		if (status == HD_OK)
			status = add_servers(p, i, d);
		if (status == HD_OK && strcmp(p->steps[i].algorithm->name, "multicast") == 0)
			status = job_trees(p, i, d);
		if (status == HD_OK && reduction_has_step(&p->steps[i]))
			status = reduction_trees(p, i, d);
	}
	return status;
}

static bool have_ways(const struct placed_job *p, uint32_t a, uint32_t b)
{
	struct sim_address to;

	return fabric_address(p->fabric, p->actors[a].port, p->actors[b].port, &to) &&
	       fabric_address(p->fabric, p->actors[b].port, p->actors[a].port, &to);
}

/*
 * Whether all actors can reach each other: it is sufficient to check one against all others in
 * both directions, through the peer that forwards for the first where peers do.
 */
static enum hd_status check_ways(const struct placed_job *p, struct diag *d)
{
	for (uint32_t i = 1; i < p->n_actors; i++) {
		if (!(p->inner.num && inner_same_host(p, 0, i)) &&
		    !have_ways(p, inner_sender_of(p, 0, i), i))
			return scenario_refuse(p->fabric->scenario, d, p->scn,
					       "job '%s': no way between hosts of two subnets",
					       p->scn->name);
	}
	return HD_OK;
}

/* Initialises the notes made during the run. */
static void notes_init(struct placed_job *p)
{
	uint32_t each = MOST_NOTES / p->n_actors;

	p->log_most = each > LEAST_NOTES ? each : LEAST_NOTES;
	p->link_bytes = hd_alloc(p->fabric->setup.n_ports, sizeof(*p->link_bytes));
	timeline_init(p, (uint32_t)p->fabric->scenario->n_jobs);
	pairs_init(p);
}

static enum hd_status placed_init(struct placed_job *p, const struct jobs *jobs,
				  const struct scn_job *scn, struct diag *d)
{
	struct fabric *fabric = jobs->fabric;
	const struct scn_fabric *link = &fabric->scenario->fabric;
	struct strbuf sender = STRBUF_INIT;
	enum hd_status status = HD_OK;

	*p = (struct placed_job){
		.scn = scn,
		.fabric = fabric,
		.first_tree = jobs->n_aggregations,
		.sl = (uint8_t)scenario_job_sl(fabric->scenario, scn),
		.mtu = (uint32_t)link->mtu,
		.overhead = (uint32_t)link->overhead,
		.grh = scenario_group_grh(fabric->scenario),
		.inner = link->intra_host.rate,
		.inner_latency = link->intra_host.latency,
		.eager = scn->eager,
		.gap = scn->gap,
		.job = { .repeat = (uint32_t)scn->repeat,
			 .start = scn->start,
			 .overhead = scn->overhead,
			 .per_byte = scn->per_byte },
	};
	memory_for("operations of jobs");
	strbuf_printf(&sender, "job %s", scn->name);
	p->sender = strbuf_detach(&sender);
	if (scn->goal)
		status = read_goal(p, d);
	if (status == HD_OK)
		status = place_job(p, d);
	if (status == HD_OK && !scn->goal)
		status = make_program(p, d);
	if (status != HD_OK)
		return status;
	p->ranks = rank_group_ranks_new(&p->job);
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): of pointers */
	p->tables = hd_alloc(MESSAGE_TABLES, sizeof(*p->tables));
	p->needs = hd_alloc(p->graph.n_ops, sizeof(*p->needs));
	p->rank_of_node = hd_alloc(fabric->setup.n_nodes, sizeof(*p->rank_of_node));
	for (uint32_t i = 0; i < fabric->setup.n_nodes; i++)
		p->rank_of_node[i] = RANK_GROUP_NONE;
	for (uint32_t i = 0; i < p->job.n_ranks; i++)
		p->rank_of_node[p->actors[i].node] = i;
	inner_join(p);
	notes_init(p);
	return check_ways(p, d);
}

static void share_fini(struct job_domain *s)
{
	job_domain_fini_remote(s);
	rank_group_fini(&s->rank_group);
	free(s->pairs);
}

static void placed_fini(struct placed_job *p)
{
	for (uint32_t i = 0; i < p->n_shares; i++)
		share_fini(&p->shares[i]);
	message_blocks_fini(p);
	for (uint32_t i = 0; p->mlids && i < p->job.n_steps; i++) {
		free(p->mlids[i]);
		free(p->servers[i]);
		free(p->begun[i]);
	}
	if (p->ranks)
		rank_group_ranks_free(p->ranks, &p->job);
	opgraph_fini(&p->graph);
	timeline_fini(p);
	job_watch_fini(p);
	for (uint32_t i = 0; i < p->n_actors; i++)
		free(p->actors[i].log);
	free(p->names);
	free(p->joined);
	free(p->link_bytes);
	free(p->ways);
	free(p->bins);
	free(p->sender);
	if (p->shares != &p->alone)
		free(p->shares);
	free(p->mlids);
	free(p->servers);
	free(p->trees_of);
	free(p->begun);
	free(p->steps);
	free(p->needs);
	free(p->actors);
	free(p->rank_of_node);
}

/* ---- all jobs ----------------------------------------------------------- */

enum hd_status jobs_new(struct fabric *fabric, uint32_t which, struct diag *d, struct jobs **out)
{
	const struct scenario *s = fabric->scenario;
	struct jobs *jobs = hd_alloc(1, sizeof(*jobs));
	const struct fabric_trees trees = {
		.first_group = fabric->subnet.n_groups,
		.first_aggregation = fabric->subnet.n_aggregations,
		.most = (uint32_t)s->fabric.reduction.trees,
		.is_shown = which == JOBS_ALL,
	};
	enum hd_status status = HD_OK;

	jobs->fabric = fabric;
	jobs->n_aggregations = fabric->subnet.n_aggregations;
	jobs->placed = hd_alloc(s->n_jobs, sizeof(*jobs->placed));
	for (uint32_t i = 0; i < s->n_jobs && status == HD_OK; i++) {
		if (which == JOBS_ALL || which == i)
			status = placed_init(&jobs->placed[jobs->n++], jobs, &s->jobs[i], d);
	}
	if (status == HD_OK)
		status = fabric_follow_trees(fabric, &trees, d);
	if (status == HD_OK)
		status = jobs_connect(jobs, d);
	if (status == HD_OK)
		*out = jobs;
	else
		jobs_free(jobs);
	return status;
}

void jobs_free(struct jobs *jobs)
{
	if (jobs->lab)
		lab_free(jobs->lab);
	for (uint32_t i = 0; i < jobs->n; i++)
		placed_fini(&jobs->placed[i]);
	aggregation_drop(&jobs->fabric->subnet, jobs->n_aggregations);
	free(jobs->placed);
	free(jobs);
}

static uint16_t sls_of_jobs(const struct scenario *scn)
{
	uint16_t sls = 0;

	for (size_t i = 0; i < scn->n_jobs; i++)
		sls |= (uint16_t)(1u << scenario_job_sl(scn, &scn->jobs[i]));
	return sls;
}

void jobs_rules(const struct fabric *fabric, struct sim_rules *rules)
{
	uint32_t most = scenario_packet_limit(fabric->scenario);

	if (scenario_jobs_over_rc(fabric->scenario))
		lab_rules(rules);
	/* Others than jobs may use any SL. */
	if (!rules->injects)
		rules->injects_sls = sls_of_jobs(fabric->scenario);
	rules->injects = true;
	if (most > rules->injects_bytes)
		rules->injects_bytes = most;
}

void jobs_attach(struct jobs *jobs, struct sim *s)
{
	if (jobs->lab)
		lab_use_sim(jobs->lab, s);
	for (uint32_t i = 0; i < jobs->n; i++)
		job_attach(&jobs->placed[i], s);
}

bool jobs_leave_timers(const struct jobs *jobs)
{
	return jobs->lab != NULL;
}
