/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/admission/target.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "subnet/multicast/mcast.h"
#include "subnet/tables/ends.h"

static enum hd_status find_end(const struct topo *t, const struct qos_request *q, const char *name,
			       struct diag *d, port_id *out)
{
	struct diag why = { .status = HD_OK };

	return end_named(t, name, &why, out) == HD_OK
		       ? HD_OK
		       : diag_fail_at(d, why.status, q->line, 0, "%s", why.message);
}

/*
 * Finds both end ports. HD_ERR_NOT_FOUND if one does not exist, HD_ERR_INPUT if both are the
 * same.
 */
static enum hd_status find_ends(const struct topo *t, const struct qos_request *q, struct diag *d,
				port_id *from, port_id *to)
{
	if (find_end(t, q, q->source, d, from) != HD_OK ||
	    find_end(t, q, q->destination, d, to) != HD_OK)
		return d->status;
	if (*from == *to)
		return diag_fail_at(d, HD_ERR_INPUT, q->line, 0, "'%.80s' asks for a way to itself",
				    q->source);
	return HD_OK;
}

/*
 * The TClass of packets that leave `source` with an SL, after marking by routers: that of the
 * SL's number.
 */
static uint8_t tclass_of(const struct qos_terms *t, const struct subnet *s, port_id source,
			 uint8_t sl)
{
	uint32_t here = s->topo->ports[source].subnet;

	return sl == 0 && t->tclass_of_sl ? t->tclass_of_sl[here][sl] : sl;
}

/* The SL that routers give to a TClass in a subnet. */
static uint8_t sl_in_subnet(const struct qos_terms *t, uint32_t subnet, uint8_t tclass)
{
	return t->sl_of_tclass ? t->sl_of_tclass[subnet][tclass] : tclass % N_SLS;
}

/* Fills everything except the path. */
static struct broker_request demand(const struct qos_terms *t, const struct qos_request *q,
				    const struct qos_packets *packets)
{
	return (struct broker_request){
		.rate = qos_charged_rate(q, q->rate, packets, t->margin),
		.burst = q->acknowledged ? BROKER_BURST_UNKNOWN : qos_wire_burst(q, packets),
		.largest = qos_largest(q, packets),
		.smallest = qos_smallest(q, packets),
		.deadline = q->latency,
	};
}

static enum hd_status find_group(struct subnet *s, const struct qos_terms *t,
				 const struct qos_request *q, struct diag *d,
				 struct qos_target *out)
{
	const struct qos_packets packets = qos_packets_global(t->packets);
	struct diag why = { .status = HD_OK };
	port_id from = TOPO_NONE;
	uint32_t group = 0;

	if (q->acknowledged)
		return diag_fail_at(d, HD_ERR_INPUT, q->line, 0,
				    "a group does not acknowledge: remove 'rc'");
	if (find_end(s->topo, q, q->source, d, &from) != HD_OK)
		return d->status;
	if (named_group_find(s, &t->groups, q->destination, from, &why, &group) != HD_OK)
		return diag_fail_at(d, why.status, q->line, 0, "%s", why.message);
	*out = (struct qos_target){
		.from = from,
		.to = TOPO_NONE,
		.group = &s->groups[group],
		.request = demand(t, q, &packets),
	};
	out->request.way = (struct broker_way){
		.segment = { { from, s->groups[group].mlid, q->sl } },
		.n = 1,
	};
	return HD_OK;
}

enum hd_status qos_find_target(struct subnet *s, const struct qos_terms *t,
			       const struct qos_request *q, struct diag *d, struct qos_target *out)
{
	port_id from = TOPO_NONE, to = TOPO_NONE;
	uint8_t *sl;

	if (strncmp(q->destination, GROUP_PREFIX, strlen(GROUP_PREFIX)) == 0)
		return find_group(s, t, q, d, out);
	if (find_ends(s->topo, q, d, &from, &to) != HD_OK)
		return d->status;
	uint32_t here = s->topo->ports[from].subnet;
	bool leaves = s->topo->ports[to].subnet != here;
	const struct qos_packets packets = leaves ? qos_packets_global(t->packets) : t->packets;

	*out = (struct qos_target){
		.from = from,
		.to = to,
		.request = demand(t, q, &packets),
	};
	sl = hd_alloc(s->n_subnets, 1);
	for (uint32_t k = 0; k < s->n_subnets; k++)
		sl[k] = k == here ? q->sl : sl_in_subnet(t, k, tclass_of(t, s, from, q->sl));
	bool leads = broker_way_between(s, from, to, sl, &out->request.way);

	if (q->acknowledged) {
		out->request.reverse_rate = qos_acknowledgement_rate(q, &packets, t->margin);
		leads &= broker_way_between(s, to, from, sl, &out->request.reverse);
	}
	free(sl);
	return leads ? HD_OK
		     : diag_fail_at(d, HD_ERR_UNFIT, q->line, 0,
				    "no way leads from '%.40s' to '%.40s'", q->source,
				    q->destination);
}
