/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_QOS_OPENSM_OPENSM_H
#define HD_QOS_OPENSM_OPENSM_H

/*
 * OpenSM's QoS configuration: its values, OpenSM's interpretation of them, and likely errors.
 *
 * OpenSM reads opensm.conf permissively: it logs and skips unknown keys, parses numbers as C does
 * (010 is eight) and truncates them, accepts any separator between numbers, pads short lists, and
 * masks VLs to those of a link. opensm_effective applies the same rules, so its tables are those
 * that a port gets. opensm_lint reports where they differ from what the file suggests.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/strbuf.h"
#include "measure/results.h"
#include "qos/opensm/policy.h"
#include "subnet/subnet.h"

/* Which ports a set of options is for; the order of the key prefixes. */
enum opensm_scope {
	OPENSM_DEFAULT, /* qos_ */
	OPENSM_CA,      /* qos_ca_ */
	OPENSM_SW0,     /* qos_sw0_: enhanced switch port 0 */
	OPENSM_SWE,     /* qos_swe_: external switch ports */
	OPENSM_ROUTER,  /* qos_rtr_ */
	OPENSM_SCOPES
};

#define OPENSM_LINE_MAX 1023 /* bytes that OpenSM reads of a line */

/* A list of the file, unchanged; line 0 if the key is absent. */
struct opensm_list {
	unsigned line;
	unsigned n;                 /* all entries, even those beyond the arrays */
	uint32_t vl[VLARB_MAX];     /* not masked yet */
	uint32_t weight[VLARB_MAX]; /* VLArb only */
	bool octal;                 /* some number begins with a zero */
	bool malformed;             /* something is neither number nor separator */
};

struct opensm_set {
	unsigned high_limit_line;
	long high_limit; /* below 0: as if it were absent */
	bool high_limit_malformed;
	unsigned max_vls_line;
	struct opensm_list high, low, sl2vl;
};

/* A line with a key that OpenSM does not know. */
struct opensm_unknown {
	unsigned line;
	char key[48];
};

/* A line whose key an earlier line has, too: the earlier one has no effect. */
struct opensm_repeat {
	unsigned line, earlier;
	const char *key; /* of opensm_keys */
};

/* A line of congestion control: congestion_control or cc_..., its value cut. */
struct opensm_cc_line {
	unsigned line;
	char key[64], value[64];
};

struct opensm_conf {
	bool qos;
	unsigned qos_line;
	char qos_value[16];  /* text of the file, cut */
	unsigned max_op_vls; /* code 1..5 for 1, 2, 4, 8, 15; 5 if absent */
	unsigned max_op_vls_line;
	long max_op_vls_said; /* there */
	struct opensm_unknown *unknown;
	size_t n_unknown, unknown_cap;
	size_t n_keys;     /* lines with a key, known or not */
	unsigned *line_of; /* of each of opensm_keys: the last line that has it, or 0 */
	struct opensm_repeat *repeats;
	size_t n_repeats, repeats_cap;
	struct opensm_cc_line *cc;
	size_t n_cc, cc_cap;
	struct opensm_set set[OPENSM_SCOPES];
	unsigned *long_lines; /* numbers of lines that OpenSM cuts */
	size_t n_long_lines, long_lines_cap;
};

/* Keys that OpenSM knows, NULL-terminated. */
extern const char *const opensm_keys[];

/* Takes every text, as OpenSM does; free with opensm_conf_fini. */
void opensm_conf_read(const char *text, struct opensm_conf *out);
void opensm_conf_fini(struct opensm_conf *conf);
/*
 * The same for a file. Binary files are rejected, because OpenSM would read nothing from them
 * without a message.
 */
HD_MUST_CHECK enum hd_status opensm_conf_load(const char *path, struct diag *d,
					      struct opensm_conf *out);
/* Appends the text of a file; a binary one is HD_ERR_INPUT. */
HD_MUST_CHECK enum hd_status opensm_file_read(const char *path, struct diag *d, struct strbuf *out);

/* Capabilities of a port. */
struct opensm_port {
	enum opensm_scope scope;
	unsigned vls;               /* data VLs that both ends have: 1, 2, 4, 8, 15 */
	unsigned low_cap, high_cap; /* table entries it has room for */
};

/* The tables that OpenSM programs into the port, if `qos` is TRUE. */
struct opensm_tables {
	unsigned vls; /* in operation */
	struct vlarb vlarb;
	struct sl2vl sl2vl;
};
/* A table's VL: VL15 becomes VL0 (modulo 15), and VLs wrap at `vls`. */
uint8_t opensm_fold(uint32_t vl, unsigned vls);
void opensm_effective(const struct opensm_conf *conf, const struct opensm_port *port,
		      struct opensm_tables *out);
/* Data VLs that links have in operation at most. */
unsigned opensm_vls(const struct opensm_conf *conf);
/*
 * Programs the tables of every port of a subnet with these maximum VLs of links and `entries` in
 * each arbitration table. No effect if `qos` is not TRUE (opensm_program.c).
 */
void opensm_program(const struct opensm_conf *conf, unsigned entries, struct subnet *s);

struct opensm_finding {
	char code[4]; /* "W1" */
	unsigned line;
	char message[240];
	/* Its effect in numbers, and the line to write instead; "" if not stated. */
	char effect[160], write[80];
};
struct opensm_findings {
	struct opensm_finding *items;
	size_t n, cap;
};
/* Findings for a fabric whose links have the VLs of `port` and packets of `mtu` bytes. */
void opensm_lint(const struct opensm_conf *conf, const struct opensm_port *port, unsigned mtu,
		 struct opensm_findings *out);
/* Findings about the SLs that a policy file assigns to connections. */
void opensm_lint_policy(const struct opensm_conf *conf, const struct opensm_port *port,
			const struct policy *policy, struct opensm_findings *out);
/* Adds a finding unless it is there. */
void opensm_findings_add(struct opensm_findings *out, const struct opensm_finding *f);
/* Classes and congestion control (lint_classes.c, lint_cc.c). */
struct explain_view;
void opensm_lint_classes(const struct opensm_conf *conf, const struct explain_view *view,
			 struct opensm_findings *out);
void opensm_lint_cc(const struct opensm_conf *conf, struct opensm_findings *out);
void opensm_findings_fini(struct opensm_findings *findings);
/*
 * Adds a table of all findings (`policy` may be NULL) and the tables of a port; true: no finding
 * (lint_tables.c).
 */
bool opensm_lint_show(const struct opensm_conf *conf, const struct opensm_port *port,
		      const struct explain_view *view, const struct policy *policy,
		      struct results *r);

/* A line "PREFIXNAME VL:WEIGHT,...", and the line "PREFIXsl2vl VL,...". */
void opensm_export_vlarb(const char *prefix, const char *name, const struct vlarb_entry *entry,
			 unsigned n, struct strbuf *out);
void opensm_export_sl2vl(const char *prefix, const struct sl2vl *map, struct strbuf *out);
/*
 * Writes a fragment of opensm.conf that gives ports of `scope` these tables,
 * each line with its reason.
 */
void opensm_export(enum opensm_scope scope, const struct opensm_tables *tables, struct strbuf *out);

#endif
