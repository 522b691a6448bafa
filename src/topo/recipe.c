/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files that Heddle writes contain the command that generated the fabric. Generating it again
 * restores what the text lacks: the family, positions of nodes, link widths and MTUs. The result is
 * used only if its cables equal those of the file.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "topo/generate.h"
#include "topo/reader.h"
#include "topo/write.h"

/* The node of `made` for each node of `t`; false: a node has none. */
static bool match_nodes(const struct topo *t, const struct topo *made, node_id *counterpart)
{
	struct map guids = { 0 };
	bool same = t->n_nodes == made->n_nodes;

	for (node_id v = 0; v < made->n_nodes; v++)
		(void)map_put(&guids, made->nodes[v].guid, v);
	for (node_id v = 0; v < t->n_nodes && same; v++) {
		const struct topo_node *a = &t->nodes[v], *b;

		counterpart[v] = map_get(&guids, a->guid);
		if (counterpart[v] == MAP_NONE) {
			same = false;
			break;
		}
		b = &made->nodes[counterpart[v]];
		same = a->kind == b->kind && a->n_ports == b->n_ports &&
		       strcmp(a->name, b->name) == 0;
	}
	map_fini(&guids);
	return same;
}

static bool same_cables(const struct topo *t, const struct topo *made, const node_id *counterpart)
{
	for (port_id i = 0; i < t->n_ports; i++) {
		const struct topo_port *p = &t->ports[i];
		port_id other =
			made->ports[topo_port_of(made, counterpart[p->node], p->number)].peer;

		if ((p->peer == TOPO_NONE) != (other == TOPO_NONE))
			return false;
		if (p->peer == TOPO_NONE)
			continue;
		const struct topo_port *q = &t->ports[p->peer];

		if (topo_port_of(made, counterpart[q->node], q->number) != other)
			return false;
	}
	return true;
}

static void adopt(struct topo *t, const struct topo *made, const node_id *counterpart)
{
	t->family = made->family;
	t->n_dims = made->n_dims;
	memcpy(t->dims, made->dims, sizeof(t->dims));
	for (node_id v = 0; v < t->n_nodes; v++) {
		const struct topo_node *from = &made->nodes[counterpart[v]];
		struct topo_node *to = &t->nodes[v];

		to->tier = from->tier;
		to->is_tca = from->is_tca;
		memcpy(to->coord, from->coord, sizeof(to->coord));
	}
	for (port_id i = 0; i < t->n_ports; i++) {
		struct topo_port *p = &t->ports[i];
		const struct topo_port *from =
			&made->ports[topo_port_of(made, counterpart[p->node], p->number)];

		p->mtu = from->mtu;
		if (!t->source.is_full)
			p->vls = from->vls;
	}
}

/* The default origin of discovery is not stored. */
static void forget_origin(struct topo *t)
{
	struct topo_source told = t->source;

	t->source.from_node = t->source.from_port = 0;
	port_id origin = topo_origin(t);

	if (origin == TOPO_NONE || t->ports[origin].guid != told.from_port)
		t->source = told;
}

void topo_follow_recipe(struct topo *t)
{
	struct diag d = { .status = HD_OK };
	node_id *counterpart = hd_alloc(t->n_nodes, sizeof(*counterpart));
	struct topo made;

	/* The generated fabric must not be larger than the file. */
	bool same = topo_generate_text(t->recipe, 1, t->n_nodes, &d, &made) == HD_OK;

	if (same) {
		same = match_nodes(t, &made, counterpart) && same_cables(t, &made, counterpart);
		if (same) {
			adopt(t, &made, counterpart);
			/*
			 * Uses the generator's node order, so that hosts have the same numbers and
			 * routing breaks ties equally.
			 */
			topo_reorder(t, counterpart);
			forget_origin(t);
		}
		topo_fini(&made);
	}
	if (!same) {
		free(t->recipe);
		t->recipe = NULL;
	}
	free(counterpart);
}
