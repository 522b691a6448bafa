/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CLI_QOS_TOLERANT_H
#define HD_CLI_QOS_TOLERANT_H

/*
 * qos admit --violations: what statistical admission grants beside the
 * deterministic one, and how often its links are asked for too much.
 */

#include "measure/results.h"
#include "qos/stat_broker.h"

struct tolerant_answer {
	const char *source, *destination;
	unsigned sl;
	struct hd_rate peak, mean;
	bool admitted, by_peak;
	const char *reason;
};

struct table *tolerant_requests(struct results *r);
void tolerant_put(struct table *t, const struct tolerant_answer *a);

/*
 * The links that more than one source uses, with what was asked for, the bound
 * and what was seen; false if more was seen than asked for.
 */
bool tolerant_links(struct results *r, const struct stat_broker *b,
		    uint64_t seed);

#endif
