/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * process_vm CORE: what a bare process_vm_writev takes, into a process that
 * spins on that core: "2 bytes: US us; 65536 bytes: MIB MiB/s", the medians.
 */
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LARGE = 65536, TIMES = 2001, WINDOW = 128 };

static char here[LARGE], *there;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int before(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Microseconds that one takes. */
static double median(pid_t child, size_t size)
{
	static double took[TIMES];
	const struct iovec from = { here, size }, to = { there, size };

	for (unsigned i = 0; i < TIMES; i++) {
		double begin = now();

		if (process_vm_writev(child, &from, 1, &to, 1, 0) != (ssize_t)size) {
			perror("process_vm_writev");
			exit(1);
		}
		took[i] = now() - begin;
	}
	qsort(took, TIMES, sizeof(took[0]), before);
	return took[TIMES / 2];
}

int main(int argc, char **argv)
{
	cpu_set_t core;

	there = mmap(NULL, LARGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (argc != 2 || there == MAP_FAILED)
		return 2;
	memset(here, 1, sizeof(here));
	memset(there, 2, LARGE);
	pid_t child = fork();

	if (child == 0) {
		CPU_ZERO(&core);
		CPU_SET(atoi(argv[1]), &core);
		sched_setaffinity(0, sizeof(core), &core);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (*(volatile char *)there != 3)
			;
		_exit(0);
	}
	double small = median(child, 2), large = median(child, LARGE);

	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	printf("2 bytes: %.3f us; 65536 bytes: %.0f MiB/s\n", small,
	       LARGE / 1048576.0 / large * 1e6);
	return 0;
}
