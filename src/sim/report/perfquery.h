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
 * PortCounters; the data sent and received on each SL; the packets and data
 * received on each VL (all have one opcode); with exact credits the
 * flow-control packets. Of the ports with `ports` set (NULL: all that are
 * cabled). Where packets are whole words, as on the wire, those of the SLs and
 * of the VLs add up to those of the port.
 */
void perfquery_print(const struct fabric *fabric, const struct sim_metrics *m, const bool *ports,
		     struct strbuf *out);

/* The same numbers of one port, whole: their names as perfquery prints them. */
void perfquery_each(const struct fabric *fabric, uint32_t port, const struct sim_counters *c,
		    void (*take)(void *context, const char *name, uint64_t value), void *context);

/* Only those that belong to no SL or VL. */
void perfquery_plain(const struct fabric *fabric, uint32_t port, const struct sim_counters *c,
		     void (*take)(void *context, const char *name, uint64_t value), void *context);

#endif
