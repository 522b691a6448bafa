/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_QOS_ADMISSION_ESTABLISH_H
#define HD_QOS_ADMISSION_ESTABLISH_H

/*
 * Fills a fabric with random connections until it is full: the establishment period of paper
 * 000. Each attempt draws an SL, a bandwidth from the range of the SL, a source and a different
 * destination. No SL may be ahead of the others by more than a tenth and a few connections,
 * since the paper wants "more or less the same number" of each. It ends when the requested
 * number is reached, or when one SL has failed `retries` times in a row.
 */

#include <stdint.h>

#include "qos/admission/broker.h"

struct establish_class {
	uint8_t sl;
	struct hd_rate_range rate;
};

struct establish_params {
	uint64_t seed;
	uint32_t tried;   /* limit of attempts */
	uint32_t retries; /* consecutive failures that end an SL: "certain number" of the paper */
	struct hd_ratio lead; /* of an SL, relative to the smallest count */
	uint32_t lead_count;  /* plus this number of connections */
	uint32_t payload;     /* bytes per packet */
	uint32_t overhead;    /* header bytes per packet, also reserved */
	struct establish_class classes[N_SLS];
	uint32_t n_classes;
};

/* The four SLs of paper 000 with its bandwidth ranges. */
struct establish_params broker_establish_defaults(void);

struct establish_result {
	uint32_t established;
	uint32_t per_class[N_SLS];
	uint64_t attempts;
	double payload_load; /* reserved share of host links */
	double wire_load;    /* including overhead */
};

/*
 * Hosts are the CA ports of the subnet. The broker keeps the connections. HD_ERR_UNFIT with
 * fewer than two hosts.
 */
HD_MUST_CHECK enum hd_status establish(struct broker *b, const struct establish_params *params,
				       struct diag *d, struct establish_result *out);

#endif
