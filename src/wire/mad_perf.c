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

/* Consecutive fields from bit `at` on, whose names are a common name and a number. */
/* NOLINTNEXTLINE(bugprone-macro-parentheses): the name is a literal's half */
#define NTH(kind, name, n, at, width) kind(name #n, (at) + (n) * (width), width)
#define FOUR(kind, name, a, b, c, d, at, width) \
	NTH(kind, name, a, at, width), NTH(kind, name, b, at, width), \
	NTH(kind, name, c, at, width), NTH(kind, name, d, at, width)
#define TWELVE(kind, name, at, width) \
	FOUR(kind, name, 0, 1, 2, 3, at, width), \
	FOUR(kind, name, 4, 5, 6, 7, at, width), \
	FOUR(kind, name, 8, 9, 10, 11, at, width)
#define FIFTEEN(kind, name, at, width) \
	TWELVE(kind, name, at, width), NTH(kind, name, 12, at, width), \
	NTH(kind, name, 13, at, width), NTH(kind, name, 14, at, width)
#define SIXTEEN(kind, name, at, width) \
	FIFTEEN(kind, name, at, width), NTH(kind, name, 15, at, width)

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
	SIXTEEN(F_UINT, "PortVLOpPackets", 32, 16),
	F_END
};

static const struct record vl_op_packets = {
	.name = "PortVLOpPackets", .size = 36, .fields = vl_op_packets_fields
};

static const struct field vl_op_data_fields[] = {
	SELECT,
	SIXTEEN(F_UINT, "PortVLOpData", 32, 32),
	F_END
};

static const struct record vl_op_data = {
	.name = "PortVLOpData", .size = 68, .fields = vl_op_data_fields
};

static const struct field vl_xmit_wait_fields[] = {
	SELECT,
	SIXTEEN(F_UINT, "PortVLXmitWait", 32, 16),
	F_END
};

static const struct record vl_xmit_wait = {
	.name = "PortVLXmitWaitCounters", .size = 36,
	.fields = vl_xmit_wait_fields
};

static const struct field xmit_data_sl_fields[] = {
	SELECT,
	SIXTEEN(F_UINT, "XmtDataSL", 32, 32),
	F_END
};

static const struct record xmit_data_sl = {
	.name = "PortXmitDataSL", .size = 68, .fields = xmit_data_sl_fields
};

static const struct field rcv_data_sl_fields[] = {
	SELECT,
	SIXTEEN(F_UINT, "RcvDataSL", 32, 32),
	F_END
};

static const struct record rcv_data_sl = {
	.name = "PortRcvDataSL", .size = 68, .fields = rcv_data_sl_fields
};

static const struct field op_rcv_fields[] = {
	F_HEX("OpCode", 0, 8),
	SELECT,
	F_UINT("PortOpRcvPkts", 32, 32),
	F_UINT("PortOpRcvData", 64, 32),
	F_END
};

static const struct record op_rcv = {
	.name = "PortOpRcvCounters", .size = 12, .fields = op_rcv_fields
};

static const struct field vl_flow_errors_fields[] = {
	SELECT,
	SIXTEEN(F_UINT, "PortVLXmitFlowCtlUpdateErrors", 32, 2),
	F_END
};

static const struct record vl_flow_errors = {
	.name = "PortVLXmitFlowCtlUpdateErrors", .size = 8,
	.fields = vl_flow_errors_fields
};

static const struct field sw_vl_congestion_fields[] = {
	SELECT,
	SIXTEEN(F_UINT, "SWPortVLCongestion", 32, 16),
	F_END
};

static const struct record sw_vl_congestion = {
	.name = "SwPortVLCongestion", .size = 36,
	.fields = sw_vl_congestion_fields
};

static const struct field sl_rcv_fecn_fields[] = {
	SELECT,
	SIXTEEN(F_UINT, "PortSLRcvFECN", 32, 32),
	F_END
};

static const struct record sl_rcv_fecn = {
	.name = "PortSLRcvFECN", .size = 68, .fields = sl_rcv_fecn_fields
};

static const struct field sl_rcv_becn_fields[] = {
	SELECT,
	SIXTEEN(F_UINT, "PortSLRcvBECN", 32, 32),
	F_END
};

static const struct record sl_rcv_becn = {
	.name = "PortSLRcvBECN", .size = 68, .fields = sl_rcv_becn_fields
};

static const struct field xmit_con_ctrl_fields[] = {
	SELECT,
	F_UINT("PortXmitTimeCong", 32, 32),
	F_END
};

static const struct record xmit_con_ctrl = {
	.name = "PortXmitConCtrl", .size = 8, .fields = xmit_con_ctrl_fields
};

static const struct field vl_time_cong_fields[] = {
	SELECT,
	FIFTEEN(F_UINT, "PortVLXmitTimeCong", 32, 32),
	F_END
};

static const struct record vl_time_cong = {
	.name = "PortVLXmitTimeCong", .size = 64, .fields = vl_time_cong_fields
};

/* Counters of lanes on links above 10 Gb/s per lane. */
static const struct field ext_speeds_fields[] = {
	F_UINT("PortSelect", 8, 8),
	F_HEX("CounterSelect", 64, 64),
	F_UINT("SyncHeaderErrorCounter", 128, 16),
	F_UINT("UnknownBlockCounter", 144, 16),
	TWELVE(F_UINT, "ErrorDetectionCounterLane", 160, 16),
	TWELVE(F_UINT, "FECCorrectableBlockCtrLane", 352, 32),
	TWELVE(F_UINT, "FECUncorrectableBlockCtrLane", 736, 32),
	F_END
};

static const struct record ext_speeds = {
	.name = "PortExtendedSpeedsCounters", .size = 140,
	.fields = ext_speeds_fields
};

static const struct field samples_control_fields[] = {
	F_HEX("OpCode", 0, 8),
	F_UINT("PortSelect", 8, 8),
	F_HEX("Tick", 16, 8),
	F_UINT("CounterWidth", 29, 3),
	F_HEX("CounterMask0", 34, 3),
	F_HEX("CounterMasks1to9", 37, 27),
	F_HEX("CounterMasks10to14", 65, 15),
	F_UINT("SampleMechanisms", 80, 8),
	F_UINT("SampleStatus", 94, 2),
	F_HEX("OptionMask", 96, 64),
	F_HEX("VendorMask", 160, 64),
	F_UINT("SampleStart", 224, 32),
	F_UINT("SampleInterval", 256, 32),
	F_HEX("Tag", 288, 16),
	FIFTEEN(F_HEX, "CounterSelect", 304, 16),
	F_HEX("SamplesOnlyOptionMask", 576, 64),
	F_END
};

static const struct record samples_control = {
	.name = "PortSamplesControl", .size = 80,
	.fields = samples_control_fields
};

/* clang-format on */

const struct mad_attribute mad_perf_attributes[] = {
	{ ATTR_CLASS_PORT_INFO, 0, &mad_class_port_info, NULL },
	{ ATTR_PORT_SAMPLES_CONTROL, 0, &samples_control, NULL },
	{ ATTR_PORT_COUNTERS, 0, &port_counters, NULL },
	{ ATTR_PORT_RCV_ERROR_DETAILS, 0, &rcv_error_details, NULL },
	{ ATTR_PORT_XMIT_DISCARD_DETAILS, 0, &xmit_discard_details, NULL },
	{ ATTR_PORT_OP_RCV, 0, &op_rcv, NULL },
	{ ATTR_PORT_FLOW_CONTROL, 0, &flow_control, NULL },
	{ ATTR_PORT_VL_OP_PACKETS, 0, &vl_op_packets, NULL },
	{ ATTR_PORT_VL_OP_DATA, 0, &vl_op_data, NULL },
	{ ATTR_PORT_VL_FLOW_ERRORS, 0, &vl_flow_errors, NULL },
	{ ATTR_PORT_VL_XMIT_WAIT, 0, &vl_xmit_wait, NULL },
	{ ATTR_PORT_COUNTERS_EXT, 0, &port_counters_ext, NULL },
	{ ATTR_PORT_EXT_SPEEDS, 0, &ext_speeds, NULL },
	{ ATTR_SW_PORT_VL_CONGESTION, 0, &sw_vl_congestion, NULL },
	{ ATTR_PORT_RCV_CON_CTRL, 0, &rcv_con_ctrl, NULL },
	{ ATTR_PORT_SL_RCV_FECN, 0, &sl_rcv_fecn, NULL },
	{ ATTR_PORT_SL_RCV_BECN, 0, &sl_rcv_becn, NULL },
	{ ATTR_PORT_XMIT_CON_CTRL, 0, &xmit_con_ctrl, NULL },
	{ ATTR_PORT_VL_TIME_CONG, 0, &vl_time_cong, NULL },
	{ ATTR_PORT_XMIT_DATA_SL, 0, &xmit_data_sl, NULL },
	{ ATTR_PORT_RCV_DATA_SL, 0, &rcv_data_sl, NULL },
	{ 0, 0, NULL, NULL },
};
