/* SPDX-License-Identifier: BSD-2-Clause */
#include <math.h>
#include <string.h>

#include "bench/bench.h"

/*
 * LogGP from what was measured: overheads are what the processor spends on a
 * message, the latency is what is left of the smallest message's, the gap is
 * the time between small messages, and the gap per byte is the slope of
 * latency over size (least squares over sizes of some packets and more).
 */

#define SLOPE_FROM 8192

static const struct bench_row *smallest(const struct bench_rows *rows, const char *test)
{
	const struct bench_row *best = NULL;

	for (size_t i = 0; i < rows->n; i++) {
		const struct bench_row *row = &rows->items[i];

		if (strcmp(row->test->name, test) != 0)
			continue;
		if (!best || row->params.size < best->params.size)
			best = row;
	}
	return best;
}

/* us per byte; NAN if there are too few sizes. */
static double slope(const struct bench_rows *rows)
{
	double n = 0, x = 0, y = 0, xx = 0, xy = 0;

	for (size_t i = 0; i < rows->n; i++) {
		const struct bench_row *row = &rows->items[i];
		double size = (double)row->params.size;

		if (strcmp(row->test->name, "send-lat") != 0 || row->params.size < SLOPE_FROM)
			continue;
		n++;
		x += size;
		y += row->average;
		xx += size * size;
		xy += size * row->average;
	}
	return n < 2 ? NAN : (n * xy - x * y) / (n * xx - x * x);
}

void bench_show_loggp(const struct bench_rows *rows, struct results *r)
{
	struct loggp_row {
		double l, o_send, o_receive, g, g2, n_1_g;
	};

	static const struct column columns[] = {
		{ "L", "us", CELL(loggp_row, l), ORIGIN_COMPUTED, 3 },
		{ "o send", "us", CELL(loggp_row, o_send), ORIGIN_COMPUTED, 3 },
		{ "o receive", "us", CELL(loggp_row, o_receive), ORIGIN_COMPUTED, 3 },
		{ "g", "us", CELL(loggp_row, g), ORIGIN_COMPUTED, 3 },
		{ "G", "ns/B", CELL(loggp_row, g2), ORIGIN_COMPUTED, 4 },
		{ "1/G", "MB/s", CELL(loggp_row, n_1_g), ORIGIN_COMPUTED, 1 },
		{ NULL },
	};
	const struct bench_row *post = smallest(rows, "post-send");
	const struct bench_row *poll = smallest(rows, "poll-full");
	const struct bench_row *lat = smallest(rows, "send-lat");
	const struct bench_row *bw = smallest(rows, "send-bw");
	double per_byte = slope(rows);

	if (!post || !poll || !lat || !bw || isnan(per_byte))
		return;
	struct table *t =
		results_record(r, "loggp", "LogGP's parameters, fitted to the above", columns);

	const struct loggp_row row = {
		.l = lat->average - post->average - poll->average,
		.o_send = post->average,
		.o_receive = poll->average,
		.g = bw->rate > 0 ? 1 / bw->rate : NAN,
		.g2 = 1e3 * per_byte,
		.n_1_g = 1 / per_byte,
	};

	table_put_row(t, &row);
}
