/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * M5 as an invariant: for random groups, with losses and changing trees, delivered and lost members
 * add up to the offered ones.
 */
#include "fabric/build_for_tests.h"

#include "base/map.h"
#include "base/rng.h"
#include "base/seeds_for_tests.h"
#include "base/strbuf.h"
#include "sim/sim.h"

#define HOSTS 18

/* Counters of an observer. */
struct seen {
	struct map copies; /* (flow, packet, node) */
	uint64_t *delivered;
};

static void on_delivered(void *context, hd_time now, uint32_t node, const struct sim_packet *p)
{
	struct seen *seen = context;
	uint64_t key = (uint64_t)p->flow << 48 | (uint64_t)p->sequence << 16 | node;

	(void)now;
	if (map_put(&seen->copies, key, 1) == MAP_NONE)
		seen->delivered[p->flow]++;
}

static void put_members(struct strbuf *out, struct rng *r)
{
	uint32_t hosts[HOSTS], n = 2 + (uint32_t)rng_below(r, 8);

	for (uint32_t i = 0; i < HOSTS; i++)
		hosts[i] = i;
	rng_shuffle(r, hosts, HOSTS);
	for (uint32_t i = 0; i < n; i++)
		strbuf_printf(out, "%s%u", i ? "," : "", hosts[i]);
}

static void put_fabric(struct strbuf *out, struct rng *r)
{
	static const char *const fabrics[] = {
		"{kind: mesh, columns: 3, rows: 3, hosts: 2}, routing: updn",
		"{kind: torus, sizes: 3x3, hosts: 2}, routing: updn",
		"{kind: xgft, down: \"3,6\", up: \"1,3\"}, routing: updn",
		"{kind: mesh, columns: 3, rows: 3, hosts: 2}, routing: minhop",
	};
	unsigned n_groups = 1 + (unsigned)rng_below(r, 2);

	const char *what = fabrics[rng_below(r, 4)];
	const char *end = strstr(what, "}, ") + 1;

	strbuf_printf(out, "fabric:\n  topology: %.*s\n  %s\n", (int)(end - what), what, end + 2);
	strbuf_puts(out, "  link: {rate: 25Gb/s}\n  groups:\n");
	for (unsigned i = 0; i < n_groups; i++) {
		strbuf_printf(out, "  - {name: g%u, tree: %s, members: \"", i,
			      rng_below(r, 2) ? "shared" : "shortest");
		put_members(out, r);
		strbuf_puts(out, "\"}\n");
	}
	strbuf_puts(out, "traffic:\n");
	for (unsigned i = 0; i < n_groups; i++)
		strbuf_printf(
			out,
			"- {name: r%u, kind: poisson, load: %u%%, payload: %u, source: \"%u,%u\", pattern: group, group: g%u, stop: 60us}\n",
			i, 2 + (unsigned)rng_below(r, 8), 64 + (unsigned)rng_below(r, 1900),
			(unsigned)rng_below(r, 9), 9 + (unsigned)rng_below(r, 9), i);
	strbuf_puts(out, "- {name: u, kind: poisson, load: 20%, payload: 500, stop: 60us}\n");
}

/* Links between switches and whole switches fail; some come up again. */
static void put_faults(struct strbuf *out, struct rng *r, bool is_tree)
{
	unsigned n = (unsigned)rng_below(r, 4);

	strbuf_printf(out, "faults: {ber: %s, hoq_life: %s, events: [",
		      rng_below(r, 2) ? "2e-6" : "0", rng_below(r, 3) ? "never" : "3us");
	for (unsigned i = 0; i < n; i++) {
		unsigned a = (unsigned)rng_below(r, is_tree ? 6 : 3);
		unsigned b = (unsigned)rng_below(r, 3);
		unsigned at = 5 + 15 * i + (unsigned)rng_below(r, 10);
		bool link = rng_below(r, 4) > 0;
		char port[32];

		if (is_tree)
			snprintf(port, sizeof(port), link ? "s1-%u:%u" : "s2-%u", link ? a : b,
				 4 + b);
		else
			snprintf(port, sizeof(port), link ? "s-%u-%u:%u" : "s-%u-%u", link ? 1 : a,
				 link ? 1 : b, 1 + (a + b) % 4);
		strbuf_printf(out, "%s{at: %uus, kind: %s-down, port: \"%s\"}", i ? ", " : "", at,
			      link ? "link" : "switch", port);
		if (link && rng_below(r, 2))
			strbuf_printf(out, ", {at: %uus, kind: link-up, port: \"%s\"}", at + 12,
				      port);
	}
	strbuf_puts(out, "]}\n");
	if (rng_below(r, 3))
		strbuf_puts(out, "sm: {trap: 2us, compute: 3us, program: 300ns}\n");
}

struct tally_of_cases {
	unsigned run, drained, lossy, rerouted;
};

static void check_flows(const struct fabric *fabric, const struct sim_metrics *m,
			const struct seen *seen, bool rerouted, struct tally_of_cases *t)
{
	uint64_t lost = 0, all = 0;

	for (uint32_t i = 0; i < fabric->n_flows; i++) {
		const struct sim_flow_counts *c = &m->flows[i];
		uint64_t offered = c->made * fabric->flows[i].copies;

		if (c->delivered + c->lost != offered)
			fail_msg("flow %u: %llu delivered, %llu lost of %llu in\n%s", i,
				 (unsigned long long)c->delivered, (unsigned long long)c->lost,
				 (unsigned long long)offered, fabric->scenario->text);
		lost += c->lost;
		/* While trees change, copies arrive twice or without a remaining member. */
		if (rerouted)
			assert_true(c->delivered <= seen->delivered[i]);
		else
			assert_int_equal(c->delivered, seen->delivered[i]);
	}
	for (unsigned i = 0; i < SIM_FATES; i++)
		all += m->lost[i];
	assert_int_equal(lost, all);
	t->lossy += lost > 0;
}

static void check_case(const char *text, uint32_t parts, struct tally_of_cases *t)
{
	struct diag d = { .status = HD_OK };
	struct fabric *fabric;

	/* Some trees or faults do not fit the fabric; another case is drawn. */
	if (fabric_load(text, strlen(text), "x.yaml", NULL, &d, &fabric) != HD_OK)
		return;
	struct seen seen = { .delivered = calloc(fabric->n_flows, sizeof(*seen.delivered)) };
	const struct sim_observer observer = { .context = &seen, .delivered = on_delivered };
	struct sim_rules rules = fabric->rules;
	struct sim_backlog backlog;
	bool rerouted = false;

	for (uint32_t i = 0; i < fabric->setup.n_routes; i++)
		rerouted = rerouted || fabric->setup.routes[i].ports;
	rules.parts = parts;
	rules.threads = parts;
	struct sim *s = sim_new(&fabric->setup, fabric->flows, fabric->n_flows, &rules);

	sim_observe(s, &observer);
	sim_run(s, HD_TIME_NEVER, NULL, NULL);
	sim_backlog(s, &backlog);
	t->run++;
	if (backlog.packets == 0) {
		t->drained++;
		t->rerouted += rerouted;
		check_flows(fabric, sim_metrics(s), &seen, rerouted, t);
	}
	sim_free(s);
	map_fini(&seen.copies);
	free(seen.delivered);
	fabric_free(fabric);
}

static void delivered_and_lost_is_what_was_offered(void **state)
{
	unsigned n = cases_of_run(100, 1500);
	struct tally_of_cases t = { 0 };
	struct rng r;

	(void)state;
	rng_init(&r, seed_of_run(77), 0);
	for (unsigned i = 0; i < n; i++) {
		struct strbuf text = STRBUF_INIT;

		put_fabric(&text, &r);
		put_faults(&text, &r, strstr(text.text, "xgft") != NULL);
		strbuf_printf(&text, "run: {warmup: 0us, measure: 300us, seed: %u}\n", i);
		check_case(text.text, 1 + i % 3, &t);
		strbuf_fini(&text);
	}
	printf("%u run, %u drained, %u with losses, %u with other trees\n", t.run, t.drained,
	       t.lossy, t.rerouted);
	assert_true(3 * t.run > n && 2 * t.drained > t.run);
	assert_true(4 * t.lossy > t.drained && 8 * t.rerouted > t.drained);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(delivered_and_lost_is_what_was_offered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
