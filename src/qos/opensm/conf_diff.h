/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_QOS_OPENSM_CONF_DIFF_H
#define HD_QOS_OPENSM_CONF_DIFF_H

/*
 * A running opensm.conf against the lines of a plan, key by key.
 *
 * The last line of a key counts, as in OpenSM. A key for one kind of ports
 * (qos_ca_, qos_swe_, ...) that the plan does not write overrides the plan's
 * general key: it is listed with the planned value "remove".
 */

#include "measure/results.h"

/* Adds table "keys": what has to change in `running` for `plan`. */
void opensm_conf_diff_show(const char *running, const char *plan, struct results *r);

#endif
