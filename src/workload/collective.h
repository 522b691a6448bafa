/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_WORKLOAD_COLLECTIVE_H
#define HD_WORKLOAD_COLLECTIVE_H

/*
 * Steps of a program, which all ranks of a job execute together
 * (docs/timing-rules.md, J7 to J9). Operations are not stored: an operation is a
 * function of (step, rank, sequence, round, index), so that a collective of any
 * size takes no memory.
 *
 *	for (uint32_t i = 0; step_op(s, n, rank, sequence, round, i, &op); i++)
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "workload/op.h"

struct workload_step;
struct group_member;
struct step_position;

/* Parameters of a step that an algorithm uses, in addition to its size. */
enum step_use {
	STEP_ROOT = 1 << 0,
	STEP_GROUPS = 1 << 1, /* and their layout */
	STEP_GRID = 1 << 2,
	STEP_SEGMENT = 1 << 3,
	STEP_REQUESTS = 1 << 4, /* request size, number of requests, and servers */
};

/* An algorithm of an operation; the first one is the operation's default. */
struct algorithm {
	const char *operation, *name;
	uint32_t (*sequences)(const struct workload_step *s); /* number of sequences; NULL: one */
	uint32_t (*rounds)(const struct workload_step *s, struct group_member m, uint32_t sequence);
	bool (*op)(const struct workload_step *s, struct group_member m, struct step_position at,
		   struct op *out);
	unsigned uses;  /* set of STEP_...; other parameters are rejected */
	bool of_powers; /* the number of ranks must be a power of two */
	/* Bytes for computing bandwidths, as in nccl-tests; NULL: none. */
	double (*moved)(double p, double m); /* "algorithm" */
	double (*bus)(double p, double m);
};
extern const struct algorithm workload_algorithms[];
extern const size_t workload_n_algorithms;
/* `name` NULL: the default algorithm. Returns NULL if not found. */
const struct algorithm *workload_algorithm_find(const char *operation, const char *name);

#define STEP_DIMENSIONS 3

struct workload_step {
	const struct algorithm *algorithm;
	uint64_t size;                  /* bytes; for a computation, picoseconds */
	uint32_t root;                  /* within its group */
	uint32_t groups;                /* at least 1 */
	bool strides;                   /* members of a group are `groups` ranks apart */
	uint32_t grid[STEP_DIMENSIONS]; /* of a halo; 1 for unused dimensions */
	uint64_t segment;               /* of a tree; 0: no segmentation */
	uint64_t request;               /* of storage, */
	uint32_t outstanding, servers;
};

/* Checks whether `ranks` ranks can execute the step; the error has no position. */
HD_MUST_CHECK enum hd_status step_check(const struct workload_step *s, uint32_t ranks,
					struct diag *d);
/* Number of ranks in a group, and the rank of member `m` of a group. */
uint32_t step_members(const struct workload_step *s, uint32_t ranks);
uint32_t step_member(const struct workload_step *s, uint32_t ranks, uint32_t group, uint32_t m);

uint32_t step_sequences(const struct workload_step *s);
uint32_t step_rounds(const struct workload_step *s, uint32_t ranks, uint32_t rank,
		     uint32_t sequence);
/* False if the round has no operation of that index. */
bool step_op(const struct workload_step *s, uint32_t ranks, uint32_t rank, struct step_position at,
	     struct op *out);

/* ---- for algorithms ---------------------------------------------------- */

struct group_member {
	uint32_t p, r; /* rank r of a group of p; operations use ranks within the group */
	uint32_t group;
};

struct step_position {
	uint32_t sequence, round, index;
};

unsigned workload_log2_ceil(uint32_t n);

/* Defined in trees.c. */
uint32_t step_tree_sequences(const struct workload_step *s);
uint32_t step_tree_rounds(const struct workload_step *s, struct group_member m, uint32_t sequence);
bool step_tree_op(const struct workload_step *s, struct group_member m, struct step_position at,
		  struct op *out);

#endif
