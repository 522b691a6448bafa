/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_LIVE_CLOCK_ENGINE_H
#define HD_LIVE_CLOCK_ENGINE_H

/* What the engine remembers; private to live/timed. */

#include <stdbool.h>
#include <sys/types.h>

#include "hca/external_qp.h"
#include "live/adapter.h"
#include "live/clock/timed.h"

struct engine;
struct program;
struct seen;

/* A message that is not done, or may still arrive. */
struct message {
	struct live_request request; /* as the program posted it */
	bool has_landed;             /* it has arrived, or is lost for good, */
	bool is_spread;              /* to a group: it has at one of its members */
	bool is_done;
	bool is_over; /* nothing more is heard of it */
};

/* A shared receive queue of a program. */
struct shared {
	struct external_srq *queue; /* NULL: not in the simulation */
	uint32_t max;               /* 0: not created */
	uint64_t receives;          /* posted, and not taken */
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
	} psn; /* with which it entered that */
	bool is_connected, has_started;
	bool is_alone;                      /* connected to one that was not there yet */
	uint64_t receives;                  /* posted, and not taken */
	struct message *messages;           /* ring; `head` and `tail` count */
	uint32_t size, head, tail, entered; /* entered: up to there in the simulation */
	struct membership *groups;
	size_t n_groups, groups_cap;
};

struct program {
	uint32_t number;
	struct live_memory *memory;
	struct pair **pairs; /* by the index in their number */
	struct shared *shared;
	size_t n_shared;
	struct {
		uint64_t used;  /* processor time, when it was last seen busy */
		uint64_t words; /* that it had said and heard by then */
		bool is_known;
	} patience;
	int bell; /* -1: not opened yet */
	unsigned rings;
	bool seen; /* among those that there are */
};

struct engine {
	const char *dir;
	int calls; /* connection to the daemon */
	const struct live_page *page;
	uint32_t generation;
	uint64_t version; /* of what is programmed */
	const struct timed_source *from;
	struct hca_profile profile;
	struct run *run; /* NULL: not yet */
	struct external_qps *external;
	hd_time base;        /* time of the engine at time 0 of the run */
	uint64_t idle_since; /* ns of the machine's clock at the last idle step; 0: none */
	struct {
		uint32_t serial; /* of 'live traffic'; 0: none */
		pid_t pid;       /* its process */
		bool is_changed, is_over, is_detached;
		struct sim_counters *counters; /* of packets of programs, per port_id */
		hd_time from;                  /* measured from here */
	} traffic;
	struct program *programs[LIVE_PROGRAMS];
	uint64_t under_way; /* messages */
	uint32_t *fresh;    /* queue pairs, one for each that is to enter */
	size_t n_fresh, fresh_cap;
	struct seen *seen; /* the capture (seen.h), or NULL */
	bool is_fresh;     /* something was programmed since the last try */
};

static inline hd_time engine_now(const struct engine *e)
{
	return e->base + (e->external ? external_qps_now(e->external) : 0);
}

/* ---- engine.c: the daemon. An errno; a file is the caller's. */
struct asked {
	uint32_t question;
	const void *text;
	size_t size;
};
/* Observes hops as long as a capture or attached traffic needs them. */
void clock_observe(struct engine *e);
int clock_ask_daemon(struct engine *e, const struct asked *a, void *out, size_t *size, int *file);

/* ---- programs.c */

/* Those that there are now. */
void clock_programs_look(struct engine *e);
void clock_programs_free(struct engine *e);
void clock_program_notify(struct engine *e, struct program *p, const struct live_note *n);
/* Whether all programs have read their notes, also those that slept. */
bool clock_programs_have_read(struct engine *e);
/* Whether all programs wait, so that time may advance. */
bool clock_programs_wait(struct engine *e);
/* Publishes the time to all programs. */
void clock_programs_time(struct engine *e);
/* The first deadline of a timed wait, or HD_TIME_NEVER. */
hd_time clock_programs_alarm(const struct engine *e);
/* True if a program waits for time alone: it sleeps until a deadline, or polls. */
bool clock_programs_need_time(const struct engine *e);

/* ---- pairs.c */

/* What programs have posted; true if there was something. */
bool clock_pairs_take(struct engine *e);
/*
 * Messages that were taken enter the simulation once all programs wait: a sender's
 * request may have been taken before its receiver is known. True if a message was
 * rejected, which its program is notified of.
 */
bool clock_pairs_send(struct engine *e);
void clock_pairs_forget(struct engine *e, struct program *p);
/* Puts all of them into a simulation of the fabric as it is, */
void clock_pairs_enter(struct engine *e);
/* and takes them out again, before it ends. */
void clock_pairs_leave(struct engine *e);
struct pair *clock_pair_find(struct engine *e, uint32_t qpn);
static inline bool pair_is_ud(const struct pair *q)
{
	return q->asked.kind == QP_UD;
}

/* A message that is not over; or NULL. */
struct message *clock_pair_message(const struct pair *q, uint64_t number);
/* Notifies the program of the event's queue pair. */
void clock_pairs_events(struct engine *e, const struct external_event *n);

#endif
