/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_CONGESTION_FLOWS_H
#define HD_SIM_CONGESTION_FLOWS_H

/*
 * What a scenario says, as the input of a run under congestion control: the
 * flows of its traffic rows, each paced by control instead of by its kind, and
 * the parameters of its section `congestion`.
 *
 * Flows begin within CONGESTION_START_SPREAD of their row's start, drawn from
 * the scenario's seed: nobody's clocks are in step.
 */

#include "fabric/fabric.h"
#include "sim/congestion/congestion.h"

#define CONGESTION_START_SPREAD (20 * HD_US)

/*
 * One congestion_flow per flow of the build; the caller frees *out.
 * HD_ERR_UNFIT if one has no single destination to acknowledge.
 */
HD_MUST_CHECK enum hd_status congestion_flows(const struct fabric *b, struct diag *d,
					      struct congestion_flow **out);

/*
 * The scenario's parameters for these flows, with rates after the first one's
 * link. The algorithm stays open. HD_ERR_UNFIT if the run's length is not told
 * in time.
 */
HD_MUST_CHECK enum hd_status congestion_params_init(const struct fabric *b, struct diag *d,
						    struct congestion_params *out);

#endif
