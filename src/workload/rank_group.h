/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_WORKLOAD_RANK_GROUP_H
#define HD_WORKLOAD_RANK_GROUP_H

/*
 * The ranks of a job at work (docs/timing-rules.md, J2 to J4, J7): what is ready,
 * what the CPUs do, which receive gets which message. A rank group does not depend
 * on the network: the network reports events in order of time and receives
 * requests through struct network_ops:
 *
 *	rank_group_init(&group, &job, &network, ranks);
 *	rank_group_begin(&group, rank, job.start);      each of them
 *	...
 *	receive = rank_group_announce(&group, key, message);
 *	rank_group_arrived(&group, now, &(struct arrived_message){ rank, receive, ... }, &path);
 *
 * A fabric may be computed in parts; then each part has a rank group for its ranks,
 * all of which share the array of ranks.
 */

#include "base/pack.h"
#include "base/units.h"
#include "workload/collective.h"
#include "workload/match.h"
#include "workload/opgraph.h"

#define RANK_GROUP_NONE UINT32_MAX

/* What ranks do, and what their hosts cost; const while they do it. */
struct job {
	uint32_t n_ranks;
	const struct opgraph *graph; /* or NULL: then steps */
	const struct workload_step *steps;
	uint32_t n_steps; /* 1 if there is a graph */
	uint32_t repeat;  /* at least 1 */
	hd_time start;
	hd_time overhead, per_byte; /* o, O */
	uint32_t n_cpus;
};

/* The last message of a critical path, for the network. */
struct path_message {
	hd_time until;         /* it arrived, or had left */
	hd_time held;          /* wait of its packets at their first link */
	uint64_t wait;         /* the longest at one that follows (chain.c) */
	uint32_t from, number; /* from 1; 0: no message */
	bool has_left;         /* that is why it is in the chain */
};

/* What a chain of causes was made of, from the start of the job on. */
struct critical_path {
	hd_time compute;  /* by CPUs, overheads too */
	hd_time messages; /* from posting to arrival */
	hd_time sending;  /* from posting until the last byte has left */
	uint32_t n_messages;
	struct path_message last;
};

/* Its members, in a table of another struct's (base/pack.h). */
/* NOLINTBEGIN(bugprone-macro-parentheses): names of members */
#define PACK_CRITICAL_PATH(type, member)                                           \
	PACK_SUM(type, member.compute), PACK_SUM(type, member.messages),           \
		PACK_SUM(type, member.sending), PACK_SUM(type, member.n_messages), \
		PACK_TIME(type, member.last.until), PACK(type, member.last.held),  \
		PACK(type, member.last.wait), PACK(type, member.last.from),        \
		PACK_SUM(type, member.last.number), PACK(type, member.last.has_left)
/* NOLINTEND(bugprone-macro-parentheses) */

/* Who carries messages. */
struct network_ops {
	void *context;
	/* A SEND, MULTICAST, READ or WRITE; done when rank_group_wake or
	 * rank_group_answered says so. */
	void (*post)(void *context, uint32_t rank, const struct op *op, uint32_t ref,
		     const struct critical_path *path);
	/* A message that waited has its receive: true if it is here whole,
	 * with its size. */
	bool (*matched)(void *context, uint32_t rank, uint32_t message, uint32_t receive,
			uint64_t *size);
	/* Calls rank_group_wake then. */
	void (*wake)(void *context, uint32_t rank, hd_time when);
	/* The rank has ended an iteration; or NULL. */
	void (*iterated)(void *context, uint32_t rank);
};

struct round_sequence {
	uint32_t round;   /* the next one */
	uint32_t pending; /* operations of the one before */
};

/* A receive that has started and is not done. */
struct receive {
	struct op op;
	uint32_t ref;
	uint32_t next; /* free ones */
	bool is_matched, is_used;
};

struct rank {
	hd_time began, ended; /* HD_TIME_NEVER: not yet */
	hd_time busy;
	uint32_t iteration, step;
	uint32_t active; /* sequences, or operations, that are not done */
	struct round_sequence sequence;
	struct round_sequence *sequences; /* if the step has several */
	struct cpu *cpus;                 /* NULL: none was needed yet */
	/* Numbered by the rank itself: parts do not matter. */
	struct receive *receives;
	uint32_t n_receives, free_receive;
	size_t receives_cap;
};

/* A message larger than its receive. */
struct oversized_message {
	hd_time at;
	uint32_t rank, source;
	struct op op;
	uint64_t size;
};

/* From the first rank's beginning to the last one's end. */
struct step_span {
	hd_time begin, end;
};

struct rank_group {
	const struct job *job;
	struct network_ops network;
	struct rank *ranks;
	uint32_t *needs; /* per operation of the graph, shared too */
	struct match_line posted, waiting;
	struct step_span *steps; /* [iteration * n_steps + step] */
	uint32_t n_done;
	hd_time last; /* rank that ended, which, and why then */
	uint32_t last_rank;
	struct critical_path last_path;
	struct oversized_message *misfits;
	size_t n_misfits, misfits_cap;
	/* During a call: */
	hd_time now;
	struct critical_path path;
	uint32_t *ready; /* a heap */
	size_t n_ready, ready_cap;
};

/* Ranks, and needs if there is a graph, for the rank groups of a job. */
struct rank *rank_group_ranks_new(const struct job *j);
void rank_group_ranks_free(struct rank *ranks, const struct job *j);
void rank_group_init(struct rank_group *t, const struct job *j, const struct network_ops *c,
		     struct rank *ranks, uint32_t *needs);
void rank_group_fini(struct rank_group *t);

void rank_group_begin(struct rank_group *t, uint32_t rank, hd_time now);
/* What the first busy CPU of the rank does; NULL: all are idle. */
const struct op *rank_group_work(const struct rank_group *t, uint32_t rank);
/* CPUs may have ended, and if `left` is not RANK_GROUP_NONE a send of that ref. */
void rank_group_wake(struct rank_group *t, uint32_t rank, hd_time now, uint32_t left,
		     const struct critical_path *path);
/* The receive of its rank that the message gets; RANK_GROUP_NONE: it waits, and
 * network.matched will say. */
uint32_t rank_group_announce(struct rank_group *t, struct match_key key, uint32_t message);
/* A message that is here whole. */
struct arrived_message {
	uint32_t rank, receive; /* which of its receives has got it */
	uint32_t source;
	uint64_t size;
};
void rank_group_arrived(struct rank_group *t, hd_time now, const struct arrived_message *what,
			const struct critical_path *path);
/* What was asked of a server is done. */
void rank_group_answered(struct rank_group *t, uint32_t rank, hd_time now, uint32_t ref,
			 const struct critical_path *path);

/*
 * Between two instants: what a rank remembers, as bytes or back (base/pack.h),
 * without the waiting receives and messages (match_list) and the group's sums.
 */
void rank_group_pack_rank(struct rank_group *t, struct pack *k, uint32_t rank);

#endif
