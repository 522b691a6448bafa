/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CLI_SCENARIO_H
#define HD_CLI_SCENARIO_H

/* What commands that take a scenario or a fabric have in common. */

#include "cli/command.h"
#include "fabric/fabric.h"

/* As common.seed before parsing: a --seed weighs more than the scenario's. */
#define SEED_OF_SCENARIO UINT64_MAX

/* The row of an option table; `member` is a struct option_list. */
#define OPTION_SET(type, member)                                         \
	{                                                                \
		.name = "set", .kind = OPT_LIST,                         \
		.offset = offsetof(type, member), .value = "PATH=VALUE", \
		.help = "change a field of the scenario, as "            \
			"traffic.0.load=50%; traffic.NAME.load and "     \
			"traffic.+ (a new one) too; heddle-scenario(5)"  \
	}

/* What --set and, unless it is SEED_OF_SCENARIO, --seed say. */
HD_MUST_CHECK enum hd_status
overrides_from_options(const struct option_list *set, uint64_t seed,
		       struct overrides *out, struct diag *d);

/*
 * A FABRIC that a command looks at: a scenario, a topology, or a generator's
 * words, routed as it says or by --engine. The overrides live as long as it.
 */
struct fabric_choice {
	const char *engine; /* NULL: the scenario's, or minhop */
	struct option_list set;
	struct overrides overrides;
};

/* The row of --engine; `member` is the choice's. */
#define OPTION_ENGINE(type, member)                                           \
	{                                                                     \
		.name = "engine", .letter = 'e', .kind = OPT_TEXT,            \
		.offset = offsetof(type, member), .value = "NAME",            \
		.help = "routing engine ('heddle route --engine list' names " \
			"them); minhop, or what the scenario says"            \
	}

HD_MUST_CHECK enum hd_status fabric_choose(struct fabric_choice *c,
					   const char *name, struct diag *d,
					   struct fabric **out);
void fabric_choice_fini(struct fabric_choice *c);

/* Whether there is such an engine (or it is NULL); else what to return. */
bool fabric_engine_known(const struct command *self, const char *engine,
			 int *status);

#endif
