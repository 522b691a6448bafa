/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_QOS_ADMISSION_SERVICE_H
#define HD_QOS_ADMISSION_SERVICE_H

/*
 * What an output port really serves of a reservation.
 *
 * A VL uses an entry's weight only while its next packet is ready and has
 * credits. Between two switches each buffer is filled by one table and emptied
 * by another, which are not in step: a visit is worth at most half of the
 * buffer, and where unreserved VLs send more at once than a buffer holds
 * (place: first), all entries of a VL between them are one visit. So the entries of the tables that
 * are programmed have at most the weight of the largest packet that the MTU allows (the *quantum*),
 * not 255: shares stay as they are, and visits are short and frequent. Unreserved VLs, which always
 * may have packets, send one packet per entry.
 *
 * With r_v the share of a reserved VL, c_v the blocks that its entries are
 * worth in one round, and u the blocks that unreserved VLs send in one round,
 * the VL gets its share if (sum of all r) + r_v / c_v * u <= 1: it needs
 * r_v / c_v rounds, and other reserved VLs send no more than their shares.
 *
 * A crossbar between queues at inputs and outputs serves VLs in turn, one
 * packet each, whatever the tables say: there c_v is the smallest packet of the
 * VL, u one packet of each unreserved VL, and 1 what the crossbar is worth of
 * the link (service_crossing).
 */

#include "qos/admission/broker.h"

/* Turns the weights of 255 per entry into those that are programmed. */
void service_scale(const struct broker *b, port_id port, struct vlarb *t);

/*
 * How fast a packet is sure to cross to an output of a switch, bytes per
 * second: at the speed-up, but not before its tail has come, over the slowest
 * link that leads there.
 */
double service_crossing(const struct broker *b, port_id port);

/* Why the reservations at a port would not get what they ask; NULL: they do. */
const char *service_lacks(const struct broker *b, port_id port);

#endif
