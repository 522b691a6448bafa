/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Digest that identifies a run: two runs with equal digests compute the same results. The fabric
 * enters as it was built, so files of the scenario count by their effect.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/digest.h"
#include "base/pack.h"
#include "base/parallel_for.h"
#include "run/content.h"
#include "run/run.h"

static const struct pack_member node_members[] = {
	PACK(sim_node, kind),
	PACK(sim_node, first_port),
	PACK(sim_node, n_ports),
	PACK(sim_node, sw),
};

static const struct pack_member port_members[] = {
	PACK(sim_port, node),      PACK(sim_port, peer),       PACK(sim_port, propagation),
	PACK(sim_port, in_blocks), PACK(sim_port, out_blocks), PACK(sim_port, vl15_blocks),
	PACK(sim_port, vls),       PACK(sim_port, ber),        PACK(sim_port, update_loss),
	PACK(sim_port, hoq_life),
};

static const struct pack_member flow_members[] = {
	PACK(sim_flow, kind),    PACK(sim_flow, source),     PACK(sim_flow, row),
	PACK(sim_flow, sl),      PACK(sim_flow, pkey),       PACK(sim_flow, bytes),
	PACK(sim_flow, packets), PACK(sim_flow, last_bytes), PACK(sim_flow, start),
	PACK(sim_flow, stop),    PACK(sim_flow, count),      PACK(sim_flow, size_scv),
	PACK(sim_flow, scv),     PACK(sim_flow, mean_on),    PACK(sim_flow, mean_off),
	PACK(sim_flow, shape),   PACK(sim_flow, period),     PACK(sim_flow, stream),
};

static const struct pack_member arrival_members[] = {
	PACK(sim_arrival, time),   PACK(sim_arrival, bytes), PACK(sim_arrival, dlid),
	PACK(sim_arrival, target), PACK(sim_arrival, sl),
};

static void note_flow(struct pack *k, struct sim_flow f)
{
	PACK_STRUCT(k, flow_members, &f);
	pack_u64(k, &f.interval.num);
	pack_u64(k, &f.interval.den);
	/* The first address is enough: a longer list always holds all hosts that the row names. */
	pack_u32(k, &f.to.n);
	if (f.to.n) {
		struct sim_address first = f.to.list[0];

		pack_u16(k, &first.dlid);
	}
	for (size_t i = 0; i < f.n_trace; i++) {
		struct sim_arrival a = f.trace[i];

		PACK_STRUCT(k, arrival_members, &a);
	}
}

static void note_fabric(struct pack *k, const struct fabric *fabric)
{
	const struct sim_setup *s = &fabric->setup;
	uint64_t seed = s->seed;
	uint32_t most_bytes = s->most_bytes;

	pack_u64(k, &seed);
	pack_u32(k, &most_bytes);
	for (uint32_t i = 0; i < s->n_nodes; i++) {
		struct sim_node n = s->nodes[i];

		PACK_STRUCT(k, node_members, &n);
	}
	for (uint32_t i = 0; i < s->n_ports; i++) {
		struct sim_port p = s->ports[i];
		double rate = hd_rate_bps(p.rate);

		PACK_STRUCT(k, port_members, &p);
		pack_real(k, &rate);
	}
	for (uint32_t i = 0; i < fabric->n_flows; i++)
		note_flow(k, fabric->flows[i]);
}

/* One switch at a time: rows of all tables together would dominate the memory of a run. */
static void note_routes(const struct subnet *net, struct digest *h)
{
	char *bytes = hd_alloc(net->lft_stride, 1);

	for (switch_id sw = 0; sw < net->n_switches; sw++) {
		const struct lft_row row = lft_row_of(net, sw);

		for (uint32_t lid = 0; lid < net->lft_stride; lid++)
			bytes[lid] = (char)lft_row_get(row, (lid_t)lid);
		digest_add(h, bytes, net->lft_stride);
	}
	free(bytes);
}

static void put_setting(void *context, const char *name, const char *value)
{
	strbuf_printf(context, "%s=%s\n", name, value);
}

/* The operations of a job's ranks may be in a separate goal file. */
static void note_goals(const struct scenario *s, struct strbuf *out)
{
	for (size_t i = 0; i < s->n_jobs; i++) {
		struct diag ignored = { .status = HD_OK };
		char *path = s->jobs[i].goal ? scenario_path(s, &s->jobs[i].goal) : NULL;

		if (path)
			(void)!content_of_file("goal", path, &ignored, out);
		free(path);
	}
}

static void note_options(const struct run_options *o, struct strbuf *out)
{
	strbuf_printf(out, "%d %d %u %d %llu %u\n", o->pcap != NULL, o->trace != NULL,
		      o->flow_control, o->sampled, (unsigned long long)o->sample,
		      parallel_threads());
	strbuf_printf(out, "%d %d %llu\n", o->checkpoint != NULL, o->restart != NULL,
		      (unsigned long long)o->every_simulated);
	for (size_t i = 0; i < o->ports.n; i++)
		strbuf_printf(out, "%s\n", o->ports.items[i]);
}

void run_identity(const struct fabric *fabric, const struct run_options *o, struct strbuf *out)
{
	const struct subnet *net = fabric->setup.subnet;
	struct strbuf all = STRBUF_INIT;
	struct digest h = DIGEST_START;
	struct pack k;

	note_options(o, &all);
	scenario_settings(fabric->scenario, put_setting, &all);
	note_goals(fabric->scenario, &all);
	pack_to(&k, &all);
	note_fabric(&k, fabric);
	digest_add(&h, all.text, all.len);
	note_routes(net, &h);
	digest_print(&h, out);
	strbuf_fini(&all);
}
