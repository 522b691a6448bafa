/* SPDX-License-Identifier: BSD-2-Clause */
#include "subnet/check/sweeps.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "topo/names.h"

/* The node that is called so in `len` bytes, or TOPO_NONE. */
static node_id find_node(const struct topo *t, const char *name, size_t len)
{
	char *end = NULL;
	uint64_t guid = strncmp(name, "0x", 2) == 0 ? strtoull(name, &end, 16) : 0;

	for (node_id v = 0; v < t->n_nodes; v++) {
		if (strlen(t->nodes[v].name) == len && memcmp(t->nodes[v].name, name, len) == 0)
			return v;
		if (end == name + len && t->nodes[v].guid == guid)
			return v;
	}
	return TOPO_NONE;
}

/* Whether `word` is, or begins with, its name. */
static bool is_called(const struct topo_node *n, const char *word)
{
	size_t len = strlen(n->name);

	return strncmp(n->name, word, len) == 0 && (word[len] == '\0' || word[len] == '/');
}

/* "leaf3/20", or "leaf3" for all cables of it. */
static enum hd_status mark(const struct topo *t, const char *word, bool is_down, bool *down,
			   struct diag *d)
{
	node_id v = find_node(t, word, strlen(word));
	const char *slash = strrchr(word, '/');
	unsigned first = 1, last = v == TOPO_NONE ? 0 : t->nodes[v].n_ports;

	if (v == TOPO_NONE && slash) {
		char *end;
		unsigned long number = strtoul(slash + 1, &end, 10);

		v = find_node(t, word, (size_t)(slash - word));
		if (v != TOPO_NONE && end > slash + 1 && !*end && number > 0 &&
		    number <= t->nodes[v].n_ports &&
		    t->ports[topo_port_of(t, v, (unsigned)number)].peer != TOPO_NONE)
			first = last = (unsigned)number;
	}
	if (v == TOPO_NONE || last == 0)
		return diag_fail(d, HD_ERR_NOT_FOUND,
				 "no cable '%s': give NODE/PORT, or NODE for all of its cables",
				 word);
	node_id other = is_called(&t->nodes[v], word) ? topo_namesake(t, v) : TOPO_NONE;

	if (other != TOPO_NONE)
		return topo_refuse_name(t, v, other, d);
	for (unsigned k = first; k <= last; k++) {
		port_id p = topo_port_of(t, v, k);

		down[p] = is_down;
		if (t->ports[p].peer != TOPO_NONE)
			down[t->ports[p].peer] = is_down;
	}
	return HD_OK;
}

/* "down=a/1,b": changes `text`. */
static enum hd_status mark_all(const struct topo *t, char *text, bool *down, struct diag *d)
{
	char *list = strchr(text, '='), *save = NULL;
	bool is_down = strncmp(text, "down=", 5) == 0;

	if (!list || (!is_down && strncmp(text, "up=", 3) != 0))
		return diag_fail(
			d, HD_ERR_INPUT,
			"'%s' is not a sweep (expected down=NODE/PORT,... or up=NODE/PORT,...)",
			text);
	for (char *word = strtok_r(list + 1, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
		if (mark(t, word, is_down, down, d) != HD_OK)
			return d->status;
	}
	return HD_OK;
}

static enum hd_status mark_sweep(const struct topo *t, const char *text, bool *down, struct diag *d)
{
	char *copy = hd_strdup(text), *save = NULL;
	enum hd_status status = HD_OK;

	for (char *part = strtok_r(copy, ";", &save); part && status == HD_OK;
	     part = strtok_r(NULL, ";", &save))
		status = mark_all(t, part, down, d);
	free(copy);
	return status;
}

enum hd_status sweeps_plan(const struct subnet *whole, const struct option_list *list,
			   const struct replan_options *o, struct diag *d, struct sweeps *out)
{
	bool *down = hd_alloc(whole->topo->n_ports, sizeof(*down));
	enum hd_status status = HD_OK;

	*out = (struct sweeps){ .done = hd_alloc(list->n, sizeof(*out->done)) };
	for (size_t i = 0; i < list->n && status == HD_OK; i++) {
		const struct subnet *present = i > 0 ? &out->done[i - 1].subnet : whole;

		status = mark_sweep(whole->topo, list->items[i], down, d);
		if (status == HD_OK)
			status = replan(whole, present, down, o, d, &out->done[i]);
		out->n += status == HD_OK;
	}
	free(down);
	return status;
}

void sweeps_fini(struct sweeps *s)
{
	for (size_t i = 0; i < s->n; i++)
		replan_fini(&s->done[i]);
	free(s->done);
	*s = (struct sweeps){ .n = 0 };
}

struct heavy_sweep_row {
	size_t sweep;
	const char *changes;
	bool kept;
	uint32_t ports_lost, switches, blocks;
	uint64_t entries;
};
static const struct column sweep_columns[] = {
	{ "sweep", NULL, CELL(heavy_sweep_row, sweep) },
	{ "changes", NULL, CELL(heavy_sweep_row, changes) },
	{ "kept what works", NULL, CELL(heavy_sweep_row, kept), ORIGIN_COMPUTED },
	{ "ports lost", NULL, CELL(heavy_sweep_row, ports_lost), ORIGIN_COMPUTED },
	{ "switches written", NULL, CELL(heavy_sweep_row, switches), ORIGIN_COMPUTED },
	{ "blocks written", NULL, CELL(heavy_sweep_row, blocks), ORIGIN_COMPUTED },
	{ "entries changed", NULL, CELL(heavy_sweep_row, entries), ORIGIN_COMPUTED },
	{ NULL },
};

struct write {
	size_t sweep;
	const char *sw, *guid;
	struct lft_write write;
};
static const struct column write_columns[] = {
	{ "sweep", NULL, CELL(write, sweep) },
	{ "switch", NULL, CELL(write, sw), ORIGIN_COMPUTED },
	{ "GUID", NULL, CELL(write, guid), ORIGIN_COMPUTED },
	{ "block", NULL, CELL(write, write.block), ORIGIN_COMPUTED },
	{ "entries changed", NULL, CELL(write, write.n), ORIGIN_COMPUTED },
	{ NULL },
};

static uint32_t count_switches(const struct replan *r)
{
	bool *written = hd_alloc(r->subnet.n_switches, sizeof(*written));
	uint32_t n = 0;

	for (uint32_t i = 0; i < r->n_writes; i++) {
		n += !written[r->writes[i].sw];
		written[r->writes[i].sw] = true;
	}
	free(written);
	return n;
}

void sweeps_show(struct results *r, const struct sweeps *s, const struct option_list *list)
{
	struct table *t = results_table(r, "sweeps", "what the manager does", sweep_columns);

	for (size_t i = 0; i < s->n; i++) {
		const struct replan *x = &s->done[i];

		table_put_row(t, &(struct heavy_sweep_row){ .sweep = i + 1,
							    .changes = list->items[i],
							    .kept = x->kept,
							    .ports_lost = x->n_lost_ports,
							    .switches = count_switches(x),
							    .blocks = x->n_writes,
							    .entries = x->n_changes });
	}
	t = results_table(r, "writes", "blocks of 64 LIDs, in the order in which they are sent",
			  write_columns);
	for (size_t i = 0; i < s->n; i++) {
		const struct replan *x = &s->done[i];

		for (uint32_t k = 0; k < x->n_writes; k++) {
			const struct lft_write *w = &x->writes[k];
			const struct topo_node *v = &x->topo.nodes[x->subnet.node_of_switch[w->sw]];

			const char *guid = table_text(t, "0x%016" PRIx64, v->guid);

			table_put_row(t, &(struct write){ i + 1, v->name, guid, *w });
		}
	}
}
