/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/mad_tables.h"

/* One row per field, as in the standard's tables. */
/* clang-format off */

static const struct field_name transports[] = {
	{ 0, "RC" }, { 1, "UC" }, { 2, "RD" }, { 3, "extended" }, { 0, NULL }
};

static const struct field_name messages[] = {
	{ 0, "REQ" }, { 1, "REP" }, { 2, "other" }, { 0, NULL }
};

static const struct field_name reasons[] = {
	{ 1, "no queue pair" }, { 3, "no resources" }, { 4, "timeout" },
	{ 6, "invalid communication ID" }, { 8, "invalid service ID" },
	{ 9, "invalid transport service type" }, { 10, "stale connection" },
	{ 12, "primary GID" }, { 13, "primary LID" }, { 28, "consumer" },
	{ 33, "duplicate communication ID" }, { 0, NULL }
};

#define COMMUNICATION_IDS                      \
	F_HEX("LocalCommunicationID", 0, 32), \
		F_HEX("RemoteCommunicationID", 32, 32)

#define PATH(which, at)                                      \
	F_UINT(which "LocalLID", at, 16),                    \
		F_UINT(which "RemoteLID", (at) + 16, 16),    \
		F_GID(which "LocalGID", (at) + 32),          \
		F_GID(which "RemoteGID", (at) + 160),        \
		F_HEX(which "FlowLabel", (at) + 288, 20),    \
		F_UINT(which "PacketRate", (at) + 314, 6),   \
		F_HEX(which "TrafficClass", (at) + 320, 8),  \
		F_UINT(which "HopLimit", (at) + 328, 8),     \
		F_UINT(which "SL", (at) + 336, 4),           \
		F_UINT(which "SubnetLocal", (at) + 340, 1),  \
		F_UINT(which "LocalAckTimeout", (at) + 344, 5)

static const struct field req_fields[] = {
	F_HEX("LocalCommunicationID", 0, 32),
	F_HEX("ServiceID", 64, 64),
	F_HEX("LocalCAGUID", 128, 64),
	F_HEX("LocalQ_Key", 224, 32),
	F_HEX("LocalQPN", 256, 24),
	F_UINT("ResponderResources", 280, 8),
	F_HEX("LocalEECN", 288, 24),
	F_UINT("InitiatorDepth", 312, 8),
	F_HEX("RemoteEECN", 320, 24),
	F_UINT("RemoteCMResponseTimeout", 344, 5),
	F_ENUM("TransportServiceType", 349, 2, transports),
	F_UINT("EndToEndFlowControl", 351, 1),
	F_HEX("StartingPSN", 352, 24),
	F_UINT("LocalCMResponseTimeout", 376, 5),
	F_UINT("RetryCount", 381, 3),
	F_HEX("PartitionKey", 384, 16),
	F_UINT("PathPacketPayloadMTU", 400, 4),
	F_UINT("RDCExists", 404, 1),
	F_UINT("RNRRetryCount", 405, 3),
	F_UINT("MaxCMRetries", 408, 4),
	F_UINT("SRQ", 412, 1),
	F_UINT("ExtendedTransportType", 413, 3),
	PATH("Primary", 416),
	PATH("Alternate", 768),
	F_BYTES("PrivateData", 1120, 736),
	F_END
};

static const struct record req = {
	.name = "ConnectRequest", .size = 232, .fields = req_fields
};

static const struct field mra_fields[] = {
	COMMUNICATION_IDS,
	F_ENUM("MessageMRAed", 64, 2, messages),
	F_UINT("ServiceTimeout", 72, 5),
	F_BYTES("PrivateData", 80, 1776),
	F_END
};

static const struct record mra = {
	.name = "MsgRcptAck", .size = 232, .fields = mra_fields
};

static const struct field rej_fields[] = {
	COMMUNICATION_IDS,
	F_ENUM("MessageRejected", 64, 2, messages),
	F_UINT("RejectInfoLength", 72, 7),
	F_ENUM("Reason", 80, 16, reasons),
	F_BYTES("AdditionalRejectInformation", 96, 576),
	F_BYTES("PrivateData", 672, 1184),
	F_END
};

static const struct record rej = {
	.name = "ConnectReject", .size = 232, .fields = rej_fields
};

static const struct field rep_fields[] = {
	COMMUNICATION_IDS,
	F_HEX("LocalQ_Key", 64, 32),
	F_HEX("LocalQPN", 96, 24),
	F_HEX("LocalEECN", 128, 24),
	F_HEX("StartingPSN", 160, 24),
	F_UINT("ResponderResources", 192, 8),
	F_UINT("InitiatorDepth", 200, 8),
	F_UINT("TargetAckDelay", 208, 5),
	F_UINT("FailoverAccepted", 213, 2),
	F_UINT("EndToEndFlowControl", 215, 1),
	F_UINT("RNRRetryCount", 216, 3),
	F_UINT("SRQ", 219, 1),
	F_HEX("LocalCAGUID", 224, 64),
	F_BYTES("PrivateData", 288, 1568),
	F_END
};

static const struct record rep = {
	.name = "ConnectReply", .size = 232, .fields = rep_fields
};

static const struct field ready_fields[] = {
	COMMUNICATION_IDS,
	F_BYTES("PrivateData", 64, 1792),
	F_END
};

static const struct record rtu = {
	.name = "ReadyToUse", .size = 232, .fields = ready_fields
};

static const struct record drep = {
	.name = "DisconnectReply", .size = 232, .fields = ready_fields
};

static const struct field dreq_fields[] = {
	COMMUNICATION_IDS,
	F_HEX("RemoteQPN", 64, 24),
	F_BYTES("PrivateData", 96, 1760),
	F_END
};

static const struct record dreq = {
	.name = "DisconnectRequest", .size = 232, .fields = dreq_fields
};

static const struct field sidr_req_fields[] = {
	F_HEX("RequestID", 0, 32),
	F_HEX("PartitionKey", 32, 16),
	F_HEX("ServiceID", 64, 64),
	F_BYTES("PrivateData", 128, 1728),
	F_END
};

static const struct record sidr_req = {
	.name = "ServiceIDResReq", .size = 232, .fields = sidr_req_fields
};

static const struct field_name sidr_states[] = {
	{ 0, "valid" }, { 1, "service ID not supported" },
	{ 2, "rejected" }, { 3, "no queue pair" }, { 4, "redirected" },
	{ 5, "version not supported" }, { 0, NULL }
};

static const struct field sidr_rep_fields[] = {
	F_HEX("RequestID", 0, 32),
	F_ENUM("SIDRStatus", 32, 8, sidr_states),
	F_UINT("AdditionalInformationLength", 40, 8),
	F_HEX("QPN", 64, 24),
	F_HEX("ServiceID", 96, 64),
	F_HEX("Q_Key", 160, 32),
	F_BYTES("AdditionalInformation", 192, 576),
	F_BYTES("PrivateData", 768, 1088),
	F_END
};

static const struct record sidr_rep = {
	.name = "ServiceIDResRep", .size = 232, .fields = sidr_rep_fields
};

const struct mad_attribute mad_cm_attributes[] = {
	{ ATTR_CLASS_PORT_INFO, 0, &mad_class_port_info, NULL },
	{ ATTR_CM_REQ, 0, &req, NULL },
	{ ATTR_CM_MRA, 0, &mra, NULL },
	{ ATTR_CM_REJ, 0, &rej, NULL },
	{ ATTR_CM_REP, 0, &rep, NULL },
	{ ATTR_CM_RTU, 0, &rtu, NULL },
	{ ATTR_CM_DREQ, 0, &dreq, NULL },
	{ ATTR_CM_DREP, 0, &drep, NULL },
	{ ATTR_CM_SIDR_REQ, 0, &sidr_req, NULL },
	{ ATTR_CM_SIDR_REP, 0, &sidr_rep, NULL },
	{ 0, 0, NULL, NULL }
};
