/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "live/verbs/roce.h"
#include "live/verbs/timed.h"

/*
 * fork(): the adapter stays the parent's. The child starts without one and
 * attaches anew when it opens the device: with a program number, and so QP
 * numbers, of its own. Memory that the adapter shares with peers is not
 * inherited (memory_map). Handles that the child inherits belong to no adapter
 * of its own (context_is_inherited): they can be released, which changes
 * nothing for the parent, and every other use fails with EPERM.
 */

/* While both are held, no thread attaches and no list of peers changes. */
static void before_fork(void)
{
	pthread_mutex_lock(&adapter.lock);
	pthread_mutex_lock(&adapter.peers_lock);
}

static void after_fork(void)
{
	pthread_mutex_unlock(&adapter.peers_lock);
	pthread_mutex_unlock(&adapter.lock);
}

/* Other threads of the parent may have held any of them. */
static void renew_locks(void)
{
	pthread_mutex_t *locks[] = { &adapter.lock,       &adapter.peers_lock,
				     &adapter.call_lock,  &adapter.flow_lock,
				     &adapter.path_lock,  &adapter.request_lock,
				     &adapter.notes_lock, &adapter.waiting_lock };

	for (size_t i = 0; i < sizeof(locks) / sizeof(locks[0]); i++)
		pthread_mutex_init(locks[i], NULL);
}

static void close_file(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* Their memories are not mapped here. */
static void forget_peers(void)
{
	for (uint32_t i = 0; i < LIVE_PROGRAMS; i++) {
		struct peer *p = adapter.peers[i];

		for (unsigned c = 0; p && c < p->n_channels; c++)
			close(p->channels[c].fd);
		free(p);
		adapter.peers[i] = NULL;
	}
}

static void numbers_forget(struct numbers *n)
{
	free(n->taken);
	*n = (struct numbers){ .most = n->most };
}

static void in_child(void)
{
	renew_locks();
	close_file(&adapter.calls);
	if (!adapter.is_on)
		return;
	clock_end();
	if (is_roce())
		roce_forget();
	close_file(&adapter.events);
	close_file(&adapter.bell[0]);
	close_file(&adapter.bell[1]);
	forget_peers();
	if (adapter.page)
		munmap((void *)adapter.page, sizeof(*adapter.page));
	adapter.page = NULL;
	adapter.memory = NULL;
	adapter.self = NULL;
	adapter.contexts = NULL;
	adapter.waiting = NULL;
	adapter.n_waiting = 0;
	adapter.is_on = adapter.is_lost = false;
	memset(adapter.qps, 0, sizeof(adapter.qps));
	memset(adapter.cqs, 0, sizeof(adapter.cqs));
	memset(adapter.srqs, 0, sizeof(adapter.srqs));
	numbers_forget(&adapter.qp_numbers);
	numbers_forget(&adapter.cq_numbers);
	numbers_forget(&adapter.srq_numbers);
	numbers_forget(&adapter.region_numbers);
	adapter.forks++;
}

__attribute__((constructor)) static void watch_forks(void)
{
	pthread_atfork(before_fork, after_fork, in_child);
}
