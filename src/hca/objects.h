/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_HCA_OBJECTS_H
#define HD_HCA_OBJECTS_H

/* What verbs objects do when the adapter writes to them; private to verbs/. */

#include "hca/hca_internal.h"

/* A completion that is in memory from `when` on. */
void hca_cq_push(struct v_cq *cq, const struct completion *wc, hd_time when);

#endif
