/* SPDX-License-Identifier: BSD-2-Clause */
/* Selections of hosts and ports: each port once, all of them there. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "fabric/select.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int condition)
{
	if (!condition)
		abort();
}

static void build(struct topo *t)
{
	static const char *const names[] = { "h0", "h1", "h2", "a:b", "7" };
	node_id sw[2];

	topo_init(t);
	sw[0] = topo_add_node(t, NODE_SWITCH, 4, "leaf1");
	sw[1] = topo_add_node(t, NODE_SWITCH, 4, "leaf2");
	for (unsigned i = 0; i < 5; i++) {
		node_id h = topo_add_node(t, NODE_CA, 1, names[i]);

		topo_link(t, topo_port_of(t, h, 1), topo_port_of(t, sw[i % 2], 1 + i / 2));
	}
	topo_link(t, topo_port_of(t, sw[0], 4), topo_port_of(t, sw[1], 4));
}

static void check_selection(const struct topo *t, struct selection *s)
{
	bool *seen = hd_alloc(t->n_ports, sizeof(*seen));

	check(s->n > 0);
	for (uint32_t i = 0; i < s->n; i++) {
		check(s->ports[i] < t->n_ports && !seen[s->ports[i]]);
		seen[s->ports[i]] = true;
	}
	free(seen);
	selection_fini(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = hd_strndup((const char *)data, size);
	struct topo t;
	struct selection s;
	struct rng rng;
	struct diag d = { .status = HD_OK };

	build(&t);
	rng_init(&rng, 1, 1);
	struct selector *selector = selector_new(&t);

	if (select_hosts(selector, text, &rng, &d, &s) == HD_OK)
		check_selection(&t, &s);
	else
		check(d.message[0]);
	d = (struct diag){ .status = HD_OK };
	if (select_ports(selector, text, &d, &s) == HD_OK)
		check_selection(&t, &s);
	else
		check(d.message[0]);
	selector_free(selector);
	topo_fini(&t);
	free(text);
	return 0;
}
