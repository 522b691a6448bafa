/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/qos/options.h"

#include "fabric/fabric.h"
#include "qos/classes.h"

bool best_effort_fits(const struct command *self, struct hd_ratio share,
		      struct hd_ratio preferred, int *status)
{
	double both = (double)share.num / (double)share.den +
		      (double)preferred.num / (double)preferred.den;

	if (both <= 1)
		return true;
	*status = command_usage(self,
				"best effort cannot have more than the link");
	return false;
}

bool lanes_possible(const struct command *self, uint64_t lanes, int *status)
{
	if (lanes == 15 || (lanes >= 1 && lanes <= 8 && !(lanes & (lanes - 1))))
		return true;
	*status = command_usage(self, "a link has 1, 2, 4, 8 or 15 data lanes");
	return false;
}

bool packets_possible(const struct command *self, uint64_t payload,
		      uint64_t overhead, struct qos_packets *out, int *status)
{
	if (payload == 0 || payload > 4096 || overhead > 1024) {
		*status = command_usage(
			self,
			"packets have 1 to 4096 bytes of payload and up to 1024 of overhead");
		return false;
	}
	*out = (struct qos_packets){ (uint32_t)payload, (uint32_t)overhead };
	return true;
}

enum hd_status requests_and_fabric(const char *file,
				   struct fabric_choice *choice,
				   const char *fabric, struct diag *d,
				   struct qos_requests *requests,
				   struct fabric **out)
{
	if (file && qos_requests_load(file, d, requests) != HD_OK)
		return d->status;
	if (fabric_choose(choice, fabric, d, out) != HD_OK) {
		qos_requests_fini(requests);
		return d->status;
	}
	d->file = NULL;
	return HD_OK;
}

unsigned least_lanes(const struct fabric *f, unsigned most)
{
	for (port_id p = 0; p < f->topo.n_ports; p++) {
		if (f->topo.ports[p].peer != TOPO_NONE &&
		    f->subnet.vls_of_port[p] < most)
			most = f->subnet.vls_of_port[p];
	}
	return most;
}

unsigned fold_classes(struct fabric *f)
{
	const struct scn_qos *q = &f->scenario->qos;

	if (q->sl2vl.given || q->n_classes || q->opensm ||
	    f->subnet.sl_of_path || f->subnet.lanes_by_engine)
		return N_DATA_VLS;
	class_program(&f->subnet);
	return least_lanes(f, N_DATA_VLS);
}

void remark_folding(unsigned vls, struct results *r)
{
	struct strbuf lost = STRBUF_INIT;

	(void)class_fold(vls, &lost);
	if (lost.len)
		results_remark(r, "%u lanes: %s", vls, lost.text);
	strbuf_fini(&lost);
}
