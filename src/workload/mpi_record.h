/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_WORKLOAD_MPI_RECORD_H
#define HD_WORKLOAD_MPI_RECORD_H

/*
 * Interface between the two files of the preloaded library: mpi_record.c has
 * communicators, messages and requests, mpi_record_steps.c collectives. A
 * recorded MPI function runs between recording_enter() and recording_leave().
 */

#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>

struct recording_group {
	unsigned long long id;
	int n, me;
};

/* Hidden, because the recorded program may use the same names. */
#pragma GCC visibility push(hidden)

/* The output file; write to it only if recording_is_on(). */
FILE *recording_file(void);
void recording_enter(void);
/* Returns `result`. */
int recording_leave(int result);
/* Whether recording is on and the call came from the program, not from MPI itself. */
bool recording_is_on(void);

/* The communicator's record; NULL: the call is not to be recorded. */
const struct recording_group *recording_group(MPI_Comm comm);
long long recording_bytes(int count, MPI_Datatype type);
/* The number of a request that a later call waits for. */
unsigned long recording_request(MPI_Request handle);

#pragma GCC visibility pop

#endif
