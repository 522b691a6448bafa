/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_DOMAINS_REMOTE_MESSAGES_H
#define HD_SIM_DOMAINS_REMOTE_MESSAGES_H

/*
 * Messages of an endpoint's domain for a domain of another process. They are recorded during a
 * window and sent with the next mail (sim_endpoint.mail).
 */

#include "base/pack.h"
#include "base/units.h"

struct remote_message {
	hd_time when; /* what the endpoint makes of it, as the others */
	uint32_t id;
	uint8_t what;
};

struct remote_messages {
	struct remote_message *all;
	size_t n, cap;
};

void remote_messages_add(struct remote_messages *l, uint8_t what, uint32_t id, hd_time when);

/* Packs the contents of one message. */
typedef void remote_message_fn(void *context, struct pack *p, const struct remote_message *x);
/* Packs all messages; writing removes them from `l`, reading does not change it. */
void remote_messages_pack(struct remote_messages *l, struct pack *p, remote_message_fn *with,
			  void *context);
void remote_messages_fini(struct remote_messages *l);

#endif
