/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/admission/reservations.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/rng.h"
#include "subnet/multicast/mcast.h"
#include "subnet/routing/route.h"
#include "topo/generate.h"

struct fabric {
	struct topo topo;
	struct subnet subnet;
	struct broker broker;
	port_id *host;
	uint32_t n_hosts;
};

/* Links of hosts first, so that a renamed host is found by its GUID. */
static void fabric_program(struct fabric *fabric, enum lid_order order)
{
	struct lid_options lids = { .order = order, .sm_port = TOPO_NONE };
	struct broker_params params = broker_params_default();
	struct diag d = { .status = HD_OK };

	fabric->host = hd_alloc(fabric->topo.n_ports, sizeof(*fabric->host));
	fabric->n_hosts = 0;
	for (port_id p = 0; p < fabric->topo.n_ports; p++) {
		if (topo_is_end_port(&fabric->topo, p) &&
		    topo_node_of(&fabric->topo, p)->kind == NODE_CA)
			fabric->host[fabric->n_hosts++] = p;
	}
	subnet_init(&fabric->subnet, &fabric->topo);
	assert_int_equal(subnet_assign_lids(&fabric->subnet, &lids, &d), HD_OK);
	assert_int_equal(subnet_route(&fabric->subnet, "minhop", &(struct route_options){ 0 }, &d),
			 HD_OK);
	assert_int_equal(broker_init(&fabric->broker, &fabric->subnet, &params, &d), HD_OK);
}

static void fabric_generate(struct fabric *fabric, const char *kind, unsigned hosts)
{
	struct diag d = { .status = HD_OK };
	const struct generator *g = generator_find(kind, &d);
	struct topo_params p;

	assert_non_null(g);
	topo_params_init(g, &p);
	p.columns = p.rows = 2;
	p.hosts = hosts;
	assert_int_equal(topo_generate(g, &p, &d, &fabric->topo), HD_OK);
}

static void fabric_fini(struct fabric *fabric)
{
	broker_fini(&fabric->broker);
	subnet_fini(&fabric->subnet);
	topo_fini(&fabric->topo);
	free(fabric->host);
}

static void admit_some(struct fabric *fabric, struct rng *rng)
{
	for (unsigned i = 0; i < 12; i++) {
		uint32_t from = (uint32_t)rng_below(rng, fabric->n_hosts);
		uint32_t to = (from + 1 + (uint32_t)rng_below(rng, fabric->n_hosts - 1)) %
			      fabric->n_hosts;
		uint8_t sl = (uint8_t)rng_below(rng, 4);
		const struct broker_request r = broker_request_of(
			fabric->host[from], fabric->subnet.lid_of_port[fabric->host[to]], sl,
			hd_rate_make(1 + rng_below(rng, 50000000), 3));
		struct broker_refusal why;
		uint32_t id;

		assert_int_equal(broker_admit(&fabric->broker, &r, &id, &why), HD_OK);
	}
}

static void rename_node(struct fabric *fabric, port_id port, const char *name)
{
	struct topo_node *v = &fabric->topo.nodes[fabric->topo.ports[port].node];

	free(v->name);
	v->name = hd_strdup(name);
}

/* The end that a connection has: by GUID, so that names may change. */
static uint64_t guid_of_destination(const struct fabric *fabric, uint32_t i)
{
	const struct broker_segment *r = &fabric->broker.connections[i].request.way.segment[0];

	return fabric->topo.ports[fabric->subnet.port_of_lid[0][r->dlid]].guid;
}

static const char *name_of_destination(const struct fabric *fabric, uint32_t i)
{
	const struct broker_segment *r = &fabric->broker.connections[i].request.way.segment[0];

	return topo_node_of(&fabric->topo, fabric->subnet.port_of_lid[0][r->dlid])->name;
}

static enum hd_status reload(const struct fabric *from, struct fabric *to, struct diag *d)
{
	struct strbuf text = STRBUF_INIT;
	struct reservations saved = { 0 };

	assert_int_equal(reservations_write(&from->broker, d, &text), HD_OK);
	enum hd_status status = reservations_read(&to->subnet, text.text, d, &saved);

	if (status == HD_OK)
		status = reservations_admit(&to->broker, &saved, d);
	reservations_fini(&saved);
	strbuf_fini(&text);
	return status;
}

enum change { NOTHING, OTHER_LIDS, MORE_HOSTS, FEWER_HOSTS, A_NEW_NAME, SWAPPED_NAMES, N_CHANGES };

static void change_fabric(struct fabric *fabric, enum change change, const char *kind,
			  unsigned hosts)
{
	fabric_generate(fabric, kind,
			change == MORE_HOSTS    ? hosts + 1
			: change == FEWER_HOSTS ? hosts - 1
						: hosts);
	fabric_program(fabric, change == OTHER_LIDS ? LIDS_OPENSM : LIDS_NODES);
	if (change == A_NEW_NAME)
		rename_node(fabric, fabric->host[1], "another");
	if (change == SWAPPED_NAMES) {
		char *first = hd_strdup(topo_node_of(&fabric->topo, fabric->host[0])->name);

		rename_node(fabric, fabric->host[0],
			    topo_node_of(&fabric->topo, fabric->host[1])->name);
		rename_node(fabric, fabric->host[1], first);
		free(first);
	}
}

/* Checks that all are unchanged: equal GUIDs, and names unless one was changed. */
static void check_same(const struct fabric *was, const struct fabric *is, enum change change)
{
	assert_int_equal(is->broker.n_live, was->broker.n_live);
	for (uint32_t i = 0; i < was->broker.n_connections; i++) {
		const struct broker_request *a = &was->broker.connections[i].request;
		const struct broker_request *b = &is->broker.connections[i].request;

		assert_true(was->topo.ports[a->way.segment[0].source].guid ==
			    is->topo.ports[b->way.segment[0].source].guid);
		assert_true(guid_of_destination(was, i) == guid_of_destination(is, i));
		assert_true(a->way.segment[0].sl == b->way.segment[0].sl &&
			    a->rate.num == b->rate.num && a->rate.den == b->rate.den);
		if (change != A_NEW_NAME)
			assert_string_equal(name_of_destination(was, i),
					    name_of_destination(is, i));
	}
}

/* Saved, loaded where something changed: true if it could be. */
static bool survives(const char *kind, enum change change, struct rng *rng)
{
	unsigned hosts = 3 + (unsigned)rng_below(rng, 4);
	struct diag d = { .status = HD_OK };
	struct fabric was, is;

	fabric_generate(&was, kind, hosts);
	fabric_program(&was, LIDS_NODES);
	admit_some(&was, rng);
	change_fabric(&is, change, kind, hosts);
	bool right = reload(&was, &is, &d) == HD_OK;

	if (right)
		check_same(&was, &is, change);
	else
		assert_true(d.line >= 3);
	fabric_fini(&is);
	fabric_fini(&was);
	return right;
}

/* In a star, hosts keep GUID and name when one is added; in a mesh they do not. */
static void loading_is_right_or_refused(void **state)
{
	unsigned star[N_CHANGES] = { 0 }, mesh[N_CHANGES] = { 0 };
	struct rng rng;

	(void)state;
	rng_init(&rng, 31, 0);
	for (unsigned i = 0; i < 20 * N_CHANGES; i++) {
		enum change change = (enum change)(i % N_CHANGES);

		star[change] += survives("star", change, &rng);
		mesh[change] += survives("mesh", change, &rng);
	}
	for (unsigned k = 0; k < 2; k++) {
		const unsigned *right = k ? mesh : star;

		assert_int_equal(right[NOTHING], 20);
		assert_int_equal(right[OTHER_LIDS], 20);
		assert_int_equal(right[A_NEW_NAME], 20);
		assert_true(right[SWAPPED_NAMES] < 20);
		assert_true(right[FEWER_HOSTS] < 20);
	}
	assert_int_equal(star[MORE_HOSTS], 20);
}

static void saved_text_is_the_same_after_loading(void **state)
{
	struct strbuf saved = STRBUF_INIT, again = STRBUF_INIT;
	struct diag d = { .status = HD_OK };
	struct fabric was, is;
	struct rng rng;

	(void)state;
	rng_init(&rng, 4, 0);
	fabric_generate(&was, "mesh", 3);
	fabric_program(&was, LIDS_NODES);
	admit_some(&was, &rng);
	assert_int_equal(broker_release(&was.broker, 5), HD_OK);
	fabric_generate(&is, "mesh", 3);
	fabric_program(&is, LIDS_OPENSM);
	assert_int_equal(reload(&was, &is, &d), HD_OK);
	assert_int_equal(reservations_write(&was.broker, &d, &saved), HD_OK);
	assert_int_equal(reservations_write(&is.broker, &d, &again), HD_OK);
	assert_string_equal(saved.text, again.text);
	strbuf_fini(&saved);
	strbuf_fini(&again);
	fabric_fini(&is);
	fabric_fini(&was);
}

static void add_group(struct fabric *fabric, uint32_t n)
{
	struct diag d = { .status = HD_OK };
	const struct mcast_group want = {
		.method = MCAST_SHARED, .source = TOPO_NONE, .members = fabric->host, .n_members = n
	};

	assert_int_equal(mcast_add(&fabric->subnet, &want, &d), HD_OK);
}

/* The MLID differs, because other groups were added first, in both fabrics. */
static void groups_are_known_by_their_members(void **state)
{
	struct diag d = { .status = HD_OK };
	struct broker_refusal why;
	struct fabric was, is;
	uint32_t id;

	(void)state;
	fabric_generate(&was, "star", 5);
	fabric_program(&was, LIDS_NODES);
	add_group(&was, 5);
	add_group(&was, 2);
	add_group(&was, 3);
	const struct broker_request r = broker_request_of(was.host[0], was.subnet.groups[2].mlid, 2,
							  hd_rate_make(1000000, 1));

	assert_int_equal(broker_admit(&was.broker, &r, &id, &why), HD_OK);
	fabric_generate(&is, "star", 5);
	fabric_program(&is, LIDS_NODES);
	add_group(&is, 4);
	assert_int_equal(reload(&was, &is, &d), HD_ERR_NOT_FOUND);
	assert_non_null(strstr(d.message, "just these 3 members"));
	add_group(&is, 3);
	d = (struct diag){ .status = HD_OK };
	assert_int_equal(reload(&was, &is, &d), HD_OK);
	assert_int_equal(is.broker.connections[0].request.way.segment[0].dlid,
			 is.subnet.groups[1].mlid);
	fabric_fini(&is);
	fabric_fini(&was);
}

static void a_bad_file_is_refused_with_its_line(void **state)
{
#define H "heddle-reservations 2\n"
	static const struct {
		const char *text, *says;
		unsigned line;
	} cases[] = {
		{ "", "expected 'heddle-reservations 2'", 1 },
		{ "heddle-reservations 1\n", "expected 'heddle-res", 1 },
		{ H "nonsense\n", "no reservation", 2 },
		{ H "#\n0x1\"h\" 0x2\"i\" 0 5/1\n", "no end port", 3 },
		{ H "0x1\"h 0x2", "no reservation", 2 },
		{ H "12 13 0 5/1\n", "no reservation", 2 },
		{ H "%s %s 16 5/1\n", "no reservation", 2 },
		{ H "%s %s 8 5/1\n", "SL 8 belongs to no class with admission", 2 },
		{ H "%s %s 11 5/1\n", "SL 11 belongs to no class with admission", 2 },
		{ H "%s %s 0 5/0\n", "no reservation", 2 },
		{ H "%s %s 0 5/1 x\n", "no reservation", 2 },
		{ H "%s %s 0 99999999999999999999/1\n", "no reservation", 2 },
		{ H "%s group:shared=%s 0 1/1\n", "no group of that", 2 },
		{ H "%s group:none 0 1/1\n", "no reservation", 2 },
	};
#undef H
	struct fabric fabric;
	char ends[2][64];

	(void)state;
	fabric_generate(&fabric, "star", 3);
	fabric_program(&fabric, LIDS_NODES);
	for (unsigned i = 0; i < 2; i++)
		snprintf(ends[i], sizeof(ends[i]), "0x%llx\"%s\"",
			 (unsigned long long)fabric.topo.ports[fabric.host[i]].guid,
			 topo_node_of(&fabric.topo, fabric.host[i])->name);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct strbuf text = STRBUF_INIT;
		struct diag d = { .status = HD_OK };
		struct reservations saved;
		const char *at = cases[i].text;

		for (unsigned e = 0; *at; at++) {
			bool end = at[0] == '%' && at[1] == 's';

			if (end)
				strbuf_puts(&text, ends[e++]);
			else
				strbuf_putc(&text, *at);
			at += end;
		}
		assert_int_not_equal(reservations_read(&fabric.subnet, text.text, &d, &saved),
				     HD_OK);
		assert_non_null(strstr(d.message, cases[i].says));
		assert_int_equal(d.line, cases[i].line);
		strbuf_fini(&text);
	}
	fabric_fini(&fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loading_is_right_or_refused),
		cmocka_unit_test(saved_text_is_the_same_after_loading),
		cmocka_unit_test(groups_are_known_by_their_members),
		cmocka_unit_test(a_bad_file_is_refused_with_its_line),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
