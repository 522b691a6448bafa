/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Waits with a timeout in programs on the simulated clock. A wait publishes its deadline to the
 * engine, which advances the clock to it at most and then waits until the wait has ended. Waits
 * for descriptors and conditions also end by the kernel; they look at the clock every few ms.
 * While the clock is paused, programs that start must not wait for ever: timeouts are those of
 * the machine's clock.
 */
#undef _FORTIFY_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

#include "live/verbs/timed.h"

enum { SLOTS = 256, SLICE = 1000000 /* ns */, MOST_SLICES = 5 };

#define NS_PER_S  INT64_C(1000000000)
#define PS_PER_NS 1000

static struct {
	pthread_mutex_t lock;
	uint64_t deadlines[SLOTS]; /* ps of the engine's clock; 0: free slot */
} waits = { .lock = PTHREAD_MUTEX_INITIALIZER };

static _Thread_local bool is_exempt;

/* A wait of this thread. */
struct timed_wait {
	uint64_t deadline;
	int64_t machine_deadline; /* ns of the machine's clock; counts while the clock is paused */
	int slot;                 /* SLOTS: none was free */
	unsigned slices;
};

static struct live_clock *clock_of(void)
{
	return &verbs_adapter.memory->head.clock;
}

void verbs_waits_exempt(void)
{
	is_exempt = true;
}

void verbs_waits_reset(void)
{
	waits.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	memset(waits.deadlines, 0, sizeof(waits.deadlines));
}

static bool is_simulated(void)
{
	return !is_exempt && verbs_clock_is_on() && timed_has_engine();
}

/* With waits.lock. */
static void publish(void)
{
	uint64_t first = 0;

	for (int i = 0; i < SLOTS; i++)
		if (waits.deadlines[i] && (!first || waits.deadlines[i] < first))
			first = waits.deadlines[i];
	atomic_store(&clock_of()->alarm, first);
	live_wake(&clock_of()->waits);
}

static int64_t machine_ns(void)
{
	struct timespec t;

	(void)verbs_real_clock(CLOCK_MONOTONIC, &t);
	return t.tv_sec * NS_PER_S + t.tv_nsec;
}

static struct timed_wait wait_begin(int64_t ns)
{
	struct timed_wait w = { .deadline = verbs_clock_ps() + (uint64_t)ns * PS_PER_NS,
				.machine_deadline = machine_ns() + ns };

	pthread_mutex_lock(&waits.lock);
	while (w.slot < SLOTS && waits.deadlines[w.slot])
		w.slot++;
	if (w.slot < SLOTS) {
		waits.deadlines[w.slot] = w.deadline ? w.deadline : 1;
		publish();
	}
	pthread_mutex_unlock(&waits.lock);
	return w;
}

static void wait_end(const struct timed_wait *w)
{
	pthread_mutex_lock(&waits.lock);
	if (w->slot < SLOTS) {
		waits.deadlines[w->slot] = 0;
		publish();
	}
	pthread_mutex_unlock(&waits.lock);
}

/* A wait that ends with its scope, also if the thread is cancelled (-fexceptions). */
#define TIMED_WAIT(name, ns) \
	struct timed_wait name __attribute__((cleanup(wait_end))) = wait_begin(ns)

static bool wait_is_over(const struct timed_wait *w)
{
	if (!is_simulated() || atomic_load(&clock_of()->now) >= w->deadline)
		return true;
	return atomic_load(&verbs_adapter.page->is_held) && machine_ns() >= w->machine_deadline;
}

/* The time until the next look at the clock; nothing after the deadline. */
static struct timespec next_slice(struct timed_wait *w)
{
	unsigned n = 1 + w->slices++ / 64;

	if (wait_is_over(w))
		return (struct timespec){ 0, 0 };
	return (struct timespec){ 0, SLICE * (long)(n < MOST_SLICES ? n : MOST_SLICES) };
}

static bool is_zero(const struct timespec *t)
{
	return t->tv_sec == 0 && t->tv_nsec == 0;
}

/* False: the value is invalid. */
static bool to_ns(const struct timespec *t, int64_t *out)
{
	if (t->tv_sec < 0 || t->tv_nsec < 0 || t->tv_nsec >= NS_PER_S)
		return false;
	*out = t->tv_sec > INT64_MAX / NS_PER_S / PS_PER_NS / 2 ? INT64_MAX / PS_PER_NS / 2
								: t->tv_sec * NS_PER_S + t->tv_nsec;
	return true;
}

/* The C library's function of that name. */
#define REAL(name)                            \
	static __typeof__(name) *real_##name; \
	if (!real_##name)                     \
	*(void **)&real_##name = dlsym(RTLD_NEXT, #name)

/* ---- signals: blocked between the slices of a wait, so that none is missed there */

static void restore_signals(const sigset_t *before)
{
	pthread_sigmask(SIG_SETMASK, before, NULL);
}

/* Signals of the thread's own instructions stay: reading the time stamp counter raises SIGSEGV. */
static sigset_t block_signals(void)
{
	static const int own[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP };
	sigset_t all, before;

	sigfillset(&all);
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		sigdelset(&all, own[i]);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	return before;
}

/* Signals are blocked until the end of the scope, also if the thread is cancelled. */
#define BLOCK_SIGNALS(before) \
	sigset_t before __attribute__((cleanup(restore_signals))) = block_signals()

static bool has_handler(int number)
{
	struct sigaction a;

	return sigaction(number, NULL, &a) == 0 &&
	       ((a.sa_flags & SA_SIGINFO) || (a.sa_handler != SIG_IGN && a.sa_handler != SIG_DFL));
}

/*
 * Delivers the pending signals that `before` does not block; true if a handler has run, which ends
 * a wait with EINTR.
 */
static bool deliver_signals(const sigset_t *before)
{
	sigset_t pending, blocked;
	bool is_handled = false, is_any = false;

	sigpending(&pending);
	for (int i = 1; i < NSIG; i++) {
		if (sigismember(&pending, i) != 1 || sigismember(before, i) == 1)
			continue;
		is_any = true;
		is_handled |= has_handler(i);
	}
	if (is_any) {
		pthread_sigmask(SIG_SETMASK, before, &blocked);
		pthread_sigmask(SIG_SETMASK, &blocked, NULL);
	}
	return is_handled;
}

/* ---- sleeps */

/* 0, or EINTR and the time that is left. */
static int sleep_for(int64_t ns, int64_t *left)
{
	TIMED_WAIT(w, ns);
	BLOCK_SIGNALS(before);

	while (!wait_is_over(&w)) {
		uint32_t seen = atomic_load(&clock_of()->called);

		pthread_testcancel();
		if (deliver_signals(&before)) {
			uint64_t now = atomic_load(&clock_of()->now);

			*left = now < w.deadline ? (int64_t)((w.deadline - now) / PS_PER_NS) : 0;
			return EINTR;
		}
		if (!wait_is_over(&w))
			live_sleep(&clock_of()->called, seen, SLICE);
	}
	return 0;
}

int clock_nanosleep(clockid_t which, int flags, const struct timespec *t, struct timespec *left)
{
	REAL(clock_nanosleep);
	int64_t ns, rest = 0;

	if (!is_simulated() || !verbs_clock_has(which))
		return real_clock_nanosleep(which, flags, t, left);
	if (!to_ns(t, &ns))
		return EINVAL;
	if (flags & TIMER_ABSTIME)
		ns = verbs_clock_left(which, t);
	int error = ns > 0 ? sleep_for(ns, &rest) : 0;

	if (error && left && !(flags & TIMER_ABSTIME))
		*left = (struct timespec){ rest / NS_PER_S, rest % NS_PER_S };
	return error;
}

int nanosleep(const struct timespec *t, struct timespec *left)
{
	REAL(nanosleep);

	if (!is_simulated())
		return real_nanosleep(t, left);
	int error = clock_nanosleep(CLOCK_MONOTONIC, 0, t, left);

	if (error)
		errno = error;
	return error ? -1 : 0;
}

int usleep(useconds_t us)
{
	const struct timespec t = { us / 1000000, (long)(us % 1000000) * 1000 };

	return nanosleep(&t, NULL);
}

unsigned sleep(unsigned s)
{
	const struct timespec t = { s, 0 };
	struct timespec left = { 0, 0 };
	REAL(sleep);

	if (!is_simulated())
		return real_sleep(s);
	return nanosleep(&t, &left) == 0 ? 0 : (unsigned)left.tv_sec;
}

/* ---- descriptors */

int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *t, const sigset_t *mask)
{
	REAL(ppoll);
	struct timespec slice;
	int64_t ns;
	int found;

	if (!is_simulated() || !t || is_zero(t) || !to_ns(t, &ns))
		return real_ppoll(fds, n, t, mask);
	TIMED_WAIT(w, ns);
	BLOCK_SIGNALS(before);

	do {
		slice = next_slice(&w);
		found = real_ppoll(fds, n, &slice, mask ? mask : &before);
	} while (found == 0 && !is_zero(&slice));
	return found;
}

int poll(struct pollfd *fds, nfds_t n, int ms)
{
	const struct timespec t = { ms / 1000, ms % 1000 * 1000000L };
	REAL(poll);

	return ms > 0 && is_simulated() ? ppoll(fds, n, &t, NULL) : real_poll(fds, n, ms);
}

/* Called by programs that are built with _FORTIFY_SOURCE. */
int __poll_chk(struct pollfd *fds, nfds_t n, int ms, size_t size);
int __poll_chk(struct pollfd *fds, nfds_t n, int ms, size_t size)
{
	(void)size;
	return poll(fds, n, ms);
}

int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *t, const sigset_t *mask,
		size_t size);
int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *t, const sigset_t *mask,
		size_t size)
{
	(void)size;
	return ppoll(fds, n, t, mask);
}

static fd_set *copy_set(fd_set *to, const fd_set *from)
{
	if (!from)
		return NULL;
	*to = *from;
	return to;
}

int pselect(int n, fd_set *r, fd_set *w, fd_set *e, const struct timespec *t, const sigset_t *mask)
{
	REAL(pselect);
	struct timespec slice;
	fd_set sets[3], was[3];
	fd_set *const own[3] = { copy_set(&was[0], r), copy_set(&was[1], w), copy_set(&was[2], e) };
	int64_t ns;
	int found;

	if (!is_simulated() || !t || is_zero(t) || n > FD_SETSIZE || !to_ns(t, &ns))
		return real_pselect(n, r, w, e, t, mask);
	TIMED_WAIT(wait, ns);
	BLOCK_SIGNALS(before);

	do {
		slice = next_slice(&wait);
		found = real_pselect(n, copy_set(&sets[0], own[0]), copy_set(&sets[1], own[1]),
				     copy_set(&sets[2], own[2]), &slice, mask ? mask : &before);
	} while (found == 0 && !is_zero(&slice));
	if (found >= 0) {
		(void)copy_set(r, r ? &sets[0] : NULL);
		(void)copy_set(w, w ? &sets[1] : NULL);
		(void)copy_set(e, e ? &sets[2] : NULL);
	}
	return found;
}

int select(int n, fd_set *r, fd_set *w, fd_set *e, struct timeval *t)
{
	REAL(select);

	if (!is_simulated() || !t || t->tv_sec < 0 || t->tv_usec < 0)
		return real_select(n, r, w, e, t);
	const struct timespec whole = { t->tv_sec + t->tv_usec / 1000000,
					t->tv_usec % 1000000 * 1000 };

	return pselect(n, r, w, e, &whole, NULL);
}

int epoll_pwait(int fd, struct epoll_event *events, int most, int ms, const sigset_t *mask)
{
	REAL(epoll_pwait);
	struct timespec slice;
	int found;

	if (!is_simulated() || ms <= 0)
		return real_epoll_pwait(fd, events, most, ms, mask);
	TIMED_WAIT(w, ms * INT64_C(1000000));
	BLOCK_SIGNALS(before);

	do {
		slice = next_slice(&w);
		found = real_epoll_pwait(fd, events, most, (int)(slice.tv_nsec / 1000000),
					 mask ? mask : &before);
	} while (found == 0 && !is_zero(&slice));
	return found;
}

int epoll_wait(int fd, struct epoll_event *events, int most, int ms)
{
	return epoll_pwait(fd, events, most, ms, NULL);
}

/* ---- conditions and semaphores */

/* The end of the next slice by the machine's clock. */
static struct timespec slice_end(struct timed_wait *w)
{
	const struct timespec slice = next_slice(w);
	struct timespec t;

	(void)verbs_real_clock(CLOCK_MONOTONIC, &t);
	t.tv_nsec += slice.tv_nsec;
	t.tv_sec += t.tv_nsec / NS_PER_S;
	t.tv_nsec %= NS_PER_S;
	return t;
}

/* Returns after a slice, which is a spurious wakeup: a later one could lose a signal. */
int pthread_cond_clockwait(pthread_cond_t *c, pthread_mutex_t *m, clockid_t which,
			   const struct timespec *until)
{
	REAL(pthread_cond_clockwait);
	int64_t ns;
	int error;

	if (!is_simulated() || !verbs_clock_has(which) || !to_ns(until, &ns))
		return real_pthread_cond_clockwait(c, m, which, until);
	ns = verbs_clock_left(which, until);
	if (ns <= 0)
		return ETIMEDOUT;
	TIMED_WAIT(w, ns);

	const struct timespec end = slice_end(&w);

	error = real_pthread_cond_clockwait(c, m, CLOCK_MONOTONIC, &end);
	if (error == ETIMEDOUT && !wait_is_over(&w))
		error = 0;
	return error;
}

int pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *until)
{
	REAL(pthread_cond_timedwait);

	return is_simulated() ? pthread_cond_clockwait(c, m, verbs_clock_of(until), until)
			      : real_pthread_cond_timedwait(c, m, until);
}

int sem_clockwait(sem_t *s, clockid_t which, const struct timespec *until)
{
	REAL(sem_clockwait);
	int64_t ns;
	int failed = 0;

	if (!is_simulated() || !verbs_clock_has(which) || !to_ns(until, &ns))
		return real_sem_clockwait(s, which, until);
	ns = verbs_clock_left(which, until);
	TIMED_WAIT(w, ns > 0 ? ns : 0);
	BLOCK_SIGNALS(before);

	do {
		bool is_last = wait_is_over(&w);
		const struct timespec end = slice_end(&w);

		failed = real_sem_clockwait(s, CLOCK_MONOTONIC, &end);
		if (failed && deliver_signals(&before)) {
			errno = EINTR;
			break;
		}
		if (is_last)
			break;
	} while (failed && errno == ETIMEDOUT);
	return failed;
}

int sem_timedwait(sem_t *s, const struct timespec *until)
{
	return sem_clockwait(s, CLOCK_REALTIME, until);
}
