/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_WORKLOAD_OPGRAPH_H
#define HD_WORKLOAD_OPGRAPH_H

/*
 * Operations with dependencies, as files of traces have them: those of rank r
 * are ops[first[r]] .. ops[first[r + 1] - 1], in the order of the file. What
 * waits for operation i is edges[edge_of[i]] .. edges[edge_of[i + 1] - 1]:
 * operations of the same rank, with OPGRAPH_STARTED in it if the start of i is
 * enough. Nothing depends on itself, however far around.
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
#define OPGRAPH_MOST    ((uint32_t)1 << 28) /* operations, and ranks */

struct opgraph {
	uint32_t n_ranks, n_ops, n_edges;
	uint32_t *first; /* n_ranks + 1 */
	struct op *ops;
	uint32_t *edge_of; /* n_ops + 1 */
	uint32_t *edges;
	bool has_any;          /* some receive takes any source or tag */
	uint32_t ended, begun; /* while it is made: ranks, operations */
	size_t ops_cap, edge_of_cap, edges_cap;
};

void opgraph_fini(struct opgraph *g);

/*
 * GOAL text, or a connection matrix of htsim, whichever it is. Refusals name
 * the line; the caller says the file in d->file.
 */
HD_MUST_CHECK enum hd_status opgraph_read(FILE *in, struct diag *d, struct opgraph *out);
HD_MUST_CHECK enum hd_status opgraph_read_file(const char *path, struct diag *d,
					       struct opgraph *out);
/* GOAL text that reads back as the same; times in whole ns, rounded up. */
void opgraph_write(const struct opgraph *g, struct strbuf *out);

/* ---- making one, rank by rank ---------------------------------------- */

struct opgraph_link {
	uint32_t from, to; /* of all operations; OPGRAPH_STARTED in `from` */
	uint32_t line;
};

/* The ranks' operations and links follow each other. */
void opgraph_begin(struct opgraph *g, uint32_t n_ranks);
uint32_t opgraph_add(struct opgraph *g, const struct op *op);
/*
 * Ends the ranks up to and with `rank`: the operations since the last end are
 * its own. Refuses links in a circle, at the line of one of them.
 */
HD_MUST_CHECK enum hd_status opgraph_end_rank(struct opgraph *g, uint32_t rank,
					      const struct opgraph_link *links, size_t n,
					      struct diag *d);
void opgraph_end(struct opgraph *g);

#endif
