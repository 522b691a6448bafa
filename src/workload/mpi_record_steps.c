/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Collectives of a recorded program: the algorithm of their replay and their
 * number of bytes. Those whose members have sizes of their own
 * are a message from each to each that has something for it. And probes, which
 * are nothing but waiting.
 */
#include "workload/mpi_record.h"

/* NOLINTBEGIN(readability-function-size): MPI says how many parameters */

#define LARGE_ALLREDUCE 8192 /* bytes: beyond, around a ring */

static void note_step(const char *what, MPI_Comm c, long long bytes, int root,
		      unsigned long request)
{
	const struct recording_group *g = recording_group(c);

	if (g)
		fprintf(recording_file(), "step %s %llu %lld %d %lu\n", what, g->id, bytes, root,
			request);
}

static const char *allreduce(long long bytes)
{
	return bytes > LARGE_ALLREDUCE ? "allreduce ring" : "allreduce doubling";
}

/* NAME, recorded properties, bytes, root, parameters, arguments. */
#define STEP(name, what, bytes, root, parameters, arguments)   \
	int MPI_##name parameters                              \
	{                                                      \
		recording_enter();                             \
		note_step(what, c, bytes, root, 0);            \
		return recording_leave(PMPI_##name arguments); \
	}
/* As STEP, for a nonblocking collective with request *r. */
#define BEGINS_STEP(name, what, bytes, root, parameters, arguments)             \
	int MPI_##name parameters                                               \
	{                                                                       \
		recording_enter();                                              \
		int result = PMPI_##name arguments;                             \
                                                                                \
		if (recording_is_on())                                          \
			note_step(what, c, bytes, root, recording_request(*r)); \
		return recording_leave(result);                                 \
	}

STEP(Barrier, "barrier dissemination", 0, 0, (MPI_Comm c), (c))
BEGINS_STEP(Ibarrier, "barrier dissemination", 0, 0, (MPI_Comm c, MPI_Request *r), (c, r))
STEP(Bcast, "broadcast binomial", recording_bytes(n, t), root,
     (void *b, int n, MPI_Datatype t, int root, MPI_Comm c), (b, n, t, root, c))
BEGINS_STEP(Ibcast, "broadcast binomial", recording_bytes(n, t), root,
	    (void *b, int n, MPI_Datatype t, int root, MPI_Comm c, MPI_Request *r),
	    (b, n, t, root, c, r))
STEP(Reduce, "reduce binomial", recording_bytes(n, t), root,
     (const void *b, void *o, int n, MPI_Datatype t, MPI_Op op, int root, MPI_Comm c),
     (b, o, n, t, op, root, c))
BEGINS_STEP(Ireduce, "reduce binomial", recording_bytes(n, t), root,
	    (const void *b, void *o, int n, MPI_Datatype t, MPI_Op op, int root, MPI_Comm c,
	     MPI_Request *r),
	    (b, o, n, t, op, root, c, r))
STEP(Allreduce, allreduce(recording_bytes(n, t)), recording_bytes(n, t), 0,
     (const void *b, void *o, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c), (b, o, n, t, op, c))
BEGINS_STEP(Iallreduce, allreduce(recording_bytes(n, t)), recording_bytes(n, t), 0,
	    (const void *b, void *o, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c, MPI_Request *r),
	    (b, o, n, t, op, c, r))
/* The receive buffer determines the size: the other may be MPI_IN_PLACE. */
STEP(Allgather, "allgather ring", recording_bytes(rn, rt), 0,
     (const void *b, int n, MPI_Datatype t, void *o, int rn, MPI_Datatype rt, MPI_Comm c),
     (b, n, t, o, rn, rt, c))
BEGINS_STEP(Iallgather, "allgather ring", recording_bytes(rn, rt), 0,
	    (const void *b, int n, MPI_Datatype t, void *o, int rn, MPI_Datatype rt, MPI_Comm c,
	     MPI_Request *r),
	    (b, n, t, o, rn, rt, c, r))
STEP(Alltoall, "alltoall pairwise", recording_bytes(rn, rt), 0,
     (const void *b, int n, MPI_Datatype t, void *o, int rn, MPI_Datatype rt, MPI_Comm c),
     (b, n, t, o, rn, rt, c))
BEGINS_STEP(Ialltoall, "alltoall pairwise", recording_bytes(rn, rt), 0,
	    (const void *b, int n, MPI_Datatype t, void *o, int rn, MPI_Datatype rt, MPI_Comm c,
	     MPI_Request *r),
	    (b, n, t, o, rn, rt, c, r))

static int size_of(MPI_Comm c)
{
	int n = 0;

	PMPI_Comm_size(c, &n);
	return n;
}

STEP(Reduce_scatter_block, "reduce_scatter ring", recording_bytes(n, t) * size_of(c), 0,
     (const void *b, void *o, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c), (b, o, n, t, op, c))

static long long sum(const int counts[], int n)
{
	long long all = 0;

	for (int i = 0; i < n; i++)
		all += counts[i];
	return all;
}

/* In blocks of about the same size. */
STEP(Reduce_scatter, "reduce_scatter ring", sum(counts, size_of(c)) * recording_bytes(1, t), 0,
     (const void *b, void *o, const int counts[], MPI_Datatype t, MPI_Op op, MPI_Comm c),
     (b, o, counts, t, op, c))

/* Bytes of the i-th: one of many, or all the same, or none. */
struct mpi_counts {
	const int *each; /* NULL: all the same */
	int same;
	MPI_Datatype type;
	int only; /* the only one that counts; -1: all */
};

static void note_counts(const struct mpi_counts *a, int n)
{
	for (int i = 0; i < n; i++) {
		bool counts = a->only < 0 || a->only == i;
		int count = !counts ? 0 : a->each ? a->each[i] : a->same;

		fprintf(recording_file(), " %lld", count ? recording_bytes(count, a->type) : -1LL);
	}
}

static void note_lists(MPI_Comm c, struct mpi_counts to, struct mpi_counts from)
{
	const struct recording_group *g = recording_group(c);

	if (!g)
		return;
	fprintf(recording_file(), "lists %llu 0 %d", g->id, g->n);
	note_counts(&to, g->n);
	note_counts(&from, g->n);
	fputc('\n', recording_file());
}

#define NOTHING ((struct mpi_counts){ NULL, 0, MPI_BYTE, -1 })

static bool is_root(MPI_Comm c, int root)
{
	int me = 0;

	PMPI_Comm_rank(c, &me);
	return me == root;
}

int MPI_Gather(const void *b, int n, MPI_Datatype t, void *o, int rn, MPI_Datatype rt, int root,
	       MPI_Comm c)
{
	recording_enter();
	if (is_root(c, root))
		note_lists(c, NOTHING, (struct mpi_counts){ NULL, rn, rt, -1 });
	else
		note_lists(c, (struct mpi_counts){ NULL, n, t, root }, NOTHING);
	return recording_leave(PMPI_Gather(b, n, t, o, rn, rt, root, c));
}

int MPI_Gatherv(const void *b, int n, MPI_Datatype t, void *o, const int rn[], const int at[],
		MPI_Datatype rt, int root, MPI_Comm c)
{
	recording_enter();
	if (is_root(c, root))
		note_lists(c, NOTHING, (struct mpi_counts){ rn, 0, rt, -1 });
	else
		note_lists(c, (struct mpi_counts){ NULL, n, t, root }, NOTHING);
	return recording_leave(PMPI_Gatherv(b, n, t, o, rn, at, rt, root, c));
}

int MPI_Scatter(const void *b, int n, MPI_Datatype t, void *o, int rn, MPI_Datatype rt, int root,
		MPI_Comm c)
{
	recording_enter();
	if (is_root(c, root))
		note_lists(c, (struct mpi_counts){ NULL, n, t, -1 }, NOTHING);
	else
		note_lists(c, NOTHING, (struct mpi_counts){ NULL, rn, rt, root });
	return recording_leave(PMPI_Scatter(b, n, t, o, rn, rt, root, c));
}

int MPI_Scatterv(const void *b, const int n[], const int at[], MPI_Datatype t, void *o, int rn,
		 MPI_Datatype rt, int root, MPI_Comm c)
{
	recording_enter();
	if (is_root(c, root))
		note_lists(c, (struct mpi_counts){ n, 0, t, -1 }, NOTHING);
	else
		note_lists(c, NOTHING, (struct mpi_counts){ NULL, rn, rt, root });
	return recording_leave(PMPI_Scatterv(b, n, at, t, o, rn, rt, root, c));
}

int MPI_Allgatherv(const void *b, int n, MPI_Datatype t, void *o, const int rn[], const int at[],
		   MPI_Datatype rt, MPI_Comm c)
{
	recording_enter();
	const struct recording_group *g = recording_group(c);

	if (g)
		note_lists(c, (struct mpi_counts){ NULL, rn[g->me], rt, -1 },
			   (struct mpi_counts){ rn, 0, rt, -1 });
	return recording_leave(PMPI_Allgatherv(b, n, t, o, rn, at, rt, c));
}

int MPI_Alltoallv(const void *b, const int n[], const int at[], MPI_Datatype t, void *o,
		  const int rn[], const int rat[], MPI_Datatype rt, MPI_Comm c)
{
	recording_enter();
	if (b == MPI_IN_PLACE)
		note_lists(c, (struct mpi_counts){ rn, 0, rt, -1 },
			   (struct mpi_counts){ rn, 0, rt, -1 });
	else
		note_lists(c, (struct mpi_counts){ n, 0, t, -1 },
			   (struct mpi_counts){ rn, 0, rt, -1 });
	return recording_leave(PMPI_Alltoallv(b, n, at, t, o, rn, rat, rt, c));
}

/* Records a chain from each rank to the next. */
static void note_chain(MPI_Comm c, long long bytes)
{
	const struct recording_group *g = recording_group(c);

	if (g)
		fprintf(recording_file(), "chain %llu %lld %d %d\n", g->id, bytes, g->me > 0,
			g->me + 1 < g->n);
}

int MPI_Scan(const void *b, void *o, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c)
{
	recording_enter();
	note_chain(c, recording_bytes(n, t));
	return recording_leave(PMPI_Scan(b, o, n, t, op, c));
}

int MPI_Exscan(const void *b, void *o, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c)
{
	recording_enter();
	note_chain(c, recording_bytes(n, t));
	return recording_leave(PMPI_Exscan(b, o, n, t, op, c));
}

/* Waiting is no computing. */
int MPI_Probe(int source, int tag, MPI_Comm c, MPI_Status *s)
{
	recording_enter();
	return recording_leave(PMPI_Probe(source, tag, c, s));
}

int MPI_Iprobe(int source, int tag, MPI_Comm c, int *flag, MPI_Status *s)
{
	recording_enter();
	return recording_leave(PMPI_Iprobe(source, tag, c, flag, s));
}

/* NOLINTEND(readability-function-size) */
