/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_QOS_ADMISSION_SERVICE_H
#define HD_QOS_ADMISSION_SERVICE_H

/*
 * The service that a reservation gets at an output port.
 *
 * A VL uses the weight of an entry only while its next packet is ready and has credits. Between two
 * switches, each buffer is filled according to one table and emptied according to another,
 * which are not synchronised: a visit is guaranteed at most half of the buffer. If unreserved
 * VLs send more at once than a buffer holds (place: first), all entries of a VL between them count
 * as one visit. Entries of the programmed tables therefore have at most the weight of the largest
 * packet that the MTU allows (the *quantum*), not 255: the shares are unchanged, and visits are
 * short and frequent. Unreserved VLs, which may always have packets, send one packet per entry.
 *
 * With r_v the share of a reserved VL, c_v the blocks that its entries serve in one round,
 * and u the blocks that unreserved VLs send in one round, the VL gets its share if
 * (sum of all r) + r_v / c_v * u <= 1: it needs r_v / c_v rounds, and other reserved VLs send
 * no more than their shares.
 *
 * A crossbar between input and output queues serves VLs in turn, one packet each, independent of
 * the tables: there, c_v is the smallest packet of the VL, u one packet of each unreserved VL,
 * and 1 is replaced by the ratio of crossbar to link rate (service_crossing).
 */

#include "qos/admission/broker.h"

/* Converts table weights of up to 255 per entry into the weights to program. */
void service_scale(const struct broker *b, port_id port, struct vlarb *t);

/*
 * Guaranteed rate at which a packet crosses to an output of a switch, bytes per second: the
 * speed-up, limited by the arrival of its tail over the slowest link that leads there.
 */
double service_crossing(const struct broker *b, port_id port);

/* Reason why the reservations at a port would not get their shares; NULL: they do. */
const char *service_lacks(const struct broker *b, port_id port);

#endif
