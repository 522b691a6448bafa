/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_WORKLOAD_RECORD_H
#define HD_WORKLOAD_RECORD_H

/*
 * What the ranks of an MPI program did, as mpi_record.c notes it, to operations
 * with dependencies: calls of a rank follow each other; nonblocking
 * operations overlap with them until their wait. Collectives become the rounds of
 * workload/collective.h, those with sizes of their own a message per pair.
 */

#include <stdio.h>

#include "workload/opgraph.h"

/* The records of the ranks, one after the other from rank 0 on. */
struct record_source {
	FILE *(*open)(void *context, uint32_t rank); /* NULL: no such record */
	void *context;
};
HD_MUST_CHECK enum hd_status record_read_from(const struct record_source *from, bool has_compute,
					      struct diag *d, struct opgraph *out);
/* Files "rank.0", "rank.1", ... of a folder. */
HD_MUST_CHECK enum hd_status record_read(const char *folder, bool has_compute, struct diag *d,
					 struct opgraph *out);

struct record_how {
	bool has_compute; /* times between calls are kept */
	bool aside;       /* what the program prints goes to standard error */
};

/*
 * Runs the program of these words, ended by NULL, with the recorder preloaded.
 * HD_ERR_ENV if it cannot be started, HD_ERR_INPUT if it ends badly.
 */
HD_MUST_CHECK enum hd_status record_run(char **words, const struct record_how *how, struct diag *d,
					struct opgraph *out);

#endif
