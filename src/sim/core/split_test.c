/* SPDX-License-Identifier: BSD-2-Clause */
/* Classes on the VLs of engines that need VLs for themselves. */
#include "base/alloc.h"
#include "base/seeds_for_tests.h"
#include "base/strbuf.h"
#include "fabric/build_for_tests.h"
#include "sim/sim.h"
#include "subnet/routing/deadlock.h"

#define MOST_CLASSES 4

/* In mixed order, so that results cannot depend on SL numbers. */
static const unsigned sl_of_class[MOST_CLASSES] = { 5, 0, 11, 3 };

static const char *draw_topology(struct rng *r, struct strbuf *out)
{
	unsigned kind = (unsigned)rng_below(r, 4);

	if (kind == 0) {
		strbuf_printf(out, "{kind: torus, sizes: %ux%u, hosts: 1}",
			      3 + (unsigned)rng_below(r, 4), 3 + (unsigned)rng_below(r, 4));
		return "torus";
	}
	if (kind == 1) {
		strbuf_puts(out, "{kind: dragonfly, routers: 3, globals: 1, hosts: 1}");
		return "dragonfly";
	}
	strbuf_printf(out, "{kind: irregular, switches: %u, degree: %u, hosts: 1, seed: %u}",
		      8 + 2 * (unsigned)rng_below(r, 5), 3 + (unsigned)rng_below(r, 2),
		      1 + (unsigned)rng_below(r, 1000));
	return kind == 2 ? "lash" : "dfsssp";
}

static void draw_scenario(uint64_t seed, unsigned n_classes, unsigned vls, struct strbuf *out)
{
	struct rng r;
	struct strbuf topology = STRBUF_INIT;

	rng_init(&r, seed, 11);
	const char *engine = draw_topology(&r, &topology);

	strbuf_printf(out, "fabric: {topology: %s, routing: %s}\n", topology.text, engine);
	strbuf_printf(out, "qos:\n  vls: %u\n  classes:\n", vls);
	for (unsigned c = 0; c < n_classes; c++)
		strbuf_printf(out, "  - {name: c%u, sl: %u, weight: %u}\n", c, sl_of_class[c],
			      65 * (c + 1));
	strbuf_puts(out, "traffic:\n");
	for (unsigned c = 0; c < n_classes; c++)
		strbuf_printf(
			out,
			"- {name: t%u, class: c%u, kind: poisson, load: 60%%, payload: 512, stop: 20us}\n",
			c, c);
	strbuf_printf(out, "run: {warmup: 0s, measure: 2ms, seed: %llu}\n",
		      (unsigned long long)seed);
	strbuf_fini(&topology);
}

/* ---- dependencies, by walking every path -------------------------------- */

struct waits {
	bool *on; /* [channel][channel]; a channel is a port and a VL */
	uint32_t n;
	const struct fabric *fabric;
};

static uint32_t channel(port_id p, unsigned vl)
{
	return p * 16 + vl;
}

/* Follows a packet; all VLs lie in the block of its class. */
static void walk(struct waits *w, port_id from, port_id to, unsigned class)
{
	const struct subnet *s = &w->fabric->subnet;
	const struct topo *t = &w->fabric->topo;
	lid_t dlid = s->lid_of_port[to];
	uint8_t sl = path_sl(s, from, dlid, (uint8_t)sl_of_class[class]);
	unsigned first = class * s->split.vls;
	port_id at = from;
	unsigned vl = sl2vl_of(s, from)->vl[sl];

	for (unsigned hops = 0; t->ports[at].peer != to; hops++) {
		port_id in = t->ports[at].peer;
		node_id v = t->ports[in].node;
		switch_id sw = s->switch_of_node[v];
		uint8_t out = lft_get(s, sw, dlid);

		assert_true(hops < 64);
		assert_in_range(vl, first, first + s->split.vls - 1u);
		unsigned next = sl2vl_at(s, sw, t->ports[in].number, out)->vl[sl];
		port_id to_port = topo_port_of(t, v, out);

		assert_true(next < s->vls_of_port[to_port]);
		w->on[(size_t)channel(at, vl) * w->n + channel(to_port, next)] = true;
		at = to_port;
		vl = next;
	}
	assert_in_range(vl, first, first + s->split.vls - 1u);
}

/* Removes nodes that wait for nothing until none is left, or a cycle. */
static bool has_circle(const struct waits *w)
{
	uint32_t *n_waits = hd_alloc(w->n, sizeof(*n_waits));
	uint32_t *free_now = hd_alloc(w->n, sizeof(*free_now));
	uint32_t n_free = 0;

	for (uint32_t a = 0; a < w->n; a++) {
		for (uint32_t b = 0; b < w->n; b++)
			n_waits[a] += w->on[(size_t)a * w->n + b];
		if (n_waits[a] == 0)
			free_now[n_free++] = a;
	}
	for (uint32_t i = 0; i < n_free; i++) {
		for (uint32_t a = 0; a < w->n; a++) {
			if (w->on[(size_t)a * w->n + free_now[i]] && --n_waits[a] == 0)
				free_now[n_free++] = a;
		}
	}
	free(n_waits);
	free(free_now);
	return n_free < w->n;
}

static void assert_no_circle(const struct fabric *fabric, unsigned n_classes)
{
	struct waits w = { .n = fabric->topo.n_ports * 16, .fabric = fabric };
	struct deadlock_check c;

	w.on = hd_alloc((size_t)w.n * w.n, sizeof(*w.on));
	for (port_id a = 0; a < fabric->topo.n_ports; a++) {
		for (port_id b = 0; b < fabric->topo.n_ports; b++) {
			if (a == b || !topo_is_end_port(&fabric->topo, a) ||
			    !topo_is_end_port(&fabric->topo, b))
				continue;
			for (unsigned k = 0; k < n_classes; k++)
				walk(&w, a, b, k);
		}
	}
	assert_false(has_circle(&w));
	route_check_deadlock(&fabric->subnet, DEADLOCK_PLAIN, &c);
	assert_null(c.cycle);
	assert_int_equal(c.n_dropped, 0);
	route_deadlock_fini(&c);
	free(w.on);
}

/* ---- the tests ----------------------------------------------------------- */

static void assert_all_arrive(const struct fabric *fabric)
{
	struct sim *s = sim_new(&fabric->setup, fabric->flows, fabric->n_flows, &fabric->rules);
	enum sim_state state = sim_run(s, HD_TIME_NEVER, NULL, NULL);
	const struct sim_metrics *m = sim_metrics(s);

	assert_int_equal(state, SIM_IDLE);
	assert_true(m->made > 100);
	assert_int_equal(m->delivered, m->made);
	sim_free(s);
}

/* The error names the required number, which exceeds the available one. */
static void assert_says_how_many(const struct diag *d, unsigned vls)
{
	const char *at = strstr(d->message, "classes need ");
	unsigned needed = at ? (unsigned)strtoul(at + 13, NULL, 10) : 0;

	if (strstr(d->message, "VLs for itself"))
		assert_true(needed > vls && needed <= 4 * 15);
	else
		assert_true(strstr(d->message, "SLs for itself") && needed > N_SLS);
}

struct tally {
	unsigned built, split;
};

static void one_fabric(uint64_t seed, unsigned n_classes, unsigned vls, struct tally *tally)
{
	struct strbuf text = STRBUF_INIT;
	struct diag d = { .status = HD_OK };
	struct fabric *fabric = NULL;

	draw_scenario(seed, n_classes, vls, &text);
	enum hd_status status = fabric_load(text.text, text.len, "x.yaml", NULL, &d, &fabric);

	strbuf_fini(&text);
	if (status != HD_OK) {
		assert_says_how_many(&d, vls);
		return;
	}
	tally->built++;
	/* Short rings need no additional VLs. */
	if (fabric->subnet.split.n_classes) {
		tally->split += n_classes > 1;
		assert_no_circle(fabric, n_classes);
	}
	assert_all_arrive(fabric);
	fabric_free(fabric);
}

static void classes_have_blocks_of_vls_without_circles(void **state)
{
	static const unsigned vls[] = { 15, 8, 4 };
	unsigned rounds = cases_of_run(60, 1000);
	struct tally tally = { 0, 0 };

	(void)state;
	for (unsigned i = 0; i < rounds; i++)
		one_fabric(700 + i, 1 + i % MOST_CLASSES, vls[i % 3], &tally);
	assert_true(tally.built > rounds / 2);
	assert_true(tally.split > rounds / 5);
}

/* Two saturating classes on a torus share each link by their weights. */
static void weights_hold_among_blocks(void **state)
{
	struct fabric *fabric;

	(void)state;
	must_build(
		"fabric:\n"
		"  topology: {kind: torus, sizes: 6, hosts: 1}\n"
		"  routing: torus\n"
		"qos:\n  classes:\n"
		"  - {name: a, sl: 1, weight: 33}\n"
		"  - {name: b, sl: 4, weight: 99}\n"
		"traffic:\n"
		"- {name: a, class: a, kind: saturating, payload: 2KiB, source: h0, destination: h1, pattern: pairs}\n"
		"- {name: b, class: b, kind: saturating, payload: 2KiB, source: h0, destination: h1, pattern: pairs}\n"
		"run: {warmup: 100us, measure: 1ms}\n",
		&fabric);
	struct sim *s = sim_new(&fabric->setup, fabric->flows, fabric->n_flows, &fabric->rules);

	sim_run(s, HD_TIME_NEVER, NULL, NULL);
	const struct sim_metrics *m = sim_metrics(s);
	double share = (double)m->flows[1].delivered /
		       (double)(m->flows[0].delivered + m->flows[1].delivered);

	/* Packets of 33 blocks: one to three, in whole turns. */
	assert_true(share > 0.745 && share < 0.755);
	sim_free(s);
	fabric_free(fabric);
}

/* Changed routes use the same blocks. */
static void rerouted_classes_keep_their_blocks(void **state)
{
	struct fabric *fabric;

	(void)state;
	must_build(
		"fabric:\n"
		"  topology: {kind: irregular, switches: 10, degree: 4, hosts: 1}\n"
		"  routing: lash\n"
		"qos:\n  classes:\n"
		"  - {name: a, sl: 1}\n  - {name: b, sl: 4}\n"
		"traffic:\n"
		"- {name: a, class: a, kind: messages, count: 9, payload: 256, pattern: all-to-all, start: 200us}\n"
		"- {name: b, class: b, kind: messages, count: 9, payload: 256, pattern: all-to-all, start: 200us}\n"
		"faults:\n  events:\n"
		"  - {at: 10us, kind: link-down, port: 's-3:1'}\n"
		"sm: {trap: 1us, compute: 1us, program: 1us}\n"
		"run: {warmup: 0s, measure: 1ms}\n",
		&fabric);
	assert_int_equal(fabric->n_sweeps, 1);
	assert_int_equal(fabric->setup.n_paths, 1);
	assert_all_arrive(fabric);
	fabric_free(fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(classes_have_blocks_of_vls_without_circles),
		cmocka_unit_test(weights_hold_among_blocks),
		cmocka_unit_test(rerouted_classes_keep_their_blocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
