/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_FABRIC_ADMISSION_H
#define HD_FABRIC_ADMISSION_H

/*
 * Inputs of admission on a fabric: the classes of the scenario or of qos/tables/classes.h, margins
 * and tables, switches, links and buffers. Runs and all qos commands use the same.
 */

#include "fabric/fabric.h"
#include "qos/admission/target.h"

/*
 * Its arrays belong to the fabric. The standing requests are the scenario's jobs with
 * `reserve`, in their order; HD_ERR_NOT_FOUND or HD_ERR_INPUT if the hosts of one are
 * not there.
 */
HD_MUST_CHECK enum hd_status fabric_broker_params(struct fabric *fabric, struct diag *d,
						  struct broker_params *out);
/* The job of a standing request. */
uint32_t fabric_standing_job(const struct scenario *s, uint32_t standing);
/* The scenario's classes if they have kinds; otherwise empty. */
struct qos_classes fabric_classes(const struct fabric *fabric);
/* For requests with packets of `payload`, without groups. */
struct qos_terms fabric_terms(const struct fabric *fabric, uint32_t payload);

#endif
