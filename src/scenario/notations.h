/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SCENARIO_NOTATIONS_H
#define HD_SCENARIO_NOTATIONS_H

/* Notations of scenario values for fields.c. */

#include "scenario/schema.h"

extern const struct schema_custom notation_topology_kind; /* generator */
extern const struct schema_custom notation_engine;        /* its name */
extern const struct schema_custom notation_vlarb;         /* 0:4,1:8 */
extern const struct schema_custom notation_sl2vl;         /* VLs of the 16 SLs */
extern const struct schema_custom notation_cct;           /* shift:multiplier */
extern const struct schema_custom notation_levels;        /* of thresholds */
extern const struct schema_custom notation_vls;           /* a set of VLs */
extern const struct schema_custom notation_sls;           /* a set of SLs */

#endif
