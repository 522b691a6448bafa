/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_TESTS_RANDOM_PARTS_H
#define HD_TESTS_RANDOM_PARTS_H

/*
 * Between the files that draw a scenario: random_fabric.c draws nodes, cables,
 * times and buffers, random_tables.c what a subnet manager would program,
 * random_events.c packets, faults and changes, random_routes.c routes that
 * change, random_control.c senders and congestion control; random.c all of it,
 * in order.
 */

#include "base/rng.h"
#include "random.h"

#define MAX_FLOWS 64

#define MAX_SWITCHES 9
#define MAX_HOSTS    8
#define MAX_EDGES    24

static inline uint32_t below(struct rng *r, uint32_t n)
{
	return (uint32_t)rng_below(r, n);
}

static inline bool chance(struct rng *r, unsigned percent)
{
	return below(r, 100) < percent;
}

enum shape_kind { LINE, TREE, STAR, RING, MESH, IRREGULAR, SHAPES };

struct shape {
	enum shape_kind kind;
	uint32_t n_switches, n_edges, n_hosts;
	uint32_t n_routers; /* the last of the switches */
	bool as_switches;   /* which they are all the same */
	uint32_t edges[MAX_EDGES][2];
	uint32_t host_at[MAX_HOSTS];
	bool dragonfly;
	uint32_t group[MAX_SWITCHES]; /* of it, by switch */
};

/* random_fabric.c */
void shape_draw(struct shape *h, struct rng *r);
/* Two switches at least, and second cables parallel to some. */
void shape_widen(struct shape *h, struct rng *r);
/* From the first switch to the last by several others, in one step or two. */
void shape_fan(struct shape *h, struct rng *r);
/* Groups with a cable between most pairs of them; inside, each switch with each
 * or leaves with spines. Most hosts are in two of the groups. */
void shape_dragonfly(struct shape *h, struct rng *r);
void fabric_draw(struct scenario *s, const struct shape *h, struct rng *r);
void timing_draw(struct scenario *s, struct rng *r);
void model_draw(struct scenario *s, struct rng *r);
void buffers_draw(struct scenario *s, struct rng *r);
bool is_cable(const struct sim_setup *s, uint32_t port);

/* random_tables.c */
/* The switch at the far end of a port, or TOPO_NONE. */
uint32_t switch_beyond(const struct sim_setup *t, uint32_t port);
void routes_draw(struct scenario *s, const struct shape *h, struct rng *r);
void vl_tables_draw(const struct scenario *s, struct subnet *n, struct rng *r);
void tables_draw(struct scenario *s, struct rng *r);
void keys_draw(const struct scenario *s, struct subnet *n, struct rng *r);
void end_keys_draw(const struct scenario *s, struct subnet *n, struct rng *r);
extern const uint16_t keys_known[4]; /* partition keys */
uint8_t most_vls(const struct scenario *s);
void table_draw(const struct scenario *s, struct vlarb *t, uint8_t vls, struct rng *r);

/* random_events.c */
void tclasses_draw(struct scenario *s, struct rng *r);
void marks_draw(struct scenario *s, struct rng *r);
void flows_draw(struct scenario *s, struct rng *r);
void port_faults_draw(struct scenario *s, struct rng *r);
void outages_draw(struct scenario *s, struct rng *r);
void fault_add(struct scenario *s, hd_time ticks, enum sim_fault_kind kind, uint32_t port);
void changes_draw(struct scenario *s, struct rng *r);

/* random_routes.c */
void reroutes_draw(struct scenario *s, struct rng *r);

/* random_vls.c */
void sharing_draw(struct scenario *s, struct rng *r);
void vl_changes_draw(struct scenario *s, struct rng *r);
void plans_free(struct scenario *s);

/* random_choices.c */
void choices_draw(struct scenario *s, const struct shape *h, struct rng *r);

/* random_pairs.c */
#define PAIR_HEADERS 128 /* of any packet, at most; with an MTU of 256: */
#define PAIR_LEAST   (256 + PAIR_HEADERS)
void pairs_draw(struct scenario *s, struct rng *r);
/* Packets of a message beyond the first; 0 if the flow has no queue pair. */
uint32_t pairs_packets(const struct scenario *s, uint32_t flow);
bool is_pairs_flow(const struct scenario *s, uint32_t flow);
/* Q8: how many requests are kept before their turn; and packets of a flow then
 * choose for themselves. */
void early_draw(struct scenario *s, struct rng *r);
/* The largest MTU whose packets are no larger than the largest drawn. */
uint32_t mtu_draw(const struct scenario *s, struct rng *r);
/* Whether the tables lead from one end to another. */
bool is_way(const struct fabric *fabric, uint32_t from, uint32_t to);

/* random_jobs.c */
void jobs_draw(struct scenario *s, struct rng *r, struct rng *reductions);
/* About as long as all of them take, if none waits for another. */
hd_time jobs_time(const struct scenario *s);

/* random_mads.c */
void mads_draw(struct scenario *s, struct rng *r);

/* random_admission.c */
void asks_draw(struct scenario *s, struct rng *r);

/* random_events.c; after senders, queue pairs and requests are drawn. */
void saturating_draw(struct scenario *s, struct rng *r);

/* random_control.c */
uint32_t flows_find(const struct scenario *s, const struct sim_arrival **of);
void response_draw(const struct scenario *s, struct sim_throttle *t, struct rng *r);
bool is_controllable(const struct scenario *s, const struct sim_arrival *a);
/* SLs that control does not hold for: none, or some. */
void free_sls_draw(struct scenario *s, struct rng *r);
void senders_draw(struct scenario *s, struct rng *r);
void control_draw(struct scenario *s, struct rng *r);
/* Its settings, as they change (C9). */
void settings_draw(struct scenario *s, struct rng *r);

#endif
