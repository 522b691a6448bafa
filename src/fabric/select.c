/* SPDX-License-Identifier: BSD-2-Clause */
#include "fabric/select.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/text.h"
#include "base/units.h"
#include "topo/names.h"

#define MAX_ITEM 256

struct selector {
	const struct topo *topo;
	struct selection hosts;
	struct text_map names; /* of nodes; the first of a name */
	struct text_map again; /* second node of a name; ambiguous */
};

/* A selection under construction: a flag per port. */
struct picking {
	const struct selector *s;
	struct diag *d;
	struct rng *rng;
	bool *in;
	bool names; /* the item names its members */
	struct selection *out;
};

static void add(struct selection *list, port_id port)
{
	list->ports = hd_grow(list->ports, &list->cap, list->n + 1, sizeof(*list->ports));
	list->ports[list->n++] = port;
}

static bool is_host_port(const struct topo *t, port_id p)
{
	return topo_is_end_port(t, p) && topo_node_of(t, p)->kind != NODE_ROUTER;
}

struct selector *selector_new(const struct topo *t)
{
	struct selector *s = hd_alloc(1, sizeof(*s));

	s->topo = t;
	for (port_id p = 0; p < t->n_ports; p++) {
		if (is_host_port(t, p))
			add(&s->hosts, p);
	}
	for (node_id v = 0; v < t->n_nodes; v++) {
		const char *name = t->nodes[v].name;

		if (text_map_put(&s->names, name, strlen(name), v) != MAP_NONE)
			text_map_put(&s->again, name, strlen(name), v);
	}
	return s;
}

void selector_free(struct selector *s)
{
	if (!s)
		return;
	selection_fini(&s->hosts);
	text_map_fini(&s->names);
	text_map_fini(&s->again);
	free(s);
}

void selection_fini(struct selection *s)
{
	free(s->ports);
	*s = (struct selection){ 0 };
}

const struct selection *selector_hosts(const struct selector *s)
{
	return &s->hosts;
}

/* Matches a pattern with the wildcards * and ?. */
static bool fits(const char *pattern, const char *name)
{
	const char *star = NULL, *after_star = NULL;

	for (;;) {
		if (*pattern == '*') {
			star = pattern++;
			after_star = name;
			continue;
		}
		if (!*name && !*pattern)
			return true;
		if (*name && (*pattern == *name || *pattern == '?')) {
			pattern++;
			name++;
			continue;
		}
		if (!star || !*after_star)
			return false;
		pattern = star + 1;
		name = ++after_star;
	}
}

static void pick(struct picking *p, port_id port)
{
	if (!p->in[port])
		add(p->out, port);
	else if (p->names && p->out->again == TOPO_NONE)
		p->out->again = port;
	p->in[port] = true;
}

static void drop(struct picking *p, port_id port)
{
	if (!p->in[port])
		return;
	p->in[port] = false;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < p->out->n; i++) {
		if (p->out->ports[i] != port)
			p->out->ports[kept++] = p->out->ports[i];
	}
	p->out->n = kept;
}

/* Splits "name:3"; false: no number. */
static bool split_port(const char *item, char *name, unsigned *number)
{
	const char *colon = strrchr(item, ':');
	uint64_t value;

	if (!colon || colon[1] < '0' || colon[1] > '9' ||
	    hd_uint_parse(colon + 1, NULL, &value) != HD_OK || value > TOPO_MAX_PORTS)
		return false;
	memcpy(name, item, (size_t)(colon - item));
	name[colon - item] = '\0';
	*number = (unsigned)value;
	return true;
}

static enum hd_status refuse_name(const struct picking *p, const char *what, const char *name)
{
	const struct topo *t = p->s->topo;
	const char *nearest = NULL;

	if (t->n_nodes <= 4096 && strlen(name) > 1) {
		const char **names = hd_alloc(t->n_nodes, sizeof(*names));

		for (node_id v = 0; v < t->n_nodes; v++)
			names[v] = t->nodes[v].name;
		nearest = text_nearest(name, names, t->n_nodes);
		free(names);
	}
	return diag_fail(p->d, HD_ERR_NOT_FOUND, "no %s '%s'%s", what, name,
			 text_hint(nearest).text);
}

typedef void pick_fn(struct picking *p, port_id port);

/*
 * Selects port `number` of `node`, or all of its ports if it is negative; with `hosts`, ports of
 * hosts only. Returns the number of ports.
 */
static unsigned use_node(struct picking *p, node_id node, int number, bool hosts, pick_fn *use)
{
	const struct topo *t = p->s->topo;
	unsigned used = 0;

	for (unsigned n = 0; n <= t->nodes[node].n_ports; n++) {
		port_id port = topo_port_of(t, node, n);
		bool fit = hosts ? is_host_port(t, port)
				 : t->ports[port].peer != TOPO_NONE || topo_is_end_port(t, port);

		if (!fit || (number >= 0 && n != (unsigned)number))
			continue;
		use(p, port);
		used++;
	}
	return used;
}

/* By its name, or as 0xGUID: those of a site's switches may all be the same. */
static node_id find_node(const struct picking *p, const char *name)
{
	const struct topo *t = p->s->topo;
	node_id found = text_map_get(&p->s->names, name, strlen(name));
	uint64_t guid;

	if (found != MAP_NONE || strncmp(name, "0x", 2) != 0 ||
	    hd_uint_parse(name, NULL, &guid) != HD_OK || guid == 0)
		return found;
	for (node_id v = 0; v < t->n_nodes; v++) {
		if (t->nodes[v].guid == guid)
			return v;
	}
	return MAP_NONE;
}

static void pass_by(struct picking *p, port_id port)
{
	(void)p, (void)port;
}

/*
 * The only node of that name that fits here; MAP_NONE if no node or several
 * nodes fit; several are refused.
 */
static node_id only_fit(struct picking *p, const char *name, bool hosts)
{
	const struct topo *t = p->s->topo;
	node_id found = MAP_NONE;

	for (node_id v = 0; v < t->n_nodes; v++) {
		if (strcmp(t->nodes[v].name, name) != 0 || !use_node(p, v, -1, hosts, pass_by))
			continue;
		if (found != MAP_NONE) {
			(void)!topo_refuse_name(t, found, v, p->d);
			return MAP_NONE;
		}
		found = v;
	}
	return found;
}

/* Nodes by name or pattern; returns how many ports were used. */
static unsigned use_named(struct picking *p, const char *name, int number, bool hosts, pick_fn *use)
{
	const struct topo *t = p->s->topo;
	unsigned used = 0;

	if (!strpbrk(name, "*?")) {
		node_id v = find_node(p, name);

		if (text_map_get(&p->s->again, name, strlen(name)) != MAP_NONE)
			v = only_fit(p, name, hosts);
		return v == MAP_NONE ? 0 : use_node(p, v, number, hosts, use);
	}
	for (node_id v = 0; v < t->n_nodes; v++) {
		if (fits(name, t->nodes[v].name))
			used += use_node(p, v, number, hosts, use);
	}
	return used;
}

static enum hd_status use_number(struct picking *p, uint64_t number, pick_fn *use)
{
	if (number >= p->s->hosts.n)
		return diag_fail(p->d, HD_ERR_NOT_FOUND,
				 "no host number %llu; there are %u, from 0",
				 (unsigned long long)number, p->s->hosts.n);
	use(p, p->s->hosts.ports[number]);
	return HD_OK;
}

/* Length of `name` without the digits at its end. */
static size_t stem_length(const char *name)
{
	size_t len = strlen(name);

	while (len && name[len - 1] >= '0' && name[len - 1] <= '9')
		len--;
	return len;
}

/* "0..7" by number, "h0..h7" by name. */
static enum hd_status use_range(struct picking *p, const char *from, const char *to, pick_fn *use)
{
	size_t stem = stem_length(from);
	uint64_t low, high;

	if (stem != stem_length(to) || memcmp(from, to, stem) != 0 ||
	    hd_uint_parse(from + stem, NULL, &low) != HD_OK ||
	    hd_uint_parse(to + stem, NULL, &high) != HD_OK || low > high)
		return diag_fail(p->d, HD_ERR_INPUT,
				 "'%s..%s' is not a rising range (expected e.g. 0..7 or h0..h7)",
				 from, to);
	for (uint64_t n = low; n <= high; n++) {
		enum hd_status status = HD_OK;

		if (stem == 0) {
			status = use_number(p, n, use);
		} else {
			struct strbuf name = STRBUF_INIT;

			strbuf_printf(&name, "%.*s%llu", (int)stem, from, (unsigned long long)n);
			if (!use_named(p, name.text, -1, true, use))
				status = refuse_name(p, "host", name.text);
			strbuf_fini(&name);
		}
		if (status != HD_OK)
			return status;
	}
	return HD_OK;
}

/* The hosts on switches that fit `name`. */
static enum hd_status use_hosts_on(struct picking *p, const char *name, pick_fn *use)
{
	const struct topo *t = p->s->topo;
	bool is_pattern = strpbrk(name, "*?");
	node_id meant = find_node(p, name), found = TOPO_NONE;

	for (uint32_t i = 0; i < p->s->hosts.n; i++) {
		port_id port = p->s->hosts.ports[i];
		port_id peer = t->ports[port].peer;
		node_id sw = t->ports[peer == TOPO_NONE ? port : peer].node;

		if (!topo_is_switch(t, sw) || (sw != meant && !fits(name, t->nodes[sw].name)))
			continue;
		if (!is_pattern && found != TOPO_NONE && found != sw)
			return topo_refuse_name(t, found, sw, p->d);
		use(p, port);
		found = sw;
	}
	return found != TOPO_NONE ? HD_OK : refuse_name(p, "host on a switch", name);
}

static enum hd_status use_share(struct picking *p, const char *text, pick_fn *use)
{
	struct hd_ratio share;
	uint32_t n = p->s->hosts.n;
	enum hd_status status = hd_ratio_parse(text, p->d, &share);

	if (status != HD_OK)
		return status;
	if (share.num > share.den)
		return diag_fail(p->d, HD_ERR_RANGE, "'%s' is more than all hosts", text);
	uint32_t *order = hd_alloc(n, sizeof(*order));
	bool *drawn = hd_alloc(n, sizeof(*drawn));
	/* Rounded to the nearest number of hosts. */
	uint64_t wanted = (uint64_t)((double)n * (double)share.num / (double)share.den + 0.5);

	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	rng_shuffle(p->rng, order, n);
	for (uint64_t i = 0; i < wanted && i < n; i++)
		drawn[order[i]] = true;
	for (uint32_t i = 0; i < n; i++) {
		if (drawn[i])
			use(p, p->s->hosts.ports[i]);
	}
	free(order);
	free(drawn);
	return HD_OK;
}

static void use_all(struct picking *p, pick_fn *use)
{
	for (uint32_t i = 0; i < p->s->hosts.n; i++)
		use(p, p->s->hosts.ports[i]);
}

static enum hd_status use_item(struct picking *p, const char *item, pick_fn *use)
{
	char name[MAX_ITEM];
	unsigned number;
	uint64_t value;
	const char *dots = strstr(item, "..");

	if (strcmp(item, "all") == 0) {
		use_all(p, use);
		return HD_OK;
	}
	if (strncmp(item, "on:", 3) == 0)
		return use_hosts_on(p, item + 3, use);
	if (use_named(p, item, -1, true, use))
		return HD_OK;
	if (item[strlen(item) - 1] == '%')
		return use_share(p, item, use);
	if (hd_uint_parse(item, NULL, &value) == HD_OK)
		return use_number(p, value, use);
	if (dots) {
		memcpy(name, item, (size_t)(dots - item));
		name[dots - item] = '\0';
		return use_range(p, name, dots + 2, use);
	}
	if (split_port(item, name, &number) && use_named(p, name, (int)number, true, use))
		return HD_OK;
	return refuse_name(p, "host", item);
}

static enum hd_status use_port_item(struct picking *p, const char *item, pick_fn *use)
{
	const struct topo *t = p->s->topo;
	bool trunks = strcmp(item, "trunks") == 0;
	char name[MAX_ITEM];
	unsigned number;

	if (strcmp(item, "hosts") == 0) {
		use_all(p, use);
		return HD_OK;
	}
	if (trunks || strcmp(item, "all") == 0) {
		for (port_id i = 0; i < t->n_ports; i++) {
			port_id peer = t->ports[i].peer;

			if (peer != TOPO_NONE &&
			    (!trunks || (topo_is_switch(t, t->ports[i].node) &&
					 topo_is_switch(t, t->ports[peer].node))))
				use(p, i);
		}
		return HD_OK;
	}
	if (use_named(p, item, -1, false, use))
		return HD_OK;
	if (!split_port(item, name, &number))
		return refuse_name(p, "node", item);
	if (use_named(p, name, (int)number, false, use))
		return HD_OK;
	if (strpbrk(name, "*?") || find_node(p, name) == MAP_NONE)
		return refuse_name(p, "node", name);
	return diag_fail(p->d, HD_ERR_NOT_FOUND, "'%s' has no cable in port %u", name, number);
}

typedef enum hd_status item_fn(struct picking *p, const char *item, pick_fn *use);

/* "h3", "h0..h7" and "5" name hosts; "h*", "all", "on:leaf1" and "40%" select by a property. */
static bool names_hosts(const char *item)
{
	return !strpbrk(item, "*?%") && strcmp(item, "all") != 0 && strncmp(item, "on:", 3) != 0;
}

/* Parses one item without surrounding blanks. */
static enum hd_status read_item(struct picking *p, const char *text, size_t len, item_fn *read)
{
	char item[MAX_ITEM];

	while (len && *text == ' ') {
		text++;
		len--;
	}
	while (len && text[len - 1] == ' ')
		len--;
	if (len == 0)
		return diag_fail(p->d, HD_ERR_INPUT, "an empty item between commas");
	if (len >= sizeof(item))
		return diag_fail(p->d, HD_ERR_INPUT, "'%.40s...' is too long for a name", text);
	memcpy(item, text, len);
	item[len] = '\0';
	bool drops = strncmp(item, "not:", 4) == 0 && len > 4;

	p->names = !drops && names_hosts(item);
	if (drops && p->out->n == 0 && read == use_item)
		use_all(p, pick);
	enum hd_status status = drops ? read(p, item + 4, drop) : read(p, item, pick);

	/* An item that has failed as a name is not tried otherwise. */
	return p->d->status == HD_OK ? status : p->d->status;
}

static enum hd_status select_by(const struct selector *s, const char *text, struct rng *rng,
				struct diag *d, item_fn *read, struct selection *out)
{
	struct selection list = { .again = TOPO_NONE };
	struct picking p = {
		.s = s,
		.d = d,
		.rng = rng,
		.in = hd_alloc(s->topo->n_ports, sizeof(bool)),
		.out = &list,
	};
	enum hd_status status = HD_OK;
	const char *at = text;

	while (status == HD_OK) {
		size_t len = strcspn(at, ",");

		status = read_item(&p, at, len, read);
		if (!at[len])
			break;
		at += len + 1;
	}
	free(p.in);
	if (status == HD_OK && list.n == 0)
		status = diag_fail(d, HD_ERR_INPUT, "'%.80s' selects nothing", text);
	if (status == HD_OK)
		*out = list;
	else
		selection_fini(&list);
	return status;
}

enum hd_status select_hosts(const struct selector *s, const char *text, struct rng *rng,
			    struct diag *d, struct selection *out)
{
	return select_by(s, text, rng, d, use_item, out);
}

enum hd_status select_ports(const struct selector *s, const char *text, struct diag *d,
			    struct selection *out)
{
	return select_by(s, text, NULL, d, use_port_item, out);
}

enum hd_status select_port(const struct selector *s, const char *text, struct diag *d, port_id *out)
{
	struct selection one;
	enum hd_status status = select_ports(s, text, d, &one);

	if (status != HD_OK)
		return status;
	if (one.n == 1)
		*out = one.ports[0];
	else
		status = diag_fail(d, HD_ERR_INPUT, "'%.80s' means %u ports; say which (NODE:PORT)",
				   text, one.n);
	selection_fini(&one);
	return status;
}
