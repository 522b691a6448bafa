/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/mad_tables.h"

/* One row per field, as in the standard's tables. */
/* clang-format off */

static const struct field congestion_info_fields[] = {
	F_HEX("CongestionInfo", 0, 16),
	F_UINT("ControlTableCap", 16, 8), /* in blocks of 64 entries */
	F_END
};

static const struct record congestion_info = {
	.name = "CongestionInfo", .size = 4, .fields = congestion_info_fields
};

static const struct field key_info_fields[] = {
	F_HEX("CC_Key", 0, 64),
	F_UINT("CC_KeyProtectBit", 64, 1),
	F_UINT("CC_KeyLeasePeriod", 80, 16),
	F_UINT("CC_KeyViolations", 96, 16),
	F_END
};

static const struct record key_info = {
	.name = "CongestionKeyInfo", .size = 16, .fields = key_info_fields
};

static const struct field_name log_types[] = {
	{ 1, "switch" }, { 2, "channel adapter" }, { 0, NULL }
};

#define LOG_HEAD \
	F_ENUM("LogType", 0, 8, log_types), F_HEX("CongestionFlags", 8, 8)

static const struct field log_fields[] = { LOG_HEAD, F_END };

static const struct record congestion_log = {
	.name = "CongestionLog", .size = 224, .fields = log_fields
};

static const struct field switch_log_fields[] = {
	LOG_HEAD,
	F_UINT("LogEventsCounter", 16, 16),
	F_UINT("CurrentTimeStamp", 32, 32),
	F_BYTES("PortMap", 64, 256),
	F_END
};

static const struct field switch_event_fields[] = {
	F_UINT("SLID", 0, 16),
	F_UINT("DLID", 16, 16),
	F_UINT("SL", 32, 4),
	F_UINT("Timestamp", 64, 32),
	F_END
};

static const struct field_group switch_events = {
	"CongestionLogEvent", switch_event_fields, 320, 96, 15, GROUP_ENTRIES
};

static const struct record switch_log = {
	.name = "CongestionLog", .size = 224, .fields = switch_log_fields,
	.group = &switch_events
};

static const struct field ca_log_fields[] = {
	LOG_HEAD,
	F_UINT("ThresholdEventCounter", 16, 16),
	F_HEX("ThresholdCongestionEventMap", 32, 16),
	F_UINT("CurrentTimeStamp", 64, 32),
	F_END
};

/* As in libibmad, whose fields ibccquery prints; OpenSM's headers differ. */
static const struct field ca_event_fields[] = {
	F_UINT("Local_QP_CN_Entry", 0, 24),
	F_UINT("SL_CN_Entry", 24, 4),
	F_HEX("Service_Type_CN_Entry", 28, 4),
	F_UINT("Remote_QP_Number_CN_Entry", 32, 24),
	F_UINT("Local_LID_CN", 64, 16),
	F_UINT("Remote_LID_CN_Entry", 80, 16),
	F_UINT("Timestamp_CN_Entry", 96, 32),
	F_END
};

static const struct field_group ca_events = {
	"CongestionLogEvent", ca_event_fields, 96, 128, 13, GROUP_ENTRIES
};

static const struct record ca_log = {
	.name = "CongestionLog", .size = 224, .fields = ca_log_fields,
	.group = &ca_events
};

static const struct field switch_setting_fields[] = {
	F_HEX("Control_Map", 0, 32),
	F_BYTES("Victim_Mask", 32, 256),
	F_BYTES("Credit_Mask", 288, 256),
	F_HEX("Threshold", 544, 4),
	F_UINT("Packet_Size", 552, 8),
	F_HEX("CS_Threshold", 560, 4),
	F_HEX("CS_ReturnDelay", 576, 16),
	F_UINT("Marking_Rate", 592, 16),
	F_END
};

static const struct record switch_setting = {
	.name = "SwitchCongestionSetting", .size = 76,
	.fields = switch_setting_fields
};

static const struct field port_setting_fields[] = {
	F_UINT("Valid", 0, 1),
	F_UINT("Control_Type", 1, 1),
	F_HEX("Threshold", 4, 4),
	F_UINT("Packet_Size", 8, 8),
	F_UINT("Cong_Parm_Marking_Rate", 16, 16),
	F_END
};

static const struct field_group port_settings = {
	"Element", port_setting_fields, 0, 32, 32, GROUP_ENTRIES
};

static const struct record switch_port_setting = {
	.name = "SwitchPortCongestionSetting", .size = 128,
	.group = &port_settings
};

static const struct field ca_setting_fields[] = {
	F_HEX("Port_Control", 0, 16),
	F_HEX("Control_Map", 16, 16),
	F_END
};

static const struct field ca_entry_fields[] = {
	F_UINT("CCTI_Timer", 0, 16),
	F_UINT("CCTI_Increase", 16, 8),
	F_UINT("Trigger_Threshold", 24, 8),
	F_UINT("CCTI_Min", 32, 8),
	F_END
};

static const struct field_group ca_entries = {
	"CongestionEntry", ca_entry_fields, 32, 64, 16, GROUP_ENTRIES
};

static const struct record ca_setting = {
	.name = "CACongestionSetting", .size = 132,
	.fields = ca_setting_fields, .group = &ca_entries
};

static const struct field control_table_fields[] = {
	F_UINT("CCTI_Limit", 0, 16),
	F_END
};

static const struct field control_entry_fields[] = {
	F_UINT("CCT_Shift", 0, 2),
	F_UINT("CCT_Multiplier", 2, 14),
	F_END
};

static const struct field_group control_entries = {
	"CCT_Entry", control_entry_fields, 32, 16, 64, GROUP_ENTRIES
};

static const struct record control_table = {
	.name = "CongestionControlTable", .size = 132,
	.fields = control_table_fields, .group = &control_entries
};

static const struct field time_stamp_fields[] = {
	F_UINT("Timestamp", 0, 32), /* in units of 1.024 us */
	F_END
};

static const struct record time_stamp = {
	.name = "TimeStamp", .size = 4, .fields = time_stamp_fields
};

/* clang-format on */

static const struct record *choose_log(const uint8_t *data)
{
	switch (data[0]) {
	case 1:
		return &switch_log;
	case 2:
		return &ca_log;
	default:
		return &congestion_log;
	}
}

/* The log has no reserved bytes before its data, unlike the other attributes. */
#define LOG_OFFSET 32

const struct mad_attribute mad_cc_attributes[] = {
	{ ATTR_CLASS_PORT_INFO, 0, &mad_class_port_info, NULL },
	{ ATTR_NOTICE, 0, &mad_notice, mad_notice_choose },
	{ ATTR_CONGESTION_INFO, 0, &congestion_info, NULL },
	{ ATTR_CONGESTION_KEY_INFO, 0, &key_info, NULL },
	{ ATTR_CONGESTION_LOG, LOG_OFFSET, &congestion_log, choose_log },
	{ ATTR_SWITCH_CONGESTION, 0, &switch_setting, NULL },
	{ ATTR_SWITCH_PORT_CONGESTION, 0, &switch_port_setting, NULL },
	{ ATTR_CA_CONGESTION, 0, &ca_setting, NULL },
	{ ATTR_CONGESTION_CONTROL_TABLE, 0, &control_table, NULL },
	{ ATTR_TIME_STAMP, 0, &time_stamp, NULL },
	{ 0, 0, NULL, NULL },
};
