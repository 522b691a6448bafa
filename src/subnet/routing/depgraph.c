/* SPDX-License-Identifier: BSD-2-Clause */
#include "subnet/routing/depgraph.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

void depgraph_init(struct depgraph *d, const struct topo *t)
{
	uint32_t most = 0;

	for (node_id v = 0; v < t->n_nodes; v++)
		most = t->nodes[v].n_ports > most ? t->nodes[v].n_ports : most;
	*d = (struct depgraph){ .topo = t, .words = most / 64 + 1 };
}

void depgraph_fini(struct depgraph *d)
{
	for (unsigned i = 0; i < N_VLS; i++) {
		for (unsigned k = 0; k < N_VLS; k++)
			free(d->bits[i][k]);
	}
	*d = (struct depgraph){ .topo = NULL };
}

uint64_t *depgraph_add_matrix(struct depgraph *d, unsigned vl_in, unsigned vl_out)
{
	uint64_t *bits = hd_alloc((size_t)d->topo->n_ports * d->words, sizeof(uint64_t));
	uint64_t *there = NULL;

	if (__atomic_compare_exchange_n(&d->bits[vl_in][vl_out], &there, bits, false,
					__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return bits;
	free(bits); /* another thread was faster */
	return there;
}

/* A channel as one number, for arrays. */
static inline uint32_t vertex(port_id from, unsigned vl)
{
	return from * N_VLS + vl;
}

/* Goes through the channels that one channel waits for. */
struct successors {
	const struct depgraph *d;
	port_id in; /* where the channel leads; TOPO_NONE: nowhere */
	uint8_t vl_in, vl_out;
	uint16_t word;
	uint64_t left;
};

static void successors_start(struct successors *i, const struct depgraph *d, uint32_t v)
{
	*i = (struct successors){
		.d = d,
		.in = d->topo->ports[v / N_VLS].peer,
		.vl_in = v % N_VLS,
	};
	if (i->in != TOPO_NONE && d->bits[i->vl_in][0])
		i->left = d->bits[i->vl_in][0][(size_t)i->in * d->words];
}

static bool successors_next(struct successors *i, uint32_t *v)
{
	const struct depgraph *d = i->d;

	if (i->in == TOPO_NONE)
		return false;
	while (!i->left) {
		if (++i->word >= d->words || !d->bits[i->vl_in][i->vl_out]) {
			i->word = 0;
			i->vl_out++;
		}
		if (i->vl_out == N_VLS)
			return false;
		const uint64_t *bits = d->bits[i->vl_in][i->vl_out];

		if (bits)
			i->left = bits[(size_t)i->in * d->words + i->word];
	}
	unsigned out = (unsigned)__builtin_ctzll(i->left) + i->word * 64u;

	i->left &= i->left - 1;
	*v = vertex(topo_node_of(d->topo, i->in)->first_port + out, i->vl_out);
	return true;
}

void depgraph_measure(const struct depgraph *d, struct depgraph_size *out)
{
	uint32_t n = d->topo->n_ports * N_VLS;
	bool *used = hd_alloc(n, sizeof(*used));

	*out = (struct depgraph_size){ .vls = 0 };
	for (uint32_t v = 0; v < n; v++) {
		struct successors i;
		uint32_t to;

		successors_start(&i, d, v);
		while (successors_next(&i, &to)) {
			used[v] = used[to] = true;
			out->n_dependencies++;
		}
	}
	for (uint32_t v = 0; v < n; v++) {
		out->n_channels += used[v];
		if (used[v])
			out->vls |= (uint16_t)(1u << v % N_VLS);
	}
	free(used);
}

enum colour { WHITE, GREY, BLACK };

/* Depth-first from `root`; the vertex a back edge leads to, or UINT32_MAX. */
static uint32_t find_back_edge(const struct depgraph *d, uint32_t root, uint8_t *colour,
			       struct successors **stack, size_t *cap)
{
	size_t depth = 1;
	uint32_t to;

	*stack = hd_grow(*stack, cap, depth, sizeof(**stack));
	successors_start(&(*stack)[0], d, root);
	colour[root] = GREY;
	while (depth > 0) {
		struct successors *top = &(*stack)[depth - 1];

		if (!successors_next(top, &to)) {
			/* A channel is identified by the switch that it leads to. */
			if (top->in != TOPO_NONE)
				colour[vertex(d->topo->ports[top->in].peer, top->vl_in)] = BLACK;
			depth--;
			continue;
		}
		if (colour[to] == GREY)
			return to;
		if (colour[to] == BLACK)
			continue;
		colour[to] = GREY;
		*stack = hd_grow(*stack, cap, ++depth, sizeof(**stack));
		successors_start(&(*stack)[depth - 1], d, to);
	}
	return UINT32_MAX;
}

/* Breadth-first from `start` back to it: the shortest cycle it lies on. */
static uint32_t shortest_through(const struct depgraph *d, uint32_t start, struct channel **cycle)
{
	uint32_t n = d->topo->n_ports * N_VLS, n_cycle = 0;
	uint32_t *parent = hd_alloc(n, sizeof(*parent));
	uint32_t *queue = hd_alloc(n, sizeof(*queue));
	uint32_t head = 0, tail = 0, last = UINT32_MAX;

	memset(parent, 0xFF, n * sizeof(*parent));
	queue[tail++] = start;
	while (head < tail && last == UINT32_MAX) {
		uint32_t v = queue[head++], to;
		struct successors i;

		successors_start(&i, d, v);
		while (last == UINT32_MAX && successors_next(&i, &to)) {
			if (to == start)
				last = v;
			if (to == start || parent[to] != UINT32_MAX)
				continue;
			parent[to] = v;
			queue[tail++] = to;
		}
	}
	for (uint32_t v = last; v != UINT32_MAX; v = parent[v])
		queue[n_cycle++] = v; /* from the last to the start */
	*cycle = hd_alloc(n_cycle, sizeof(**cycle));
	for (uint32_t i = 0; i < n_cycle; i++)
		(*cycle)[i] = (struct channel){
			.from = queue[n_cycle - 1 - i] / N_VLS,
			.vl = queue[n_cycle - 1 - i] % N_VLS,
		};
	free(parent);
	free(queue);
	return n_cycle;
}

uint32_t depgraph_find_cycle(const struct depgraph *d, struct channel **cycle)
{
	uint32_t n = d->topo->n_ports * N_VLS, back = UINT32_MAX;
	uint8_t *colour = hd_alloc(n, 1);
	struct successors *stack = NULL;
	size_t cap = 0;

	*cycle = NULL;
	for (uint32_t v = 0; v < n && back == UINT32_MAX; v++) {
		if (colour[v] == WHITE)
			back = find_back_edge(d, v, colour, &stack, &cap);
	}
	free(stack);
	free(colour);
	return back == UINT32_MAX ? 0 : shortest_through(d, back, cycle);
}
