/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_STUDY_GOALS_H
#define HD_STUDY_GOALS_H

/*
 * Reads QoS goals, derives a plan that meets them, and verifies the plan on a
 * fabric by simulation.
 *
 *	mpi: at least 70%
 *	mds: latency 20us, packets 256, senders 8
 *	backup: leftovers
 *
 * A class with a latency has priority over the others; its share is the stated
 * one or GOALS_SOON. A leftovers class gets the bandwidth that no other class
 * uses at the moment, and at least GOALS_LEFT. Packets have the size of the MTU
 * unless stated. `senders` is the number of hosts that may send a packet of a
 * latency class to one host at the same time; the default is all other hosts.
 */

#include "base/diag.h"
#include "fabric/fabric.h"
#include "measure/results.h"
#include "qos/tables/plan.h"

#define GOALS_SOON 5 /* percent of the link */
#define GOALS_LEFT 1

struct class_goal {
	char *name;
	bool has_share, leftovers;
	struct hd_ratio share;
	hd_time latency; /* 0: no latency goal */
	uint32_t payload;
	uint32_t senders; /* of a latency class; 0: all other hosts */
	bool is_default, has_sl;
	uint8_t sl;
};

struct goals {
	struct class_goal items[N_SLS];
	unsigned n;
	struct plan_class classes[N_SLS]; /* same names as the goals */
};

/*
 * Parses YAML text; errors refer to its lines. HD_ERR_RANGE if the goals exceed
 * the capacity of a link; the message has the arithmetic and the nearest shares
 * that fit. Call goals_fini even after an error.
 */
HD_MUST_CHECK enum hd_status goals_read(const char *text, size_t len, uint32_t mtu, struct diag *d,
					struct goals *out);
HD_MUST_CHECK enum hd_status goals_load(const char *path, uint32_t mtu, struct diag *d,
					struct goals *out);
void goals_fini(struct goals *g);

/* Result of a class on a fabric. */
struct goal_verdict {
	double floor_latency; /* seconds: latency on an idle fabric, a lower bound */
	/* Seconds, if all senders together send the class's share; HUGE_VAL: no bound. */
	double bound;
	double share;   /* smallest share while the class wanted more; HUGE_VAL: none */
	double latency; /* seconds, maximum over all packets */
	uint32_t senders;
	bool met, missed; /* neither: mixes that decide it were not simulated */
};

/* A plan for goals, and its fabric. */
struct goals_case {
	const struct goals *goals;
	const struct plan *plan;
	const struct plan_link *link;
	const struct fabric *fabric;
	const char *name;                  /* name of the fabric, as for fabric_open */
	const struct overrides *overrides; /* overrides of the user; may be NULL */
	/*
	 * Reports the number of completed mixes during simulation; false ends
	 * the simulation. NULL: no progress is reported.
	 */
	bool (*progress)(void *context, double mixes);
	void *context;
};

/*
 * Computes the latency bounds of the plan on this fabric (floor_latency and
 * bound): the farthest senders of every latency class send to the first host
 * simultaneously. HD_ERR_RANGE, with the smallest possible value, if a class
 * requests less than the latency of its packets on an idle fabric, or more
 * senders than there are other hosts.
 */
HD_MUST_CHECK enum hd_status goals_bounds(const struct goals_case *c, struct diag *d,
					  struct goal_verdict *out);

/*
 * Simulates mixes of classes on the fabric. All classes share one host's link.
 * Classes with a share send continuously; the senders of a latency class send
 * its share in aligned bursts. Each mix is repeated with each class silent in
 * turn. *done is the number of mixes simulated to the end: goals_mixes, unless
 * progress ended the simulation.
 */
HD_MUST_CHECK enum hd_status goals_verify(const struct goals_case *c, struct diag *d,
					  struct goal_verdict *out, unsigned *done);
unsigned goals_mixes(const struct goals *g);

/*
 * Adds a table of verdicts after `done` mixes; values that were not simulated
 * are omitted.
 */
void goals_show(const struct goals *g, const struct goal_verdict *v, unsigned done,
		struct results *r);

#endif
