/* SPDX-License-Identifier: BSD-2-Clause */
#include "cm/cm.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <errno.h>
#include <rdma/rdma_user_cm.h>

#include "base/rng.h"
#include "base/seeds_for_tests.h"
#include "topo/generate.h"

/*
 * Two hosts on one cable, and a program on each: what they write to rdma_cm,
 * and what they then read. The first host answers questions for paths. Of the
 * MADs that arrive, some are lost.
 */

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

struct world {
	struct topo topo;
	struct agents *agents;
	struct cm *cm;
	port_id port[HOSTS];
	struct rng rng;
	unsigned lost_of; /* one in so many; 0: none */
	bool no_paths;
	hd_time now;
	unsigned ready[HOSTS]; /* events that were announced */
	unsigned n_cm;         /* MADs of connections that arrived */
	/* An answer to be sent when what brought it about is done. */
	bool answers;
	port_id answers_from;
	struct mad_address answers_to;
	uint8_t answer[MAD_SIZE];
};

static void answer_path(struct world *w, port_id port,
			const struct mad_address *from, const uint8_t *mad)
{
	w->answers = true;
	w->answers_from = port;
	w->answers_to = *from;
	memcpy(w->answer, mad, MAD_SIZE);
	w->answer[3] = MAD_GET_RESP;
	mad_set(w->answer, "DLID", from->lid == 1 ? 2 : 1);
	mad_set(w->answer, "SLID", from->lid);
	mad_set(w->answer, "Mtu", MTU_2048);
	mad_set(w->answer, "Rate", 3);
	mad_set(w->answer, "SL", 0);
}

static void arrived(void *context, port_id port, const struct mad_address *from,
		    const uint8_t *mad, size_t size)
{
	struct world *w = context;

	assert_int_equal(size, MAD_SIZE);
	if (w->lost_of && rng_below(&w->rng, w->lost_of) == 0)
		return;
	if (mad[1] == MAD_SA && mad[3] == MAD_GET) {
		if (!w->no_paths)
			answer_path(w, port, from, mad);
		return;
	}
	w->n_cm += mad[1] == MAD_CM;
	assert_true(cm_arrived(w->cm, port, from, mad, w->now));
}

static void ready(void *context, uint32_t channel)
{
	struct world *w = context;

	w->ready[channel - 1]++;
}

static void start(struct world *w, uint64_t seed)
{
	const struct agents_options o = { 0 };
	const struct agents_events e = { arrived, w };
	struct diag d = { .status = HD_OK };

	*w = (struct world){ 0 };
	rng_init(&w->rng, seed, 0);
	assert_int_equal(topo_generate_text("back-to-back", 1, 0, &d, &w->topo),
			 HD_OK);
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

static void finish(struct world *w)
{
	cm_free(w->cm);
	agents_free(w->agents);
	topo_fini(&w->topo);
}

/* Everything that is under way arrives; time passes only if it must. */
static void settle(struct world *w)
{
	do {
		cm_run(w->cm, w->now);
		if (w->answers) {
			w->answers = false;
			agents_send(w->agents, w->answers_from, &w->answers_to,
				    w->answer, MAD_SIZE, w->now);
		}
	} while (cm_next(w->cm) <= w->now || w->answers);
}

/* ---- what a program writes */

/* A command, and where its answer goes. */
struct order {
	uint32_t command;
	const void *in;
	size_t size;
	void *out;
	size_t room;
};

static int order(struct world *w, unsigned host, const struct order *o)
{
	uint8_t bytes[1024];
	const struct rdma_ucm_cmd_hdr h = { o->command, (uint16_t)o->size,
					    (uint16_t)o->room };
	const struct cm_caller who = { host, host + 1 };
	struct cm_answer a = { .bytes = STRBUF_INIT };

	memcpy(bytes, &h, sizeof(h));
	memcpy(bytes + sizeof(h), o->in, o->size);
	int error =
		cm_command(w->cm, &who, bytes, sizeof(h) + o->size, w->now, &a);

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

static uint32_t create(struct world *w, unsigned host, uint64_t uid,
		       uint16_t space)
{
	const struct rdma_ucm_create_id in = { .uid = uid, .ps = space };
	struct rdma_ucm_create_id_resp out;

	assert_int_equal(
		order(w, host,
		      &(struct order){ RDMA_USER_CM_CMD_CREATE_ID, &in,
				       sizeof(in), &out, sizeof(out) }),
		0);
	return out.id;
}

/* How many of its events were read. */
static uint32_t destroy(struct world *w, unsigned host, uint32_t id)
{
	const struct rdma_ucm_destroy_id in = { .id = id };
	struct rdma_ucm_destroy_id_resp out;

	assert_int_equal(
		order(w, host,
		      &(struct order){ RDMA_USER_CM_CMD_DESTROY_ID, &in,
				       sizeof(in), &out, sizeof(out) }),
		0);
	return out.events_reported;
}

static struct sockaddr_in6 address(const struct world *w, unsigned host,
				   uint16_t port)
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

static void serve(struct world *w, unsigned host, uint32_t id)
{
	const struct rdma_ucm_bind_ip bind = { .addr = address(w, host, PORT),
					       .id = id };
	const struct rdma_ucm_listen listen = { .id = id, .backlog = PAIRS };

	assert_int_equal(order(w, host,
			       &(struct order){ RDMA_USER_CM_CMD_BIND_IP, &bind,
						sizeof(bind), NULL, 0 }),
			 0);
	assert_int_equal(
		order(w, host,
		      &(struct order){ RDMA_USER_CM_CMD_LISTEN, &listen,
				       sizeof(listen), NULL, 0 }),
		0);
}

static bool hear(struct world *w, unsigned host,
		 struct rdma_ucm_event_resp *out)
{
	const struct rdma_ucm_get_event in = { 0 };
	bool announced = w->ready[host] > 0;
	int error = order(w, host,
			  &(struct order){ RDMA_USER_CM_CMD_GET_EVENT, &in,
					   sizeof(in), out, sizeof(*out) });

	assert_int_equal(error, announced ? 0 : EAGAIN);
	return announced;
}

static void expect(struct world *w, unsigned host, uint64_t uid, uint32_t event,
		   struct rdma_ucm_event_resp *out)
{
	assert_true(hear(w, host, out));
	assert_int_equal(out->event, event);
	assert_int_equal(out->uid, uid);
}

static uint32_t resolve(struct world *w, unsigned host, uint64_t uid,
			uint16_t space)
{
	uint32_t id = create(w, host, uid, space);
	const struct rdma_ucm_resolve_ip to = {
		.dst_addr = address(w, 1 - host, PORT), .id = id
	};
	const struct rdma_ucm_resolve_route route = { .id = id,
						      .timeout_ms = 2000 };
	struct rdma_ucm_event_resp e;

	assert_int_equal(order(w, host,
			       &(struct order){ RDMA_USER_CM_CMD_RESOLVE_IP,
						&to, sizeof(to), NULL, 0 }),
			 0);
	expect(w, host, uid, ADDR_RESOLVED, &e);
	/* A question for a path is asked once; programs ask again. */
	do {
		assert_int_equal(
			order(w, host,
			      &(struct order){ RDMA_USER_CM_CMD_RESOLVE_ROUTE,
					       &route, sizeof(route), NULL,
					       0 }),
			0);
		settle(w);
		if (w->ready[host] == 0) {
			w->now += 2 * SECOND;
			settle(w);
		}
		assert_true(hear(w, host, &e));
	} while (e.event == ROUTE_ERROR && !w->no_paths);
	assert_int_equal(e.event, w->no_paths ? ROUTE_ERROR : ROUTE_RESOLVED);
	return id;
}

static struct rdma_ucm_conn_param wishes(struct rng *r, uint32_t qpn)
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

static void ask_to_connect(struct world *w, unsigned host, uint32_t id,
			   const struct rdma_ucm_conn_param *p)
{
	const struct rdma_ucm_connect in = { .conn_param = *p, .id = id };

	assert_int_equal(order(w, host,
			       &(struct order){ RDMA_USER_CM_CMD_CONNECT, &in,
						sizeof(in), NULL, 0 }),
			 0);
}

static int agree(struct world *w, unsigned host, uint32_t id, uint64_t uid,
		 const struct rdma_ucm_conn_param *p)
{
	const struct rdma_ucm_conn_param none = { 0 };
	const struct rdma_ucm_accept in = { .uid = uid,
					    .conn_param = p ? *p : none,
					    .id = id };

	return order(w, host,
		     &(struct order){ RDMA_USER_CM_CMD_ACCEPT, &in, sizeof(in),
				      NULL, 0 });
}

/* Until a program has something to read, however long it takes. */
static void wait_for(struct world *w, unsigned host)
{
	settle(w);
	while (w->ready[host] == 0) {
		assert_true(cm_next(w->cm) != HD_TIME_NEVER);
		w->now = cm_next(w->cm);
		settle(w);
	}
}

static struct ib_uverbs_qp_attr attributes(struct world *w, unsigned host,
					   uint32_t id, uint32_t state)
{
	const struct rdma_ucm_init_qp_attr in = { .id = id, .qp_state = state };
	struct ib_uverbs_qp_attr out;

	assert_int_equal(
		order(w, host,
		      &(struct order){ RDMA_USER_CM_CMD_INIT_QP_ATTR, &in,
				       sizeof(in), &out, sizeof(out) }),
		0);
	return out;
}

/* ---- a connection */

struct pair {
	uint32_t here, there; /* ids: who asked, and who was asked */
	struct rdma_ucm_conn_param asks, grants;
};

/* What one end sends is what the other expects. */
static void ends_fit(struct world *w, unsigned host, const struct pair *p)
{
	struct ib_uverbs_qp_attr a = attributes(w, host, p->here, RTR),
				 b = attributes(w, 1 - host, p->there, RTR),
				 as = attributes(w, host, p->here, RTS),
				 bs = attributes(w, 1 - host, p->there, RTS);

	assert_int_equal(a.dest_qp_num, p->grants.qp_num);
	assert_int_equal(b.dest_qp_num, p->asks.qp_num);
	assert_int_equal(a.rq_psn, bs.sq_psn);
	assert_int_equal(b.rq_psn, as.sq_psn);
	assert_int_equal(a.path_mtu, MTU_2048);
	assert_int_equal(b.path_mtu, MTU_2048);
	assert_int_equal(a.ah_attr.dlid, 2 - host);
	assert_int_equal(b.ah_attr.dlid, 1 + host);
	/* Nobody has more reads under way than the other has room for. */
	assert_int_equal(as.max_rd_atomic, p->grants.responder_resources);
	assert_int_equal(bs.max_rd_atomic, p->asks.responder_resources);
	assert_int_equal(as.rnr_retry, p->grants.rnr_retry_count);
	assert_int_equal(bs.rnr_retry, p->asks.rnr_retry_count);
	assert_int_equal(bs.retry_cnt, p->asks.retry_count);
	assert_true(as.timeout > 0 && bs.timeout > 0);
}

static void join(struct world *w, unsigned host, uint64_t listener,
		 uint64_t uid, struct pair *p)
{
	struct rdma_ucm_event_resp e;

	p->here = resolve(w, host, uid, RDMA_PS_TCP);
	p->asks = wishes(&w->rng, 1 + (uint32_t)rng_below(&w->rng, 0xFFFFFF));
	p->grants = wishes(&w->rng, 1 + (uint32_t)rng_below(&w->rng, 0xFFFFFF));
	ask_to_connect(w, host, p->here, &p->asks);
	wait_for(w, 1 - host);
	expect(w, 1 - host, listener, CONNECT_REQUEST, &e);
	assert_memory_equal(e.param.conn.private_data, p->asks.private_data,
			    56);
	assert_int_equal(e.param.conn.initiator_depth,
			 p->asks.responder_resources);
	assert_int_equal(e.param.conn.responder_resources,
			 p->asks.initiator_depth);
	p->there = e.id;
	assert_int_equal(agree(w, 1 - host, p->there, uid + 100, &p->grants),
			 0);
	wait_for(w, host);
	expect(w, host, uid, CONNECT_RESPONSE, &e);
	assert_memory_equal(e.param.conn.private_data, p->grants.private_data,
			    56);
	ends_fit(w, host, p);
	assert_int_equal(agree(w, host, p->here, 0, NULL), 0);
	wait_for(w, 1 - host);
	expect(w, 1 - host, uid + 100, ESTABLISHED, &e);
}

static int disconnect(struct world *w, unsigned host, uint32_t id)
{
	const struct rdma_ucm_disconnect in = { .id = id };

	return order(w, host,
		     &(struct order){ RDMA_USER_CM_CMD_DISCONNECT, &in,
				      sizeof(in), NULL, 0 });
}

/* One end leaves, the other hears of it and answers, and both are gone. */
static void sever(struct world *w, unsigned leaver, uint32_t mine,
		  uint64_t my_uid, uint32_t other, uint64_t other_uid)
{
	struct rdma_ucm_event_resp e;

	assert_int_equal(disconnect(w, leaver, mine), 0);
	wait_for(w, 1 - leaver);
	expect(w, 1 - leaver, other_uid, DISCONNECTED, &e);
	assert_int_equal(disconnect(w, 1 - leaver, other), 0);
	wait_for(w, leaver);
	expect(w, leaver, my_uid, DISCONNECTED, &e);
}

static void connections_hold_whatever_is_lost(void **state)
{
	unsigned n = cases_of_run(150, 3000);

	(void)state;
	for (unsigned k = 0; k < n; k++) {
		struct world w = { 0 };
		struct pair pairs[PAIRS];
		unsigned n_pairs, host = k % 2;

		start(&w, 1000 + k);
		n_pairs = 1 + (unsigned)rng_below(&w.rng, PAIRS);
		w.lost_of = k % 3 ? 4 + (unsigned)rng_below(&w.rng, 4) : 0;
		uint32_t listener = create(&w, 1 - host, 7, RDMA_PS_TCP);

		serve(&w, 1 - host, listener);
		for (unsigned i = 0; i < n_pairs; i++)
			join(&w, host, 7, 10 + i, &pairs[i]);
		for (unsigned i = 0; i < n_pairs; i++) {
			const struct pair *p = &pairs[i];

			if (rng_below(&w.rng, 2))
				sever(&w, host, p->here, 10 + i, p->there,
				      110 + i);
			else
				sever(&w, 1 - host, p->there, 110 + i, p->here,
				      10 + i);
			/* Address, route, response, gone; established, gone. */
			assert_true(destroy(&w, host, p->here) >= 4);
			assert_int_equal(destroy(&w, 1 - host, p->there), 2);
		}
		assert_int_equal(destroy(&w, 1 - host, listener), n_pairs);
		assert_int_equal(w.ready[0] + w.ready[1], 0);
		finish(&w);
	}
}

static void nobody_listens(void **state)
{
	struct world w = { 0 };
	struct rdma_ucm_event_resp e;

	(void)state;
	start(&w, 1);
	uint32_t id = resolve(&w, 0, 5, RDMA_PS_TCP);
	struct rdma_ucm_conn_param p = wishes(&w.rng, 9);

	ask_to_connect(&w, 0, id, &p);
	settle(&w);
	expect(&w, 0, 5, REJECTED, &e);
	assert_int_equal(e.status, 8);
	/* Datagrams have a listener of their own kind or none. */
	uint32_t listener = create(&w, 1, 6, RDMA_PS_TCP);

	serve(&w, 1, listener);
	id = resolve(&w, 0, 5, RDMA_PS_UDP);
	ask_to_connect(&w, 0, id, &p);
	settle(&w);
	expect(&w, 0, 5, UNREACHABLE, &e);
	assert_int_equal(e.status, 1);
	finish(&w);
}

static void who_is_refused_hears_why(void **state)
{
	struct world w = { 0 };
	struct rdma_ucm_event_resp e;
	struct rdma_ucm_reject no = { .private_data_len = 3,
				      .private_data = "no" };

	(void)state;
	start(&w, 2);
	serve(&w, 1, create(&w, 1, 6, RDMA_PS_TCP));
	struct rdma_ucm_conn_param p = wishes(&w.rng, 9);

	ask_to_connect(&w, 0, resolve(&w, 0, 5, RDMA_PS_TCP), &p);
	settle(&w);
	expect(&w, 1, 6, CONNECT_REQUEST, &e);
	no.id = e.id;
	assert_int_equal(order(&w, 1,
			       &(struct order){ RDMA_USER_CM_CMD_REJECT, &no,
						sizeof(no), NULL, 0 }),
			 0);
	settle(&w);
	expect(&w, 0, 5, REJECTED, &e);
	assert_int_equal(e.status, 28);
	assert_string_equal((char *)e.param.conn.private_data, "no");
	finish(&w);
}

static void datagrams_learn_a_queue_pair(void **state)
{
	struct world w = { 0 };
	struct rdma_ucm_event_resp e;

	(void)state;
	for (unsigned k = 0; k < 20; k++) {
		start(&w, 30 + k);
		w.lost_of = k ? 3 : 0;
		serve(&w, 1, create(&w, 1, 6, RDMA_PS_UDP));
		struct rdma_ucm_conn_param p = wishes(&w.rng, 9),
					   q = wishes(&w.rng, 0xABC);

		ask_to_connect(&w, 0, resolve(&w, 0, 5, RDMA_PS_UDP), &p);
		wait_for(&w, 1);
		expect(&w, 1, 6, CONNECT_REQUEST, &e);
		assert_memory_equal(e.param.ud.private_data, p.private_data,
				    56);
		assert_int_equal(attributes(&w, 1, e.id, INIT).qp_attr_mask &
					 1 << 6,
				 1 << 6);
		w.lost_of = 0; /* an answer that is lost is not repeated */
		assert_int_equal(agree(&w, 1, e.id, 8, &q), 0);
		settle(&w);
		expect(&w, 0, 5, ESTABLISHED, &e);
		assert_int_equal(e.param.ud.qp_num, 0xABC);
		assert_int_equal(e.param.ud.qkey, 0x01234567);
		assert_int_equal(e.param.ud.ah_attr.dlid, 2);
		assert_memory_equal(e.param.ud.private_data, q.private_data,
				    56);
		finish(&w);
	}
}

/* Sixteen requests, 4.3 s apart; then it is told, and the other end is free. */
static void a_pulled_cable_is_noticed(void **state)
{
	struct world w = { 0 };
	struct rdma_ucm_event_resp e;

	(void)state;
	start(&w, 4);
	serve(&w, 1, create(&w, 1, 6, RDMA_PS_TCP));
	uint32_t id = resolve(&w, 0, 5, RDMA_PS_TCP);
	struct rdma_ucm_conn_param p = wishes(&w.rng, 9);
	hd_time begin = w.now;

	agents_set_cable(w.agents, w.port[0], false, w.now);
	w.n_cm = 0;
	ask_to_connect(&w, 0, id, &p);
	wait_for(&w, 0);
	expect(&w, 0, 5, UNREACHABLE, &e);
	assert_int_equal(w.n_cm, 0);
	assert_int_equal(w.now - begin, 16 * (UINT64_C(4096000) << 20));
	finish(&w);
}

static void nobody_knows_a_path(void **state)
{
	struct world w = { 0 };

	(void)state;
	start(&w, 5);
	w.no_paths = true;
	resolve(&w, 0, 5, RDMA_PS_TCP);
	finish(&w);
}

/* Whoever is killed is not waited for: its peers hear that it is gone. */
static void of_a_program_that_is_gone_nothing_is_kept(void **state)
{
	struct world w = { 0 };
	struct pair p;
	struct rdma_ucm_event_resp e;

	(void)state;
	for (unsigned who = 0; who < HOSTS; who++) {
		start(&w, 6 + who);
		serve(&w, 1, create(&w, 1, 7, RDMA_PS_TCP));
		join(&w, 0, 7, 10, &p);
		cm_forget(w.cm, who + 1, w.now);
		w.ready[who] = 0;
		settle(&w);
		expect(&w, 1 - who, who ? 10 : 110, DISCONNECTED, &e);
		/* Its address is free, and so is its number. */
		if (who == 1)
			serve(&w, 1, create(&w, 1, 7, RDMA_PS_TCP));
		assert_int_equal(disconnect(&w, who, who ? p.there : p.here),
				 EINVAL);
		finish(&w);
	}
}

static void commands_that_make_no_sense(void **state)
{
	struct world w = { 0 };
	struct cm_answer a = { .bytes = STRBUF_INIT };
	const struct rdma_ucm_cmd_hdr unknown = { 999, 0, 0 };
	const struct cm_caller who = { 0, 1 };

	(void)state;
	start(&w, 8);
	uint32_t one = create(&w, 1, 1, RDMA_PS_TCP),
		 two = create(&w, 1, 2, RDMA_PS_TCP);
	const struct rdma_ucm_bind_ip other = { .addr = address(&w, 0, PORT),
						.id = one };
	const struct rdma_ucm_bind_ip same = { .addr = address(&w, 1, PORT),
					       .id = two };
	const struct rdma_ucm_connect early = { .id = two,
						.conn_param.valid = 1 };

	/* Another host's address; one that is taken; a connection to nowhere.
	 */
	assert_int_equal(
		order(&w, 1,
		      &(struct order){ RDMA_USER_CM_CMD_BIND_IP, &other,
				       sizeof(other), NULL, 0 }),
		ENODEV);
	serve(&w, 1, one);
	assert_int_equal(order(&w, 1,
			       &(struct order){ RDMA_USER_CM_CMD_BIND_IP, &same,
						sizeof(same), NULL, 0 }),
			 EADDRINUSE);
	assert_int_equal(
		order(&w, 1,
		      &(struct order){ RDMA_USER_CM_CMD_CONNECT, &early,
				       sizeof(early), NULL, 0 }),
		EINVAL);
	/* Somebody else's id. */
	assert_int_equal(
		order(&w, 0,
		      &(struct order){ RDMA_USER_CM_CMD_CONNECT, &early,
				       sizeof(early), NULL, 0 }),
		EINVAL);
	assert_int_equal(cm_command(w.cm, &who, (const uint8_t *)&unknown,
				    sizeof(unknown), 0, &a),
			 ENOSYS);
	assert_int_equal(
		cm_command(w.cm, &who, (const uint8_t *)&unknown, 3, 0, &a),
		EINVAL);
	finish(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(connections_hold_whatever_is_lost),
		cmocka_unit_test(nobody_listens),
		cmocka_unit_test(who_is_refused_hears_why),
		cmocka_unit_test(datagrams_learn_a_queue_pair),
		cmocka_unit_test(a_pulled_cable_is_noticed),
		cmocka_unit_test(nobody_knows_a_path),
		cmocka_unit_test(of_a_program_that_is_gone_nothing_is_kept),
		cmocka_unit_test(commands_that_make_no_sense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
