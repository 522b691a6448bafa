/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>

#include "live/verbs/verbs_internal.h"

/*
 * Protection domains, parent domains and thread domains. A domain is its number: a parent domain
 * and an imported domain have the number of the protection domain that they stand for, so keys
 * and queue pairs of all three fit together.
 */

static struct pd *pd_of(struct ibv_pd *pd)
{
	return container(pd, struct pd, ibv);
}

struct td {
	struct ibv_td ibv;
	_Atomic uint32_t users;
};

static struct ibv_pd *refuse(int error)
{
	errno = error;
	return NULL;
}

/* Creates a domain with that number; 0: the next number. */
static struct pd *pd_new(struct ibv_context *context, uint32_t id)
{
	struct pd *pd = calloc(1, sizeof(*pd));

	if (!pd)
		return NULL;
	pthread_mutex_lock(&verbs_adapter.lock);
	pd->id = id ? id : verbs_adapter.next_pd++;
	pd->next = verbs_adapter.pds;
	verbs_adapter.pds = pd;
	pthread_mutex_unlock(&verbs_adapter.lock);
	pd->ibv.context = context;
	pd->ibv.handle = pd->id;
	return pd;
}

static void pd_free(struct pd *pd)
{
	struct pd **link = &verbs_adapter.pds;

	pthread_mutex_lock(&verbs_adapter.lock);
	while (*link && *link != pd)
		link = &(*link)->next;
	if (*link)
		*link = pd->next;
	pthread_mutex_unlock(&verbs_adapter.lock);
	if (pd->base)
		pd->base->users--;
	if (pd->td)
		container(pd->td, struct td, ibv)->users--;
	free(pd);
}

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	if (context_is_inherited(context))
		return refuse(EPERM);
	struct pd *pd = pd_new(context, 0);

	return pd ? &pd->ibv : refuse(ENOMEM);
}

int ibv_dealloc_pd(struct ibv_pd *ibv)
{
	struct pd *pd = pd_of(ibv);

	if (pd->users > 0)
		return EBUSY;
	pd_free(pd);
	return 0;
}

struct ibv_pd *ibv_import_pd(struct ibv_context *context, uint32_t handle)
{
	bool exists = false;

	if (context_is_inherited(context))
		return refuse(EPERM);
	pthread_mutex_lock(&verbs_adapter.lock);
	for (const struct pd *pd = verbs_adapter.pds; pd; pd = pd->next)
		exists |= pd->id == handle;
	pthread_mutex_unlock(&verbs_adapter.lock);
	if (!exists)
		return refuse(ENOENT);
	struct pd *pd = pd_new(context, handle);

	return pd ? &pd->ibv : refuse(ENOMEM);
}

void ibv_unimport_pd(struct ibv_pd *pd)
{
	pd_free(pd_of(pd));
}

/* ---- parent domains: memory of the adapter's queues is shared, so allocators are not called */

struct ibv_pd *verbs_alloc_parent_domain(struct ibv_context *context,
					 struct ibv_parent_domain_init_attr *attr)
{
	const uint32_t known =
		IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS | IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT;

	if (context_is_inherited(context))
		return refuse(EPERM);
	if (attr->comp_mask & ~known)
		return refuse(EOPNOTSUPP);
	if (!attr->pd || pd_of(attr->pd)->base)
		return refuse(EINVAL);
	struct pd *pd = pd_new(context, pd_of(attr->pd)->id);

	if (!pd)
		return refuse(ENOMEM);
	pd->base = pd_of(attr->pd);
	pd->base->users++;
	pd->td = attr->td;
	if (pd->td)
		container(pd->td, struct td, ibv)->users++;
	return &pd->ibv;
}

struct ibv_td *verbs_alloc_td(struct ibv_context *context, struct ibv_td_init_attr *attr)
{
	int error = context_is_inherited(context) ? EPERM : attr->comp_mask ? EOPNOTSUPP : 0;
	struct td *td = error ? NULL : calloc(1, sizeof(*td));

	if (!td) {
		errno = error ? error : ENOMEM;
		return NULL;
	}
	td->ibv.context = context;
	return &td->ibv;
}

int verbs_dealloc_td(struct ibv_td *ibv)
{
	struct td *td = container(ibv, struct td, ibv);

	if (td->users > 0)
		return EBUSY;
	free(td);
	return 0;
}
