/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_WORKLOAD_RECORD_H
#define HD_WORKLOAD_RECORD_H

/*
 * Converts the records of an MPI program (mpi_record.c) to operations with
 * dependencies. Blocking calls of a rank are sequential; nonblocking operations
 * overlap until their wait. Collectives become the rounds of
 * workload/collective.h; collectives with individual sizes become one message
 * per pair.
 */

#include <stdio.h>

#include "workload/opgraph.h"

/* Opens the records of the ranks, one at a time, from rank 0. */
struct record_source {
	FILE *(*open)(void *context, uint32_t rank); /* NULL: there is no such record */
	void *context;
};
HD_MUST_CHECK enum hd_status record_read_from(const struct record_source *from, bool has_compute,
					      struct diag *d, struct opgraph *out);
/* Reads the files "rank.0", "rank.1", ... of a folder. */
HD_MUST_CHECK enum hd_status record_read(const char *folder, bool has_compute, struct diag *d,
					 struct opgraph *out);

struct record_how {
	bool has_compute; /* keep the times between calls */
	bool aside;       /* redirect the program's output to standard error */
};

/*
 * Runs a program, given by its NULL-terminated words, with the recorder
 * preloaded. HD_ERR_ENV if it cannot be started, HD_ERR_INPUT if it fails.
 */
HD_MUST_CHECK enum hd_status record_run(char **words, const struct record_how *how, struct diag *d,
					struct opgraph *out);

#endif
