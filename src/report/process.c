/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Fields of /proc/PID/stat, counted from 1. */
#define STATE_FIELD 3
#define START_FIELD 22

/* Start time of process `pid`; "" if it does not exist or is a zombie. */
static void read_start(long pid, char *start, size_t size)
{
	char path[64], line[1024];

	start[0] = '\0';
	snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
	FILE *f = fopen(path, "r");

	if (!f)
		return;
	char *at = fgets(line, sizeof(line), f);

	fclose(f);
	/* The name, in brackets, may hold blanks and brackets itself. */
	at = at ? strrchr(at, ')') : NULL;
	for (unsigned field = 2; at && field < START_FIELD; field++) {
		at = strchr(at + 1, ' ');
		if (at && field + 1 == STATE_FIELD && at[1] == 'Z')
			return;
	}
	if (at)
		snprintf(start, size, "%.*s", (int)strcspn(at + 1, " "), at + 1);
}

static void name_host(char *host, size_t size)
{
	if (gethostname(host, size) != 0)
		host[0] = '\0';
	host[size - 1] = '\0';
}

void process_identify(struct strbuf *out)
{
	char host[64], start[32];

	name_host(host, sizeof(host));
	read_start((long)getpid(), start, sizeof(start));
	strbuf_printf(out, "%s %ld %s", host, (long)getpid(), start);
}

bool process_is_there(const char *identity)
{
	char here[64], now[32];
	size_t host = strcspn(identity, " ");
	char *end;

	name_host(here, sizeof(here));
	if (!identity[host])
		return false;
	if (strlen(here) != host || strncmp(identity, here, host) != 0)
		return true;
	long pid = strtol(identity + host, &end, 10);

	read_start(pid, now, sizeof(now));
	return now[0] && *end == ' ' && strcmp(now, end + 1) == 0;
}
