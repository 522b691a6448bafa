/* SPDX-License-Identifier: BSD-2-Clause */
#include "scenario/fields.h"
#include "subnet/replan.h"

/* Congestion control, faults, the subnet manager, the run and its goals. */

#define CC(member)     offsetof(struct scenario, congestion.member)
#define FAULTS(member) offsetof(struct scenario, faults.member)
#define SM(member)     offsetof(struct scenario, sm.member)
#define RUN(member)    offsetof(struct scenario, run.member)
#define EVENT(member)  offsetof(struct scn_event, member)
#define LIMIT(member)  offsetof(struct scn_limit, member)
#define GOAL(member)   offsetof(struct scn_goal, member)

const struct schema_row scenario_run_fields[] = {
	{ "congestion", SCHEMA_MAP,
	  .help = "marks and answers: of heddle cc, and of heddle sim if there "
		  "is an algorithm" },
	{ "congestion.algorithm", SCHEMA_CHOICE, CC(algorithm),
	  .initial = "none", .choices = scn_algorithm_words,
	  .help = "how sources answer to marks; none: no congestion control, "
		  "marks: switches mark and nobody answers. heddle cc tries "
		  "them all" },
	{ "congestion.marking", SCHEMA_MAP, .shorthand = "rule",
	  .help = "when switches mark packets" },
	{ "congestion.marking.rule", SCHEMA_CHOICE, CC(marking),
	  .initial = "two-counter", .choices = mark_names,
	  .help = "with a full buffer (guarded, or as published), from a depth "
		  "on, or InfiniBand's" },
	{ "congestion.marking.depth", SCHEMA_SIZE, CC(depth), .initial = "4KiB",
	  .low = "1",
	  .help = "waiting for an output from which on 'threshold' marks" },
	{ "congestion.marking.threshold", SCHEMA_UINT, CC(threshold),
	  .initial = "8", .high = "15",
	  .help = "of 'iba': 0 never, 1 loose, 15 aggressive; T is reached "
		  "when (16 - T)/16 of an input buffer wait for the output" },
	{ "congestion.marking.victims", SCHEMA_BOOL, CC(victims),
	  .initial = "false",
	  .help = "of 'iba': whether outputs without credits mark too" },
	{ "congestion.marking.packet_size", SCHEMA_SIZE, CC(packet_size),
	  .initial = "0", .help = "of 'iba': smaller packets stay unmarked" },
	{ "congestion.marking.rate", SCHEMA_UINT, CC(marking_rate),
	  .initial = "0", .high = "65535",
	  .help = "of 'iba': packets between marks; 0 marks all" },
	{ "congestion.ack", SCHEMA_MAP, .shorthand = "delay",
	  .help = "how marks and arrivals are told" },
	{ "congestion.ack.delay", SCHEMA_TIME, CC(ack_delay),
	  .initial = "packet", .word = "packet", .low = "1ps", .high = "1s",
	  .help = "after this time, at no cost; packet: by packets through "
		  "the fabric" },
	{ "congestion.echo", SCHEMA_CHOICE, CC(echo), .initial = "ack",
	  .choices = scn_echo_words,
	  .help = "where BECN is: in acknowledgements, or in CNPs (cct only)" },
	{ "congestion.window", SCHEMA_UINT, CC(window), .initial = "4",
	  .low = "1", .high = "4096",
	  .help = "unacknowledged packets of a flow" },
	{ "congestion.timeout", SCHEMA_TIME, CC(timeout), .initial = "10ms",
	  .word = "never", .low = "1ps", .high = "10s",
	  .help = "without a word from its destination, after which a flow "
		  "forgets what is unacknowledged" },
	{ "congestion.rate_steps", SCHEMA_UINT, CC(rate_steps),
	  .initial = "256", .low = "2", .high = "1000000",
	  .help = "highest rate over lowest" },
	{ "congestion.m", SCHEMA_REAL, CC(m), .initial = "4",
	  .help = "factor (FIMD, AIMD) or root (PIPD) of a decrease" },
	{ "congestion.cap", SCHEMA_BOOL, CC(cap), .initial = "true",
	  .help = "whether the first increase after a decrease ends at the rate "
		  "held before it; published functions have no such cap" },
	{ "congestion.gap", SCHEMA_CHOICE, CC(gap), .initial = "follows",
	  .choices = scn_gap_words,
	  .help = "after a packet, until the next may start: follows the rate "
		  "as it changes, or is fixed by the rate when it began" },
	{ "congestion.units", SCHEMA_REAL, CC(units), .initial = "2",
	  .low = "0.001", .high = "1000000",
	  .help = "of PIPD, which depends on its unit: the lowest rate of a "
		  "flow in it (with congestion.rate_steps, or the row's own "
		  "if that is lower)" },
	{ "congestion.cct", SCHEMA_MAP, .shorthand = "table",
	  .help = "InfiniBand's congestion control table" },
	{ "congestion.cct.table", SCHEMA_CUSTOM, CC(cct), .initial = "straight",
	  .custom = &notation_cct, .joins = true,
	  .help = "the delay after a packet, per index: its duration shifted "
		  "right, times a multiplier; straight: a quarter more each" },
	{ "congestion.cct.increase", SCHEMA_UINT, CC(ccti_increase),
	  .initial = "1", .low = "1", .high = "255",
	  .help = "steps up the table with each BECN" },
	{ "congestion.cct.timer", SCHEMA_UINT, CC(ccti_timer), .initial = "150",
	  .high = "65535", .help = "time to one step down, in 1.024 us" },
	{ "congestion.cct.min", SCHEMA_UINT, CC(ccti_min), .initial = "0",
	  .high = "127", .help = "lowest index" },
	{ "congestion.cct.sls", SCHEMA_CUSTOM, CC(sls), .initial = "all",
	  .custom = &notation_sls, .joins = true,
	  .help = "the SLs whose flows and queue pairs answer to marks" },
	{ "congestion.cct.per", SCHEMA_CHOICE, CC(per), .initial = "qp",
	  .choices = scn_share_words,
	  .help = "whether each flow has an index, or all of a port and SL "
		  "share one" },
	{ "congestion.limits", SCHEMA_LIST, CC(limits), .count = CC(n_limits),
	  .item_size = sizeof(struct scn_limit),
	  .help = "what SLs may reserve of each link; others: all of it" },
	{ "congestion.limits[].sl", SCHEMA_UINT, LIMIT(sl), .high = "15",
	  .help = "the service level" },
	{ "congestion.limits[].share", SCHEMA_SHARE, LIMIT(share),
	  .low = "0.1%", .high = "100%",
	  .help = "reservations stay below this share of the link" },
	{ "congestion.warmup", SCHEMA_TIME, CC(warmup), .initial = "same",
	  .word = "same", .word_value = HD_TIME_NEVER, .low = "1ps",
	  .help = "what is left out of the results; same: as run.warmup" },
	{ "congestion.measure", SCHEMA_TIME, CC(measure), .initial = "same",
	  .word = "same", .word_value = HD_TIME_NEVER, .low = "1ps",
	  .help = "how long after that; same: as run.measure" },

	{ "faults", SCHEMA_MAP, .help = "what goes wrong" },
	{ "faults.ber", SCHEMA_REAL, FAULTS(ber), .initial = "0", .low = "0",
	  .high = "0.5", .help = "bit error rate of every link" },
	{ "faults.update_loss", SCHEMA_REAL, FAULTS(update_loss),
	  .initial = "0", .low = "0", .high = "1",
	  .help = "share of flow-control updates lost on every link" },
	{ "faults.hoq_life", SCHEMA_TIME, FAULTS(hoq_life), .initial = "never",
	  .word = "never", .low = "1ns",
	  .help = "how long a packet may stand first at a switch's output "
		  "before it is discarded" },
	{ "faults.events", SCHEMA_LIST, FAULTS(events),
	  .count = FAULTS(n_events), .item_size = sizeof(struct scn_event),
	  .help = "what happens when" },
	{ "faults.events[].at", SCHEMA_TIME, EVENT(at), .help = "the time" },
	{ "faults.events[].kind", SCHEMA_CHOICE, EVENT(kind),
	  .choices = scn_event_words, .help = "what happens" },
	{ "faults.events[].port", SCHEMA_TEXT, EVENT(port),
	  .help = "where: NODE:PORT, either end of a link; for sinks a host, "
		  "for switches one of them" },

	{ "sm", SCHEMA_MAP, offsetof(struct scenario, sm),
	  .item_size = sizeof(struct scn_sm),
	  .help = "a subnet manager that routes around links and switches "
		  "that go down or come back; without it tables stay" },
	{ "sm.sweep", SCHEMA_TIME, SM(sweep), .initial = "never",
	  .word = "never", .word_value = HD_TIME_NEVER, .low = "1us",
	  .help = "how often it looks at the fabric, from 0s on" },
	{ "sm.trap", SCHEMA_TIME, SM(trap), .initial = "never", .word = "never",
	  .word_value = HD_TIME_NEVER,
	  .help = "from a failure or a return to its trap being heard, if that "
		  "is before the next sweep" },
	{ "sm.compute", SCHEMA_TIME, SM(compute), .initial = "1ms",
	  .help = "from then until the new routes are known" },
	{ "sm.program", SCHEMA_TIME, SM(program), .initial = "20us",
	  .help = "for each write of 64 entries, one after the other" },
	{ "sm.replan", SCHEMA_CHOICE, SM(replan), .initial = "opensm",
	  .choices = replan_mode_names,
	  .help = "fresh: all routes anew; keep: those that still work stay; "
		  "opensm: they stay unless cables came back" },

	{ "run", SCHEMA_MAP, .help = "how long, and by which dice" },
	{ "run.seed", SCHEMA_UINT, RUN(seed), .initial = "1",
	  .help = "of everything random" },
	{ "run.warmup", SCHEMA_AMOUNT, RUN(warmup), .initial = "100us",
	  .base = SCHEMA_TIME, .choices = scn_packet_words,
	  .help = "what is left out of the results: a time, or a number of "
		  "packets delivered" },
	{ "run.measure", SCHEMA_AMOUNT, RUN(measure), .initial = "1ms",
	  .base = SCHEMA_TIME, .choices = scn_packet_each_words, .low = "1",
	  .help = "how long after that: a time, packets delivered, or so many "
		  "of the slowest flow or of each SL" },
	{ "run.precision", SCHEMA_SHARE, RUN(precision), .initial = "none",
	  .word = "none", .high = "50%",
	  .help = "end earlier, once the mean latency is known to within this "
		  "(95 % confidence)" },
	{ "run.horizon", SCHEMA_TIME, RUN(horizon), .initial = "1s",
	  .low = "1ns",
	  .help = "simulated time after which a run ends "
		  "anyway" },

	{ "goals", SCHEMA_LIST, offsetof(struct scenario, goals),
	  .count = offsetof(struct scenario, n_goals),
	  .item_size = sizeof(struct scn_goal),
	  .help = "what must hold; heddle sim exits with 1 if it does not" },
	{ "goals[].row", SCHEMA_TEXT, GOAL(row), .optional = true,
	  .help = "a traffic row; absent: each of them" },
	{ "goals[].job", SCHEMA_TEXT, GOAL(job), .optional = true,
	  .help = "a job, for completion and slowdown" },
	{ "goals[].completion", SCHEMA_TIME, GOAL(completion),
	  .initial = "none", .word = "none",
	  .help = "most time from the job's start to its end" },
	{ "goals[].slowdown", SCHEMA_SHARE, GOAL(slowdown), .initial = "none",
	  .word = "none",
	  .help = "most of that over the time that it takes alone" },
	{ "goals[].mean", SCHEMA_TIME, GOAL(mean), .initial = "none",
	  .word = "none", .help = "most mean latency" },
	{ "goals[].p50", SCHEMA_TIME, GOAL(p50), .initial = "none",
	  .word = "none", .help = "most latency of half the packets" },
	{ "goals[].p99", SCHEMA_TIME, GOAL(p99), .initial = "none",
	  .word = "none", .help = "most latency of 99 % of the packets" },
	{ "goals[].p999", SCHEMA_TIME, GOAL(p999), .initial = "none",
	  .word = "none", .help = "most latency of 99.9 % of the packets" },
	{ "goals[].max", SCHEMA_TIME, GOAL(max), .initial = "none",
	  .word = "none", .help = "most latency of any packet" },
	{ "goals[].delivered", SCHEMA_SHARE, GOAL(delivered), .initial = "none",
	  .word = "none", .high = "100%",
	  .help = "least share of the offered bytes that arrives" },
	{ "goals[].throughput", SCHEMA_RATE, GOAL(throughput),
	  .initial = "none", .word = "none",
	  .help = "least payload rate of the row, all flows together" },
	{ "goals[].fairness", SCHEMA_SHARE, GOAL(fairness), .initial = "none",
	  .word = "none", .high = "100%",
	  .help = "least Jain index over the row's flows" },
	{ "goals[].lost", SCHEMA_UINT, GOAL(lost), .initial = "any",
	  .word = "any", .word_value = SCN_UNLIMITED,
	  .help = "most packets lost" },
	{ "goals[].blocking", SCHEMA_SHARE, GOAL(blocking), .initial = "any",
	  .word = "any", .word_value = SCN_ANY, .high = "100%",
	  .help = "most share of the flows that asked for bandwidth and were "
		  "refused" },
	{ "goals[].broken", SCHEMA_UINT, GOAL(broken), .initial = "any",
	  .word = "any", .word_value = SCN_UNLIMITED,
	  .help = "most admitted connections whose promise is broken at some "
		  "time" },
	{ .path = NULL },
};
