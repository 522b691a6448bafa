/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_LIVE_DAEMON_CAPTURE_H
#define HD_LIVE_DAEMON_CAPTURE_H

/*
 * MADs that cross cables, in a file that Wireshark opens: each once per cable,
 * with the headers that it has there. Answers of many segments are shown as
 * their packets; what acknowledges these is not.
 */

#include <stdio.h>

#include "mgmt/agents/agents.h"

struct live_capture;

/* `owns`: closes the stream with it. All cables; or, unless it is TOPO_NONE,
 * that at the port `only`. */
struct live_capture *live_capture_new(FILE *stream, bool owns, port_id only);
void live_capture_write(struct live_capture *c, const struct agents_link_event *what);
void live_capture_flush(struct live_capture *c);
/* False if not all of it could be written. */
bool live_capture_close(struct live_capture *c);

#endif
