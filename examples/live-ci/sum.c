/* SPDX-License-Identifier: BSD-2-Clause */
/* The program under test: an allreduce of 1 MiB, checked at every rank. Status 1: a wrong sum. */
#include <mpi.h>
#include <stdio.h>

enum { WORDS = 1 << 18 };

int main(int argc, char **argv)
{
	static int mine[WORDS], sum[WORDS];
	int rank, ranks, wrong = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	for (int i = 0; i < WORDS; i++)
		mine[i] = rank + i;
	MPI_Allreduce(mine, sum, WORDS, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	for (int i = 0; i < WORDS; i++)
		wrong += sum[i] != ranks * (ranks - 1) / 2 + ranks * i;
	if (rank == 0)
		printf("%d ranks, %d wrong words\n", ranks, wrong);
	MPI_Finalize();
	return wrong != 0;
}
