/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/qos_planning.h"

#include <stdio.h>

#include "cli/output.h"
#include "cli/progress.h"
#include "cli/qos_options.h"
#include "qos/opensm/conf_diff.h"
#include "qos/opensm/explain.h"
#include "study/goals.h"

static int emit_conf(const struct qos_plan_options *v, const struct plan *plan, bool met)
{
	struct strbuf text = STRBUF_INIT;

	opensm_export(OPENSM_DEFAULT, &plan->tables, &text);
	return output_text(&v->common, &text, met);
}

/* View of the plan's classes on links with the plan's number of VLs. */
static struct explain_view view_of(const struct qos_plan_options *v,
				   const struct plan_class *classes, unsigned n,
				   const struct plan *plan)
{
	struct explain_view view = {
		.n_classes = n,
		.mtu = (uint32_t)v->mtu,
		.overhead = (uint32_t)v->overhead,
		.entries = (unsigned)v->entries,
		.vls = plan->tables.vls,
		.rate = hd_rate_make(100000000000, 1),
	};

	for (unsigned i = 0; i < n; i++) {
		struct explain_class *c = &view.classes[i];

		snprintf(c->name, sizeof(c->name), "%s", classes[i].name);
		c->sl = plan->outcome[i].sl;
		c->payload = classes[i].payload;
	}
	return view;
}

/* Shows changes from the running configuration to the plan: keys, then classes. */
static enum hd_status show_against(const struct qos_plan_options *v,
				   const struct plan_class *classes, unsigned n,
				   const struct plan *plan, struct results *r, struct diag *d)
{
	const struct explain_view view = view_of(v, classes, n, plan);
	struct strbuf running = STRBUF_INIT, planned = STRBUF_INIT;
	struct opensm_conf before, after;
	struct explain first, second;

	if (!v->against)
		return HD_OK;
	d->file = v->against;
	if (opensm_file_read(v->against, d, &running) != HD_OK)
		return d->status;
	d->file = NULL;
	opensm_export(OPENSM_DEFAULT, &plan->tables, &planned);
	opensm_conf_diff_show(running.text, planned.text, r);
	opensm_conf_read(running.text, &before);
	opensm_conf_read(planned.text, &after);
	explain_make(&before, &view, NULL, &first);
	explain_make(&after, &view, NULL, &second);
	explain_compare(&first, &second, r);
	explain_fini(&first);
	explain_fini(&second);
	opensm_conf_fini(&before);
	opensm_conf_fini(&after);
	strbuf_fini(&running);
	strbuf_fini(&planned);
	return HD_OK;
}

/* Writes the results so far; drops all of them if the running configuration is refused. */
static int emit_results(const struct qos_plan_options *v, const struct plan_class *classes,
			unsigned n, const struct plan *plan, struct results *r, bool met)
{
	struct diag d = { .status = HD_OK };

	if (show_against(v, classes, n, plan, r, &d) == HD_OK)
		return output_results(&v->common, r, met);
	results_free(r);
	return command_refuse(&d);
}

static int emit(const struct qos_plan_options *v, const struct plan_class *classes, unsigned n,
		const struct plan *plan)
{
	if (v->conf)
		return emit_conf(v, plan, true);
	struct results *r = results_new("qos plan");

	plan_show(plan, classes, n, r);
	return emit_results(v, classes, n, plan, r, true);
}

int cli_qos_plan_classes(const struct qos_plan_options *v, char **words, unsigned n,
			 const struct plan_link *link)
{
	struct plan_class classes[N_SLS] = { 0 };
	struct diag d = { .status = HD_OK };
	struct plan plan;

	if (plan_classes_read(words, n, (uint32_t)v->mtu, &d, classes) != HD_OK ||
	    plan_make(classes, n, link, &d, &plan) != HD_OK)
		return command_refuse(&d);
	int status = emit(v, classes, n, &plan);

	plan_fini(&plan);
	return status;
}

static enum hd_status verify(const struct qos_plan_options *v, const struct goals_case *what,
			     struct diag *d, struct goal_verdict *out, unsigned *done)
{
	struct goals_case c = *what;
	struct progress progress;

	progress_begin(&progress, &v->common, "mixes", goals_mixes(c.goals));
	c.progress = progress_count;
	c.context = &progress;
	enum hd_status status = goals_verify(&c, d, out, done);

	progress_end(&progress);
	return status;
}

static int emit_goals(const struct qos_plan_options *v, const struct goals *g,
		      const struct plan *plan, const struct goal_verdict *verdicts, unsigned done)
{
	bool whole = !v->verify || done == goals_mixes(g), met = true;

	for (unsigned i = 0; i < g->n; i++)
		met &= !verdicts[i].missed;
	/* A configuration that was not completely verified is not written. */
	if (v->conf)
		return whole ? emit_conf(v, plan, met) : EXIT_GOAL_MISSED;
	struct results *r = results_new("qos plan");

	plan_show(plan, g->classes, g->n, r);
	goals_show(g, verdicts, done, r);
	if (!whole)
		results_remark(r, "interrupted after %u of %u mixes", done, goals_mixes(g));
	return emit_results(v, g->classes, g->n, plan, r, met);
}

/* True if the bound of a latency class misses its goal. */
static bool bound_misses(const struct goals *g, const struct goal_verdict *v)
{
	bool missed = false;

	for (unsigned i = 0; i < g->n; i++)
		missed |= g->items[i].latency && v[i].missed;
	return missed;
}

/*
 * Makes the plan with the lowest high limit, of 0, 1, 3, 7, ..., for which the bounds of the
 * latency classes meet their goals; if no limit does, with the lowest limit.
 */
static enum hd_status plan_latencies(struct goals_case *c, struct plan_link *link, struct diag *d,
				     struct plan *plan, struct goal_verdict *verdicts)
{
	const struct goals *g = c->goals;
	const unsigned most = 254;
	bool last = false;

	for (;;) {
		enum hd_status status = plan_make(g->classes, g->n, link, d, plan);

		if (status != HD_OK)
			return status;
		status = goals_bounds(c, d, verdicts);
		if (status != HD_OK) {
			plan_fini(plan);
			return status;
		}
		if (last || !bound_misses(g, verdicts))
			return HD_OK;
		plan_fini(plan);
		last = link->least_limit == most;
		link->least_limit = last ? 0 : 2 * link->least_limit + 1;
		if (link->least_limit > most)
			link->least_limit = most;
	}
}

static int plan_goals(struct qos_plan_options *v, const struct goals *g, struct plan_link link,
		      const char *fabric)
{
	struct goal_verdict verdicts[N_SLS];
	struct diag d = { .status = HD_OK };
	struct plan plan;
	struct fabric *f;
	unsigned done = 0;

	if (fabric_choice_open(&v->fabric, fabric, &d, &f) != HD_OK)
		return command_refuse(&d);
	link.vls = cli_qos_least_vls(f, link.vls);
	d.file = v->goals; /* errors of the plan refer to the file of goals */
	struct goals_case c = { g, &plan, &link, f, fabric, &v->fabric.overrides };
	enum hd_status status = plan_latencies(&c, &link, &d, &plan, verdicts);

	if (status != HD_OK) {
		fabric_free(f);
		return command_refuse(&d);
	}
	d.file = NULL;
	if (v->verify)
		status = verify(v, &c, &d, verdicts, &done);
	int result = status == HD_OK ? emit_goals(v, g, &plan, verdicts, done) : command_refuse(&d);

	plan_fini(&plan);
	fabric_free(f);
	return result;
}

int cli_qos_plan_goals(struct qos_plan_options *v, const char *fabric, const struct plan_link *link)
{
	struct diag d = { .status = HD_OK };
	struct goals g;
	int status = goals_load(v->goals, (uint32_t)v->mtu, &d, &g) == HD_OK
			     ? plan_goals(v, &g, *link, fabric)
			     : command_refuse(&d);

	goals_fini(&g);
	fabric_choice_fini(&v->fabric);
	return status;
}
