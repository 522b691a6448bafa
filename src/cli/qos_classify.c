/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/qos_classify.h"

#include "cli/output.h"
#include "qos/opensm/partitions.h"
#include "subnet/tables/ends.h"

static enum hd_status find(const struct topo *t, const char *name, struct diag *d, port_id *out)
{
	*out = TOPO_NONE;
	return name ? end_named(t, name, d, out) : HD_OK;
}

static bool has_ends(const struct policy_query *q)
{
	return q->source != TOPO_NONE && q->destination != TOPO_NONE;
}

/* Classifies by a policy, by the partitions of the query, or by both. */
static int answer(const struct qos_classify_options *v, const struct policy *p,
		  const struct subnet *s, const struct policy_query *q)
{
	struct results *r = results_new("qos classify");

	if (p) {
		const struct policy_answer a = policy_match(p, s, q);

		policy_answer_show(&a, r);
	}
	if (q->partitions && has_ends(q))
		partitions_show_path(q->partitions, s, q->source, q->destination, r);
	else if (q->partitions)
		partitions_show_keys(s, r);
	return output_results(&v->common, r, true);
}

/* Looks up the ends in a fabric, if one is given. */
static int label(struct qos_classify_options *v, const struct policy *p, struct policy_query *q,
		 struct diag *d)
{
	struct fabric *fabric;
	int status;

	if (!v->fabric)
		return answer(v, p, NULL, q);
	if (fabric_choice_open(&v->choice, v->fabric, d, &fabric) != HD_OK)
		return command_refuse(d);
	if (find(&fabric->topo, v->source, d, &q->source) != HD_OK ||
	    find(&fabric->topo, v->destination, d, &q->destination) != HD_OK ||
	    find(&fabric->topo, v->manager, d, &q->manager) != HD_OK) {
		status = command_refuse(d);
	} else {
		if (q->partitions)
			partitions_program(q->partitions, q->manager, &fabric->subnet);
		status = answer(v, p, &fabric->subnet, q);
	}
	fabric_free(fabric);
	return status;
}

int cli_qos_classify_path(struct qos_classify_options *v, const char *path, struct policy_query *q)
{
	struct diag d = { .status = HD_OK };
	struct policy policy = { 0 };
	struct partitions partitions = { 0 };
	int status;

	if ((path && policy_load(path, &d, &policy) != HD_OK) ||
	    (v->partitions && partitions_load(v->partitions, &d, &partitions) != HD_OK)) {
		status = command_refuse(&d);
	} else {
		q->partitions = v->partitions ? &partitions : NULL;
		status = label(v, path ? &policy : NULL, q, &d);
	}
	policy_fini(&policy);
	partitions_fini(&partitions);
	fabric_choice_fini(&v->choice);
	return status;
}
