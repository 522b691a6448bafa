/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/qos_options.h"

#include "qos/tables/vls.h"

bool cli_qos_check_best_effort(const struct command *self, struct hd_ratio share,
			       struct hd_ratio preferred, int *status)
{
	double both = (double)share.num / (double)share.den +
		      (double)preferred.num / (double)preferred.den;

	if (both <= 1)
		return true;
	*status =
		command_usage(self, "--best-effort and --preferred together must be at most 100%%");
	return false;
}

bool cli_qos_check_shares(const struct command *self, const struct given_shares *shares,
			  int *status)
{
	const struct hd_ratio best_effort = { 1, 5 }, preferred = { 0, 1 };

	return cli_qos_check_best_effort(
		self, shares->best_effort.den ? shares->best_effort : best_effort,
		shares->preferred.den ? shares->preferred : preferred, status);
}

bool cli_qos_check_payload(const struct command *self, uint64_t payload, int *status)
{
	struct qos_packets any;

	return cli_qos_check_packets(self, payload, 0, &any, status);
}

bool cli_qos_check_vls(const struct command *self, uint64_t vls, int *status)
{
	if (vls == 15 || (vls >= 1 && vls <= 8 && !(vls & (vls - 1))))
		return true;
	*status = command_usage(self, "option --vls: a link has 1, 2, 4, 8 or 15 data VLs");
	return false;
}

bool cli_qos_check_packets(const struct command *self, uint64_t payload, uint64_t overhead,
			   struct qos_packets *out, int *status)
{
	if (payload == 0 || payload > 4096 || overhead > 1024) {
		*status = command_usage(
			self,
			"--payload must be 1 to 4096 bytes and --overhead at most 1024 bytes");
		return false;
	}
	*out = (struct qos_packets){ (uint32_t)payload, (uint32_t)overhead };
	return true;
}

unsigned cli_qos_least_vls(const struct fabric *fabric, unsigned most)
{
	for (port_id p = 0; p < fabric->topo.n_ports; p++) {
		if (fabric->topo.ports[p].peer != TOPO_NONE && fabric->subnet.vls_of_port[p] < most)
			most = fabric->subnet.vls_of_port[p];
	}
	return most;
}

/*
 * Maps the classes of qos/tables/classes.h to VLs (qos/tables/vls.h), unless a scenario or an
 * opensm.conf maps the SLs; in blocks if the routing algorithm uses VLs itself.
 */
static enum hd_status map_classes(struct fabric *fabric, struct diag *d)
{
	const struct scn_qos *q = &fabric->scenario->qos;
	const struct vl_plan *plan = class_plan();
	struct sl2vl blocks;

	if (q->sl2vl.given || scenario_admits(fabric->scenario) || q->opensm)
		return HD_OK;
	if (fabric->subnet.sl_of_path || fabric->subnet.vls_by_engine)
		return qos_vls_split(&fabric->subnet, plan, d, &blocks);
	qos_vls_program(&fabric->subnet, plan);
	return HD_OK;
}

enum hd_status cli_qos_fabric_and_requests(const char *file, struct fabric_choice *choice,
					   const char *fabric, struct diag *d,
					   struct qos_requests *requests, struct fabric **out)
{
	if (fabric_choice_open(choice, fabric, d, out) != HD_OK)
		return d->status;
	const struct qos_classes classes = fabric_classes(*out);
	enum hd_status status = map_classes(*out, d);

	if (status == HD_OK && file)
		status = qos_requests_load(file, &classes, d, requests);
	if (status != HD_OK)
		fabric_free(*out);
	else
		d->file = NULL;
	return status;
}

enum hd_status cli_qos_admission(struct fabric *fabric, uint32_t payload,
				 const struct given_shares *shares, struct diag *d,
				 struct broker_params *broker, struct qos_terms *terms)
{
	const struct scenario *s = fabric->scenario;

	if (fabric_broker_params(fabric, d, broker) != HD_OK)
		return d->status;
	*terms = fabric_terms(fabric, payload);
	if (payload > s->fabric.mtu)
		return diag_fail(d, HD_ERR_RANGE,
				 "the payload of %u bytes exceeds the MTU of %llu bytes", payload,
				 (unsigned long long)s->fabric.mtu);
	/* The packet size of other traffic is known from the scenario only. */
	if (s->n_traffic == 0 && s->n_jobs == 0)
		broker->latency.largest = payload + terms->packets.overhead;
	if ((shares->best_effort.den || shares->preferred.den) && scenario_admits(s))
		return diag_fail(
			d, HD_ERR_INPUT,
			"--best-effort and --preferred cannot be used: the scenario defines classes with weights");
	if (shares->best_effort.den)
		broker->best_effort = shares->best_effort;
	if (shares->preferred.den)
		broker->preferred = shares->preferred;
	return HD_OK;
}

void cli_qos_remark_classes(const struct fabric *fabric, struct results *r)
{
	const struct scn_qos *q = &fabric->scenario->qos;
	const struct vl_split *split = &fabric->subnet.split;
	struct strbuf lost = STRBUF_INIT;

	if (scenario_admits(fabric->scenario))
		return;
	if (q->n_classes || q->opensm || q->high.given || q->low.given)
		results_remark(
			r,
			"the scenario's classes have no kinds: requests use the default classes, and reservations make the tables");
	if (q->sl2vl.given || q->opensm)
		return;
	unsigned vls = split->n_classes ? split->n_classes : cli_qos_least_vls(fabric, N_DATA_VLS);

	(void)class_fold(vls, &lost);
	if (lost.len && split->n_classes)
		results_remark(r,
			       "%s needs %u VL%s for itself, which leaves classes %u block%s: %s",
			       fabric->subnet.engine, split->vls, split->vls == 1 ? "" : "s", vls,
			       vls == 1 ? "" : "s", lost.text);
	else if (lost.len)
		results_remark(r, "%u VL%s: %s", vls, vls == 1 ? "" : "s", lost.text);
	strbuf_fini(&lost);
}
