/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/cc/session.h"

#include <stdlib.h>
#include <string.h>

static enum hd_status prepare(struct cc_session *s, struct diag *d)
{
	enum hd_status status = scenario_lacks_jobs(s->build->scenario, "heddle cc", d);

	if (status == HD_OK)
		status = scenario_lends_nothing(s->build->scenario, "congestion control", d);
	if (status == HD_OK)
		status = congestion_flows(s->build, d, &s->flows);
	return status == HD_OK ? congestion_params_init(s->build, d, &s->params) : status;
}

enum hd_status cc_session_open(struct cc_session *s, const char *path, struct fabric_choice *choice,
			       uint64_t *seed, struct diag *d)
{
	*s = (struct cc_session){ .given = &choice->overrides };
	enum hd_status status = scenario_choose(choice, NULL, path, seed, d, &s->build);

	return status == HD_OK ? prepare(s, d) : status;
}

static enum hd_status open_reseeded(struct cc_session *s, const struct cc_session *from,
				    uint64_t seed, struct diag *d)
{
	const struct scenario *scenario = from->build->scenario;

	*s = (struct cc_session){ .given = from->given };
	overrides_copy(from->given, &s->overrides);
	overrides_put(&s->overrides, "--seed", "run.seed", "%llu", (unsigned long long)seed);
	/* From its text: standard input can be read only once. */
	enum hd_status status = fabric_load(scenario->text, strlen(scenario->text), scenario->file,
					    &s->overrides, d, &s->build);

	return status == HD_OK ? prepare(s, d) : status;
}

struct tune_case cc_session_case(const struct cc_session *s)
{
	return (struct tune_case){ s->build, s->flows, s->params };
}

enum hd_status cc_reseed(void *held_out, uint64_t seed, struct diag *d, struct tune_case *out)
{
	struct cc_held_out *h = held_out;

	cc_session_fini(&h->current);
	enum hd_status status = open_reseeded(&h->current, h->searched, seed, d);

	if (status == HD_OK)
		*out = cc_session_case(&h->current);
	return status;
}

void cc_session_fini(struct cc_session *s)
{
	free(s->flows);
	if (s->build)
		fabric_free(s->build);
	overrides_fini(&s->overrides);
}
