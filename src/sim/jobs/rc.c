/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages over RC queue pairs (docs/timing-rules.md, J14). All operations are traversed before
 * the run to find the pairs of ranks that communicate, so that both ends of each connection
 * exist in any partitioning.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/compare.h"
#include "base/memory.h"
#include "hca/message_channel.h"
#include "sim/jobs/jobs_internal.h"

#define RECV_DEPTH 8 /* receives per channel */

/* ---- pairs of sender and target -------------------------------------------------- */

/* Keys with the sender in the upper half; may contain duplicates. */
struct rc_pairs {
	uint64_t *items;
	size_t n, cap;
};

/* Sorts the keys and removes duplicates. */
static void ways_sort(struct rc_pairs *w)
{
	size_t n = 0;

	if (!w->n)
		return;
	qsort(w->items, w->n, sizeof(*w->items), compare_u64);
	for (size_t i = 0; i < w->n; i++) {
		if (!n || w->items[n - 1] != w->items[i])
			w->items[n++] = w->items[i];
	}
	w->n = n;
}

static uint64_t way_of(const struct placed_job *p, uint32_t source, uint32_t target)
{
	return (uint64_t)inner_sender_of(p, source, target) << 32 | target;
}

static void way_add(const struct placed_job *p, struct rc_pairs *w, uint32_t source,
		    uint32_t target)
{
	if (p->inner.num && source < p->job.n_ranks && target < p->job.n_ranks &&
	    inner_same_host(p, source, target))
		return; /* J12: same host */
	uint64_t way = way_of(p, source, target);

	if (w->n && w->items[w->n - 1] == way)
		return;
	if (w->n == w->cap) {
		/* Grows only if most entries are distinct. */
		ways_sort(w);
		w->items = hd_grow(w->items, &w->cap, 2 * w->n + 64, sizeof(*w->items));
	}
	w->items[w->n++] = way;
}

/* Adds the pairs of an operation of a rank in this step. */
static void ways_of_op(const struct placed_job *p, struct rc_pairs *w, uint32_t rank, uint32_t step,
		       const struct op *op)
{
	uint32_t peer = op->peer;

	if (op->kind == OP_READ || op->kind == OP_WRITE)
		peer = p->servers[step][peer];
	else if (op->kind != OP_SEND)
		return;
	way_add(p, w, rank, peer);
	/* The reverse direction: an answer, or MSG_GO (J6). */
	if (op->kind != OP_SEND || op->size > p->eager)
		way_add(p, w, peer, rank);
}

static void ways_of_step(const struct placed_job *p, struct rc_pairs *w, uint32_t rank,
			 uint32_t step)
{
	const struct workload_step *s = &p->steps[step];
	uint32_t n = p->job.n_ranks;
	struct step_position at = { 0 };
	struct op op;

	for (at.sequence = 0; at.sequence < step_sequences(s); at.sequence++) {
		uint32_t rounds = step_rounds(s, n, rank, at.sequence);

		for (at.round = 0; at.round < rounds; at.round++) {
			for (at.index = 0; step_op(s, n, rank, at, &op); at.index++)
				ways_of_op(p, w, rank, step, &op);
		}
	}
}

static void ways_find(const struct placed_job *p, struct rc_pairs *w)
{
	for (uint32_t r = 0; r < p->job.n_ranks; r++) {
		for (uint32_t i = 0; p->steps && i < p->job.n_steps; i++)
			ways_of_step(p, w, r, i);
		for (uint32_t i = p->job.graph ? p->graph.first[r] : 0;
		     p->job.graph && i < p->graph.first[r + 1]; i++)
			ways_of_op(p, w, r, 0, &p->graph.ops[i]);
	}
	ways_sort(w);
}

/* ---- events of queue pairs ------------------------------------------------ */

static void on_arrived(void *context, const struct message_event *e)
{
	const struct placed_job *p = context;
	struct job_domain *s = &p->shares[e->part];

	/* A number from another process may be invalid. */
	if (!message_is_known(p, e->message))
		return;
	uint32_t target = message_at(p, e->message)->target;

	if (target >= p->n_actors ||
	    (p->part_of_node && p->part_of_node[p->actors[target].node] != e->part))
		return;
	message_lands(s, e->message, target, e->when);
	timeline_look(s, target, e->when);
}

static void on_done(void *context, const struct message_event *e)
{
	const struct placed_job *p = context;

	if (e->is_acknowledged)
		message_acknowledged(&p->shares[e->part], e->message, e->when);
	else
		message_at(p, e->message)->lost = 1;
}

static void on_passage(void *context, const struct sim_passage *x)
{
	const struct placed_job *p = context;

	if (x->is_measured)
		p->link_bytes[x->port] += x->bytes;
}

static const struct channel_listener listener = { on_arrived, on_done, NULL, on_passage };

/* ---- connecting ---------------------------------------------------------- */

static bool is_rc(const struct placed_job *p)
{
	return p->scn->transport == SCN_JOB_RC;
}

static enum hd_status refuse(const struct placed_job *p, uint64_t way, const char *why,
			     struct diag *d)
{
	const struct fabric *fabric = p->fabric;
	const struct actor *from = &p->actors[way >> 32];
	const struct actor *to = &p->actors[(uint32_t)way];

	return scenario_refuse(fabric->scenario, d, &p->scn->transport,
			       "job '%s': %s between '%s' and '%s'", p->scn->name, why,
			       topo_node_of(&fabric->topo, from->port)->name,
			       topo_node_of(&fabric->topo, to->port)->name);
}

static enum hd_status connect(struct placed_job *p, uint64_t way, struct diag *d)
{
	const struct actor *from = &p->actors[way >> 32];
	const struct actor *to = &p->actors[(uint32_t)way];
	const struct channel_params channel = {
		.kind = QP_RC,
		.from = from->node,
		.to = to->node,
		.piece = CHANNEL_PIECE,
		.receives = RECV_DEPTH,
		.has_number = true,
		.sl = p->sl,
		.pkey = fabric_key(p->fabric, p->scn->partition, from->port, to->port),
		.ack_timeout = p->scn->ack_timeout,
		.listener = &listener,
		.context = p,
	};
	struct sim_address address;

	if (!fabric_address(p->fabric, from->port, to->port, &address) ||
	    address.target != TOPO_NONE)
		return refuse(p, way, "queue pairs cross no router, as there is", d);
	if (channel_open(p->lab, &channel) != HD_OK)
		return refuse(p, way, "no packet of a queue pair fits", d);
	return HD_OK;
}

static enum hd_status connect_all(struct placed_job *p, struct diag *d)
{
	enum hd_status status = HD_OK;

	for (size_t i = 0; i < p->n_ways && status == HD_OK; i++)
		status = connect(p, p->ways[i], d);
	return status;
}

enum hd_status jobs_connect(struct jobs *jobs, struct diag *d)
{
	uint64_t n = 0;
	bool any = false;

	for (uint32_t i = 0; i < jobs->n; i++) {
		struct placed_job *p = &jobs->placed[i];
		struct rc_pairs w = { 0 };

		if (!is_rc(p))
			continue;
		ways_find(p, &w);
		p->ways = w.items;
		p->n_ways = w.n;
		p->first_channel = (uint32_t)n;
		n += w.n;
		any = true;
	}
	if (!any)
		return HD_OK;
	memory_for("queue pairs of jobs");
	enum hd_status status = lab_new_ideal(jobs->fabric, d, &jobs->lab);

	if (status == HD_OK)
		hca_channels_open(jobs->lab, (uint32_t)n);
	for (uint32_t i = 0; i < jobs->n && status == HD_OK; i++) {
		struct placed_job *p = &jobs->placed[i];

		if (is_rc(p)) {
			p->lab = jobs->lab;
			status = connect_all(p, d);
		}
	}
	return status;
}

uint32_t rc_pieces(uint64_t bytes)
{
	return channel_pieces(bytes);
}

void rc_send(struct job_domain *s, uint32_t id, hd_time now)
{
	const struct placed_job *p = s->of;
	struct job_message *m = message_at(p, id);
	const uint64_t way = (uint64_t)m->sender << 32 | m->target;
	const uint64_t *at = bsearch(&way, p->ways, p->n_ways, sizeof(*p->ways), compare_u64);

	assert(at);
	/* The source holds a reference until the acknowledgement. */
	m->copies = 2;
	channel_send(p->lab, p->first_channel + (uint32_t)(at - p->ways), now, id,
		     message_bytes(m));
}

/* ---- table --------------------------------------------------------------- */

struct rc_row {
	const char *job;
	uint64_t pairs, sends, retries, early, broken;
};

static const struct column columns[] = {
	{ "job", NULL, CELL(rc_row, job) },
	{ "pairs", NULL, CELL(rc_row, pairs) },
	{ "sends", NULL, CELL(rc_row, sends), ORIGIN_SIMULATED },
	{ "retries", NULL, CELL(rc_row, retries), ORIGIN_SIMULATED },
	{ "early", NULL, CELL(rc_row, early), ORIGIN_SIMULATED },
	{ "broken", NULL, CELL(rc_row, broken), ORIGIN_SIMULATED },
	{ NULL },
};

static void put(struct table *t, const struct placed_job *p)
{
	struct rc_row row = { .job = p->scn->name, .pairs = p->n_ways };

	for (uint32_t i = 0; i < p->n_ways; i++) {
		const struct channel_counts c = channel_counts(p->lab, p->first_channel + i);

		row.sends += c.sends;
		row.retries += c.retries;
		row.early += c.early;
		row.broken += c.is_broken;
	}
	table_put_row(t, &row);
}

void rc_table(const struct jobs *jobs, struct results *r)
{
	struct table *t = NULL;

	for (uint32_t i = 0; i < jobs->n; i++) {
		if (!jobs->placed[i].lab)
			continue;
		if (!t)
			t = results_table(
				r, "job queue pairs",
				"connections of ranks, what was sent, how often some of it again, packets that came before their turn, and those that gave up",
				columns);
		put(t, &jobs->placed[i]);
	}
}
