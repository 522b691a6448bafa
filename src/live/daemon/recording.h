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

/* Creates the recording `path`. */
HD_MUST_CHECK enum hd_status recorder_open(const char *path, const struct topo *t,
					   const struct agents_timing *times, struct diag *d,
					   struct recorder **out);
void recorder_note(struct recorder *r, const struct agent_change *d);
/* Flushes the recorded changes to the file. */
void recorder_flush(struct recorder *r);
/* Writes the end and closes the file; false if not all of it could be written. */
bool recorder_close(struct recorder *r);

struct recording;

/* Reads the fabric; takes `stream`, also on failure. */
HD_MUST_CHECK enum hd_status daemon_recording_open(FILE *stream, struct diag *d,
						   struct recording **out);
void daemon_recording_close(struct recording *r);

const struct topo *daemon_recording_topo(const struct recording *r);
/* Delays of the recorded MADs; NULL: MADs arrived at once. */
const struct agents_timing *daemon_recording_times(const struct recording *r);

/*
 * Applies the changes up to the time `until` to agents of that fabric; returns the time of the
 * last change.
 */
HD_MUST_CHECK enum hd_status daemon_recording_replay(struct recording *r, struct agents *a,
						     hd_time until, struct diag *d, hd_time *last);

/*
 * Writes the MADs that crossed cables until `until` as a capture: those on the cable at `port`
 * (for example "leaf3:19"), or on all cables if it is NULL.
 */
HD_MUST_CHECK enum hd_status live_replay_capture(struct recording *r, hd_time until,
						 const char *port, FILE *out, struct diag *d);

#endif
