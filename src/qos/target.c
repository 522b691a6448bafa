/* SPDX-License-Identifier: BSD-2-Clause */
#include "qos/target.h"

#include <string.h>

#include "subnet/ends.h"
#include "subnet/mcast.h"

static enum hd_status find_end(const struct topo *t,
			       const struct qos_request *q, const char *name,
			       struct diag *d, port_id *out)
{
	struct diag why = { .status = HD_OK };

	return end_named(t, name, &why, out) == HD_OK
		       ? HD_OK
		       : diag_fail_at(d, why.status, q->line, 0, "%s",
				      why.message);
}

enum hd_status qos_find_ends(const struct topo *t, const struct qos_request *q,
			     struct diag *d, port_id *from, port_id *to)
{
	if (find_end(t, q, q->source, d, from) != HD_OK ||
	    find_end(t, q, q->destination, d, to) != HD_OK)
		return d->status;
	if (*from == *to)
		return diag_fail_at(d, HD_ERR_INPUT, q->line, 0,
				    "'%.80s' asks for a way to itself",
				    q->source);
	return HD_OK;
}

static enum hd_status find_group(struct subnet *s,
				 const struct option_list *groups,
				 const struct qos_request *q,
				 struct qos_packets packets, struct diag *d,
				 struct qos_target *out)
{
	struct diag why = { .status = HD_OK };
	port_id from = TOPO_NONE;
	uint32_t group = 0;

	if (find_end(s->topo, q, q->source, d, &from) != HD_OK)
		return d->status;
	if (named_group_find(s, groups, q->destination, from, &why, &group) !=
	    HD_OK)
		return diag_fail_at(d, why.status, q->line, 0, "%s",
				    why.message);
	*out = (struct qos_target){
		.from = from,
		.dlid = s->groups[group].mlid,
		.group = &s->groups[group],
		.packets = qos_packets_global(packets),
	};
	return HD_OK;
}

enum hd_status qos_find_target(struct subnet *s,
			       const struct option_list *groups,
			       const struct qos_request *q,
			       struct qos_packets packets, struct diag *d,
			       struct qos_target *out)
{
	const struct topo *t = s->topo;
	port_id from = TOPO_NONE, to = TOPO_NONE;

	if (strncmp(q->destination, GROUP_PREFIX, strlen(GROUP_PREFIX)) == 0)
		return find_group(s, groups, q, packets, d, out);
	if (qos_find_ends(t, q, d, &from, &to) != HD_OK)
		return d->status;
	if (t->ports[from].subnet != t->ports[to].subnet)
		return diag_fail_at(
			d, HD_ERR_UNFIT, q->line, 0,
			"'%.40s' and '%.40s' are in different subnets ('heddle qos signal' reserves across them)",
			q->source, q->destination);
	*out = (struct qos_target){
		.from = from,
		.dlid = s->lid_of_port[to],
		.packets = packets,
	};
	return HD_OK;
}
