/* SPDX-License-Identifier: BSD-2-Clause */
#include "../oracle/compare.h"
#include "replay.h"

bool replay_differs(const struct replay *r, struct strbuf *why, size_t *delivered)
{
	/* Times keep to no tick: the oracle looks at all that are due. */
	const struct oracle_case c = { .setup = r->setup,
				       .arrivals = r->arrivals,
				       .n_arrivals = r->n_arrivals,
				       .horizon = r->horizon,
				       .jumps = true };
	struct sim_record want, got;
	struct oracle_stats stats;

	oracle_run(&c, ORACLE_TRUE, &want, &stats);
	sim_replay(r->setup, r->arrivals, r->n_arrivals, r->horizon, &got);
	*delivered = 0;
	for (size_t i = 0; i < want.n_events; i++)
		*delivered += want.events[i].fate == SIM_DELIVERED;
	bool differs = records_differ(&want, &got, r->setup->n_ports, why);

	oracle_record_fini(&want);
	sim_record_fini(&got);
	return differs;
}
