/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages of programs to the daemon: greetings and questions. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "live/daemon/daemon_internal.h"

/* ---- greetings */

static void reply(struct live *l, uint32_t slot, int error, uint32_t number,
		  const struct strbuf *text)
{
	struct live_reply r = { .error = error, .number = number };
	size_t n = text ? text->len : 0;
	uint8_t *all = hd_alloc(sizeof(r) + n, 1);

	memcpy(all, &r, sizeof(r));
	if (n > 0)
		memcpy(all + sizeof(r), text->text, n);
	if (n <= LIVE_TEXT)
		client_send(l, slot, all, sizeof(r) + n, -1);
	else
		client_send(l, slot, all, sizeof(r), live_file(text->text, n));
	free(all);
}

/* umadN is port N + 1 of an adapter; umad0 of a switch is its port 0. */
static bool find_port(const struct live *l, node_id v, uint32_t unit, port_id *out)
{
	const struct topo_node *n = &l->topo->nodes[v];

	if (n->kind == NODE_SWITCH) {
		*out = n->first_port;
		return unit == 0 && n->enhanced_port0;
	}
	*out = n->first_port + unit + 1;
	return unit < n->n_ports;
}

/* Returns an errno. */
static int greet(struct live *l, uint32_t slot, const struct live_greeting *g)
{
	struct client *c = &l->clients[slot];
	size_t len = strnlen(g->host, sizeof(g->host));

	if (g->magic != LIVE_MAGIC)
		return EPROTO;
	c->node = 0;
	if (g->kind == LIVE_CALL && len == 0)
		return 0;
	uint32_t v = text_map_get(&l->node_of_name, g->host, len);

	if (v == MAP_NONE)
		return ENODEV;
	c->node = v;
	if (g->kind == LIVE_CALL || g->kind == LIVE_ADAPTER || g->kind == LIVE_CM)
		return 0;
	if (g->kind != LIVE_UMAD && g->kind != LIVE_ISSM)
		return EPROTO;
	return find_port(l, v, g->unit, &c->port) ? 0 : ENODEV;
}

static bool take_greeting(struct live *l, uint32_t slot, const uint8_t *bytes, size_t size)
{
	struct client *c = &l->clients[slot];
	struct live_greeting g;

	if (size != sizeof(g))
		return false;
	memcpy(&g, bytes, sizeof(g));
	int error = greet(l, slot, &g);

	if (error) {
		reply(l, slot, error, 0, NULL);
		return false;
	}
	c->kind = (enum live_kind)g.kind;
	if (c->kind == LIVE_ISSM)
		agents_set_sm(l->agents, c->port, true, daemon_now(l));
	if (c->kind == LIVE_ADAPTER)
		return adapters_greet(l, slot);
	if (c->kind != LIVE_CALL)
		reply(l, slot, 0, c->number, NULL);
	return true;
}

/* ---- questions */

static void take_command(struct live *l, uint32_t slot, const char *text, size_t size)
{
	enum { MOST_WORDS = 64 };
	const char *words[MOST_WORDS];
	struct diag d = { .status = HD_OK };
	struct strbuf out = STRBUF_INIT;
	size_t n = 0;

	for (size_t at = 0; at < size && n < MOST_WORDS;) {
		size_t len = strnlen(text + at, size - at);

		if (at + len == size)
			break; /* the last word lacks its NUL */
		words[n++] = text + at;
		at += len + 1;
	}
	if (live_obey(l, words, n, &d, &out) != HD_OK) {
		strbuf_clear(&out);
		strbuf_puts(&out, d.message);
	}
	reply(l, slot, 0, (uint32_t)d.status, &out);
	strbuf_fini(&out);
}

static void take_sysfs(struct live *l, uint32_t slot, const char *text, size_t size)
{
	struct strbuf out = STRBUF_INIT;
	node_id v = l->clients[slot].node;
	int error = size > 0 && text[size - 1] == '\0' ? sysfs_make(l, v) : EINVAL;

	if (!error)
		error = sysfs_text(l, v, text, &out);
	reply(l, slot, error, 0, &out);
	strbuf_fini(&out);
}

/* Executes a command for a rdma_cm channel of the same host. */
static void take_cm(struct live *l, uint32_t slot, const uint8_t *bytes, size_t size)
{
	struct cm_response a = { .bytes = STRBUF_INIT };
	uint32_t number = 0, channel = NO_CLIENT;
	int error = EBADF;

	if (size >= sizeof(number)) {
		memcpy(&number, bytes, sizeof(number));
		channel = client_find(l, number, LIVE_CM);
	}
	const struct cm_caller who = { l->clients[slot].node, number };

	if (channel != NO_CLIENT && l->clients[channel].node == l->clients[slot].node)
		error = cm_command(l->cm, &who, bytes + sizeof(number), size - sizeof(number),
				   daemon_now(l), &a);
	reply(l, slot, error, a.taken, &a.bytes);
	strbuf_fini(&a.bytes);
}

static void take_name(struct live *l, uint32_t slot, const char *name, size_t size)
{
	uint32_t v = size > 0 && name[size - 1] == '\0'
			     ? text_map_get(&l->node_of_name, name, size - 1)
			     : MAP_NONE;
	uint32_t address = v == MAP_NONE ? 0 : cm_address(l->cm, v);

	reply(l, slot, address ? 0 : ENOENT, address, NULL);
}

void client_wake(void *live, uint32_t channel)
{
	struct live *l = live;
	uint32_t slot = client_find(l, channel, LIVE_CM);
	const uint8_t byte = 1;

	if (slot != NO_CLIENT)
		client_send(l, slot, &byte, sizeof(byte), -1);
}

static void take_call(struct live *l, uint32_t slot, const uint8_t *bytes, size_t size)
{
	struct live_call c;
	struct live_agent a;
	uint32_t id = 0;
	int error = EINVAL;

	if (size < sizeof(c))
		return;
	memcpy(&c, bytes, sizeof(c));
	bytes += sizeof(c);
	size -= sizeof(c);
	switch (c.question) {
	case LIVE_REGISTER:
	case LIVE_UNREGISTER:
		if (size == sizeof(a)) {
			memcpy(&a, bytes, sizeof(a));
			error = c.question == LIVE_REGISTER ? frame_register(l, &a, &id)
							    : frame_unregister(l, &a);
		}
		reply(l, slot, error, id, NULL);
		break;
	case LIVE_SYSFS:
		take_sysfs(l, slot, (const char *)bytes, size);
		break;
	case LIVE_COMMAND:
		take_command(l, slot, (const char *)bytes, size);
		break;
	case LIVE_CM_COMMAND:
		take_cm(l, slot, bytes, size);
		break;
	case LIVE_ASK_ADDRESS:
		take_name(l, slot, (const char *)bytes, size);
		break;
	default:
		if (!adapters_answer(l, slot, c.question, bytes, size))
			reply(l, slot, ENOSYS, 0, NULL);
	}
}

static void take_call_with(struct live *l, uint32_t slot, const uint8_t *bytes, size_t size,
			   int file)
{
	l->given = file;
	take_call(l, slot, bytes, size);
	if (l->given >= 0)
		close(l->given);
	l->given = -1;
}

/* Processes a frame that was sent as a file. */
static void take_file(struct live *l, uint32_t slot, int file)
{
	struct stat s;

	if (fstat(file, &s) == 0 && s.st_size > UMAD_HEADER && s.st_size < INT64_C(1) << 32) {
		/* Copies the file: the sender could truncate it meanwhile. */
		size_t size = (size_t)s.st_size;
		uint8_t *all = hd_alloc(size, 1);

		if (pread(file, all, size, 0) == (ssize_t)size)
			frame_from(l, slot, all, size);
		free(all);
	}
	close(file);
}

bool client_says(struct live *l, uint32_t slot, const uint8_t *bytes, size_t size, int file)
{
	enum live_kind kind = l->clients[slot].kind;

	if (file >= 0) {
		if (kind == LIVE_UMAD)
			take_file(l, slot, file);
		else if (kind == LIVE_ADAPTER)
			adapters_memory(l, slot, file);
		else if (kind == LIVE_CALL)
			take_call_with(l, slot, bytes, size, file);
		else
			close(file);
		return true;
	}
	switch (kind) {
	case LIVE_UMAD:
		frame_from(l, slot, bytes, size);
		return true;
	case LIVE_CALL:
		take_call(l, slot, bytes, size);
		return true;
	case LIVE_ISSM:
	case LIVE_ADAPTER:
	case LIVE_CM:
		return false; /* LIVE_ISSM connections send no messages */
	default:
		return take_greeting(l, slot, bytes, size);
	}
}
