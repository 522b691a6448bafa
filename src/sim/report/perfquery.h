/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_REPORT_PERFQUERY_H
#define HD_SIM_REPORT_PERFQUERY_H

/*
 * A port's counters as the tool perfquery shows those of real ports.
 *
 * Data counters are in words of 4 bytes and leave out the VCRC; counters stop
 * at their largest value instead of starting over. A tick of PortXmitWait is
 * the time in which the link sends one word, so that PortXmitWait is the data
 * that waiting cost, in the same unit as PortXmitData.
 */

#include "fabric/fabric.h"
#include "sim/sim.h"

/*
 * Prints PortCounters; data sent and received per SL; packets and data received per VL (one
 * opcode); with exact credits the flow-control packets. For the ports with `ports` set (NULL: all
 * with a cable). If packets are whole words, as on the wire, the numbers of SLs and of VLs add up
 * to those of the port.
 */
void perfquery_print(const struct fabric *fabric, const struct sim_metrics *m, const bool *ports,
		     struct strbuf *out);

/* Calls the function with each unlimited counter of a port and its name in perfquery. */
void perfquery_each(const struct fabric *fabric, uint32_t port, const struct sim_counters *c,
		    void (*take)(void *context, const char *name, uint64_t value), void *context);

/* Only counters without SL or VL. */
void perfquery_plain(const struct fabric *fabric, uint32_t port, const struct sim_counters *c,
		     void (*take)(void *context, const char *name, uint64_t value), void *context);

#endif
