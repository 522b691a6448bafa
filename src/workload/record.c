/* SPDX-License-Identifier: BSD-2-Clause */
#include "workload/record.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "workload/collective.h"

#define MOST_COMMS ((uint32_t)1 << 24)
#define MOST_RANKS ((uint32_t)1 << 20)
#define NO_OP      UINT32_MAX
#define ANY_SOURCE (-1)

/* World ranks of a communicator, as reported by each member. */
struct comm {
	uint32_t *ranks;
	uint32_t n;
	uint32_t steps; /* that the rank being read has done in it */
};

/* The operation of a request. */
struct recorded_request {
	int64_t peer, tag; /* of a receive, once it is known */
	bool is_matched;
	uint32_t op; /* or NO_OP */
};

struct program_recorder {
	struct opgraph *g;
	struct diag *d;
	bool has_compute;
	uint32_t rank, n_ranks;
	/* Common to all ranks: communicators by id, tags by meaning. */
	struct map comm_of, tag_of;
	struct comm *comms;
	size_t n_comms, comms_cap;
	/* State of the current rank. */
	struct map request_of;
	struct recorded_request *requests;
	size_t n_requests, requests_cap;
	struct opgraph_link *links;
	size_t n_links, links_cap;
	uint32_t *front; /* operations that the next one needs */
	size_t n_front, front_cap;
	/* State of the current line. */
	char *at;
	unsigned line;
	bool is_over;
};

static enum hd_status refuse(struct program_recorder *r, const char *what)
{
	return diag_fail_at(r->d, HD_ERR_INPUT, r->line, 0, "%s", what);
}

/* ---- words ------------------------------------------------------------- */

static char *word(struct program_recorder *r)
{
	char *begin = r->at + strspn(r->at, " ");
	size_t len = strcspn(begin, " \n");

	r->at = begin + len;
	if (*r->at)
		*r->at++ = '\0';
	return begin;
}

/* A number from `low` up to below `high`. */
static int64_t number(struct program_recorder *r, int64_t low, int64_t high)
{
	char *text = word(r), *end;
	long long value = strtoll(text, &end, 10);

	if (end == text || *end || value < low || value >= high) {
		refuse(r, "a number outside its range");
		return low;
	}
	return value;
}

static int64_t bytes(struct program_recorder *r)
{
	return number(r, 0, (int64_t)OP_MOST_SIZE + 1);
}

static struct comm *comm(struct program_recorder *r)
{
	uint32_t at = map_get(&r->comm_of, (uint64_t)number(r, 0, INT64_MAX));

	if (at == MAP_NONE) {
		refuse(r, "an unknown communicator");
		return NULL;
	}
	return &r->comms[at];
}

static struct recorded_request *request_at(struct program_recorder *r, int64_t id)
{
	uint32_t next = (uint32_t)r->n_requests;
	uint32_t at = map_put(&r->request_of, (uint64_t)id, next);

	if (at != MAP_NONE)
		return &r->requests[at];
	r->requests =
		hd_grow(r->requests, &r->requests_cap, r->n_requests + 1, sizeof(*r->requests));
	r->requests[next] = (struct recorded_request){ .peer = ANY_SOURCE, .op = NO_OP };
	r->n_requests++;
	return &r->requests[next];
}

static int64_t request_id(struct program_recorder *r)
{
	return number(r, 0, OPGRAPH_MOST);
}

/* ---- operations -------------------------------------------------------- */

static void link_add(struct program_recorder *r, uint32_t from, uint32_t to)
{
	r->links = hd_grow(r->links, &r->links_cap, r->n_links + 1, sizeof(*r->links));
	r->links[r->n_links++] = (struct opgraph_link){ from, to, 0 };
}

static void front_set(struct program_recorder *r, uint32_t op)
{
	r->front = hd_grow(r->front, &r->front_cap, 1, sizeof(*r->front));
	r->front[0] = op;
	r->n_front = 1;
}

static void front_add(struct program_recorder *r, uint32_t op)
{
	r->front = hd_grow(r->front, &r->front_cap, r->n_front + 1, sizeof(*r->front));
	r->front[r->n_front++] = op;
}

static uint32_t op_after(struct program_recorder *r, uint32_t before, const struct op *op)
{
	uint32_t id = opgraph_add(r->g, op);

	if (before != NO_OP)
		link_add(r, before, id);
	return id;
}

/* An operation without duration that completes after several others. */
static uint32_t join(struct program_recorder *r, const uint32_t *ops, size_t n)
{
	const struct op nothing = { .kind = OP_COMPUTE };

	if (n < 2)
		return n ? ops[0] : NO_OP;
	uint32_t id = opgraph_add(r->g, &nothing);

	for (size_t i = 0; i < n; i++)
		link_add(r, ops[i], id);
	return id;
}

/* The one operation that all that follows needs. */
static uint32_t front(struct program_recorder *r)
{
	uint32_t one = join(r, r->front, r->n_front);

	if (one != NO_OP)
		front_set(r, one);
	return one;
}

/* Registers an operation: it completes when the call returns or, with a request, at its wait. */
static void begun(struct program_recorder *r, int64_t request, uint32_t op)
{
	if (op == NO_OP)
		return;
	if (request)
		request_at(r, request)->op = op;
	else
		front_set(r, op);
}

/* ---- tags ---------------------------------------------------------------- */

/* Numbers keys consecutively; the same key has the same number in all ranks. */
static uint32_t tag_of(struct program_recorder *r, uint64_t key)
{
	uint32_t next = (uint32_t)r->tag_of.n;
	uint32_t had = map_put(&r->tag_of, key, next);

	return had == MAP_NONE ? next : had;
}

static uint64_t comm_key(const struct program_recorder *r, const struct comm *c)
{
	return (uint64_t)(c - r->comms) << 40;
}

static uint32_t message_tag(struct program_recorder *r, const struct comm *c, int64_t tag)
{
	return tag_of(r, comm_key(r, c) | (uint64_t)tag);
}

/* Tag of a sequence of the communicator's next collective. */
static uint32_t step_tag(struct program_recorder *r, const struct comm *c, uint32_t sequence)
{
	return tag_of(r, comm_key(r, c) | (uint64_t)1 << 39 |
				 (uint64_t)(c->steps & 0x7fffffff) << 4 | (sequence & 15));
}

/* ---- lines ------------------------------------------------------------- */

static void read_comm(struct program_recorder *r)
{
	uint64_t id = (uint64_t)number(r, 0, INT64_MAX);
	uint32_t n = (uint32_t)number(r, 1, MOST_RANKS);
	uint32_t at = map_get(&r->comm_of, id);
	bool is_new = at == MAP_NONE;
	struct comm c = { .n = n };

	if (is_new && r->n_comms == MOST_COMMS - 1)
		refuse(r, "too many communicators");
	if (!is_new && r->comms[at].n != n)
		refuse(r, "a communicator of another size than others say");
	if (r->d->status != HD_OK)
		return;
	if (is_new)
		c.ranks = hd_alloc(n, sizeof(*c.ranks));
	else
		c = r->comms[at];
	for (uint32_t i = 0; i < n; i++) {
		uint32_t rank = (uint32_t)number(r, 0, r->n_ranks);

		if (!is_new && c.ranks[i] != rank)
			refuse(r, "a communicator of others than they say");
		c.ranks[i] = rank;
	}
	if (!is_new)
		return;
	map_put(&r->comm_of, id, (uint32_t)r->n_comms);
	r->comms = hd_grow(r->comms, &r->comms_cap, r->n_comms + 1, sizeof(*r->comms));
	r->comms[r->n_comms++] = c;
}

static void read_calc(struct program_recorder *r)
{
	struct op op = { .kind = OP_COMPUTE };

	op.size = (uint64_t)number(r, 0, (int64_t)(OP_MOST_TIME / 1000)) * 1000;
	if (r->has_compute && r->d->status == HD_OK)
		front_set(r, op_after(r, front(r), &op));
}

/* The world's rank of a peer; itself if it must not be looked at. */
static uint32_t world_rank(struct program_recorder *r, const struct comm *c, int64_t peer)
{
	if (c && peer >= 0 && peer < c->n)
		return c->ranks[peer];
	refuse(r, "a peer that is not in its communicator");
	return r->rank;
}

static void read_message(struct program_recorder *r, enum op_kind kind)
{
	const struct comm *c = comm(r);
	int64_t peer = number(r, ANY_SOURCE, MOST_RANKS);
	int64_t tag = number(r, ANY_SOURCE, INT32_MAX);
	struct op op = { .kind = (uint8_t)kind, .size = (uint64_t)bytes(r) };
	int64_t id = request_id(r);

	if (r->d->status != HD_OK)
		return;
	if (kind == OP_RECV && id) {
		const struct recorded_request *q = request_at(r, id);

		/* A message that was never received has no known properties. */
		if (!q->is_matched && (peer < 0 || tag < 0))
			return;
		peer = q->is_matched ? q->peer : peer;
		tag = q->is_matched ? q->tag : tag;
	}
	op.peer = world_rank(r, c, peer);
	if (tag < 0)
		refuse(r, "a message without a tag");
	if (r->d->status != HD_OK || op.peer == r->rank)
		return; /* what one sends to oneself is no message */
	op.tag = message_tag(r, c, tag);
	begun(r, id, op_after(r, front(r), &op));
}

static void read_send(struct program_recorder *r)
{
	read_message(r, OP_SEND);
}

static void read_recv(struct program_recorder *r)
{
	read_message(r, OP_RECV);
}

static void read_wait(struct program_recorder *r)
{
	struct recorded_request *q = request_at(r, request_id(r));

	if (q->op != NO_OP)
		front_add(r, q->op);
	q->op = NO_OP;
}

static uint32_t index_in(const struct program_recorder *r, const struct comm *c)
{
	uint32_t i = 0;

	while (i < c->n && c->ranks[i] != r->rank)
		i++;
	return i;
}

/* Adds the operations of a round after `before`; what the next one needs. */
static uint32_t add_round(struct program_recorder *r, const struct comm *c,
			  const struct workload_step *s, struct step_position at, uint32_t before)
{
	uint32_t me = index_in(r, c), *ops = NULL;
	uint32_t tag = step_tag(r, c, at.sequence);
	size_t n = 0, cap = 0;
	struct op op;

	for (; step_op(s, c->n, me, at, &op); at.index++) {
		op.peer = c->ranks[op.peer];
		op.tag = tag;
		ops = hd_grow(ops, &cap, n + 1, sizeof(*ops));
		ops[n++] = op_after(r, before, &op);
	}
	uint32_t done = n ? join(r, ops, n) : before;

	free(ops);
	return done;
}

static void read_step(struct program_recorder *r)
{
	const char *operation = word(r), *name = word(r);
	struct comm *c = comm(r);
	struct workload_step s = { .algorithm = workload_algorithm_find(operation, name),
				   .groups = 1,
				   .grid = { 1, 1, 1 } };

	s.size = (uint64_t)bytes(r);
	s.root = (uint32_t)number(r, 0, MOST_RANKS);
	int64_t id = request_id(r);

	if (!s.algorithm)
		refuse(r, "a collective that is not known");
	if (r->d->status != HD_OK || step_check(&s, c->n, r->d) != HD_OK)
		return;
	if (index_in(r, c) == c->n) {
		refuse(r, "a collective of others");
		return;
	}
	uint32_t before = front(r), sequences = step_sequences(&s);
	uint32_t *ends = hd_alloc(sequences, sizeof(*ends));
	size_t n = 0;

	for (uint32_t i = 0; i < sequences; i++) {
		uint32_t rounds = step_rounds(&s, c->n, index_in(r, c), i);
		uint32_t last = before;

		for (uint32_t k = 0; k < rounds; k++)
			last = add_round(r, c, &s, (struct step_position){ i, k, 0 }, last);
		if (last != NO_OP)
			ends[n++] = last;
	}
	c->steps++;
	begun(r, id, join(r, ends, n));
	free(ends);
}

/* A message to each and from each; -1: none. */
static void read_lists(struct program_recorder *r)
{
	struct comm *c = comm(r);
	int64_t id = request_id(r);
	uint32_t n = (uint32_t)number(r, 1, MOST_RANKS);
	uint32_t before, *ops;
	size_t n_ops = 0;

	if (r->d->status != HD_OK)
		return;
	if (n != c->n) {
		refuse(r, "lists of another length than their communicator");
		return;
	}
	before = front(r);
	ops = hd_alloc(2 * (size_t)n, sizeof(*ops));
	for (uint32_t i = 0; i < 2 * n; i++) {
		int64_t size = number(r, -1, (int64_t)OP_MOST_SIZE + 1);
		struct op op = { .kind = i < n ? OP_SEND : OP_RECV,
				 .size = (uint64_t)size,
				 .peer = c->ranks[i % n],
				 .tag = step_tag(r, c, 0) };

		if (size >= 0 && op.peer != r->rank && r->d->status == HD_OK)
			ops[n_ops++] = op_after(r, before, &op);
	}
	c->steps++;
	begun(r, id, join(r, ops, n_ops));
	free(ops);
}

/* From the rank before; when that is there, to the next. */
static void read_chain(struct program_recorder *r)
{
	struct comm *c = comm(r);
	struct op op = { .size = (uint64_t)bytes(r) };
	bool receives = number(r, 0, 2), sends = number(r, 0, 2);

	if (r->d->status != HD_OK)
		return;
	uint32_t me = index_in(r, c);

	if (me == c->n || (receives && me == 0) || (sends && me + 1 == c->n)) {
		refuse(r, "a chain beyond its end");
		return;
	}
	op.tag = step_tag(r, c, 0);
	c->steps++;
	if (receives) {
		op.kind = OP_RECV;
		op.peer = c->ranks[me - 1];
		front_set(r, op_after(r, front(r), &op));
	}
	if (sends) {
		op.kind = OP_SEND;
		op.peer = c->ranks[me + 1];
		front_set(r, op_after(r, front(r), &op));
	}
}

static void read_not(struct program_recorder *r)
{
	r->at[strcspn(r->at, "\n")] = '\0';
	diag_fail(r->d, HD_ERR_UNFIT, "rank %u uses %s, which cannot be recorded", r->rank, r->at);
}

static void read_end(struct program_recorder *r)
{
	r->is_over = true;
}

static void read_nothing(struct program_recorder *r)
{
	(void)r;
}

/* Read first: matches give the sources of wildcard receives. */
static void read_match(struct program_recorder *r)
{
	struct recorded_request *q = request_at(r, request_id(r));

	q->peer = number(r, 0, MOST_RANKS);
	q->tag = number(r, 0, INT32_MAX);
	q->is_matched = true;
}

static const struct {
	const char *word;
	void (*read)(struct program_recorder *r);
} lines[] = {
	{ "calc", read_calc },   { "send", read_send },     { "recv", read_recv },
	{ "wait", read_wait },   { "step", read_step },     { "lists", read_lists },
	{ "chain", read_chain }, { "comm", read_comm },     { "not", read_not },
	{ "end", read_end },     { "match", read_nothing },
};

static void read_line(struct program_recorder *r, bool matches)
{
	const char *first = word(r);

	if (matches) {
		if (strcmp(first, "match") == 0)
			read_match(r);
		return;
	}
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		if (strcmp(first, lines[i].word) == 0) {
			lines[i].read(r);
			return;
		}
	}
	refuse(r, "a line that is not known");
}

/* ---- files ------------------------------------------------------------- */

/* "record 1 RANK RANKS" */
static void read_head(struct program_recorder *r, uint32_t rank)
{
	if (strcmp(word(r), "record") != 0 || number(r, 0, 100) != 1 ||
	    number(r, 0, MOST_RANKS) != rank)
		refuse(r, "no record of this rank");
	uint32_t n = (uint32_t)number(r, 1, MOST_RANKS);

	if (rank == 0 && r->d->status == HD_OK) {
		r->n_ranks = n;
		opgraph_begin(r->g, n);
	} else if (n != r->n_ranks) {
		refuse(r, "another number of ranks than the first one has");
	}
}

static void read_pass(struct program_recorder *r, FILE *in, uint32_t rank, bool matches)
{
	char *text = NULL;
	size_t cap = 0;

	r->line = 0;
	rewind(in);
	while (r->d->status == HD_OK && getline(&text, &cap, in) >= 0) {
		r->at = text;
		if (r->line++ > 0)
			read_line(r, matches);
		else if (matches)
			read_head(r, rank);
	}
	free(text);
}

static enum hd_status read_rank(struct program_recorder *r, FILE *in, uint32_t rank)
{
	r->rank = rank;
	map_fini(&r->request_of);
	r->request_of = (struct map){ 0 };
	r->n_requests = r->n_links = r->n_front = 0;
	r->is_over = false;
	for (size_t i = 0; i < r->n_comms; i++)
		r->comms[i].steps = 0;
	read_pass(r, in, rank, true);
	if (r->line == 0)
		refuse(r, "an empty record");
	read_pass(r, in, rank, false);
	if (r->d->status == HD_OK && !r->is_over)
		diag_fail(r->d, HD_ERR_INPUT, "rank %u has not come to MPI_Finalize", rank);
	return r->d->status == HD_OK ? opgraph_end_rank(r->g, rank, r->links, r->n_links, r->d)
				     : r->d->status;
}

static enum hd_status read_next(struct program_recorder *r, const struct record_source *from,
				uint32_t rank)
{
	FILE *in = from->open(from->context, rank);
	enum hd_status status =
		in ? read_rank(r, in, rank)
		   : diag_fail(r->d, HD_ERR_INPUT,
			       rank ? "rank %u left no record"
				    : "no rank has a record: rank %u was not of an MPI program",
			       rank);

	if (in)
		fclose(in);
	return status;
}

enum hd_status record_read_from(const struct record_source *from, bool has_compute, struct diag *d,
				struct opgraph *out)
{
	struct program_recorder r = { .g = out, .d = d, .has_compute = has_compute, .n_ranks = 1 };
	enum hd_status status = HD_OK;

	*out = (struct opgraph){ 0 };
	for (uint32_t i = 0; i < r.n_ranks && status == HD_OK; i++)
		status = read_next(&r, from, i);
	if (status == HD_OK)
		opgraph_end(out);
	else
		opgraph_fini(out);
	for (size_t i = 0; i < r.n_comms; i++)
		free(r.comms[i].ranks);
	map_fini(&r.comm_of);
	map_fini(&r.tag_of);
	map_fini(&r.request_of);
	free(r.comms);
	free(r.requests);
	free(r.links);
	free(r.front);
	return status;
}

struct folder {
	const char *name;
};

static FILE *open_file(void *context, uint32_t rank)
{
	const struct folder *in_folder = context;
	struct strbuf path = STRBUF_INIT;

	strbuf_printf(&path, "%s/rank.%u", in_folder->name, rank);
	FILE *in = fopen(path.text, "r");

	strbuf_fini(&path);
	return in;
}

enum hd_status record_read(const char *folder, bool has_compute, struct diag *d,
			   struct opgraph *out)
{
	struct folder context = { folder };
	const struct record_source files = { open_file, &context };

	return record_read_from(&files, has_compute, d, out);
}
