/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Allreduce over two binary trees at once, each with half of the bytes, such
 * that the inner nodes of one are leaves of the other (but for one or two).
 */
#include "workload/collective.h"

#define NO_RANK UINT32_MAX

struct tree_node {
	uint32_t parent, children[2];
};

/* The in-order tree over 0 .. p - 1; 0 has the rest below it. */
static struct tree_node node_of(uint32_t v, uint32_t p)
{
	struct tree_node n = { NO_RANK, { NO_RANK, NO_RANK } };
	uint32_t bit = v & -v, half = bit / 2;

	if (v == 0) {
		if (p > 1)
			n.children[0] = (uint32_t)1 << (workload_log2_ceil(p) - 1);
		return n;
	}
	n.parent = (v ^ bit) | bit << 1;
	if (n.parent >= p)
		n.parent = v ^ bit;
	if (half)
		n.children[0] = v - half;
	while (half && v + half >= p)
		half /= 2;
	if (half)
		n.children[1] = v + half;
	return n;
}

/* From a rank to its place in the second tree; it is its own inverse if p is
 * even. */
static uint32_t turned(uint32_t r, uint32_t p)
{
	return p % 2 ? (r + p - 1) % p : p - 1 - r;
}

static uint32_t turned_back(uint32_t v, uint32_t p)
{
	if (v == NO_RANK)
		return v;
	return p % 2 ? (v + 1) % p : p - 1 - v;
}

static struct tree_node tree_at(unsigned tree, struct group_member m)
{
	struct tree_node n;

	if (tree == 0)
		return node_of(m.r, m.p);
	n = node_of(turned(m.r, m.p), m.p);
	n.parent = turned_back(n.parent, m.p);
	for (unsigned i = 0; i < 2; i++)
		n.children[i] = turned_back(n.children[i], m.p);
	return n;
}

static uint64_t tree_bytes(const struct workload_step *s, unsigned tree)
{
	return tree == 0 ? (s->size + 1) / 2 : s->size / 2;
}

static uint32_t n_segments(const struct workload_step *s, unsigned tree)
{
	uint64_t bytes = tree_bytes(s, tree);

	if (!bytes)
		return 0;
	return s->segment ? (uint32_t)((bytes + s->segment - 1) / s->segment) : 1;
}

static uint64_t segment_bytes(const struct workload_step *s, unsigned tree, uint32_t i)
{
	uint64_t bytes = tree_bytes(s, tree);

	if (!s->segment)
		return bytes;
	bytes -= i * s->segment;
	return bytes < s->segment ? bytes : s->segment;
}

uint32_t step_tree_sequences(const struct workload_step *s)
{
	(void)s;
	return 4;
}

uint32_t step_tree_rounds(const struct workload_step *s, struct group_member m, uint32_t sequence)
{
	struct tree_node n = tree_at(sequence / 2, m);

	if (m.p == 1 || (sequence % 2 && n.parent == NO_RANK))
		return 0;
	return 2 * n_segments(s, sequence / 2);
}

static bool to_child(const struct tree_node *n, uint32_t index, struct op *out)
{
	/* The first may be missing only if both are. */
	if (index > 1 || n->children[index] == NO_RANK)
		return false;
	out->peer = n->children[index];
	return true;
}

bool step_tree_op(const struct workload_step *s, struct group_member m, struct step_position at,
		  struct op *out)
{
	unsigned tree = at.sequence / 2;
	bool down = at.sequence % 2, second = at.round % 2;
	struct tree_node n = tree_at(tree, m);

	*out = (struct op){
		.kind = second ? OP_SEND : OP_RECV,
		.size = segment_bytes(s, tree, at.round / 2),
		.tag = at.sequence,
	};
	/* The root sends the reduced value down the tree. */
	if (n.parent == NO_RANK && second)
		out->tag = at.sequence | 1;
	if (down == second || n.parent == NO_RANK)
		return to_child(&n, at.index, out);
	out->peer = n.parent;
	return at.index == 0;
}
