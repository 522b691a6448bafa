/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whatever programs write to rdma_cm and whatever MADs of connections arrive:
 * each event is announced once and can be read once, and of a program that is
 * gone nothing is kept.
 */
#include <stdlib.h>
#include <string.h>

#include "mgmt/cm/cm_internal.h"
#include "topo/generate.h"

#include "input.h"

enum { HOSTS = 2, CHANNELS = 4, MOST_COMMAND = 360 };

struct bench {
	struct topo topo;
	struct agents *agents;
	struct cm *cm;
	hd_time now;
	unsigned announced[CHANNELS];
	uint32_t ids[8]; /* the last that were made */
	unsigned n_ids;
	struct input in;
};

static void arrived(void *context, port_id port, const struct mad_address *from, const uint8_t *mad,
		    size_t size)
{
	struct bench *b = context;

	demand(size == MAD_SIZE);
	(void)cm_receive(b->cm, port, from, mad, b->now);
}

static void ready(void *context, uint32_t channel)
{
	struct bench *b = context;

	demand(channel < CHANNELS);
	b->announced[channel]++;
}

/* Where a command has the id that it is about. */
static size_t place_of_id(uint32_t command)
{
	switch (command) {
	case RDMA_USER_CM_CMD_BIND_IP:
		return offsetof(struct rdma_ucm_bind_ip, id);
	case RDMA_USER_CM_CMD_RESOLVE_IP:
		return offsetof(struct rdma_ucm_resolve_ip, id);
	case RDMA_USER_CM_CMD_CONNECT:
		return offsetof(struct rdma_ucm_connect, id);
	case RDMA_USER_CM_CMD_ACCEPT:
		return offsetof(struct rdma_ucm_accept, id);
	case RDMA_USER_CM_CMD_DESTROY_ID:
	case RDMA_USER_CM_CMD_QUERY_ROUTE:
	case RDMA_USER_CM_CMD_INIT_QP_ATTR:
	case RDMA_USER_CM_CMD_SET_OPTION:
	case RDMA_USER_CM_CMD_MIGRATE_ID:
		return 8;
	default:
		return 0;
	}
}

static void say_address(struct bench *b, uint8_t *at)
{
	uint8_t how = take(&b->in);
	const struct sockaddr_in a = {
		.sin_family = AF_INET,
		.sin_port = (in_port_t)(how & 0xF0),
		.sin_addr.s_addr = __builtin_bswap32(how % 4 ? cm_address(b->cm, how % HOSTS) : 0),
	};

	memcpy(at, &a, sizeof(a));
}

/* A command: some of it as it should be, the rest as the input has it. */
static void command(struct bench *b)
{
	uint8_t how = take(&b->in), channel = take(&b->in) % CHANNELS;
	struct rdma_ucm_cmd_hdr h = { .cmd = how % 26, .out = 512 };
	_Alignas(8) uint8_t bytes[sizeof(h) + MOST_COMMAND] = { 0 };
	uint8_t *in = bytes + sizeof(h);
	struct cm_response a = { .bytes = STRBUF_INIT };
	size_t n = take(&b->in) + (how & 0x80 ? 104U : 0U);

	take_bytes(&b->in, in, n < MOST_COMMAND ? n / 4 : 0);
	if (h.cmd == RDMA_USER_CM_CMD_CREATE_ID) {
		struct rdma_ucm_create_id c = { .uid = channel + 1U,
						.ps = how & 0x20 ? RDMA_PS_UDP : RDMA_PS_TCP };

		memcpy(in, &c, sizeof(c));
	} else if (!(how & 0x40)) {
		memcpy(in + place_of_id(h.cmd), &b->ids[take(&b->in) % 8], 4);
	}
	if (h.cmd == RDMA_USER_CM_CMD_BIND_IP)
		say_address(b, in + offsetof(struct rdma_ucm_bind_ip, addr));
	if (h.cmd == RDMA_USER_CM_CMD_RESOLVE_IP)
		say_address(b, in + offsetof(struct rdma_ucm_resolve_ip, dst_addr));
	if (h.cmd == RDMA_USER_CM_CMD_CONNECT || h.cmd == RDMA_USER_CM_CMD_ACCEPT)
		in[(h.cmd == RDMA_USER_CM_CMD_ACCEPT ? 8U : 0U) +
		   offsetof(struct rdma_ucm_conn_param, valid)] = 1;
	memcpy(bytes, &h, sizeof(h));
	uint32_t from = channel;

	if (h.cmd == RDMA_USER_CM_CMD_MIGRATE_ID) {
		memcpy(&from, in + 12, sizeof(from));
		from %= CHANNELS;
		memcpy(in + 12, &from, sizeof(from));
	}
	const struct cm_caller who = { channel % HOSTS, channel };
	int error = cm_command(b->cm, &who, bytes, sizeof(h) + MOST_COMMAND, b->now, &a);

	demand(a.taken <= b->announced[from]);
	b->announced[from] -= a.taken;
	if (error == 0 && h.cmd == RDMA_USER_CM_CMD_CREATE_ID)
		memcpy(&b->ids[b->n_ids++ % 8], a.bytes.text, 4);
	if (error == 0 && h.cmd == RDMA_USER_CM_CMD_GET_EVENT) {
		struct rdma_ucm_event_resp e;

		demand(a.bytes.len == sizeof(e) && a.taken == 1);
		memcpy(&e, a.bytes.text, sizeof(e));
		if (e.event == 4) /* connect request */
			b->ids[b->n_ids++ % 8] = e.id;
	}
	strbuf_fini(&a.bytes);
}

static void send_mad(struct bench *b)
{
	uint8_t how = take(&b->in);
	uint8_t mad[MAD_SIZE] = { 1, MAD_CM, 2, MAD_SEND };
	const struct mad_address to = {
		.lid = how & 1 ? 1 : 2, .pkey = 0xFFFF, .qp = 1, .qkey = MAD_QKEY
	};

	mad[17] = (uint8_t)(0x10 + (how >> 1) % 10);
	take_bytes(&b->in, mad + 24, take(&b->in) % 233);
	if (how & 0x20)
		memcpy(mad + 28, &b->ids[take(&b->in) % 8], 4);
	if (how & 0x40) {
		/* An answer to a question for a path. */
		mad[1] = MAD_SA;
		mad[3] = MAD_GET_RESP;
		mad[17] = ATTR_PATH_RECORD;
		uint32_t id = __builtin_bswap32(b->ids[take(&b->in) % 8]);

		memcpy(mad + 12, &id, sizeof(id));
	}
	agents_send(b->agents, topo_port_of(&b->topo, how & 1, 1), &to, mad, MAD_SIZE, b->now);
}

static void step(struct bench *b)
{
	uint8_t what = take(&b->in);

	if (what % 8 < 5) {
		command(b);
	} else if (what % 8 == 5) {
		send_mad(b);
	} else if (what % 8 == 6) {
		b->now += (hd_time)take(&b->in) << 38;
	} else {
		uint32_t channel = take(&b->in) % CHANNELS;

		cm_close_channel(b->cm, channel, b->now);
		b->announced[channel] = 0;
	}
	cm_run(b->cm, b->now);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct agents_options options = { 0 };
	struct diag d = { .status = HD_OK };
	static struct bench b;
	const struct agents_events events = { arrived, &b };

	b = (struct bench){ .in = { data, size } };
	demand(topo_generate_text("back-to-back", 1, 0, &d, &b.topo) == HD_OK);
	b.agents = agents_new(&b.topo, &options, &events);
	b.cm = cm_new(b.agents, &(struct cm_events){ ready, &b });
	for (unsigned h = 0; h < HOSTS; h++) {
		port_id p = topo_port_of(&b.topo, h, 1);

		agents_port_set(b.agents, p, PORT_LID, h + 1);
		agents_port_set(b.agents, p, PORT_SM_LID, 1);
		agents_port_set(b.agents, p, PORT_STATE, LINK_ACTIVE);
	}
	while (b.in.size > 0)
		step(&b);
	for (uint32_t c = 0; c < CHANNELS; c++)
		cm_close_channel(b.cm, c, b.now);
	cm_run(b.cm, b.now);
	demand(b.cm->n_queued == 0 && cm_next(b.cm) == HD_TIME_NEVER);
	for (size_t i = 0; i < b.cm->n_ids; i++)
		demand(!b.cm->ids[i].used);
	cm_free(b.cm);
	agents_free(b.agents);
	topo_fini(&b.topo);
	return 0;
}
