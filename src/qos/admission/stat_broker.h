/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_QOS_ADMISSION_STAT_BROKER_H
#define HD_QOS_ADMISSION_STAT_BROKER_H

/*
 * Statistical admission per link (thesis, 3.2). An on-off source is admitted on every link of
 * its path if the probability that the demand exceeds the capacity, by the bound of
 * statistical.h, stays within the allowed limit on each; otherwise on none. A simulation
 * verifies the result: admitted sources turn on and off independently, and the time in which
 * each link is overloaded is measured.
 */

#include "base/diag.h"
#include "measure/interval.h"
#include "qos/admission/statistical.h"
#include "qos/opensm/path.h"

struct stat_link {
	double capacity; /* b/s; 0: no link */
	struct stat_class *classes;
	unsigned n_classes;
	size_t cap;
};

struct stat_source {
	double peak, mean; /* b/s, on the wire */
	struct path path;
};

struct stat_broker {
	const struct subnet *subnet;
	double allowed;
	struct stat_link *links; /* per port_id */
	struct stat_source *sources;
	uint32_t n_sources;
	size_t cap;
};

/* `share` of each link is available to these sources; 0 < allowed < 1. */
void stat_broker_init(struct stat_broker *b, const struct subnet *s, double share, double allowed);
void stat_broker_fini(struct stat_broker *b);

struct stat_request {
	port_id source;
	lid_t dlid;
	uint8_t sl;
	double peak, mean; /* 0 < mean <= peak */
};

/*
 * HD_OK, or HD_ERR_FULL with the first link that would violate the limit and its probability;
 * HD_ERR_NOT_FOUND, HD_ERR_UNFIT: no path. The reason is in `d`.
 */
HD_MUST_CHECK enum hd_status stat_broker_admit(struct stat_broker *b, const struct stat_request *r,
					       struct diag *d);

/* Bound on the probability that the link of a port is overloaded. */
double stat_broker_bound(const struct stat_broker *b, port_id port);
/* Number of sources that use the link. */
uint32_t stat_broker_users(const struct stat_broker *b, port_id port);

/*
 * seen[port_id]: fraction of time in which each link is overloaded, in a simulation of `units`
 * time units; the on-times of sources are exponential with a mean of one unit, the off-times
 * follow from the mean rate.
 */
void stat_broker_watch(const struct stat_broker *b, uint64_t seed, uint32_t units, double *seen);

/*
 * seen[port_id]: mean of stat_broker_watch over independent runs that are long enough for
 * violations of some per mille, with a 95 % interval.
 */
void stat_broker_survey(const struct stat_broker *b, uint64_t seed, struct interval *seen);

#endif
