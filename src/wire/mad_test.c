/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "base/file.h"
#include "base/rng.h"
#include "base/seeds_for_tests.h"
#include "wire/mad.h"
#include "wire/record_for_tests.h"

#define FIXTURES HD_SOURCE_DIR "/tests/fixtures/"

static size_t data_room(const struct mad_class *c, const struct mad_attribute *a)
{
	size_t at = a->offset ? a->offset : c->data;
	bool smp = c->id == MAD_SMP || c->id == MAD_SMP_DIRECT;

	return (smp ? 128 : MAD_SIZE) - at;
}

static void tables_are_sound_and_fit_their_mad(void **state)
{
	(void)state;
	unsigned n = 0;

	for (size_t i = 0; mad_class_at(i); i++) {
		const struct mad_class *c = mad_class_at(i);

		check_record(c->header);
		for (const struct mad_attribute *a = c->attributes; a->record; a++) {
			check_record(a->record);
			assert_true(a->record->size <= data_room(c, a));
			/* IDs are unique, so the first match is the only one. */
			assert_ptr_equal(mad_attribute(c, a->id), a);
			n++;
		}
	}
	assert_int_equal(n, 15 + 15 + 6 + 21 + 10 + 10);
}

/* The variants that a first byte or a trap number selects. */
static void chosen_records_are_sound_too(void **state)
{
	(void)state;
	const struct mad_attribute *log = mad_attribute(mad_class(MAD_CC), ATTR_CONGESTION_LOG);
	const struct mad_attribute *notice = mad_attribute(mad_class(MAD_SMP), ATTR_NOTICE);

	for (unsigned i = 0; i < 256; i++) {
		uint8_t data[224] = { (uint8_t)i };

		check_record(log->choose(data));
	}
	for (unsigned trap = 0; trap < 300; trap++) {
		uint8_t data[64] = { 0x80 };

		data[4] = (uint8_t)(trap >> 8);
		data[5] = (uint8_t)trap;
		check_record(notice->choose(data));
	}
}

/* Makes the attribute's bytes from pairs of name and value. */
struct pair {
	const char *name;
	uint64_t value;
};

static void fill(uint8_t *bytes, uint8_t class, uint16_t attribute, const struct pair *pairs,
		 size_t n)
{
	const struct mad_header h = { .mgmt_class = class,
				      .method = MAD_GET_RESP,
				      .attribute = attribute };

	mad_write(&h, bytes);
	for (size_t i = 0; i < n; i++)
		mad_set(bytes, pairs[i].name, pairs[i].value);
}

static void print_attribute(const uint8_t *bytes, struct strbuf *out)
{
	struct diag d = { .status = HD_OK };
	struct mad m;

	assert_int_equal(mad_decode(bytes, MAD_SIZE, &d, &m), HD_OK);
	assert_non_null(m.record);
	field_record_print(m.record, m.data, "", out);
}

/* End of the line in `ours` that equals `line`; fails if there is no such line. */
static const char *find_line(const char *ours, const char *line)
{
	const char *found = strstr(ours, line);

	if (!found || found[strlen(line)] != '\n')
		fail_msg("'%s' is not in order in:\n%s", line, ours);
	return found ? found + strlen(line) : ours;
}

static bool is_skipped(const char *line, const char *except)
{
	return line[0] == '#' || (except && strstr(line, except) == line);
}

/* Every line of the tool's output must be in ours, in the same order. */
static void check_against(const char *fixture, const struct strbuf *ours, const char *except)
{
	struct diag d = { .status = HD_OK };
	struct strbuf theirs = STRBUF_INIT;
	const char *at = ours->text ? ours->text : "";
	unsigned n = 0;

	assert_int_equal(file_read(fixture, 1 << 20, &d, &theirs), HD_OK);
	for (char *line = strtok(theirs.text, "\n"); line; line = strtok(NULL, "\n")) {
		if (is_skipped(line, except))
			continue;
		at = find_line(at, line);
		n++;
	}
	assert_true(n > 1);
	strbuf_fini(&theirs);
}

static void node_info_prints_as_smpquery_did(void **state)
{
	(void)state;
	static const struct pair pairs[] = {
		{ "BaseVers", 1 },        { "ClassVers", 1 },         { "NodeType", 1 },
		{ "NumPorts", 1 },        { "SystemGuid", 0x100000 }, { "Guid", 0x100000 },
		{ "PortGuid", 0x100001 }, { "PartCap", 64 },          { "Revision", 0xA1 },
		{ "LocalPort", 1 },
	};
	struct strbuf out = STRBUF_INIT;
	uint8_t bytes[MAD_SIZE];

	fill(bytes, MAD_SMP, ATTR_NODE_INFO, pairs, sizeof(pairs) / sizeof(*pairs));
	print_attribute(bytes, &out);
	check_against(FIXTURES "smpquery-nodeinfo.txt", &out, NULL);
	strbuf_fini(&out);
}

static void switch_info_prints_as_smpquery_did(void **state)
{
	(void)state;
	static const struct pair pairs[] = {
		{ "LinearFdbCap", 30720 },  { "McastFdbCap", 1024 },  { "LinearFdbTop", 6 },
		{ "LifeTime", 18 },         { "PartEnforceCap", 64 }, { "FilterRawInbound", 1 },
		{ "FilterRawOutbound", 1 }, { "EnhancedPort0", 1 },
	};
	struct strbuf out = STRBUF_INIT;
	uint8_t bytes[MAD_SIZE];

	fill(bytes, MAD_SMP, ATTR_SWITCH_INFO, pairs, sizeof(pairs) / sizeof(*pairs));
	print_attribute(bytes, &out);
	check_against(FIXTURES "smpquery-switchinfo.txt", &out, NULL);
	strbuf_fini(&out);
}

static void port_info_prints_as_smpquery_did(void **state)
{
	(void)state;
	static const struct pair pairs[] = {
		{ "LinkWidthEnabled", 3 },
		{ "LinkWidthSupported", 31 },
		{ "LinkWidthActive", 2 },
		{ "LinkSpeedSupported", 7 },
		{ "LinkState", 4 },
		{ "PhysLinkState", 5 },
		{ "LinkDownDefState", 2 },
		{ "LinkSpeedActive", 4 },
		{ "LinkSpeedEnabled", 7 },
		{ "NeighborMTU", 4 },
		{ "VLCap", 4 },
		{ "VLArbHighCap", 8 },
		{ "VLArbLowCap", 8 },
		{ "MtuCap", 4 },
		{ "VLStallCount", 7 },
		{ "HoqLife", 18 },
		{ "OperVLs", 4 },
		{ "LinkSpeedExtActive", 4 },
		{ "LinkSpeedExtSupported", 7 },
		{ "LinkSpeedExtEnabled", 7 },
	};
	struct strbuf out = STRBUF_INIT;
	uint8_t bytes[MAD_SIZE];

	fill(bytes, MAD_SMP_DIRECT, ATTR_PORT_INFO, pairs, sizeof(pairs) / sizeof(*pairs));
	print_attribute(bytes, &out);
	/* smpquery hides keys. */
	check_against(FIXTURES "smpquery-portinfo.txt", &out, "Mkey:");
	strbuf_fini(&out);
}

static void counters_print_as_perfquery_did(void **state)
{
	(void)state;
	static const struct pair pairs[] = {
		{ "PortSelect", 3 },     { "PortXmitData", 31176 }, { "PortRcvData", 31176 },
		{ "PortXmitPkts", 433 }, { "PortRcvPkts", 433 },
	};
	struct strbuf out = STRBUF_INIT;
	uint8_t bytes[MAD_SIZE];

	fill(bytes, MAD_PERF, ATTR_PORT_COUNTERS, pairs, 5);
	print_attribute(bytes, &out);
	check_against(FIXTURES "perfquery.txt", &out, NULL);
	strbuf_clear(&out);
	fill(bytes, MAD_PERF, ATTR_PORT_COUNTERS_EXT, pairs, 5);
	print_attribute(bytes, &out);
	check_against(FIXTURES "perfquery-x.txt", &out, NULL);
	strbuf_fini(&out);
}

/*
 * Compares the fixture's first line that begins with `start` with ours: completely, or from its
 * first bar on.
 */
static void check_rows(const char *fixture, const char *start, const char *ours)
{
	struct strbuf theirs = STRBUF_INIT;
	struct diag d = { .status = HD_OK };

	assert_int_equal(file_read(fixture, 1 << 20, &d, &theirs), HD_OK);
	char *line = strstr(theirs.text, start);

	assert_non_null(line);
	line[strcspn(line, "\n")] = 0;
	line = strchr(line, '|');
	assert_non_null(line);
	assert_non_null(strstr(ours, line));
	strbuf_fini(&theirs);
}

/* smpquery: VLs and weights of the first 8 entries of the low table. */
static void arbitration_prints_as_smpquery_did(void **state)
{
	(void)state;
	const struct mad_header h = { .mgmt_class = MAD_SMP,
				      .method = MAD_SET,
				      .attribute = ATTR_VL_ARBITRATION,
				      .modifier = 1U << 16 | 3 };
	static const uint8_t low[][2] = { { 1, 0x40 }, { 2, 0x80 }, { 3, 0xC0 } };
	struct strbuf out = STRBUF_INIT;
	uint8_t bytes[MAD_SIZE];

	mad_write(&h, bytes);
	for (unsigned i = 0; i < 3; i++) {
		mad_set_entry(bytes, i, "VL", low[i][0]);
		mad_set_entry(bytes, i, "WEIGHT", low[i][1]);
	}
	/* In the MAD: a byte with the VL, a byte with the weight. */
	assert_int_equal(bytes[64], 1);
	assert_int_equal(bytes[65], 0x40);
	assert_int_equal(bytes[68], 3);
	assert_int_equal(bytes[69], 0xC0);
	print_attribute(bytes, &out);
	/* The fixture has as many entries as its port; ours has all 32. */
	check_rows(FIXTURES "smpquery-vlarb.txt", "VL    : |", out.text);
	check_rows(FIXTURES "smpquery-vlarb.txt", "WEIGHT: |", out.text);
	strbuf_fini(&out);
}

static void sl_to_vl_prints_as_smpquery_did(void **state)
{
	(void)state;
	static const uint8_t wire[] = { 0x01, 0x23, 0, 0, 0, 0, 0, 0x0F };
	const struct mad_header h = { .mgmt_class = MAD_SMP,
				      .method = MAD_GET_RESP,
				      .attribute = ATTR_SL_TO_VL };
	struct strbuf out = STRBUF_INIT;
	uint8_t bytes[MAD_SIZE];

	mad_write(&h, bytes);
	for (unsigned sl = 0; sl < 4; sl++)
		mad_set_entry(bytes, sl, "VL", sl);
	mad_set_entry(bytes, 15, "VL", 15);
	assert_memory_equal(bytes + 64, wire, 8);
	print_attribute(bytes, &out);
	char *bars = strchr(out.text, '|');

	assert_non_null(bars);
	check_rows(FIXTURES "smpquery-sl2vl.txt", "ports: in  0, out  3: ", bars);
	strbuf_fini(&out);
}

static void tables_of_values_wrap_with_an_index(void **state)
{
	(void)state;
	const struct mad_header h = { .mgmt_class = MAD_SMP,
				      .method = MAD_GET_RESP,
				      .attribute = ATTR_PKEY_TABLE };
	struct strbuf out = STRBUF_INIT;
	uint8_t bytes[MAD_SIZE];

	mad_write(&h, bytes);
	mad_set_entry(bytes, 0, "P_Key", 0xFFFF);
	mad_set_entry(bytes, 9, "P_Key", 0x8001);
	print_attribute(bytes, &out);
	assert_string_equal(out.text,
			    "   0: 0xffff 0x0000 0x0000 0x0000 0x0000 0x0000 0x0000 0x0000\n"
			    "   8: 0x0000 0x8001 0x0000 0x0000 0x0000 0x0000 0x0000 0x0000\n"
			    "  16: 0x0000 0x0000 0x0000 0x0000 0x0000 0x0000 0x0000 0x0000\n"
			    "  24: 0x0000 0x0000 0x0000 0x0000 0x0000 0x0000 0x0000 0x0000\n");
	strbuf_fini(&out);
}

/* A directed-route SubnSet(PortInfo), written byte by byte from the standard's layout. */
static void headers_are_written_as_the_standard_lays_them_out(void **state)
{
	(void)state;
	const struct mad_header h = { .mgmt_class = MAD_SMP_DIRECT,
				      .method = MAD_SET,
				      .hop_pointer = 1,
				      .hop_count = 2,
				      .tid = UINT64_C(0x1122334455667788),
				      .attribute = ATTR_PORT_INFO,
				      .modifier = 7 };
	static const uint8_t expected[] = {
		1,    0x81, 1,    2,    0,    0, 1,    2, 0x11, 0x22, 0x33,
		0x44, 0x55, 0x66, 0x77, 0x88, 0, 0x15, 0, 0,    0,    0,
		0,    7,    0,    0,    0,    0, 0,    0, 0xAB, 0xCD, /* M_Key */
		0xFF, 0xFF, 0xFF, 0xFF,                               /* permissive LIDs */
	};
	static const uint8_t path[64] = { 0, 1, 3 };
	uint8_t bytes[MAD_SIZE];
	struct diag d = { .status = HD_OK };
	struct mad m;

	mad_write(&h, bytes);
	mad_set(bytes, "M_Key", 0xABCD);
	mad_set(bytes, "DrSLID", 0xFFFF);
	mad_set(bytes, "DrDLID", 0xFFFF);
	mad_set_bytes(bytes, "InitialPath", path, sizeof(path));
	mad_set(bytes, "VLHighLimit", 4);
	assert_memory_equal(bytes, expected, sizeof(expected));
	assert_memory_equal(bytes + 128, path, sizeof(path));
	assert_int_equal(bytes[64 + 38], 4);
	assert_int_equal(mad_get(bytes, "VLHighLimit"), 4);

	assert_int_equal(mad_decode(bytes, sizeof(bytes), &d, &m), HD_OK);
	assert_memory_equal(&m.header.tid, &h.tid, sizeof(h.tid));
	assert_int_equal(m.header.hop_pointer, 1);
	assert_int_equal(m.header.hop_count, 2);
	assert_int_equal(m.header.modifier, 7);
	assert_ptr_equal(m.data, bytes + 64);
	/* In a response, the top bit of the status is the direction. */
	bytes[4] = 0x80;
	bytes[5] = 0x1C;
	assert_int_equal(mad_decode(bytes, sizeof(bytes), &d, &m), HD_OK);
	assert_int_equal(m.header.status, 0x1C);
	assert_int_equal(mad_get(bytes, "D"), 1);
}

static void congestion_logs_stand_before_the_other_attributes(void **state)
{
	(void)state;
	const struct mad_header h = { .mgmt_class = MAD_CC,
				      .method = MAD_GET_RESP,
				      .attribute = ATTR_CONGESTION_LOG };
	uint8_t bytes[MAD_SIZE];

	mad_write(&h, bytes);
	assert_int_equal(bytes[2], 2); /* the version of the class */
	mad_set(bytes, "CC_Key", 0x42);
	assert_int_equal(bytes[31], 0x42);
	mad_set(bytes, "LogType", 1);
	assert_int_equal(bytes[32], 1);
	/* From here on it is the log of a switch. */
	mad_set_entry(bytes, 14, "Timestamp", 0x01020304);
	assert_int_equal(bytes[32 + 40 + 14 * 12 + 11], 4);
	mad_set(bytes, "LogType", 2);
	mad_set_entry(bytes, 12, "Remote_LID_CN_Entry", 0x0506);
	assert_int_equal(bytes[32 + 12 + 12 * 16 + 11], 6);
}

static void summaries_list_goals_and_subjects(void **state)
{
	(void)state;
	static const struct {
		struct mad_header h;
		const char *text;
	} rows[] = {
		{ { .mgmt_class = 0x01, .method = 1, .attribute = 0x11 }, "SubnGet(NodeInfo)" },
		{ { .mgmt_class = 0x81,
		    .method = 0x81,
		    .attribute = 0x15,
		    .modifier = 3,
		    .hop_pointer = 1,
		    .hop_count = 2 },
		  "SubnGetResp(PortInfo) mod 0x3 hop 1/2" },
		{ { .mgmt_class = 0x03, .method = 0x12, .attribute = 0x35 },
		  "SubnAdmGetTable(PathRecord)" },
		{ { .mgmt_class = 0x04, .method = 2, .attribute = 0x36 },
		  "PerformanceSet(PortXmitDataSL)" },
		{ { .mgmt_class = 0x21, .method = 0x81, .attribute = 0x17, .status = 0x1C },
		  "CCGetResp(CongestionControlTable) status 0x1c" },
		{ { .mgmt_class = 0x01, .method = 5, .attribute = 2 }, "SubnTrap(Notice)" },
		{ { .mgmt_class = 0x07, .method = 3, .attribute = 0x10 },
		  "ComMgtSend(ConnectRequest)" },
		{ { .mgmt_class = 0x08, .method = 3, .attribute = 0x10, .class_version = 2 },
		  "Class0x08Send(0x0010)" },
		{ { .mgmt_class = 0x01, .method = 0x44, .attribute = 0xFF90 },
		  "SubnMethod0x44(0xff90)" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct strbuf out = STRBUF_INIT;
		struct diag d = { .status = HD_OK };
		uint8_t bytes[MAD_SIZE];
		struct mad m;

		mad_write(&rows[i].h, bytes);
		assert_int_equal(mad_decode(bytes, sizeof(bytes), &d, &m), HD_OK);
		mad_summary(&m, &out);
		assert_string_equal(out.text, rows[i].text);
		strbuf_fini(&out);
	}
}

static unsigned count(const char *text, const char *word)
{
	unsigned n = 0;

	for (; (text = strstr(text, word)); text++)
		n++;
	return n;
}

/* 200 bytes of data with 64 bytes per path record: three complete ones. */
static void tables_of_subnet_administration_show_every_record(void **state)
{
	(void)state;
	const struct mad_header h = { .mgmt_class = MAD_SA,
				      .method = MAD_GET_TABLE_RESP,
				      .attribute = ATTR_PATH_RECORD };
	static const struct {
		uint16_t offset;
		unsigned records;
	} rows[] = { { 8, 3 }, { 0, 1 }, { 7, 1 }, { 17, 2 }, { 65535, 1 } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct strbuf out = STRBUF_INIT;
		struct diag d = { .status = HD_OK };
		uint8_t bytes[MAD_SIZE];
		struct mad m;

		mad_write(&h, bytes);
		mad_set(bytes, "AttributeOffset", rows[i].offset);
		assert_int_equal(mad_decode(bytes, sizeof(bytes), &d, &m), HD_OK);
		mad_print(&m, "", &out);
		assert_int_equal(count(out.text, "# PathRecord"), rows[i].records);
		assert_int_equal(count(out.text, "ServiceID:"), rows[i].records);
		strbuf_fini(&out);
	}
}

/* Constants for header offsets agree with the tables of fields. */
static void offsets_of_headers_are_those_of_their_tables(void **state)
{
	static const struct {
		uint8_t class;
		const char *field;
		unsigned at;
	} rows[] = {
		{ MAD_SMP, "MgmtClass", MAD_CLASS },
		{ MAD_SMP, "ClassVersion", MAD_CLASS_VERSION },
		{ MAD_SMP, "Method", MAD_METHOD },
		{ MAD_SMP, "Status", MAD_STATUS },
		{ MAD_SMP, "TransactionID", MAD_TID },
		{ MAD_SMP, "AttributeID", MAD_ATTRIBUTE },
		{ MAD_SMP, "AttributeModifier", MAD_MODIFIER },
		{ MAD_SMP, "M_Key", SMP_MKEY },
		{ MAD_SMP_DIRECT, "HopPointer", DR_HOP_POINTER },
		{ MAD_SMP_DIRECT, "HopCount", DR_HOP_COUNT },
		{ MAD_SMP_DIRECT, "DrSLID", DR_SLID },
		{ MAD_SMP_DIRECT, "DrDLID", DR_DLID },
		{ MAD_SMP_DIRECT, "InitialPath", DR_INITIAL_PATH },
		{ MAD_SMP_DIRECT, "ReturnPath", DR_RETURN_PATH },
		{ MAD_SA, "RMPPVersion", RMPP_VERSION },
		{ MAD_SA, "RMPPType", RMPP_TYPE },
		{ MAD_SA, "RRespTime", RMPP_FLAGS },
		{ MAD_SA, "SegmentNumber", RMPP_SEGMENT },
		{ MAD_SA, "PayloadLength", RMPP_PAYLOAD },
		{ MAD_SA, "SM_Key", RMPP_HEADER_END },
		{ MAD_SA, "AttributeOffset", SA_OFFSET },
		{ MAD_SA, "ComponentMask", SA_MASK },
	};
	struct field f;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		assert_true(field_record_find(mad_class(rows[i].class)->header, rows[i].field, &f));
		assert_int_equal(f.offset, 8 * rows[i].at);
	}
	assert_int_equal(mad_class(MAD_SA)->data, SA_DATA);
	assert_int_equal(mad_class(MAD_CM)->data, MAD_HEADER_SIZE);
}

static void texts_from_the_wire_cannot_command_a_terminal(void **state)
{
	(void)state;
	const struct mad_header h = { .mgmt_class = MAD_SMP,
				      .method = MAD_GET_RESP,
				      .attribute = ATTR_NODE_DESCRIPTION };
	char name[64] = "spine\x1b[31m 1";
	struct strbuf out = STRBUF_INIT;
	uint8_t bytes[MAD_SIZE];

	mad_write(&h, bytes);
	mad_set_bytes(bytes, "NodeDesc", name, sizeof(name));
	print_attribute(bytes, &out);
	assert_string_equal(out.text, "NodeDesc:........................'spine\\x1b[31m 1'\n");
	strbuf_fini(&out);
}

static void other_sizes_and_versions_are_refused(void **state)
{
	(void)state;
	uint8_t bytes[MAD_SIZE + 1] = { 1, 1, 1, 1 };
	struct mad m;

	for (size_t size = 0; size <= sizeof(bytes); size++) {
		struct diag d = { .status = HD_OK };

		assert_int_equal(mad_decode(bytes, size, &d, &m),
				 size == MAD_SIZE ? HD_OK : HD_ERR_INPUT);
		assert_int_equal(d.message[0] == 0, size == MAD_SIZE);
	}
	struct diag d = { .status = HD_OK };

	bytes[0] = 2;
	assert_int_equal(mad_decode(bytes, MAD_SIZE, &d, &m), HD_ERR_INPUT);
	assert_string_equal(d.message, "MAD base version 2, expected 1");
}

static void any_bytes_print(void **state)
{
	(void)state;
	unsigned rounds = cases_of_run(2000, 200000);
	struct rng rng;

	rng_init(&rng, 9, 1);
	for (unsigned i = 0; i < rounds; i++) {
		static const uint8_t ids[] = { 1, 3, 4, 0x21, 0x81, 7 };
		struct strbuf out = STRBUF_INIT;
		struct diag d = { .status = HD_OK };
		uint8_t *bytes = malloc(MAD_SIZE);
		struct json w;
		struct mad m;

		assert_non_null(bytes);
		for (size_t k = 0; k < MAD_SIZE; k++)
			bytes[k] = (uint8_t)rng_next(&rng);
		bytes[0] = 1;
		bytes[1] = ids[i % 6];
		bytes[16] = 0;
		bytes[17] &= 0x3F;
		if (i % 5 == 0)
			bytes[3] = MAD_GET_TABLE_RESP;
		assert_int_equal(mad_decode(bytes, MAD_SIZE, &d, &m), HD_OK);
		mad_print(&m, "  ", &out);
		assert_true(out.len > 0);
		strbuf_clear(&out);
		json_init(&w, &out);
		mad_json(&m, &w);
		assert_int_equal(w.depth, 0);
		strbuf_fini(&out);
		free(bytes);
	}
}

static void responses_have_their_bit_or_repress_a_trap(void **state)
{
	static const struct {
		uint8_t method;
		bool is_response;
	} methods[] = {
		{ MAD_GET, false },         { MAD_SET, false },     { MAD_TRAP, false },
		{ MAD_REPORT, false },      { MAD_GET_RESP, true }, { MAD_GET_TABLE_RESP, true },
		{ MAD_TRAP_REPRESS, true },
	};
	uint8_t bytes[MAD_SIZE] = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(methods) / sizeof(*methods); i++) {
		bytes[3] = methods[i].method; /* the standard's offset */
		assert_int_equal(mad_is_response(bytes), methods[i].is_response);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_are_sound_and_fit_their_mad),
		cmocka_unit_test(chosen_records_are_sound_too),
		cmocka_unit_test(node_info_prints_as_smpquery_did),
		cmocka_unit_test(switch_info_prints_as_smpquery_did),
		cmocka_unit_test(port_info_prints_as_smpquery_did),
		cmocka_unit_test(counters_print_as_perfquery_did),
		cmocka_unit_test(arbitration_prints_as_smpquery_did),
		cmocka_unit_test(sl_to_vl_prints_as_smpquery_did),
		cmocka_unit_test(tables_of_values_wrap_with_an_index),
		cmocka_unit_test(headers_are_written_as_the_standard_lays_them_out),
		cmocka_unit_test(congestion_logs_stand_before_the_other_attributes),
		cmocka_unit_test(summaries_list_goals_and_subjects),
		cmocka_unit_test(tables_of_subnet_administration_show_every_record),
		cmocka_unit_test(offsets_of_headers_are_those_of_their_tables),
		cmocka_unit_test(texts_from_the_wire_cannot_command_a_terminal),
		cmocka_unit_test(other_sizes_and_versions_are_refused),
		cmocka_unit_test(any_bytes_print),
		cmocka_unit_test(responses_have_their_bit_or_repress_a_trap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
