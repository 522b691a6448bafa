/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>

#include "live/verbs/verbs_internal.h"

/*
 * Memory windows (InfiniBand Architecture Specification, 10.6.7). A window has a row of the table
 * of regions; the row has a key while the window is bound. Type 1 is bound by ibv_bind_mw, which
 * also replaces and ends a binding. Type 2 is bound to a queue pair (2B) by a work request with a
 * key of the program's choice, and stays bound until that key is invalidated.
 */

struct memory_window {
	struct ibv_mw ibv;
	int32_t index;
	int32_t region; /* region of the binding, or NO_INDEX: never bound */
	struct memory_window *next;
};

static pthread_mutex_t windows_lock = PTHREAD_MUTEX_INITIALIZER;
static struct memory_window *windows;

static struct memory_window *window_of(struct ibv_mw *mw)
{
	return container(mw, struct memory_window, ibv);
}

static struct shared_region *row_of(const struct memory_window *w)
{
	return &verbs_adapter.memory->regions[w->index];
}

struct ibv_mw *verbs_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
	struct memory_window *w = calloc(1, sizeof(*w));
	int error = w ? 0 : ENOMEM;

	if (!error && context_is_inherited(pd->context))
		error = EPERM;
	if (!error && !verbs_has_extensions())
		error = EOPNOTSUPP;
	if (!error && type != IBV_MW_TYPE_1 && type != IBV_MW_TYPE_2)
		error = EINVAL;
	if (!error) {
		w->index = verbs_key_alloc(&w->ibv.rkey);
		error = w->index == NO_INDEX ? ENOMEM : 0;
	}
	if (error) {
		free(w);
		errno = error;
		return NULL;
	}
	w->region = NO_INDEX;
	w->ibv.context = pd->context;
	w->ibv.pd = pd;
	w->ibv.handle = (uint32_t)w->index;
	w->ibv.type = type;
	container(pd, struct pd, ibv)->users++;
	pthread_mutex_lock(&windows_lock);
	w->next = windows;
	windows = w;
	pthread_mutex_unlock(&windows_lock);
	return &w->ibv;
}

int verbs_dealloc_mw(struct ibv_mw *mw)
{
	struct memory_window *w = window_of(mw);
	struct memory_window **link = &windows;

	pthread_mutex_lock(&windows_lock);
	while (*link && *link != w)
		link = &(*link)->next;
	if (*link)
		*link = w->next;
	pthread_mutex_unlock(&windows_lock);
	if (!context_is_inherited(mw->context))
		verbs_key_free(w->index);
	container(mw->pd, struct pd, ibv)->users--;
	free(w);
	return 0;
}

bool verbs_region_has_windows(int32_t index)
{
	bool has = false;

	pthread_mutex_lock(&windows_lock);
	for (const struct memory_window *w = windows; w; w = w->next)
		has |= w->region == index && atomic_load(&row_of(w)->key) != 0;
	pthread_mutex_unlock(&windows_lock);
	return has;
}

void verbs_windows_forget(void)
{
	pthread_mutex_init(&windows_lock, NULL);
	windows = NULL;
}

/* ---- work requests */

/* The window with that index, or NULL; with windows_lock. */
static struct memory_window *window_find(uint32_t key)
{
	struct memory_window *w = windows;

	while (w && (uint32_t)w->index != (key >> KEY_USE_BITS) - 1)
		w = w->next;
	return w;
}

/* True if the access flags of the region permit the binding. */
static bool may_bind(const struct window_bind *b, uint32_t pd)
{
	const struct key_range span = { b->lkey, b->addr, b->length };
	uint32_t needs = IBV_ACCESS_MW_BIND;
	uint64_t where;

	if (b->access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC))
		needs |= IBV_ACCESS_LOCAL_WRITE;
	return !(b->access & ~(uint32_t)(GRANTED_ACCESS | IBV_ACCESS_ZERO_BASED)) &&
	       verbs_region_find(verbs_adapter.memory, pd, &span, needs, &where);
}

static bool bind(const struct soft_qp *q, const struct window_bind *b)
{
	uint32_t pd = container(q->ibv.pd, struct pd, ibv)->id;
	struct memory_window *w = window_find(b->window);
	uint64_t where = 0;

	if (!w || container(w->ibv.pd, struct pd, ibv)->id != pd)
		return false;
	struct shared_region *row = row_of(w);
	bool is_type_2 = w->ibv.type == IBV_MW_TYPE_2;

	if (is_type_2 && (atomic_load(&row->key) != 0 || b->length == 0 ||
			  (b->key >> KEY_USE_BITS) - 1 != (uint32_t)w->index))
		return false;
	if (b->length > 0 && !may_bind(b, pd))
		return false;
	atomic_store(&row->key, 0);
	if (b->length == 0)
		return true;
	verbs_region_find(verbs_adapter.memory, pd,
			  &(struct key_range){ b->lkey, b->addr, b->length }, 0, &where);
	w->region = (int32_t)((b->lkey >> KEY_USE_BITS) - 1);
	row->pd = pd;
	row->access = b->access & (uint32_t)REMOTE_ACCESS;
	row->iova = (b->access & IBV_ACCESS_ZERO_BASED) ? 0 : b->addr;
	row->start = where;
	row->length = b->length;
	row->is_window = 1;
	row->qpn = is_type_2 ? q->ibv.qp_num : 0;
	atomic_store_explicit(&row->key, b->key, memory_order_release);
	return true;
}

enum ibv_wc_status verbs_window_bind(const struct soft_qp *q, const struct window_bind *b)
{
	pthread_mutex_lock(&windows_lock);
	bool is_bound = bind(q, b);

	pthread_mutex_unlock(&windows_lock);
	return is_bound ? IBV_WC_SUCCESS : IBV_WC_MW_BIND_ERR;
}

bool verbs_window_invalidate(struct program_memory *m, uint32_t key, uint32_t pd, uint32_t qpn)
{
	uint32_t index = (key >> KEY_USE_BITS) - 1;

	if (index >= MAX_REGIONS)
		return false;
	struct shared_region *row = &m->regions[index];

	/* The row of a type 2 window stores the number of its queue pair. */
	return row->is_window && row->qpn == qpn && row->pd == pd &&
	       atomic_compare_exchange_strong(&row->key, &key, 0);
}

/* ---- type 1: the call chooses the key */

int verbs_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind_info)
{
	uint32_t key = ibv_inc_rkey(mw->rkey);
	struct ibv_send_wr *bad, wr = { .wr_id = bind_info->wr_id,
					.opcode = IBV_WR_BIND_MW,
					.send_flags = bind_info->send_flags };

	wr.bind_mw.mw = mw;
	wr.bind_mw.rkey = key;
	wr.bind_mw.bind_info = bind_info->bind_info;
	int error = post_send(qp, &wr, &bad);

	if (!error)
		mw->rkey = key;
	return error;
}
