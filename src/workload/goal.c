/* SPDX-License-Identifier: BSD-2-Clause */
/* GOAL text, read as it comes: files of gigabytes are nothing unusual. */
#include "workload/tokenizer.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"

/* Labels of one rank, from names to operations. */
struct labels {
	struct label {
		uint32_t hash;
		uint32_t op; /* + 1; 0: free */
		size_t name; /* offset in `names` */
		uint32_t len;
	} * slots;
	size_t cap, n; /* cap is 0 or a power of two */
	struct strbuf names;
};

struct goal {
	struct tokenizer in;
	struct opgraph *g;
	uint32_t rank;
	struct labels labels;
	struct opgraph_link *links;
	size_t n_links, links_cap;
};

/* ---- labels ------------------------------------------------------------ */

static struct label *label_at(struct labels *l, const struct token *t, uint32_t hash)
{
	size_t i = hash & (l->cap - 1);

	while (l->slots[i].op && (l->slots[i].hash != hash || l->slots[i].len != t->len ||
				  memcmp(&l->names.text[l->slots[i].name], t->text, t->len) != 0))
		i = (i + 1) & (l->cap - 1);
	return &l->slots[i];
}

static void labels_grow(struct labels *l)
{
	struct labels old = *l;

	l->cap = old.cap ? 2 * old.cap : 64;
	l->slots = hd_alloc(l->cap, sizeof(*l->slots));
	for (size_t k = 0; k < old.cap; k++) {
		size_t i = old.slots[k].hash & (l->cap - 1);

		if (!old.slots[k].op)
			continue;
		while (l->slots[i].op)
			i = (i + 1) & (l->cap - 1);
		l->slots[i] = old.slots[k];
	}
	free(old.slots);
}

static void labels_clear(struct labels *l)
{
	if (l->n)
		memset(l->slots, 0, l->cap * sizeof(*l->slots));
	l->n = 0;
	strbuf_clear(&l->names);
}

/* ---- statements -------------------------------------------------------- */

static enum hd_status add_label(struct goal *p, const struct token *t, uint32_t op)
{
	uint32_t hash = text_hash(t->text, t->len);

	if (2 * (p->labels.n + 1) > p->labels.cap)
		labels_grow(&p->labels);
	struct label *l = label_at(&p->labels, t, hash);

	if (l->op)
		return tokenizer_fail(&p->in, t, "a second operation with the label '%.*s'",
				      token_show(t), t->text);
	*l = (struct label){ hash, op + 1, p->labels.names.len, t->len };
	strbuf_add(&p->labels.names, t->text, t->len);
	p->labels.n++;
	return HD_OK;
}

static enum hd_status find_label(struct goal *p, const struct token *t, uint32_t *out)
{
	const struct label *l = NULL;

	if (p->labels.cap)
		l = label_at(&p->labels, t, text_hash(t->text, t->len));
	if (!l || !l->op)
		return tokenizer_fail(&p->in, t,
				      "no operation of rank %u has the label '%.*s' so far",
				      p->rank, token_show(t), t->text);
	*out = l->op - 1;
	return HD_OK;
}

/* "l2 requires l1": `t` is l2. */
static enum hd_status read_link(struct goal *p, const struct token *t)
{
	struct opgraph_link link = { .line = t->line };
	struct token how;
	uint32_t flag = 0;
	enum hd_status status = find_label(p, t, &link.to);

	if (status != HD_OK)
		return status;
	tokenizer_next(&p->in, &how);
	if (token_is(&how, "irequires"))
		flag = OPGRAPH_STARTED;
	else if (!token_is(&how, "requires"))
		return tokenizer_fail(&p->in, &how,
				      "'%.*s' where ':', 'requires' or 'irequires' was expected",
				      token_show(&how), how.text);
	tokenizer_next(&p->in, &how);
	status = find_label(p, &how, &link.from);
	if (status != HD_OK)
		return status;
	if (link.from == link.to)
		return tokenizer_fail(&p->in, t, "an operation that waits for itself");
	link.from |= flag;
	p->links = hd_grow(p->links, &p->links_cap, p->n_links + 1, sizeof(*p->links));
	p->links[p->n_links++] = link;
	return HD_OK;
}

/* Parses the words after an operation; `next` is the first token that does not belong to it. */
static enum hd_status read_extras(struct goal *p, struct op *op, struct token *next)
{
	enum hd_status status = HD_OK;

	for (; status == HD_OK; tokenizer_next(&p->in, next)) {
		uint64_t value;

		if (token_is(next, "tag") && op->kind != OP_COMPUTE) {
			status = tokenizer_number(&p->in, "a tag", UINT32_MAX - 1,
						  op->kind == OP_RECV, &value);
			op->tag = value == UINT64_MAX ? OP_ANY : (uint32_t)value;
		} else if (token_is(next, "cpu")) {
			status = tokenizer_number(&p->in, "a CPU", 255, false, &value);
			op->cpu = (uint8_t)value;
		} else if (token_is(next, "nic") && op->kind != OP_COMPUTE) {
			status = tokenizer_number(&p->in, "a NIC", 255, false, &value);
		} else {
			return HD_OK;
		}
		if (status != HD_OK)
			return status;
	}
	return status;
}

static enum hd_status read_peer(struct goal *p, struct op *op)
{
	bool receives = op->kind == OP_RECV;
	const char *word = receives ? "from" : "to";
	struct token t;
	uint64_t value;

	tokenizer_next(&p->in, &t);
	if (!token_is(&t, word))
		return tokenizer_fail(&p->in, &t, "'%.*s' where '%s' was expected", token_show(&t),
				      t.text, word);
	enum hd_status status =
		tokenizer_number(&p->in, "a rank", p->g->n_ranks - 1, receives, &value);

	if (status != HD_OK)
		return status;
	op->peer = value == UINT64_MAX ? OP_ANY : (uint32_t)value;
	if (op->peer == p->rank)
		return diag_fail_at(p->in.d, HD_ERR_INPUT, op->line, 0, "rank %u %s itself",
				    p->rank, receives ? "receives from" : "sends to");
	return HD_OK;
}

static bool kind_of(const struct token *t, uint8_t *kind)
{
	if (token_is(t, "calc"))
		*kind = OP_COMPUTE;
	else if (token_is(t, "send"))
		*kind = OP_SEND;
	else if (token_is(t, "recv"))
		*kind = OP_RECV;
	else
		return false;
	return true;
}

static bool is_letter(char c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/* A letter, then letters, digits and _. */
static bool is_label(const struct token *t)
{
	for (uint32_t i = 0; i < t->len; i++) {
		char c = t->text[i];

		if (!is_letter(c) && (i == 0 || (c != '_' && (c < '0' || c > '9'))))
			return false;
	}
	return t->len > 0;
}

/* `t` is its first token; `next` becomes the token after it. */
static enum hd_status read_op(struct goal *p, const struct token *t, struct token *next)
{
	struct op op = { .line = t->line };
	uint64_t most = OP_MOST_SIZE;
	enum hd_status status;

	if (!kind_of(t, &op.kind))
		return tokenizer_fail(&p->in, t, "'%.*s' where calc, send or recv was expected",
				      token_show(t), t->text);
	if (p->g->n_ops >= OPGRAPH_MOST)
		return tokenizer_fail(&p->in, t, "more than %u operations", OPGRAPH_MOST);
	if (op.kind == OP_COMPUTE)
		most = OP_MOST_TIME / 1000;
	status = op.kind == OP_COMPUTE
			 ? tokenizer_number(&p->in, "a time in ns", most, false, &op.size)
			 : tokenizer_size(&p->in, &op.size);
	if (op.kind == OP_COMPUTE)
		op.size *= 1000;
	else if (status == HD_OK)
		status = read_peer(p, &op);
	if (status != HD_OK)
		return status;
	tokenizer_next(&p->in, next);
	status = read_extras(p, &op, next);
	opgraph_add(p->g, &op);
	return status;
}

/* ---- the file ---------------------------------------------------------- */

/* Behind "{", and the "}" too. */
static enum hd_status read_block(struct goal *p)
{
	char name[TOKEN_LONGEST];
	struct token t, next;
	enum hd_status status = HD_OK;

	tokenizer_next(&p->in, &t);
	while (status == HD_OK && !token_is(&t, "}")) {
		uint8_t kind;

		if (t.len == 0)
			return tokenizer_fail(&p->in, &t, "rank %u has no '}'", p->rank);
		if (kind_of(&t, &kind)) {
			status = read_op(p, &t, &next);
		} else if (tokenizer_peek(&p->in) == ':') {
			struct token label = t;

			if (!is_label(&t))
				return tokenizer_fail(
					&p->in, &t,
					"'%.*s' is not a label (a letter, then letters, digits and _)",
					token_show(&t), t.text);
			memcpy(name, t.text, t.len);
			label.text = name;
			tokenizer_next(&p->in, &next);
			tokenizer_next(&p->in, &t);
			status = read_op(p, &t, &next);
			if (status == HD_OK)
				status = add_label(p, &label, p->g->n_ops - 1);
		} else {
			status = read_link(p, &t);
			if (status == HD_OK)
				tokenizer_next(&p->in, &next);
		}
		t = next;
	}
	return status;
}

static enum hd_status read_rank(struct goal *p, uint32_t least)
{
	struct token t;
	uint64_t rank;
	enum hd_status status = tokenizer_number(&p->in, "a rank", p->g->n_ranks - 1, false, &rank);

	if (status != HD_OK)
		return status;
	tokenizer_next(&p->in, &t);
	if (rank < least)
		return tokenizer_fail(&p->in, &t, "rank %u comes after rank %u", (unsigned)rank,
				      least - 1);
	if (!token_is(&t, "{"))
		return tokenizer_fail(&p->in, &t, "'%.*s' where '{' was expected", token_show(&t),
				      t.text);
	p->rank = (uint32_t)rank;
	labels_clear(&p->labels);
	p->n_links = 0;
	status = read_block(p);
	return status == HD_OK ? opgraph_end_rank(p->g, p->rank, p->links, p->n_links, p->in.d)
			       : status;
}

static enum hd_status read_ranks(struct goal *p)
{
	enum hd_status status = HD_OK;
	uint32_t least = 0;
	struct token t;

	tokenizer_next(&p->in, &t);
	while (status == HD_OK && t.len) {
		if (!token_is(&t, "rank"))
			return tokenizer_fail(&p->in, &t, "'%.*s' where 'rank' was expected",
					      token_show(&t), t.text);
		status = read_rank(p, least);
		least = p->rank + 1;
		if (status == HD_OK)
			tokenizer_next(&p->in, &t);
	}
	return status == HD_OK ? tokenizer_end(&p->in) : status;
}

static enum hd_status read_goal(struct goal *p)
{
	uint64_t n;
	enum hd_status status =
		tokenizer_number(&p->in, "a number of ranks", OPGRAPH_MOST, false, &n);

	if (status != HD_OK)
		return status;
	if (n == 0)
		return tokenizer_fail(&p->in, NULL, "num_ranks is 0");
	opgraph_begin(p->g, (uint32_t)n);
	status = read_ranks(p);
	if (status == HD_OK)
		opgraph_end(p->g);
	else
		opgraph_fini(p->g);
	return status;
}

enum hd_status opgraph_read(FILE *in, struct diag *d, struct opgraph *out)
{
	struct goal p = { .g = out, .labels.names = STRBUF_INIT };
	struct token t;
	enum hd_status status;

	tokenizer_init(&p.in, in, d);
	tokenizer_next(&p.in, &t);
	if (token_is(&t, "num_ranks"))
		status = read_goal(&p);
	else if (token_is(&t, "Nodes"))
		status = matrix_read(&p.in, out);
	else
		status = tokenizer_fail(
			&p.in, &t,
			"'%.*s' where 'num_ranks N' (GOAL) or 'Nodes N' (a connection matrix) was expected",
			token_show(&t), t.text);
	tokenizer_fini(&p.in);
	free(p.labels.slots);
	strbuf_fini(&p.labels.names);
	free(p.links);
	return status;
}

enum hd_status opgraph_read_file(const char *path, struct diag *d, struct opgraph *out)
{
	FILE *in;
	enum hd_status status = file_open(path, d, &in);

	if (status != HD_OK)
		return status;
	status = opgraph_read(in, d, out);
	file_close(in);
	return status;
}
