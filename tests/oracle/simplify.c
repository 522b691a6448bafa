/* SPDX-License-Identifier: BSD-2-Clause */
/* Ways to make a scenario plainer. */
#include <string.h>

#include "random.h"
#include "subnet/routing/adaptive.h"

#define NAME(x) [x] = #x
static const char *const names[PLAIN_COUNT] = {
	NAME(PLAIN_CREDITS),    NAME(PLAIN_QUEUEING), NAME(PLAIN_ORDER),   NAME(PLAIN_PICK),
	NAME(PLAIN_READERS),    NAME(PLAIN_SPEEDUP),  NAME(PLAIN_ARBITER), NAME(PLAIN_DELAYS),
	NAME(PLAIN_LINKS),      NAME(PLAIN_RATES),    NAME(PLAIN_BUFFERS), NAME(PLAIN_TIGHT),
	NAME(PLAIN_VL15),       NAME(PLAIN_VLS),      NAME(PLAIN_TABLES),  NAME(PLAIN_LIMITS),
	NAME(PLAIN_PKEYS),      NAME(PLAIN_ERRORS),   NAME(PLAIN_LOSSES),  NAME(PLAIN_LIVES),
	NAME(PLAIN_TCLASSES),   NAME(PLAIN_MARKS),    NAME(PLAIN_SENDERS), NAME(PLAIN_CONTROL),
	NAME(PLAIN_MARKING),    NAME(PLAIN_RESPONSE), NAME(PLAIN_WINDOW),  NAME(PLAIN_ANSWERS),
	NAME(PLAIN_ECHO),       NAME(PLAIN_GAP),      NAME(PLAIN_TIMEOUT), NAME(PLAIN_ASKS),
	NAME(PLAIN_PACES),      NAME(PLAIN_CHOICE),   NAME(PLAIN_HEAL),    NAME(PLAIN_JOBS),
	NAME(PLAIN_HOSTS),      NAME(PLAIN_GAPS),     NAME(PLAIN_EAGER),   NAME(PLAIN_REPEAT),
	NAME(PLAIN_START),      NAME(PLAIN_LETTERS),  NAME(PLAIN_NOTICES), NAME(PLAIN_PLACES),
	NAME(PLAIN_VL_CHANGES), NAME(PLAIN_SETTINGS), NAME(PLAIN_AROUND),  NAME(PLAIN_MADS),
};

static void ways_around_forget(const struct adaptive *a)
{
	for (size_t i = 0; a && a->detours && i < (size_t)a->n * a->n; i++)
		a->detours->around[FROM_END][i] = a->detours->around[FROM_GROUP][i] =
			ADAPTIVE_NO_GROUP;
}

const char *simplification_name(enum simplification how)
{
	return names[how];
}

static void model_simplify(struct scenario *s, enum simplification how)
{
	struct sim_setup *t = &s->fabric.setup;

	switch (how) {
	case PLAIN_CREDITS:
		t->credits = SIM_CREDITS_DELAY;
		break;
	case PLAIN_QUEUEING:
		t->sw.queueing = SIM_INPUT_QUEUED;
		break;
	case PLAIN_ORDER:
		t->sw.order = SIM_VOQ;
		break;
	case PLAIN_PICK:
		t->sw.pick = SIM_ROUND_ROBIN;
		break;
	case PLAIN_READERS:
		t->sw.readers = 0;
		break;
	case PLAIN_SPEEDUP:
		t->sw.speedup = (struct hd_ratio){ 1, 1 };
		break;
	case PLAIN_ARBITER:
		t->arbiter = SIM_STRICT;
		break;
	case PLAIN_DELAYS:
		t->sw.routing = t->sw.arbitration = 0;
		break;
	case PLAIN_TCLASSES:
		t->sl_of_tclass = NULL;
		break;
	case PLAIN_MARKS:
		t->tclass_of_sl = NULL;
		break;
	case PLAIN_CHOICE:
		t->adaptive = NULL;
		break;
	case PLAIN_VL_CHANGES:
		t->n_paths = 0;
		break;
	case PLAIN_HEAL:
		if (s->choice)
			s->choice->heal = 0;
		break;
	case PLAIN_NOTICES:
		if (s->choice)
			s->choice->notify = 0;
		break;
	case PLAIN_AROUND:
		ways_around_forget(s->fabric.subnet.adaptive);
		break;
	default:
		break;
	}
}

static void subnet_simplify(struct scenario *s, enum simplification how)
{
	struct subnet *n = &s->fabric.subnet;
	struct sim_setup *t = &s->fabric.setup;

	for (port_id p = 0; p < s->fabric.topo.n_ports; p++) {
		if (how == PLAIN_PKEYS)
			n->pkeys[p].enforce_in = n->pkeys[p].enforce_out = false;
		if (how == PLAIN_TABLES)
			n->vlarb_of_port[p] = 0;
		if (how == PLAIN_VLS)
			n->sl2vl_of_port[p] = 0;
	}
	for (switch_id w = 0; how == PLAIN_VLS && w < n->n_switches; w++) {
		size_t side = s->fabric.topo.nodes[n->node_of_switch[w]].n_ports + (size_t)1;

		memset(n->sl2vl_of_pair[w], 0, side * side * sizeof(uint16_t));
	}
	for (uint32_t i = 0; how == PLAIN_TABLES && i < t->n_changes; i++)
		t->changes[i].table = 0;
	if (how == PLAIN_TABLES)
		n->n_vlarb_tables = 1;
	if (how == PLAIN_VLS)
		n->n_sl2vl_tables = 1;
	for (uint32_t i = 0; how == PLAIN_LIMITS && i < n->n_vlarb_tables; i++)
		n->vlarb_tables[i].high_limit = 255;
}

static void port_simplify(const struct scenario *s, struct sim_port *p,
			  const struct sim_port *model, enum simplification how)
{
	switch (how) {
	case PLAIN_LINKS:
		p->propagation = s->tick;
		break;
	case PLAIN_RATES:
		if (!s->pairs.algorithm) /* whose rates follow from it */
			p->rate = model->rate;
		break;
	case PLAIN_BUFFERS:
		p->in_blocks = p->out_blocks = 2048;
		break;
	case PLAIN_TIGHT:
		p->in_blocks = p->out_blocks = (s->sizes[0] + 63) / 64;
		break;
	case PLAIN_VL15:
		p->vl15_blocks = 2048;
		break;
	case PLAIN_ERRORS:
		p->ber = 0;
		break;
	case PLAIN_LOSSES:
		p->update_loss = 0;
		break;
	case PLAIN_LIVES:
		p->hoq_life = 0;
		break;
	default:
		break;
	}
}

static void control_simplify(struct scenario *s, enum simplification how)
{
	struct sim_control *c = s->control;

	switch (how) {
	case PLAIN_ASKS:
		asks_drop(s);
		break;
	case PLAIN_CONTROL:
		asks_drop(s);
		s->fabric.setup.control = NULL;
		s->fabric.setup.n_settings = 0;
		break;
	case PLAIN_SETTINGS:
		s->fabric.setup.n_settings = 0;
		break;
	case PLAIN_MARKING:
		c->marking = (struct mark_config){ .rule = MARK_NONE };
		for (uint32_t i = 0; i < s->fabric.setup.n_settings; i++)
			s->fabric.setup.settings[i].marking = c->marking;
		break;
	case PLAIN_RESPONSE:
		for (uint32_t i = 0; i < c->n_throttles; i++)
			s->throttles[i].algorithm = NULL;
		break;
	case PLAIN_WINDOW:
		c->window = 64;
		break;
	case PLAIN_ANSWERS:
		c->ack_delay = s->d_max;
		break;
	case PLAIN_ECHO:
		c->echo = SIM_ECHO_ACK;
		break;
	case PLAIN_GAP:
		c->fixed_gap = true;
		break;
	case PLAIN_TIMEOUT:
		c->timeout = 0;
		break;
	default:
		break;
	}
}

static void job_simplify(struct oracle_job *j, enum simplification how)
{
	if (how == PLAIN_LETTERS)
		j->rc = false;
	if (how == PLAIN_HOSTS)
		j->overhead = j->per_byte = 0;
	if (how == PLAIN_GAPS)
		j->gap = 0;
	if (how == PLAIN_EAGER)
		j->eager = UINT64_MAX;
	if (how == PLAIN_REPEAT)
		j->repeat = 1;
	if (how == PLAIN_START)
		j->start = 0;
}

void scenario_simplify(struct scenario *s, enum simplification how)
{
	struct sim_setup *t = &s->fabric.setup;
	const struct sim_port *model = NULL;

	for (size_t i = 0; how == PLAIN_SENDERS && i < s->n_arrivals; i++)
		s->arrivals[i].sender = 0;
	if (how == PLAIN_PLACES)
		s->pairs.out_of_order = 0;
	if (how == PLAIN_PACES || how == PLAIN_CONTROL)
		s->pairs.algorithm = NULL;
	if (s->control)
		control_simplify(s, how);
	if (how == PLAIN_MADS)
		s->mads.n = 0;
	if (how == PLAIN_JOBS)
		scenario_drop_jobs(s);
	for (uint32_t i = 0; i < s->jobs.n; i++)
		job_simplify(&s->jobs.list[i], how);
	model_simplify(s, how);
	subnet_simplify(s, how);
	for (uint32_t i = 0; i < t->n_ports; i++) {
		if (t->ports[i].peer == SIM_NONE)
			continue;
		if (!model)
			model = &t->ports[i];
		port_simplify(s, &t->ports[i], model, how);
	}
}

static void cable_unplug(struct sim_setup *t, uint32_t port)
{
	uint32_t peer = t->ports[port].peer;

	t->ports[port].peer = SIM_NONE;
	t->ports[peer].peer = SIM_NONE;
}

static bool has_rank(const struct scenario *s, uint32_t node)
{
	for (uint32_t i = 0; i < s->jobs.n; i++) {
		const struct oracle_job *j = &s->jobs.list[i];

		for (uint32_t r = 0; r < j->n_ranks; r++)
			if (j->nodes[r] == node)
				return true;
		for (uint32_t k = 0; k < j->n_servers; k++)
			if (j->servers[k] == node)
				return true;
	}
	return false;
}

bool scenario_unplug(struct scenario *s, uint32_t end)
{
	struct sim_setup *t = &s->fabric.setup;
	uint32_t port = fabric_end_port(&s->fabric, end);

	if (t->ports[port].peer == SIM_NONE || s->mads.n > 0 ||
	    (end == 0 && s->pairs.algorithm)) /* rates are its link's */
		return false;
	for (size_t i = 0; i < s->n_arrivals; i++)
		if (s->arrivals[i].source == s->fabric.ends[end])
			return false;
	for (uint32_t i = 0; i < s->pairs.n; i++)
		if (s->pairs.list[i].to == s->fabric.ends[end] ||
		    s->pairs.list[i].from == s->fabric.ends[end])
			return false;
	if (has_rank(s, s->fabric.ends[end]) || s->asks.n > 0)
		return false;
	for (uint32_t i = 0; i < t->n_faults; i++)
		if (t->faults[i].port == port || t->faults[i].port == t->ports[port].peer)
			return false;
	for (uint32_t i = 0; i < t->n_changes; i++)
		if (t->changes[i].port == port || t->changes[i].port == t->ports[port].peer)
			return false;
	cable_unplug(t, port);
	return true;
}
