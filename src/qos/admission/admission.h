/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_QOS_ADMISSION_ADMISSION_H
#define HD_QOS_ADMISSION_ADMISSION_H

/*
 * Admission of a whole file of requests over a routed subnet: what was reserved
 * before is taken in, the requests (or random ones) ask one after the other,
 * the books are audited, and what is reserved then can be saved.
 *
 * With `violations` sources are on and off and are admitted statistically
 * (qos/admission/stat_broker.h); the results also say whether their peaks would be
 * admitted, and a simulation measures how often their links are overloaded.
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
	/* Of the time that a link may be asked for too much; num 0: never. */
	struct hd_ratio violations;
	const char *load, *save; /* files of reservations, NULL for none */
	const char *tables;      /* file for the ports' tables (qos/opensm/port_conf.h), or NULL */
	uint64_t random;         /* connections to try, 0 for none */
	uint64_t seed;
};

struct admission_answer {
	const struct qos_request *request;
	bool admitted;
	uint32_t connection; /* of the broker, if it was admitted by peak */
	bool by_peak;        /* with violations: as all or nothing would have it */
	char *reason;        /* "" if admitted */
};

struct admission {
	struct subnet *subnet;
	struct admission_params params;
	struct broker broker;
	const struct qos_requests *requests; /* or NULL */
	struct admission_answer *answers;    /* by request */
	size_t n_answers;
	struct establish_result random;
	/* With violations. */
	struct stat_broker tolerant;
	struct interval *seen; /* by port */
	unsigned refused;
};

/*
 * Does all of it. Subnet and requests (NULL: no requests) outlive the
 * admission; the subnet's groups grow by those of the parameters. On failure
 * no reservations are saved and nothing is left to free.
 */
HD_MUST_CHECK enum hd_status admission_run(struct admission *a, struct subnet *s,
					   const struct admission_params *p,
					   const struct qos_requests *requests, struct diag *d);
void admission_fini(struct admission *a);

/* How full the links are. */
struct admission_load {
	port_id fullest;
	double most, mean; /* per cent of a link's slots */
};
struct admission_load admission_load_of(const struct broker *b);

/* Everything asked for was granted, and no link was asked for too much. */
bool admission_met(const struct admission *a);

/* A table of the standing connections, if there are any (admission_tables.c). */
void admission_show_jobs(const struct broker *b, struct results *r);
/* Jobs, answers, random ones, groups, and the links (admission_tables.c). */
void admission_show(const struct admission *a, struct results *r);
/*
 * Answers with bounds, the parts of ways across subnets, and all hops with
 * delays and buffers (latency_tables.c).
 */
void admission_show_bounds(const struct admission *a, struct results *r);

#endif
