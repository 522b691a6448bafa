/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <iba/ib_types.h>

#include "wire/mad.h"

/*
 * Compares the field tables with OpenSM's structs, for fields that libibmad does not have. A row
 * gives a field and the byte at which OpenSM has it; `shift` is the bit offset in bytes that
 * several fields share.
 */
struct row {
	uint8_t class;
	uint16_t attribute;
	const char *field;
	size_t byte;
	size_t shift;
};

#define PATH(field, member, shift)                                                        \
	{                                                                                 \
		MAD_SA, ATTR_PATH_RECORD, field, offsetof(ib_path_rec_t, member), (shift) \
	}
#define MEMBER(field, member, shift)                                                             \
	{                                                                                        \
		MAD_SA, ATTR_MC_MEMBER_RECORD, field, offsetof(ib_member_rec_t, member), (shift) \
	}
#define NOTICE(details, member) \
	(offsetof(ib_mad_notice_attr_t, data_details) + offsetof(struct details, member))

static const struct row rows[] = {
	PATH("ServiceID", service_id, 0),
	PATH("DGID", dgid, 0),
	PATH("SGID", sgid, 0),
	PATH("DLID", dlid, 0),
	PATH("SLID", slid, 0),
	/* One word: raw traffic 1, reserved 3, flow label 20, hop limit 8. */
	PATH("RawTraffic", hop_flow_raw, 0),
	PATH("FlowLabel", hop_flow_raw, 4),
	PATH("HopLimit", hop_flow_raw, 24),
	PATH("TClass", tclass, 0),
	PATH("Reversible", num_path, 0),
	PATH("NumbPath", num_path, 1),
	PATH("P_Key", pkey, 0),
	PATH("QosClass", qos_class_sl, 0),
	PATH("SL", qos_class_sl, 12),
	PATH("MtuSelector", mtu, 0),
	PATH("Mtu", mtu, 2),
	PATH("RateSelector", rate, 0),
	PATH("Rate", rate, 2),
	PATH("PacketLifeTimeSelector", pkt_life, 0),
	PATH("PacketLifeTime", pkt_life, 2),
	PATH("Preference", preference, 0),
	MEMBER("MGID", mgid, 0),
	MEMBER("PortGID", port_gid, 0),
	MEMBER("Q_Key", qkey, 0),
	MEMBER("MLID", mlid, 0),
	MEMBER("MTUSelector", mtu, 0),
	MEMBER("MTU", mtu, 2),
	MEMBER("TClass", tclass, 0),
	MEMBER("P_Key", pkey, 0),
	MEMBER("RateSelector", rate, 0),
	MEMBER("Rate", rate, 2),
	MEMBER("PacketLifeTimeSelector", pkt_life, 0),
	MEMBER("PacketLifeTime", pkt_life, 2),
	MEMBER("SL", sl_flow_hop, 0),
	MEMBER("FlowLabel", sl_flow_hop, 4),
	MEMBER("HopLimit", sl_flow_hop, 24),
	MEMBER("Scope", scope_state, 0),
	MEMBER("JoinState", scope_state, 4),
	/* ProxyJoin is a bit-field of OpenSM's struct, after scope and state. */
	MEMBER("ProxyJoin", scope_state, 8),
	{ MAD_SA, ATTR_NODE_RECORD, "Guid",
	  offsetof(ib_node_record_t, node_info) + offsetof(ib_node_info_t, node_guid), 0 },
	{ MAD_SA, ATTR_NODE_RECORD, "NodeDesc", offsetof(ib_node_record_t, node_desc), 0 },
	{ MAD_SA, ATTR_PORT_INFO_RECORD, "EndPortLid", offsetof(ib_portinfo_record_t, lid), 0 },
	{ MAD_SA, ATTR_PORT_INFO_RECORD, "PortNum", offsetof(ib_portinfo_record_t, port_num), 0 },
	{ MAD_SA, ATTR_PORT_INFO_RECORD, "Mkey", offsetof(ib_portinfo_record_t, port_info), 0 },
	/* libibmad has this field in place of VL15Dropped. */
	{ MAD_PERF, ATTR_PORT_COUNTERS, "QP1Dropped", offsetof(ib_port_counters_t, qp1_dropped),
	  0 },
	{ MAD_PERF, ATTR_PORT_COUNTERS, "VL15Dropped", offsetof(ib_port_counters_t, vl15_dropped),
	  0 },
	{ MAD_PERF, ATTR_PORT_COUNTERS, "PortXmitWait", offsetof(ib_port_counters_t, xmit_wait),
	  0 },
	{ MAD_CC, ATTR_CA_CONGESTION, "Control_Map", offsetof(ib_ca_cong_setting_t, control_map),
	  0 },
	{ MAD_CC, ATTR_SWITCH_CONGESTION, "Marking_Rate",
	  offsetof(ib_sw_cong_setting_t, marking_rate), 0 },
};

static void fields_are_where_opensm_has_them(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct mad_attribute *a =
			mad_attribute(mad_class(rows[i].class), rows[i].attribute);
		struct field f;

		assert_non_null(a);
		assert_true(field_record_find(a->record, rows[i].field, &f));
		if (f.offset != 8 * rows[i].byte + rows[i].shift)
			fail_msg("%s.%s is at bit %u, OpenSM's at %zu", a->record->name,
				 rows[i].field, f.offset, 8 * rows[i].byte + rows[i].shift);
	}
}

/* The content of a notice depends on its trap. */
static void notices_are_as_opensm_has_them(void **state)
{
	(void)state;
	static const struct {
		uint16_t trap;
		const char *field;
		size_t byte;
		size_t shift;
	} traps[] = {
		{ 64, "NoticeGID", NOTICE(_ntc_64_67, gid), 0 },
		{ 67, "NoticeGID", NOTICE(_ntc_64_67, gid), 0 },
		{ 128, "NoticeDataLID", NOTICE(_ntc_128, sw_lid), 0 },
		{ 144, "NoticeDataTrap144LID", NOTICE(_ntc_144, lid), 0 },
		{ 144, "OtherLocalChanges", NOTICE(_ntc_144, local_changes), 7 },
		{ 144, "NoticeDataTrap144CapMask", NOTICE(_ntc_144, new_cap_mask), 0 },
		{ 144, "ChangeFlags", NOTICE(_ntc_144, change_flgs), 0 },
		{ 144, "CapabilityMask2", NOTICE(_ntc_144, cap_mask2), 0 },
		{ 257, "LIDADDR1", NOTICE(_ntc_257_258, lid1), 0 },
		{ 257, "LIDADDR2", NOTICE(_ntc_257_258, lid2), 0 },
		{ 258, "KEY", NOTICE(_ntc_257_258, key), 0 },
		{ 258, "SL", NOTICE(_ntc_257_258, qp1), 0 },
		{ 258, "QP1", NOTICE(_ntc_257_258, qp1), 8 },
		{ 258, "QP2", NOTICE(_ntc_257_258, qp2), 8 },
		{ 257, "GIDADDR1", NOTICE(_ntc_257_258, gid1), 0 },
		{ 257, "GIDADDR2", NOTICE(_ntc_257_258, gid2), 0 },
		{ 999, "NoticeDataDetails", NOTICE(_raw_data, details), 0 },
	};
	const struct mad_attribute *a = mad_attribute(mad_class(MAD_SMP), ATTR_NOTICE);

	for (size_t i = 0; i < sizeof(traps) / sizeof(*traps); i++) {
		uint8_t data[64] = { 0x80 };
		struct field f;

		data[4] = (uint8_t)(traps[i].trap >> 8);
		data[5] = (uint8_t)traps[i].trap;
		assert_true(field_record_find(a->choose(data), traps[i].field, &f));
		assert_int_equal(f.offset, 8 * traps[i].byte + traps[i].shift);
	}
}

static void sizes_are_opensms(void **state)
{
	(void)state;
	const struct mad_class *sa = mad_class(MAD_SA);
	const struct mad_class *cc = mad_class(MAD_CC);

	assert_int_equal(mad_attribute(sa, ATTR_PATH_RECORD)->record->size, sizeof(ib_path_rec_t));
	/* OpenSM's structs are padded to the unit of AttributeOffset, 8 bytes. */
	assert_int_equal(mad_attribute(sa, ATTR_MC_MEMBER_RECORD)->record->size,
			 sizeof(ib_member_rec_t) - 4);
	assert_int_equal(mad_attribute(sa, ATTR_NODE_RECORD)->record->size,
			 sizeof(ib_node_record_t) - 4);
	assert_int_equal(mad_attribute(sa, ATTR_PORT_INFO_RECORD)->record->size,
			 sizeof(ib_portinfo_record_t) - 4);
	assert_int_equal(mad_attribute(cc, ATTR_CA_CONGESTION)->record->size,
			 sizeof(ib_ca_cong_setting_t));
	assert_int_equal(mad_attribute(cc, ATTR_SWITCH_PORT_CONGESTION)->record->size,
			 sizeof(ib_sw_port_cong_setting_t));
	assert_int_equal(mad_attribute(cc, ATTR_CONGESTION_CONTROL_TABLE)->record->size,
			 sizeof(ib_cc_tbl_t));
	assert_int_equal(sa->data, offsetof(ib_sa_mad_t, data));
	assert_int_equal(cc->data, offsetof(ib_cc_mad_t, mgt_data));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_are_where_opensm_has_them),
		cmocka_unit_test(notices_are_as_opensm_has_them),
		cmocka_unit_test(sizes_are_opensms),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
