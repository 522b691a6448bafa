/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/commands.h"

#include "cli/output.h"
#include "cli/progress.h"
#include "sim/collective/study.h"
#include "subnet/packet.h"

struct figures_options {
	struct common_options common;
	bool quick;
	bool headers;
	bool all;
	uint64_t seeds;
	struct hd_range figures;
	unsigned order;
	uint64_t buffer;
};

static const char *const orders[] = { "voq", "fifo", NULL };

#define FIELD(name) offsetof(struct figures_options, name)

static const struct option options[] = {
	{ .name = "figures",
	  .kind = OPT_RANGE,
	  .offset = FIELD(figures),
	  .value = "10..27",
	  .initial = "10..27",
	  .help = "which of the paper's figures" },
	{ .name = "quick",
	  .kind = OPT_FLAG,
	  .offset = FIELD(quick),
	  .help = "an 8 x 8 mesh, three sizes, three seeds: seconds instead "
		  "of minutes" },
	{ .name = "seeds",
	  .kind = OPT_UINT,
	  .offset = FIELD(seeds),
	  .value = "N",
	  .low = 1,
	  .high = STUDY_MAX_SEEDS,
	  .help = "draws of sources and members; 10, or 3 with --quick" },
	{ .name = "order",
	  .kind = OPT_CHOICE,
	  .offset = FIELD(order),
	  .choices = orders,
	  .initial = "voq",
	  .help = "which packet of an input buffer may leave: the first for "
		  "each output (voq), or the first of all (fifo)" },
	{ .name = "buffer",
	  .kind = OPT_UINT,
	  .offset = FIELD(buffer),
	  .value = "PACKETS",
	  .low = 1,
	  .high = 16,
	  .initial = "2",
	  .help = "input buffer per port and lane" },
	{ .name = "headers",
	  .kind = OPT_FLAG,
	  .offset = FIELD(headers),
	  .help = "add 26 bytes of headers to a packet, and 40 of a GRH to "
		  "a multicast one; else the sizes are those on the wire" },
	{ .name = "exceptions",
	  .kind = OPT_FLAG,
	  .offset = FIELD(all),
	  .help = "list every exception to a claim, also those within the "
		  "intervals" },
	{ .name = NULL },
};

static const struct example examples[] = {
	{ "heddle mcast figures --quick", "all series and claims in seconds" },
	{ "heddle mcast figures --exceptions -o figures.json",
	  "the paper's 16 x 16 mesh, all sizes, 10 seeds: minutes" },
	{ "heddle mcast figures --figures 25..27 --order fifo --csv",
	  "all nodes to all, with blocking input buffers" },
	{ NULL, NULL },
};

static const struct column series_columns[] = {
	{ "figure", NULL, VALUE_UINT },
	{ "sources", NULL, VALUE_TEXT },
	{ "group", NULL, VALUE_TEXT },
	{ "lanes", NULL, VALUE_UINT },
	{ "use", NULL, VALUE_TEXT },
	{ "size", "B", VALUE_UINT },
	{ "unicast", "us", VALUE_REAL, ORIGIN_SIMULATED, .places = 2 },
	{ "unicast +-", "us", VALUE_REAL, ORIGIN_SIMULATED, .places = 2 },
	{ "multicast", "us", VALUE_REAL, ORIGIN_SIMULATED, .places = 2 },
	{ "multicast +-", "us", VALUE_REAL, ORIGIN_SIMULATED, .places = 2 },
	{ "speedup", NULL, VALUE_REAL, ORIGIN_SIMULATED, .places = 2 },
	{ "speedup +-", NULL, VALUE_REAL, ORIGIN_SIMULATED, .places = 2 },
	{ "unicast mean", "us", VALUE_REAL, ORIGIN_SIMULATED, .places = 2 },
	{ "multicast mean", "us", VALUE_REAL, ORIGIN_SIMULATED, .places = 2 },
	{ "unicast bound", "us", VALUE_REAL, ORIGIN_COMPUTED, .places = 2 },
	{ "multicast bound", "us", VALUE_REAL, ORIGIN_COMPUTED, .places = 2 },
	{ NULL },
};

static const struct column claim_columns[] = {
	{ "claim", NULL, VALUE_TEXT },
	{ "where", NULL, VALUE_TEXT },
	{ "cases", NULL, VALUE_UINT, ORIGIN_SIMULATED },
	{ "exceptions", NULL, VALUE_UINT, ORIGIN_SIMULATED },
	{ "clear", NULL, VALUE_UINT, ORIGIN_SIMULATED },
	{ "verdict", NULL, VALUE_TEXT },
	{ NULL },
};

static const struct column exception_columns[] = {
	{ "claim", NULL, VALUE_TEXT },
	{ "figure", NULL, VALUE_UINT },
	{ "use", NULL, VALUE_TEXT },
	{ "size", "B", VALUE_UINT },
	{ "scheme", NULL, VALUE_TEXT },
	{ "against figure", NULL, VALUE_UINT },
	{ "against use", NULL, VALUE_TEXT },
	{ "against size", "B", VALUE_UINT },
	{ "value", NULL, VALUE_REAL, ORIGIN_SIMULATED },
	{ "should reach", NULL, VALUE_REAL, ORIGIN_SIMULATED },
	{ "clear", NULL, VALUE_BOOL, ORIGIN_SIMULATED },
	{ NULL },
};

static double mean_of(const double *samples, uint32_t n)
{
	return interval_of(samples, n, 0.95).mean;
}

static void put_interval(struct table *t, const double *samples, uint32_t n)
{
	struct interval i = interval_of(samples, n, 0.95);

	table_put_real(t, i.mean);
	table_put_real(t, i.half_width);
}

static void put_series(struct results *r, const struct mcast_study *s)
{
	struct table *t = results_series(
		r, "series", "completion of the operation and the speedup",
		series_columns);
	uint32_t n = s->plan.n_seeds;

	for (uint32_t i = 0; i < s->n_points; i++) {
		const struct mcast_study_point *p = &s->points[i];

		table_put_uint(t, p->figure);
		table_put_text(t, study_source_names[p->sources]);
		table_put_text(t, study_group_names[p->group]);
		table_put_uint(t, p->lanes);
		table_put_text(t, study_use_names[p->use]);
		table_put_uint(t, p->bytes);
		put_interval(t, p->completion[COLL_UNICAST], n);
		put_interval(t, p->completion[COLL_MULTICAST], n);
		put_interval(t, p->speedup, n);
		table_put_real(t, mean_of(p->mean[COLL_UNICAST], n));
		table_put_real(t, mean_of(p->mean[COLL_MULTICAST], n));
		table_put_real(t, mean_of(p->bound[COLL_UNICAST], n));
		table_put_real(t, mean_of(p->bound[COLL_MULTICAST], n));
	}
}

static const char *verdict_on(const struct mcast_study_verdict *v,
			      unsigned claim)
{
	if (v->cases[claim] == 0)
		return "not tried";
	if (v->exceptions[claim] == 0)
		return "holds";
	if (v->clear[claim] == 0)
		return "holds within the intervals";
	if (v->clear[claim] * 10 <= v->cases[claim])
		return "holds with exceptions";
	return "refuted";
}

static void put_claims(struct results *r, const struct mcast_study_verdict *v)
{
	struct table *t =
		results_table(r, "claims", "what the paper says, case by case",
			      claim_columns);

	for (unsigned i = 0; i < N_STUDY_CLAIMS; i++) {
		table_put_text(t, mcast_study_claims[i].words);
		table_put_text(t, mcast_study_claims[i].where);
		table_put_uint(t, v->cases[i]);
		table_put_uint(t, v->exceptions[i]);
		table_put_uint(t, v->clear[i]);
		table_put_text(t, verdict_on(v, i));
	}
}

static void put_exceptions(struct results *r,
			   const struct mcast_study_verdict *v, bool all)
{
	struct table *t = results_table(r, "exceptions",
					"cases in which a claim does not hold",
					exception_columns);

	for (size_t i = 0; i < v->n; i++) {
		const struct study_exception *x = &v->list[i];

		if (!all && !x->clear)
			continue;
		table_put_text(t, mcast_study_claims[x->claim].words);
		table_put_uint(t, x->point->figure);
		table_put_text(t, study_use_names[x->point->use]);
		table_put_uint(t, x->point->bytes);
		table_put_text(t, x->scheme < 0 ? "both"
						: coll_scheme_names[x->scheme]);
		if (x->other) {
			table_put_uint(t, x->other->figure);
			table_put_text(t, study_use_names[x->other->use]);
			table_put_uint(t, x->other->bytes);
		} else {
			table_put_none(t);
			table_put_none(t);
			table_put_none(t);
		}
		table_put_real(t, x->value);
		table_put_real(t, x->than);
		table_put_bool(t, x->clear);
	}
}

static int report(const struct figures_options *o, const struct mcast_study *s)
{
	struct results *r = results_new("mcast figures");
	struct mcast_study_verdict v;

	mcast_study_judge(s, &v);
	put_series(r, s);
	put_claims(r, &v);
	put_exceptions(r, &v, o->all);
	results_remark(r,
		       "%u x %u mesh, 1x SDR (4 ns a byte), 100 ns a hop, %s "
		       "buffers of %u packets a lane, %u seeds; %llu hops",
		       s->plan.columns, s->plan.rows, s->plan.order,
		       s->plan.buffer, s->plan.n_seeds,
		       (unsigned long long)s->hops);
	results_remark(
		r,
		"intervals are of 95 %% over the seeds; an exception "
		"is clear if that of the differences excludes 0%s; figures 25 to 27 draw nothing",
		o->all ? "" : " (--exceptions lists the others too)");
	bool sound = v.exceptions[CLAIM_BOUND] + v.exceptions[CLAIM_ONCE] == 0;

	mcast_study_verdict_fini(&v);
	return output_results(&o->common, r, sound);
}

static bool show(void *context, uint32_t done, uint32_t total)
{
	struct progress *p = context;

	p->total = total;
	progress_show(p, done);
	return true;
}

static int run(const struct command *self, int argc, char **argv)
{
	struct figures_options o = { 0 };
	struct mcast_study_plan plan;
	struct mcast_study study;
	struct progress bar;
	struct diag d = { .status = HD_OK };
	int n_args, status = EXIT_DONE;

	if (!command_parse(self, &o, argc, argv, &n_args, &status))
		return status;
	if (n_args > 0)
		return command_usage(self, "unexpected argument '%s'", argv[0]);
	if (o.figures.low < 10 || o.figures.high > 27)
		return command_usage(self, "the figures are 10 to 27");
	if (o.quick)
		mcast_study_plan_quick(&plan);
	else
		mcast_study_plan_init(&plan);
	plan.seed = o.common.seed;
	plan.first = (uint32_t)o.figures.low;
	plan.last = (uint32_t)o.figures.high;
	plan.order = orders[o.order];
	plan.buffer = (uint32_t)o.buffer;
	if (o.seeds)
		plan.n_seeds = (uint32_t)o.seeds;
	if (o.headers) {
		plan.overhead = PLAIN_OVERHEAD;
		plan.grh = GRH_BYTES;
	}
	progress_begin(&bar, &o.common, "points", 0);
	if (mcast_study_run(&study, &plan, show, &bar, &d) != HD_OK) {
		progress_end(&bar);
		return command_refuse(&d);
	}
	progress_end(&bar);
	status = report(&o, &study);
	mcast_study_fini(&study);
	return status;
}

const struct command command_mcast_figures = {
	.name = "mcast figures",
	.summary = "multicast on a mesh by XY trees, against unicast",
	.arguments = "",
	.description =
		"One source, 40 % or all nodes of a 16 x 16 mesh of 1x SDR links\n"
		"send a message to 40 % or all nodes, over 1, 2 or 4 lanes, by\n"
		"hardware multicast and as one copy per member. Gives the time until\n"
		"the last member is served, the mean over members, the speedup, and\n"
		"a time that nothing can beat; and judges what has been claimed of\n"
		"them, case by case.\n"
		"\n"
		"Lanes are used freely (a message has an SL, or packets take SLs in\n"
		"turn) or dedicated by direction. Exit status 1 if a message was\n"
		"lost, doubled or too early.\n",
	.options = options,
	.examples = examples,
	.run = run,
};
