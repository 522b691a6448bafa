/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Slurm's topology.conf for topology/tree.
 *
 * Slurm requires a tree: each host below one leaf switch, each switch below at
 * most one other. A leaf is a switch with hosts; the level of a switch is its
 * distance from the nearest leaf. Switches of levels 0 to k that are connected
 * without cables between leaves form a set. A set that joins several sets of
 * level k - 1 becomes one switch of the file, named after its first switch of
 * level k. Sets that only cables between leaves connect, as in a mesh, are
 * joined at the end.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/union_find.h"
#include "topo/names.h"
#include "topo/write.h"

/* A line of the file, or a host, with the set or the leaf that it belongs to. */
struct slurm_member {
	uint32_t set;
	node_id node;
};

struct slurm_tree {
	const struct topo *t;
	uint32_t *level;            /* [node]; TOPO_NONE: no switch, or without hosts */
	uint32_t *joined;           /* base/union_find.h, over nodes */
	struct slurm_member *roots; /* switches of the file without a parent so far */
	uint32_t n_roots;
	struct strbuf *out;
};

static int by_set(const void *a, const void *b)
{
	const struct slurm_member *x = a, *y = b;

	if (x->set != y->set)
		return x->set < y->set ? -1 : 1;
	return (x->node > y->node) - (x->node < y->node);
}

/* ---- names --------------------------------------------------------------- */

/* Slurm's lists use characters other than these. */
static bool is_plain(char c)
{
	return isalnum((unsigned char)c) || c == '-' || c == '_' || c == '.';
}

static void put_name(const char *name, size_t len, struct strbuf *out)
{
	for (size_t i = 0; i < len; i++)
		strbuf_putc(out, is_plain(name[i]) ? name[i] : '_');
}

/* The host's name in Slurm: the first word of "node7 HCA-1". */
static size_t host_name_len(const struct topo *t, node_id host)
{
	return strcspn(t->nodes[host].name, " ");
}

/* Adds the number if another switch could have the same name. */
static void put_switch_name(const struct topo *t, node_id v, struct strbuf *out)
{
	const char *name = t->nodes[v].name;
	size_t len = strlen(name), plain = 0;

	while (plain < len && is_plain(name[plain]))
		plain++;
	put_name(name, len, out);
	if (plain < len || topo_namesake(t, v) != TOPO_NONE)
		strbuf_printf(out, "_%u", v);
}

/* ---- leaves -------------------------------------------------------------- */

/* Target adapters and the aggregation nodes of switches run no jobs. */
static bool is_host(const struct topo_node *v)
{
	static const char aggregation[] = "Mellanox Technologies Aggregation Node";

	return v->kind == NODE_CA && !v->is_tca &&
	       strncmp(v->name, aggregation, sizeof(aggregation) - 1) != 0;
}

/* The switch at the first cabled port of a host; TOPO_NONE without one. */
static node_id leaf_of(const struct topo *t, node_id host)
{
	const struct topo_node *v = &t->nodes[host];

	for (unsigned i = 1; i <= v->n_ports; i++) {
		port_id peer = t->ports[v->first_port + i].peer;

		if (peer != TOPO_NONE && t->nodes[t->ports[peer].node].kind == NODE_SWITCH)
			return t->ports[peer].node;
	}
	return TOPO_NONE;
}

/* A host with several adapters counts once, at its first adapter. */
static uint32_t find_hosts(const struct topo *t, struct slurm_member *hosts)
{
	struct text_map names = { 0 };
	uint32_t n = 0;

	for (node_id v = 0; v < t->n_nodes; v++) {
		node_id leaf = is_host(&t->nodes[v]) ? leaf_of(t, v) : TOPO_NONE;
		size_t len = host_name_len(t, v);

		if (leaf != TOPO_NONE && text_map_put(&names, t->nodes[v].name, len, v) == MAP_NONE)
			hosts[n++] = (struct slurm_member){ leaf, v };
	}
	text_map_fini(&names);
	qsort(hosts, n, sizeof(*hosts), by_set);
	return n;
}

static void put_leaves(struct slurm_tree *s)
{
	struct slurm_member *hosts = hd_alloc(s->t->n_nodes, sizeof(*hosts));
	uint32_t n = find_hosts(s->t, hosts);

	for (uint32_t i = 0; i < n; i++) {
		bool is_first = i == 0 || hosts[i - 1].set != hosts[i].set;

		if (is_first) {
			s->level[hosts[i].set] = 0;
			s->roots[s->n_roots++].node = hosts[i].set;
			strbuf_puts(s->out, i ? "\nSwitchName=" : "SwitchName=");
			put_switch_name(s->t, hosts[i].set, s->out);
		}
		strbuf_puts(s->out, is_first ? " Nodes=" : ",");
		put_name(s->t->nodes[hosts[i].node].name, host_name_len(s->t, hosts[i].node),
			 s->out);
	}
	strbuf_puts(s->out, n ? "\n" : "");
	free(hosts);
}

/* ---- levels -------------------------------------------------------------- */

/* Breadth first from all leaves over the other switches; the highest level. */
static uint32_t find_levels(struct slurm_tree *s)
{
	const struct topo *t = s->t;
	node_id *queue = hd_alloc(t->n_nodes, sizeof(*queue));
	uint32_t tail = 0, top = 0;

	while (tail < s->n_roots) {
		queue[tail] = s->roots[tail].node;
		tail++;
	}
	for (uint32_t head = 0; head < tail; head++) {
		const struct topo_node *v = &t->nodes[queue[head]];

		top = s->level[queue[head]];
		for (unsigned i = 1; i <= v->n_ports; i++) {
			port_id peer = t->ports[v->first_port + i].peer;
			node_id w = peer == TOPO_NONE ? TOPO_NONE : t->ports[peer].node;

			if (w == TOPO_NONE || t->nodes[w].kind != NODE_SWITCH ||
			    s->level[w] != TOPO_NONE)
				continue;
			s->level[w] = top + 1;
			queue[tail++] = w;
		}
	}
	free(queue);
	return top;
}

/* Joins the sets at cables whose higher end has this level. */
static void join_level(struct slurm_tree *s, uint32_t level)
{
	const struct topo *t = s->t;

	for (port_id i = 0; i < t->n_ports; i++) {
		const struct topo_port *p = &t->ports[i];
		uint32_t a = s->level[p->node];
		uint32_t b = p->peer == TOPO_NONE ? TOPO_NONE : s->level[t->ports[p->peer].node];

		if (a != TOPO_NONE && b != TOPO_NONE && (a > b ? a : b) == level)
			union_find_join(s->joined, p->node, t->ports[p->peer].node);
	}
}

/* [set]: its first switch of the level; leaves stand for level 0. */
static node_id *first_of_level(struct slurm_tree *s, uint32_t level)
{
	node_id *first = hd_alloc(s->t->n_nodes, sizeof(*first));

	memset(first, 0xFF, s->t->n_nodes * sizeof(*first));
	for (node_id v = s->t->n_nodes; v-- > 0;) {
		if (s->level[v] == level)
			first[union_find_root(s->joined, v)] = v;
	}
	return first;
}

/* Adds a switch above `n` roots. */
static void put_parent(struct slurm_tree *s, uint32_t level, node_id name,
		       const struct slurm_member *roots, uint32_t n)
{
	strbuf_puts(s->out, "SwitchName=");
	if (level == 0)
		strbuf_puts(s->out, "all_of_");
	put_switch_name(s->t, name, s->out);
	for (uint32_t i = 0; i < n; i++) {
		strbuf_puts(s->out, i == 0 ? " Switches=" : ",");
		put_switch_name(s->t, roots[i].node, s->out);
	}
	strbuf_putc(s->out, '\n');
}

/* Writes a switch for each set with several roots, which it replaces. */
static void put_level(struct slurm_tree *s, uint32_t level)
{
	uint32_t n = 0, end;
	node_id *first;

	join_level(s, level);
	first = first_of_level(s, level);
	for (uint32_t i = 0; i < s->n_roots; i++)
		s->roots[i].set = union_find_root(s->joined, s->roots[i].node);
	qsort(s->roots, s->n_roots, sizeof(*s->roots), by_set);
	for (uint32_t i = 0; i < s->n_roots; i = end) {
		struct slurm_member root = s->roots[i];

		for (end = i + 1; end < s->n_roots && s->roots[end].set == root.set;)
			end++;
		if (end - i > 1) {
			root.node = first[root.set];
			put_parent(s, level, root.node, &s->roots[i], end - i);
		}
		s->roots[n++] = root;
	}
	s->n_roots = n;
	free(first);
}

void topo_write_slurm(const struct topo *t, struct strbuf *out)
{
	struct slurm_tree s = {
		.t = t,
		.level = hd_alloc(t->n_nodes, sizeof(*s.level)),
		.joined = union_find_new(t->n_nodes),
		.roots = hd_alloc(t->n_nodes, sizeof(*s.roots)),
		.out = out,
	};
	uint32_t top;

	memset(s.level, 0xFF, t->n_nodes * sizeof(*s.level));
	strbuf_puts(out, "# topology.conf for TopologyPlugin=topology/tree\n");
	put_leaves(&s);
	top = find_levels(&s);
	for (uint32_t level = 1; level <= top; level++)
		put_level(&s, level);
	put_level(&s, 0);
	free(s.level);
	free(s.joined);
	free(s.roots);
}
