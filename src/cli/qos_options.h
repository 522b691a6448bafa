/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_CLI_QOS_OPTIONS_H
#define HD_CLI_QOS_OPTIONS_H

/*
 * Rows of option tables that several qos commands share. `offset` is that of the member which the
 * row sets; `what` is its description in the command's help.
 */

#include "cli/scenario.h"
#include "fabric/admission.h"

#define OPTION_REQUESTS(offset, what)                                                      \
	{                                                                                  \
		"requests", 0, OPT_INPUT, offset, "FILE", NULL,                            \
			what " to reserve, one per line: source destination "              \
			     "class rate [burst [latency]] [rc]; ends are names or GUIDs " \
			     "(0x...), rate and burst are of payload"                      \
	}

/* Opens the fabric, maps its classes to VLs, and reads requests for it from a file (NULL: none). */
HD_MUST_CHECK enum hd_status
cli_qos_fabric_and_requests(const char *file, struct fabric_choice *choice, const char *fabric,
			    struct diag *d, struct qos_requests *requests, struct fabric **out);
/*
 * Admission of the same fabric, for packets of `payload` bytes. Given shares (den above 0) of best
 * effort and preferential best effort apply to the classes of qos/tables/classes.h.
 */
struct given_shares {
	struct hd_ratio best_effort, preferred;
};
HD_MUST_CHECK enum hd_status cli_qos_admission(struct fabric *fabric, uint32_t payload,
					       const struct given_shares *shares, struct diag *d,
					       struct broker_params *broker,
					       struct qos_terms *terms);

/* Number of VLs that all links of a fabric have, at most `most`. */
unsigned cli_qos_least_vls(const struct fabric *fabric, unsigned most);
/*
 * Adds remarks: losses because classes share VLs, and parts of the scenario that are ignored
 * (given tables, classes without kinds).
 */
void cli_qos_remark_classes(const struct fabric *fabric, struct results *r);

/* Groups of ports in the syntax of subnet/tables/ends.h; OPT_LIST. */
#define OPTION_GROUP(offset, what)                                                  \
	{                                                                           \
		"group", 0, OPT_LIST, offset, "NAME:GROUP", NULL,                   \
			"multicast group, as of 'heddle route --mcast', that " what \
			" call group:NAME"                                          \
	}

/* An output file in the format of qos/opensm/port_conf.h. */
#define OPTION_TABLES_OUT(offset)                                                                \
	{                                                                                        \
		"tables", 0, OPT_OUTPUT, offset, "FILE", NULL,                                   \
			"write the VL arbitration tables and SL-to-VL maps that ports need for " \
			"the reservations, for 'heddle live sm' and 'heddle qos verify'"         \
	}

/* Options of an enum fill_mode and an enum fill_place. */
#define OPTION_FILL_MODE(offset)                                                                               \
	{                                                                                                      \
		"fill", 0, OPT_CHOICE, offset, NULL, "strict",                                                 \
			"how to fill tables: strict (64 entries at most), paper (slots only) or full-entries", \
			fill_mode_names                                                                        \
	}
#define OPTION_FILL_PLACE(offset)                                               \
	{                                                                       \
		"place", 0, OPT_CHOICE, offset, NULL, "first",                  \
			"position of a VL's next table entry", fill_place_names \
	}
/* How admission of a scenario fills arbitration tables; OPT_SET. */
#define OPTIONS_ADMISSION(offset)                                                                                                     \
	{ "fill",                                                                                                                     \
	  0,                                                                                                                          \
	  OPT_SET,                                                                                                                    \
	  offset,                                                                                                                     \
	  NULL,                                                                                                                       \
	  NULL,                                                                                                                       \
	  "how to fill tables: strict (64 entries at most), paper (slots only) or full-entries (default: the scenario's, or strict)", \
	  fill_mode_names,                                                                                                            \
	  .path = "qos.admission.fill",                                                                                               \
	  .as = OPT_CHOICE },                                                                                                         \
		{ "place",                                                                                                            \
		  0,                                                                                                                  \
		  OPT_SET,                                                                                                            \
		  offset,                                                                                                             \
		  NULL,                                                                                                               \
		  NULL,                                                                                                               \
		  "position of a VL's next table entry (default: the scenario's, or spread)",                                         \
		  fill_place_names,                                                                                                   \
		  .path = "qos.admission.place",                                                                                      \
		  .as = OPT_CHOICE },                                                                                                 \
	{                                                                                                                             \
		"margin", 0, OPT_SET, offset, "SHARE", NULL,                                                                          \
			"share reserved in addition to a request's rate (default: the scenario's, or 5%)",                            \
			.path = "qos.admission.margin", .as = OPT_RATIO                                                               \
	}
/* Bytes in addition to the payload; OPT_SET. */
#define OPTION_PACKET_OVERHEAD(offset)                                                                \
	{                                                                                             \
		"overhead", 0, OPT_SET, offset, "SIZE", NULL,                                         \
			"bytes of a packet in addition to its payload "                               \
			"(default: the scenario's, or 26, with 40 more to groups and other subnets)", \
			.path = "fabric.packet.overhead", .as = OPT_SIZE                              \
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
/* The same for struct given_shares. */
#define OPTION_BEST_EFFORT_GIVEN(offset)                                     \
	{                                                                    \
		"best-effort", 0, OPT_RATIO, offset, "SHARE", NULL,          \
			"share of every link kept for best-effort traffic, " \
			"where the scenario has no classes (default: 20%)"   \
	}
#define OPTION_PREFERRED_GIVEN(offset)                                     \
	{                                                                  \
		"preferred", 0, OPT_RATIO, offset, "SHARE", NULL,          \
			"share of every link kept for preferential best "  \
			"effort (PBE), where the scenario has no classes " \
			"(default: 0%); its requests are counted "         \
			"against it"                                       \
	}
bool cli_qos_check_shares(const struct command *self, const struct given_shares *shares,
			  int *status);
/* True if the shares are at most a whole link; else *status is the exit status. */
bool cli_qos_check_best_effort(const struct command *self, struct hd_ratio share,
			       struct hd_ratio preferred, int *status);

/* True if a link can have this number of data VLs; else *status is the exit status. */
bool cli_qos_check_vls(const struct command *self, uint64_t vls, int *status);

/* Sizes of packets in bytes, both OPT_SIZE. */
#define OPTION_PAYLOAD(offset, what)                                 \
	{                                                            \
		"payload", 0, OPT_SIZE, offset, "SIZE", "2048", what \
	}
#define OPTION_OVERHEAD(offset, what)                               \
	{                                                           \
		"overhead", 0, OPT_SIZE, offset, "SIZE", "26", what \
	}
/* True if packets can have that payload; else *status is the exit status. */
bool cli_qos_check_payload(const struct command *self, uint64_t payload, int *status);
/* Checks payload and overhead and makes packets of them; else *status is the exit status. */
bool cli_qos_check_packets(const struct command *self, uint64_t payload, uint64_t overhead,
			   struct qos_packets *out, int *status);

#endif
