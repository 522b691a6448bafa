/* SPDX-License-Identifier: BSD-2-Clause */
/* What becomes of a packet that comes to a switch: A1, A2, A3, T12, T11r. */
#include <assert.h>

#include "state.h"

#define PKEY_BASE 0x7fffu

static bool key_is_let_pass(const struct pkey_table *t, uint16_t key)
{
	for (unsigned i = 0; i < t->n; i++) {
		bool same = ((t->keys[i] ^ key) & PKEY_BASE) == 0;

		if (same && ((t->keys[i] | key) & PKEY_FULL))
			return true;
	}
	return false;
}

/* The senders' keys, limited members included. */
static bool key_is_named(const struct pkey_table *t, uint16_t key)
{
	unsigned i = 0;

	while (i < t->n && ((t->keys[i] ^ key) & PKEY_BASE) != 0)
		i++;
	return i < t->n;
}

bool is_foreign(const struct oracle *o, uint32_t port, const struct packet *packet)
{
	const struct pkey_table *keys = keys_now(o, port);

	if (o->mutation == MUT_END_TAKES_ANY_KEY)
		return false;
	if (packet->as.management && o->mutation != MUT_END_ASKS_VL15)
		return false;
	if (!keys->enforce_in && o->mutation != MUT_END_ALWAYS_ASKS)
		return false;
	if (o->mutation == MUT_END_TAKES_AS_INPUT)
		return !key_is_named(keys, packet->as.pkey);
	return !key_is_let_pass(keys, packet->as.pkey);
}

bool enters_partition(const struct oracle *o, uint32_t in, const struct packet *packet)
{
	const struct pkey_table *keys = keys_now(o, in);

	if (o->mutation == MUT_ROUTER_TAKES_AS_OUTPUT && node_of(o, in)->kind == SIM_ROUTER)
		return !keys->enforce_in || key_is_let_pass(keys, packet->as.pkey);
	return !keys->enforce_in || key_is_named(keys, packet->as.pkey);
}

bool leaves_partition(const struct oracle *o, uint32_t out, const struct packet *packet)
{
	const struct pkey_table *keys = keys_now(o, out);

	return !keys->enforce_out || key_is_let_pass(keys, packet->as.pkey);
}

void refuse_entry(struct oracle *o, const struct packet *packet, uint32_t in)
{
	o->out->counters[in].rcv_constraint_errors++;
	record_end(o, packet, in, SIM_LOST_PARTITION);
}

void refuse_exit(struct oracle *o, const struct packet *packet, uint32_t out)
{
	o->out->counters[out].xmit_constraint_errors++;
	record_end(o, packet, out, SIM_LOST_PARTITION);
}

/* T11r: the last change of this entry that is in force at `when`, or NULL. */
static const struct sim_route_change *change_of(const struct oracle *o, uint32_t node, lid_t lid,
						hd_time when)
{
	const struct sim_setup *s = o->setup;
	const struct sim_route_change *last = NULL;

	for (uint32_t i = 0; i < s->n_routes; i++) {
		const struct sim_route_change *c = &s->routes[i];
		if (c->time > when)
			break;
		if (c->node == node && c->lid == lid)
			last = c;
	}
	return last;
}

static uint8_t output_of(const struct oracle *o, uint32_t node, lid_t lid, hd_time when)
{
	const struct sim_route_change *c = change_of(o, node, lid, when);

	if (c && o->mutation != MUT_ROUTES_STAY)
		return c->port;
	return lft_get(o->setup->subnet, o->setup->nodes[node].sw, lid);
}

uint8_t lft_now(const struct oracle *o, uint32_t node, lid_t lid)
{
	return output_of(o, node, lid, o->now);
}

static const uint64_t *set_of(const struct oracle *o, uint32_t in, lid_t lid, hd_time when)
{
	const struct sim_setup *s = o->setup;
	uint32_t node = (uint32_t)(node_of(o, in) - s->nodes);
	const struct sim_route_change *c = change_of(o, node, lid, when);
	uint16_t subnet_no =
		is_results_input(o, in) ? 0 : s->subnet->topo->ports[s->ports[in].origin].subnet;

	if (c && o->mutation != MUT_GROUPS_STAY)
		return c->ports;
	return mft_get(&s->subnet->mft[subnet_no], s->nodes[node].sw, s->subnet->n_switches, lid);
}

/*
 * The outputs that the forwarding tables name for what arrives now, as port
 * numbers; how many.
 */
static uint32_t outputs_of(const struct oracle *o, uint32_t in, const struct packet *packet,
			   uint32_t *outs)
{
	const struct sim_setup *s = o->setup;
	const struct sim_node *n = node_of(o, in);
	const uint64_t *set;
	uint32_t n_outs = 0;
	hd_time when = o->now;

	/* Where the packet is sent, the time of arrival is not known yet. */
	if (o->mutation == MUT_ROUTED_BEFORE_ARRIVAL && !is_results_input(o, in))
		when -= s->ports[in].propagation;
	if (packet->as.dlid < LID_FIRST_MCAST) {
		uint8_t out = output_of(o, s->ports[in].node, packet->as.dlid, when);

		if (out == LFT_NO_PORT || out > n->n_ports ||
		    s->ports[n->first_port + out].peer == SIM_NONE)
			return 0;
		outs[0] = out;
		return 1;
	}
	set = set_of(o, in, packet->as.dlid, when);
	for (uint32_t out = 0; set && out <= n->n_ports; out++) {
		bool back = n->first_port + out == in && o->mutation != MUT_MULTICAST_GOES_BACK;

		if (!(set[out / 64] >> (out % 64) & 1) || back ||
		    s->ports[n->first_port + out].peer == SIM_NONE)
			continue;
		assert(n_outs < MAX_COPIES);
		outs[n_outs++] = out;
	}
	return n_outs;
}

/* S4: results have the VLs of what comes by port 0. */
static uint32_t vl_input(const struct oracle *o, uint32_t in)
{
	if (!is_results_input(o, in))
		return input_number(o, in);
	return o->mutation == MUT_RESULTS_BY_PORT_1 ? 1 : 0;
}

/* T11l: by the VLs of which instant, of what arrives now. */
static hd_time vls_asked(const struct oracle *o, uint32_t in)
{
	if (o->mutation == MUT_VLS_BEFORE_ARRIVAL && !is_results_input(o, in))
		return o->now - o->setup->ports[in].propagation;
	return o->now;
}

static void copy_make(struct oracle *o, uint32_t in, struct slot *slot, uint32_t out_number)
{
	const struct sim_node *n = node_of(o, in);
	uint32_t out = n->first_port + out_number;
	const struct packet *packet = slot->packet;
	hd_time when = vls_asked(o, in);
	uint8_t vl = VL_MANAGEMENT;

	if (slot->vl != VL_MANAGEMENT) {
		if (!leaves_partition(o, out, packet)) {
			refuse_exit(o, packet, out);
			return;
		}
		vl = sl2vl_at(vl_tables_at(o, when), n->sw, vl_input(o, in), out_number)
			     ->vl[packet->as.sl];
		if (vl >= vls_at(o, out, when)) {
			o->out->counters[out].xmit_discards++;
			record_end(o, packet, out, SIM_LOST_DISCARD);
			return;
		}
	}
	struct copy *copy = &slot->copies[slot->n_copies++];

	*copy = (struct copy){
		.packet = packet,
		.out = out,
		.vl = vl,
		.d_out = duration_on(o, out, packet->as.bytes),
		.first = NEVER,
		.left = NEVER,
	};
	copy->waiter = waiter_add(o, in, slot, copy);
}

void route_by(struct oracle *o, uint32_t in, struct slot *slot, unsigned out)
{
	copy_make(o, in, slot, out);
	slot->dropped = slot->n_copies == 0;
}

void route_group(struct oracle *o, uint32_t in, struct slot *slot)
{
	uint32_t outs[MAX_COPIES];
	uint32_t n_outs = outputs_of(o, in, slot->packet, outs);

	for (uint32_t i = 0; i < n_outs; i++)
		copy_make(o, in, slot, outs[i]);
	slot->dropped = slot->n_copies == 0;
}

void route_packet(struct oracle *o, uint32_t in, struct slot *slot)
{
	const struct sim_setup *s = o->setup;
	uint32_t outs[MAX_COPIES];
	uint32_t n_outs;

	slot->dropped = true; /* unless a copy is made */
	if (slot->vl != VL_MANAGEMENT && !enters_partition(o, in, slot->packet)) {
		refuse_entry(o, slot->packet, in);
		return;
	}
	if (slot->packet->kind == SIM_CONTRIBUTION) {
		if (contribution_take(o, in, slot))
			return;
		o->out->counters[in].rcv_relay_errors++;
		record_end(o, slot->packet, in, SIM_LOST_NO_ROUTE);
		return;
	}
	o->stats->rerouted +=
		change_of(o, s->ports[in].node, slot->packet->as.dlid, o->now) != NULL;
	if (choice_is_open(o, in, slot)) {
		slot->dropped = false;
		return;
	}
	n_outs = outputs_of(o, in, slot->packet, outs);
	if (n_outs == 0) {
		o->out->counters[in].rcv_relay_errors++;
		record_end(o, slot->packet, in, SIM_LOST_NO_ROUTE);
		return;
	}
	for (uint32_t i = 0; i < n_outs; i++)
		copy_make(o, in, slot, outs[i]);
	slot->dropped = slot->n_copies == 0;
	if (slot->n_copies > 1)
		o->stats->multicast += slot->n_copies - 1;
}
