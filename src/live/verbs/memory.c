/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "live/verbs/verbs_internal.h"

/* ---- locks */

static void lock_init(pthread_mutex_t *lock)
{
	pthread_mutexattr_t a;

	pthread_mutexattr_init(&a);
	pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(lock, &a);
	pthread_mutexattr_destroy(&a);
}

void verbs_row_clear(pthread_mutex_t *lock, uint32_t *has_lock, size_t size)
{
	char *rest = (char *)(has_lock + 1);

	if (!*has_lock)
		lock_init(lock);
	*has_lock = 1;
	verbs_lock(lock);
	memset(rest, 0, size - (size_t)(rest - (char *)lock));
	verbs_unlock(lock);
}

int verbs_lock(pthread_mutex_t *lock)
{
	if (pthread_mutex_lock(lock) != EOWNERDEAD)
		return 0;
	pthread_mutex_consistent(lock);
	return 1;
}

void verbs_unlock(pthread_mutex_t *lock)
{
	pthread_mutex_unlock(lock);
}

/* ---- memory of this program: blocks of 2^k bytes, with lists of free blocks */

enum { LEAST = 6, CLASSES = 36, PAGE = 4096 };

static struct {
	pthread_mutex_t lock;
	uint64_t end; /* end of the used part */
	size_t size;
	struct {
		uint64_t *offsets;
		size_t n, cap;
	} unused[CLASSES];
} arena; /* arena_start */

static unsigned class_of(size_t size)
{
	unsigned k = LEAST;

	while (((size_t)1 << k) < size)
		k++;
	return k;
}

void *verbs_memory_map(int file, size_t *out)
{
	struct stat s;

	/* The owner has sealed the size. */
	if (fstat(file, &s) != 0 || (size_t)s.st_size < sizeof(struct program_memory))
		return MAP_FAILED;
	size_t size = *out = (size_t)s.st_size;
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);

	if (at != MAP_FAILED) {
		madvise(at, size, MADV_DONTDUMP);
		madvise(at, size, MADV_DONTFORK);
	}
	return at;
}

static void arena_start(void)
{
	for (unsigned k = 0; k < CLASSES; k++) {
		free(arena.unused[k].offsets);
		memset(&arena.unused[k], 0, sizeof(arena.unused[k]));
	}
	pthread_mutex_init(&arena.lock, NULL);
	arena.end = (sizeof(struct program_memory) + PAGE - 1) / PAGE * PAGE;
}

static uint64_t memory_size(void)
{
	unsigned bits = MEMORY_MAX_BITS;
	struct rlimit limit;

	if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
		return UINT64_C(1) << bits;
	while (bits > MEMORY_MIN_BITS && UINT64_C(8) << bits > limit.rlim_cur)
		bits--;
	return UINT64_C(1) << bits;
}

int verbs_memory_create(struct program_memory **out, int *file)
{
	int fd = memfd_create("heddle-adapter", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	uint64_t size = memory_size();
	void *at = MAP_FAILED;

	if (fd >= 0 && ftruncate(fd, (off_t)size) == 0 &&
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0)
		at = verbs_memory_map(fd, &arena.size);
	if (at == MAP_FAILED) {
		int error = errno;

		if (fd >= 0)
			close(fd);
		return error;
	}
	*out = at;
	*file = fd;
	(*out)->head.magic = LIVE_MEMORY_MAGIC;
	(*out)->head.pid = getpid();
	lock_init(&(*out)->atomics);
	arena_start();
	return 0;
}

uint64_t verbs_memory_alloc(size_t size)
{
	unsigned k = class_of(size);
	uint64_t offset = 0;

	pthread_mutex_lock(&arena.lock);
	if (k < CLASSES && arena.unused[k].n > 0) {
		offset = arena.unused[k].offsets[--arena.unused[k].n];
	} else if (k < CLASSES) {
		uint64_t step = UINT64_C(1) << k;
		uint64_t align = step < PAGE ? step : PAGE;
		uint64_t at = (arena.end + align - 1) / align * align;

		if (at + step <= arena.size) {
			offset = at;
			arena.end = at + step;
		}
	}
	pthread_mutex_unlock(&arena.lock);
	return offset;
}

void verbs_memory_free(uint64_t offset, size_t size)
{
	unsigned k = class_of(size);
	char *at = memory_at(verbs_adapter.memory, offset);

	/* Returns the pages of large blocks to the system; clears small blocks. */
	if (((size_t)1 << k) < PAGE || madvise(at, (size_t)1 << k, MADV_REMOVE) != 0)
		memset(at, 0, size);
	pthread_mutex_lock(&arena.lock);
	if (arena.unused[k].n == arena.unused[k].cap) {
		size_t cap = arena.unused[k].cap * 2 + 16;
		uint64_t *more = realloc(arena.unused[k].offsets, cap * sizeof(*more));

		if (more) {
			arena.unused[k].offsets = more;
			arena.unused[k].cap = cap;
		}
	}
	if (arena.unused[k].n < arena.unused[k].cap)
		arena.unused[k].offsets[arena.unused[k].n++] = offset;
	pthread_mutex_unlock(&arena.lock);
}

/* ---- numbers */

int32_t verbs_id_alloc(struct id_pool *n)
{
	if (!n->taken)
		n->taken = calloc(n->most, 1);
	if (!n->taken || n->used == n->most)
		return NO_INDEX;
	while (n->taken[n->next])
		n->next = (n->next + 1) % n->most;
	int32_t number = (int32_t)n->next;

	n->taken[number] = 1;
	n->used++;
	n->next = (n->next + 1) % n->most;
	return number;
}

void verbs_id_free(struct id_pool *n, int32_t number)
{
	n->taken[number] = 0;
	n->used--;
}
