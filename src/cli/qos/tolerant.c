/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/qos/tolerant.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "measure/interval.h"

/* Independent runs, each so many times as long as a source is on. */
#define RUNS  16
#define UNITS 5000

static const struct column request_columns[] = {
	{ "source", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "destination", NULL, VALUE_TEXT, ORIGIN_GIVEN, 0 },
	{ "sl", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "peak", "Mb/s", VALUE_REAL, ORIGIN_GIVEN, 3 },
	{ "mean", "Mb/s", VALUE_REAL, ORIGIN_GIVEN, 3 },
	{ "admitted", NULL, VALUE_BOOL, ORIGIN_COMPUTED, 0 },
	{ "by peak", NULL, VALUE_BOOL, ORIGIN_COMPUTED, 0 },
	{ "reason", NULL, VALUE_TEXT, ORIGIN_COMPUTED, 0 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

static const struct column link_columns[] = {
	{ "link", NULL, VALUE_TEXT, ORIGIN_COMPUTED, 0 },
	{ "sources", NULL, VALUE_UINT, ORIGIN_COMPUTED, 0 },
	{ "asked", "%", VALUE_REAL, ORIGIN_GIVEN, 4 },
	{ "bound", "%", VALUE_REAL, ORIGIN_COMPUTED, 4 },
	{ "seen", "%", VALUE_REAL, ORIGIN_SIMULATED, 4 },
	{ "seen +-", "%", VALUE_REAL, ORIGIN_SIMULATED, 4 },
	{ NULL, NULL, VALUE_NONE, ORIGIN_GIVEN, 0 },
};

struct table *tolerant_requests(struct results *r)
{
	return results_table(r, "requests", "in the order of the file",
			     request_columns);
}

void tolerant_put(struct table *t, const struct tolerant_answer *a)
{
	table_put_text(t, a->source);
	table_put_text(t, a->destination);
	table_put_uint(t, a->sl);
	table_put_rate(t, a->peak);
	table_put_rate(t, a->mean);
	table_put_bool(t, a->admitted);
	table_put_bool(t, a->by_peak);
	table_put_text(t, a->reason);
}

/* What was seen of one link, run by run; the runs are `stride` apart. */
static struct interval seen_of(const double *seen, size_t stride, port_id port)
{
	double runs[RUNS];

	for (size_t i = 0; i < RUNS; i++)
		runs[i] = seen[i * stride + port];
	return interval_of(runs, RUNS, 0.95);
}

bool tolerant_links(struct results *r, const struct stat_broker *b,
		    uint64_t seed)
{
	const struct topo *topo = b->subnet->topo;
	size_t n = topo->n_ports;
	double *seen = hd_alloc(RUNS * n, sizeof(*seen));
	struct table *t = results_table(
		r, "violations",
		"how often a link is asked for more than it has", link_columns);
	bool kept = true;

	for (uint64_t i = 0; i < RUNS; i++)
		stat_broker_watch(b, seed + i, UNITS, &seen[i * n]);
	for (port_id p = 0; p < n; p++) {
		if (stat_broker_users(b, p) < 2)
			continue;
		struct interval s = seen_of(seen, n, p);

		kept = kept && s.mean <= b->allowed;
		table_put_textf(t, "%s[%u]", topo_node_of(topo, p)->name,
				topo->ports[p].number);
		table_put_uint(t, stat_broker_users(b, p));
		table_put_real(t, 100 * b->allowed);
		table_put_real(t, 100 * stat_broker_bound(b, p));
		table_put_real(t, 100 * s.mean);
		table_put_real(t, 100 * s.half_width);
	}
	free(seen);
	return kept;
}
