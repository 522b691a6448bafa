/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_LIVE_ADAPTER_H
#define HD_LIVE_ADAPTER_H

/*
 * Data that the daemon of a live fabric shares with the programs that use its adapters:
 * answers to questions about ports and paths, and two kinds of shared memory.
 *
 * The daemon writes one page for all programs; programs only read it. Each program owns a
 * memory that holds its adapter (queues and regions); peers read and write it. The daemon
 * accesses only the first part of that memory, struct live_memory: it sets `gone` when the
 * program has ended and reads the flow counters. The daemon does not trust the contents of
 * a program's memory.
 */

#include <stdatomic.h>
#include <stdint.h>

#define LIVE_MEMORY_MAGIC UINT32_C(0x68644d34) /* "hdM4" */
#define LIVE_DEVICE       "heddle0"

enum {
	/* Vendor of an adapter whose topology names none: a locally administered OUI. */
	LIVE_VENDOR = 0x024844,
	LIVE_HW_VERSION = 1,
	LIVE_PROGRAMS = 1024, /* most programs with adapters at a time; number 0 is not used */
	LIVE_FLOWS = 8192,
	LIVE_PKEYS = 128,
	LIVE_NO_PORT = -1,
};

/* Layout of a queue pair number: the number of the program above the index of the queue pair. */
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

/* Whether data cross the fabric at once (free) or as packets in simulated time (timed). */
enum live_pace { LIVE_FREE, LIVE_TIMED };

struct live_page {
	uint32_t magic;
	uint32_t pace;               /* enum live_pace */
	_Atomic uint32_t has_engine; /* an engine runs, which computes the time of data */
	_Atomic uint32_t is_held;    /* the simulated clock is paused */
	/* Incremented when tables, links or the set of programs change. */
	_Atomic uint32_t generation;
};

/* Counters of packets from a port to a LID at an SL. Only the program writes them. */
struct live_flow {
	_Atomic uint32_t used; /* nonzero: `from`, `dlid` and `sl` are valid */
	uint32_t from;         /* the fabric's number of a port */
	uint16_t dlid;
	uint8_t sl;
	_Atomic uint64_t packets;
	_Atomic uint64_t octets; /* as PortXmitData counts them */
};

/*
 * ---- Simulated clock: requests of a program to the engine, and notes of the engine to
 * the program. Both are rings in the program's memory; each side writes one end and its
 * count, and checks the count that it reads from the other side.
 */

enum {
	LIVE_REQUESTS = 4096,
	LIVE_NOTES = 4096,
	LIVE_READS = 16, /* outstanding reads and atomics of a queue pair */
	/* Number of consecutive empty polls after which a program counts as waiting. */
	LIVE_PATIENCE = 16,
};

enum live_request_kind {
	LIVE_PAIR = 1, /* sets the attributes of a queue pair */
	LIVE_PAIR_GONE,
	LIVE_SEND,
	LIVE_RECEIVE,
	/* For shared receive queues; `qpn` is the index of the queue: */
	LIVE_SHARED, /* created, for `number` receives */
	LIVE_SHARED_GONE,
	LIVE_SHARED_RECEIVE,
	/* A UD queue pair joins a group (pair.dlid, content.dgid), or leaves it. */
	LIVE_ATTACH,
	LIVE_DETACH,
	LIVE_REQUEST_KINDS
};

/* Attributes of a queue pair; for a send of UD: its destination. */
struct live_pair {
	uint32_t kind;  /* enum qp_kind (transport/qp.h) */
	uint32_t state; /* enum qp_state: INIT, RTR or RTS */
	uint32_t port;  /* port_id in the fabric */
	uint32_t max_send, max_recv;
	uint32_t dest_qpn, rq_psn, sq_psn, qkey;
	uint32_t mtu;   /* bytes */
	int32_t shared; /* index of its shared receive queue, or -1 */
	uint16_t slid, dlid, pkey;
	uint8_t sl, timeout, retry, rnr_retry, min_rnr, max_rd, max_dest_rd;
	uint8_t global; /* with a GRH */
};

/* A range of a program's memory. */
struct live_piece {
	uint64_t addr; /* as the program specified it */
	uint32_t length, lkey;
	uint64_t where; /* resolved address; 0: access is not allowed */
};

/* Payload and headers of a send's packets; only captures use them. */
struct live_content {
	uint64_t at; /* address in the program: a list of pieces, or the bytes */
	uint32_t n_pieces;
	uint32_t is_inline; /* `at` is the address of the bytes */
	uint64_t remote_addr, compare, swap;
	uint32_t rkey;
	uint32_t imm; /* in network byte order */
	uint32_t solicited;
	uint32_t flow_label; /* of a GRH, as the fields below */
	uint8_t hop_limit, traffic_class;
	uint8_t sgid[16], dgid[16];
};

struct live_request {
	uint32_t kind;
	uint32_t qpn;
	uint64_t number; /* of a send: its number in the queue pair */
	uint64_t length;
	uint32_t operation; /* enum wr_kind (transport/work.h) */
	struct live_pair pair;
	struct live_content content; /* of a send */
};

enum live_note_kind {
	LIVE_ARRIVED = 1, /* the whole message is at its destination */
	LIVE_LOST,        /* UC, UD: it cannot arrive, or at no further members */
	/*
	 * RC: the message is acknowledged. UC, UD: all packets have left the adapter and may still
	 * arrive.
	 */
	LIVE_DONE,
};

struct live_note {
	uint32_t kind;
	uint32_t qpn;
	uint64_t number;
	uint32_t status; /* enum ibv_wc_status */
	uint32_t to;     /* of LIVE_ARRIVED: the destination queue pair */
};

struct live_clock {
	_Atomic uint64_t now;   /* ps; written by the engine */
	_Atomic uint32_t polls; /* consecutive polls that found nothing */
	/* Futexes: the program sleeps on `called`, the engine on `waits`. */
	_Atomic uint32_t called, waits;
	_Atomic uint64_t alarm;        /* ps: first deadline of a timed wait; 0: none */
	int32_t helper;                /* thread ID of the adapter's helper thread in the program */
	int32_t bell;                  /* descriptor in the program that wakes the helper */
	_Atomic uint32_t is_answering; /* the helper is processing the event that woke it */
	_Atomic uint32_t is_kept;      /* the engine waits for the program */
	_Atomic uint64_t posted;       /* number of requests posted by the program */
	_Atomic uint64_t taken;        /* number of requests taken by the engine */
	_Atomic uint64_t told;         /* number of notes written by the engine */
	_Atomic uint64_t heard;        /* number of notes read by the program */
	struct live_request requests[LIVE_REQUESTS];
	struct live_note notes[LIVE_NOTES];
};

/* Written to a program's bell to wake its helper thread. */
struct live_ring {
	uint32_t nothing[4];
};

struct live_memory {
	uint32_t magic;
	int32_t pid;
	_Atomic uint32_t gone; /* set by the daemon: the program has ended */
	struct live_clock clock;
	struct live_flow flows[LIVE_FLOWS];
};

/* ---- questions and answers over a LIVE_CALL connection of a host */

struct live_node {
	uint64_t guid, system_guid;
	uint32_t vendor, device;
	uint32_t n_ports; /* ports are numbered from 1 to n_ports */
	uint32_t kind;    /* enum node_kind */
};

/* A port by its number on the node; fields as in PortInfo. */
struct live_port {
	uint32_t id; /* port_id in the fabric */
	uint64_t guid, prefix;
	uint32_t cap_mask;
	uint16_t cap_mask2, lid, sm_lid, n_pkeys;
	uint8_t state, physical, lmc, sm_sl, mtu_cap, mtu, vls, subnet_timeout;
	uint8_t init_type, width, speed, ext_speed;
	uint16_t bad_pkeys, bad_qkeys;
	uint16_t pkeys[LIVE_PKEYS];
};

/* A packet that a port refused because of its key. */
struct live_violation {
	uint32_t port;    /* port_id in the fabric */
	uint32_t is_qkey; /* the Q_Key was wrong; else the P_Key */
	uint32_t key, from_qp, to_qp;
	uint16_t slid, dlid;
	uint8_t sl;
	uint8_t reserved[3];
};

/* Faults to inject into programs of a host. */
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
	uint32_t chance; /* probability, in units of 1 / UINT32_MAX; 0: certain */
	uint64_t time;   /* duration in ns */
	uint64_t after;  /* number of matching events before the first fault */
	uint64_t times;  /* number of faults; 0: no limit */
	uint64_t seed;
};

struct live_path_question {
	uint32_t port;       /* port number on the node */
	uint16_t slid, dlid; /* slid: the LID to which answers are sent */
	uint8_t sl;
	uint8_t reserved[3]; /* zero, so that no undefined byte is sent */
};

struct live_path {
	int32_t there; /* port_id of the port with the LID, or LIVE_NO_PORT */
	int32_t back;  /* port_id at which answers arrive, or LIVE_NO_PORT */
};

/* A queue pair joins or leaves a multicast group. */
struct live_member {
	uint32_t program; /* the number of its connection */
	uint32_t qpn;
	uint32_t port; /* number on the node */
	uint32_t joins;
	uint16_t mlid;
	uint8_t mgid[16];
};

/*
 * Asks for the queue pairs that receive what is sent to a group; the reply's number is
 * their count.
 */
struct live_group_question {
	uint32_t port;
	uint16_t mlid;
	uint8_t sl;
	uint8_t mgid[16];
};

/* The data that the daemon wants captured. */
struct live_capture_wanted {
	uint32_t serial; /* serial number of the capture; 0: none */
	uint32_t port;   /* port_id in the fabric, or TOPO_NONE: all ports */
};

/* ---- events of the daemon over a LIVE_ADAPTER connection */

enum live_event_kind {
	LIVE_PORT_ACTIVE = 1,
	LIVE_PORT_DOWN,
	LIVE_LID_CHANGE,
	LIVE_SM_CHANGE,
	LIVE_PKEY_CHANGE,
	LIVE_GID_CHANGE,
	LIVE_PROGRAM_GONE, /* a program, which may have held locks in this memory, has ended; 0: the
			      engine */
	LIVE_FAULTS,       /* the faults of the host have changed */
};

struct live_event {
	uint32_t kind;
	uint32_t port; /* port number on the node; or number of the program */
};

#endif
