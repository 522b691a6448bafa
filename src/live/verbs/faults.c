/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "live/protocol.h"
#include "live/verbs/verbs_internal.h"

/*
 * Faults injected by 'heddle live fault'. Each fault counts the events that it can apply to:
 * posted work requests, executed requests, polls that find a completion. `after`, `times`,
 * `chance` and `seed` alone determine the events that it hits, so a program that repeats its
 * actions gets the same faults.
 */

enum { MAX_FAULTS = 64 };

static struct {
	pthread_mutex_t lock;
	_Atomic uint32_t n;
	struct fault {
		struct live_fault rule;
		uint64_t seen, hits;
	} list[MAX_FAULTS];
} faults = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Hash of seed and event (the finaliser of MurmurHash3). */
static uint32_t draw(uint64_t seed, uint64_t event)
{
	uint64_t x = seed * UINT64_C(0x9E3779B97F4A7C15) + event;

	x = (x ^ x >> 33) * UINT64_C(0xFF51AFD7ED558CCD);
	x = (x ^ x >> 33) * UINT64_C(0xC4CEB9FE1A85EC53);
	return (uint32_t)(x >> 32);
}

static bool hits(struct fault *f)
{
	uint64_t event = f->seen++;

	if (event < f->rule.after || (f->rule.times && f->hits >= f->rule.times) ||
	    (f->rule.chance && draw(f->rule.seed, event) > f->rule.chance))
		return false;
	f->hits++;
	return true;
}

/* Returns the first fault with that action that hits; every matching fault counts the event. */
static bool find(enum live_fault_action action, uint32_t qpn, struct live_fault *out)
{
	bool found = false;

	pthread_mutex_lock(&faults.lock);
	for (uint32_t i = 0; i < faults.n; i++) {
		struct fault *f = &faults.list[i];

		if (f->rule.action != action || (f->rule.qpn && f->rule.qpn != qpn) ||
		    (f->rule.process && f->rule.process != getpid()) || !hits(f) || found)
			continue;
		*out = f->rule;
		found = true;
	}
	pthread_mutex_unlock(&faults.lock);
	return found;
}

static bool is_any(void)
{
	return atomic_load_explicit(&faults.n, memory_order_relaxed) != 0;
}

void verbs_faults_load(void)
{
	struct live_fault rules[MAX_FAULTS];
	struct daemon_reply t = { .text = rules, .size = sizeof(rules), .file = -1 };

	if (verbs_daemon_call(LIVE_ASK_FAULTS, NULL, 0, &t) != 0)
		return;
	pthread_mutex_lock(&faults.lock);
	uint32_t n = (uint32_t)(t.size / sizeof(rules[0])), old = faults.n;
	struct fault before[MAX_FAULTS];

	memcpy(before, faults.list, sizeof(before));
	for (uint32_t i = 0; i < n; i++) {
		/* cppcheck-suppress uninitvar ; verbs_daemon_call fills them */
		faults.list[i] = (struct fault){ .rule = rules[i] };
		/* Faults that stay keep their counts. */
		for (uint32_t k = 0; k < old; k++)
			if (before[k].rule.id == rules[i].id)
				faults.list[i] = before[k];
	}
	atomic_store(&faults.n, n);
	pthread_mutex_unlock(&faults.lock);
}

void verbs_faults_forget(void)
{
	pthread_mutex_init(&faults.lock, NULL);
	atomic_store(&faults.n, 0);
}

/* ---- application */

int verbs_fault_post(struct soft_qp *q)
{
	struct live_fault f;

	if (!is_any())
		return 0;
	if (find(LIVE_FAULT_POST, q->ibv.qp_num, &f))
		return (int)f.value;
	if (find(LIVE_FAULT_QP_ERROR, q->ibv.qp_num, &f))
		verbs_qp_fail(q, (enum ibv_event_type)f.value);
	if (find(LIVE_FAULT_DEVICE, q->ibv.qp_num, &f)) {
		/*
		 * The background thread does the rest, because it may take the locks of all queue
		 * pairs.
		 */
		const struct notification fatal = { NEWS_DEVICE, 0, f.value, 0 };

		atomic_store(&verbs_adapter.has_failed, true);
		verbs_qp_fail(q, (enum ibv_event_type)NO_EVENT);
		verbs_peer_notify(verbs_adapter.self, &fatal);
	}
	return 0;
}

bool verbs_fault_complete(const struct soft_qp *q, enum ibv_wc_status *status)
{
	struct live_fault f;

	if (!is_any() || !find(LIVE_FAULT_COMPLETE, q->ibv.qp_num, &f))
		return false;
	*status = (enum ibv_wc_status)f.value;
	return true;
}

bool verbs_fault_is_not_ready(struct soft_qp *q)
{
	struct live_fault f;

	if (q->not_ready_until && verbs_now_ns() < q->not_ready_until)
		return true;
	q->not_ready_until = 0;
	if (!is_any() || !find(LIVE_FAULT_RNR, q->ibv.qp_num, &f))
		return false;
	q->not_ready_until = verbs_now_ns() + f.time;
	return f.time > 0;
}

bool verbs_fault_hides(struct cq *cq)
{
	struct live_fault f;
	uint64_t until = atomic_load(&cq->hidden_until);

	if (until && verbs_now_ns() < until)
		return true;
	if (until) {
		atomic_store(&cq->hidden_until, 0);
		return false;
	}
	if (!is_any() || !verbs_cq_has_any(cq) || !find(LIVE_FAULT_DELAY, 0, &f))
		return false;
	atomic_store(&cq->hidden_until, verbs_now_ns() + f.time);
	return f.time > 0;
}
