/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bytes of each pair of source and destination: rank by rank, or if there are many, by the leaf
 * switches that they are on, or by a number of leaf switches in a row.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "sim/jobs/jobs_internal.h"
#include "topo/topo.h"

#define MOST_BINS 64
#define FEW_ROWS  32 /* rows without `all` */

struct pair_count {
	uint64_t messages, bytes;
};

/* ---- bins --------------------------------------------------------------- */

/* The switch to which an actor is connected. */
static uint32_t leaf_of(const struct placed_job *p, uint32_t actor)
{
	const struct sim_setup *s = &p->fabric->setup;
	const struct sim_node *n = &s->nodes[p->actors[actor].node];
	uint32_t peer = s->ports[n->first_port + 1].peer;

	return peer == SIM_NONE ? SIM_NONE : s->ports[peer].node;
}

static bool is_by_leaf(const struct placed_job *p)
{
	return p->n_actors > MOST_BINS;
}

void pairs_init(struct placed_job *p)
{
	uint32_t n_nodes = p->fabric->setup.n_nodes, leaves = 0;

	p->bins = hd_alloc(p->n_actors, sizeof(*p->bins));
	if (!is_by_leaf(p)) {
		p->n_bins = p->n_actors;
		for (uint32_t i = 0; i < p->n_actors; i++)
			p->bins[i] = i;
		return;
	}
	/* One more entry for ports without a cable. */
	uint32_t *number = hd_alloc((size_t)n_nodes + 1, sizeof(*number));

	for (uint32_t i = 0; i < p->n_actors; i++) {
		uint32_t leaf = leaf_of(p, i);

		number[leaf < n_nodes ? leaf : n_nodes] = 1;
	}
	for (uint32_t i = 0; i <= n_nodes; i++)
		number[i] = number[i] ? leaves++ : 0;
	p->n_bins = leaves < MOST_BINS ? leaves : MOST_BINS;
	for (uint32_t i = 0; i < p->n_actors; i++) {
		uint32_t leaf = leaf_of(p, i);
		uint64_t place = number[leaf < n_nodes ? leaf : n_nodes];

		p->bins[i] = (uint32_t)(place * p->n_bins / leaves);
	}
	free(number);
}

/* ---- counting ----------------------------------------------------------- */

static void count(struct job_domain *s, uint32_t from, uint32_t to, uint64_t bytes)
{
	const struct placed_job *p = s->of;
	struct pair_count *c = &s->pairs[(size_t)p->bins[from] * p->n_bins + p->bins[to]];

	c->messages++;
	c->bytes += bytes;
}

void pairs_count(struct job_domain *s, const struct job_message *m, uint64_t bytes)
{
	const struct placed_job *p = s->of;

	if (!s->pairs)
		s->pairs = hd_alloc((size_t)p->n_bins * p->n_bins, sizeof(*s->pairs));
	if (m->kind == MSG_REDUCE)
		return; /* no single destination */
	if (!m->dlid) {
		count(s, m->source, m->target, bytes);
		return;
	}
	const struct workload_step *step = &p->steps[p->ranks[m->source].step];

	for (uint32_t i = 0; i < step_members(step, p->job.n_ranks); i++) {
		uint32_t to = step_member(step, p->job.n_ranks, m->target, i);

		if (to != m->source)
			count(s, m->source, to, bytes);
	}
}

static const struct pack_member count_members[] = {
	PACK_SUM(pair_count, messages),
	PACK_SUM(pair_count, bytes),
};

void pairs_collect(struct job_domain *s, struct pack *k)
{
	size_t n = (size_t)s->of->n_bins * s->of->n_bins;
	bool any = s->pairs != NULL;

	pack_bool(k, &any);
	if (any && !s->pairs)
		s->pairs = hd_alloc(n, sizeof(*s->pairs));
	for (size_t i = 0; any && i < n; i++)
		PACK_STRUCT(k, count_members, &s->pairs[i]);
}

/* ---- table -------------------------------------------------------------- */

struct job_pair_row {
	const char *job, *from, *to;
	uint64_t messages, bytes;
};

static const struct column columns[] = {
	{ "job", NULL, CELL(job_pair_row, job) },
	{ "from", NULL, CELL(job_pair_row, from) },
	{ "to", NULL, CELL(job_pair_row, to) },
	{ "messages", NULL, CELL(job_pair_row, messages), ORIGIN_SIMULATED },
	{ "bytes", NULL, CELL(job_pair_row, bytes), ORIGIN_SIMULATED },
	{ NULL },
};

static const char *leaf_name(const struct placed_job *p, uint32_t leaf)
{
	const struct sim_setup *s = &p->fabric->setup;

	if (leaf == SIM_NONE)
		return "no switch";
	uint32_t port = s->nodes[leaf].first_port + 1;

	return topo_node_of(&p->fabric->topo, s->ports[port].origin)->name;
}

/* Leaf switches of each bin, by number. */
struct leaves {
	uint32_t first, last;
};

/* NULL if each actor is a bin. */
static struct leaves *leaves_of_bins(const struct placed_job *p)
{
	if (!is_by_leaf(p))
		return NULL;
	struct leaves *bins = hd_alloc(p->n_bins, sizeof(*bins));

	for (uint32_t i = 0; i < p->n_bins; i++)
		bins[i].first = SIM_NONE;
	for (uint32_t i = 0; i < p->n_actors; i++) {
		struct leaves *l = &bins[p->bins[i]];
		uint32_t leaf = leaf_of(p, i);

		l->first = leaf < l->first ? leaf : l->first;
		l->last = leaf > l->last ? leaf : l->last;
	}
	return bins;
}

/* "rank 3", "s1-0" or "s1-0 to s1-3". */
static const char *bin_name(struct table *t, const struct placed_job *p,
			    const struct leaves *leaves, uint32_t bin)
{
	if (!leaves)
		return job_actor_name(t, p, bin);
	const struct leaves *l = &leaves[bin];

	return l->first == l->last
		       ? leaf_name(p, l->first)
		       : table_text(t, "%s to %s", leaf_name(p, l->first), leaf_name(p, l->last));
}

static struct pair_count sum_of(const struct placed_job *p, size_t place)
{
	struct pair_count sum = { 0 };

	for (uint32_t i = 0; i < p->n_shares; i++) {
		const struct pair_count *c = p->shares[i].pairs;

		sum.messages += c ? c[place].messages : 0;
		sum.bytes += c ? c[place].bytes : 0;
	}
	return sum;
}

void pairs_pack(const struct placed_job *p, struct pack *k)
{
	struct job_domain *first = &p->shares[0];
	size_t n = (size_t)p->n_bins * p->n_bins;
	bool any = false;

	for (uint32_t i = 0; i < p->n_shares; i++)
		any |= p->shares[i].pairs != NULL;
	pack_bool(k, &any);
	if (any && k->reads && !first->pairs)
		first->pairs = hd_alloc(n, sizeof(*first->pairs));
	for (size_t i = 0; any && i < n; i++) {
		struct pair_count sum = sum_of(p, i);

		PACK_STRUCT(k, count_members, &sum);
		if (k->reads && first->pairs)
			first->pairs[i] = sum;
	}
}

static size_t count_rows(const struct placed_job *p)
{
	size_t n = 0;

	for (size_t i = 0; i < (size_t)p->n_bins * p->n_bins; i++)
		n += sum_of(p, i).messages > 0;
	return n;
}

static void put_pairs(struct table *t, const struct placed_job *p)
{
	struct leaves *leaves = leaves_of_bins(p);

	for (size_t i = 0; i < (size_t)p->n_bins * p->n_bins; i++) {
		struct pair_count sum = sum_of(p, i);

		if (!sum.messages)
			continue;
		const struct job_pair_row row = {
			.job = p->scn->name,
			.from = bin_name(t, p, leaves, (uint32_t)(i / p->n_bins)),
			.to = bin_name(t, p, leaves, (uint32_t)(i % p->n_bins)),
			.messages = sum.messages,
			.bytes = sum.bytes,
		};

		table_put_row(t, &row);
	}
	free(leaves);
}

void pairs_table(const struct jobs *jobs, bool all, struct results *r)
{
	struct table *t = NULL;

	for (uint32_t i = 0; i < jobs->n; i++) {
		const struct placed_job *p = &jobs->placed[i];

		if (!all && count_rows(p) > FEW_ROWS)
			continue;
		if (!t)
			t = results_table(
				r, "job pairs",
				"traffic by source and destination: ranks, or leaf switches for jobs with many ranks",
				columns);
		put_pairs(t, p);
	}
}
