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

/* What the manager did about one or several failures and returns. */
struct fabric_sweep {
	hd_time event;       /* the first of them */
	hd_time noticed;     /* the manager begins */
	hd_time computed;    /* the new routes are known */
	hd_time first, last; /* writes; both `computed` if there are none */
	uint32_t n_events;   /* cables, at one time or another */
	uint32_t n_switches, n_writes, n_entries;
	struct replan plan;
	struct table_transition meanwhile;
};

/*
 * A connection that came, or asked for bandwidth: the flow it became, or the
 * link that had no room for it.
 */
struct fabric_request {
	hd_time at;
	hd_time until; /* what it has is free again; HD_TIME_NEVER: it stays */
	uint32_t row;  /* SIM_NONE: it is that of `job` */
	uint32_t job;
	uint32_t flow; /* SIM_NONE: it was refused, by: */
	port_id link;
	struct hd_rate rate; /* asked for, on the wire; num 0: nothing */
	hd_time broken;      /* first; HD_TIME_NEVER: its promise was kept */
	/* The largest bound that it had, in seconds; 0: nothing was computed,
	 * since no row has a deadline. */
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

/* Of the tables that change, while they are built. */
struct fabric_changes {
	uint32_t *now; /* table per sim port, after all changes so far */
	size_t cap;
};

/*
 * A subnet manager outside the simulator that programs the fabric in place of
 * the scenario's routing and VLs. It may set LIDs in the topology before they
 * are assigned.
 */
struct fabric_programmer {
	enum hd_status (*address)(void *context, struct topo *t, struct diag *d);
	enum hd_status (*program)(void *context, struct subnet *s, struct diag *d);
	/* Whether the link of a port is down from the beginning. */
	bool (*is_down)(void *context, port_id port);
	/* Congestion control, in place of the scenario's. */
	enum hd_status (*control)(void *context, struct scn_congestion *c, struct diag *d);
	/* And what a port does about an SL; false: nothing. */
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
	/* How it lets queue pairs answer to marks, per sim node and SL; NULL:
	 * not at all (fabric_response_of). */
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
 * From the text of a scenario; `file` is its name. Refusals name the line, or
 * the override (NULL: there are none).
 */
HD_MUST_CHECK enum hd_status fabric_load(const char *text, size_t len, const char *file,
					 const struct overrides *overrides, struct diag *d,
					 struct fabric **out);
/* From a scenario's file; "-" is standard input. */
HD_MUST_CHECK enum hd_status fabric_read(const char *path, const struct overrides *overrides,
					 struct diag *d, struct fabric **out);
/*
 * From whatever users name a fabric by: a scenario's file, a topology file
 * (topo/read.h), "-" for one of them, or the words of a generator. What is no
 * scenario is a fabric without traffic, with every default of the scenario's.
 */
HD_MUST_CHECK enum hd_status fabric_open(const char *name, const struct overrides *overrides,
					 struct diag *d, struct fabric **out);
/* The same, of which nothing is used but scenario, topology and the names of
 * its ports: there are no routes, no flows, no setup. */
HD_MUST_CHECK enum hd_status fabric_open_bare(const char *name, const struct overrides *overrides,
					      struct diag *d, struct fabric **out);
/* The same as fabric_open, programmed by another; NULL: by the scenario. */
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

/* What is programmed at a time: tables of the same nodes, links down. */
struct fabric_tables {
	const struct subnet *subnet;
	const bool *down; /* per port of the topology */
	/* Who says how congestion control is set then; NULL: as it was. */
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

/* How the scenario wants routes chosen; its file of tables is not opened. */
/* Groups and aggregation trees that are added to the subnet of a fabric. */
struct fabric_trees {
	uint32_t first_group, first_aggregation;
	uint32_t most; /* aggregators of a switch */
	bool is_shown; /* the table of sweeps counts what they need */
};

/* T11r, S1: each sweep of the manager rebuilds them, after all else that it writes. */
HD_MUST_CHECK enum hd_status fabric_follow_trees(struct fabric *fabric,
						 const struct fabric_trees *trees, struct diag *d);

HD_MUST_CHECK enum hd_status fabric_route_options(struct fabric *fabric, struct diag *d,
						  struct route_options *out);

/* How `from` addresses `to`: false if there is no way. */
bool fabric_address(const struct fabric *fabric, port_id from, port_id to, struct sim_address *out);

/*
 * The P_Key that `from` sends with to `to` (TOPO_NONE: to a group, or to
 * several): its own of a partition of the scenario. NULL: of the default one
 * or, with a file of partitions, of the one that OpenSM chooses for the two.
 */
uint16_t fabric_key(const struct fabric *fabric, const char *partition, port_id from, port_id to);

/* What the scenario says of the cable at a port: the same at both ends. */
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
 * What is legal but surely not meant, a line each: rows and hosts that offer
 * more than their link carries, cuts (leaves, halves of a grid) that are offered
 * more than their cables carry, and routes of a grid that can deadlock, with
 * engines whose routes cannot.
 */
void fabric_print_notes(const struct fabric *fabric, struct strbuf *out);

/*
 * Random streams, one per purpose and name of a traffic row, job, group or
 * partition: what others are called, how many there are and in which order they
 * are written does not matter.
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
