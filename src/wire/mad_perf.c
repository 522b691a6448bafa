/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/mad_tables.h"

/* One row per field, as in the standard's tables. */
/* clang-format off */

static const struct field class_port_info_fields[] = {
	F_UINT("BaseVersion", 0, 8),
	F_UINT("ClassVersion", 8, 8),
	F_HEX("CapabilityMask", 16, 16),
	F_HEX("CapabilityMask2", 32, 27),
	F_UINT("RespTimeVal", 59, 5),
	F_GID("RedirectGID", 64),
	F_HEX("RedirectTC", 192, 8),
	F_UINT("RedirectSL", 200, 4),
	F_HEX("RedirectFL", 204, 20),
	F_UINT("RedirectLID", 224, 16),
	F_HEX("RedirectPKey", 240, 16),
	F_HEX("RedirectQP", 264, 24),
	F_HEX("RedirectQKey", 288, 32),
	F_GID("TrapGID", 320),
	F_HEX("TrapTC", 448, 8),
	F_UINT("TrapSL", 456, 4),
	F_HEX("TrapFL", 460, 20),
	F_UINT("TrapLID", 480, 16),
	F_HEX("TrapPKey", 496, 16),
	F_UINT("TrapHL", 512, 8),
	F_HEX("TrapQP", 520, 24),
	F_HEX("TrapQKey", 544, 32),
	F_END
};

const struct record mad_class_port_info = {
	.name = "ClassPortInfo", .size = 72, .fields = class_port_info_fields
};

#define SELECT F_UINT("PortSelect", 8, 8), F_HEX("CounterSelect", 16, 16)

static const struct field port_counters_fields[] = {
	SELECT,
	F_UINT("SymbolErrorCounter", 32, 16),
	F_UINT("LinkErrorRecoveryCounter", 48, 8),
	F_UINT("LinkDownedCounter", 56, 8),
	F_UINT("PortRcvErrors", 64, 16),
	F_UINT("PortRcvRemotePhysicalErrors", 80, 16),
	F_UINT("PortRcvSwitchRelayErrors", 96, 16),
	F_UINT("PortXmitDiscards", 112, 16),
	F_UINT("PortXmitConstraintErrors", 128, 8),
	F_UINT("PortRcvConstraintErrors", 136, 8),
	F_HEX("CounterSelect2", 144, 8),
	F_UINT("LocalLinkIntegrityErrors", 152, 4),
	F_UINT("ExcessiveBufferOverrunErrors", 156, 4),
	F_UINT("QP1Dropped", 160, 16),
	F_UINT("VL15Dropped", 176, 16),
	F_UINT("PortXmitData", 192, 32),
	F_UINT("PortRcvData", 224, 32),
	F_UINT("PortXmitPkts", 256, 32),
	F_UINT("PortRcvPkts", 288, 32),
	F_UINT("PortXmitWait", 320, 32),
	F_END
};

static const struct record port_counters = {
	.name = "PortCounters", .size = 44, .fields = port_counters_fields
};

static const struct field port_counters_ext_fields[] = {
	SELECT,
	F_UINT("PortXmitData", 64, 64),
	F_UINT("PortRcvData", 128, 64),
	F_UINT("PortXmitPkts", 192, 64),
	F_UINT("PortRcvPkts", 256, 64),
	F_UINT("PortUnicastXmitPkts", 320, 64),
	F_UINT("PortUnicastRcvPkts", 384, 64),
	F_UINT("PortMulticastXmitPkts", 448, 64),
	F_UINT("PortMulticastRcvPkts", 512, 64),
	F_HEX("CounterSelect2", 32, 32),
	F_UINT("SymbolErrorCounter", 576, 64),
	F_UINT("LinkErrorRecoveryCounter", 640, 64),
	F_UINT("LinkDownedCounter", 704, 64),
	F_UINT("PortRcvErrors", 768, 64),
	F_UINT("PortRcvRemotePhysicalErrors", 832, 64),
	F_UINT("PortRcvSwitchRelayErrors", 896, 64),
	F_UINT("PortXmitDiscards", 960, 64),
	F_UINT("PortXmitConstraintErrors", 1024, 64),
	F_UINT("PortRcvConstraintErrors", 1088, 64),
	F_UINT("LocalLinkIntegrityErrors", 1152, 64),
	F_UINT("ExcessiveBufferOverrunErrors", 1216, 64),
	F_UINT("VL15Dropped", 1280, 64),
	F_UINT("PortXmitWait", 1344, 64),
	F_UINT("QP1Dropped", 1408, 64),
	F_END
};

static const struct record port_counters_ext = {
	.name = "PortCountersExtended", .size = 184,
	.fields = port_counters_ext_fields
};

static const struct field rcv_error_fields[] = {
	SELECT,
	F_UINT("PortLocalPhysicalErrors", 32, 16),
	F_UINT("PortMalformedPktErrors", 48, 16),
	F_UINT("PortBufferOverrunErrors", 64, 16),
	F_UINT("PortDLIDMappingErrors", 80, 16),
	F_UINT("PortVLMappingErrors", 96, 16),
	F_UINT("PortLoopingErrors", 112, 16),
	F_END
};

static const struct record rcv_error_details = {
	.name = "PortRcvErrorDetails", .size = 16, .fields = rcv_error_fields
};

static const struct field xmit_discard_fields[] = {
	SELECT,
	F_UINT("PortInactiveDiscards", 32, 16),
	F_UINT("PortNeighborMTUDiscards", 48, 16),
	F_UINT("PortSwLifetimeLimitDiscards", 64, 16),
	F_UINT("PortSwHOQLifetimeLimitDiscards", 80, 16),
	F_END
};

static const struct record xmit_discard_details = {
	.name = "PortXmitDiscardDetails", .size = 12,
	.fields = xmit_discard_fields
};

/* FECNs and BECNs that a port received. */
static const struct field rcv_con_ctrl_fields[] = {
	SELECT,
	F_UINT("PortPktRcvFECN", 32, 32),
	F_UINT("PortPktRcvBECN", 64, 32),
	F_END
};

static const struct record rcv_con_ctrl = {
	.name = "PortRcvConCtrl", .size = 12, .fields = rcv_con_ctrl_fields
};

static const struct field flow_control_fields[] = {
	SELECT,
	F_UINT("PortXmitFlowPkts", 32, 32),
	F_UINT("PortRcvFlowPkts", 64, 32),
	F_END
};

static const struct record flow_control = {
	.name = "PortFlowCtlCounters", .size = 12,
	.fields = flow_control_fields
};

static const struct field vl_op_packets_fields[] = {
	SELECT,
	F_UINT("PortVLOpPackets0", 32, 16),
	F_UINT("PortVLOpPackets1", 48, 16),
	F_UINT("PortVLOpPackets2", 64, 16),
	F_UINT("PortVLOpPackets3", 80, 16),
	F_UINT("PortVLOpPackets4", 96, 16),
	F_UINT("PortVLOpPackets5", 112, 16),
	F_UINT("PortVLOpPackets6", 128, 16),
	F_UINT("PortVLOpPackets7", 144, 16),
	F_UINT("PortVLOpPackets8", 160, 16),
	F_UINT("PortVLOpPackets9", 176, 16),
	F_UINT("PortVLOpPackets10", 192, 16),
	F_UINT("PortVLOpPackets11", 208, 16),
	F_UINT("PortVLOpPackets12", 224, 16),
	F_UINT("PortVLOpPackets13", 240, 16),
	F_UINT("PortVLOpPackets14", 256, 16),
	F_UINT("PortVLOpPackets15", 272, 16),
	F_END
};

static const struct record vl_op_packets = {
	.name = "PortVLOpPackets", .size = 36, .fields = vl_op_packets_fields
};

static const struct field vl_op_data_fields[] = {
	SELECT,
	F_UINT("PortVLOpData0", 32, 32),
	F_UINT("PortVLOpData1", 64, 32),
	F_UINT("PortVLOpData2", 96, 32),
	F_UINT("PortVLOpData3", 128, 32),
	F_UINT("PortVLOpData4", 160, 32),
	F_UINT("PortVLOpData5", 192, 32),
	F_UINT("PortVLOpData6", 224, 32),
	F_UINT("PortVLOpData7", 256, 32),
	F_UINT("PortVLOpData8", 288, 32),
	F_UINT("PortVLOpData9", 320, 32),
	F_UINT("PortVLOpData10", 352, 32),
	F_UINT("PortVLOpData11", 384, 32),
	F_UINT("PortVLOpData12", 416, 32),
	F_UINT("PortVLOpData13", 448, 32),
	F_UINT("PortVLOpData14", 480, 32),
	F_UINT("PortVLOpData15", 512, 32),
	F_END
};

static const struct record vl_op_data = {
	.name = "PortVLOpData", .size = 68, .fields = vl_op_data_fields
};

static const struct field vl_xmit_wait_fields[] = {
	SELECT,
	F_UINT("PortVLXmitWait0", 32, 16),
	F_UINT("PortVLXmitWait1", 48, 16),
	F_UINT("PortVLXmitWait2", 64, 16),
	F_UINT("PortVLXmitWait3", 80, 16),
	F_UINT("PortVLXmitWait4", 96, 16),
	F_UINT("PortVLXmitWait5", 112, 16),
	F_UINT("PortVLXmitWait6", 128, 16),
	F_UINT("PortVLXmitWait7", 144, 16),
	F_UINT("PortVLXmitWait8", 160, 16),
	F_UINT("PortVLXmitWait9", 176, 16),
	F_UINT("PortVLXmitWait10", 192, 16),
	F_UINT("PortVLXmitWait11", 208, 16),
	F_UINT("PortVLXmitWait12", 224, 16),
	F_UINT("PortVLXmitWait13", 240, 16),
	F_UINT("PortVLXmitWait14", 256, 16),
	F_UINT("PortVLXmitWait15", 272, 16),
	F_END
};

static const struct record vl_xmit_wait = {
	.name = "PortVLXmitWaitCounters", .size = 36,
	.fields = vl_xmit_wait_fields
};

static const struct field xmit_data_sl_fields[] = {
	SELECT,
	F_UINT("XmtDataSL0", 32, 32),
	F_UINT("XmtDataSL1", 64, 32),
	F_UINT("XmtDataSL2", 96, 32),
	F_UINT("XmtDataSL3", 128, 32),
	F_UINT("XmtDataSL4", 160, 32),
	F_UINT("XmtDataSL5", 192, 32),
	F_UINT("XmtDataSL6", 224, 32),
	F_UINT("XmtDataSL7", 256, 32),
	F_UINT("XmtDataSL8", 288, 32),
	F_UINT("XmtDataSL9", 320, 32),
	F_UINT("XmtDataSL10", 352, 32),
	F_UINT("XmtDataSL11", 384, 32),
	F_UINT("XmtDataSL12", 416, 32),
	F_UINT("XmtDataSL13", 448, 32),
	F_UINT("XmtDataSL14", 480, 32),
	F_UINT("XmtDataSL15", 512, 32),
	F_END
};

static const struct record xmit_data_sl = {
	.name = "PortXmitDataSL", .size = 68, .fields = xmit_data_sl_fields
};

static const struct field rcv_data_sl_fields[] = {
	SELECT,
	F_UINT("RcvDataSL0", 32, 32),
	F_UINT("RcvDataSL1", 64, 32),
	F_UINT("RcvDataSL2", 96, 32),
	F_UINT("RcvDataSL3", 128, 32),
	F_UINT("RcvDataSL4", 160, 32),
	F_UINT("RcvDataSL5", 192, 32),
	F_UINT("RcvDataSL6", 224, 32),
	F_UINT("RcvDataSL7", 256, 32),
	F_UINT("RcvDataSL8", 288, 32),
	F_UINT("RcvDataSL9", 320, 32),
	F_UINT("RcvDataSL10", 352, 32),
	F_UINT("RcvDataSL11", 384, 32),
	F_UINT("RcvDataSL12", 416, 32),
	F_UINT("RcvDataSL13", 448, 32),
	F_UINT("RcvDataSL14", 480, 32),
	F_UINT("RcvDataSL15", 512, 32),
	F_END
};

static const struct record rcv_data_sl = {
	.name = "PortRcvDataSL", .size = 68, .fields = rcv_data_sl_fields
};

/* clang-format on */

const struct mad_attribute mad_perf_attributes[] = {
	{ ATTR_CLASS_PORT_INFO, 0, &mad_class_port_info, NULL },
	{ ATTR_PORT_COUNTERS, 0, &port_counters, NULL },
	{ ATTR_PORT_RCV_ERROR_DETAILS, 0, &rcv_error_details, NULL },
	{ ATTR_PORT_XMIT_DISCARD_DETAILS, 0, &xmit_discard_details, NULL },
	{ ATTR_PORT_FLOW_CONTROL, 0, &flow_control, NULL },
	{ ATTR_PORT_VL_OP_PACKETS, 0, &vl_op_packets, NULL },
	{ ATTR_PORT_VL_OP_DATA, 0, &vl_op_data, NULL },
	{ ATTR_PORT_VL_XMIT_WAIT, 0, &vl_xmit_wait, NULL },
	{ ATTR_PORT_COUNTERS_EXT, 0, &port_counters_ext, NULL },
	{ ATTR_PORT_RCV_CON_CTRL, 0, &rcv_con_ctrl, NULL },
	{ ATTR_PORT_XMIT_DATA_SL, 0, &xmit_data_sl, NULL },
	{ ATTR_PORT_RCV_DATA_SL, 0, &rcv_data_sl, NULL },
	{ 0, 0, NULL, NULL },
};
