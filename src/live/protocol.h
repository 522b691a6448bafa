/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_LIVE_PROTOCOL_H
#define HD_LIVE_PROTOCOL_H

/*
 * Protocol of a live fabric between programs and the daemon, over a SOCK_SEQPACKET socket in the
 * fabric's folder. Both ends are of one build on one machine: numbers are in host order, and a
 * greeting with another magic is refused.
 *
 * A connection begins with a greeting that states its purpose:
 *
 *	LIVE_UMAD	represents an open /dev/infiniband/umadN. The daemon
 *			answers with a struct live_reply whose number names the
 *			connection; from then on each message, in either
 *			direction, is a frame of the kernel's MAD interface.
 *	LIVE_ISSM	represents an open issmN: while it is open, the port has
 *			a subnet manager.
 *	LIVE_CALL	questions: each struct live_call with its text is
 *			answered by a struct live_reply with its text.
 *	LIVE_CM		represents an open /dev/infiniband/rdma_cm. The reply's
 *			number names the connection. The daemon sends a byte
 *			for each of its events; the client reads it when the
 *			event is taken. Commands are questions.
 *	LIVE_ADAPTER	represents a program's use of verbs (live/adapter.h).
 *			The reply names the connection and carries the daemon's
 *			page; the program then sends the file of its memory, and
 *			from then on receives struct live_event.
 *
 * A frame above LIVE_INLINE bytes is sent as its header only, with a descriptor of a memory file
 * that holds the whole frame.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LIVE_MAGIC  UINT32_C(0x68644c31) /* "hdL1" */
#define LIVE_DIR    "HEDDLE_LIVE"        /* environment: folder of the fabric */
#define LIVE_HOST   "HEDDLE_HOST"        /* environment: host of a program (place.h) */
#define LIVE_SOCKET "socket"

enum {
	LIVE_NAME = 96,
	LIVE_INLINE = 65536,
	LIVE_TEXT = 65536, /* largest text of a call or a reply */
	UMAD_HEADER = 64,
};

enum live_kind { LIVE_UMAD = 1, LIVE_ISSM, LIVE_CALL, LIVE_ADAPTER, LIVE_CM };

struct live_greeting {
	uint32_t magic;
	uint32_t kind;
	uint32_t unit; /* N of umadN */
	char host[LIVE_NAME];
};

enum live_question {
	LIVE_REGISTER = 1, /* text: struct live_agent; number: its id */
	LIVE_UNREGISTER,   /* text: struct live_agent */
	LIVE_SYSFS,        /* text: a path below /sys; its content */
	LIVE_COMMAND,      /* text: words, each ended by NUL; reply: output */
	/* Structs of live/adapter.h: question; reply. */
	LIVE_ASK_NODE,   /* struct live_node */
	LIVE_ASK_PORT,   /* uint32_t port number; struct live_port */
	LIVE_ASK_PATH,   /* struct live_path_question; struct live_path */
	LIVE_ASK_MEMORY, /* uint32_t program; the reply carries the file */
	LIVE_MEMBER,     /* struct live_member */
	LIVE_ASK_GROUP,  /* struct live_group_question; uint32_t per QP */
	LIVE_BE_ENGINE,  /* the caller is the engine; the reply carries the page */
	LIVE_ASK_ALL,    /* reply: uint32_t of each program with memory */
	/*
	 * From the engine: uint32_t serial number of the capture that it writes, or 0. Reply:
	 * struct live_capture_wanted, and the file if the capture is another one.
	 */
	LIVE_ASK_CAPTURE,
	LIVE_CAPTURED, /* from the engine: uint32_t, the capture has ended; true: complete */
	/*
	 * From the engine: uint32_t serial number of the traffic that it simulates, or 0. Reply:
	 * the serial number of the traffic to simulate; for new traffic also its words and standard
	 * output.
	 */
	LIVE_ASK_TRAFFIC,
	/*
	 * Text: the uint32_t number of the LIVE_CM connection, then a command of
	 * rdma/rdma_user_cm.h. Reply: the response; number: bytes of events to read from the
	 * connection.
	 */
	LIVE_CM_COMMAND,
	LIVE_VIOLATION,   /* struct live_violation */
	LIVE_ASK_FAULTS,  /* reply: struct live_fault per fault of the host */
	LIVE_ASK_ADDRESS, /* text: name of a host, NUL; reply number: IPv4 address */
};

struct live_call {
	uint32_t question;
};

struct live_reply {
	int32_t error; /* an errno, or 0 */
	uint32_t number;
};

/* A registration of a program for MADs, with the fields of the kernel's interface. */
struct live_agent {
	uint32_t connection; /* number of the LIVE_UMAD connection */
	uint32_t id;         /* for LIVE_UNREGISTER */
	uint8_t mgmt_class;
	uint8_t class_version;
	uint8_t rmpp_version;
	uint8_t oui[3];
	uint32_t methods[4]; /* bit m: unsolicited MADs of method m */
};

/* The kernel's header of a MAD (user_mad ABI 5), as programs read and write it. */
struct umad_header {
	uint32_t agent;
	uint32_t status;  /* an errno */
	uint32_t timeout; /* ms */
	uint32_t retries;
	uint32_t length;
	uint32_t qp; /* big-endian, as the fields up to flow_label */
	uint32_t qkey;
	uint16_t lid;
	uint8_t sl;
	uint8_t path_bits;
	uint8_t grh_present;
	uint8_t gid_index;
	uint8_t hop_limit;
	uint8_t traffic_class;
	uint8_t gid[16];
	uint32_t flow_label;
	uint16_t pkey_index; /* host order */
	uint8_t reserved[6];
};

_Static_assert(sizeof(struct umad_header) == UMAD_HEADER, "the kernel's interface");

/*
 * Name of a node's folder, below the folder of the fabric: the node's name, with characters that
 * are special in paths replaced.
 */
static inline void live_host_folder(const char *host, char *out, size_t size)
{
	size_t i = 0;

	for (; host[i] && i + 1 < size; i++) {
		char c = host[i];
		bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
			     (c >= '0' && c <= '9') || c == '-';

		out[i] = plain ? c : '_';
	}
	out[i] = '\0';
}

#endif
