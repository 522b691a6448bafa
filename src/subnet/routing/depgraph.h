/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_ROUTING_DEPGRAPH_H
#define HD_SUBNET_ROUTING_DEPGRAPH_H

/*
 * Graph of dependencies between channels. A channel is a transmitting port and
 * a VL. It leads to the port at the other end of the cable; packets delivered
 * there wait for channels of the same node. A dependency is therefore
 * (receiving port, VL, transmitting port number, VL). All dependencies of one
 * pair of VLs are a bit matrix: ports of the fabric by ports of a node. Threads
 * may add to a graph concurrently.
 */

#include "subnet/subnet.h"

struct channel {
	port_id from;
	uint8_t vl;
};

struct depgraph {
	const struct topo *topo;
	uint32_t words;         /* per row of a matrix */
	uint64_t *bits[16][16]; /* [vl in][vl out], NULL while empty */
};

void depgraph_init(struct depgraph *d, const struct topo *t);
void depgraph_fini(struct depgraph *d);

uint64_t *depgraph_add_matrix(struct depgraph *d, unsigned vl_in, unsigned vl_out);

/* Packets received at port `in` on `vl_in` wait for port number `out`, `vl_out`. */
static inline void depgraph_add(struct depgraph *d, port_id in, unsigned vl_in, unsigned out,
				unsigned vl_out)
{
	uint64_t *bits = __atomic_load_n(&d->bits[vl_in][vl_out], __ATOMIC_ACQUIRE);
	uint64_t bit = UINT64_C(1) << out % 64;

	if (!bits)
		bits = depgraph_add_matrix(d, vl_in, vl_out);
	uint64_t *word = &bits[(size_t)in * d->words + out / 64];

	/* Most bits are already set, and reading is cheaper than an atomic write. */
	if (!(__atomic_load_n(word, __ATOMIC_RELAXED) & bit))
		__atomic_fetch_or(word, bit, __ATOMIC_RELAXED);
}

struct depgraph_size {
	uint64_t n_dependencies;
	uint32_t n_channels; /* channels at either end of a dependency */
	uint16_t vls;        /* set of VLs */
};
void depgraph_measure(const struct depgraph *d, struct depgraph_size *out);

/*
 * Finds a cycle of channels in which each waits for the next and the last for
 * the first, the shortest through one of its channels. Returns its length;
 * *cycle is to be freed. Returns 0 and sets *cycle to NULL if there is no
 * cycle.
 */
uint32_t depgraph_find_cycle(const struct depgraph *d, struct channel **cycle);

#endif
