/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/diag.h"
#include "live/daemon/capture.h"
#include "live/daemon/daemon_internal.h"
#include "live/daemon/recording.h"

static void capture(void *context, const struct agents_link_event *c)
{
	live_capture_write(context, c);
}

enum hd_status live_replay_capture(struct recording *r, hd_time until, const char *port, FILE *out,
				   struct diag *d)
{
	const struct topo *t = daemon_recording_topo(r);
	const struct agents_options options = { .times = daemon_recording_times(r) };
	struct text_map nodes = { 0 };
	port_id only = TOPO_NONE;
	enum hd_status status = HD_OK;
	hd_time last;

	daemon_node_names(t, &nodes);
	if (port)
		status = daemon_port_named(t, &nodes, port, d, &only);
	text_map_fini(&nodes);
	if (status != HD_OK)
		return status;
	struct live_capture *c = live_capture_new(out, false, only);
	const struct agents_events events = { .context = c, .on_link = capture };
	struct agents *a = agents_new(t, &options, &events);

	status = daemon_recording_replay(r, a, until, d, &last);
	agents_free(a);
	/* The owner of the stream reports write errors. */
	(void)live_capture_close(c);
	return status;
}
