/* SPDX-License-Identifier: BSD-2-Clause */
#include "subnet/tables/ends.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "subnet/multicast/mcast.h"
#include "subnet/routing/order.h"
#include "topo/names.h"

/* Parses a whole string as a number in base 10, or 16 after 0x. */
static bool to_number(const char *text, uint64_t *out)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*out = strtoull(text, &end, text[1] == 'x' ? 16 : 10);
	return errno == 0 && *end == '\0';
}

/* The end port of that GUID, or the first one of the node that has it. */
static port_id by_guid(const struct topo *t, uint64_t guid)
{
	port_id first = TOPO_NONE;

	for (port_id p = 0; p < t->n_ports; p++) {
		if (!topo_is_end_port(t, p))
			continue;
		if (order_port_guid(t, p) == guid)
			return p;
		if (first == TOPO_NONE && topo_node_of(t, p)->guid == guid)
			first = p;
	}
	return first;
}

/*
 * The node's end port of that number, or its first one if number is -1;
 * *other: that of another node of this name, or TOPO_NONE.
 */
static port_id of_node(const struct topo *t, const char *name, size_t len, int number,
		       port_id *other)
{
	port_id found = TOPO_NONE;

	*other = TOPO_NONE;
	for (port_id p = 0; p < t->n_ports && *other == TOPO_NONE; p++) {
		const char *own = topo_node_of(t, p)->name;

		if (!topo_is_end_port(t, p) || strlen(own) != len || memcmp(own, name, len) != 0 ||
		    (number >= 0 && t->ports[p].number != number))
			continue;
		if (found == TOPO_NONE)
			found = p;
		else if (t->ports[p].node != t->ports[found].node)
			*other = p;
	}
	return found;
}

static enum hd_status refuse_two(const struct topo *t, port_id a, port_id b, struct diag *d)
{
	return topo_refuse_name(t, t->ports[a].node, t->ports[b].node, d);
}

/* Finds the nodes with this name or GUID; *other as in of_node. */
static port_id by_name_or_guid(const struct topo *t, const char *text, port_id *other)
{
	port_id found = of_node(t, text, strlen(text), -1, other);
	uint64_t guid;

	if (found == TOPO_NONE && text[0] == '0' && text[1] == 'x' && to_number(text, &guid))
		found = by_guid(t, guid);
	return found;
}

enum hd_status end_named(const struct topo *t, const char *name, struct diag *d, port_id *out)
{
	port_id other, found = by_name_or_guid(t, name, &other);

	if (found == TOPO_NONE)
		return diag_fail(d, HD_ERR_NOT_FOUND, "no end port is called '%.80s'", name);
	if (other != TOPO_NONE)
		return refuse_two(t, found, other, d);
	*out = found;
	return HD_OK;
}

enum hd_status end_find(const struct subnet *s, const char *text, struct diag *d, port_id *out)
{
	const char *slash = strrchr(text, '/');
	port_id other, found = by_name_or_guid(s->topo, text, &other);
	uint64_t number;

	if (found == TOPO_NONE && text[0] && text[1] != 'x' && to_number(text, &number) &&
	    number <= LID_MAX_UNICAST)
		found = s->port_of_lid[0][number];
	if (found == TOPO_NONE && slash && to_number(slash + 1, &number) &&
	    number <= TOPO_MAX_PORTS)
		found = of_node(s->topo, text, (size_t)(slash - text), (int)number, &other);
	if (found == TOPO_NONE || !topo_is_end_port(s->topo, found))
		return diag_fail(
			d, HD_ERR_NOT_FOUND,
			"no end port '%s': give the name of a host, a LID, or a GUID as 0x...",
			text);
	if (other != TOPO_NONE)
		return refuse_two(s->topo, found, other, d);
	*out = found;
	return HD_OK;
}

static enum hd_status read_members(const struct subnet *s, char *text, struct mcast_group *m,
				   struct diag *d)
{
	char *save = NULL;

	if (strcmp(text, "*") == 0) {
		m->n_members = topo_end_ports(s->topo, m->members);
		return HD_OK;
	}
	for (char *word = strtok_r(text, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
		if (m->n_members == s->topo->n_ports)
			return diag_fail(d, HD_ERR_RANGE, "more members than ports");
		if (end_find(s, word, d, &m->members[m->n_members]) != HD_OK)
			return d->status;
		m->n_members++;
	}
	return HD_OK;
}

/* Splits "method@source" in place. */
static enum hd_status read_method(const struct subnet *s, char *text, struct mcast_group *m,
				  struct diag *d)
{
	char *source = strchr(text, '@');
	unsigned i = 0;

	if (source)
		*source++ = '\0';
	while (i < MCAST_FILE && strcmp(mcast_method_names[i], text) != 0)
		i++;
	/* MCAST_FILE marks a tree that is still to be chosen. */
	if (i == MCAST_FILE && strcmp(text, "auto") != 0)
		return diag_fail(
			d, HD_ERR_INPUT,
			"unknown tree '%s', expected one of xy, union, shortest, shared, dual-path, multi-path, double-xy, paths, auto",
			text);
	m->method = (enum mcast_method)i;
	m->source = TOPO_NONE;
	return source ? end_find(s, source, d, &m->source) : HD_OK;
}

void tables_group_list_fini(struct group_list *l)
{
	for (uint32_t i = 0; i < l->n; i++)
		free(l->groups[i].members);
	free(l->groups);
	*l = (struct group_list){ .groups = NULL };
}

enum hd_status group_add(struct subnet *s, const char *text, uint8_t sl, struct group_list *open,
			 struct diag *d)
{
	char *copy = hd_strdup(text), *members = strchr(copy, '=');
	struct mcast_group m = {
		.sl = sl,
		.members = hd_alloc(s->topo->n_ports, sizeof(*m.members)),
	};
	enum hd_status status;

	if (members) {
		*members++ = '\0';
		status = read_method(s, copy, &m, d);
		if (status == HD_OK)
			status = read_members(s, members, &m, d);
	} else {
		status = diag_fail(
			d, HD_ERR_INPUT,
			"'%s' is not a group (expected METHOD=MEMBERS or METHOD@SOURCE=MEMBERS)",
			text);
	}
	if (status == HD_OK && m.n_members > 0)
		m.subnet = s->topo->ports[m.members[0]].subnet;
	free(copy);
	if (status == HD_OK && m.method == MCAST_FILE) {
		open->groups =
			hd_grow(open->groups, &open->cap, open->n + 1, sizeof(*open->groups));
		open->groups[open->n++] = m;
		return HD_OK;
	}
	if (status == HD_OK)
		status = mcast_add_parts(s, &m, d);
	/* A shared tree serves all members; another sender is named. */
	if (status == HD_OK && m.method == MCAST_SHARED && m.source != TOPO_NONE)
		status = mcast_admit_sender(s, s->n_groups - 1, m.source, d);
	free(m.members);
	return status;
}

enum hd_status named_groups_add(struct subnet *s, const struct option_list *list, struct diag *d)
{
	struct group_list open = { 0 };
	enum hd_status status = HD_OK;

	for (size_t i = 0; i < list->n && status == HD_OK; i++) {
		const char *text = list->items[i];
		const char *colon = strchr(text, ':');

		if (!colon || colon == text)
			status = diag_fail(
				d, HD_ERR_INPUT,
				"'%.80s' is not a group (expected e.g. video:shared=h1,h2)", text);
		else
			status = group_add(s, colon + 1, 0, &open, d);
		if (status == HD_OK && open.n)
			status = diag_fail(
				d, HD_ERR_INPUT,
				"'%.80s': say which tree; 'heddle route --mcast auto=...' chooses one",
				text);
	}
	tables_group_list_fini(&open);
	return status;
}

enum hd_status named_group_find(struct subnet *s, const struct option_list *list, const char *name,
				port_id source, struct diag *d, uint32_t *out)
{
	const char *word = name + strlen(GROUP_PREFIX);
	uint32_t i = 0;

	for (; i < list->n; i++) {
		const char *text = list->items[i];
		size_t len = strcspn(text, ":");

		if (strlen(word) == len && strncmp(text, word, len) == 0)
			break;
	}
	if (i == list->n)
		return diag_fail(d, HD_ERR_NOT_FOUND,
				 "no group is called '%.80s'; --group declares it", name);
	i += s->n_groups - (uint32_t)list->n; /* groups of a scenario come first */
	*out = i;
	if (s->groups[i].source == TOPO_NONE)
		return mcast_admit_sender(s, i, source, d);
	if (s->groups[i].source != source)
		return diag_fail(
			d, HD_ERR_UNFIT,
			"the tree of '%.80s' has another source than '%.80s'; a shared tree admits every sender",
			name, topo_node_of(s->topo, source)->name);
	return HD_OK;
}
