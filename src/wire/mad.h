/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_WIRE_MAD_H
#define HD_WIRE_MAD_H

/*
 * Management datagrams: 256 bytes in the payload of a UD SEND to queue pair 0
 * (subnet management) or 1 (everything else).
 *
 *	common header (24) | header of the class | attribute
 *
 * A class says where its attribute starts and which attributes it has; each
 * attribute is one record (field.h). The tables are in mad_smp.c, mad_sa.c,
 * mad_perf.c, mad_cc.c and mad_cm.c. An SMP's class is 0x01 if it is routed by
 * LIDs and 0x81 if it says its own route, hop by hop; both have the same
 * attributes.
 *
 * To make a MAD, write its header, then its attribute:
 *
 *	struct mad_header h = { .mgmt_class = MAD_SMP, .method = MAD_GET,
 *				.attribute = ATTR_PORT_INFO, .modifier = 3 };
 *	mad_write(&h, bytes);
 *	mad_set(bytes, "M_Key", key);
 *	mad_set(bytes, "VLHighLimit", 4);
 */

#include "base/diag.h"
#include "wire/field.h"

enum {
	MAD_SIZE = 256,
	MAD_BASE_VERSION = 1,
};

/* Q_Key of queue pair 1. */
#define MAD_QKEY UINT32_C(0x80010000)

enum mad_class_id {
	MAD_SMP = 0x01,
	MAD_SA = 0x03,
	MAD_PERF = 0x04,
	MAD_CM = 0x07,
	MAD_CC = 0x21,
	MAD_SMP_DIRECT = 0x81,
};

enum {
	MAD_GET = 0x01,
	MAD_SET = 0x02,
	MAD_SEND = 0x03,
	MAD_TRAP = 0x05,
	MAD_REPORT = 0x06,
	MAD_TRAP_REPRESS = 0x07,
	MAD_GET_TABLE = 0x12,
	MAD_GET_MULTI = 0x14,
	MAD_DELETE = 0x15,
	MAD_RESPONSE = 0x80, /* set in responses: GetResp is 0x81 */
	MAD_GET_RESP = 0x81,
	MAD_GET_TABLE_RESP = 0x92,
};

/*
 * Offsets of header fields in bytes, for code that handles every MAD. mad_get and mad_set use the
 * names of fields.
 */
enum {
	MAD_CLASS = 1,
	MAD_CLASS_VERSION = 2,
	MAD_METHOD = 3,
	MAD_STATUS = 4,
	MAD_TID = 8,
	MAD_ATTRIBUTE = 16,
	MAD_MODIFIER = 20,
	MAD_HEADER_SIZE = 24, /* common header */
	SMP_MKEY = 24,
	/* Directed-route SMPs: */
	DR_HOP_POINTER = 6,
	DR_HOP_COUNT = 7,
	DR_SLID = 32,
	DR_DLID = 34,
	DR_INITIAL_PATH = 128,
	DR_RETURN_PATH = 192,
	/* RMPP: */
	RMPP_VERSION = 24,
	RMPP_TYPE = 25,
	RMPP_FLAGS = 26,
	RMPP_SEGMENT = 28,
	RMPP_PAYLOAD = 32,
	RMPP_HEADER_END = 36, /* PayloadLength counts the bytes after this offset */
	/* Subnet administration: */
	SA_KEY = 36,    /* SM_Key */
	SA_OFFSET = 44, /* distance between records, in units of 8 bytes */
	SA_MASK = 48,
	SA_DATA = 56,
};

/* Status of a response. */
enum {
	MAD_OK = 0x0000,
	MAD_BUSY = 0x0001,
	MAD_UNSUPPORTED_VERSION = 0x0004,
	MAD_UNSUPPORTED_METHOD = 0x0008,
	MAD_UNSUPPORTED = 0x000C, /* the method on this attribute */
	MAD_INVALID_FIELD = 0x001C,
	/* Subnet administration: */
	SA_INVALID = 0x0200,
	SA_NO_RECORDS = 0x0300,
	SA_TOO_MANY = 0x0400,
	SA_INVALID_GID = 0x0500,
	SA_INSUFFICIENT = 0x0600,
	MAD_DIRECTION = 0x8000, /* flag: a directed-route SMP on its way back */
};

/* Attributes of subnet management. */
enum {
	ATTR_CLASS_PORT_INFO = 0x01, /* of all other classes */
	ATTR_NOTICE = 0x02,          /* of all classes */
	ATTR_NODE_DESCRIPTION = 0x10,
	ATTR_NODE_INFO = 0x11,
	ATTR_SWITCH_INFO = 0x12,
	ATTR_GUID_INFO = 0x14,
	ATTR_PORT_INFO = 0x15,
	ATTR_PKEY_TABLE = 0x16,
	ATTR_SL_TO_VL = 0x17,
	ATTR_VL_ARBITRATION = 0x18,
	ATTR_LINEAR_FORWARDING = 0x19,
	ATTR_RANDOM_FORWARDING = 0x1A,
	ATTR_MULTICAST_FORWARDING = 0x1B,
	ATTR_SM_INFO = 0x20,
	ATTR_VENDOR_DIAG = 0x30,
	ATTR_LED_INFO = 0x31,
};

/* Attributes of performance management. */
enum {
	ATTR_PORT_SAMPLES_CONTROL = 0x10,
	ATTR_PORT_COUNTERS = 0x12,
	ATTR_PORT_RCV_ERROR_DETAILS = 0x15,
	ATTR_PORT_XMIT_DISCARD_DETAILS = 0x16,
	ATTR_PORT_OP_RCV = 0x17,
	ATTR_PORT_FLOW_CONTROL = 0x18,
	ATTR_PORT_VL_OP_PACKETS = 0x19,
	ATTR_PORT_VL_OP_DATA = 0x1A,
	ATTR_PORT_VL_FLOW_ERRORS = 0x1B,
	ATTR_PORT_VL_XMIT_WAIT = 0x1C,
	ATTR_PORT_COUNTERS_EXT = 0x1D,
	ATTR_PORT_EXT_SPEEDS = 0x1F,
	ATTR_SW_PORT_VL_CONGESTION = 0x30,
	ATTR_PORT_RCV_CON_CTRL = 0x31,
	ATTR_PORT_SL_RCV_FECN = 0x32,
	ATTR_PORT_SL_RCV_BECN = 0x33,
	ATTR_PORT_XMIT_CON_CTRL = 0x34,
	ATTR_PORT_VL_TIME_CONG = 0x35,
	ATTR_PORT_XMIT_DATA_SL = 0x36,
	ATTR_PORT_RCV_DATA_SL = 0x37,
};

/* Attributes of subnet administration. */
enum {
	ATTR_INFORM_INFO = 0x03,
	ATTR_NODE_RECORD = 0x11,
	ATTR_PORT_INFO_RECORD = 0x12,
	ATTR_SL_TO_VL_RECORD = 0x13,
	ATTR_SWITCH_INFO_RECORD = 0x14,
	ATTR_LFT_RECORD = 0x15,
	ATTR_MFT_RECORD = 0x17,
	ATTR_SM_INFO_RECORD = 0x18,
	ATTR_LINK_RECORD = 0x20,
	ATTR_GUID_INFO_RECORD = 0x30,
	ATTR_SERVICE_RECORD = 0x31,
	ATTR_PKEY_TABLE_RECORD = 0x33,
	ATTR_PATH_RECORD = 0x35,
	ATTR_VL_ARBITRATION_RECORD = 0x36,
	ATTR_MC_MEMBER_RECORD = 0x38,
	ATTR_MULTI_PATH_RECORD = 0x3A,
	ATTR_INFORM_INFO_RECORD = 0xF3,
};

/* Attributes of congestion control. */
enum {
	ATTR_CONGESTION_INFO = 0x11,
	ATTR_CONGESTION_KEY_INFO = 0x12,
	ATTR_CONGESTION_LOG = 0x13,
	ATTR_SWITCH_CONGESTION = 0x14,
	ATTR_SWITCH_PORT_CONGESTION = 0x15,
	ATTR_CA_CONGESTION = 0x16,
	ATTR_CONGESTION_CONTROL_TABLE = 0x17,
	ATTR_TIME_STAMP = 0x18,
};

/* Attributes of communication management. */
enum {
	ATTR_CM_REQ = 0x10,
	ATTR_CM_MRA = 0x11,
	ATTR_CM_REJ = 0x12,
	ATTR_CM_REP = 0x13,
	ATTR_CM_RTU = 0x14,
	ATTR_CM_DREQ = 0x15,
	ATTR_CM_DREP = 0x16,
	ATTR_CM_SIDR_REQ = 0x17,
	ATTR_CM_SIDR_REP = 0x18,
};

struct mad_attribute {
	uint16_t id;
	uint16_t offset; /* in the MAD; 0: the class's offset */
	const struct record *record;
	/* Selects the record by the attribute's contents; or NULL. */
	const struct record *(*choose)(const uint8_t *data);
};

struct mad_class {
	const char *name;                       /* "Subnet management" */
	const char *prefix;                     /* "Subn" of "SubnGet(NodeInfo)" */
	const struct record *header;            /* fields of the headers, outside attributes */
	const struct mad_attribute *attributes; /* ends with a NULL record */
	uint16_t data;                          /* offset of attributes */
	uint8_t id;
	uint8_t version;
};

/* NULL if the class, or the attribute of the class, is unknown. */
const struct mad_class *mad_class(uint8_t id);
const struct mad_attribute *mad_attribute(const struct mad_class *class, uint16_t id);
/* Known classes by index; NULL after the last. */
const struct mad_class *mad_class_at(size_t i);

/*
 * True for responses, which go to the requester; other MADs go to the agent registered for the
 * class.
 */
static inline bool mad_is_response(const uint8_t *bytes)
{
	return bytes[MAD_METHOD] & MAD_RESPONSE || bytes[MAD_METHOD] == MAD_TRAP_REPRESS;
}

/* True for both classes of subnet management: VL15, queue pair 0. */
static inline bool mad_is_smp(const uint8_t *bytes)
{
	return bytes[MAD_CLASS] == MAD_SMP || bytes[MAD_CLASS] == MAD_SMP_DIRECT;
}

/* Address of a MAD's source or destination: a queue pair at a LID. */
struct mad_address {
	uint16_t lid;
	uint16_t pkey;
	uint32_t qp;
	uint32_t qkey;
	uint8_t sl;
};

struct mad_header {
	uint8_t mgmt_class;
	uint8_t class_version; /* mad_write: 0 selects the class's version */
	uint8_t method;
	uint16_t status;
	uint8_t hop_pointer, hop_count; /* directed-route SMPs */
	uint64_t tid;
	uint16_t attribute;
	uint32_t modifier;
};

/*
 * RMPP header of subnet administration. A response that exceeds a MAD is sent in segments 1, 2,
 * ... with SA_DATA_SIZE bytes each; the payload length of the last segment gives its size.
 */
enum { SA_DATA_SIZE = 200 };

enum rmpp_type { RMPP_DATA = 1, RMPP_ACK, RMPP_STOP, RMPP_ABORT };
enum rmpp_flag { RMPP_ACTIVE = 1, RMPP_FIRST = 2, RMPP_LAST = 4 };

struct rmpp {
	bool active; /* false: the MAD has one segment, and the other members are 0 */
	bool last;
	uint8_t type; /* enum rmpp_type */
	uint32_t segment;
	size_t bytes; /* of data in this segment */
};

/* Consecutive records of one attribute: part of a response. */
struct mad_table {
	const uint8_t *at; /* first complete record */
	size_t stride;     /* distance between records in bytes */
	uint64_t first;    /* index of the first record in the whole response */
	size_t n;          /* number of complete records */
};

/* A decoded MAD; all pointers refer to its bytes or to static tables. */
struct mad {
	struct mad_header header;
	const struct mad_class *class;         /* NULL: unknown */
	const struct mad_attribute *attribute; /* NULL: unknown */
	const struct record *record;           /* of the attribute; NULL: unknown */
	const uint8_t *bytes;
	const uint8_t *data; /* of the attribute, record->size bytes or more */
	struct rmpp rmpp;
	/* Records that mad_print shows if the MAD is part of a table. */
	struct mad_table table;
};

/*
 * HD_ERR_INPUT with a reason if `size` is not MAD_SIZE or the base version is not 1. Unknown
 * classes and attributes are no errors.
 */
HD_MUST_CHECK enum hd_status mad_decode(const uint8_t *bytes, size_t size, struct diag *d,
					struct mad *out);

/* Writes all MAD_SIZE bytes: the header, and zeros after it. */
void mad_write(const struct mad_header *h, uint8_t *bytes);
/*
 * Sets a field of the class's header or of the attribute, in a MAD whose header has been written.
 * Asserts that the field exists.
 */
void mad_set(uint8_t *bytes, const char *name, uint64_t value);
void mad_set_bytes(uint8_t *bytes, const char *name, const void *from, size_t size);
void mad_set_entry(uint8_t *bytes, unsigned i, const char *name, uint64_t value);
uint64_t mad_get(const uint8_t *bytes, const char *name);

/* "SubnGet(NodeInfo)", with status and modifier unless they are insignificant. */
void mad_summary(const struct mad *m, struct strbuf *out);
/* Prints header and attribute, one field per line, as smpquery. */
void mad_print(const struct mad *m, const char *indent, struct strbuf *out);
void mad_json(const struct mad *m, struct json *w);

#endif
