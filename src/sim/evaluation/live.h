/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_EVALUATION_LIVE_H
#define HD_SIM_EVALUATION_LIVE_H

/*
 * Admission while a simulation runs: an accepted connection changes the
 * arbitration tables of the ports on its way at that instant, a release gives
 * them back what they were. Entries stay at their places, so that the turns of
 * other lanes go on as they were; what others can put before a lane never
 * exceeds what the fuller of the two tables allows.
 *
 *	live_init(&live, &broker, build.port_of_origin);
 *	sim = sim_new(...);
 *	live.sim = sim;
 *	... in a timer: live_admit(&live, &request, &id, &why)
 *
 * Broker and simulation are borrowed. The broker must not be in mode paper.
 */

#include "qos/broker.h"
#include "sim/sim.h"

struct live {
	struct broker *broker;
	struct sim *sim;
	const uint32_t *port_of_origin; /* sim port per topology port */
	uint8_t high_limit;
	uint64_t changes; /* tables programmed so far */
};

/* Also gives the subnet the tables of now, for the simulation to start with. */
void live_init(struct live *l, struct broker *b, struct subnet *s,
	       const uint32_t *port_of_origin);

HD_MUST_CHECK enum hd_status live_admit(struct live *l,
					const struct broker_request *request,
					uint32_t *id,
					struct broker_refusal *refusal);
HD_MUST_CHECK enum hd_status live_release(struct live *l, uint32_t id);

#endif
