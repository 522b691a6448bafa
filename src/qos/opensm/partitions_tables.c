/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/opensm/partitions.h"

struct keys_row {
	const char *port, *keys;
};

static const struct column keys_columns[] = {
	{ "port", NULL, CELL(keys_row, port) },
	{ "P_Keys", NULL, CELL(keys_row, keys), ORIGIN_COMPUTED },
	{ NULL },
};

void partitions_show_keys(const struct subnet *s, struct results *r)
{
	struct table *t = results_table(r, "keys", "P_Keys of ports; bit 15 is full membership",
					keys_columns);

	for (port_id p = 0; p < s->topo->n_ports; p++) {
		const struct pkey_table *of = &s->pkeys[p];
		const struct topo_node *n = topo_node_of(s->topo, p);
		struct strbuf keys = STRBUF_INIT;

		if (of->n == 0 || (n->kind == NODE_SWITCH && s->topo->ports[p].number))
			continue;
		for (unsigned i = 0; i < of->n; i++)
			strbuf_printf(&keys, "%s0x%04x", i ? " " : "", of->keys[i]);
		const struct keys_row row = {
			.port = table_text(t, "%s:%u", n->name, s->topo->ports[p].number),
			.keys = table_take(t, &keys),
		};

		table_put_row(t, &row);
	}
}

struct path_row {
	const char *partition, *key;
	uint64_t sl;
};

static const struct column path_columns[] = {
	{ "partition", NULL, CELL(path_row, partition), ORIGIN_COMPUTED },
	{ "P_Key", NULL, CELL(path_row, key), ORIGIN_COMPUTED },
	{ "sl", NULL, CELL(path_row, sl), ORIGIN_COMPUTED },
	{ NULL },
};

void partitions_show_path(const struct partitions *p, const struct subnet *s, port_id a, port_id b,
			  struct results *r)
{
	uint16_t key = partitions_common(s, a, b);
	const struct partition *shared = key ? partitions_keyed(p, key) : NULL;
	struct table *t =
		results_record(r, "partition", "that a path of theirs is in", path_columns);
	const struct path_row row = {
		.partition = shared ? shared->name : NULL,
		.key = key ? table_text(t, "0x%04x", key) : NULL,
		.sl = shared ? shared->sl : 0,
	};

	if (!shared)
		results_remark(r,
			       "the ends share no partition in which one of them is a full member");
	table_put_row(t, &row);
}
