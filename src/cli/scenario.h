/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CLI_SCENARIO_H
#define HD_CLI_SCENARIO_H

/* Options of commands that read a scenario or a fabric. */

#include "cli/command.h"
#include "fabric/fabric.h"

/* Value of common.seed before parsing: --seed overrides the seed of the scenario. */
#define SEED_OF_SCENARIO UINT64_MAX

/*
 * A scenario or FABRIC argument and the overrides of its fields: rows of kind OPT_SET, whose
 * member is `set`, in the order on the command line. fabric_choice_fini frees it; the fabric
 * refers to it and must be freed first. The option table owns the settings.
 */
struct fabric_choice {
	struct option_settings set;
	struct overrides overrides;
};
void fabric_choice_fini(struct fabric_choice *c);

/* Offset at which a row of kind OPT_SET stores its settings: `member` is a fabric_choice. */
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

/* The last value given to the option of that name, or NULL. */
const char *fabric_choice_option(const struct fabric_choice *c, const char *name);

/* Collects the overrides of the options, and --seed unless it is SEED_OF_SCENARIO. */
HD_MUST_CHECK enum hd_status fabric_choice_overrides(struct fabric_choice *c, uint64_t seed,
						     struct diag *d);
/*
 * Opens a scenario with traffic, on a live fabric unless `live` is NULL; *seed becomes the
 * scenario's.
 */
struct live_tables;
HD_MUST_CHECK enum hd_status fabric_choice_open_scenario(struct fabric_choice *c,
							 struct live_tables *live, const char *path,
							 uint64_t *seed, struct diag *d,
							 struct fabric **out);
/* Prints the scenario with all defaults; returns the exit status. */
int fabric_choice_print(struct fabric_choice *c, const struct common_options *common,
			const char *path);
/* Opens a FABRIC without traffic: a scenario, a topology file, or a generator with arguments. */
HD_MUST_CHECK enum hd_status fabric_choice_open(struct fabric_choice *c, const char *name,
						struct diag *d, struct fabric **out);

/*
 * True if --engine (or `option`) was not given or names a routing algorithm; else *status is the
 * exit status.
 */
bool cli_check_engine_option(const struct command *self, const struct fabric_choice *c,
			     const char *option, int *status);
/* The same for a name; NULL is accepted. */
bool cli_check_engine(const struct command *self, const char *engine, int *status);

#endif
