/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "mgmt/agents/agents_internal.h"
#include "wire/cursor.h"

/*
 * The performance agent. Counters have 64 bits; attributes show them in fields of their own width,
 * saturated. A Set writes the counters that its CounterSelect names (a reset writes zeros).
 */

/* A counter, its field, and its bit in CounterSelect. */
struct counter_field {
	const char *field; /* of an array: without the index */
	unsigned counter;
	unsigned bit; /* from 16 on: of CounterSelect2 */
	unsigned n;   /* size of an array with one bit per element; 0: a single field */
};

static const struct counter_field port_counters[] = {
	{ "SymbolErrorCounter", COUNT_SYMBOL_ERROR, 0, 0 },
	{ "LinkErrorRecoveryCounter", COUNT_LINK_RECOVERY, 1, 0 },
	{ "LinkDownedCounter", COUNT_LINK_DOWNED, 2, 0 },
	{ "PortRcvErrors", COUNT_RCV_ERRORS, 3, 0 },
	{ "PortRcvRemotePhysicalErrors", COUNT_RCV_REMOTE_PHYSICAL, 4, 0 },
	{ "PortRcvSwitchRelayErrors", COUNT_RCV_SWITCH_RELAY, 5, 0 },
	{ "PortXmitDiscards", COUNT_XMIT_DISCARDS, 6, 0 },
	{ "PortXmitConstraintErrors", COUNT_XMIT_CONSTRAINT, 7, 0 },
	{ "PortRcvConstraintErrors", COUNT_RCV_CONSTRAINT, 8, 0 },
	{ "LocalLinkIntegrityErrors", COUNT_LINK_INTEGRITY, 9, 0 },
	{ "ExcessiveBufferOverrunErrors", COUNT_BUFFER_OVERRUN, 10, 0 },
	{ "VL15Dropped", COUNT_VL15_DROPPED, 11, 0 },
	{ "PortXmitData", COUNT_XMIT_DATA, 12, 0 },
	{ "PortRcvData", COUNT_RCV_DATA, 13, 0 },
	{ "PortXmitPkts", COUNT_XMIT_PKTS, 14, 0 },
	{ "PortRcvPkts", COUNT_RCV_PKTS, 15, 0 },
	{ "PortXmitWait", COUNT_XMIT_WAIT, 16, 0 },
	{ "QP1Dropped", COUNT_QP1_DROPPED, 17, 0 },
	{ NULL, 0, 0, 0 },
};

static const struct counter_field port_counters_ext[] = {
	{ "PortXmitData", COUNT_XMIT_DATA, 0, 0 },
	{ "PortRcvData", COUNT_RCV_DATA, 1, 0 },
	{ "PortXmitPkts", COUNT_XMIT_PKTS, 2, 0 },
	{ "PortRcvPkts", COUNT_RCV_PKTS, 3, 0 },
	{ "PortUnicastXmitPkts", COUNT_UNICAST_XMIT, 4, 0 },
	{ "PortUnicastRcvPkts", COUNT_UNICAST_RCV, 5, 0 },
	{ "PortMulticastXmitPkts", COUNT_MULTICAST_XMIT, 6, 0 },
	{ "PortMulticastRcvPkts", COUNT_MULTICAST_RCV, 7, 0 },
	{ "SymbolErrorCounter", COUNT_SYMBOL_ERROR, 16, 0 },
	{ "LinkErrorRecoveryCounter", COUNT_LINK_RECOVERY, 17, 0 },
	{ "LinkDownedCounter", COUNT_LINK_DOWNED, 18, 0 },
	{ "PortRcvErrors", COUNT_RCV_ERRORS, 19, 0 },
	{ "PortRcvRemotePhysicalErrors", COUNT_RCV_REMOTE_PHYSICAL, 20, 0 },
	{ "PortRcvSwitchRelayErrors", COUNT_RCV_SWITCH_RELAY, 21, 0 },
	{ "PortXmitDiscards", COUNT_XMIT_DISCARDS, 22, 0 },
	{ "PortXmitConstraintErrors", COUNT_XMIT_CONSTRAINT, 23, 0 },
	{ "PortRcvConstraintErrors", COUNT_RCV_CONSTRAINT, 24, 0 },
	{ "LocalLinkIntegrityErrors", COUNT_LINK_INTEGRITY, 25, 0 },
	{ "ExcessiveBufferOverrunErrors", COUNT_BUFFER_OVERRUN, 26, 0 },
	{ "VL15Dropped", COUNT_VL15_DROPPED, 27, 0 },
	{ "PortXmitWait", COUNT_XMIT_WAIT, 28, 0 },
	{ "QP1Dropped", COUNT_QP1_DROPPED, 29, 0 },
	{ NULL, 0, 0, 0 },
};

static const struct counter_field rcv_errors[] = {
	{ "PortLocalPhysicalErrors", COUNT_LOCAL_PHYSICAL, 0, 0 },
	{ "PortMalformedPktErrors", COUNT_MALFORMED, 1, 0 },
	{ "PortBufferOverrunErrors", COUNT_OVERRUN, 2, 0 },
	{ "PortDLIDMappingErrors", COUNT_DLID_MAPPING, 3, 0 },
	{ "PortVLMappingErrors", COUNT_VL_MAPPING, 4, 0 },
	{ "PortLoopingErrors", COUNT_LOOPING, 5, 0 },
	{ NULL, 0, 0, 0 },
};

static const struct counter_field xmit_discards[] = {
	{ "PortInactiveDiscards", COUNT_INACTIVE_DISCARDS, 0, 0 },
	{ "PortNeighborMTUDiscards", COUNT_MTU_DISCARDS, 1, 0 },
	{ "PortSwLifetimeLimitDiscards", COUNT_LIFETIME_DISCARDS, 2, 0 },
	{ "PortSwHOQLifetimeLimitDiscards", COUNT_HOQ_DISCARDS, 3, 0 },
	{ NULL, 0, 0, 0 },
};

static const struct counter_field flow_control[] = {
	{ "PortXmitFlowPkts", COUNT_XMIT_FLOW, 0, 0 },
	{ "PortRcvFlowPkts", COUNT_RCV_FLOW, 1, 0 },
	{ NULL, 0, 0, 0 },
};

static const struct counter_field rcv_con_ctrl[] = {
	{ "PortPktRcvFECN", COUNT_RCV_FECN, 0, 0 },
	{ "PortPktRcvBECN", COUNT_RCV_BECN, 1, 0 },
	{ NULL, 0, 0, 0 },
};

static const struct counter_field xmit_con_ctrl[] = {
	{ "PortXmitTimeCong", COUNT_XMIT_TIME_CONG, 0, 0 },
	{ NULL, 0, 0, 0 },
};

static const struct counter_field op_rcv[] = {
	{ "PortOpRcvPkts", COUNT_OP_RCV_PKTS, 0, 0 },
	{ "PortOpRcvData", COUNT_OP_RCV_DATA, 1, 0 },
	{ NULL, 0, 0, 0 },
};

static const struct counter_field ext_speeds[] = {
	{ "SyncHeaderErrorCounter", COUNT_SYNC_HEADER, 0, 0 },
	{ "UnknownBlockCounter", COUNT_UNKNOWN_BLOCK, 1, 0 },
	{ "ErrorDetectionCounterLane", COUNT_LANE_ERRORS, 2, 12 },
	{ "FECCorrectableBlockCtrLane", COUNT_LANE_CORRECTED, 14, 12 },
	{ "FECUncorrectableBlockCtrLane", COUNT_LANE_UNCORRECTED, 26, 12 },
	{ NULL, 0, 0, 0 },
};

static const struct counter_field vl_packets[] = {
	{ "PortVLOpPackets", COUNT_VL_PACKETS, 0, 16 },
	{ NULL, 0, 0, 0 },
};
static const struct counter_field vl_data[] = {
	{ "PortVLOpData", COUNT_VL_DATA, 0, 16 },
	{ NULL, 0, 0, 0 },
};
static const struct counter_field vl_xmit_wait[] = {
	{ "PortVLXmitWait", COUNT_VL_XMIT_WAIT, 0, 16 },
	{ NULL, 0, 0, 0 },
};
static const struct counter_field sl_xmit_data[] = {
	{ "XmtDataSL", COUNT_SL_XMIT_DATA, 0, 16 },
	{ NULL, 0, 0, 0 },
};
static const struct counter_field sl_rcv_data[] = {
	{ "RcvDataSL", COUNT_SL_RCV_DATA, 0, 16 },
	{ NULL, 0, 0, 0 },
};
static const struct counter_field vl_flow_errors[] = {
	{ "PortVLXmitFlowCtlUpdateErrors", COUNT_VL_FLOW_ERRORS, 0, 16 },
	{ NULL, 0, 0, 0 },
};
static const struct counter_field sw_vl_congestion[] = {
	{ "SWPortVLCongestion", COUNT_SW_VL_CONGESTION, 0, 16 },
	{ NULL, 0, 0, 0 },
};
static const struct counter_field sl_rcv_fecn[] = {
	{ "PortSLRcvFECN", COUNT_SL_RCV_FECN, 0, 16 },
	{ NULL, 0, 0, 0 },
};
static const struct counter_field sl_rcv_becn[] = {
	{ "PortSLRcvBECN", COUNT_SL_RCV_BECN, 0, 16 },
	{ NULL, 0, 0, 0 },
};
static const struct counter_field vl_time_cong[] = {
	{ "PortVLXmitTimeCong", COUNT_VL_TIME_CONG, 0, 15 },
	{ NULL, 0, 0, 0 },
};

static const struct {
	uint16_t id;
	const struct counter_field *rows;
} attributes[] = {
	{ ATTR_PORT_COUNTERS, port_counters },
	{ ATTR_PORT_COUNTERS_EXT, port_counters_ext },
	{ ATTR_PORT_RCV_ERROR_DETAILS, rcv_errors },
	{ ATTR_PORT_XMIT_DISCARD_DETAILS, xmit_discards },
	{ ATTR_PORT_FLOW_CONTROL, flow_control },
	{ ATTR_PORT_VL_OP_PACKETS, vl_packets },
	{ ATTR_PORT_VL_OP_DATA, vl_data },
	{ ATTR_PORT_VL_XMIT_WAIT, vl_xmit_wait },
	{ ATTR_PORT_RCV_CON_CTRL, rcv_con_ctrl },
	{ ATTR_PORT_XMIT_DATA_SL, sl_xmit_data },
	{ ATTR_PORT_RCV_DATA_SL, sl_rcv_data },
	{ ATTR_PORT_OP_RCV, op_rcv },
	{ ATTR_PORT_VL_FLOW_ERRORS, vl_flow_errors },
	{ ATTR_PORT_EXT_SPEEDS, ext_speeds },
	{ ATTR_SW_PORT_VL_CONGESTION, sw_vl_congestion },
	{ ATTR_PORT_SL_RCV_FECN, sl_rcv_fecn },
	{ ATTR_PORT_SL_RCV_BECN, sl_rcv_becn },
	{ ATTR_PORT_XMIT_CON_CTRL, xmit_con_ctrl },
	{ ATTR_PORT_VL_TIME_CONG, vl_time_cong },
};

uint64_t agents_counter(const struct agents *a, port_id port, unsigned counter)
{
	const uint64_t *counters = a->ports[port].counters;

	return counters ? counters[counter] : 0;
}

static uint64_t *counter_at(struct agents *a, port_id port, unsigned counter)
{
	struct agent_port *p = &a->ports[port];

	if (!p->counters)
		p->counters = hd_alloc(N_PORT_COUNTERS, sizeof(*p->counters));
	return &p->counters[counter];
}

void agents_counter_add(struct agents *a, port_id port, unsigned counter, uint64_t more)
{
	uint64_t *c = counter_at(a, port, counter);

	*c = more > UINT64_MAX - *c ? UINT64_MAX : *c + more;
}

/* The counter whose field has this name, or -1. */
static int counter_named(const struct counter_field *s, const char *name)
{
	char full[64];

	if (s->n == 0)
		return strcmp(s->field, name) == 0 ? (int)s->counter : -1;
	for (unsigned i = 0; i < s->n; i++) {
		snprintf(full, sizeof(full), "%s%u", s->field, i);
		if (strcmp(full, name) == 0)
			return (int)(s->counter + i);
	}
	return -1;
}

int agents_counter_named(const char *name)
{
	int found = -1;

	for (size_t i = 0; i < sizeof(attributes) / sizeof(attributes[0]); i++)
		for (const struct counter_field *s = attributes[i].rows; s->field && found < 0; s++)
			found = counter_named(s, name);
	return found;
}

/* The ports that PortSelect names: one, or all ports of a switch (255). */
struct port_selection {
	port_id first, end;
};

static bool select_ports(const struct agent_request *r, struct port_selection *out)
{
	const struct topo_node *n = topo_node_of(r->agents->topo, r->port);
	unsigned number = r->data[1];

	if (number == 0xFF) {
		*out = (struct port_selection){ n->first_port + 1,
						n->first_port + n->n_ports + 1U };
		return true;
	}
	/* perfquery without a port number sends 0 to an adapter. */
	if (number == 0 && n->kind != NODE_SWITCH)
		number = r->agents->topo->ports[r->port].number;
	if (number > n->n_ports)
		return false;
	*out = (struct port_selection){ n->first_port + number, n->first_port + number + 1 };
	return true;
}

static uint64_t sum(const struct agents *a, const struct port_selection *s, unsigned counter)
{
	uint64_t total = 0;

	for (port_id p = s->first; p < s->end; p++)
		total += agents_counter(a, p, counter);
	return total;
}

static void set_all(struct agents *a, const struct port_selection *s, unsigned counter,
		    uint64_t value)
{
	for (port_id p = s->first; p < s->end; p++)
		if (a->ports[p].counters || value)
			*counter_at(a, p, counter) = value;
}

/* Writes the field if it is selected, then returns its value. */
static void access_field(struct agent_request *r, const struct port_selection *s,
			 const struct field *f, unsigned counter, bool selected)
{
	uint64_t greatest = f->width == 64 ? UINT64_MAX : (UINT64_C(1) << f->width) - 1;

	if (r->method == MAD_SET && selected)
		set_all(r->agents, s, counter, field_get(f, r->data));
	uint64_t value = sum(r->agents, s, counter);

	field_set(f, r->data, value > greatest ? greatest : value);
}

/* CounterSelect, and above it CounterSelect2 where the attribute has one. */
static uint64_t selected_bits(const struct agent_request *r)
{
	uint64_t bits = load_be16(r->data + 2);

	if (r->attribute == ATTR_PORT_EXT_SPEEDS)
		bits = load_be64(r->data + 8);
	else if (r->attribute == ATTR_PORT_COUNTERS)
		bits |= (uint64_t)r->data[18] << 16;
	else if (r->attribute == ATTR_PORT_COUNTERS_EXT)
		bits |= (uint64_t)load_be32(r->data + 4) << 16;
	return bits;
}

static void access_row(struct agent_request *r, const struct record *record,
		       const struct port_selection *s, const struct counter_field *row,
		       uint64_t bits)
{
	struct field f;
	char name[64];

	if (row->n == 0) {
		if (field_record_find(record, row->field, &f))
			access_field(r, s, &f, row->counter, bits >> row->bit & 1);
		return;
	}
	for (unsigned i = 0; i < row->n; i++) {
		snprintf(name, sizeof(name), "%s%u", row->field, i);
		if (field_record_find(record, name, &f))
			access_field(r, s, &f, row->counter + i, bits >> (row->bit + i) & 1);
	}
}

static uint16_t class_port_info(struct agent_request *r)
{
	enum {
		ALL_PORT_SELECT = 1 << 8,
		EXTENDED_WIDTH = 1 << 9,
		XMIT_WAIT = 1 << 12,
		QP1_DROPPED = 1 << 15,
		/* a bit of CapabilityMask2, which is above five bits of RespTimeValue */
		MORE_EXTENDED = 1 << (1 + 5),
		RESPONSE_TIME = 16,
	};

	if (r->method == MAD_SET)
		return MAD_UNSUPPORTED;
	memset(r->data, 0, mad_attribute(mad_class(MAD_PERF), ATTR_CLASS_PORT_INFO)->record->size);
	r->data[0] = MAD_BASE_VERSION;
	r->data[1] = mad_class(MAD_PERF)->version;
	store_be16(r->data + 2, ALL_PORT_SELECT | EXTENDED_WIDTH | XMIT_WAIT | QP1_DROPPED);
	store_be32(r->data + 4, MORE_EXTENDED | RESPONSE_TIME);
	return MAD_OK;
}

/* Sampling is not supported: no counter can be selected. */
static uint16_t samples_control(struct agent_request *r)
{
	uint8_t op_code = r->data[0], port = r->data[1];
	struct port_selection s;

	if (!select_ports(r, &s))
		return MAD_INVALID_FIELD;
	if (r->method == MAD_SET)
		return MAD_UNSUPPORTED;
	memset(r->data, 0,
	       mad_attribute(mad_class(MAD_PERF), ATTR_PORT_SAMPLES_CONTROL)->record->size);
	r->data[0] = op_code;
	r->data[1] = port;
	return MAD_OK;
}

uint16_t agents_handle_perf(struct agent_request *r)
{
	const struct mad_attribute *attribute = mad_attribute(mad_class(MAD_PERF), r->attribute);
	struct port_selection s;

	if (r->attribute == ATTR_CLASS_PORT_INFO)
		return class_port_info(r);
	if (r->attribute == ATTR_PORT_SAMPLES_CONTROL)
		return samples_control(r);
	/* Only switches have SwPortVLCongestion. */
	if (r->attribute == ATTR_SW_PORT_VL_CONGESTION &&
	    topo_node_of(r->agents->topo, r->port)->kind != NODE_SWITCH)
		return MAD_UNSUPPORTED;
	for (size_t i = 0; i < sizeof(attributes) / sizeof(attributes[0]); i++) {
		if (attributes[i].id != r->attribute)
			continue;
		if (!select_ports(r, &s))
			return MAD_INVALID_FIELD;
		uint64_t bits = selected_bits(r);

		for (const struct counter_field *row = attributes[i].rows; row->field; row++)
			access_row(r, attribute->record, &s, row, bits);
		return MAD_OK;
	}
	return MAD_UNSUPPORTED;
}
