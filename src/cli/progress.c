/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/progress.h"

#include <stdio.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "cli/record.h"

#define INTERVAL  0.1 /* seconds between two lines */
#define BAR_WIDTH 24

void progress_begin(struct progress *p, const struct common_options *common, const char *unit,
		    double total)
{
	record_work();
	cleanup_defer_signals();
	*p = (struct progress){ .unit = unit, .total = total };
	if (common->quiet || !isatty(STDERR_FILENO))
		return;
	p->active = true;
	p->begun = p->shown = clock_seconds();
}

/* Prints 1234567 as "1.23 M". */
static void put_count(double count, struct strbuf *out)
{
	static const char prefixes[] = " kMGT";
	unsigned i = 0;

	for (; count >= 1000 && prefixes[i + 1]; i++)
		count /= 1000;
	strbuf_printf(out, count < 10 ? "%.2f" : "%.0f", count);
	if (i)
		strbuf_printf(out, " %c", prefixes[i]);
}

static void put_duration(double seconds, struct strbuf *out)
{
	unsigned long s = (unsigned long)seconds;

	if (s >= 3600)
		strbuf_printf(out, "%lu h %02lu min", s / 3600, s / 60 % 60);
	else if (s >= 60)
		strbuf_printf(out, "%lu min %02lu s", s / 60, s % 60);
	else
		strbuf_printf(out, "%lu s", s);
}

static void put_bar(double share, struct strbuf *out)
{
	size_t full = (size_t)(share * BAR_WIDTH);

	strbuf_putc(out, '[');
	strbuf_pad(out, '#', full);
	strbuf_pad(out, '.', BAR_WIDTH - full);
	strbuf_printf(out, "] %3.0f %%  ", share * 100);
}

void progress_line(const struct progress *p, double done, double seconds, struct strbuf *out)
{
	double share = p->total > 0 ? done / p->total : 0;
	double rate = seconds > 0 ? done / seconds : 0;

	share = share > 1 ? 1 : share;
	if (p->total > 0)
		put_bar(share, out);
	put_count(done, out);
	strbuf_printf(out, " %s, ", p->unit);
	put_count(rate, out);
	strbuf_puts(out, "/s");
	if (share <= 0)
		return;
	strbuf_puts(out, ", ");
	put_duration(seconds / share - seconds, out);
	strbuf_puts(out, " left");
}

static void show_line(struct progress *p, double done)
{
	double t = clock_seconds();

	if (t - p->shown < INTERVAL)
		return;
	struct strbuf line = STRBUF_INIT;

	p->shown = t;
	progress_line(p, done, t - p->begun, &line);
	/* Moves to the start of the line and clears the rest of a longer line. */
	fprintf(stderr, "\r%s\033[K", line.text);
	fflush(stderr);
	strbuf_fini(&line);
}

bool progress_show(struct progress *p, double done)
{
	if (p->active)
		show_line(p, done);
	return !cleanup_signal_is_pending();
}

void progress_end(struct progress *p)
{
	if (p->active)
		fputs("\r\033[K", stderr);
	p->active = false;
}

bool progress_count(void *context, double done)
{
	return progress_show(context, done);
}

bool progress_packets(void *context, const struct sim_progress *p)
{
	struct progress *progress = context;

	progress->total = p->share > 0 ? (double)p->delivered / p->share : 0;
	return progress_show(progress, (double)p->delivered);
}
