/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/scenario.h"

#include <stdio.h>
#include <string.h>

#include "cli/live.h"
#include "cli/output.h"
#include "live/tables/tables.h"
#include "subnet/routing/route.h"

void fabric_choice_fini(struct fabric_choice *c)
{
	overrides_fini(&c->overrides);
}

const char *fabric_choice_option(const struct fabric_choice *c, const char *name)
{
	const char *text = NULL;

	for (size_t i = 0; i < c->set.n; i++) {
		if (strcmp(c->set.items[i].option->name, name) == 0)
			text = c->set.items[i].text;
	}
	return text;
}

static void put_option(struct overrides *out, const struct option_setting *s)
{
	char label[64];

	snprintf(label, sizeof(label), "--%s", s->option->name);
	overrides_put(out, label, s->option->path, "%s", s->text);
}

enum hd_status fabric_choice_overrides(struct fabric_choice *c, uint64_t seed, struct diag *d)
{
	enum hd_status status = HD_OK;

	for (size_t i = 0; i < c->set.n && status == HD_OK; i++) {
		const struct option_setting *s = &c->set.items[i];

		if (s->option->path)
			put_option(&c->overrides, s);
		else
			status = overrides_add(&c->overrides, s->text, d);
	}
	if (seed != SEED_OF_SCENARIO)
		overrides_put(&c->overrides, "--seed", "run.seed", "%llu",
			      (unsigned long long)seed);
	return status;
}

enum hd_status fabric_choice_open_scenario(struct fabric_choice *c, struct live_tables *live,
					   const char *path, uint64_t *seed, struct diag *d,
					   struct fabric **out)
{
	struct fabric *fabric;
	enum hd_status status = fabric_choice_overrides(c, *seed, d);

	if (status == HD_OK)
		status = live ? live_tables_fabric(live, path, &c->overrides, d, &fabric)
			      : fabric_read(path, &c->overrides, d, &fabric);
	if (status != HD_OK)
		return status;
	status = scenario_needs_traffic(fabric->scenario, d);
	if (status != HD_OK) {
		fabric_free(fabric);
		return status;
	}
	*seed = fabric->scenario->run.seed;
	*out = fabric;
	return HD_OK;
}

int fabric_choice_print(struct fabric_choice *c, const struct common_options *common,
			const char *path)
{
	struct diag d = { .status = HD_OK };
	struct strbuf out = STRBUF_INIT;
	struct scenario scenario = { 0 };
	enum hd_status status = fabric_choice_overrides(c, common->seed, &d);

	if (status == HD_OK)
		status = scenario_read(path, &c->overrides, &d, &scenario);
	if (status == HD_OK)
		scenario_explain(&scenario, &out);
	scenario_fini(&scenario);
	return status == HD_OK ? output_text(common, &out, true) : command_refuse(&d);
}

enum hd_status fabric_choice_open(struct fabric_choice *c, const char *name, struct diag *d,
				  struct fabric **out)
{
	enum hd_status status = fabric_choice_overrides(c, SEED_OF_SCENARIO, d);

	return status == HD_OK ? fabric_open(name, &c->overrides, d, out) : status;
}

bool cli_check_engine_option(const struct command *self, const struct fabric_choice *c,
			     const char *option, int *status)
{
	return cli_check_engine(self, fabric_choice_option(c, option), status);
}

bool cli_check_engine(const struct command *self, const char *engine, int *status)
{
	struct diag d = { .status = HD_OK };

	if (!engine || route_engine_known(engine, &d) == HD_OK)
		return true;
	*status = command_usage(self, "%s", d.message);
	return false;
}
