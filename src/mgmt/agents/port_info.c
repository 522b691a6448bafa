/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "base/iba.h"
#include "mgmt/agents/agents_internal.h"
#include "subnet/subnet.h"

/* Fields that a Set changes at any port; zero_keeps: 0 means no change. */
static const struct settable {
	enum port_field field;
	bool zero_keeps;
} settable[] = {
	{ PORT_WIDTHS_ENABLED, true },     { PORT_SPEEDS_ENABLED, true },
	{ PORT_EXT_SPEEDS_ENABLED, true }, { PORT_DOWN_DEFAULT, true },
	{ PORT_NEIGHBOR_MTU, true },       { PORT_OPER_VLS, true },
	{ PORT_INIT_TYPE, false },         { PORT_HIGH_LIMIT, false },
	{ PORT_STALL_COUNT, false },       { PORT_HOQ_LIFE, false },
	{ PORT_ENFORCE_IN, false },        { PORT_ENFORCE_OUT, false },
	{ PORT_FILTER_IN, false },         { PORT_FILTER_OUT, false },
	{ PORT_PHYSICAL_ERRORS, false },   { PORT_OVERRUN_ERRORS, false },
	{ PORT_MKEY_VIOLATIONS, false },   { PORT_PKEY_VIOLATIONS, false },
	{ PORT_QKEY_VIOLATIONS, false },
};

/* Additional fields at ports with a LID. */
static const enum port_field settable_end[] = {
	PORT_MKEY,    PORT_GID_PREFIX, PORT_LID,   PORT_SM_LID,     PORT_LEASE,
	PORT_PROTECT, PORT_LMC,        PORT_SM_SL, PORT_MCAST_TRAP, PORT_SUBNET_TIMEOUT,
};

static const enum switch_field settable_switch[] = {
	SWITCH_LINEAR_TOP,  SWITCH_DEFAULT_PORT, SWITCH_MCAST_PRIMARY,
	SWITCH_MCAST_OTHER, SWITCH_LIFE_TIME,    SWITCH_MCAST_TOP,
};

void agents_fields_init(struct agents *a)
{
	port_fields_find(a->port_fields);
	switch_fields_find(a->switch_fields);
	for (size_t i = 0; i < sizeof(settable) / sizeof(settable[0]); i++)
		info_set(a, a->writable, settable[i].field, UINT64_MAX);
	memcpy(a->writable_end, a->writable, PORT_INFO_SIZE);
	for (size_t i = 0; i < sizeof(settable_end) / sizeof(settable_end[0]); i++)
		info_set(a, a->writable_end, settable_end[i], UINT64_MAX);
	for (size_t i = 0; i < sizeof(settable_switch) / sizeof(settable_switch[0]); i++)
		field_set(&a->switch_fields[settable_switch[i]], a->writable_switch, UINT64_MAX);
}

port_id agents_owner(const struct agents *a, port_id p)
{
	const struct topo_node *n = topo_node_of(a->topo, p);

	return n->kind == NODE_SWITCH ? n->first_port : p;
}

/* ---- initial state */

unsigned agents_data_vls(const struct agents *a, port_id p)
{
	uint64_t code = info_get(a, a->ports[p].info, PORT_OPER_VLS);

	return vls_of_code(code ? code : 1);
}

/* `speeds` is a set of 1 << enum link_speed; returns LinkSpeed's and LinkSpeedExt's bits. */
static unsigned basic_speeds(unsigned speeds)
{
	return speeds & 7;
}

static unsigned extended_speeds(unsigned speeds)
{
	return speeds >> SPEED_FDR & 15;
}

static void init_capabilities(struct agents *a, port_id p, uint8_t *info, unsigned extended)
{
	bool is_switch = topo_node_of(a->topo, p)->kind == NODE_SWITCH;
	uint32_t mask = CAP_TRAP | CAP_SL_MAPPING | CAP_SYSTEM_GUID | CAP_EXTENDED_SPEEDS |
			CAP_MASK2 | CAP_MASK_NOTICE | CAP_LOCAL_NOTICE;

	if (agents_owner(a, p) != p)
		return;
	mask |= is_switch ? CAP_MCAST_TOP : CAP_MIGRATION | CAP_CM | CAP_VENDOR | CAP_REREGISTER;
	info_set(a, info, PORT_CAP_MASK, mask);
	info_set(a, info, PORT_CAP_MASK2,
		 CAP2_WIDTH_2X | (extended & 4 || is_switch ? CAP2_HDR : 0U) |
			 (extended & 8 || is_switch ? CAP2_NDR : 0U));
}

static void init_link(struct agents *a, port_id p, uint8_t *info)
{
	const struct topo_port *tp = &a->topo->ports[p];
	unsigned widths = tp->widths ? tp->widths : WIDTH_1X;
	unsigned speeds = tp->speeds ? tp->speeds : 1U << SPEED_SDR;
	/* Every port supports SDR. */
	unsigned basic = basic_speeds(speeds) | 1;
	unsigned extended = extended_speeds(speeds);

	if (extended)
		basic = 7;
	info_set(a, info, PORT_WIDTHS, widths);
	info_set(a, info, PORT_WIDTHS_ENABLED, widths);
	info_set(a, info, PORT_SPEEDS, basic);
	info_set(a, info, PORT_SPEEDS_ENABLED, basic);
	info_set(a, info, PORT_EXT_SPEEDS, extended);
	info_set(a, info, PORT_EXT_SPEEDS_ENABLED, extended);
	info_set(a, info, PORT_WIDTH, WIDTH_1X);
	info_set(a, info, PORT_SPEED, 1);
	info_set(a, info, PORT_STATE, LINK_DOWN);
	info_set(a, info, PORT_PHYSICAL, PHYSICAL_POLLING);
	info_set(a, info, PORT_DOWN_DEFAULT, PHYSICAL_POLLING);
	init_capabilities(a, p, info, extended);
}

void agents_port_info_init(struct agents *a, port_id p)
{
	const struct topo_port *tp = &a->topo->ports[p];
	uint8_t *info = a->ports[p].info;
	unsigned mtu = code_of_mtu(tp->mtu), vls = code_of_vls(tp->vls);

	a->ports[p].lease_end = HD_TIME_NEVER;
	info_set(a, info, PORT_NUMBER, tp->number);
	info_set(a, info, PORT_GID_PREFIX, GID_LINK_LOCAL);
	init_link(a, p, info);
	info_set(a, info, PORT_MTU_CAP, mtu);
	info_set(a, info, PORT_NEIGHBOR_MTU, mtu);
	info_set(a, info, PORT_VL_CAP, vls);
	info_set(a, info, PORT_OPER_VLS, vls);
	info_set(a, info, PORT_HIGH_CAP, a->options.vlarb_cap);
	info_set(a, info, PORT_LOW_CAP, a->options.vlarb_cap);
	info_set(a, info, PORT_STALL_COUNT, 7);
	info_set(a, info, PORT_HOQ_LIFE, 18);
	info_set(a, info, PORT_SUBNET_TIMEOUT, 18);
	info_set(a, info, PORT_RESPONSE_TIME, 16);
	info_set(a, info, PORT_PHYSICAL_ERRORS, 8);
	info_set(a, info, PORT_OVERRUN_ERRORS, 8);
	if (agents_owner(a, p) == p)
		info_set(a, info, PORT_GUID_CAP, 8);
	/* Port 0 of a switch has no cable and is always active. */
	if (agents_owner(a, p) == p && tp->number == 0) {
		info_set(a, info, PORT_STATE, LINK_ACTIVE);
		info_set(a, info, PORT_PHYSICAL, PHYSICAL_LINK_UP);
	}
}

/* ---- Set */

/* All ones enable what is supported; LinkSpeedExtEnabled has code 30 for none. */
static void expand_enabled(struct agents *a, uint8_t *info, enum port_field enabled,
			   enum port_field supported)
{
	uint64_t all = (UINT64_C(1) << a->port_fields[enabled].width) - 1;
	uint64_t value = info_get(a, info, enabled);

	if (value == all)
		info_set(a, info, enabled, info_get(a, info, supported));
	else if (enabled == PORT_EXT_SPEEDS_ENABLED && value == 30)
		info_set(a, info, enabled, 0);
}

/* True if the enabled widths and speeds are supported. */
static bool is_supported(struct agents *a, const uint8_t *info)
{
	return !(info_get(a, info, PORT_WIDTHS_ENABLED) & ~info_get(a, info, PORT_WIDTHS)) &&
	       !(info_get(a, info, PORT_SPEEDS_ENABLED) & ~info_get(a, info, PORT_SPEEDS)) &&
	       !(info_get(a, info, PORT_EXT_SPEEDS_ENABLED) & ~info_get(a, info, PORT_EXT_SPEEDS));
}

static bool is_valid(struct agents *a, const uint8_t *info)
{
	return is_supported(a, info) &&
	       info_get(a, info, PORT_OPER_VLS) <= info_get(a, info, PORT_VL_CAP) &&
	       info_get(a, info, PORT_NEIGHBOR_MTU) <= info_get(a, info, PORT_MTU_CAP) &&
	       info_get(a, info, PORT_DOWN_DEFAULT) <= PHYSICAL_POLLING &&
	       info_get(a, info, PORT_LID) < LID_FIRST_MCAST &&
	       info_get(a, info, PORT_SM_LID) < LID_FIRST_MCAST;
}

/* Transitions of PortState that a Set may request. */
static bool may_change_to(uint64_t from, uint64_t to)
{
	switch (to) {
	case 0:
	case LINK_DOWN:
		return true;
	case LINK_ARMED:
		return from == LINK_INIT || from == LINK_ARMED;
	case LINK_ACTIVE:
		return from == LINK_ARMED || from == LINK_ACTIVE;
	default:
		return false;
	}
}

static void move_link(struct agent_request *r, port_id p, uint64_t state, uint64_t physical)
{
	struct agents *a = r->agents;
	uint8_t *info = a->ports[p].info;

	if (topo_node_of(a->topo, p)->kind == NODE_SWITCH && a->topo->ports[p].number == 0)
		return; /* port 0 has no cable */
	if (physical != 0) {
		if (info_get(a, info, PORT_STATE) != LINK_DOWN)
			agents_link_down(a, p, r->now);
		info_set(a, info, PORT_PHYSICAL, physical);
		agents_link_up(a, p, r->now);
	} else if (state == LINK_DOWN) {
		agents_link_down(a, p, r->now);
		agents_link_up(a, p, r->now);
	} else if (state != 0) {
		info_set(a, info, PORT_STATE, state);
	}
}

uint16_t agents_port_info_set(struct agent_request *r, port_id p)
{
	struct agents *a = r->agents;
	struct agent_port *port = &a->ports[p];
	const uint8_t *mask = agents_owner(a, p) == p ? a->writable_end : a->writable;
	uint64_t state = info_get(a, r->data, PORT_STATE);
	uint64_t physical = info_get(a, r->data, PORT_PHYSICAL);
	uint8_t next[PORT_INFO_SIZE];

	for (size_t i = 0; i < PORT_INFO_SIZE; i++)
		next[i] = (uint8_t)((port->info[i] & ~mask[i]) | (r->data[i] & mask[i]));
	for (size_t i = 0; i < sizeof(settable) / sizeof(settable[0]); i++)
		if (settable[i].zero_keeps && info_get(a, r->data, settable[i].field) == 0)
			info_set(a, next, settable[i].field,
				 info_get(a, port->info, settable[i].field));
	expand_enabled(a, next, PORT_WIDTHS_ENABLED, PORT_WIDTHS);
	expand_enabled(a, next, PORT_SPEEDS_ENABLED, PORT_SPEEDS);
	expand_enabled(a, next, PORT_EXT_SPEEDS_ENABLED, PORT_EXT_SPEEDS);
	if (!is_valid(a, next) || physical > PHYSICAL_DISABLED ||
	    !may_change_to(info_get(a, port->info, PORT_STATE), state))
		return MAD_INVALID_FIELD;
	memcpy(port->info, next, PORT_INFO_SIZE);
	port->lease_end = HD_TIME_NEVER;
	move_link(r, p, state, physical);
	return MAD_OK;
}
