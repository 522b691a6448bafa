/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_TOPO_PROBLEM_H
#define HD_TOPO_PROBLEM_H

/*
 * What is wrong with a fabric, though its file can be understood. Reading
 * refuses a file at its first problem; checking collects them all.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* Names in messages are cut: a line is for reading. */
#define PROBLEM_NAME 60

enum problem_kind {
	PROBLEM_MISSING_END, /* a cable to a node that is not there */
	PROBLEM_ASYMMETRIC,  /* one end names the other, but not back */
	PROBLEM_DUPLICATE,   /* the same cable said twice */
	PROBLEM_PORT_CLASH,  /* two cables on one port */
	PROBLEM_LOOP,        /* a cable from a port to itself */
	PROBLEM_GUID_CLASH,  /* two nodes or ports of one GUID */
	PROBLEM_LID_CLASH,   /* two ports of one LID in one subnet */
	PROBLEM_SPEED,       /* the ends do not agree on width or speed */
	PROBLEM_ISOLATED,    /* a part that nothing joins to the rest */
	N_PROBLEMS
};
extern const char *const problem_names[N_PROBLEMS]; /* "port clash" */

struct topo_problem {
	enum problem_kind kind;
	uint32_t line;  /* of the file; 0 if unknown */
	uint32_t other; /* the line that it disagrees with; 0 if none */
	char *text;     /* one sentence, lower case, no stop */
};

/* All zero is an empty list. */
struct topo_problems {
	struct topo_problem *items;
	size_t n, cap;
};

void problems_fini(struct topo_problems *list);
HD_PRINTF(5, 6)
void problems_add(struct topo_problems *list, enum problem_kind kind, uint32_t line, uint32_t other,
		  const char *format, ...);
/* By line, then by kind; those without a line last. */
void problems_sort(struct topo_problems *list);

#endif
