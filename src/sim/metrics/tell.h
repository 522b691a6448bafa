/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_METRICS_TELL_H
#define HD_SIM_METRICS_TELL_H

/*
 * What observers are told, in the order of the model (docs/timing-rules.md, M4),
 * whatever the engine's is. Internal to src/sim.
 *
 * What happens is noted by whoever computes it, each part for itself, and told
 * when nothing can come any more that stands before it: after each instant if
 * the run is one, else after a window.
 */

#include "sim/core/state.h"
#include "sim/metrics/metrics.h"

/* At one port and instant, in this order. */
enum telling_kind {
	TELLS_ENDED, /* by fate */
	TELLS_DELIVERED = SIM_FATES,
	TELLS_UPDATED,
	TELLS_GRANTED,
};

struct telling {
	hd_time at;
	uint64_t place; /* port, then kind and fate */
	uint64_t order; /* of its part */
	union {
		struct sim_packet packet;
		struct sim_update update;
	};
};

/* Ends are known ahead of their time, deliveries among them. */
void tell_ended(struct sim *s, const struct packet *p, const struct ending *e);
void tell_updated(struct sim *s, uint32_t port, const struct sim_update *u);
void tell_granted(struct sim *s, uint32_t port, const struct packet *p, bool lost);
/* All parts have noted what happens until then; `s` is the whole. */
void tell_until(struct sim *s, hd_time until);
void tellings_fini(struct sim *s);
/* What another process noted of its part; could it have? */
void telling_add(struct sim *part, const struct telling *t);
bool telling_is_sound(const struct sim *part, const struct telling *t);

#endif
