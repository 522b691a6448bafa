/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define STAR "fabric: {topology: {kind: star, hosts: 4}}\n"
#define RUN  "run: {seed: 7, measure: 20us}\n"

static struct fabric *load(const char *text)
{
	struct diag d = { .status = HD_OK };
	struct fabric *fabric;

	assert_int_equal(fabric_load(text, strlen(text), "x.yaml", NULL, &d, &fabric), HD_OK);
	return fabric;
}

static struct run *run(const char *text, const struct run_options *o)
{
	struct diag d = { .status = HD_OK };
	struct run *s;

	assert_int_equal(run_open(load(text), o, &d, &s), HD_OK);
	assert_int_equal(run_to_end(s, &d), HD_OK);
	return s;
}

static const char poisson[] =
	STAR "traffic:\n- {name: a, kind: poisson, load: 50%, payload: 256}\n" RUN;

/* The same fabric and times, with one message of a queue pair. */
static const char pairs_and_star[] = STAR
	"traffic:\n- {name: q, kind: messages, transport: rc, source: h0, destination: h1, payload: 256}\n" RUN;

/* Samples, captures and traces do not change the results. */
static void observers_do_not_change_results(void **state)
{
	char pcap[] = "/tmp/simulation-pcap-XXXXXX";
	char trace[] = "/tmp/simulation-trace-XXXXXX";
	const struct run_options plain = { .sampled = false };
	struct strbuf first = STRBUF_INIT, second = STRBUF_INIT;

	(void)state;
	close(mkstemp(pcap));
	close(mkstemp(trace));
	const struct run_options watched = {
		.pcap = pcap,
		.trace = trace,
		.sampled = true,
	};
	struct run *a = run(poisson, &plain);
	struct run *b = run(poisson, &watched);

	run_checksum(a, &first);
	run_checksum(b, &second);
	assert_string_equal(first.text, second.text);
	assert_int_equal(strlen(first.text), 17);
	for (int i = 0; i < 2; i++) {
		FILE *f = fopen(i ? trace : pcap, "rb");

		assert_non_null(f);
		fseek(f, 0, SEEK_END);
		assert_true(ftell(f) > 1000);
		fclose(f);
	}
	run_close(a);
	run_close(b);
	strbuf_fini(&first);
	strbuf_fini(&second);
	unlink(pcap);
	unlink(trace);
}

/*
 * The flows of a scenario as a load, twice on one fabric, give the run of the scenario without
 * its jobs and queue pairs.
 */
static void a_load_replaces_traffic_and_jobs(void **state)
{
	static const char *const others[] = {
		"",
		"jobs: [{name: j, on: all, program: [{allreduce: 64KiB}]}]\n",
	};
	const struct run_options plain = { .sampled = false };
	struct run *a = run(poisson, &plain);
	struct fabric *flows = load(poisson);
	const struct run_load own = { flows->flows, flows->n_flows, flows->rules };
	const struct run_options loaded = { .load = &own };
	struct diag d = { .status = HD_OK };

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct strbuf text = STRBUF_INIT;
		struct run *b;

		strbuf_printf(&text, "%s%s", i % 2 ? poisson : pairs_and_star, others[i / 2]);
		struct fabric *fabric = load(text.text);

		for (unsigned k = 0; k < 2; k++) {
			assert_int_equal(run_open(fabric, &loaded, &d, &b), HD_OK);
			assert_int_equal(run_to_end(b, &d), HD_OK);
			assert_true(run_sum(b) == run_sum(a));
			run_close(b);
		}
		fabric_free(fabric);
		strbuf_fini(&text);
	}
	run_close(a);
	fabric_free(flows);
}

/* A record has all tables of the terminal output, and more. */
static void a_record_has_more_than_the_screen(void **state)
{
	const struct run_options o = { .sampled = true };
	struct run *s = run(poisson, &o);
	bool met;

	(void)state;
	struct results *shown = run_results(s, false, &met);
	struct results *kept = run_record(s);

	assert_true(met);
	for (size_t i = 0; i < shown->n_tables; i++)
		assert_non_null(results_find(kept, shown->tables[i]->name));
	assert_null(results_find(shown, "latency percentiles"));
	assert_non_null(results_find(kept, "latency percentiles"));
	assert_non_null(results_find(kept, "traffic over time"));
	assert_string_equal(shown->scenario, poisson);
	results_free(shown);
	results_free(kept);
	run_close(s);
}

/* Rows over queue pairs have a separate table, and only the requested port is counted. */
static void rows_and_ports_get_what_they_need(void **state)
{
	static const char pairs[] = STAR
		"traffic:\n- {name: q, kind: messages, transport: rc, source: h0, destination: h1, payload: 256}\n" RUN;
	static const char *const one[] = { "h1" };
	const struct run_options o = {
		.ports = { .items = (const char **)one, .n = 1 },
	};
	struct run *s = run(pairs, &o);
	struct strbuf out = STRBUF_INIT;
	bool met;
	struct results *r = run_results(s, false, &met);

	(void)state;
	assert_non_null(results_find(r, "queue pairs"));
	run_counters(s, &out);
	assert_non_null(strstr(out.text, "PortRcvPkts"));
	assert_null(strstr(strstr(out.text, "PortRcvPkts") + 1, "PortRcvPkts"));
	results_free(r);
	strbuf_fini(&out);
	run_close(s);
}

/*
 * Two runs with the same deliveries and losses: in one of them packets leave shortly before the end
 * and are still on a cable at the end.
 */
static void the_checksum_has_the_counters_of_ports(void **state)
{
#define LONG_CABLES                                                     \
	"fabric: {topology: {kind: star, hosts: 4}, "                   \
	"link: {propagation: 1us}}\ntraffic:\n"                         \
	"- {name: a, kind: cbr, rate: 1Gb/s, source: h0, destination: " \
	"h1, payload: 256}\n"
#define COLD "run: {seed: 7, warmup: 0s, measure: 20us}\n"
#define LATE                                                               \
	"- {name: late, kind: cbr, rate: 10Gb/s, start: 19500ns, source: " \
	"h2, destination: h3, payload: 256}\n"
	const struct run_options o = { .sampled = false };
	struct run *a = run(LONG_CABLES COLD, &o);
	struct run *b = run(LONG_CABLES LATE COLD, &o);

	(void)state;
	assert_true(sim_metrics(run_sim(a))->delivered > 0);
	assert_int_equal(sim_metrics(run_sim(a))->checksum, sim_metrics(run_sim(b))->checksum);
	assert_true(run_sum(a) != run_sum(b));
	run_close(a);
	run_close(b);
}

static bool stop_once(void *context, const struct sim_progress *p)
{
	unsigned *asked = context;

	(void)p;
	return (*asked)++ > 0;
}

/*
 * A stop applies to one run_advance: the next one runs to its own limit, even if samples are
 * taken on the way.
 */
static void stopped_run_continues(void **state)
{
	const hd_time more = 10 * HD_US;
	unsigned asked = 0;
	const struct run_options o = {
		.sampled = true, .sample = HD_US, .progress = stop_once, .context = &asked
	};
	struct diag d = { .status = HD_OK };
	struct run *s;

	(void)state;
	assert_int_equal(
		run_open(load(STAR "traffic:\n- {name: a, kind: poisson, load: 50%, payload: 256}\n"
				   "run: {seed: 7, measure: 1ms}\n"),
			 &o, &d, &s),
		HD_OK);
	assert_int_equal(run_advance(s, HD_MS / 2, &d), HD_OK);
	assert_true(run_is_stopped(s));
	hd_time at = sim_now(run_sim(s));

	assert_true(at < HD_MS / 2);
	assert_int_equal(run_advance(s, at + more, &d), HD_OK);
	assert_false(run_is_stopped(s));
	assert_int_equal(sim_now(run_sim(s)), at + more);
	run_close(s);
}

/* ---- checkpoints that cannot be written ---------------------------------- */

static void count_unsaved(void *context, const char *line)
{
	unsigned *n = context;

	assert_non_null(strstr(line, "cannot be written"));
	(*n)++;
}

static bool has_remark(const struct run *s, const char *text)
{
	bool met, has = false;
	struct results *r = run_results(s, false, &met);

	for (size_t i = 0; i < r->n_remarks; i++)
		has |= strstr(r->remarks[i], text) != NULL;
	results_free(r);
	return has;
}

/* Paths of the checkpoint: while its directory is writable, and while it is not. */
struct places {
	char folder[64], away[64], file[80];
};

/*
 * Runs past ten checkpoints, each writable ('y') or not ('n'). Returns the time of the last one
 * written.
 */
static hd_time save_ten(const struct places *p, const char *can)
{
	unsigned failed = 0, expected = 0;
	hd_time saved = 0, found;
	struct diag d = { .status = HD_OK };
	struct run *s;
	const struct run_options o = { .checkpoint = p->file,
				       .every_simulated = 2 * HD_US,
				       .unsaved = count_unsaved,
				       .context = &failed };

	assert_int_equal(run_open(load(poisson), &o, &d, &s), HD_OK);
	for (hd_time k = 1; k <= 10; k++) {
		bool fails = can[k - 1] == 'n';

		if (fails)
			assert_int_equal(rename(p->folder, p->away), 0);
		assert_int_equal(run_advance(s, k * 2 * HD_US, &d), HD_OK);
		if (fails)
			assert_int_equal(rename(p->away, p->folder), 0);
		saved = fails ? saved : k * 2 * HD_US;
		expected += fails;
		assert_int_equal(failed, expected);
		assert_int_equal(run_is_unsaved(s), fails);
		assert_int_equal(run_is_saved(s, &found), saved > 0);
		assert_int_equal(found, saved);
		assert_int_equal(has_remark(s, "is stale"), fails && saved);
		assert_int_equal(has_remark(s, "is missing"), fails && !saved);
	}
	run_close(s);
	return saved;
}

/*
 * The run continues when a checkpoint fails, and the file is always the last checkpoint that was
 * written.
 */
static void a_run_outlives_checkpoints_that_fail(void **state)
{
	static const char *const rounds[] = { "yyyyyyyyyy", "nnnnnnnnnn", "nynynnyyny",
					      "yyynnnnnnn", "nnnnnnnnny" };
	char place[] = "/tmp/simulation-dir-XXXXXX";
	const struct run_options plain = { .sampled = false };
	struct run *s = run(poisson, &plain);
	const uint64_t want = run_sum(s);
	struct places p;

	(void)state;
	run_close(s);
	assert_non_null(mkdtemp(place));
	snprintf(p.folder, sizeof(p.folder), "%s/there", place);
	snprintf(p.away, sizeof(p.away), "%s/away", place);
	snprintf(p.file, sizeof(p.file), "%s/run.ckpt", p.folder);
	const struct run_options again = { .restart = p.file };

	for (size_t i = 0; i < sizeof(rounds) / sizeof(rounds[0]); i++) {
		struct diag d = { .status = HD_OK };

		assert_int_equal(mkdir(p.folder, 0700), 0);
		hd_time saved = save_ten(&p, rounds[i]);

		assert_int_equal(access(p.file, F_OK), saved ? 0 : -1);
		if (saved) {
			assert_int_equal(run_open(load(poisson), &again, &d, &s), HD_OK);
			assert_int_equal(sim_now(run_sim(s)), saved);
			assert_int_equal(run_to_end(s, &d), HD_OK);
			assert_int_equal(run_sum(s), want);
			run_close(s);
			unlink(p.file);
		}
		assert_int_equal(rmdir(p.folder), 0);
	}
	assert_int_equal(rmdir(place), 0);
}

static void identity_of(const char *text, struct strbuf *out)
{
	const struct run_options o = { .sampled = false };
	struct fabric *fabric = load(text);

	run_identity(fabric, &o, out);
	fabric_free(fabric);
}

/* Same scenario text, but the file that it names has different content. */
static void a_trace_is_known_by_what_it_holds(void **state)
{
	static const char *const traces[] = {
		"0ns,h0,h1,100\n",
		"0ns,h0,h1,101\n",
		"1ns,h0,h1,100\n",
		"0ns,h0,h2,100\n",
		"0ns,h2,h1,100\n",
		"0ns,h0,h1,100,1\n",
		"0ns,h0,h1,100\n1us,h0,h1,100\n",
	};
	enum { N = sizeof(traces) / sizeof(traces[0]) };
	struct strbuf lines[N], text = STRBUF_INIT;
	char path[] = "/tmp/simulation-trace-XXXXXX";

	(void)state;
	close(mkstemp(path));
	strbuf_printf(&text, STAR "traffic: [{name: a, kind: trace, file: %s}]\n" RUN, path);
	for (size_t i = 0; i < N; i++) {
		FILE *f = fopen(path, "w");

		fputs(traces[i], f);
		fclose(f);
		lines[i] = (struct strbuf)STRBUF_INIT;
		identity_of(text.text, &lines[i]);
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(lines[i].text, lines[k].text);
	}
	for (size_t i = 0; i < N; i++)
		strbuf_fini(&lines[i]);
	strbuf_fini(&text);
	unlink(path);
}

/* A refused run leaves no output file. */
static void refusals_leave_nothing(void **state)
{
	char place[] = "/tmp/simulation-dir-XXXXXX";
	struct strbuf pcap = STRBUF_INIT;
	struct diag d = { .status = HD_OK };
	struct run *s;

	(void)state;
	assert_non_null(mkdtemp(place));
	strbuf_printf(&pcap, "%s/x.pcap", place);
	const struct run_options both = { .pcap = pcap.text, .trace = pcap.text };

	assert_int_equal(run_open(load(poisson), &both, &d, &s), HD_ERR_USAGE);
	/* Capture formats do not support packets with this overhead. */
	const struct run_options one = { .pcap = pcap.text };

	d = (struct diag){ .status = HD_OK };
	assert_int_equal(
		run_open(
			load("fabric: {topology: {kind: star, hosts: 4}, packet: {overhead: 5}}\n"
			     "traffic:\n- {name: a, kind: poisson, load: 50%, payload: 256}\n" RUN),
			&one, &d, &s),
		HD_ERR_UNFIT);
	assert_int_equal(access(pcap.text, F_OK), -1);
	assert_int_equal(rmdir(place), 0);
	strbuf_fini(&pcap);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(observers_do_not_change_results),
		cmocka_unit_test(a_load_replaces_traffic_and_jobs),
		cmocka_unit_test(a_record_has_more_than_the_screen),
		cmocka_unit_test(rows_and_ports_get_what_they_need),
		cmocka_unit_test(the_checksum_has_the_counters_of_ports),
		cmocka_unit_test(stopped_run_continues),
		cmocka_unit_test(a_run_outlives_checkpoints_that_fail),
		cmocka_unit_test(a_trace_is_known_by_what_it_holds),
		cmocka_unit_test(refusals_leave_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
