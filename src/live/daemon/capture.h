/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_LIVE_DAEMON_CAPTURE_H
#define HD_LIVE_DAEMON_CAPTURE_H

/*
 * Capture of MADs on cables in a file for Wireshark. Each MAD is written once per cable, with the
 * headers that it has there. RMPP messages of several segments are written as their packets,
 * without the acknowledgements.
 */

#include <stdio.h>

#include "mgmt/agents/agents.h"

struct live_capture;

/*
 * `owns`: live_capture_close also closes the stream. `only`: captures the cable at that port;
 * TOPO_NONE: all cables.
 */
struct live_capture *live_capture_new(FILE *stream, bool owns, port_id only);
void live_capture_write(struct live_capture *c, const struct agents_link_event *what);
void live_capture_flush(struct live_capture *c);
/* False if not all packets could be written. */
bool live_capture_close(struct live_capture *c);

#endif
