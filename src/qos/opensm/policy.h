/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_QOS_OPENSM_POLICY_H
#define HD_QOS_OPENSM_POLICY_H

/*
 * SL of a connection that requests none, by its service id, source, destination, P_Key and QoS
 * class. The rules are those of OpenSM's policy file (qos-policy.conf) for path records:
 *
 *	port-groups		ports by GUID, name, P_Key or kind of node
 *	qos-levels		names of SLs; DEFAULT is that of all other connections and
 *				overrides the default of qos-ulps
 *	qos-match-rules		the first rule whose criteria all match
 *	qos-ulps		the short form: "sdp, port-num 10000 : 1", after the match rules
 *	qos-setup		skipped, as by OpenSM
 *
 * Files that OpenSM discards as a whole are rejected: without a default SL, with a level without
 * SL, or with an empty criterion. A criterion without a value in the query does not match. Limits
 * of levels (MTU, rate, life) are parsed and not used.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "measure/results.h"
#include "subnet/subnet.h"

struct partitions;

#define POLICY_NO_SL 255

/* Numbers low .. high; an empty list is no criterion. */
struct policy_span {
	uint64_t low, high;
};
struct policy_spans {
	struct policy_span *items;
	size_t n, cap;
};
struct policy_words {
	char **items;
	size_t n, cap;
};

struct policy_group {
	char *name;
	struct policy_spans guids, pkeys;
	struct policy_words ports;      /* "node description/P1" */
	struct policy_words partitions; /* by name; Default is everybody's */
	unsigned kinds;                 /* set of 1 << enum node_kind */
	bool self;                      /* the port of the subnet manager */
	unsigned line;
};

struct policy_level {
	char *name;
	uint8_t sl;
	unsigned line;
};

struct policy_rule {
	struct policy_words sources, destinations; /* groups, or ALL */
	struct policy_spans service_ids, pkeys, classes;
	char *level; /* of a match rule */
	/* Used by lines of qos-ulps in place of groups. */
	struct policy_spans source_guids, target_guids;
	bool both; /* both ends must have one of its GUIDs */
	uint8_t sl;
	unsigned line;
};

struct policy {
	struct policy_group *groups;
	size_t n_groups, groups_cap;
	struct policy_level *levels;
	size_t n_levels, levels_cap;
	struct policy_rule *rules;
	size_t n_rules, rules_cap;
	struct policy_rule *ulps;
	size_t n_ulps, ulps_cap;
	uint8_t default_sl; /* of qos-ulps; POLICY_NO_SL: none */
	unsigned default_line;
	unsigned setup_line; /* of qos-setup; 0: absent */
};

/* Free with policy_fini even after a refusal. */
HD_MUST_CHECK enum hd_status policy_read(const char *text, struct diag *d, struct policy *out);
void policy_fini(struct policy *p);
/* The same for a file; after an error there is nothing to free. */
HD_MUST_CHECK enum hd_status policy_load(const char *path, struct diag *d, struct policy *out);

/* By name, and the level DEFAULT; NULL if not found. */
const struct policy_group *policy_find_group(const struct policy *p, const char *name);
const struct policy_level *policy_find_level(const struct policy *p, const char *name);
const struct policy_level *policy_default_level(const struct policy *p);

/* Properties of a connection; ports may be TOPO_NONE. */
struct policy_query {
	port_id source, destination;
	port_id manager; /* where the subnet manager runs */
	bool has_service_id, has_pkey, has_class;
	uint64_t service_id;
	uint16_t pkey;
	uint8_t class;
	/* Names in port groups; NULL: only Default is known. */
	const struct partitions *partitions;
};

struct policy_answer {
	uint8_t sl;
	unsigned line;     /* line of the rule; 0: no rule, SL 0 */
	const char *level; /* name of the level, NULL for qos-ulps */
};

/* `s` has GUIDs, names, kinds and P_Keys of ports; NULL: none. */
struct policy_answer policy_match(const struct policy *p, const struct subnet *s,
				  const struct policy_query *q);
/* Whether answers may differ between ends, and not by service alone. */
bool policy_knows_ends(const struct policy *p);
/* Adds a record (policy_table.c). */
void policy_answer_show(const struct policy_answer *a, struct results *r);

#endif
