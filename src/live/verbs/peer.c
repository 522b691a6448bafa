/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "live/protocol.h"
#include "live/verbs/verbs_internal.h"

/* ---- memories */

static void peer_end(struct peer_program *p)
{
	for (unsigned i = 0; i < p->n_channels; i++)
		close(p->channels[i].fd);
	munmap(p->memory, p->size);
	free(p);
}

static struct peer_program *peer_map(uint32_t number)
{
	struct peer_program *p = calloc(1, sizeof(*p));
	struct daemon_reply t = { .file = -1 };

	if (!p)
		return NULL;
	if (verbs_daemon_call(LIVE_ASK_MEMORY, &number, sizeof(number), &t) != 0 || t.file < 0) {
		free(p);
		return NULL;
	}
	void *at = verbs_memory_map(t.file, &p->size);

	close(t.file);
	if (at == MAP_FAILED) {
		free(p);
		return NULL;
	}
	p->number = number;
	p->memory = at;
	p->pid = p->memory->head.pid;
	return p;
}

/* Finds a known program and adds a reference; removes programs that have ended. */
static struct peer_program *peer_known(uint32_t number)
{
	struct peer_program *p = verbs_adapter.peers[number];

	if (p && p != verbs_adapter.self && verbs_peer_is_gone(p)) {
		verbs_adapter.peers[number] = NULL;
		if (p->users == 0)
			peer_end(p);
		p = NULL;
	}
	if (p)
		p->users++;
	return p;
}

struct peer_program *verbs_peer_get(uint32_t number)
{
	if (number == 0 || number >= LIVE_PROGRAMS)
		return NULL;
	pthread_mutex_lock(&verbs_adapter.peers_lock);
	struct peer_program *p = peer_known(number);

	pthread_mutex_unlock(&verbs_adapter.peers_lock);
	if (p)
		return p;
	struct peer_program *made = peer_map(number);

	if (!made)
		return NULL;
	pthread_mutex_lock(&verbs_adapter.peers_lock);
	p = peer_known(number);
	if (!p) {
		p = made;
		made = NULL;
		p->users = 1;
		verbs_adapter.peers[number] = p;
	}
	pthread_mutex_unlock(&verbs_adapter.peers_lock);
	if (made) /* another thread was faster */
		peer_end(made);
	return p;
}

void verbs_peer_put(struct peer_program *p)
{
	if (!p)
		return;
	pthread_mutex_lock(&verbs_adapter.peers_lock);
	p->users--;
	bool ends = p->users == 0 && p != verbs_adapter.self && verbs_peer_is_gone(p);

	if (ends && verbs_adapter.peers[p->number] == p)
		verbs_adapter.peers[p->number] = NULL;
	pthread_mutex_unlock(&verbs_adapter.peers_lock);
	if (ends)
		peer_end(p);
}

/* ---- waking a peer */

/*
 * Opens a pipe of the peer, also for reading, so that writes never raise SIGPIPE. -1 if it does
 * not exist.
 */
static int channel_open(const struct peer_program *p, int32_t fd)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)p->pid, (int)fd);
	return open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
}

static int channel_known(struct peer_program *p, int32_t fd, uint32_t id)
{
	for (unsigned i = 0; i < p->n_channels; i++)
		if (p->channels[i].remote == fd && p->channels[i].id == id)
			return p->channels[i].fd;
	int opened = channel_open(p, fd);

	if (opened < 0)
		return -1;
	/*
	 * The entry of the same descriptor, else a new one, else the one at `id` modulo the size.
	 */
	unsigned place = 0;

	while (place < p->n_channels && p->channels[place].remote != fd)
		place++;
	if (place == MAX_CHANNELS)
		place = id % MAX_CHANNELS;
	if (place == p->n_channels)
		p->n_channels++;
	else
		close(p->channels[place].fd);
	p->channels[place] = (struct channel_to){ fd, id, opened };
	return opened;
}

bool verbs_peer_write(struct peer_program *p, int32_t fd, uint32_t id, const void *bytes,
		      size_t size)
{
	if (fd < 0)
		return false;
	if (p == verbs_adapter.self)
		return write(fd, bytes, size) == (ssize_t)size;
	pthread_mutex_lock(&verbs_adapter.peers_lock);
	int to = verbs_peer_is_gone(p) ? -1 : channel_known(p, fd, id);
	bool written = to >= 0 && write(to, bytes, size) == (ssize_t)size;

	pthread_mutex_unlock(&verbs_adapter.peers_lock);
	return written;
}

void verbs_peer_notify(struct peer_program *p, const struct notification *n)
{
	verbs_peer_write(p, p->memory->bell, 0, n, sizeof(*n));
}

/* ---- memory of the peer's program */

/* Copies as much as one system call can, at most 2 GiB less a page; -1 on failure. */
static ssize_t copy_some(const struct peer_program *p, const struct iovec_list *here,
			 const struct iovec_list *there, bool towards)
{
	return towards ? process_vm_writev(p->pid, here->list, here->n, there->list, there->n, 0)
		       : process_vm_readv(p->pid, here->list, here->n, there->list, there->n, 0);
}

/* Copies the pieces from an offset on into `out`, which has room for MAX_SGE. */
static struct iovec_list after(const struct iovec_list *l, size_t offset, struct iovec *out)
{
	unsigned first = 0;

	while (first < l->n && offset >= l->list[first].iov_len)
		offset -= l->list[first++].iov_len;
	for (unsigned i = first; i < l->n; i++)
		out[i - first] = l->list[i];
	if (first < l->n) {
		out[0].iov_base = (char *)out[0].iov_base + offset;
		out[0].iov_len -= offset;
	}
	return (struct iovec_list){ out, l->n - first };
}

bool verbs_peer_copy(const struct peer_program *p, const struct iovec_list *here,
		     const struct iovec_list *there, size_t size, bool towards)
{
	struct iovec rest_here[MAX_SGE], rest_there[MAX_SGE];
	struct iovec_list from = *here, to = *there;
	size_t done = 0;

	while (done < size) {
		ssize_t some = copy_some(p, &from, &to, towards);

		if (some <= 0)
			return false;
		done += (size_t)some;
		if (done < size) {
			from = after(here, done, rest_here);
			to = after(there, done, rest_there);
		}
	}
	return done == size;
}
