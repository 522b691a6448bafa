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

struct record_group {
	unsigned long long id;
	int n, me;
};

/* A program may have names like these. */
#pragma GCC visibility push(hidden)

/* Where to; only to be written to if record_notes(). */
FILE *record_file(void);
void record_enter(void);
/* Returns `result`. */
int record_leave(int result);
/* Whether the program made the call, not MPI itself, and somebody asks. */
bool record_notes(void);

/* The communicator to note something of; NULL: nothing is to be. */
const struct record_group *record_group(MPI_Comm comm);
long long record_bytes(int count, MPI_Datatype type);
/* The number of a request that is waited for later. */
unsigned long record_request(MPI_Request handle);

#pragma GCC visibility pop

#endif
