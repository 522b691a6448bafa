/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_STUDY_GOALS_H
#define HD_STUDY_GOALS_H

/*
 * Goals as people say them, a plan that meets them, and the plan put to the
 * test on the fabric that it is for.
 *
 *	mpi: at least 70%
 *	mds: latency 20us, packets 256, senders 8
 *	backup: leftovers
 *
 * A class with a latency goes before the others; it is given the share that it
 * names, or GOALS_SOON. What is left over is what no other class wants at the
 * moment, and GOALS_LEFT for sure. Packets are of the MTU unless stated.
 * `senders` is how many hosts may send a packet of a latency class to one host
 * at the same time: all other hosts unless stated.
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
	hd_time latency; /* 0: not asked */
	uint32_t payload;
	uint32_t senders; /* of a latency class; 0: all other hosts */
	bool is_default, has_sl;
	uint8_t sl;
};

struct goals {
	struct class_goal items[N_SLS];
	unsigned n;
	struct plan_class classes[N_SLS]; /* of the same names */
};

/*
 * From YAML text, lines refer to it. HD_ERR_RANGE, with the arithmetic and the
 * nearest shares that fit, if there is more wanted than a link has. Free with
 * goals_fini even after a refusal.
 */
HD_MUST_CHECK enum hd_status goals_read(const char *text, size_t len, uint32_t mtu, struct diag *d,
					struct goals *out);
HD_MUST_CHECK enum hd_status goals_load(const char *path, uint32_t mtu, struct diag *d,
					struct goals *out);
void goals_fini(struct goals *g);

/* How a fabric judges a class. */
struct goal_verdict {
	double floor_latency; /* seconds: alone, and no sooner */
	/* Seconds, if its senders together send its share; HUGE_VAL: none. */
	double bound;
	double share;   /* the least that it had when it wanted more; HUGE_VAL */
	double latency; /* seconds, the longest of any packet */
	uint32_t senders;
	bool met, missed; /* neither: that takes mixes which are not done */
};

/* A plan for goals, and the fabric that it is for. */
struct goals_case {
	const struct goals *goals;
	const struct plan *plan;
	const struct plan_link *link;
	const struct fabric *fabric;
	const char *name;                  /* of the fabric, as fabric_open takes it */
	const struct overrides *overrides; /* of the user; or NULL */
	/*
	 * While it is simulated: how many mixes are done; false ends it. NULL:
	 * no progress is reported.
	 */
	bool (*progress)(void *context, double mixes);
	void *context;
};

/*
 * What the plan can do about latencies on this fabric (floor_latency and
 * bound): the senders of every latency class, the farthest ones, send to the
 * first host together. HD_ERR_RANGE, with the least that is possible, if a
 * class wants less than its packets take on an idle fabric, or more senders
 * than there are other hosts.
 */
HD_MUST_CHECK enum hd_status goals_bounds(const struct goals_case *c, struct diag *d,
					  struct goal_verdict *out);

/*
 * Simulates mixes on the fabric: all classes meet at one host's link, those
 * with a share sending without end; the senders of a latency class send its
 * share in aligned bursts. The same with each class silent. *done is how many
 * were simulated to their ends: goals_mixes, unless progress ended it.
 */
HD_MUST_CHECK enum hd_status goals_verify(const struct goals_case *c, struct diag *d,
					  struct goal_verdict *out, unsigned *done);
unsigned goals_mixes(const struct goals *g);

/*
 * A table of verdicts after this number of mixes; what was not simulated is left out.
 */
void goals_show(const struct goals *g, const struct goal_verdict *v, unsigned done,
		struct results *r);

#endif
