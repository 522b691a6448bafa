/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/cc/session.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cli/scenario.h"

const char *const cc_marking_names[] = { "none",      "two-counter",
					 "published", "threshold",
					 "iba",       NULL };

const struct cc_override cc_override_none = {
	.marking = UINT_MAX,
	.depth = UINT64_MAX,
	.threshold = UINT64_MAX,
	.window = UINT64_MAX,
	.steps = UINT64_MAX,
	.ack_delay = HD_TIME_NEVER,
};

/* Options are short for --set. */
static void add_options(const struct cc_override *o, struct overrides *out)
{
	const struct {
		const char *label, *path;
		uint64_t value, none;
		const char *unit;
	} numbers[] = {
		{ "--depth", "congestion.marking.depth", o->depth, UINT64_MAX,
		  "B" },
		{ "--threshold", "congestion.marking.threshold", o->threshold,
		  UINT64_MAX, "" },
		{ "--window", "congestion.window", o->window, UINT64_MAX, "" },
		{ "--ack-delay", "congestion.ack.delay", o->ack_delay,
		  HD_TIME_NEVER, "ps" },
		{ "--rate-steps", "congestion.rate_steps", o->steps, UINT64_MAX,
		  "" },
		{ "--warmup", "congestion.warmup", o->warmup, 0, "ps" },
		{ "--measure", "congestion.measure", o->measure, 0, "ps" },
	};

	if (o->marking != UINT_MAX)
		overrides_put(out, "--marking", "congestion.marking.rule", "%s",
			      cc_marking_names[o->marking]);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		if (numbers[i].value != numbers[i].none)
			overrides_put(out, numbers[i].label, numbers[i].path,
				      "%llu%s",
				      (unsigned long long)numbers[i].value,
				      numbers[i].unit);
	}
	if (o->m > 0)
		overrides_put(out, "--m", "congestion.m", "%.17g", o->m);
}

static enum hd_status prepare(struct cc_session *s, struct diag *d)
{
	enum hd_status status = congestion_flows(s->build, d, &s->flows);

	return status == HD_OK ? congestion_params_init(s->build, d, &s->params)
			       : status;
}

enum hd_status cc_session_open(struct cc_session *s, const char *path,
			       const struct cc_override *o, uint64_t *seed,
			       struct diag *d)
{
	*s = (struct cc_session){ 0 };
	enum hd_status status =
		overrides_from_options(&o->set, *seed, &s->overrides, d);

	add_options(o, &s->overrides);
	if (status == HD_OK)
		status = fabric_read(path, &s->overrides, d, &s->build);
	if (status == HD_OK)
		status = scenario_needs_traffic(s->build->scenario, d);
	if (status == HD_OK)
		status = prepare(s, d);
	if (status == HD_OK)
		*seed = s->build->scenario->run.seed;
	return status;
}

enum hd_status cc_session_reseed(const struct cc_session *from, uint64_t seed,
				 struct cc_session *s, struct diag *d)
{
	const struct scenario *scenario = from->build->scenario;

	*s = (struct cc_session){ 0 };
	overrides_copy(&from->overrides, &s->overrides);
	overrides_put(&s->overrides, "--seed", "run.seed", "%llu",
		      (unsigned long long)seed);
	/* From its text: standard input can be read only once. */
	enum hd_status status =
		fabric_load(scenario->text, strlen(scenario->text),
			    scenario->file, &s->overrides, d, &s->build);

	return status == HD_OK ? prepare(s, d) : status;
}

void cc_session_fini(struct cc_session *s)
{
	free(s->flows);
	if (s->build)
		fabric_free(s->build);
	overrides_fini(&s->overrides);
}
