/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_TESTS_BENCH_H
#define HD_TESTS_BENCH_H

/*
 * How a benchmark of our own code is written: measure, add a row, end.
 *
 *	int main(void)
 *	{
 *		struct bench b;
 *
 *		bench_begin(&b, "crc");
 *		double rate = bench_rate(crc_once, &packet, 2048);
 *		bench_at_least(&b, "ICRC of 2 KiB", "GB/s", 1, rate / 1e9);
 *		return bench_end(&b);
 *	}
 *
 * Under ctest (HD_BENCH_TINY=1) the work is done once and no goal is missed:
 * that run only shows that the benchmark still works.
 */

#include <stdbool.h>

#include "measure/results.h"

struct bench {
	struct results *results;
	struct table *table;
	bool tiny;
	bool missed;
};

void bench_begin(struct bench *b, const char *name);
/* A goal of 0 means no goal yet. */
void bench_at_least(struct bench *b, const char *what, const char *unit, double goal, double value);
void bench_at_most(struct bench *b, const char *what, const char *unit, double goal, double value);
/* Prints the rows; the exit status: 1 if a goal was missed. */
int bench_end(struct bench *b);

bool bench_is_tiny(void);
/* `full`, or a hundredth of it (at least 1) in a tiny run. */
unsigned long bench_count(unsigned long full);
double bench_seconds(void); /* of a clock that only goes forward */
/*
 * Calls work(arg) for about half a second, thrice; `amount` per call divided
 * by the seconds of a call, of the best of the three.
 */
double bench_rate(void (*work)(void *arg), void *arg, double amount);

#endif
