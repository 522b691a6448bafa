/* SPDX-License-Identifier: BSD-2-Clause */
/* Dynamic connections: admission, and the resulting tables. */
#include "fabric/build_for_tests.h"

#include <math.h>

#include "fabric/admission.h"
#include "qos/admission/broker.h"

/*
 * One link that all flows share: h0's. 8 Gb/s are 16,320 slots, so that 500 Mb/s are 1,020 of them.
 * Other classes have whole entries, so that only slots limit admission: 45 entries are left, one of
 * them DBTS's (its floor).
 */
#define LINK                                                                         \
	"fabric:\n  topology: {kind: star, hosts: 2}\n  link: 8Gb/s\n"               \
	"qos:\n  vls: 15\n  admission: {release_delay: 0s}\n"                        \
	"  classes: [{name: db, sl: 2, kind: DB},"                                   \
	" {name: ts, sl: 4, kind: DBTS}, {name: be, sl: 8, kind: BE, weight: 3315}," \
	" {name: pbe, sl: 10, kind: PBE, weight: 1530}]\n"
#define PLACES (44u * 255 / 1020)

/* `text` contains "run: {", where the seed is inserted. */
static struct fabric *build(const char *text, unsigned seed)
{
	const char *run = strstr(text, "run: {");
	char whole[4096];
	struct fabric *fabric;

	assert_non_null(run);
	run += strlen("run: {");
	snprintf(whole, sizeof(whole), "%.*sseed: %u, %s", (int)(run - text), text, seed, run);
	must_build(whole, &fabric);
	return fabric;
}

/* PBE uses only its own share: its blocking is that of loss_test. */
static void preferred_traffic_has_its_own_share(void **state)
{
	static const char text[] = LINK
		"traffic:\n"
		"- {name: p, class: pbe, kind: saturating, source: h0, destination: h1, reserve: 50Mb/s, arrivals: 10us, holding: 100us}\n"
		"- {name: d, class: db, kind: saturating, source: h0, destination: h1, reserve: 500Mb/s, arrivals: 100us}\n"
		"run: {measure: 20ms}\n";

	(void)state;
	for (unsigned run = 0; run < 8; run++) {
		struct fabric *fabric = build(text, run + 1);
		uint32_t let_in = 0;

		for (uint32_t i = 0; i < fabric->n_requests; i++)
			let_in += fabric->requests[i].row == 1 &&
				  fabric->requests[i].flow != SIM_NONE;
		/* Who stays fills the link and no more. */
		assert_int_equal(let_in, PLACES);
		fabric_free(fabric);
	}
}

/* ---- tables ------------------------------------------------------------ */

#define MANY                                                                  \
	"fabric:\n  topology: {kind: mesh, columns: 3, rows: 2, hosts: 2}\n"  \
	"  link: 8Gb/s\n  routing: %s\n"                                      \
	"qos:\n  vls: 15\n  admission: {release_delay: 20us, place: %s}\n"    \
	"  classes: [{name: a, sl: 1, kind: DB}, {name: b, sl: 2, kind: DB}," \
	" {name: be, sl: 8, kind: BE}]\n"                                     \
	"traffic:\n"                                                          \
	"- {name: first, class: a, kind: cbr, rate: 70Mb/s, pattern: "        \
	"permutation, source: 0..3}\n"                                        \
	"- {name: a, class: a, kind: cbr, rate: 330Mb/s, arrivals: 12us,"     \
	" holding: 1ms, stop: %s}\n"                                          \
	"- {name: b, class: b, kind: cbr, rate: 900Mb/s, arrivals: 25us,"     \
	" holding: 1ms, stop: %s}\n"                                          \
	"run: {measure: 10ms}\n"

/* The table of each port when all changes are made. */
static uint32_t *last_tables(const struct fabric *fabric)
{
	uint32_t *last = calloc(fabric->setup.n_ports, sizeof(*last));
	hd_time before = 0;

	assert_non_null(last);
	for (uint32_t i = 0; i < fabric->setup.n_ports; i++) {
		if (fabric->setup.ports[i].peer != SIM_NONE)
			last[i] = fabric->subnet.vlarb_of_port[fabric->setup.ports[i].origin];
	}
	for (uint32_t i = 0; i < fabric->setup.n_changes; i++) {
		assert_true(fabric->setup.changes[i].time >= before);
		before = fabric->setup.changes[i].time;
		last[fabric->setup.changes[i].port] = fabric->setup.changes[i].table;
	}
	return last;
}

static void weights(const struct vlarb *t, uint32_t out[N_DATA_VLS])
{
	memset(out, 0, N_DATA_VLS * sizeof(*out));
	for (unsigned i = 0; i < t->n_low; i++)
		out[t->low[i].vl] += t->low[i].weight;
	for (unsigned i = 0; i < t->n_high; i++)
		out[t->high[i].vl] += t->high[i].weight;
}

/* Admits the connections that are open at the end to an empty broker, in order. */
static void admit_survivors(struct fabric *fabric, struct broker *b)
{
	struct diag d = { .status = HD_OK };
	struct broker_params p;

	assert_int_equal(fabric_broker_params(fabric, &d, &p), HD_OK);
	assert_int_equal(broker_init(b, &fabric->subnet, &p, &d), HD_OK);
	for (uint32_t i = 0; i < fabric->n_requests; i++) {
		const struct fabric_request *q = &fabric->requests[i];
		struct broker_refusal why;
		uint32_t id;

		if (q->flow == SIM_NONE || q->until < fabric->rules.stop)
			continue;
		const struct sim_flow *w = &fabric->flows[q->flow];
		uint32_t port = fabric->setup.nodes[w->source].first_port + 1;
		const struct broker_request again = broker_request_of(
			fabric->setup.ports[port].origin, w->to.list[0].dlid, w->sl, q->rate);

		assert_int_equal(broker_admit(b, &again, &id, &why), HD_OK);
	}
}

static const char *const engines[] = { "xy", "minhop", "updn", "dfsssp" };

/* Only the positions of entries may differ. */
static void final_tables_are_those_of_remaining_connections(void **state)
{
	uint64_t blocked = 0, changes = 0;

	(void)state;
	for (unsigned run = 0; run < 16; run++) {
		char text[2048];
		struct broker b;

		snprintf(text, sizeof(text), MANY, engines[run % 4], run % 3 ? "spread" : "first",
			 "never", "never");
		struct fabric *fabric = build(text, run + 1);
		uint32_t *last = last_tables(fabric);

		admit_survivors(fabric, &b);
		for (uint32_t i = 0; i < fabric->setup.n_ports; i++) {
			uint32_t is[N_DATA_VLS], fresh[N_DATA_VLS];
			struct vlarb t = { 0 };

			if (fabric->setup.ports[i].peer == SIM_NONE)
				continue;
			broker_tables(&b, fabric->setup.ports[i].origin, &t);
			weights(&t, fresh);
			weights(&fabric->subnet.vlarb_tables[last[i]], is);
			assert_memory_equal(is, fresh, sizeof(is));
		}
		for (uint32_t i = 0; i < fabric->n_requests; i++)
			blocked += fabric->requests[i].flow == SIM_NONE;
		changes += fabric->setup.n_changes;
		free(last);
		broker_fini(&b);
		fabric_free(fabric);
	}
	print_message("%llu refused, %llu changes of tables\n", (unsigned long long)blocked,
		      (unsigned long long)changes);
	assert_true(blocked > 1000 && changes > 50000);
}

static void tables_are_as_before_when_all_have_left(void **state)
{
	unsigned empty = 0;

	(void)state;
	for (unsigned run = 0; run < 8; run++) {
		char text[2048];

		snprintf(text, sizeof(text), MANY, engines[run % 4], run % 3 ? "spread" : "first",
			 "9ms", "9900us");
		struct fabric *fabric = build(text, run + 1);
		uint32_t *last = last_tables(fabric);

		assert_true(fabric->setup.n_changes > 1000);
		for (uint32_t i = 0; i < fabric->setup.n_ports; i++) {
			uint32_t is[N_DATA_VLS], was[N_DATA_VLS];
			port_id origin = fabric->setup.ports[i].origin;
			uint32_t others = 0;

			if (fabric->setup.ports[i].peer == SIM_NONE)
				continue;
			weights(&fabric->subnet.vlarb_tables[last[i]], is);
			weights(vlarb_of(&fabric->subnet, origin), was);
			assert_memory_equal(is, was, sizeof(is));
			for (unsigned vl = 0; vl < N_DATA_VLS; vl++)
				others += vl == 8 ? 0 : was[vl];
			/*
			 * Tables without reservations at first (BE, and a slot of each class of DB)
			 * are compared entry by entry.
			 */
			if (others != 2)
				continue;
			empty++;
			assert_int_equal(last[i], fabric->subnet.vlarb_of_port[origin]);
		}
		free(last);
		fabric_free(fabric);
	}
	assert_true(empty > 50);
}

/* ---- flows ------------------------------------------------------------- */

static void admitted_connection_is_a_flow_until_its_end(void **state)
{
	static const char text[] = LINK
		"traffic:\n"
		"- {name: be, class: be, kind: saturating}\n"
		"- {name: a, class: db, kind: cbr, rate: 400Mb/s, payload: 1KiB, arrivals: {gap: 10us, distribution: constant}, holding: {mean: 95us, distribution: constant}, start: 5us, stop: 1ms}\n"
		"- {name: free, class: be, kind: cbr, rate: 1Mb/s, arrivals: 50us, holding: 10us}\n"
		"run: {warmup: 0s, measure: 2ms}\n";
	struct fabric *fabric = build(text, 1);
	uint32_t n[3] = { 0 };

	(void)state;
	for (uint32_t i = 0; i < fabric->n_flows; i++)
		n[fabric->flows[i].row]++;
	assert_int_equal(n[0], 2);
	assert_true(n[2] > 20 && n[2] < 60);
	for (uint32_t i = 0; i < fabric->n_requests; i++) {
		const struct fabric_request *q = &fabric->requests[i];
		const struct sim_flow *w = &fabric->flows[q->flow];

		assert_true(q->flow < fabric->n_flows); /* the link has room for all */
		assert_int_equal(w->row, q->row);
		assert_int_equal(w->start, q->at);
		if (q->row != 1)
			continue;
		/* 1,050 bytes are 17 blocks; 5 % beyond. */
		assert_true(fabs(hd_rate_bps(q->rate) - 400e6 * 17 * 64 / 1024 * 1.05) < 2);
		assert_int_equal(q->at % (10 * HD_US), 5 * HD_US);
		assert_int_equal(w->stop,
				 q->at + 95 * HD_US + 1 < HD_MS ? q->at + 95 * HD_US + 1 : HD_MS);
		assert_int_equal(q->until, w->stop);
	}
	assert_int_equal(n[1], 99);
	fabric_free(fabric);
}

/* On the same seed: times do not depend on others, only answers do. */
static void another_row_changes_no_arrival(void **state)
{
	static const char one[] = LINK
		"traffic:\n"
		"- {name: a, class: db, kind: saturating, reserve: 1Gb/s, arrivals: 20us, holding: 100us}\n"
		"run: {measure: 5ms}\n";
	static const char two[] = LINK
		"traffic:\n"
		"- {name: a, class: db, kind: saturating, reserve: 1Gb/s, arrivals: 20us, holding: 100us}\n"
		"- {name: b, class: ts, kind: cbr, rate: 1Mb/s, reserve: 2Gb/s, arrivals: 20us, holding: 100us}\n"
		"run: {measure: 5ms}\n";
	struct fabric *a = build(one, 3), *b = build(two, 3);
	uint32_t k = 0, more = 0;

	(void)state;
	for (uint32_t i = 0; i < b->n_requests; i++) {
		if (b->requests[i].row != 0)
			continue;
		assert_int_equal(b->requests[i].at, a->requests[k].at);
		more += b->requests[i].flow == SIM_NONE && a->requests[k].flow != SIM_NONE;
		k++;
	}
	assert_int_equal(k, a->n_requests);
	assert_true(more > 10);
	fabric_free(a);
	fabric_free(b);
}

#define ROW "traffic: [{name: a, class: db, kind: cbr, rate: 1Mb/s"
static const struct {
	const char *text, *message;
} refusals[] = {
	{ LINK "traffic: [{name: a, class: db, kind: saturating, pattern: incast}]\n",
	  "needs a rate, a load or what to reserve" },
	{ LINK "traffic: [{name: a, sl: 3, kind: saturating}]\n",
	  "travels on SL 3, which no class has" },
	{ LINK ROW "}]\n", "each flow needs one destination" },
	{ LINK ROW ", holding: 1ms, pattern: incast}]\n", "has a holding time, but no arrivals" },
	{ LINK ROW ", arrivals: 1ms, connections: 3}]\n",
	  "both arrivals and a number of connections" },
	{ LINK ROW ", arrivals: 1ms, pattern: pairs}]\n",
	  "arrivals need the pattern uniform, hotspot, incast or group" },
	{ LINK ROW ", arrivals: 1ns}]\nrun: {measure: 10ms}\n",
	  "more than 1000000 connections before the run may end" },
	{ LINK "  low: [0:1]\n" ROW ", arrivals: 1ms}]\n", "tables that are given" },
	{ LINK "  changes: [{at: 1us, ports: all, low: [0:1]}]\n" ROW ", arrivals: 1ms}]\n",
	  "tables that are given" },
	{ SMALL "qos: {classes: [{name: a, sl: 0}, {name: b, sl: 1, kind: DB}]}\n" ANY,
	  "of 'a' and 'b' only one has a kind" },
	{ SMALL "qos: {classes: [{name: a, sl: 0, kind: BE}, {name: b, sl: 1, kind: BE}]}\n" ANY,
	  "a second class of kind BE: 'a' is one" },
	{ SMALL "qos: {classes: [{name: film, sl: 2, kind: DB}]}\n"
		"jobs: [{name: j, class: film, on: all, program: [{barrier: 0}]}]\n",
	  "jobs[0] 'j': class 'film' asks admission; give the job `reserve` or another class" },
	{ SMALL "qos: {classes: [{name: be, sl: 2, kind: BE}]}\n"
		"jobs: [{name: j, on: all, program: [{barrier: 0}]}]\n",
	  "jobs[0] 'j' travels on SL 0, which no class has; give the job a class" },
	{ SMALL "qos: {classes: [{name: a, sl: 0, kind: DB, weight: 9}]}\n" ANY,
	  "whose weight is what is reserved" },
	{ SMALL "qos: {classes: [{name: a, sl: 0, kind: CH, weight: 9}]}\n" ANY,
	  "whose weight is 1" },
	{ SMALL "qos: {classes: [{name: a, sl: 0, kind: DB, priority: high}]}\n" ANY,
	  "only DBTS may use the high table" },
	{ SMALL
	  "qos: {classes: [{name: a, sl: 0, kind: BE, weight: 16000}, {name: b, sl: 1, kind: PBE, weight: 400}]}\n" ANY,
	  "no room" },
	{ SMALL "qos: {admission: {fill: paper}, classes: [{name: a, sl: 0, kind: BE}]}\n" ANY,
	  "fill 'paper' has no places" },
};

static void contradictory_options_are_refused(void **state)
{
	(void)state;
	for (unsigned i = 0; i < sizeof(refusals) / sizeof(*refusals); i++) {
		struct diag d = { .status = HD_OK };
		struct fabric *fabric;

		assert_int_not_equal(fabric_load(refusals[i].text, strlen(refusals[i].text),
						 "x.yaml", NULL, &d, &fabric),
				     HD_OK);
		if (!strstr(d.message, refusals[i].message))
			fail_msg("%u: '%s'", i, d.message);
		assert_true(d.line > 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(preferred_traffic_has_its_own_share),
		cmocka_unit_test(final_tables_are_those_of_remaining_connections),
		cmocka_unit_test(tables_are_as_before_when_all_have_left),
		cmocka_unit_test(admitted_connection_is_a_flow_until_its_end),
		cmocka_unit_test(another_row_changes_no_arrival),
		cmocka_unit_test(contradictory_options_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
