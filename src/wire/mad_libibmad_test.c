/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <infiniband/mad.h>

#include <string.h>

#include "base/rng.h"
#include "wire/mad.h"

/*
 * Compares the field tables with libibmad's: fields of the same name have the same bits, and
 * values are printed as the same text, so that parsers of smpquery's output work.
 */

/* Fields first..last-1 of libibmad, which are in one attribute. */
struct range {
	uint8_t class;
	uint16_t attribute;
	int first, last;
	uint8_t variant; /* first byte of the attribute, if it selects the record */
	bool in_group;   /* the fields are those of a group's entry */
	uint16_t trap;   /* for a notice */
};

static const struct range ranges[] = {
	{ .class = MAD_SMP,
	  .attribute = ATTR_NODE_INFO,
	  .first = IB_NODE_FIRST_F,
	  .last = IB_NODE_LAST_F },
	{ .class = MAD_SMP,
	  .attribute = ATTR_SWITCH_INFO,
	  .first = IB_SW_FIRST_F,
	  .last = IB_SW_LAST_F },
	{ .class = MAD_SMP_DIRECT,
	  .attribute = ATTR_PORT_INFO,
	  .first = IB_PORT_FIRST_F,
	  .last = IB_PORT_LAST_F },
	{ .class = MAD_SMP,
	  .attribute = ATTR_PORT_INFO,
	  .first = IB_PORT_CAPMASK2_F,
	  .last = IB_PORT_LINK_SPEED_EXT_LAST_F },
	{ .class = MAD_SMP,
	  .attribute = ATTR_NODE_DESCRIPTION,
	  .first = IB_NODE_DESC_F,
	  .last = IB_NODE_DESC_F + 1 },
	{ .class = MAD_SMP,
	  .attribute = ATTR_SM_INFO,
	  .first = IB_SMINFO_GUID_F,
	  .last = IB_SMINFO_STATE_F + 1 },
	{ .class = MAD_SMP,
	  .attribute = ATTR_NOTICE,
	  .first = IB_NOTICE_IS_GENERIC_F,
	  .last = IB_NOTICE_DATA_DETAILS_F + 1 },
	{ .class = MAD_SMP,
	  .attribute = ATTR_NOTICE,
	  .first = IB_NOTICE_DATA_LID_F,
	  .last = IB_NOTICE_DATA_LID_F + 1,
	  .variant = 0x80,
	  .trap = 128 },
	{ .class = MAD_SMP,
	  .attribute = ATTR_NOTICE,
	  .first = IB_NOTICE_DATA_144_LID_F,
	  .last = IB_NOTICE_DATA_144_CAPMASK_F + 1,
	  .variant = 0x80,
	  .trap = 144 },
	{ .class = MAD_PERF,
	  .attribute = ATTR_CLASS_PORT_INFO,
	  .first = IB_CPI_BASEVER_F,
	  .last = IB_CPI_TRAP_QKEY_F + 1 },
	{ .class = MAD_PERF,
	  .attribute = ATTR_PORT_COUNTERS,
	  .first = IB_PC_FIRST_F,
	  .last = IB_PC_LAST_F },
	{ .class = MAD_PERF,
	  .attribute = ATTR_PORT_COUNTERS_EXT,
	  .first = IB_PC_EXT_FIRST_F,
	  .last = IB_PC_EXT_LAST_F },
	{ .class = MAD_PERF,
	  .attribute = ATTR_PORT_COUNTERS_EXT,
	  .first = IB_PC_EXT_COUNTER_SELECT2_F,
	  .last = IB_PC_EXT_ERR_LAST_F },
	{ .class = MAD_PERF,
	  .attribute = ATTR_PORT_XMIT_DATA_SL,
	  .first = IB_PC_XMT_DATA_SL_FIRST_F,
	  .last = IB_PC_XMT_DATA_SL_LAST_F },
	{ .class = MAD_PERF,
	  .attribute = ATTR_PORT_RCV_DATA_SL,
	  .first = IB_PC_RCV_DATA_SL_FIRST_F,
	  .last = IB_PC_RCV_DATA_SL_LAST_F },
	{ .class = MAD_PERF,
	  .attribute = ATTR_PORT_FLOW_CONTROL,
	  .first = IB_PC_PORT_FLOW_CTL_COUNTERS_FIRST_F,
	  .last = IB_PC_PORT_FLOW_CTL_COUNTERS_LAST_F },
	{ .class = MAD_PERF,
	  .attribute = ATTR_PORT_VL_OP_PACKETS,
	  .first = IB_PC_PORT_VL_OP_PACKETS_FIRST_F,
	  .last = IB_PC_PORT_VL_OP_PACKETS_LAST_F },
	{ .class = MAD_PERF,
	  .attribute = ATTR_PORT_VL_OP_DATA,
	  .first = IB_PC_PORT_VL_OP_DATA_FIRST_F,
	  .last = IB_PC_PORT_VL_OP_DATA_LAST_F },
	{ .class = MAD_PERF,
	  .attribute = ATTR_PORT_VL_XMIT_WAIT,
	  .first = IB_PC_PORT_VL_XMIT_WAIT_COUNTERS_FIRST_F,
	  .last = IB_PC_PORT_VL_XMIT_WAIT_COUNTERS_LAST_F },
	{ .class = MAD_PERF,
	  .attribute = ATTR_PORT_XMIT_DISCARD_DETAILS,
	  .first = IB_PC_XMT_INACT_DISC_F,
	  .last = IB_PC_XMT_DISC_LAST_F },
	{ .class = MAD_PERF,
	  .attribute = ATTR_PORT_RCV_ERROR_DETAILS,
	  .first = IB_PC_RCV_LOCAL_PHY_ERR_F,
	  .last = IB_PC_RCV_ERR_LAST_F },
	{ .class = MAD_PERF,
	  .attribute = ATTR_PORT_RCV_CON_CTRL,
	  .first = IB_PC_RCV_CON_CTRL_FIRST_F,
	  .last = IB_PC_RCV_CON_CTRL_LAST_F },
	{ .class = MAD_PERF,
	  .attribute = ATTR_PORT_SAMPLES_CONTROL,
	  .first = IB_PSC_OPCODE_F,
	  .last = IB_PSC_LAST_F },
	{ .class = MAD_PERF,
	  .attribute = ATTR_PORT_OP_RCV,
	  .first = IB_PC_PORT_OP_RCV_COUNTERS_FIRST_F,
	  .last = IB_PC_PORT_OP_RCV_COUNTERS_LAST_F },
	{ .class = MAD_PERF,
	  .attribute = ATTR_PORT_VL_FLOW_ERRORS,
	  .first = IB_PC_PORT_VL_XMIT_FLOW_CTL_UPDATE_ERRORS_FIRST_F,
	  .last = IB_PC_PORT_VL_XMIT_FLOW_CTL_UPDATE_ERRORS_LAST_F },
	{ .class = MAD_PERF,
	  .attribute = ATTR_PORT_EXT_SPEEDS,
	  .first = IB_PESC_PORT_SELECT_F,
	  .last = IB_PESC_LAST_F },
	{ .class = MAD_PERF,
	  .attribute = ATTR_SW_PORT_VL_CONGESTION,
	  .first = IB_PC_SW_PORT_VL_CONGESTION_FIRST_F,
	  .last = IB_PC_SW_PORT_VL_CONGESTION_LAST_F },
	{ .class = MAD_PERF,
	  .attribute = ATTR_PORT_SL_RCV_FECN,
	  .first = IB_PC_SL_RCV_FECN_FIRST_F,
	  .last = IB_PC_SL_RCV_FECN_LAST_F },
	{ .class = MAD_PERF,
	  .attribute = ATTR_PORT_SL_RCV_BECN,
	  .first = IB_PC_SL_RCV_BECN_FIRST_F,
	  .last = IB_PC_SL_RCV_BECN_LAST_F },
	{ .class = MAD_PERF,
	  .attribute = ATTR_PORT_XMIT_CON_CTRL,
	  .first = IB_PC_XMIT_CON_CTRL_FIRST_F,
	  .last = IB_PC_XMIT_CON_CTRL_LAST_F },
	{ .class = MAD_PERF,
	  .attribute = ATTR_PORT_VL_TIME_CONG,
	  .first = IB_PC_VL_XMIT_TIME_CONG_FIRST_F,
	  .last = IB_PC_VL_XMIT_TIME_CONG_LAST_F },
	{ .class = MAD_SA,
	  .attribute = ATTR_NODE_RECORD,
	  .first = IB_SA_NR_FIRST_F,
	  .last = IB_SA_NR_LAST_F },
	{ .class = MAD_CC,
	  .attribute = ATTR_CONGESTION_INFO,
	  .first = IB_CC_CONGESTION_INFO_FIRST_F,
	  .last = IB_CC_CONGESTION_INFO_LAST_F },
	{ .class = MAD_CC,
	  .attribute = ATTR_CONGESTION_KEY_INFO,
	  .first = IB_CC_CONGESTION_KEY_INFO_FIRST_F,
	  .last = IB_CC_CONGESTION_KEY_INFO_LAST_F },
	{ .class = MAD_CC,
	  .attribute = ATTR_CONGESTION_LOG,
	  .first = IB_CC_CONGESTION_LOG_SWITCH_FIRST_F,
	  .last = IB_CC_CONGESTION_LOG_SWITCH_LAST_F,
	  .variant = 1 },
	{ .class = MAD_CC,
	  .attribute = ATTR_CONGESTION_LOG,
	  .first = IB_CC_CONGESTION_LOG_ENTRY_SWITCH_FIRST_F,
	  .last = IB_CC_CONGESTION_LOG_ENTRY_SWITCH_LAST_F,
	  .variant = 1,
	  .in_group = true },
	{ .class = MAD_CC,
	  .attribute = ATTR_CONGESTION_LOG,
	  .first = IB_CC_CONGESTION_LOG_CA_FIRST_F,
	  .last = IB_CC_CONGESTION_LOG_CA_LAST_F,
	  .variant = 2 },
	{ .class = MAD_CC,
	  .attribute = ATTR_CONGESTION_LOG,
	  .first = IB_CC_CONGESTION_LOG_ENTRY_CA_FIRST_F,
	  .last = IB_CC_CONGESTION_LOG_ENTRY_CA_LAST_F,
	  .variant = 2,
	  .in_group = true },
	{ .class = MAD_CC,
	  .attribute = ATTR_SWITCH_CONGESTION,
	  .first = IB_CC_SWITCH_CONGESTION_SETTING_FIRST_F,
	  .last = IB_CC_SWITCH_CONGESTION_SETTING_LAST_F },
	{ .class = MAD_CC,
	  .attribute = ATTR_SWITCH_PORT_CONGESTION,
	  .first = IB_CC_SWITCH_PORT_CONGESTION_SETTING_ELEMENT_FIRST_F,
	  .last = IB_CC_SWITCH_PORT_CONGESTION_SETTING_ELEMENT_LAST_F,
	  .in_group = true },
	{ .class = MAD_CC,
	  .attribute = ATTR_CA_CONGESTION,
	  .first = IB_CC_CA_CONGESTION_SETTING_FIRST_F,
	  .last = IB_CC_CA_CONGESTION_SETTING_LAST_F },
	{ .class = MAD_CC,
	  .attribute = ATTR_CA_CONGESTION,
	  .first = IB_CC_CA_CONGESTION_ENTRY_FIRST_F,
	  .last = IB_CC_CA_CONGESTION_ENTRY_LAST_F,
	  .in_group = true },
	{ .class = MAD_CC,
	  .attribute = ATTR_CONGESTION_CONTROL_TABLE,
	  .first = IB_CC_CONGESTION_CONTROL_TABLE_FIRST_F,
	  .last = IB_CC_CONGESTION_CONTROL_TABLE_LAST_F },
	{ .class = MAD_CC,
	  .attribute = ATTR_CONGESTION_CONTROL_TABLE,
	  .first = IB_CC_CONGESTION_CONTROL_TABLE_ENTRY_FIRST_F,
	  .last = IB_CC_CONGESTION_CONTROL_TABLE_ENTRY_LAST_F,
	  .in_group = true },
	{ .class = MAD_CC,
	  .attribute = ATTR_TIME_STAMP,
	  .first = IB_CC_TIMESTAMP_FIRST_F,
	  .last = IB_CC_TIMESTAMP_LAST_F },
};

#define N_RANGES (sizeof(ranges) / sizeof(*ranges))

static const struct record *record_of(const struct range *r, uint8_t *data)
{
	const struct mad_class *class = mad_class(r->class);
	const struct mad_attribute *a = mad_attribute(class, r->attribute);

	assert_non_null(a);
	if (a->choose) {
		data[0] = r->variant;
		data[4] = (uint8_t)(r->trap >> 8);
		data[5] = (uint8_t)r->trap;
		return a->choose(data);
	}
	return a->record;
}

/* Heddle's field of that name; offsets in a group are relative to the entry. */
static struct field our_field(const struct record *rec, bool in_group, const char *name)
{
	struct field f = { .name = NULL };

	if (!in_group) {
		if (!field_record_find(rec, name, &f))
			fail_msg("%s has no field %s", rec->name, name);
		return f;
	}
	for (const struct field *g = rec->group->fields; g->name; g++)
		if (strcmp(g->name, name) == 0)
			f = *g;
	if (!f.name)
		fail_msg("%s has no entry field %s", rec->name, name);
	return f;
}

static void same_bits(const struct field *f, int theirs, uint8_t *data)
{
	uint8_t array[64];

	if (f->width == 64) {
		assert_true(field_get(f, data) ==
			    mad_get_field64(data, 0, (enum MAD_FIELDS)theirs));
	} else if (f->width < 64) {
		assert_int_equal(field_get(f, data),
				 mad_get_field(data, 0, (enum MAD_FIELDS)theirs));
	} else {
		mad_get_array(data, 0, (enum MAD_FIELDS)theirs, array);
		assert_memory_equal(array, data + f->offset / 8, f->width / 8);
	}
}

/* Compares field `f` of libibmad in range `r`, with random values of all bits. */
static void compare_bits(const struct range *r, int f, struct rng *rng)
{
	uint8_t data[256] = { 0 };
	const struct record *rec = record_of(r, data);
	struct field ours = our_field(rec, r->in_group, mad_field_name((enum MAD_FIELDS)f));

	for (int round = 0; round < 20; round++) {
		for (size_t k = 0; k < sizeof(data); k++)
			data[k] = (uint8_t)rng_next(rng);
		same_bits(&ours, f, data);
	}
}

static void fields_are_where_libibmad_has_them(void **state)
{
	(void)state;
	struct rng rng;
	unsigned n = 0;

	rng_init(&rng, 5, 1);
	for (size_t i = 0; i < N_RANGES; i++) {
		for (int f = ranges[i].first; f < ranges[i].last; f++) {
			compare_bits(&ranges[i], f, &rng);
			n++;
		}
	}
	assert_true(n > 250);
}

/* A value of the field that has a name. */
static uint64_t draw_legal(struct rng *rng, const struct field *f)
{
	uint64_t n = 0, value = 0;

	if (f->kind != FIELD_ENUM && f->kind != FIELD_SET)
		return rng_next(rng);
	while (f->names[n].name)
		n++;
	if (f->kind == FIELD_ENUM)
		return f->names[rng_below(rng, n)].value;
	/* Sets of the lowest bits: libibmad adds a remark to other values. */
	value = (UINT64_C(2) << rng_below(rng, f->width > 4 ? 5 : 3)) - 1;
	return f->width == 5 ? value & 0xF : value;
}

static void print_both(const struct field *f, int theirs, uint8_t *data)
{
	struct strbuf ours = STRBUF_INIT;
	char text[2048] = "";
	uint8_t value[64] = { 0 };

	mad_decode_field(data, (enum MAD_FIELDS)theirs, value);
	mad_dump_val((enum MAD_FIELDS)theirs, text, sizeof(text), value);
	field_print(f, data, &ours);
	if (strcmp(ours.text, text) != 0)
		fail_msg("%s: ours '%s', libibmad's '%s'", f->name, ours.text, text);
	strbuf_fini(&ours);
}

/* False for GIDs and texts, which libibmad prints as hex, and masks, which it prints in decimal. */
static bool is_printed_alike(const struct field *ours, int theirs)
{
	return theirs != IB_NOTICE_DATA_144_CAPMASK_F && ours->kind != FIELD_GID &&
	       ours->kind != FIELD_STRING && ours->kind != FIELD_BYTES;
}

static void compare_text(const struct range *r, int f, struct rng *rng)
{
	uint8_t data[256] = { 0 };
	const struct record *rec = record_of(r, data);
	struct field ours = our_field(rec, r->in_group, mad_field_name((enum MAD_FIELDS)f));

	for (int i = 0; is_printed_alike(&ours, f) && i < 20; i++) {
		field_set(&ours, data, draw_legal(rng, &ours));
		print_both(&ours, f, data);
	}
}

static void values_print_as_libibmad_prints_them(void **state)
{
	(void)state;
	struct rng rng;

	rng_init(&rng, 6, 1);
	for (size_t i = 0; i < N_RANGES; i++)
		for (int f = ranges[i].first; f < ranges[i].last; f++)
			compare_text(&ranges[i], f, &rng);
}

/* Offsets of header fields in the whole MAD. */
static void headers_are_where_libibmad_has_them(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		int theirs;
		uint8_t class;
	} rows[] = {
		{ "BaseVersion", IB_MAD_BASEVER_F, MAD_SMP },
		{ "MgmtClass", IB_MAD_MGMTCLASS_F, MAD_SMP },
		{ "ClassVersion", IB_MAD_CLASSVER_F, MAD_SMP },
		{ "Status", IB_MAD_STATUS_F, MAD_SMP },
		{ "TransactionID", IB_MAD_TRID_F, MAD_SMP },
		{ "AttributeID", IB_MAD_ATTRID_F, MAD_SMP },
		{ "AttributeModifier", IB_MAD_ATTRMOD_F, MAD_SMP },
		{ "M_Key", IB_MAD_MKEY_F, MAD_SMP },
		{ "Status", IB_DRSMP_STATUS_F, MAD_SMP_DIRECT },
		{ "D", IB_DRSMP_DIRECTION_F, MAD_SMP_DIRECT },
		{ "HopPointer", IB_DRSMP_HOPPTR_F, MAD_SMP_DIRECT },
		{ "HopCount", IB_DRSMP_HOPCNT_F, MAD_SMP_DIRECT },
		{ "DrSLID", IB_DRSMP_DRSLID_F, MAD_SMP_DIRECT },
		{ "DrDLID", IB_DRSMP_DRDLID_F, MAD_SMP_DIRECT },
		{ "InitialPath", IB_DRSMP_PATH_F, MAD_SMP_DIRECT },
		{ "ReturnPath", IB_DRSMP_RPATH_F, MAD_SMP_DIRECT },
		{ "RMPPVersion", IB_SA_RMPP_VERS_F, MAD_SA },
		{ "RMPPType", IB_SA_RMPP_TYPE_F, MAD_SA },
		{ "RRespTime", IB_SA_RMPP_RESP_F, MAD_SA },
		{ "RMPPFlags", IB_SA_RMPP_FLAGS_F, MAD_SA },
		{ "RMPPStatus", IB_SA_RMPP_STATUS_F, MAD_SA },
		{ "SegmentNumber", IB_SA_RMPP_SEGNUM_F, MAD_SA },
		{ "PayloadLength", IB_SA_RMPP_LEN_F, MAD_SA },
		{ "SM_Key", IB_SA_MKEY_F, MAD_SA },
		{ "ComponentMask", IB_SA_COMPMASK_F, MAD_SA },
		{ "CC_Key", IB_CC_CCKEY_F, MAD_CC },
	};
	uint8_t bytes[MAD_SIZE];
	struct rng rng;

	rng_init(&rng, 7, 1);
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)rng_next(&rng);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct field f;

		assert_true(field_record_find(mad_class(rows[i].class)->header, rows[i].name, &f));
		same_bits(&f, rows[i].theirs, bytes);
	}
	assert_int_equal(mad_class(MAD_SMP)->data, IB_SMP_DATA_OFFS);
	assert_int_equal(mad_class(MAD_PERF)->data, IB_PC_DATA_OFFS);
	assert_int_equal(mad_class(MAD_SA)->data, IB_SA_DATA_OFFS);
	assert_int_equal(mad_class(MAD_CC)->data, IB_CC_DATA_OFFS);
	assert_int_equal(mad_attribute(mad_class(MAD_CC), ATTR_CONGESTION_LOG)->offset,
			 IB_CC_LOG_DATA_OFFS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_are_where_libibmad_has_them),
		cmocka_unit_test(values_print_as_libibmad_prints_them),
		cmocka_unit_test(headers_are_where_libibmad_has_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
