/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_SIM_JOBS_JOBS_INTERNAL_H
#define HD_SIM_JOBS_JOBS_INTERNAL_H

/*
 * State of a job on the fabric. Internal to src/sim/jobs.
 *
 *	build.c		creates jobs from the scenario: ranks, addresses, servers, trees
 *	message.c	sends messages as packets; message queues of ranks and servers
 *	pool.c		storage of messages
 *	remote.c	messages between processes
 *	checkpoint.c	the state of a job as bytes, for a checkpoint
 *	chain.c		the critical path: messages up to the end, and where they waited
 *	links.c		bytes of the job per link
 *	timeline.c	activity of some ranks over time
 *	pairs.c		bytes of each pair of source and destination
 *	repeat.c	iterations that are skipped
 *	tables.c	results
 *	stuck.c		operations that a job that does not end waits for
 *	reduce.c	reductions by the switches
 *	inner.c		messages inside hosts, and between their rails
 *	rc.c		messages over queue pairs
 *
 * A run may be partitioned: each domain has a share of every job (struct job_domain) with a
 * rank group for its ranks, and a pool for the messages that they post. The source of a
 * message writes it until its packets are sent; then the destination reads it and returns
 * it. If the destination is in another process, it has a copy (remote.c).
 */

#include "sim/domains/remote_messages.h"
#include "sim/jobs/jobs.h"
#include "workload/rank_group.h"

enum message_kind {
	MSG_DATA,
	MSG_ASK,    /* announces data: rendezvous request (J6) */
	MSG_GO,     /* answer to MSG_ASK: the receive is posted */
	MSG_READ,   /* read request to a server */
	MSG_WRITE,  /* data written to a server */
	MSG_ANSWER, /* answer of a server */
	MSG_REDUCE, /* contribution of a rank to a reduction (S2) */
};

/* State of a message at a destination. */
struct job_recv_slot {
	uint32_t arrived; /* packets received */
	uint32_t receive; /* matched receive of the rank, or RANK_GROUP_NONE */
	/* Waits of its packets: total at first links, and the longest wait of a packet. */
	struct sim_waits waits;
	bool is_over; /* the destination has returned the message */
};

struct job_message {
	hd_time posted;
	uint64_t size; /* of the data; MSG_ASK and MSG_READ carry none of it */
	struct critical_path path;
	uint32_t source, target; /* actor numbers */
	uint32_t sender;         /* actor that sends the packets: the source, */
				 /* or a peer that forwards it (J13) */
	uint32_t tag;            /* of a reduction: its first transaction */
	uint32_t ref;
	/* Packets; with queue pairs SENDs, all of which count as sent when acknowledged. */
	uint32_t n_packets, sent;
	uint32_t next;
	uint32_t number; /* among the messages of its source, from 1 */
	hd_time held;    /* total wait of its packets at their first link */
	uint32_t lost;   /* lost packets, counted in the domain that loses them; with queue pairs */
			 /* 1: will never be acknowledged */
	uint32_t copies; /* destinations that have not returned it, plus */
			 /* the source if it uses a queue pair */
	uint8_t kind;
	lid_t dlid; /* multicast LID; 0: unicast */
	struct job_recv_slot here;
	struct job_recv_slot *landings; /* multicast: per rank; else NULL */
};

/* A rank or a server, with a queue of messages to send. */
struct actor {
	uint32_t node; /* sim node */
	port_id port;
	uint32_t first, last; /* message queue; the first message is being sent */
	hd_time next_at;      /* J5: earliest start of the next message, given g */
	hd_time left_at;      /* its last byte has left; HD_TIME_NEVER: not yet */
	uint32_t reduces;     /* message of its current reduction, or RANK_GROUP_NONE */
	uint32_t under_way;   /* messages awaiting acknowledgement */
	/*
	 * Queue of messages inside the host (J12): the first that has not arrived, the first
	 * that has not left, and the last; time when the last byte of all has left.
	 */
	uint32_t inner_first, inner_leaves, inner_last;
	hd_time inner_free;
	hd_time inner_left; /* time when the last one left; HD_TIME_NEVER: none */
	uint32_t n_posted;
	struct posting *log; /* ring of its last messages (chain.c) */
	size_t log_cap;
	uint32_t n_collected; /* posted messages already collected without change */
};

#define FEW_LINKS 10 /* links per job in tables without `all` */

#define MESSAGES_IN_BLOCK 256u
#define MESSAGE_TABLES    4096u /* each with as many blocks */

struct placed_job;

/* The share of a job in one domain. */
struct job_domain {
	struct placed_job *of;
	uint32_t number;
	struct sim *sim;
	struct rank_group rank_group;
	/*
	 * Message ids (pool.c): next unused id of the last block; free list; free list of ids
	 * returned by other domains.
	 */
	uint32_t fresh, free, returned;
	uint64_t n_messages, bytes; /* messages posted by ranks */
	struct pair_count *pairs;   /* n_bins x n_bins (pairs.c) */
	hd_time delivery_at;        /* time of the delivery in progress; else HD_TIME_NEVER */
	bool has_ranks;
	bool is_elsewhere;                /* another process computes it */
	struct remote_messages *outgoing; /* per share; NULL: all shares are in this process */
	struct job_message *seen;         /* remote share: its messages in transit */
	size_t n_seen;
};

/* A job on the fabric. */
struct placed_job {
	const struct scn_job *scn;
	struct fabric *fabric;
	struct job job;
	struct opgraph graph;
	struct workload_step *steps;
	uint32_t **servers;  /* per step: actor number, by end port */
	lid_t **mlids;       /* per step and group; NULL: no multicast */
	uint32_t *trees_of;  /* per step: number of the step whose trees it uses */
	uint32_t **begun;    /* per step with trees, by rank: transactions begun */
	uint32_t first_tree; /* in the subnet: first tree of this run's jobs */
	struct rank *ranks;
	uint32_t *needs;
	struct actor *actors; /* ranks, then servers */
	uint32_t n_actors;
	uint32_t *rank_of_node;
	uint32_t endpoint;
	struct sim *sim;
	char *sender; /* "job train" */
	/*
	 * With queue pairs: the pairs (sender, target) as sorted 64-bit keys with the sender in
	 * the upper half. Each pair has a channel of `lab`.
	 */
	struct lab *lab; /* NULL: plain packets */
	uint64_t *ways;
	size_t n_ways;
	uint32_t first_channel;
	uint8_t sl;
	uint32_t mtu, overhead, grh;
	uint32_t transaction; /* largest transaction, bytes */
	struct hd_rate inner; /* 0: no link inside hosts */
	hd_time inner_latency;
	uint32_t *joined; /* per node: node of a rank of the same host; or NULL */
	uint64_t eager;
	hd_time gap;
	struct job_domain alone; /* the share of a run that is not partitioned */
	struct job_domain *shares;
	uint32_t n_shares;
	const uint16_t *part_of_node; /* domain per sim node, of a partitioned run; or NULL */
	struct job_message ***tables; /* two-level table of message blocks */
	/* The next free block; each process uses every block_stride-th block. */
	uint32_t next_block, block_stride;
	/* Notes made during the run. */
	uint32_t log_most;              /* messages per actor */
	uint64_t *link_bytes;           /* per sim port */
	struct job_timeline *timelines; /* of ranks 0, spacing, 2 spacing, ... */
	uint32_t n_timelines, spacing;
	uint32_t *bins; /* per actor (pairs.c) */
	uint32_t n_bins;
	uint32_t *names;               /* by message id: index in a listed state */
	struct iteration_watch *watch; /* repeat.c; or NULL */
};

/* Periods of a job's run that are skipped (repeat.c). */
struct job_periods {
	hd_time begin; /* start of the period before the last one */
	hd_time period;
	uint64_t n;          /* periods to skip */
	uint32_t iterations; /* iterations per period */
	/*
	 * Two periods ago, one period ago, and now: messages posted per actor, recorded spans
	 * per timeline, ended iterations per rank.
	 */
	const uint32_t *posted[3], *spans[3], *iteration[3];
};

struct jobs {
	struct fabric *fabric;
	struct placed_job *placed;
	uint32_t n;
	uint32_t n_aggregations; /* in the subnet, before those of jobs */
	struct lab *lab;         /* of the jobs with queue pairs, or NULL */
};

/* ---- pool.c -------------------------------------------------------------- */

/* The domain that computes the actor. */
uint32_t job_domain_of(const struct placed_job *p, uint32_t actor);
/* The domain of the message's source; the message must be known in this process. */
uint32_t message_part(const struct placed_job *p, uint32_t id);
struct job_message *message_at(const struct placed_job *p, uint32_t id);
uint32_t message_new(struct job_domain *s);
/* The source releases the message. */
void message_release(struct job_domain *s, uint32_t id);
/* The destination `rank` returns the message. */
void message_take(struct job_domain *s, uint32_t id, uint32_t rank);
/* The local copy of a message of another process; created if it does not exist. */
struct job_message *message_mirror(struct placed_job *p, uint32_t id);
/* Whether this process has storage for a message of this id. */
bool message_is_known(const struct placed_job *p, uint32_t id);
/* Whether the message exists and its source is in this process. */
bool message_is_ours(const struct placed_job *p, uint32_t id);
/*
 * The next message from `id` on that is in use: with `ours`, only those whose source is in this
 * process; else also those received from other processes. RANK_GROUP_NONE: none.
 */
uint32_t message_next(const struct placed_job *p, uint32_t id, bool ours);
/* This process uses each `stride`-th block, starting with `first`. */
void message_blocks_begin(struct placed_job *p, uint32_t first, uint32_t stride);
/* After a restart: do not use the block of this message or any before it. */
void message_blocks_skip(struct placed_job *p, uint32_t id);
void message_blocks_fini(struct placed_job *p);

/* ---- remote.c ----------------------------------------------------------- */

void job_domains_init_remote(struct placed_job *p, const struct sim_cut *how);
void job_domain_fini_remote(struct job_domain *s);
bool message_is_elsewhere(const struct placed_job *p, uint32_t id);
/* Sends a posted message to the processes of its destinations. */
void message_announce(struct job_domain *s, uint32_t id);
/* Returns a message to its source in another process. */
void message_return(struct job_domain *s, uint32_t id);
void message_tell_arrived(struct job_domain *s, uint32_t id);
/* Reports a lost packet to the message's source, in any domain. */
void message_tell_lost(struct job_domain *s, uint32_t id);
/* See struct sim_endpoint. */
void job_mail(void *context, struct pack *k, uint32_t from, uint32_t to);
void job_collect(void *context, struct pack *k, uint32_t part);

/* ---- message.c ----------------------------------------------------------- */

void job_attach(struct placed_job *p, struct sim *s);
/* Allocates the receive slots of a multicast, one per rank. */
void message_receives_make(const struct placed_job *p, struct job_message *m);

static inline struct job_recv_slot *message_recv_slot(struct job_message *m, uint32_t rank)
{
	return m->landings ? &m->landings[rank] : &m->here;
}

struct critical_path message_path_until(const struct job_message *m, const struct sim_waits *waits,
					hd_time now);
/* Appends the message to the queue of its sender. */
void message_enqueue(struct job_domain *s, uint32_t id, hd_time now);
/* A packet of the message, or all of it, has arrived at actor `at`. */
void message_lands(struct job_domain *s, uint32_t id, uint32_t at, hd_time now);
uint64_t message_bytes(const struct job_message *m); /* bytes on the wire as payload */
/* The queue pair has completed the send of the message. */
void message_acknowledged(struct job_domain *s, uint32_t id, hd_time now);

/* The message that this actor is sending; or NULL. */
const struct job_message *message_of_sender(const struct placed_job *p, uint32_t actor);

/* ---- chain.c ------------------------------------------------------------- */

/* Records a posted message and its cause. */
void chain_post(struct placed_job *p, struct job_message *m);
void chain_begin(struct placed_job *p, const struct job_message *m, hd_time now);
/* Critical-path entry of a message that has left, or arrived with these waits. */
struct path_message chain_left(const struct job_message *m, hd_time now);
struct path_message chain_arrived(const struct job_message *m, const struct sim_waits *waits,
				  hd_time now);
/* Whether this is a valid cause, if it came from another process. */
bool chain_cause_is_valid(const struct placed_job *p, const struct path_message *x);
/*
 * Sends the postings of an actor that have changed since the last collection to the first
 * process.
 */
void chain_collect(struct placed_job *p, struct pack *k, uint32_t actor);
/* All recorded postings of an actor, for a checkpoint. */
void chain_pack(struct placed_job *p, struct pack *k, uint32_t actor);
/* Whether the messages of the last two periods are equal but for the time. */
bool chain_repeats(const struct placed_job *p, const struct job_periods *r, uint32_t actor);
/* Moves the postings to `to`, and adds those of the next n periods. */
void chain_continue(struct placed_job *from, struct placed_job *to, const struct job_periods *r,
		    uint32_t actor);
/* Tables of the critical path: waits on the way to the end of the last rank. */
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
/* Call after every change of the rank's activity: accounts the time up to now. */
void timeline_look(struct job_domain *s, uint32_t rank, hd_time now);
/* `more` (1 or -1) messages are now partially received. */
void timeline_receives(struct job_domain *s, uint32_t rank, int more);
void timeline_collect(struct placed_job *p, struct pack *k, uint32_t rank);
/* The complete timeline, for a checkpoint. */
void timeline_pack(struct placed_job *p, struct pack *k, uint32_t rank);
/* Number of spans recorded for timeline `number` since timeline_note_all. */
void timeline_note_all(struct placed_job *p, bool on);
uint64_t timeline_noted_bytes(const struct placed_job *p);
uint32_t timeline_noted(const struct placed_job *p, uint32_t number);
/* Repeats the recorded spans from `first` to `end` - 1 n more times. */
void timeline_continue(struct placed_job *from, struct placed_job *to, const struct job_periods *r,
		       uint32_t number);
void timeline_table(const struct jobs *jobs, struct results *r);

/* ---- pairs.c ------------------------------------------------------------- */

void pairs_init(struct placed_job *p);
void pairs_count(struct job_domain *s, const struct job_message *m, uint64_t bytes);
void pairs_collect(struct job_domain *s, struct pack *k);
/* The sums of all shares; restoring adds them to the first share. */
void pairs_pack(const struct placed_job *p, struct pack *k);
void pairs_table(const struct jobs *jobs, bool all, struct results *r);

/* ---- tables.c ------------------------------------------------------------ */

/* The rank group of the rank that ended last (the lowest of several); NULL: none has ended. */
const struct rank_group *job_last_domain(const struct placed_job *p);
uint32_t job_ranks_done(const struct placed_job *p);
bool job_is_done(const struct placed_job *p);
/* Index iteration * n_steps + step, over all ranks. */
struct step_span job_step_times(const struct placed_job *p, size_t step);
/* "h3"; valid until the next row. */
const char *job_host_name(struct table *t, const struct placed_job *p, uint32_t actor);
/* "rank 3", or the host of a server. */
const char *job_actor_name(struct table *t, const struct placed_job *p, uint32_t actor);
/* "s1-0:4" */
const char *job_port_name(struct table *t, const struct placed_job *p, uint32_t port);

/* ---- build.c ------------------------------------------------------------- */

/* Creates a multicast tree for each group of a step. */
HD_MUST_CHECK enum hd_status job_trees(struct placed_job *p, size_t step, struct diag *d);

/* ---- inner.c ------------------------------------------------------------- */

bool inner_same_host(const struct placed_job *p, uint32_t a, uint32_t b);
/* Puts ranks joined by a link inside a host into one domain. */
void inner_join(struct placed_job *p);
/* The rank that queues a message: its source or a peer on the same host (J13). */
uint32_t inner_sender_of(const struct placed_job *p, uint32_t source, uint32_t target);
/* Returns true if the message starts inside its host; it is then in transit. */
bool inner_takes(struct job_domain *s, uint32_t id, hd_time now);
/* Timer of a message inside a host; numbers start from 0. */
void inner_timer(struct job_domain *s, uint32_t number, hd_time now);

/* ---- reduce.c ------------------------------------------------------------ */

bool reduction_has_step(const struct workload_step *s);
/* Creates aggregation trees for each group of a step. */
HD_MUST_CHECK enum hd_status reduction_trees(struct placed_job *p, size_t step, struct diag *d);
/* Posts the contribution of a rank to a reduction of its group. */
void reduction_post(struct job_domain *s, uint32_t rank, uint32_t group, uint32_t message);
void reduction_table(const struct jobs *jobs, struct results *r);
/* A packet of the reduction's result has arrived at a rank. */
void reduction_deliver(struct job_domain *s, uint32_t rank, const struct sim_packet *packet,
		       hd_time now);

/* ---- rc.c ---------------------------------------------------------------- */

/* Creates the queue pairs of jobs with transport rc. */
HD_MUST_CHECK enum hd_status jobs_connect(struct jobs *jobs, struct diag *d);
/* Number of SENDs of a message of `bytes`. */
uint32_t rc_pieces(uint64_t bytes);
/* Posts a message to the queue pair of its sender and target. */
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

/*
 * Adds the operations that do not end and the messages without a match; returns true if there
 * are any.
 */
bool jobs_problems(const struct jobs *jobs, struct results *r);

#endif
