/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages inside hosts, and between their rails (docs/timing-rules.md, J12, J13). */
#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "sim/jobs/jobs_internal.h"

bool inner_same_host(const struct placed_job *p, uint32_t a, uint32_t b)
{
	const struct topo *t = &p->fabric->topo;

	return t->ports[p->actors[a].port].node == t->ports[p->actors[b].port].node;
}

void inner_join(struct placed_job *p)
{
	const struct fabric *fabric = p->fabric;
	uint32_t *first; /* per node of the topology: node of its first rank */

	if (!p->inner.num)
		return;
	first = hd_alloc(fabric->topo.n_nodes, sizeof(*first));
	p->joined = hd_alloc(fabric->setup.n_nodes, sizeof(*p->joined));
	for (uint32_t i = 0; i < fabric->topo.n_nodes; i++)
		first[i] = SIM_NONE;
	for (uint32_t i = 0; i < fabric->setup.n_nodes; i++)
		p->joined[i] = i;
	for (uint32_t i = 0; i < p->job.n_ranks; i++) {
		const struct actor *a = &p->actors[i];
		uint32_t *host = &first[fabric->topo.ports[a->port].node];

		if (*host == SIM_NONE)
			*host = a->node;
		p->joined[a->node] = *host;
	}
	free(first);
}

uint32_t inner_sender_of(const struct placed_job *p, uint32_t source, uint32_t target)
{
	const struct fabric *fabric = p->fabric;
	const struct topo *t = &fabric->topo;
	uint32_t n = p->job.n_ranks;

	if (p->scn->rails == SCN_RAILS_OWN || source >= n || target >= n ||
	    inner_same_host(p, source, target))
		return source;
	const struct topo_node *host = &t->nodes[t->ports[p->actors[source].port].node];
	unsigned rail = t->ports[p->actors[target].port].number;
	uint32_t node =
		rail <= host->n_ports ? fabric->end_of_origin[host->first_port + rail] : SIM_NONE;
	uint32_t peer = node == SIM_NONE ? RANK_GROUP_NONE : p->rank_of_node[node];

	return peer == RANK_GROUP_NONE ? source : peer;
}

/* J12: time that the message takes to leave. */
static hd_time inner_time(const struct placed_job *p, const struct job_message *m)
{
	hd_time time = hd_rate_duration(p->inner, message_bytes(m));

	return time ? time : 1;
}

static void inner_put(struct job_domain *s, uint32_t id, uint32_t to, hd_time now)
{
	const struct placed_job *p = s->of;
	struct job_message *m = message_at(p, id);
	struct actor *a = &p->actors[m->source];
	hd_time from = a->inner_free > now ? a->inner_free : now;

	m->next = RANK_GROUP_NONE;
	m->sender = to;
	a->inner_free = from + inner_time(p, m);
	if (a->inner_first == RANK_GROUP_NONE)
		a->inner_first = id;
	else
		message_at(p, a->inner_last)->next = id;
	if (a->inner_leaves == RANK_GROUP_NONE)
		a->inner_leaves = id;
	a->inner_last = id;
	sim_timer(s->sim, p->endpoint, a->node, a->inner_free, p->n_actors + m->source);
	sim_timer(s->sim, p->endpoint, p->actors[to].node, a->inner_free + p->inner_latency,
		  p->n_actors + p->job.n_ranks + m->source);
}

bool inner_takes(struct job_domain *s, uint32_t id, hd_time now)
{
	const struct placed_job *p = s->of;
	struct job_message *m = message_at(p, id);
	uint32_t n = p->job.n_ranks;

	if (!p->inner.num || m->dlid || m->source >= n || m->target >= n)
		return false;
	uint32_t to = inner_same_host(p, m->source, m->target)
			      ? m->target
			      : inner_sender_of(p, m->source, m->target);

	if (to == m->source)
		return false;
	if (to == m->target) {
		m->n_packets = 1; /* not split into packets */
		m->sent = 1;
	}
	inner_put(s, id, to, now);
	return true;
}

static void leaves(struct job_domain *s, uint32_t rank, hd_time now)
{
	const struct placed_job *p = s->of;
	struct actor *a = &p->actors[rank];

	/* The latency is 0: it arrives at once. */
	if (a->inner_left == now)
		return;
	const struct job_message *m = message_at(p, a->inner_leaves);
	struct critical_path path = m->path;

	a->inner_left = now;
	a->inner_leaves = m->next;
	path.sending += now - m->posted;
	path.last = chain_left(m, now);
	if (m->kind == MSG_DATA)
		rank_group_wake(&s->rank_group, rank, now, m->ref, &path);
	timeline_look(s, rank, now);
}

static void arrives(struct job_domain *s, uint32_t source, hd_time now)
{
	const struct placed_job *p = s->of;
	struct actor *a = &p->actors[source];
	uint32_t id = a->inner_first;
	const struct job_message *m = message_at(p, id);
	uint32_t at = m->sender;

	if (id == a->inner_leaves)
		leaves(s, source, now);
	a->inner_first = m->next;
	if (at == m->target)
		message_lands(s, id, at, now);
	else
		message_enqueue(s, id, now);
	timeline_look(s, at, now);
}

void inner_timer(struct job_domain *s, uint32_t number, hd_time now)
{
	uint32_t n = s->of->job.n_ranks;

	assert(number < 2 * n);
	if (number < n)
		leaves(s, number, now);
	else
		arrives(s, number - n, now);
}
