/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_METRICS_TALLY_H
#define HD_SIM_METRICS_TALLY_H

/*
 * Counters of metrics.c, and the modules that read them: the stop rules (rules.c), ports
 * (metrics_ports.c), domains (metrics_domains.c), packet order (order.c). Internal to these.
 */

#include "sim/domains/domains.h"

#define HASHED_PAIRS (1u << 12)

/*
 * The last packet of a (source, destination, VL). If SLs that share the final VL may use separate
 * VLs on the path, which keep no common order: of a (source, destination, SL).
 */
struct order_pair {
	hd_time born;
	uint32_t flow, sequence;
	uint64_t key; /* hashed pairs only; 0 = none yet */
	bool multicast;
	uint8_t endpoint, turn; /* of one that no flow made */
};

/*
 * Counters of a run. Domains share the arrays by flow and by pair with the whole, and groups if
 * they are single flows.
 */
struct metrics_tally {
	struct sim_metrics m;
	struct flow_tallies flows;
	size_t groups_cap;
	struct histogram_pool rows; /* histograms of many groups */
	struct order_pair *pairs;
	uint32_t *end_number; /* per node */
	uint32_t n_ends;
	uint32_t n_kinds; /* of VLs or SLs */
	bool by_sl;
	bool hashed;
	uint64_t warmed; /* packets delivered since rules.warmup */
	/* Stop rules. */
	uint32_t *per_flow;  /* packets; NULL unless a rule needs them */
	uint32_t flows_done; /* flows with enough packets */
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

/* Mixes bits so that similar inputs have unrelated results. */
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

/* No effect unless the rules check the order of packets. */
void metrics_order_init(struct sim *s);
/* A packet of a flow is delivered at `node`. */
void metrics_order_check(struct sim *s, const struct packet_record *p, uint32_t node);
/* The same for packets of endpoints, in their order, with adaptive routing. */
void metrics_order_check_endpoint(struct sim *s, const struct packet_record *p, uint32_t node);

/* ---- checkpoint_tally.c ----------------------------------------------------- */

struct pack;
/* Packs the counters of a group. */
void metrics_pack_group(struct pack *p, struct sim_group *g);
/* Packs latencies by packet SL, if the groups do not have them. */
void metrics_pack_sls(struct pack *p, const struct sim *s, struct sim_metrics *m);

/* ---- rules.c ----------------------------------------------------------- */

/* M2: how far apart the looks are. */
hd_time metrics_check_interval(const struct sim *s);
void metrics_stop_rules_init(struct sim *s);
/* After counting packets: whether the run or the warm-up may end soon. */
void metrics_check_stop(struct sim *s);
void metrics_check_warm(struct sim *s);

#endif
