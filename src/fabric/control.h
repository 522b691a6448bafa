/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_FABRIC_CONTROL_H
#define HD_FABRIC_CONTROL_H

/*
 * What a scenario says about congestion control, in the terms of cc/ and of
 * the setup. A fabric whose scenario has an algorithm has a setup.control.
 */

#include "fabric/fabric.h"

struct mark_config fabric_marking(const struct scn_congestion *c);
/* How the source of a flow responds; rates and unit are the flow's own. */
struct cc_config fabric_response(const struct fabric *fabric, uint32_t flow);
/* How queue pairs answer; rates are shares of their links. */
struct cc_config fabric_response_in_shares(const struct fabric *fabric);
/*
 * SLs of the packets of queue pairs that are slowed down. Where the routing
 * algorithm has SLs of its own these are blocks of SLs, one for each class, none
 * of which has an SL whose rate is promised.
 */
uint16_t fabric_paced_sls(const struct fabric *fabric);
/*
 * The response of an end node on an SL: as set by a subnet manager, after that
 * number of its changes (C9), or `common`. NULL: the flows are never throttled.
 */
const struct cc_config *fabric_response_of(const struct fabric *fabric, uint32_t node, unsigned sl,
					   uint32_t changes, const struct cc_config *common);
/*
 * What a manager outside says of all of them, by node and SL: it is asked now,
 * and may be gone later. Of those alone that have one already, if any has.
 */
struct cc_config **fabric_ask_responses(struct fabric *fabric, const struct fabric_programmer *by);
/* NULL for none and "inherit". */
const struct cc_algorithm *fabric_algorithm(unsigned control);
/* Why no algorithm can hold a flow back, or NULL. */
const char *fabric_uncontrolled(const struct fabric *fabric, uint32_t flow);
/* A limit of the run's algorithm with the rates of the flows, or NULL. */
const char *fabric_control_warning(const struct fabric *fabric);
/* Bits per second that a flow reserves; 0: no reservation. */
uint64_t fabric_reservation(const struct fabric *fabric, uint32_t flow);
/* What each SL may be promised of a link, by SL; others are left alone. */
void fabric_shares(const struct scn_congestion *c, double *out);

#endif
