/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/opensm/partitions.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"

/* ---- reading ------------------------------------------------------------- */

#define BLANKS " \t\n\r"

struct partitions_reader {
	struct partitions *out;
	struct diag *d;
	unsigned line;
	uint16_t counter; /* next key to assign */
	/* Partition being read; SIZE_MAX: none yet. */
	size_t current;
	bool full; /* default membership */
	bool any;  /* the file has a partition */
	uint8_t sl;
};

static enum hd_status refuse(struct partitions_reader *r, const char *what, const char *word)
{
	r->d->line = r->line;
	return diag_fail(r->d, HD_ERR_INPUT, "%s '%.60s'", what, word);
}

static char *trim(char *text)
{
	text += strspn(text, BLANKS);
	size_t n = strlen(text);

	while (n && strchr(BLANKS, text[n - 1]))
		text[--n] = '\0';
	return text;
}

/* OpenSM accepts prefixes of a word; an empty text means the first word. */
static bool means(const char *text, const char *word)
{
	return strncmp(text, word, strlen(text)) == 0;
}

/* Splits "name=value" at the sign; returns the value, or NULL. */
static char *split(char *text, char **name)
{
	char *sign = strchr(text, '=');

	if (sign)
		*sign++ = '\0';
	*name = trim(text);
	return sign ? trim(sign) : NULL;
}

/* Splits the next item off a list; NULL at its end. */
static char *next_item(char **rest)
{
	char *item = *rest;

	if (!item)
		return NULL;
	*rest = strchr(item, ',');
	if (*rest)
		*(*rest)++ = '\0';
	return item;
}

static const struct partition *named(const struct partitions *p, const char *name)
{
	for (size_t i = 0; i < p->n; i++) {
		if (strcmp(p->items[i].name, name) == 0)
			return &p->items[i];
	}
	return NULL;
}

const struct partition *partitions_named(const struct partitions *p, const char *name)
{
	return named(p, name);
}

const struct partition *partitions_keyed(const struct partitions *p, uint16_t key)
{
	for (size_t i = 0; i < p->n; i++) {
		if (p->items[i].key == (key & 0x7fff))
			return &p->items[i];
	}
	return NULL;
}

static void add_partition(struct partitions *p, const char *name, uint16_t key)
{
	p->items = hd_grow(p->items, &p->cap, p->n + 1, sizeof(*p->items));
	p->items[p->n++] = (struct partition){
		.name = hd_strdup(name),
		.key = key,
	};
}

static void add_member(struct partition *p, enum partition_who who, uint64_t guid, bool full)
{
	p->members = hd_grow(p->members, &p->members_cap, p->n_members + 1, sizeof(*p->members));
	p->members[p->n_members++] = (struct partition_member){ who, guid, full };
}

static void read_flag(struct partitions_reader *r, const char *flag, const char *value)
{
	static const char *const before_sl[] = { "mtu", "rate", "scope" };
	char *end;

	for (size_t i = 0; i < sizeof(before_sl) / sizeof(before_sl[0]); i++) {
		if (means(flag, before_sl[i]))
			return;
	}
	if (means(flag, "sl")) {
		unsigned long sl = value ? strtoul(value, &end, 0) : 16;

		if (value && *value && sl <= 15 && !*end)
			r->sl = (uint8_t)sl;
	} else if (!means(flag, "FlowLabel") && !means(flag, "ipoib") && means(flag, "defmember") &&
		   value) {
		if (means(value, "limited"))
			r->full = false;
		else if (means(value, "both") || means(value, "full"))
			r->full = true;
	}
}

/* The next free key; 0 if all are used. */
static uint16_t choose_key(struct partitions_reader *r)
{
	while (r->counter < PARTITION_DEFAULT - 1) {
		if (!partitions_keyed(r->out, ++r->counter))
			return r->counter;
	}
	return 0;
}

static enum hd_status begin_partition(struct partitions_reader *r, const char *name, const char *id)
{
	const struct partition *there = NULL;
	char key_name[8];
	uint16_t key = 0;

	if (!id && isdigit((unsigned char)*name)) {
		id = name;
		name = "";
	}
	if (id) {
		char *end;

		key = (uint16_t)(strtoul(id, &end, 0) & 0x7fff);
		if (end == id || *end)
			return refuse(r, "no P_Key is", id);
	}
	if (key)
		there = partitions_keyed(r->out, key);
	else if (*name)
		there = named(r->out, name);
	if (!there && !key) {
		key = choose_key(r);
		if (!key)
			return refuse(r, "no P_Key is left for", name);
	}
	snprintf(key_name, sizeof(key_name), "%04x", key);
	if (!there)
		add_partition(r->out, *name ? name : key_name, key);
	r->current = there ? (size_t)(there - r->out->items) : r->out->n - 1;
	r->out->items[r->current].sl = r->sl;
	r->any = true;
	return HD_OK;
}

/* Reads the text before the colon. */
static enum hd_status read_head(struct partitions_reader *r, char *text)
{
	char *rest = text, *name, *flag;
	const char *id = split(next_item(&rest), &name);

	r->full = false;
	r->sl = 0;
	for (char *item; (item = next_item(&rest));) {
		const char *value = split(item, &flag);

		read_flag(r, flag, value);
	}
	return begin_partition(r, name, id);
}

static enum hd_status read_member(struct partitions_reader *r, const char *name, const char *how)
{
	static const struct {
		const char *word;
		enum partition_who who;
	} words[] = {
		{ "ALL", PARTITION_ALL },
		{ "ALL_CAS", PARTITION_CAS },
		{ "ALL_SWITCHES", PARTITION_SWITCHES },
		{ "ALL_ROUTERS", PARTITION_ROUTERS },
		{ "SELF", PARTITION_SELF },
	};
	struct partition *p = &r->out->items[r->current];
	bool full = how ? means(how, "full") || means(how, "both") : r->full;
	char *end;

	if (means(name, "NONE"))
		return HD_OK;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (means(name, words[i].word)) {
			add_member(p, words[i].who, 0, full);
			return HD_OK;
		}
	}
	uint64_t guid = strtoull(name, &end, 0);

	if (!guid || *end)
		return refuse(r, "no port's GUID is", name);
	add_member(p, PARTITION_PORT, guid, full);
	return HD_OK;
}

static enum hd_status read_members(struct partitions_reader *r, char *text)
{
	enum hd_status status = HD_OK;
	char *rest = text, *name;

	for (char *item; status == HD_OK && (item = next_item(&rest));) {
		const char *how = split(item, &name);

		if (strcmp(name, "mgid") == 0) /* the line is about a group */
			return HD_OK;
		status = read_member(r, name, how);
	}
	return status;
}

/* Reads a part of a line, up to a semicolon or the end. */
static enum hd_status read_part(struct partitions_reader *r, char *text)
{
	if (r->current == SIZE_MAX) {
		char *colon = strchr(text, ':');

		if (!colon)
			return refuse(r, "no ':' after a partition's name in", trim(text));
		*colon++ = '\0';
		enum hd_status status = read_head(r, text);

		if (status != HD_OK)
			return status;
		text = colon;
	}
	return read_members(r, text);
}

static enum hd_status read_line(struct partitions_reader *r, char *line)
{
	enum hd_status status = HD_OK;
	char *comment = strchr(line, '#');

	if (comment)
		*comment = '\0';
	while (status == HD_OK) {
		line += strspn(line, BLANKS);
		if (!*line)
			break;
		char *end = strchr(line, ';');

		if (end)
			*end = '\0';
		status = read_part(r, line);
		if (!end)
			break;
		r->current = SIZE_MAX;
		line = end + 1;
	}
	return status;
}

enum hd_status partitions_read(const char *text, struct diag *d, struct partitions *out)
{
	struct partitions_reader r = { .out = out, .d = d, .current = SIZE_MAX };
	enum hd_status status = HD_OK;

	*out = (struct partitions){ 0 };
	add_partition(out, "Default", PARTITION_DEFAULT);
	add_member(&out->items[0], PARTITION_ALL, 0, false);
	add_member(&out->items[0], PARTITION_SELF, 0, true);
	while (*text && status == HD_OK) {
		size_t len = strcspn(text, "\n");
		char *line = hd_alloc(len + 1, 1);

		memcpy(line, text, len);
		r.line++;
		status = read_line(&r, line);
		free(line);
		text += len + (text[len] == '\n');
	}
	/* A file without partitions counts as absent: all ports are full members. */
	if (!r.any)
		out->items[0].members[0].full = true;
	return status;
}

void partitions_fini(struct partitions *p)
{
	for (size_t i = 0; i < p->n; i++) {
		free(p->items[i].name);
		free(p->items[i].members);
	}
	free(p->items);
}

enum hd_status partitions_load(const char *path, struct diag *d, struct partitions *out)
{
	struct strbuf text = STRBUF_INIT;
	struct partitions read = { 0 };
	enum hd_status status = file_read(path, FILE_WRITTEN_LIMIT, d, &text);

	if (status == HD_OK)
		status = partitions_read(text.text, d, &read);
	if (status == HD_OK)
		*out = read;
	else
		partitions_fini(&read);
	strbuf_fini(&text);
	return status;
}

/* ---- what it makes of a fabric ------------------------------------------- */

static bool is_meant(const struct partition_member *m, const struct topo *t, port_id port,
		     port_id manager)
{
	const struct topo_node *n = &t->nodes[t->ports[port].node];

	switch (m->who) {
	case PARTITION_PORT:
		return t->ports[port].guid == m->guid;
	case PARTITION_ALL:
		return true;
	case PARTITION_CAS:
		return n->kind == NODE_CA;
	case PARTITION_SWITCHES:
		return n->kind == NODE_SWITCH;
	case PARTITION_ROUTERS:
		return n->kind == NODE_ROUTER;
	case PARTITION_SELF:
		return port == manager;
	}
	return false;
}

/* The P_Key of a port in the partition; 0: not a member. */
static uint16_t key_in(const struct partition *p, const struct topo *t, port_id port,
		       port_id manager)
{
	for (size_t i = p->n_members; i-- > 0;) {
		if (is_meant(&p->members[i], t, port, manager))
			return (uint16_t)(p->key | (p->members[i].full ? 0x8000 : 0));
	}
	return 0;
}

/* A switch port passes the P_Keys of its neighbour. */
static void enforce(struct subnet *s, port_id peer, const uint16_t *keys, unsigned n)
{
	if (peer == TOPO_NONE || !topo_is_switch(s->topo, s->topo->ports[peer].node))
		return;
	subnet_set_pkeys(s, peer, keys, n);
	s->pkeys[peer].enforce_in = true;
	s->pkeys[peer].enforce_out = true;
}

void partitions_program(const struct partitions *p, port_id manager, struct subnet *s)
{
	const struct topo *t = s->topo;
	uint16_t *keys = hd_alloc(p->n, sizeof(*keys));

	for (port_id port = 0; port < t->n_ports; port++) {
		unsigned n = 0;

		if (topo_is_switch(t, t->ports[port].node) && t->ports[port].number)
			continue;
		for (size_t i = 0; i < p->n; i++) {
			keys[n] = key_in(&p->items[i], t, port, manager);
			n += keys[n] != 0;
		}
		subnet_set_pkeys(s, port, keys, n);
		s->pkeys[port].enforce_in = true;
		enforce(s, t->ports[port].peer, keys, n);
	}
	free(keys);
}

/* OpenSM orders its maps by the bytes of a key in little-endian order. */
static unsigned order_of(uint16_t key)
{
	return (unsigned)(key & 0xff) << 8 | key >> 8;
}

uint16_t partitions_common(const struct subnet *s, port_id a, port_id b)
{
	const struct pkey_table *of_a = &s->pkeys[a], *of_b = &s->pkeys[b];
	uint16_t best = 0;

	for (unsigned i = 0; i < of_a->n; i++) {
		uint16_t key = of_a->keys[i] & 0x7fff;

		if (pkey_passes(of_b, of_a->keys[i]) && (!best || order_of(key) < order_of(best)))
			best = key;
	}
	return best;
}
