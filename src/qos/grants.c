/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/grants.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "qos/target.h"
#include "subnet/ends.h"
#include "subnet/mcast.h"

static void note(struct grants *g, const struct grants_answer *a)
{
	g->answers =
		hd_grow(g->answers, &g->cap, g->n + 1, sizeof(*g->answers));
	g->answers[g->n++] = *a;
	g->refused += a->reason != NULL;
}

static void ask_end(struct grants *g, const struct qos_request *q,
		    const struct blrm_request *request)
{
	struct grants_answer a = { .request = q, .to = q->destination };
	struct diag why = { .status = HD_OK };
	double told;

	if (blrm_request(&g->blrm, request, &why, &a.flow, &told) != HD_OK)
		a.reason = hd_strdup(why.message);
	note(g, &a);
}

/* The last ones first: branches before their trunks. */
static void take_back(struct grants *g, uint32_t first)
{
	for (uint32_t i = g->blrm.n_flows; i-- > first;) {
		if (blrm_release(&g->blrm, i) != HD_OK)
			break;
	}
}

static void ask_group(struct grants *g, const struct qos_request *q,
		      const struct mcast_group *m, struct blrm_request request)
{
	const uint32_t first = g->blrm.n_flows;
	struct diag why = { .status = HD_OK };
	double told;
	uint32_t id;

	for (uint32_t i = 0; i < m->n_members && why.status == HD_OK; i++) {
		request.member = m->members[i];
		if (m->members[i] != request.source &&
		    blrm_request(&g->blrm, &request, &why, &id, &told) == HD_OK)
			request.first = first + 1;
	}
	if (why.status != HD_OK) {
		take_back(g, first);
		note(g, &(struct grants_answer){
				.request = q,
				.to = q->destination,
				.reason = hd_strdup(why.message),
			});
		return;
	}
	for (uint32_t i = first; i < g->blrm.n_flows; i++) {
		port_id member = g->blrm.flows[i].request.member;

		note(g,
		     &(struct grants_answer){
			     .request = q,
			     .to = topo_node_of(g->subnet->topo, member)->name,
			     .flow = i,
		     });
	}
}

static enum hd_status ask(struct grants *g, const struct qos_request *q,
			  struct diag *d)
{
	struct qos_target to;
	struct blrm_request request;

	if (qos_find_target(g->subnet, &g->params.groups, q, g->params.packets,
			    d, &to) != HD_OK ||
	    blrm_request_of(q, &to.packets, to.from, d, &request) != HD_OK)
		return d->status;
	request.dlid = to.dlid;
	if (to.group)
		ask_group(g, q, to.group, request);
	else
		ask_end(g, q, &request);
	return HD_OK;
}

/* The largest packets and the smallest on the wire, of all flows. */
static void size_packets(struct grants *g, const struct qos_requests *requests)
{
	struct grants_params *p = &g->params;
	const struct qos_packets largest =
		p->groups.n ? qos_packets_global(p->packets) : p->packets;
	uint32_t least = p->least ? p->least : p->packets.payload;

	for (size_t i = 0; i < requests->n; i++) {
		uint32_t its =
			qos_least_payload(&requests->items[i], &p->packets);

		least = its < least ? its : least;
	}
	p->blrm.max_packet = largest.payload + largest.overhead;
	p->blrm.min_packet = least + p->packets.overhead;
}

enum hd_status grants_run(struct grants *g, struct subnet *s,
			  const struct grants_params *params,
			  const struct qos_requests *requests, struct diag *d)
{
	if (qos_requests_need_promises(requests, "it has no bound", d) != HD_OK)
		return d->status;
	*g = (struct grants){ .subnet = s, .params = *params };
	size_packets(g, requests);
	blrm_init(&g->blrm, s, &g->params.blrm);
	enum hd_status status = named_groups_add(s, &params->groups, d);

	/* What is wrong from here on is in the flows' file. */
	if (status == HD_OK)
		d->file = requests->file;
	for (size_t i = 0; status == HD_OK && i < requests->n; i++)
		status = ask(g, &requests->items[i], d);
	if (status != HD_OK)
		grants_fini(g);
	return status;
}

void grants_fini(struct grants *g)
{
	for (size_t i = 0; i < g->n; i++)
		free(g->answers[i].reason);
	free(g->answers);
	blrm_fini(&g->blrm);
}
