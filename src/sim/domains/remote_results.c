/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Collects the counters of remote domains in rank 0. A row that one domain writes is copied. A row
 * that several domains add to is moved: the source is set to 0, so that nothing is counted twice.
 */
#include <stdlib.h>

#include "base/mpi/world.h"
#include "base/pack.h"
#include "base/strbuf.h"
#include "base/units.h"
#include "fabric/setup.h"
#include "sim/core/sim_internal.h"
#include "sim/core/vl_sharing.h"
#include "sim/domains/domains.h"
#include "sim/domains/remote.h"
#include "sim/injection/control.h"
#include "sim/injection/mark.h"
#include "sim/injection/probe.h"
#include "sim/metrics/flow_tally.h"
#include "sim/metrics/metrics.h"
#include "sim/metrics/tally.h"
#include "sim/routing/choose.h"
#include "sim/sim.h"

/* ---- rows of one part --------------------------------------------------- */

static const struct pack_member output_members[] = {
	PACK(sim_output, busy_until), PACK(sim_output, since), PACK(sim_output, waited),
	PACK(sim_output, requests),   PACK(sim_output, flags),
};

static const struct pack_member vl_members[] = {
	PACK(port_vl, bytes),
	PACK(port_vl, packets),
	PACK(port_vl, least),
};

static const struct pack_member count_members[] = {
	PACK(count, bytes),
	PACK(count, packets),
};

static void pack_ports(struct pack *k, struct sim *s, uint32_t part)
{
	for (uint32_t i = 0; i < s->setup->n_ports; i++) {
		if (s->parts->cut.part_of_port[i] != part)
			continue;
		PACK_STRUCT(k, output_members, &s->links[i]);
		pack_u64(k, &s->rings[i].area);
		pack_u64(k, &s->sums.carried[i]);
		for (size_t l = (size_t)i * s->n_vls; l < ((size_t)i + 1) * s->n_vls; l++) {
			PACK_STRUCT(k, vl_members, &s->port_vls[l]);
			pack_u32(k, &s->sums.carries[l]);
		}
		for (size_t c = (size_t)i * s->n_sls;
		     s->sums.by_sl && c < ((size_t)i + 1) * s->n_sls; c++)
			PACK_STRUCT(k, count_members, &s->sums.by_sl[c]);
	}
}

static const struct pack_member flow_members[] = {
	PACK(flow_tally, delivered),   PACK(flow_tally, bytes),    PACK(flow_tally, latency_sum),
	PACK(flow_tally, latency_max), PACK_EACH(flow_tally, met),
};

static void pack_flows(struct pack *k, struct sim *s, struct sim *part)
{
	struct metrics_tally *t = s->outcome.tally;

	for (uint32_t i = 0; i < s->n_flows; i++) {
		if (flow_home(part, i) != part->part)
			continue;
		pack_u32(k, &s->make.sources[i].sequence);
		pack_u32(k, &s->make.states[i].before);
		PACK_STRUCT(k, flow_members, &t->flows.of[i]);
		if (metrics_groups_are_shared(s))
			metrics_pack_group(k, &t->m.groups[t->m.flows[i].group]);
	}
	for (uint32_t i = 0; i < t->m.n_groups && !metrics_groups_are_shared(s); i++)
		metrics_pack_group(k, &part->outcome.metrics->groups[i]);
	metrics_pack_sls(k, s, part->outcome.metrics);
}

static void pack_part(struct pack *k, struct sim *s, uint32_t i)
{
	struct sim *part = s->parts->part[i];

	pack_ports(k, s, i);
	pack_flows(k, s, part);
	if (s->control)
		control_pack(k, part);
	if (s->marks)
		pack_u64(k, &part->marks->marked);
	if (s->choices)
		choice_pack(k, part);
	if (s->sharing)
		vl_sharing_pack(k, part);
	if (s->probes)
		probes_pack_promises(k, part);
	for (uint32_t e = 0; e < s->ends.n; e++)
		s->ends.all[e].collect(s->ends.all[e].context, k, i);
}

/* ---- rows of all -------------------------------------------------------- */

/* Moves the nonzero rows of `width` numbers each. */
static void pack_sums(struct pack *k, uint64_t *rows, size_t n, size_t width)
{
	size_t at = 0;

	for (;;) {
		while (!k->reads && at < n * width && rows[at] == 0)
			at++;
		uint64_t place = at, value = at < n * width ? rows[at] : 0;

		pack_u64(k, &place);
		if (k->refused || place == n * width)
			return;
		if (!pack_check(k, place < n * width))
			return;
		pack_u64(k, &value);
		rows[place] = k->reads ? rows[place] + value : 0;
		at = place + 1;
	}
}

static void pack_flow_sums(struct pack *k, struct sim *s)
{
	for (uint32_t i = 0; i < s->n_flows; i++) {
		struct sim_flow_counts *f = &s->outcome.metrics->flows[i];
		uint64_t *const sums[] = { &f->made, &f->made_bytes, &f->made_global,
					   &f->delivered_global, &f->lost };

		for (size_t n = 0; n < sizeof(sums) / sizeof(*sums); n++) {
			uint64_t value = *sums[n];

			pack_u64(k, &value);
			*sums[n] = k->reads ? *sums[n] + value : 0;
		}
	}
}

static void pack_moved(struct pack *k, struct sim *s)
{
	const size_t n = s->setup->n_ports;

	_Static_assert(sizeof(struct rare_counters) % sizeof(uint64_t) == 0,
		       "numbers of 64 bits, all of them sums");
	pack_sums(k, (uint64_t *)s->sums.rare, n, sizeof(*s->sums.rare) / sizeof(uint64_t));
	pack_sums(k, (uint64_t *)s->sums.missed, n * missed_row(s),
		  sizeof(*s->sums.missed) / sizeof(uint64_t));
	pack_flow_sums(k, s);
	if (s->probes)
		probes_pack(k, s);
}

void remote_forget_moved(struct sim *s)
{
	struct strbuf none = STRBUF_INIT;
	struct pack k;

	pack_to(&k, &none);
	pack_moved(&k, s);
	strbuf_fini(&none);
}

static void pack_rank(struct pack *k, struct sim *s, unsigned rank)
{
	const struct remote_domains *d = s->parts->distant;

	for (uint32_t i = 0; i < s->parts->cut.n; i++) {
		if (d->rank_of_part[i] == rank)
			pack_part(k, s, i);
	}
	pack_moved(k, s);
}

void remote_collect(struct sim *s)
{
	struct domains *p = s->parts;
	struct remote_domains *d = p->distant;
	struct pack k;

	if (!d)
		return;
	for (unsigned i = 0; i < d->world->n; i++)
		strbuf_clear(&d->to[i]);
	if (d->world->rank != 0) {
		pack_to(&k, &d->to[0]);
		pack_rank(&k, s, d->world->rank);
	}
	world_exchange(d->world, d->to, d->from);
	for (unsigned i = 1; d->world->rank == 0 && i < d->world->n; i++) {
		pack_from(&k, d->from[i].bytes, d->from[i].len);
		pack_rank(&k, s, i);
		if (!pack_is_done(&k))
			remote_refuse(p, i);
	}
}
