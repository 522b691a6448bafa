/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two hosts on one cable with a program on each, which writes rdma_cm commands and reads events.
 * The first host answers path queries. Arriving MADs are lost at random.
 */
#ifndef HD_MGMT_CM_PROGRAMS_FOR_TESTS_H
#define HD_MGMT_CM_PROGRAMS_FOR_TESTS_H

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <errno.h>
#include <rdma/rdma_user_cm.h>

#include "base/rng.h"
#include "mgmt/cm/cm.h"
#include "topo/generate.h"

enum { HOSTS = 2, PORT = 7000, PAIRS = 4, MTU_2048 = 4 };
enum {
	ADDR_RESOLVED,
	ROUTE_RESOLVED = 2,
	ROUTE_ERROR,
	CONNECT_REQUEST,
	CONNECT_RESPONSE,
	UNREACHABLE = 7,
	REJECTED,
	ESTABLISHED,
	DISCONNECTED,
	TIMEWAIT_EXIT = 15,
};
enum { INIT = 1, RTR, RTS };
#define SECOND UINT64_C(1000000000000)

struct cm_fixture {
	struct topo topo;
	struct agents *agents;
	struct cm *cm;
	port_id port[HOSTS];
	struct rng rng;
	unsigned lost_of; /* one of `lost_of` MADs; 0: none */
	bool no_paths;
	hd_time now;
	unsigned ready[HOSTS]; /* announced events */
	unsigned n_cm;         /* CM MADs that arrived */
	uint8_t last_cm[MAD_SIZE];
	/* A path response to send after the current MAD has been processed. */
	bool response_pending;
	port_id response_port;
	struct mad_address answers_to;
	uint8_t answer[MAD_SIZE];
};

static inline void answer_path(struct cm_fixture *w, port_id port, const struct mad_address *from,
			       const uint8_t *mad)
{
	w->response_pending = true;
	w->response_port = port;
	w->answers_to = *from;
	memcpy(w->answer, mad, MAD_SIZE);
	w->answer[3] = MAD_GET_RESP;
	mad_set(w->answer, "DLID", from->lid == 1 ? 2 : 1);
	mad_set(w->answer, "SLID", from->lid);
	mad_set(w->answer, "Mtu", MTU_2048);
	mad_set(w->answer, "Rate", 3);
	mad_set(w->answer, "SL", 0);
}

static inline void arrived(void *context, port_id port, const struct mad_address *from,
			   const uint8_t *mad, size_t size)
{
	struct cm_fixture *w = context;

	assert_int_equal(size, MAD_SIZE);
	if (w->lost_of && rng_below(&w->rng, w->lost_of) == 0)
		return;
	if (mad[1] == MAD_SA && mad[3] == MAD_GET) {
		if (!w->no_paths)
			answer_path(w, port, from, mad);
		return;
	}
	if (mad[1] == MAD_CM) {
		w->n_cm++;
		memcpy(w->last_cm, mad, MAD_SIZE);
	}
	assert_true(cm_receive(w->cm, port, from, mad, w->now));
}

static inline void ready(void *context, uint32_t channel)
{
	struct cm_fixture *w = context;

	w->ready[channel - 1]++;
}

static inline void start(struct cm_fixture *w, uint64_t seed)
{
	const struct agents_options o = { 0 };
	const struct agents_events e = { .arrived = arrived, .context = w };
	struct diag d = { .status = HD_OK };

	*w = (struct cm_fixture){ 0 };
	rng_init(&w->rng, seed, 0);
	assert_int_equal(topo_generate_text("back-to-back", 1, 0, &d, &w->topo), HD_OK);
	w->agents = agents_new(&w->topo, &o, &e);
	w->cm = cm_new(w->agents, &(struct cm_events){ ready, w });
	for (unsigned h = 0; h < HOSTS; h++) {
		port_id p = topo_port_of(&w->topo, h, 1);

		w->port[h] = p;
		agents_port_set(w->agents, p, PORT_LID, h + 1);
		agents_port_set(w->agents, p, PORT_SM_LID, 1);
		agents_port_set(w->agents, p, PORT_STATE, LINK_ACTIVE);
	}
}

static inline void finish(struct cm_fixture *w)
{
	cm_free(w->cm);
	agents_free(w->agents);
	topo_fini(&w->topo);
}

/* Delivers all MADs; time passes only if a timer is needed. */
static inline void settle(struct cm_fixture *w)
{
	do {
		cm_run(w->cm, w->now);
		if (w->response_pending) {
			w->response_pending = false;
			agents_send(w->agents, w->response_port, &w->answers_to, w->answer,
				    MAD_SIZE, w->now);
		}
	} while (cm_next(w->cm) <= w->now || w->response_pending);
}

/* ---- commands */

/* A command and the buffer for its response. */
struct ucm_request {
	uint32_t command;
	const void *in;
	size_t size;
	void *out;
	size_t room;
};

static inline int write_command(struct cm_fixture *w, unsigned host, const struct ucm_request *o)
{
	uint8_t bytes[1024];
	const struct rdma_ucm_cmd_hdr h = { o->command, (uint16_t)o->size, (uint16_t)o->room };
	const struct cm_caller who = { host, host + 1 };
	struct cm_response a = { .bytes = STRBUF_INIT };

	memcpy(bytes, &h, sizeof(h));
	memcpy(bytes + sizeof(h), o->in, o->size);
	int error = cm_command(w->cm, &who, bytes, sizeof(h) + o->size, w->now, &a);

	assert_true(a.taken <= w->ready[host]);
	w->ready[host] -= a.taken;
	if (error == 0) {
		assert_int_equal(a.bytes.len, o->room);
		if (o->room > 0)
			memcpy(o->out, a.bytes.text, o->room);
	}
	strbuf_fini(&a.bytes);
	return error;
}

static inline uint32_t create(struct cm_fixture *w, unsigned host, uint64_t uid, uint16_t space)
{
	const struct rdma_ucm_create_id in = { .uid = uid, .ps = space };
	struct rdma_ucm_create_id_resp out = { 0 };

	assert_int_equal(write_command(w, host,
				       &(struct ucm_request){ RDMA_USER_CM_CMD_CREATE_ID, &in,
							      sizeof(in), &out, sizeof(out) }),
			 0);
	return out.id;
}

/* Returns the number of its events that were read. */
static inline uint32_t destroy(struct cm_fixture *w, unsigned host, uint32_t id)
{
	const struct rdma_ucm_destroy_id in = { .id = id };
	struct rdma_ucm_destroy_id_resp out = { 0 };

	assert_int_equal(write_command(w, host,
				       &(struct ucm_request){ RDMA_USER_CM_CMD_DESTROY_ID, &in,
							      sizeof(in), &out, sizeof(out) }),
			 0);
	return out.events_reported;
}

static inline struct sockaddr_in6 address(const struct cm_fixture *w, unsigned host, uint16_t port)
{
	const struct sockaddr_in a = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(cm_address(w->cm, host)),
	};
	struct sockaddr_in6 out = { 0 };

	memcpy(&out, &a, sizeof(a));
	return out;
}

static inline void serve(struct cm_fixture *w, unsigned host, uint32_t id)
{
	const struct rdma_ucm_bind_ip bind = { .addr = address(w, host, PORT), .id = id };
	const struct rdma_ucm_listen listen = { .id = id, .backlog = PAIRS };

	assert_int_equal(write_command(w, host,
				       &(struct ucm_request){ RDMA_USER_CM_CMD_BIND_IP, &bind,
							      sizeof(bind), NULL, 0 }),
			 0);
	assert_int_equal(write_command(w, host,
				       &(struct ucm_request){ RDMA_USER_CM_CMD_LISTEN, &listen,
							      sizeof(listen), NULL, 0 }),
			 0);
}

static inline bool read_event(struct cm_fixture *w, unsigned host, struct rdma_ucm_event_resp *out)
{
	const struct rdma_ucm_get_event in = { 0 };
	bool announced = w->ready[host] > 0;
	int error = write_command(w, host,
				  &(struct ucm_request){ RDMA_USER_CM_CMD_GET_EVENT, &in,
							 sizeof(in), out, sizeof(*out) });

	assert_int_equal(error, announced ? 0 : EAGAIN);
	return announced;
}

static inline void expect(struct cm_fixture *w, unsigned host, uint64_t uid, uint32_t event,
			  struct rdma_ucm_event_resp *out)
{
	assert_true(read_event(w, host, out));
	assert_int_equal(out->event, event);
	assert_int_equal(out->uid, uid);
}

static inline uint32_t resolve(struct cm_fixture *w, unsigned host, uint64_t uid, uint16_t space)
{
	uint32_t id = create(w, host, uid, space);
	const struct rdma_ucm_resolve_ip to = { .dst_addr = address(w, 1 - host, PORT), .id = id };
	const struct rdma_ucm_resolve_route route = { .id = id, .timeout_ms = 2000 };
	struct rdma_ucm_event_resp e;

	assert_int_equal(write_command(w, host,
				       &(struct ucm_request){ RDMA_USER_CM_CMD_RESOLVE_IP, &to,
							      sizeof(to), NULL, 0 }),
			 0);
	expect(w, host, uid, ADDR_RESOLVED, &e);
	/* A path query is not repeated by the CM, so the program repeats it. */
	do {
		assert_int_equal(
			write_command(w, host,
				      &(struct ucm_request){ RDMA_USER_CM_CMD_RESOLVE_ROUTE, &route,
							     sizeof(route), NULL, 0 }),
			0);
		settle(w);
		if (w->ready[host] == 0) {
			w->now += 2 * SECOND;
			settle(w);
		}
		assert_true(read_event(w, host, &e));
	} while (e.event == ROUTE_ERROR && !w->no_paths);
	assert_int_equal(e.event, w->no_paths ? ROUTE_ERROR : ROUTE_RESOLVED);
	return id;
}

static inline struct rdma_ucm_conn_param random_conn_param(struct rng *r, uint32_t qpn)
{
	struct rdma_ucm_conn_param p = {
		.qp_num = qpn,
		.responder_resources = (uint8_t)(1 + rng_below(r, 16)),
		.initiator_depth = (uint8_t)(1 + rng_below(r, 16)),
		.retry_count = (uint8_t)rng_below(r, 8),
		.rnr_retry_count = (uint8_t)rng_below(r, 8),
		.private_data_len = 56,
		.valid = 1,
	};

	for (unsigned i = 0; i < p.private_data_len; i++)
		p.private_data[i] = (uint8_t)rng_below(r, 256);
	return p;
}

static inline void connect_to(struct cm_fixture *w, unsigned host, uint32_t id,
			      const struct rdma_ucm_conn_param *p)
{
	const struct rdma_ucm_connect in = { .conn_param = *p, .id = id };

	assert_int_equal(write_command(w, host,
				       &(struct ucm_request){ RDMA_USER_CM_CMD_CONNECT, &in,
							      sizeof(in), NULL, 0 }),
			 0);
}

static inline int accept_connection(struct cm_fixture *w, unsigned host, uint32_t id, uint64_t uid,
				    const struct rdma_ucm_conn_param *p)
{
	const struct rdma_ucm_conn_param none = { 0 };
	const struct rdma_ucm_accept in = { .uid = uid, .conn_param = p ? *p : none, .id = id };

	return write_command(
		w, host,
		&(struct ucm_request){ RDMA_USER_CM_CMD_ACCEPT, &in, sizeof(in), NULL, 0 });
}

/* Waits until a program has an event. */
static inline void wait_for(struct cm_fixture *w, unsigned host)
{
	settle(w);
	while (w->ready[host] == 0) {
		assert_true(cm_next(w->cm) != HD_TIME_NEVER);
		w->now = cm_next(w->cm);
		settle(w);
	}
}

static inline struct ib_uverbs_qp_attr attributes(struct cm_fixture *w, unsigned host, uint32_t id,
						  uint32_t state)
{
	const struct rdma_ucm_init_qp_attr in = { .id = id, .qp_state = state };
	struct ib_uverbs_qp_attr out = { 0 };

	assert_int_equal(write_command(w, host,
				       &(struct ucm_request){ RDMA_USER_CM_CMD_INIT_QP_ATTR, &in,
							      sizeof(in), &out, sizeof(out) }),
			 0);
	return out;
}

#endif
