/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_TOPO_PROBLEM_H
#define HD_TOPO_PROBLEM_H

/*
 * Problems of a fabric whose file is syntactically valid. Reading rejects a
 * file at its first problem; checking collects all problems.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* Names in messages are truncated to this length. */
#define PROBLEM_NAME 60

enum problem_kind {
	PROBLEM_MISSING_END, /* a cable to a node that does not exist */
	PROBLEM_ASYMMETRIC,  /* one end names the other, but not vice versa */
	PROBLEM_DUPLICATE,   /* the same cable is listed twice */
	PROBLEM_PORT_CLASH,  /* two cables on one port */
	PROBLEM_LOOP,        /* a cable from a port to itself */
	PROBLEM_GUID_CLASH,  /* two nodes or ports have the same GUID */
	PROBLEM_LID_CLASH,   /* two ports of one subnet have the same LID */
	PROBLEM_SPEED,       /* the ends disagree on width or speed */
	PROBLEM_ISOLATED,    /* a part is not connected to the rest */
	N_PROBLEMS
};
extern const char *const problem_names[N_PROBLEMS]; /* "port clash" */

struct topo_problem {
	enum problem_kind kind;
	uint32_t line;  /* line in the file; 0: unknown */
	uint32_t other; /* line that contradicts it; 0: none */
	char *text;     /* one sentence, lower case, no full stop */
};

/* An all-zero struct is an empty list. */
struct topo_problems {
	struct topo_problem *items;
	size_t n, cap;
};

void problems_fini(struct topo_problems *list);
HD_PRINTF(5, 6)
void problems_add(struct topo_problems *list, enum problem_kind kind, uint32_t line, uint32_t other,
		  const char *format, ...);
/* Sorts by line, then by kind; problems without a line are last. */
void problems_sort(struct topo_problems *list);

#endif
