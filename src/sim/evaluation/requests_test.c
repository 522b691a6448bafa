/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A rate and a burst mean the same to a request and to a scenario: flows that
 * are asked for by lines of a file and sent by rows of a scenario with the same
 * words are never later than they were told.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "base/seeds_for_tests.h"
#include "qos/blrm.h"
#include "qos/classes.h"
#include "qos/requests.h"
#include "sim/show/run_for_tests.h"
#include "subnet/packet.h"

#define HOSTS 9u

/* The defaults of 'qos bound', but for --payload. */
static const struct blrm_params defaults = {
	.mode = BOUND_GROUPED,
	.reservable = { 80, 100 },
	.propagation = 5 * HD_NS,
	.routing = 100 * HD_NS,
	.arbitration = 20 * HD_NS,
	.db_latency = HD_MS,
};

struct asked {
	unsigned from, to, mbps;
	uint32_t burst; /* 0: not said */
	bool dbts;
};

/* Most go to one host, so that they meet. */
static struct asked draw(struct rng *rng, uint32_t payload)
{
	const uint32_t bursts[] = { 0, 0, 0, 0, payload, payload / 2 };
	struct asked a = {
		.from = (unsigned)rng_below(rng, HOSTS),
		.to = rng_below(rng, 4) ? 0 : (unsigned)rng_below(rng, HOSTS),
		.mbps = 60 + (unsigned)rng_below(rng, 1500),
		.burst = bursts[rng_below(rng, 6)],
		.dbts = rng_below(rng, 2) == 0,
	};

	if (a.from == a.to)
		a.from = (a.to + 1) % HOSTS;
	return a;
}

static void print_fabric(struct strbuf *out, bool star)
{
	struct strbuf lost = STRBUF_INIT;
	struct sl2vl lanes = class_fold(4, &lost);

	strbuf_printf(out,
		      "fabric:\n"
		      "  topology: {kind: %s}\n"
		      "  link: {rate: 8Gb/s, propagation: 5ns}\n"
		      "  switch: {order: voq, pick: oldest, routing: 100ns,"
		      " arbitration: 20ns, input_buffer: 128KiB}\n"
		      "  packet: {overhead: %u}\n"
		      "  arbiter: strict\n"
		      "qos:\n  lanes: 4\n  sl2vl: \"",
		      star ? "star, hosts: 9"
			   : "mesh, columns: 3, rows: 1, hosts: 3",
		      PLAIN_OVERHEAD);
	for (unsigned sl = 0; sl < N_SLS; sl++)
		strbuf_printf(out, "%s%u", sl ? "," : "", lanes.vl[sl]);
	strbuf_puts(out, "\"\ntraffic:\n");
	strbuf_fini(&lost);
}

static void print_row(struct strbuf *out, const struct asked *a,
		      const struct qos_request *q, uint32_t payload,
		      bool aligned)
{
	strbuf_printf(out,
		      "- {name: f%zu, kind: cbr, pattern: pairs, source: h%u,"
		      " destination: h%u, sl: %u, payload: %u, rate: %uMb/s,"
		      " aligned: %s}\n",
		      out->len, a->from, a->to, class_sl(q->class, q->rate),
		      a->burst ? a->burst : payload, a->mbps,
		      aligned ? "true" : "false");
}

/* Best effort from everyone beside them, as much as goes. */
static void print_noise(struct strbuf *out, uint32_t payload, uint64_t seed)
{
	strbuf_printf(out,
		      "- {name: noise, kind: saturating, pattern: uniform,"
		      " sl: 8, payload: %u}\n"
		      "run: {seed: %llu, warmup: 0us, measure: 400us}\n",
		      payload, (unsigned long long)seed);
}

static void read_one(const struct asked *a, uint32_t payload,
		     struct qos_requests *out)
{
	struct strbuf line = STRBUF_INIT;
	struct diag d = { .status = HD_OK };

	strbuf_printf(&line, "h%u h%u %s %uMb/s", a->from, a->to,
		      a->dbts ? "DBTS" : "DB", a->mbps);
	if (a->burst || a->dbts)
		strbuf_printf(&line, " %u", a->burst ? a->burst : payload);
	strbuf_puts(&line, a->dbts ? " 10ms\n" : "\n");
	assert_int_equal(qos_requests_read(line.text, &d, out), HD_OK);
	strbuf_fini(&line);
}

static port_id end_of(const struct topo *t, const char *name)
{
	for (node_id v = 0; v < t->n_nodes; v++) {
		if (strcmp(t->nodes[v].name, name) == 0)
			return t->nodes[v].first_port + 1;
	}
	fail_msg("no node %s", name);
	return TOPO_NONE;
}

/* Asks as the command does; true if granted. */
static bool grant(struct blrm *b, const struct qos_request *q,
		  const struct qos_packets *packets)
{
	const struct topo *t = b->subnet->topo;
	struct diag d = { .status = HD_OK };
	struct blrm_request r;
	uint32_t id;
	double told;

	assert_int_equal(
		blrm_request_of(q, packets, end_of(t, q->source), &d, &r),
		HD_OK);
	r.dlid = b->subnet->lid_of_port[end_of(t, q->destination)];
	return blrm_request(b, &r, &d, &id, &told) == HD_OK;
}

/* How near to its bound the latest packet of any flow came. */
static double run_one(struct rng *rng)
{
	struct strbuf text = STRBUF_INIT, whole = STRBUF_INIT;
	struct test_run fabric, r;
	struct blrm b;
	double nearest = 0;
	bool aligned = rng_below(rng, 2);
	static const uint32_t payloads[] = { 2048, 256, 100 };
	const struct qos_packets packets = { payloads[rng_below(rng, 3)],
					     PLAIN_OVERHEAD };
	struct blrm_params params = defaults;

	params.max_packet = packets.payload + packets.overhead;

	print_fabric(&text, rng_below(rng, 2));
	strbuf_puts(&whole, text.text);
	print_noise(&whole, packets.payload, 1);
	test_run_init(&fabric, whole.text);
	/* 4x SDR is what the scenario's rate is. */
	for (port_id p = 0; p < fabric.build->topo.n_ports; p++) {
		fabric.build->topo.ports[p].widths = WIDTH_4X;
		fabric.build->topo.ports[p].speeds = 1 << SPEED_SDR;
	}
	blrm_init(&b, &fabric.build->subnet, &params);
	for (unsigned i = 0; i < 14; i++) {
		struct asked a = draw(rng, packets.payload);
		struct qos_requests q;

		read_one(&a, packets.payload, &q);
		if (grant(&b, &q.items[0], &packets))
			print_row(&text, &a, &q.items[0], packets.payload,
				  aligned);
		qos_requests_fini(&q);
	}
	assert_true(b.n_flows > 0);
	print_noise(&text, packets.payload, rng_below(rng, 1000));
	test_run_init(&r, text.text);
	for (uint32_t f = 0; f < b.n_flows; f++) {
		double late =
			(double)r.metrics->flows[f].latency_max / (double)HD_S;

		assert_true(r.metrics->flows[f].delivered > 0);
		if (late > b.flows[f].bound)
			fail_msg("flow %u: %.3f us, bound %.3f us\n%s", f,
				 late * 1e6, b.flows[f].bound * 1e6, text.text);
		assert_true(b.flows[f].bound <= b.flows[f].promised);
		nearest = fmax(nearest, late / b.flows[f].bound);
	}
	test_run_fini(&r);
	blrm_fini(&b);
	test_run_fini(&fabric);
	strbuf_fini(&whole);
	strbuf_fini(&text);
	return nearest;
}

static void nobody_is_later_than_the_words_of_its_request_say(void **state)
{
	const unsigned runs = cases_of_run(120, 2000);
	double nearest = 0;
	struct rng rng;

	(void)state;
	rng_init(&rng, 16, 0);
	for (unsigned i = 0; i < runs; i++)
		nearest = fmax(nearest, run_one(&rng));
	print_message("%u scenarios; nearest to a bound: %.3f\n", runs,
		      nearest);
	assert_true(nearest > 0.8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			nobody_is_later_than_the_words_of_its_request_say),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
