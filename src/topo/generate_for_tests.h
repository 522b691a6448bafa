/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_TOPO_GENERATE_FOR_TESTS_H
#define HD_TOPO_GENERATE_FOR_TESTS_H

/* For tests of generators: builds fabrics from words and checks properties
 * common to all fabrics. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/compare.h"
#include "topo/generate.h"

/* Builds a fabric from "mesh --columns 4 --rows 3"; the words must be valid. */
static inline void make(struct topo *t, const char *words, uint64_t seed)
{
	char text[256], *argv[32], *save;
	int argc = 0;
	struct diag d = { .status = HD_OK };

	assert_true(snprintf(text, sizeof(text), "%s", words) < (int)sizeof(text));
	const struct generator *g = generator_find(strtok_r(text, " ", &save), &d);

	assert_non_null(g);
	while ((argv[argc] = strtok_r(NULL, " ", &save)))
		argc++;
	enum hd_status status = topo_generate_words(g, argc, argv, seed, &d, t);

	if (status != HD_OK)
		fail_msg("%s: %s", words, d.message);
}

static inline void refuse(const char *words, const char *reason)
{
	char text[256], *argv[32], *save;
	int argc = 0;
	struct diag d = { .status = HD_OK };
	struct topo t;

	snprintf(text, sizeof(text), "%s", words);
	const struct generator *g = generator_find(strtok_r(text, " ", &save), &d);

	while (g && (argv[argc] = strtok_r(NULL, " ", &save)))
		argc++;
	if (g)
		assert_int_not_equal(topo_generate_words(g, argc, argv, 1, &d, &t), HD_OK);
	if (!strstr(d.message, reason))
		fail_msg("'%s' does not say '%s'", d.message, reason);
}

static inline uint32_t count(const struct topo *t, enum node_kind kind)
{
	uint32_t n = 0;

	for (node_id v = 0; v < t->n_nodes; v++)
		n += t->nodes[v].kind == kind;
	return n;
}

static inline uint32_t n_cables(const struct topo *t)
{
	uint32_t n = 0;

	for (port_id i = 0; i < t->n_ports; i++)
		n += t->ports[i].peer != TOPO_NONE;
	assert_int_equal(n % 2, 0);
	return n / 2;
}

static inline node_id peer_node(const struct topo *t, node_id v, unsigned port)
{
	port_id peer = t->ports[topo_port_of(t, v, port)].peer;

	return peer == TOPO_NONE ? TOPO_NONE : t->ports[peer].node;
}

/* Hops to the farthest node; *reached counts nodes, including `v`. */
static inline unsigned eccentricity(const struct topo *t, node_id v, bool hosts, uint32_t *reached)
{
	uint32_t *hops = hd_alloc(t->n_nodes, sizeof(*hops));
	node_id *queue = hd_alloc(t->n_nodes, sizeof(*queue));
	uint32_t head = 0, tail = 0, last = 0;

	memset(hops, 0xff, t->n_nodes * sizeof(*hops));
	hops[v] = 0;
	queue[tail++] = v;
	while (head < tail) {
		node_id at = queue[head++];

		last = hops[at];
		for (unsigned n = 1; n <= t->nodes[at].n_ports; n++) {
			node_id to = peer_node(t, at, n);

			if (to == TOPO_NONE || hops[to] != UINT32_MAX ||
			    (!hosts && !topo_is_switch(t, to)))
				continue;
			hops[to] = hops[at] + 1;
			queue[tail++] = to;
		}
	}
	*reached = tail;
	free(hops);
	free(queue);
	return last;
}

static inline unsigned diameter(const struct topo *t)
{
	unsigned most = 0;

	for (node_id v = 0; v < t->n_nodes; v++) {
		uint32_t reached;

		if (!topo_is_switch(t, v))
			continue;
		unsigned e = eccentricity(t, v, false, &reached);

		most = e > most ? e : most;
	}
	return most;
}

/* Checks properties of every fabric, regardless of its shape. */
static inline void check_sound(const struct topo *t)
{
	uint32_t reached;

	eccentricity(t, 0, true, &reached);
	assert_int_equal(reached, t->n_nodes);
	for (port_id i = 0; i < t->n_ports; i++) {
		const struct topo_port *p = &t->ports[i];

		assert_int_equal(topo_port_of(t, p->node, p->number), i);
		if (p->peer == TOPO_NONE)
			continue;
		assert_int_equal(t->ports[p->peer].peer, i);
		assert_int_not_equal(t->ports[p->peer].node, p->node);
		assert_int_not_equal(p->number, 0);
		struct topo_link_state state;

		assert_int_equal(topo_link_state(t, i, &state), HD_OK);
	}
}

static inline void check_guids_unique(const struct topo *t)
{
	size_t max = (size_t)t->n_nodes + t->n_ports, n = 0;
	uint64_t *guids = hd_alloc(max, sizeof(*guids));

	for (node_id v = 0; v < t->n_nodes; v++)
		guids[n++] = t->nodes[v].guid;
	for (port_id i = 0; i < t->n_ports; i++) {
		const struct topo_port *p = &t->ports[i];

		/* Port 0 of a switch has the node's GUID; port 0 of other nodes has none. */
		if (topo_is_switch(t, p->node))
			assert_int_equal(p->guid, p->number ? 0 : t->nodes[p->node].guid);
		else if (p->number)
			guids[n++] = p->guid;
	}
	qsort(guids, n, sizeof(*guids), compare_u64);
	assert_int_not_equal(guids[0], 0);
	for (size_t i = 1; i < n; i++)
		assert_int_not_equal(guids[i - 1], guids[i]);
	free(guids);
}

static inline void check_shape(const char *words, uint32_t switches, uint32_t hosts,
			       uint32_t cables, unsigned longest)
{
	struct topo t;

	make(&t, words, 1);
	check_sound(&t);
	check_guids_unique(&t);
	assert_int_equal(count(&t, NODE_SWITCH), switches);
	assert_int_equal(count(&t, NODE_CA), hosts);
	assert_int_equal(n_cables(&t), cables);
	assert_int_equal(diameter(&t), longest);
	topo_fini(&t);
}

#endif
