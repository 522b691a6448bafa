/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Dynamic connections while others keep sending: the tables of every port on the path change under
 * traffic, and each connection gets its reserved rate.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/build_for_tests.h"
#include "qos/admission/bound.h"
#include "qos/opensm/path.h"
#include "qos/tables/slots.h"
#include "sim/sim.h"

#define PERMANENT 8
#define PACKET    320 /* whole blocks: the reserved rate is the sent rate */
#define SENT      200000000.0

#define MESH_OF_8G                                                         \
	"fabric:\n"                                                        \
	"  topology: {kind: mesh, columns: 3, rows: 2, hosts: 2}\n"        \
	"  link: {rate: 8Gb/s, propagation: 5ns}\n"                        \
	"  switch: {order: voq, arbitration: oldest, routing_delay: 20ns," \
	" arbitration_delay: 5ns, input_buffer: 128KiB}\n"                 \
	"  packet: {overhead: 18}\n"                                       \
	"  routing: xy\n"

static const struct sim_metrics *run(const struct fabric *fabric, struct sim **sim)
{
	*sim = sim_new(&fabric->setup, fabric->flows, fabric->n_flows, &fabric->rules);
	(void)sim_run(*sim, HD_TIME_NEVER, NULL, NULL);
	return sim_metrics(*sim);
}

/* ---- permanent ones among many that come and go ------------------------ */

/*
 * A new connection saturates its own VLs; so does best effort. Other entries
 * may overshoot by a packet: the permanent connections have 5 % to spare.
 */
static const char loaded_text[] = MESH_OF_8G
	"qos:\n"
	"  vls: 15\n"
	"  classes: [{name: a, sl: 0, kind: DB}, {name: b, sl: 1, kind: DB}, {name: stays, sl: 2, kind: DB}, {name: c, sl: 3, kind: DB}, {name: rest, sl: 8, kind: BE}]\n"
	"traffic:\n"
	"- {name: 0-stays, class: stays, kind: cbr, rate: 188750kb/s, payload: 302, connections: 8, aligned: true}\n"
	"- {name: a, class: a, kind: saturating, payload: 302, reserve: 200Mb/s, arrivals: 60us, holding: 800us}\n"
	"- {name: b, class: b, kind: saturating, payload: 302, reserve: 700Mb/s, arrivals: 60us, holding: 800us}\n"
	"- {name: c, class: c, kind: saturating, payload: 302, reserve: 1400Mb/s, arrivals: 60us, holding: 800us}\n"
	"- {name: rest, class: rest, kind: saturating, payload: 302}\n"
	"run: {seed: 5, warmup: 0s, measure: 8ms}\n";

/*
 * The worst that a round can be for SL 2: its own entries where they are, and
 * every other place taken. Of 428 slots of SL 2, in two entries of 66 and 45
 * blocks, admission leaves others at most 111 * (16320 - 428) / 428 = 4121
 * blocks of a round (qos/admission/service.h): 62 places of weight 62, each of which
 * sends at most 61 blocks and one packet of 5.
 */
static void fill_up(const struct vlarb *own, struct vlarb *full)
{
	*full = (struct vlarb){ .n_low = VLARB_MAX, .high_limit = 255 };
	for (unsigned i = 0; i < VLARB_MAX; i++) {
		bool mine = i < own->n_low && own->low[i].weight && own->low[i].vl == 2;

		full->low[i] = mine ? own->low[i] : (struct vlarb_entry){ 3, 62 };
	}
}

static struct path path_of(const struct fabric *fabric, uint32_t flow)
{
	const struct sim_flow *w = &fabric->flows[flow];
	uint32_t port = fabric->setup.nodes[w->source].first_port + 1;
	struct path path;

	assert_int_equal(path_walk(&fabric->subnet, fabric->setup.ports[port].origin,
				   w->to.list[0].dlid, w->sl, &path),
			 HD_OK);
	return path;
}

static void bounds_of(const struct fabric *fabric, double bound[PERMANENT])
{
	const struct topo *t = &fabric->topo;
	struct bound_port *ports = calloc(t->n_ports, sizeof(*ports));
	struct vlarb *tables = calloc(t->n_ports, sizeof(*tables));
	struct path paths[PERMANENT];
	struct bound_flow flows[PERMANENT];
	double delay[PERMANENT * PATH_MAX_HOPS];
	struct diag d = { .status = HD_OK };
	const double *at = delay;

	for (port_id p = 0; p < t->n_ports; p++) {
		fill_up(vlarb_of(&fabric->subnet, p), &tables[p]);
		ports[p] = (struct bound_port){
			.rate = 1e9,
			.max_packet = PACKET,
			.fixed = topo_is_switch(t, t->ports[p].node) ? 30e-9 : 5e-9,
			.min_fill = 1,
			.table = &tables[p],
		};
	}
	for (uint32_t i = 0; i < PERMANENT; i++) {
		paths[i] = path_of(fabric, i);
		flows[i] = (struct bound_flow){
			.class = CLASS_DB,
			.burst = PACKET,
			.period = PACKET * 8 / SENT,
			.largest = PACKET,
			.smallest = PACKET,
			.path = paths[i].port,
			.vls = paths[i].vl,
			.n_hops = paths[i].n_hops,
		};
	}
	struct bound_network n = { ports, t->n_ports, flows, PERMANENT, false };

	if (bound_delays(BOUND_GROUPED, &n, &d, delay) != HD_OK)
		fail_msg("%s", d.message);
	for (uint32_t i = 0; i < PERMANENT; i++) {
		bound[i] = 0;
		for (uint32_t h = 0; h < flows[i].n_hops; h++)
			bound[i] += *at++;
	}
	free(ports);
	free(tables);
}

static void guarantees_hold_while_tables_change(void **state)
{
	struct fabric *fabric;
	struct sim *sim;
	double bound[PERMANENT], nearest = 0;
	uint32_t refused = 0, gone = 0;

	(void)state;
	must_build(loaded_text, &fabric);
	bounds_of(fabric, bound);
	const struct sim_metrics *m = run(fabric, &sim);

	for (uint32_t i = 0; i < PERMANENT; i++) {
		double late = (double)m->flows[i].latency_max / (double)HD_S;

		assert_int_equal(fabric->flows[i].sl, 2);
		/* Nor is what is still under way older than the bound. */
		assert_true(m->flows[i].delivered > 500);
		assert_true((double)(m->flows[i].made - m->flows[i].delivered) * PACKET * 8 /
				    SENT <=
			    bound[i]);
		assert_true(late <= bound[i]);
		nearest = fmax(nearest, late / bound[i]);
	}
	for (uint32_t i = 0; i < fabric->n_requests; i++) {
		refused += fabric->requests[i].flow == SIM_NONE;
		gone += fabric->requests[i].flow != SIM_NONE &&
			fabric->requests[i].until < fabric->rules.stop;
	}
	print_message(
		"%u asked, %u refused, %u gone, %u tables changed; nearest to a bound: %.2f\n",
		fabric->n_requests, refused, gone, fabric->setup.n_changes, nearest);
	assert_true(gone > 100 && refused > 20 && fabric->setup.n_changes > 1000);
	sim_free(sim);
	fabric_free(fabric);
}

/* ---- those that come and go --------------------------------------------- */

/*
 * Each sends its reserved rate in packets that are not whole blocks, on VLs with changing
 * connections; best effort competes for the unreserved rate.
 */
static const char churn_text[] =
	"fabric:\n"
	"  topology: {kind: mesh, columns: 3, rows: 2, hosts: 2}\n"
	"  link: {rate: 8Gb/s, propagation: 5ns}\n"
	"  switch: {input_buffer: 64KiB}\n"
	"  routing: %s\n"
	"qos:\n"
	"  vls: 15\n"
	"  classes: [{name: ts, sl: 4, kind: DBTS}, {name: a, sl: 1, kind: DB}, {name: b, sl: 2, kind: DB}, {name: pbe, sl: 10, kind: PBE}, {name: be, sl: 8, kind: BE}]\n"
	"traffic:\n"
	"- {name: ts, class: ts, kind: cbr, rate: 90Mb/s, payload: 200, arrivals: 40us, holding: 600us}\n"
	"- {name: a, class: a, kind: cbr, rate: 300Mb/s, payload: 1000, arrivals: 40us, holding: 600us}\n"
	"- {name: b, class: b, kind: cbr, rate: 800Mb/s, payload: 4096, arrivals: 40us, holding: {mean: 600us, distribution: constant}}\n"
	"- {name: pbe, class: pbe, kind: saturating, payload: 2048, reserve: 300Mb/s, arrivals: 100us, holding: 600us}\n"
	"- {name: be, class: be, kind: saturating, payload: 4096}\n"
	"run: {seed: %u, warmup: 0s, measure: 4ms}\n";

/*
 * A packet of a reserved VL waits for at most two frames at every port: the
 * one in which its VL's turn has passed, and the one that has slots for all.
 */
static void assert_promises(const struct fabric *fabric, const struct sim_metrics *m,
			    uint64_t *kept)
{
	hd_time frame = slots_frame_time(hd_rate_make(8000000000, 1));

	for (uint32_t i = 0; i < fabric->n_requests; i++) {
		const struct fabric_request *q = &fabric->requests[i];

		if (q->flow == SIM_NONE || q->row > 2)
			continue;
		const struct sim_flow_counts *c = &m->flows[q->flow];
		hd_time most = 2 * frame * path_of(fabric, q->flow).n_hops;

		assert_int_equal(c->lost, 0);
		assert_true(c->latency_max <= most);
		/* The reservation until then sufficed for the last packet. */
		if (q->until >= fabric->rules.stop)
			continue;
		assert_int_equal(c->delivered, c->made);
		*kept += c->made;
	}
}

static void admitted_flows_get_their_reservation(void **state)
{
	static const char *const engines[] = { "xy", "dfsssp", "minhop" };
	uint64_t kept = 0, refused = 0;

	(void)state;
	for (unsigned k = 0; k < 3; k++) {
		char text[2048];
		struct fabric *fabric;
		struct sim *sim;

		snprintf(text, sizeof(text), churn_text, engines[k], k + 1);
		must_build(text, &fabric);
		assert_promises(fabric, run(fabric, &sim), &kept);
		for (uint32_t i = 0; i < fabric->n_requests; i++)
			refused += fabric->requests[i].flow == SIM_NONE;
		sim_free(sim);
		fabric_free(fabric);
	}
	print_message("%llu packets of connections that ended, %llu refused\n",
		      (unsigned long long)kept, (unsigned long long)refused);
	assert_true(kept > 5000 && refused > 50);
}

/* ---- preferential best effort ------------------------------------------- */

/* Packets of a round: each entry of an unreserved VL sends one. */
static unsigned turns(unsigned weight)
{
	return entries_for(weight);
}

/*
 * Both always have packets of 2,074 bytes, 33 blocks, for one link: each frame
 * they get what their entries send, and DB what it reserved before.
 */
static void preferred_traffic_gets_its_weight_under_contention(void **state)
{
	static const unsigned weight[][2] = {
		{ 3264, 1632 }, { 1632, 1632 }, { 800, 4000 }, { 34, 33 }
	};

	(void)state;
	for (unsigned k = 0; k < sizeof(weight) / sizeof(*weight); k++) {
		char text[2048];
		struct fabric *fabric;
		struct sim *sim;

		snprintf(
			text, sizeof(text),
			"fabric: {topology: {kind: star, hosts: 4}, link: 8Gb/s}\n"
			"qos: {vls: 15, classes: [{name: p, sl: 10, kind: PBE, weight: %u}, {name: b, sl: 8, kind: BE, weight: %u}, {name: d, sl: 3, kind: DB}]}\n"
			"traffic:\n"
			"- {name: 1-p, class: p, kind: saturating, reserve: 10Mb/s, pattern: incast, source: h0, destination: h3}\n"
			"- {name: 2-b, class: b, kind: saturating, pattern: incast, source: h1, destination: h3}\n"
			"- {name: 3-d, class: d, kind: cbr, rate: 2Gb/s, pattern: incast, source: h2, destination: h3}\n"
			"run: {warmup: 1ms, measure: 20ms}\n",
			weight[k][0], weight[k][1]);
		must_build(text, &fabric);
		const struct sim_metrics *m = run(fabric, &sim);
		double p = turns(weight[k][0]), b = turns(weight[k][1]);
		double share = (double)m->flows[0].delivered /
			       (double)(m->flows[0].delivered + m->flows[1].delivered);
		double db = (double)m->flows[2].delivered * 2048 * 8 / 0.02;

		print_message("weights %u and %u: %.4f, by the entries %.4f\n", weight[k][0],
			      weight[k][1], share, p / (p + b));
		/* A turn may be cut off at either end of the measurement. */
		assert_true(fabs(share - p / (p + b)) <
			    2 * (p + b) / (double)(m->flows[0].delivered + m->flows[1].delivered));
		assert_true(fabs(db / 2e9 - 1) < 0.002);
		sim_free(sim);
		fabric_free(fabric);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(guarantees_hold_while_tables_change),
		cmocka_unit_test(admitted_flows_get_their_reservation),
		cmocka_unit_test(preferred_traffic_gets_its_weight_under_contention),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
