/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_LIVE_CLOCK_ENGINE_H
#define HD_LIVE_CLOCK_ENGINE_H

/*
 * State of the engine of a live fabric; private to live/clock. struct engine owns its programs,
 * queue pairs and messages. The daemon's page and the programs' memories are mapped; the run is
 * owned by struct timed_source.
 */

#include <stdbool.h>
#include <sys/types.h>

#include "hca/external_qp.h"
#include "live/adapter.h"
#include "live/clock/timed.h"

struct engine;
struct program;
struct seen;

/* A message that is not done, or that may still arrive. */
struct message {
	struct live_request request; /* as the program posted it */
	bool has_landed;             /* it has arrived, or is lost */
	bool is_spread;              /* multicast: at least one member has received it */
	bool is_done;
	bool is_over; /* no further event can follow */
};

/* A shared receive queue of a program. */
struct shared {
	struct external_srq *queue; /* NULL: not in the simulation */
	uint32_t max;               /* 0: not created */
	uint64_t receives;          /* number of receives posted and not consumed */
};

struct membership {
	uint16_t mlid;
	uint8_t mgid[16];
};

/* A queue pair of a program. */
struct pair {
	struct program *of;
	uint32_t qpn;
	struct live_pair asked;
	struct external_qp *sim_qp; /* NULL: not in the simulation */
	struct {
		uint32_t send, receive;
	} psn; /* initial values in the simulation */
	bool is_connected, has_started;
	bool is_alone;                      /* connected to a queue pair that did not exist yet */
	uint64_t receives;                  /* number of receives posted and not consumed */
	struct message *messages;           /* ring; `head` and `tail` count messages */
	uint32_t size, head, tail, entered; /* entered: messages before it are in the simulation */
	struct membership *groups;
	size_t n_groups, groups_cap;
};

/* An open /proc/PID/task/TID/stat. */
struct thread_stat {
	int file;
	long tid;
};

struct program {
	uint32_t number;
	struct live_memory *memory;
	struct pair **pairs; /* by queue pair index */
	struct shared *shared;
	size_t n_shared;
	struct {
		uint64_t used;  /* processor time at the last observed activity */
		uint64_t words; /* number of requests and notes at that time */
		bool is_known;
	} patience;
	struct thread_stat *threads; /* those found by the last look */
	size_t n_threads, threads_cap;
	int bell; /* -1: not opened yet */
	unsigned rings;
	bool seen; /* present in the daemon's last list of programs */
};

struct engine {
	const char *dir;
	int calls; /* connection to the daemon */
	const struct live_page *page;
	uint32_t generation;
	uint64_t version; /* of the programmed state */
	const struct timed_source *from;
	struct hca_profile profile;
	struct run *run; /* NULL: not opened yet */
	struct external_qps *external;
	hd_time base;        /* time of the engine at time 0 of the run */
	uint64_t idle_since; /* ns of the machine's clock at the last idle step; 0: none */
	struct {
		uint32_t serial; /* serial number of 'live traffic'; 0: none */
		pid_t pid;       /* its process */
		bool is_changed, is_over, is_detached;
		struct sim_counters *counters; /* packets of programs, per port_id */
		hd_time from;                  /* start of the measured time */
	} traffic;
	struct program *programs[LIVE_PROGRAMS];
	uint32_t n_programs; /* all numbers so far are lower */
	uint32_t busy;       /* number of the last program that did not wait */
	uint64_t under_way;  /* number of messages in flight */
	uint32_t *fresh;     /* numbers of queue pairs that are to enter the simulation */
	size_t n_fresh, fresh_cap;
	struct seen *seen; /* the capture (seen.h), or NULL */
	bool is_fresh; /* the programmed state has changed since the last attempt to open a run */
};

static inline hd_time engine_now(const struct engine *e)
{
	return e->base + (e->external ? external_qps_now(e->external) : 0);
}

/* ---- engine.c: questions to the daemon; they return an errno. The caller owns the file. */
struct asked {
	uint32_t question;
	const void *text;
	size_t size;
};
/* Observes hops while a capture or attached traffic needs them. */
void clock_observe(struct engine *e);
int clock_ask_daemon(struct engine *e, const struct asked *a, void *out, size_t *size, int *file);

/* ---- programs.c */

/* Updates the list of programs. */
void clock_programs_look(struct engine *e);
void clock_programs_free(struct engine *e);
void clock_program_notify(struct engine *e, struct program *p, const struct live_note *n);
/* True if all programs, including those that slept, have read their notes. */
bool clock_programs_have_read(struct engine *e);
/* True if all programs wait, so that time may advance. */
bool clock_programs_wait(struct engine *e);
/* Publishes the time to all programs. */
void clock_programs_time(struct engine *e);
/* The first deadline of a timed wait, or HD_TIME_NEVER. */
hd_time clock_programs_alarm(const struct engine *e);
/* True if a program waits for time alone: it sleeps until a deadline, or polls. */
bool clock_programs_need_time(const struct engine *e);

/* ---- pairs.c */

/* Takes the requests of all programs; true if there were any. */
bool clock_pairs_take(struct engine *e);
/*
 * Messages that were taken enter the simulation once all programs wait: a sender's
 * request may have been taken before its receiver is known. True if a message was
 * rejected, which its program is notified of.
 */
bool clock_pairs_send(struct engine *e);
void clock_pairs_forget(struct engine *e, struct program *p);
/* Adds all queue pairs to a new simulation of the fabric. */
void clock_pairs_enter(struct engine *e);
/* Removes all queue pairs from the simulation before it ends. */
void clock_pairs_leave(struct engine *e);
struct pair *clock_pair_find(struct engine *e, uint32_t qpn);
static inline bool pair_is_ud(const struct pair *q)
{
	return q->asked.kind == QP_UD;
}

/* The message if it is not over; else NULL. */
struct message *clock_pair_message(const struct pair *q, uint64_t number);
/* Notifies the program of the event's queue pair. */
void clock_pairs_events(struct engine *e, const struct external_event *n);

#endif
