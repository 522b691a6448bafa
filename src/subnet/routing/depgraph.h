/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SUBNET_ROUTING_DEPGRAPH_H
#define HD_SUBNET_ROUTING_DEPGRAPH_H

/*
 * A graph of dependencies between channels. A channel is a port that sends and
 * a VL; it leads to the port it is cabled to, and packets it delivers there
 * wait for channels of the same node. So a dependency is (receiving port, VL,
 * sending port number, VL), and all of them for one pair of VLs are a bit
 * matrix: ports of the fabric by ports of a node. Threads may add to one graph
 * at the same time.
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

/* What comes by port `in` on `vl_in` waits for port number `out`, `vl_out`. */
static inline void depgraph_add(struct depgraph *d, port_id in, unsigned vl_in, unsigned out,
				unsigned vl_out)
{
	uint64_t *bits = __atomic_load_n(&d->bits[vl_in][vl_out], __ATOMIC_ACQUIRE);
	uint64_t bit = UINT64_C(1) << out % 64;

	if (!bits)
		bits = depgraph_add_matrix(d, vl_in, vl_out);
	uint64_t *word = &bits[(size_t)in * d->words + out / 64];

	/* Most are there already, and reading is cheaper. */
	if (!(__atomic_load_n(word, __ATOMIC_RELAXED) & bit))
		__atomic_fetch_or(word, bit, __ATOMIC_RELAXED);
}

struct depgraph_size {
	uint64_t n_dependencies;
	uint32_t n_channels; /* at either end of a dependency */
	uint16_t vls;        /* set */
};
void depgraph_measure(const struct depgraph *d, struct depgraph_size *out);

/*
 * A cycle of channels, each waiting for the next and the last for the first;
 * the shortest through one of its channels. *cycle (to be freed) is NULL and
 * the result 0 if there is no cycle.
 */
uint32_t depgraph_find_cycle(const struct depgraph *d, struct channel **cycle);

#endif
