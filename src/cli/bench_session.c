/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/bench_session.h"

#include <stdio.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "bench/params_codec.h"
#include "cli/output.h"
#include "cli/threads.h"
#include "hca/profile.h"

#define FIELD(name) offsetof(struct session, name)

static void profile_words(struct strbuf *out)
{
	for (size_t i = 0; profile_names[i]; i++)
		strbuf_printf(out, "%s ", profile_names[i]);
}

#define NO_CHECKPOINTS "the stacks of benchmark programs cannot be saved"

const struct option session_options[] = {
	{ "profile", 0, OPT_INPUT, FIELD(simulated.profile), "NAME|FILE", "mt23108",
	  "what hosts and adapters cost: mt23108, connectx-4-like, connectx-6-like, connectx-7-like, ideal or a file",
	  .words = profile_words },
	{ "fabric", 0, OPT_INPUT, FIELD(simulated.scenario), "SCENARIO", NULL,
	  "a scenario whose fabric and traffic to run on, instead of the profile's one switch" },
	OPTIONS_OPENSM(struct session, scenario),
	OPTION_SET(struct session, scenario),
	{ "device", 'd', OPT_TEXT, FIELD(device.name), "NAME", NULL,
	  "a device of libibverbs instead of the simulated adapter" },
	{ "gid", 'x', OPT_UINT, FIELD(device.gid), "N", "1", "the device's GID index, on Ethernet",
	  .high = 255 },
	{ "listen", 0, OPT_TEXT, FIELD(device.listen), "ADDRESS:PORT", NULL,
	  "wait there for one who connects, and do as told" },
	{ "connect", 0, OPT_TEXT, FIELD(device.connect), "HOST:PORT,...", NULL,
	  "measure with those who listen: receiver, then contenders or loaders" },
	{ "size", 0, OPT_TEXT, FIELD(sizes), "SIZE[..SIZE]", NULL,
	  "message sizes, powers of two between these" },
	{ "step", 0, OPT_UINT, FIELD(suite.options.step), "N", "2",
	  "how much a size exceeds the one before", .low = 2, .high = 1u << 20 },
	{ "values", 0, OPT_TEXT, FIELD(values), "N,...", NULL,
	  "what the test varies (its axis), instead of its own list" },
	{ "iterations", 'n', OPT_UINT, FIELD(suite.options.iterations), "N", "0",
	  "iterations of each point; 0: by its size, and on a device fewer if a point takes longer than about a second" },
	{ "duration", 'D', OPT_TIME, FIELD(suite.options.duration), "TIME", "0ns",
	  "as many iterations as fill this time, instead of a number; not for costs and multicast" },
	{ "window", 0, OPT_UINT, FIELD(suite.options.window), "N", "0",
	  "messages under way: W, then W/2 after each W/2 (0: 64)", .high = 1u << 24 },
	{ "qps", 0, OPT_UINT, FIELD(suite.options.qps), "N", "1", "connections used in turn",
	  .low = 1, .high = BENCH_MAX_QPS },
	{ "segments", 0, OPT_UINT, FIELD(suite.options.segments), "N", "1",
	  "segments that each message is gathered from and scattered to", .low = 1,
	  .high = WR_MAX_SGE },
	{ "mtu", 'm', OPT_UINT, FIELD(suite.options.mtu), "SIZE", "0",
	  "path MTU: 256, 512, 1024, 2048 or 4096 (0: the profile's)" },
	{ "max-sge", 0, OPT_UINT, FIELD(suite.options.sge), "N", "1",
	  "segments that queue pairs are made for", .low = 1, .high = WR_MAX_SGE },
	{ "sl", 'S', OPT_UINT, FIELD(suite.options.sl), "SL", "0", "service level", .high = 14 },
	{ "events", 'e', OPT_FLAG, FIELD(suite.options.events), NULL, NULL,
	  "sleep until an event instead of polling" },
	{ "expect", 0, OPT_LIST, FIELD(expect), "CONDITION", NULL,
	  "such as 'p99<5us', 'bw>=900MB/s' or 'avg@64<6us'; exit status 1 if one is missed" },
	{ "pcap", 0, OPT_OUTPUT, FIELD(pcap), "FILE", NULL,
	  "every packet that the adapters send or receive, for Wireshark; each point begins at a second of its own" },
	{ "into", 0, OPT_OUTPUT, FIELD(into), "FILE", NULL,
	  "where 'fit' writes the fitted profile, for --profile" },
	{ "checkpoint", .kind = OPT_REFUSED, .value = NO_CHECKPOINTS },
	{ "restart", .kind = OPT_REFUSED, .value = NO_CHECKPOINTS },
	OPTION_VERBOSE,
	{ .name = NULL },
};

static bool still_going(void *context)
{
	(void)context;
	return !cleanup_signal_is_pending();
}

bool session_show(void *session, const struct bench_row *row)
{
	struct session *s = session;

	(void)row;
	return progress_show(&s->progress, (double)s->done++);
}

/* Reads the options into the suite. */
static enum hd_status take_options(struct session *s, struct diag *d)
{
	enum hd_status status = suite_check(&s->suite, d);

	if (status == HD_OK && s->sizes)
		status = suite_set_sizes(&s->suite, s->sizes, d);
	if (status == HD_OK && s->values)
		status = suite_set_values(&s->suite, s->values, d);
	for (size_t i = 0; i < s->expect.n && status == HD_OK; i++)
		status = suite_expect(&s->suite, s->expect.items[i], d);
	return status;
}

static int report(struct session *s, enum hd_status status, struct diag *d)
{
	if (status != HD_OK && !cleanup_signal_is_pending())
		return command_refuse(d);
	struct results *r = results_new("bench");
	bool met = suite_show(&s->suite, &s->backend, r);

	if (!cleanup_signal_is_pending())
		return output_results(&s->common, r, met);
	results_remark(r, "interrupted after %zu of %zu points", s->suite.rows.n, s->total);
	(void)output_results(&s->common, r, met);
	return EXIT_ENVIRONMENT;
}

static enum hd_status open_backend(struct session *s, struct diag *d)
{
	s->device.going = s->simulated.going = still_going;
	s->simulated.overrides = &s->scenario.overrides;
	return s->device.name ? device_open(&s->device, d, &s->backend)
			      : virtual_open(&s->simulated, d, &s->backend);
}

static enum hd_status measure(struct session *s, struct diag *d)
{
	const struct bench_watch watch = { session_show, s };
	enum hd_status status = fabric_choice_overrides(&s->scenario, SEED_OF_SCENARIO, d);

	if (status == HD_OK)
		status = open_backend(s, d);
	if (status != HD_OK)
		return status;
	s->total = suite_points(&s->suite, &s->backend);
	progress_begin(&s->progress, &s->common, "points", (double)s->total);
	status = suite_run(&s->suite, &s->backend, &watch, d);
	progress_end(&s->progress);
	return status;
}

static int measure_and_report(struct session *s)
{
	struct diag d = { .status = HD_OK };
	struct file_writer capture = { 0 };

	if (s->pcap && file_create(&capture, s->pcap, &d) != HD_OK)
		return command_refuse(&d);
	s->simulated.capture = capture.stream;
	enum hd_status found = measure(s, &d);

	/* An error of the capture's stream takes precedence. */
	if (capture.stream && (found == HD_OK || ferror(capture.stream))) {
		d = (struct diag){ .status = HD_OK };
		found = file_commit(&capture, &d);
	} else if (capture.stream) {
		file_abandon(&capture);
	}
	if (!s->backend.close)
		return command_refuse(&d);
	int status = report(s, found, &d);

	s->backend.close(&s->backend);
	return status;
}

/* Worker process: executes requests of another process until there are no more. */
static int serve(struct session *s)
{
	struct diag d = { .status = HD_OK };

	if (open_backend(s, &d) != HD_OK)
		return command_refuse(&d);
	enum hd_status status = device_serve(&s->backend, PARAMS_CODE_SIZE, bench_serve_point, &d);

	s->backend.close(&s->backend);
	return status == HD_OK ? EXIT_DONE : command_refuse(&d);
}

int session_run(struct session *s, const struct command *self, int n, char **words)
{
	struct diag d = { .status = HD_OK };
	enum hd_status ok = take_options(s, &d);

	if ((s->device.listen || s->device.connect) && !s->device.name)
		return command_usage(self, "--listen and --connect require --device");
	if (s->device.name && (s->pcap || s->simulated.scenario))
		return command_usage(self, "--pcap and --fabric cannot be used with --device");
	/* Signals end the measurement early; completed points are still shown. */
	cleanup_defer_signals();
	if (s->device.listen)
		return serve(s);
	if (n == 0)
		return command_usage(self, "no test is named; 'heddle bench list' lists them");
	for (int i = 0; i < n && ok == HD_OK; i++)
		ok = suite_add(&s->suite, words[i], &d);
	if (ok == HD_OK && !s->device.name)
		ok = profile_check(s->simulated.profile, &d);
	return ok == HD_OK ? measure_and_report(s) : command_usage(self, "%s", d.message);
}

void session_fini(struct session *s)
{
	fabric_choice_fini(&s->scenario);
	suite_fini(&s->suite);
}
