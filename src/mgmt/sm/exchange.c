/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "mgmt/sm/sm_internal.h"
#include "wire/cursor.h"

/*
 * Outstanding SMPs. The lower half of a TID is an index in sent[] below a counter, so that a late
 * response does not match a newer request.
 */

enum { WINDOW = 128, WINDOW_BITS = 7 };

void sm_exchange_init(struct sm *m)
{
	m->sent = hd_alloc(WINDOW, sizeof(*m->sent));
	m->free_sent = hd_alloc(WINDOW, sizeof(*m->free_sent));
	for (uint32_t i = 0; i < WINDOW; i++)
		m->free_sent[m->n_free++] = i;
}

void sm_exchange_fini(struct sm *m)
{
	free(m->sent);
	free(m->free_sent);
	free(m->waiting);
}

static void transmit(const struct sm *m, const struct sm_smp *smp)
{
	struct mad_header h = {
		.mgmt_class = MAD_SMP_DIRECT,
		.method = smp->method,
		.attribute = smp->attribute,
		.modifier = smp->modifier,
		.hop_count = smp->path[0],
		.tid = smp->tid,
	};
	struct mad_address to = { .lid = LID_PERMISSIVE };
	uint8_t mad[MAD_SIZE];

	mad_write(&h, mad);
	store_be16(mad + DR_SLID, LID_PERMISSIVE);
	store_be16(mad + DR_DLID, LID_PERMISSIVE);
	memcpy(mad + DR_INITIAL_PATH + 1, smp->path + 1, smp->path[0]);
	memcpy(mad + mad_class(MAD_SMP_DIRECT)->data, smp->data, BLOCK);
	m->events.send(m->events.context, &to, mad, MAD_SIZE, true);
}

/* Fills the window. */
static void fill_window(struct sm *m)
{
	while (m->n_free > 0 && m->next_waiting < m->n_waiting) {
		uint32_t place = m->free_sent[--m->n_free];

		m->sent[place] = m->waiting[m->next_waiting++];
		m->sent[place].tid = ++m->turn << WINDOW_BITS | place;
		transmit(m, &m->sent[place]);
	}
	if (m->next_waiting == m->n_waiting)
		m->next_waiting = m->n_waiting = 0;
}

static bool is_idle(const struct sm *m)
{
	return m->n_waiting == 0 && m->n_free == WINDOW;
}

static void check_idle(struct sm *m)
{
	void (*on_idle)(struct sm *) = m->on_idle;

	if (!is_idle(m) || !on_idle)
		return;
	m->on_idle = NULL;
	on_idle(m);
}

void sm_exchange_send(struct sm *m, const struct sm_smp *smp)
{
	m->waiting = hd_grow(m->waiting, &m->waiting_cap, m->n_waiting + 1, sizeof(*m->waiting));
	m->waiting[m->n_waiting++] = *smp;
}

void sm_exchange_when_done(struct sm *m, void (*on_idle)(struct sm *m))
{
	m->on_idle = on_idle;
	fill_window(m);
	check_idle(m);
}

static void complete(struct sm *m, const uint8_t *mad, bool is_answer)
{
	uint32_t tid = (uint32_t)load_be64(mad + MAD_TID);
	uint32_t place = tid & (WINDOW - 1);
	struct sm_smp smp = m->sent[place];

	/* Dropped, or a duplicate response. */
	if (!smp.done || smp.tid != tid)
		return;
	m->sent[place].done = NULL;
	m->free_sent[m->n_free++] = place;
	bool good = is_answer && (load_be16(mad + MAD_STATUS) & ~MAD_DIRECTION) == MAD_OK;

	/* The next sweep tries again. */
	m->incomplete |= !good;
	smp.done(m, &smp, good ? mad : NULL);
	fill_window(m);
	check_idle(m);
}

void sm_exchange_response(struct sm *m, const uint8_t *mad)
{
	complete(m, mad, true);
}

void sm_exchange_timeout(struct sm *m, const uint8_t *mad)
{
	complete(m, mad, false);
}

void sm_exchange_drop(struct sm *m)
{
	m->n_waiting = m->next_waiting = 0;
	m->on_idle = NULL;
	for (uint32_t i = 0; i < WINDOW; i++) {
		if (!m->sent[i].done)
			continue;
		m->sent[i].done = NULL;
		m->free_sent[m->n_free++] = i;
	}
}
