/* SPDX-License-Identifier: BSD-2-Clause */
/* VL sharing at outputs of switches and routers, and at end ports with senders: B3, B7, B8, B9. */
#include "state.h"

void shares_init(struct oracle *o)
{
	for (uint32_t i = 0; i < o->setup->n_ports; i++) {
		struct share *s = &o->ports[i].share;

		for (int vl = 0; vl < N_DATA_VLS; vl++)
			s->user[vl] = NO_VL;
	}
}

static bool shares(const struct oracle *o, uint32_t port)
{
	return is_switch_port(o, port) ? o->setup->vl_sharing.switches : o->setup->vl_sharing.hosts;
}

static uint32_t count_jobs(const struct oracle *o, uint32_t port, uint32_t *jobs)
{
	return is_switch_port(o, port) ? ready_count(o, port, jobs)
				       : end_ready_count(o, port, jobs);
}

/* B3: number of additional VLs that `jobs` jobs entitle to. */
static unsigned entitlement(const struct oracle *o, unsigned vl, uint32_t jobs)
{
	const struct sim_vl_sharing *b = &o->setup->vl_sharing;
	unsigned of = o->mutation == MUT_SHARE_BY_VL0 ? 0 : vl, n = 0;

	for (unsigned k = 0; k < b->n_thresholds[of]; k++) {
		bool reached = jobs >= b->thresholds[of][k];

		if (o->mutation == MUT_SHARE_ABOVE_THRESHOLD)
			reached = jobs > b->thresholds[of][k];
		n += reached;
	}
	return n;
}

static void queue_leave(struct share *s, unsigned vl)
{
	unsigned n = 0;

	for (unsigned i = 0; i < s->n_queue; i++)
		if (s->queue[i] != vl)
			s->queue[n++] = s->queue[i];
	s->n_queue = n;
}

static bool is_queued(const struct share *s, unsigned vl)
{
	for (unsigned i = 0; i < s->n_queue; i++)
		if (s->queue[i] == vl)
			return true;
	return false;
}

/* B7, (a) */
static void give_back(struct oracle *o, struct share *s, unsigned vl, uint32_t jobs)
{
	unsigned may = entitlement(o, vl, jobs);

	while (s->n_held[vl] > may && o->mutation != MUT_SHARE_KEPT) {
		unsigned last = --s->n_held[vl];

		if (o->mutation == MUT_SHARE_FIRST_RETURNED) {
			s->user[s->held[vl][0]] = NO_VL;
			for (unsigned i = 0; i < last; i++)
				s->held[vl][i] = s->held[vl][i + 1];
			continue;
		}
		s->user[s->held[vl][last]] = NO_VL;
	}
	if (s->n_held[vl] >= may)
		queue_leave(s, vl);
}

static int free_vl(const struct oracle *o, uint32_t port, unsigned vl, const uint32_t *jobs)
{
	const struct share *s = &o->ports[port].share;
	int found = NO_VL;

	for (int w = 0; w < o->setup->ports[port].vls && w < N_DATA_VLS; w++) {
		bool busy = jobs[w] > 0 && o->mutation != MUT_SHARE_BUSY;

		if (!(o->setup->vl_sharing.shareable[vl] >> w & 1) || w == (int)vl || busy ||
		    s->user[w] != NO_VL)
			continue;
		if (found == NO_VL || o->mutation == MUT_SHARE_HIGHEST)
			found = w;
	}
	return found;
}

static void acquire(struct oracle *o, uint32_t port, unsigned vl, const uint32_t *jobs)
{
	struct share *s = &o->ports[port].share;
	unsigned may = entitlement(o, vl, jobs[vl]);

	while (s->n_held[vl] < may) {
		int w = free_vl(o, port, vl, jobs);

		if (w == NO_VL) {
			if (!is_queued(s, vl) && o->mutation != MUT_SHARE_NO_QUEUE)
				s->queue[s->n_queue++] = (uint8_t)vl;
			return;
		}
		s->user[w] = (int)vl;
		s->held[vl][s->n_held[vl]++] = (uint8_t)w;
		o->stats->shared++;
	}
	queue_leave(s, vl);
}

/* B7 */
void share_update(struct oracle *o, uint32_t port)
{
	struct share *s = &o->ports[port].share;
	uint32_t jobs[ALL_VLS] = { 0 };
	uint8_t queue[N_DATA_VLS];
	unsigned vls = o->setup->ports[port].vls, n;

	if (!shares(o, port) || count_jobs(o, port, jobs) == 0)
		return;
	for (unsigned vl = 0; vl < vls; vl++)
		give_back(o, s, vl, jobs[vl]);
	n = s->n_queue;
	for (unsigned i = 0; i < n; i++)
		queue[i] = s->queue[i];
	for (unsigned i = 0; i < n; i++)
		acquire(o, port, queue[i], jobs);
	for (unsigned vl = 0; vl < vls; vl++)
		acquire(o, port, vl, jobs);
}

/* B8 */
uint8_t share_source(const struct oracle *o, uint32_t port, uint8_t vl)
{
	uint32_t jobs[ALL_VLS] = { 0 };
	int user = vl < N_DATA_VLS ? o->ports[port].share.user[vl] : NO_VL;

	if (!shares(o, port) || user == NO_VL)
		return vl;
	count_jobs(o, port, jobs);
	if (o->mutation == MUT_SHARE_OWN_FIRST && jobs[vl] > 0)
		return vl;
	return jobs[user] > 0 ? (uint8_t)user : vl;
}

unsigned share_wanted(const struct oracle *o, uint32_t port, unsigned wanted)
{
	unsigned all = wanted;

	for (uint8_t vl = 0; shares(o, port) && vl < N_DATA_VLS; vl++)
		if (wanted >> share_source(o, port, vl) & 1)
			all |= 1u << vl;
	return all;
}
