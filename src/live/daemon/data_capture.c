/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "live/daemon/daemon_internal.h"

static void stop(struct live *l, enum data_capture state)
{
	if (l->data.state == CAPTURE_RUNS)
		close(l->data.file);
	l->data.state = state;
	adapters_stir(l);
}

void daemon_data_capture_begin(struct live *l, port_id only, int file)
{
	l->data.state = CAPTURE_RUNS;
	l->data.want.serial++;
	l->data.want.port = only;
	l->data.file = file;
	adapters_stir(l);
}

void daemon_data_capture_end(struct live *l)
{
	if (l->data.state == CAPTURE_RUNS)
		stop(l, CAPTURE_ENDS);
	else if (l->data.state != CAPTURE_ENDS)
		l->data.state = CAPTURE_NONE;
}

void daemon_data_capture_lost(struct live *l)
{
	if (l->data.state == CAPTURE_RUNS || l->data.state == CAPTURE_ENDS)
		stop(l, CAPTURE_BROKEN);
}

int daemon_data_capture_asked(struct live *l, node_id v, const void *asked, struct answer *out)
{
	struct live_capture_wanted want = l->data.want;
	uint32_t known;

	(void)v;
	memcpy(&known, asked, sizeof(known));
	if (l->data.state != CAPTURE_RUNS)
		want.serial = 0;
	else if (known != want.serial)
		out->file = fcntl(l->data.file, F_DUPFD_CLOEXEC, 0);
	strbuf_add(&out->bytes, (const char *)&want, sizeof(want));
	return 0;
}

int daemon_data_capture_over(struct live *l, node_id v, const void *asked, struct answer *out)
{
	uint32_t is_whole;

	(void)v;
	memcpy(&is_whole, asked, sizeof(is_whole));
	if (!adapters_is_engine(l, out->slot) || l->data.state != CAPTURE_ENDS)
		return EINVAL;
	l->data.state = is_whole ? CAPTURE_WHOLE : CAPTURE_BROKEN;
	return 0;
}
