/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_QOS_ADMISSION_ADMISSION_H
#define HD_QOS_ADMISSION_ADMISSION_H

/*
 * Admission of a file of requests in a routed subnet: loads existing reservations, processes the
 * requests (or random ones) in order, audits the broker, and can save the resulting
 * reservations. With `violations`, sources are on-off and admitted statistically
 * (qos/admission/stat_broker.h); the results also show which requests would be admitted by their
 * peak, and a simulation measures how often links are overloaded.
 */

#include "base/option.h"
#include "measure/results.h"
#include "qos/admission/broker.h"
#include "qos/admission/establish.h"
#include "qos/admission/requests.h"
#include "qos/admission/stat_broker.h"
#include "qos/admission/target.h"

struct admission_params {
	struct broker_params broker;
	struct qos_terms terms;
	/* Accepted fraction of time in which a link is overloaded; num 0: never. */
	struct hd_ratio violations;
	const char *load, *save; /* reservation files, or NULL */
	const char *tables;      /* output file of port tables (qos/opensm/port_conf.h), or NULL */
	uint64_t random;         /* number of random connections to try */
	uint64_t seed;
};

struct admission_answer {
	const struct qos_request *request;
	bool admitted;
	uint32_t connection; /* broker connection, if admitted by peak */
	bool by_peak;        /* with violations: whether the peak would be admitted */
	char *reason;        /* "" if admitted */
};

struct admission {
	struct subnet *subnet;
	struct admission_params params;
	struct broker broker;
	const struct qos_requests *requests; /* or NULL */
	struct admission_answer *answers;    /* per request */
	size_t n_answers;
	struct establish_result random;
	/* With violations only. */
	struct stat_broker tolerant;
	struct interval *seen; /* by port */
	unsigned refused;
};

/*
 * Performs the admission. Subnet and requests (NULL: none) must outlive `a`; the groups of the
 * parameters are added to the subnet. On failure nothing is saved and nothing has to be freed.
 */
HD_MUST_CHECK enum hd_status admission_run(struct admission *a, struct subnet *s,
					   const struct admission_params *p,
					   const struct qos_requests *requests, struct diag *d);
void admission_fini(struct admission *a);

/* Load of the links. */
struct admission_load {
	port_id fullest;
	double most, mean; /* per cent of a link's slots */
};
struct admission_load admission_load_of(const struct broker *b);

/* Whether all requests were granted and no link is overloaded. */
bool admission_met(const struct admission *a);

/* Adds a table of the standing connections, if any (admission_tables.c). */
void admission_show_jobs(const struct broker *b, struct results *r);
/* Adds tables of jobs, answers, random connections, groups and links (admission_tables.c). */
void admission_show(const struct admission *a, struct results *r);
/*
 * Adds tables of answers with bounds, of the parts of paths across subnets, and of hops with
 * delays and buffers (latency_tables.c).
 */
void admission_show_bounds(const struct admission *a, struct results *r);

#endif
