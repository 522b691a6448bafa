/* SPDX-License-Identifier: BSD-2-Clause */
/* The daemon process: resource limits, signals, and its life cycle. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include "live/daemon/daemon_internal.h"
#include "live/daemon/recording.h"

void live_raise_limit(void)
{
	struct rlimit most;

	if (getrlimit(RLIMIT_NOFILE, &most) == 0) {
		most.rlim_cur = most.rlim_max;
		setrlimit(RLIMIT_NOFILE, &most);
	}
}

/*
 * Signals that end the daemon write an eventfd. Blocking them (signalfd) is not possible: threads
 * of libraries may receive them.
 */
static const int ending_signals[] = { SIGTERM, SIGINT };
enum { N_ENDING = sizeof(ending_signals) / sizeof(ending_signals[0]) };
static int ending = -1; /* eventfd, or -1 without a daemon */

static void note_end(int number)
{
	const uint64_t one = 1;
	int before = errno;

	(void)number;
	(void)!write(ending, &one, sizeof(one));
	errno = before;
}

static void take_signals(struct live *l, struct sigaction before[N_ENDING])
{
	struct sigaction ours = { .sa_handler = note_end, .sa_flags = SA_RESTART };

	ending = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	daemon_end_by(l, ending);
	for (size_t i = 0; i < N_ENDING; i++)
		sigaction(ending_signals[i], &ours, &before[i]);
}

static void give_back_signals(const struct sigaction before[N_ENDING])
{
	for (size_t i = 0; i < N_ENDING; i++)
		sigaction(ending_signals[i], &before[i], NULL);
}

/* Applies the recorded changes, which are also written to the new recording. */
static enum hd_status replay(struct live *l, const struct live_options *o, struct diag *d)
{
	hd_time last;

	l->replays = true;
	enum hd_status status = daemon_recording_replay(o->replay, l->agents, o->until, d, &last);

	l->replays = false;
	/* Fabric time continues from the last change. */
	l->start = l->clock() - (hd_time)((double)last / l->pace);
	return status;
}

static enum hd_status begin(struct live *l, const struct live_options *o, struct diag *d)
{
	enum hd_status status = HD_OK;

	if (o->record)
		status = recorder_open(o->record, l->topo, l->times, d, &l->recorder);
	if (status == HD_OK && o->replay)
		status = replay(l, o, d);
	return status == HD_OK ? daemon_listen(l, d) : status;
}

enum hd_status live_run(const struct topo *t, const char *dir, const struct live_options *o,
			void (*ready)(void *context), void *context, struct diag *d)
{
	struct live l = { 0 };
	struct sigaction before[N_ENDING];

	live_raise_limit();
	bool made = daemon_init(&l, t, dir, o);
	enum hd_status status =
		made ? begin(&l, o, d)
		     : diag_fail(d, HD_ERR_ENV, "cannot wait for programs: %s", strerror(errno));

	if (status == HD_OK) {
		take_signals(&l, before);
		ready(context);
		while (!l.ends)
			daemon_turn(&l, -1);
		give_back_signals(before);
	}
	daemon_fini(&l);
	return status;
}
