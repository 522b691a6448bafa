/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_FABRIC_ADMISSION_H
#define HD_FABRIC_ADMISSION_H

/*
 * What admission counts with on a fabric: the scenario's classes, or those of
 * qos/tables/classes.h, its margins and tables, and its switches, links and buffers.
 * Runs and all qos commands use the same.
 */

#include "fabric/fabric.h"
#include "qos/admission/target.h"

/* Its arrays belong to the fabric. */
struct broker_params fabric_broker_params(struct fabric *fabric);
/* The scenario's classes, if they have kinds; else none. */
struct qos_classes fabric_classes(const struct fabric *fabric);
/* For requests with packets of `payload`, without groups. */
struct qos_terms fabric_terms(const struct fabric *fabric, uint32_t payload);

#endif
