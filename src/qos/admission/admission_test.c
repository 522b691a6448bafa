/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/admission/admission.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "qos/admission/binomial_for_tests.h"
#include "qos/admission/fabric_for_tests.h"
#include "subnet/tables/ends.h"

/*
 * On a hub: the link of host i has the slots of a frame, 64 times 255, in
 * each direction; best effort keeps a fifth of them and challenged traffic 1.
 */
#define FRAME 16320
#define KEPT  (3264 + 9) /* BE; CH, and the floors of DBTS and DB */

struct hub {
	struct routed_fabric f;
	struct qos_requests requests;
	struct admission a;
};

static struct admission_params bare(void)
{
	struct admission_params p = { .broker = broker_params_default() };

	p.broker.high_sls = class_sls_of(TC_DBTS);
	p.terms.margin = (struct hd_ratio){ 0, 1 };

	p.terms.packets.payload = 2048; /* and no overhead */
	return p;
}

static void hub_init(struct hub *h, unsigned hosts, const char *text,
		     const struct admission_params *p)
{
	struct diag d = { .status = HD_OK };

	routed_init(&h->f, "star", 1, hosts);
	h->requests = requests_of(text);
	assert_int_equal(admission_run(&h->a, &h->f.subnet, p, &h->requests, &d), HD_OK);
}

static void hub_fini(struct hub *h)
{
	admission_fini(&h->a);
	qos_requests_fini(&h->requests);
	routed_fini(&h->f);
}

/* 5 Gb/s of 8 are 10,200 slots; 2 Gb/s more are 4,080, and 2,848 are left
 * besides best effort and the slot of each other VL. */
static void requests_are_answered_in_order(void **state)
{
	(void)state;
	struct admission_params p = bare();
	struct hub h;

	hub_init(&h, 3, "h0 h2 DB 5Gb/s\nh1 h2 DB 2Gb/s\nh1 h0 DBTS 2Gb/s\n", &p);
	assert_int_equal(h.a.n_answers, 3);
	assert_true(h.a.answers[0].admitted);
	assert_false(h.a.answers[1].admitted);
	assert_string_equal(h.a.answers[1].reason,
			    "link 'hub'[3] -> 'h2'[1] is full: needs 4080 slots, has 2848");
	assert_true(h.a.answers[2].admitted);
	assert_int_equal(h.a.refused, 1);
	assert_false(admission_met(&h.a));
	/* Six links; two requests of two hops each. */
	struct admission_load load = admission_load_of(&h.a.broker);

	/* A floor is part of the first reservation of its VL and table. */
	assert_true(fabs(load.most - 100. * (KEPT + 10199) / FRAME) < 1e-9);
	assert_true(fabs(load.mean - 100. * (6 * KEPT + 2 * 10199 + 2 * 4080) / (6. * FRAME)) <
		    1e-9);
	hub_fini(&h);
}

static void saved_state_is_loaded_again(void **state)
{
	(void)state;
	char path[] = "admission_test.XXXXXX";
	int fd = mkstemp(path);
	struct admission_params p = bare();
	struct hub first, again;

	assert_true(fd >= 0);
	close(fd);
	p.save = path;
	hub_init(&first, 3, "h0 h2 DB 5Gb/s\nh1 h0 DB 2Gb/s\n", &p);
	p.save = NULL;
	p.load = path;
	/* Their slots are not available to others. */
	hub_init(&again, 3, "h1 h2 DB 2Gb/s\n", &p);
	assert_int_equal(again.a.broker.n_live, 2);
	assert_false(again.a.answers[0].admitted);
	for (port_id q = 0; q < first.f.topo.n_ports; q++)
		assert_int_equal(first.a.broker.links[q].low.total,
				 again.a.broker.links[q].low.total);
	hub_fini(&again);
	hub_fini(&first);
	unlink(path);
}

static void nothing_is_saved_of_what_fails(void **state)
{
	(void)state;
	struct routed_fabric f;
	struct qos_requests q = requests_of("h0 h1 DB 1Gb/s\nh0 hx DB 1Gb/s\n");
	struct admission_params p = bare();
	struct diag d = { .status = HD_OK };
	struct admission a;

	p.save = "admission_test.never";
	q.file = "flows";
	routed_init(&f, "star", 1, 3);
	assert_int_equal(admission_run(&a, &f.subnet, &p, &q, &d), HD_ERR_NOT_FOUND);
	assert_int_equal(d.line, 2);
	assert_string_equal(d.file, "flows");
	assert_int_not_equal(access(p.save, F_OK), 0);
	qos_requests_fini(&q);
	routed_fini(&f);
}

/*
 * 30 sources of 400 Mb/s, on a fifth of the time, ask for half of a link of 8
 * Gb/s. Best effort has 32 of 64 entries and each of the 8 other VLs one, so
 * that 24 are left: by peaks 7 of 816 slots each fit. More than 10 of those on
 * at once are too many.
 */
static void on_and_off_sources_fit_beyond_their_peaks(void **state)
{
	(void)state;
	struct admission_params p = bare();
	struct strbuf text = STRBUF_INIT;
	unsigned admitted = 0, by_peak = 0;
	struct hub h;

	for (unsigned i = 1; i <= 30; i++)
		strbuf_printf(&text, "h%u h0 DB 400Mb/s~80Mb/s\n", i);
	p.violations = (struct hd_ratio){ 2, 100 };
	p.broker.best_effort = (struct hd_ratio){ 1, 2 };
	p.seed = 1;
	hub_init(&h, 31, text.text, &p);
	for (size_t i = 0; i < h.a.n_answers; i++) {
		admitted += h.a.answers[i].admitted;
		by_peak += h.a.answers[i].by_peak;
	}
	assert_int_equal(by_peak, 7);
	assert_true(admitted > 10);
	assert_int_equal(h.a.refused, 30 - admitted);
	/* The hub's port to h0. */
	struct diag d = { .status = HD_OK };
	port_id first = TOPO_NONE;

	assert_int_equal(end_named(&h.f.topo, "h0", &d, &first), HD_OK);
	port_id last = h.f.topo.ports[first].peer;
	double exact = binomial_tail(admitted, 0.2, 10);

	assert_true(exact <= 0.02);
	assert_true(fabs(h.a.seen[last].mean - exact) < 3 * h.a.seen[last].half_width);
	assert_false(admission_met(&h.a));
	hub_fini(&h);
	strbuf_fini(&text);
}

static void random_ones_count_as_refused_when_they_do_not_fit(void **state)
{
	(void)state;
	struct admission_params p = bare();
	struct hub h;

	p.random = 4;
	hub_init(&h, 4, "", &p);
	assert_int_equal(h.a.random.established, 4);
	assert_true(admission_met(&h.a));
	assert_int_equal(h.a.broker.n_live, 4);
	hub_fini(&h);
	p.random = 100000;
	hub_init(&h, 4, "", &p);
	assert_true(h.a.random.established < 100000);
	assert_false(admission_met(&h.a));
	hub_fini(&h);
}

/* The subnet had a group before, which is not among the named ones. */
static void groups_are_shown_by_their_own_names(void **state)
{
	(void)state;
	const char *names[] = { "two:shared=h1,h2", "three:shared=h0,h1,h2" };
	struct admission_params p = bare();
	struct qos_requests q = requests_of("h3 group:two DB 1Gb/s\n");
	struct results *r = results_new("test");
	struct group_list open = { 0 };
	struct diag d = { .status = HD_OK };
	struct routed_fabric f;
	struct admission a;

	routed_init(&f, "star", 1, 4);
	assert_int_equal(group_add(&f.subnet, "shared=*", 0, &open, &d), HD_OK);
	p.terms.groups = (struct option_list){ .items = names, .n = 2 };
	assert_int_equal(admission_run(&a, &f.subnet, &p, &q, &d), HD_OK);
	assert_true(admission_met(&a));
	admission_show(&a, r);
	const struct table *t = results_find(r, "groups");

	assert_int_equal(t->n_cells, 2 * t->n_columns);
	assert_string_equal(t->cells[0].text, "two");
	assert_int_equal(t->cells[3].u, 2);
	assert_int_equal(t->cells[4].u, 1); /* h3 sends besides */
	assert_int_equal(t->cells[t->n_columns + 3].u, 3);
	results_free(r);
	admission_fini(&a);
	qos_requests_fini(&q);
	routed_fini(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_are_answered_in_order),
		cmocka_unit_test(saved_state_is_loaded_again),
		cmocka_unit_test(nothing_is_saved_of_what_fails),
		cmocka_unit_test(on_and_off_sources_fit_beyond_their_peaks),
		cmocka_unit_test(random_ones_count_as_refused_when_they_do_not_fit),
		cmocka_unit_test(groups_are_shown_by_their_own_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
