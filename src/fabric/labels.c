/* SPDX-License-Identifier: BSD-2-Clause */
#include "fabric/fabric_internal.h"
#include "qos/opensm/policy.h"

/*
 * What OpenSM answers to a path query of a row that names neither class nor SL:
 * the SL of its policy or, without one, of the partition that the ends share.
 * A row has one SL, so that its flows must agree.
 */

/* The manager runs on the first host. */
static port_id manager_port(const struct fabric *fabric)
{
	const struct selection *hosts = selector_hosts(fabric->selector);

	return hosts->n ? hosts->ports[0] : TOPO_NONE;
}

void fabric_program_partitions(struct fabric *fabric)
{
	partitions_program(fabric->scenario->partitions, manager_port(fabric), &fabric->subnet);
}

/* The P_Key of the named partition, or else the one that OpenSM chooses. */
static uint16_t shared_key(const struct fabric *fabric, const char *partition, port_id from,
			   port_id to)
{
	if (partition)
		return scenario_pkey(fabric->scenario, partition);
	if (!fabric->scenario->partitions || to == TOPO_NONE)
		return PARTITION_DEFAULT; /* of groups, too */
	uint16_t key = partitions_common(&fabric->subnet, from, to);

	return key ? key : PARTITION_DEFAULT;
}

/* Who is no member may still try. */
static uint16_t own_key(const struct fabric *fabric, port_id source, uint16_t key)
{
	return pkey_own(&fabric->subnet.pkeys[source], key | PKEY_FULL);
}

uint16_t fabric_key(const struct fabric *fabric, const char *partition, port_id from, port_id to)
{
	return own_key(fabric, from, shared_key(fabric, partition, from, to));
}

static uint8_t partition_sl(const struct fabric *fabric, uint16_t key)
{
	const struct partition *p = fabric->scenario->partitions
					    ? partitions_keyed(fabric->scenario->partitions, key)
					    : NULL;

	return p ? p->sl : 0;
}

static uint8_t path_label(const struct fabric *fabric, const struct scn_traffic *t, port_id from,
			  port_id to)
{
	const struct scenario *s = fabric->scenario;

	if (!s->policy)
		return partition_sl(fabric, shared_key(fabric, t->partition, from, to));
	const struct policy_query q = {
		.source = from,
		.destination = to,
		.manager = manager_port(fabric),
		.has_service_id = t->service_id != 0,
		.service_id = t->service_id,
		.has_pkey = t->partition != NULL,
		.pkey = t->partition ? scenario_pkey(s, t->partition) : 0,
		.has_class = t->qos_class != 0,
		.class = (uint8_t)t->qos_class,
		.partitions = s->partitions,
	};

	return policy_match(s->policy, &fabric->subnet, &q).sl;
}

/* SL of a path and the path itself; from TOPO_NONE: none yet. */
struct label {
	port_id from, to;
	uint8_t sl;
	uint16_t key;
};

struct labelling {
	struct fabric *fabric;
	uint32_t row;
	struct diag *d;
	struct label first; /* of the row */
};

static const char *name_of(const struct fabric *fabric, port_id port)
{
	return port == TOPO_NONE ? "-" : topo_node_of(&fabric->topo, port)->name;
}

static enum hd_status refuse_mixture(const struct labelling *l, const struct label *a,
				     const struct label *b)
{
	const struct scn_traffic *t = &l->fabric->scenario->traffic[l->row];

	return scenario_refuse(
		l->fabric->scenario, l->d, t,
		"traffic '%s' has SL %u and P_Key 0x%04x from %s to %s, but SL %u and 0x%04x from %s to %s: rows have one SL, and their sources one P_Key",
		t->name, a->sl, a->key, name_of(l->fabric, a->from), name_of(l->fabric, a->to),
		b->sl, b->key, name_of(l->fabric, b->from), name_of(l->fabric, b->to));
}

static port_id port_of(const struct fabric *fabric, port_id from, const struct sim_address *a)
{
	if (a->target != TOPO_NONE)
		return a->target;
	return fabric->subnet.port_of_lid[fabric->topo.ports[from].subnet][a->dlid];
}

static port_id source_of(const struct fabric *fabric, const struct sim_flow *f)
{
	return fabric->setup.ports[fabric->setup.nodes[f->source].first_port + 1].origin;
}

static enum hd_status label_flow(struct labelling *l, struct sim_flow *f)
{
	const struct scn_traffic *t = &l->fabric->scenario->traffic[l->row];
	struct label own = { .from = TOPO_NONE };
	port_id from = source_of(l->fabric, f);

	for (uint32_t i = 0; i < f->to.n; i++) {
		if (i == f->to.self)
			continue;
		port_id to = port_of(l->fabric, from, &f->to.list[i]);
		const struct label at = { from, to, path_label(l->fabric, t, from, to),
					  shared_key(l->fabric, t->partition, from, to) };

		if (own.from == TOPO_NONE)
			own = at;
		if (l->first.from == TOPO_NONE)
			l->first = at;
		if (at.sl != l->first.sl)
			return refuse_mixture(l, &l->first, &at);
		if (at.key != own.key)
			return refuse_mixture(l, &own, &at);
	}
	if (own.from != TOPO_NONE)
		f->pkey = own_key(l->fabric, from, own.key);
	return HD_OK;
}

/* Whether the label of a packet depends on its source and destination. */
static bool knows_ends(const struct scenario *s)
{
	return s->policy ? policy_knows_ends(s->policy) : s->partitions->n > 1;
}

enum hd_status fabric_label_row(struct fabric *fabric, uint32_t row, uint32_t first, struct diag *d)
{
	struct scn_traffic *t = &fabric->scenario->traffic[row];
	struct labelling l = { fabric, row, d, { .from = TOPO_NONE } };
	enum hd_status status = HD_OK;

	if (!scenario_is_labelled(fabric->scenario, t) || t->kind == SIM_TRACE ||
	    first == fabric->n_flows)
		return HD_OK;
	uint32_t n = knows_ends(fabric->scenario) ? fabric->n_flows : first + 1;

	for (uint32_t i = first; i < n && status == HD_OK; i++)
		status = label_flow(&l, &fabric->flows[i]);
	if (status != HD_OK || l.first.from == TOPO_NONE)
		return status;
	t->sl = l.first.sl;
	for (uint32_t i = first; i < fabric->n_flows; i++) {
		fabric->flows[i].sl = l.first.sl;
		fabric->flows[i].tclass = fabric_tclass(t, l.first.sl);
	}
	return HD_OK;
}

void fabric_label_group(struct fabric *fabric, uint32_t row)
{
	struct scn_traffic *t = &fabric->scenario->traffic[row];

	if (scenario_is_labelled(fabric->scenario, t) && t->pattern == SCN_GROUP)
		t->sl = partition_sl(fabric,
				     shared_key(fabric, t->partition, TOPO_NONE, TOPO_NONE));
}
