/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CLI_QOS_OPTIONS_H
#define HD_CLI_QOS_OPTIONS_H

/*
 * Rows of option tables that several qos commands have: `offset` is that of
 * the field which the row sets, `what` the word of the command's help.
 */

#include "cli/scenario.h"
#include "qos/requests.h"

#define OPTION_REQUESTS(offset, what)                                       \
	{                                                                   \
		"requests", 0, OPT_INPUT, offset, "FILE", NULL,             \
			what " to ask for, one a line: source destination " \
			     "class rate [burst]; ends are names or GUIDs " \
			     "(0x...), rate and burst are of payload"       \
	}

/* The requests of a file (NULL: none) and the fabric they are about. */
HD_MUST_CHECK enum hd_status
requests_and_fabric(const char *file, struct fabric_choice *choice,
		    const char *fabric, struct diag *d,
		    struct qos_requests *requests, struct fabric **out);

/* The lanes that all links of a fabric have, of `most`. */
unsigned least_lanes(const struct fabric *f, unsigned most);
/*
 * Classes get the lanes that class_fold has for them, unless a scenario, an
 * opensm.conf or the routing engine says where SLs go. Onto how many they are
 * folded.
 */
unsigned fold_classes(struct fabric *f);
/* What is lost by that, if something is. */
void remark_folding(unsigned vls, struct results *r);

/* Groups as subnet/ends.h names them; OPT_LIST. */
#define OPTION_GROUP(offset, what)                                      \
	{                                                               \
		"group", 0, OPT_LIST, offset, "NAME:GROUP", NULL,       \
			"a multicast group, as 'heddle route --mcast' " \
			"has it, that " what " call group:NAME"         \
	}

/* An enum fill_mode and an enum fill_place. */
#define OPTION_FILL_MODE(offset)                                    \
	{                                                           \
		"mode", 0, OPT_CHOICE, offset, NULL, "strict",      \
			"64 entries enforced, slots only, or full " \
			"entries",                                  \
			fill_mode_names                             \
	}
#define OPTION_FILL_PLACE(offset)                               \
	{                                                       \
		"place", 0, OPT_CHOICE, offset, NULL, "first",  \
			"where a lane's next table entry goes", \
			fill_place_names                        \
	}

#define OPTION_BEST_EFFORT(offset)                                         \
	{                                                                  \
		"best-effort", 0, OPT_RATIO, offset, "SHARE", "20%",       \
			"share of every link kept for best-effort traffic" \
	}
#define OPTION_PREFERRED(offset)                                          \
	{                                                                 \
		"preferred", 0, OPT_RATIO, offset, "SHARE", "0%",         \
			"share of every link kept for preferential best " \
			"effort (PBE); its requests are counted "         \
			"against it"                                      \
	}
/* Whether the shares are at most a whole link; else what to return. */
bool best_effort_fits(const struct command *self, struct hd_ratio share,
		      struct hd_ratio preferred, int *status);

/* Whether links can have so many data lanes; else what to return. */
bool lanes_possible(const struct command *self, uint64_t lanes, int *status);

/* Bytes of packets, both OPT_SIZE. */
#define OPTION_PAYLOAD(offset, what)                                 \
	{                                                            \
		"payload", 0, OPT_SIZE, offset, "SIZE", "2048", what \
	}
#define OPTION_OVERHEAD(offset, what)                               \
	{                                                           \
		"overhead", 0, OPT_SIZE, offset, "SIZE", "26", what \
	}
/* The two as packets, if there are such; else what to return. */
bool packets_possible(const struct command *self, uint64_t payload,
		      uint64_t overhead, struct qos_packets *out, int *status);

#endif
