/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connection matrices of htsim: each connection is a send and a receive with a
 * tag of its own. A trigger is a dependency, so that it must be pulled and
 * waited for at one node: what is known elsewhere takes a message.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "workload/tokenizer.h"

struct connection {
	uint32_t from, to;
	uint64_t start, size;
	uint32_t line;
	uint32_t trigger, pulls_sent, pulls_received; /* ids, or MAP_NONE */
	uint32_t send, receive;                       /* operations, in the end */
};

struct trigger {
	uint32_t line;
	bool is_barrier, is_multishot, is_there;
	uint64_t count;
	uint32_t n_pulled, n_waiting;
	uint32_t *pulls; /* connection << 1, | 1 when it is received */
	size_t pulls_cap;
};

struct matrix {
	struct tokenizer *in;
	uint64_t n_nodes;
	/* Values of the header; UINT64_MAX: absent. */
	uint64_t n_connections, n_triggers_said;
	struct connection *items;
	size_t n, cap;
	struct map ids; /* of triggers */
	struct trigger *triggers;
	size_t n_triggers, triggers_cap;
	struct opgraph_link *links;
	size_t n_links, links_cap;
};

static uint32_t trigger_of(struct matrix *m, uint64_t id)
{
	uint32_t at = map_get(&m->ids, id);

	if (at != MAP_NONE)
		return at;
	m->triggers =
		hd_grow(m->triggers, &m->triggers_cap, m->n_triggers + 1, sizeof(*m->triggers));
	m->triggers[m->n_triggers] = (struct trigger){ .line = m->in->line };
	map_put(&m->ids, id, (uint32_t)m->n_triggers);
	return (uint32_t)m->n_triggers++;
}

/* "0->13" */
static enum hd_status read_ends(struct matrix *m, const struct token *t, struct connection *c)
{
	char text[TOKEN_LONGEST], *end;

	memcpy(text, t->text, t->len);
	text[t->len] = '\0';
	unsigned long from = strtoul(text, &end, 10), to;
	bool is_pair = end > text && strncmp(end, "->", 2) == 0 && end[2] >= '0' && end[2] <= '9' &&
		       text[0] != '-';

	to = is_pair ? strtoul(end + 2, &end, 10) : 0;
	if (!is_pair || *end)
		return tokenizer_fail(m->in, t,
				      "'%.*s' where a connection 'A->B' or 'trigger' was expected",
				      token_show(t), t->text);
	if (from >= m->n_nodes || to >= m->n_nodes)
		return tokenizer_fail(m->in, t, "'%.*s': there are %u nodes", token_show(t),
				      t->text, (unsigned)m->n_nodes);
	if (from == to)
		return tokenizer_fail(m->in, t, "node %lu sends to itself", from);
	c->from = (uint32_t)from;
	c->to = (uint32_t)to;
	return HD_OK;
}

enum { FIELD_ID, FIELD_PRIO, FIELD_START, FIELD_SIZE, FIELD_TRIGGER };

/* One "word value" of a connection, noted in `given`; false for other
 * words. */
static bool read_field(struct matrix *m, const struct token *t, struct connection *c,
		       unsigned *given, enum hd_status *status)
{
	/* The first as FIELD_ has them. */
	const struct {
		const char *word, *what;
		uint64_t most;
		uint32_t *trigger;
		uint64_t *value;
	} fields[] = {
		{ "id", "an id", UINT32_MAX, NULL, NULL },
		{ "prio", "a priority", UINT32_MAX, NULL, NULL },
		{ "start", "a time in ps", OP_MOST_TIME, NULL, &c->start },
		{ "size", "a size in bytes", OP_MOST_SIZE, NULL, &c->size },
		{ "trigger", "a trigger", UINT32_MAX, &c->trigger, NULL },
		{ "send_done_trigger", "a trigger", UINT32_MAX, &c->pulls_sent, NULL },
		{ "recv_done_trigger", "a trigger", UINT32_MAX, &c->pulls_received, NULL },
	};

	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		uint64_t value = 0;

		if (!token_is(t, fields[i].word))
			continue;
		if (*given & 1u << i) {
			*status = tokenizer_fail(m->in, t, "'%s' is given twice", fields[i].word);
			return true;
		}
		*given |= 1u << i;
		*status = tokenizer_number(m->in, fields[i].what, fields[i].most, false, &value);
		if (*status == HD_OK && fields[i].trigger)
			*fields[i].trigger = trigger_of(m, value);
		if (fields[i].value)
			*fields[i].value = value;
		return true;
	}
	return false;
}

static enum hd_status check_given(struct matrix *m, unsigned line, unsigned given)
{
	const struct token at = { "", 1, line };

	if (!(given & 1u << FIELD_SIZE))
		return tokenizer_fail(m->in, &at, "a connection without a size");
	if (!(given & (1u << FIELD_START | 1u << FIELD_TRIGGER)))
		return tokenizer_fail(m->in, &at, "a connection without 'start' or 'trigger'");
	if (m->n == m->n_connections)
		return tokenizer_fail(m->in, &at,
				      "a connection more than the %llu of 'Connections'",
				      (unsigned long long)m->n_connections);
	return HD_OK;
}

/* `t` is its first token and becomes the token after it. */
static enum hd_status read_connection(struct matrix *m, struct token *t)
{
	struct connection c = { .line = t->line,
				.trigger = MAP_NONE,
				.pulls_sent = MAP_NONE,
				.pulls_received = MAP_NONE };
	enum hd_status status = read_ends(m, t, &c);
	unsigned given = 0;

	if (status != HD_OK)
		return status;
	tokenizer_next(m->in, t);
	/* A line is a connection: its last word "trigger" has a number. */
	while (t->len && t->line == c.line && status == HD_OK &&
	       read_field(m, t, &c, &given, &status))
		tokenizer_next(m->in, t);
	if (status != HD_OK)
		return status;
	if (m->n >= OPGRAPH_MOST)
		return tokenizer_fail(m->in, t, "more than %u connections", OPGRAPH_MOST);
	if (t->len && t->line == c.line)
		return tokenizer_fail(m->in, t, "'%.*s' is not a field of a connection",
				      token_show(t), t->text);
	status = check_given(m, c.line, given);
	if (status != HD_OK)
		return status;
	m->items = hd_grow(m->items, &m->cap, m->n + 1, sizeof(*m->items));
	m->items[m->n++] = c;
	return HD_OK;
}

/* "trigger id 2 barrier count 3" */
static enum hd_status read_trigger(struct matrix *m, struct token *t)
{
	struct trigger *g;
	uint32_t number;
	uint64_t id;

	tokenizer_next(m->in, t);
	if (!token_is(t, "id"))
		return tokenizer_fail(m->in, t, "a trigger without an id");
	enum hd_status status = tokenizer_number(m->in, "a trigger", UINT32_MAX, false, &id);

	if (status != HD_OK)
		return status;
	number = trigger_of(m, id);
	g = &m->triggers[number];
	tokenizer_next(m->in, t);
	g->line = t->line;
	g->is_there = true;
	g->count = 1;
	g->is_barrier = token_is(t, "barrier");
	g->is_multishot = token_is(t, "multishot");
	if (!g->is_barrier && !g->is_multishot && !token_is(t, "oneshot"))
		return tokenizer_fail(m->in, t,
				      "'%.*s' where oneshot, multishot or barrier was expected",
				      token_show(t), t->text);
	tokenizer_next(m->in, t);
	if (!token_is(t, "count"))
		return g->is_barrier ? tokenizer_fail(m->in, t, "a barrier without a count")
				     : HD_OK;
	status = tokenizer_number(m->in, "a count", UINT32_MAX, false, &g->count);
	if (status == HD_OK)
		tokenizer_next(m->in, t);
	return status;
}

/* At the end of the file: it has all that its head promised. */
static enum hd_status check_counts(struct matrix *m, const struct token *end)
{
	uint64_t n_triggers = 0;

	for (size_t i = 0; i < m->n_triggers; i++)
		n_triggers += m->triggers[i].is_there;
	if (m->n != m->n_connections)
		return tokenizer_fail(m->in, end,
				      "%zu of the %llu connections that 'Connections' says", m->n,
				      (unsigned long long)m->n_connections);
	if (m->n_triggers_said != UINT64_MAX && n_triggers != m->n_triggers_said)
		return tokenizer_fail(m->in, end, "%llu triggers, but 'Triggers' says %llu",
				      (unsigned long long)n_triggers,
				      (unsigned long long)m->n_triggers_said);
	return HD_OK;
}

static enum hd_status read_items(struct matrix *m, struct token *t)
{
	enum hd_status status = HD_OK;

	while (status == HD_OK && t->len)
		status = token_is(t, "trigger") ? read_trigger(m, t) : read_connection(m, t);
	if (status == HD_OK)
		status = tokenizer_end(m->in);
	return status == HD_OK ? check_counts(m, t) : status;
}

/* ---- what depends on what ----------------------------------------------- */

/* Connections by node, in the order of the file: node v has those at[v] up to
 * at[v + 1] of `of`. */
struct by_node {
	uint32_t *at, *of;
};

static void by_node_init(const struct matrix *m, struct by_node *b)
{
	b->at = hd_alloc(m->n_nodes + 2, sizeof(*b->at));
	b->of = hd_alloc(2 * m->n, sizeof(*b->of));
	for (size_t i = 0; i < m->n; i++) {
		b->at[m->items[i].from + 2]++;
		b->at[m->items[i].to + 2]++;
	}
	for (size_t v = 2; v < m->n_nodes + 2; v++)
		b->at[v] += b->at[v - 1];
	for (size_t i = 0; i < m->n; i++) {
		b->of[b->at[m->items[i].from + 1]++] = (uint32_t)i;
		b->of[b->at[m->items[i].to + 1]++] = (uint32_t)i;
	}
}

static void pull(struct matrix *m, uint32_t trigger, uint32_t by)
{
	struct trigger *g;

	if (trigger == MAP_NONE)
		return;
	g = &m->triggers[trigger];
	g->pulls = hd_grow(g->pulls, &g->pulls_cap, (size_t)g->n_pulled + 1, sizeof(*g->pulls));
	g->pulls[g->n_pulled++] = by;
}

static void count_pulls(struct matrix *m)
{
	for (size_t i = 0; i < m->n; i++) {
		const struct connection *c = &m->items[i];

		pull(m, c->pulls_sent, (uint32_t)i << 1);
		pull(m, c->pulls_received, (uint32_t)i << 1 | 1);
		if (c->trigger != MAP_NONE)
			m->triggers[c->trigger].n_waiting++;
	}
}

static enum hd_status check_triggers(struct matrix *m)
{
	for (size_t i = 0; i < m->n_triggers; i++) {
		const struct trigger *g = &m->triggers[i];
		const struct token at = { "", 1, g->line };

		if (!g->is_there)
			return tokenizer_fail(m->in, &at, "a trigger that no line describes");
		if (g->n_waiting && g->n_pulled < g->count)
			return tokenizer_fail(m->in, &at,
					      "a trigger that is never pulled, or not %llu times",
					      (unsigned long long)g->count);
		if (g->n_pulled > g->count || (g->is_multishot && g->n_waiting > 1))
			return tokenizer_fail(
				m->in, &at,
				"a trigger whose effect depends on which pull comes first");
	}
	return HD_OK;
}

static void add_link(struct matrix *m, uint32_t from, uint32_t to, uint32_t line)
{
	m->links = hd_grow(m->links, &m->links_cap, m->n_links + 1, sizeof(*m->links));
	m->links[m->n_links++] = (struct opgraph_link){ from, to, line };
}

/* Adds the dependencies of the connection's send. */
static enum hd_status add_pulls(struct matrix *m, const struct connection *w)
{
	const struct trigger *g = &m->triggers[w->trigger];
	const struct token at = { "", 1, w->line };

	for (uint32_t i = 0; i < g->n_pulled; i++) {
		const struct connection *c = &m->items[g->pulls[i] >> 1];
		bool received = g->pulls[i] & 1;
		uint32_t node = received ? c->to : c->from;

		if (node != w->from)
			return tokenizer_fail(
				m->in, &at,
				"node %u waits for a trigger that node %u pulls (line %u), which it cannot know",
				w->from, node, c->line);
		add_link(m, received ? c->receive : c->send, w->send, w->line);
	}
	return HD_OK;
}

static void add_ops(struct matrix *m, struct opgraph *g, struct connection *c, uint32_t rank)
{
	struct op op = { .size = c->size,
			 .kind = c->to == rank ? OP_RECV : OP_SEND,
			 .peer = c->to == rank ? c->from : c->to,
			 .tag = (uint32_t)(c - m->items),
			 .line = c->line };

	if (c->to == rank)
		c->receive = opgraph_add(g, &op);
	else
		c->send = opgraph_add(g, &op);
}

static int compare_starts(const void *a, const void *b)
{
	const struct connection *x = *(const struct connection *const *)a;
	const struct connection *y = *(const struct connection *const *)b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* A clock of the node: from one start to the next, on a CPU of its own. */
static void add_starts(struct matrix *m, struct opgraph *g, struct connection **late, size_t n)
{
	struct op op = { .kind = OP_COMPUTE, .cpu = 1 };
	uint64_t now = 0;
	uint32_t last = 0;

	qsort(late, n, sizeof(struct connection *), compare_starts);
	for (size_t i = 0; i < n; i++) {
		if (late[i]->start > now) {
			op.size = late[i]->start - now;
			op.line = late[i]->line;
			uint32_t tick = opgraph_add(g, &op);

			if (now)
				add_link(m, last, tick, op.line);
			last = tick;
			now = late[i]->start;
		}
		add_link(m, last, late[i]->send, late[i]->line);
	}
}

static enum hd_status add_node(struct matrix *m, struct opgraph *g, uint32_t node,
			       const uint32_t *of, size_t n)
{
	struct connection **late = hd_alloc(n, sizeof(struct connection *));
	enum hd_status status = HD_OK;
	size_t n_late = 0;

	m->n_links = 0;
	for (size_t i = 0; i < n; i++)
		add_ops(m, g, &m->items[of[i]], node);
	for (size_t i = 0; i < n && status == HD_OK; i++) {
		struct connection *c = &m->items[of[i]];

		if (c->from != node)
			continue;
		if (c->trigger != MAP_NONE)
			status = add_pulls(m, c);
		else if (c->start)
			late[n_late++] = c;
	}
	add_starts(m, g, late, n_late);
	free(late);
	return status == HD_OK ? opgraph_end_rank(g, node, m->links, m->n_links, m->in->d) : status;
}

static enum hd_status make_graph(struct matrix *m, struct opgraph *g)
{
	struct by_node b;

	count_pulls(m);
	enum hd_status status = check_triggers(m);

	if (status != HD_OK)
		return status;
	by_node_init(m, &b);
	opgraph_begin(g, (uint32_t)m->n_nodes);
	for (uint32_t v = 0; v < m->n_nodes && status == HD_OK; v++)
		status = add_node(m, g, v, &b.of[b.at[v]], b.at[v + 1] - b.at[v]);
	free(b.at);
	free(b.of);
	if (status == HD_OK)
		opgraph_end(g);
	else
		opgraph_fini(g);
	return status;
}

static enum hd_status read_head(struct matrix *m, struct token *t)
{
	enum hd_status status =
		tokenizer_number(m->in, "a number of nodes", OPGRAPH_MOST, false, &m->n_nodes);

	if (status == HD_OK && m->n_nodes == 0)
		return tokenizer_fail(m->in, NULL, "Nodes is 0");
	while (status == HD_OK) {
		tokenizer_next(m->in, t);
		if (!token_is(t, "Connections") && !token_is(t, "Triggers"))
			break;
		status = tokenizer_number(m->in, "a number", UINT32_MAX, false,
					  token_is(t, "Connections") ? &m->n_connections
								     : &m->n_triggers_said);
	}
	if (status == HD_OK && m->n_connections == UINT64_MAX)
		return tokenizer_fail(m->in, t, "'%.*s' where 'Connections N' was expected",
				      token_show(t), t->text);
	return status;
}

enum hd_status matrix_read(struct tokenizer *r, struct opgraph *out)
{
	struct matrix m = { .in = r, .n_connections = UINT64_MAX, .n_triggers_said = UINT64_MAX };
	struct token t = { .text = "" };
	enum hd_status status = read_head(&m, &t);

	if (status == HD_OK)
		status = read_items(&m, &t);
	if (status == HD_OK)
		status = make_graph(&m, out);
	free(m.items);
	for (size_t i = 0; i < m.n_triggers; i++)
		free(m.triggers[i].pulls);
	free(m.triggers);
	free(m.links);
	map_fini(&m.ids);
	return status;
}
