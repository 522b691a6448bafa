/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Arbitrary MADs to a subnet manager, including unrequested answers, between
 * those of a fabric that it manages: it continues, and each query to subnet
 * administration has at most one answer.
 */
#include <stdlib.h>
#include <string.h>

#include "mgmt/agents/agents.h"
#include "mgmt/sm/sm.h"
#include "topo/generate.h"
#include "wire/cursor.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ROOM = 4096, HEAD = 6 };

struct letter {
	bool outgoing;
	struct mad_address peer;
	uint8_t mad[MAD_SIZE];
};

struct world {
	struct agents *agents;
	struct sm *manager;
	port_id port;
	struct letter letters[ROOM];
	unsigned first, n;
	unsigned answers; /* of subnet administration */
	hd_time now;
};

static void put(struct world *w, bool outgoing, const struct mad_address *peer, const uint8_t *mad)
{
	struct letter *l = &w->letters[(w->first + w->n) % ROOM];

	if (w->n == ROOM)
		return; /* lost */
	*l = (struct letter){ .outgoing = outgoing, .peer = *peer };
	memcpy(l->mad, mad, MAD_SIZE);
	w->n++;
}

static void send_mad(void *context, const struct mad_address *to, const uint8_t *mad, size_t size,
		     bool is_request)
{
	struct world *w = context;

	(void)is_request;
	w->answers += mad[1] == MAD_SA && mad_is_response(mad);
	if (size >= MAD_SIZE)
		put(w, true, to, mad);
}

static void say(void *context, const char *line)
{
	(void)context;
	if (line[0] == '\0')
		abort();
}

static void arrived(void *context, port_id port, const struct mad_address *from, const uint8_t *mad,
		    size_t size)
{
	struct world *w = context;

	if (port == w->port && size >= MAD_SIZE)
		put(w, false, from, mad);
}

/* Some of what is under way; not always all of it. */
static void carry(struct world *w, unsigned most)
{
	while (w->n > 0 && most-- > 0) {
		struct letter l = w->letters[w->first];
		struct mad_address to = { .lid = l.peer.lid, .sl = l.peer.sl, .pkey = 0xFFFF };

		w->first = (w->first + 1) % ROOM;
		w->n--;
		if (l.outgoing)
			agents_send(w->agents, w->port, &to, l.mad, MAD_SIZE, w->now);
		else
			sm_receive(w->manager, &l.peer, l.mad, MAD_SIZE, w->now);
	}
}

/* Steps: what it is, how much is carried, and for a MAD its bytes. */
static size_t step(struct world *w, const struct topo *t, const uint8_t *data, size_t size)
{
	struct mad_address from = { .lid = (uint16_t)(data[2] | data[3] << 8) };
	size_t used = size - HEAD < data[5] ? size - HEAD : data[5];
	uint8_t mad[MAD_SIZE] = { 0 };

	carry(w, data[1] == 0xFF ? UINT32_MAX : data[1]);
	w->now += (hd_time)data[4] << 36;
	switch (data[0] % 8) {
	case 0:
		agents_set_cable(w->agents, data[2] % t->n_ports, data[3] & 1, w->now);
		return HEAD;
	case 1:
		sm_run(w->manager, w->now);
		agents_run(w->agents, w->now);
		return HEAD;
	case 2:
		memcpy(mad, data + HEAD, used);
		sm_timeout(w->manager, mad, w->now);
		return HEAD + used;
	default:
		memcpy(mad, data + HEAD, used);
		w->answers = 0;
		sm_receive(w->manager, &from, mad, MAD_SIZE, w->now);
		if (w->answers > 1)
			abort();
		return HEAD + used;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct world w;
	static struct topo t;
	const struct agents_options options = { 0 };
	const struct agents_events events = { arrived, &w };
	const struct sm_options how = { .engine = "minhop", .key = 1 };
	const struct sm_events told = { send_mad, say, &w };
	struct diag d = { .status = HD_OK };

	if (t.n_nodes == 0 &&
	    topo_generate_text("mesh --rows=1 --columns=2", 1, 0, &d, &t) != HD_OK)
		abort();
	w = (struct world){ 0 };
	w.agents = agents_new(&t, &options, &events);
	while (!topo_is_end_port(&t, w.port))
		w.port++;
	w.manager = sm_new(&how, &told);
	sm_start(w.manager, 0);
	carry(&w, UINT32_MAX);
	if (!sm_is_up(w.manager))
		abort();
	while (size > HEAD) {
		size_t used = step(&w, &t, data, size);

		data += used;
		size -= used;
	}
	carry(&w, UINT32_MAX);
	sm_free(w.manager);
	agents_free(w.agents);
	return 0;
}
