/* SPDX-License-Identifier: BSD-2-Clause */
/* Ranks that exchange messages of many sizes, and check each word of them. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, ranks;

static unsigned word(int from, int to, size_t i)
{
	return (unsigned)from * 2654435761U ^ (unsigned)to * 40503U ^ (unsigned)i * 97U;
}

static void demand(int holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "rank %d: %s\n", rank, what);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Round the ring, there and back. */
static void pass(size_t n)
{
	unsigned *out = malloc(n * sizeof(*out)), *in = malloc(n * sizeof(*in));
	int next = (rank + 1) % ranks, last = (rank + ranks - 1) % ranks;

	demand(out && in, "memory");
	for (size_t i = 0; i < n; i++)
		out[i] = word(rank, next, i);
	MPI_Sendrecv(out, (int)n, MPI_UNSIGNED, next, 1, in, (int)n, MPI_UNSIGNED, last, 1,
		     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	for (size_t i = 0; i < n; i++)
		demand(in[i] == word(last, rank, i), "a word of a message");
	free(out);
	free(in);
}

static void exchange(size_t n)
{
	size_t all = n * (size_t)ranks;
	unsigned *out = malloc(all * sizeof(*out));
	unsigned *in = malloc(all * sizeof(*in));
	long sum, mine = rank + 1;

	demand(out && in, "memory");
	for (size_t i = 0; i < all; i++)
		out[i] = word(rank, (int)(i / n), i % n);
	MPI_Alltoall(out, (int)n, MPI_UNSIGNED, in, (int)n, MPI_UNSIGNED, MPI_COMM_WORLD);
	for (size_t i = 0; i < all; i++)
		demand(in[i] == word((int)(i / n), rank, i % n), "a word of an alltoall");
	MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
	demand(sum == (long)ranks * (ranks + 1) / 2, "a sum");
	free(out);
	free(in);
}

int main(int argc, char **argv)
{
	static const size_t sizes[] = { 1, 63, 2048, 100003 };

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		pass(sizes[i]);
		exchange(sizes[i]);
	}
	MPI_Finalize();
	if (rank == 0)
		printf("%d ranks\n", ranks);
	return 0;
}
