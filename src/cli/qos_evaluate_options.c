/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/qos_evaluate_options.h"

#include "base/iba.h"
#include "cli/threads.h"
#include "scenario/words.h"

static const char *const topologies[] = { "irregular", "hypercube", "mesh", "all", NULL };
static const char *const sizes[] = { "256", "4096", "all", NULL };
static const char *const rates[] = { "1x", "4x", "12x", NULL };
static const char *const counts[] = { "8", "16", "32", "64", "all", NULL };
static const char *const reserves[] = { "wire", "payload", NULL };

#define V(member) offsetof(struct cli_evaluate_options, member)

const struct option cli_evaluate_options[] = {
	{ "rule", 0, OPT_CHOICE, V(rule), NULL, "quick",
	  "end of a run: after 2,000 packets of every SL; after 20,000 of every SL and 5 of every connection; after 100 of the slowest connection",
	  eval_rule_names },
	{ "rate", 0, OPT_CHOICE, V(rate), NULL, "1x", "links of 2.5, 10 or 30 Gb/s", rates },
	{ "topology", 0, OPT_CHOICE, V(topology), NULL, "all", "topology of the fabric",
	  topologies },
	{ "size", 0, OPT_CHOICE, V(size), NULL, "all", "bytes of a packet", sizes },
	{ "switches", 0, OPT_CHOICE, V(switches), NULL, "16",
	  "switches of the fabric, with 4 hosts on each", counts },
	{ "tried", 0, OPT_UINT, V(tried), "N", "0", "request N connections; 0: until no more fit",
	  .high = UINT32_MAX - 1 },
	{ "establish", 0, OPT_FLAG, V(establish), NULL, NULL,
	  "establish connections only, without a simulation" },
	{ "seeds", 0, OPT_UINT, V(seeds), "N", "1",
	  "number of random fabrics and sets of connections, with seeds from --seed on", .low = 1,
	  .high = 1000 },
	{ "minutes", 0, OPT_UINT, V(minutes), "N", "0",
	  "end each run after N minutes with the results so far; 0: end by --rule",
	  .high = 100000 },
	{ "mix", 0, OPT_CHOICE, V(mix), NULL, "paper",
	  "connections: the paper's; with DBTS by deadlines; only slow ones (SL 0-2); only fast ones (SL 2-3)",
	  eval_mix_names },
	{ "vls", 0, OPT_CHOICE, V(vls), NULL, "15",
	  "data VLs of every link; with fewer than 15, classes share VLs", scn_vl_words },
	{ "fill", 0, OPT_CHOICE, V(fill), NULL, "paper",
	  "how to fill tables: strict (64 entries at most), paper (slots only) or full-entries",
	  fill_mode_names },
	{ "reserve", 0, OPT_CHOICE, V(reserve), NULL, "wire",
	  "rate for which a connection reserves table slots: all bytes, or payload only (8 bytes less per packet)",
	  reserves },
	{ "retries", 0, OPT_UINT, V(retries), "N", "3000",
	  "a fabric is full when N draws of an SL in a row were refused", .low = 1,
	  .high = 10000000 },
	{ "lead", 0, OPT_RATIO, V(lead), "SHARE", "10%",
	  "how many more connections an SL may have than the SL with the fewest; and 8 more" },
	OPTION_VERBOSE,
	{ .name = NULL },
};

static struct eval_plan plan_of(const struct cli_evaluate_options *v)
{
	static const uint32_t widths[] = { 1, 4, 12 };
	struct eval_plan plan = eval_plan_default();

	plan.width = widths[v->rate];
	plan.rule = (enum eval_rule)v->rule;
	plan.mix = (enum eval_mix)v->mix;
	plan.vls = vls_of_code(v->vls + 1u);
	plan.fill = (enum fill_mode)v->fill;
	plan.establish_only = v->establish;
	if (v->tried)
		plan.tried = (uint32_t)v->tried;
	plan.retries = (uint32_t)v->retries;
	plan.lead = v->lead;
	if (v->reserve == 1)
		plan.counted = 0;
	plan.seed = v->common.seed;
	return plan;
}

/* Bit of the chosen item; the last choice, `n`, means all items. */
static unsigned one_or_all(unsigned chosen, unsigned n)
{
	return chosen < n ? 1u << chosen : (1u << n) - 1;
}

struct eval_series cli_evaluate_series(const struct cli_evaluate_options *v)
{
	return (struct eval_series){
		.plan = plan_of(v),
		.sizes = one_or_all(v->switches, N_EVAL_SIZES),
		.shapes = one_or_all(v->topology, N_EVAL_SHAPES),
		.payloads = one_or_all(v->size, N_EVAL_PAYLOADS),
		.seeds = (uint32_t)v->seeds,
	};
}
