/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Queue pairs apply changes of a manager while they send: congestion control tables (C9) and VLs
 * (T11l).
 */
#include "base/alloc.h"
#include "fabric/control.h"
#include "hca/rows_for_tests.h"

#define STAR                                                          \
	"fabric:\n  topology: {kind: star, hosts: 4, link: 4x HDR}\n" \
	"qos: {vls: 2}\n"
#define PHASE (200 * HD_US)

/* Packets that adapters have already taken: 64 KiB in packets of 4 KiB, and one on the link. */
#define AHEAD 17.0

static double packets_in(hd_time time)
{
	return (double)time / (double)on_link(MTU);
}

static void run_rows(struct fabric *fabric, struct sim **out, struct lab **rows)
{
	struct diag d = { .status = HD_OK };
	struct sim_rules rules = fabric->rules;

	lab_rules(&rules);
	*out = sim_new(&fabric->setup, fabric->flows, fabric->n_flows, &rules);
	assert_int_equal(qp_rows_new(fabric, *out, &d, rows), HD_OK);
	sim_run(*out, HD_TIME_NEVER, NULL, NULL);
}

static struct sim_counters counters_of(const struct fabric *fabric, struct sim *s, const char *host)
{
	struct sim_counters c = { 0 };

	for (uint32_t i = 0; i < fabric->setup.n_ports; i++) {
		port_id origin = fabric->setup.ports[i].origin;

		if (fabric->setup.ports[i].peer != SIM_NONE &&
		    strcmp(topo_node_of(&fabric->topo, origin)->name, host) == 0)
			sim_port_counters(sim_metrics(s), i, &c);
	}
	return c;
}

/* A manager whose table adds this number of packet times after each packet. */
static enum hd_status same_control(void *context, struct scn_congestion *c, struct diag *d)
{
	(void)context;
	(void)c;
	(void)d;
	return HD_OK;
}

static bool delay(void *context, port_id source, unsigned sl, struct cc_config *c)
{
	(void)source;
	memset(c->cct, 0, sizeof(c->cct));
	c->cct[0] = *(const uint16_t *)context;
	c->ccti_limit = 0;
	c->ccti_timer = 0;
	return sl == 1;
}

/* Delays of 0, 3 and 0 packets, one after the other. */
static void set_delays(struct fabric *fabric)
{
	static uint16_t delays[] = { 0, 3, 0 };
	struct fabric_programmer by[3];
	struct diag d = { .status = HD_OK };
	bool *down = hd_alloc(fabric->topo.n_ports, sizeof(*down));

	for (unsigned i = 0; i < 3; i++)
		by[i] = (struct fabric_programmer){ .control = same_control,
						    .throttle = delay,
						    .context = &delays[i] };
	fabric->responses = fabric_ask_responses(fabric, &by[0]);
	for (unsigned i = 1; i < 3; i++) {
		const struct fabric_tables was = { &fabric->subnet, down, NULL };
		const struct fabric_tables is = { &fabric->subnet, down, &by[i] };

		assert_int_equal(fabric_reprogram(fabric, &was, &is, i * PHASE, &d), HD_OK);
	}
	free(down);
}

/* One pair, or two from one host: a rate for each, or one for all of an SL. */
static void check_delays(unsigned pairs, const char *per)
{
	double shares = strcmp(per, "sl") == 0 ? 1 : pairs;
	double wanted = packets_in(2 * PHASE) + packets_in(PHASE) / 4 * shares;
	struct strbuf text = STRBUF_INIT;
	struct lab *rows;
	struct fabric *fabric;
	struct sim *s;

	strbuf_printf(&text, STAR "traffic:\n");
	for (unsigned i = 0; i < pairs; i++)
		strbuf_printf(
			&text,
			"- {name: r%u, kind: saturating, transport: rc, source: h0, destination: h%u, sl: 1, payload: 4KiB}\n",
			i, i + 1);
	strbuf_printf(
		&text,
		"congestion: {algorithm: cct, marking: {rule: iba, threshold: 0}, cct: {per: %s}}\n"
		"run: {warmup: 0s, measure: 600us}\n",
		per);
	must_build(text.text, &fabric);
	set_delays(fabric);
	run_rows(fabric, &s, &rows);
	double sent = (double)counters_of(fabric, s, "h0").xmit_packets;

	if (fabs(sent - wanted) > 2 * AHEAD)
		fail_msg("%u pairs, per %s: %.0f packets, not %.0f", pairs, per, sent, wanted);
	lab_free(rows);
	sim_free(s);
	fabric_free(fabric);
	strbuf_fini(&text);
}

static void tables_delay_from_the_instant_of_their_change(void **state)
{
	(void)state;
	check_delays(1, "qp");
	check_delays(2, "qp");
	check_delays(1, "sl");
	check_delays(2, "sl");
}

static void set_vl(struct subnet *s, unsigned sl, uint8_t vl)
{
	struct sl2vl map = sl2vl_default(2);

	map.vl[0] = map.vl[1] = 0;
	map.vl[sl] = vl;
	for (port_id p = 0; p < s->topo->n_ports; p++)
		if (topo_is_end_port(s->topo, p))
			subnet_set_port_sl2vl(s, p, &map);
	for (unsigned in = 0; in <= 4; in++)
		for (unsigned out = 0; out <= 4; out++)
			subnet_set_sl2vl(s, 0, in, out, &map);
}

/*
 * Packets from h0 to h2 are never delivered and fill the VL that packets to h1 share. Nothing
 * arrives at h1 until its packets have a VL of their own.
 */
static void own_vl_releases_waiting_packets(void **state)
{
	static const char text[] = STAR
		"traffic:\n"
		"- {name: stuck, kind: saturating, transport: rc, source: h0, destination: h2, sl: 0, payload: 4KiB, ack_timeout: 4s}\n"
		"- {name: freed, kind: saturating, transport: rc, source: h0, destination: h1, sl: 1, payload: 4KiB, ack_timeout: 4s}\n"
		"faults: {events: [{at: 0s, kind: sink-stuck, port: h2}]}\n"
		"run: {warmup: 0s, measure: 400us}\n";
	struct diag d = { .status = HD_OK };
	struct fabric *fabric, *then;
	struct lab *rows;
	struct sim *s;

	(void)state;
	must_build(text, &fabric);
	must_build(text, &then);
	set_vl(&fabric->subnet, 1, 0);
	set_vl(&then->subnet, 1, 1);
	bool *down = hd_alloc(fabric->topo.n_ports, sizeof(*down));
	const struct fabric_tables was = { &fabric->subnet, down, NULL };
	const struct fabric_tables is = { &then->subnet, down, NULL };

	assert_int_equal(fabric_reprogram(fabric, &was, &is, PHASE, &d), HD_OK);
	run_rows(fabric, &s, &rows);
	struct sim_counters c = counters_of(fabric, s, "h0");

	assert_true(fabs((double)c.xmit_packets_vl[1] - packets_in(PHASE)) < 2 * AHEAD);
	assert_true((double)c.xmit_packets_vl[0] < packets_in(PHASE) / 2);
	lab_free(rows);
	sim_free(s);
	free(down);
	fabric_free(fabric);
	fabric_free(then);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_delay_from_the_instant_of_their_change),
		cmocka_unit_test(own_vl_releases_waiting_packets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
