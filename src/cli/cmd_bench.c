/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "cli/bench_session.h"
#include "cli/commands.h"
#include "cli/output.h"

#define LEVEL 0.99

static int list_tests(const struct common_options *common)
{
	struct results *r = results_new("bench list");

	suite_list(r);
	return output_results(common, r, true);
}

static int compare_files(const struct command *self, const struct common_options *common, int n,
			 char **files)
{
	struct diag d = { .status = HD_OK };
	bool differ = false;

	if (n != 2)
		return command_usage(self, "compare needs two FILEs of results");
	struct results *r = results_new("bench compare");

	if (bench_compare(files[0], files[1], LEVEL, r, &differ, &d) != HD_OK) {
		results_free(r);
		return command_refuse(&d);
	}
	results_remark(r, "%s at a confidence of %g %%",
		       differ ? "there are differences" : "no difference", 100 * LEVEL);
	return output_results(common, r, !differ);
}

static int run(const struct command *self, void *values, int n, char **args)
{
	struct session *s = values;
	int status;

	if (n > 0 && strcmp(args[0], "list") == 0)
		status = n == 1 ? list_tests(&s->common)
				: command_usage(self, "'list' takes no further arguments");
	else if (n > 0 && strcmp(args[0], "compare") == 0)
		status = compare_files(self, &s->common, n - 1, args + 1);
	else if (n > 0 && strcmp(args[0], "fit") == 0)
		status = session_fit(s, self, n - 1, args + 1);
	else
		status = session_run(s, self, n, args);
	session_fini(s);
	return status;
}

static void test_words(struct strbuf *out)
{
	strbuf_puts(out, "list compare fit ");
	suite_words(out);
}

static const struct session initial = { .suite = SUITE_INIT };

static const struct example examples[] = {
	{ "heddle bench list", "what can be measured" },
	{ "heddle bench send-lat", "ping-pong over all sizes, as in the paper" },
	{ "heddle bench send-lat --size 64 --expect 'p99<7us'",
	  "fail if the 99th percentile is too high" },
	{ "heddle bench mtu-bw --size 64KiB..1MiB", "bandwidth by MTU" },
	{ "heddle bench miba --json -o suite.json", "all of the paper's tests" },
	{ "heddle bench compare old.json new.json",
	  "what changed between two runs, and how surely" },
	{ "heddle bench fit lat.txt bw.txt --profile connectx-7-like --into ours.yaml",
	  "a profile of the adapter that perftest measured" },
	{ "heddle bench write-lat --device mlx5_0 --connect 10.0.0.2:18515",
	  "a real device, against 'heddle bench --device mlx5_0 --listen 10.0.0.2:18515' there" },
	{ "heddle bench read-lat --size 4KiB -n 3 --pcap read.pcap", "the packets, for Wireshark" },
	{ NULL, NULL },
};

const struct command command_bench = {
	.name = "bench",
	.summary = "micro-benchmarks of latency, bandwidth and verbs costs",
	.arguments = "TEST...|list|compare A B|fit FILE...",
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
		"'compare' takes two files, written with --json or by perftest, and reports\n"
		"by Welch's test which differences are significant; exit status 1 if there\n"
		"are any. 'fit' takes files like these, of latency and bandwidth by size, and\n"
		"changes the costs of --profile until the simulated adapter does as measured;\n"
		"every other size is left out of it, to tell how good it is. Options say how\n"
		"was measured (--window, --mtu, --qps).\n",
	.words = test_words,
	.options = session_options,
	.examples = examples,
	COMMAND_CALL_FROM(run, initial, 0, ANY_NUMBER),
	.is_long = true,
};
