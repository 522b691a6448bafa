/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CLI_SCENARIO_H
#define HD_CLI_SCENARIO_H

/* What commands that take a scenario or a fabric have in common. */

#include "cli/command.h"
#include "fabric/fabric.h"

/* As common.seed before parsing: a --seed weighs more than the scenario's. */
#define SEED_OF_SCENARIO UINT64_MAX

/*
 * The scenario or FABRIC that a command is about, and what its options change
 * in it: rows of kind OPT_SET, whose member is `set`, in the order in which
 * they were given. Freed by fabric_choice_fini after the fabric, which refers
 * to it; the settings are those of the option table.
 */
struct fabric_choice {
	struct option_settings set;
	struct overrides overrides;
};
void fabric_choice_fini(struct fabric_choice *c);

/* Where a row of kind OPT_SET puts its settings: `member` is a choice. */
#define CHOICE_SET(type, member) (offsetof(type, member) + offsetof(struct fabric_choice, set))
#define OPTION_SET(type, member)                                                    \
	{                                                                           \
		.name = "set", .kind = OPT_SET, .offset = CHOICE_SET(type, member), \
		.value = "PATH=VALUE",                                              \
		.help = "change a field of the scenario, as "                       \
			"traffic.0.load=50%; traffic.NAME.load and traffic.+ "      \
			"(a new one) too; heddle-scenario(5)"                       \
	}
/* clang-format off */
#define OPTIONS_OPENSM(type, member)                                       \
	{ .name = "opensm", .kind = OPT_SET,                               \
	  .offset = CHOICE_SET(type, member), .value = "FILE",             \
	  .path = "qos.opensm", .as = OPT_INPUT,                   \
	  .help = "VLs, tables and congestion control as OpenSM "        \
		  "programs them by this opensm.conf" },                   \
	{ .name = "policy", .kind = OPT_SET,                               \
	  .offset = CHOICE_SET(type, member), .value = "FILE",             \
	  .path = "qos.policy", .as = OPT_INPUT,                   \
	  .help = "SLs of traffic that names none, by this qos-policy.conf" }, \
	{ .name = "partitions", .kind = OPT_SET,                           \
	  .offset = CHOICE_SET(type, member), .value = "FILE",             \
	  .path = "qos.partitions", .as = OPT_INPUT,               \
	  .help = "P_Keys, and SLs without a policy, by this "             \
		  "partitions.conf" }
/* clang-format on */
#define OPTION_ENGINE(type, member)                                           \
	{                                                                     \
		.name = "engine", .letter = 'e', .kind = OPT_SET,             \
		.offset = CHOICE_SET(type, member), .value = "NAME",          \
		.path = "fabric.routing.engine", .words = route_engine_words, \
		.help = "routing engine ('heddle route --engine list' names " \
			"them) (default: the scenario's, or minhop)"          \
	}

/* What the option of that name was given last, or NULL. */
const char *fabric_choice_option(const struct fabric_choice *c, const char *name);

/* What options say, and --seed unless it is SEED_OF_SCENARIO. */
HD_MUST_CHECK enum hd_status fabric_choice_overrides(struct fabric_choice *c, uint64_t seed,
						     struct diag *d);
/*
 * A scenario that has traffic, on a live fabric if it is not NULL; *seed
 * becomes the scenario's.
 */
struct cli_live_tables;
HD_MUST_CHECK enum hd_status fabric_choice_open_scenario(struct fabric_choice *c,
							 struct cli_live_tables *live,
							 const char *path, uint64_t *seed,
							 struct diag *d, struct fabric **out);
/* Prints it with every default filled in; the exit status. */
int fabric_choice_print(struct fabric_choice *c, const struct common_options *common,
			const char *path);
/* A FABRIC to look at: a scenario, a topology, or a generator's words. */
HD_MUST_CHECK enum hd_status fabric_choice_open(struct fabric_choice *c, const char *name,
						struct diag *d, struct fabric **out);

/* Whether there is an engine of the name that --engine or `option` was given,
 * if it was; else what to return. */
bool cli_check_engine_option(const struct command *self, const struct fabric_choice *c,
			     const char *option, int *status);
/* The same of an engine by its name; NULL is well. */
bool cli_check_engine(const struct command *self, const char *engine, int *status);

#endif
