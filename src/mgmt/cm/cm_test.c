/* SPDX-License-Identifier: BSD-2-Clause */
#include "mgmt/cm/programs_for_tests.h"

#include "base/seeds_for_tests.h"

/* ---- connections */

struct cm_connection {
	uint32_t here, there; /* ids: active side, passive side */
	struct rdma_ucm_conn_param active_param, passive_param;
};

/* Both ends have matching parameters. */
static void assert_ends_match(struct cm_fixture *w, unsigned host, const struct cm_connection *p)
{
	struct ib_uverbs_qp_attr a = attributes(w, host, p->here, RTR),
				 b = attributes(w, 1 - host, p->there, RTR),
				 as = attributes(w, host, p->here, RTS),
				 bs = attributes(w, 1 - host, p->there, RTS);

	assert_int_equal(a.dest_qp_num, p->passive_param.qp_num);
	assert_int_equal(b.dest_qp_num, p->active_param.qp_num);
	assert_int_equal(a.rq_psn, bs.sq_psn);
	assert_int_equal(b.rq_psn, as.sq_psn);
	assert_int_equal(a.path_mtu, MTU_2048);
	assert_int_equal(b.path_mtu, MTU_2048);
	assert_int_equal(a.ah_attr.dlid, 2 - host);
	assert_int_equal(b.ah_attr.dlid, 1 + host);
	/* Initiator depth does not exceed the peer's responder resources. */
	assert_int_equal(as.max_rd_atomic, p->passive_param.responder_resources);
	assert_int_equal(bs.max_rd_atomic, p->active_param.responder_resources);
	assert_int_equal(as.rnr_retry, p->passive_param.rnr_retry_count);
	assert_int_equal(bs.rnr_retry, p->active_param.rnr_retry_count);
	assert_int_equal(bs.retry_cnt, p->active_param.retry_count);
	assert_true(as.timeout > 0 && bs.timeout > 0);
}

static void establish(struct cm_fixture *w, unsigned host, uint64_t listener, uint64_t uid,
		      struct cm_connection *p)
{
	struct rdma_ucm_event_resp e;

	p->here = resolve(w, host, uid, RDMA_PS_TCP);
	p->active_param = random_conn_param(&w->rng, 1 + (uint32_t)rng_below(&w->rng, 0xFFFFFF));
	p->passive_param = random_conn_param(&w->rng, 1 + (uint32_t)rng_below(&w->rng, 0xFFFFFF));
	connect_to(w, host, p->here, &p->active_param);
	wait_for(w, 1 - host);
	expect(w, 1 - host, listener, CONNECT_REQUEST, &e);
	assert_memory_equal(e.param.conn.private_data, p->active_param.private_data, 56);
	assert_int_equal(e.param.conn.initiator_depth, p->active_param.responder_resources);
	assert_int_equal(e.param.conn.responder_resources, p->active_param.initiator_depth);
	p->there = e.id;
	assert_int_equal(accept_connection(w, 1 - host, p->there, uid + 100, &p->passive_param), 0);
	wait_for(w, host);
	expect(w, host, uid, CONNECT_RESPONSE, &e);
	assert_memory_equal(e.param.conn.private_data, p->passive_param.private_data, 56);
	assert_ends_match(w, host, p);
	assert_int_equal(accept_connection(w, host, p->here, 0, NULL), 0);
	wait_for(w, 1 - host);
	expect(w, 1 - host, uid + 100, ESTABLISHED, &e);
}

static int disconnect(struct cm_fixture *w, unsigned host, uint32_t id)
{
	const struct rdma_ucm_disconnect in = { .id = id };

	return write_command(
		w, host,
		&(struct ucm_request){ RDMA_USER_CM_CMD_DISCONNECT, &in, sizeof(in), NULL, 0 });
}

/* One end disconnects, the other replies, and both ids are destroyed. */
static void disconnect_both(struct cm_fixture *w, unsigned leaver, uint32_t mine, uint64_t my_uid,
			    uint32_t other, uint64_t other_uid)
{
	struct rdma_ucm_event_resp e;

	assert_int_equal(disconnect(w, leaver, mine), 0);
	wait_for(w, 1 - leaver);
	expect(w, 1 - leaver, other_uid, DISCONNECTED, &e);
	assert_int_equal(disconnect(w, 1 - leaver, other), 0);
	wait_for(w, leaver);
	expect(w, leaver, my_uid, DISCONNECTED, &e);
}

static void connections_survive_lost_mads(void **state)
{
	unsigned n = cases_of_run(150, 3000);

	(void)state;
	for (unsigned k = 0; k < n; k++) {
		struct cm_fixture w = { 0 };
		struct cm_connection pairs[PAIRS];
		unsigned n_pairs, host = k % 2;

		start(&w, 1000 + k);
		n_pairs = 1 + (unsigned)rng_below(&w.rng, PAIRS);
		w.lost_of = k % 3 ? 4 + (unsigned)rng_below(&w.rng, 4) : 0;
		uint32_t listener = create(&w, 1 - host, 7, RDMA_PS_TCP);

		serve(&w, 1 - host, listener);
		for (unsigned i = 0; i < n_pairs; i++)
			establish(&w, host, 7, 10 + i, &pairs[i]);
		for (unsigned i = 0; i < n_pairs; i++) {
			const struct cm_connection *p = &pairs[i];

			if (rng_below(&w.rng, 2))
				disconnect_both(&w, host, p->here, 10 + i, p->there, 110 + i);
			else
				disconnect_both(&w, 1 - host, p->there, 110 + i, p->here, 10 + i);
			/* Address, route, response, disconnected; established, disconnected. */
			assert_true(destroy(&w, host, p->here) >= 4);
			assert_int_equal(destroy(&w, 1 - host, p->there), 2);
		}
		assert_int_equal(destroy(&w, 1 - host, listener), n_pairs);
		assert_int_equal(w.ready[0] + w.ready[1], 0);
		finish(&w);
	}
}

static void requests_without_listener_are_rejected(void **state)
{
	struct cm_fixture w = { 0 };
	struct rdma_ucm_event_resp e;

	(void)state;
	start(&w, 1);
	uint32_t id = resolve(&w, 0, 5, RDMA_PS_TCP);
	struct rdma_ucm_conn_param p = random_conn_param(&w.rng, 9);

	connect_to(&w, 0, id, &p);
	settle(&w);
	expect(&w, 0, 5, REJECTED, &e);
	assert_int_equal(e.status, 8);
	/* UDP requests need a listener of the UDP port space. */
	uint32_t listener = create(&w, 1, 6, RDMA_PS_TCP);

	serve(&w, 1, listener);
	id = resolve(&w, 0, 5, RDMA_PS_UDP);
	connect_to(&w, 0, id, &p);
	settle(&w);
	expect(&w, 0, 5, UNREACHABLE, &e);
	assert_int_equal(e.status, 1);
	finish(&w);
}

static void rejection_carries_private_data(void **state)
{
	struct cm_fixture w = { 0 };
	struct rdma_ucm_event_resp e;
	struct rdma_ucm_reject no = { .private_data_len = 3, .private_data = "no" };

	(void)state;
	start(&w, 2);
	serve(&w, 1, create(&w, 1, 6, RDMA_PS_TCP));
	struct rdma_ucm_conn_param p = random_conn_param(&w.rng, 9);

	connect_to(&w, 0, resolve(&w, 0, 5, RDMA_PS_TCP), &p);
	settle(&w);
	expect(&w, 1, 6, CONNECT_REQUEST, &e);
	no.id = e.id;
	assert_int_equal(write_command(&w, 1,
				       &(struct ucm_request){ RDMA_USER_CM_CMD_REJECT, &no,
							      sizeof(no), NULL, 0 }),
			 0);
	settle(&w);
	expect(&w, 0, 5, REJECTED, &e);
	assert_int_equal(e.status, 28);
	assert_string_equal((char *)e.param.conn.private_data, "no");
	finish(&w);
}

static void sidr_resolves_a_queue_pair(void **state)
{
	struct cm_fixture w = { 0 };
	struct rdma_ucm_event_resp e;

	(void)state;
	for (unsigned k = 0; k < 20; k++) {
		start(&w, 30 + k);
		w.lost_of = k ? 3 : 0;
		serve(&w, 1, create(&w, 1, 6, RDMA_PS_UDP));
		struct rdma_ucm_conn_param p = random_conn_param(&w.rng, 9),
					   q = random_conn_param(&w.rng, 0xABC);

		connect_to(&w, 0, resolve(&w, 0, 5, RDMA_PS_UDP), &p);
		wait_for(&w, 1);
		expect(&w, 1, 6, CONNECT_REQUEST, &e);
		assert_memory_equal(e.param.ud.private_data, p.private_data, 56);
		assert_int_equal(attributes(&w, 1, e.id, INIT).qp_attr_mask & 1 << 6, 1 << 6);
		w.lost_of = 0; /* SIDR_REP is not repeated */
		assert_int_equal(accept_connection(&w, 1, e.id, 8, &q), 0);
		settle(&w);
		expect(&w, 0, 5, ESTABLISHED, &e);
		assert_int_equal(e.param.ud.qp_num, 0xABC);
		assert_int_equal(e.param.ud.qkey, 0x01234567);
		assert_int_equal(e.param.ud.ah_attr.dlid, 2);
		assert_memory_equal(e.param.ud.private_data, q.private_data, 56);
		finish(&w);
	}
}

/* Sixteen requests 4.3 s apart, then an event; the peer can be used again. */
static void unplugged_cable_times_out(void **state)
{
	struct cm_fixture w = { 0 };
	struct rdma_ucm_event_resp e;

	(void)state;
	start(&w, 4);
	serve(&w, 1, create(&w, 1, 6, RDMA_PS_TCP));
	uint32_t id = resolve(&w, 0, 5, RDMA_PS_TCP);
	struct rdma_ucm_conn_param p = random_conn_param(&w.rng, 9);
	hd_time begin = w.now;

	agents_set_cable(w.agents, w.port[0], false, w.now);
	w.n_cm = 0;
	connect_to(&w, 0, id, &p);
	wait_for(&w, 0);
	expect(&w, 0, 5, UNREACHABLE, &e);
	assert_int_equal(w.n_cm, 0);
	assert_int_equal(w.now - begin, 16 * (UINT64_C(4096000) << 20));
	finish(&w);
}

/* A response after the timeout is ignored. */
static void late_response_is_ignored(void **state)
{
	static const uint16_t spaces[] = { RDMA_PS_TCP, RDMA_PS_UDP };
	struct rdma_ucm_event_resp asked, e;

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct cm_fixture w = { 0 };

		start(&w, 9);
		serve(&w, 1, create(&w, 1, 6, spaces[i]));
		uint32_t id = resolve(&w, 0, 5, spaces[i]);
		struct rdma_ucm_conn_param p = random_conn_param(&w.rng, 9);

		connect_to(&w, 0, id, &p);
		settle(&w);
		expect(&w, 1, 6, CONNECT_REQUEST, &asked);
		w.lost_of = 1; /* all, including the REJ */
		wait_for(&w, 0);
		expect(&w, 0, 5, UNREACHABLE, &e);
		w.lost_of = 0;
		assert_int_equal(accept_connection(&w, 1, asked.id, 8, &p), 0);
		settle(&w);
		assert_false(read_event(&w, 0, &e));
		assert_int_equal(accept_connection(&w, 0, id, 0, NULL), EINVAL);
		finish(&w);
	}
}

/* MRA extends the timer by its service timeout. */
static void mra_extends_the_timer(void **state)
{
	const struct mad_header h = { .mgmt_class = MAD_CM,
				      .method = MAD_SEND,
				      .attribute = ATTR_CM_MRA };
	const struct mad_address peer = { .lid = 2, .qp = 1, .pkey = 0xFFFF };
	const hd_time RESPONSE = UINT64_C(4096000) << 20;
	uint8_t mra[MAD_SIZE];

	(void)state;
	for (unsigned timeout = 10; timeout < 24; timeout++) {
		struct cm_fixture w = { 0 };

		start(&w, 10);
		serve(&w, 1, create(&w, 1, 6, RDMA_PS_TCP));
		uint32_t id = resolve(&w, 0, 5, RDMA_PS_TCP);
		struct rdma_ucm_conn_param p = random_conn_param(&w.rng, 9);

		connect_to(&w, 0, id, &p);
		settle(&w);
		assert_int_equal(cm_next(w.cm), w.now + RESPONSE);
		mad_write(&h, mra);
		mad_set(mra, "LocalCommunicationID", 99);
		mad_set(mra, "RemoteCommunicationID", mad_get(w.last_cm, "LocalCommunicationID"));
		mad_set(mra, "ServiceTimeout", timeout);
		w.now += SECOND;
		assert_true(cm_receive(w.cm, w.port[0], &peer, mra, w.now));
		assert_int_equal(cm_next(w.cm), w.now + RESPONSE + (UINT64_C(4096000) << timeout));
		/* Without a pending message, MRA starts no timer. */
		destroy(&w, 0, id);
		assert_true(cm_receive(w.cm, w.port[0], &peer, mra, w.now));
		settle(&w);
		assert_int_equal(cm_next(w.cm), HD_TIME_NEVER);
		finish(&w);
	}
}

static void path_query_errors_are_reported(void **state)
{
	struct cm_fixture w = { 0 };

	(void)state;
	start(&w, 5);
	w.no_paths = true;
	resolve(&w, 0, 5, RDMA_PS_TCP);
	finish(&w);
}

/* The ids of a program that ended are destroyed, and its peers get events. */
static void closed_channel_releases_its_ids(void **state)
{
	struct cm_fixture w = { 0 };
	struct cm_connection p;
	struct rdma_ucm_event_resp e;

	(void)state;
	for (unsigned who = 0; who < HOSTS; who++) {
		start(&w, 6 + who);
		serve(&w, 1, create(&w, 1, 7, RDMA_PS_TCP));
		establish(&w, 0, 7, 10, &p);
		cm_close_channel(w.cm, who + 1, w.now);
		w.ready[who] = 0;
		settle(&w);
		expect(&w, 1 - who, who ? 10 : 110, DISCONNECTED, &e);
		/* Its address and id numbers can be used again. */
		if (who == 1)
			serve(&w, 1, create(&w, 1, 7, RDMA_PS_TCP));
		assert_int_equal(disconnect(&w, who, who ? p.there : p.here), EINVAL);
		finish(&w);
	}
}

static void invalid_commands_are_refused(void **state)
{
	struct cm_fixture w = { 0 };
	struct cm_response a = { .bytes = STRBUF_INIT };
	const struct rdma_ucm_cmd_hdr unknown = { 999, 0, 0 };
	const struct cm_caller who = { 0, 1 };

	(void)state;
	start(&w, 8);
	uint32_t one = create(&w, 1, 1, RDMA_PS_TCP), two = create(&w, 1, 2, RDMA_PS_TCP);
	const struct rdma_ucm_bind_ip other = { .addr = address(&w, 0, PORT), .id = one };
	const struct rdma_ucm_bind_ip same = { .addr = address(&w, 1, PORT), .id = two };
	const struct rdma_ucm_connect early = { .id = two, .conn_param.valid = 1 };

	/* Another host's address; an address in use; an unknown address. */
	assert_int_equal(write_command(&w, 1,
				       &(struct ucm_request){ RDMA_USER_CM_CMD_BIND_IP, &other,
							      sizeof(other), NULL, 0 }),
			 ENODEV);
	serve(&w, 1, one);
	assert_int_equal(write_command(&w, 1,
				       &(struct ucm_request){ RDMA_USER_CM_CMD_BIND_IP, &same,
							      sizeof(same), NULL, 0 }),
			 EADDRINUSE);
	assert_int_equal(write_command(&w, 1,
				       &(struct ucm_request){ RDMA_USER_CM_CMD_CONNECT, &early,
							      sizeof(early), NULL, 0 }),
			 EINVAL);
	/* An id of another channel. */
	assert_int_equal(write_command(&w, 0,
				       &(struct ucm_request){ RDMA_USER_CM_CMD_CONNECT, &early,
							      sizeof(early), NULL, 0 }),
			 EINVAL);
	assert_int_equal(cm_command(w.cm, &who, (const uint8_t *)&unknown, sizeof(unknown), 0, &a),
			 ENOSYS);
	assert_int_equal(cm_command(w.cm, &who, (const uint8_t *)&unknown, 3, 0, &a), EINVAL);
	finish(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(connections_survive_lost_mads),
		cmocka_unit_test(requests_without_listener_are_rejected),
		cmocka_unit_test(rejection_carries_private_data),
		cmocka_unit_test(sidr_resolves_a_queue_pair),
		cmocka_unit_test(unplugged_cable_times_out),
		cmocka_unit_test(late_response_is_ignored),
		cmocka_unit_test(mra_extends_the_timer),
		cmocka_unit_test(path_query_errors_are_reported),
		cmocka_unit_test(closed_channel_releases_its_ids),
		cmocka_unit_test(invalid_commands_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
