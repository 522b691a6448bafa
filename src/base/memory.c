/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/memory.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Bytes taken between two looks at what is in use: a share of the limit. */
#define LOOK_SHARE 32
#define LOOK_LEAST ((size_t)4 << 10)
#define LOOK_MOST  ((size_t)4 << 20)

static struct {
	uint64_t most;     /* bytes; UINT64_MAX: no limit */
	uint64_t at_first; /* in use when the limit was set */
	size_t look_every; /* bytes */
	memory_end_fn *end;
} limit = { .most = UINT64_MAX, .look_every = LOOK_MOST };

/* Per thread: the name of the data under construction, and the bytes since the last check. */
static _Thread_local const char *subject = "its results";
static _Thread_local size_t taken;

/* Innermost handler of a caller that survives exhausted memory. */
struct refuge {
	jmp_buf back;
	char *line;
	struct refuge *outer;
};
static _Thread_local struct refuge *refuge;

const char *memory_for(const char *what)
{
	const char *before = subject;

	subject = what;
	return before;
}

/*
 * Private writable memory of the process in bytes, as the kernel counts it:
 * also what no caller of ours took, and what is mapped and not yet touched.
 */
static uint64_t in_use(void)
{
	char text[128];
	unsigned long long data = 0;
	int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	char *at = text;

	for (int field = 0; field < 6; field++)
		data = strtoull(at, &at, 10);
	return data * (uint64_t)sysconf(_SC_PAGESIZE);
}

void memory_limit(uint64_t bytes, memory_end_fn *end)
{
	uint64_t share = bytes / LOOK_SHARE;

	limit.most = bytes;
	limit.look_every = share > LOOK_MOST    ? LOOK_MOST
			   : share < LOOK_LEAST ? LOOK_LEAST
						: (size_t)share;
	limit.at_first = in_use();
	limit.end = end;
}

uint64_t memory_used(void)
{
	uint64_t now = in_use();

	return now > limit.at_first ? now - limit.at_first : 0;
}

uint64_t memory_room(void)
{
	if (limit.most == UINT64_MAX)
		return UINT64_MAX;
	uint64_t now = memory_used();

	return now < limit.most ? limit.most - now : 0;
}

void memory_divide(unsigned n)
{
	uint64_t room = memory_room();

	if (room != UINT64_MAX)
		memory_limit(room / n, limit.end);
}

/* Without memory: "1.5 GB" into `out`. */
static const char *print_size(double bytes, char out[static 32])
{
	static const char *const units[] = { "bytes", "kB", "MB", "GB", "TB" };
	unsigned i = 0;

	for (; bytes >= 1000 && i + 1 < sizeof(units) / sizeof(*units); i++)
		bytes /= 1000;
	snprintf(out, 32, i && bytes < 100 ? "%.1f %s" : "%.0f %s", bytes, units[i]);
	return out;
}

enum hd_status memory_expect(double bytes, const char *what, struct diag *d)
{
	char need[32], room[32];
	uint64_t left = memory_room();

	if (left == UINT64_MAX || bytes <= (double)left)
		return HD_OK;
	return diag_fail(d, HD_ERR_ENV, "%s needs about %s of memory; --memory leaves %s", what,
			 print_size(bytes, need), print_size((double)left, room));
}

/* NOLINTBEGIN(readability-non-const-parameter): memory_end writes the line */
bool memory_try(void (*work)(void *context), void *context, char line[static MEMORY_LINE])
{
	struct refuge mine = { .line = line, .outer = refuge };
	const char *before = subject;

	refuge = &mine;
	/* NOLINTNEXTLINE(cert-err52-cpp): no caller can continue without memory */
	bool well = setjmp(mine.back) == 0;

	if (well)
		work(context);
	refuge = mine.outer;
	subject = before;
	return well;
}
/* NOLINTEND(readability-non-const-parameter) */

void memory_end(const char *line)
{
	if (refuge) {
		struct refuge *to = refuge;

		snprintf(to->line, MEMORY_LINE, "%s", line);
		/* NOLINTNEXTLINE(cert-err52-cpp) */
		longjmp(to->back, 1);
	}
	if (limit.end)
		limit.end(line);
	fprintf(stderr, "heddle: %s\n", line);
	abort();
}

void memory_take(size_t bytes)
{
	char line[MEMORY_LINE], more[32], now[32], most[32];

	taken = bytes > SIZE_MAX - taken ? SIZE_MAX : taken + bytes;
	if (taken < limit.look_every)
		return;
	taken = 0;
	if (limit.most == UINT64_MAX || bytes <= memory_room())
		return;
	snprintf(line, sizeof(line),
		 "out of memory: %s need %s more; %s are in use of the %s that --memory allows",
		 subject, print_size((double)bytes, more), print_size((double)memory_used(), now),
		 print_size((double)limit.most, most));
	memory_end(line);
}

void memory_refused(size_t bytes)
{
	char line[MEMORY_LINE], more[32];

	if (bytes)
		print_size((double)bytes, more);
	snprintf(line, sizeof(line), "out of memory: the system has no %s%s for %s",
		 bytes ? more : "", bytes ? " more" : "more", subject);
	memory_end(line);
}

void *superlu_malloc(size_t bytes)
{
	memory_take(bytes);
	void *memory = malloc(bytes);

	if (!memory && bytes)
		memory_refused(bytes);
	return memory;
}

/* METIS calls this before it reports a failed allocation. */
size_t gk_GetCurMemoryUsed(void)
{
	memory_refused(0);
}
