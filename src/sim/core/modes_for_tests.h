/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_CORE_MODES_FOR_TESTS_H
#define HD_SIM_CORE_MODES_FOR_TESTS_H

/*
 * Scenarios in which parts of the engine work that plain traffic leaves alone:
 * congestion control, probes, VL sharing, losses, choices; and rules that end a run
 * may end. For tests that compute one run in several ways.
 */

#include "sim/sim.h"

#define MODES         13
#define MODES_WATCHED 4

#define TREE                                                           \
	"fabric:\n  topology: {kind: fat-tree, radix: 4, levels: 3}\n" \
	"  switch: {input_buffer: 4 packets}\n"
#define LOADED                                                             \
	"traffic:\n"                                                       \
	"- {name: in, kind: saturating, pattern: incast, source: h1..h6, " \
	"destination: h9, payload: 512}\n"                                 \
	"- {name: rest, kind: poisson, load: 40%, payload: 1KiB}\n"
/* Links so slow that credits come later than what is routed counts. */
#define SLOW_TREE                                                                      \
	"fabric:\n  topology: {kind: fat-tree, radix: 4, levels: 3}\n"                 \
	"  link: {rate: 4x DDR}\n"                                                     \
	"  switch: {input_buffer: 4 packets, routing_delay: 20ns, arbitration_delay: " \
	"80ns}\n"
#define HEAVY                                                              \
	"traffic:\n"                                                       \
	"- {name: in, kind: saturating, pattern: incast, source: h1..h6, " \
	"destination: h9, payload: 256}\n"                                 \
	"- {name: rest, kind: poisson, load: 60%, payload: 256}\n"
#define ENDS "run: {warmup: 5us, measure: 45us}\n"

/* How far apart parts are differs in each of them. */
static const char *const mode_scenarios[MODES] = {
	TREE LOADED
	"congestion: {algorithm: cct, timeout: 20us, marking: {rule: iba, threshold: 12, rate: 1}}\n" ENDS,
	TREE LOADED
	"congestion: {algorithm: cct, echo: cnp, marking: {rule: iba, threshold: 15, rate: 1}}\n" ENDS,
	TREE LOADED
	"congestion: {algorithm: fimd, marking: two-counter, window: 3, timeout: 9us}\n" ENDS,
	TREE LOADED
	"congestion: {algorithm: aimd, marking: {rule: threshold, depth: 1KiB}, ack: {delay: 37ns}}\n" ENDS,
	TREE LOADED "congestion: {algorithm: lipd, marking: two-counter, ack: {delay: 2us}}\n" ENDS,
	/* Only marks and answers bound. */
	SLOW_TREE HEAVY
	"congestion: {algorithm: cct, marking: {rule: threshold, depth: 600}, ack: {delay: 2us}}\n" ENDS,
	SLOW_TREE HEAVY
	"congestion: {algorithm: cct, marking: {rule: threshold, depth: 900}, ack: {delay: 9ns}}\n" ENDS,
	/* Some are admitted, some are not, some end. */
	TREE
	"traffic:\n"
	"- {name: asks, kind: poisson, load: 20%, pattern: incast, destination: h9, reserve: 20Gb/s, payload: 512, count: 30}\n"
	"- {name: more, kind: saturating, pattern: pairs, source: h0..h3, destination: h8..h11, reserve: 5Gb/s, start: 8us, stop: 40us}\n"
	"congestion: {algorithm: pipd}\n" ENDS,
	TREE
	"qos:\n  vls: 4\n  high: none\n  low: '0:1,1:1,2:1,3:1'\n"
	"  thresholds: {mechanism: et, at: 4, capacity: 10}\n"
	"traffic:\n"
	"- {name: a, kind: ge, scv: 5, sl: 0, load: 50%, payload: 128}\n"
	"- {name: b, kind: poisson, sl: 2, load: 20%, payload: 512}\n"
	"- {name: c, kind: saturating, sl: 3, payload: 512, source: h0, destination: h9, pattern: pairs}\n" ENDS,
	TREE
	"  routing: {engine: ftree, adaptive: {choice: load, threshold: 9, hysteresis: 4}}\n" LOADED
		ENDS,
	TREE
	"  routing: {engine: updn, adaptive: {choice: random, per: flowlet, gap: 300ns}}\n" LOADED
	"congestion: {algorithm: cct, marking: {rule: iba, threshold: 12, rate: 1}}\n" ENDS,
	SLOW_TREE "  routing: {engine: ftree, adaptive: {choice: turns, per: flow}}\n" HEAVY ENDS,
	"fabric:\n  topology: {kind: mesh, columns: 5, rows: 4}\n"
	"  switch: {queueing: cioq, routing_delay: 3ns}\n"
	"  routing: {engine: negative-first, adaptive: {choice: load, threshold: 0}}\n" LOADED ENDS,
};

/* Losses of every kind, which are reported at other instants than they happen. */
static const char *const modes_watched[MODES_WATCHED] = {
	TREE LOADED "faults: {ber: 1e-6, hoq_life: 2us, events: ["
		    "{at: 10us, kind: link-down, port: 's2-0:1'}, "
		    "{at: 15us, kind: link-up, port: 's2-0:1'}, "
		    "{at: 12us, kind: sink-stuck, port: h9}, "
		    "{at: 20us, kind: sink-free, port: h9}]}\n" ENDS,
	TREE
	"  routing: {engine: ftree, adaptive: {choice: load, failover_delay: 2us}}\n" LOADED
	"faults: {ber: 1e-6, hoq_life: 2us, events: [{at: 10us, kind: link-down, port: 's2-0:1'}, {at: 15us, kind: link-up, port: 's2-0:1'}, {at: 12us, kind: link-down, port: 's1-1:3'}]}\n" ENDS,
	TREE "  credits: exact\n" LOADED
	     "congestion: {algorithm: cct, marking: {rule: iba, threshold: 12, rate: 1}}\n" ENDS,
	/* Switches refuse nothing, hosts do. */
	TREE
	"qos: {partitions: [{name: p, key: 3, full: 'h0..h3', limited: 'h4..h11'}]}\n"
	"traffic:\n"
	"- {name: in, kind: saturating, pattern: incast, source: h1..h6, destination: h9, payload: 512, partition: p}\n"
	"- {name: rest, kind: poisson, load: 40%, payload: 1KiB, partition: p}\n"
	"congestion: {algorithm: cct, marking: {rule: iba, threshold: 12, rate: 1}}\n" ENDS,
};

#define RULES 6

static inline void rules_of(unsigned which, struct sim_rules *r)
{
	sim_rules_init(r);
	r->warmup = 2 * HD_US;
	r->stop = 30 * HD_US;
	switch (which) {
	case 1:
		r->packets = 777;
		break;
	case 2:
		r->packets_per_flow = 6;
		break;
	case 3:
		r->packets_per_sl = 300;
		r->warmup_packets = 100;
		break;
	case 4:
		r->precision = 0.05;
		break;
	case 5:
		r->flow_metrics = r->port_metrics = false;
		break;
	default:
		r->stop = 12 * HD_US;
	}
}

#endif
