/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "fabric/limits.h"
#include "measure/fairness.h"
#include "sim/congestion/tune_parts.h"

static void rate_run(const struct tune_stage *s, const struct congestion_result *r,
		     struct tune_outcome *t)
{
	double *goodput = hd_alloc(r->n_flows, sizeof(*goodput));

	*t = (struct tune_outcome){ .hot = r->utilisation[s->hot] };
	for (uint32_t i = 0; i < r->n_flows; i++) {
		goodput[i] = r->flows[i].goodput * 8 * s->given.flows[i].bytes;
		t->total += goodput[i];
		if (s->is_victim[i])
			t->victims += goodput[i];
	}
	t->fairness = jain_index(goodput, r->n_flows);
	free(goodput);
}

/* What runs under `p` but for the algorithm. */
static void use(const struct opensm_cc *conf, struct congestion_params *p)
{
	p->marking = opensm_cc_marking(conf);
	p->per_sl = conf->per_sl;
	opensm_cc_response(conf, &p->response);
}

/* A sim_progress_fn: a run that is cut ends all of it. */
static bool goes_on(void *context, const struct sim_progress *p)
{
	struct tune_watch *w = context;
	const struct tune_options *o = w->options;

	(void)p;
	if (o->progress && !o->progress(o->context, w->n_trials))
		w->stopped = true;
	return !w->stopped;
}

static enum hd_status run_once(const struct tune_stage *s, const struct sim_setup *setup,
			       const struct opensm_cc *conf, struct diag *d,
			       struct congestion_result *result)
{
	struct congestion_params p = s->given.params;

	p.marking.rule = MARK_NONE;
	p.algorithm = NULL;
	p.progress = goes_on;
	p.progress_context = s->watch;
	if (conf)
		use(conf, &p);
	/* Zero steps up, OpenSM's default, are no algorithm. */
	if (conf && conf->ccti_increase)
		p.algorithm = cc_find("cct");
	return congestion_run(setup, s->given.flows, s->given.build->n_flows, &p, d, result);
}

enum hd_status stage_try(const struct tune_stage *s, const struct opensm_cc *conf, struct diag *d,
			 struct tune_trial *t)
{
	struct congestion_result r;
	enum hd_status status = run_once(s, &s->given.build->setup, conf, d, &r);

	if (status != HD_OK)
		return status;
	rate_run(s, &r, &t->plain);
	congestion_result_fini(&r);
	t->stressed = t->plain;
	if (s->options->stress == 1 || s->watch->stopped)
		return HD_OK;
	status = run_once(s, &s->stressed, conf, d, &r);
	if (status != HD_OK)
		return status;
	rate_run(s, &r, &t->stressed);
	congestion_result_fini(&r);
	return HD_OK;
}

/* The fullest link; of equals the one that leads to a host. */
static uint32_t hottest(const struct sim_setup *setup, const struct congestion_result *r)
{
	uint32_t best = 0;
	double most = -1;

	for (uint32_t i = 0; i < r->n_ports; i++) {
		const struct sim_port *p = &setup->ports[i];

		if (p->peer == SIM_NONE)
			continue;
		bool last = setup->nodes[setup->ports[p->peer].node].kind == SIM_END;
		/* A percent is worth less than being the end of the tree. */
		double rank = r->utilisation[i] + (last ? 0.01 : 0);

		if (rank > most) {
			most = rank;
			best = i;
		}
	}
	return best;
}

static void name_victims(struct tune_stage *s)
{
	const struct sim_setup *setup = &s->given.build->setup;
	uint32_t target = setup->ports[setup->ports[s->hot].peer].node;

	for (uint32_t i = 0; i < s->given.build->n_flows; i++) {
		const struct congestion_flow *f = &s->given.flows[i];

		s->is_victim[i] = s->options->victims == SIM_NONE ? f->destination != target
								  : f->row == s->options->victims;
		s->n_victims += s->is_victim[i];
	}
}

/* The same fabric, but for the rate of the hot link. */
static void slow_down(struct tune_stage *s)
{
	const struct sim_setup *setup = &s->given.build->setup;
	size_t size = setup->n_ports * sizeof(*setup->ports);

	s->stressed = *setup;
	s->stressed.ports = hd_alloc(setup->n_ports, sizeof(*setup->ports));
	memcpy(s->stressed.ports, setup->ports, size);
	s->stressed.ports[s->hot].rate.den *= s->options->stress;
	s->stressed.ports[setup->ports[s->hot].peer].rate = s->stressed.ports[s->hot].rate;
}

enum hd_status stage_begin(struct tune_stage *s, struct diag *d)
{
	const struct fabric *b = s->given.build;
	struct congestion_result r;
	struct tune_outcome outcome;
	enum hd_status status = run_once(s, &b->setup, NULL, d, &r);

	if (status != HD_OK)
		return status;
	s->is_victim = hd_alloc(b->n_flows, sizeof(*s->is_victim));
	s->hot = hottest(&b->setup, &r);
	name_victims(s);
	rate_run(s, &r, &outcome);
	s->uncontrolled = outcome.victims;
	congestion_result_fini(&r);
	if (s->watch->stopped)
		return HD_OK;
	if (s->n_victims == 0)
		return diag_fail(
			d, HD_ERR_UNFIT,
			"every flow goes to the end of the hot link: there is no victim to protect");
	slow_down(s);
	return sim_limits_check(&s->stressed, b->flows, b->n_flows, d);
}

void stage_fini(struct tune_stage *s)
{
	free(s->is_victim);
	free(s->stressed.ports);
}
