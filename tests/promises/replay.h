/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_TESTS_REPLAY_H
#define HD_TESTS_REPLAY_H

/*
 * The oracle and the engine on one setup. Separate from replay.c because
 * struct fabric is one thing there and another in tests/oracle.
 */

#include "base/strbuf.h"
#include "fabric/setup.h"

struct replay {
	const struct sim_setup *setup;
	const struct sim_arrival *arrivals;
	size_t n_arrivals;
	hd_time horizon;
};

/* Whether the records differ; `why` gets the first difference, *delivered the
 * number of packets that arrived. */
bool replay_differs(const struct replay *r, struct strbuf *why, size_t *delivered);

#endif
