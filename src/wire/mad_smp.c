/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/mad_tables.h"

#include "wire/cursor.h"

/* One row per field, as in the standard's tables. */
/* clang-format off */

static const struct field_name node_types[] = {
	{ 1, "Channel Adapter" }, { 2, "Switch" }, { 3, "Router" }, { 0, NULL }
};

static const struct field node_description_fields[] = {
	F_STRING("NodeDesc", 0, 512),
	F_END
};

const struct record mad_node_description = {
	.name = "NodeDescription", .size = 64,
	.fields = node_description_fields
};

static const struct field node_info_fields[] = {
	F_UINT("BaseVers", 0, 8),
	F_UINT("ClassVers", 8, 8),
	F_ENUM("NodeType", 16, 8, node_types),
	F_UINT("NumPorts", 24, 8),
	F_HEX("SystemGuid", 32, 64),
	F_HEX("Guid", 96, 64),
	F_HEX("PortGuid", 160, 64),
	F_UINT("PartCap", 224, 16),
	F_HEX("DevId", 240, 16),
	F_HEX("Revision", 256, 32),
	F_UINT("LocalPort", 288, 8),
	F_HEX("VendorId", 296, 24),
	F_END
};

const struct record mad_node_info = {
	.name = "NodeInfo", .size = 40, .fields = node_info_fields
};

static const struct field switch_info_fields[] = {
	F_UINT("LinearFdbCap", 0, 16),
	F_UINT("RandomFdbCap", 16, 16),
	F_UINT("McastFdbCap", 32, 16),
	F_UINT("LinearFdbTop", 48, 16),
	F_UINT("DefPort", 64, 8),
	F_UINT("DefMcastPrimPort", 72, 8),
	F_UINT("DefMcastNotPrimPort", 80, 8),
	F_UINT("LifeTime", 88, 5),
	F_UINT("StateChange", 93, 1),
	F_UINT("OptSLtoVLMapping", 94, 2),
	F_UINT("LidsPerPort", 96, 16),
	F_UINT("PartEnforceCap", 112, 16),
	F_UINT("InboundPartEnf", 128, 1),
	F_UINT("OutboundPartEnf", 129, 1),
	F_UINT("FilterRawInbound", 130, 1),
	F_UINT("FilterRawOutbound", 131, 1),
	F_UINT("EnhancedPort0", 132, 1),
	F_HEX("MulticastFDBTop", 144, 16),
	F_END
};

static const struct record switch_info = {
	.name = "SwitchInfo", .size = 20, .fields = switch_info_fields
};

static const struct field guid_fields[] = { F_HEX("GUID", 0, 64), F_END };

static const struct field_group guid_group = {
	"GUIDBlock", guid_fields, 0, 64, 8, GROUP_WRAPPED
};

static const struct record guid_info = {
	.name = "GUIDInfo", .size = 64, .group = &guid_group
};

static const struct field_name capabilities[] = {
	{ 1U << 1, "IsSM" },
	{ 1U << 2, "IsNoticeSupported" },
	{ 1U << 3, "IsTrapSupported" },
	{ 1U << 4, "IsOptionalIPDSupported" },
	{ 1U << 5, "IsAutomaticMigrationSupported" },
	{ 1U << 6, "IsSLMappingSupported" },
	{ 1U << 7, "IsMKeyNVRAM" },
	{ 1U << 8, "IsPKeyNVRAM" },
	{ 1U << 9, "IsLedInfoSupported" },
	{ 1U << 10, "IsSMdisabled" },
	{ 1U << 11, "IsSystemImageGUIDsupported" },
	{ 1U << 12, "IsPkeySwitchExternalPortTrapSupported" },
	{ 1U << 14, "IsExtendedSpeedsSupported" },
	{ 1U << 15, "IsCapabilityMask2Supported" },
	/* libibmad's spelling, which scripts look for. */
	{ 1U << 16, "IsCommunicatonManagementSupported" },
	{ 1U << 17, "IsSNMPTunnelingSupported" },
	{ 1U << 18, "IsReinitSupported" },
	{ 1U << 19, "IsDeviceManagementSupported" },
	{ 1U << 20, "IsVendorClassSupported" },
	{ 1U << 21, "IsDRNoticeSupported" },
	{ 1U << 22, "IsCapabilityMaskNoticeSupported" },
	{ 1U << 23, "IsBootManagementSupported" },
	{ 1U << 24, "IsLinkRoundTripLatencySupported" },
	{ 1U << 25, "IsClientRegistrationSupported" },
	{ 1U << 26, "IsOtherLocalChangesNoticeSupported" },
	{ 1U << 27, "IsLinkSpeedWidthPairsTableSupported" },
	{ 1U << 28, "IsVendorSpecificMadsTableSupported" },
	{ 1U << 29, "IsMcastPkeyTrapSuppressionSupported" },
	{ 1U << 30, "IsMulticastFDBTopSupported" },
	{ 1U << 31, "IsHierarchyInfoSupported" },
	{ 0, NULL }
};

static const struct field_name capabilities2[] = {
	{ 1U << 0, "IsSetNodeDescriptionSupported" },
	{ 1U << 1, "IsPortInfoExtendedSupported" },
	{ 1U << 2, "IsVirtualizationSupported" },
	{ 1U << 3, "IsSwitchPortStateTableSupported" },
	{ 1U << 4, "IsLinkWidth2xSupported" },
	{ 1U << 5, "IsLinkSpeedHDRSupported" },
	{ 1U << 6, "IsMKeyProtectBitsExtSupported" },
	{ 1U << 7, "IsEnhancedTrap128Supported" },
	{ 1U << 8, "IsPartitionTopSupported" },
	{ 1U << 9, "IsEnhancedQoSArbiterSupported" },
	{ 1U << 10, "IsLinkSpeedNDRSupported" },
	{ 0, NULL }
};

static const struct field_name widths[] = {
	{ 1, "1X" }, { 2, "4X" }, { 4, "8X" }, { 8, "12X" }, { 16, "2X" },
	{ 0, NULL }
};

static const struct field_name speeds[] = {
	{ 1, "2.5 Gbps" }, { 2, "5.0 Gbps" }, { 4, "10.0 Gbps" }, { 0, NULL }
};

static const struct field_name active_speeds[] = {
	{ 0, "Extended speed" }, { 1, "2.5 Gbps" }, { 2, "5.0 Gbps" },
	{ 4, "10.0 Gbps" }, { 0, NULL }
};

static const struct field_name extended_speeds[] = {
	{ 0, "0" }, { 1, "14.0625 Gbps" }, { 2, "25.78125 Gbps" },
	{ 4, "53.125 Gbps" }, { 8, "106.25 Gbps" },
	{ 30, "Extended link speeds disabled" }, { 0, NULL }
};

static const struct field_name active_extended_speeds[] = {
	{ 0, "No Extended Speed" }, { 1, "14.0625 Gbps" },
	{ 2, "25.78125 Gbps" }, { 4, "53.125 Gbps" }, { 8, "106.25 Gbps" },
	{ 0, NULL }
};

static const struct field_name port_states[] = {
	{ 0, "NoChange" }, { 1, "Down" }, { 2, "Initialize" }, { 3, "Armed" },
	{ 4, "Active" }, { 0, NULL }
};

static const struct field_name physical_states[] = {
	{ 0, "NoChange" }, { 1, "Sleep" }, { 2, "Polling" }, { 3, "Disabled" },
	{ 4, "PortConfigurationTraining" }, { 5, "LinkUp" },
	{ 6, "LinkErrorRecovery" }, { 7, "PhyTest" }, { 0, NULL }
};

static const struct field_name down_states[] = {
	{ 0, "NoChange" }, { 1, "Sleep" }, { 2, "Polling" }, { 0, NULL }
};

static const struct field_name mtus[] = {
	{ 1, "256" }, { 2, "512" }, { 3, "1024" }, { 4, "2048" },
	{ 5, "4096" }, { 0, NULL }
};

static const struct field_name vls[] = {
	{ 1, "VL0" }, { 2, "VL0-1" }, { 3, "VL0-3" }, { 4, "VL0-7" },
	{ 5, "VL0-14" }, { 0, NULL }
};

static const struct field_name operational_vls[] = {
	{ 0, "No change" }, { 1, "VL0" }, { 2, "VL0-1" }, { 3, "VL0-3" },
	{ 4, "VL0-7" }, { 5, "VL0-14" }, { 0, NULL }
};

static const struct field port_info_fields[] = {
	F_HEX("Mkey", 0, 64),
	F_HEX("GidPrefix", 64, 64),
	F_UINT("Lid", 128, 16),
	F_UINT("SMLid", 144, 16),
	F_MASK("CapMask", 160, 32, capabilities),
	F_HEX("DiagCode", 192, 16),
	F_UINT("MkeyLeasePeriod", 208, 16),
	F_UINT("LocalPort", 224, 8),
	F_SET("LinkWidthEnabled", 232, 8, widths),
	F_SET("LinkWidthSupported", 240, 8, widths),
	F_ENUM("LinkWidthActive", 248, 8, widths),
	F_SET("LinkSpeedSupported", 256, 4, speeds),
	F_ENUM("LinkState", 260, 4, port_states),
	F_ENUM("PhysLinkState", 264, 4, physical_states),
	F_ENUM("LinkDownDefState", 268, 4, down_states),
	F_UINT("ProtectBits", 272, 2),
	F_UINT("LMC", 277, 3),
	F_ENUM("LinkSpeedActive", 280, 4, active_speeds),
	F_SET("LinkSpeedEnabled", 284, 4, speeds),
	F_ENUM("NeighborMTU", 288, 4, mtus),
	F_UINT("SMSL", 292, 4),
	F_ENUM("VLCap", 296, 4, vls),
	F_HEX("InitType", 300, 4),
	F_UINT("VLHighLimit", 304, 8),
	F_UINT("VLArbHighCap", 312, 8),
	F_UINT("VLArbLowCap", 320, 8),
	F_HEX("InitReply", 328, 4),
	F_ENUM("MtuCap", 332, 4, mtus),
	F_UINT("VLStallCount", 336, 3),
	F_UINT("HoqLife", 339, 5),
	F_ENUM("OperVLs", 344, 4, operational_vls),
	F_UINT("PartEnforceInb", 348, 1),
	F_UINT("PartEnforceOutb", 349, 1),
	F_UINT("FilterRawInb", 350, 1),
	F_UINT("FilterRawOutb", 351, 1),
	F_UINT("MkeyViolations", 352, 16),
	F_UINT("PkeyViolations", 368, 16),
	F_UINT("QkeyViolations", 384, 16),
	F_UINT("GuidCap", 400, 8),
	F_UINT("ClientReregister", 408, 1),
	F_UINT("McastPkeyTrapSuppressionEnabled", 409, 2),
	F_UINT("SubnetTimeout", 411, 5),
	F_UINT("RespTimeVal", 419, 5),
	F_UINT("LocalPhysErr", 424, 4),
	F_UINT("OverrunErr", 428, 4),
	F_UINT("MaxCreditHint", 432, 16),
	F_UINT("RoundTrip", 456, 24),
	F_MASK("CapabilityMask2", 480, 16, capabilities2),
	F_ENUM("LinkSpeedExtActive", 496, 4, active_extended_speeds),
	F_SET("LinkSpeedExtSupported", 500, 4, extended_speeds),
	F_SET("LinkSpeedExtEnabled", 507, 5, extended_speeds),
	F_END
};

const struct record mad_port_info = {
	.name = "PortInfo", .size = 64, .fields = port_info_fields
};

static const struct field pkey_fields[] = { F_HEX("P_Key", 0, 16), F_END };

static const struct field_group pkey_group = {
	"P_KeyBlock", pkey_fields, 0, 16, 32, GROUP_WRAPPED
};

static const struct record pkey_table = {
	.name = "P_KeyTable", .size = 64, .group = &pkey_group
};

static const struct field sl_to_vl_fields[] = { F_UINT("VL", 0, 4), F_END };

static const struct field_group sl_to_vl_group = {
	"SL", sl_to_vl_fields, 0, 4, 16, GROUP_CELLS
};

static const struct record sl_to_vl = {
	.name = "SLtoVLMappingTable", .size = 8, .group = &sl_to_vl_group
};

static const struct field arbitration_fields[] = {
	F_UINT("VL", 4, 4),
	F_UINT("WEIGHT", 8, 8),
	F_END
};

static const struct field_group arbitration_group = {
	"Entry", arbitration_fields, 0, 16, 32, GROUP_ROWS
};

static const struct record vl_arbitration = {
	.name = "VLArbitrationTable", .size = 64, .group = &arbitration_group
};

static const struct field linear_fields[] = { F_UINT("Port", 0, 8), F_END };

static const struct field_group linear_group = {
	"PortBlock", linear_fields, 0, 8, 64, GROUP_WRAPPED
};

static const struct record linear_forwarding = {
	.name = "LinearForwardingTable", .size = 64, .group = &linear_group
};

static const struct field random_fields[] = {
	F_UINT("LID", 0, 16),
	F_UINT("Valid", 16, 1),
	F_UINT("LMC", 17, 3),
	F_UINT("Port", 24, 8),
	F_END
};

static const struct field_group random_group = {
	"Entry", random_fields, 0, 32, 16, GROUP_ENTRIES
};

static const struct record random_forwarding = {
	.name = "RandomForwardingTable", .size = 64, .group = &random_group
};

static const struct field multicast_fields[] = {
	F_HEX("PortMask", 0, 16),
	F_END
};

static const struct field_group multicast_group = {
	"PortMaskBlock", multicast_fields, 0, 16, 32, GROUP_WRAPPED
};

static const struct record multicast_forwarding = {
	.name = "MulticastForwardingTable", .size = 64,
	.group = &multicast_group
};

static const struct field sm_info_fields[] = {
	F_HEX("SmInfoGuid", 0, 64),
	F_HEX("SmInfoKey", 64, 64),
	F_UINT("SmActivity", 128, 32),
	F_UINT("SmPriority", 160, 4),
	F_UINT("SmState", 164, 4),
	F_END
};

static const struct record sm_info = {
	.name = "SMInfo", .size = 21, .fields = sm_info_fields
};

static const struct field vendor_diag_fields[] = {
	F_UINT("NextIndex", 0, 16),
	F_BYTES("DiagData", 16, 496),
	F_END
};

static const struct record vendor_diag = {
	.name = "VendorDiag", .size = 64, .fields = vendor_diag_fields
};

static const struct field led_info_fields[] = {
	F_UINT("LedMask", 0, 1),
	F_END
};

static const struct record led_info = {
	.name = "LedInfo", .size = 4, .fields = led_info_fields
};

/* Common first fields of notices; the trap number selects the others. */
#define NOTICE_HEAD                                                  \
	F_UINT("NoticeIsGeneric", 0, 1), F_UINT("NoticeType", 1, 7), \
		F_ENUM("NoticeProducerType", 8, 24, node_types),     \
		F_UINT("NoticeTrapNumber", 32, 16),                  \
		F_UINT("NoticeIssuerLID", 48, 16),                   \
		F_UINT("NoticeToggle", 64, 1), F_UINT("NoticeCount", 65, 15)

static const struct field notice_fields[] = {
	NOTICE_HEAD,
	F_BYTES("NoticeDataDetails", 80, 432),
	F_END
};

const struct record mad_notice = {
	.name = "Notice", .size = 64, .fields = notice_fields
};

/* Traps 64 to 67: a port or a multicast group was added or removed. */
static const struct field notice_gid_fields[] = {
	NOTICE_HEAD,
	F_GID("NoticeGID", 128),
	F_END
};

static const struct record notice_gid = {
	.name = "Notice", .size = 64, .fields = notice_gid_fields
};

/* Trap 128: a link of a switch changed its state. */
static const struct field notice_link_fields[] = {
	NOTICE_HEAD,
	F_UINT("NoticeDataLID", 80, 16),
	F_END
};

static const struct record notice_link = {
	.name = "Notice", .size = 64, .fields = notice_link_fields
};

/* Trap 144: the capabilities or other attributes of a port changed. */
static const struct field notice_local_fields[] = {
	NOTICE_HEAD,
	F_UINT("NoticeDataTrap144LID", 96, 16),
	F_UINT("OtherLocalChanges", 127, 1),
	F_HEX("NoticeDataTrap144CapMask", 128, 32),
	F_HEX("ChangeFlags", 160, 16),
	F_HEX("CapabilityMask2", 176, 16),
	F_END
};

static const struct record notice_local = {
	.name = "Notice", .size = 64, .fields = notice_local_fields
};

/* Traps 257 and 258: a packet with a bad P_Key or Q_Key. */
static const struct field notice_key_fields[] = {
	NOTICE_HEAD,
	F_UINT("LIDADDR1", 96, 16),
	F_UINT("LIDADDR2", 112, 16),
	F_HEX("KEY", 128, 32),
	F_UINT("SL", 160, 4),
	F_HEX("QP1", 168, 24),
	F_HEX("QP2", 200, 24),
	F_GID("GIDADDR1", 224),
	F_GID("GIDADDR2", 352),
	F_END
};

static const struct record notice_key = {
	.name = "Notice", .size = 64, .fields = notice_key_fields
};

/* clang-format on */

const struct record *mad_notice_choose(const uint8_t *data)
{
	bool generic = data[0] >> 7;

	if (!generic)
		return &mad_notice;
	switch (load_be16(data + 4)) {
	case 64:
	case 65:
	case 66:
	case 67:
		return &notice_gid;
	case 128:
		return &notice_link;
	case 144:
		return &notice_local;
	case 257:
	case 258:
		return &notice_key;
	default:
		return &mad_notice;
	}
}

const struct mad_attribute mad_smp_attributes[] = {
	{ ATTR_NOTICE, 0, &mad_notice, mad_notice_choose },
	{ ATTR_NODE_DESCRIPTION, 0, &mad_node_description, NULL },
	{ ATTR_NODE_INFO, 0, &mad_node_info, NULL },
	{ ATTR_SWITCH_INFO, 0, &switch_info, NULL },
	{ ATTR_GUID_INFO, 0, &guid_info, NULL },
	{ ATTR_PORT_INFO, 0, &mad_port_info, NULL },
	{ ATTR_PKEY_TABLE, 0, &pkey_table, NULL },
	{ ATTR_SL_TO_VL, 0, &sl_to_vl, NULL },
	{ ATTR_VL_ARBITRATION, 0, &vl_arbitration, NULL },
	{ ATTR_LINEAR_FORWARDING, 0, &linear_forwarding, NULL },
	{ ATTR_RANDOM_FORWARDING, 0, &random_forwarding, NULL },
	{ ATTR_MULTICAST_FORWARDING, 0, &multicast_forwarding, NULL },
	{ ATTR_SM_INFO, 0, &sm_info, NULL },
	{ ATTR_VENDOR_DIAG, 0, &vendor_diag, NULL },
	{ ATTR_LED_INFO, 0, &led_info, NULL },
	{ 0, 0, NULL, NULL },
};
