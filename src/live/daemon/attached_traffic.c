/* SPDX-License-Identifier: BSD-2-Clause */
/* Traffic rows of 'live traffic', which the engine of the simulated clock simulates. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "live/daemon/daemon_internal.h"

static void end(struct live *l, const char *status, const char *text)
{
	if (l->traffic.file >= 0)
		close(l->traffic.file);
	l->traffic.file = -1;
	l->traffic.state = TRAFFIC_ENDED;
	strbuf_clear(&l->traffic.text);
	strbuf_printf(&l->traffic.text, "%s %s", status, text);
}

void daemon_traffic_lost(struct live *l)
{
	if (l->traffic.state == TRAFFIC_RUNS || l->traffic.state == TRAFFIC_ENDS)
		end(l, "4", "heddle: the engine of the simulated clock has ended\n");
}

void daemon_traffic_fini(struct live *l)
{
	if (l->traffic.file >= 0)
		close(l->traffic.file);
	strbuf_fini(&l->traffic.text);
}

enum hd_status daemon_traffic_attach(struct live *l, const char *const *words, size_t n,
				     struct diag *d, struct strbuf *out)
{
	struct adapters_time t;

	adapters_time(l, &t);
	if (!t.is_timed) {
		strbuf_puts(out, "free");
		return HD_OK;
	}
	if (l->traffic.state == TRAFFIC_RUNS || l->traffic.state == TRAFFIC_ENDS)
		return diag_fail(
			d, HD_ERR_FULL,
			"a scenario is attached to this fabric already; wait for the end of its 'live traffic'");
	if (!adapters_has_engine(l))
		return diag_fail(
			d, HD_ERR_ENV,
			"the engine of the simulated clock has ended; run 'live down' and 'live up'");
	if (l->given < 0)
		return diag_fail(d, HD_ERR_USAGE,
				 "call 'attach' needs a file descriptor for the results");
	l->traffic.file = l->given;
	l->given = -1;
	l->traffic.state = TRAFFIC_RUNS;
	l->traffic.serial++;
	strbuf_clear(&l->traffic.text);
	for (size_t i = 0; i < n; i++)
		strbuf_add(&l->traffic.text, words[i], strlen(words[i]) + 1);
	strbuf_printf(out, "%u", (unsigned)l->traffic.serial);
	adapters_stir(l);
	return HD_OK;
}

enum hd_status daemon_traffic_detach(struct live *l, const char *const *words, size_t n,
				     struct diag *d, struct strbuf *out)
{
	(void)words;
	(void)n;
	(void)d;
	(void)out;
	if (l->traffic.state == TRAFFIC_RUNS)
		l->traffic.state = TRAFFIC_ENDS;
	adapters_stir(l);
	return HD_OK;
}

enum hd_status daemon_traffic_state(struct live *l, const char *const *words, size_t n,
				    struct diag *d, struct strbuf *out)
{
	if (n != 1 || strtoul(words[0], NULL, 10) != l->traffic.serial)
		return diag_fail(d, HD_ERR_NOT_FOUND, "no scenario of this number is attached");
	if (l->traffic.state == TRAFFIC_ENDED)
		strbuf_puts(out, l->traffic.text.text);
	return HD_OK;
}

enum hd_status daemon_traffic_done(struct live *l, const char *const *words, size_t n,
				   struct diag *d, struct strbuf *out)
{
	(void)out;
	if (n != 3 || strtoul(words[0], NULL, 10) != l->traffic.serial ||
	    l->traffic.state == TRAFFIC_ENDED)
		return diag_fail(d, HD_ERR_NOT_FOUND, "no scenario of this number is attached");
	end(l, words[1], words[2]);
	return HD_OK;
}

int daemon_traffic_asked(struct live *l, node_id v, const void *asked, struct answer *out)
{
	uint32_t known, serial = l->traffic.serial;

	(void)v;
	memcpy(&known, asked, sizeof(known));
	if (l->traffic.state != TRAFFIC_RUNS)
		serial = 0;
	strbuf_add(&out->bytes, (const char *)&serial, sizeof(serial));
	if (serial == 0 || serial == known)
		return 0;
	out->file = fcntl(l->traffic.file, F_DUPFD_CLOEXEC, 0);
	strbuf_add(&out->bytes, l->traffic.text.text, l->traffic.text.len);
	return 0;
}
