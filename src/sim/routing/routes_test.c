/* SPDX-License-Identifier: BSD-2-Clause */
/* T11r: a subnet manager routes around what fails. */
#include "base/alloc.h"
#include "base/seeds_for_tests.h"
#include "base/strbuf.h"
#include "fabric/build_for_tests.h"
#include "sim/sim.h"
#include "subnet/tables/ends.h"

#define P     (100 * HD_NS)
#define R     (80 * HD_NS)
#define A     (20 * HD_NS)
#define D     (1000 * HD_NS) /* 1000 bytes at 8 Gb/s */
#define GAP   (10 * HD_US)
#define COUNT 200u

/* End of each packet of the flow. */
struct ends {
	bool seen[COUNT], lost[COUNT];
	hd_time latency[COUNT];
};

static void note_end(void *context, const struct sim_event_record *e, const struct sim_packet *p)
{
	struct ends *ends = context;

	assert_true(p->sequence < COUNT && !ends->seen[p->sequence]);
	ends->seen[p->sequence] = true;
	ends->lost[p->sequence] = e->fate != SIM_DELIVERED;
	ends->latency[p->sequence] = e->time - p->born;
}

static struct sim *run(const struct fabric *fabric, struct sim_observer *o)
{
	struct sim *s = sim_new(&fabric->setup, fabric->flows, fabric->n_flows, &fabric->rules);

	if (o)
		sim_observe(s, o);
	sim_run(s, HD_TIME_NEVER, NULL, NULL);
	return s;
}

/* A packet from h0 to h1 every 10 us; the cable between fails at 500 us. */
static void load_outage(hd_time trap, const char *more, struct fabric **out)
{
	struct strbuf text = STRBUF_INIT;
	FILE *trace = fopen("routes_test.csv", "w");

	assert_non_null(trace);
	for (unsigned k = 0; k < COUNT; k++)
		fprintf(trace, "%uus,h0,h1,974\n", 10 * k);
	fclose(trace);
	strbuf_printf(&text,
		      "fabric:\n"
		      "  topology: {kind: ring, switches: 3}\n"
		      "  link: {rate: 8Gb/s, propagation: 100ns}\n"
		      "  switch: {routing_delay: 80ns, arbitration_delay: 20ns%s}\n"
		      "traffic:\n"
		      "- {name: a, kind: trace, file: routes_test.csv}\n"
		      "faults:\n  events:\n"
		      "  - {at: 500us, kind: link-down, port: 's-0:1'}\n"
		      "sm: {trap: %llups, compute: 200us, program: 5us}\n"
		      "run: {warmup: 0s, measure: 3ms}\n",
		      more, (unsigned long long)trap);
	must_build(text.text, out);
	strbuf_fini(&text);
}

/* When the block of `lid` is written into a switch. */
static hd_time written_at(const struct fabric *fabric, const char *name, lid_t lid)
{
	const struct fabric_sweep *w = &fabric->sweeps[0];

	for (uint32_t i = 0; i < w->plan.n_writes; i++) {
		const struct lft_write *x = &w->plan.writes[i];
		node_id v = fabric->subnet.node_of_switch[x->sw];

		if (strcmp(fabric->topo.nodes[v].name, name) == 0 &&
		    lid / LFT_BLOCK_LIDS == x->block)
			return w->computed + (i + 1) * 5 * HD_US;
	}
	fail();
	return 0;
}

static port_id host_named(const struct fabric *fabric, const char *name)
{
	struct diag d = { .status = HD_OK };
	port_id found = TOPO_NONE;

	assert_int_equal(end_named(&fabric->topo, name, &d, &found), HD_OK);
	return found;
}

/*
 * A packet is lost if its head would have reached the second switch at 500 us or later and reached
 * the first one before its new table: exact to the picosecond, whatever the switch parameters.
 */
static void one_outage(int late, const char *more)
{
	struct fabric *fabric;
	struct ends ends = { .seen = { false } };
	struct sim_observer o = { .context = &ends, .ended = note_end };

	/* The first switch is written as a head arrives, or 1 ps off. */
	load_outage(0, more, &fabric);
	lid_t lid = fabric->subnet.lid_of_port[host_named(fabric, "h1")];
	hd_time first = written_at(fabric, "s-0", lid);

	fabric_free(fabric);
	hd_time trap = 1000 * HD_US + P - first + (hd_time)(late + 1) - 1;

	load_outage(trap, more, &fabric);
	hd_time switched = written_at(fabric, "s-0", lid);

	assert_int_equal(switched, 1000 * HD_US + P + (hd_time)(late + 1) - 1);
	assert_int_equal(fabric->sweeps[0].noticed, 500 * HD_US + trap);
	struct sim *s = run(fabric, &o);
	const struct sim_metrics *m = sim_metrics(s);
	uint64_t n_lost = 0;

	for (unsigned k = 0; k < COUNT; k++) {
		hd_time at = k * GAP;
		bool direct = at + P < switched;
		bool lost = direct && at + 2 * P + R + A >= 500 * HD_US;

		assert_true(ends.seen[k]);
		assert_int_equal(ends.lost[k], lost);
		if (!lost)
			assert_int_equal(ends.latency[k], direct ? 3 * P + 2 * (R + A) + D
								 : 4 * P + 3 * (R + A) + D);
		n_lost += lost;
	}
	/* From 500 us to 1000 us; the one of 1000 us if it comes too early. */
	assert_int_equal(n_lost, 50 + (late > 0));
	assert_int_equal(m->delivered, COUNT - n_lost);
	assert_int_equal(m->lost[SIM_LOST_DISCARD] + m->lost[SIM_LOST_LINK], n_lost);
	sim_free(s);
	fabric_free(fabric);
}

static void an_outage_lasts_until_the_switch_is_written(void **state)
{
	static const char *const kinds[] = { "", ", order: fifo", ", queueing: cioq" };

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		for (int late = -1; late <= 1; late++)
			one_outage(late, kinds[i]);
	}
}

/* ---- sweeps and traps ---------------------------------------------------- */

static void assert_noticed(const char *sm, const hd_time *noticed, uint32_t n)
{
	struct strbuf text = STRBUF_INIT;
	struct fabric *fabric;

	strbuf_printf(&text,
		      "fabric:\n  topology: {kind: ring, switches: 4}\n" ANY "faults:\n  events:\n"
		      "  - {at: 100us, kind: link-down, port: 's-0:1'}\n"
		      "  - {at: 130us, kind: link-up, port: 's-0:1'}\n"
		      "  - {at: 250us, kind: switch-down, port: s-2}\n"
		      "  - {at: 400us, kind: switch-up, port: s-2}\n"
		      "sm: {compute: 10us, program: 1us, %s}\n"
		      "run: {warmup: 0s, measure: 500us}\n",
		      sm);
	must_build(text.text, &fabric);
	assert_int_equal(fabric->n_sweeps, n);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(fabric->sweeps[i].noticed, noticed[i]);
	fabric_free(fabric);
	strbuf_fini(&text);
}

static void changes_are_noticed_by_trap_or_sweep(void **state)
{
	(void)state;
	assert_noticed("trap: 5us",
		       (hd_time[]){ 105 * HD_US, 135 * HD_US, 255 * HD_US, 405 * HD_US }, 4);
	/* A link that is back by the next sweep is not noticed. */
	assert_noticed("sweep: 60us",
		       (hd_time[]){ 120 * HD_US, 180 * HD_US, 300 * HD_US, 420 * HD_US }, 4);
	assert_noticed("sweep: 150us", (hd_time[]){ 300 * HD_US, 450 * HD_US }, 2);
	/* A sweep sees what happens at its very instant. */
	assert_noticed("sweep: 50us",
		       (hd_time[]){ 100 * HD_US, 150 * HD_US, 250 * HD_US, 400 * HD_US }, 4);
	assert_noticed("sweep: 60us, trap: 30us",
		       (hd_time[]){ 120 * HD_US, 160 * HD_US, 280 * HD_US, 420 * HD_US }, 4);
	/* Who computes does not look: 105 + 10 us and writes, then at once. */
	assert_noticed("trap: 29us",
		       (hd_time[]){ 129 * HD_US, 159 * HD_US, 279 * HD_US, 429 * HD_US }, 4);
}

/* ---- random fabrics ------------------------------------------------------ */

struct drawn {
	struct strbuf text;
	const char *engine;
	unsigned n_switches;
};

static void draw_scenario(uint64_t seed, const char *engine, struct drawn *out)
{
	struct rng r;

	rng_init(&r, seed, 7);
	unsigned n = 6 + (unsigned)rng_below(&r, 8), degree = 4;

	*out = (struct drawn){ STRBUF_INIT, engine, n };
	strbuf_printf(
		&out->text,
		"fabric:\n  topology: {kind: irregular, switches: %u, degree: %u, hosts: 2, seed: %llu}\n"
		"  routing: %s\n"
		"traffic:\n- {name: late, kind: messages, count: %u, payload: 256, pattern: all-to-all, start: 1500us}\n"
		"- {name: busy, kind: poisson, load: 20%%, stop: 1200us}\n"
		"faults:\n  hoq_life: 50us\n  events:\n",
		n, degree, (unsigned long long)seed, engine, 2 * n - 1);
	for (unsigned i = 0; i < 5; i++) {
		unsigned at = 100 + (unsigned)rng_below(&r, 800);
		bool whole = rng_below(&r, 4) == 0;
		bool up = rng_below(&r, 3) == 0;
		unsigned sw = 1 + (unsigned)rng_below(&r, n - 1);

		strbuf_printf(&out->text, "  - {at: %uus, kind: %s-%s, port: ", at,
			      whole ? "switch" : "link", up ? "up" : "down");
		if (whole)
			strbuf_printf(&out->text, "s-%u}\n", sw);
		else
			strbuf_printf(&out->text, "'s-%u:%u'}\n", sw,
				      1 + (unsigned)rng_below(&r, degree));
	}
	strbuf_printf(&out->text,
		      "sm: {trap: 7us, sweep: 100us, compute: 20us, program: 1us, replan: %s}\n"
		      "run: {warmup: 0s, measure: 4ms, seed: %llu}\n",
		      rng_below(&r, 2) ? "fresh" : "opensm", (unsigned long long)seed);
}

/* The tables in the switches once all is written. */
static uint8_t *final_tables(const struct fabric *fabric)
{
	const struct subnet *s = &fabric->subnet;
	uint8_t *lft = lft_rows(s);

	for (uint32_t i = 0; i < fabric->setup.n_routes; i++) {
		const struct sim_route_change *c = &fabric->setup.routes[i];

		assert_true(i == 0 || c->time >= c[-1].time);
		lft[(size_t)fabric->setup.nodes[c->node].sw * s->lft_stride + c->lid] = c->port;
	}
	return lft;
}

/* Which cables are there in the end; by both ports. */
static bool *cables_left(const struct fabric *fabric)
{
	bool *down = hd_alloc(fabric->topo.n_ports, sizeof(*down));

	for (uint32_t i = 0; i < fabric->setup.n_faults; i++) {
		const struct sim_fault *x = &fabric->setup.faults[i];
		port_id p = fabric->setup.ports[x->port].origin;

		if (fabric->topo.ports[p].peer != TOPO_NONE)
			down[p] = down[fabric->topo.ports[p].peer] = x->kind == SIM_LINK_DOWN;
	}
	return down;
}

/* Floods from a switch over what is left. */
static bool *reach(const struct fabric *fabric, const bool *down, node_id from)
{
	bool *seen = hd_alloc(fabric->topo.n_nodes, sizeof(*seen));
	bool grows = true;

	seen[from] = true;
	while (grows) {
		grows = false;
		for (port_id p = 0; p < fabric->topo.n_ports; p++) {
			port_id q = fabric->topo.ports[p].peer;

			if (q == TOPO_NONE || down[p] || !seen[fabric->topo.ports[p].node] ||
			    seen[fabric->topo.ports[q].node])
				continue;
			seen[fabric->topo.ports[q].node] = grows = true;
		}
	}
	return seen;
}

/* Follows the tables from one host to another. */
static bool arrives(const struct fabric *fabric, const uint8_t *lft, const bool *down, port_id from,
		    port_id to)
{
	const struct topo *t = &fabric->topo;
	port_id at = from;

	for (unsigned hops = 0; hops < 64; hops++) {
		port_id next = t->ports[at].peer;

		if (next == TOPO_NONE || down[at])
			return false;
		if (next == to)
			return true;
		node_id v = t->ports[next].node;

		if (!topo_is_switch(t, v))
			return false;
		uint8_t out =
			lft[(size_t)fabric->subnet.switch_of_node[v] * fabric->subnet.lft_stride +
			    fabric->subnet.lid_of_port[to]];

		if (out == LFT_NO_PORT)
			return false;
		at = topo_port_of(t, v, out);
	}
	return false;
}

/* Equal to a plan for the remaining fabric without history. */
static void assert_planned_anew(const struct fabric *fabric, const uint8_t *lft, const bool *down,
				const bool *seen)
{
	struct replan_options o = {
		.engine = fabric->subnet.engine,
		.mode = REPLAN_FRESH,
		.manager = lid_options_for(&fabric->topo, 0).sm_port,
	};
	struct diag d = { .status = HD_OK };
	struct replan fresh;

	assert_int_equal(replan(&fabric->subnet, &fabric->subnet, down, &o, &d, &fresh), HD_OK);
	for (switch_id sw = 0; sw < fabric->subnet.n_switches; sw++) {
		size_t at = (size_t)sw * fabric->subnet.lft_stride;

		if (seen[fabric->subnet.node_of_switch[sw]])
			assert_memory_equal(&lft[at], &fresh.subnet.lft[at],
					    fabric->subnet.lft_stride);
	}
	replan_fini(&fresh);
}

struct sums {
	uint64_t expected, rerouted;
};

static void note_late(void *context, const struct sim_event_record *e, const struct sim_packet *p)
{
	uint64_t *n = context;

	(void)p;
	*n += e->flow != SIM_NONE && e->fate == SIM_DELIVERED && p->born >= 1500 * HD_US;
}

static void one_history(uint64_t seed, const char *engine, struct sums *sums)
{
	struct drawn drawn;
	struct fabric *fabric;

	draw_scenario(seed, engine, &drawn);
	must_build(drawn.text.text, &fabric);
	bool *down = cables_left(fabric);
	port_id manager = host_named(fabric, "h0");
	bool *seen = reach(fabric, down, fabric->topo.ports[manager].node);
	uint8_t *lft = final_tables(fabric);
	uint64_t n_pairs = 0, n_delivered = 0;

	for (port_id a = 0; a < fabric->topo.n_ports; a++) {
		for (port_id b = 0; b < fabric->topo.n_ports; b++) {
			if (a == b || !topo_is_end_port(&fabric->topo, a) ||
			    !topo_is_end_port(&fabric->topo, b) ||
			    !seen[fabric->topo.ports[a].node] || !seen[fabric->topo.ports[b].node])
				continue;
			assert_true(arrives(fabric, lft, down, a, b));
			n_pairs++;
		}
	}
	if (fabric->n_sweeps && fabric->scenario->sm.replan == REPLAN_FRESH)
		assert_planned_anew(fabric, lft, down, seen);
	for (uint32_t i = 0; i < fabric->n_sweeps; i++)
		assert_int_equal(fabric->sweeps[i].meanwhile.unreachable_after, 0);
	struct sim_observer o = { .context = &n_delivered, .ended = note_late };
	struct sim *s = run(fabric, &o);

	/* Unreachable destinations are also cut off from all others. */
	assert_true(n_delivered >= n_pairs);
	sums->expected += n_pairs;
	sums->rerouted += fabric->setup.n_routes;
	sim_free(s);
	free(lft);
	free(seen);
	free(down);
	fabric_free(fabric);
	strbuf_fini(&drawn.text);
}

static void all_allowed_pairs_communicate_after_the_last_write(void **state)
{
	static const char *const engines[] = { "minhop", "updn", "dfsssp", "lash" };
	unsigned rounds = cases_of_run(40, 1000);
	struct sums sums = { 0, 0 };

	(void)state;
	for (unsigned i = 0; i < rounds; i++)
		one_history(100 + i, engines[i % 4], &sums);
	assert_true(sums.expected > 100u * rounds);
	assert_true(sums.rerouted > 20u * rounds);
}

/* ---- groups -------------------------------------------------------------- */

static void groups_get_new_trees(void **state)
{
	struct fabric *fabric;

	(void)state;
	must_build(
		"fabric:\n  topology: {kind: ring, switches: 5}\n"
		"  groups: [{name: g}]\n"
		"traffic:\n"
		"- {name: before, kind: messages, count: 1, payload: 256, pattern: group, group: g}\n"
		"- {name: after, kind: messages, count: 1, payload: 256, pattern: group, group: g, start: 500us}\n"
		"faults:\n  events:\n"
		"  - {at: 100us, kind: switch-down, port: 's-2'}\n"
		"  - {at: 150us, kind: switch-up, port: 's-2'}\n"
		"  - {at: 200us, kind: link-down, port: 's-0:1'}\n"
		"  - {at: 200us, kind: link-down, port: 's-0:2'}\n"
		"  - {at: 250us, kind: link-up, port: 's-0:2'}\n"
		"sm: {trap: 1us, compute: 10us, program: 1us}\n"
		"run: {warmup: 0s, measure: 1ms}\n",
		&fabric);
	assert_int_equal(fabric->n_sweeps, 4);
	struct sim *s = run(fabric, NULL);
	const struct sim_metrics *m = sim_metrics(s);

	/* Five senders, four others, twice. */
	assert_int_equal(m->delivered, 40);
	assert_int_equal(m->checks.duplicates, 0);
	sim_free(s);
	fabric_free(fabric);
}

/* ---- refusals ------------------------------------------------------------ */

static void what_cannot_be_routed_is_refused(void **state)
{
	static const char text[] = "fabric:\n  topology: {kind: mesh, columns: 3, rows: 3}\n"
				   "  routing: xy\n" ANY "faults:\n  events:\n"
				   "  - {at: 100us, kind: link-down, port: 's-1-1:1'}\n"
				   "sm: {sweep: 1ms}\nrun: {warmup: 0s, measure: 10ms}\n";
	struct diag d = { .status = HD_OK };
	struct fabric *fabric = NULL;

	(void)state;
	assert_int_equal(fabric_load(text, strlen(text), "x.yaml", NULL, &d, &fabric),
			 HD_ERR_INPUT);
	assert_int_equal(d.line, 8);
	assert_non_null(strstr(d.message, "sm: what is left at 1ms"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_outage_lasts_until_the_switch_is_written),
		cmocka_unit_test(changes_are_noticed_by_trap_or_sweep),
		cmocka_unit_test(all_allowed_pairs_communicate_after_the_last_write),
		cmocka_unit_test(groups_get_new_trees),
		cmocka_unit_test(what_cannot_be_routed_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
