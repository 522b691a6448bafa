/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "mgmt/sm/sm_internal.h"
#include "wire/cursor.h"

/*
 * SMPs under way. The lower half of a TID is the place in sent[] and a count
 * above it, so that a late answer is not taken for that of a later request.
 */

enum { WINDOW = 128, WINDOW_BITS = 7 };

void exchange_init(struct manager *m)
{
	m->sent = hd_alloc(WINDOW, sizeof(*m->sent));
	m->free_sent = hd_alloc(WINDOW, sizeof(*m->free_sent));
	for (uint32_t i = 0; i < WINDOW; i++)
		m->free_sent[m->n_free++] = i;
}

void exchange_fini(struct manager *m)
{
	free(m->sent);
	free(m->free_sent);
	free(m->waiting);
}

static void transmit(const struct manager *m, const struct smp *smp)
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

/* As many as there is room for. */
static void go_on(struct manager *m)
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

static bool is_idle(const struct manager *m)
{
	return m->n_waiting == 0 && m->n_free == WINDOW;
}

static void look_if_done(struct manager *m)
{
	void (*then)(struct manager *) = m->then;

	if (!is_idle(m) || !then)
		return;
	m->then = NULL;
	then(m);
}

void exchange_ask(struct manager *m, const struct smp *smp)
{
	m->waiting = hd_grow(m->waiting, &m->waiting_cap, m->n_waiting + 1, sizeof(*m->waiting));
	m->waiting[m->n_waiting++] = *smp;
}

void exchange_when_done(struct manager *m, void (*then)(struct manager *m))
{
	m->then = then;
	go_on(m);
	look_if_done(m);
}

static void finish(struct manager *m, const uint8_t *mad, bool is_answer)
{
	uint32_t tid = (uint32_t)load_be64(mad + MAD_TID);
	uint32_t place = tid & (WINDOW - 1);
	struct smp smp = m->sent[place];

	/* One that was dropped, or is answered already. */
	if (!smp.done || smp.tid != tid)
		return;
	m->sent[place].done = NULL;
	m->free_sent[m->n_free++] = place;
	bool good = is_answer && (load_be16(mad + MAD_STATUS) & ~MAD_DIRECTION) == MAD_OK;

	/* Its node, or what it was to have, is looked after again later. */
	m->unsure |= !good;
	smp.done(m, &smp, good ? mad : NULL);
	go_on(m);
	look_if_done(m);
}

void exchange_answered(struct manager *m, const uint8_t *mad)
{
	finish(m, mad, true);
}

void exchange_lost(struct manager *m, const uint8_t *mad)
{
	finish(m, mad, false);
}

void exchange_drop(struct manager *m)
{
	m->n_waiting = m->next_waiting = 0;
	m->then = NULL;
	for (uint32_t i = 0; i < WINDOW; i++) {
		if (!m->sent[i].done)
			continue;
		m->sent[i].done = NULL;
		m->free_sent[m->n_free++] = i;
	}
}
