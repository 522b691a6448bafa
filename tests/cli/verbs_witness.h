/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_TESTS_CLI_VERBS_WITNESS_H
#define HD_TESTS_CLI_VERBS_WITNESS_H

/* What witnesses of programs that meet tell each other, and bytes. */

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { LINES = 256, KEPT = 1 << 15, EDGE = 8 };

/* ---- per queue pair, what it sent */

struct note {
	uint32_t to, length;
	uint64_t hash;
};

struct line {
	_Atomic uint32_t qpn; /* 0: free */
	pid_t pid;
	_Atomic uint64_t sent;
	struct note notes[KEPT];
};

static struct line *lines;

static inline struct line *line_of(uint32_t qpn, bool makes)
{
	for (uint32_t i = 0; lines && i < LINES; i++) {
		struct line *l = &lines[(qpn + i) % LINES];
		uint32_t none = 0;

		if (atomic_load(&l->qpn) == qpn)
			return l;
		if (makes && atomic_compare_exchange_strong(&l->qpn, &none, qpn)) {
			l->pid = getpid();
			return l;
		}
	}
	return NULL;
}

static inline void ledger_open(const char *name)
{
	const size_t size = LINES * sizeof(struct line);
	int file = name ? open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;

	if (file < 0 || ftruncate(file, (off_t)size) != 0)
		return;
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);

	close(file);
	lines = at == MAP_FAILED ? NULL : at;
}

static inline void ledger_add(struct line *l, const struct note *n)
{
	uint64_t at = atomic_load(&l->sent);

	l->notes[at % KEPT] = *n;
	atomic_store(&l->sent, at + 1);
}

/* Of or to the memory of whose queue pair that is; false if it is gone. An
 * adapter's own calls may be spoilt (verbs_spoil.c), this one is not. */
static inline bool reach(uint32_t qpn, long call, uint64_t there, void *here, size_t length)
{
	const struct line *l = line_of(qpn, false);
	struct iovec mine = { here, length };
	struct iovec theirs = { (void *)(uintptr_t)there, length };

	return l && syscall(call, l->pid, &mine, 1UL, &theirs, 1UL, 0UL) == (long)length;
}

/* ---- bytes */

static inline uint64_t stir(uint64_t x)
{
	x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
	x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
	return x ^ x >> 31;
}

static inline uint64_t hash_of(const uint8_t *at, size_t length)
{
	uint64_t hash = stir(length + 1), word;

	for (; length >= sizeof(word); length -= sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		hash = stir(hash ^ word) + 1;
		at += sizeof(word);
	}
	word = 0;
	memcpy(&word, at, length);
	return stir(hash ^ word);
}

static inline bool is_perftest(void)
{
	return strncmp(program_invocation_short_name, "ib_", 3) == 0;
}

/*
 * Fills the inside with bytes that no message had yet, if it does not matter
 * what is there: in a benchmark of perftest, or if it is as large as only data
 * are and has only one byte in it, or bytes of ours. No two queue pairs draw
 * the same.
 */
static inline bool fill(uint8_t *at, size_t length, uint32_t qpn)
{
	enum { DATA = 4096 };
	static const char mark[8] = "witness";
	static uint64_t number;

	if (length < 2 * EDGE + sizeof(mark) || (!is_perftest() && length < DATA))
		return false;
	at += EDGE;
	length -= 2 * EDGE;
	if (!is_perftest() && memcmp(at, mark, sizeof(mark)) != 0 &&
	    memcmp(at, at + 1, length - 1) != 0)
		return false;
	uint64_t seed = stir((uint64_t)qpn << 32 | ++number);

	for (size_t i = 0; i < length; i++) {
		if (i % 8 == 0)
			seed = stir(seed + i);
		at[i] = (uint8_t)(seed >> 8 * (i % 8));
	}
	memcpy(at, mark, sizeof(mark));
	return true;
}

#endif
