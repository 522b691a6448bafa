/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/unfinished.h"
#include "bench/bench.h"
#include "bench/device.h"
#include "bench/letter.h"
#include "bench/virtual.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/scenario.h"
#include "verbs/profile.h"

#define MAX_EXPECT 32
#define LEVEL      0.99

struct values {
	struct common_options common;
	const char *profile, *fabric, *sizes, *points, *pcap;
	const char *device, *listen, *connect;
	struct option_list expect, set;
	hd_time duration;
	uint64_t step, iterations, window, qps, segments, mtu, sge, sl, gid;
	bool events;
};

static const struct option options[] = {
	{ .name = "profile",
	  .kind = OPT_TEXT,
	  .offset = offsetof(struct values, profile),
	  .value = "NAME|FILE",
	  .initial = "mt23108",
	  .help = "what hosts and adapters cost: mt23108, connectx-7-like, "
		  "ideal or a file" },
	{ .name = "fabric",
	  .kind = OPT_TEXT,
	  .offset = offsetof(struct values, fabric),
	  .value = "SCENARIO",
	  .help = "a scenario whose fabric and traffic to run on, instead of "
		  "the profile's one switch" },
	OPTION_SET(struct values, set),
	{ .name = "device",
	  .letter = 'd',
	  .kind = OPT_TEXT,
	  .offset = offsetof(struct values, device),
	  .value = "NAME",
	  .help = "a device of libibverbs instead of the simulated adapter" },
	{ .name = "gid",
	  .letter = 'x',
	  .kind = OPT_UINT,
	  .offset = offsetof(struct values, gid),
	  .value = "N",
	  .initial = "1",
	  .low = 0,
	  .high = 255,
	  .help = "the device's GID index, on Ethernet" },
	{ .name = "listen",
	  .kind = OPT_TEXT,
	  .offset = offsetof(struct values, listen),
	  .value = "ADDRESS:PORT",
	  .help = "wait there for one who connects, and do as told" },
	{ .name = "connect",
	  .kind = OPT_TEXT,
	  .offset = offsetof(struct values, connect),
	  .value = "HOST:PORT,...",
	  .help = "measure with those who listen: receiver, then contenders "
		  "or loaders" },
	{ .name = "size",
	  .kind = OPT_TEXT,
	  .offset = offsetof(struct values, sizes),
	  .value = "SIZE[..SIZE]",
	  .help = "message sizes, powers of two between these" },
	{ .name = "step",
	  .kind = OPT_UINT,
	  .offset = offsetof(struct values, step),
	  .value = "N",
	  .initial = "2",
	  .low = 2,
	  .high = 1u << 20,
	  .help = "how much a size exceeds the one before" },
	{ .name = "values",
	  .kind = OPT_TEXT,
	  .offset = offsetof(struct values, points),
	  .value = "N,...",
	  .help = "what the test varies (its axis), instead of its own list" },
	{ .name = "iterations",
	  .letter = 'n',
	  .kind = OPT_UINT,
	  .offset = offsetof(struct values, iterations),
	  .value = "N",
	  .initial = "0",
	  .help = "of each point; 0: by its size, and on a device fewer if "
		  "a point takes longer than about a second" },
	{ .name = "duration",
	  .letter = 'D',
	  .kind = OPT_TIME,
	  .offset = offsetof(struct values, duration),
	  .value = "TIME",
	  .initial = "0ns",
	  .help = "as many iterations as fill this time, instead of a number; "
		  "not for costs and multicast" },
	{ .name = "window",
	  .kind = OPT_UINT,
	  .offset = offsetof(struct values, window),
	  .value = "W",
	  .initial = "0",
	  .low = 0,
	  .high = 1u << 24,
	  .help = "messages under way: W, then W/2 after each W/2 (0: 64)" },
	{ .name = "qps",
	  .kind = OPT_UINT,
	  .offset = offsetof(struct values, qps),
	  .value = "N",
	  .initial = "1",
	  .low = 1,
	  .high = BENCH_MAX_QPS,
	  .help = "connections used in turn" },
	{ .name = "segments",
	  .kind = OPT_UINT,
	  .offset = offsetof(struct values, segments),
	  .value = "N",
	  .initial = "1",
	  .low = 1,
	  .high = WR_MAX_SGE,
	  .help = "that each message is gathered from and scattered to" },
	{ .name = "mtu",
	  .letter = 'm',
	  .kind = OPT_UINT,
	  .offset = offsetof(struct values, mtu),
	  .value = "BYTES",
	  .initial = "0",
	  .help = "path MTU: 256, 512, 1024, 2048 or 4096 (0: the profile's)" },
	{ .name = "max-sge",
	  .kind = OPT_UINT,
	  .offset = offsetof(struct values, sge),
	  .value = "N",
	  .initial = "1",
	  .low = 1,
	  .high = WR_MAX_SGE,
	  .help = "segments that queue pairs are made for" },
	{ .name = "sl",
	  .letter = 'S',
	  .kind = OPT_UINT,
	  .offset = offsetof(struct values, sl),
	  .value = "SL",
	  .initial = "0",
	  .low = 0,
	  .high = 14,
	  .help = "service level" },
	{ .name = "events",
	  .letter = 'e',
	  .kind = OPT_FLAG,
	  .offset = offsetof(struct values, events),
	  .help = "sleep until an event instead of polling" },
	{ .name = "expect",
	  .kind = OPT_LIST,
	  .offset = offsetof(struct values, expect),
	  .value = "CONDITION",
	  .help = "such as 'p99<5us', 'bw>=900MB/s' or 'avg@64<6us'; exit "
		  "status 1 if one is missed" },
	{ .name = "pcap",
	  .kind = OPT_TEXT,
	  .offset = offsetof(struct values, pcap),
	  .value = "FILE",
	  .help = "every packet that the adapters send or receive, for "
		  "Wireshark; each point begins at a second of its own" },
	{ .name = NULL },
};

/* ---- ending early -------------------------------------------------------- */

static bool still_going(void *context)
{
	(void)context;
	return !unfinished_is_due();
}

/* ---- list and compare ------------------------------------------------------
 */

static int list_tests(const struct common_options *common)
{
	static const char *const groups[] = { "non-data", "data", "beyond" };
	static const struct column columns[] = {
		{ "test", NULL, VALUE_TEXT, ORIGIN_GIVEN },
		{ "group", NULL, VALUE_TEXT, ORIGIN_GIVEN },
		{ "varies", NULL, VALUE_TEXT, ORIGIN_GIVEN },
		{ "what", NULL, VALUE_TEXT, ORIGIN_GIVEN },
		{ NULL },
	};
	struct results *r = results_new("bench list");
	struct table *t =
		results_table(r, "tests", "all tests there are", columns);

	for (const struct bench_test *b = bench_tests; b->name; b++) {
		table_put_text(t, b->name);
		table_put_text(t, groups[b->group]);
		table_put_text(t, b->axis ? bench_axis_name(b->axis)
				  : b->to ? "size"
					  : "-");
		table_put_text(t, b->summary);
	}
	return output_results(common, r, true);
}

static int compare_files(const struct command *self,
			 const struct common_options *common, int n,
			 char **files)
{
	struct diag d = { .status = HD_OK };
	bool differ = false;

	if (n != 2)
		return command_usage(self, "compare which two files?");
	struct results *r = results_new("bench compare");

	if (bench_compare(files[0], files[1], LEVEL, r, &differ, &d) != HD_OK) {
		results_free(r);
		return command_refuse(&d);
	}
	results_remark(r, "%s at a confidence of %g %%",
		       differ ? "there are differences" : "no difference",
		       100 * LEVEL);
	return output_results(common, r, !differ);
}

/* ---- running ----------------------------------------------------- */

struct chosen {
	const struct bench_test *test;
	bool by_group; /* left out if it cannot be done here */
};

struct session {
	struct values v;
	struct overrides overrides;
	struct nic_backend backend;
	struct bench_options options;
	struct bench_expect expect[MAX_EXPECT];
	size_t n_expect;
	struct chosen *tests;
	size_t n_tests, tests_cap;
	struct strbuf left_out; /* a line for each test of a group */
	struct bench_rows rows;
	struct progress progress;
	size_t done, total;
};

static bool show_progress(void *context, const struct bench_row *row)
{
	struct session *s = context;

	(void)row;
	progress_show(&s->progress, (double)s->done++);
	return !unfinished_is_due();
}

static enum hd_status parse_sizes(struct session *s, struct diag *d)
{
	const char *text = s->v.sizes;
	const char *dots = text ? strstr(text, "..") : NULL;
	enum hd_status status;

	if (!text)
		return HD_OK;
	if (!dots) {
		status = hd_size_parse(text, d, &s->options.to);
		s->options.from = s->options.to;
	} else {
		char *first = hd_strndup(text, (size_t)(dots - text));

		status = hd_size_parse(first, d, &s->options.from);
		if (status == HD_OK)
			status = hd_size_parse(dots + 2, d, &s->options.to);
		free(first);
	}
	if (status == HD_OK &&
	    (s->options.from == 0 || s->options.to < s->options.from ||
	     s->options.to > (UINT64_C(1) << 30)))
		return diag_fail(d, HD_ERR_RANGE,
				 "--size %s: expected 1B to 1GiB, the smaller "
				 "first",
				 text);
	return status;
}

static enum hd_status parse_values(struct session *s, struct diag *d)
{
	const char *at = s->v.points;

	while (at && *at) {
		size_t len = strcspn(at, ",");
		char *word = hd_strndup(at, len);
		enum hd_status status;

		if (s->options.n_values == 32)
			status = diag_fail(d, HD_ERR_RANGE,
					   "--values: more than 32");
		else
			status = hd_uint_parse(
				word, d,
				&s->options.values[s->options.n_values++]);
		free(word);
		if (status != HD_OK)
			return status;
		at += len + (at[len] == ',');
	}
	return HD_OK;
}

static bool is_mtu(uint64_t mtu)
{
	return mtu == 0 || mtu == 256 || mtu == 512 || mtu == 1024 ||
	       mtu == 2048 || mtu == 4096;
}

static enum hd_status take_options(struct session *s, struct diag *d)
{
	const struct values *v = &s->v;

	s->options = (struct bench_options){
		.step = v->step,
		.iterations = v->iterations,
		.duration = v->duration,
		.window = v->window,
		.qps = v->qps,
		.segments = v->segments,
		.mtu = v->mtu,
		.sge = v->sge,
		.sl = v->sl,
		.events = v->events,
	};
	if (!is_mtu(v->mtu))
		return diag_fail(d, HD_ERR_RANGE,
				 "--mtu %llu: expected 256, 512, 1024, 2048 or "
				 "4096",
				 (unsigned long long)v->mtu);
	enum hd_status status = parse_sizes(s, d);

	if (status == HD_OK)
		status = parse_values(s, d);
	for (size_t i = 0; i < v->expect.n && status == HD_OK; i++) {
		if (i == MAX_EXPECT)
			return diag_fail(d, HD_ERR_RANGE,
					 "--expect: more than %d", MAX_EXPECT);
		status = bench_expect_parse(v->expect.items[i], d,
					    &s->expect[s->n_expect++]);
	}
	return status;
}

static void add_test(struct session *s, const struct bench_test *t,
		     bool by_group)
{
	s->tests = hd_grow(s->tests, &s->tests_cap, s->n_tests + 1,
			   sizeof(*s->tests));
	s->tests[s->n_tests++] = (struct chosen){ t, by_group };
}

/* A name, or a group of tests, or all of them. */
static enum hd_status choose(struct session *s, const char *word,
			     struct diag *d)
{
	static const char *const groups[] = { "non-data", "data", "beyond" };
	size_t before = s->n_tests;

	if (strcmp(word, "loggp") == 0) {
		static const char *const parts[] = { "post-send", "poll-full",
						     "send-lat", "send-bw" };

		for (size_t i = 0; i < 4; i++)
			add_test(s, bench_find(parts[i], d), false);
		return HD_OK;
	}
	for (const struct bench_test *t = bench_tests; t->name; t++) {
		bool paper = t->group != GROUP_BEYOND;

		if (strcmp(word, "all") == 0 ||
		    (strcmp(word, "miba") == 0 && paper) ||
		    strcmp(word, groups[t->group]) == 0)
			add_test(s, t, true);
	}
	if (s->n_tests > before)
		return HD_OK;
	const struct bench_test *t = bench_find(word, d);

	if (!t)
		return HD_ERR_NOT_FOUND;
	add_test(s, t, false);
	return HD_OK;
}

/* Of a group, what a device or fabric cannot do is said at the end. */
static enum hd_status run_test(struct session *s, const struct chosen *c,
			       const struct bench_watch *watch, struct diag *d)
{
	enum hd_status status = bench_run(&s->backend, c->test, &s->options,
					  watch, &s->rows, d);

	if (status != HD_ERR_UNFIT || !c->by_group)
		return status;
	strbuf_printf(&s->left_out, "%s\n", d->message);
	*d = (struct diag){ .status = HD_OK };
	return HD_OK;
}

static void show_left_out(struct session *s, struct results *r)
{
	char *rest = s->left_out.len ? s->left_out.text : NULL;

	for (char *line = rest; line && *line; line = rest) {
		rest = strchr(line, '\n');
		*rest++ = '\0';
		results_remark(r, "left out: %s", line);
	}
}

static enum hd_status run_tests(struct session *s, struct diag *d)
{
	const struct bench_watch watch = { show_progress, s };
	enum hd_status status = HD_OK;

	for (size_t i = 0; i < s->n_tests; i++)
		s->total += bench_points(&s->backend, s->tests[i].test,
					 &s->options);
	progress_begin(&s->progress, &s->v.common, "points", (double)s->total);
	for (size_t i = 0; i < s->n_tests && status == HD_OK; i++)
		status = run_test(s, &s->tests[i], &watch, d);
	progress_end(&s->progress);
	/* A group of which nothing can be done is refused like a test. */
	if (status == HD_OK && s->rows.n == 0 && s->left_out.len)
		status = diag_fail(d, HD_ERR_UNFIT, "%.*s",
				   (int)strcspn(s->left_out.text, "\n"),
				   s->left_out.text);
	return status;
}

static int report(struct session *s, enum hd_status status, struct diag *d)
{
	if (status != HD_OK && !unfinished_is_due())
		return command_refuse(d);
	struct results *r = results_new("bench");

	s->backend.describe(&s->backend, r);
	bench_show_host(r);
	if (s->rows.n)
		bench_show(&s->rows, &s->backend, r);
	bench_show_loggp(&s->rows, r);
	bool met = bench_expect_check(s->expect, s->n_expect, &s->rows, r);

	show_left_out(s, r);
	if (s->backend.origin == ORIGIN_SIMULATED)
		results_remark(r, "times are the simulation's: they follow "
				  "from the profile, not from this machine");
	if (!unfinished_is_due())
		return output_results(&s->v.common, r, met);
	results_remark(r, "interrupted after %zu of %zu points", s->rows.n,
		       s->total);
	(void)output_results(&s->v.common, r, met);
	return EXIT_ENVIRONMENT;
}

static enum hd_status open_device(struct session *s, struct diag *d)
{
	const struct device_options o = {
		.name = s->v.device,
		.listen = s->v.listen,
		.connect = s->v.connect,
		.gid = s->v.gid,
		.going = still_going,
	};

	return device_open(&o, d, &s->backend);
}

static enum hd_status measure(struct session *s, struct file_writer *capture,
			      struct diag *d)
{
	const struct virtual_options o = {
		.profile = s->v.profile,
		.scenario = s->v.fabric,
		.overrides = &s->overrides,
		.capture = capture->stream,
		.going = still_going,
	};
	enum hd_status status = overrides_from_options(
		&s->v.set, SEED_OF_SCENARIO, &s->overrides, d);

	if (status == HD_OK)
		status = s->v.device ? open_device(s, d)
				     : virtual_open(&o, d, &s->backend);

	return status == HD_OK ? run_tests(s, d) : status;
}

static int run_session(struct session *s)
{
	struct diag d = { .status = HD_OK };
	struct file_writer capture = { 0 };
	int status;

	if (s->v.pcap && file_create(&capture, s->v.pcap, &d) != HD_OK)
		return command_refuse(&d);
	enum hd_status found = measure(s, &capture, &d);

	/* If its stream failed, that is what there is to say. */
	if (capture.stream && (found == HD_OK || ferror(capture.stream))) {
		d = (struct diag){ .status = HD_OK };
		found = file_commit(&capture, &d);
	} else if (capture.stream) {
		file_abandon(&capture);
	}
	if (!s->backend.close)
		return command_refuse(&d);
	status = report(s, found, &d);
	s->backend.close(&s->backend);
	return status;
}

/* Does what another process asks for, until it has no more to ask. */
static int serve(struct session *s)
{
	struct diag d = { .status = HD_OK };

	if (open_device(s, &d) != HD_OK)
		return command_refuse(&d);
	enum hd_status status =
		device_serve(&s->backend, LETTER_SIZE, bench_serve_point, &d);

	s->backend.close(&s->backend);
	return status == HD_OK ? EXIT_DONE : command_refuse(&d);
}

static int run_words(const struct command *self, struct session *s, int n,
		     char **words)
{
	struct diag d = { .status = HD_OK };
	enum hd_status ok = take_options(s, &d);

	if ((s->v.listen || s->v.connect) && !s->v.device)
		return command_usage(self, "--listen and --connect need a "
					   "--device");
	if (s->v.device && (s->v.pcap || s->v.fabric))
		return command_usage(self, "--pcap and --fabric are for the "
					   "simulated adapter");
	/* To the end: what is measured by then is shown, whoever ends us. */
	unfinished_hold();
	if (s->v.listen)
		return serve(s);
	if (n == 0)
		return command_usage(self, "which test? 'heddle bench list' "
					   "shows all");
	for (int i = 0; i < n && ok == HD_OK; i++)
		ok = choose(s, words[i], &d);
	if (ok != HD_OK)
		return command_usage(self, "%s", d.message);
	if (!s->v.device && profile_check(s->v.profile, &d) != HD_OK)
		return command_usage(self, "%s", d.message);
	return run_session(s);
}

static int run(const struct command *self, int argc, char **argv)
{
	struct session *s = hd_alloc(1, sizeof(*s));
	int n, status;

	s->left_out = (struct strbuf)STRBUF_INIT;

	if (!command_parse(self, &s->v, argc, argv, &n, &status)) {
		free(s);
		return status;
	}
	if (n > 0 && strcmp(argv[0], "list") == 0)
		status = n == 1 ? list_tests(&s->v.common)
				: command_usage(self, "'list' stands alone");
	else if (n > 0 && strcmp(argv[0], "compare") == 0)
		status = compare_files(self, &s->v.common, n - 1, argv + 1);
	else
		status = run_words(self, s, n, argv);
	option_list_fini(&s->v.expect);
	option_list_fini(&s->v.set);
	overrides_fini(&s->overrides);
	strbuf_fini(&s->left_out);
	bench_rows_fini(&s->rows);
	free(s->tests);
	free(s);
	return status;
}

static const struct example examples[] = {
	{ "heddle bench list", "what can be measured" },
	{ "heddle bench send-lat",
	  "ping-pong over all sizes, as in the paper" },
	{ "heddle bench send-lat --size 64 --expect 'p99<7us'",
	  "fail if the 99th percentile is too high" },
	{ "heddle bench mtu-bw --size 64KiB..1MiB", "bandwidth by MTU" },
	{ "heddle bench miba --json -o suite.json",
	  "all of the paper's tests" },
	{ "heddle bench compare old.json new.json",
	  "what changed between two runs, and how surely" },
	{ "heddle bench write-lat --device mlx5_0 --connect 10.0.0.2:18515",
	  "a real device, against 'heddle bench --device mlx5_0 --listen "
	  "10.0.0.2:18515' there" },
	{ "heddle bench read-lat --size 4KiB -n 3 --pcap read.pcap",
	  "the packets, for Wireshark" },
	{ NULL, NULL },
};

const struct command command_bench = {
	.name = "bench",
	.summary = "measure an implementation of verbs: MIBA and beyond",
	.arguments = "TEST...|list|compare A.json B.json",
	.description =
		"Runs micro-benchmarks over verbs: what queue pairs, completion queues\n"
		"and memory regions cost, latency, bandwidth one and both ways, buffer\n"
		"reuse, many connections, segments, MTU, events against polling, load\n"
		"at the adapter. TEST is a test's name, a group (non-data, data,\n"
		"beyond), 'miba' for all of the paper's, 'loggp' for what LogGP's\n"
		"parameters follow from, or 'all'.\n\n"
		"Without --device the adapters are simulated: programs run in the\n"
		"simulation's time, packets cross the simulated fabric, and a profile\n"
		"says what hosts and adapters cost. With --device NAME a real one is\n"
		"measured, by threads of this process or, with --listen on the others\n"
		"and --connect here, between hosts. Columns have perftest's names; MiB are 2^20 and MB\n"
		"10^6 bytes.\n\n"
		"'compare' takes two files written with --json and reports by Welch's\n"
		"test which differences are no accident; exit status 1 if there are\n"
		"any. An interrupt ends the run with what was measured so far.\n",
	.options = options,
	.examples = examples,
	.run = run,
};
