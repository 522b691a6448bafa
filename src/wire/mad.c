/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/mad.h"

#include <inttypes.h>
#include <string.h>

#include "wire/cursor.h"
#include "wire/mad_tables.h"

/* One row per field, as in the standard's tables. */
/* clang-format off */

/* Bits 32 to 63 depend on the class: directed-route SMPs have their hop fields there. */
#define COMMON_HEAD                                            \
	F_UINT("BaseVersion", 0, 8), F_HEX("MgmtClass", 8, 8), \
		F_UINT("ClassVersion", 16, 8), F_HEX("Method", 24, 8)
#define COMMON_TAIL                                                    \
	F_HEX("TransactionID", 64, 64), F_HEX("AttributeID", 128, 16), \
		F_HEX("AttributeModifier", 160, 32)

static const struct field common_fields[] = {
	COMMON_HEAD,
	F_HEX("Status", 32, 16),
	F_HEX("ClassSpecific", 48, 16),
	COMMON_TAIL,
	F_END
};

static const struct record common_header = {
	.name = "MAD", .size = 24, .fields = common_fields
};

static const struct field smp_fields[] = {
	COMMON_HEAD,
	F_HEX("Status", 32, 16),
	COMMON_TAIL,
	F_HEX("M_Key", 192, 64),
	F_END
};

static const struct record smp_header = {
	.name = "SMP", .size = 64, .fields = smp_fields
};

static const struct field directed_fields[] = {
	COMMON_HEAD,
	F_UINT("D", 32, 1),
	F_HEX("Status", 33, 15),
	F_UINT("HopPointer", 48, 8),
	F_UINT("HopCount", 56, 8),
	COMMON_TAIL,
	F_HEX("M_Key", 192, 64),
	F_UINT("DrSLID", 256, 16),
	F_UINT("DrDLID", 272, 16),
	F_BYTES("InitialPath", 1024, 512),
	F_BYTES("ReturnPath", 1536, 512),
	F_END
};

static const struct record directed_header = {
	.name = "SMP", .size = MAD_SIZE, .fields = directed_fields
};

static const struct field_name rmpp_types[] = {
	{ 0, "none" }, { 1, "DATA" }, { 2, "ACK" }, { 3, "STOP" },
	{ 4, "ABORT" }, { 0, NULL }
};

static const struct field_name rmpp_flags[] = {
	{ 1, "Active" }, { 2, "First" }, { 4, "Last" }, { 0, NULL }
};

static const struct field sa_fields[] = {
	COMMON_HEAD,
	F_HEX("Status", 32, 16),
	COMMON_TAIL,
	F_UINT("RMPPVersion", 192, 8),
	F_ENUM("RMPPType", 200, 8, rmpp_types),
	F_UINT("RRespTime", 208, 5),
	F_MASK("RMPPFlags", 213, 3, rmpp_flags),
	F_HEX("RMPPStatus", 216, 8),
	F_UINT("SegmentNumber", 224, 32),
	F_UINT("PayloadLength", 256, 32),
	F_HEX("SM_Key", 288, 64),
	F_UINT("AttributeOffset", 352, 16), /* in units of 8 bytes */
	F_HEX("ComponentMask", 384, 64),
	F_END
};

static const struct record sa_header = {
	.name = "SA", .size = 56, .fields = sa_fields
};

static const struct field cc_fields[] = {
	COMMON_HEAD,
	F_HEX("Status", 32, 16),
	F_HEX("ClassSpecific", 48, 16),
	COMMON_TAIL,
	F_HEX("CC_Key", 192, 64),
	F_END
};

static const struct record cc_header = {
	.name = "CC", .size = 32, .fields = cc_fields
};

/* clang-format on */

static const struct mad_class classes[] = {
	{ "Subnet management", "Subn", &smp_header, mad_smp_attributes, 64, MAD_SMP, 1 },
	{ "Subnet management, directed route", "Subn", &directed_header, mad_smp_attributes, 64,
	  MAD_SMP_DIRECT, 1 },
	{ "Subnet administration", "SubnAdm", &sa_header, mad_sa_attributes, 56, MAD_SA, 2 },
	{ "Performance management", "Performance", &common_header, mad_perf_attributes, 64,
	  MAD_PERF, 1 },
	{ "Congestion control", "CC", &cc_header, mad_cc_attributes, 64, MAD_CC, 2 },
	{ "Communication management", "ComMgt", &common_header, mad_cm_attributes, 24, MAD_CM, 2 },
};

const struct mad_class *mad_class_at(size_t i)
{
	return i < sizeof(classes) / sizeof(*classes) ? &classes[i] : NULL;
}

const struct mad_class *mad_class(uint8_t id)
{
	for (size_t i = 0; mad_class_at(i); i++)
		if (classes[i].id == id)
			return &classes[i];
	return NULL;
}

const struct mad_attribute *mad_attribute(const struct mad_class *class, uint16_t id)
{
	for (const struct mad_attribute *a = class->attributes; a->record; a++)
		if (a->id == id)
			return a;
	return NULL;
}

static const struct field_name methods[] = {
	{ MAD_GET, "Get" },
	{ MAD_SET, "Set" },
	{ MAD_SEND, "Send" },
	{ MAD_TRAP, "Trap" },
	{ MAD_REPORT, "Report" },
	{ MAD_TRAP_REPRESS, "TrapRepress" },
	{ MAD_GET_TABLE, "GetTable" },
	{ MAD_GET_MULTI, "GetMulti" },
	{ MAD_DELETE, "Delete" },
	{ MAD_GET_RESP, "GetResp" },
	{ MAD_RESPONSE | MAD_REPORT, "ReportResp" },
	{ MAD_GET_TABLE_RESP, "GetTableResp" },
	{ MAD_RESPONSE | MAD_GET_MULTI, "GetMultiResp" },
	{ MAD_RESPONSE | MAD_DELETE, "DeleteResp" },
	{ 0, NULL },
};

/* "Get", "GetResp"; "Method(0x..)" otherwise. */
static void mad_method_print(uint8_t method, struct strbuf *out)
{
	for (const struct field_name *m = methods; m->name; m++) {
		if (m->value == method) {
			strbuf_puts(out, m->name);
			return;
		}
	}
	strbuf_printf(out, "Method0x%02x", method);
}

static void header_read(const uint8_t *bytes, struct mad_header *out)
{
	out->mgmt_class = bytes[MAD_CLASS];
	out->class_version = bytes[MAD_CLASS_VERSION];
	out->method = bytes[MAD_METHOD];
	out->status = load_be16(bytes + MAD_STATUS);
	out->hop_pointer = 0;
	out->hop_count = 0;
	if (out->mgmt_class == MAD_SMP_DIRECT) {
		out->status &= (uint16_t)~MAD_DIRECTION;
		out->hop_pointer = bytes[DR_HOP_POINTER];
		out->hop_count = bytes[DR_HOP_COUNT];
	}
	out->tid = load_be64(bytes + MAD_TID);
	out->attribute = load_be16(bytes + MAD_ATTRIBUTE);
	out->modifier = load_be32(bytes + MAD_MODIFIER);
}

/* Finds the attribute of a MAD of a known class; its contents may select the record. */
static void find_attribute(struct mad *m)
{
	m->attribute = mad_attribute(m->class, m->header.attribute);
	m->data = m->bytes + m->class->data;
	m->record = NULL;
	if (!m->attribute)
		return;
	if (m->attribute->offset)
		m->data = m->bytes + m->attribute->offset;
	m->record = m->attribute->choose ? m->attribute->choose(m->data) : m->attribute->record;
}

/* If the payload length of the last segment is invalid, the whole segment is data. */
static void rmpp_read(const uint8_t *bytes, struct rmpp *out)
{
	enum { BEFORE_DATA = SA_DATA - RMPP_HEADER_END };
	uint32_t length = load_be32(bytes + RMPP_PAYLOAD);

	out->active = bytes[RMPP_FLAGS] & RMPP_ACTIVE;
	if (!out->active)
		return;
	out->last = bytes[RMPP_FLAGS] & RMPP_LAST;
	out->type = bytes[RMPP_TYPE];
	out->segment = load_be32(bytes + RMPP_SEGMENT);
	out->bytes = SA_DATA_SIZE;
	if (out->last && length >= BEFORE_DATA && length <= BEFORE_DATA + SA_DATA_SIZE)
		out->bytes = length - BEFORE_DATA;
}

size_t mad_table_stride(const struct mad *m)
{
	size_t stride = 8 * (size_t)load_be16(m->bytes + SA_OFFSET);

	return stride < m->record->size ? 0 : stride;
}

struct mad_table mad_table_find(uint64_t offset, const uint8_t *bytes, size_t n, size_t size,
				size_t stride)
{
	uint64_t first = (offset + stride - 1) / stride;
	size_t skip = (size_t)(first * stride - offset);
	struct mad_table t = { .stride = stride, .first = first };

	if (n < skip || n - skip < size)
		return t;
	t.at = bytes + skip;
	t.n = 1 + (n - skip - size) / stride;
	return t;
}

/* A segment of a table shows the records that are complete in it; other MADs show one record. */
static void find_table(struct mad *m)
{
	const struct rmpp *r = &m->rmpp;
	size_t stride = m->header.mgmt_class == MAD_SA ? mad_table_stride(m) : 0;

	m->table = (struct mad_table){ .at = m->data, .n = 1 };
	if (r->active && r->type != RMPP_DATA)
		m->table.n = 0;
	else if (r->active && stride && r->segment)
		m->table = mad_table_find((uint64_t)(r->segment - 1) * SA_DATA_SIZE, m->data,
					  r->bytes, m->record->size, stride);
	else if (r->active)
		m->table.n = r->segment == 1 && r->bytes >= m->record->size;
	else if (m->header.method == MAD_GET_TABLE_RESP && stride)
		m->table = mad_table_find(0, m->data, SA_DATA_SIZE, m->record->size, stride);
}

static void take_apart(const uint8_t *bytes, struct mad *out)
{
	*out = (struct mad){ .bytes = bytes, .data = bytes + 24 };
	header_read(bytes, &out->header);
	out->class = mad_class(out->header.mgmt_class);
	if (out->class)
		find_attribute(out);
	if (out->header.mgmt_class == MAD_SA)
		rmpp_read(bytes, &out->rmpp);
	if (out->record)
		find_table(out);
}

enum hd_status mad_decode(const uint8_t *bytes, size_t size, struct diag *d, struct mad *out)
{
	if (size != MAD_SIZE)
		return diag_fail(d, HD_ERR_INPUT, "MAD of %zu bytes, expected %d", size, MAD_SIZE);
	if (bytes[0] != MAD_BASE_VERSION)
		return diag_fail(d, HD_ERR_INPUT, "MAD base version %u, expected %d", bytes[0],
				 MAD_BASE_VERSION);
	take_apart(bytes, out);
	return HD_OK;
}

void mad_write(const struct mad_header *h, uint8_t *bytes)
{
	const struct mad_class *class = mad_class(h->mgmt_class);
	uint8_t version = h->class_version;

	memset(bytes, 0, MAD_SIZE);
	bytes[0] = MAD_BASE_VERSION;
	bytes[MAD_CLASS] = h->mgmt_class;
	bytes[MAD_CLASS_VERSION] = version == 0 && class ? class->version : version;
	bytes[MAD_METHOD] = h->method;
	store_be16(bytes + MAD_STATUS, h->status);
	bytes[DR_HOP_POINTER] = h->hop_pointer;
	bytes[DR_HOP_COUNT] = h->hop_count;
	store_be64(bytes + MAD_TID, h->tid);
	store_be16(bytes + MAD_ATTRIBUTE, h->attribute);
	store_be32(bytes + MAD_MODIFIER, h->modifier);
}

/* Field `name` of header or attribute, with its offset in the MAD. */
static struct field locate(const uint8_t *bytes, const char *name)
{
	struct field f = { .name = NULL };
	struct mad m;

	take_apart(bytes, &m);
	if (m.record && field_record_find(m.record, name, &f)) {
		f.offset = (uint16_t)(f.offset + 8 * (m.data - bytes));
		return f;
	}
	bool found = m.class && field_record_find(m.class->header, name, &f);

	assert(found);
	(void)found;
	return f;
}

void mad_set(uint8_t *bytes, const char *name, uint64_t value)
{
	struct field f = locate(bytes, name);

	field_set(&f, bytes, value);
}

uint64_t mad_get(const uint8_t *bytes, const char *name)
{
	struct field f = locate(bytes, name);

	return field_get(&f, bytes);
}

void mad_set_bytes(uint8_t *bytes, const char *name, const void *from, size_t size)
{
	struct field f = locate(bytes, name);

	assert(f.offset % 8 == 0 && f.width == 8 * size);
	memcpy(bytes + f.offset / 8, from, size);
}

void mad_set_entry(uint8_t *bytes, unsigned i, const char *name, uint64_t value)
{
	struct mad m;

	take_apart(bytes, &m);
	assert(m.record && m.record->group);
	field_record_set_entry(m.record, bytes + (m.data - bytes), i, name, value);
}

static void print_segment(const struct rmpp *r, struct strbuf *out)
{
	const char *type = "?";

	for (const struct field_name *n = rmpp_types; n->name; n++)
		if (n->value == r->type)
			type = n->name;
	if (r->type != RMPP_DATA)
		strbuf_printf(out, " %s", type);
	strbuf_printf(out, " segment %" PRIu32 "%s", r->segment, r->last ? " (last)" : "");
}

void mad_summary(const struct mad *m, struct strbuf *out)
{
	const struct mad_header *h = &m->header;

	if (m->class)
		strbuf_puts(out, m->class->prefix);
	else
		strbuf_printf(out, "Class0x%02x", h->mgmt_class);
	mad_method_print(h->method, out);
	if (m->attribute)
		strbuf_printf(out, "(%s)", m->attribute->record->name);
	else
		strbuf_printf(out, "(0x%04x)", h->attribute);
	if (h->modifier)
		strbuf_printf(out, " mod 0x%" PRIx32, h->modifier);
	if (h->mgmt_class == MAD_SMP_DIRECT)
		strbuf_printf(out, " hop %u/%u", h->hop_pointer, h->hop_count);
	if (h->status)
		strbuf_printf(out, " status 0x%x", h->status);
	if (m->rmpp.active)
		print_segment(&m->rmpp, out);
}

/* True if records are numbered, because they may be part of a table. */
static bool is_numbered(const struct mad *m)
{
	return m->rmpp.active || m->table.n > 1;
}

void mad_print(const struct mad *m, const char *indent, struct strbuf *out)
{
	const struct record *header = m->class ? m->class->header : &common_header;

	field_record_print(header, m->bytes, indent, out);
	if (!m->record)
		return;
	for (size_t i = 0; i < m->table.n; i++) {
		strbuf_printf(out, "%s# %s", indent, m->record->name);
		if (is_numbered(m))
			strbuf_printf(out, " %" PRIu64, m->table.first + i);
		strbuf_putc(out, '\n');
		field_record_print(m->record, m->table.at + i * m->table.stride, indent, out);
	}
}

static void json_records(const struct mad *m, struct json *w)
{
	if (m->rmpp.active)
		json_put_uint(w, "first_record", m->table.first);
	json_key(w, m->record->name);
	if (is_numbered(m))
		json_begin_array(w);
	for (size_t i = 0; i < m->table.n; i++)
		field_record_json(m->record, m->table.at + i * m->table.stride, w);
	if (is_numbered(m))
		json_end(w);
}

void mad_json(const struct mad *m, struct json *w)
{
	const struct record *header = m->class ? m->class->header : &common_header;
	struct strbuf summary = STRBUF_INIT;

	mad_summary(m, &summary);
	json_begin_object(w);
	json_put_text(w, "summary", summary.text);
	json_key(w, "header");
	field_record_json(header, m->bytes, w);
	if (m->record)
		json_records(m, w);
	json_end(w);
	strbuf_fini(&summary);
}
