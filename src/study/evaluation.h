/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_STUDY_EVALUATION_H
#define HD_STUDY_EVALUATION_H

/*
 * The evaluation of paper 000. A fabric is filled with random connections until
 * it accepts no more (qos/admission/establish.h). The arbitration tables are
 * those of the reservations. Every connection then sends at its reserved rate
 * through switches with input and output queues.
 *
 *	struct eval_result r;
 *	struct eval_plan plan = eval_plan_default();
 *	plan.shape = EVAL_MESH;
 *	if (eval_run(&plan, NULL, NULL, &d, &r) == HD_OK) ...
 *	eval_result_fini(&r);
 *
 * A result holds the values of the paper's figures for one fabric, packet size
 * and speed; evaluation_tables.h turns several results into tables.
 */

#include "base/diag.h"
#include "measure/interval.h"
#include "qos/admission/establish.h"
#include "sim/sim.h"

enum eval_shape { EVAL_IRREGULAR, EVAL_HYPERCUBE, EVAL_MESH, N_EVAL_SHAPES };
extern const char *const eval_shape_names[N_EVAL_SHAPES + 1];

/* Stop rule of a run, applied after a warm-up of 10,000 packets. */
enum eval_rule {
	EVAL_QUICK,   /* 2,000 packets of every SL */
	EVAL_DEFAULT, /* 20,000 of every SL and 5 of every connection */
	EVAL_PAPER,   /* 100 of the slowest connection */
	N_EVAL_RULES
};
extern const char *const eval_rule_names[N_EVAL_RULES + 1];

/* Mix of connections to request. */
enum eval_mix {
	EVAL_MIX_PAPER, /* DB on SLs 0-3, by bandwidth */
	/*
	 * EVAL_MIX_PAPER, plus DBTS connections of 64 Kb/s to 1.55 Mb/s whose
	 * deadline selects the SL: 4 up to 100 us, 5 up to 1 ms, 6 up to 10 ms,
	 * 7 above. The high-priority table serves them.
	 */
	EVAL_MIX_DEADLINES,
	EVAL_MIX_LOW,  /* DB on SLs 0-2 only: many slow connections */
	EVAL_MIX_HIGH, /* DB on SLs 2-3 only: few fast connections */
	N_EVAL_MIXES
};
extern const char *const eval_mix_names[N_EVAL_MIXES + 1];

struct eval_plan {
	enum eval_shape shape;
	uint32_t switches;    /* 8, 16, 32 or 64, with 4 hosts each */
	uint32_t width;       /* 1, 4 or 12 lanes of 2.5 Gb/s of data each */
	uint32_t payload;     /* bytes per packet, as reserved */
	uint32_t overhead;    /* header bytes per packet on the wire */
	uint32_t counted;     /* part of `overhead` that reservations include: all or 0 */
	uint32_t tried;       /* number of connections to request */
	uint32_t retries;     /* consecutive failures of an SL after which it ends */
	struct hd_ratio lead; /* maximum lead of an SL over the last SL */
	uint32_t vls;         /* data VLs: 1, 2, 4, 8 or 15 */
	enum fill_mode fill;
	enum eval_rule rule;
	enum eval_mix mix;
	uint64_t seed;
	bool establish_only; /* skip the simulation */
};

/* Default plan: irregular, 16 switches, 1x, 4096 bytes, no limit on connections, quick. */
struct eval_plan eval_plan_default(void);

/* Packets of one or more connections that arrived within 1/32 ... of the IAT. */
struct eval_shares {
	uint64_t packets;
	uint64_t within[SIM_DEADLINES];
};

struct eval_sl {
	uint32_t connections;
	struct eval_shares all;
	uint64_t jitter[SIM_JITTER_BINS];
	uint64_t jitter_n;
	/* Connections with the largest and the smallest share within half an IAT. */
	struct eval_shares best, worst;
	double best_rate, worst_rate; /* b/s */
	double latest;                /* largest latency of any packet divided by its IAT */
	double mean_latency;          /* seconds */
};

struct eval_port {
	bool host; /* port of an adapter; false: port of a switch */
	uint32_t node, number;
	double utilisation;
};

struct eval_result {
	struct eval_plan plan;
	struct establish_result established;
	uint32_t n_hosts;
	/* Relative to the host links' data rate, headers included. */
	double reserved, offered, delivered;
	struct eval_sl sl[N_SLS];
	struct eval_port *ports; /* hosts first, then switches */
	uint32_t n_ports, n_host_ports;
	double host_use, switch_use; /* mean utilisation */
	double most_use;
	struct interval latency; /* seconds */
	hd_time measured;
	uint64_t delivered_packets, hops, lost;
	bool complete; /* the stop rule was met; false if the run was interrupted */
};

/* Rejects fabrics that cannot be built or filled at all. */
HD_MUST_CHECK enum hd_status eval_run(const struct eval_plan *plan, sim_progress_fn *progress,
				      void *context, struct diag *d, struct eval_result *out);
void eval_result_fini(struct eval_result *r);

/* Share of an SL's packets that arrive within sim_deadlines[i]/32 of their IAT. */
double eval_within(const struct eval_shares *s, unsigned i);

#endif
