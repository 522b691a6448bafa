/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/live.h"

struct live_capture_options {
	struct common_options common;
	const char *name;
	bool stop, data;
};

static const struct option options[] = {
	LIVE_NAME_OPTION(struct live_capture_options),
	{ "stop", 0, OPT_FLAG, offsetof(struct live_capture_options, stop), NULL, NULL,
	  "end the capture", NULL, 0, 0 },
	{ "data", 0, OPT_FLAG, offsetof(struct live_capture_options, data), NULL, NULL,
	  "capture packets of programs ('live up --clock simulated') instead of MADs", NULL, 0, 0 },
	{ NULL },
};

/* Opens the output; `made`: the file was created here and is removed if the capture fails. */
static int open_file(const char *path, bool *made)
{
	const int flags = O_WRONLY | O_CREAT | O_CLOEXEC;
	int file = open(path, flags | O_EXCL, 0666);

	*made = file >= 0;
	return *made ? file : open(path, flags, 0666);
}

static int start(const struct live_capture_options *v, char **port, int n)
{
	struct diag d = { .status = HD_OK, .file = v->common.output };
	struct strbuf out = STRBUF_INIT;
	bool made;
	int file = open_file(v->common.output, &made), status;

	if (file < 0) {
		diag_fail(&d, HD_ERR_IO, "cannot be written: %s", strerror(errno));
		return command_refuse(&d);
	}
	status = cli_live_request_with_file(v->name, v->data ? "capture-data" : "capture", port, n,
					    file, &out);
	if (status != EXIT_DONE && made)
		unlink(v->common.output);
	close(file);
	strbuf_fini(&out);
	return status;
}

/* Repeats the request until the engine has written all remaining packets. */
static int stop(const struct live_capture_options *v)
{
	const struct timespec a_while = { .tv_nsec = 5000000 };
	bool ends = true;
	int status = EXIT_DONE;

	while (ends && status == EXIT_DONE) {
		struct strbuf out = STRBUF_INIT;

		status = cli_live_request(v->name, v->data ? "release-data" : "release", NULL, 0,
					  &out);
		ends = status == EXIT_DONE && out.len > 0;
		strbuf_fini(&out);
		if (ends)
			nanosleep(&a_while, NULL);
	}
	return status;
}

static int run(const struct command *self, void *values, int n, char **args)
{
	const struct live_capture_options *v = values;

	if (n > 1 || (v->stop && (n > 0 || v->common.output)))
		return command_usage(self, "--stop cannot be used with -o or PORT");
	if (!v->stop && !v->common.output)
		return command_usage(self, "-o FILE is required");
	return v->stop ? stop(v) : start(v, args, n);
}

static const struct example examples[] = {
	{ "heddle live capture -o sweep.pcap", "capture the MADs on all cables" },
	{ "heddle live capture leaf3:19 -o one.pcap", "capture the MADs on one cable" },
	{ "heddle live capture --stop", "end the capture of MADs" },
	{ "heddle live capture h5 --data -o data.pcap", "capture the packets of programs at h5" },
	{ "heddle live capture --data --stop", "end the capture of data" },
	{ NULL, NULL },
};

const struct command command_live_capture = {
	.name = "live capture",
	.summary = "capture the packets of a live fabric for Wireshark",
	.arguments = "[PORT]",
	.description =
		"Captures MADs until 'live capture --stop' or the end of the fabric, with their\n"
		"headers on each cable. Times are those of the fabric, which begins at 0. RMPP\n"
		"responses are shown as their data segments, without acknowledgements. With\n"
		"--data, captures the packets of verbs programs with their payload, at PORT or\n"
		"at the first port of each cable; times are those that the programs read. This\n"
		"requires 'live up --clock simulated': otherwise messages are copied in memory\n"
		"and packets are only counted. 'live traffic FILE -- --pcap FILE --port PORT'\n"
		"captures simulated traffic.\n",
	.options = options,
	.examples = examples,
	.writes = WRITES_TEXT,
	COMMAND_CALL(run, struct live_capture_options, 0, ANY_NUMBER),
};
