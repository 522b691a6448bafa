/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "live/verbs/roce.h"
#include "live/verbs/timed.h"

/*
 * fork(): the adapter stays with the parent. The child starts without one; it attaches when it
 * opens the device and gets a program number, and thus QP numbers, of its own. Shared memory is
 * not inherited (verbs_memory_map). Inherited handles belong to no adapter of the child
 * (context_is_inherited): they can be released, without effect on the parent; any other use fails
 * with EPERM.
 */

/* While both locks are held, no thread attaches and the list of peers does not change. */
static void before_fork(void)
{
	pthread_mutex_lock(&verbs_adapter.lock);
	pthread_mutex_lock(&verbs_adapter.peers_lock);
}

static void after_fork(void)
{
	pthread_mutex_unlock(&verbs_adapter.peers_lock);
	pthread_mutex_unlock(&verbs_adapter.lock);
}

/* Initializes the locks again: other threads of the parent may have held them. */
static void renew_locks(void)
{
	pthread_mutex_t *locks[] = { &verbs_adapter.lock,       &verbs_adapter.peers_lock,
				     &verbs_adapter.call_lock,  &verbs_adapter.flow_lock,
				     &verbs_adapter.path_lock,  &verbs_adapter.request_lock,
				     &verbs_adapter.notes_lock, &verbs_adapter.waiting_lock };

	for (size_t i = 0; i < sizeof(locks) / sizeof(locks[0]); i++)
		pthread_mutex_init(locks[i], NULL);
}

static void close_file(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* The memories of peers are not mapped in the child. */
static void forget_peers(void)
{
	for (uint32_t i = 0; i < LIVE_PROGRAMS; i++) {
		struct peer_program *p = verbs_adapter.peers[i];

		for (unsigned c = 0; p && c < p->n_channels; c++)
			close(p->channels[c].fd);
		free(p);
		verbs_adapter.peers[i] = NULL;
	}
}

static void numbers_forget(struct id_pool *n)
{
	free(n->taken);
	*n = (struct id_pool){ .most = n->most };
}

static void in_child(void)
{
	renew_locks();
	close_file(&verbs_adapter.calls);
	if (!verbs_adapter.is_on)
		return;
	verbs_clock_stop();
	if (verbs_is_roce())
		verbs_roce_after_fork();
	close_file(&verbs_adapter.events);
	close_file(&verbs_adapter.bell[0]);
	close_file(&verbs_adapter.bell[1]);
	forget_peers();
	if (verbs_adapter.page)
		munmap((void *)verbs_adapter.page, sizeof(*verbs_adapter.page));
	verbs_adapter.page = NULL;
	verbs_adapter.memory = NULL;
	verbs_adapter.self = NULL;
	verbs_adapter.contexts = NULL;
	verbs_adapter.pds = NULL;
	verbs_adapter.xrcds = NULL;
	verbs_windows_forget();
	verbs_faults_forget();
	verbs_adapter.waiting = NULL;
	verbs_adapter.n_waiting = 0;
	verbs_adapter.is_on = verbs_adapter.is_lost = false;
	atomic_store(&verbs_adapter.has_failed, false);
	memset(verbs_adapter.qps, 0, sizeof(verbs_adapter.qps));
	memset(verbs_adapter.cqs, 0, sizeof(verbs_adapter.cqs));
	memset(verbs_adapter.srqs, 0, sizeof(verbs_adapter.srqs));
	numbers_forget(&verbs_adapter.qp_numbers);
	numbers_forget(&verbs_adapter.cq_numbers);
	numbers_forget(&verbs_adapter.srq_numbers);
	numbers_forget(&verbs_adapter.region_numbers);
	verbs_adapter.forks++;
}

__attribute__((constructor)) static void watch_forks(void)
{
	pthread_atfork(before_fork, after_fork, in_child);
}
