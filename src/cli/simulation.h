/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CLI_SIMULATION_H
#define HD_CLI_SIMULATION_H

/*
 * Options of a run: observers and checkpoints. `run` is a member of `type`, a struct run_options.
 */

#include "cli/command.h"
#include "run/run.h"

/* `run` cannot be in parentheses, since it is part of a member designator. */
/* NOLINTBEGIN(bugprone-macro-parentheses) */
/* clang-format off */
#define OPTIONS_WATCH(type, run)                                              \
	{ "pcap", 0, OPT_OUTPUT, offsetof(type, run.pcap), "FILE", NULL,        \
	  "write the packets to FILE, for Wireshark" },                       \
	{ "flow-control", 0, OPT_CHOICE, offsetof(type, run.flow_control),    \
	  "HOW", "none",                                                      \
	  "with --pcap and 'fabric.credits: exact', flow-control packets "    \
	  "too: bare as they are, 6 bytes, or padded, which Wireshark 4.0 "   \
	  "needs not to call them malformed",                                 \
	  report_capture_flow_names },                                           \
	{ "trace", 0, OPT_OUTPUT, offsetof(type, run.trace), "FILE", NULL,      \
	  "write a line for every packet sent, received or lost" },           \
	{ "port", 0, OPT_LIST, offsetof(type, run.ports), "NODE:PORT", NULL,  \
	  "only at this port (--pcap, --trace, --counters)" },                \
	{ "sample", 0, OPT_TIME, offsetof(type, run.sample), "TIME", "0s",    \
	  "how often --db and --html note the use of links; 0: about a "      \
	  "hundred times" },                                                  \
	{ "rates", 0, OPT_TIME, offsetof(type, run.rates), "TIME", "0s",      \
	  "note the rate that congestion control allows each flow this "      \
	  "often; 0: never" }

#define OPTIONS_CHECKPOINT(type, run)                                         \
	{ "checkpoint", 0, OPT_OUTPUT, offsetof(type, run.checkpoint), "FILE",  \
	  NULL,                                                               \
	  "save the state of the run to FILE now and then, for --restart",\
 .replaces = "restart" },  \
	{ "every", 0, OPT_TIME, offsetof(type, run.every), "TIME", NULL,      \
	  "how often --checkpoint does that; every 10 minutes unless stated", \
	  .low = HD_MS },                                                     \
	{ "every-simulated", 0, OPT_TIME,                                     \
	  offsetof(type, run.every_simulated), "TIME", "0s",                  \
	  "the same in simulated time, at the same instants in every run; "   \
	  "0: --every counts" },                                              \
	{ "restart", 0, OPT_INPUT, offsetof(type, run.restart), "FILE", NULL,  \
	  "continue from the checkpoint FILE of this scenario and these "      \
	  "options, to the same results, on any number of threads" }
/* clang-format on */
/* NOLINTEND(bugprone-macro-parentheses) */

#endif
