/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_QOS_ADMISSION_STAT_BROKER_H
#define HD_QOS_ADMISSION_STAT_BROKER_H

/*
 * Statistical admission link by link (thesis, 3.2): on-off sources are
 * admitted on every link of their path as long as the chance that a link is
 * asked for more than it has, by the bound of statistical.h, stays within what
 * is allowed; on all of them or on none.
 *
 * A simulation checks the promise: the admitted sources turn on and off
 * independently, and the time in which a link is overloaded is counted.
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

/* `share` of every link is for these sources; 0 < allowed < 1. */
void stat_broker_init(struct stat_broker *b, const struct subnet *s, double share, double allowed);
void stat_broker_fini(struct stat_broker *b);

struct stat_request {
	port_id source;
	lid_t dlid;
	uint8_t sl;
	double peak, mean; /* 0 < mean <= peak */
};

/*
 * HD_OK, or HD_ERR_FULL with the first link that would violate too often and
 * how often; HD_ERR_NOT_FOUND, HD_ERR_UNFIT: no path. In `d`.
 */
HD_MUST_CHECK enum hd_status stat_broker_admit(struct stat_broker *b, const struct stat_request *r,
					       struct diag *d);

/* The bound on the chance that the link of a port is asked for too much. */
double stat_broker_bound(const struct stat_broker *b, port_id port);
/* How many sources use it. */
uint32_t stat_broker_users(const struct stat_broker *b, port_id port);

/*
 * seen[port_id]: the part of the time in which each link was asked for more
 * than it has, while sources are on for exponential times of one unit in the
 * mean, and off accordingly, for `units` of them.
 */
void stat_broker_watch(const struct stat_broker *b, uint64_t seed, uint32_t units, double *seen);

/*
 * seen[port_id]: the same in the mean of independent runs that are long enough
 * to see violations of some per mille, with a 95 % interval.
 */
void stat_broker_survey(const struct stat_broker *b, uint64_t seed, struct interval *seen);

#endif
