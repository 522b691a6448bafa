/* SPDX-License-Identifier: BSD-2-Clause */
/* Reductions by switches (docs/timing-rules.md, S1 to S6) compared with closed forms. */
#include "sim/jobs/run_for_tests.h"

#include "base/rng.h"
#include "base/seeds_for_tests.h"
#include "report/writer.h"

/* ---- running one --------------------------------------------------------- */

/* All that is shown of it, which the caller frees. */
static char *text_of(const struct outcome *o)
{
	struct strbuf shown = STRBUF_INIT;

	writer_find("text")->write(o->results, &shown);
	return strbuf_detach(&shown);
}

/* Partitioned runs and whole runs have the same tables. */
static void check_same(const struct outcome *cut, const struct outcome *whole)
{
	char *text[] = { text_of(cut), text_of(whole) };

	assert_string_equal(text[0], text[1]);
	assert_int_equal(cut->checksum, whole->checksum);
	assert_int_equal(cut->hops, whole->hops);
	free(text[0]);
	free(text[1]);
}

static enum hd_status refusal_of(const char *text, struct diag *d)
{
	struct fabric *fabric = NULL;
	struct jobs *jobs = NULL;
	enum hd_status status = fabric_load(text, strlen(text), "x.yaml", NULL, d, &fabric);

	assert_int_equal(status, HD_OK);
	status = jobs_new(fabric, JOBS_ALL, d, &jobs);
	if (status == HD_OK)
		jobs_free(jobs);
	fabric_free(fabric);
	return status;
}

/* ---- the closed form ---------------------------------------------------- */

/* Parameters of the closed form; times in ps. */
struct shape {
	unsigned radix, levels; /* of the switches' tree; radix^levels hosts */
	uint64_t size, payload, mtu;
	hd_time propagation, routing, arbitration, delay;
};

#define BYTE_TIME 40 /* 4x HDR, ps */
#define OVERHEAD  66 /* with the GRH */

/*
 * A packet takes D = 40 ps a byte on any cable. Up, each of L switches has the
 * contributions whole P + D after they started, its result delay + r + a later
 * on its way; the last transaction starts (n - 1) D behind the first on every
 * cable, for it is never larger than they are. Down, L cables with L - 1
 * switches between are cut through, and the last packet's end follows d behind.
 */
static hd_time closed_form(const struct shape *x)
{
	uint64_t payload = x->payload < x->mtu ? x->payload : x->mtu;
	uint64_t n = x->size ? (x->size + payload - 1) / payload : 1;
	uint64_t last = x->size - (n - 1) * payload;
	hd_time d_last = BYTE_TIME * (last + OVERHEAD);
	hd_time d = n > 1 ? BYTE_TIME * (payload + OVERHEAD) : d_last;
	hd_time turn = x->routing + x->arbitration;
	unsigned l = x->levels;

	return l * (x->propagation + d + x->delay + turn) + (n - 1) * d + l * x->propagation +
	       (l - 1) * turn + d_last;
}

static void scenario_of(const struct shape *x, const char *step, char *text, size_t room)
{
	uint32_t hosts = 1;

	for (unsigned i = 0; i < x->levels; i++)
		hosts *= x->radix;
	snprintf(
		text, room,
		"fabric:\n"
		"  topology: {kind: xgft, down: '%u%s%s', up: '1%s%s'}\n"
		"  link: {rate: 4x HDR, propagation: %lluns}\n"
		"  switch: {routing_delay: %lluns, arbitration_delay: %lluns, input_buffer: 64KiB}\n"
		"  packet: {mtu: %llu}\n"
		"  reduction: {payload: %llu, delay: %lluns}\n"
		"jobs:\n- {name: a, ranks: %u, program: [{%s, algorithm: in-network}]}\n",
		x->radix, x->levels > 1 ? ",R" : "", x->levels > 2 ? ",R" : "",
		x->levels > 1 ? ",1" : "", x->levels > 2 ? ",1" : "",
		(unsigned long long)x->propagation / HD_NS, (unsigned long long)x->routing / HD_NS,
		(unsigned long long)x->arbitration / HD_NS, (unsigned long long)x->mtu,
		(unsigned long long)x->payload, (unsigned long long)x->delay / HD_NS, hosts, step);
	for (char *c = text; (c = strstr(c, ",R")) != NULL; c++)
		c[1] = (char)('0' + x->radix);
}

static void draw_shape(struct rng *r, struct shape *x)
{
	static const uint64_t mtus[] = { 256, 512, 1024, 2048, 4096 };

	*x = (struct shape){
		.radix = 2 + (unsigned)rng_below(r, 5),
		.levels = 1 + (unsigned)rng_below(r, 3),
		.size = rng_below(r, 4) ? rng_below(r, 40000) : rng_below(r, 300),
		.payload = 1 + rng_below(r, 4096),
		.mtu = mtus[rng_below(r, 5)],
		.propagation = (1 + rng_below(r, 20)) * HD_NS,
		.routing = rng_below(r, 100) * HD_NS,
		.arbitration = rng_below(r, 30) * HD_NS,
		.delay = rng_below(r, 500) * HD_NS,
	};
	if (x->levels == 3 && x->radix > 4)
		x->radix = 4;
	/* Few, so that a run is short. */
	if (x->size / x->payload > 100)
		x->payload = 1024;
	if (x->size / x->mtu > 100)
		x->size /= 8;
}

static void allreduces_take_what_the_closed_form_says(void **state)
{
	unsigned n = run_is_long() ? 2000 : 60;
	char text[1024], step[64];
	struct rng r;

	(void)state;
	rng_init(&r, 20, 3);
	for (unsigned i = 0; i < n; i++) {
		struct shape x;

		draw_shape(&r, &x);
		snprintf(step, sizeof(step), "allreduce: %llu", (unsigned long long)x.size);
		scenario_of(&x, step, text, sizeof(text));
		struct outcome o = run_on(text, 1);

		if (!o.well || o.completion[0] != closed_form(&x))
			fail_msg("%s%llu instead of %llu ps\n%s", text,
				 (unsigned long long)o.completion[0],
				 (unsigned long long)closed_form(&x), text_of(&o));
		results_free(o.results);
	}
}

static void a_barrier_is_an_allreduce_of_nothing(void **state)
{
	char text[1024];
	struct rng r;

	(void)state;
	rng_init(&r, 20, 4);
	for (unsigned i = 0; i < 10; i++) {
		struct shape x;

		draw_shape(&r, &x);
		x.size = 0;
		scenario_of(&x, "barrier: 0", text, sizeof(text));
		struct outcome o = run_on(text, 1);

		assert_int_equal(o.completion[0], closed_form(&x));
		results_free(o.results);
	}
}

/* ---- the rest of the rules ---------------------------------------------- */

#define FAT_TREE                                                       \
	"fabric:\n  topology: {kind: fat-tree, radix: 8, levels: 3}\n" \
	"  link: {rate: 4x HDR}\n"

/* Groups over a whole fat tree, twice the same step, with other traffic. */
#define BUSY                                                                   \
	FAT_TREE "jobs:\n"                                                     \
		 "- {name: a, on: 'all', ranks: 64, repeat: 3, program: "      \
		 "[{allreduce: 20000, groups: 8, layout: strides, algorithm: " \
		 "in-network}, {barrier: 0, algorithm: in-network}, "          \
		 "{allreduce: 64, groups: 8, layout: strides, algorithm: "     \
		 "in-network}]}\n"                                             \
		 "- {name: b, on: 'all', ranks: 64, sl: 1, program: "          \
		 "[{alltoall: 4096}]}\n"

static void threads_change_nothing(void **state)
{
	struct outcome whole = run_on(BUSY, 1);

	(void)state;
	assert_true(whole.well);
	for (uint32_t parts = 2; parts <= 5; parts++) {
		struct outcome cut = run_on(BUSY, parts);

		assert_int_equal(cut.parts, parts);
		assert_int_equal(cut.completion[0], whole.completion[0]);
		assert_int_equal(cut.completion[1], whole.completion[1]);
		check_same(&cut, &whole);
		results_free(cut.results);
	}
	results_free(whole.results);
}

/* Whatever the switches are like, a reduction is one. */
static void all_kinds_of_switches_reduce(void **state)
{
	static const char *const kinds[] = {
		"switch: {queueing: cioq}",
		"switch: {arbitration: oldest}",
		"switch: {crossbar_reads: 1}",
		"credits: exact",
		"routing: {engine: ftree, adaptive: load}",
		"links: [{ports: 's3-0:1', rate: 4x EDR}]",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		struct outcome o[2];
		char text[1024];

		snprintf(text, sizeof(text), "%s",
			 "fabric:\n  topology: {kind: fat-tree, radix: 8, levels: 3}\n  ");
		strncat(text, kinds[i], sizeof(text) - strlen(text) - 1);
		strncat(text,
			"\njobs:\n- {name: a, program: [{allreduce: 30000, algorithm: in-network}, {allreduce: 3000, groups: 16, layout: strides, algorithm: in-network}]}\n",
			sizeof(text) - strlen(text) - 1);
		o[0] = run_on(text, 1);
		o[1] = run_on(text, 3);
		assert_true(o[0].well);
		assert_int_equal(o[1].parts, 3);
		check_same(&o[1], &o[0]);
		assert_int_not_equal(o[0].checksum, 0);
		results_free(o[0].results);
		results_free(o[1].results);
	}
}

/* 64 ports, and one more input: bits of 64 no longer do. */
static void a_switch_of_64_ports_reduces(void **state)
{
	const struct shape x = { .radix = 64,
				 .levels = 1,
				 .size = 9000,
				 .payload = 2048,
				 .mtu = 4096,
				 .propagation = 5 * HD_NS,
				 .routing = 80 * HD_NS,
				 .arbitration = 20 * HD_NS,
				 .delay = 100 * HD_NS };
	char text[1024];

	(void)state;
	scenario_of(&x, "allreduce: 9000", text, sizeof(text));
	struct outcome o = run_on(text, 1);

	assert_int_equal(o.completion[0], closed_form(&x));
	results_free(o.results);
}

/* Eight ranks on a star: 8 contributions up and 8 copies down for each of 5
 * transactions, whichever rank begins late. */
static void every_rank_gives_and_gets_each_transaction_once(void **state)
{
	struct outcome o = run_on(
		"fabric: {topology: {kind: star, hosts: 8}, link: {rate: 4x HDR}, reduction: {payload: 1KiB}}\njobs:\n- {name: a, ranks: 8, program: [{allreduce: 5000, algorithm: in-network}]}\n",
		1);

	(void)state;
	assert_true(o.well);
	assert_int_equal(o.hops, 2 * 8 * 5);
	results_free(o.results);
}

/* A cable that is down for a while takes contributions with it: S6. */
static void a_lost_contribution_is_named_and_never_made_good(void **state)
{
	struct outcome o = run_on(
		FAT_TREE
		"faults: {events: [{at: 300ns, kind: link-down, port: 's1-0:5'}, {at: 400ns, kind: link-up, port: 's1-0:5'}]}\n"
		"jobs:\n- {name: a, ranks: 128, program: [{allreduce: 100000, algorithm: in-network}]}\n",
		1);

	char *text = text_of(&o);

	(void)state;
	if (o.well)
		fail_msg("%s", text);
	assert_int_equal(o.completion[0], HD_TIME_NEVER);
	assert_non_null(strstr(text, "does not come to its end"));
	assert_non_null(strstr(text, "its result does not come"));
	free(text);
	results_free(o.results);
}

static void switches_that_cannot_reduce_are_refused(void **state)
{
	static const struct {
		const char *fabric, *says;
	} cases[] = {
		{ "switch: {order: fifo}", "cannot reduce" },
		{ "reduction: {trees: 3}", "has 3 aggregation trees already" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct diag d = { .status = HD_OK };
		char text[512];

		snprintf(
			text, sizeof(text),
			"fabric:\n  topology: {kind: star, hosts: 16}\n  %s\njobs:\n- {name: a, program: [{allreduce: 64, groups: 4, algorithm: in-network}]}\n",
			cases[i].fabric);
		assert_int_not_equal(refusal_of(text, &d), HD_OK);
		if (!strstr(d.message, cases[i].says))
			fail_msg("%s", d.message);
	}
}

/* Steps with the same groups have the same trees. */
static void steps_share_their_trees(void **state)
{
	struct diag d = { .status = HD_OK };

	(void)state;
	assert_int_equal(refusal_of("fabric: {topology: {kind: star, hosts: 16}, "
				    "reduction: {trees: 4}}\njobs:\n- {name: a, "
				    "program: [{allreduce: 64, groups: 4, algorithm: "
				    "in-network}, {allreduce: 128, groups: 4, "
				    "algorithm: in-network}, {barrier: 0, groups: 4, "
				    "algorithm: in-network}]}\n",
				    &d),
			 HD_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(allreduces_take_what_the_closed_form_says),
		cmocka_unit_test(a_barrier_is_an_allreduce_of_nothing),
		cmocka_unit_test(threads_change_nothing),
		cmocka_unit_test(all_kinds_of_switches_reduce),
		cmocka_unit_test(a_switch_of_64_ports_reduces),
		cmocka_unit_test(every_rank_gives_and_gets_each_transaction_once),
		cmocka_unit_test(a_lost_contribution_is_named_and_never_made_good),
		cmocka_unit_test(switches_that_cannot_reduce_are_refused),
		cmocka_unit_test(steps_share_their_trees),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
