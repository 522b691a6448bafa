/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/live/live.h"

struct values {
	struct common_options common;
	const char *name;
	bool stop;
};

static const struct option options[] = {
	LIVE_NAME_OPTION(struct values),
	{ "stop", 0, OPT_FLAG, offsetof(struct values, stop), NULL, NULL,
	  "end the capture", NULL, 0, 0 },
	{ NULL },
};

/* A file that was not there is not left if nothing comes of it. */
static int open_file(const char *path, bool *made)
{
	const int flags = O_WRONLY | O_CREAT | O_CLOEXEC;
	int file = open(path, flags | O_EXCL, 0666);

	*made = file >= 0;
	return *made ? file : open(path, flags, 0666);
}

static int start(const struct values *v, char **port, int n)
{
	struct diag d = { .status = HD_OK, .file = v->common.output };
	struct strbuf out = STRBUF_INIT;
	bool made;
	int file = open_file(v->common.output, &made), status;

	if (file < 0) {
		diag_fail(&d, HD_ERR_IO, "cannot be written: %s",
			  strerror(errno));
		return command_refuse(&d);
	}
	status = live_ask_with(v->name, "capture", port, n, file, &out);
	if (status != EXIT_DONE && made)
		unlink(v->common.output);
	close(file);
	strbuf_fini(&out);
	return status;
}

static int run(const struct command *self, int argc, char **argv)
{
	struct values v = { 0 };
	struct strbuf out = STRBUF_INIT;
	int n_args, status;

	if (!command_parse(self, &v, argc, argv, &n_args, &status))
		return status;
	if (n_args > 1 || (v.stop && (n_args > 0 || v.common.output)))
		return command_usage(self, "[PORT] -o FILE, or --stop");
	if (!v.stop && !v.common.output)
		return command_usage(self, "into which FILE (-o)?");
	if (!v.stop)
		return start(&v, argv, n_args);
	status = live_ask(v.name, "release", NULL, 0, &out);
	strbuf_fini(&out);
	return status;
}

static const struct example examples[] = {
	{ "heddle live capture -o sweep.pcap", "each MAD on each cable" },
	{ "heddle live capture leaf3:19 -o one.pcap", "those on one cable" },
	{ "heddle live capture --stop", "that is all" },
	{ NULL, NULL },
};

const struct command command_live_capture = {
	.name = "live capture",
	.summary = "write the MADs that cross cables, for Wireshark",
	.arguments = "[PORT]",
	.description =
		"From now until 'live capture --stop' or the fabric's end, "
		"with the headers that they have on each cable; times are "
		"those of the fabric, which begins at 0. Answers of many "
		"segments are shown as their packets, without those that "
		"acknowledge them. Data are not in it: those of programs are "
		"counted as packets and never are any, unless they are "
		"timed, and those of 'live traffic' are captured by its own "
		"'-- --pcap FILE --port PORT'.",
	.options = options,
	.examples = examples,
	.run = run,
};
