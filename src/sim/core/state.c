/* SPDX-License-Identifier: BSD-2-Clause */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/memory.h"
#include "sim/core/arbiters.h"
#include "sim/core/nodes.h"
#include "sim/core/run.h"
#include "sim/core/update.h"
#include "sim/core/vl_sharing.h"
#include "sim/core/voq.h"
#include "sim/domains/remote.h"
#include "sim/faults/fault.h"
#include "sim/injection/control.h"
#include "sim/injection/injection.h"
#include "sim/injection/mark.h"
#include "sim/injection/probe.h"
#include "sim/injection/source.h"
#include "sim/metrics/members.h"
#include "sim/metrics/metrics.h"
#include "sim/metrics/observers.h"
#include "sim/routing/choose.h"
#include "sim/routing/reduce.h"
#include "sim/routing/routes.h"

/* ---- packets ------------------------------------------------------------ */

#define FIRST_PACKETS 256
#define MOST_PACKETS  ((size_t)EV_ID_MAX + 1)
#define RESERVED      ((uint64_t)8 << 20) /* reserved for other arrays, bytes */

/*
 * New capacity of the packet pool. The array is copied, so the old and the new one exist at the
 * same time. A run with rules.yields always keeps enough memory to grow by another eighth and to
 * end regularly: w packets and their copy of 9/8 w must fit into the free memory plus that of
 * the current packets, less a reserve for other arrays.
 */
static size_t packets_next(struct sim *s)
{
	size_t size = sizeof(*s->pool.all) + (s->pool.extras ? sizeof(*s->pool.extras) : 0);
	size_t cap = s->pool.cap, want = cap ? cap * 2 : FIRST_PACKETS;
	size_t least = cap + cap / 8;
	uint64_t room = memory_room();

	if (want > MOST_PACKETS)
		want = MOST_PACKETS;
	if (!s->rules.yields || cap == 0)
		return want;
	room -= room / 16;
	room = room > RESERVED ? room - RESERVED : 0;
	if (want > (room / size + cap) / 17 * 8)
		want = (size_t)(room / size + cap) / 17 * 8;
	if (want >= least)
		return want;
	s->run.full = true;
	s->outcome.events_checked = 0; /* forces a progress check */
	return least < MOST_PACKETS ? least : MOST_PACKETS;
}

static void packets_make_room(struct sim *s)
{
	const char *before = memory_for("packets in the simulated fabric");
	size_t cap = packets_next(s);

	if (cap <= s->pool.cap)
		memory_refused(sizeof(*s->pool.all));
	struct packet_record *more = hd_alloc_lazy(cap, sizeof(*more));

	if (s->pool.all)
		hd_move_lazy(more, s->pool.all, s->pool.n, sizeof(*more));
	s->pool.all = more;
	s->pool.cap = cap;
	if (s->pool.extras)
		s->pool.extras = hd_realloc(s->pool.extras, cap, sizeof(*s->pool.extras));
	memory_for(before);
}

/* Extends the free list in steps, so that memory of unused packets is not touched. */
uint32_t sim_packets_grow(struct sim *s)
{
	if (s->pool.n == s->pool.cap)
		packets_make_room(s);
	uint32_t from = s->pool.n, to = from + FIRST_PACKETS;

	if (to > s->pool.cap)
		to = (uint32_t)s->pool.cap;
	memset(&s->pool.all[from], 0, (to - from) * sizeof(*s->pool.all));
	/* Lowest numbers first, so that a small run touches little memory. */
	for (uint32_t i = to; i-- > from;) {
		s->pool.all[i].next = s->pool.free;
		s->pool.free = i;
	}
	s->pool.n = to;
	return packet_new(s);
}

static void backlog_add(const struct sim *s, uint64_t *waiting, struct sim_backlog *out)
{
	bool *is_free = hd_alloc(s->pool.n, sizeof(*is_free));

	for (uint32_t i = s->pool.free; i != NONE; i = s->pool.all[i].next)
		is_free[i] = true;
	for (size_t i = 0; i < s->pool.n; i++) {
		uint32_t port = s->pool.all[i].out;

		/* The P_SHARED record refers to the first copy there. */
		if (is_free[i] || (s->pool.all[i].flags & P_SHARED))
			continue;
		if (port < s->setup->n_ports && ++waiting[port] > out->waiting) {
			out->waiting = waiting[port];
			out->port = port;
		}
	}
	free(is_free);
}

void sim_backlog(const struct sim *s, struct sim_backlog *out)
{
	if (sim_is_remote(s)) {
		*out = s->parts->backlog;
		return;
	}
	uint64_t *waiting = hd_alloc(s->setup->n_ports, sizeof(*waiting));

	*out = (struct sim_backlog){ .packets = sim_alive(s) };
	for (uint32_t i = 0; i < sim_n_parts(s); i++)
		backlog_add(sim_part(s, i), waiting, out);
	free(waiting);
}

static void read_backlog(struct sim *s, struct pack *k, void *context)
{
	struct sim_backlog *most = context;
	uint64_t waiting = 0;
	uint32_t port = 0;

	pack_u64(k, &waiting);
	pack_u32(k, &port);
	if (!pack_check(k, port < s->setup->n_ports) || waiting <= most->waiting)
		return;
	most->waiting = waiting;
	most->port = port;
}

void sim_backlog_note(struct sim *s)
{
	uint64_t *waiting = hd_alloc(s->setup->n_ports, sizeof(*waiting));
	struct strbuf mine = STRBUF_INIT;
	struct sim_backlog here = { 0 };
	struct pack k;

	for (uint32_t i = s->parts->first; i < s->parts->last; i++)
		backlog_add(sim_part(s, i), waiting, &here);
	free(waiting);
	pack_to(&k, &mine);
	pack_u64(&k, &here.waiting);
	pack_u32(&k, &here.port);
	s->parts->backlog = (struct sim_backlog){ .packets = sim_alive(s) };
	remote_gather(s, &mine, read_backlog, &s->parts->backlog);
	strbuf_fini(&mine);
}

/* ---- transmission times -------------------------------------------------- */

hd_time sim_duration_compute(struct sim *s, unsigned rate, uint32_t bytes)
{
	hd_time d = hd_rate_duration(s->rate.all[rate], bytes);

	s->rate.durations[rate][bytes] = d;
	return d;
}

uint8_t sim_rate_number(struct sim *s, struct hd_rate rate)
{
	for (uint32_t i = 0; i < s->rate.n; i++) {
		if (hd_rate_compare(s->rate.all[i], rate) == 0)
			return (uint8_t)i;
	}
	assert(s->rate.n < SIM_MOST_RATES);
	uint32_t i = s->rate.n++;

	s->rate.all = hd_realloc(s->rate.all, s->rate.n, sizeof(*s->rate.all));
	s->rate.durations = hd_realloc(s->rate.durations, s->rate.n, sizeof(*s->rate.durations));
	s->rate.all[i] = rate;
	s->rate.durations[i] = hd_alloc((size_t)s->max_bytes + 1, sizeof(**s->rate.durations));
	return (uint8_t)i;
}

/* ---- sizes -------------------------------------------------------------- */

static void sl_add(struct sim *s, unsigned sl)
{
	if (s->sl_index[sl] == 255)
		s->sl_index[sl] = (uint8_t)s->n_sls++;
}

static void flow_measure(struct sim *s, const struct sim_flow *f, bool *vl15)
{
	if (f->bytes + f->grh_bytes > s->max_bytes)
		s->max_bytes = f->bytes + f->grh_bytes;
	if (f->last_bytes + f->grh_bytes > s->max_bytes)
		s->max_bytes = f->last_bytes + f->grh_bytes;
	*vl15 = *vl15 || f->management;
	sl_add(s, f->sl & 15);
	/* Routing tables and routers may assign any SL. */
	s->mode.sls_vary |= s->mode.routers || s->setup->subnet->sl_of_path;
	for (unsigned sl = 0; (s->mode.routers || s->setup->subnet->sl_of_path) && sl < N_SLS; sl++)
		sl_add(s, sl);
	for (size_t i = 0; i < f->n_trace; i++) {
		if (f->trace[i].bytes > s->max_bytes)
			s->max_bytes = f->trace[i].bytes;
		sl_add(s, f->trace[i].sl & 15);
		s->mode.sls_vary |= f->trace[i].sl != f->sl;
		*vl15 = *vl15 || f->trace[i].management;
	}
}

/* Whether all VLs of a link have flow-control counters (T5). */
static bool has_counters(const struct sim *s)
{
	bool any = s->mode.exact;

	for (uint32_t i = 0; i < s->setup->n_ports; i++)
		any = any || s->setup->ports[i].update_loss > 0;
	for (uint32_t i = 0; i < s->setup->n_faults; i++)
		any = any || s->setup->faults[i].kind == SIM_LINK_DOWN;
	return any;
}

/* Number of VLs, from 0, on which these tables can send a packet. */
static uint32_t vls_in(const struct sim *s, const struct subnet *sub)
{
	uint32_t n = 1;

	for (uint32_t i = 0; i < sub->n_sl2vl_tables; i++) {
		for (unsigned sl = 0; sl < N_SLS; sl++) {
			uint32_t vl = sub->sl2vl_tables[i].vl[sl];

			if (s->sl_index[sl] != 255 && vl != VL_MANAGEMENT && vl >= n)
				n = vl + 1;
		}
	}
	return n;
}

static uint32_t vls_used(const struct sim *s)
{
	const struct sim_setup *u = s->setup;
	uint32_t most = vls_in(s, u->subnet);

	for (uint32_t i = 0; i < u->n_paths; i++) {
		uint32_t n = u->paths[i].vls ? vls_in(s, u->paths[i].subnet) : 0;

		most = n > most ? n : most;
	}
	return most;
}

/* Sets the largest packet, the SLs and the VLs. */
static void sizes_init(struct sim *s)
{
	bool vl15 = s->rules.injects_management;
	uint32_t vls = 1;

	memset(s->sl_index, 255, sizeof(s->sl_index));
	for (uint32_t i = 0; i < s->n_flows; i++)
		flow_measure(s, &s->flows[i], &vl15);
	if (s->max_bytes < s->setup->most_bytes)
		s->max_bytes = s->setup->most_bytes;
	if (s->setup->control && s->max_bytes < SIM_MAD_BYTES)
		s->max_bytes = SIM_MAD_BYTES;
	if (s->rules.injects) {
		bool any = !s->rules.injects_sls || s->mode.routers || s->setup->subnet->sl_of_path;

		for (unsigned sl = 0; sl < N_SLS; sl++) {
			if (any || s->rules.injects_sls >> sl & 1)
				sl_add(s, sl);
		}
		if (s->rules.injects_bytes > s->max_bytes)
			s->max_bytes = s->rules.injects_bytes;
	}
	s->max_blk = blocks_of(s->max_bytes);
	assert(s->max_blk <= RING_BLOCKS);
	for (uint32_t i = 0; i < s->setup->n_ports; i++) {
		if (s->setup->ports[i].peer != SIM_NONE && switch_tables_max_vls(s, i) > vls)
			vls = switch_tables_max_vls(s, i);
	}
	assert(vls <= N_DATA_VLS);
	/* Unused VLs would take most of the memory of a large fabric. */
	if (!has_counters(s) && !s->setup->vl_sharing.on && !s->rules.injects_at_switches &&
	    vls_used(s) < vls)
		vls = vls_used(s);
	s->n_vls = vls + vl15;
	s->vl15 = vls;
}

static void rates_init(struct sim *s)
{
	for (uint32_t i = 0; i < s->setup->n_ports; i++) {
		if (is_plugged(s, i))
			sim_rate_number(s, s->setup->ports[i].rate);
	}
	s->mode.one_rate = s->rate.n <= 1;
}

/* ---- state of rare cases -------------------------------------------------- */

/* Whether a port needs a record of its own; otherwise all share one. */
static bool has_cold_ports(const struct sim *s)
{
	bool any = has_counters(s) || s->setup->n_faults || s->n_vls > s->vl15;

	for (uint32_t i = 0; i < s->setup->n_ports; i++)
		any = any || s->setup->ports[i].ber > 0;
	return any;
}

static void features_init(struct sim *s)
{
	size_t n = s->setup->n_ports;

	s->fault.rare_mask = has_cold_ports(s) ? UINT32_MAX : 0;
	s->fault.rare_ports = hd_alloc(s->fault.rare_mask ? n : 1, sizeof(*s->fault.rare_ports));
	s->sums.rare = hd_alloc(n, sizeof(*s->sums.rare));
	s->sums.carried = hd_alloc(n, sizeof(*s->sums.carried));
	s->sums.missed = hd_alloc(n * missed_row(s), sizeof(*s->sums.missed));
	if (s->mode.fifo)
		s->fifos = hd_alloc(n * s->n_vls, sizeof(*s->fifos));
	if (s->n_readers) {
		s->cross.readers = hd_alloc(n * s->n_readers, sizeof(*s->cross.readers));
		s->cross.granted = hd_alloc(n, sizeof(*s->cross.granted));
		s->cross.release_at = hd_alloc(n, sizeof(*s->cross.release_at));
	}
	if (has_counters(s))
		s->fc = hd_alloc(n * s->n_vls, sizeof(*s->fc));
	updates_init(s);
	faults_init(s);
	vl_sharing_init(s);
	control_init(s);
	marks_init(s);
	choice_init(s);
	aggregator_init(s);
	probes_init(s);
	metrics_members_init(s);
	if (s->mode.hoq || s->rules.injects || s->mode.routers || s->control ||
	    (s->choices && s->setup->adaptive->per != SIM_AR_PACKET) || s->mode.shares)
		s->pool.extras = hd_alloc(1, sizeof(*s->pool.extras));
}

static hd_time longest_reach(struct sim *s)
{
	hd_time most = 0;

	for (uint32_t i = 0; i < s->setup->n_ports; i++) {
		const struct sim_port *p = &s->setup->ports[i];

		if (!is_plugged(s, i))
			continue;
		hd_time reach = p->propagation + hd_rate_duration(p->rate, s->max_bytes);

		most = reach > most ? reach : most;
	}
	return most + 1;
}

static enum hop_variant hop_variant_of(const struct sim *s)
{
	bool care = false;

	for (uint32_t i = 0; i < s->setup->n_ports; i++)
		care = care || (is_plugged(s, i) && fault_affects_link(s, i));
	if (s->mode.cioq || s->mode.fifo || s->mode.oldest || s->mode.exact || s->mode.wide ||
	    s->mode.hoq || s->n_readers || s->fc || s->reductions || care || s->sharing ||
	    s->n_vls != s->vl15)
		return HOP_GENERAL;
	return s->control || s->choices ? HOP_CONTROLLED : HOP_FAST;
}

struct sim *sim_state_new(const struct sim_setup *setup, const struct sim_flow *flows,
			  uint32_t n_flows, const struct sim_rules *rules)
{
	struct sim *s = hd_alloc_dense(1, sizeof(*s));
	const struct sim_switch_model *sw = &setup->sw;

	s->setup = setup;
	s->flows = flows;
	s->n_flows = n_flows;
	s->rules = *rules;
	s->horizon = NEVER;
	s->run.pause_at = NEVER;
	s->pool.free = s->spill.free = NONE;
	s->routing = sw->routing;
	s->arbitration = sw->arbitration;
	s->delay = sw->routing + sw->arbitration;
	s->mode.cioq = sw->queueing == SIM_CIOQ;
	s->mode.fifo = sw->order == SIM_FIFO;
	s->mode.oldest = sw->pick == SIM_OLDEST;
	s->mode.exact = setup->credits == SIM_CREDITS_EXACT;
	/* An input cannot feed more outputs than exist. */
	s->n_readers = sw->readers <= UINT8_MAX ? sw->readers : 0;
	for (uint32_t i = 0; i < setup->n_nodes; i++)
		s->mode.routers = s->mode.routers || setup->nodes[i].kind == SIM_ROUTER;
	for (uint32_t i = 0; i < setup->n_paths; i++)
		s->mode.vls_change = s->mode.vls_change || setup->paths[i].vls;
	eventq_init(&s->q);
	sizes_init(s);
	rates_init(s);
	domain_new_ports(s);
	arbiters_init(s);
	switch_nodes_init(s);
	features_init(s);
	switch_tables_init(s);
	s->outcome.margin = longest_reach(s);
	deadlock_expect(s);
	s->hop_variant = hop_variant_of(s);
	injection_init(s);
	metrics_init(s);
	sources_init(s);
	/* With several processes, each has rows for its own ports (domains_make.c). */
	if (!rules->world)
		domain_init_ports(s, NULL);
	return s;
}

static void endpoints_fini(struct sim *s)
{
	free(s->ends.all);
	free(s->ends.next_at);
}

void sim_free(struct sim *s)
{
	if (!s)
		return;
	domains_free(s);
	metrics_fini(s);
	vl_sharing_fini(s);
	control_fini(s);
	marks_fini(s);
	choice_fini(s);
	aggregator_fini(s);
	metrics_members_fini(s);
	probes_fini(s);
	switch_tables_fini(s);
	arbiters_fini(s);
	switch_nodes_fini(s);
	injection_fini(s);
	observers_fini(s);
	free(s->tell.observers);
	endpoints_fini(s);
	eventq_fini(&s->q);
	for (uint32_t i = 0; i < s->rate.n; i++)
		free(s->rate.durations[i]);
	for (uint32_t i = 0; i < s->spill.n; i++)
		free(s->spill.all[i].e);
	if (s->mode.cioq) {
		free(s->outlets);
		free(s->outlet_rings);
		free(s->outlet_vls);
		free(s->outlet_credits);
	}
	free(s->pool.all);
	free(s->pool.extras);
	free(s->links);
	free(s->rings);
	free(s->port_vls);
	free(s->credits);
	free(s->sums.by_sl);
	free(s->sums.carries);
	free(s->spill.all);
	free(s->fifos);
	free(s->cross.readers);
	free(s->cross.granted);
	free(s->cross.release_at);
	free(s->cross.vl);
	free(s->fc);
	free(s->fault.rare_ports);
	free(s->sums.rare);
	free(s->sums.carried);
	free(s->sums.missed);
	free(s->fault.stuck);
	free(s->rate.durations);
	free(s->rate.all);
	free(s->instant.pending_links.ports);
	free(s->instant.crossed.ports);
	free(s->instant.downed.ports);
	free(s->instant.updating.ports);
	free(s->make.sources);
	free(s->make.states);
	free(s->make.plans);
	free(s);
}
