/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/alloc.h"
#include "scenario/scenario.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define HEAD "fabric:\n  topology: {kind: mesh, columns: 2, rows: 2, hosts: 1}\n"
#define BODY "traffic:\n- {name: a, kind: cbr, load: 10%}\n"

/* A buffer that ends with its text: no byte behind that is read. */
static char *exact_copy(const char *text, size_t len)
{
	char *copy = hd_alloc(len, 1);

	memcpy(copy, text, len);
	return copy;
}

static enum hd_status parse(const char *text, struct diag *d, struct scenario *s)
{
	char *exact = exact_copy(text, strlen(text));

	*d = (struct diag){ .status = HD_OK };
	enum hd_status status = scenario_parse(exact, strlen(text), "x.yaml", NULL, d, s);

	free(exact);
	return status;
}

static const struct {
	const char *text;
	const char *message; /* with its place */
} refusals[] = {
	{ BODY, "x.yaml: fabric.topology has neither a kind nor a file" },
	{ "fabric: [", "x.yaml:" },
	{ "fabric: {topology: {kind: mesh, file: a.net}}\n" BODY,
	  "x.yaml:1:39: fabric.topology has both a kind and a file" },
	{ "fabric: {topology: {kind: mehs}}\n" BODY, "x.yaml:1:27: fabric.topology.kind: " },
	{ "fabric: {topology: {kind: mesh, colums: 4}}\n" BODY,
	  "x.yaml:1:33: unknown field 'colums' in fabric.topology (did you mean 'columns'?)" },
	{ "fabric: {topology: {kind: mesh, columns: four}}\n" BODY,
	  "x.yaml:1:42: fabric.topology.columns: 'four' is not a whole number" },
	{ "fabric: {topology: {kind: ring, columns: 4}}\n" BODY,
	  "x.yaml:1:33: unknown field 'columns' in fabric.topology" },
	{ HEAD "  routing: file\n" BODY,
	  "x.yaml:3:12: the routing engine 'file' needs fabric.routing.file" },
	{ HEAD "  routing: {engine: xy, file: r}\n" BODY,
	  "x.yaml:3:31: only the routing engine 'file' takes a file" },
	{ HEAD "  routing: minhpo\n" BODY,
	  "x.yaml:3:12: fabric.routing.engine: unknown routing engine 'minhpo' (did you mean 'minhop'?)" },
	{ HEAD "sm: {}\n" BODY,
	  "x.yaml:3:5: the subnet manager detects no change: set sm.sweep, sm.trap or both" },
	{ HEAD "  link: {rate: 5ns}\n" BODY,
	  "x.yaml:3:16: fabric.link.rate: '5ns' is not a rate (expected e.g. 2.5Gb/s, 300MB/s, 4x HDR)" },
	{ HEAD "  link: {propagation: 0ns}\n" BODY,
	  "x.yaml:3:23: fabric.link.propagation: '0ns' is out of range (1ps to 1s)" },
	{ HEAD "  switch: {speedup: 2}\n" BODY,
	  "x.yaml:3:21: 'speedup' has no meaning when fabric.switch.queueing is input" },
	{ HEAD "  switch: {queueing: cioq, speedup: 0.5}\n" BODY,
	  "x.yaml:3:37: fabric.switch.speedup: '0.5' is out of range (1 to 64)" },
	{ HEAD "  switch: {input_buffer: 0 packets}\n" BODY,
	  "x.yaml:3:26: fabric.switch.input_buffer: '0 packets' is out of range (at least 1)" },
	{ HEAD "  switch: {input_buffer: four packets}\n" BODY,
	  "x.yaml:3:26: fabric.switch.input_buffer: 'four packets' is not a size (e.g. 256, 4KiB) or '4 packets'" },
	{ HEAD "  packet: {mtu: 1500}\n" BODY,
	  "x.yaml:3:17: fabric.packet.mtu: '1500' is not one of 256, 512, 1024, 2048, 4096" },
	{ HEAD "qos: {vls: 3}\n" BODY, "x.yaml:3:12: qos.vls: '3' is not one of 1, 2, 4, 8, 15" },
	{ HEAD "qos: {sl2vl: [0, 1, 2, 3]}\n" BODY,
	  "x.yaml:3:14: qos.sl2vl: '0,1,2,3' is not a map of SLs to VLs (expected 16 numbers 0 to 15, one for each SL, or one for all; 15 drops the SL)" },
	{ HEAD "qos: {ports: [{ports: trunks, from: hosts}]}\n" BODY,
	  "x.yaml:3:37: qos.ports[].from selects the input ports of a map; add sl2vl" },
	{ HEAD "qos: {vls: 4, sl2vl: '0,0,0,0,0,0,0,0,0,0,0,9,0,0,0,0'}\n" BODY,
	  "x.yaml:3:22: SL 11 goes to VL 9, which is not in operation; qos.vls is 4" },
	{ HEAD "qos: {low: '0:4,1-8'}\n" BODY,
	  "x.yaml:3:12: qos.low: '0:4,1-8' is not a VL arbitration table (expected up to 64 pairs VL:weight, VL 0 to 14, weight 0 to 255, e.g. 0:4,1:8)" },
	{ HEAD "qos: {low: [15:4]}\n" BODY, "x.yaml:3:12: qos.low: '15:4' is" },
	{ HEAD "qos: {low: [1:256]}\n" BODY, "x.yaml:3:12: qos.low: '1:256' is" },
	{ HEAD "qos: {vls: 2, high: [2:4]}\n" BODY,
	  "x.yaml:3:21: VL 2 is not in operation; qos.vls is 2" },
	{ HEAD "qos: {classes: [{name: v, sl: 16}]}\n" BODY,
	  "x.yaml:3:31: qos.classes[].sl: '16' is out of range (at most 15)" },
	{ HEAD "qos: {classes: [{name: v, sl: 1}, {name: v, sl: 2}]}\n" BODY,
	  "x.yaml:3:42: a second class of the name 'v'" },
	{ HEAD "qos: {classes: [{name: v, sl: 1}, {name: w, sl: 1}]}\n" BODY,
	  "x.yaml:3:49: SL 1 has a class already: 'v'" },
	{ HEAD "qos: {bands: true}\n"
	       "traffic: [{name: a, class: DB, kind: cbr, load: 1%}]\n",
	  "x.yaml:4:28: traffic 'a': qos.bands chooses the SL of class DB by rate; add 'rate' or 'reserve'" },
	{ HEAD "qos: {bands: true, classes: [{name: v, sl: 1, kind: DB}]}\n"
	       "traffic: [{name: a, class: DB, kind: cbr, rate: 64kb/s}]\n",
	  "x.yaml:4:28: traffic 'a': by its rate class DB has SL 0, which no class of this kind in qos.classes has" },
	{ HEAD "qos: {bands: true, classes: [{name: DB, sl: 1, kind: DB}]}\n" BODY,
	  "x.yaml:3:37: with qos.bands the rate chooses the SL of 'DB'; give this class another name" },
	{ HEAD "qos: {bands: true}\n"
	       "traffic: [{name: a, class: DB4, kind: cbr, rate: 64kb/s}]\n",
	  "x.yaml:4:28: no class 'DB4' in qos.classes (did you mean" },
	{ HEAD "qos: {vls: 2, classes: [{name: v, sl: 1, vl: 2}]}\n" BODY,
	  "x.yaml:3:46: VL 2 is not in operation; qos.vls is 2" },
	{ HEAD
	  "qos: {sl2vl: [0,1,2,3,4,5,6,7,0,1,2,3,4,5,6,7], classes: [{name: v, sl: 1, vl: 2}]}\n" BODY,
	  "x.yaml:3:80: VL 2 contradicts qos.sl2vl, which has SL 1 on VL 1" },
	{ HEAD "qos: {ports: [{ports: hosts, vls: 3}]}\n" BODY,
	  "x.yaml:3:35: '3' is not one of 1, 2, 4, 8, 15" },
	{ HEAD "qos: {changes: [{at: 1us, ports: hosts}]}\n" BODY,
	  "x.yaml:3:22: a change that changes nothing" },
	{ HEAD "qos: {changes: [{ports: hosts, low: [0:1]}]}\n" BODY,
	  "x.yaml:3:17: missing field 'qos.changes[].at'" },
	{ HEAD "qos: {vls: 2, changes: [{at: 1us, ports: hosts, low: [2:1]}]}\n" BODY,
	  "x.yaml:3:54: VL 2 is not in operation; qos.vls is 2" },
	{ HEAD "qos: {partitions: [{name: p, key: 0x7fff}]}\n" BODY,
	  "x.yaml:3:35: qos.partitions[].key: '0x7fff' is out of range (1 to 32766)" },
	{ HEAD "traffic: [{name: a}]\n", "x.yaml:3:11: missing field 'traffic[].kind'" },
	{ HEAD "traffic: [{name: '', kind: saturating}]\n",
	  "x.yaml:3:18: a traffic row without a name" },
	{ HEAD "traffic: [{name: a, kind: saturating}, {name: a, kind: saturating}]\n",
	  "x.yaml:3:47: a second traffic row of the name 'a'" },
	{ HEAD "traffic: [{name: a, kind: possion}]\n",
	  "x.yaml:3:27: traffic[].kind: 'possion' is not one of cbr, poisson, ge, on-off, pareto, saturating, messages, trace (did you mean 'poisson'?)" },
	{ HEAD "traffic: [{name: a, kind: cbr}]\n",
	  "x.yaml:3:18: traffic 'a' needs a rate or a load" },
	{ HEAD "traffic: [{name: a, kind: cbr, rate: 1Mb/s, load: 1%}]\n",
	  "x.yaml:3:51: traffic 'a' has both a rate and a load" },
	{ HEAD "traffic: [{name: a, kind: saturating, load: 10%}]\n",
	  "x.yaml:3:45: 'load' has no meaning when traffic[].kind is saturating" },
	{ HEAD "traffic: [{name: a, kind: trace, destination: h1}]\n",
	  "x.yaml:3:47: 'destination' has no meaning when traffic[].kind is trace" },
	{ HEAD "traffic: [{name: a, kind: saturating, pattern: tornado, destination: h1}]\n",
	  "x.yaml:3:70: 'destination' has no meaning when traffic[].pattern is tornado" },
	{ HEAD "traffic: [{name: a, kind: saturating, payload: 8KiB}]\n",
	  "x.yaml:3:48: traffic 'a': a payload of 8192 bytes is more than the MTU of 4096 (messages may be longer)" },
	{ HEAD "traffic: [{name: a, kind: saturating, start: 2us, stop: 1us}]\n",
	  "x.yaml:3:57: traffic 'a' stops before it starts" },
	{ HEAD "traffic: [{name: a, kind: saturating, class: v}]\n",
	  "x.yaml:3:46: no class 'v' in qos.classes" },
	{ HEAD "qos: {classes: [{name: voice, sl: 1}]}\n"
	       "traffic: [{name: a, kind: saturating, class: voise}]\n",
	  "x.yaml:4:46: no class 'voise' in qos.classes (did you mean 'voice'?)" },
	{ HEAD "qos: {classes: [{name: v, sl: 1}]}\n"
	       "traffic: [{name: a, kind: saturating, class: v, sl: 1}]\n",
	  "x.yaml:4:53: traffic 'a' has both a class and an SL" },
	{ HEAD "qos: {thresholds: {at: 8}}\n" BODY,
	  "x.yaml:3:24: qos.thresholds.at needs a mechanism, et or ajt" },
	{ HEAD "qos: {thresholds: {ports: switches}}\n" BODY,
	  "x.yaml:3:27: qos.thresholds.ports needs a mechanism, et or ajt" },
	{ HEAD "qos: {thresholds: {vls: [{vl: 0, at: 4}]}}\n" BODY,
	  "x.yaml:3:31: qos.thresholds.vls needs a mechanism, et or ajt" },
	{ HEAD "qos: {vls: 2, thresholds: {mechanism: et, vls: [{vl: 3, at: 4}]}}\n" BODY,
	  "x.yaml:3:54: a VL that is not in operation; qos.vls is 2" },
	{ HEAD "qos: {thresholds: {mechanism: et, vls: [{vl: 0, at: 4}, {vl: 0, at: 5}]}}\n" BODY,
	  "x.yaml:3:62: VL 0 has thresholds already" },
	{ HEAD "qos: {thresholds: {mechanism: et, vls: [{vl: 0, at: '4,5'}]}}\n" BODY,
	  "x.yaml:3:53: an entry threshold is one number; ajt takes several" },
	{ HEAD "qos: {thresholds: {mechanism: et, at: 4, ports: switches, capacity: 9}}\n" BODY,
	  "x.yaml:3:69: qos.thresholds.capacity is of hosts: it needs ports: hosts or all" },
	{ HEAD "qos: {thresholds: et}\n" BODY,
	  "x.yaml:3:19: qos.thresholds needs thresholds: 'at'" },
	{ HEAD "qos: {thresholds: {mechanism: et, at: [8, 16]}}\n" BODY,
	  "x.yaml:3:39: an entry threshold is one number; ajt takes several" },
	{ HEAD "qos: {thresholds: {mechanism: et, at: 1}}\n" BODY,
	  "x.yaml:3:39: qos.thresholds.at: '1' is not a list of thresholds" },
	{ HEAD "qos: {thresholds: {mechanism: ajt, at: '8,8'}}\n" BODY,
	  "x.yaml:3:40: qos.thresholds.at: '8,8' is not a list of thresholds" },
	{ HEAD "qos: {thresholds: {mechanism: et, at: 9, capacity: 8}}\n" BODY,
	  "x.yaml:3:39: threshold 9 is never reached: 1 VLs of 8 packets hold 8" },
	{ HEAD "qos: {thresholds: {mechanism: ajt, at: 8}}\n" BODY,
	  "x.yaml:3:31: ajt needs a normal and a shared VL of one priority" },
	{ HEAD "qos: {thresholds: {mechanism: ajt, at: 8, high: 0, high_shared: 0}}\n" BODY,
	  "x.yaml:3:65: a VL that has another role already" },
	{ HEAD "qos: {vls: 2, thresholds: {mechanism: ajt, at: 8, high: 0, high_shared: 3}}\n" BODY,
	  "x.yaml:3:73: a VL that is not in operation; qos.vls is 2" },
	{ HEAD "qos: {thresholds: {mechanism: ajt, at: 8, high: x}}\n" BODY,
	  "x.yaml:3:49: qos.thresholds.high: 'x' is not a list of VLs" },
	{ HEAD "traffic: [{name: a, kind: saturating, partition: p}]\n",
	  "x.yaml:3:50: no partition 'p' in qos.partitions" },
	{ HEAD "jobs: [{name: a, partition: p, program: [{compute: 1us}]}]\n",
	  "x.yaml:3:29: no partition 'p' in qos.partitions" },
	{ HEAD "traffic: [{name: a, kind: saturating, pattern: group}]\n",
	  "x.yaml:3:18: traffic 'a' needs a group" },
	{ HEAD "traffic: [{name: a, kind: saturating, pattern: group, group: g}]\n",
	  "x.yaml:3:62: no group 'g' in fabric.groups" },
	{ HEAD "traffic: [{name: a, kind: trace}]\n", "x.yaml:3:18: traffic 'a' needs a file" },
	{ HEAD "jobs: [{name: a, program: [{compute: 1us}]}]\n"
	       "goals: [{job: b, completion: 1us}]\n",
	  "x.yaml:4:15: no job 'b'" },
	{ HEAD "jobs: [{name: a, program: [{compute: 1us}]}]\n" BODY
	       "goals: [{row: a, completion: 1us}]\n",
	  "x.yaml:6:15: completion and slowdown are goals of jobs, not of traffic rows" },
	{ HEAD BODY "goals: [{row: b, p99: 1us}]\n", "x.yaml:5:15: no traffic row 'b'" },
	{ HEAD BODY "goals: [{row: a}]\n", "x.yaml:5:15: a goal that asks for nothing" },
	{ HEAD BODY "run: {measure: 10 packets for flow}\n",
	  "x.yaml:5:16: run.measure: '10 packets for flow' is not a time (e.g. 20ns) or '4 packets' or '4 packets per flow' or '4 packets per SL'" },
	{ HEAD BODY "faults: {events: [{at: 1us, kind: link-dwn, port: a}]}\n",
	  "x.yaml:5:35: faults.events[].kind: 'link-dwn' is not one of link-down, link-up, sink-stuck, sink-free, switch-down, switch-up (did you mean 'link-down'?)" },
	{ HEAD BODY "fault: {ber: 0}\n",
	  "x.yaml:5:1: unknown field 'fault' in the scenario (did you mean 'faults'?)" },
};

static void rejects_contradictory_options(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		struct diag d;
		struct scenario s;
		struct strbuf line = STRBUF_INIT;
		const char *expected = refusals[i].message;

		assert_int_not_equal(parse(refusals[i].text, &d, &s), HD_OK);
		diag_print(&d, &line);
		if (strncmp(line.text, expected, strlen(expected)) != 0)
			fail_msg("%s gives %s", refusals[i].text, line.text);
		strbuf_fini(&line);
		scenario_fini(&s);
	}
}

/* One VL may acquire all others: each threshold up to what they hold. */
static void thresholds_are_at_most_one_per_shareable_vl(void **state)
{
	for (unsigned n = 1; n < 16; n++) {
		struct strbuf text = STRBUF_INIT;
		struct diag d;
		struct scenario s;

		(void)state;
		strbuf_puts(&text,
			    HEAD "qos: {vls: 15, thresholds: {mechanism: ajt, capacity: 4, at: '");
		for (unsigned k = 0; k < n; k++)
			strbuf_printf(&text, "%s%u", k ? "," : "", 4 * (k + 1));
		strbuf_puts(&text,
			    "', high: 0, high_shared: '1,2,3,4,5,6,7,8,9,10,11,12,13,14'}}\n" BODY);
		assert_int_equal(parse(text.text, &d, &s) == HD_OK, n < 15);
		if (n < 15) {
			assert_int_equal(s.qos.thresholds.at.n, n);
			assert_int_equal(s.qos.thresholds.at.at[n - 1], 4 * n);
		}
		scenario_fini(&s);
		strbuf_fini(&text);
	}
}

static void a_run_needs_traffic_and_a_fabric_does_not(void **state)
{
	struct diag d;
	struct scenario s;

	(void)state;
	assert_int_equal(parse(HEAD, &d, &s), HD_OK);
	assert_int_equal(scenario_largest_packet(&s), 4096 + 26);
	assert_int_equal(scenario_needs_traffic(&s, &d), HD_ERR_INPUT);
	assert_string_equal(d.message, "missing field 'traffic' (or 'jobs')");
	scenario_fini(&s);
}

static void fills_in_what_a_short_scenario_leaves_out(void **state)
{
	struct diag d;
	struct scenario s;

	(void)state;
	assert_int_equal(parse(HEAD BODY, &d, &s), HD_OK);
	assert_string_equal(s.fabric.topology.generator->name, "mesh");
	assert_int_equal(s.fabric.overhead, 26);
	assert_true(s.fabric.link.propagation == 5 * HD_NS);
	assert_string_equal(s.fabric.routing.engine, "minhop");
	assert_int_equal(s.fabric.routing.lids, SCN_LIDS_AUTO);
	assert_int_equal(s.fabric.sw.order, SIM_VOQ);
	assert_true(s.fabric.sw.crossbar_reads == SCN_CROSSBAR_READS_AUTO);
	assert_int_equal(s.fabric.sw.input_buffer.unit, SCN_PACKETS);
	assert_int_equal(s.qos.vls, 8);
	assert_false(s.qos.low.given);
	assert_int_equal(s.traffic[0].pattern, SCN_UNIFORM);
	assert_string_equal(s.traffic[0].source, "all");
	assert_true(s.traffic[0].stop == HD_TIME_NEVER);
	assert_true(s.traffic[0].count == SCN_UNLIMITED);
	assert_int_equal(scenario_largest_packet(&s), 2048 + 26);
	scenario_fini(&s);
}

/* Names in fields.c and enums in scenario.h must be in the same order. */
static void names_mean_what_the_enums_say(void **state)
{
	struct diag d;
	struct scenario s;

	(void)state;
	assert_int_equal(parse(HEAD "  switch: {queueing: cioq, order: fifo, arbitration: oldest,\n"
				    "           output_buffer: 1KiB, speedup: 1.5}\n"
				    "  credits: exact\n"
				    "  arbiter: strict\n"
				    "  routing: {engine: xy, lids: paper}\n"
				    "  groups:\n"
				    "  - {name: g, members: '0..3', tree: shortest}\n"
				    "  - {name: h, tree: union}\n"
				    "qos:\n"
				    "  classes: [{name: v, sl: 3, priority: high}]\n"
				    "traffic:\n"
				    "- {name: a, kind: messages, pattern: all-to-all}\n"
				    "- {name: b, kind: pareto, load: 10%, pattern: incast}\n"
				    "- {name: c, kind: ge, rate: 1Gb/s, pattern: transpose}\n"
				    "- {name: d, kind: trace, file: t.csv}\n"
				    "- {name: e, kind: saturating, pattern: group, group: g}\n"
				    "- {name: f, kind: on-off, load: 1%, pattern: hotspot}\n"
				    "faults: {events: [{at: 1us, kind: sink-free, port: h0}]}\n"
				    "run: {measure: 5 packets per flow, warmup: 7 packets}\n",
			       &d, &s),
			 HD_OK);
	assert_int_equal(s.fabric.sw.queueing, SIM_CIOQ);
	assert_int_equal(s.fabric.sw.order, SIM_FIFO);
	assert_int_equal(s.fabric.sw.arbitration, SIM_OLDEST);
	assert_int_equal(s.fabric.sw.output_buffer.unit, SCN_PLAIN);
	assert_int_equal(s.fabric.credits, SIM_CREDITS_EXACT);
	assert_int_equal(s.fabric.arbiter, SIM_STRICT);
	assert_int_equal(s.fabric.routing.lids, LIDS_PAPER);
	assert_int_equal(s.fabric.groups[0].tree, MCAST_SHORTEST);
	assert_int_equal(s.fabric.groups[1].tree, MCAST_UNION);
	assert_int_equal(s.qos.classes[0].priority, SCN_HIGH);
	assert_int_equal(s.traffic[0].kind, SIM_BURST);
	assert_int_equal(s.traffic[0].pattern, SCN_ALL_TO_ALL);
	assert_int_equal(s.traffic[1].kind, SIM_PARETO);
	assert_int_equal(s.traffic[1].pattern, SCN_INCAST);
	assert_int_equal(s.traffic[2].kind, SIM_GE);
	assert_int_equal(s.traffic[2].pattern, SCN_TRANSPOSE);
	assert_int_equal(s.traffic[3].kind, SIM_TRACE);
	assert_int_equal(s.traffic[4].kind, SIM_SATURATING);
	assert_int_equal(s.traffic[4].pattern, SCN_GROUP);
	assert_int_equal(s.traffic[5].kind, SIM_ON_OFF);
	assert_int_equal(s.traffic[5].pattern, SCN_HOTSPOT);
	assert_int_equal(s.faults.events[0].kind, SIM_SINK_FREE);
	assert_int_equal(s.run.measure.unit, SCN_PACKETS_PER_FLOW);
	assert_int_equal(s.run.warmup.unit, SCN_PACKETS);
	scenario_fini(&s);
}

static void reads_tables_as_opensm_writes_them(void **state)
{
	struct diag d;
	struct scenario s;

	(void)state;
	assert_int_equal(parse(HEAD "qos:\n"
				    "  vls: 15\n"
				    "  sl2vl: 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,7\n"
				    "  high: 0:4,1:0,2:255\n"
				    "  low: [0:0, 14:4]\n"
				    "  high_limit: 10\n" BODY,
			       &d, &s),
			 HD_OK);
	assert_int_equal(s.qos.sl2vl.table.vl[14], 14);
	assert_int_equal(s.qos.sl2vl.table.vl[15], 7);
	assert_int_equal(s.qos.high.n, 3);
	assert_int_equal(s.qos.high.entries[2].vl, 2);
	assert_int_equal(s.qos.high.entries[2].weight, 255);
	assert_int_equal(s.qos.low.n, 2);
	assert_int_equal(s.qos.low.entries[1].vl, 14);
	assert_int_equal(s.qos.high_limit, 10);
	scenario_fini(&s);
}

static void explains_itself_in_a_scenario_that_reads_back(void **state)
{
	static const char *const texts[] = {
		HEAD BODY,
		HEAD
		"  switch: {queueing: cioq}\n  link: 4x FDR\n"
		"  links: [{ports: 'h*', ber: 1e-9}]\n"
		"qos: {high: none, low: '0:1', sl2vl: [0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 15], partitions: [{name: p, key: 0x11, full: 'h0,h1'}]}\n"
		"traffic: [{name: 'a b', kind: pareto, load: 33.3%}]\n"
		"goals: [{p99: 1us, delivered: 99%}]\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct diag d;
		struct scenario s;
		struct strbuf once = STRBUF_INIT, twice = STRBUF_INIT;

		assert_int_equal(parse(texts[i], &d, &s), HD_OK);
		scenario_explain(&s, &once);
		scenario_fini(&s);
		assert_int_equal(parse(once.text, &d, &s), HD_OK);
		scenario_explain(&s, &twice);
		scenario_fini(&s);
		assert_string_equal(once.text, twice.text);
		strbuf_fini(&once);
		strbuf_fini(&twice);
	}
}

static void collect_setting(void *context, const char *name, const char *value)
{
	strbuf_printf(context, "%s=%s\n", name, value);
}

static void settings_have_the_names_of_their_places(void **state)
{
	struct strbuf out = STRBUF_INIT;
	struct scenario s;
	struct diag d;

	(void)state;
	assert_int_equal(parse("title: 'a: b'\n" HEAD
			       "traffic:\n- {name: a, kind: cbr, load: 10%}\n"
			       "- {name: b, kind: poisson, load: 5%}\nrun: {seed: 9}\n",
			       &d, &s),
			 HD_OK);
	scenario_settings(&s, collect_setting, &out);
	assert_non_null(strstr(out.text, "title=a: b\n"));
	assert_non_null(strstr(out.text, "\nfabric.topology.columns=2\n"));
	assert_non_null(strstr(out.text, "\nfabric.links=[]\n"));
	assert_non_null(strstr(out.text, "\ntraffic[0].name=a\n"));
	assert_non_null(strstr(out.text, "\ntraffic[1].kind=poisson\n"));
	assert_non_null(strstr(out.text, "\nrun.seed=9\n"));
	assert_null(strstr(out.text, "traffic[2]"));
	strbuf_fini(&out);
	scenario_fini(&s);
}

static void finds_files_beside_the_scenario(void **state)
{
	static const struct {
		const char *scenario, *name, *path;
	} cases[] = {
		{ "a/b/x.yaml", "t.csv", "a/b/t.csv" },
		{ "x.yaml", "t.csv", "t.csv" },
		{ "a/x.yaml", "/t.csv", "/t.csv" },
		{ "a/x.yaml", "-", "-" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct diag d = { .status = HD_OK };
		struct scenario s;

		assert_int_equal(scenario_parse(HEAD BODY, strlen(HEAD BODY), cases[i].scenario,
						NULL, &d, &s),
				 HD_OK);
		char *name = hd_strdup(cases[i].name);
		char *path = scenario_path(&s, &name);

		assert_string_equal(path, cases[i].path);
		free(name);
		free(path);
		scenario_fini(&s);
	}
}

static void every_row_stands_after_its_parent(void **state)
{
	(void)state;
	for (const struct schema_row *f = NULL; (f = schema_after(scenario_fields, f));) {
		const char *dot = strrchr(f->path, '.');

		if (!dot)
			continue;
		size_t len = (size_t)(dot - f->path);

		if (len > 2 && dot[-1] == ']')
			len -= 2;
		const struct schema_row *parent = schema_find(scenario_fields, f->path, len);

		assert_non_null(parent);
		assert_true(parent < f);
		assert_true(f->help && *f->help);
	}
}

static void the_manual_has_every_field(void **state)
{
	struct strbuf man = STRBUF_INIT;

	(void)state;
	scenario_man(&man);
	assert_non_null(strstr(man.text, ".B traffic[].hot_share"));
	assert_non_null(strstr(man.text, ".SH EXAMPLE"));
	strbuf_fini(&man);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rejects_contradictory_options),
		cmocka_unit_test(thresholds_are_at_most_one_per_shareable_vl),
		cmocka_unit_test(a_run_needs_traffic_and_a_fabric_does_not),
		cmocka_unit_test(fills_in_what_a_short_scenario_leaves_out),
		cmocka_unit_test(names_mean_what_the_enums_say),
		cmocka_unit_test(reads_tables_as_opensm_writes_them),
		cmocka_unit_test(explains_itself_in_a_scenario_that_reads_back),
		cmocka_unit_test(settings_have_the_names_of_their_places),
		cmocka_unit_test(finds_files_beside_the_scenario),
		cmocka_unit_test(every_row_stands_after_its_parent),
		cmocka_unit_test(the_manual_has_every_field),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
