/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_METRICS_TALLY_H
#define HD_SIM_METRICS_TALLY_H

/*
 * What metrics.c counts during a run, and what reads it: the rules
 * that end a run (rules.c), ports (metrics_ports.c), parts (metrics_domains.c),
 * the order of packets (order.c). Internal to these.
 */

#include "sim/domains/domains.h"

#define HASHED_PAIRS (1u << 12)

/*
 * The packet seen last of one (source, destination, VL). Where SLs that share
 * a VL at the end may have had VLs of their own on the way, which keep no
 * order between them, of one (source, destination, SL).
 */
struct order_pair {
	hd_time born;
	uint32_t flow, sequence;
	uint64_t key; /* hashed pairs only; 0 = none yet */
	bool multicast;
	uint8_t endpoint, turn; /* of one that no flow made */
};

/*
 * What is counted during the run. A part's has arrays by flow and by
 * pair in common with the whole's, and groups too if they are single flows.
 */
struct metrics_tally {
	struct sim_metrics m;
	struct flow_tallies flows;
	size_t groups_cap;
	struct histogram_pool rows; /* of the groups, if they are many */
	struct order_pair *pairs;
	uint32_t *end_number; /* per node */
	uint32_t n_ends;
	uint32_t n_kinds; /* of VLs or SLs */
	bool by_sl;
	bool hashed;
	uint64_t warmed; /* packets delivered since rules.warmup */
	/* Stop rules. */
	uint32_t *per_flow;  /* packets, if they are asked for */
	uint32_t flows_done; /* that have as many as asked for */
	uint64_t per_sl[N_SLS];
	bool has_sl[N_SLS];
	uint64_t check_at; /* deliveries at which precision is looked at */
	bool looks;        /* at the rules, soon */
	bool done;
};

static inline bool has_packet_rules(const struct sim_rules *r)
{
	return (r->packets | r->packets_per_flow | r->packets_per_sl) != 0 || r->precision > 0;
}

/* Bits that differ come to differ everywhere. */
static inline uint64_t mix_bits(uint64_t x)
{
	x = (x ^ x >> 31) * UINT64_C(0x9e3779b97f4a7c15);
	x = (x ^ x >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
	return x ^ x >> 32;
}

/* ---- metrics_ports.c --------------------------------------------------- */

/* After its counters, of the measured interval. */
void metrics_port_use(struct sim *s, uint32_t port, struct sim_port_use *out);
/* The warm-up is over: the row of this port counts from here. */
void metrics_port_restart(struct sim *s, uint32_t port);

/* ---- order.c ------------------------------------------------------------ */

/* Remembers nothing unless the rules ask for order to be checked. */
void metrics_order_init(struct sim *s);
/* A packet of a flow is delivered at `node`. */
void metrics_order_check(struct sim *s, const struct packet_record *p, uint32_t node);
/* The same of what endpoints sent, in their order, where switches choose. */
void metrics_order_check_endpoint(struct sim *s, const struct packet_record *p, uint32_t node);

/* ---- checkpoint_tally.c ----------------------------------------------------- */

struct pack;
/* What was counted of a group. */
void metrics_pack_group(struct pack *p, struct sim_group *g);
/* Latencies by the packets' SLs, where the groups do not have them. */
void metrics_pack_sls(struct pack *p, const struct sim *s, struct sim_metrics *m);

/* ---- rules.c ----------------------------------------------------------- */

/* M2: how far apart the looks are. */
hd_time metrics_check_interval(const struct sim *s);
void metrics_stop_rules_init(struct sim *s);
/* Packets have been counted: may the run end soon? The warm-up? */
void metrics_check_stop(struct sim *s);
void metrics_check_warm(struct sim *s);

#endif
