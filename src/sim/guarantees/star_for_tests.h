/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_GUARANTEES_STAR_FOR_TESTS_H
#define HD_SIM_GUARANTEES_STAR_FOR_TESTS_H

/* For tests of who keeps what on a link that all share. */

/* Two hosts send to a third through one switch: all meet on its link. */
#define STAR                                                               \
	"fabric:\n"                                                        \
	"  topology: {kind: star, hosts: 4}\n"                             \
	"  link: {rate: 8Gb/s, propagation: 5ns}\n"                        \
	"  switch: {order: voq, arbitration: oldest, routing_delay: 20ns," \
	" arbitration_delay: 5ns, input_buffer: 64KiB}\n"                  \
	"  packet: {overhead: 26}\n"

#endif
