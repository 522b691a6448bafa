/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/out_of_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/memory.h"
#include "cli/colour.h"
#include "cli/command.h"
#include "cli/record.h"

/* Memory released before the cleanup, which allocates. */
#define RESERVE ((size_t)256 << 10)
static void *reserve;
static volatile int is_ending;

static void end_of_memory(const char *line)
{
	if (is_ending++)
		_exit(EXIT_ENVIRONMENT);
	cleanup_run();
	cli_print_error("heddle", line);
	memory_limit(UINT64_MAX, end_of_memory);
	free(reserve);
	fflush(stdout);
	record_end(EXIT_ENVIRONMENT);
	_exit(EXIT_ENVIRONMENT);
}

void out_of_memory_guard(void)
{
	reserve = malloc(RESERVE);
	memory_limit(UINT64_MAX, end_of_memory);
}

/* The number after `key` in a small file of /proc or cgroup; or `otherwise`. */
static uint64_t number_in(const char *path, const char *key, uint64_t otherwise)
{
	FILE *in = fopen(path, "re");
	char line[256];
	size_t skip = strlen(key);

	if (!in)
		return otherwise;
	while (fgets(line, sizeof(line), in)) {
		const char *text = line + skip;

		text += strspn(text, " ");
		if (strncmp(line, key, skip) == 0 && *text >= '0' && *text <= '9') {
			otherwise = strtoull(text, NULL, 10);
			break;
		}
	}
	fclose(in);
	return otherwise;
}

/* Free memory of the cgroup (v2) in this folder. */
static uint64_t room_of_group(const char *folder)
{
	char path[512];

	snprintf(path, sizeof(path), "%.480s/memory.max", folder);
	uint64_t most = number_in(path, "", UINT64_MAX);

	snprintf(path, sizeof(path), "%.480s/memory.current", folder);
	uint64_t now = number_in(path, "", 0);

	return now < most ? most - now : 0;
}

/* Minimum of the free memory of this process's cgroup and its ancestors. */
static uint64_t room_of_groups(void)
{
	static const char root[] = "/sys/fs/cgroup";
	FILE *in = fopen("/proc/self/cgroup", "re");
	char line[384], folder[480];
	uint64_t room = UINT64_MAX;

	while (in && fgets(line, sizeof(line), in)) {
		if (strncmp(line, "0::", 3) != 0)
			continue;
		line[strcspn(line, "\n")] = '\0';
		snprintf(folder, sizeof(folder), "%s%s", root, line + 3);
		for (char *slash; strlen(folder) >= strlen(root);) {
			uint64_t here = room_of_group(folder);

			room = here < room ? here : room;
			slash = strrchr(folder, '/');
			*slash = '\0';
		}
	}
	if (in)
		fclose(in);
	return room;
}

void out_of_memory_limit(uint64_t bytes)
{
	if (bytes == 0) {
		uint64_t free_kib = number_in("/proc/meminfo", "MemAvailable:", UINT64_MAX / 1024);
		uint64_t group = room_of_groups();

		bytes = free_kib * 1024;
		bytes = (group < bytes ? group : bytes) / 10 * 9;
	}
	memory_limit(bytes, end_of_memory);
}
