/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "base/file.h"
#include "cli/cc/session.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "sim/congestion/tune.h"

struct values {
	struct common_options common;
	struct cc_override override;
	struct hd_ratio floor;
	uint64_t budget, senders, stress, held_out;
	const char *victims, *conf;
};

#define FIELD(name) offsetof(struct values, name)

static const struct option options[] = {
	{ "floor", 0, OPT_RATIO, FIELD(floor), "SHARE", "90%",
	  "least use of the hot link" },
	{ "victims", 0, OPT_TEXT, FIELD(victims), "ROW", NULL,
	  "the traffic row to protect; without it, all flows that do not end at the hot link" },
	{ "budget", 0, OPT_UINT, FIELD(budget), "N", "60",
	  "trials at most, of two runs each", .low = 1, .high = 100000 },
	{ "senders", 0, OPT_UINT, FIELD(senders), "N", "256",
	  "how many may meet on one link: the table ends at one Nth of its rate, and marks hold twice as many",
	  .low = 2, .high = 999 },
	{ "stress", 0, OPT_UINT, FIELD(stress), "N", "4",
	  "try everything also with a hot link N times slower, as if there were N times the senders; 1: not",
	  .low = 1, .high = 64 },
	{ "held-out", 0, OPT_UINT, FIELD(held_out), "N", "5",
	  "seeds that the search does not see, on which what it found must keep the floor",
	  .low = 2, .high = 1000 },
	{ "conf", 0, OPT_TEXT, FIELD(conf), "FILE", NULL,
	  "write the lines for opensm.conf to FILE too" },
	OPTION_SET(struct values, override.set),
	{ "warmup", 0, OPT_TIME, FIELD(override.warmup), "TIME", NULL,
	  "simulated time before measuring" },
	{ "measure", 0, OPT_TIME, FIELD(override.measure), "TIME", NULL,
	  "simulated time measured" },
	{ .name = NULL },
};

static void show_progress(void *context, uint32_t trials, uint32_t budget)
{
	(void)budget;
	progress_show(context, trials);
}

static enum hd_status find_row(const struct scenario *s, const char *name,
			       struct diag *d, uint32_t *out)
{
	*out = SIM_NONE;
	for (uint32_t i = 0; name && i < s->n_traffic; i++) {
		if (strcmp(s->traffic[i].name, name) == 0)
			*out = i;
	}
	if (name && *out == SIM_NONE)
		return diag_fail(d, HD_ERR_NOT_FOUND,
				 "option --victims: no traffic row '%s'", name);
	return HD_OK;
}

static enum hd_status write_conf(const char *path, const struct opensm_cc *conf,
				 struct diag *d)
{
	struct strbuf text = STRBUF_INIT;

	opensm_cc_write(conf, &text);
	enum hd_status status = file_write(path, text.text, text.len, d);

	strbuf_fini(&text);
	return status;
}

/* One after the other: seeds that the search does not see. */
struct held_out {
	const struct cc_session *searched;
	struct cc_session current;
};

static struct tune_case case_of(const struct cc_session *s)
{
	return (struct tune_case){ s->build, s->flows, s->params };
}

static enum hd_status reseed(void *cases, uint64_t seed, struct diag *d,
			     struct tune_case *out)
{
	struct held_out *h = cases;

	cc_session_fini(&h->current);
	enum hd_status status =
		cc_session_reseed(h->searched, seed, &h->current, d);

	if (status == HD_OK)
		*out = case_of(&h->current);
	return status;
}

static int tune(struct values *v, struct cc_session *s, struct diag *d)
{
	struct progress progress;
	struct held_out held = { .searched = s };
	const struct tune_case given = case_of(s);
	struct tune_options o = {
		.floor = (double)v->floor.num / (double)v->floor.den,
		.budget = (uint32_t)v->budget,
		.senders = (uint32_t)v->senders,
		.stress = (uint32_t)v->stress,
		.held_out = (uint32_t)v->held_out,
		.reseed = reseed,
		.cases = &held,
		.progress = show_progress,
		.context = &progress,
	};
	struct tune_result result;

	if (find_row(s->build->scenario, v->victims, d, &o.victims) != HD_OK)
		return command_refuse(d);
	progress_begin(&progress, &v->common, "trials", (double)v->budget);
	enum hd_status status = congestion_tune(&given, &o, d, &result);

	cc_session_fini(&held.current);
	progress_end(&progress);
	if (status != HD_OK)
		return command_refuse(d);
	struct results *r = results_new("cc tune");
	bool kept = tune_is_kept(&result);

	results_set_scenario(r, s->build->scenario->text);
	congestion_tune_tables(s->build, &o, &result, r);
	if (v->conf)
		status = write_conf(v->conf, &result.conf, d);
	tune_result_fini(&result);
	if (status != HD_OK) {
		results_free(r);
		return command_refuse(d);
	}
	return output_results(&v->common, r, kept);
}

static int execute(struct values *v, const char *path)
{
	struct diag d = { .status = HD_OK };
	struct cc_session s;
	int status;

	if (cc_session_open(&s, path, &v->override, &v->common.seed, &d) ==
	    HD_OK) {
		d.file = NULL;
		status = tune(v, &s, &d);
	} else {
		status = command_refuse(&d);
	}
	cc_session_fini(&s);
	return status;
}

static int run(const struct command *self, int argc, char **argv)
{
	struct values v = { .common.seed = SEED_OF_SCENARIO,
			    .override = cc_override_none };
	int n, status;

	if (!command_parse(self, &v, argc, argv, &n, &status)) {
		; /* all is said */
	} else if (n != 1) {
		status = command_usage(self, "which scenario?");
	} else if (v.floor.num > v.floor.den) {
		status = command_usage(self, "--floor is at most 100%%");
	} else {
		status = execute(&v, argv[0]);
	}
	option_list_fini(&v.override.set);
	return status;
}

static const struct example examples[] = {
	{ "heddle cc tune examples/incast.yaml --conf cc.conf",
	  "lines for opensm.conf that free an incast's victims" },
	{ "heddle cc tune --floor 95% --budget 120 examples/incast.yaml",
	  "dearer throughput, a longer search" },
	{ NULL, NULL },
};

const struct command command_cc_tune = {
	.name = "cc tune",
	.summary = "find parameters of InfiniBand's congestion control",
	.arguments = "SCENARIO",
	.description =
		"Searches threshold, marking rate, CCTI increase, CCTI timer and the\n"
		"table's shape for the most goodput of the victims of congestion, as\n"
		"long as the hot link is used to the stated floor; prints lines for\n"
		"opensm.conf, and what is gained against no control and against\n"
		"OpenSM's defaults. The same scenario gives the same answer.\n\n"
		"What was found is then tried on other seeds (--held-out), over windows\n"
		"of up to eight times the length if it takes that to tell. Ends with 1 if\n"
		"nothing keeps the floor, or not on these seeds; the answer then says\n"
		"which windows the search needs.\n\n"
		"'heddle cc compare --conf FILE' runs what was found on another\n"
		"scenario.\n",
	.options = options,
	.examples = examples,
	.run = run,
};
