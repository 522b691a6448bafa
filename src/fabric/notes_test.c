/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Notes on random scenarios, against the same conditions counted another way:
 * host by host, destination by destination, and for deadlocks by taking
 * channels without predecessors away from the paths of all pairs.
 */
/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
/* clang-format on */

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/rng.h"
#include "base/seeds_for_tests.h"
#include "fabric/build_for_tests.h"
#include "fabric/fabric.h"

/* ---- the conditions once more -------------------------------------------- */

struct expected {
	bool row, host, leaf, half, deadlock;
};

static double offered_bits(const struct scn_traffic *t, double link)
{
	double wire = (double)t->payload + 26;

	return t->rate.num ? hd_rate_bps(t->rate) * wire / (double)t->payload
			   : link * (double)t->load.num / (double)t->load.den;
}

/* Probability that a flow of host `from` sends to host `to`. */
static double chance(const struct fabric *f, const struct sim_flow *flow, port_id from, port_id to)
{
	const struct scn_traffic *t = &f->scenario->traffic[flow->row];
	double others = 0, hot = 0;
	bool is_hot = false;

	if (f->flow_target[flow - f->flows] != TOPO_NONE)
		return f->flow_target[flow - f->flows] == to;
	for (uint32_t i = 0; i < flow->to.n; i++) {
		port_id p = f->subnet.port_of_lid[0][flow->to.list[i].dlid];

		others += p != from;
		hot += i < flow->to.n_hot && p != from;
		is_hot |= i < flow->to.n_hot && p == to;
	}
	double share = t->pattern == SCN_HOTSPOT && hot > 0
			       ? (double)t->hot_share.num / (double)t->hot_share.den
			       : 0;

	return to == from ? 0 : (1 - share) / others + (is_hot ? share / hot : 0);
}

static bool crosses(const struct fabric *f, const bool *side, double *carries)
{
	double out = 0, in = 0;
	const struct topo *t = &f->topo;

	*carries = 0;
	for (port_id p = 0; p < t->n_ports; p++) {
		port_id peer = t->ports[p].peer;

		if (peer != TOPO_NONE && side[t->ports[p].node] && !side[t->ports[peer].node])
			*carries += hd_rate_bps(f->subnet.rate_of_port[p]);
	}
	for (uint32_t i = 0; i < f->n_flows; i++) {
		const struct sim_flow *flow = &f->flows[i];
		port_id from = f->setup.ports[f->setup.nodes[flow->source].first_port + 1].origin;
		const struct scn_traffic *row = &f->scenario->traffic[flow->row];

		if (row->kind > SIM_PARETO)
			continue;
		for (port_id to = 0; to < t->n_ports; to++) {
			if (!topo_is_end_port(t, to) ||
			    side[t->ports[from].node] == side[t->ports[to].node])
				continue;
			*(side[t->ports[from].node] ? &out : &in) +=
				offered_bits(row, hd_rate_bps(f->subnet.rate_of_port[from])) *
				chance(f, flow, from, to);
		}
	}
	return *carries > 0 && (out > in ? out : in) > *carries * (1 + 1e-9);
}

/* A switch and the hosts on it. */
static bool leaf_is_full(const struct fabric *f, node_id leaf)
{
	const struct topo *t = &f->topo;
	bool *side = hd_alloc(t->n_nodes, sizeof(*side));
	double carries;

	side[leaf] = true;
	for (port_id p = 0; p < t->n_ports; p++) {
		port_id peer = t->ports[p].peer;

		if (topo_is_end_port(t, p) && peer != TOPO_NONE && t->ports[peer].node == leaf)
			side[t->ports[p].node] = true;
	}
	bool full = crosses(f, side, &carries);

	free(side);
	return full;
}

static void sum_hosts(const struct fabric *f, struct expected *e)
{
	double *sum = hd_alloc(f->topo.n_ports, sizeof(*sum));
	bool *alone = hd_alloc(f->topo.n_ports, sizeof(*alone));

	for (uint32_t i = 0; i < f->n_flows; i++) {
		const struct sim_flow *flow = &f->flows[i];
		port_id p = f->setup.ports[f->setup.nodes[flow->source].first_port + 1].origin;
		double link = hd_rate_bps(f->subnet.rate_of_port[p]);
		const struct scn_traffic *row = &f->scenario->traffic[flow->row];

		if (row->kind > SIM_PARETO)
			continue;
		sum[p] += offered_bits(row, link);
		alone[p] |= offered_bits(row, link) > link * (1 + 1e-9);
		e->row |= offered_bits(row, link) > link * (1 + 1e-9);
	}
	for (port_id p = 0; p < f->topo.n_ports; p++)
		e->host |=
			!alone[p] && sum[p] > hd_rate_bps(f->subnet.rate_of_port[p]) * (1 + 1e-9);
	free(sum);
	free(alone);
}

static void follow_pair(const struct fabric *f, port_id from, port_id to, bool *after)
{
	const struct topo *t = &f->topo;
	const struct subnet *s = &f->subnet;
	port_id held = TOPO_NONE;
	node_id at = t->ports[t->ports[from].peer].node;

	while (s->switch_of_node[at] != TOPO_NONE) {
		unsigned n = lft_get(s, s->switch_of_node[at], s->lid_of_port[to]);
		port_id next = topo_port_of(t, at, n);

		if (held != TOPO_NONE)
			after[held * t->n_ports + next] = true;
		held = next;
		at = t->ports[t->ports[next].peer].node;
	}
}

/* The paths of all pairs of end ports: after[a * n_ports + b] is whether some path takes channel b
 * right after channel a. */
static void follow_pairs(const struct fabric *f, bool *after)
{
	const struct topo *t = &f->topo;

	for (port_id from = 0; from < t->n_ports; from++) {
		if (!topo_is_end_port(t, from) || t->ports[from].peer == TOPO_NONE)
			continue;
		for (port_id to = 0; to < t->n_ports; to++) {
			if (from != to && topo_is_end_port(t, to))
				follow_pair(f, from, to, after);
		}
	}
}

static bool has_cycle(const struct fabric *f)
{
	uint32_t n = f->topo.n_ports;
	bool *after = hd_alloc((size_t)n * n, sizeof(*after)), *gone = hd_alloc(n, sizeof(*gone));
	uint32_t left = n;

	follow_pairs(f, after);
	for (bool moved = true; moved;) {
		moved = false;
		for (uint32_t b = 0; b < n; b++) {
			bool waits = false;

			for (uint32_t a = 0; a < n && !waits; a++)
				waits = !gone[a] && after[a * n + b];
			if (waits || gone[b])
				continue;
			gone[b] = moved = true;
			left--;
		}
	}
	free(after);
	free(gone);
	return left > 0;
}

/* Switches of the lower half of a dimension, with their hosts: numbered row by row. */
static bool half_is_full(const struct fabric *f, unsigned dim, const unsigned *size)
{
	const struct topo *t = &f->topo;
	bool *side = hd_alloc(t->n_nodes, sizeof(*side));
	double carries;
	unsigned k = 0;

	for (node_id v = 0; v < t->n_nodes; v++) {
		if (!topo_is_switch(t, v))
			continue;
		side[v] = (dim ? k % size[1] : k / size[1]) < size[dim] / 2;
		k++;
	}
	for (port_id p = 0; p < t->n_ports; p++) {
		port_id peer = t->ports[p].peer;

		if (topo_is_end_port(t, p) && peer != TOPO_NONE)
			side[t->ports[p].node] = side[t->ports[peer].node];
	}
	bool full = crosses(f, side, &carries);

	free(side);
	return full;
}

static void expect(const struct fabric *f, const unsigned *size, struct expected *e)
{
	*e = (struct expected){ 0 };
	sum_hosts(f, e);
	for (node_id v = 0; v < f->topo.n_nodes; v++)
		e->leaf |= topo_is_switch(&f->topo, v) && leaf_is_full(f, v);
	for (unsigned d = 0; size[0] && d < 2; d++)
		e->half |= size[d] > 1 && half_is_full(f, d, size);
	e->deadlock = size[0] && has_cycle(f);
}

/* ---- random scenarios ----------------------------------------------------- */

static const char *one_of(struct rng *r, const char *const *words, unsigned n)
{
	return words[rng_below(r, n)];
}

#define ONE_OF(r, ...)                                  \
	one_of(r, (const char *const[]){ __VA_ARGS__ }, \
	       sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))

static void put_topology(struct rng *r, struct strbuf *out, unsigned *size)
{
	size[0] = size[1] = 0;
	unsigned kind = (unsigned)rng_below(r, 4);

	strbuf_puts(out, "fabric:\n  topology: ");
	if (kind == 0) {
		strbuf_printf(out, "{kind: fat-tree, radix: 4, levels: %u}\n",
			      2 + (unsigned)rng_below(r, 2));
	} else if (kind == 1) {
		strbuf_puts(out, "{kind: two-switch, remote: 3, local: 2, victims: 1}\n");
	} else {
		size[0] = 2 + (unsigned)rng_below(r, 4);
		size[1] = 3 + (unsigned)rng_below(r, 3);
		if (kind == 2)
			strbuf_printf(out, "{kind: mesh, columns: %u, rows: %u, hosts: 2}\n",
				      size[0], size[1]);
		else
			strbuf_printf(out, "{kind: torus, sizes: %ux%u, hosts: 2}\n", size[0],
				      size[1]);
	}
	strbuf_printf(out, "  routing: %s\n  link: 8Gb/s\n",
		      size[0] ? ONE_OF(r, "minhop", "dor", "updn") : ONE_OF(r, "minhop", "updn"));
}

static void put_row(struct rng *r, unsigned i, struct strbuf *out)
{
	const char *kind = ONE_OF(r, "cbr", "poisson", "saturating");

	strbuf_printf(out, "- {name: row%u, kind: %s, payload: %s, ", i, kind,
		      ONE_OF(r, "256", "1KiB", "2KiB"));
	strbuf_printf(out, "source: %s, ", ONE_OF(r, "\"0..1\"", "\"0..3\"", "all"));
	strbuf_puts(out, ONE_OF(r, "pattern: uniform", "pattern: permutation",
				"pattern: hotspot, hotspot: \"5\", hot_share: 50%",
				"pattern: incast, destination: \"4\""));
	if (strcmp(kind, "saturating") != 0)
		strbuf_printf(out, ", %s",
			      ONE_OF(r, "rate: 9Gb/s", "rate: 7850Mb/s", "rate: 3Gb/s",
				     "rate: 500Mb/s", "load: 100%", "load: 60%", "load: 20%"));
	strbuf_puts(out, "}\n");
}

static bool says(const struct strbuf *notes, const char *words)
{
	return notes->len && strstr(notes->text, words);
}

enum { N_NOTES = 5 };

/* Checks one random scenario; `seen` counts how often each note applied and did not. */
static void check_notes(struct rng *rng, unsigned seen[N_NOTES][2])
{
	struct strbuf text = STRBUF_INIT, notes = STRBUF_INIT;
	struct expected e;
	struct fabric *f;
	unsigned size[2];

	put_topology(rng, &text, size);
	strbuf_puts(&text, "traffic:\n");
	for (unsigned i = 0, n = 1 + (unsigned)rng_below(rng, 3); i < n; i++)
		put_row(rng, i, &text);
	must_build(text.text, &f);
	expect(f, size, &e);
	fabric_print_notes(f, &notes);
	const struct {
		const char *words;
		bool holds;
	} all[N_NOTES] = {
		{ "per flow with headers", e.row },     { "together offer", e.host },
		{ "cables to other switches", e.leaf }, { "cables between them", e.half },
		{ "can deadlock", e.deadlock },
	};

	for (unsigned i = 0; i < N_NOTES; i++) {
		if (says(&notes, all[i].words) != all[i].holds)
			fail_msg("'%s' %s:\n%s\n%s", all[i].words,
				 all[i].holds ? "is missing" : "is wrong", text.text,
				 notes.len ? notes.text : "");
		seen[i][all[i].holds]++;
	}
	fabric_free(f);
	strbuf_fini(&notes);
	strbuf_fini(&text);
}

static void notes_hold(void **state)
{
	const unsigned rounds = cases_of_run(150, 3000);
	unsigned seen[N_NOTES][2] = { { 0 } };
	struct rng rng;

	(void)state;
	rng_init(&rng, seed_of_run(41), 2);
	for (unsigned round = 0; round < rounds; round++)
		check_notes(&rng, seen);
	for (unsigned i = 0; i < N_NOTES; i++) {
		assert_true(seen[i][0] > rounds / 50);
		assert_true(seen[i][1] > rounds / 50);
	}
}

/* The engines that a note names have no cycle; the other ones with a rule have. */
static void named_engines_cannot_deadlock(void **state)
{
	static const char *const engines[] = { "xy", "dor", "negative-first", "ecube", "updn" };
	static const char *const grids[] = {
		"{kind: mesh, columns: 4, rows: 4, hosts: 1}",
		"{kind: torus, sizes: 5x5, hosts: 1}",
		"{kind: hypercube, dimensions: 3, hosts: 1}",
		"{kind: ring, switches: 5, hosts: 1}",
	};
	unsigned cycles = 0;

	(void)state;
	for (size_t g = 0; g < sizeof(grids) / sizeof(*grids); g++) {
		struct strbuf text = STRBUF_INIT, notes = STRBUF_INIT;
		struct fabric *f;

		strbuf_printf(&text, "fabric:\n  topology: %s\n" ANY, grids[g]);
		must_build(text.text, &f);
		fabric_print_notes(f, &notes);
		assert_int_equal(says(&notes, "can deadlock"), has_cycle(f));
		cycles += has_cycle(f);
		fabric_free(f);
		for (size_t i = 0;
		     says(&notes, "can deadlock") && i < sizeof(engines) / sizeof(*engines); i++) {
			struct strbuf routed = STRBUF_INIT, word = STRBUF_INIT;
			struct diag d = { .status = HD_OK };

			strbuf_printf(&routed, "fabric:\n  topology: %s\n  routing: %s\n" ANY,
				      grids[g], engines[i]);
			strbuf_printf(&word, "%s", engines[i]);
			bool built = fabric_load(routed.text, strlen(routed.text), "x.yaml", NULL,
						 &d, &f) == HD_OK;

			assert_int_equal(says(&notes, word.text), built && !has_cycle(f));
			if (built)
				fabric_free(f);
			strbuf_fini(&word);
			strbuf_fini(&routed);
		}
		strbuf_fini(&notes);
		strbuf_fini(&text);
	}
	assert_true(cycles >= 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(notes_hold),
		cmocka_unit_test(named_engines_cannot_deadlock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
