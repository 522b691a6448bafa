/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_LIVE_TABLES_TABLES_H
#define HD_LIVE_TABLES_TABLES_H

/*
 * What managers have programmed into a live fabric, for simulations: the fabric of a scenario with
 * the LIDs, routes, VL tables, partitions and congestion control of the live one. The other
 * direction, too: counters and violations of a simulation become those of the live fabric's ports.
 */

#include "fabric/fabric.h"
#include "sim/sim.h"

/*
 * Programmed tables of the live fabric `name`: those at the start of a run, and later changes.
 * Opening fails with `needs_manager` if the subnet manager does not respond; without it,
 * applications then choose the SLs.
 */
struct live_tables;
HD_MUST_CHECK enum hd_status live_tables_open(const char *name, bool needs_manager, struct diag *d,
					      struct live_tables **out);
void live_tables_free(struct live_tables *l);
/* True if other tables are programmed than when they were opened. */
bool live_tables_changed(struct live_tables *l);
/* Queries the tables again; changed tables are valid from time `at` of the run on. */
HD_MUST_CHECK enum hd_status live_tables_update(struct live_tables *l, const struct fabric *fabric,
						hd_time at, struct diag *d, bool *changed);

/*
 * Builds the fabric of the scenario in `path` with the live fabric's state. Its topology must
 * equal the live fabric's. LIDs, routes, VLs, tables and partitions are the programmed ones; links
 * that are not active are down; later changes apply at their times. The fabric refers to `l` and
 * must be freed first.
 */
HD_MUST_CHECK enum hd_status live_tables_fabric(struct live_tables *l, const char *path,
						const struct overrides *o, struct diag *d,
						struct fabric **out);

/*
 * Delays of MADs in an idle fabric; the caller frees `cables`. Fails if packets of the scenario
 * follow rules that MADs do not.
 */
struct agents_timing;
HD_MUST_CHECK enum hd_status live_tables_timing(const struct fabric *fabric, struct diag *d,
						struct agents_timing *out);

/*
 * Congestion control as programmed by a subnet manager, in place of the scenario's: marking by
 * switches, and the response of a port on an SL (false: none). Fails if switches have different
 * settings.
 */
struct agents;
HD_MUST_CHECK enum hd_status live_tables_control(const struct agents *a, struct scn_congestion *c,
						 struct diag *d);
bool live_tables_throttle(const struct agents *a, port_id source, unsigned sl, struct cc_config *c);
/* For flows that are controlled at another time: disabled control instead of none. */
HD_MUST_CHECK enum hd_status live_tables_control_or_off(const struct agents *a,
							struct scn_congestion *c, struct diag *d);
bool live_tables_throttle_or_off(const struct agents *a, port_id source, unsigned sl,
				 struct cc_config *c);

/*
 * Adds the counters of a run to those of the live fabric's ports, without what the packets of
 * programs are in them: `of_programs` returns the latter, or NULL for a port without any.
 */
typedef const struct sim_counters *live_tables_counters_fn(port_id port);
HD_MUST_CHECK enum hd_status live_tables_count(const char *name, const struct fabric *fabric,
					       const struct sim_metrics *m,
					       live_tables_counters_fn *of_programs,
					       struct diag *d);

/* Records packets that a run's ports refuse, and reports them to the fabric. */
struct live_tables_watch;
struct live_tables_watch *live_tables_watch_new(const struct fabric *fabric, struct sim *s);
HD_MUST_CHECK enum hd_status live_tables_watch_report(const struct live_tables_watch *w,
						      const char *name, struct diag *d);
void live_tables_watch_free(struct live_tables_watch *w);

#endif
