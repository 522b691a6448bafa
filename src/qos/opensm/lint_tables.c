/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/opensm/explain.h"
#include "qos/opensm/opensm.h"

static const struct column finding_columns[] = {
	{ "line", NULL, CELL_UNLESS(opensm_finding, line, 0) },
	{ "code", NULL, CELL(opensm_finding, code), ORIGIN_COMPUTED },
	{ "finding", NULL, CELL(opensm_finding, message), ORIGIN_COMPUTED },
	{ "effect", NULL, CELL(opensm_finding, effect), ORIGIN_COMPUTED },
	{ "write", NULL, CELL(opensm_finding, write), ORIGIN_COMPUTED },
	{ NULL },
};

struct lint_vl_row {
	uint64_t sl, vl, high_weight, low_weight;
};

static const struct column vl_columns[] = {
	{ "sl", NULL, CELL(lint_vl_row, sl) },
	{ "vl", NULL, CELL(lint_vl_row, vl), ORIGIN_COMPUTED },
	{ "high weight", "64 B", CELL(lint_vl_row, high_weight), ORIGIN_COMPUTED },
	{ "low weight", "64 B", CELL(lint_vl_row, low_weight), ORIGIN_COMPUTED },
	{ NULL },
};

static uint64_t weight_of(const struct vlarb_entry *entry, unsigned n, unsigned vl)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += entry[i].vl == vl ? entry[i].weight : 0;
	return sum;
}

/* The effective tables of a kind of port. */
static void show_effective(struct results *r, const struct opensm_conf *conf,
			   const struct opensm_port *port)
{
	struct opensm_tables t;
	struct table *out =
		results_table(r, "VLs", "what OpenSM programs into switch ports", vl_columns);

	opensm_effective(conf, port, &t);
	for (unsigned sl = 0; sl < N_SLS; sl++) {
		unsigned vl = t.sl2vl.vl[sl];

		const struct lint_vl_row row = {
			.sl = sl,
			.vl = vl,
			.high_weight = weight_of(t.vlarb.high, t.vlarb.n_high, vl),
			.low_weight = weight_of(t.vlarb.low, t.vlarb.n_low, vl),
		};

		table_put_row(out, &row);
	}
}

/* Without a QoS key, the file may be the wrong one. */
static bool has_no_qos_key(const struct opensm_conf *conf)
{
	unsigned lines = conf->qos_line;

	for (unsigned i = 0; i < OPENSM_SCOPES; i++) {
		const struct opensm_set *set = &conf->set[i];

		lines |= set->high_limit_line | set->max_vls_line | set->high.line | set->low.line |
			 set->sl2vl.line;
	}
	return lines == 0;
}

bool opensm_lint_show(const struct opensm_conf *conf, const struct opensm_port *port,
		      const struct explain_view *view, const struct policy *policy,
		      struct results *r)
{
	struct opensm_findings found = { 0 };
	struct table *t =
		results_table(r, "findings", "what is likely not meant this way", finding_columns);

	opensm_lint(conf, port, view->mtu, &found);
	opensm_lint_classes(conf, view, &found);
	opensm_lint_cc(conf, &found);
	if (policy)
		opensm_lint_policy(conf, port, policy, &found);
	bool clean = found.n == 0;

	for (size_t i = 0; i < found.n; i++)
		table_put_row(t, &found.items[i]);
	opensm_findings_fini(&found);
	show_effective(r, conf, port);
	if (has_no_qos_key(conf))
		results_remark(
			r,
			"no QoS key is in this file, so OpenSM's defaults stand: is it the right one?");
	if (conf->max_op_vls < 5 && conf->max_op_vls_line)
		results_remark(
			r,
			"OpenSM lowers the links' VLs to max_op_vls in its first sweep and folds tables by what it read before: switch ports have the tables shown from its second heavy sweep on");
	return clean;
}
