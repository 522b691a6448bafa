/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "live/clock/engine.h"
#include "live/futex.h"
#include "live/protocol.h"

/* ---- list of programs */

static struct program *program_map(struct engine *e, uint32_t number)
{
	const struct asked a = { LIVE_ASK_MEMORY, &number, sizeof(number) };
	size_t size = 0;
	int file = -1;

	if (clock_ask_daemon(e, &a, NULL, &size, &file) != 0 || file < 0)
		return NULL;
	void *memory =
		mmap(NULL, sizeof(struct live_memory), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);

	close(file);
	if (memory == MAP_FAILED)
		return NULL;
	struct program *p = hd_alloc(1, sizeof(*p));

	p->number = number;
	p->memory = memory;
	p->bell = -1;
	atomic_store(&p->memory->clock.now, engine_now(e));
	atomic_store(&p->memory->clock.is_kept, 1);
	live_wake(&p->memory->clock.called);
	return p;
}

static void threads_close(struct program *p)
{
	for (size_t i = 0; i < p->n_threads; i++)
		close(p->threads[i].file);
	p->n_threads = 0;
}

static void program_end(struct engine *e, uint32_t number)
{
	struct program *p = e->programs[number];

	e->programs[number] = NULL;
	clock_pairs_forget(e, p);
	munmap(p->memory, sizeof(*p->memory));
	if (p->bell >= 0)
		close(p->bell);
	threads_close(p);
	free(p->threads);
	free(p);
}

void clock_programs_look(struct engine *e)
{
	uint32_t numbers[LIVE_PROGRAMS];
	size_t size = sizeof(numbers);
	const struct asked a = { LIVE_ASK_ALL, NULL, 0 };

	if (clock_ask_daemon(e, &a, numbers, &size, NULL) != 0)
		size = 0;
	for (uint32_t i = 0; i < e->n_programs; i++)
		if (e->programs[i])
			e->programs[i]->seen = !atomic_load(&e->programs[i]->memory->gone);
	for (uint32_t i = 0; i < e->n_programs; i++)
		if (e->programs[i] && !e->programs[i]->seen)
			program_end(e, i);
	for (size_t i = 0; i < size / sizeof(numbers[0]); i++) {
		if (numbers[i] >= LIVE_PROGRAMS || e->programs[numbers[i]])
			continue;
		e->programs[numbers[i]] = program_map(e, numbers[i]);
		if (numbers[i] >= e->n_programs)
			e->n_programs = numbers[i] + 1;
	}
}

void clock_programs_free(struct engine *e)
{
	for (uint32_t i = 0; i < e->n_programs; i++)
		if (e->programs[i])
			program_end(e, i);
}

/* ---- notes to programs */

/* Opens the program's bell, a pipe; or -1. */
static int bell_of(struct program *p)
{
	if (p->bell < 0) {
		char path[64];

		snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)p->memory->pid,
			 (int)p->memory->clock.bell);
		p->bell = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	}
	return p->bell;
}

static void ring(struct program *p)
{
	static const struct live_ring nothing;
	int bell = bell_of(p);

	if (bell >= 0)
		(void)!write(bell, &nothing, sizeof(nothing));
}

void clock_program_notify(struct engine *e, struct program *p, const struct live_note *n)
{
	struct live_clock *c = &p->memory->clock;
	uint64_t at = atomic_load(&c->told);

	while (at - atomic_load(&c->heard) >= LIVE_NOTES && !atomic_load(&p->memory->gone)) {
		ring(p);
		(void)!clock_pairs_take(e);
		sched_yield();
	}
	c->notes[at % LIVE_NOTES] = *n;
	atomic_store(&c->now, engine_now(e));
	atomic_store(&c->told, at + 1);
	live_wake(&c->called);
	p->rings = 0;
}

/* True if the deadline of a wait has come and the thread has not ended the wait yet. */
static bool has_alarm(const struct program *p)
{
	const struct live_clock *c = &p->memory->clock;
	uint64_t alarm = atomic_load(&c->alarm);

	return alarm && alarm <= atomic_load(&c->now);
}

void clock_programs_time(struct engine *e)
{
	hd_time now = engine_now(e);

	for (uint32_t i = 0; i < e->n_programs; i++) {
		const struct program *p = e->programs[i];

		if (!p)
			continue;
		atomic_store(&p->memory->clock.now, now);
		if (has_alarm(p))
			live_wake(&p->memory->clock.called);
	}
}

hd_time clock_programs_alarm(const struct engine *e)
{
	hd_time first = HD_TIME_NEVER;

	for (uint32_t i = 0; i < e->n_programs; i++) {
		const struct program *p = e->programs[i];
		uint64_t alarm = p && !atomic_load(&p->memory->gone)
					 ? atomic_load(&p->memory->clock.alarm)
					 : 0;

		if (alarm && alarm < first)
			first = alarm;
	}
	return first;
}

bool clock_programs_need_time(const struct engine *e)
{
	for (uint32_t i = 0; i < e->n_programs; i++) {
		const struct program *p = e->programs[i];

		if (p && !atomic_load(&p->memory->gone) &&
		    (atomic_load(&p->memory->clock.alarm) ||
		     atomic_load(&p->memory->clock.polls) >= LIVE_PATIENCE))
			return true;
	}
	return false;
}

/* ---- whether programs wait */

/* State of a program's threads, from /proc. */
struct threads {
	bool sleep;
	uint64_t used; /* processor time in ticks, without the helper thread's */
	uint64_t n;    /* of the process, as a thread's line says */
};

/* Threads that wait for a page or are stopped (states D, T) still have work. */
static bool is_asleep(char state)
{
	return strchr("SIZX", state) != NULL;
}

static bool thread_look(const struct program *p, const struct thread_stat *t, struct threads *out)
{
	char text[512];
	ssize_t got = pread(t->file, text, sizeof(text) - 1, 0);

	text[got > 0 ? got : 0] = '\0';
	char *rest = strrchr(text, ')');

	if (!rest || rest[1] != ' ')
		return false;
	out->sleep &= is_asleep(rest[2]);
	/* utime and stime are the 12th and 13th fields after the name, num_threads the 18th. */
	for (unsigned i = 0; i < 12; i++) {
		rest = strchr(rest + 1, ' ');
		if (!rest)
			return false;
	}
	uint64_t utime = strtoull(rest, &rest, 10), stime = strtoull(rest, &rest, 10);

	if (t->tid != p->memory->clock.helper)
		out->used += utime + stime;
	for (unsigned i = 0; i < 4; i++)
		(void)strtoll(rest, &rest, 10);
	out->n = strtoull(rest, NULL, 10);
	return true;
}

static void threads_open(struct program *p)
{
	char path[320];

	threads_close(p);
	snprintf(path, sizeof(path), "/proc/%d/task", (int)p->memory->pid);
	DIR *dir = opendir(path);
	const struct dirent *d;

	while (dir && (d = readdir(dir))) {
		if (d->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/proc/%d/task/%s/stat", (int)p->memory->pid,
			 d->d_name);
		int file = open(path, O_RDONLY | O_CLOEXEC);

		if (file < 0)
			continue;
		p->threads =
			hd_grow(p->threads, &p->threads_cap, p->n_threads + 1, sizeof(*p->threads));
		p->threads[p->n_threads++] =
			(struct thread_stat){ file, strtol(d->d_name, NULL, 10) };
	}
	if (dir)
		closedir(dir);
}

/* False: a thread has ended. */
static bool threads_read(const struct program *p, struct threads *out)
{
	bool all = true;

	*out = (struct threads){ .sleep = true };
	for (size_t i = 0; i < p->n_threads; i++)
		all &= thread_look(p, &p->threads[i], out);
	return all;
}

/* The files stay open while the threads are the same: opening them costs more than a read. */
static struct threads threads_look(struct program *p)
{
	struct threads all;

	if (p->n_threads == 0 || !threads_read(p, &all) || all.n != p->n_threads) {
		threads_open(p);
		(void)threads_read(p, &all);
	}
	return all;
}

/* A program that uses PATIENCE ticks of processor time without a request spins. */
static bool is_patient(struct program *p, uint64_t used)
{
	enum { PATIENCE = 2 };
	const struct live_clock *c = &p->memory->clock;
	uint64_t words = atomic_load(&c->posted) + atomic_load(&c->heard);

	if (!p->patience.is_known || p->patience.words != words) {
		p->patience.is_known = true;
		p->patience.used = used;
		p->patience.words = words;
	}
	return used - p->patience.used < PATIENCE;
}

/*
 * Rings the bell of a program that has not read its notes: the helper thread reads them if the
 * program does not poll.
 */
static void remind(struct program *p)
{
	enum { TURNS = 4 };

	if (p->rings++ % TURNS == TURNS - 1)
		ring(p);
}

static bool has_heard(struct program *p)
{
	const struct live_clock *c = &p->memory->clock;

	if (atomic_load(&c->heard) == atomic_load(&c->told) || atomic_load(&p->memory->gone))
		return true;
	remind(p);
	return false;
}

/* True if the helper has processed all notifications of peers, which may raise events. */
static bool has_answered(struct program *p)
{
	int unread = 0;

	/* This order is required: the helper sets is_answering before it reads. */
	return bell_of(p) < 0 || (ioctl(p->bell, FIONREAD, &unread) == 0 && unread == 0 &&
				  !atomic_load(&p->memory->clock.is_answering));
}

static bool program_waits(struct program *p)
{
	const struct live_clock *c = &p->memory->clock;

	if (atomic_load(&p->memory->gone))
		return true;
	if (has_alarm(p))
		return false;
	if (!has_heard(p) || !has_answered(p))
		return false;
	if (atomic_load(&c->posted) != atomic_load(&c->taken))
		return false;
	if (atomic_load(&c->polls) >= LIVE_PATIENCE)
		return true;
	const struct threads t = threads_look(p);

	/* The program may have run since the states of its threads were read. */
	return (t.sleep || !is_patient(p, t.used)) &&
	       atomic_load(&c->posted) == atomic_load(&c->taken);
}

/*
 * Waits until the program posts a request, for a short time only: it may sleep or spin without
 * one.
 */
static void await(struct program *p, uint32_t seen)
{
	enum { SHORT = 200000 }; /* ns */

	live_sleep(&p->memory->clock.waits, seen, SHORT);
}

/* Begins with the program that did not wait the last time: most probably it still does not. */
static bool each(struct engine *e, bool (*is_so)(struct program *p))
{
	const uint32_t first = e->busy;

	for (uint32_t i = 0; i < e->n_programs; i++) {
		uint32_t number = (first + i) % e->n_programs;
		struct program *p = e->programs[number];
		uint32_t seen = p ? atomic_load(&p->memory->clock.waits) : 0;

		if (p && !is_so(p)) {
			e->busy = number;
			await(p, seen);
			return false;
		}
	}
	return true;
}

bool clock_programs_have_read(struct engine *e)
{
	return each(e, has_heard);
}

bool clock_programs_wait(struct engine *e)
{
	if (!each(e, program_waits))
		return false;
	for (uint32_t i = 0; i < e->n_programs; i++)
		if (e->programs[i])
			e->programs[i]->patience.is_known = false;
	return true;
}
