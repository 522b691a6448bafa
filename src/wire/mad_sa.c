/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/mad_tables.h"

/* One row per field, as in the standard's tables. */
/* clang-format off */

/* Selectors of path and multicast records: how the value is compared. */
static const struct field_name selectors[] = {
	{ 0, "greater than" }, { 1, "less than" }, { 2, "exactly" },
	{ 3, "largest" }, { 0, NULL }
};

static const struct field_name mtus[] = {
	{ 1, "256" }, { 2, "512" }, { 3, "1024" }, { 4, "2048" },
	{ 5, "4096" }, { 0, NULL }
};

/* Rate codes: width times speed, in the order of their definition. */
static const struct field_name rates[] = {
	{ 2, "2.5 Gbps" }, { 3, "10 Gbps" }, { 4, "30 Gbps" }, { 5, "5 Gbps" },
	{ 6, "20 Gbps" }, { 7, "40 Gbps" }, { 8, "60 Gbps" }, { 9, "80 Gbps" },
	{ 10, "120 Gbps" }, { 11, "14 Gbps" }, { 12, "56 Gbps" },
	{ 13, "112 Gbps" }, { 14, "168 Gbps" }, { 15, "25 Gbps" },
	{ 16, "100 Gbps" }, { 17, "200 Gbps" }, { 18, "300 Gbps" },
	{ 19, "28 Gbps" }, { 20, "50 Gbps" }, { 21, "400 Gbps" },
	{ 22, "600 Gbps" }, { 23, "800 Gbps" }, { 24, "1200 Gbps" },
	{ 0, NULL }
};

static const struct field path_fields[] = {
	F_HEX("ServiceID", 0, 64),
	F_GID("DGID", 64),
	F_GID("SGID", 192),
	F_UINT("DLID", 320, 16),
	F_UINT("SLID", 336, 16),
	F_UINT("RawTraffic", 352, 1),
	F_HEX("FlowLabel", 356, 20),
	F_UINT("HopLimit", 376, 8),
	F_HEX("TClass", 384, 8),
	F_UINT("Reversible", 392, 1),
	F_UINT("NumbPath", 393, 7),
	F_HEX("P_Key", 400, 16),
	F_UINT("QosClass", 416, 12),
	F_UINT("SL", 428, 4),
	F_ENUM("MtuSelector", 432, 2, selectors),
	F_ENUM("Mtu", 434, 6, mtus),
	F_ENUM("RateSelector", 440, 2, selectors),
	F_ENUM("Rate", 442, 6, rates),
	F_ENUM("PacketLifeTimeSelector", 448, 2, selectors),
	F_UINT("PacketLifeTime", 450, 6),
	F_UINT("Preference", 456, 8),
	F_END
};

static const struct record path_record = {
	.name = "PathRecord", .size = 64, .fields = path_fields
};

static const struct field_name join_states[] = {
	{ 1, "FullMember" }, { 2, "NonMember" }, { 4, "SendOnlyNonMember" },
	{ 8, "SendOnlyFullMember" }, { 0, NULL }
};

static const struct field member_fields[] = {
	F_GID("MGID", 0),
	F_GID("PortGID", 128),
	F_HEX("Q_Key", 256, 32),
	F_HEX("MLID", 288, 16),
	F_ENUM("MTUSelector", 304, 2, selectors),
	F_ENUM("MTU", 306, 6, mtus),
	F_HEX("TClass", 312, 8),
	F_HEX("P_Key", 320, 16),
	F_ENUM("RateSelector", 336, 2, selectors),
	F_ENUM("Rate", 338, 6, rates),
	F_ENUM("PacketLifeTimeSelector", 344, 2, selectors),
	F_UINT("PacketLifeTime", 346, 6),
	F_UINT("SL", 352, 4),
	F_HEX("FlowLabel", 356, 20),
	F_UINT("HopLimit", 376, 8),
	F_HEX("Scope", 384, 4),
	F_SET("JoinState", 388, 4, join_states),
	F_UINT("ProxyJoin", 392, 1),
	F_END
};

static const struct record member_record = {
	.name = "MCMemberRecord", .size = 52, .fields = member_fields
};

static const struct field node_record_fields[] = {
	F_UINT("Lid", 0, 16),
	F_END
};

static const struct record_part node_record_parts[] = {
	{ &mad_node_info, 4 }, { &mad_node_description, 44 }, { NULL, 0 }
};

static const struct record node_record = {
	.name = "NodeRecord", .size = 108, .fields = node_record_fields,
	.parts = node_record_parts
};

static const struct field port_record_fields[] = {
	F_UINT("EndPortLid", 0, 16),
	F_UINT("PortNum", 16, 8),
	F_END
};

static const struct record_part port_record_parts[] = {
	{ &mad_port_info, 4 }, { NULL, 0 }
};

static const struct record port_info_record = {
	.name = "PortInfoRecord", .size = 68, .fields = port_record_fields,
	.parts = port_record_parts
};

/* clang-format on */

const struct mad_attribute mad_sa_attributes[] = {
	{ ATTR_CLASS_PORT_INFO, 0, &mad_class_port_info, NULL },
	{ ATTR_NOTICE, 0, &mad_notice, mad_notice_choose },
	{ ATTR_NODE_RECORD, 0, &node_record, NULL },
	{ ATTR_PORT_INFO_RECORD, 0, &port_info_record, NULL },
	{ ATTR_PATH_RECORD, 0, &path_record, NULL },
	{ ATTR_MC_MEMBER_RECORD, 0, &member_record, NULL },
	{ 0, 0, NULL, NULL },
};
