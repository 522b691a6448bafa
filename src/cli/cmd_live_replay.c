/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>

#include "base/file.h"
#include "cli/commands.h"
#include "cli/live.h"
#include "live/daemon/recording.h"

struct live_replay_options {
	struct common_options common;
	const char *name;
	bool foreground;
	hd_time until;
	const char *pcap, *port;
};

#define V(member) offsetof(struct live_replay_options, member)

static const struct option options[] = {
	LIVE_NAME_OPTION(struct live_replay_options),
	{ "foreground", 0, OPT_FLAG, V(foreground), NULL, NULL,
	  "run in the foreground; end the fabric when interrupted", NULL, 0, 0 },
	{ "until", 0, OPT_TIME, V(until), "TIME", "0ns",
	  "replay up to TIME since the start of the fabric; 0: all", NULL, 0, 0 },
	{ "pcap", 0, OPT_OUTPUT, V(pcap), "FILE", NULL,
	  "write the MADs on all cables, without starting a fabric", NULL, 0, 0 },
	{ "port", 0, OPT_TEXT, V(port), "NODE:PORT", NULL,
	  "with --pcap: only the cable at this port", NULL, 0, 0 },
	{ NULL },
};

/* Replays the changes once the recording's fabric has been read. */
static enum hd_status replay(const struct live_replay_options *v, struct recording *r,
			     struct diag *d)
{
	hd_time until = v->until ? v->until : HD_TIME_NEVER;
	const struct live_options o = { .times = daemon_recording_times(r),
					.replay = r,
					.until = until };
	struct file_writer w;

	if (!v->pcap)
		return live_start(daemon_recording_topo(r), v->name, &o, !v->foreground, d);
	const char *from = d->file;
	enum hd_status status = file_create(&w, v->pcap, d);

	if (status != HD_OK)
		return status;
	d->file = from; /* errors refer to the recording */
	status = live_replay_capture(r, until, v->port, w.stream, d);
	if (status == HD_OK)
		return file_commit(&w, d);
	file_abandon(&w);
	return status;
}

static int run(const struct command *self, void *values, int n, char **args)
{
	const struct live_replay_options *v = values;
	struct diag d = { .status = HD_OK };
	struct recording *r = NULL;
	FILE *in;

	(void)n;
	if (!cli_live_is_name(v->name))
		return command_usage(self,
				     "invalid fabric name '%s': use letters, digits, '-' and '_'",
				     v->name);
	if (v->port && !v->pcap)
		return command_usage(self, "--port requires --pcap");
	if (file_open(args[0], &d, &in) != HD_OK || daemon_recording_open(in, &d, &r) != HD_OK)
		return command_refuse(&d);
	if (replay(v, r, &d) == HD_OK && !v->pcap && !v->common.quiet && !v->foreground)
		printf("'%s' is up, as it was left\n", v->name);
	daemon_recording_close(r);
	return d.status == HD_OK ? EXIT_DONE : command_refuse(&d);
}

static const struct example examples[] = {
	{ "heddle live replay night.rec", "start the fabric in its final state" },
	{ "heddle live replay night.rec --until 30s --name before",
	  "start it in its state after 30 s" },
	{ "heddle live replay night.rec --pcap night.pcap", "write the MADs on its cables" },
	{ NULL, NULL },
};

const struct command command_live_replay = {
	.name = "live replay",
	.summary = "start a live fabric from a recording",
	.arguments = "FILE",
	.description =
		"Repeats what 'heddle live up --record FILE' has recorded: each MAD of a\n"
		"program, each cable and counter change, at its time. The resulting fabric has\n"
		"the tables, LIDs, states and counters of the recorded one and continues from\n"
		"there. Programs that managed it are not started.\n",
	.options = options,
	.examples = examples,
	.writes = WRITES_NOTHING,
	COMMAND_CALL(run, struct live_replay_options, 1, 1),
};
