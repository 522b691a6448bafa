/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "mgmt/agents/agents_internal.h"
#include "wire/cursor.h"

/*
 * Both ends of a link change state together. A link trains when its cable is plugged and both ends
 * poll; it is then in Initialize, and the subnet manager arms and activates each end.
 */

static bool is_polling(const struct agents *a, port_id p)
{
	return info_get(a, a->ports[p].info, PORT_PHYSICAL) == PHYSICAL_POLLING;
}

/* The greatest power of two in both sets; 0 if the sets are disjoint. */
static uint64_t best_common(uint64_t a, uint64_t b)
{
	uint64_t both = a & b, best = 0;

	for (uint64_t bit = 1; bit <= both; bit <<= 1)
		if (both & bit)
			best = bit;
	return best;
}

/* Width 2x has the highest bit but is wider than 1x only. */
static uint64_t widest_common(uint64_t a, uint64_t b)
{
	uint64_t best = best_common(a & ~(uint64_t)WIDTH_2X, b);

	if (best <= WIDTH_1X && (a & b & WIDTH_2X))
		best = WIDTH_2X;
	return best;
}

static uint64_t common(const struct agents *a, port_id p, port_id q, enum port_field f)
{
	const uint8_t *one = a->ports[p].info, *other = a->ports[q].info;

	return f == PORT_WIDTHS_ENABLED ? widest_common(info_get(a, one, f), info_get(a, other, f))
					: best_common(info_get(a, one, f), info_get(a, other, f));
}

static unsigned highest_bit(uint64_t bits)
{
	unsigned i = 0;

	while (bits >> i > 1)
		i++;
	return i;
}

void agents_link(const struct agents *a, port_id port, unsigned *lanes, enum link_speed *speed)
{
	/* By bit of LinkWidth; 2x was added after 12x. */
	static const unsigned widths[] = { 1, 4, 8, 12, 2 };
	const uint8_t *info = a->ports[port].info;
	uint64_t extended = info_get(a, info, PORT_EXT_SPEED);
	unsigned bit = highest_bit(info_get(a, info, PORT_WIDTH));

	*lanes = widths[bit < 5 ? bit : 0];
	*speed = extended ? SPEED_FDR + highest_bit(extended)
			  : highest_bit(info_get(a, info, PORT_SPEED));
	if (*speed >= SPEED_COUNT)
		*speed = SPEED_SDR;
}

/* True if a width or speed that the port supports is disabled. */
static bool is_limited(const struct agents *a, port_id p)
{
	static const enum port_field sets[][2] = {
		{ PORT_WIDTHS, PORT_WIDTHS_ENABLED },
		{ PORT_SPEEDS, PORT_SPEEDS_ENABLED },
		{ PORT_EXT_SPEEDS, PORT_EXT_SPEEDS_ENABLED },
	};
	const uint8_t *info = a->ports[p].info;

	for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++)
		if (info_get(a, info, sets[i][0]) != info_get(a, info, sets[i][1]))
			return true;
	return false;
}

bool agents_link_is_limited(const struct agents *a, port_id p)
{
	port_id peer = a->topo->ports[p].peer;

	return is_limited(a, p) || (peer != TOPO_NONE && is_limited(a, peer));
}

/* A switch sets PortStateChange and raises trap 128. */
static void report_state_change(struct agents *a, port_id p, hd_time now)
{
	const struct topo_node *n = topo_node_of(a->topo, p);
	uint8_t lid[2];

	if (n->kind != NODE_SWITCH)
		return;
	field_set(&a->switch_fields[SWITCH_STATE_CHANGE],
		  a->nodes[a->topo->ports[p].node].switch_info, 1);
	store_be16(lid, (uint16_t)info_get(a, a->ports[n->first_port].info, PORT_LID));
	agents_notice_raise(a, n->first_port, 128, lid, sizeof(lid), now);
}

static void end_down(struct agents *a, port_id p, hd_time now)
{
	uint8_t *info = a->ports[p].info;

	if (info_get(a, info, PORT_STATE) == LINK_DOWN)
		return;
	info_set(a, info, PORT_STATE, LINK_DOWN);
	info_set(a, info, PORT_PHYSICAL, info_get(a, info, PORT_DOWN_DEFAULT));
	agents_counter_add(a, p, COUNT_LINK_DOWNED, 1);
	report_state_change(a, p, now);
}

void agents_link_down(struct agents *a, port_id p, hd_time now)
{
	port_id peer = a->topo->ports[p].peer;

	end_down(a, p, now);
	if (peer != TOPO_NONE)
		end_down(a, peer, now);
}

static void end_up(struct agents *a, port_id p, port_id peer, uint64_t width, uint64_t speed,
		   uint64_t extended)
{
	uint8_t *info = a->ports[p].info;
	uint64_t mtu = info_get(a, a->ports[peer].info, PORT_MTU_CAP);

	info_set(a, info, PORT_WIDTH, width);
	info_set(a, info, PORT_SPEED, speed);
	info_set(a, info, PORT_EXT_SPEED, extended);
	info_set(a, info, PORT_STATE, LINK_INIT);
	info_set(a, info, PORT_PHYSICAL, PHYSICAL_LINK_UP);
	if (mtu < info_get(a, info, PORT_NEIGHBOR_MTU))
		info_set(a, info, PORT_NEIGHBOR_MTU, mtu);
}

void agents_link_up(struct agents *a, port_id p, hd_time now)
{
	port_id peer = a->topo->ports[p].peer;

	if (peer == TOPO_NONE || a->ports[p].unplugged || !is_polling(a, p) || !is_polling(a, peer))
		return;
	uint64_t width = common(a, p, peer, PORT_WIDTHS_ENABLED);
	uint64_t speed = common(a, p, peer, PORT_SPEEDS_ENABLED);
	uint64_t extended = common(a, p, peer, PORT_EXT_SPEEDS_ENABLED);

	if (!width || (!speed && !extended))
		return;
	end_up(a, p, peer, width, speed, extended);
	end_up(a, peer, p, width, speed, extended);
	agents_timed_retrain(a, p);
	report_state_change(a, p, now);
	report_state_change(a, peer, now);
}

void agents_link_retrain(struct agents *a, port_id port, hd_time now)
{
	agents_link_down(a, port, now);
	agents_link_up(a, port, now);
}

void agents_cable_plug(struct agents *a, port_id port, bool plugged, hd_time now)
{
	port_id peer = a->topo->ports[port].peer;

	a->ports[port].unplugged = a->ports[peer].unplugged = !plugged;
	if (plugged)
		agents_link_up(a, port, now);
	else
		agents_link_down(a, port, now);
}
