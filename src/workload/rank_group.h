/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_WORKLOAD_RANK_GROUP_H
#define HD_WORKLOAD_RANK_GROUP_H

/*
 * Executes the ranks of a job (docs/timing-rules.md, J2 to J4, J7): ready
 * operations, the CPUs, and message matching. A rank group does not depend on
 * the network: the network reports events in order of time and receives requests
 * through struct network_ops:
 *
 *	rank_group_init(&group, &job, &network, ranks);
 *	rank_group_begin(&group, rank, job.start);      each of them
 *	...
 *	receive = rank_group_announce(&group, key, message);
 *	rank_group_arrived(&group, now, &(struct arrived_message){ rank, receive, ... }, &path);
 *
 * If a fabric is computed in domains, each domain has a rank group for its
 * ranks; all groups share the array of ranks.
 */

#include "base/pack.h"
#include "base/units.h"
#include "workload/collective.h"
#include "workload/match.h"
#include "workload/opgraph.h"

#define RANK_GROUP_NONE UINT32_MAX

/* Operations of a job and costs of its hosts; const during execution. */
struct job {
	uint32_t n_ranks;
	const struct opgraph *graph; /* NULL: the job has steps */
	const struct workload_step *steps;
	uint32_t n_steps; /* 1 if there is a graph */
	uint32_t repeat;  /* at least 1 */
	hd_time start;
	hd_time overhead, per_byte; /* o, O */
	uint32_t n_cpus;
};

/* The last message of a critical path, reported by the network. */
struct path_message {
	hd_time until;         /* time of arrival, or of the end of transmission */
	hd_time held;          /* waiting time of its packets at their first link */
	uint64_t wait;         /* longest waiting time at a later link (chain.c) */
	uint32_t from, number; /* from 1; 0: no message */
	bool has_left;         /* the path depends on the end of its transmission */
};

/* Composition of a chain of causes since the start of the job. */
struct critical_path {
	hd_time compute;  /* on CPUs, including overheads */
	hd_time messages; /* from posting to arrival */
	hd_time sending;  /* from posting to the end of transmission */
	uint32_t n_messages;
	struct path_message last;
};

/* Its members, for the member table of another struct (base/pack.h). */
/* NOLINTBEGIN(bugprone-macro-parentheses): names of members */
#define PACK_CRITICAL_PATH(type, member)                                           \
	PACK_SUM(type, member.compute), PACK_SUM(type, member.messages),           \
		PACK_SUM(type, member.sending), PACK_SUM(type, member.n_messages), \
		PACK_TIME(type, member.last.until), PACK(type, member.last.held),  \
		PACK(type, member.last.wait), PACK(type, member.last.from),        \
		PACK_SUM(type, member.last.number), PACK(type, member.last.has_left)
/* NOLINTEND(bugprone-macro-parentheses) */

/* Interface to the network. */
struct network_ops {
	void *context;
	/* Posts a SEND, MULTICAST, READ or WRITE; it completes with
	 * rank_group_wake or rank_group_answered. */
	void (*post)(void *context, uint32_t rank, const struct op *op, uint32_t ref,
		     const struct critical_path *path);
	/* Reports that a waiting message has its receive. Returns true, with
	 * the size, if the message has arrived completely. */
	bool (*matched)(void *context, uint32_t rank, uint32_t message, uint32_t receive,
			uint64_t *size);
	/* Requests a call of rank_group_wake at `when`. */
	void (*wake)(void *context, uint32_t rank, hd_time when);
	/* Reports that the rank has ended an iteration; may be NULL. */
	void (*iterated)(void *context, uint32_t rank);
};

struct round_sequence {
	uint32_t round;   /* next round */
	uint32_t pending; /* incomplete operations of the previous round */
};

/* A receive that has started and is not complete. */
struct receive {
	struct op op;
	uint32_t ref;
	uint32_t next; /* next in the free list */
	bool is_matched, is_used;
};

struct rank {
	hd_time began, ended; /* HD_TIME_NEVER: not yet */
	hd_time busy;
	uint32_t iteration, step;
	uint32_t active; /* incomplete sequences, or operations */
	struct round_sequence sequence;
	struct round_sequence *sequences; /* if the step has several */
	struct cpu *cpus;                 /* NULL: not needed so far */
	/* Numbered by the rank itself, independent of domains. */
	struct receive *receives;
	uint32_t n_receives, free_receive;
	size_t receives_cap;
};

/* A message that is larger than its receive. */
struct oversized_message {
	hd_time at;
	uint32_t rank, source;
	struct op op;
	uint64_t size;
};

/* From the start of the first rank to the end of the last rank. */
struct step_span {
	hd_time begin, end;
};

struct rank_group {
	const struct job *job;
	struct network_ops network;
	struct rank *ranks;
	uint32_t *needs; /* per operation of the graph; shared */
	struct match_line posted, waiting;
	struct step_span *steps; /* [iteration * n_steps + step] */
	uint32_t n_done;
	hd_time last; /* the last rank that ended, its number, and its path */
	uint32_t last_rank;
	struct critical_path last_path;
	struct oversized_message *misfits;
	size_t n_misfits, misfits_cap;
	/* Valid during a call: */
	hd_time now;
	struct critical_path path;
	uint32_t *ready; /* a heap */
	size_t n_ready, ready_cap;
};

/* Allocates the ranks, and needs if there is a graph, for all rank groups of a job. */
struct rank *rank_group_ranks_new(const struct job *j);
void rank_group_ranks_free(struct rank *ranks, const struct job *j);
void rank_group_init(struct rank_group *t, const struct job *j, const struct network_ops *c,
		     struct rank *ranks, uint32_t *needs);
void rank_group_fini(struct rank_group *t);

void rank_group_begin(struct rank_group *t, uint32_t rank, hd_time now);
/* Operation of the first busy CPU of the rank; NULL: all CPUs are idle. */
const struct op *rank_group_work(const struct rank_group *t, uint32_t rank);
/* CPUs may have completed, and a send with the ref `left`, unless it is RANK_GROUP_NONE. */
void rank_group_wake(struct rank_group *t, uint32_t rank, hd_time now, uint32_t left,
		     const struct critical_path *path);
/* Returns the receive that the message matches; RANK_GROUP_NONE: the message
 * waits, and network.matched will report the receive. */
uint32_t rank_group_announce(struct rank_group *t, struct match_key key, uint32_t message);
/* A message that has arrived completely. */
struct arrived_message {
	uint32_t rank, receive; /* the receive that it matched */
	uint32_t source;
	uint64_t size;
};
void rank_group_arrived(struct rank_group *t, hd_time now, const struct arrived_message *what,
			const struct critical_path *path);
/* A request to a server is complete. */
void rank_group_answered(struct rank_group *t, uint32_t rank, hd_time now, uint32_t ref,
			 const struct critical_path *path);

/*
 * Saves or restores the state of a rank between two instants (base/pack.h),
 * without the waiting receives and messages (match_list) and the group's sums.
 */
void rank_group_pack_rank(struct rank_group *t, struct pack *k, uint32_t rank);

#endif
