/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_DOMAINS_LETTERS_H
#define HD_SIM_DOMAINS_LETTERS_H

/*
 * What an endpoint's part has to say to a part that another process computes,
 * noted while they are at work and sent with the next mail
 * (sim_endpoint.mail).
 */

#include "base/pack.h"
#include "base/units.h"

struct letter {
	hd_time when; /* what the endpoint makes of it, as the others */
	uint32_t id;
	uint8_t what;
};

struct letters {
	struct letter *all;
	size_t n, cap;
};

void letters_add(struct letters *l, uint8_t what, uint32_t id, hd_time when);

/* A letter that was written or read: what goes with it. */
typedef void letter_fn(void *context, struct pack *p, const struct letter *x);
/* All of them, which are none from then on; reading leaves `l` alone. */
void letters_pack(struct letters *l, struct pack *p, letter_fn *with, void *context);
void letters_fini(struct letters *l);

#endif
