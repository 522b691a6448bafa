/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/admission/hose.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/rng.h"
#include "qos/opensm/path.h"
#include "subnet/routing/route.h"
#include "topo/generate.h"
#include "topo/topo.h"

#define MOST 32

struct net {
	struct topo topo;
	struct subnet subnet;
	port_id host[MOST];
	uint32_t n;
};

static void net_init(struct net *w, const char *words)
{
	struct lid_options lids = { .order = LIDS_NODES, .sm_port = TOPO_NONE };
	struct route_options options = { 0 };
	struct diag d = { .status = HD_OK };

	assert_int_equal(topo_generate_text(words, 1, 0, &d, &w->topo), HD_OK);
	w->n = 0;
	for (port_id p = 0; p < w->topo.n_ports; p++) {
		if (topo_is_end_port(&w->topo, p) && topo_node_of(&w->topo, p)->kind == NODE_CA)
			w->host[w->n++] = p;
	}
	subnet_init(&w->subnet, &w->topo);
	assert_int_equal(subnet_assign_lids(&w->subnet, &lids, &d), HD_OK);
	assert_int_equal(subnet_route(&w->subnet, "minhop", &options, &d), HD_OK);
}

static void net_fini(struct net *w)
{
	subnet_fini(&w->subnet);
	topo_fini(&w->topo);
}

/* Sets of senders and receivers of a link, one bit per host. */
static uint32_t times_of(const struct net *w, const struct broker_hose *h, port_id port)
{
	uint64_t senders = 0, receivers = 0;

	for (uint32_t i = 0; i < h->n; i++)
		for (uint32_t k = 0; k < h->n; k++) {
			struct path path;

			if (i == k)
				continue;
			assert_int_equal(path_walk(&w->subnet, h->hosts[i],
						   w->subnet.lid_of_port[h->hosts[k]], h->sl,
						   &path),
					 HD_OK);
			for (uint32_t x = 0; x < path.n_hops; x++) {
				if (path.port[x] != port)
					continue;
				senders |= UINT64_C(1) << i;
				receivers |= UINT64_C(1) << k;
			}
		}
	uint32_t s = (uint32_t)__builtin_popcountll(senders);
	uint32_t r = (uint32_t)__builtin_popcountll(receivers);

	return s < r ? s : r;
}

/* A link needs the rate as often as senders can fill it, or receivers drain
 * it, whichever are fewer. */
static void links_need_the_fewer_of_senders_and_receivers(void **state)
{
	static const char *const words[] = {
		"star --hosts 6",
		"mesh --columns 3 --rows 2 --hosts 2",
		"xgft --down 4,2 --up 1,2",
	};
	struct rng rng;

	(void)state;
	rng_init(&rng, 5, 0);
	for (unsigned run = 0; run < 30; run++) {
		struct net w;
		struct hose_link *links;
		uint32_t n, sum = 0, seen = 0;
		port_id where;

		net_init(&w, words[run % 3]);
		struct broker_hose h = { "job", w.host + rng_below(&rng, 2),
					 2 + (uint32_t)rng_below(&rng, w.n - 3), 0 };

		assert_int_equal(hose_links(&w.subnet, &h, &links, &n, &where), HD_OK);
		for (uint32_t i = 0; i < n; i++) {
			assert_int_equal(links[i].times, times_of(&w, &h, links[i].port));
			sum += links[i].times;
		}
		for (port_id p = 0; p < w.topo.n_ports; p++)
			seen += times_of(&w, &h, p);
		assert_int_equal(sum, seen);
		free(links);
		net_fini(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(links_need_the_fewer_of_senders_and_receivers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
