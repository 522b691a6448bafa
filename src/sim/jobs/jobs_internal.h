/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_JOBS_JOBS_INTERNAL_H
#define HD_SIM_JOBS_JOBS_INTERNAL_H

/*
 * What the files of the room know of a job on the fabric. Internal to it.
 *
 *	build.c		from the scenario: ranks, addresses, servers, trees
 *	message.c	messages as packets, lines of ranks and servers
 *	pool.c		where messages are kept
 *	remote.c	messages between processes
 *	checkpoint.c	all of it as bytes, for a checkpoint
 *	chain.c		the messages that led to the end, and where they waited
 *	links.c		what links carried for it
 *	timeline.c	what some ranks did when
 *	pairs.c		bytes of each pair of source and destination
 *	repeat.c	iterations that are not computed
 *	tables.c	what came of it
 *	stuck.c		what a job that does not end waits for
 *	reduce.c	reductions by the switches
 *	inner.c		messages inside hosts, and between their rails
 *	rc.c		messages over queue pairs
 *
 * A run may be computed in parts: each has a share of every job (struct job_domain)
 * with a rank group for the ranks there, and a pool for the messages that they post.
 * A message is written by its source until its packets are sent, and then read
 * by its destination, which gives it back. If another process has that, it has
 * a copy (remote.c).
 */

#include "sim/domains/remote_messages.h"
#include "sim/jobs/jobs.h"
#include "workload/rank_group.h"

enum message_kind {
	MSG_DATA,
	MSG_ASK,    /* announces data (J6) */
	MSG_GO,     /* which may come now */
	MSG_READ,   /* asked of a server */
	MSG_WRITE,  /* brought to a server */
	MSG_ANSWER, /* of a server */
	MSG_REDUCE, /* what a rank gives to a reduction (S2) */
};

/* What a destination knows of a message. */
struct job_recv_slot {
	uint32_t arrived; /* packets */
	uint32_t receive; /* of its rank that it has got, or RANK_GROUP_NONE */
	/* Of its packets: at first links together, and the longest of one. */
	struct sim_waits waits;
	bool is_over; /* it has been given back */
};

struct job_message {
	hd_time posted;
	uint64_t size; /* that is meant; MSG_ASK, MSG_READ carry none of it */
	struct critical_path path;
	uint32_t source, target; /* actors */
	uint32_t sender;         /* whose packets they are: the source, */
				 /* or who passes it on (J13) */
	uint32_t tag;            /* of a reduction: its first transaction */
	uint32_t ref;
	/* With queue pairs SENDs, of which all are sent when acknowledged. */
	uint32_t n_packets, sent;
	uint32_t next;
	uint32_t number; /* of its source, from 1 */
	hd_time held;    /* its packets, at their first link */
	uint32_t lost;   /* packets, counted where they are lost; with queue pairs */
			 /* 1: it never will be acknowledged */
	uint32_t copies; /* destinations that have not given it back, and */
			 /* with queue pairs the source */
	uint8_t kind;
	lid_t dlid; /* of a multicast; else 0 */
	struct job_recv_slot here;
	struct job_recv_slot *landings; /* of a multicast, by rank */
};

/* A rank, or a server: who has a line of messages. */
struct actor {
	uint32_t node; /* sim node */
	port_id port;
	uint32_t first, last; /* messages in line; the first one is sent */
	hd_time next_at;      /* J5: not before, because of g */
	hd_time left_at;      /* its last byte; HD_TIME_NEVER: not yet */
	uint32_t reduces;     /* message of its reduction, or RANK_GROUP_NONE */
	uint32_t under_way;   /* messages that wait for acknowledgement */
	/* Messages inside its host (J12): the first that has not arrived, that
	 * has not left, and the last; when the last byte of all has left. */
	uint32_t inner_first, inner_leaves, inner_last;
	hd_time inner_free;
	hd_time inner_left; /* one did last; HD_TIME_NEVER: none */
	uint32_t n_posted;
	struct posting *log; /* of the last of them (chain.c) */
	size_t log_cap;
	uint32_t n_collected; /* of those posted: unchanged since then */
};

#define FEW_LINKS 10 /* of a job, that are shown without being asked for */

#define MESSAGES_IN_BLOCK 256u
#define MESSAGE_TABLES    4096u /* of as many blocks */

struct placed_job;

/* Of one part of the fabric. */
struct job_domain {
	struct placed_job *of;
	uint32_t number;
	struct sim *sim;
	struct rank_group rank_group;
	/* Ids (pool.c): the next one of its last block; those that are free,
	 * and have come back from other parts. */
	uint32_t fresh, free, returned;
	uint64_t n_messages, bytes; /* posted by ranks */
	struct pair_count *pairs;   /* n_bins x n_bins (pairs.c) */
	hd_time told_at;            /* of a delivery, while that is; else HD_TIME_NEVER */
	bool has_ranks;
	bool is_elsewhere;               /* another process computes it */
	struct remote_messages *letters; /* per share; NULL: all are here */
	struct job_message *seen;        /* of a share elsewhere: those under way */
	size_t n_seen;
};

/* A job on the fabric. */
struct placed_job {
	const struct scn_job *scn;
	struct fabric *fabric;
	struct job job;
	struct opgraph graph;
	struct workload_step *steps;
	uint32_t **servers;  /* per step: actors, one for each end port */
	lid_t **mlids;       /* per step, by group; NULL: none */
	uint32_t *trees_of;  /* per step: which one's trees it uses, */
	uint32_t **begun;    /* and of that one, by rank: transactions */
	uint32_t first_tree; /* of the jobs of this run, in the subnet */
	struct rank *ranks;
	uint32_t *needs;
	struct actor *actors; /* ranks, then servers */
	uint32_t n_actors;
	uint32_t *rank_of_node;
	uint32_t endpoint;
	struct sim *sim;
	char *sender; /* "job train" */
	/* With queue pairs: the pairs of sender and target, sorted, sender above target;
	 * each has a channel of this lab. */
	struct lab *lab; /* NULL: plain packets */
	uint64_t *ways;
	size_t n_ways;
	uint32_t first_channel;
	uint8_t sl;
	uint32_t mtu, overhead, grh;
	uint32_t transaction; /* bytes of one, at most */
	struct hd_rate inner; /* 0: no link inside hosts */
	hd_time inner_latency;
	uint32_t *joined; /* per node: a rank's of the same host; or NULL */
	uint64_t eager;
	hd_time gap;
	struct job_domain alone; /* of a run that is not cut */
	struct job_domain *shares;
	uint32_t n_shares;
	const uint16_t *part_of_node; /* of a run that is, or NULL */
	struct job_message ***tables; /* of blocks of messages */
	/* The next free block; this process takes each n-th. */
	uint32_t next_block, block_stride;
	/* What is noted on the way. */
	uint32_t log_most;              /* messages of an actor */
	uint64_t *link_bytes;           /* per sim port */
	struct job_timeline *timelines; /* of ranks 0, spacing, 2 spacing, ... */
	uint32_t n_timelines, spacing;
	uint32_t *bins; /* of actors (pairs.c) */
	uint32_t n_bins;
	uint32_t *names;               /* of messages by id, in a list of the state */
	struct iteration_watch *watch; /* repeat.c; or NULL */
};

/* Of a job: periods of its run that are not computed (repeat.c). */
struct job_periods {
	hd_time begin; /* two periods ago */
	hd_time period;
	uint64_t n;          /* more periods */
	uint32_t iterations; /* of a period */
	/* Two periods ago, one, and now: messages posted by each actor, noted
	 * spans of each timeline, iterations that each rank has ended. */
	const uint32_t *posted[3], *spans[3], *iteration[3];
};

struct jobs {
	struct fabric *fabric;
	struct placed_job *placed;
	uint32_t n;
	uint32_t n_aggregations; /* of the subnet, before them */
	struct lab *lab;         /* of those with queue pairs, or NULL */
};

/* ---- pool.c -------------------------------------------------------------- */

/* The part that computes an actor. */
uint32_t job_domain_of(const struct placed_job *p, uint32_t actor);
/* Its source's; it is known here. */
uint32_t message_part(const struct placed_job *p, uint32_t id);
struct job_message *message_at(const struct placed_job *p, uint32_t id);
uint32_t message_new(struct job_domain *s);
/* Its source is done with it. */
void message_release(struct job_domain *s, uint32_t id);
/* An actor that it went to is done with it. */
void message_take(struct job_domain *s, uint32_t id, uint32_t rank);
/* The place of a message of another process, which may be new. */
struct job_message *message_mirror(struct placed_job *p, uint32_t id);
/* Is there a place of that id? */
bool message_is_known(const struct placed_job *p, uint32_t id);
/* Does the message exist, with its source in this process? */
bool message_is_ours(const struct placed_job *p, uint32_t id);
/* The next of these from `id` on, or if not `ours` of those that come here,
 * too; RANK_GROUP_NONE: none. */
uint32_t message_next(const struct placed_job *p, uint32_t id, bool ours);
/* Which blocks are taken here: each `stride`-th from the first on; */
void message_blocks_begin(struct placed_job *p, uint32_t first, uint32_t stride);
/* and none up to that of a message that is there after a restart. */
void message_blocks_skip(struct placed_job *p, uint32_t id);
void message_blocks_fini(struct placed_job *p);

/* ---- remote.c ----------------------------------------------------------- */

void job_domains_init_remote(struct placed_job *p, const struct sim_cut *how);
void job_domain_fini_remote(struct job_domain *s);
bool message_is_elsewhere(const struct placed_job *p, uint32_t id);
/* It is posted: those that it goes to must know of it. */
void message_announce(struct job_domain *s, uint32_t id);
/* To its source, of a message that is elsewhere. */
void message_return(struct job_domain *s, uint32_t id);
void message_tell_arrived(struct job_domain *s, uint32_t id);
/* To its source, wherever that is. */
void message_tell_lost(struct job_domain *s, uint32_t id);
/* See struct sim_endpoint. */
void job_mail(void *context, struct pack *k, uint32_t from, uint32_t to);
void job_collect(void *context, struct pack *k, uint32_t part);

/* ---- message.c ----------------------------------------------------------- */

void job_attach(struct placed_job *p, struct sim *s);
/* Of a multicast: at each rank. */
void message_receives_make(const struct placed_job *p, struct job_message *m);

static inline struct job_recv_slot *message_recv_slot(struct job_message *m, uint32_t rank)
{
	return m->landings ? &m->landings[rank] : &m->here;
}

struct critical_path message_path_until(const struct job_message *m, const struct sim_waits *waits,
					hd_time now);
/* It joins the line of its sender. */
void message_enqueue(struct job_domain *s, uint32_t id, hd_time now);
/* A packet of it, or all of it, is at an actor. */
void message_lands(struct job_domain *s, uint32_t id, uint32_t at, hd_time now);
uint64_t message_bytes(const struct job_message *m); /* that it carries */
/* A queue pair says so: its send is done. */
void message_acknowledged(struct job_domain *s, uint32_t id, hd_time now);

/* The message that a send of this actor is under way with; or NULL. */
const struct job_message *message_of_sender(const struct placed_job *p, uint32_t actor);

/* ---- chain.c ------------------------------------------------------------- */

/* Notes a message that is posted, and what it waits for. */
void chain_post(struct placed_job *p, struct job_message *m);
void chain_begin(struct placed_job *p, const struct job_message *m, hd_time now);
/* It has left, or its packets that waited so are there. */
struct path_message chain_left(const struct job_message *m, hd_time now);
struct path_message chain_arrived(const struct job_message *m, const struct sim_waits *waits,
				  hd_time now);
/* Can this have come from another process? */
bool chain_cause_is_valid(const struct placed_job *p, const struct path_message *x);
/* Of the postings of an actor those that the first process has not seen as
 * they are now. */
void chain_collect(struct placed_job *p, struct pack *k, uint32_t actor);
/* All that are kept of an actor, for a checkpoint. */
void chain_pack(struct placed_job *p, struct pack *k, uint32_t actor);
/* Are the messages of the last period those of the one before, a period later? */
bool chain_repeats(const struct placed_job *p, const struct job_periods *r, uint32_t actor);
/* Gives `to`, where they have been posted, those of the next n periods. */
void chain_continue(struct placed_job *from, struct placed_job *to, const struct job_periods *r,
		    uint32_t actor);
/* What waited where on the way to the last rank's end. */
void chain_tables(const struct jobs *jobs, bool all, struct results *r);

/* ---- repeat.c ------------------------------------------------------------ */

/* A rank has ended an iteration. */
void job_iterated(struct job_domain *s, uint32_t rank);
void job_watch_fini(struct placed_job *p);

/* ---- links.c ------------------------------------------------------------- */

void jobs_link_table(const struct jobs *jobs, const struct sim_metrics *m, bool all,
		     struct results *r);

/* ---- timeline.c ---------------------------------------------------------- */

void timeline_init(struct placed_job *p, uint32_t n_jobs);
void timeline_fini(struct placed_job *p);
/* Something has happened at this rank, or will until now. */
void timeline_look(struct job_domain *s, uint32_t rank, hd_time now);
/* Messages of which some packets are there, and others not yet. */
void timeline_receives(struct job_domain *s, uint32_t rank, int more);
void timeline_collect(struct placed_job *p, struct pack *k, uint32_t rank);
/* All of it, for a checkpoint. */
void timeline_pack(struct placed_job *p, struct pack *k, uint32_t rank);
/* Spans that are noted since timeline_note_all, of timeline `number`. */
void timeline_note_all(struct placed_job *p, bool on);
uint64_t timeline_noted_bytes(const struct placed_job *p); /* bytes */
uint32_t timeline_noted(const struct placed_job *p, uint32_t number);
/* The noted spans from `first` to `end` - 1 happen n more times. */
void timeline_continue(struct placed_job *from, struct placed_job *to, const struct job_periods *r,
		       uint32_t number);
void timeline_table(const struct jobs *jobs, struct results *r);

/* ---- pairs.c ------------------------------------------------------------- */

void pairs_init(struct placed_job *p);
void pairs_count(struct job_domain *s, const struct job_message *m, uint64_t bytes);
void pairs_collect(struct job_domain *s, struct pack *k);
/* The sums of all shares; reading gives them to the first. */
void pairs_pack(const struct placed_job *p, struct pack *k);
void pairs_table(const struct jobs *jobs, bool all, struct results *r);

/* ---- tables.c ------------------------------------------------------------ */

/* The rank group whose rank ended last, the lowest of several; NULL: none has. */
const struct rank_group *job_last_domain(const struct placed_job *p);
uint32_t job_ranks_done(const struct placed_job *p);
bool job_is_done(const struct placed_job *p);
/* [iteration * n_steps + step] of all ranks. */
struct step_span job_step_times(const struct placed_job *p, size_t step);
/* "h3", as a text for the next row. */
const char *job_host_name(struct table *t, const struct placed_job *p, uint32_t actor);
/* "rank 3", or the host of a server. */
const char *job_actor_name(struct table *t, const struct placed_job *p, uint32_t actor);
/* "s1-0:4" */
const char *job_port_name(struct table *t, const struct placed_job *p, uint32_t port);

/* ---- build.c ------------------------------------------------------------- */

/* A multicast tree for each group of a step. */
HD_MUST_CHECK enum hd_status job_trees(struct placed_job *p, size_t step, struct diag *d);

/* ---- inner.c ------------------------------------------------------------- */

bool inner_same_host(const struct placed_job *p, uint32_t a, uint32_t b);
/* Ranks that a link inside a host joins are computed in one part. */
void inner_join(struct placed_job *p);
/* The rank by whose line a message goes: its source's or a peer's (J13). */
uint32_t inner_sender_of(const struct placed_job *p, uint32_t source, uint32_t target);
/* True if the message begins inside its host: then it is on its way. */
bool inner_takes(struct job_domain *s, uint32_t id, hd_time now);
/* A timer of a message inside, by number from 0. */
void inner_timer(struct job_domain *s, uint32_t number, hd_time now);

/* ---- reduce.c ------------------------------------------------------------ */

bool reduction_has_step(const struct workload_step *s);
/* Aggregation trees for each group of a step. */
HD_MUST_CHECK enum hd_status reduction_trees(struct placed_job *p, size_t step, struct diag *d);
/* A rank's part in a reduction of its group is posted. */
void reduction_post(struct job_domain *s, uint32_t rank, uint32_t group, uint32_t message);
void reduction_table(const struct jobs *jobs, struct results *r);
/* A packet of its result has come to a rank. */
void reduction_deliver(struct job_domain *s, uint32_t rank, const struct sim_packet *packet,
		       hd_time now);

/* ---- rc.c ---------------------------------------------------------------- */

/* Makes the queue pairs of jobs that have such. */
HD_MUST_CHECK enum hd_status jobs_connect(struct jobs *jobs, struct diag *d);
/* Number of SENDs of a message of `bytes`. */
uint32_t rc_pieces(uint64_t bytes);
/* Gives a message to the queue pair of its sender and target. */
void rc_send(struct job_domain *s, uint32_t id, hd_time now);
void rc_table(const struct jobs *jobs, struct results *r);

static inline bool goes_over_rc(const struct placed_job *p, const struct job_message *m)
{
	return p->lab && !m->dlid;
}

/* ---- checkpoint_state.c ------------------------------------------------------------- */

/* See struct sim_endpoint. */
void job_list_cookies(void *context, struct pack *k);
void job_pack(void *context, struct pack *k, const struct sim_section *section);
void job_pack_cookie(void *context, struct pack *k, uint32_t *cookie);

/* ---- stuck.c ------------------------------------------------------------- */

/* Operations that do not end, and messages that do not fit; true if there is any. */
bool jobs_problems(const struct jobs *jobs, struct results *r);

#endif
