/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_CORE_WORKLOAD_FOR_TESTS_H
#define HD_SIM_CORE_WORKLOAD_FOR_TESTS_H

/*
 * What the simulator's speed is measured on, and tested to be right on: voq,
 * four VLs with both arbitration tables in force, 2 KiB packets, uniform
 * random destinations, Poisson arrivals.
 */

#include <string.h>

#include "fabric/setup_for_tests.h"
#include "sim/sim.h"

#define WORKLOAD_VLS  4
#define WORKLOAD_WARM (20 * HD_US) /* by then the fabric is full */

struct workload_spec {
	const char *name;
	const char *words[8]; /* as for "heddle topo gen" */
	const char *engine;
	double load;       /* of the hosts' link rate */
	double goal;       /* million packet-hops a second; 0: reported only */
	uint64_t hops;     /* to measure */
	uint64_t checksum; /* after WORKLOAD_WARM; the test says why it holds */
};

#define WORKLOADS 5
static const struct workload_spec workload_specs[WORKLOADS] = {
	{ "fat tree, 16 hosts",
	  { "fat-tree", "--radix=4", "--levels=3" },
	  "ftree",
	  0.7,
	  0,
	  4000000,
	  UINT64_C(0x87135165cdb32811) },
	{ "fat tree, 128 hosts",
	  { "fat-tree", "--radix=8", "--levels=3" },
	  "ftree",
	  0.7,
	  6,
	  20000000,
	  UINT64_C(0xfd7fe541973b0865) },
	{ "fat tree, 1024 hosts",
	  { "fat-tree", "--radix=16", "--levels=3" },
	  "ftree",
	  0.7,
	  4,
	  20000000,
	  UINT64_C(0xccbc3db3ecb3f65e) },
	{ "mesh 16 x 16",
	  { "mesh", "--columns=16", "--rows=16", "--hosts=1" },
	  "xy",
	  0.15,
	  0,
	  10000000,
	  UINT64_C(0x3b778b9022ed6f27) },
	{ "fat tree, 11664 hosts",
	  { "fat-tree", "--radix=36", "--levels=3" },
	  "ftree",
	  0.5,
	  2,
	  20000000,
	  UINT64_C(0xa38d9eea29451973) },
};

static inline const struct workload_spec *workload_find(const char *name)
{
	for (unsigned i = 0; i < WORKLOADS; i++) {
		if (strcmp(workload_specs[i].name, name) == 0)
			return &workload_specs[i];
	}
	return NULL;
}

struct workload {
	const struct workload_spec *spec;
	struct test_fabric fabric;
	struct sim_flow *flows;
	uint32_t n_flows;
	struct sim_control control;
	struct sim_throttle *throttles; /* one per flow; NULL: not controlled */
	uint32_t *throttle_of_flow;
};

/* Two VLs in each table, so that both are used. */
static inline void workload_tables(struct test_fabric *f)
{
	struct vlarb arb = {
		.high = { { 0, 64 }, { 1, 128 } },
		.low = { { 2, 64 }, { 3, 128 }, { 2, 32 } },
		.n_high = 2,
		.n_low = 3,
		.high_limit = 10,
	};

	for (port_id p = 0; p < f->topo.n_ports; p++)
		subnet_set_vlarb(&f->subnet, p, &arb);
}

static inline void workload_flows(struct workload *w)
{
	const struct test_fabric *f = &w->fabric;
	hd_time packet = hd_rate_duration(f->setup.ports[1].rate, 2074);
	double gap = (double)packet * WORKLOAD_VLS / w->spec->load;

	w->n_flows = f->n_ends * WORKLOAD_VLS;
	w->flows = hd_alloc(w->n_flows, sizeof(*w->flows));
	for (uint32_t i = 0; i < w->n_flows; i++) {
		w->flows[i] = (struct sim_flow){
			.kind = SIM_POISSON,
			.source = f->end_nodes[i / WORKLOAD_VLS],
			.row = i % WORKLOAD_VLS,
			.to = { .choice = SIM_TO_UNIFORM,
				.list = f->ends,
				.n = f->n_ends,
				.self = i / WORKLOAD_VLS },
			.sl = (uint8_t)(i % WORKLOAD_VLS),
			.pkey = 0xffff,
			.bytes = 2074,
			.packets = 1,
			.interval = { (uint64_t)gap, 1 },
			.period = (hd_time)gap,
		};
	}
}

static inline void workload_init(struct workload *w, const struct workload_spec *spec)
{
	struct test_links links = {
		.rate = hd_rate_of_link(4, SPEED_EDR),
		.propagation = 10 * HD_NS,
		.in_blocks = 8 * 33,
		.vls = WORKLOAD_VLS,
	};

	*w = (struct workload){ .spec = spec };
	test_fabric_init(&w->fabric, spec->words, spec->engine, &links);
	w->fabric.setup.sw.routing = 100 * HD_NS;
	w->fabric.setup.sw.arbitration = 5 * HD_NS;
	workload_tables(&w->fabric);
	workload_flows(w);
}

/* From now on under InfiniBand's congestion control, answers being packets. */
static inline void workload_control(struct workload *w)
{
	struct cc_config config = cc_config_default(1, 2);

	for (unsigned i = 0; i < CCT_MAX_ENTRIES; i++)
		config.cct[i] = (uint16_t)(2u << 14 | i);
	config.ccti_limit = CCT_MAX_ENTRIES - 1;
	w->throttles = hd_alloc(w->n_flows, sizeof(*w->throttles));
	w->throttle_of_flow = hd_alloc(w->n_flows, sizeof(uint32_t));
	for (uint32_t i = 0; i < w->n_flows; i++) {
		w->throttle_of_flow[i] = i;
		w->throttles[i] = (struct sim_throttle){
			.node = w->flows[i].source,
			.sender = 1 + i % WORKLOAD_VLS,
			.algorithm = cc_find("cct"),
			.config = config,
		};
	}
	w->control = (struct sim_control){
		.marking = { .rule = MARK_IBA, .threshold = 8 },
		.window = 64,
		.timeout = HD_MS,
		.throttles = w->throttles,
		.n_throttles = w->n_flows,
		.throttle_of_flow = w->throttle_of_flow,
		.n_flows = w->n_flows,
	};
	w->fabric.setup.control = &w->control;
}

static inline void workload_fini(struct workload *w)
{
	free(w->throttles);
	free(w->throttle_of_flow);
	free(w->flows);
	test_fabric_fini(&w->fabric);
}

#endif
