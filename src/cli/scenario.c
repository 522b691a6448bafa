/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/scenario.h"

#include "base/text.h"
#include "subnet/route.h"

enum hd_status overrides_from_options(const struct option_list *set,
				      uint64_t seed, struct overrides *out,
				      struct diag *d)
{
	enum hd_status status = HD_OK;

	for (size_t i = 0; i < set->n && status == HD_OK; i++)
		status = overrides_add(out, set->items[i], d);
	if (seed != SEED_OF_SCENARIO)
		overrides_put(out, "--seed", "run.seed", "%llu",
			      (unsigned long long)seed);
	return status;
}

enum hd_status fabric_choose(struct fabric_choice *c, const char *name,
			     struct diag *d, struct fabric **out)
{
	enum hd_status status = overrides_from_options(
		&c->set, SEED_OF_SCENARIO, &c->overrides, d);

	if (c->engine)
		overrides_put(&c->overrides, "--engine",
			      "fabric.routing.engine", "%s", c->engine);
	return status == HD_OK ? fabric_open(name, &c->overrides, d, out)
			       : status;
}

void fabric_choice_fini(struct fabric_choice *c)
{
	option_list_fini(&c->set);
	overrides_fini(&c->overrides);
}

bool fabric_engine_known(const struct command *self, const char *engine,
			 int *status)
{
	const char *names[32];

	if (!engine || route_engine_find(engine))
		return true;
	for (unsigned i = 0; i < n_route_engines; i++)
		names[i] = route_engines[i].name;
	const char *near = text_nearest(engine, names, n_route_engines);

	*status = command_usage(self, "unknown routing engine '%s'%s", engine,
				text_hint(near).text);
	return false;
}
