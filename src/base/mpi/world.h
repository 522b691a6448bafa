/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_BASE_MPI_WORLD_H
#define HD_BASE_MPI_WORLD_H

/*
 * Processes that a launcher (mpirun, srun) started together, on one machine or
 * several, and that work on one thing.
 *
 *	struct world r;
 *	if (world_open(&r, &d) == HD_OK) {
 *		... r.n, r.rank, world_exchange(&r, to, from) ...
 *		world_close(&r);
 *	}
 *
 * All they do together is one thing, of which all else is made: each gives
 * bytes to each. It is done by a plug-in that knows the launcher's library
 * (mpi.c, for MPI), so that the program neither needs that library nor is
 * linked to it; tests have a plug-in whose ranks are threads.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/strbuf.h"

/* Raised when the table below changes. */
#define WORLD_PLUGIN 2

struct world_bytes {
	const char *bytes;
	size_t len;
};

/* What a plug-in is: its symbol "heddle_world". */
struct world_ops {
	uint32_t version; /* WORLD_PLUGIN */
	/*
	 * NULL, or why there are none; `context` is for the others. `sharing`
	 * is how many ranks, this one among them, may use processors that it
	 * may use.
	 */
	const char *(*open)(void **context, unsigned *rank, unsigned *n, unsigned *sharing);
	/*
	 * Gives to[i] to rank i and takes from[i] from it; nothing goes to
	 * oneself. All ranks call it. What was taken is valid until the next
	 * call.
	 */
	void (*exchange)(void *context, const struct world_bytes *to, struct world_bytes *from);
	/* All ranks call it, and then nothing else. */
	void (*close)(void *context);
	/* Ends all of them, at once; does not return. */
	void (*abort)(void *context, int status);
};

struct world {
	const struct world_ops *ops;
	void *context;
	void *library; /* of dlopen, or NULL */
	unsigned rank, n;
};

/*
 * Which of the processes that a launcher started together this is, counted
 * from 0, and how many there are; 0 of 1 if none did.
 */
HD_MUST_CHECK enum hd_status rank_of_launcher(struct diag *d, size_t *rank, size_t *n);
/* In a child before exec: removes the launcher's variables. */
void world_forget_rank(void);

/*
 * Joins the others, if a launcher started any; else alone: n is 1, and nothing
 * was loaded. HD_ERR_ENV if there are others and no plug-in to reach them.
 */
HD_MUST_CHECK enum hd_status world_open(struct world *r, struct diag *d);
void world_close(struct world *r);
/* Does not return if there are others. */
void world_abort(const struct world *r, int status);

/* See world_ops. */
void world_exchange(const struct world *r, const struct strbuf *to, struct world_bytes *from);
/* The same bytes for everybody; from[] has one's own, too. */
void world_share(const struct world *r, const struct strbuf *mine, struct world_bytes *from);

/*
 * Have all ranks come here well? If not, all fail with the complaint of the
 * first that did not, and its number if that is not 0.
 */
HD_MUST_CHECK enum hd_status world_agree(const struct world *r, enum hd_status status,
					 struct diag *d);
/* Do all have the same bytes? If not, HD_ERR_INPUT: "rank 2 has another
 * `what` than rank 0". */
HD_MUST_CHECK enum hd_status world_same(const struct world *r, const char *what,
					const struct strbuf *mine, struct diag *d);

#endif
