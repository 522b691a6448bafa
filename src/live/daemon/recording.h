/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_LIVE_DAEMON_RECORDING_H
#define HD_LIVE_DAEMON_RECORDING_H

/*
 * A file of all that happened to a live fabric: its nodes and cables, then
 * each change (mgmt/agents/agents.h) with its time. A replay of the changes gives
 * a fabric in the same state and the same MADs on the same cables.
 *
 *	a line that says what it is
 *	length 4 | whether MADs take time; nodes, ports and cables
 *		(topo/pack.h); what MADs that do find there (agents_timing_pack)
 *	length 4 | a change, and so on
 *	0 4 | how many changes 8
 *
 * Lengths are big-endian. A file without its end is cut.
 */

#include <stdio.h>

#include "base/diag.h"
#include "mgmt/agents/agents.h"

struct recorder;

/* Begins `path`, or says why not. */
HD_MUST_CHECK enum hd_status recorder_open(const char *path, const struct topo *t,
					   const struct agents_timing *times, struct diag *d,
					   struct recorder **out);
void recorder_note(struct recorder *r, const struct agent_change *d);
/* So that others find what was noted. */
void recorder_flush(struct recorder *r);
/* Ends and closes it; false if not all of it could be written. */
bool recorder_close(struct recorder *r);

struct recording;

/* Reads the fabric; takes over `stream`, also if it is refused. */
HD_MUST_CHECK enum hd_status daemon_recording_open(FILE *stream, struct diag *d,
						   struct recording **out);
void daemon_recording_close(struct recording *r);

const struct topo *daemon_recording_topo(const struct recording *r);
/* What MADs took on their way; NULL: no time. */
const struct agents_timing *daemon_recording_times(const struct recording *r);

/*
 * Does the changes up to the time `until` to agents of that fabric; the time of
 * the last.
 */
HD_MUST_CHECK enum hd_status daemon_recording_replay(struct recording *r, struct agents *a,
						     hd_time until, struct diag *d, hd_time *last);

/*
 * The MADs that crossed cables by `until`, as a capture: those of the cable at
 * `port` ("leaf3:19"), or if it is NULL all.
 */
HD_MUST_CHECK enum hd_status live_replay_capture(struct recording *r, hd_time until,
						 const char *port, FILE *out, struct diag *d);

#endif
