/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "live/verbs/verbs_internal.h"

/*
 * XRC domains. Two handles that name the same file have the same number and are one domain. A
 * target queue pair and the shared receive queues that it delivers to belong to one program.
 */

static struct ibv_xrcd *refuse(int error)
{
	errno = error;
	return NULL;
}

/* The domain of that file, or NULL; with verbs_adapter.lock. */
static const struct xrcd *xrcd_of_file(const struct stat *file)
{
	for (const struct xrcd *x = verbs_adapter.xrcds; x; x = x->next)
		if (x->has_file && x->device == file->st_dev && x->inode == file->st_ino)
			return x;
	return NULL;
}

/* Adds a domain; returns the errno that Linux returns for these flags. */
static int xrcd_add(struct xrcd *x, const struct stat *file, int flags)
{
	const struct xrcd *same = NULL;
	int error = 0;

	pthread_mutex_lock(&verbs_adapter.lock);
	if (file) {
		same = xrcd_of_file(file);
		x->has_file = true;
		x->device = file->st_dev;
		x->inode = file->st_ino;
		if (same && flags & O_EXCL)
			error = EINVAL;
		else if (!same && !(flags & O_CREAT))
			error = EAGAIN;
	}
	if (!error) {
		x->id = same ? same->id : ++verbs_adapter.last_xrcd;
		x->next = verbs_adapter.xrcds;
		verbs_adapter.xrcds = x;
	}
	pthread_mutex_unlock(&verbs_adapter.lock);
	return error;
}

struct ibv_xrcd *verbs_open_xrcd(struct ibv_context *context, struct ibv_xrcd_init_attr *attr)
{
	const uint32_t all = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS;
	struct stat file;

	if (context_is_inherited(context))
		return refuse(EPERM);
	if (!verbs_has_extensions() || attr->comp_mask & ~all)
		return refuse(EOPNOTSUPP);
	if (attr->comp_mask != all || attr->oflags & ~(O_CREAT | O_EXCL))
		return refuse(EINVAL);
	if (attr->fd != -1 && fstat(attr->fd, &file) != 0)
		return NULL;
	struct xrcd *x = calloc(1, sizeof(*x));
	int error = x ? xrcd_add(x, attr->fd == -1 ? NULL : &file, attr->oflags) : ENOMEM;

	if (error) {
		free(x);
		return refuse(error);
	}
	x->ibv.context = context;
	return &x->ibv;
}

int verbs_close_xrcd(struct ibv_xrcd *ibv)
{
	struct xrcd *x = container(ibv, struct xrcd, ibv);
	struct xrcd **link = &verbs_adapter.xrcds;

	if (x->users > 0)
		return EBUSY;
	pthread_mutex_lock(&verbs_adapter.lock);
	while (*link && *link != x)
		link = &(*link)->next;
	if (*link)
		*link = x->next;
	pthread_mutex_unlock(&verbs_adapter.lock);
	free(x);
	return 0;
}
