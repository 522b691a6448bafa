/* SPDX-License-Identifier: BSD-2-Clause */
#include "topo/reader.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "topo/shape.h"

void reader_init(struct topo_reader *r, const char *text, size_t len,
		 struct topo_problems *problems, struct diag *d)
{
	*r = (struct topo_reader){
		.text = text,
		.end = text + len,
		.line_start = text,
		.at = text,
		.line_end = text,
		.next_line = text,
		.d = d,
		.problems = problems,
	};
	assert(*r->end == '\0');
	topo_init(&r->t);
}

/* Two lines, so that the rest of one line always fits before the next. */
#define BUFFER_SIZE (2 * (READER_MAX_LINE + 1))

void reader_init_stream(struct topo_reader *r, FILE *stream, struct diag *d)
{
	char *buffer = hd_alloc(BUFFER_SIZE + 1, 1);

	reader_init(r, buffer, 0, NULL, d);
	r->stream = stream;
	r->buffer = buffer;
}

void reader_fini(struct topo_reader *r)
{
	free(r->buffer);
	topo_fini(&r->t);
	text_map_fini(&r->ids);
	map_fini(&r->guids);
	free(r->claims);
	for (size_t i = 0; i < r->n_owned; i++)
		free(r->owned[i]);
	free(r->owned);
}

/* Keeps the rest of the buffer and reads more data behind it. */
static void read_on(struct topo_reader *r)
{
	size_t rest = (size_t)(r->end - r->next_line);

	memmove(r->buffer, r->next_line, rest);
	size_t more = fread(r->buffer + rest, 1, BUFFER_SIZE - rest, r->stream);

	r->next_line = r->buffer;
	r->end = r->buffer + rest + more;
	r->buffer[rest + more] = '\0';
	if (ferror(r->stream))
		r->status = diag_fail(r->d, HD_ERR_IO, "cannot be read: %s", strerror(errno));
}

/* Loads the next line into memory; false if that is impossible. */
static bool have_line(struct topo_reader *r)
{
	size_t rest = (size_t)(r->end - r->next_line);
	const char *newline = memchr(r->next_line, '\n', rest);

	if (!newline && !feof(r->stream)) {
		read_on(r);
		rest = (size_t)(r->end - r->next_line);
		newline = memchr(r->next_line, '\n', rest);
	}
	if (r->status == HD_OK && (newline ? newline : r->end) - r->next_line > READER_MAX_LINE)
		r->status = diag_fail_at(r->d, HD_ERR_INPUT, r->line + 1, 0,
					 "a line of more than %d bytes", READER_MAX_LINE);
	return r->status == HD_OK;
}

bool reader_next_line(struct topo_reader *r)
{
	if (r->stream && !have_line(r))
		return false;
	const char *next = r->next_line;

	if (next >= r->end)
		return false;
	const char *newline = memchr(next, '\n', (size_t)(r->end - next));

	r->line++;
	r->line_start = r->at = next;
	r->line_end = newline ? newline : r->end;
	r->next_line = newline ? newline + 1 : r->end;
	/* DOS line ending. */
	if (newline && newline > next && newline[-1] == '\r')
		r->line_end = newline - 1;
	return true;
}

static enum hd_status refuse_at(struct topo_reader *r, uint32_t line, unsigned column,
				const char *format, va_list args)
{
	char message[400];

	vsnprintf(message, sizeof(message), format, args);
	return diag_fail_at(r->d, HD_ERR_INPUT, line, column, "%s", message);
}

enum hd_status reader_refuse(struct topo_reader *r, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	enum hd_status status =
		refuse_at(r, r->line, (unsigned)(r->at - r->line_start) + 1, format, args);

	va_end(args);
	return status;
}

enum hd_status reader_problem(struct topo_reader *r, enum problem_kind kind, uint32_t line,
			      uint32_t other, const char *format, ...)
{
	enum hd_status status = HD_OK;
	va_list args;

	va_start(args, format);
	if (r->problems) {
		char text[400];

		vsnprintf(text, sizeof(text), format, args);
		problems_add(r->problems, kind, line, other, "%s", text);
	} else {
		status = refuse_at(r, line, 0, format, args);
	}
	va_end(args);
	return status;
}

bool reader_skip(struct topo_reader *r, const char *literal)
{
	size_t len = strlen(literal);

	if ((size_t)(r->line_end - r->at) < len || memcmp(r->at, literal, len) != 0)
		return false;
	r->at += len;
	return true;
}

void reader_blanks(struct topo_reader *r)
{
	while (r->at < r->line_end && (*r->at == ' ' || *r->at == '\t'))
		r->at++;
}

bool reader_at_end(const struct topo_reader *r)
{
	const char *at = r->at;

	while (at < r->line_end && (*at == ' ' || *at == '\t'))
		at++;
	return at == r->line_end;
}

bool reader_decimal(struct topo_reader *r, uint64_t max, uint64_t *out)
{
	const char *at = r->at;
	uint64_t value = 0;

	for (; at < r->line_end && *at >= '0' && *at <= '9'; at++) {
		unsigned digit = (unsigned)(*at - '0');

		if (value > (max - digit) / 10 || digit > max)
			return false;
		value = 10 * value + digit;
	}
	if (at == r->at)
		return false;
	r->at = at;
	*out = value;
	return true;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

bool reader_hex(struct topo_reader *r, uint64_t *out)
{
	const char *at = r->at;
	uint64_t value = 0;

	for (; at < r->line_end && hex_digit(*at) >= 0; at++) {
		if (value >> 60)
			return false;
		value = value << 4 | (uint64_t)hex_digit(*at);
	}
	if (at == r->at)
		return false;
	r->at = at;
	*out = value;
	return true;
}

bool reader_number(struct topo_reader *r, uint64_t max, uint64_t *out)
{
	const char *start = r->at;
	uint64_t value;

	if (reader_skip(r, "0x") || reader_skip(r, "0X")) {
		if (reader_hex(r, &value) && value <= max) {
			*out = value;
			return true;
		}
		r->at = start;
		return false;
	}
	return reader_decimal(r, max, out);
}

bool reader_until(struct topo_reader *r, char stop, const char **start, size_t *len)
{
	const char *found = memchr(r->at, stop, (size_t)(r->line_end - r->at));

	if (!found)
		return false;
	*start = r->at;
	*len = (size_t)(found - r->at);
	r->at = found + 1;
	return true;
}

static bool read_width(struct topo_reader *r, uint8_t *widths)
{
	static const struct {
		const char *text;
		uint8_t set;
	} known[] = {
		{ "12x", WIDTH_12X }, { "1x", WIDTH_1X }, { "2x", WIDTH_2X },
		{ "4x", WIDTH_4X },   { "8x", WIDTH_8X }, { "??", 0 },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		if (reader_skip(r, known[i].text)) {
			*widths = known[i].set;
			return true;
		}
	}
	return false;
}

bool reader_link(struct topo_reader *r, const char *gap, uint8_t *widths, uint16_t *speeds)
{
	const char *start = r->at;

	if (!read_width(r, widths) || !reader_skip(r, gap))
		goto unknown;
	if (reader_skip(r, "???")) {
		*speeds = 0;
		return true;
	}
	/* FDR10 precedes FDR, which is a prefix of it. */
	for (unsigned i = 0; i < SPEED_COUNT; i++) {
		if (!reader_skip(r, hd_link_speed_name((enum link_speed)i)))
			continue;
		*speeds = (uint16_t)(1u << i);
		return true;
	}
unknown:
	r->at = start;
	return false;
}

enum hd_status reader_add_node(struct topo_reader *r, enum node_kind kind, uint64_t n_ports,
			       const char *name, size_t name_len, node_id *out)
{
	if (n_ports < 1 || n_ports > TOPO_MAX_PORTS)
		return reader_refuse(r, "%" PRIu64 " ports: a node has 1 to %u", n_ports,
				     TOPO_MAX_PORTS);
	if (r->t.n_ports + n_ports + 1 > READER_MAX_PORTS)
		return reader_refuse(r, "more than %u ports in all", READER_MAX_PORTS);
	char *copy = hd_strndup(name, name_len);

	node_id id = topo_add_node(&r->t, kind, (unsigned)n_ports, copy);

	free(copy);
	r->t.nodes[id].line = r->line;
	for (unsigned n = 0; n <= n_ports; n++) {
		r->t.ports[topo_port_of(&r->t, id, n)].vls = READER_VLS;
		r->t.ports[topo_port_of(&r->t, id, n)].line = r->line;
	}
	*out = id;
	return HD_OK;
}

enum hd_status reader_set_guid(struct topo_reader *r, node_id node, uint64_t guid)
{
	struct topo_node *v = &r->t.nodes[node];
	uint32_t first = map_put(&r->guids, guid, node);

	v->guid = guid;
	if (v->kind == NODE_SWITCH)
		r->t.ports[v->first_port].guid = guid;
	for (unsigned n = 1; n <= v->n_ports && v->kind != NODE_SWITCH; n++)
		r->t.ports[v->first_port + n].guid = guid + n;
	if (first == MAP_NONE)
		return HD_OK;
	return reader_problem(r, PROBLEM_GUID_CLASH, v->line, r->t.nodes[first].line,
			      "GUID 0x%016" PRIx64 " is that of the node of line %u too", guid,
			      r->t.nodes[first].line);
}

struct cable_claim *reader_claim(struct topo_reader *r, port_id from)
{
	r->claims = hd_grow(r->claims, &r->claims_cap, r->n_claims + 1, sizeof(*r->claims));
	struct cable_claim *c = &r->claims[r->n_claims++];

	*c = (struct cable_claim){ .from = from, .node = TOPO_NONE, .line = r->line, .number = 1 };
	r->t.ports[from].line = r->line;
	return c;
}

/* Resolves the name or GUID of a claim's other end to a port. */
static enum hd_status find_end(struct topo_reader *r, const struct cable_claim *c, port_id *out)
{
	node_id node = c->node;

	*out = TOPO_NONE;
	if (node == TOPO_NONE)
		node = text_map_get(&r->ids, c->id, c->id_len);
	if (node == TOPO_NONE)
		return reader_problem(r, PROBLEM_MISSING_END, c->line, 0,
				      "the other end, '%.*s', is not in the file",
				      c->id_len > 100 ? 100 : (int)c->id_len, c->id);
	const struct topo_node *v = &r->t.nodes[node];

	if (c->number < 1 || c->number > v->n_ports)
		return reader_problem(r, PROBLEM_MISSING_END, c->line, v->line,
				      "the other end is port %u of a node that has %u (line %u)",
				      c->number, v->n_ports, v->line);
	*out = v->first_port + c->number;
	return HD_OK;
}

/* For each port, the first claim made from it. */
static enum hd_status collect(struct topo_reader *r, const port_id *to, uint32_t *claim_of)
{
	for (uint32_t i = 0; i < r->n_claims; i++) {
		const struct cable_claim *c = &r->claims[i];
		uint32_t first = claim_of[c->from];

		if (first == MAP_NONE) {
			claim_of[c->from] = i;
			continue;
		}
		const struct cable_claim *other = &r->claims[first];
		bool same = to[i] == to[first];
		enum hd_status status = reader_problem(
			r, same ? PROBLEM_DUPLICATE : PROBLEM_PORT_CLASH, c->line, other->line,
			same ? "port %u is cabled as line %u said already"
			     : "port %u is in use by the cable of line %u",
			r->t.ports[c->from].number, other->line);

		if (status != HD_OK)
			return status;
	}
	return HD_OK;
}

static const char *name_of_speed(uint16_t speeds)
{
	unsigned speed = SPEED_COUNT;

	while (speed > 0 && !(speeds & 1u << (speed - 1)))
		speed--;
	return speed ? hd_link_speed_name((enum link_speed)(speed - 1)) : "???";
}

/*
 * A link has one width and one speed, the same at both ends. Ends without a common width and speed
 * are rejected.
 */
static enum hd_status check_speed(struct topo_reader *r, port_id port, uint32_t line)
{
	const struct topo_port *p = &r->t.ports[port];
	const struct topo_port *q = &r->t.ports[p->peer];
	struct topo_link_state state;

	if (topo_link_state(&r->t, port, &state) == HD_OK)
		return HD_OK;
	bool width = p->widths && q->widths && !(p->widths & q->widths);

	return reader_problem(
		r, PROBLEM_SPEED, line, q->line,
		"the ends of a cable have no %s in common: port %u of '%.*s' has %ux %s, port %u of '%.*s' (line %u) %ux %s",
		width ? "width" : "speed", p->number, PROBLEM_NAME, topo_node_of(&r->t, port)->name,
		topo_widest(p->widths), name_of_speed(p->speeds), q->number, PROBLEM_NAME,
		topo_node_of(&r->t, p->peer)->name, q->line, topo_widest(q->widths),
		name_of_speed(q->speeds));
}

/* Connects the cable of a claim if the other end agrees. */
static enum hd_status join(struct topo_reader *r, const struct cable_claim *c, port_id to,
			   const struct cable_claim *back, port_id back_to)
{
	struct topo_port *p = &r->t.ports[c->from], *q = &r->t.ports[to];

	if (p->peer == to)
		return HD_OK; /* done from the other end */
	if (c->from == to)
		return reader_problem(r, PROBLEM_LOOP, c->line, 0, "port %u is cabled to itself",
				      p->number);
	if (back ? back_to != c->from : !c->one_sided)
		return reader_problem(
			r, PROBLEM_ASYMMETRIC, c->line,
			back ? back->line : r->t.nodes[q->node].line,
			back ? "the other end, port %u, is cabled elsewhere (line %u)"
			     : "the other end, port %u, is not cabled at all (node of line %u)",
			q->number, back ? back->line : r->t.nodes[q->node].line);
	if (p->peer != TOPO_NONE || q->peer != TOPO_NONE)
		return reader_problem(r, PROBLEM_PORT_CLASH, c->line, q->line,
				      "the other end, port %u, is in use", q->number);
	topo_link(&r->t, c->from, to);
	if (c->guid && q->guid && c->guid != q->guid)
		return reader_problem(r, PROBLEM_ASYMMETRIC, c->line, q->line,
				      "the other end has GUID 0x%016" PRIx64 ", not 0x%016" PRIx64
				      " (line %u)",
				      q->guid, c->guid, q->line);
	return check_speed(r, c->from, c->line);
}

static enum hd_status join_all(struct topo_reader *r, const port_id *to, const uint32_t *claim_of)
{
	for (uint32_t i = 0; i < r->n_claims; i++) {
		const struct cable_claim *c = &r->claims[i], *back = NULL;
		port_id back_to = TOPO_NONE;

		if (to[i] == TOPO_NONE || claim_of[c->from] != i)
			continue;
		uint32_t b = claim_of[to[i]];

		if (b != MAP_NONE) {
			back = &r->claims[b];
			back_to = to[b];
		}
		enum hd_status status = join(r, c, to[i], back, back_to);

		if (status != HD_OK)
			return status;
	}
	return HD_OK;
}

/*
 * Discovery finds its own node first and prints it last: without this node, the file is incomplete.
 */
static enum hd_status check_origin(struct topo_reader *r)
{
	uint64_t guid = r->t.source.from_node;

	if (!r->origin_line || !guid || map_get(&r->guids, guid) != MAP_NONE)
		return HD_OK;
	return reader_problem(r, PROBLEM_MISSING_END, r->origin_line, 0,
			      "the node where discovery began, %016" PRIx64 ", is not in the file",
			      guid);
}

enum hd_status reader_finish(struct topo_reader *r, struct topo *out)
{
	port_id *to = hd_alloc(r->n_claims, sizeof(*to));
	uint32_t *claim_of = hd_alloc(r->t.n_ports, sizeof(*claim_of));
	enum hd_status status = HD_OK;

	memset(claim_of, 0xff, r->t.n_ports * sizeof(*claim_of));
	for (size_t i = 0; i < r->n_claims && status == HD_OK; i++)
		status = find_end(r, &r->claims[i], &to[i]);
	if (status == HD_OK)
		status = collect(r, to, claim_of);
	if (status == HD_OK)
		status = join_all(r, to, claim_of);
	if (status == HD_OK)
		status = check_origin(r);
	free(to);
	free(claim_of);
	if (status != HD_OK)
		return status;
	topo_number_subnets(&r->t);
	if (r->t.n_subnets > TOPO_MOST_SUBNETS)
		return reader_refuse(r, "more than %d subnets", TOPO_MOST_SUBNETS);
	topo_number_tiers(&r->t);
	*out = r->t;
	topo_init(&r->t);
	return HD_OK;
}
