/* SPDX-License-Identifier: BSD-2-Clause */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>

#include "live/verbs/timed.h"

/*
 * Clocks that a program reads while data take simulated time. The time stops while the program
 * computes, and advances with the fabric while the program waits. Each reading is at least a
 * nanosecond later than the one before; the difference is made up as soon as fabric time advances.
 * A program that only reads the clock waits, so time advances.
 */

enum { CLOCKS = 12, LOOKS = 1000, LONG_LOOK = 1000 };

#define NS_PER_S UINT64_C(1000000000)

typedef int clock_function(clockid_t which, struct timespec *out);

static struct {
	_Atomic bool is_on;
	uint64_t begin[CLOCKS];  /* value of each clock when the simulated clock was started */
	_Atomic uint64_t waited; /* ns added by repeated readings */
	_Atomic uint64_t last;   /* the latest reading */
	_Atomic uint32_t looks;  /* consecutive readings without another call of the adapter */
	_Atomic uint32_t posted, polls; /* counts at the latest reading */
} state;

int verbs_real_clock(clockid_t which, struct timespec *out)
{
	static _Atomic(clock_function *) real;
	clock_function *f = atomic_load_explicit(&real, memory_order_relaxed);

	if (!f) {
		*(void **)&f = dlsym(RTLD_NEXT, "clock_gettime");
		atomic_store(&real, f);
	}
	return f(which, out);
}

static uint64_t to_ns(const struct timespec *t)
{
	return (uint64_t)t->tv_sec * NS_PER_S + (uint64_t)t->tv_nsec;
}

/* ---- simulated time */

static uint64_t look(void)
{
	const struct live_clock *c = &verbs_adapter.memory->head.clock;
	uint64_t now = atomic_load(&c->now) / 1000;
	uint32_t looks = atomic_fetch_add(&state.looks, 1);
	/* The program called the adapter between readings if these counts changed. */
	uint32_t posted = (uint32_t)atomic_load(&c->posted);
	uint32_t polls = atomic_load(&c->polls);

	if (atomic_exchange(&state.posted, posted) != posted ||
	    atomic_exchange(&state.polls, polls) != polls) {
		atomic_store(&state.looks, 0);
		looks = 0;
	}
	now += looks < LOOKS ? atomic_load(&state.waited)
			     : atomic_fetch_add(&state.waited, LONG_LOOK) + LONG_LOOK;
	uint64_t last = atomic_load(&state.last), seen;

	do
		seen = now > last ? now : last + 1;
	while (!atomic_compare_exchange_weak(&state.last, &last, seen));
	return seen;
}

static bool is_of_the_fabric(clockid_t which)
{
	return atomic_load_explicit(&state.is_on, memory_order_acquire) && which >= 0 &&
	       which < CLOCKS && which != CLOCK_PROCESS_CPUTIME_ID &&
	       which != CLOCK_THREAD_CPUTIME_ID;
}

int clock_gettime(clockid_t which, struct timespec *out)
{
	if (!is_of_the_fabric(which))
		return verbs_real_clock(which, out);
	uint64_t now = state.begin[which] + look();

	*out = (struct timespec){ (time_t)(now / NS_PER_S), (long)(now % NS_PER_S) };
	return 0;
}

int gettimeofday(struct timeval *out, void *zone)
{
	struct timespec t;
	int error = clock_gettime(CLOCK_REALTIME, &t);

	(void)zone;
	if (!error)
		*out = (struct timeval){ t.tv_sec, t.tv_nsec / 1000 };
	return error;
}

/* ---- time stamp counter: a cycle is a nanosecond */

#ifdef __x86_64__

static struct sigaction theirs;

/* True for code of the vDSO, which computes the machine's time from the counter. */
static bool is_of_the_kernel(uintptr_t at)
{
	enum { PAGES = 4 * 4096 };
	uintptr_t page = getauxval(AT_SYSINFO_EHDR);

	return at >= page && at < page + PAGES;
}

static uint64_t real_cycles(void)
{
	uint32_t low, high;

	prctl(PR_SET_TSC, PR_TSC_ENABLE, 0, 0, 0);
	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
	return (uint64_t)high << 32 | low;
}

/* Length of the instruction if it reads the time stamp counter, else 0. */
static unsigned reads_counter(const uint8_t *at)
{
	static const uint8_t rdtsc[] = { 0x0F, 0x31 };
	static const uint8_t rdtscp[] = { 0x0F, 0x01, 0xF9 };

	if (memcmp(at, rdtsc, sizeof(rdtsc)) == 0)
		return sizeof(rdtsc);
	if (memcmp(at, rdtscp, sizeof(rdtscp)) == 0)
		return sizeof(rdtscp);
	return 0;
}

static void pass_on(int number, siginfo_t *info, void *context)
{
	if (theirs.sa_flags & SA_SIGINFO) {
		theirs.sa_sigaction(number, info, context);
	} else if (theirs.sa_handler != SIG_DFL && theirs.sa_handler != SIG_IGN) {
		theirs.sa_handler(number);
	} else {
		signal(number, SIG_DFL);
		raise(number);
	}
}

static void on_trap(int number, siginfo_t *info, void *context)
{
	ucontext_t *u = context;
	greg_t *r = u->uc_mcontext.gregs;
	uintptr_t at = (uintptr_t)r[REG_RIP];
	int before = errno;
	/*
	 * SIGSEGV by the counter has si_code SI_KERNEL; other faults may have an invalid address.
	 */
	unsigned size = info->si_code == SI_KERNEL ? reads_counter(at_address(at)) : 0;

	if (size == 0) {
		pass_on(number, info, context);
		return;
	}
	uint64_t cycles = is_of_the_kernel(at) ? real_cycles() : look();

	r[REG_RAX] = (greg_t)(cycles & UINT32_MAX);
	r[REG_RDX] = (greg_t)(cycles >> 32);
	if (size == 3)
		r[REG_RCX] = 0;
	r[REG_RIP] += size;
	errno = before;
}

typedef int action_function(int number, const struct sigaction *act, struct sigaction *old);

static int real_action(int number, const struct sigaction *act, struct sigaction *old)
{
	static action_function *real;

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "sigaction");
	return real(number, act, old);
}

/* The adapter keeps its handler for SIGSEGV and passes other faults on to the program's action. */
int sigaction(int number, const struct sigaction *act, struct sigaction *old)
{
	if (number != SIGSEGV || !atomic_load(&state.is_on))
		return real_action(number, act, old);
	if (old)
		*old = theirs;
	if (act)
		theirs = *act;
	return 0;
}

static void trap_counter(void)
{
	struct sigaction a = { .sa_sigaction = on_trap,
			       .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK | SA_RESTART };

	real_action(SIGSEGV, &a, &theirs);
	prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
}

static void free_counter(void)
{
	real_action(SIGSEGV, &theirs, NULL);
	prctl(PR_SET_TSC, PR_TSC_ENABLE, 0, 0, 0);
}

#else

static void trap_counter(void)
{
}

static void free_counter(void)
{
}

#endif

bool verbs_clock_is_on(void)
{
	return atomic_load_explicit(&state.is_on, memory_order_acquire);
}

bool verbs_clock_has(clockid_t which)
{
	return is_of_the_fabric(which);
}

int64_t verbs_clock_left(clockid_t which, const struct timespec *t)
{
	return (int64_t)(to_ns(t) - state.begin[which] - look());
}

uint64_t verbs_clock_ps(void)
{
	return (look() - atomic_load(&state.waited)) * 1000;
}

clockid_t verbs_clock_of(const struct timespec *t)
{
	/* CLOCK_MONOTONIC counts from the start of the machine. */
	return to_ns(t) > state.begin[CLOCK_REALTIME] / 2 ? CLOCK_REALTIME : CLOCK_MONOTONIC;
}

void verbs_clock_start(void)
{
	struct timespec t;

	for (clockid_t i = 0; i < CLOCKS; i++)
		if (verbs_real_clock(i, &t) == 0)
			state.begin[i] = to_ns(&t);
	verbs_waits_reset();
	atomic_store(&state.is_on, true);
	trap_counter();
}

void verbs_clock_stop(void)
{
	if (atomic_exchange(&state.is_on, false))
		free_counter();
}
