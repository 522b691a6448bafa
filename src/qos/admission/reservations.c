/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/admission/reservations.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "qos/tables/classes.h"
#include "subnet/multicast/mcast.h"

#define HEADER "heddle-reservations 2"
#define GROUP  "group:"

/* ---- writing ------------------------------------------------------------- */

static enum hd_status write_end(const struct subnet *s, port_id port, struct diag *d,
				struct strbuf *out)
{
	uint64_t guid = s->topo->ports[port].guid;
	const char *name = topo_node_of(s->topo, port)->name;

	if (guid == 0)
		return diag_fail(d, HD_ERR_UNFIT, "'%.80s' has no GUID to be saved by", name);
	strbuf_printf(out, "0x%016" PRIx64 "\"%s\"", guid, name);
	return HD_OK;
}

static const struct mcast_group *group_of(const struct subnet *s, lid_t mlid, unsigned subnet)
{
	for (uint32_t i = 0; i < s->n_groups; i++) {
		if (s->groups[i].mlid == mlid && s->groups[i].subnet == subnet)
			return &s->groups[i];
	}
	return NULL;
}

static enum hd_status write_destination(const struct subnet *s, const struct broker_segment *r,
					struct diag *d, struct strbuf *out)
{
	unsigned subnet = s->topo->ports[r->source].subnet;
	enum hd_status status = HD_OK;

	if (r->dlid < LID_FIRST_MCAST)
		return write_end(s, s->port_of_lid[subnet][r->dlid], d, out);
	const struct mcast_group *g = group_of(s, r->dlid, subnet);

	strbuf_printf(out, GROUP "%s=", mcast_method_names[g->method]);
	for (uint32_t i = 0; status == HD_OK && i < g->n_members; i++) {
		strbuf_puts(out, i ? "," : "");
		status = write_end(s, g->members[i], d, out);
	}
	return status;
}

enum hd_status reservations_write(const struct broker *b, struct diag *d, struct strbuf *out)
{
	enum hd_status status = HD_OK;

	strbuf_puts(out, HEADER "\n# source destination sl rate[b/s]\n");
	for (uint32_t i = 0; status == HD_OK && i < b->n_connections; i++) {
		const struct broker_request *r = &b->connections[i].request;
		const struct broker_segment *g = &r->way.segment[0];

		/* Reservations of jobs are in the scenario. */
		if (!b->connections[i].live || r->hose)
			continue;
		if (r->reverse.n > 0)
			return diag_fail(
				d, HD_ERR_UNFIT,
				"connections with acknowledgements (rc) cannot be saved: the file has no reverse paths");
		status = write_end(b->subnet, g->source, d, out);
		strbuf_putc(out, ' ');
		if (status == HD_OK)
			status = write_destination(b->subnet, g, d, out);
		strbuf_printf(out, " %u %" PRIu64 "/%" PRIu64 "\n", g->sl, r->rate.num,
			      r->rate.den);
	}
	return status;
}

/* ---- reading ------------------------------------------------------------- */

struct load {
	const struct subnet *s;
	struct map ports;      /* end ports by GUID */
	struct text_map nodes; /* by node name */
	const char *at, *end;  /* rest of the line */
	unsigned line;
	struct diag *d;
};

static void load_init(struct load *l, const struct subnet *s, struct diag *d)
{
	const struct topo *t = s->topo;

	*l = (struct load){ .s = s, .d = d };
	for (port_id p = 0; p < t->n_ports; p++) {
		if (t->ports[p].guid && topo_is_end_port(t, p))
			(void)map_put(&l->ports, t->ports[p].guid, p);
	}
	for (node_id v = 0; v < t->n_nodes; v++)
		(void)text_map_put(&l->nodes, t->nodes[v].name, strlen(t->nodes[v].name), v);
}

static void load_fini(struct load *l)
{
	map_fini(&l->ports);
	text_map_fini(&l->nodes);
}

static enum hd_status no_reservation(const struct load *l)
{
	return diag_fail_at(l->d, HD_ERR_INPUT, l->line, 0,
			    "no reservation (expected 0xGUID\"name\" 0xGUID\"name\" sl rate)");
}

static bool skip(struct load *l, const char *text)
{
	size_t len = strlen(text);

	if ((size_t)(l->end - l->at) < len || memcmp(l->at, text, len) != 0)
		return false;
	l->at += len;
	return true;
}

/* Reads a decimal number, or hexadecimal with "0x"; the line ends with a NUL byte. */
static bool number(struct load *l, uint64_t most, uint64_t *out)
{
	uint64_t value = 0;
	bool hex = skip(l, "0x");
	const char *start = l->at;

	for (; l->at < l->end; l->at++) {
		const char *digits = "0123456789abcdef";
		const char *digit = strchr(digits, *l->at);
		uint64_t base = hex ? 16 : 10;

		if (!digit || (uint64_t)(digit - digits) >= base)
			break;
		uint64_t next = (uint64_t)(digit - digits);

		if (value > (most - next) / base)
			return false;
		value = value * base + next;
	}
	*out = value;
	return l->at > start;
}

/* Reads 0xGUID"name": an end port of this fabric. */
static enum hd_status read_end(struct load *l, port_id *out)
{
	const struct topo *t = l->s->topo;
	uint64_t guid;

	if (l->at >= l->end || *l->at != '0' || !number(l, UINT64_MAX, &guid) || !skip(l, "\""))
		return no_reservation(l);
	const char *name = l->at;
	const char *quote = memchr(name, '"', (size_t)(l->end - name));

	if (!quote)
		return no_reservation(l);
	size_t len = (size_t)(quote - name);
	int shown = len > 80 ? 80 : (int)len;
	uint32_t port = map_get(&l->ports, guid);
	uint32_t called = text_map_get(&l->nodes, name, len);

	l->at = quote + 1;
	if (port == MAP_NONE)
		return diag_fail_at(l->d, HD_ERR_NOT_FOUND, l->line, 0,
				    "no end port has GUID 0x%016" PRIx64
				    " ('%.*s' when it was saved)",
				    guid, shown, name);
	if (called != MAP_NONE && called != t->ports[port].node &&
	    strcmp(t->nodes[called].name, topo_node_of(t, port)->name) != 0)
		return diag_fail_at(l->d, HD_ERR_UNFIT, l->line, 0,
				    "GUID 0x%016" PRIx64
				    " is that of '%.80s' now, and '%.*s' has another",
				    guid, topo_node_of(t, port)->name, shown, name);
	*out = port;
	return HD_OK;
}

/* Reads group:METHOD=END,...: the group of that method with exactly these members. */
static enum hd_status read_group(struct load *l, unsigned subnet, lid_t *out)
{
	const struct subnet *s = l->s;
	uint32_t method = 0, n = 0;
	bool *fits = hd_alloc(s->n_groups, sizeof(*fits));
	enum hd_status status = HD_OK;

	const char *equals = memchr(l->at, '=', (size_t)(l->end - l->at));
	size_t len = equals ? (size_t)(equals - l->at) : 0;

	while (method < N_MCAST_METHODS && (strlen(mcast_method_names[method]) != len ||
					    memcmp(mcast_method_names[method], l->at, len) != 0))
		method++;
	l->at += len + (equals != NULL);
	for (uint32_t i = 0; i < s->n_groups; i++)
		fits[i] = s->groups[i].method == method && s->groups[i].subnet == subnet;
	do {
		port_id member = TOPO_NONE;

		status = read_end(l, &member);
		n++;
		for (uint32_t i = 0; status == HD_OK && i < s->n_groups; i++)
			fits[i] = fits[i] && topo_port_is_among(s->groups[i].members,
								s->groups[i].n_members, member);
	} while (status == HD_OK && skip(l, ","));
	uint32_t found = 0;

	while (found < s->n_groups && !(fits[found] && s->groups[found].n_members == n))
		found++;
	free(fits);
	if (status != HD_OK)
		return status;
	if (found == s->n_groups)
		return diag_fail_at(l->d, HD_ERR_NOT_FOUND, l->line, 0,
				    "no group of that kind has just these %u members", n);
	*out = s->groups[found].mlid;
	return HD_OK;
}

static enum hd_status read_destination(struct load *l, struct broker_segment *r)
{
	unsigned subnet = l->s->topo->ports[r->source].subnet;
	port_id to = TOPO_NONE;

	if (skip(l, GROUP))
		return read_group(l, subnet, &r->dlid);
	enum hd_status status = read_end(l, &to);

	if (status == HD_OK && l->s->topo->ports[to].subnet != subnet)
		return diag_fail_at(l->d, HD_ERR_UNFIT, l->line, 0,
				    "the two ends are in different subnets");
	if (status == HD_OK)
		r->dlid = l->s->lid_of_port[to];
	return status;
}

static enum hd_status read_line(struct load *l, struct broker_request *out)
{
	struct broker_segment r = { 0 };
	uint64_t sl, num, den;
	enum hd_status status = read_end(l, &r.source);

	if (status == HD_OK && !skip(l, " "))
		return no_reservation(l);
	if (status == HD_OK)
		status = read_destination(l, &r);
	if (status != HD_OK)
		return status;
	if (!skip(l, " ") || !number(l, N_SLS - 1, &sl) || !skip(l, " ") ||
	    !number(l, UINT64_MAX, &num) || !skip(l, "/") || !number(l, UINT64_MAX, &den) ||
	    l->at < l->end || !num || !den)
		return no_reservation(l);
	if (class_of_sl((uint8_t)sl) > TC_PBE)
		return diag_fail_at(l->d, HD_ERR_INPUT, l->line, 0,
				    "SL %u belongs to no class with admission", (unsigned)sl);
	*out = broker_request_of(r.source, r.dlid, (uint8_t)sl, hd_rate_make(num, den));
	return HD_OK;
}

enum hd_status reservations_read(const struct subnet *s, const char *text, struct diag *d,
				 struct reservations *out)
{
	struct reservations all = { 0 };
	enum hd_status status = HD_OK;
	struct load l;

	if (strncmp(text, HEADER "\n", strlen(HEADER) + 1) != 0)
		return diag_fail_at(d, HD_ERR_INPUT, 1, 0, "expected '" HEADER "'");
	load_init(&l, s, d);
	for (l.line = 1; *text && status == HD_OK; l.line++) {
		size_t len = strcspn(text, "\n");
		struct broker_request r;

		l.at = text;
		l.end = text + len;
		text += len + (text[len] == '\n');
		if (l.line == 1 || len == 0 || *l.at == '#')
			continue;
		status = read_line(&l, &r);
		if (status != HD_OK)
			break;
		all.items = hd_grow(all.items, &all.cap, all.n + 1, sizeof(*all.items));
		all.lines = hd_grow(all.lines, &all.lines_cap, all.n + 1, sizeof(*all.lines));
		all.items[all.n] = r;
		all.lines[all.n++] = l.line;
	}
	load_fini(&l);
	if (status != HD_OK) {
		reservations_fini(&all);
		return status;
	}
	*out = all;
	return HD_OK;
}

enum hd_status reservations_admit(struct broker *b, const struct reservations *r, struct diag *d)
{
	for (size_t i = 0; i < r->n; i++) {
		struct broker_refusal why;
		uint32_t id;

		if (broker_admit(b, &r->items[i], &id, &why) == HD_OK)
			continue;
		struct strbuf text = STRBUF_INIT;

		broker_refusal_print(b, &why, &text);
		diag_fail_at(d, HD_ERR_FULL, r->lines[i], 0, "%s", text.text);
		strbuf_fini(&text);
		return HD_ERR_FULL;
	}
	return HD_OK;
}

void reservations_fini(struct reservations *r)
{
	free(r->items);
	free(r->lines);
	*r = (struct reservations){ 0 };
}
