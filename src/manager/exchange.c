/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "manager/state.h"
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
	free(m->jobs);
}

static void transmit(const struct manager *m, const struct job *j)
{
	struct mad_header h = {
		.mgmt_class = MAD_SMP_DIRECT,
		.method = j->method,
		.attribute = j->attribute,
		.modifier = j->modifier,
		.hop_count = j->path[0],
		.tid = j->tid,
	};
	struct mad_address to = { .lid = LID_PERMISSIVE };
	uint8_t mad[MAD_SIZE];

	mad_write(&h, mad);
	store_be16(mad + DR_SLID, LID_PERMISSIVE);
	store_be16(mad + DR_DLID, LID_PERMISSIVE);
	memcpy(mad + DR_INITIAL_PATH + 1, j->path + 1, j->path[0]);
	memcpy(mad + mad_class(MAD_SMP_DIRECT)->data, j->data, BLOCK);
	m->events.send(m->events.context, &to, mad, MAD_SIZE, true);
}

/* As many as there is room for. */
static void go_on(struct manager *m)
{
	while (m->n_free > 0 && m->next_job < m->n_jobs) {
		uint32_t place = m->free_sent[--m->n_free];

		m->sent[place] = m->jobs[m->next_job++];
		m->sent[place].tid = ++m->turn << WINDOW_BITS | place;
		transmit(m, &m->sent[place]);
	}
	if (m->next_job == m->n_jobs)
		m->next_job = m->n_jobs = 0;
}

static bool is_idle(const struct manager *m)
{
	return m->n_jobs == 0 && m->n_free == WINDOW;
}

static void look_if_done(struct manager *m)
{
	void (*then)(struct manager *) = m->then;

	if (!is_idle(m) || !then)
		return;
	m->then = NULL;
	then(m);
}

void exchange_ask(struct manager *m, const struct job *j)
{
	m->jobs =
		hd_grow(m->jobs, &m->jobs_cap, m->n_jobs + 1, sizeof(*m->jobs));
	m->jobs[m->n_jobs++] = *j;
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
	struct job j = m->sent[place];

	/* One that was dropped, or is answered already. */
	if (!j.done || j.tid != tid)
		return;
	m->sent[place].done = NULL;
	m->free_sent[m->n_free++] = place;
	bool good = is_answer &&
		    (load_be16(mad + MAD_STATUS) & ~MAD_DIRECTION) == MAD_OK;

	/* Its node, or what it was to have, is looked after again later. */
	m->unsure |= !good;
	j.done(m, &j, good ? mad : NULL);
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
	m->n_jobs = m->next_job = 0;
	m->then = NULL;
	for (uint32_t i = 0; i < WINDOW; i++) {
		if (!m->sent[i].done)
			continue;
		m->sent[i].done = NULL;
		m->free_sent[m->n_free++] = i;
	}
}
