/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_FABRIC_FABRIC_H
#define HD_FABRIC_FABRIC_H

/*
 * Builds the input of the simulator from a scenario: the fabric is generated or read,
 * addressed and routed, its VL and arbitration tables are filled, and every traffic row is
 * resolved to flows. Random choices are drawn from the scenario's seed, with a stream per
 * purpose and name, so that adding or moving a row does not change the choices of others. This
 * is the only module that builds a fabric: all users of a fabric have the same LIDs, routes,
 * VLs and delays.
 *
 *	struct fabric *fabric;
 *	if (fabric_read("x.yaml", NULL, &d, &fabric) == HD_OK) {
 *		status = run_open(fabric, &options, &d, &run);
 *
 * A fabric owns everything that it points to, except file names and overrides, which are
 * borrowed. It is constant after it is built, except for its subnet, which subnet managers
 * program (multicast groups, admitted connections).
 */

#include "base/option.h"
#include "fabric/flow.h"
#include "fabric/select.h"
#include "fabric/setup.h"
#include "scenario/scenario.h"
#include "subnet/routing/route.h"
#include "subnet/tables/transition.h"

/* Memory that lives as long as the build: destination lists, traces. */
struct fabric_memory {
	void **items;
	size_t n, cap;
};

/* Heavy sweep of the manager after failed or repaired links. */
struct fabric_sweep {
	hd_time event;       /* time of the first change */
	hd_time noticed;     /* the manager begins */
	hd_time computed;    /* time at which the new routes are computed */
	hd_time first, last; /* first and last write; both equal `computed` without writes */
	uint32_t n_events;   /* cables, at one time or another */
	uint32_t n_switches, n_writes, n_entries;
	struct replan plan;
	struct table_transition meanwhile;
};

/*
 * A dynamic connection, or a request for bandwidth: the resulting flow, or the link that rejected
 * it.
 */
struct fabric_request {
	hd_time at;
	hd_time until; /* what it has is free again; HD_TIME_NEVER: it stays */
	uint32_t row;  /* SIM_NONE: it is that of `job` */
	uint32_t job;
	uint32_t flow; /* SIM_NONE: it was refused, by: */
	port_id link;
	struct hd_rate rate; /* requested, on the wire; num 0: none */
	hd_time broken;      /* first; HD_TIME_NEVER: its promise was kept */
	/*
	 * The largest bound of the flow, in seconds; 0: not computed, because no row has a
	 * deadline.
	 */
	double bound;
	const char *why; /* it was refused, in words; NULL: it was not */
};

/* A time in which an admitted connection did not have what it was promised. */
struct fabric_break {
	uint32_t request;
	hd_time from, until; /* HD_TIME_NEVER: to the end of the run */
	/* From here to `until` it has no slots and does not send;
	 * HD_TIME_NEVER: it kept both. */
	hd_time lost;
	port_id link; /* an output port */
	const char *cause;
};

/* The share of a row's connections that is refused, by a closed form. */
struct fabric_loss {
	double blocking;  /* NaN: no closed form applies */
	const char *form; /* why not; otherwise the form */
};

/* State of building the table changes. */
struct fabric_changes {
	uint32_t *now; /* table per sim port, after all changes so far */
	size_t cap;
};

/*
 * An external subnet manager that programs the fabric in place of the scenario's routing and VLs.
 * It may set LIDs in the topology before they are assigned.
 */
struct fabric_programmer {
	enum hd_status (*address)(void *context, struct topo *t, struct diag *d);
	enum hd_status (*program)(void *context, struct subnet *s, struct diag *d);
	/* Whether the link of a port is down from the beginning. */
	bool (*is_down)(void *context, port_id port);
	/* Congestion control, in place of the scenario's. */
	enum hd_status (*control)(void *context, struct scn_congestion *c, struct diag *d);
	/* Congestion control of a port for an SL; false: none. */
	bool (*throttle)(void *context, port_id source, unsigned sl, struct cc_config *c);
	void *context;
};

struct fabric {
	struct scenario *scenario;
	struct topo topo;
	struct subnet subnet;
	struct selector *selector;

	struct sim_setup setup;
	struct fabric_changes changes;
	uint8_t grh_bytes;        /* that packets to other subnets have more */
	uint32_t *port_of_origin; /* sim port per topology port; a host's or
				   * a switch's; SIM_NONE if unplugged */
	uint32_t *end_of_origin;  /* sim node of an end port, or SIM_NONE */

	struct sim_flow *flows;
	uint32_t n_flows;
	size_t flows_cap;
	port_id *flow_target; /* per flow: fixed destination, or TOPO_NONE */
	size_t target_cap;
	struct sim_rules rules;

	struct fabric_request *requests; /* by time, of one instant by flow */
	uint32_t n_requests;
	size_t requests_cap;
	struct fabric_break *breaks; /* by the time of `from` */
	uint32_t n_breaks;
	size_t breaks_cap;
	struct fabric_loss *losses; /* per row; NULL: not computed */

	struct fabric_sweep *sweeps; /* of the manager, by time */
	uint32_t n_sweeps;

	/* The outside manager that programmed it, set only while it is built; or NULL. */
	const struct fabric_programmer *by;
	/*
	 * Response of queue pairs to marks, per sim node and SL; NULL: none (fabric_response_of).
	 */
	struct cc_config **responses;

	/*
	 * Channels that may wait for each other because of groups, where
	 * unicast alone never locks up: "s1 port 2, VL 0; ..." or NULL.
	 */
	char *circle;

	lid_t *shared_mlid; /* per group of the scenario; 0: none yet */
	struct fabric_memory memory;
};

/*
 * Builds a fabric from the text of a scenario; `file` is its name. Errors have the line, or the
 * override (NULL: no overrides).
 */
HD_MUST_CHECK enum hd_status fabric_load(const char *text, size_t len, const char *file,
					 const struct overrides *overrides, struct diag *d,
					 struct fabric **out);
/* From a scenario's file; "-" is standard input. */
HD_MUST_CHECK enum hd_status fabric_read(const char *path, const struct overrides *overrides,
					 struct diag *d, struct fabric **out);
/*
 * Builds a fabric from a name as users give it: the file of a scenario, a topology file
 * (topo/read.h), "-" for one of these on standard input, or the words of a generator. A topology
 * becomes a fabric without traffic and with the defaults of a scenario.
 */
HD_MUST_CHECK enum hd_status fabric_open(const char *name, const struct overrides *overrides,
					 struct diag *d, struct fabric **out);
/* The same with scenario, topology and port names only: no routes, flows or setup. */
HD_MUST_CHECK enum hd_status fabric_open_bare(const char *name, const struct overrides *overrides,
					      struct diag *d, struct fabric **out);
/* As fabric_open, programmed by an external manager; NULL: by the scenario. */
HD_MUST_CHECK enum hd_status fabric_read_programmed(const char *name,
						    const struct overrides *overrides,
						    const struct fabric_programmer *by,
						    struct diag *d, struct fabric **out);
/*
 * A fabric without LIDs and tables, as before a subnet manager has addressed it: an endpoint that
 * routes its packets (A5) uses it. Sim ports are ports of the topology and have one VL; `ports` has
 * their rates, propagation times and buffers.
 */
struct fabric *fabric_unaddressed(const struct topo *t, const struct sim_switch_model *sw,
				  const struct sim_port *ports);
void fabric_free(struct fabric *fabric);

/* Programmed state at one time: tables of the same nodes, links that are down. */
struct fabric_tables {
	const struct subnet *subnet;
	const bool *down; /* per port of the topology */
	/* Source of the congestion control settings; NULL: unchanged. */
	const struct fabric_programmer *by;
};

/*
 * From `at` on the differences between the two hold in an externally programmed
 * fabric: routes, groups, arbitration, SLs of paths, VLs, partitions, links, and
 * the settings of congestion control for flows that it controlled at the
 * beginning (fabric_programmer.throttle; off is a table without delays). Calls
 * are in order of time; both fabrics outlive it unchanged. Refused if LIDs
 * differ.
 */
HD_MUST_CHECK enum hd_status fabric_reprogram(struct fabric *fabric,
					      const struct fabric_tables *was,
					      const struct fabric_tables *is, hd_time at,
					      struct diag *d);

/* Routing options of the scenario; its file of tables is not opened. */
/* Groups and aggregation trees that are added to the subnet of a fabric. */
struct fabric_trees {
	uint32_t first_group, first_aggregation;
	uint32_t most; /* aggregators of a switch */
	bool is_shown; /* the table of sweeps shows their costs */
};

/* T11r, S1: each sweep of the manager rebuilds the trees after all other writes. */
HD_MUST_CHECK enum hd_status fabric_follow_trees(struct fabric *fabric,
						 const struct fabric_trees *trees, struct diag *d);

HD_MUST_CHECK enum hd_status fabric_route_options(struct fabric *fabric, struct diag *d,
						  struct route_options *out);

/* Address of `to` for `from`; false: no path. */
bool fabric_address(const struct fabric *fabric, port_id from, port_id to, struct sim_address *out);

/*
 * The P_Key of packets from `from` to `to` (TOPO_NONE: a group, or several ports): that of the
 * named partition of the scenario. NULL: the default partition or, with a file of partitions, the
 * one that OpenSM chooses for the two.
 */
uint16_t fabric_key(const struct fabric *fabric, const char *partition, port_id from, port_id to);

/* Properties of the cable at a port; the same at both ends. */
struct fabric_cable {
	struct hd_rate rate; /* num 0: what the two ends can do */
	hd_time propagation;
};
/* Per port of the topology, also of a bare fabric; the caller frees *out. */
HD_MUST_CHECK enum hd_status fabric_cables(const struct fabric *fabric, struct diag *d,
					   struct fabric_cable **out);
/* The room of each port for VL15, also of a bare fabric. */
uint32_t fabric_vl15_blocks(const struct fabric *fabric);

/* "h3", "leaf1:4" for a sim port, "h3:2" for hosts with several ports. */
void fabric_port_name(const struct fabric *fabric, uint32_t port, struct strbuf *out);

/*
 * Per sim port whether the list of --port names it; NULL if the list is empty,
 * which means all. The caller frees *out.
 */
HD_MUST_CHECK enum hd_status fabric_ports(const struct fabric *fabric,
					  const struct option_list *list, struct diag *d,
					  bool **out);

/*
 * Prints valid but suspicious properties, one per line: rows and hosts that offer more than their
 * link carries, cuts (leaves, halves of a grid) with more traffic than their cables carry, and
 * routes of a grid that can deadlock, with engines whose routes cannot.
 */
void fabric_print_notes(const struct fabric *fabric, struct strbuf *out);

/*
 * Random streams, one per purpose and name of a traffic row, job, group or partition. Number, names
 * and order of other rows have no effect on a stream.
 */
enum fabric_stream {
	STREAM_FLOWS = 0, /* of a row: one for each flow, in order */
	STREAM_SOURCES = 0x40000000,
	STREAM_DESTINATIONS = 0x41000000,
	STREAM_HOTSPOTS = 0x42000000,
	STREAM_PATTERN = 0x43000000,
	STREAM_GROUPS = 0x44000000,
	STREAM_PARTITIONS = 0x45000000, /* limited members; full: 1 more */
	STREAM_ARRIVALS = 0x46000000,
	STREAM_PLACES = 0x47000000,  /* of a job's ranks */
	STREAM_HOSTS = 0x48000000,   /* of a job */
	STREAM_SERVERS = 0x49000000, /* of a job: one for each step */
};
/* The id of the stream; rng_init takes it with the scenario's seed. */
uint64_t fabric_stream(enum fabric_stream purpose, const char *name);

#endif
