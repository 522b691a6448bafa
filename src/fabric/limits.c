/* SPDX-License-Identifier: BSD-2-Clause */
#include "fabric/limits.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "subnet/tables/packet.h"

enum {
	LIMIT_PORTS,
	LIMIT_FLOWS,
	LIMIT_RATES,
	LIMIT_ARBITRATION,
	LIMIT_SL2VL,
	LIMIT_PACKET,
	LIMIT_FAULTS,
	LIMIT_CHANGES,
	LIMIT_ROUTES,
	LIMIT_THROTTLES,
	N_LIMITS
};

const struct fabric_limit fabric_limits[] = {
	[LIMIT_PORTS] = { "ports", SIM_MOST_PORTS },
	[LIMIT_FLOWS] = { "flows", SIM_MOST_IDS },
	[LIMIT_RATES] = { "different link rates", SIM_MOST_RATES },
	[LIMIT_ARBITRATION] = { "different VL arbitration tables", SIM_MOST_TABLES },
	[LIMIT_SL2VL] = { "different SL to VL tables", SUBNET_MOST_SL2VL },
	[LIMIT_PACKET] = { "blocks of 64 bytes in a packet", SIM_MOST_BLOCKS },
	[LIMIT_FAULTS] = { "faults", SIM_MOST_IDS },
	[LIMIT_CHANGES] = { "changes of arbitration tables", SIM_MOST_IDS },
	[LIMIT_ROUTES] = { "changes of routes", SIM_MOST_IDS },
	[LIMIT_THROTTLES] = { "throttles", SIM_MOST_IDS },
};
const unsigned fabric_n_limits = N_LIMITS;

static int compare_rates(const void *a, const void *b)
{
	return hd_rate_compare(*(const struct hd_rate *)a, *(const struct hd_rate *)b);
}

/* 0 above the limit of ports: that limit is refused first. */
static uint32_t count_rates(const struct sim_setup *s)
{
	if (s->n_ports > SIM_MOST_PORTS)
		return 0;
	struct hd_rate *rates = hd_alloc(s->n_ports, sizeof(*rates));
	uint32_t n = 0, different = 0;

	for (uint32_t i = 0; i < s->n_ports; i++) {
		if (s->ports[i].peer != SIM_NONE)
			rates[n++] = s->ports[i].rate;
	}
	qsort(rates, n, sizeof(*rates), compare_rates);
	for (uint32_t i = 0; i < n; i++)
		different += i == 0 || hd_rate_compare(rates[i], rates[i - 1]) != 0;
	free(rates);
	return different;
}

/* The most different tables that ports have at one time. */
static uint64_t count_at_once(const struct sim_setup *s)
{
	uint32_t *now = hd_alloc(s->n_ports, sizeof(*now));
	uint32_t *users = hd_alloc(s->subnet->n_vlarb_tables, sizeof(*users));
	uint64_t n = 0, most;

	for (uint32_t i = 0; i < s->n_ports; i++) {
		if (s->ports[i].peer == SIM_NONE)
			continue;
		now[i] = s->subnet->vlarb_of_port[s->ports[i].origin];
		n += users[now[i]]++ == 0;
	}
	most = n;
	for (uint32_t i = 0; i < s->n_changes; i++) {
		const struct sim_table_change *c = &s->changes[i];

		n += users[c->table]++ == 0;
		most = n > most ? n : most;
		n -= --users[now[c->port]] == 0;
		now[c->port] = c->table;
	}
	free(now);
	free(users);
	return most;
}

/* Tables that no port uses make room for others (sim/core/arbiters.c). */
static uint64_t count_arbitration(const struct sim_setup *s)
{
	uint64_t named = s->subnet->n_vlarb_tables;

	return named > SIM_MOST_TABLES && s->n_changes ? count_at_once(s) : named;
}

/* In blocks, on data VLs: VL15 may drop what it cannot hold. */
static uint64_t largest_packet(const struct sim_flow *flows, uint32_t n_flows)
{
	uint64_t most = 0;

	for (uint32_t i = 0; i < n_flows; i++) {
		const struct sim_flow *f = &flows[i];
		uint64_t bytes = f->bytes > f->last_bytes ? f->bytes : f->last_bytes;

		bytes += f->grh_bytes;
		if (bytes > most && !f->management)
			most = bytes;
		for (size_t k = 0; k < f->n_trace; k++) {
			if (f->trace[k].bytes > most && !f->trace[k].management)
				most = f->trace[k].bytes;
		}
	}
	return (most + BLOCK_BYTES - 1) / BLOCK_BYTES;
}

/* A packet starts only when the far end has room for all of it. */
static uint64_t smallest_buffer(const struct sim_setup *s)
{
	uint64_t least = SIM_MOST_BLOCKS;

	for (uint32_t i = 0; i < s->n_ports; i++) {
		const struct sim_port *p = &s->ports[i];
		bool end = s->nodes && s->nodes[p->node].kind == SIM_END;

		if (p->peer == SIM_NONE)
			continue;
		least = p->in_blocks < least ? p->in_blocks : least;
		if (s->sw.queueing == SIM_CIOQ && !end && p->out_blocks < least)
			least = p->out_blocks;
	}
	return least;
}

enum hd_status fabric_limits_check(const struct sim_setup *setup, const struct sim_flow *flows,
				   uint32_t n_flows, struct diag *d)
{
	const uint64_t have[N_LIMITS] = {
		[LIMIT_PORTS] = setup->n_ports,
		[LIMIT_FLOWS] = n_flows,
		[LIMIT_RATES] = count_rates(setup),
		[LIMIT_ARBITRATION] = count_arbitration(setup),
		[LIMIT_SL2VL] = setup->subnet->n_sl2vl_tables,
		[LIMIT_PACKET] = largest_packet(flows, n_flows),
		[LIMIT_FAULTS] = setup->n_faults,
		[LIMIT_CHANGES] = setup->n_changes,
		[LIMIT_ROUTES] = setup->n_routes,
		[LIMIT_THROTTLES] = setup->control ? setup->control->n_throttles : 0,
	};

	for (unsigned i = 0; i < N_LIMITS; i++) {
		if (have[i] > fabric_limits[i].most)
			return diag_fail(d, HD_ERR_RANGE,
					 "%llu %s: a simulation takes at most %llu",
					 (unsigned long long)have[i], fabric_limits[i].what,
					 (unsigned long long)fabric_limits[i].most);
	}
	uint64_t room = smallest_buffer(setup);

	if (have[LIMIT_PACKET] > room)
		return diag_fail(
			d, HD_ERR_UNFIT,
			"a packet of %llu blocks of 64 bytes would wait for ever for a buffer of %llu",
			(unsigned long long)have[LIMIT_PACKET], (unsigned long long)room);
	return HD_OK;
}
