/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_FABRIC_FABRIC_INTERNAL_H
#define HD_FABRIC_FABRIC_INTERNAL_H

/*
 * Functions of the module's files, in the order in which fabric.c calls them; private to fabric/.
 */

#include "fabric/fabric.h"
#include "subnet/routing/route.h"

/* ---- fabric.c */

/* Zeroed memory that the build frees. */
void *fabric_keep(struct fabric *fabric, size_t n, size_t size);
/*
 * Refuses with `inner`'s words at a field of the scenario: "traffic[].source:
 * no host 'x'".
 */
enum hd_status fabric_refuse(const struct fabric *fabric, struct diag *d, const void *field,
			     const char *path, const struct diag *inner);

/* ---- adaptive.c: for routing, the SLs for which switches choose */

/* Set of SLs with adaptive routing; empty: none. */
HD_MUST_CHECK enum hd_status fabric_adaptive_sls(const struct scenario *s, struct diag *d,
						 uint16_t *sls);

/* ---- vls.c: SL2VL and VLArb tables, VLs per port, partitions */

HD_MUST_CHECK enum hd_status fabric_build_vls(struct fabric *fabric, struct diag *d);
/* Blocks of VLs for classes, where the engine needs VLs for itself. */
HD_MUST_CHECK enum hd_status fabric_split_vls(struct fabric *fabric, struct diag *d);
/* The SLs on which rows, traces and jobs send what is not reserved. */
uint16_t fabric_unreserved_sls(const struct fabric *fabric);
HD_MUST_CHECK enum hd_status fabric_build_partitions(struct fabric *fabric, struct diag *d);

/* ---- setup.c: nodes and ports of the setup, faults */

HD_MUST_CHECK enum hd_status fabric_build_setup(struct fabric *fabric, struct diag *d);
/* Inserted by time, after earlier ones of the same time. */
void fabric_add_fault(struct fabric *fabric, struct sim_fault fault);

/* ---- adaptive.c: how switches choose */

HD_MUST_CHECK enum hd_status fabric_build_adaptive(struct fabric *fabric, struct diag *d);

/* ---- changes.c: tables that change during the run */

HD_MUST_CHECK enum hd_status fabric_build_changes(struct fabric *fabric, struct diag *d);
/* Appends a change, which is not before the last one; ignores a change without effect. */
void fabric_change_table(struct fabric *fabric, hd_time time, uint32_t port,
			 const struct vlarb *to);
void fabric_free_changes(struct fabric *fabric);
void fabric_copy_entries(const struct scn_vlarb *from, struct vlarb_entry *entries, uint8_t *n);

/* ---- patterns.c, trace.c, groups.c: the flows of every row */

HD_MUST_CHECK enum hd_status fabric_build_flows(struct fabric *fabric, struct diag *d);
HD_MUST_CHECK enum hd_status fabric_build_trace(struct fabric *fabric, uint32_t row,
						struct diag *d);
/* Builds the multicast flows of a row, and their trees. */
HD_MUST_CHECK enum hd_status fabric_build_group(struct fabric *fabric, uint32_t row,
						const struct selection *sources, struct diag *d);
/*
 * Checks whether trees and routes, each on the VLs of its SLs, can deadlock; call after everything
 * else is built.
 */
void fabric_check_groups(struct fabric *fabric);

/* ---- flows.c: one flow */

/* A flow of the row from that host, with all but destinations and times. */
struct sim_flow *fabric_add_flow(struct fabric *fabric, uint32_t row, port_id source,
				 port_id target);
/* Appends a copy of a flow. */
void fabric_copy_flow(struct fabric *fabric, uint32_t flow);
void fabric_drop_flows(struct fabric *fabric, uint32_t first, uint32_t n);
/* TClass of a packet of the row with that SL. */
uint8_t fabric_tclass(const struct scn_traffic *t, unsigned sl);

/* ---- labels.c: SLs and P_Keys by OpenSM's files */

/* P_Keys of all ports. */
void fabric_program_partitions(struct fabric *fabric);
/* SL and P_Keys of the flows from `first` on, which are those of a row; */
HD_MUST_CHECK enum hd_status fabric_label_row(struct fabric *fabric, uint32_t row, uint32_t first,
					      struct diag *d);
/* and the SL of a row that sends to a group, before its flows. */
void fabric_label_group(struct fabric *fabric, uint32_t row);

/* ---- connections.c: flows that ask before they start */

/* Admits connections and fills the tables; rejected ones are removed from the flows. */
HD_MUST_CHECK enum hd_status fabric_build_connections(struct fabric *fabric, struct diag *d);
/* The requested rate of a flow. */
struct broker;
struct broker_request;
struct broker_request fabric_request_of(const struct fabric *fabric, uint32_t flow);

/* Arrivals and ends of a row's connections. */
struct arrival_clock {
	const struct scn_traffic *row;
	struct rng rng;
	hd_time end;       /* of the row, or of the run */
	hd_time at, until; /* HD_TIME_NEVER: it stays */
};
struct arrival_clock fabric_arrivals(const struct fabric *fabric, uint32_t row);
/* The next connection; false: none. */
bool fabric_next_arrival(struct arrival_clock *c);

/* ---- promises.c: admission over time, and reservations that follow routes */

/*
 * Admits the flows with requests (per flow), fills the tables of each instant, and records requests
 * and broken guarantees. Sources of broken connections stop; restored ones send by further flows,
 * which are appended. `broker` is NULL if no class has admission.
 */
void fabric_walk_connections(struct fabric *fabric, struct broker *broker, hd_time linger,
			     const bool *asks);

/* ---- loss.c: how many of each row are refused, where a closed form says so */

/* The broker must have no connections yet. */
void fabric_build_losses(struct fabric *fabric, const struct broker *broker, hd_time linger);

/* ---- control.c: congestion control, if the scenario has an algorithm */

HD_MUST_CHECK enum hd_status fabric_build_control(struct fabric *fabric, struct diag *d);

/* ---- manager.c: what a subnet manager does about the faults */

HD_MUST_CHECK enum hd_status fabric_build_manager(struct fabric *fabric, struct diag *d);
void fabric_free_manager(struct fabric *fabric);

#endif
