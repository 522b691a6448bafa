/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libheddle-mpi.so: what ranks do together (world.h), by MPI. Loaded when the
 * program was started by mpirun or its like; the program itself knows nothing
 * of MPI. Nothing of ours is linked to it.
 *
 * A message is its length, 8 bytes, and then it, in pieces that MPI can count.
 * It is one piece almost always: then each rank gets one message from each.
 */
#define _GNU_SOURCE /* sched_getaffinity */
#include <mpi.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/mpi/world.h"

#define PIECE ((size_t)1 << 30)
#define TAG   1
#define KEPT  ((size_t)4 << 20) /* bytes of a message, for the next one */
#define LOOKS 64                /* for a piece, some microseconds, before others go first */

struct mpi_message {
	char *bytes;
	size_t cap;
	size_t len; /* received bytes */
};

struct mpi_link {
	struct mpi_message out, in;
	size_t sent;         /* pieces */
	MPI_Request *pieces; /* under way */
	size_t pieces_cap;
};

struct mpi {
	int rank, n;
	struct mpi_link *links;
};

/* A failed allocation ends all ranks. */
static void *more(void *old, size_t bytes)
{
	void *p = realloc(old, bytes);

	if (!p) {
		MPI_Abort(MPI_COMM_WORLD, 4);
		abort(); /* MPI_Abort has not returned, which its declaration does not tell */
	}
	return p;
}

/*
 * Number of ranks that share the processors of this process: a launcher binds each rank to some
 * processors, or lets all use all.
 */
static unsigned ranks_sharing(void)
{
	MPI_Comm here;
	cpu_set_t mine, *all;
	unsigned sharing = 0;
	int n;

	CPU_ZERO(&mine);
	(void)sched_getaffinity(0, sizeof(mine), &mine);
	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
	MPI_Comm_size(here, &n);
	all = more(NULL, (size_t)n * sizeof(*all));
	MPI_Allgather(&mine, sizeof(mine), MPI_BYTE, all, sizeof(mine), MPI_BYTE, here);
	MPI_Comm_free(&here);
	for (int i = 0; i < n; i++) {
		cpu_set_t both;

		CPU_AND(&both, &mine, &all[i]);
		sharing += CPU_COUNT(&both) > 0;
	}
	free(all);
	return sharing ? sharing : (unsigned)n;
}

static const char *mpi_open(void **context, unsigned *rank, unsigned *n, unsigned *sharing)
{
	struct mpi *w;
	int level;

	/* Only the thread that calls sim_run uses MPI. */
	if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS)
		return "MPI_Init failed";
	w = calloc(1, sizeof(*w));
	if (!w)
		return "no memory";
	MPI_Comm_rank(MPI_COMM_WORLD, &w->rank);
	MPI_Comm_size(MPI_COMM_WORLD, &w->n);
	w->links = more(NULL, (size_t)w->n * sizeof(*w->links));
	memset(w->links, 0, (size_t)w->n * sizeof(*w->links));
	*context = w;
	*rank = (unsigned)w->rank;
	*n = (unsigned)w->n;
	*sharing = ranks_sharing();
	return NULL;
}

static void message_room(struct mpi_message *m, size_t len)
{
	if (len <= m->cap)
		return;
	m->cap = len + len / 2;
	m->bytes = more(m->bytes, m->cap);
}

static int piece_of(size_t len, size_t at)
{
	return (int)(len - at < PIECE ? len - at : PIECE);
}

static void send_to(struct mpi_link *l, int rank, const struct world_bytes *what)
{
	uint64_t len = what->len;
	size_t all = sizeof(len) + what->len;

	message_room(&l->out, all);
	memcpy(l->out.bytes, &len, sizeof(len));
	if (what->len)
		memcpy(l->out.bytes + sizeof(len), what->bytes, what->len);
	l->sent = 0;
	for (size_t at = 0; at < all; at += PIECE) {
		if (l->sent == l->pieces_cap) {
			l->pieces_cap = 2 * l->pieces_cap + 1;
			l->pieces = more(l->pieces, l->pieces_cap * sizeof(MPI_Request));
		}
		MPI_Isend(l->out.bytes + at, piece_of(all, at), MPI_BYTE, rank, TAG, MPI_COMM_WORLD,
			  &l->pieces[l->sent++]);
	}
}

/*
 * MPI polls while it waits, unless its launcher has started more ranks than processors. It does not
 * consider threads of ranks and other programs, so the loop yields the processor after a short
 * time.
 */
static void await_piece(int rank, MPI_Status *status)
{
	int is_there = 0;

	for (unsigned looks = 0; !is_there; looks++) {
		if (looks >= LOOKS)
			sched_yield();
		MPI_Iprobe(rank, TAG, MPI_COMM_WORLD, &is_there, status);
	}
}

/* Receives one piece; false: more pieces follow. */
static bool receive_piece(struct mpi_message *m, int rank)
{
	MPI_Status status;
	uint64_t len;
	int n;

	await_piece(rank, &status);
	MPI_Get_count(&status, MPI_BYTE, &n);
	message_room(m, m->len + (size_t)n + sizeof(len));
	MPI_Recv(m->bytes + m->len, n, MPI_BYTE, rank, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	m->len += (size_t)n;
	memcpy(&len, m->bytes, sizeof(len));
	return m->len >= sizeof(len) + len;
}

/*
 * Mail of later windows has a similar size, so its buffer is kept; that of a checkpoint is
 * released.
 */
static void message_forget(struct mpi_message *m)
{
	if (m->cap <= KEPT)
		return;
	free(m->bytes);
	*m = (struct mpi_message){ NULL, 0, 0 };
}

static void mpi_exchange(void *context, const struct world_bytes *to, struct world_bytes *from)
{
	struct mpi *w = context;

	for (int i = 0; i < w->n; i++) {
		if (i != w->rank)
			send_to(&w->links[i], i, &to[i]);
	}
	from[w->rank] = (struct world_bytes){ NULL, 0 };
	for (int i = 0; i < w->n; i++) {
		struct mpi_message *m = &w->links[i].in;

		if (i == w->rank)
			continue;
		message_forget(m);
		m->len = 0;
		while (!receive_piece(m, i))
			;
		from[i] = (struct world_bytes){
			.bytes = m->bytes + sizeof(uint64_t),
			.len = m->len - sizeof(uint64_t),
		};
	}
	for (int i = 0; i < w->n; i++) {
		struct mpi_link *l = &w->links[i];

		if (i == w->rank)
			continue;
		MPI_Waitall((int)l->sent, l->pieces, MPI_STATUSES_IGNORE);
		message_forget(&l->out);
	}
}

static void mpi_close(void *context)
{
	struct mpi *w = context;

	MPI_Finalize();
	for (int i = 0; i < w->n; i++) {
		free(w->links[i].out.bytes);
		free(w->links[i].in.bytes);
		free(w->links[i].pieces);
	}
	free(w->links);
	free(w);
}

static void mpi_abort(void *context, int status)
{
	(void)context;
	MPI_Abort(MPI_COMM_WORLD, status);
}

/* The one symbol that the program looks for. */
extern const struct world_ops heddle_world;
const struct world_ops heddle_world = {
	.version = WORLD_PLUGIN,
	.open = mpi_open,
	.exchange = mpi_exchange,
	.close = mpi_close,
	.abort = mpi_abort,
};
