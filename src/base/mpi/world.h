/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_BASE_MPI_WORLD_H
#define HD_BASE_MPI_WORLD_H

/*
 * A group of cooperating processes that a launcher (mpirun, srun) started
 * together, on one machine or several.
 *
 *	struct world r;
 *	if (world_open(&r, &d) == HD_OK) {
 *		... r.n, r.rank, world_exchange(&r, to, from) ...
 *		world_close(&r);
 *	}
 *
 * All communication is built from one operation: each rank sends bytes to each
 * other rank. A plug-in for the launcher's library implements it (mpi.c for
 * MPI), so that the program neither requires that library nor links to it. Tests
 * have a plug-in whose ranks are threads.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/strbuf.h"

/* Increase when struct world_ops changes. */
#define WORLD_PLUGIN 2

struct world_bytes {
	const char *bytes;
	size_t len;
};

/* Interface of a plug-in: its symbol "heddle_world". */
struct world_ops {
	uint32_t version; /* WORLD_PLUGIN */
	/*
	 * Returns NULL, or the reason why there are no ranks; `context` is
	 * passed to the other functions. `sharing` is the number of ranks,
	 * including this one, on the processors that this rank may use.
	 */
	const char *(*open)(void **context, unsigned *rank, unsigned *n, unsigned *sharing);
	/*
	 * Sends to[i] to rank i and receives from[i] from it; nothing is sent
	 * to the own rank. All ranks must call it. Received bytes are valid
	 * until the next call.
	 */
	void (*exchange)(void *context, const struct world_bytes *to, struct world_bytes *from);
	/* All ranks must call it, as the last call. */
	void (*close)(void *context);
	/* Ends all ranks immediately; does not return. */
	void (*abort)(void *context, int status);
};

struct world {
	const struct world_ops *ops;
	void *context;
	void *library; /* of dlopen, or NULL */
	unsigned rank, n;
};

/*
 * The position of this process among those of the launcher, from 0, and their
 * number; 0 of 1 if there is no launcher.
 */
HD_MUST_CHECK enum hd_status rank_of_launcher(struct diag *d, size_t *rank, size_t *n);
/* Call in a child before exec: removes the launcher's variables. */
void world_forget_rank(void);

/*
 * Joins the other ranks, if a launcher started any. Otherwise n is 1, and no
 * library is loaded. HD_ERR_ENV if there are other ranks and no plug-in to
 * reach them.
 */
HD_MUST_CHECK enum hd_status world_open(struct world *r, struct diag *d);
void world_close(struct world *r);
/* Does not return if there are other ranks. */
void world_abort(const struct world *r, int status);

/* See world_ops. */
void world_exchange(const struct world *r, const struct strbuf *to, struct world_bytes *from);
/* Sends the same bytes to all ranks; from[] includes the own bytes. */
void world_share(const struct world *r, const struct strbuf *mine, struct world_bytes *from);

/*
 * Whether all ranks were successful. If not, all fail with the message of the
 * first rank that failed, and its rank unless that is 0.
 */
HD_MUST_CHECK enum hd_status world_agree(const struct world *r, enum hd_status status,
					 struct diag *d);
/* Checks that all ranks have the same bytes. If not, HD_ERR_INPUT: "rank 2 has
 * another `what` than rank 0". */
HD_MUST_CHECK enum hd_status world_same(const struct world *r, const char *what,
					const struct strbuf *mine, struct diag *d);

#endif
