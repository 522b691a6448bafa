/* SPDX-License-Identifier: BSD-2-Clause */
#include "random_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "subnet/routing/router.h"

#define ROUTED_PERCENT     12 /* of scenarios have routers */
#define CONTROLLED_PERCENT 50 /* have congestion control */
#define PAIRED_PERCENT     40 /* have queue pairs */
#define ADAPTIVE_PERCENT   25 /* have switches that choose */
#define JOBBED_PERCENT     35 /* have jobs, unless there are routers */
#define FOREWARNED_PERCENT 30 /* of those have fans whose far cables fail */
#define AROUND_PERCENT     60 /* of the others are dragonflies */
#define ASKING_PERCENT     30 /* of controlled ones have flows that ask */

/* Parts are drawn from streams of their own, so that one can change alone. */
enum stream {
	DRAW_SHAPE,
	DRAW_TIMING,
	DRAW_MODEL,
	DRAW_BUFFERS,
	DRAW_ROUTES,
	DRAW_VLS,
	DRAW_TABLES,
	DRAW_FLOWS,
	DRAW_FAULTS,
	DRAW_KEYS,
	DRAW_ROUTERS,
	DRAW_KIND,
	DRAW_CHANGES,
	DRAW_SENDERS,
	DRAW_CONTROL,
	DRAW_REROUTES,
	DRAW_PAIRS,
	DRAW_CHOICES,
	DRAW_JOBS,
	DRAW_REDUCTIONS,
	DRAW_END_KEYS,
	DRAW_FREE_SLS,
	DRAW_ASKS,
	DRAW_EARLY,
	DRAW_VL_CHANGES,
	DRAW_SETTINGS,
	DRAW_AROUND,
	DRAW_SATURATING,
	DRAW_SHARING,
	DRAW_MADS,
};

/* Time for queue pairs to miss answers, unless that takes too many timers. */
static hd_time patience(const struct scenario *s, hd_time timer)
{
	hd_time most = 300 * timer, wanted = 100 * HD_US;

	if (s->pairs.n == 0)
		return 0;
	return wanted < most ? wanted : most;
}

/* Packets of all messages. */
static hd_time packets_made(const struct scenario *s)
{
	hd_time n = 0;

	for (size_t i = 0; i < s->n_arrivals; i++)
		n += 1 + pairs_packets(s, s->arrivals[i].flow);
	return n;
}

static void horizon_set(struct scenario *s)
{
	const struct sim_setup *t = &s->fabric.setup;
	hd_time last = s->arrivals[s->n_arrivals - 1].time / s->tick;
	hd_time work = packets_made(s) * s->d_max / s->tick;
	uint32_t end = fabric_end_port(&s->fabric, 0);
	hd_time timer = hd_rate_duration(t->ports[end].rate, 65536) / s->tick;

	hd_time most = s->controlled ? 12000 : 2500;

	if (s->controlled)
		work *= 2;
	s->horizon =
		last + 200 + (work < most ? work : most) + patience(s, timer * s->tick) / s->tick;
	/* Let the timer of T5 strike if it is not far. */
	if (timer < 3000 && s->horizon < 2 * timer + timer / 2)
		s->horizon = 2 * timer + timer / 2;
	s->horizon += jobs_time(s) / s->tick;
	if (s->asks.n > 0) /* they wait for an answer */
		s->horizon += 40 * s->d_max / s->tick;
	s->horizon *= s->tick;
}

static struct rng *stream(struct rng *r, uint64_t seed, enum stream id)
{
	rng_init(r, seed, id);
	return r;
}

/* At least one switch stays. */
static uint32_t routers_draw(const struct shape *h, struct rng *r)
{
	if (h->n_switches < 2)
		return 0;
	return 1 + below(r, h->n_switches > 2 ? 2 : 1);
}

enum routers { NO_ROUTERS, ROUTERS, PLAIN_ROUTERS, ROUTERS_AS_SWITCHES };

/* What is decided before anything else. */
struct features {
	enum routers routers;
	bool controlled, paired, adaptive, jobbed, asking, forewarned, spread, sharing;
	bool settled; /* none of what came later: Q8, T11l, C9 */
	bool around;
	bool managed;
};

static bool are_around(const struct features *f)
{
	return f->around && f->adaptive && !f->forewarned && f->routers == NO_ROUTERS;
}

/* Things happen that keep to no tick. */
static bool is_timed(const struct scenario *s)
{
	return s->controlled || s->paired || s->jobbed;
}

/* To one in which switches have something to choose, if they are to. */
static void shape_change(const struct scenario *s, struct shape *h, struct rng *r)
{
	if (s->forewarned)
		shape_fan(h, r);
	else if (s->around)
		shape_dragonfly(h, r);
	else if (s->adaptive)
		shape_widen(h, r);
}

static struct scenario scenario_with(uint64_t seed, const struct features *has)
{
	enum routers kind = has->routers;
	bool routed = kind != NO_ROUTERS;

	return (struct scenario){ .seed = seed,
				  .routed = routed,
				  .plain = kind == PLAIN_ROUTERS || kind == ROUTERS_AS_SWITCHES,
				  .paired = has->paired,
				  .jobbed = has->jobbed,
				  .controlled = has->controlled,
				  .adaptive = has->adaptive,
				  .spread = has->spread,
				  .settled = has->settled,
				  .forewarned = has->forewarned && has->adaptive && !routed,
				  .asking = has->asking && has->controlled && !has->adaptive &&
					    !routed,
				  .around = are_around(has) };
}

static void draw(struct scenario *s, uint64_t seed, struct features has)
{
	enum routers kind = has.routers;
	struct shape shape;
	struct rng r, routers, choices, reductions;

	*s = scenario_with(seed, &has);
	stream(&routers, seed, DRAW_ROUTERS);
	stream(&choices, seed, DRAW_CHOICES);
	shape_draw(&shape, stream(&r, seed, DRAW_SHAPE));
	shape_change(s, &shape, &choices);
	if (kind != NO_ROUTERS)
		shape.n_routers = routers_draw(&shape, &routers);
	shape.as_switches = kind == ROUTERS_AS_SWITCHES;
	fabric_draw(s, &shape, &r);
	stream(&r, seed, DRAW_TIMING);
	s->lengthy = chance(&r, 10) && !is_timed(s);
	timing_draw(s, &r);
	model_draw(s, stream(&r, seed, DRAW_MODEL));
	if (has.sharing) {
		s->fabric.setup.sw.queueing = SIM_INPUT_QUEUED;
		s->fabric.setup.sw.order = SIM_VOQ;
	}
	buffers_draw(s, stream(&r, seed, DRAW_BUFFERS));
	routes_draw(s, &shape, stream(&r, seed, DRAW_ROUTES));
	vl_tables_draw(s, &s->fabric.subnet, stream(&r, seed, DRAW_VLS));
	tables_draw(s, stream(&r, seed, DRAW_TABLES));
	keys_draw(s, &s->fabric.subnet, stream(&r, seed, DRAW_KEYS));
	end_keys_draw(s, &s->fabric.subnet, stream(&r, seed, DRAW_END_KEYS));
	tclasses_draw(s, &routers);
	marks_draw(s, &routers);
	flows_draw(s, stream(&r, seed, DRAW_FLOWS));
	free_sls_draw(s, stream(&r, seed, DRAW_FREE_SLS));
	pairs_draw(s, stream(&r, seed, DRAW_PAIRS));
	senders_draw(s, stream(&r, seed, DRAW_SENDERS));
	control_draw(s, stream(&r, seed, DRAW_CONTROL));
	port_faults_draw(s, stream(&r, seed, DRAW_FAULTS));
	outages_draw(s, &r);
	changes_draw(s, stream(&r, seed, DRAW_CHANGES));
	reroutes_draw(s, stream(&r, seed, DRAW_REROUTES));
	choices_draw(s, &shape, &choices);
	jobs_draw(s, stream(&r, seed, DRAW_JOBS), stream(&reductions, seed, DRAW_REDUCTIONS));
	asks_draw(s, stream(&r, seed, DRAW_ASKS));
	early_draw(s, stream(&r, seed, DRAW_EARLY));
	if (has.sharing)
		sharing_draw(s, stream(&r, seed, DRAW_SHARING));
	else
		vl_changes_draw(s, stream(&r, seed, DRAW_VL_CHANGES));
	settings_draw(s, stream(&r, seed, DRAW_SETTINGS));
	saturating_draw(s, stream(&r, seed, DRAW_SATURATING));
	horizon_set(s);
	if (has.managed)
		mads_draw(s, stream(&r, seed, DRAW_MADS));
}

/* Each feature by chance. */
static struct features features_draw(uint64_t seed)
{
	struct rng r;
	bool routed = chance(stream(&r, seed, DRAW_KIND), ROUTED_PERCENT);
	bool controlled = chance(&r, CONTROLLED_PERCENT);
	bool paired = chance(&r, PAIRED_PERCENT);
	bool adaptive = chance(&r, ADAPTIVE_PERCENT);

	bool jobbed = chance(&r, JOBBED_PERCENT) && !routed;
	bool asking = chance(&r, ASKING_PERCENT);
	bool forewarned = chance(&r, FOREWARNED_PERCENT);

	stream(&r, seed, DRAW_AROUND);
	return (struct features){
		.routers = routed ? ROUTERS : NO_ROUTERS,
		.controlled = controlled,
		.paired = paired,
		.adaptive = adaptive,
		.jobbed = jobbed,
		.asking = asking,
		.forewarned = forewarned,
		.around = chance(&r, AROUND_PERCENT),
	};
}

void scenario_draw(struct scenario *s, uint64_t seed)
{
	draw(s, seed, features_draw(seed));
}

bool scenario_is_jobbed(uint64_t seed)
{
	return features_draw(seed).jobbed;
}

bool scenario_is_adaptive(uint64_t seed)
{
	return features_draw(seed).adaptive;
}

bool scenario_is_around(uint64_t seed)
{
	struct features has = features_draw(seed);

	return are_around(&has);
}

void scenario_draw_managed(struct scenario *s, uint64_t seed)
{
	struct features has = features_draw(seed);

	has.routers = NO_ROUTERS;
	has.controlled = false;
	has.managed = true;
	draw(s, seed, has);
}

void scenario_draw_unpaired(struct scenario *s, uint64_t seed)
{
	struct features has = features_draw(seed);

	has.paired = false;
	has.jobbed = false;
	draw(s, seed, has);
}

void scenario_draw_adaptive(struct scenario *s, uint64_t seed)
{
	struct features has = features_draw(seed);

	has.adaptive = true;
	has.jobbed = has.around = false;
	draw(s, seed, has);
}

void scenario_draw_around(struct scenario *s, uint64_t seed)
{
	struct features has = features_draw(seed);

	has.routers = NO_ROUTERS;
	has.adaptive = has.around = true;
	has.jobbed = has.forewarned = false;
	draw(s, seed, has);
}

void scenario_draw_routed(struct scenario *s, uint64_t seed)
{
	draw(s, seed, (struct features){ .routers = ROUTERS });
}

void scenario_draw_controlled(struct scenario *s, uint64_t seed)
{
	struct features has = features_draw(seed);

	has.controlled = true;
	has.paired = has.adaptive = false;
	has.jobbed = false;
	draw(s, seed, has);
}

void scenario_draw_paired(struct scenario *s, uint64_t seed)
{
	struct features has = features_draw(seed);

	has.paired = true;
	has.adaptive = false;
	has.jobbed = false;
	has.settled = true;
	draw(s, seed, has);
}

void scenario_draw_spread(struct scenario *s, uint64_t seed)
{
	struct features has = features_draw(seed);

	has.routers = NO_ROUTERS;
	has.paired = has.adaptive = has.spread = true;
	has.jobbed = has.around = false;
	draw(s, seed, has);
}

void scenario_draw_sharing(struct scenario *s, uint64_t seed)
{
	struct features has = features_draw(seed);

	has.sharing = true;
	draw(s, seed, has);
}

void scenario_draw_jobbed(struct scenario *s, uint64_t seed)
{
	struct features has = features_draw(seed);

	has.routers = NO_ROUTERS;
	has.jobbed = true;
	has.around = false;
	draw(s, seed, has);
}

/* The output port of node v of `from` for packets to end `e`. */
static unsigned output_of(const struct fabric *from, uint32_t v, uint32_t e)
{
	const struct subnet *n = &from->subnet;
	const struct topo *t = &from->topo;
	port_id to = from->setup.ports[fabric_end_port(from, e)].origin;
	port_id out = TOPO_NONE;
	lid_t dlid = 0;

	if (v < n->n_switches)
		return lft_get(n, v, route_dlid(n, t->nodes[v].first_port, to));
	if (!subnet_router_forward(n, v, to, &out, &dlid))
		return LFT_NO_PORT;
	return t->ports[out].number;
}

/* R4: routers look at the output's table only. */
static void router_vls(struct fabric *fabric, uint32_t v)
{
	struct subnet *n = &fabric->subnet;
	unsigned side = fabric->topo.nodes[v].n_ports + 1u;

	for (unsigned i = 0; i < side * side; i++)
		n->sl2vl_of_pair[v][i] =
			(uint16_t)n->sl2vl_of_port[fabric->topo.nodes[v].first_port + i % side];
}

/* The tables of `routed` in `f`, which has switches for its routers. */
static void tables_translate(const struct fabric *routed, struct fabric *fabric)
{
	const struct subnet *from = &routed->subnet;
	struct subnet *to = &fabric->subnet;

	memset(to->mft->ports, 0, (size_t)FABRIC_GROUPS * to->n_switches * sizeof(uint64_t));
	for (uint32_t v = 0; v < to->n_switches; v++) {
		for (uint32_t e = 0; e < fabric->n_ends; e++)
			fabric_route(fabric, v, (lid_t)(e + 1), output_of(routed, v, e));
		if (v >= from->n_switches) {
			router_vls(fabric, v);
			continue;
		}
		for (lid_t g = 0; g < FABRIC_GROUPS; g++)
			to->mft->ports[g * to->n_switches + v] =
				from->mft->ports[g * from->n_switches + v];
	}
}

void scenario_draw_twins(struct scenario *routed, struct scenario *switched, uint64_t seed)
{
	draw(routed, seed, (struct features){ .routers = PLAIN_ROUTERS });
	draw(switched, seed, (struct features){ .routers = ROUTERS_AS_SWITCHES });
	const struct sim_setup *from = &routed->fabric.setup;
	struct sim_setup *to = &switched->fabric.setup;

	tables_translate(&routed->fabric, &switched->fabric);
	memcpy(to->ports, from->ports, from->n_ports * sizeof(*to->ports));
	to->n_faults = from->n_faults;
	to->faults = hd_realloc(to->faults, from->n_faults + 1u, sizeof(*to->faults));
	for (uint32_t i = 0; i < from->n_faults; i++)
		to->faults[i] = from->faults[i];
	switched->n_arrivals = routed->n_arrivals;
	switched->arrivals =
		hd_realloc(switched->arrivals, routed->n_arrivals, sizeof(*switched->arrivals));
	for (size_t i = 0; i < routed->n_arrivals; i++) {
		struct sim_arrival *a = &switched->arrivals[i];

		*a = routed->arrivals[i];
		if (a->global && a->dlid < LID_FIRST_MCAST)
			a->dlid = routed->fabric.subnet.lid_of_port[a->target];
		a->global = false;
	}
	switched->horizon = routed->horizon;
}

void scenario_drop_jobs(struct scenario *s)
{
	for (uint32_t i = 0; i < s->jobs.n; i++)
		job_fini(&s->jobs.list[i]);
	free(s->jobs.list);
	s->jobs = (struct oracle_jobs){ 0 };
}

void scenario_clear(struct scenario *s)
{
	plans_free(s); /* which ask the topology how large they are */
	fabric_fini(&s->fabric);
	free(s->arrivals);
	free(s->control);
	free(s->throttles);
	free(s->throttle_of_flow);
	free(s->asks.list);
	free(s->reserve);
	free(s->choice);
	free(s->pairs.list);
	free(s->mads.list);
	scenario_drop_jobs(s);
	for (size_t i = 0; i < s->n_configs; i++)
		free(s->configs[i]);
	free(s->configs);
	for (size_t i = 0; i < s->n_sets; i++)
		free(s->sets[i]);
	free(s->sets);
}

struct oracle_case scenario_case(const struct scenario *s)
{
	return (struct oracle_case){
		&s->fabric.setup,
		s->arrivals,
		s->n_arrivals,
		s->horizon,
		is_timed(s) ? 0 : s->tick,
		is_timed(s) || s->mads.n > 0,
		&s->pairs,
		&s->jobs,
		&s->asks,
		s->pairs.n > 0 || s->jobs.n > 0 || s->asks.n > 0 || s->mads.n > 0 || s->saturating,
		s->saturating,
		&s->mads,
	};
}
