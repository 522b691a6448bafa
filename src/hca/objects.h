/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_HCA_OBJECTS_H
#define HD_HCA_OBJECTS_H

/* Functions of verbs objects that the adapter calls. Private to src/hca. */

#include "hca/hca_internal.h"

/* Adds a completion that is in host memory from `when` on. */
void hca_cq_push(struct v_cq *cq, const struct completion *wc, hd_time when);

#endif
