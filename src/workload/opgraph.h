/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_WORKLOAD_OPGRAPH_H
#define HD_WORKLOAD_OPGRAPH_H

/*
 * A graph of operations with dependencies, as in trace files. The operations of
 * rank r are ops[first[r]] .. ops[first[r + 1] - 1], in the order of the file.
 * The successors of operation i are edges[edge_of[i]] .. edges[edge_of[i + 1] -
 * 1]: operations of the same rank, with the flag OPGRAPH_STARTED if they wait
 * for the start of i only. The graph has no cycles.
 *
 *	struct opgraph g;
 *	if (opgraph_read(in, "x.goal", &d, &g) == HD_OK) {
 *		...
 *		opgraph_fini(&g);
 *	}
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/diag.h"
#include "workload/op.h"

#define OPGRAPH_STARTED ((uint32_t)1 << 31)
#define OPGRAPH_MOST    ((uint32_t)1 << 28) /* maximum number of operations, and of ranks */

struct opgraph {
	uint32_t n_ranks, n_ops, n_edges;
	uint32_t *first; /* n_ranks + 1 entries */
	struct op *ops;
	uint32_t *edge_of; /* n_ops + 1 entries */
	uint32_t *edges;
	bool has_any;          /* some receive accepts any source or tag */
	uint32_t ended, begun; /* during construction: ranks, operations */
	size_t ops_cap, edge_of_cap, edges_cap;
};

void opgraph_fini(struct opgraph *g);

/*
 * Reads GOAL text or a connection matrix of htsim; the content decides. Errors
 * have the line; the caller sets d->file.
 */
HD_MUST_CHECK enum hd_status opgraph_read(FILE *in, struct diag *d, struct opgraph *out);
HD_MUST_CHECK enum hd_status opgraph_read_file(const char *path, struct diag *d,
					       struct opgraph *out);
/* Writes GOAL text that reads back as the same graph; times in whole ns, rounded up. */
void opgraph_write(const struct opgraph *g, struct strbuf *out);

/* ---- making one, rank by rank ---------------------------------------- */

struct opgraph_link {
	uint32_t from, to; /* indices of operations; `from` may have OPGRAPH_STARTED */
	uint32_t line;
};

/* Starts construction; operations and links of the ranks follow in order. */
void opgraph_begin(struct opgraph *g, uint32_t n_ranks);
uint32_t opgraph_add(struct opgraph *g, const struct op *op);
/*
 * Completes the ranks up to and including `rank`, which owns the operations
 * added since the last call. Rejects cyclic links, at the line of one of their
 * operations.
 */
HD_MUST_CHECK enum hd_status opgraph_end_rank(struct opgraph *g, uint32_t rank,
					      const struct opgraph_link *links, size_t n,
					      struct diag *d);
void opgraph_end(struct opgraph *g);

#endif
