/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connections come and go while others keep sending: the tables of every port
 * on the way change under traffic, every other lane sends all it can, and
 * the permanent connections never wait longer than a full frame allows.
 */
#include "sim/evaluation/live.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "fabric/fabric.h"
#include "qos/bound.h"

#define PERMANENT 8
#define COMERS    60 /* connections that may be there at a time */
#define STEPS     400
#define STEP      (20 * HD_US)
#define PACKET    320 /* whole blocks: what is reserved is what is sent */

static const char fabric_text[] =
	"fabric:\n"
	"  topology: {kind: mesh, columns: 3, rows: 2, hosts: 2}\n"
	"  link: {rate: 8Gb/s, propagation: 5ns}\n"
	"  switch: {order: voq, pick: oldest, routing: 20ns,"
	" arbitration: 5ns, input_buffer: 128KiB}\n"
	"  packet: {overhead: 18}\n"
	"  routing: xy\n"
	"qos: {lanes: 15}\n"
	"traffic:\n"
	"- {name: a, kind: saturating, pattern: uniform, sl: 0, payload: 302}\n"
	"- {name: b, kind: saturating, pattern: uniform, sl: 1, payload: 302}\n"
	"- {name: c, kind: saturating, pattern: uniform, sl: 3, payload: 302}\n"
	"- {name: rest, kind: saturating, pattern: uniform, sl: 8,"
	" payload: 302}\n"
	"run: {seed: 5}\n";

struct stage {
	struct fabric *fabric;
	struct broker broker;
	struct live live;
	struct rng rng;
	const struct selection *hosts;
	struct sim_flow flows[256];
	struct sim_address to[PERMANENT];
	struct path paths[PERMANENT];
	uint32_t n_flows;
	uint32_t ids[COMERS];
	bool here[COMERS];
	unsigned admitted, refused, released;
};

static struct broker_request draw_request(struct stage *s, uint8_t sl,
					  uint64_t mbps)
{
	uint32_t n = s->hosts->n, from = (uint32_t)rng_below(&s->rng, n);
	uint32_t to = (from + 1 + (uint32_t)rng_below(&s->rng, n - 1)) % n;
	const struct subnet *net = &s->fabric->subnet;

	return (struct broker_request){
		.source = s->hosts->ports[from],
		.dlid = net->lid_of_port[s->hosts->ports[to]],
		.sl = sl,
		.rate = hd_rate_make(mbps * 1000000, 1),
	};
}

static struct sim_flow flow_of(const struct stage *s,
			       const struct broker_request *r,
			       const struct sim_address *to)
{
	return (struct sim_flow){
		.kind = SIM_CBR,
		.source = s->fabric->end_of_origin[r->source],
		.to = { .list = to, .n = 1, .self = SIM_NONE },
		.sl = r->sl,
		.pkey = 0xffff,
		.bytes = PACKET,
		.packets = 1,
		.interval = { UINT64_C(8000000000000) * PACKET, r->rate.num },
	};
}

static void stage_init(struct stage *s)
{
	struct diag d = { .status = HD_OK };
	struct broker_params params = broker_params_default();
	struct broker_refusal why;
	uint32_t id;

	memset(s, 0, sizeof(*s));
	rng_init(&s->rng, 3, 0);
	if (fabric_load(fabric_text, strlen(fabric_text), "test", NULL, &d,
			&s->fabric) != HD_OK)
		fail_msg("%u: %s", d.line, d.message);
	struct fabric *b = s->fabric;

	s->hosts = selector_hosts(b->selector);
	params.place = PLACE_SPREAD;
	params.link_rate = hd_rate_make(8000000000, 1);
	assert_int_equal(broker_init(&s->broker, &b->subnet, &params, &d),
			 HD_OK);
	for (uint32_t i = 0; i < PERMANENT; i++) {
		struct broker_request r = draw_request(s, 2, 210);

		assert_int_equal(broker_admit(&s->broker, &r, &id, &why),
				 HD_OK);
		s->to[i] = (struct sim_address){ r.dlid, TOPO_NONE };
		assert_int_equal(path_walk(&b->subnet, r.source, r.dlid, r.sl,
					   &s->paths[i]),
				 HD_OK);
		/* Others' entries may overshoot by a packet: 5 % to spare. */
		r.rate = hd_rate_make(200000000, 1);
		s->flows[s->n_flows++] = flow_of(s, &r, &s->to[i]);
	}
	live_init(&s->live, &s->broker, &b->subnet, b->port_of_origin);
	for (uint32_t i = 0; i < b->n_flows; i++)
		s->flows[s->n_flows++] = b->flows[i];
}

static void stage_fini(struct stage *s)
{
	broker_fini(&s->broker);
	fabric_free(s->fabric);
}

/* A connection is asked for, or one of those that came goes. */
static void change(struct stage *s)
{
	uint32_t k = (uint32_t)rng_below(&s->rng, COMERS);
	struct broker_refusal why;

	if (s->here[k]) {
		assert_int_equal(live_release(&s->live, s->ids[k]), HD_OK);
		s->here[k] = false;
		s->released++;
		return;
	}
	/* Lanes of its own: SLs 0, 1 and 3. */
	static const uint8_t sls[] = { 0, 1, 3 };
	struct broker_request r = draw_request(s, sls[rng_below(&s->rng, 3)],
					       50 + rng_below(&s->rng, 1500));

	s->here[k] = live_admit(&s->live, &r, &s->ids[k], &why) == HD_OK;
	s->admitted += s->here[k];
	s->refused += !s->here[k];
}

static void on_timer(void *context, hd_time now, uint32_t cookie)
{
	struct stage *s = context;

	change(s);
	if (cookie < STEPS)
		sim_timer(s->live.sim, 0, s->flows[0].source, now + STEP,
			  cookie + 1);
}

/*
 * The worst that a frame can be for SL 2: its own entries where they are, and
 * every other place full.
 */
static void fill_up(const struct vlarb *own, struct vlarb *full)
{
	*full = (struct vlarb){ .n_low = VLARB_MAX, .high_limit = 255 };
	for (unsigned i = 0; i < VLARB_MAX; i++) {
		bool mine = i < own->n_low && own->low[i].weight &&
			    own->low[i].vl == 2;

		full->low[i] =
			mine ? own->low[i] : (struct vlarb_entry){ 3, 255 };
	}
}

static void bounds_of(const struct stage *s, double bound[PERMANENT])
{
	const struct topo *t = &s->fabric->topo;
	struct bound_port *ports = calloc(t->n_ports, sizeof(*ports));
	struct vlarb *tables = calloc(t->n_ports, sizeof(*tables));
	struct bound_flow flows[PERMANENT];
	double delay[PERMANENT * PATH_MAX_HOPS];
	struct diag d = { .status = HD_OK };
	const double *at = delay;

	for (port_id p = 0; p < t->n_ports; p++) {
		fill_up(vlarb_of(&s->fabric->subnet, p), &tables[p]);
		ports[p] = (struct bound_port){
			.rate = 1e9,
			.max_packet = PACKET,
			.fixed = topo_is_switch(t, t->ports[p].node) ? 30e-9
								     : 5e-9,
			.min_fill = 1,
			.table = &tables[p],
		};
	}
	for (uint32_t i = 0; i < PERMANENT; i++)
		flows[i] = (struct bound_flow){
			.class = CLASS_DB,
			.burst = PACKET,
			.period = PACKET * 8 / 200e6,
			.path = s->paths[i].port,
			.lanes = s->paths[i].vl,
			.n_hops = s->paths[i].n_hops,
		};
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

static void nobodys_guarantee_breaks_while_tables_change(void **state)
{
	static struct stage s;
	struct sim_rules rules;
	double bound[PERMANENT], nearest = 0;

	(void)state;
	stage_init(&s);
	bounds_of(&s, bound);
	sim_rules_init(&rules);
	rules.warmup = 0;
	rules.stop = (STEPS + 2) * STEP;
	struct sim *sim = sim_new(&s.fabric->setup, s.flows, s.n_flows, &rules);
	struct sim_endpoint endpoint = { .context = &s, .timer = on_timer };

	s.live.sim = sim;
	sim_attach(sim, &endpoint);
	sim_timer(sim, 0, s.flows[0].source, STEP, 1);
	(void)sim_run(sim, HD_TIME_NEVER, NULL, NULL);
	const struct sim_metrics *m = sim_metrics(sim);

	for (uint32_t i = 0; i < PERMANENT; i++) {
		double late = (double)m->flows[i].latency_max / (double)HD_S;

		assert_true(m->flows[i].delivered > 600);
		assert_true(late <= bound[i]);
		nearest = late / bound[i] > nearest ? late / bound[i] : nearest;
	}
	print_message("%u admitted, %u refused, %u released, %llu tables "
		      "changed; nearest to a bound: %.2f\n",
		      s.admitted, s.refused, s.released,
		      (unsigned long long)s.live.changes, nearest);
	assert_true(s.admitted > 100 && s.released > 80);
	sim_free(sim);
	stage_fini(&s);
}

/* The tables in the simulation's ports are the broker's at every moment. */
static void a_release_restores_the_table(void **state)
{
	static struct stage s;
	struct sim_rules rules;
	struct vlarb before, during, after;
	struct broker_refusal why;
	uint32_t id;

	(void)state;
	stage_init(&s);
	sim_rules_init(&rules);
	rules.stop = HD_US;
	s.live.sim = sim_new(&s.fabric->setup, s.flows, s.n_flows, &rules);
	struct broker_request r = draw_request(&s, 1, 700);

	memset(&before, 0, sizeof(before));
	memset(&during, 0, sizeof(during));
	memset(&after, 0, sizeof(after));
	broker_image(&s.broker, r.source, &before);
	assert_int_equal(live_admit(&s.live, &r, &id, &why), HD_OK);
	broker_image(&s.broker, r.source, &during);
	assert_memory_not_equal(&before, &during, sizeof(before));
	/* Nobody else's entry has moved. */
	for (unsigned i = 0; i < before.n_low; i++) {
		if (before.low[i].weight)
			assert_memory_equal(&before.low[i], &during.low[i],
					    sizeof(before.low[i]));
	}
	assert_int_equal(live_release(&s.live, id), HD_OK);
	broker_image(&s.broker, r.source, &after);
	for (unsigned i = 0; i < VLARB_MAX; i++)
		assert_int_equal(before.low[i].weight, after.low[i].weight);
	assert_int_equal(live_release(&s.live, id), HD_ERR_NOT_FOUND);
	sim_free(s.live.sim);
	stage_fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nobodys_guarantee_breaks_while_tables_change),
		cmocka_unit_test(a_release_restores_the_table),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
