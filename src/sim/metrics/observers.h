/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_METRICS_OBSERVERS_H
#define HD_SIM_METRICS_OBSERVERS_H

/*
 * Notifications of observers, in the order of the model (docs/timing-rules.md, M4), independent of
 * the engine's order. Internal to src/sim.
 *
 * Each domain queues its notifications. Observers are notified when no earlier one is possible:
 * after each instant with one domain, otherwise after a window.
 */

#include "sim/core/sim_internal.h"
#include "sim/metrics/metrics.h"

/* At one port and instant, in this order. */
enum observer_event_kind {
	OBSERVE_ENDED, /* by fate */
	OBSERVE_DELIVERED = SIM_FATES,
	OBSERVE_UPDATED,
	OBSERVE_GRANTED,
};

struct observer_event {
	hd_time at;
	uint64_t place; /* port, then kind and fate */
	uint64_t order; /* of its part */
	union {
		struct sim_packet packet;
		struct sim_update update;
	};
};

/* Ends of packets, including deliveries, are known before their time. */
void observers_ended(struct sim *s, const struct packet_record *p, const struct ending *e);
void observers_updated(struct sim *s, uint32_t port, const struct sim_update *u);
void observers_granted(struct sim *s, uint32_t port, const struct packet_record *p, bool lost);
/*
 * Notifies observers up to this time, when all domains have queued their notifications; `s` is the
 * whole.
 */
void observers_notify_until(struct sim *s, hd_time until);
void observers_fini(struct sim *s);
/* Adds a notification of a domain in another process; and whether it is possible. */
void observers_add(struct sim *part, const struct observer_event *t);
bool observers_event_is_valid(const struct sim *part, const struct observer_event *t);

#endif
