/* SPDX-License-Identifier: BSD-2-Clause */
#include "scenario/words.h"

#include <stddef.h>

const char *const scn_queueing_words[] = { "input", "cioq", NULL };
const char *const scn_order_words[] = { "voq", "fifo", NULL };
const char *const scn_arbitration_words[] = { "round-robin", "oldest", NULL };
const char *const scn_lid_words[] = { "opensm", "paper", "nodes", "keep", "auto", NULL };
const char *const scn_adaptive_words[] = { "off", "load", "random", "turns", NULL };
const char *const scn_adaptive_unit_words[] = { "packet", "flow", "flowlet", NULL };
const char *const scn_vl_words[] = { "1", "2", "4", "8", "15", NULL };
/* Algorithms as cc_find() knows them. */
#define ALGORITHMS "fimd", "lipd", "pipd", "aimd", "cct"
const char *const scn_control_words[] = { "inherit", ALGORITHMS, NULL };
const char *const scn_algorithm_words[] = { "none", ALGORITHMS, "marks", NULL };
const char *const scn_grh_words[] = { "auto", "yes", "no", NULL };
const char *const scn_credit_words[] = { "delay", "exact", NULL };
const char *const scn_arbiter_words[] = { "vlarb", "strict", NULL };
const char *const scn_mtu_words[] = { "256", "512", "1024", "2048", "4096", NULL };
const char *const scn_mechanism_words[] = { "none", "et", "ajt", NULL };
const char *const scn_share_ports_words[] = { "hosts", "switches", "all", NULL };
const char *const scn_priority_words[] = { "low", "high", NULL };
const char *const scn_class_words[] = { "DBTS", "DB", "PBE", "BE", "CH", "none", NULL };
const char *const scn_law_words[] = { "exponential", "constant", NULL };
const char *const scn_traffic_words[] = { "cbr",        "poisson",  "ge",    "on-off", "pareto",
					  "saturating", "messages", "trace", NULL };
const char *const scn_pattern_words[] = { "uniform", "permutation", "transpose",  "bit-reverse",
					  "tornado", "hotspot",     "all-to-all", "incast",
					  "pairs",   "group",       NULL };
const char *const scn_transport_words[] = { "none", "rc", "uc", "ud", NULL };
const char *const scn_echo_words[] = { "ack", "cnp", NULL };
const char *const scn_share_words[] = { "qp", "sl", NULL };
const char *const scn_gap_words[] = { "follows", "fixed", NULL };
const char *const scn_event_words[] = { "link-down",   "link-up",   "sink-stuck", "sink-free",
					"switch-down", "switch-up", NULL };
const char *const scn_packet_words[] = { "packets", NULL };
const char *const scn_packet_each_words[] = { "packets", "packets per flow", "packets per SL",
					      NULL };
const char *const scn_rails_words[] = { "own", "peer", NULL };
const char *const scn_job_transport_words[] = { "plain", "rc", NULL };
const char *const scn_place_words[] = { "linear", "random", "leaf", "round-robin", NULL };
const char *const scn_layout_words[] = { "blocks", "strides", NULL };
