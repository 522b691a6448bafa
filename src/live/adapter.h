/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_LIVE_ADAPTER_H
#define HD_LIVE_ADAPTER_H

/*
 * What the daemon of a live fabric and programs that use its adapters share:
 * answers to questions about ports and paths, and two kinds of memory.
 *
 * The daemon's page is one for all, and programs only read it. The memory of a
 * program is its own adapter: its queues and regions, which peers reach into.
 * The daemon knows only its first part, writes there that the program is gone,
 * and reads what it has counted; it believes nothing of it.
 */

#include <stdatomic.h>
#include <stdint.h>

#define LIVE_MEMORY_MAGIC UINT32_C(0x68644d34) /* "hdM4" */
#define LIVE_DEVICE       "heddle0"

enum {
	/* Of an adapter whose topology names no vendor: a locally administered OUI. */
	LIVE_VENDOR = 0x024844,
	LIVE_HW_VERSION = 1,
	LIVE_PROGRAMS = 1024, /* that use adapters at once; number 0 is not used */
	LIVE_FLOWS = 8192,
	LIVE_PKEYS = 128,
	LIVE_NO_PORT = -1,
};

/* A queue pair number: the number of its program, and below it the index of the queue pair. */
enum { LIVE_QPN_INDEX_BITS = 14, LIVE_QPS = 1 << LIVE_QPN_INDEX_BITS /* of a program */ };

static inline uint32_t live_qpn(uint32_t program, uint32_t index)
{
	return program << LIVE_QPN_INDEX_BITS | index;
}

static inline uint32_t live_qpn_program(uint32_t qpn)
{
	return qpn >> LIVE_QPN_INDEX_BITS & (LIVE_PROGRAMS - 1);
}

static inline uint32_t live_qpn_index(uint32_t qpn)
{
	return qpn & (LIVE_QPS - 1);
}

/* Whether data cross the fabric at once, or as packets in their time. */
enum live_pace { LIVE_FREE, LIVE_TIMED };

struct live_page {
	uint32_t magic;
	uint32_t pace;               /* enum live_pace */
	_Atomic uint32_t has_engine; /* which gives data their time */
	_Atomic uint32_t is_held;    /* the simulated clock is paused */
	/* Counts what changes: tables, links, who is there. */
	_Atomic uint32_t generation;
};

/* Packets from a port to a LID at a service level. Only the program writes. */
struct live_flow {
	_Atomic uint32_t used; /* the three below stand */
	uint32_t from;         /* the fabric's number of a port */
	uint16_t dlid;
	uint8_t sl;
	_Atomic uint64_t packets;
	_Atomic uint64_t octets; /* as PortXmitData counts them */
};

/*
 * ---- simulated clock: requests of a program to the engine, and notes of the
 * engine. Each side writes one end of a ring in the program's memory and its
 * count; both sides check the counts that they read.
 */

enum {
	LIVE_REQUESTS = 4096,
	LIVE_NOTES = 4096,
	LIVE_READS = 16, /* reads and atomics of a queue pair under way */
	/* Consecutive polls that find nothing, after which a program waits. */
	LIVE_PATIENCE = 16,
};

enum live_request_kind {
	LIVE_PAIR = 1, /* a queue pair has these attributes now */
	LIVE_PAIR_GONE,
	LIVE_SEND,
	LIVE_RECEIVE,
	/* Of a shared receive queue, its index in place of a number: */
	LIVE_SHARED, /* it is there, for `number` receives */
	LIVE_SHARED_GONE,
	LIVE_SHARED_RECEIVE,
	/* UD is in a group (pair.dlid, content.dgid), or no more. */
	LIVE_ATTACH,
	LIVE_DETACH,
	LIVE_REQUEST_KINDS
};

/* A queue pair; of a send of UD: where it goes. */
struct live_pair {
	uint32_t kind;  /* enum qp_kind (transport/qp.h) */
	uint32_t state; /* enum qp_state: INIT, RTR or RTS */
	uint32_t port;  /* the fabric's number of it */
	uint32_t max_send, max_recv;
	uint32_t dest_qpn, rq_psn, sq_psn, qkey;
	uint32_t mtu;   /* bytes */
	int32_t shared; /* its shared receive queue, or -1 */
	uint16_t slid, dlid, pkey;
	uint8_t sl, timeout, retry, rnr_retry, min_rnr, max_rd, max_dest_rd;
	uint8_t global; /* with a GRH */
};

/* A piece of a program's memory. */
struct live_piece {
	uint64_t addr; /* as the program names it, */
	uint32_t length, lkey;
	uint64_t where; /* and where that is; 0: it may not be used */
};

/* Payload and headers of a send's packets; only captures read it. */
struct live_content {
	uint64_t at; /* in the program: a list of pieces, or the bytes */
	uint32_t n_pieces;
	uint32_t is_inline; /* the bytes */
	uint64_t remote_addr, compare, swap;
	uint32_t rkey;
	uint32_t imm; /* as on the wire */
	uint32_t solicited;
	uint32_t flow_label; /* of a GRH, with what follows */
	uint8_t hop_limit, traffic_class;
	uint8_t sgid[16], dgid[16];
};

struct live_request {
	uint32_t kind;
	uint32_t qpn;
	uint64_t number; /* of a send: which of its queue pair's */
	uint64_t length;
	uint32_t operation; /* enum wr_kind (transport/work.h) */
	struct live_pair pair;
	struct live_content content; /* of a send */
};

enum live_note_kind {
	LIVE_ARRIVED = 1, /* all of it is at its destination */
	LIVE_LOST,        /* UC, UD: it will never be, or at no more members */
	/* RC: it is acknowledged. UC, UD: it has left, and may yet arrive. */
	LIVE_DONE,
};

struct live_note {
	uint32_t kind;
	uint32_t qpn;
	uint64_t number;
	uint32_t status; /* enum ibv_wc_status */
	uint32_t to;     /* of LIVE_ARRIVED: the queue pair */
};

struct live_clock {
	_Atomic uint64_t now;   /* ps, by the engine */
	_Atomic uint32_t polls; /* consecutive polls that found nothing */
	/* Futexes: on `called` the program sleeps, on `waits` the engine. */
	_Atomic uint32_t called, waits;
	_Atomic uint64_t alarm;        /* ps: first deadline of a timed wait; 0: none */
	int32_t helper;                /* the thread of the adapter's own in the program */
	int32_t bell;                  /* where it is woken */
	_Atomic uint32_t is_answering; /* it is at work on what woke it */
	_Atomic uint32_t is_kept;      /* the engine's time waits for it */
	_Atomic uint64_t posted;       /* requests: by the program, */
	_Atomic uint64_t taken;        /* and by the engine */
	_Atomic uint64_t told;         /* notes: by the engine, */
	_Atomic uint64_t heard;        /* and by the program */
	struct live_request requests[LIVE_REQUESTS];
	struct live_note notes[LIVE_NOTES];
};

/* What is written to a program's bell to wake its helper. */
struct live_ring {
	uint32_t nothing[4];
};

struct live_memory {
	uint32_t magic;
	int32_t pid;
	_Atomic uint32_t gone; /* by the daemon: the program has ended */
	struct live_clock clock;
	struct live_flow flows[LIVE_FLOWS];
};

/* ---- questions, over a LIVE_CALL connection of a host */

struct live_node {
	uint64_t guid, system_guid;
	uint32_t vendor, device;
	uint32_t n_ports; /* 1 .. n_ports */
	uint32_t kind;    /* enum node_kind */
};

/* A port by its number on the node, in words of PortInfo. */
struct live_port {
	uint32_t id; /* the fabric's number of it */
	uint64_t guid, prefix;
	uint32_t cap_mask;
	uint16_t cap_mask2, lid, sm_lid, n_pkeys;
	uint8_t state, physical, lmc, sm_sl, mtu_cap, mtu, vls, subnet_timeout;
	uint8_t init_type, width, speed, ext_speed;
	uint16_t bad_pkeys, bad_qkeys;
	uint16_t pkeys[LIVE_PKEYS];
};

/* A packet that a port did not take because of its key. */
struct live_violation {
	uint32_t port;    /* the fabric's number of it */
	uint32_t is_qkey; /* else the P_Key */
	uint32_t key, from_qp, to_qp;
	uint16_t slid, dlid;
	uint8_t sl;
	uint8_t reserved[3];
};

/* A fault that programs of a host meet. */
enum live_fault_action {
	LIVE_FAULT_COMPLETE = 1, /* a request completes with a status and is not carried out */
	LIVE_FAULT_POST,         /* posting returns an errno */
	LIVE_FAULT_DELAY,        /* a completion queue hides its completions for a time */
	LIVE_FAULT_RNR,          /* receivers are not ready for a time */
	LIVE_FAULT_QP_ERROR,     /* a queue pair fails with an asynchronous event */
	LIVE_FAULT_DEVICE,       /* the adapter fails */
};

struct live_fault {
	uint32_t id;
	uint32_t action;
	uint32_t value;  /* enum ibv_wc_status, an errno, or enum ibv_event_type */
	uint32_t qpn;    /* 0: any */
	int32_t process; /* 0: any */
	uint32_t chance; /* of UINT32_MAX; 0: certain */
	uint64_t time;   /* in ns */
	uint64_t after;  /* events that pass first */
	uint64_t times;  /* events that it hits; 0: no limit */
	uint64_t seed;
};

struct live_path_question {
	uint32_t port;       /* its number on the node */
	uint16_t slid, dlid; /* slid: where answers go */
	uint8_t sl;
	uint8_t reserved[3]; /* no byte that is sent is undefined */
};

struct live_path {
	int32_t there; /* the port with the LID, or LIVE_NO_PORT */
	int32_t back;  /* where answers arrive */
};

/* A queue pair joins a multicast group, or leaves it. */
struct live_member {
	uint32_t program; /* the number of its connection */
	uint32_t qpn;
	uint32_t port; /* number on the node */
	uint32_t joins;
	uint16_t mlid;
	uint8_t mgid[16];
};

/* Who has what is sent to a group: as many queue pairs as the reply says. */
struct live_group_question {
	uint32_t port;
	uint16_t mlid;
	uint8_t sl;
	uint8_t mgid[16];
};

/* Of what data are captured. */
struct live_capture_wanted {
	uint32_t serial; /* 0: of none */
	uint32_t port;   /* the fabric's number of it, or TOPO_NONE: all */
};

/* ---- what the daemon says over a LIVE_ADAPTER connection */

enum live_event_kind {
	LIVE_PORT_ACTIVE = 1,
	LIVE_PORT_DOWN,
	LIVE_LID_CHANGE,
	LIVE_SM_CHANGE,
	LIVE_PKEY_CHANGE,
	LIVE_GID_CHANGE,
	LIVE_PROGRAM_GONE, /* it may have held locks of ours; 0: the engine */
	LIVE_FAULTS,       /* those of the host changed */
};

struct live_event {
	uint32_t kind;
	uint32_t port; /* number on the node; or of the program */
};

#endif
