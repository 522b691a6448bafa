/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Preloaded into the ranks of an MPI program: notes what each does, by the
 * profiling interface, in a file of its own that workload/record.h reads. The
 * program itself runs as it would, but its ranks stay on one thread at a time.
 *
 * A line is a word and numbers. Ranks are those of the communicator; a request
 * is numbered from 1, 0 means a blocking call.
 *
 *	comm ID N RANK...                  world ranks of a communicator
 *	calc NS                            since the last call
 *	send|recv COMM PEER TAG BYTES REQUEST
 *	match REQUEST PEER TAG             source and tag of a wildcard receive
 *	wait REQUEST
 *	step OPERATION ALGORITHM COMM BYTES ROOT REQUEST
 *	lists COMM REQUEST N BYTES... BYTES...   to and from each
 *	chain COMM BYTES RECEIVES SENDS    from the rank before to the next
 *	not CALL                           that cannot be noted
 *	end
 */
#include "workload/mpi_record.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* NOLINTBEGIN(readability-function-size): MPI says how many parameters */

struct pending {
	MPI_Request handle;
	unsigned long id; /* 0: of a persistent one that is not active */
	bool receives, persists;
	MPI_Comm comm; /* of persistent ones */
	int peer, tag;
	long long bytes;
};

static FILE *file; /* NULL: nothing is noted */
static unsigned depth, comms;
static unsigned long requests;
static int keyval = MPI_KEYVAL_INVALID;
static struct timespec left;
static struct pending *pendings;
static size_t n_pendings, cap_pendings;

/* Recording is impossible without memory or a file: end the program. */
_Noreturn static void give_up(void)
{
	PMPI_Abort(MPI_COMM_WORLD, 4);
	_Exit(4);
}

FILE *recording_file(void)
{
	return file;
}

/* ---- time ---------------------------------------------------------------- */

void recording_enter(void)
{
	struct timespec now;

	if (depth++ || !file)
		return;
	clock_gettime(CLOCK_MONOTONIC, &now);
	long long ns =
		(long long)(now.tv_sec - left.tv_sec) * 1000000000 + now.tv_nsec - left.tv_nsec;

	if (ns > 0)
		fprintf(file, "calc %lld\n", ns);
}

int recording_leave(int result)
{
	if (--depth == 0 && file)
		clock_gettime(CLOCK_MONOTONIC, &left);
	return result;
}

/* Calls of MPI's own on the way are not the program's. */
bool recording_is_on(void)
{
	return file && depth == 1;
}

static void cannot(const char *call)
{
	if (recording_is_on())
		fprintf(file, "not %s\n", call);
}

/* ---- communicators ------------------------------------------------------ */

static int forget_group(MPI_Comm comm, int key, void *value, void *extra)
{
	(void)comm, (void)key, (void)extra;
	free(value);
	return MPI_SUCCESS;
}

static struct recording_group *group_of(MPI_Comm comm)
{
	struct recording_group *g = NULL;
	int found = 0;

	PMPI_Comm_get_attr(comm, keyval, &g, &found);
	return found ? g : NULL;
}

static void note_group(MPI_Comm comm, struct recording_group *g)
{
	MPI_Group mine, world;
	int *ranks = calloc((size_t)g->n * 2, sizeof(*ranks));

	if (!ranks)
		give_up();
	for (int i = 0; i < g->n; i++)
		ranks[i] = i;
	PMPI_Comm_group(comm, &mine);
	PMPI_Comm_group(MPI_COMM_WORLD, &world);
	PMPI_Group_translate_ranks(mine, g->n, ranks, world, ranks + g->n);
	fprintf(file, "comm %llu %d", g->id, g->n);
	for (int i = 0; i < g->n; i++)
		fprintf(file, " %d", ranks[g->n + i]);
	fputc('\n', file);
	PMPI_Group_free(&mine);
	PMPI_Group_free(&world);
	free(ranks);
}

/* Collective over the members, which agree on a number of the first one. */
static void group_add(MPI_Comm comm, bool is_world)
{
	struct recording_group *g;
	unsigned number[2] = { 0, 0 };
	int world = 0;

	if (!file || comm == MPI_COMM_NULL)
		return;
	g = calloc(1, sizeof(*g));
	if (!g)
		give_up();
	PMPI_Comm_size(comm, &g->n);
	PMPI_Comm_rank(comm, &g->me);
	if (!is_world) {
		PMPI_Comm_rank(MPI_COMM_WORLD, &world);
		number[0] = (unsigned)world;
		number[1] = ++comms;
		PMPI_Bcast(number, 2, MPI_UNSIGNED, 0, comm);
	}
	g->id = (unsigned long long)number[0] << 32 | number[1];
	PMPI_Comm_set_attr(comm, keyval, g);
	note_group(comm, g);
}

static int made(int result, const MPI_Comm *comm)
{
	if (result == MPI_SUCCESS && depth == 1)
		group_add(*comm, false);
	return recording_leave(result);
}

/* The group to note something of; NULL: nothing is to be. */
const struct recording_group *recording_group(MPI_Comm comm)
{
	if (!recording_is_on() || comm == MPI_COMM_SELF)
		return NULL;
	const struct recording_group *g = group_of(comm);

	if (!g)
		cannot("a communicator made in another way");
	return g && g->n > 1 ? g : NULL;
}

/* ---- requests ----------------------------------------------------------- */

long long recording_bytes(int count, MPI_Datatype type)
{
	int size = 0;

	PMPI_Type_size(type, &size);
	return (long long)count * size;
}

static void note_message(const char *word, MPI_Comm comm, int peer, int tag, long long bytes,
			 unsigned long request)
{
	const struct recording_group *g = recording_group(comm);

	if (g && peer != MPI_PROC_NULL)
		fprintf(file, "%s %llu %d %d %lld %lu\n", word, g->id,
			peer == MPI_ANY_SOURCE ? -1 : peer, tag == MPI_ANY_TAG ? -1 : tag, bytes,
			request);
}

static struct pending *pending_add(MPI_Request handle)
{
	if (n_pendings == cap_pendings) {
		cap_pendings = cap_pendings ? 2 * cap_pendings : 64;
		pendings = realloc(pendings, cap_pendings * sizeof(*pendings));
		if (!pendings)
			give_up();
	}
	struct pending *p = &pendings[n_pendings++];

	*p = (struct pending){ .handle = handle, .id = ++requests };
	return p;
}

unsigned long recording_request(MPI_Request handle)
{
	return pending_add(handle)->id;
}

static struct pending *pending_find(MPI_Request handle)
{
	for (size_t i = 0; i < n_pendings; i++) {
		if (pendings[i].handle == handle)
			return &pendings[i];
	}
	return NULL;
}

static void pending_drop(struct pending *p)
{
	*p = pendings[--n_pendings];
}

/* The message of a request. */
static void begun(const char *word, const MPI_Request *handle, MPI_Comm comm, int peer, int tag,
		  long long bytes)
{
	if (!recording_is_on())
		return;
	struct pending *p = pending_add(*handle);

	p->receives = word[0] == 'r';
	note_message(word, comm, peer, tag, bytes, p->id);
}

static void completed(MPI_Request handle, const MPI_Status *status)
{
	struct pending *p =
		recording_is_on() && handle != MPI_REQUEST_NULL ? pending_find(handle) : NULL;

	if (!p || !p->id)
		return;
	if (p->receives && status->MPI_SOURCE >= 0)
		fprintf(file, "match %lu %d %d\n", p->id, status->MPI_SOURCE, status->MPI_TAG);
	fprintf(file, "wait %lu\n", p->id);
	p->id = 0;
	if (!p->persists)
		pending_drop(p);
}

static MPI_Request *handles_copy(int n, const MPI_Request *from)
{
	const size_t each = sizeof(MPI_Request); /* may be a pointer */
	MPI_Request *copy = malloc(((size_t)n + 1) * each);

	if (!copy)
		give_up();
	memcpy(copy, from, (size_t)n * each);
	return copy;
}

/* The caller's statuses, or some of ours. */
static MPI_Status *statuses_for(int n, MPI_Status *theirs, MPI_Status **ours)
{
	*ours = NULL;
	if (theirs != MPI_STATUSES_IGNORE)
		return theirs;
	*ours = malloc(((size_t)n + 1) * sizeof(**ours));
	if (!*ours)
		give_up();
	return *ours;
}

/* ---- begin and end ------------------------------------------------------ */

static void begin(void)
{
	const char *folder = getenv("HEDDLE_RECORD");
	char path[4096];
	int rank, n;

	if (!folder)
		return;
	PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	PMPI_Comm_size(MPI_COMM_WORLD, &n);
	snprintf(path, sizeof(path), "%s/rank.%d", folder, rank);
	file = fopen(path, "w");
	if (!file) {
		perror(path);
		give_up();
	}
	fprintf(file, "record 1 %d %d\n", rank, n);
	PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget_group, &keyval, NULL);
	group_add(MPI_COMM_WORLD, true);
	clock_gettime(CLOCK_MONOTONIC, &left);
}

int MPI_Init(int *argc, char ***argv)
{
	int result = PMPI_Init(argc, argv);

	begin();
	return result;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
	int most = required < MPI_THREAD_SERIALIZED ? required : MPI_THREAD_SERIALIZED;
	int result = PMPI_Init_thread(argc, argv, most, provided);

	begin();
	return result;
}

int MPI_Finalize(void)
{
	recording_enter();
	if (file) {
		fputs("end\n", file);
		if (fclose(file) != 0)
			give_up();
		file = NULL;
	}
	return recording_leave(PMPI_Finalize());
}

/* ---- communicators that are made ---------------------------------------- */

/* NAME, parameters, arguments: the last of them is the new communicator. */
#define MAKES(name, parameters, arguments)               \
	int MPI_##name parameters                        \
	{                                                \
		recording_enter();                       \
		return made(PMPI_##name arguments, out); \
	}

MAKES(Comm_dup, (MPI_Comm c, MPI_Comm *out), (c, out))
MAKES(Comm_dup_with_info, (MPI_Comm c, MPI_Info i, MPI_Comm *out), (c, i, out))
MAKES(Comm_split, (MPI_Comm c, int color, int key, MPI_Comm *out), (c, color, key, out))
MAKES(Comm_split_type, (MPI_Comm c, int type, int key, MPI_Info i, MPI_Comm *out),
      (c, type, key, i, out))
MAKES(Comm_create, (MPI_Comm c, MPI_Group g, MPI_Comm *out), (c, g, out))
MAKES(Comm_create_group, (MPI_Comm c, MPI_Group g, int tag, MPI_Comm *out), (c, g, tag, out))
MAKES(Cart_create,
      (MPI_Comm c, int n, const int dims[], const int periods[], int reorder, MPI_Comm *out),
      (c, n, dims, periods, reorder, out))
MAKES(Cart_sub, (MPI_Comm c, const int keep[], MPI_Comm *out), (c, keep, out))

int MPI_Intercomm_create(MPI_Comm c, int leader, MPI_Comm peer, int remote, int tag, MPI_Comm *out)
{
	recording_enter();
	cannot("MPI_Intercomm_create");
	return recording_leave(PMPI_Intercomm_create(c, leader, peer, remote, tag, out));
}

int MPI_Mprobe(int source, int tag, MPI_Comm c, MPI_Message *m, MPI_Status *s)
{
	recording_enter();
	cannot("MPI_Mprobe");
	return recording_leave(PMPI_Mprobe(source, tag, c, m, s));
}

int MPI_Improbe(int source, int tag, MPI_Comm c, int *flag, MPI_Message *m, MPI_Status *s)
{
	recording_enter();
	cannot("MPI_Improbe");
	return recording_leave(PMPI_Improbe(source, tag, c, flag, m, s));
}

/* ---- point to point ----------------------------------------------------- */

#define SENDS(name)                                                                       \
	int MPI_##name(const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c) \
	{                                                                                 \
		recording_enter();                                                        \
		note_message("send", c, to, tag, recording_bytes(n, t), 0);               \
		return recording_leave(PMPI_##name(b, n, t, to, tag, c));                 \
	}
SENDS(Send)
SENDS(Ssend)
SENDS(Rsend)
SENDS(Bsend)

#define BEGINS_SEND(name)                                                                 \
	int MPI_##name(const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, \
		       MPI_Request *r)                                                    \
	{                                                                                 \
		recording_enter();                                                        \
		int result = PMPI_##name(b, n, t, to, tag, c, r);                         \
                                                                                          \
		begun("send", r, c, to, tag, recording_bytes(n, t));                      \
		return recording_leave(result);                                           \
	}
BEGINS_SEND(Isend)
BEGINS_SEND(Issend)
BEGINS_SEND(Irsend)
BEGINS_SEND(Ibsend)

int MPI_Recv(void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Status *status)
{
	MPI_Status mine = { 0 }, *s = status == MPI_STATUS_IGNORE ? &mine : status;

	recording_enter();
	int result = PMPI_Recv(b, n, t, from, tag, c, s);

	if (from != MPI_PROC_NULL)
		note_message("recv", c, s->MPI_SOURCE, s->MPI_TAG, recording_bytes(n, t), 0);
	return recording_leave(result);
}

int MPI_Irecv(void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Request *r)
{
	recording_enter();
	int result = PMPI_Irecv(b, n, t, from, tag, c, r);

	begun("recv", r, c, from, tag, recording_bytes(n, t));
	return recording_leave(result);
}

/* Both at once, and then both are waited for. */
static void note_both(MPI_Comm c, const int to[2], long long sent, const MPI_Status *got,
		      long long received)
{
	if (!recording_is_on())
		return;
	unsigned long first = ++requests, second = ++requests;

	if (got->MPI_SOURCE >= 0)
		note_message("recv", c, got->MPI_SOURCE, got->MPI_TAG, received, first);
	note_message("send", c, to[0], to[1], sent, second);
	fprintf(file, "wait %lu\nwait %lu\n", first, second);
}

int MPI_Sendrecv(const void *b, int n, MPI_Datatype t, int to, int tag, void *rb, int rn,
		 MPI_Datatype rt, int from, int rtag, MPI_Comm c, MPI_Status *status)
{
	MPI_Status mine = { 0 }, *s = status == MPI_STATUS_IGNORE ? &mine : status;

	recording_enter();
	int result = PMPI_Sendrecv(b, n, t, to, tag, rb, rn, rt, from, rtag, c, s);

	note_both(c, (int[]){ to, tag }, recording_bytes(n, t), s, recording_bytes(rn, rt));
	return recording_leave(result);
}

int MPI_Sendrecv_replace(void *b, int n, MPI_Datatype t, int to, int tag, int from, int rtag,
			 MPI_Comm c, MPI_Status *status)
{
	MPI_Status mine = { 0 }, *s = status == MPI_STATUS_IGNORE ? &mine : status;

	recording_enter();
	int result = PMPI_Sendrecv_replace(b, n, t, to, tag, from, rtag, c, s);

	note_both(c, (int[]){ to, tag }, recording_bytes(n, t), s, recording_bytes(n, t));
	return recording_leave(result);
}

/* Records persistent requests. */
static void prepared(const MPI_Request *r, MPI_Comm c, bool receives, int peer, int tag,
		     long long bytes)
{
	if (!recording_is_on())
		return;
	struct pending *p = pending_add(*r);

	p->id = 0;
	p->persists = true;
	p->receives = receives;
	p->comm = c;
	p->peer = peer;
	p->tag = tag;
	p->bytes = bytes;
}

int MPI_Send_init(const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request *r)
{
	recording_enter();
	int result = PMPI_Send_init(b, n, t, to, tag, c, r);

	prepared(r, c, false, to, tag, recording_bytes(n, t));
	return recording_leave(result);
}

int MPI_Recv_init(void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Request *r)
{
	recording_enter();
	int result = PMPI_Recv_init(b, n, t, from, tag, c, r);

	prepared(r, c, true, from, tag, recording_bytes(n, t));
	return recording_leave(result);
}

static void started(MPI_Request handle)
{
	struct pending *p = recording_is_on() ? pending_find(handle) : NULL;

	if (!p)
		return;
	p->id = ++requests;
	note_message(p->receives ? "recv" : "send", p->comm, p->peer, p->tag, p->bytes, p->id);
}

int MPI_Start(MPI_Request *r)
{
	recording_enter();
	int result = PMPI_Start(r);

	started(*r);
	return recording_leave(result);
}

int MPI_Startall(int n, MPI_Request r[])
{
	recording_enter();
	int result = PMPI_Startall(n, r);

	for (int i = 0; i < n; i++)
		started(r[i]);
	return recording_leave(result);
}

int MPI_Request_free(MPI_Request *r)
{
	recording_enter();
	struct pending *p = recording_is_on() ? pending_find(*r) : NULL;

	if (p)
		pending_drop(p);
	return recording_leave(PMPI_Request_free(r));
}

/* ---- waiting ------------------------------------------------------------ */

int MPI_Wait(MPI_Request *r, MPI_Status *status)
{
	MPI_Request handle = *r;
	MPI_Status mine = { 0 }, *s = status == MPI_STATUS_IGNORE ? &mine : status;

	recording_enter();
	int result = PMPI_Wait(r, s);

	completed(handle, s);
	return recording_leave(result);
}

int MPI_Test(MPI_Request *r, int *flag, MPI_Status *status)
{
	MPI_Request handle = *r;
	MPI_Status mine = { 0 }, *s = status == MPI_STATUS_IGNORE ? &mine : status;

	recording_enter();
	int result = PMPI_Test(r, flag, s);

	if (*flag)
		completed(handle, s);
	return recording_leave(result);
}

/* PMPI_Testall, or PMPI_Waitall if there is no flag. */
static int complete_all(int n, MPI_Request r[], int *flag, MPI_Status statuses[])
{
	MPI_Status *ours, *s = statuses_for(n, statuses, &ours);
	MPI_Request *handles = handles_copy(n, r);

	recording_enter();
	int result = flag ? PMPI_Testall(n, r, flag, s) : PMPI_Waitall(n, r, s);

	for (int i = 0; (!flag || *flag) && i < n; i++)
		completed(handles[i], &s[i]);
	free(handles);
	free(ours);
	return recording_leave(result);
}

int MPI_Waitall(int n, MPI_Request r[], MPI_Status statuses[])
{
	return complete_all(n, r, NULL, statuses);
}

int MPI_Testall(int n, MPI_Request r[], int *flag, MPI_Status statuses[])
{
	return complete_all(n, r, flag, statuses);
}

static int complete_any(int n, MPI_Request r[], int *which, int *flag, MPI_Status *status)
{
	MPI_Status mine = { 0 }, *s = status == MPI_STATUS_IGNORE ? &mine : status;
	MPI_Request *handles = handles_copy(n, r);

	recording_enter();
	int result = flag ? PMPI_Testany(n, r, which, flag, s) : PMPI_Waitany(n, r, which, s);

	if ((!flag || *flag) && *which != MPI_UNDEFINED)
		completed(handles[*which], s);
	free(handles);
	return recording_leave(result);
}

int MPI_Waitany(int n, MPI_Request r[], int *which, MPI_Status *status)
{
	return complete_any(n, r, which, NULL, status);
}

int MPI_Testany(int n, MPI_Request r[], int *which, int *flag, MPI_Status *status)
{
	return complete_any(n, r, which, flag, status);
}

typedef int some_fn(int n, MPI_Request r[], int *done, int which[], MPI_Status statuses[]);

static int complete_some(some_fn *call, int n, MPI_Request r[], int *done, int which[],
			 MPI_Status statuses[])
{
	MPI_Status *ours, *s = statuses_for(n, statuses, &ours);
	MPI_Request *handles = handles_copy(n, r);

	recording_enter();
	int result = call(n, r, done, which, s);

	for (int i = 0; *done != MPI_UNDEFINED && i < *done; i++)
		completed(handles[which[i]], &s[i]);
	free(handles);
	free(ours);
	return recording_leave(result);
}

int MPI_Waitsome(int n, MPI_Request r[], int *done, int which[], MPI_Status statuses[])
{
	return complete_some(PMPI_Waitsome, n, r, done, which, statuses);
}

int MPI_Testsome(int n, MPI_Request r[], int *done, int which[], MPI_Status statuses[])
{
	return complete_some(PMPI_Testsome, n, r, done, which, statuses);
}

/* NOLINTEND(readability-function-size) */
