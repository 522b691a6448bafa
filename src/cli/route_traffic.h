/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CLI_ROUTE_TRAFFIC_H
#define HD_CLI_ROUTE_TRAFFIC_H

#include "fabric/fabric.h"
#include "subnet/routing/load.h"

/* Pairs of source and destination in a scenario. Flows without a fixed end port are counted. */
void route_traffic_init(struct load_traffic *t, const struct fabric *fabric);
void route_traffic_fini(struct load_traffic *t);

#endif
