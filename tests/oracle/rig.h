/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_TESTS_RIG_H
#define HD_TESTS_RIG_H

/*
 * A few hosts and packets, for times worked out by hand from docs/timing-rules.md.
 *
 * Unless a test says otherwise a byte takes 1 ps on every link, so that D is
 * the number of bytes; P is 5 ps; switches are input-queued and voq with
 * r = a = 0; a tick is 1 ps. An update (6 bytes) takes 6 ps, hence a credit
 * is usable 5 + 6 = 11 ps after its space came free.
 */

#include "fabric.h"
#include "oracle.h"

#define MAX_ARRIVALS 64
#define HORIZON      4000
#define LOST         UINT64_C(999999) /* no event of this packet */

static const struct hd_rate byte_per_ps = { UINT64_C(8000000000000), 1 };

struct rig {
	struct fabric f;
	struct sim_arrival arrivals[MAX_ARRIVALS];
	size_t n_arrivals;
	struct sim_record record;
	struct oracle_stats stats;
};

/* Two hosts and a cable. */
void rig_pair(struct rig *r, uint32_t in_blocks, uint8_t vls);
/* Switch 0 with host k (LID k, end k - 1) on port k = 1 .. n. */
void rig_star(struct rig *r, unsigned n, uint32_t in_blocks, uint8_t vls);
/* A packet; the caller may change it. */
struct sim_arrival *rig_send(struct rig *r, hd_time time, uint32_t end, lid_t dlid, uint32_t bytes);
/* Sends `times` packets at once from the first host to the second. */
void rig_send_on(struct rig *r, uint8_t sl, unsigned times, uint32_t bytes);
void rig_run(struct rig *r);
void rig_fini(struct rig *r);
/* When packet `flow` met `fate`, anywhere or at one port. */
hd_time rig_when(const struct rig *r, uint32_t flow, enum sim_fate fate, uint32_t where);
hd_time rig_delivered(const struct rig *r, uint32_t flow);

#endif
