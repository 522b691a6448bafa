/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "qos/opensm/partitions.h"
#include "qos/opensm/policy.h"

static bool in_spans(const struct policy_spans *s, uint64_t value)
{
	for (size_t i = 0; i < s->n; i++) {
		if (value >= s->items[i].low && value <= s->items[i].high)
			return true;
	}
	return false;
}

/* The membership bit is ignored. */
static bool in_pkeys(const struct policy_spans *s, uint16_t pkey)
{
	return in_spans(s, pkey & 0x7fff) || in_spans(s, pkey | 0x8000);
}

/* "node description/P1" */
static bool is_port(const struct topo *t, port_id port, const char *name)
{
	const char *node = topo_node_of(t, port)->name;
	const char *slash = strrchr(name, '/');
	size_t len = slash ? (size_t)(slash - name) : strlen(name);

	if (!node || strncmp(node, name, len) != 0 || node[len])
		return false;
	return !slash || (slash[1] == 'P' && strtoul(slash + 2, NULL, 10) == t->ports[port].number);
}

/* All ports are in the partition that OpenSM creates by default. */
static bool in_default_partition(const struct policy_group *g)
{
	for (size_t i = 0; i < g->partitions.n; i++) {
		if (strcmp(g->partitions.items[i], "Default") == 0)
			return true;
	}
	return in_pkeys(&g->pkeys, 0x7fff);
}

static bool in_partitions(const struct policy_group *g, const struct policy_query *q,
			  const struct pkey_table *keys)
{
	for (size_t i = 0; q->partitions && i < g->partitions.n; i++) {
		const struct partition *p = partitions_named(q->partitions, g->partitions.items[i]);

		for (unsigned k = 0; p && k < keys->n; k++) {
			if ((keys->keys[k] & 0x7fff) == p->key)
				return true;
		}
	}
	return false;
}

static bool in_group(const struct policy_group *g, const struct subnet *s,
		     const struct policy_query *q, port_id port)
{
	const struct topo *t = s->topo;
	const struct pkey_table *keys = &s->pkeys[port];

	if (in_spans(&g->guids, t->ports[port].guid) ||
	    g->kinds >> topo_node_of(t, port)->kind & 1 || (g->self && port == q->manager) ||
	    in_default_partition(g) || in_partitions(g, q, keys))
		return true;
	for (size_t i = 0; i < g->ports.n; i++) {
		if (is_port(t, port, g->ports.items[i]))
			return true;
	}
	for (unsigned i = 0; g->pkeys.n && i < keys->n; i++) {
		if (in_pkeys(&g->pkeys, keys->keys[i]))
			return true;
	}
	return false;
}

static bool in_groups(const struct policy *p, const struct policy_words *names,
		      const struct subnet *s, const struct policy_query *q, port_id port)
{
	if (names->n == 0)
		return true;
	for (size_t i = 0; i < names->n; i++) {
		if (strcasecmp(names->items[i], "ALL") == 0)
			return true;
		if (s && port != TOPO_NONE &&
		    in_group(policy_find_group(p, names->items[i]), s, q, port))
			return true;
	}
	return false;
}

static bool guid_fits(const struct policy_spans *guids, const struct subnet *s, port_id port)
{
	return guids->n && s && port != TOPO_NONE && in_spans(guids, s->topo->ports[port].guid);
}

/* Whether the GUIDs of a qos-ulps line match. */
static bool ends_fit(const struct policy_rule *m, const struct subnet *s,
		     const struct policy_query *q)
{
	if (m->both)
		return guid_fits(&m->target_guids, s, q->destination) &&
		       guid_fits(&m->target_guids, s, q->source);
	return (!m->target_guids.n || guid_fits(&m->target_guids, s, q->destination)) &&
	       (!m->source_guids.n || guid_fits(&m->source_guids, s, q->source));
}

static bool fits(const struct policy *p, const struct policy_rule *m, const struct subnet *s,
		 const struct policy_query *q)
{
	if (m->service_ids.n && !(q->has_service_id && in_spans(&m->service_ids, q->service_id)))
		return false;
	if (m->pkeys.n && !(q->has_pkey && in_pkeys(&m->pkeys, q->pkey)))
		return false;
	if (m->classes.n && !(q->has_class && in_spans(&m->classes, q->class)))
		return false;
	return ends_fit(m, s, q) && in_groups(p, &m->sources, s, q, q->source) &&
	       in_groups(p, &m->destinations, s, q, q->destination);
}

static struct policy_answer by_level(const struct policy_level *l, unsigned line)
{
	return (struct policy_answer){
		.sl = l->sl,
		.line = line,
		.level = l->name,
	};
}

struct policy_answer policy_match(const struct policy *p, const struct subnet *s,
				  const struct policy_query *q)
{
	for (size_t i = 0; i < p->n_rules; i++) {
		const struct policy_rule *m = &p->rules[i];

		if (fits(p, m, s, q))
			return by_level(policy_find_level(p, m->level), m->line);
	}
	for (size_t i = 0; i < p->n_ulps; i++) {
		if (fits(p, &p->ulps[i], s, q))
			return (struct policy_answer){ p->ulps[i].sl, p->ulps[i].line, NULL };
	}
	const struct policy_level *other = policy_default_level(p);

	return other ? by_level(other, other->line)
		     : (struct policy_answer){ p->default_sl, p->default_line, NULL };
}

bool policy_knows_ends(const struct policy *p)
{
	for (size_t i = 0; i < p->n_rules; i++) {
		if (p->rules[i].sources.n || p->rules[i].destinations.n)
			return true;
	}
	for (size_t i = 0; i < p->n_ulps; i++) {
		if (p->ulps[i].source_guids.n || p->ulps[i].target_guids.n)
			return true;
	}
	return false;
}
