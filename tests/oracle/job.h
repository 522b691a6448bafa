/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_TESTS_JOB_H
#define HD_TESTS_JOB_H

/*
 * Jobs of a case (docs/timing-rules.md, J1 to J9, J14, S2): what their ranks do, as
 * operations with requirements. A step of a program is a small graph like that
 * too, one for each rank (rounds.c): the operations of a round require all of
 * the round before it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "base/units.h"

#define ORACLE_ANY UINT32_MAX

enum oracle_op_kind {
	ORACLE_COMPUTE,
	ORACLE_SEND,
	ORACLE_RECV,
	ORACLE_READ,
	ORACLE_WRITE,
	ORACLE_GIVE, /* S2 */
};

struct oracle_op {
	enum oracle_op_kind kind;
	uint64_t size; /* bytes; of a computation picoseconds */
	uint32_t peer; /* rank, or server */
	uint32_t tag;
	uint32_t cpu;
	uint32_t channel; /* step and sequence; messages keep to theirs (J7) */
	uint16_t mlid;    /* a send to all of the group; 0: to one rank */
};

/* Operation `op` waits until `on` is done, or has started. */
struct oracle_edge {
	uint32_t op, on;
	bool started;
};

struct oracle_graph {
	struct oracle_op *ops;
	size_t n_ops, ops_cap;
	struct oracle_edge *edges;
	size_t n_edges, edges_cap;
};

void ops_add(struct oracle_graph *g, struct oracle_op op);
void ops_require(struct oracle_graph *g, uint32_t op, uint32_t on, bool started);
void ops_fini(struct oracle_graph *g);

/* What the steps of programs are (J8, J9). */
enum oracle_step_kind {
	STEP_COMPUTE,
	STEP_BARRIER,
	STEP_BROADCAST,
	STEP_BROADCAST_MULTICAST,
	STEP_REDUCE,
	STEP_ALLREDUCE_RING,
	STEP_ALLREDUCE_DOUBLING,
	STEP_ALLREDUCE_RABENSEIFNER,
	STEP_ALLREDUCE_TREE,
	STEP_ALLGATHER_RING,
	STEP_ALLGATHER_DOUBLING,
	STEP_REDUCE_SCATTER_RING,
	STEP_REDUCE_SCATTER_HALVING,
	STEP_ALLTOALL_PAIRWISE,
	STEP_ALLTOALL_LINEAR,
	STEP_ALLTOALL_BRUCK,
	STEP_HALO,
	STEP_SHIFT,
	STEP_READ,
	STEP_WRITE,
	STEP_BARRIER_NETWORK,
	STEP_ALLREDUCE_NETWORK,
	STEP_KINDS
};
/* As scenarios write them. */
struct oracle_step_name {
	const char *operation, *algorithm; /* or NULL */
	bool of_powers;                    /* of two only */
};
extern const struct oracle_step_name oracle_step_names[STEP_KINDS];

struct oracle_step {
	enum oracle_step_kind kind;
	uint64_t amount; /* bytes, or picoseconds */
	uint32_t root, groups;
	bool strides;
	uint32_t grid[3];
	uint64_t segment, request;
	uint32_t outstanding;
};

/* Ranks that have a multicast tree. */
struct oracle_tree {
	uint32_t place; /* of the step; of those that reduce ORACLE_ANY */
	uint32_t groups, group;
	bool strides;
	uint16_t mlid;
};

struct oracle_job {
	uint32_t n_ranks, n_servers;
	uint32_t *nodes;             /* of ranks: end nodes */
	uint32_t *servers;           /* end nodes */
	struct oracle_graph *graphs; /* of each rank; NULL: steps */
	struct oracle_step *steps;
	uint32_t n_steps;
	struct oracle_tree *trees; /* of steps that need them */
	size_t n_trees, trees_cap;
	uint32_t repeat;
	hd_time start;
	uint8_t sl;
	uint64_t eager; /* larger messages are announced first (J6) */
	hd_time overhead, per_byte, gap;
	bool rc;         /* messages go over queue pairs (J14), */
	uint8_t timeout; /* which wait 4.096 us times this power of 2 */
};

struct oracle_jobs {
	struct oracle_job *list;
	uint32_t n;
	uint32_t mtu;
	uint32_t payload; /* of a contribution (S2) */
};

void job_fini(struct oracle_job *j);
/* The group that a rank is in, in a step like that. */
uint32_t group_of_rank(const struct oracle_job *j, const struct oracle_step *s, uint32_t rank);
/* The tree of the rank's group in step `place`, or NULL. */
const struct oracle_tree *tree_of_rank(const struct oracle_job *j, uint32_t place, uint32_t rank);
bool step_has_tree(const struct oracle_step *s);
uint32_t tree_place_of(const struct oracle_step *s, uint32_t place);
/* What a rank does in step `place` of the program. */
void rounds_expand(const struct oracle_job *j, uint32_t place, uint32_t rank,
		   struct oracle_graph *out);

/* The file of operations that a job's graphs are, as GOAL; and its program,
 * as a list in a scenario that calls the servers so. */
void job_write_goal(const struct oracle_job *j, struct strbuf *to);
void job_write_program(const struct oracle_job *j, const char *servers, struct strbuf *to);

#endif
