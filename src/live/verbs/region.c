/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "live/verbs/roce.h"

/* ---- memory regions */

struct region {
	struct ibv_mr ibv;
	int32_t index;
	struct shared_region *shared;
};

/* True if the whole range is mapped; hardware could not pin it otherwise. */
static bool is_mapped(const void *addr, size_t length)
{
	enum { BATCH = 4096 };
	unsigned char there[BATCH];
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uintptr_t at = (uintptr_t)addr / page * page;
	uintptr_t end = (uintptr_t)addr + length;

	while (at < end) {
		size_t span = (size_t)(end - at);

		if (span > BATCH * page)
			span = BATCH * page;
		if (mincore(at_address(at), span, there) != 0 && errno == ENOMEM)
			return false;
		at += span;
	}
	return true;
}

enum {
	WRITES = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC,
};

/* Pages of an on-demand region need not be mapped before they are used. RoCE has no such regions:
 * its transport reads and writes memory directly. */
static int check_region(const void *addr, size_t length, uint64_t iova, int access)
{
	bool is_on_demand = access & IBV_ACCESS_ON_DEMAND;

	if (access & ~KNOWN_ACCESS || (is_on_demand && verbs_is_roce()))
		return EOPNOTSUPP;
	if ((access & WRITES && !(access & IBV_ACCESS_LOCAL_WRITE)) ||
	    (uintptr_t)addr + length < (uintptr_t)addr || iova + length < iova)
		return EINVAL;
	return is_on_demand || is_mapped(addr, length) ? 0 : EFAULT;
}

/* ---- keys */

int32_t verbs_key_alloc(uint32_t *key)
{
	/* cppcheck-suppress unassignedVariable ; counted up below */
	/* cppcheck-suppress variableScope ; it outlives the call */
	static uint8_t uses[MAX_REGIONS];

	pthread_mutex_lock(&verbs_adapter.lock);
	int32_t index = verbs_id_alloc(&verbs_adapter.region_numbers);

	/* A key is never 0 and never the previous key of the index. */
	if (index != NO_INDEX)
		*key = ((uint32_t)index + 1) << KEY_USE_BITS |
		       ((++uses[index] + verbs_adapter.first_key_use) & 0xFF);
	pthread_mutex_unlock(&verbs_adapter.lock);
	return index;
}

/*
 * Invalidates the key and waits for accesses by peers under it: peers access memory while they
 * hold the lock of a queue pair.
 */
static void withdraw(int32_t index)
{
	atomic_store(&verbs_adapter.memory->regions[index].key, 0);
	if (verbs_is_roce())
		verbs_roce_quiesce();
	pthread_mutex_lock(&verbs_adapter.lock);
	for (uint32_t i = 0, seen = 0; seen < verbs_adapter.qp_numbers.used; i++) {
		struct shared_qp *s = &verbs_adapter.memory->qps[i];

		if (!verbs_adapter.qp_numbers.taken[i])
			continue;
		seen++;
		if (atomic_load(&s->qpn) == 0)
			continue;
		if (verbs_lock(&s->lock))
			verbs_ring_recover(verbs_adapter.memory, &s->ring);
		verbs_unlock(&s->lock);
	}
	pthread_mutex_unlock(&verbs_adapter.lock);
}

void verbs_key_free(int32_t index)
{
	withdraw(index);
	pthread_mutex_lock(&verbs_adapter.lock);
	verbs_id_free(&verbs_adapter.region_numbers, index);
	pthread_mutex_unlock(&verbs_adapter.lock);
}

/* ---- regions */

/* Makes the key valid. */
static void publish(struct region *r, int access, uint64_t iova)
{
	struct shared_region *s = r->shared;

	s->pd = container(r->ibv.pd, struct pd, ibv)->id;
	s->access = (uint32_t)access & (GRANTED_ACCESS | IBV_ACCESS_MW_BIND | IBV_ACCESS_ON_DEMAND);
	s->iova = iova;
	s->start = (uintptr_t)r->ibv.addr;
	s->length = r->ibv.length;
	s->is_window = 0;
	atomic_store_explicit(&s->key, r->ibv.lkey, memory_order_release);
}

static struct ibv_mr *refuse(struct region *r, int error)
{
	free(r);
	errno = error;
	return NULL;
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
				unsigned int access)
{
	struct region *r = calloc(1, sizeof(*r));

	if (access & IBV_ACCESS_ZERO_BASED)
		iova = 0;
	int error = r ? check_region(addr, length, iova, (int)access) : ENOMEM;

	if (context_is_inherited(pd->context))
		error = EPERM;
	if (error)
		return refuse(r, error);
	r->index = verbs_key_alloc(&r->ibv.lkey);
	if (r->index == NO_INDEX)
		return refuse(r, ENOMEM);
	r->ibv.rkey = r->ibv.lkey;
	r->ibv.context = pd->context;
	r->ibv.pd = pd;
	r->ibv.addr = addr;
	r->ibv.length = length;
	r->ibv.handle = (uint32_t)r->index;
	r->shared = &verbs_adapter.memory->regions[r->index];
	container(pd, struct pd, ibv)->users++;
	publish(r, (int)access, iova);
	return &r->ibv;
}

#undef ibv_reg_mr
#undef ibv_reg_mr_iova

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	return ibv_reg_mr_iova2(pd, addr, length, (uintptr_t)addr, (unsigned)access);
}

struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
			       int access)
{
	return ibv_reg_mr_iova2(pd, addr, length, iova, (unsigned)access);
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
	struct region *r = container(mr, struct region, ibv);

	if (!context_is_inherited(mr->context) && atomic_load(&r->shared->key) == mr->lkey) {
		if (verbs_region_has_windows(r->index))
			return EBUSY;
		verbs_key_free(r->index);
	}
	container(mr->pd, struct pd, ibv)->users--;
	free(r);
	return 0;
}

/* ---- regions by their handle */

struct ibv_mr *ibv_import_mr(struct ibv_pd *pd, uint32_t handle)
{
	struct region *r = calloc(1, sizeof(*r));

	if (!r || context_is_inherited(pd->context))
		return refuse(r, r ? EPERM : ENOMEM);
	if (handle >= MAX_REGIONS)
		return refuse(r, ENOENT);
	r->index = (int32_t)handle;
	r->shared = &verbs_adapter.memory->regions[handle];
	r->ibv.lkey = r->ibv.rkey = atomic_load(&r->shared->key);
	if (!r->ibv.lkey || r->shared->pd != container(pd, struct pd, ibv)->id)
		return refuse(r, ENOENT);
	r->ibv.context = pd->context;
	r->ibv.pd = pd;
	r->ibv.length = r->shared->length;
	r->ibv.handle = handle;
	container(pd, struct pd, ibv)->users++;
	return &r->ibv;
}

void ibv_unimport_mr(struct ibv_mr *mr)
{
	container(mr->pd, struct pd, ibv)->users--;
	free(container(mr, struct region, ibv));
}

/* ---- on-demand paging: advice is checked and otherwise ignored, since pages are not pinned */

bool verbs_region_is_on_demand(const struct program_memory *m, uint32_t key)
{
	uint32_t index = (key >> KEY_USE_BITS) - 1;

	return index < MAX_REGIONS && atomic_load(&m->regions[index].key) == key &&
	       m->regions[index].access & IBV_ACCESS_ON_DEMAND;
}

int verbs_advise_mr(struct ibv_pd *pd, enum ibv_advise_mr_advice advice, uint32_t flags,
		    struct ibv_sge *list, uint32_t n)
{
	unsigned access =
		advice == IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE ? IBV_ACCESS_LOCAL_WRITE : 0;

	if (context_is_inherited(pd->context))
		return EPERM;
	if (advice > IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT || verbs_is_roce())
		return EOPNOTSUPP;
	if (flags & ~(uint32_t)IBV_ADVISE_MR_FLAG_FLUSH || n == 0)
		return EINVAL;
	for (uint32_t i = 0; i < n; i++) {
		const struct key_range span = { list[i].lkey, list[i].addr, list[i].length };
		uint64_t where;

		if (!verbs_region_is_on_demand(verbs_adapter.memory, list[i].lkey))
			return EINVAL;
		if (!verbs_region_find(verbs_adapter.memory, container(pd, struct pd, ibv)->id,
				       &span, access, &where))
			return EPERM;
	}
	return 0;
}

int ibv_rereg_mr(struct ibv_mr *mr, int flags, struct ibv_pd *pd, void *addr, size_t length,
		 int access)
{
	struct region *r = container(mr, struct region, ibv);
	bool moves = flags & IBV_REREG_MR_CHANGE_TRANSLATION;

	if (context_is_inherited(mr->context) ||
	    (flags & IBV_REREG_MR_CHANGE_PD && context_is_inherited(pd->context))) {
		errno = EPERM;
		return IBV_REREG_MR_ERR_INPUT;
	}
	int now = (flags & IBV_REREG_MR_CHANGE_ACCESS) ? access : (int)r->shared->access;

	if (!moves) {
		addr = mr->addr;
		length = mr->length;
	}
	int error = (flags & ~IBV_REREG_MR_FLAGS_SUPPORTED)
			    ? EOPNOTSUPP
			    : check_region(addr, length, (uintptr_t)addr, now);

	if (!error && verbs_region_has_windows(r->index))
		error = EBUSY;
	if (error) {
		errno = error;
		return IBV_REREG_MR_ERR_INPUT;
	}
	uint64_t iova = r->shared->iova;

	if (moves)
		iova = (now & IBV_ACCESS_ZERO_BASED) ? 0 : (uintptr_t)addr;

	withdraw(r->index);
	if (flags & IBV_REREG_MR_CHANGE_PD) {
		container(mr->pd, struct pd, ibv)->users--;
		container(pd, struct pd, ibv)->users++;
		mr->pd = pd;
	}
	mr->addr = addr;
	mr->length = length;
	publish(r, now, iova);
	return 0;
}

struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova,
				 int fd, int access)
{
	(void)pd;
	(void)offset;
	(void)length;
	(void)iova;
	(void)fd;
	(void)access;
	errno = EOPNOTSUPP;
	return NULL;
}

bool verbs_region_find(const struct program_memory *m, uint32_t pd, const struct key_range *s,
		       unsigned access, uint64_t *where)
{
	uint32_t index = (s->key >> KEY_USE_BITS) - 1;

	if (index >= MAX_REGIONS)
		return false;
	const struct shared_region *r = &m->regions[index];

	if (atomic_load_explicit(&r->key, memory_order_acquire) != s->key || r->pd != pd ||
	    (r->access & access) != access || s->addr < r->iova || s->length > r->length ||
	    s->addr - r->iova > r->length - s->length ||
	    (r->is_window && (s->qpn == 0 || (r->qpn != 0 && r->qpn != s->qpn))))
		return false;
	*where = s->addr - r->iova + r->start;
	return !(r->access & IBV_ACCESS_ON_DEMAND) || m != verbs_adapter.memory ||
	       is_mapped(at_address(*where), s->length);
}

/* ---- address handles */

struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	struct ah *ah = calloc(1, sizeof(*ah));

	if (context_is_inherited(pd->context)) {
		free(ah);
		errno = EPERM;
		return NULL;
	}
	if (!ah || attr->port_num == 0 || attr->port_num > verbs_adapter.node.n_ports ||
	    attr->sl > 15 || !is_path(attr)) {
		errno = ah ? EINVAL : ENOMEM;
		free(ah);
		return NULL;
	}
	ah->ibv.context = pd->context;
	ah->ibv.pd = pd;
	ah->dlid = attr->dlid;
	ah->sl = attr->sl;
	ah->path_bits = attr->src_path_bits;
	ah->port = attr->port_num;
	ah->global = attr->is_global;
	if (attr->is_global) {
		ah->dgid = attr->grh.dgid;
		ah->hop_limit = attr->grh.hop_limit;
		ah->traffic_class = attr->grh.traffic_class;
		ah->flow_label = attr->grh.flow_label;
	}
	container(pd, struct pd, ibv)->users++;
	return &ah->ibv;
}

int ibv_destroy_ah(struct ibv_ah *ibv)
{
	container(ibv->pd, struct pd, ibv)->users--;
	free(container(ibv, struct ah, ibv));
	return 0;
}

int ibv_init_ah_from_wc(struct ibv_context *context, uint8_t port_num, struct ibv_wc *wc,
			struct ibv_grh *grh, struct ibv_ah_attr *attr)
{
	(void)context;
	*attr = (struct ibv_ah_attr){
		.dlid = wc->slid,
		.sl = wc->sl,
		.src_path_bits = wc->dlid_path_bits,
		.port_num = port_num,
	};
	if (wc->wc_flags & IBV_WC_GRH && verbs_is_roce()) {
		verbs_roce_reverse_path(grh, attr);
	} else if (wc->wc_flags & IBV_WC_GRH) {
		uint32_t words;

		memcpy(&words, grh, sizeof(words));
		words = __builtin_bswap32(words);
		attr->is_global = 1;
		attr->grh.dgid = grh->sgid;
		attr->grh.flow_label = words & 0xFFFFF;
		attr->grh.hop_limit = grh->hop_limit;
		attr->grh.traffic_class = (uint8_t)(words >> 20);
	}
	return 0;
}

struct ibv_ah *ibv_create_ah_from_wc(struct ibv_pd *pd, struct ibv_wc *wc, struct ibv_grh *grh,
				     uint8_t port_num)
{
	struct ibv_ah_attr attr;

	ibv_init_ah_from_wc(pd->context, port_num, wc, grh, &attr);
	return ibv_create_ah(pd, &attr);
}
