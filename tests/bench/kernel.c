/* SPDX-License-Identifier: BSD-2-Clause */
#include "kernel.h"

#include <assert.h>
#include <time.h>

#include "base/rng.h"
#include "subnet/subnet.h"

#define NONE   UINT32_MAX
#define TICK   1024       /* ps */
#define SLOTS  (1u << 16) /* one tick each: longer delays are cut */
#define BUFFER 32         /* packets of an input */
#define BYTES  2074

enum { ARRIVE, FREE, CREDIT, MAKE };

/* In the wheel: a list per slot. */
struct node {
	uint32_t next, port, packet;
	uint32_t kind;
};

struct packet {
	uint32_t next, to; /* host */
	uint32_t from;     /* output that sent it here */
};

struct queue {
	uint32_t first, last;
};

struct output {
	uint64_t inputs; /* with a packet; bit 0 of a host */
	uint32_t peer, queues;
	uint32_t free_at;
	uint8_t credits, turn;
	bool leads_to_host, is_host;
};

struct kernel {
	uint32_t *slots, now;
	uint64_t *bits;
	struct node *nodes;
	uint32_t free_node, n_nodes;
	size_t nodes_cap;
	struct packet *packets;
	uint32_t free_packet, n_packets;
	size_t packets_cap;
	struct output *outputs; /* by port */
	struct queue *queues;
	uint8_t *input; /* of a port: its bit */
	uint32_t *first_port;
	uint8_t *lft;  /* [switch][host] */
	uint32_t *row; /* of a port: its switch */
	uint32_t n_hosts, length, travel, routing;
	uint32_t *port_of_host;
	double gap;
	struct rng rng;
	uint64_t hops;
};

static void schedule(struct kernel *k, uint32_t delay, uint32_t kind, uint32_t port,
		     uint32_t packet)
{
	uint32_t slot = (k->now + (delay < SLOTS ? delay : SLOTS - 1)) % SLOTS;
	uint32_t id = k->free_node;

	if (id == NONE) {
		k->nodes = hd_grow(k->nodes, &k->nodes_cap, k->n_nodes + 1u, sizeof(*k->nodes));
		id = k->n_nodes++;
	} else {
		k->free_node = k->nodes[id].next;
	}
	k->nodes[id] = (struct node){ k->slots[slot], port, packet, kind };
	k->slots[slot] = id;
	k->bits[slot / 64] |= (uint64_t)1 << slot % 64;
}

static uint32_t packet_make(struct kernel *k, uint32_t to)
{
	uint32_t id = k->free_packet;

	if (id == NONE) {
		k->packets = hd_grow(k->packets, &k->packets_cap, k->n_packets + 1u,
				     sizeof(*k->packets));
		id = k->n_packets++;
	} else {
		k->free_packet = k->packets[id].next;
	}
	k->packets[id] = (struct packet){ NONE, to, NONE };
	return id;
}

static void enqueue(struct kernel *k, struct output *o, unsigned in, uint32_t id)
{
	struct queue *q = &k->queues[o->queues + in];

	k->packets[id].next = NONE;
	if (o->inputs >> in & 1)
		k->packets[q->last].next = id;
	else
		q->first = id;
	q->last = id;
	o->inputs |= (uint64_t)1 << in;
}

/* Sends the first packet of the next input in turn, if link and buffer allow. */
static void send(struct kernel *k, uint32_t port)
{
	struct output *o = &k->outputs[port];

	if (!o->inputs || o->free_at > k->now || o->credits == 0)
		return;
	uint64_t after = o->inputs & (~(uint64_t)0 << o->turn << 1);
	unsigned in = (unsigned)__builtin_ctzll(after ? after : o->inputs);
	struct queue *q = &k->queues[o->queues + in];
	uint32_t id = q->first;
	struct packet *p = &k->packets[id];

	q->first = p->next;
	if (p->next == NONE)
		o->inputs &= ~((uint64_t)1 << in);
	o->turn = (uint8_t)in;
	o->free_at = k->now + k->length;
	k->hops++;
	if (p->from != NONE)
		schedule(k, k->length + k->travel, CREDIT, p->from, 0);
	p->from = port;
	schedule(k, k->length, FREE, port, 0);
	if (o->leads_to_host) {
		p->next = k->free_packet;
		k->free_packet = id;
		return;
	}
	o->credits--;
	schedule(k, k->travel + k->routing, ARRIVE, o->peer, id);
}

static void arrive(struct kernel *k, uint32_t port, uint32_t id)
{
	uint32_t row = k->row[port];
	uint32_t out = k->first_port[row] + k->lft[(size_t)row * k->n_hosts + k->packets[id].to];

	enqueue(k, &k->outputs[out], k->input[port], id);
	send(k, out);
}

static void make(struct kernel *k, uint32_t host)
{
	uint32_t to = (uint32_t)rng_below(&k->rng, k->n_hosts - 1), port = k->port_of_host[host];

	enqueue(k, &k->outputs[port], 0, packet_make(k, to + (to >= host)));
	send(k, port);
	schedule(k, (uint32_t)rng_exponential(&k->rng, k->gap) + 1, MAKE, host, 0);
}

static void tick(struct kernel *k)
{
	uint32_t slot = k->now % SLOTS, word = slot / 64;
	uint64_t bits = k->bits[word] & (~(uint64_t)0 << slot % 64);

	while (!bits) {
		word = (word + 1) % (SLOTS / 64);
		bits = k->bits[word];
	}
	uint32_t next = word * 64 + (uint32_t)__builtin_ctzll(bits);
	uint32_t id = k->slots[next];

	k->now += (next - slot) % SLOTS;
	k->slots[next] = NONE;
	k->bits[word] &= ~((uint64_t)1 << next % 64);
	while (id != NONE) {
		struct node n = k->nodes[id];

		k->nodes[id].next = k->free_node;
		k->free_node = id;
		id = n.next;
		if (n.kind == ARRIVE) {
			arrive(k, n.port, n.packet);
		} else if (n.kind == MAKE) {
			make(k, n.port);
		} else {
			if (n.kind == CREDIT)
				k->outputs[n.port].credits++;
			send(k, n.port);
		}
	}
}

static void ports_init(struct kernel *k, const struct sim_setup *u)
{
	uint32_t queues = 0;

	for (uint32_t i = 0; i < u->n_ports; i++) {
		const struct sim_node *n = &u->nodes[u->ports[i].node];
		struct output *o = &k->outputs[i];

		*o = (struct output){ .peer = u->ports[i].peer,
				      .queues = queues,
				      .credits = BUFFER };
		o->is_host = n->kind == SIM_END;
		o->leads_to_host =
			o->peer != SIM_NONE && u->nodes[u->ports[o->peer].node].kind == SIM_END;
		k->input[i] = (uint8_t)((i - n->first_port) % 64);
		k->row[i] = o->is_host ? 0 : n->sw;
		if (!o->is_host)
			k->first_port[n->sw] = n->first_port;
		queues += o->is_host ? 1 : n->n_ports + 1;
	}
	k->queues = hd_alloc_dense(queues, sizeof(*k->queues));
}

static void tables_init(struct kernel *k, const struct test_fabric *f)
{
	for (uint32_t sw = 0; sw < f->subnet.n_switches; sw++) {
		for (uint32_t i = 0; i < k->n_hosts; i++)
			k->lft[(size_t)sw * k->n_hosts + i] =
				lft_get(&f->subnet, sw, f->ends[i].dlid);
	}
	for (uint32_t i = 0; i < k->n_hosts; i++) {
		k->port_of_host[i] = f->setup.nodes[f->end_nodes[i]].first_port + 1;
		schedule(k, (uint32_t)rng_exponential(&k->rng, k->gap) + 1, MAKE, i, 0);
	}
}

static void kernel_init(struct kernel *k, const struct workload *w)
{
	const struct test_fabric *f = &w->fabric;
	const struct sim_setup *u = &f->setup;
	hd_time packet = hd_rate_duration(u->ports[1].rate, BYTES);

	*k = (struct kernel){
		.free_node = NONE,
		.free_packet = NONE,
		.n_hosts = f->n_ends,
		.length = (uint32_t)(packet / TICK),
		.travel = (uint32_t)(u->ports[1].propagation / TICK),
		.routing = (uint32_t)((u->sw.routing + u->sw.arbitration) / TICK),
		.gap = (double)packet / TICK / w->spec->load,
		.slots = hd_alloc_dense(SLOTS, sizeof(*k->slots)),
		.bits = hd_alloc(SLOTS / 64, sizeof(*k->bits)),
		.outputs = hd_alloc_dense(u->n_ports, sizeof(*k->outputs)),
		.input = hd_alloc(u->n_ports, 1),
		.row = hd_alloc(u->n_ports, sizeof(*k->row)),
		.first_port = hd_alloc(f->subnet.n_switches, sizeof(*k->first_port)),
		.lft = hd_alloc_dense((size_t)f->subnet.n_switches * f->n_ends, 1),
		.port_of_host = hd_alloc(f->n_ends, sizeof(*k->port_of_host)),
	};
	memset(k->slots, 0xff, SLOTS * sizeof(*k->slots));
	rng_init(&k->rng, 1, 1);
	ports_init(k, u);
	tables_init(k, f);
}

static void kernel_fini(struct kernel *k)
{
	free(k->slots);
	free(k->bits);
	free(k->nodes);
	free(k->packets);
	free(k->outputs);
	free(k->queues);
	free(k->input);
	free(k->row);
	free(k->first_port);
	free(k->lft);
	free(k->port_of_host);
}

double kernel_rate(const struct workload *w, uint64_t hops, unsigned parts)
{
	struct kernel k;
	double best = 0;

	kernel_init(&k, w);
	/* Part 0 fills the fabric. */
	for (unsigned i = 0; i <= parts; i++) {
		uint64_t until = k.hops + hops / parts;
		clock_t start = clock();

		while (k.hops < until)
			tick(&k);
		double rate = (double)(hops / parts) * CLOCKS_PER_SEC / (double)(clock() - start);

		best = i > 0 && rate > best ? rate : best;
	}
	kernel_fini(&k);
	return best;
}
