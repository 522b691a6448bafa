/* SPDX-License-Identifier: BSD-2-Clause */
/* Queue pairs of jobs: J14. */
#include "pair.h"
#include "work.h"

/* J14: from each rank or server of a job to each, by their numbers. */
static uint32_t members_of(const struct oracle_job *j)
{
	return j->rc ? j->n_ranks + j->n_servers : 0;
}

static uint32_t node_of_member(const struct oracle_job *j, uint32_t i)
{
	return i < j->n_ranks ? j->nodes[i] : j->servers[i - j->n_ranks];
}

static void connection_add(struct oracle *o, uint32_t job, uint32_t sender, uint32_t receiver)
{
	const struct sim_setup *s = o->setup;
	const struct oracle_job *j = &o->jobs->list[job];
	uint32_t to = node_of_member(j, receiver);
	struct queue_pair q = {
		.is = { .transport = ORACLE_RC,
			.from = node_of_member(j, sender),
			.to = to,
			.dlid = s->subnet->lid_of_port[s->ports[port_of_end(o, to)].origin],
			.sl = j->sl,
			.pkey = 0xffff,
			.timeout = j->timeout },
		.of_job = true,
		.job = job,
		.sender = sender,
		.receiver = receiver,
	};

	queue_pair_add(o, &q);
}

bool has_job_pairs(const struct oracle *o)
{
	for (uint32_t i = 0; o->jobs && i < o->jobs->n; i++)
		if (o->jobs->list[i].rc)
			return true;
	return false;
}

size_t connections_count(const struct oracle *o)
{
	size_t n = 0;

	for (uint32_t i = 0; o->jobs && i < o->jobs->n; i++) {
		uint32_t members = members_of(&o->jobs->list[i]);

		n += (size_t)members * members;
	}
	return n;
}

void connections_init(struct oracle *o)
{
	for (uint32_t i = 0; o->jobs && i < o->jobs->n; i++) {
		uint32_t n = members_of(&o->jobs->list[i]);

		for (uint32_t k = 0; k < n * n; k++)
			connection_add(o, i, k / n, k % n);
	}
}

static uint32_t connection_of(const struct oracle *o, uint32_t job, uint32_t sender,
			      uint32_t receiver)
{
	uint32_t i = o->pairs->n;

	while (o->queue_pairs[i].job != job || o->queue_pairs[i].sender != sender ||
	       o->queue_pairs[i].receiver != receiver)
		i++;
	return i;
}

void pair_hand_over(struct oracle *o, uint32_t sender, uint32_t receiver,
		    const struct job_message *m)
{
	if (o->mutation == MUT_HANDED_OVER_IS_HEARD)
		pace_hear(o, connection_of(o, m->job, sender, receiver), false);
}

void pair_send_message(struct oracle *o, uint32_t sender, uint32_t receiver, struct job_message *m)
{
	uint32_t i = connection_of(o, m->job, sender, receiver);
	uint64_t rest = m->size;

	do {
		uint32_t length = (uint32_t)(rest < MOST_SENT ? rest : MOST_SENT);

		send_add(o, i, length, m);
		rest -= length;
	} while (rest > 0);
	messages_post(o, i);
	adapter_send(o, adapter_of(o, i, true), o->now);
}
