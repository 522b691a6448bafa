/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_QOS_OPENSM_POLICY_H
#define HD_QOS_OPENSM_POLICY_H

/*
 * Implicit labelling: which SL a connection gets that does not ask for one,
 * from what is known of it: service id, source, destination, P_Key, QoS class.
 * The rules are those of OpenSM's policy file (qos-policy.conf), as its path
 * records answer by them:
 *
 *	port-groups		ports by GUID, name, P_Key or kind of node
 *	qos-levels		names for SLs; DEFAULT is what others get, also
 *				where qos-ulps has a default
 *	qos-match-rules		the first whose criteria all match counts
 *	qos-ulps		the short form: "sdp, port-num 10000 : 1";
 *				asked after the match rules
 *	qos-setup		read over, as OpenSM does
 *
 * Files that OpenSM discards as a whole are refused: nothing says what
 * everybody else gets, a level has no SL, a criterion says nothing. A criterion
 * about something that the query does not tell does not match. Limits of levels
 * (MTU, rate, life) are read and not used here.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "measure/results.h"
#include "subnet/subnet.h"

struct partitions;

#define POLICY_NO_SL 255

/* Numbers low .. high; a list of none means "not asked for". */
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
	bool self;                      /* the subnet manager's own port */
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
	/* Of a line of qos-ulps instead. */
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
/* The same of a file; after a refusal there is nothing to free. */
HD_MUST_CHECK enum hd_status policy_load(const char *path, struct diag *d, struct policy *out);

/* By name, and the level DEFAULT; NULL if not found. */
const struct policy_group *policy_find_group(const struct policy *p, const char *name);
const struct policy_level *policy_find_level(const struct policy *p, const char *name);
const struct policy_level *policy_default_level(const struct policy *p);

/* What is known of a connection; ports may be TOPO_NONE. */
struct policy_query {
	port_id source, destination;
	port_id manager; /* where the subnet manager runs */
	bool has_service_id, has_pkey, has_class;
	uint64_t service_id;
	uint16_t pkey;
	uint8_t class;
	/* Of names in port groups; NULL: only Default is known. */
	const struct partitions *partitions;
};

struct policy_answer {
	uint8_t sl;
	unsigned line;     /* of the rule, 0: nothing said so, SL 0 */
	const char *level; /* name of the level, NULL for qos-ulps */
};

/* `s` tells GUIDs, names, kinds and P_Keys of ports; NULL: nothing. */
struct policy_answer policy_match(const struct policy *p, const struct subnet *s,
				  const struct policy_query *q);
/* Whether answers may differ between ends, and not by service alone. */
bool policy_knows_ends(const struct policy *p);
/* As a record (policy_table.c). */
void policy_answer_show(const struct policy_answer *a, struct results *r);

#endif
