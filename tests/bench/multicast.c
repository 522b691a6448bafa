/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Multicast on the 16 x 16 mesh: all nodes send one packet to all others, by
 * their XY trees, 65,280 deliveries; and as unicast, ten times the hops.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "bench.h"
#include "fabric/fabric.h"
#include "study/collective.h"

static double cpu_seconds(void)
{
	return (double)clock() / CLOCKS_PER_SEC;
}

static double run(struct fabric *fabric, const struct collective_op *op,
		  enum collective_scheme scheme, uint64_t *hops)
{
	struct diag d = { .status = HD_OK };
	struct collective_result r;
	double start = cpu_seconds();

	if (collective_run(fabric, op, scheme, &d, &r) != HD_OK || r.n_lacking || r.duplicates ||
	    r.strays) {
		fprintf(stderr, "%s\n", d.message);
		abort();
	}
	*hops = r.hops;
	collective_result_fini(&r);
	return cpu_seconds() - start;
}

int main(void)
{
	static struct fabric *fabric;
	struct bench b;
	struct diag d = { .status = HD_OK };
	char text[512];
	uint64_t hops;

	bench_begin(&b, "multicast");
	snprintf(text, sizeof(text),
		 "fabric:\n"
		 "  topology: {kind: node-mesh, columns: %u, rows: 16}\n"
		 "  link: {rate: 2Gb/s, propagation: 5ns}\n"
		 "  switch: {routing_delay: 95ns, input_buffer: 2 packets}\n"
		 "  packet: {overhead: 0}\n"
		 "  routing: {engine: xy, lids: paper}\n"
		 "qos: {vls: 1}\n"
		 "traffic: [{name: op, kind: messages, payload: 2048}]\n",
		 b.tiny ? 2u : 16u);
	double start = cpu_seconds();

	if (fabric_load(text, strlen(text), "bench", NULL, &d, &fabric) != HD_OK) {
		fprintf(stderr, "%s\n", d.message);
		abort();
	}
	const struct selection *hosts = selector_hosts(fabric->selector);
	const struct collective_op op = { .sources = hosts->ports,
					  .n_sources = hosts->n,
					  .members = hosts->ports,
					  .n_members = hosts->n,
					  .bytes = 2048,
					  .mtu = 4096,
					  .vls = 1,
					  .tree = MCAST_XY };
	double built = cpu_seconds() - start;
	double tree = run(fabric, &op, COLLECTIVE_MULTICAST, &hops);

	bench_at_most(&b, "all to all by 256 trees: fabric, trees, 65,280 deliveries", "s", 1,
		      built + tree);
	double unicast = run(fabric, &op, COLLECTIVE_UNICAST, &hops);

	bench_at_most(&b, "the same as unicast", "s", 0, unicast);
	bench_at_least(&b, "hops of unicast", "1e6/s", 0, (double)hops / unicast / 1e6);
	fabric_free(fabric);
	return bench_end(&b);
}
