/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/cc/session.h"

#include <limits.h>
#include <stdlib.h>

#include "base/file.h"

#define MAX_TEXT ((size_t)16 << 20)

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

static void apply(const struct cc_override *o, struct scn_congestion *c)
{
	if (o->marking != UINT_MAX)
		c->marking = (enum scn_marking)o->marking;
	if (o->depth != UINT64_MAX)
		c->depth = o->depth;
	if (o->threshold != UINT64_MAX)
		c->threshold = o->threshold;
	if (o->window != UINT64_MAX)
		c->window = o->window;
	if (o->ack_delay != HD_TIME_NEVER)
		c->ack_delay = o->ack_delay;
	if (o->steps != UINT64_MAX)
		c->rate_steps = o->steps;
	if (o->m > 0)
		c->m = o->m;
	if (o->warmup)
		c->warmup = o->warmup;
	if (o->measure)
		c->measure = o->measure;
}

enum hd_status cc_session_open(struct cc_session *s, const char *path,
			       const struct cc_override *o, uint64_t *seed,
			       struct diag *d)
{
	static const struct strbuf empty = STRBUF_INIT;

	*s = (struct cc_session){ .text = empty };
	enum hd_status status = file_read(path, MAX_TEXT, d, &s->text);

	if (status == HD_OK)
		status = scenario_parse(s->text.text, s->text.len, path, d,
					&s->scenario);
	d->file = path; /* it may point into the scenario, which is freed */
	if (status != HD_OK)
		return status;
	apply(o, &s->scenario.congestion);
	if (*seed != CC_SEED_OF_SCENARIO)
		s->scenario.run.seed = *seed;
	*seed = s->scenario.run.seed;
	status = fabric_build(&s->scenario, d, &s->build);
	d->file = path;
	s->built = status == HD_OK;
	if (status == HD_OK)
		status = congestion_flows(&s->build, d, &s->flows);
	if (status == HD_OK)
		status = congestion_params_init(&s->build, s->flows, d,
						&s->params);
	return status;
}

void cc_session_fini(struct cc_session *s)
{
	free(s->flows);
	if (s->built)
		fabric_fini(&s->build);
	scenario_fini(&s->scenario);
	strbuf_fini(&s->text);
}
