/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_TESTS_ORACLE_WORK_H
#define HD_TESTS_ORACLE_WORK_H

/*
 * Jobs while they run: rank.c has what ranks do (J2, J3, J7), job_message.c the
 * messages between them (J4 to J6, J9).
 */

#include "job.h"
#include "state.h"

enum op_state { OP_WAITS, OP_READY, OP_TAKEN, OP_DONE };

struct op_work {
	uint32_t needs; /* requirements that do not hold yet */
	enum op_state state;
	bool started;
};

struct cpu {
	bool busy;
	uint32_t op; /* that it does, */
	hd_time until;
	uint32_t *line; /* operations that need it */
	size_t n_line, line_cap;
};

#define CPUS 4

struct rank {
	bool begun;
	hd_time ended; /* or NEVER */
	uint32_t iteration, step;
	struct oracle_graph own;         /* of a step */
	const struct oracle_graph *does; /* now */
	struct op_work *work;
	uint32_t left_over; /* operations that are not done */
	struct cpu cpus[CPUS];
	uint64_t *sizes;    /* by operation: of the message that it has got */
	uint32_t *receives; /* without a message, as they started */
	size_t n_receives, receives_cap;
	struct job_message **waiting; /* announced, without a receive */
	size_t n_waiting, waiting_cap;
};

enum job_message_kind {
	MESSAGE_PLAIN,
	MESSAGE_ANNOUNCES, /* J6 */
	MESSAGE_CLEARS,
	MESSAGE_BODY,
	MESSAGE_ASKS, /* J9 */
	MESSAGE_ANSWERS,
	MESSAGE_SPREADS, /* J8: to all of a group, */
	MESSAGE_SPREAD,  /* as one of them gets it */
	MESSAGE_GIVES,   /* S2 */
};

struct job_message {
	enum job_message_kind kind;
	uint32_t job, source, target; /* ranks; of J9 one is a server */
	uint32_t from, to;            /* end nodes */
	uint32_t op;                  /* that sends it, or asks */
	uint32_t line;                /* that it leaves by */
	uint32_t tag, channel;
	uint64_t size;                        /* of payload that this one carries */
	uint64_t means;                       /* bytes that are sent in the end, or asked for */
	bool reads;                           /* J9 */
	uint64_t n_packets, given, delivered; /* J14: SENDs */
	uint64_t acknowledged;                /* of these */
	struct job_message **parts;           /* MESSAGE_SPREADS: each receiver's */
	uint32_t n_parts;
	uint16_t mlid; /* 0: to one */
	uint32_t first_transaction;
	bool announced, matched;
	uint32_t receive; /* operation of the target */
};

/* J5: messages of a rank, or of a server, one after the other. */
struct job_line {
	uint32_t node, rank; /* SIM_NONE: a server's */
	struct job_message **messages;
	size_t n, cap;
	bool holds;      /* a packet of it waits or is on the link */
	hd_time leaves;  /* when that has left; NEVER: not granted */
	bool any;        /* a message has entered: */
	hd_time entered; /* the last one */
};

struct job_work {
	struct rank *ranks;
	struct job_line *lines; /* of ranks, then of servers */
	uint16_t *senders;      /* by node */
	uint32_t n_lines;
	uint32_t n_done; /* ranks */
};

struct work {
	struct job_work *jobs;
	uint32_t notifying;          /* notifications of ranks in progress */
	struct job_message **handed; /* J14: over at one port, when these end */
	size_t n_handed, handed_cap;
	struct job_message **messages; /* all that ever were */
	size_t n_messages, messages_cap;
};

/* rank.c */
/* The message of a receive is here whole. */
void rank_arrived(struct oracle *o, uint32_t job, uint32_t rank, uint32_t op, uint64_t size);
void op_done(struct oracle *o, uint32_t job, uint32_t rank, uint32_t op);
/* What its CPUs have done by now. */
void cpus_end(struct oracle *o, uint32_t job, uint32_t rank);
/* J3: takes what is ready, until nothing is. */
void rank_told(struct oracle *o, uint32_t job, uint32_t rank);

/* job_message.c */
void job_messages_post(struct oracle *o, uint32_t job, uint32_t rank, uint32_t op);
/* J4: a receive starts. */
void job_messages_receive(struct oracle *o, uint32_t job, uint32_t rank, uint32_t op);
/* Whether a message of this queue has left whole now; then notifies its rank. */
void line_leaves(struct oracle *o, uint32_t job, uint32_t line);
/* Begin and end of a rank's notification. */
void notify_begin(struct oracle *o);
void notify_finish(struct oracle *o);
/* True if some packet was dropped at once. */
bool lines_give(struct oracle *o);

#endif
