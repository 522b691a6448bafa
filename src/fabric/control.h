/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_FABRIC_CONTROL_H
#define HD_FABRIC_CONTROL_H

/*
 * Congestion control of a scenario, in the terms of cc/ and of the setup. A fabric whose scenario
 * has an algorithm has a setup.control.
 */

#include "fabric/fabric.h"

struct mark_config fabric_marking(const struct scn_congestion *c);
/* Response of the source of a flow, with the rates and unit of the flow. */
struct cc_config fabric_response(const struct fabric *fabric, uint32_t flow);
/* Response of queue pairs; rates are shares of their links. */
struct cc_config fabric_response_in_shares(const struct fabric *fabric);
/*
 * SLs on which queue pairs are throttled. If the routing algorithm has its own SLs, these are the
 * SL blocks of all classes without a guaranteed rate.
 */
uint16_t fabric_paced_sls(const struct fabric *fabric);
/*
 * The response of an end node on an SL: as set by a subnet manager, after that
 * number of its changes (C9), or `common`. NULL: the flows are never throttled.
 */
const struct cc_config *fabric_response_of(const struct fabric *fabric, uint32_t node, unsigned sl,
					   uint32_t changes, const struct cc_config *common);
/*
 * Responses that an external manager has set, by node and SL. The manager is queried now and may
 * end later. If some nodes have settings already, only those are queried.
 */
struct cc_config **fabric_ask_responses(struct fabric *fabric, const struct fabric_programmer *by);
/* NULL for none and "inherit". */
const struct cc_algorithm *fabric_algorithm(unsigned control);
/* Reason why no algorithm can throttle a flow; NULL: it can. */
const char *fabric_uncontrolled(const struct fabric *fabric, uint32_t flow);
/* A limit of the run's algorithm with the rates of the flows, or NULL. */
const char *fabric_control_warning(const struct fabric *fabric);
/* Bits per second that a flow reserves; 0: no reservation. */
uint64_t fabric_reservation(const struct fabric *fabric, uint32_t flow);
/* Guaranteed share of a link per SL; entries of other SLs are unchanged. */
void fabric_shares(const struct scn_congestion *c, double *out);

#endif
