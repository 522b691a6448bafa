/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_QOS_ADMISSION_ESTABLISH_H
#define HD_QOS_ADMISSION_ESTABLISH_H

/*
 * Filling a fabric with random connections until it takes no more: the
 * establishment period of paper 000.
 *
 * Each attempt draws a new SL, a bandwidth from the SL's range, a source and
 * another destination. No SL may run ahead of the others by more than a
 * tenth and a few connections, since the paper wants "more or less the same
 * number" of each. It ends when the number asked for is reached, or when some
 * SL has failed so often in a row that there is no hope for it.
 */

#include <stdint.h>

#include "qos/admission/broker.h"

struct establish_class {
	uint8_t sl;
	struct hd_rate_range rate;
};

struct establish_params {
	uint64_t seed;
	uint32_t tried;       /* connections asked for */
	uint32_t retries;     /* failures in a row that end it; the paper's "certain
				 number" */
	struct hd_ratio lead; /* of an SL, as a share of the last one's count */
	uint32_t lead_count;  /* ... and this many more */
	uint32_t payload;     /* bytes per packet */
	uint32_t overhead;    /* header bytes per packet, reserved too */
	struct establish_class classes[N_SLS];
	uint32_t n_classes;
};

/* Paper 000's four SLs with the ranges that it prints. */
struct establish_params broker_establish_defaults(void);

struct establish_result {
	uint32_t established;
	uint32_t per_class[N_SLS];
	uint64_t attempts;
	double payload_load; /* reserved, as a share of host links */
	double wire_load;    /* the same with overhead */
};

/*
 * Hosts are the subnet's CA ports. The connections stay in the broker.
 * HD_ERR_UNFIT if there are fewer than two.
 */
HD_MUST_CHECK enum hd_status establish(struct broker *b, const struct establish_params *params,
				       struct diag *d, struct establish_result *out);

#endif
