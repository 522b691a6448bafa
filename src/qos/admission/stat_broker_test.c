/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/admission/stat_broker.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "qos/admission/binomial_for_tests.h"
#include "qos/admission/statistical_for_tests.h"
#include "subnet/routing/route.h"
#include "topo/generate.h"

/* Hosts around one switch, cables of 8 Gb/s. */
struct star {
	struct topo topo;
	struct subnet subnet;
	port_id host[32];
};

static void star_init(struct star *f, uint32_t hosts)
{
	struct lid_options lids = { .order = LIDS_NODES, .sm_port = TOPO_NONE };
	struct route_options options = { 0 };
	struct diag d = { .status = HD_OK };
	struct topo_params p;
	const struct generator *g = generator_find("star", &d);
	uint32_t n = 0;

	assert_true(hosts <= 32);
	topo_params_init(g, &p);
	p.hosts = hosts;
	assert_int_equal(topo_generate(g, &p, &d, &f->topo), HD_OK);
	for (port_id i = 0; i < f->topo.n_ports; i++) {
		f->topo.ports[i].widths = WIDTH_4X;
		f->topo.ports[i].speeds = 1 << SPEED_SDR;
		if (topo_is_end_port(&f->topo, i) && topo_node_of(&f->topo, i)->kind == NODE_CA)
			f->host[n++] = i;
	}
	assert_int_equal(n, hosts);
	subnet_init(&f->subnet, &f->topo);
	assert_int_equal(subnet_assign_lids(&f->subnet, &lids, &d), HD_OK);
	assert_int_equal(subnet_route(&f->subnet, "minhop", &options, &d), HD_OK);
}

static void star_fini(struct star *f)
{
	subnet_fini(&f->subnet);
	topo_fini(&f->topo);
}

static struct stat_request request(const struct star *f, uint32_t from)
{
	return (struct stat_request){
		.source = f->host[from],
		.dlid = f->subnet.lid_of_port[f->host[0]],
		.peak = 400e6,
		.mean = 80e6,
	};
}

/*
 * Sources of 400 Mb/s, on a fifth of the time, to one host with 4 Gb/s for
 * them: ten fit by their peaks. What is admitted is what stat_most says of the
 * link that all share, and the time in which more than ten are on is the
 * binomial tail.
 */
static void the_shared_link_decides_and_keeps_the_promise(void **state)
{
	const double allowed = 0.02;
	struct stat_class asked = { 400e6, 80e6, 0 };
	uint32_t most = stat_most(NULL, 0, &asked, 4e9, allowed), n = 0;
	struct star f;
	struct stat_broker b;

	(void)state;
	assert_true(most > 10);
	star_init(&f, 32);
	stat_broker_init(&b, &f.subnet, 0.5, allowed);
	for (uint32_t i = 1; i < 32; i++) {
		struct diag d = { .status = HD_OK };
		struct stat_request r = request(&f, i);
		enum hd_status status = stat_broker_admit(&b, &r, &d);

		assert_true(status == HD_OK || status == HD_ERR_FULL);
		assert_int_equal(status == HD_OK, i <= most);
		n += status == HD_OK;
	}
	assert_int_equal(n, most);
	struct stat_request r = request(&f, 1);
	struct path path;

	assert_int_equal(path_walk(&f.subnet, r.source, r.dlid, 0, &path), HD_OK);
	port_id last = path.port[path.n_hops - 1];
	double *seen = hd_alloc(f.topo.n_ports, sizeof(*seen));

	assert_int_equal(stat_broker_users(&b, last), n);
	assert_int_equal(stat_broker_users(&b, r.source), 1);
	stat_broker_watch(&b, 5, 100000, seen);
	double exact = binomial_tail(n, 0.2, 10);

	print_message("%u sources: asked for %.3f, bound %.4f, exact %.5f, seen %.5f\n", n, allowed,
		      stat_broker_bound(&b, last), exact, seen[last]);
	assert_true(exact <= stat_broker_bound(&b, last));
	assert_true(stat_broker_bound(&b, last) <= allowed);
	/* 100,000 on-times: accurate to some percent. */
	assert_true(fabs(seen[last] / exact - 1) < 0.15);
	for (port_id p = 0; p < f.topo.n_ports; p++)
		assert_true(p == last || !(seen[p] > 0));
	free(seen);
	stat_broker_fini(&b);
	star_fini(&f);
}

/* A rejection at the last link releases the first. */
static void a_refusal_leaves_nothing_behind(void **state)
{
	struct star f;
	struct stat_broker b;
	struct diag d = { .status = HD_OK };

	(void)state;
	star_init(&f, 3);
	stat_broker_init(&b, &f.subnet, 0.5, 1e-6);
	struct stat_request r = request(&f, 1);

	r.peak = 3e9;
	r.mean = 2e9;
	assert_int_equal(stat_broker_admit(&b, &r, &d), HD_OK);
	r = request(&f, 2);
	r.peak = 2e9;
	assert_int_equal(stat_broker_admit(&b, &r, &d), HD_ERR_FULL);
	assert_int_equal(stat_broker_users(&b, r.source), 0);
	assert_int_equal(b.n_sources, 1);
	stat_broker_fini(&b);
	star_fini(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_shared_link_decides_and_keeps_the_promise),
		cmocka_unit_test(a_refusal_leaves_nothing_behind),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
