/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_TRANSPORT_CODES_H
#define HD_TRANSPORT_CODES_H

/* Encodings of small values in transport headers and queue pair attributes. */

#include <stdint.h>

#include "base/units.h"

#define CREDITS_NONE 31 /* "no credit information" */

/* Number of receive work requests for a credit code (0..30). */
uint32_t qp_credit_count(unsigned code);
/* The largest code whose count does not exceed `count`. */
unsigned qp_credit_code(uint32_t count);

/* Waiting time of an RNR NAK timer code (0..31); code 0 is the longest. */
hd_time qp_rnr_delay(unsigned code);

/* 4.096 us * 2^timeout for 1..31; HD_TIME_NEVER for 0. */
hd_time qp_ack_timeout(unsigned timeout);

/* Name in verbs, such as "RETRY_EXC_ERR"; NULL if there is no such status. */
const char *qp_wc_status_name(unsigned status);

#endif
