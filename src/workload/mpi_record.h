/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_WORKLOAD_MPI_RECORD_H
#define HD_WORKLOAD_MPI_RECORD_H

/*
 * What the two files of the preloaded library share: mpi_record.c has
 * communicators, messages and requests, mpi_record_steps.c collectives. A
 * function of MPI that is noted is between record_enter() and record_leave().
 */

#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>

struct recording_group {
	unsigned long long id;
	int n, me;
};

/* A program may have names like these. */
#pragma GCC visibility push(hidden)

/* Where to; only to be written to if record_notes(). */
FILE *recording_file(void);
void recording_enter(void);
/* Returns `result`. */
int recording_leave(int result);
/* Whether the program made the call, not MPI itself, and recording is on. */
bool recording_is_on(void);

/* The communicator to note something of; NULL: nothing is to be. */
const struct recording_group *recording_group(MPI_Comm comm);
long long recording_bytes(int count, MPI_Datatype type);
/* The number of a request that is waited for later. */
unsigned long recording_request(MPI_Request handle);

#pragma GCC visibility pop

#endif
