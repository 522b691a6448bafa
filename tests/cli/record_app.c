/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An MPI program to be recorded: "lockstep" does collectives in which all ranks
 * end at the same time, so that their closed forms add up; "all" everything
 * that is recorded, in an order that depends on nothing but the ranks.
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#define KIB 1024

static char *buffer(size_t n)
{
	return calloc(n, 1);
}

static void lockstep(int p)
{
	char *a = buffer((size_t)p * 64 * KIB), *b = buffer((size_t)p * 64 * KIB);

	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Allreduce(a, b, 1 * KIB, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD);
	MPI_Allreduce(a, b, 64 * KIB, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD);
	MPI_Allgather(a, 8 * KIB, MPI_BYTE, b, 8 * KIB, MPI_BYTE, MPI_COMM_WORLD);
	MPI_Alltoall(a, 2 * KIB, MPI_BYTE, b, 2 * KIB, MPI_BYTE, MPI_COMM_WORLD);
	MPI_Reduce_scatter_block(a, b, 4 * KIB, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD);
	free(a);
	free(b);
}

/* To the first rank from all, which takes them as they come. */
static void gather_any(int me, int p, MPI_Comm c)
{
	char *b = buffer((size_t)p * 100);
	MPI_Request r[64];
	MPI_Status s;

	if (me) {
		MPI_Send(b, me, MPI_BYTE, 0, 7, c);
		MPI_Isend(b, 10, MPI_BYTE, 0, 8 + me, c, &r[0]);
		MPI_Wait(&r[0], MPI_STATUS_IGNORE);
		free(b);
		return;
	}
	for (int i = 1; i < p; i++)
		MPI_Irecv(b + (size_t)i * 100, 100, MPI_BYTE, MPI_ANY_SOURCE, 7, c, &r[i - 1]);
	MPI_Waitall(p - 1, r, MPI_STATUSES_IGNORE);
	for (int i = 1; i < p; i++) {
		MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, c, &s);
		MPI_Recv(b, 100, MPI_BYTE, s.MPI_SOURCE, MPI_ANY_TAG, c, &s);
	}
	free(b);
}

static void around(int me, int p, MPI_Comm c)
{
	char a[1000] = { 0 }, b[1000];
	int next = (me + 1) % p, last = (me + p - 1) % p, done = 0, which;
	MPI_Request r[2], again;

	MPI_Sendrecv(a, 1000, MPI_BYTE, next, 1, b, 1000, MPI_BYTE, last, 1, c, MPI_STATUS_IGNORE);
	MPI_Sendrecv_replace(a, 500, MPI_BYTE, last, 2, next, 2, c, MPI_STATUS_IGNORE);
	MPI_Irecv(b, 1000, MPI_BYTE, last, MPI_ANY_TAG, c, &r[0]);
	MPI_Isend(a, 1000, MPI_BYTE, next, me, c, &r[1]);
	MPI_Waitany(2, r, &which, MPI_STATUS_IGNORE);
	while (!done)
		MPI_Testall(2, r, &done, MPI_STATUSES_IGNORE);
	MPI_Recv_init(b, 1000, MPI_BYTE, last, 3, c, &again);
	for (int i = 0; i < 3; i++) {
		MPI_Start(&again);
		MPI_Ssend(a, 100, MPI_BYTE, next, 3, c);
		MPI_Wait(&again, MPI_STATUS_IGNORE);
	}
	MPI_Request_free(&again);
	MPI_Send(a, 1, MPI_BYTE, MPI_PROC_NULL, 0, c);
}

static void collectives(int me, int p, MPI_Comm c)
{
	char *a = buffer((size_t)p * 1000), *b = buffer((size_t)p * 1000);
	int counts[64], at[64], total = 0;
	MPI_Request r[2];

	for (int i = 0; i < p; i++) {
		counts[i] = 10 * i;
		at[i] = total;
		total += counts[i];
	}
	MPI_Bcast(a, 300, MPI_INT, 1, c);
	MPI_Reduce(a, b, 100, MPI_INT, MPI_SUM, 0, c);
	MPI_Gather(a, 10, MPI_BYTE, b, 10, MPI_BYTE, p - 1, c);
	MPI_Scatter(a, 10, MPI_BYTE, b, 10, MPI_BYTE, 0, c);
	MPI_Gatherv(a, counts[me], MPI_BYTE, b, counts, at, MPI_BYTE, 0, c);
	MPI_Scatterv(a, counts, at, MPI_BYTE, b, counts[me], MPI_BYTE, 0, c);
	MPI_Allgatherv(a, counts[me], MPI_BYTE, b, counts, at, MPI_BYTE, c);
	for (int i = 0; i < p; i++) {
		counts[i] = (me * i) % 7;
		at[i] = 7 * i;
	}
	MPI_Alltoallv(a, counts, at, MPI_BYTE, b, counts, at, MPI_BYTE, c);
	MPI_Scan(a, b, 10, MPI_INT, MPI_SUM, c);
	MPI_Exscan(a, b, 10, MPI_INT, MPI_SUM, c);
	MPI_Iallreduce(a, b, 10, MPI_INT, MPI_SUM, c, &r[0]);
	MPI_Ibarrier(c, &r[1]);
	MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
	free(a);
	free(b);
}

static void all(int me, int p)
{
	int row, n, self = 5;
	MPI_Comm rows, copy, others = MPI_COMM_NULL;
	MPI_Group world, even;
	int range[1][3] = { { 0, p - 1, 2 } };

	MPI_Comm_dup(MPI_COMM_WORLD, &copy);
	gather_any(me, p, copy);
	around(me, p, copy);
	/* Ranks the other way around, in fours. */
	MPI_Comm_split(copy, me / 4, -me, &rows);
	MPI_Comm_rank(rows, &row);
	MPI_Comm_size(rows, &n);
	around(row, n, rows);
	collectives(row, n, rows);
	collectives(me, p, MPI_COMM_WORLD);
	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Group_range_incl(world, 1, range, &even);
	MPI_Comm_create(MPI_COMM_WORLD, even, &others);
	if (others != MPI_COMM_NULL) {
		MPI_Comm_rank(others, &row);
		MPI_Comm_size(others, &n);
		gather_any(row, n, others);
	}
	MPI_Sendrecv_replace(&self, 1, MPI_INT, 0, 0, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
	int me, p;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &p);
	if (argc > 1 && strcmp(argv[1], "lockstep") == 0)
		lockstep(p);
	else if (argc > 1 && strcmp(argv[1], "all") == 0)
		all(me, p);
	else if (argc > 1 && strcmp(argv[1], "exit") == 0)
		exit(me ? 0 : 5);
	MPI_Finalize();
	return 0;
}
