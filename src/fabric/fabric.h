/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_FABRIC_FABRIC_H
#define HD_FABRIC_FABRIC_H

/*
 * From a scenario to what the simulator runs: the fabric is generated or read,
 * addressed and routed, its lane and arbitration tables are filled, and every
 * traffic row is resolved to flows. All that is random is drawn from the
 * scenario's seed, each purpose from a stream of its own, so that adding a row
 * does not change the others.
 *
 *	struct fabric b;
 *	if (fabric_build(&scenario, &d, &b) == HD_OK) {
 *		struct sim *s = sim_new(&b.setup, b.flows, b.n_flows, &b.rules);
 *
 * A build owns everything that it points to, and must not be moved: the setup
 * points into it. The scenario must outlive it.
 */

#include "fabric/flow.h"
#include "fabric/select.h"
#include "fabric/setup.h"
#include "scenario/scenario.h"

/* Memory that lives as long as the build: destination lists, traces. */
struct fabric_memory {
	void **items;
	size_t n, cap;
};

struct fabric {
	const struct scenario *scenario;
	struct topo topo;
	struct subnet subnet;
	struct selector *selector;

	struct sim_setup setup;
	uint8_t grh_bytes;        /* that packets to other subnets have more */
	uint32_t *port_of_origin; /* sim port per topology port; a host's or
				   * a switch's; SIM_NONE if unplugged */
	uint32_t *end_of_origin;  /* sim node of an end port, or SIM_NONE */

	struct sim_flow *flows;
	uint32_t n_flows;
	size_t flows_cap;
	port_id *flow_target; /* per flow: fixed destination, or TOPO_NONE */
	size_t target_cap;
	uint32_t *flow_copies; /* per flow: deliveries of each packet */
	size_t copies_cap;
	struct sim_rules rules;

	lid_t *shared_mlid; /* per group of the scenario; 0: none yet */
	struct fabric_memory memory;
};

/* Refusals name the line of the scenario. Free only after HD_OK. */
HD_MUST_CHECK enum hd_status fabric_build(const struct scenario *s,
					  struct diag *d, struct fabric *out);
void fabric_fini(struct fabric *b);

/* "h3", "leaf1:4" for a sim port, "h3:2" for hosts with several ports. */
void fabric_port_name(const struct fabric *b, uint32_t port,
		      struct strbuf *out);

/* Streams of (seed, id) that the builder draws from. */
enum fabric_stream {
	STREAM_SOURCES = 0x40000000,
	STREAM_DESTINATIONS = 0x41000000,
	STREAM_HOTSPOTS = 0x42000000,
	STREAM_PATTERN = 0x43000000,
	STREAM_GROUPS = 0x44000000,
	STREAM_PARTITIONS = 0x45000000,
};

/* ---- the parts, each in a file of its own ------------------------------ */

/* Zeroed memory that the build frees. */
void *fabric_keep(struct fabric *b, size_t n, size_t size);
/* SL2VL and VLArb tables, lanes per port, partitions (build_lanes.c). */
HD_MUST_CHECK enum hd_status fabric_build_lanes(struct fabric *b,
						struct diag *d);
/* What of them changes during the run; after the setup. */
HD_MUST_CHECK enum hd_status fabric_build_changes(struct fabric *b,
						  struct diag *d);
HD_MUST_CHECK enum hd_status fabric_build_partitions(struct fabric *b,
						     struct diag *d);
/* Nodes and ports of the setup, faults (build_setup.c). */
HD_MUST_CHECK enum hd_status fabric_build_setup(struct fabric *b,
						struct diag *d);
/* Flows of every row (build_flows.c, build_trace.c). */
HD_MUST_CHECK enum hd_status fabric_build_flows(struct fabric *b,
						struct diag *d);
HD_MUST_CHECK enum hd_status fabric_build_trace(struct fabric *b, uint32_t row,
						struct diag *d);
/* Multicast flows of a row, and the trees they need (build_groups.c). */
HD_MUST_CHECK enum hd_status fabric_build_group(struct fabric *b, uint32_t row,
						const struct selection *sources,
						struct diag *d);
/* TClass of a packet of the row with that SL. */
uint8_t fabric_tclass(const struct scn_traffic *t, unsigned sl);
/* A flow of the row from that host, with all but destinations and times. */
struct sim_flow *fabric_add_flow(struct fabric *b, uint32_t row, port_id source,
				 port_id target);
/* How `from` addresses `to`: false if there is no way. */
bool fabric_address(const struct fabric *b, port_id from, port_id to,
		    struct sim_address *out);

/*
 * Refuses with `inner`'s words at a field of the scenario: "traffic[].source:
 * no host 'x'".
 */
enum hd_status fabric_refuse(const struct fabric *b, struct diag *d,
			     const void *field, const char *path,
			     const struct diag *inner);

#endif
