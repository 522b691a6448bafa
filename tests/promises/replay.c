/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Usage: promises_replay MICROSECONDS SCENARIO...
 *
 * Runs the fabric of each scenario, with the arbitration tables and routes that
 * its reservations and faults make, in the engine and in the oracle, and
 * compares the end of every packet and all counters. Rows must be of kind cbr
 * with 'aligned: true' and one destination: their packets are made here.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "fabric/fabric.h"
#include "replay.h"

struct arrivals {
	struct sim_arrival *list;
	size_t n, cap;
};

static void arrivals_add(struct arrivals *a, const struct sim_flow *f, uint32_t flow, uint64_t k)
{
	const struct sim_address *to = &f->to.list[0];
	bool global = to->target != TOPO_NONE;

	if (a->n == a->cap) {
		a->cap = a->cap ? 2 * a->cap : 1024;
		a->list = hd_realloc(a->list, a->cap, sizeof(*a->list));
	}
	a->list[a->n++] = (struct sim_arrival){
		.time = f->start + k * f->interval.num / f->interval.den,
		.flow = flow,
		.sequence = (uint32_t)k,
		.source = f->source,
		.dlid = to->dlid,
		.target = to->target,
		.pkey = f->pkey,
		.bytes = f->bytes + (global ? f->grh_bytes : 0),
		.sl = f->sl,
		.global = global,
		.tclass = f->tclass,
		.hop_limit = f->hop_limit,
	};
}

static bool flow_is_plain(const struct sim_flow *f)
{
	return f->kind == SIM_CBR && !f->random_phase && f->packets == 1 &&
	       f->to.choice == SIM_TO_FIXED && !f->posted && !f->management;
}

/* The packets of all flows up to the horizon, in no order. */
static bool arrivals_make(const struct fabric *fabric, hd_time horizon, struct arrivals *a)
{
	for (uint32_t i = 0; i < fabric->n_flows; i++) {
		const struct sim_flow *w = &fabric->flows[i];

		if (!flow_is_plain(w))
			return false;
		for (uint64_t k = 0;; k++) {
			hd_time t = w->start + k * w->interval.num / w->interval.den;

			if (t > horizon || (w->stop > 0 && t >= w->stop))
				break;
			arrivals_add(a, w, i, k);
		}
	}
	return true;
}

static int by_time(const void *x, const void *y)
{
	const struct sim_arrival *a = x, *b = y;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	if (a->flow != b->flow)
		return a->flow < b->flow ? -1 : 1;
	return (a->sequence > b->sequence) - (a->sequence < b->sequence);
}

/* 0: equal, 1: they differ, 3: the scenario is refused. */
static int compare(const char *path, hd_time horizon)
{
	struct diag d = { 0 };
	struct fabric *fabric;
	struct arrivals a = { 0 };
	struct strbuf why = STRBUF_INIT;
	size_t delivered = 0;
	int status = 0;

	if (fabric_read(path, NULL, &d, &fabric) != HD_OK) {
		printf("%s: refused: %s\n", path, d.message);
		return 3;
	}
	if (!arrivals_make(fabric, horizon, &a)) {
		printf("%s: refused: a row is not plain\n", path);
		status = 3;
	} else {
		const struct replay r = { &fabric->setup, a.list, a.n, horizon };

		qsort(a.list, a.n, sizeof(*a.list), by_time);
		status = replay_differs(&r, &why, &delivered);
		printf("%s: %s: %zu of %zu packets delivered, %" PRIu32 " table changes%s%s\n",
		       path, status ? "differs" : "equal", delivered, a.n, fabric->setup.n_changes,
		       status ? ": " : "", status ? why.text : "");
	}
	strbuf_fini(&why);
	free(a.list);
	fabric_free(fabric);
	return status;
}

int main(int argc, char **argv)
{
	hd_time horizon = 0;
	int worst = 0;

	if (argc < 3) {
		fprintf(stderr, "usage: %s MICROSECONDS SCENARIO...\n", argv[0]);
		return 2;
	}
	horizon = strtoull(argv[1], NULL, 10) * UINT64_C(1000000);
	for (int i = 2; i < argc; i++) {
		int status = compare(argv[i], horizon);

		worst = status == 1 || worst == 0 ? status : worst;
	}
	return worst;
}
