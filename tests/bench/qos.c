/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The reservation broker on a fat tree of 648 hosts (36-port switches, two
 * levels): connections are admitted and released in random order, half of
 * what the fabric takes being there at a time.
 */
#include <stdlib.h>
#include <time.h>

#include "base/alloc.h"
#include "base/rng.h"
#include "bench.h"
#include "qos/admission/broker.h"
#include "subnet/routing/route.h"
#include "topo/generate.h"

#define LIVE 20000

struct work {
	struct topo topo;
	struct subnet subnet;
	struct broker broker;
	port_id *hosts;
	uint32_t n_hosts;
	struct rng rng;
	uint32_t ids[LIVE];
	uint32_t n_live;
	uint64_t refused;
};

static void must(enum hd_status status)
{
	if (status != HD_OK)
		abort();
}

static void work_init(struct work *w, const char *recipe)
{
	struct diag d = { .status = HD_OK };
	struct broker_params params = broker_params_default();
	struct lid_options lids = { .order = LIDS_NODES, .sm_port = TOPO_NONE };

	must(topo_generate_text(recipe, 1, 0, &d, &w->topo));
	subnet_init(&w->subnet, &w->topo);
	must(subnet_assign_lids(&w->subnet, &lids, &d));
	must(subnet_route(&w->subnet, "minhop", &(struct route_options){ 0 }, &d));
	must(broker_init(&w->broker, &w->subnet, &params, &d));
	w->hosts = hd_alloc(w->topo.n_ports, sizeof(*w->hosts));
	for (port_id p = 0; p < w->topo.n_ports; p++) {
		if (topo_is_end_port(&w->topo, p) && topo_node_of(&w->topo, p)->kind == NODE_CA)
			w->hosts[w->n_hosts++] = p;
	}
	rng_init(&w->rng, 1, 0);
}

static void work_fini(struct work *w)
{
	broker_fini(&w->broker);
	subnet_fini(&w->subnet);
	topo_fini(&w->topo);
	free(w->hosts);
}

static void admit(struct work *w)
{
	uint32_t from = (uint32_t)rng_below(&w->rng, w->n_hosts);
	uint32_t to = (from + 1 + (uint32_t)rng_below(&w->rng, w->n_hosts - 1)) % w->n_hosts;
	uint8_t sl = (uint8_t)rng_below(&w->rng, 8);
	const struct broker_request r =
		broker_request_of(w->hosts[from], w->subnet.lid_of_port[w->hosts[to]], sl,
				  hd_rate_make(1000000 + rng_below(&w->rng, 1000000000), 1));
	struct broker_refusal why;

	if (broker_admit(&w->broker, &r, &w->ids[w->n_live], &why) == HD_OK)
		w->n_live++;
	else
		w->refused++;
}

/* One admission and one release. */
static void exchange(struct work *w)
{
	uint32_t k = (uint32_t)rng_below(&w->rng, w->n_live);

	must(broker_release(&w->broker, w->ids[k]));
	w->ids[k] = w->ids[--w->n_live];
	admit(w);
}

/* Per second of the processor: others may be using the machine. */
static double exchanges_per_second(struct work *w)
{
	unsigned long n = bench_count(200000);
	double best = 0;

	for (int round = 0; round < 3; round++) {
		clock_t begun = clock();

		for (unsigned long i = 0; i < n; i++)
			exchange(w);
		double seconds = (double)(clock() - begun) / CLOCKS_PER_SEC;

		if (seconds > 0 && 2 * (double)n / seconds > best)
			best = 2 * (double)n / seconds;
	}
	return best;
}

int main(void)
{
	struct bench b;
	static struct work w;
	struct diag d = { .status = HD_OK };

	bench_begin(&b, "qos");
	work_init(&w, b.tiny ? "fat-tree --radix=8 --levels=2" : "fat-tree --radix=36 --levels=2");
	for (unsigned i = 0; i < (b.tiny ? 100 : LIVE); i++)
		admit(&w);
	bench_at_least(&b, "648 hosts: admit and release", "1/CPU s", 200000,
		       exchanges_per_second(&w));
	/* It was the real thing: every link still adds up. */
	must(broker_audit(&w.broker, &d));
	work_fini(&w);
	return bench_end(&b);
}
