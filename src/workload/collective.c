/* SPDX-License-Identifier: BSD-2-Clause */
#include "workload/collective.h"

#include <inttypes.h>
#include <string.h>

__extension__ typedef unsigned __int128 u128;

static unsigned log2_floor(uint32_t n)
{
	return 31u - (unsigned)__builtin_clz(n);
}

unsigned workload_log2_ceil(uint32_t n)
{
	return n > 1 ? log2_floor(n - 1) + 1 : 0;
}

/* Bytes of the blocks from `a` up to `b` of m bytes in n blocks. */
static uint64_t block_bytes(uint64_t m, uint32_t n, uint32_t a, uint32_t b)
{
	return (uint64_t)((u128)m * b / n) - (uint64_t)((u128)m * a / n);
}

/* Place 0 of a round receives, place 1 sends. */
static bool op_exchange(uint32_t index, const struct op *receive, const struct op *send,
			struct op *out)
{
	if (index > 1)
		return false;
	*out = index ? *send : *receive;
	out->kind = index ? OP_SEND : OP_RECV;
	return true;
}

/* r + by, around. */
static uint32_t around(struct group_member m, uint64_t by)
{
	return (uint32_t)((m.r + by) % m.p);
}

/* Receives from so far behind, sends to as far ahead. */
static bool pass_on(struct group_member m, uint32_t index, uint64_t distance, uint64_t receives,
		    uint64_t sends, struct op *out)
{
	const struct op receive = { .peer = around(m, m.p - distance % m.p), .size = receives };
	const struct op send = { .peer = around(m, distance), .size = sends };

	return op_exchange(index, &receive, &send, out);
}

/* ---- computing, barriers ------------------------------------------------ */

static uint32_t one_round(const struct workload_step *s, struct group_member m, uint32_t sequence)
{
	(void)s, (void)m, (void)sequence;
	return 1;
}

static bool compute_op(const struct workload_step *s, struct group_member m,
		       struct step_position at, struct op *out)
{
	(void)m;
	*out = (struct op){ .kind = OP_COMPUTE, .size = s->size };
	return at.index == 0;
}

static uint32_t log_rounds(const struct workload_step *s, struct group_member m, uint32_t sequence)
{
	(void)s, (void)sequence;
	return workload_log2_ceil(m.p);
}

static bool barrier_op(const struct workload_step *s, struct group_member m,
		       struct step_position at, struct op *out)
{
	(void)s;
	return pass_on(m, at.index, (uint64_t)1 << at.round, 0, 0, out);
}

/* ---- one to all, all to one ---------------------------------------------- */

static uint32_t from_root(const struct workload_step *s, struct group_member m)
{
	return (m.r + m.p - s->root) % m.p;
}

static bool one_op(const struct workload_step *s, struct group_member m, enum op_kind kind,
		   uint32_t v, struct op *out)
{
	*out = (struct op){ .kind = (uint8_t)kind, .size = s->size, .peer = (v + s->root) % m.p };
	return true;
}

/* The first level on which v sends: above that on which it receives. */
static uint32_t first_level(uint32_t v)
{
	return v ? log2_floor(v) + 1 : 0;
}

static uint32_t broadcast_rounds(const struct workload_step *s, struct group_member m,
				 uint32_t sequence)
{
	uint32_t v = from_root(s, m);

	(void)sequence;
	return (v > 0) + workload_log2_ceil(m.p) - first_level(v);
}

static bool broadcast_op(const struct workload_step *s, struct group_member m,
			 struct step_position at, struct op *out)
{
	uint32_t v = from_root(s, m);
	uint32_t level = first_level(v) + at.round - (v > 0);

	if (at.index)
		return false;
	if (v && at.round == 0)
		return one_op(s, m, OP_RECV, v - ((uint32_t)1 << log2_floor(v)), out);
	if (v + ((uint64_t)1 << level) >= m.p)
		return false;
	return one_op(s, m, OP_SEND, v + ((uint32_t)1 << level), out);
}

static bool multicast_op(const struct workload_step *s, struct group_member m,
			 struct step_position at, struct op *out)
{
	uint32_t v = from_root(s, m);

	one_op(s, m, v ? OP_RECV : OP_MULTICAST, 0, out);
	if (v == 0)
		out->peer = m.group;
	return at.index == 0 && m.p > 1;
}

static uint32_t reduce_rounds(const struct workload_step *s, struct group_member m,
			      uint32_t sequence)
{
	uint32_t v = from_root(s, m);

	(void)sequence;
	return v ? (uint32_t)__builtin_ctz(v) + 1 : workload_log2_ceil(m.p);
}

static bool reduce_op(const struct workload_step *s, struct group_member m, struct step_position at,
		      struct op *out)
{
	uint32_t v = from_root(s, m), bit = (uint32_t)1 << at.round;

	if (at.index)
		return false;
	if (v & bit)
		return one_op(s, m, OP_SEND, v - bit, out);
	if ((uint64_t)v + bit >= m.p)
		return false;
	return one_op(s, m, OP_RECV, v + bit, out);
}

/* All give, switches reduce, all get the result. */
static bool in_network_op(const struct workload_step *s, struct group_member m,
			  struct step_position at, struct op *out)
{
	*out = (struct op){ .kind = OP_REDUCE,
			    .size = s->algorithm->moved ? s->size : 0,
			    .peer = m.group };
	return at.index == 0 && m.p > 1;
}

/* ---- rings --------------------------------------------------------------- */

static uint32_t ring_rounds(const struct workload_step *s, struct group_member m, uint32_t sequence)
{
	(void)s, (void)sequence;
	return m.p - 1;
}

static uint64_t ring_block(const struct workload_step *s, struct group_member m, uint64_t back)
{
	uint32_t i = around(m, 2 * (uint64_t)m.p - back);

	return block_bytes(s->size, m.p, i, i + 1);
}

static bool allgather_ring_op(const struct workload_step *s, struct group_member m,
			      struct step_position at, struct op *out)
{
	return pass_on(m, at.index, 1, s->size, s->size, out);
}

static bool scatter_ring_op(const struct workload_step *s, struct group_member m,
			    struct step_position at, struct op *out)
{
	return pass_on(m, at.index, 1, ring_block(s, m, at.round + 2),
		       ring_block(s, m, at.round + 1), out);
}

static uint32_t allreduce_ring_rounds(const struct workload_step *s, struct group_member m,
				      uint32_t sequence)
{
	(void)s, (void)sequence;
	return 2 * (m.p - 1);
}

static bool allreduce_ring_op(const struct workload_step *s, struct group_member m,
			      struct step_position at, struct op *out)
{
	uint64_t k = at.round;

	if (k < m.p - 1)
		return pass_on(m, at.index, 1, ring_block(s, m, k + 1), ring_block(s, m, k), out);
	k -= m.p - 1;
	/* One ahead is p - 1 back. */
	return pass_on(m, at.index, 1, ring_block(s, m, k), ring_block(s, m, k + m.p - 1), out);
}

/* ---- powers of two ------------------------------------------------------- */

/* Both ways with `peer`. */
static bool swap_with(uint32_t index, uint32_t peer, uint64_t receives, uint64_t sends,
		      struct op *out)
{
	const struct op receive = { .peer = peer, .size = receives };
	const struct op send = { .peer = peer, .size = sends };

	return op_exchange(index, &receive, &send, out);
}

static bool allgather_doubling_op(const struct workload_step *s, struct group_member m,
				  struct step_position at, struct op *out)
{
	uint64_t bytes = s->size << at.round;

	return swap_with(at.index, m.r ^ (uint32_t)1 << at.round, bytes, bytes, out);
}

/* Blocks that agree with n in all but the lowest `low` of k bits. */
static uint64_t half_bytes(uint64_t m, unsigned k, uint32_t n, unsigned low)
{
	uint32_t first = n >> low << low;

	return block_bytes(m, (uint32_t)1 << k, first, first + ((uint32_t)1 << low));
}

static bool scatter_halving_op(const struct workload_step *s, struct group_member m,
			       struct step_position at, struct op *out)
{
	unsigned k = log2_floor(m.p), low = k - 1 - at.round;
	uint32_t peer = m.r ^ (uint32_t)1 << low;

	return swap_with(at.index, peer, half_bytes(s->size, k, m.r, low),
			 half_bytes(s->size, k, peer, low), out);
}

/*
 * Reduction of p ranks to 2^k: among the first 2e, even ranks send their data to their neighbours
 * and receive the result.
 */
struct fold {
	unsigned k;
	uint32_t e, n;
	bool is_out, is_in; /* one of the first 2e: even, odd */
};

static struct fold fold_of(struct group_member m)
{
	struct fold f = { .k = log2_floor(m.p) };

	f.e = m.p - ((uint32_t)1 << f.k);
	f.is_out = m.r < 2 * f.e && m.r % 2 == 0;
	f.is_in = m.r < 2 * f.e && m.r % 2;
	f.n = m.r < 2 * f.e ? m.r / 2 : m.r - f.e;
	return f;
}

static uint32_t unfolded(const struct fold *f, uint32_t n)
{
	return n < f->e ? 2 * n + 1 : n + f->e;
}

/* Whether the round is one of folding, with `inner` ones between. */
static bool is_folding(const struct fold *f, uint32_t round, uint32_t inner)
{
	return f->is_out || (f->is_in && (round == 0 || round == inner + 1));
}

static bool fold_op(const struct workload_step *s, struct group_member m, const struct fold *f,
		    struct step_position at, struct op *out)
{
	bool first = at.round == 0;

	*out = (struct op){
		.kind = first == f->is_out ? OP_SEND : OP_RECV,
		.size = s->size,
		.peer = f->is_out ? m.r + 1 : m.r - 1,
	};
	return at.index == 0;
}

static uint32_t folded_rounds(struct group_member m, uint32_t inner)
{
	struct fold f = fold_of(m);

	return f.is_out ? 2 : inner + 2 * f.is_in;
}

static uint32_t doubling_rounds(const struct workload_step *s, struct group_member m,
				uint32_t sequence)
{
	(void)s, (void)sequence;
	return folded_rounds(m, log2_floor(m.p));
}

static bool doubling_op(const struct workload_step *s, struct group_member m,
			struct step_position at, struct op *out)
{
	struct fold f = fold_of(m);

	if (is_folding(&f, at.round, f.k))
		return fold_op(s, m, &f, at, out);
	uint32_t round = at.round - f.is_in;

	return swap_with(at.index, unfolded(&f, f.n ^ (uint32_t)1 << round), s->size, s->size, out);
}

static uint32_t rabenseifner_rounds(const struct workload_step *s, struct group_member m,
				    uint32_t sequence)
{
	(void)s, (void)sequence;
	return folded_rounds(m, 2 * log2_floor(m.p));
}

static bool rabenseifner_op(const struct workload_step *s, struct group_member m,
			    struct step_position at, struct op *out)
{
	struct fold f = fold_of(m);

	if (is_folding(&f, at.round, 2 * f.k))
		return fold_op(s, m, &f, at, out);
	uint32_t round = at.round - f.is_in;
	bool back = round >= f.k;
	unsigned low = back ? round - f.k : f.k - 1 - round;
	uint32_t other = f.n ^ (uint32_t)1 << low;
	uint64_t mine = half_bytes(s->size, f.k, f.n, low);
	uint64_t theirs = half_bytes(s->size, f.k, other, low);

	return swap_with(at.index, unfolded(&f, other), back ? theirs : mine, back ? mine : theirs,
			 out);
}

/* ---- all to all ---------------------------------------------------------- */

static bool pairwise_op(const struct workload_step *s, struct group_member m,
			struct step_position at, struct op *out)
{
	return pass_on(m, at.index, (uint64_t)at.round + 1, s->size, s->size, out);
}

static bool linear_op(const struct workload_step *s, struct group_member m, struct step_position at,
		      struct op *out)
{
	bool sends = at.index >= m.p - 1;
	uint32_t distance = at.index % (m.p > 1 ? m.p - 1 : 1) + 1;

	return at.index < 2 * (m.p - 1) && pass_on(m, sends, distance, s->size, s->size, out);
}

static bool bruck_op(const struct workload_step *s, struct group_member m, struct step_position at,
		     struct op *out)
{
	uint32_t bit = (uint32_t)1 << at.round, rest = m.p % (2 * bit);
	uint64_t n = (uint64_t)(m.p / (2 * bit)) * bit + (rest > bit ? rest - bit : 0);

	return pass_on(m, at.index, bit, n * s->size, n * s->size, out);
}

/* ---- neighbours ---------------------------------------------------------- */

/* The rank one up or down in dimension d, around. */
static uint32_t neighbour(const struct workload_step *s, uint32_t r, unsigned d, bool up)
{
	uint32_t stride = 1;

	for (unsigned i = 0; i < d; i++)
		stride *= s->grid[i];
	uint32_t at = r / stride % s->grid[d];
	uint32_t to = (at + (up ? 1 : s->grid[d] - 1)) % s->grid[d];

	return r - at * stride + to * stride;
}

static bool halo_op(const struct workload_step *s, struct group_member m, struct step_position at,
		    struct op *out)
{
	unsigned dims[STEP_DIMENSIONS], n = 0;

	for (unsigned d = 0; d < STEP_DIMENSIONS; d++) {
		if (s->grid[d] > 1)
			dims[n++] = d;
	}
	if (at.index >= 4 * n)
		return false;
	bool sends = at.index >= 2 * n, second = at.index % 2;
	unsigned d = dims[at.index % (2 * n) / 2];

	*out = (struct op){
		.kind = sends ? OP_SEND : OP_RECV,
		.size = s->size,
		.peer = neighbour(s, m.r, d, sends != second),
		.tag = 2 * d + second, /* which way it goes */
	};
	return true;
}

static bool shift_op(const struct workload_step *s, struct group_member m, struct step_position at,
		     struct op *out)
{
	bool receives = at.index == 0 && m.r > 0;
	bool sends = at.index == (m.r > 0) && m.r + 1 < m.p;

	if (!receives && !sends)
		return false;
	*out = (struct op){ .kind = receives ? OP_RECV : OP_SEND,
			    .size = s->size,
			    .peer = receives ? m.r - 1 : m.r + 1 };
	return true;
}

/* ---- storage ------------------------------------------------------------- */

static uint64_t n_requests(const struct workload_step *s)
{
	return (s->size + s->request - 1) / s->request;
}

static uint32_t storage_strands(const struct workload_step *s)
{
	return s->outstanding;
}

static uint32_t storage_rounds(const struct workload_step *s, struct group_member m,
			       uint32_t sequence)
{
	uint64_t n = n_requests(s);

	(void)m;
	return n > sequence ? (uint32_t)((n - sequence - 1) / s->outstanding + 1) : 0;
}

static bool storage_op(const struct workload_step *s, struct group_member m,
		       struct step_position at, struct op *out)
{
	uint64_t number = at.sequence + (uint64_t)at.round * s->outstanding;
	uint64_t rest = s->size - number * s->request;
	bool reads = s->algorithm->operation[0] == 'r';

	*out = (struct op){
		.kind = reads ? OP_READ : OP_WRITE,
		.size = rest < s->request ? rest : s->request,
		.peer = (uint32_t)((m.r + number) % s->servers),
	};
	return at.index == 0;
}

/* ---- which there are ----------------------------------------------------- */

static double whole(double p, double m)
{
	(void)p;
	return m;
}

static double each(double p, double m)
{
	return p * m;
}

static double bus_twice(double p, double m)
{
	return 2 * (p - 1) / p * m;
}

static double bus_once(double p, double m)
{
	return (p - 1) / p * m;
}

static double bus_each(double p, double m)
{
	return (p - 1) * m;
}

const struct algorithm workload_algorithms[] = {
	{ "compute", "cpu", NULL, one_round, compute_op },
	{ "barrier", "dissemination", NULL, log_rounds, barrier_op, .uses = STEP_GROUPS },
	{ "barrier", "in-network", NULL, one_round, in_network_op, .uses = STEP_GROUPS },
	{ "broadcast", "binomial", NULL, broadcast_rounds, broadcast_op,
	  .uses = STEP_ROOT | STEP_GROUPS, .moved = whole, .bus = whole },
	{ "broadcast", "multicast", NULL, one_round, multicast_op, .uses = STEP_ROOT | STEP_GROUPS,
	  .moved = whole, .bus = whole },
	{ "reduce", "binomial", NULL, reduce_rounds, reduce_op, .uses = STEP_ROOT | STEP_GROUPS,
	  .moved = whole, .bus = whole },
	{ "allreduce", "ring", NULL, allreduce_ring_rounds, allreduce_ring_op, .uses = STEP_GROUPS,
	  .moved = whole, .bus = bus_twice },
	{ "allreduce", "doubling", NULL, doubling_rounds, doubling_op, .uses = STEP_GROUPS,
	  .moved = whole, .bus = bus_twice },
	{ "allreduce", "rabenseifner", NULL, rabenseifner_rounds, rabenseifner_op,
	  .uses = STEP_GROUPS, .moved = whole, .bus = bus_twice },
	{ "allreduce", "tree", step_tree_sequences, step_tree_rounds, step_tree_op,
	  .uses = STEP_GROUPS | STEP_SEGMENT, .moved = whole, .bus = bus_twice },
	{ "allreduce", "in-network", NULL, one_round, in_network_op, .uses = STEP_GROUPS,
	  .moved = whole, .bus = bus_twice },
	{ "allgather", "ring", NULL, ring_rounds, allgather_ring_op, .uses = STEP_GROUPS,
	  .moved = each, .bus = bus_each },
	{ "allgather", "doubling", NULL, log_rounds, allgather_doubling_op, .uses = STEP_GROUPS,
	  .of_powers = true, .moved = each, .bus = bus_each },
	{ "reduce_scatter", "ring", NULL, ring_rounds, scatter_ring_op, .uses = STEP_GROUPS,
	  .moved = whole, .bus = bus_once },
	{ "reduce_scatter", "halving", NULL, log_rounds, scatter_halving_op, .uses = STEP_GROUPS,
	  .of_powers = true, .moved = whole, .bus = bus_once },
	{ "alltoall", "pairwise", NULL, ring_rounds, pairwise_op, .uses = STEP_GROUPS,
	  .moved = each, .bus = bus_each },
	{ "alltoall", "bruck", NULL, log_rounds, bruck_op, .uses = STEP_GROUPS, .moved = each,
	  .bus = bus_each },
	{ "alltoall", "linear", NULL, one_round, linear_op, .uses = STEP_GROUPS, .moved = each,
	  .bus = bus_each },
	{ "halo", "grid", NULL, one_round, halo_op, .uses = STEP_GROUPS | STEP_GRID },
	{ "shift", "chain", NULL, one_round, shift_op, .uses = STEP_GROUPS },
	{ "read", "storage", storage_strands, storage_rounds, storage_op, .uses = STEP_REQUESTS },
	{ "write", "storage", storage_strands, storage_rounds, storage_op, .uses = STEP_REQUESTS },
};
const size_t workload_n_algorithms = sizeof(workload_algorithms) / sizeof(*workload_algorithms);

const struct algorithm *workload_algorithm_find(const char *operation, const char *name)
{
	for (size_t i = 0; i < workload_n_algorithms; i++) {
		if (strcmp(workload_algorithms[i].operation, operation) == 0 &&
		    (!name || strcmp(workload_algorithms[i].name, name) == 0))
			return &workload_algorithms[i];
	}
	return NULL;
}

/* ---- steps --------------------------------------------------------------- */

uint32_t step_members(const struct workload_step *s, uint32_t ranks)
{
	return ranks / s->groups;
}

uint32_t step_member(const struct workload_step *s, uint32_t ranks, uint32_t group, uint32_t m)
{
	return s->strides ? m * s->groups + group : group * step_members(s, ranks) + m;
}

static struct group_member member_of(const struct workload_step *s, uint32_t ranks, uint32_t rank)
{
	uint32_t p = step_members(s, ranks);

	return s->strides ? (struct group_member){ p, rank / s->groups, rank % s->groups }
			  : (struct group_member){ p, rank % p, rank / p };
}

static bool is_grid(const struct workload_step *s, uint32_t p)
{
	uint64_t n = 1;

	for (unsigned d = 0; d < STEP_DIMENSIONS; d++)
		n *= s->grid[d];
	return n == p;
}

/* Size of the segments or requests. */
static uint64_t smallest_piece(const struct workload_step *s)
{
	uint64_t piece = s->size;

	if (s->segment && s->segment < piece)
		piece = s->segment;
	if (s->request && s->request < piece)
		piece = s->request;
	return piece ? piece : 1;
}

enum hd_status step_check(const struct workload_step *s, uint32_t ranks, struct diag *d)
{
	/* Rounds have numbers of 32 bits, and a segment has two of them. */
	const uint64_t most_pieces = UINT64_C(1) << 30;
	const char *what = s->algorithm->operation;
	uint32_t p = ranks / s->groups;

	if (ranks % s->groups)
		return diag_fail(d, HD_ERR_INPUT, "%u ranks do not make %u groups of one size",
				 ranks, s->groups);
	if (s->root >= p)
		return diag_fail(d, HD_ERR_INPUT, "no rank %u in a group of %u", s->root, p);
	if (s->algorithm->of_powers && (p & (p - 1)))
		return diag_fail(d, HD_ERR_INPUT, "'%s' needs a power of two, not %u ranks",
				 s->algorithm->name, p);
	if (strcmp(what, "halo") == 0 && !is_grid(s, p))
		return diag_fail(d, HD_ERR_INPUT, "the grid does not have %u places", p);
	if (s->algorithm->op != compute_op &&
	    s->size > OP_MOST_SIZE / (s->algorithm->moved == each ? p : 1))
		return diag_fail(d, HD_ERR_INPUT, "messages of more than 2^40 bytes");
	if (s->algorithm->op != compute_op && s->size / smallest_piece(s) >= most_pieces)
		return diag_fail(d, HD_ERR_INPUT, "more than 2^30 pieces of %" PRIu64 " bytes",
				 smallest_piece(s));
	return HD_OK;
}

uint32_t step_sequences(const struct workload_step *s)
{
	return s->algorithm->sequences ? s->algorithm->sequences(s) : 1;
}

uint32_t step_rounds(const struct workload_step *s, uint32_t ranks, uint32_t rank,
		     uint32_t sequence)
{
	return s->algorithm->rounds(s, member_of(s, ranks, rank), sequence);
}

bool step_op(const struct workload_step *s, uint32_t ranks, uint32_t rank, struct step_position at,
	     struct op *out)
{
	struct group_member m = member_of(s, ranks, rank);

	if (!s->algorithm->op(s, m, at, out))
		return false;
	if (out->kind == OP_SEND || out->kind == OP_RECV)
		out->peer = step_member(s, ranks, m.group, out->peer);
	return true;
}
