/* SPDX-License-Identifier: BSD-2-Clause */
/* A scenario as text: all that a reader needs to follow a run by hand. */
#include <inttypes.h>

#include "random.h"
#include "subnet/routing/adaptive.h"

static const char *const fault_names[] = { "link down", "link up", "sink stuck", "sink free" };

static const char *const node_names[] = {
	[SIM_END] = "end", [SIM_SWITCH] = "switch", [SIM_ROUTER] = "router"
};

static void model_print(const struct scenario *s, FILE *to)
{
	const struct sim_setup *t = &s->fabric.setup;

	fprintf(to, "tick %" PRIu64 " ps, horizon %" PRIu64 " ps\n", s->tick, s->horizon);
	fprintf(to,
		"switches: %s, %s, pick %s, readers %u, speedup %" PRIu64 "/%" PRIu64 ", r %" PRIu64
		" ps, a %" PRIu64 " ps\n",
		t->sw.queueing == SIM_CIOQ ? "cioq" : "input-queued",
		t->sw.order == SIM_FIFO ? "fifo" : "voq",
		t->sw.pick == SIM_OLDEST ? "oldest" : "round robin", t->sw.readers,
		t->sw.speedup.num, t->sw.speedup.den, t->sw.routing, t->sw.arbitration);
	fprintf(to, "arbiter %s, credits %s, seed 0x%" PRIx64 "\n",
		t->arbiter == SIM_STRICT ? "strict" : "by tables",
		t->credits == SIM_CREDITS_EXACT ? "exact" : "delay", t->seed);
}

static void keys_print(const struct pkey_table *t, FILE *to)
{
	if (!t->enforce_in && !t->enforce_out)
		return;
	fprintf(to, " P_Keys %s%s", t->enforce_in ? "in" : "", t->enforce_out ? "out" : "");
	for (unsigned i = 0; i < t->n; i++)
		fprintf(to, " 0x%04x", t->keys[i]);
}

static void port_print(const struct scenario *s, uint32_t port, FILE *to)
{
	const struct sim_setup *t = &s->fabric.setup;
	const struct sim_port *p = &t->ports[port];
	const struct sim_node *n = &t->nodes[p->node];

	if (p->peer == SIM_NONE)
		return;
	fprintf(to,
		"port %u (%s %u number %u) to port %u: D(%u B) %" PRIu64 " ps, D(6 B) %" PRIu64
		" ps, D(64 KiB) %" PRIu64 " ps, P %" PRIu64
		" ps, blocks in %u out %u VL15 %u, %u VLs, VLArb %u",
		port, node_names[n->kind], p->node, port - n->first_port, p->peer, s->sizes[0],
		hd_rate_duration(p->rate, s->sizes[0]), hd_rate_duration(p->rate, 6),
		hd_rate_duration(p->rate, 65536), p->propagation, p->in_blocks, p->out_blocks,
		p->vl15_blocks, p->vls, s->fabric.subnet.vlarb_of_port[p->origin]);
	if (n->kind != SIM_SWITCH)
		fprintf(to, ", subnet %u, LID %u, SL2VL %u", s->fabric.topo.ports[p->origin].subnet,
			s->fabric.subnet.lid_of_port[p->origin],
			s->fabric.subnet.sl2vl_of_port[p->origin]);
	if (p->ber > 0)
		fprintf(to, ", BER %.17g", p->ber);
	if (p->update_loss > 0)
		fprintf(to, ", loses updates %.17g", p->update_loss);
	if (p->hoq_life > 0)
		fprintf(to, ", HOQ life %" PRIu64 " ps", p->hoq_life);
	if (n->kind != SIM_END || s->fabric.subnet.pkeys[p->origin].enforce_in)
		keys_print(&s->fabric.subnet.pkeys[p->origin], to);
	fputc('\n', to);
}

static void pairs_of_ports_print(const struct subnet *n, switch_id w, FILE *to)
{
	unsigned side = n->topo->nodes[n->node_of_switch[w]].n_ports + 1u;

	fprintf(to, "  SL2VL (in>out:table)");
	for (unsigned i = 0; i < side * side; i++)
		if (n->sl2vl_of_pair[w][i] > 0)
			fprintf(to, " %u>%u:%u", i / side, i % side, n->sl2vl_of_pair[w][i]);
	fprintf(to, " others:0\n");
}

static void forwarding_print(const struct scenario *s, switch_id w, FILE *to)
{
	const struct subnet *n = &s->fabric.subnet;

	fprintf(to, "switch %u LFT (LID:port)", n->node_of_switch[w]);
	for (lid_t lid = 1; lid < n->lft_stride; lid++)
		if (lft_get(n, w, lid) != LFT_NO_PORT)
			fprintf(to, " %u:%u", lid, lft_get(n, w, lid));
	for (uint32_t g = 0; g < s->n_groups; g++)
		fprintf(to, " 0x%x:{0x%" PRIx64 "}", LID_FIRST_MCAST + g,
			*mft_get(n->mft, w, n->n_switches, (lid_t)(LID_FIRST_MCAST + g)));
	fputc('\n', to);
	pairs_of_ports_print(n, w, to);
}

static void entries_print(const char *name, const struct vlarb_entry *e, unsigned n, FILE *to)
{
	fprintf(to, " %s", name);
	for (unsigned i = 0; i < n; i++)
		fprintf(to, " %u:%u", e[i].vl, e[i].weight);
}

static void sl2vl_print(const struct subnet *n, FILE *to)
{
	for (uint32_t i = 0; i < n->n_sl2vl_tables; i++) {
		fprintf(to, "SL2VL %u:", i);
		for (unsigned sl = 0; sl < N_SLS; sl++)
			fprintf(to, " %u", n->sl2vl_tables[i].vl[sl]);
		fputc('\n', to);
	}
}

/* T11l */
static void vl_changes_print(const struct scenario *s, FILE *to)
{
	const struct sim_setup *t = &s->fabric.setup;

	for (uint32_t i = 0; i < t->n_paths; i++) {
		const struct subnet *n = t->paths[i].subnet;

		fprintf(to, "change at %" PRIu64 " ps: VLs, partitions\n", t->paths[i].time);
		sl2vl_print(n, to);
		for (switch_id w = 0; w < n->n_switches; w++) {
			fprintf(to, "switch %u", n->node_of_switch[w]);
			pairs_of_ports_print(n, w, to);
		}
		for (uint32_t p = 0; p < t->n_ports; p++) {
			port_id at = t->ports[p].origin;

			if (t->ports[p].peer == SIM_NONE)
				continue;
			fprintf(to, "port %u: %u VLs, SL2VL %u", p, n->vls_of_port[at],
				n->sl2vl_of_port[at]);
			keys_print(&n->pkeys[at], to);
			fputc('\n', to);
		}
	}
}

static void tables_print(const struct scenario *s, FILE *to)
{
	const struct subnet *n = &s->fabric.subnet;

	sl2vl_print(n, to);
	for (uint32_t i = 0; i < n->n_vlarb_tables; i++) {
		const struct vlarb *t = &n->vlarb_tables[i];

		fprintf(to, "VLArb %u: limit %u", i, t->high_limit);
		entries_print("high", t->high, t->n_high, to);
		entries_print("low", t->low, t->n_low, to);
		fputc('\n', to);
	}
}

static void reroutes_print(const struct scenario *s, FILE *to)
{
	const struct sim_setup *t = &s->fabric.setup;

	for (uint32_t i = 0; i < t->n_routes; i++) {
		const struct sim_route_change *c = &t->routes[i];

		fprintf(to, "change at %" PRIu64 " ps: switch %u, LID 0x%x ", c->time, c->node,
			c->lid);
		if (c->ports)
			fprintf(to, "to {0x%" PRIx64 "}\n", *c->ports);
		else
			fprintf(to, "to port %u\n", c->port);
	}
}

static void changes_print(const struct scenario *s, FILE *to)
{
	const struct sim_setup *t = &s->fabric.setup;

	for (uint32_t i = 0; i < t->n_changes; i++) {
		const struct sim_table_change *c = &t->changes[i];

		fprintf(to, "change at %" PRIu64 " ps: port %u, VLArb %u\n", c->time, c->port,
			c->table);
	}
}

/* Where a packet to another subnet goes, and what SL each makes of it. */
static void global_print(const struct scenario *s, const struct sim_arrival *a, FILE *to)
{
	const struct sim_setup *t = &s->fabric.setup;

	fprintf(to, ", to port %u of the topology, TClass %u, hop limit %u", a->target, a->tclass,
		a->hop_limit);
	if (t->tclass_of_sl) {
		fprintf(to, ", mark by subnet");
		for (uint32_t i = 0; i < s->fabric.subnet.n_subnets; i++)
			fprintf(to, " %u", t->tclass_of_sl[i][a->sl]);
	}
	if (!t->sl_of_tclass)
		return;
	fprintf(to, ", SL by subnet");
	for (uint32_t i = 0; i < s->fabric.subnet.n_subnets; i++)
		fprintf(to, " %u", t->sl_of_tclass[i][a->tclass]);
}

static void config_print(const struct cc_config *k, FILE *to)
{
	fprintf(to,
		" rmin %.17g rmax %.17g m %g add %.17g cap %d, CCTI min %u limit %u increase %u timer %u, CCT 0x%x 0x%x 0x%x ...\n",
		k->rmin, k->rmax, k->m, k->add, k->cap_first_increase, k->ccti_min, k->ccti_limit,
		k->ccti_increase, k->ccti_timer, k->cct[0], k->cct[1], k->cct[2]);
}

static void throttle_print(const struct sim_control *c, uint32_t i, FILE *to)
{
	const struct sim_throttle *t = &c->throttles[i];

	fprintf(to, "throttle %u: sender %u of end node %u, flows", i, t->sender, t->node);
	for (uint32_t f = 0; f < c->n_flows; f++)
		if (c->throttle_of_flow[f] == i)
			fprintf(to, " %u", f);
	if (!t->algorithm) {
		fprintf(to, ", no algorithm\n");
		return;
	}
	fprintf(to, ", %s:", t->algorithm->name);
	config_print(&t->config, to);
}

static void marking_print(const struct mark_config *m, FILE *to)
{
	static const char *const rules[] = {
		[MARK_NONE] = "none",
		[MARK_TWO_COUNTER] = "two-counter",
		[MARK_THRESHOLD] = "threshold",
		[MARK_IBA] = "iba",
	};

	fprintf(to,
		"marking %s, guard %d, depth %u, threshold %u, victims %d, at least %u B, every %u",
		rules[m->rule], m->guard, m->depth, m->threshold, m->mark_victims, m->min_bytes,
		m->mark_every);
}

/* C9 */
static void settings_print(const struct sim_setup *t, FILE *to)
{
	for (uint32_t i = 0; i < t->n_settings; i++) {
		const struct sim_control_change *c = &t->settings[i];

		fprintf(to, "change at %" PRIu64 " ps: ", c->time);
		marking_print(&c->marking, to);
		fputc('\n', to);
		for (uint32_t k = 0; k < t->control->n_throttles; k++) {
			fprintf(to, "throttle %u:", k);
			config_print(&c->configs[k], to);
		}
	}
}

static void control_print(const struct sim_control *c, FILE *to)
{
	if (!c)
		return;
	fprintf(to, "control: ");
	marking_print(&c->marking, to);
	fprintf(to,
		"; echo in %s, gap %s, window %u, ack delay %" PRIu64 " ps, timeout %" PRIu64
		" ps\n",
		c->echo == SIM_ECHO_CNP ? "CNPs" : "ACKs", c->fixed_gap ? "fixed" : "by the rate",
		c->window, c->ack_delay, c->timeout);
	for (uint32_t i = 0; i < c->n_throttles; i++)
		throttle_print(c, i, to);
}

static void set_print(const struct adaptive *a, switch_id at, uint16_t group, FILE *to)
{
	if (group == ADAPTIVE_NO_GROUP)
		fputs("{}", to);
	else
		fprintf(to, "{0x%" PRIx64 "}", a->groups[at][group].bits[0]);
}

/* D7: of an end and of the group, both sets of each. */
static void ways_print(const struct sim_setup *t, switch_id at, FILE *to)
{
	static const char *const kinds[] = { "end", "group", "beyond" };
	const struct adaptive *a = t->subnet->adaptive;
	const struct sim_node *n = &t->nodes[at];

	fprintf(to, "inputs of switch %u:", at);
	for (uint32_t i = 0; i <= n->n_ports; i++)
		fprintf(to, " %u %s", i,
			kinds[a->detours->way_in[t->ports[n->first_port + i].origin]]);
	fprintf(to, "; around:");
	for (switch_id target = 0; target < a->n; target++) {
		size_t i = (size_t)at * a->n + target;

		fprintf(to, " %u:", target);
		set_print(a, at, a->detours->around[FROM_END][i], to);
		set_print(a, at, a->detours->straight[i], to);
		set_print(a, at, a->detours->around[FROM_GROUP][i], to);
	}
	fputc('\n', to);
}

static void groups_print(const struct adaptive *a, switch_id at, FILE *to)
{
	fprintf(to, "groups of switch %u (target:ports)", at);
	for (switch_id target = 0; target < a->n; target++) {
		const struct port_set *set = adaptive_group(a, at, target);

		if (set)
			fprintf(to, " %u:{0x%" PRIx64 "}", target, set->bits[0]);
	}
	fputc('\n', to);
}

static void choices_print(const struct sim_setup *t, FILE *to)
{
	static const char *const choices[] = {
		[SIM_AR_LOAD] = "load", [SIM_AR_RANDOM] = "random", [SIM_AR_TURNS] = "turns"
	};
	static const char *const units[] = {
		[SIM_AR_PACKET] = "packet", [SIM_AR_FLOW] = "flow", [SIM_AR_FLOWLET] = "flowlet"
	};
	const struct sim_adaptive *a = t->adaptive;

	if (!a)
		return;
	fprintf(to,
		"switches choose by %s per %s, threshold %u, hysteresis %u, gap %" PRIu64
		" ps, heal %" PRIu64 " ps, notify %" PRIu64 " ps, around %u, SLs 0x%x\n",
		choices[a->choice], units[a->per], a->threshold, a->hysteresis, a->gap, a->heal,
		a->notify, a->around, t->subnet->adaptive->sls);
	for (switch_id w = 0; w < t->subnet->n_switches; w++) {
		groups_print(t->subnet->adaptive, w, to);
		if (t->subnet->adaptive->detours)
			ways_print(t, w, to);
	}
}

static void asks_print(const struct scenario *s, FILE *to)
{
	for (uint32_t i = 0; i < s->asks.n; i++) {
		const struct oracle_ask *a = &s->asks.list[i];

		fprintf(to,
			"flow %u asks for %" PRIu64 " bit/s at %" PRIu64
			" ps, packets each %" PRIu64 " ps, stops at %" PRIu64 " ps\n",
			a->flow, s->reserve[a->flow], a->start, a->gap, a->stop);
	}
	for (unsigned sl = 0; s->asks.n > 0 && sl < N_SLS; sl++)
		if (s->control->sl_share[sl] > 0)
			fprintf(to, "SL %u may be promised %g\n", sl, s->control->sl_share[sl]);
}

static void pairs_print(const struct scenario *s, FILE *to)
{
	static const char *const names[] = {
		[ORACLE_RC] = "RC",
		[ORACLE_UC] = "UC",
		[ORACLE_UD] = "UD",
	};

	for (uint32_t i = 0; i < s->pairs.n; i++) {
		const struct oracle_pair *p = &s->pairs.list[i];

		fprintf(to,
			"queue pair of flow %u: %s, end node %u to %u (LID %u), SL %u, messages of %u B, MTU %u, timeout %u\n",
			p->flow, names[p->transport], p->from, p->to, p->dlid, p->sl, p->length,
			s->pairs.mtu, p->timeout);
	}
}

static void early_print(const struct scenario *s, FILE *to)
{
	if (s->pairs.out_of_order > 0)
		fprintf(to, "queue pairs keep %u requests before their turn\n",
			s->pairs.out_of_order);
}

static void paces_print(const struct scenario *s, FILE *to)
{
	const struct oracle_pairs *p = &s->pairs;

	if (p->n == 0 || !p->algorithm)
		return;
	fprintf(to,
		"queue pairs answer: %s%s, rmin %.17g rmax %.17g m %g cap %d, CCTI min %u limit %u increase %u timer %u, CCT 0x%x 0x%x ..., not on SLs 0x%x\n",
		p->algorithm->name, p->per_sl ? " per SL" : "", p->config.rmin, p->config.rmax,
		p->config.m, p->config.cap_first_increase, p->config.ccti_min, p->config.ccti_limit,
		p->config.ccti_increase, p->config.ccti_timer, p->config.cct[0], p->config.cct[1],
		p->free_sls);
}

static bool is_posted(const struct scenario *s, uint32_t flow)
{
	for (uint32_t i = 0; i < s->pairs.n; i++)
		if (s->pairs.list[i].flow == flow)
			return true;
	return false;
}

static void nodes_print(const char *what, const uint32_t *nodes, uint32_t n, FILE *to)
{
	fprintf(to, " %s", what);
	for (uint32_t i = 0; i < n; i++)
		fprintf(to, " %u", nodes[i]);
}

static void jobs_print(const struct scenario *s, FILE *to)
{
	for (uint32_t i = 0; i < s->jobs.n; i++) {
		const struct oracle_job *j = &s->jobs.list[i];
		struct strbuf text = STRBUF_INIT;

		fprintf(to,
			"job %u%s: MTU %u, payload %u, SL %u, start %" PRIu64
			" ps, repeat %u, overhead %" PRIu64 ", per byte %" PRIu64 ", gap %" PRIu64
			", eager %" PRIu64 ",",
			i, j->rc ? " (rc)" : "", s->jobs.mtu, s->jobs.payload, j->sl, j->start,
			j->repeat, j->overhead, j->per_byte, j->gap, j->eager);
		nodes_print("ranks at nodes", j->nodes, j->n_ranks, to);
		nodes_print("servers at", j->servers, j->n_servers, to);
		if (j->graphs)
			job_write_goal(j, &text);
		else
			job_write_program(j, "servers", &text);
		fprintf(to, "\n%s\n", text.text);
		strbuf_fini(&text);
	}
}

static void mads_print(const struct scenario *s, FILE *to)
{
	for (uint32_t i = 0; i < s->mads.n; i++) {
		const struct oracle_mad *m = &s->mads.list[i];

		if (m->time == HD_TIME_NEVER)
			fprintf(to, "answer %u", i);
		else
			fprintf(to, "at %" PRIu64 " ps datagram %u", m->time, i);
		fprintf(to,
			": flow %u, node %u, %u B, SL %u%s, served %" PRIu64 " ps, answer %d, by",
			m->flow, m->from, m->bytes, m->sl, m->management ? ", VL15" : "", m->serves,
			m->answer);
		for (uint32_t k = 0; k < m->n; k++)
			fprintf(to, " port %u VL %u", m->route[k].out, m->route[k].vl);
		fputc('\n', to);
	}
}

void scenario_print(const struct scenario *s, FILE *to)
{
	const struct sim_setup *t = &s->fabric.setup;

	fprintf(to, "scenario drawn from seed 0x%" PRIx64 "\n", s->seed);
	model_print(s, to);
	for (uint32_t i = 0; i < t->n_ports; i++)
		port_print(s, i, to);
	for (switch_id w = 0; w < s->fabric.subnet.n_switches; w++)
		forwarding_print(s, w, to);
	tables_print(s, to);
	for (uint32_t i = 0; i < t->n_faults; i++)
		fprintf(to, "fault at %" PRIu64 " ps: %s, port %u\n", t->faults[i].time,
			fault_names[t->faults[i].kind], t->faults[i].port);
	changes_print(s, to);
	reroutes_print(s, to);
	vl_changes_print(s, to);
	control_print(t->control, to);
	settings_print(t, to);
	choices_print(t, to);
	asks_print(s, to);
	pairs_print(s, to);
	early_print(s, to);
	paces_print(s, to);
	jobs_print(s, to);
	mads_print(s, to);
	for (size_t i = 0; i < s->n_arrivals; i++) {
		const struct sim_arrival *a = &s->arrivals[i];

		fprintf(to,
			"arrival at %" PRIu64
			" ps: flow %u sequence %u, end node %u to LID 0x%x, %u B, SL %u, P_Key 0x%04x%s",
			a->time, a->flow, a->sequence, a->source, a->dlid, a->bytes, a->sl, a->pkey,
			a->management ? ", VL15" : "");
		if (is_posted(s, a->flow))
			fprintf(to, ", a message");
		if (a->flow < 64 && s->saturating >> a->flow & 1)
			fprintf(to, ", saturating");
		if (a->sender)
			fprintf(to, ", sender %u", a->sender);
		if (a->global)
			global_print(s, a, to);
		fputc('\n', to);
	}
}
