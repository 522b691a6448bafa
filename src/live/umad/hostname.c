/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "live/place.h"

/*
 * gethostname() and uname() of programs started by 'heddle live exec --hostname' return the name
 * of the simulated host.
 */

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name) */
int uname(struct utsname *out)
{
	char host[LIVE_NAME];

	if (syscall(SYS_uname, out) != 0)
		return -1;
	if (getenv(LIVE_HOSTNAME) && live_place_of_program(host)) {
		memset(out->nodename, 0, sizeof(out->nodename));
		memcpy(out->nodename, host, strnlen(host, sizeof(out->nodename) - 1));
	}
	return 0;
}

int gethostname(char *name, size_t size)
{
	struct utsname u;

	if (uname(&u) != 0)
		return -1;
	size_t length = strlen(u.nodename) + 1;

	memcpy(name, u.nodename, length < size ? length : size);
	if (length <= size)
		return 0;
	errno = ENAMETOOLONG;
	return -1;
}
/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
