/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <time.h>

#include "base/alloc.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/threads.h"
#include "sim/evaluation/tables.h"

static const char *const topologies[] = { "irregular", "hypercube", "mesh",
					  "all", NULL };
static const char *const sizes[] = { "256", "4096", "all", NULL };
static const char *const rates[] = { "1x", "4x", "12x", NULL };
static const char *const counts[] = { "8", "16", "32", "64", "all", NULL };
static const char *const lane_counts[] = { "1", "2", "4", "8", "15", NULL };
static const char *const fills[] = { "strict", "paper", "et", NULL };
static const char *const reserves[] = { "wire", "payload", NULL };

struct values {
	struct common_options common;
	unsigned topology, size, rate, switches, rule, mix, lanes, fill;
	unsigned reserve;
	bool establish;
	uint64_t minutes, retries, tried, seeds;
	struct hd_ratio lead;
};

#define CHOICE(NAME, FIELD, LIST, INITIAL, HELP)                             \
	{                                                                    \
		.name = (NAME), .kind = OPT_CHOICE,                          \
		.offset = offsetof(struct values, FIELD), .choices = (LIST), \
		.initial = (INITIAL), .help = (HELP)                         \
	}

static const struct option options[] = {
	CHOICE("rule", rule, eval_rule_names, "quick",
	       "when a run ends: 2,000 packets of every SL; 20,000 of every SL "
	       "and 5 of every connection; 100 of the slowest connection"),
	CHOICE("rate", rate, rates, "1x", "links of 2.5, 10 or 30 Gb/s"),
	CHOICE("topology", topology, topologies, "all", "which fabric"),
	CHOICE("size", size, sizes, "all", "bytes of a packet"),
	CHOICE("switches", switches, counts, "16",
	       "of the fabric, 4 hosts on each"),
	{ .name = "tried",
	  .kind = OPT_UINT,
	  .offset = offsetof(struct values, tried),
	  .value = "N",
	  .initial = "0",
	  .high = UINT32_MAX - 1,
	  .help = "ask for N connections; 0: until no more fit" },
	{ .name = "establish",
	  .kind = OPT_FLAG,
	  .offset = offsetof(struct values, establish),
	  .help = "only establish connections, and simulate nothing" },
	{ .name = "seeds",
	  .kind = OPT_UINT,
	  .offset = offsetof(struct values, seeds),
	  .value = "N",
	  .initial = "1",
	  .low = 1,
	  .high = 1000,
	  .help = "draws of the fabric and the connections, from --seed on" },
	{ .name = "minutes",
	  .kind = OPT_UINT,
	  .offset = offsetof(struct values, minutes),
	  .value = "N",
	  .initial = "0",
	  .high = 100000,
	  .help = "end each run after N minutes and show what it has by then; "
		  "0: when its rule is met" },
	CHOICE("mix", mix, eval_mix_names, "paper",
	       "connections: the paper's; with DBTS by deadlines; only slow "
	       "ones (SL 0-2); only fast ones (SL 2-3)"),
	CHOICE("lanes", lanes, lane_counts, "15",
	       "data VLs of every link; with fewer, classes fold"),
	CHOICE("fill", fill, fills, "paper",
	       "64 entries enforced, slots only, or full entries"),
	CHOICE("reserve", reserve, reserves, "wire",
	       "what a connection is given slots for: all that it sends, or "
	       "without the 8 bytes beside each packet's payload"),
	{ .name = "retries",
	  .kind = OPT_UINT,
	  .offset = offsetof(struct values, retries),
	  .value = "N",
	  .initial = "3000",
	  .low = 1,
	  .high = 10000000,
	  .help = "a fabric is full when N draws of an SL in a row were "
		  "refused" },
	{ .name = "lead",
	  .kind = OPT_RATIO,
	  .offset = offsetof(struct values, lead),
	  .value = "SHARE",
	  .initial = "10%",
	  .help = "how many more connections an SL may have than the SL with "
		  "the fewest; and 8 more" },
	OPTION_VERBOSE,
	{ .name = NULL },
};

struct run {
	struct values v;
	struct results *results;
	struct eval_result *runs;
	uint32_t n_runs;
	size_t cap;
	struct progress bar;
	double packets; /* of the runs before this one */
	time_t begun;   /* this one */
};

static bool show(void *context, const struct sim_progress *p)
{
	struct run *r = context;

	progress_show(&r->bar, r->packets + (double)p->delivered);
	return r->v.minutes == 0 ||
	       difftime(time(NULL), r->begun) < 60 * (double)r->v.minutes;
}

static enum hd_status simulate(struct run *r, const struct eval_plan *plan,
			       struct diag *d)
{
	r->begun = time(NULL);
	r->runs = hd_grow(r->runs, &r->cap, r->n_runs + 1, sizeof(*r->runs));
	enum hd_status status = eval_run(plan, show, r, d, &r->runs[r->n_runs]);

	if (status != HD_OK)
		return status;
	r->packets += (double)r->runs[r->n_runs++].delivered_packets;
	return HD_OK;
}

static enum hd_status one_fabric(struct run *r, struct eval_plan plan,
				 struct diag *d)
{
	enum hd_status status = HD_OK;

	for (uint64_t i = 0; i < r->v.seeds && status == HD_OK; i++) {
		plan.seed = r->v.common.seed + i;
		status = simulate(r, &plan, d);
	}
	return status;
}

static enum hd_status all_shapes(struct run *r, struct eval_plan plan,
				 struct diag *d)
{
	const struct values *v = &r->v;
	enum hd_status status = HD_OK;

	for (unsigned i = 0; i < 2 * N_EVAL_SHAPES && status == HD_OK; i++) {
		plan.shape = (enum eval_shape)(i / 2);
		plan.payload = i % 2 ? 4096 : 256;
		if ((v->topology < N_EVAL_SHAPES && v->topology != i / 2) ||
		    (v->size < 2 && v->size != i % 2))
			continue;
		status = one_fabric(r, plan, d);
	}
	return status;
}

static enum hd_status all_fabrics(struct run *r, struct diag *d)
{
	static const uint32_t widths[] = { 1, 4, 12 };
	static const uint32_t lanes[] = { 1, 2, 4, 8, 15 };
	const struct values *v = &r->v;
	struct eval_plan plan = eval_plan_default();
	enum hd_status status = HD_OK;

	plan.width = widths[v->rate];
	plan.rule = (enum eval_rule)v->rule;
	plan.mix = (enum eval_mix)v->mix;
	plan.lanes = lanes[v->lanes];
	plan.fill = (enum fill_mode)v->fill;
	plan.establish_only = v->establish;
	if (v->tried)
		plan.tried = (uint32_t)v->tried;
	plan.retries = (uint32_t)v->retries;
	plan.lead = v->lead;
	if (v->reserve == 1)
		plan.counted = 0;
	for (unsigned k = 0; k < 4 && status == HD_OK; k++) {
		plan.switches = 8u << k;
		if (v->switches == k || v->switches == 4)
			status = all_shapes(r, plan, d);
	}
	return status;
}

static void remark(struct run *r)
{
	static const char *const rules[N_EVAL_RULES] = {
		"quick: until every SL has delivered 2,000 packets; a share "
		"of 100 % is then known to be above 99.85 %",
		"default: until every SL has delivered 20,000 packets and "
		"every connection 5; a share of 100 % is then known to be "
		"above 99.985 %",
		"paper: until the slowest connection has delivered 100 "
		"packets; a connection's share of 100 % is then known to be "
		"above 97 %",
	};

	if (r->v.establish)
		return;
	results_remark(r->results,
		       "stop rule %s (at 95 %%, as if packets were "
		       "independent); 10,000 packets of warm-up",
		       rules[r->v.rule]);
	if (r->v.mix == EVAL_MIX_DEADLINES)
		results_remark(r->results,
			       "SL 4 to 7 are DBTS: what is relative to the "
			       "IAT is relative to their deadline");
}

static int finish(struct run *r)
{
	struct diag d = { .status = HD_OK };
	int status;

	r->results = results_new("qos evaluate");
	progress_begin(&r->bar, &r->v.common, "packets", 0);
	enum hd_status done = all_fabrics(r, &d);

	progress_end(&r->bar);
	if (done != HD_OK) {
		results_free(r->results);
		status = command_refuse(&d);
	} else {
		struct eval_runs runs = { r->runs, r->n_runs };

		eval_tables(r->results, &runs);
		remark(r);
		status = output_results(&r->v.common, r->results, true);
	}
	for (uint32_t i = 0; i < r->n_runs; i++)
		eval_result_fini(&r->runs[i]);
	free(r->runs);
	return status;
}

static int run(const struct command *self, int argc, char **argv)
{
	struct run r = { 0 };
	int n, status;

	if (!command_parse(self, &r.v, argc, argv, &n, &status))
		return status;
	if (n > 0)
		return command_usage(self, "unexpected argument '%s'", argv[0]);
	return finish(&r);
}

static const struct example examples[] = {
	{ "heddle qos evaluate --topology mesh --size 4096",
	  "one fabric, in seconds" },
	{ "heddle qos evaluate --establish --seeds 4 --rate 4x",
	  "how many connections fit, in four draws" },
	{ "heddle qos evaluate --tried 1024 --rule default -o evaluation.json",
	  "1024 connections on each of the three fabrics, two packet sizes" },
	{ "heddle qos evaluate --switches all --topology mesh",
	  "8, 16, 32 and 64 switches: is the tendency the same?" },
	{ "heddle qos evaluate --mix deadlines --lanes 4 --topology mesh",
	  "DBTS with deadlines beside, on links with four lanes" },
	{ NULL, NULL },
};

const struct command command_qos_evaluate = {
	.name = "qos evaluate",
	.summary = "fabrics full of reserved connections, put to the test",
	.arguments = "",
	.description =
		"Fills fabrics of 16 switches and 64 hosts with random reserved\n"
		"connections until they take no more, programs the arbitration tables\n"
		"that result, and lets every connection send at its rate. Prints how\n"
		"many were established, the load delivered, the use of every port,\n"
		"delay and jitter relative to each connection's time between packets\n"
		"(IAT), and the best and the worst connection. 'heddle paper run 000'\n"
		"puts what was published beside it.\n"
		"\n"
		"Switches have queues of 4 packets per lane at input and output, a\n"
		"crossbar at twice the link's rate and 20 ns of arbitration. Packets\n"
		"have 8 bytes beside the payload, as the paper's buffers imply.\n",
	.options = options,
	.examples = examples,
	.run = run,
};
