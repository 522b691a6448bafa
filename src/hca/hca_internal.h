/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HD_HCA_HCA_INTERNAL_H
#define HD_HCA_HCA_INTERNAL_H

/*
 * State of a lab and its adapters. Private to src/hca. An adapter has at most one useful timer
 * pending (alarm), like a link of the simulator. At each wake-up it does all work that is due:
 * takes requests whose time has come, processes arrivals, then sends while there is room.
 */

#include "cc/response.h"
#include "hca/coroutine.h"
#include "hca/lab.h"
#include "hca/tlb.h"
#include "hca/verbs.h"
#include "wire/packet.h"

#define FIRST_QPN    0x40
#define N_PRIORITIES 8
#define CQE_BYTES    32 /* size of a completion queue entry */
#define QP_NONE      UINT32_MAX

/* ---- packets on their way ------------------------------------------------ */

/*
 * Rate control of a queue pair, or of all queue pairs of a port and SL (pace.c), over all
 * adapters of the port.
 */
struct v_pace {
	const struct cc_config *how; /* NULL: no rate limit */
	struct cc_state state;
	hd_time took;     /* link time of the last request given */
	hd_time last;     /* time of its grant */
	uint32_t waiting; /* requests given and not granted yet */
	uint32_t changes; /* number of changes by a manager (C9) applied to `how` */
	/* If shared: the queue pairs held back, in order of their turns. */
	struct v_qp *first;
	uint64_t turns; /* turns given so far */
};

/*
 * The sender writes the slot. Afterwards receivers of copies read `packet` and `data`; all other
 * fields belong to the sender, except `copies`, and `next` after the last release.
 */
struct hca_slot {
	struct packet packet;
	uint32_t next;   /* next of the free list, or of the loopback list */
	uint32_t copies; /* outstanding deliveries */
	uint32_t node;   /* sending node */
	uint32_t vl;
	uint32_t staged; /* bytes of the sender's staging until the packet is on the link */
	/* The sending queue pair needs the departure time. */
	bool tells;
	bool paced; /* counted by congestion control */
	uint32_t qp, birth;
	uint32_t behind; /* next of the list of departing packets */
	hd_time when;    /* departure time; loopback: arrival time */
	uint8_t *data;   /* SLOT_DATA bytes, separate so that slots stay dense */
};

#define SLOT_DATA 4096u

struct slot_list {
	uint32_t first, last;
};

#define SLOT_BITS   22 /* bits of a slot's index; the lab's number is above */
#define SLOT_CHUNKS 17
#define SLOT_FIRST  64u /* slots of the first chunk; each further chunk has twice as many */

/* Slots of one lab. They never move, so that other domains may read them concurrently. */
struct slot_pool {
	struct hca_slot *chunks[SLOT_CHUNKS];
	uint8_t *data[SLOT_CHUNKS]; /* payload of the slots, per chunk */
	uint32_t n;                 /* slots ever used */
	uint32_t free;              /* free list, linked by `next` */
	uint32_t returned;          /* free list of slots returned by other domains */
	/* The lab is in another process: these are copies of packets sent to this process. */
	bool is_elsewhere;
};

/* A received packet; switches may have marked this copy. */
struct arrival {
	uint32_t slot;
	bool is_marked;
};

/* Ring; `head` and `tail` are counters. */
struct arrivals {
	struct arrival *ring;
	uint32_t head, tail, size;
};

/* ---- threads ---------------------------------------------------------- */

/* A request that takes effect when the simulation reaches its time. */
struct deferred {
	hd_time when;
	struct v_qp *qp;
	bool is_recv;
	union {
		struct send_wr send;
		struct recv_wr recv;
	};
	uint8_t data[WR_MAX_INLINE]; /* payload of an inline send */
};

enum thread_state {
	THREAD_READY,
	THREAD_RUNNING,
	THREAD_WAITING, /* until hca_thread_wake */
	THREAD_DONE,
};

struct v_thread {
	struct lab *lab;
	struct v_device *dev;
	struct coroutine *coroutine;
	void (*fn)(void *);
	void *arg;
	enum thread_state state;
	uint32_t id;
	hd_time clock;
	hd_time wake_at;       /* time of its timer, or NEVER */
	struct v_thread *next; /* next in a list of waiting threads */
	/* Ring; `head` and `tail` are counters. */
	struct deferred *requests;
	uint32_t head, tail, size;
};

struct thread_list {
	struct v_thread *first, *last;
};

struct v_semaphore {
	struct lab *lab;
	uint64_t value;
	hd_time posted; /* time of the last post */
	struct thread_list waiters;
};

/* ---- objects ---------------------------------------------------------- */

struct v_pd {
	struct v_device *dev;
	uint32_t number;
};

struct v_mr {
	struct v_pd *pd;
	uint8_t *memory;    /* NULL: reads as zeros */
	uint64_t addr, len; /* addr: address in packets */
	unsigned page_shift;
	unsigned access;
	uint32_t key;
};

struct hca_cq_entry {
	struct completion wc;
	hd_time when; /* in host memory from then on */
};

struct v_cq {
	struct v_device *dev;
	struct v_channel *channel;
	struct hca_cq_entry *ring; /* grows up to `size` entries */
	uint32_t places, size;
	uint64_t head, tail; /* counters; the index is modulo `places` */
	uint64_t tail_at_event;
	bool armed, solicited_only;
	/* Called for every entry; the queue is then not polled by a program. Or NULL. */
	void (*note)(void *context);
	void *context;
	hd_time armed_at;
	struct thread_list waiters;
};

static inline struct hca_cq_entry *cq_at(const struct v_cq *cq, uint64_t i)
{
	return &cq->ring[i % cq->places];
}

struct channel_event {
	struct v_cq *cq;
	hd_time when;
};

struct v_channel {
	struct v_device *dev;
	struct channel_event *events; /* ring */
	uint32_t head, tail, size;
	struct thread_list waiters;
};

struct srq_entry {
	hd_time when; /* available to the adapter from then on */
	struct recv_wr recv;
};

struct v_srq {
	struct v_pd *pd;
	struct srq_entry *ring;
	uint32_t head, tail, size;
};

struct v_qp {
	struct v_device *dev;
	struct v_pd *pd;
	struct qp *qp;
	struct qp_owner owner;
	struct v_cq *send_cq, *recv_cq;
	struct v_srq *srq;
	uint32_t number; /* index in dev->qps */
	uint32_t birth;  /* counts the queue pairs created or reset at this index */
	uint32_t wqe_bytes, wqe_segments;
	uint32_t mtu; /* path MTU */
	uint32_t deferred_sends, deferred_recvs;
	uint32_t max_send, max_recv;
	uint32_t weight, burst; /* burst: packets left in the current turn */
	uint32_t rank;          /* N_PRIORITIES - 1 - priority; rank 0 is served first */
	bool is_queued;
	uint8_t sl; /* SL of the next packet */
	hd_time last_inject;
	hd_time next_request; /* earliest start of the next request (profile: queue_pair) */
	struct v_pace pace;
	bool is_held;        /* its next packet is held back by its rate */
	uint64_t turn;       /* position in the queue of its rate; 0: not queued */
	struct v_qp *behind; /* next in that queue */
	struct v_qp *next;   /* next in a list of queue pairs with packets */
	bool connected;
};

struct v_watch {
	struct v_device *dev;
	const uint8_t *at;
	uint64_t hits;
	uint32_t fresh; /* hits not visible yet */
	hd_time when;   /* visibility of the last hit */
	struct v_thread *waiter;
	uint64_t waits_for;
	struct v_watch *next;
};

struct hca_member {
	lid_t mlid;
	struct v_qp *qp;
	uint8_t mgid[16];
};

/* ---- the adapter ------------------------------------------------------ */

struct qp_list {
	struct v_qp *first, *last;
};

/* Bus transactions of a packet, collected while the transport processes it. */
struct dma {
	uint64_t bytes;
	uint32_t transactions, misses;
};

struct v_device {
	struct lab *lab;
	uint32_t host, node, port; /* numbers in the simulator */
	lid_t lid;                 /* first of 1 << lmc LIDs */
	uint8_t lmc;
	uint8_t vl_of_sl[N_SLS];
	uint32_t mtu;
	/* Changes of VLs (T11l) applied so far; a function of time. */
	uint32_t vls_change;

	hd_time alarm; /* time of the useful timer, or NEVER */
	/*
	 * Rates per SL of congestion control; NULL: none. The first adapter of a port owns them
	 * for all its adapters.
	 */
	struct v_pace *paces;
	struct v_device *next_on_port; /* next adapter of the port, in a ring; or NULL */

	/* Servers: time at which each becomes free. */
	hd_time tx_free, rx_free, bus_free[2]; /* [0] reads, [1] writes */
	struct tlb tlb;
	struct dma dma;
	hd_time visible; /* time at which the data received so far is in host memory */

	struct qp_list active[N_VLS][N_PRIORITIES];
	uint32_t active_vls;
	uint32_t next_vl;
	uint64_t staged[N_VLS]; /* bytes fetched and not yet on the link */

	struct arrivals arrived; /* waiting for the receive engine */
	struct slot_list loop;   /* loopback packets */
	/*
	 * Linked by `behind`: packets whose departure a queue pair waits for: on the link, or
	 * dropped by the port.
	 */
	struct slot_list leaving;

	hd_time timer;    /* next expiry of a queue pair timer */
	hd_time timer_at; /* time of its event, or NEVER */

	struct v_qp **qps;
	uint32_t n_qps;
	size_t qps_cap;
	struct v_mr **mrs;
	uint32_t n_mrs;
	size_t mrs_cap;
	uint32_t n_pds, key_turn, qp_hint, births;
	uint64_t next_addr; /* page-aligned address of the next region */
	struct v_watch *watches;
	struct hca_member *members;
	size_t n_members, members_cap;
	struct v_thread **threads;
	size_t n_threads, threads_cap;
};

struct lab {
	struct fabric *fabric;
	const struct hca_profile *profile;
	struct sim *sim;
	uint32_t endpoint; /* endpoint number of all adapters */
	bool use_flows;
	hd_time went_on;                   /* last time a program advanced */
	struct external_qps *external;     /* external_qp.h; or NULL */
	bool follows;                      /* messages are reported as events */
	struct message_channels *channels; /* message_channel.h; or NULL */
	bool names_channels;               /* packets carry their channel number */
	struct hca_traffic *traffic;       /* rows over channels, or NULL */
	struct hca_profile *own_profile;   /* or NULL */
	/* Congestion control of queue pairs; NULL: none. */
	const struct cc_algorithm *algorithm;
	struct cc_config *response; /* rates as shares of a link */
	uint16_t paced_sls;         /* set of SLs under congestion control */
	struct v_pace *paces;       /* of all ports and SLs, if owned by this lab */
	hd_time now;                /* simulation time during a callback */
	struct v_device *devices;
	uint32_t n_devices;
	uint32_t n_pools;
	uint32_t *device_of_node;

	struct slot_pool *pools;          /* of all labs of a partitioned run */
	struct lab_distant *distant;      /* remote.c; NULL: single process */
	struct remote_messages *outgoing; /* per lab of another process */
	struct slots_saved *saved;        /* checkpoint.c; NULL: never saved */
	struct lab **parts;               /* NULL: not partitioned, or a part */
	uint32_t n_parts;
	uint32_t number; /* number of this part and its pool */
	uint64_t lost;
	uint64_t retries; /* retries of freed queue pairs */

	struct v_thread **threads;
	size_t n_threads, threads_cap;
	uint32_t n_live;
	bool cancelled;
	struct v_thread *current;
	struct thread_list ready;

	uint32_t barrier_here;
	hd_time barrier_time;
	struct thread_list barrier_waiters;

	struct capture_writer *capture; /* or NULL */
	hd_time capture_start;
};

/* ---- lab.c --------------------------------------------------------------- */

#define NEVER HD_TIME_NEVER

void hca_list_put(struct thread_list *l, struct v_thread *t);
struct v_thread *hca_list_take(struct thread_list *l);

/* Suspends the current thread until hca_thread_wake; false: cancelled. */
bool hca_thread_wait(struct lab *lab);
/* Resumes the thread after the current event, not before `when`. */
void hca_thread_wake(struct v_thread *t, hd_time when);

struct hca_slot *hca_slot_at(const struct lab *lab, uint32_t id);
/* Whether the slot exists, as original or copy. */
bool hca_slot_is_here(const struct lab *lab, uint32_t id);
/* The copy of a slot of another process; created if needed. */
struct hca_slot *hca_slot_mirror(struct lab *lab, uint32_t id);
uint32_t hca_slot_new(struct lab *lab);
void hca_slot_release(struct lab *lab, uint32_t id);
void hca_slot_append(struct lab *lab, struct slot_list *l, uint32_t id);
uint32_t hca_slot_first(struct lab *lab, struct slot_list *l);
/* Grows the array of pools from n_old to n. */
struct slot_pool *hca_pools_new(struct slot_pool *old, uint32_t n_old, uint32_t n);
void hca_pools_free(struct slot_pool *pools, uint32_t n);

void lab_alarm(struct lab *lab, struct v_device *dev, hd_time when);
/* As above for queue pair timers: an event that is already pending stays. */
void lab_timer(struct lab *lab, struct v_device *dev);

static inline hd_time later(hd_time a, hd_time b)
{
	return a > b ? a : b;
}

/* The caller's time: the clock of the current program, or the simulation's. */
static inline hd_time caller_time(const struct lab *lab)
{
	return lab->current ? lab->current->clock : lab->now;
}

static inline void spend(struct lab *lab, hd_time cost)
{
	if (lab->current)
		lab->current->clock += cost;
}

/* ---- device.c ------------------------------------------------------------ */

static inline bool is_own(const struct v_device *dev, lid_t lid)
{
	return lid >= dev->lid && (lid - dev->lid) >> dev->lmc == 0;
}

/* Schedules the device's timer at `when` or earlier. */
static inline void device_wake(struct v_device *dev, hd_time when)
{
	if (when < dev->timer)
		dev->timer = when;
}

void device_init(struct v_device *dev, struct lab *lab, uint32_t host, uint32_t node);
void device_fini(struct v_device *dev);
/* A packet has arrived at the port of the adapter. */
void device_receive(struct v_device *dev, uint32_t id, bool is_marked);
/* A queue pair timer may have expired. */
void device_timer(struct v_device *dev);
/* Handles the alarm of the device. */
void device_ring(struct v_device *dev);
/* Sends after the device may have got packets to send. */
void device_send(struct v_device *dev);
/* The queue pair that sent the packet; NULL if it was freed. */
struct v_qp *hca_slot_sender(const struct lab *lab, const struct hca_slot *s);
/* A packet of the device has started on the link, and leaves it at `end`. */
void device_sent(struct v_device *dev, uint32_t id, hd_time end);
/* The port of the device has dropped a packet of the device. */
void device_lost(struct v_device *dev, uint32_t id, hd_time when);
/* Time at which all data received so far is in host memory. */
hd_time device_visible(struct v_device *dev);
/* The queue pair may have packets to send. */
void device_activate(struct v_device *dev, struct v_qp *qp);
/* Appends the queue pair to its send list. */
void device_queue(struct v_device *dev, struct v_qp *qp);
/* No packet is ready, or the first packet has changed. */
void device_rest(struct v_device *dev, struct v_qp *qp);
/* The queue pair is about to be freed. */
void device_forget(struct v_device *dev, struct v_qp *qp);

/* ---- groups.c ------------------------------------------------------------ */

/*
 * Number of places where a packet to a group arrives or is lost, by the forwarding tables; 0: no
 * other port of the sender's switch belongs to the group.
 */
uint32_t hca_group_ends(const struct v_device *dev, lid_t mlid);
/* Whether a packet is for this member, or for any member at this adapter. */
bool hca_group_has(const struct hca_member *m, const struct packet *p);
bool hca_group_is_here(const struct v_device *dev, const struct packet *p);

/* ---- follow.c: what a manager sets meanwhile ---------------------------- */

/* Applies the settings of managers in force now; returns the time of the next change. */
hd_time device_follow(struct v_device *dev);
/* VL of an SL at this port. */
unsigned device_vl(struct v_device *dev, unsigned sl);

/* ---- pace.c: congestion control --------------------------------------- */

void pace_init(struct lab *lab);
void pace_fini(struct lab *lab);
/* With a rate per SL, the ports share their rates with those of `first`. */
void pace_join(struct lab *lab, struct lab *first);
/* The queue pair has a path; or (UD) its next request has another SL. */
void pace_start(struct v_qp *qp);
void pace_follow(struct v_qp *qp, uint8_t sl);
/* The rate of a queue pair, own or shared; NULL: none. */
struct v_pace *pace_qp(struct v_qp *qp);
/* Time of the next change by a manager (C9); or NEVER. */
hd_time pace_next_change(const struct lab *lab);
/* Whether marks on packets of this SL are reported to their senders. */
bool pace_answers(const struct lab *lab, unsigned sl);
/*
 * Earliest start of the next packet by its rate; 0: no limit. NEVER: a packet of this rate is not
 * on the link yet, or another queue pair precedes.
 */
hd_time pace_next(struct v_qp *qp);
/* With a shared rate: appends the queue pair to the queue of the rate, unless it is in it. */
void pace_wait(struct v_qp *qp);
/* Inserts the queue pair into the queue of its rate by its turn. */
void pace_line_up(struct v_qp *qp);
/* The queue pair sends or has no packet: leaves the queue. Returns whether others may send now. */
bool pace_rest(struct v_qp *qp);
/* Wakes all queue pairs of a rate when it allows, not before `earliest`. */
void pace_wake(struct v_device *dev, const struct v_pace *p, hd_time earliest);
/* As pace_wake, if the rate is shared; p may be NULL. */
void pace_wake_sharers(struct v_device *dev, const struct v_pace *p, hd_time earliest);
void pace_launched(struct v_qp *qp, struct hca_slot *s);
/*
 * A packet has started on the link, or its port has dropped it. `qp`: its sender, or NULL if
 * freed. Returns the rate that the packet counts for, or NULL.
 */
struct v_pace *pace_left(struct v_device *dev, struct v_qp *qp, struct hca_slot *s);
/* Updates the rate after a received packet: a response, or one that reports a mark. */
void pace_heard(struct v_qp *qp, const struct packet *packet);
hd_time pace_due(struct v_qp *qp);
void pace_timer(struct v_qp *qp);

/* ---- traffic.c: rows of the scenario over queue pairs ------------------ */

struct hca_traffic;

/* Creates the queue pairs of the scenario's rows, if any. */
HD_MUST_CHECK enum hd_status traffic_open(struct lab *lab, struct diag *d);
void traffic_close(struct hca_traffic *t);
/* A flow has created a message. */
void traffic_made(struct lab *lab, uint32_t flow);
/* Splits the state into that of n domains. */
void traffic_cut(struct hca_traffic *t, uint32_t n);

/* A message was created in another process. */
void traffic_born(struct hca_traffic *t, uint32_t posting, hd_time born);
uint32_t traffic_postings(const struct hca_traffic *t);
/* Counters of one domain. */
void traffic_collect(struct hca_traffic *t, struct pack *k, uint32_t part);

/* Encodes or decodes the state of all labs of a run. */
void traffic_pack(struct hca_traffic *t, struct pack *p, const struct sim_section *section);

/* ---- message_channel.c -------------------------------------------------- */

void hca_channels_close(struct message_channels *all);
/* Notifies listeners of the completions at adapters of this lab. */
void hca_channels_settle(struct lab *lab);
/* Channel number of a queue pair's packets. */
uint32_t channel_of_pair(const struct v_qp *qp);
/* A packet of a channel starts on a link. */
void channel_passes(const struct lab *lab, const struct sim_passage *x);
/* Counters of one domain. */
void hca_channels_collect(struct message_channels *all, struct pack *k, uint32_t part);
/* Encodes or decodes the channels of a section. */
void hca_channels_pack(struct message_channels *all, struct pack *k,
		       const struct sim_section *section);

/* ---- external_qp.c, external_events.c ----------------------------------- */

/* Call after freeing the lab's adapters. */
void external_qps_close(struct external_qps *all);
/* Number of domains of the lab. */
void external_qps_cut(struct external_qps *all, uint32_t n);
/* A complete message has arrived; `last` is its last packet. */
void external_qp_arrived(struct v_qp *to, const struct hca_slot *last);
/* All copies of this packet were received or lost. */
void external_packet_over(struct lab *lab, const struct hca_slot *s);

/* ---- remote.c: labs of several processes ------------------------------ */

void lab_distant_cut(struct lab *lab, const struct sim_cut *how);
void lab_distant_fini(struct lab *lab);
/* Sends a packet's contents to the processes of its receivers. */
void hca_slot_announce(struct lab *lab, uint32_t id);
/* Returns a slot of another process that is no longer used here. */
void hca_slot_return(struct lab *lab, uint32_t id);
/* Records the creation time of a message for another process, if the destination is there. */
bool hca_born_is_told(const struct v_device *from, const struct v_device *to, uint32_t posting,
		      hd_time born);
/* See struct sim_endpoint. */
void lab_mail(void *context, struct pack *k, uint32_t from, uint32_t to);
void lab_collect(void *context, struct pack *k, uint32_t part);

/* ---- checkpoint.c: what a lab remembers --------------------------------------- */

/* For a lab without threads whose adapters have no translation cache (sim.h). */
void lab_list(void *context, struct pack *p);
void lab_pack(void *context, struct pack *p, const struct sim_section *section);
void lab_pack_cookie(void *context, struct pack *p, uint32_t *cookie);
void lab_saved_free(struct lab *lab);
void hca_cq_pack(struct v_cq *cq, struct pack *p);
/* The headers in wire format, and the payload length. */
void hca_slot_pack_headers(struct pack *p, struct hca_slot *s);

/* ---- testbed.c ----------------------------------------------------------- */

/* The largest MTU that this port accepts. */
uint32_t hca_port_mtu(const struct fabric *fabric, uint32_t port);

/* ---- owner.c: what the transport asks of the adapter --------------------- */

void hca_owner_init(struct v_qp *qp);
/* Passes work requests whose time has come to the transport. */
void hca_requests_take(struct v_device *dev);
/* Time of the next work request that needs an event, or NEVER. */
hd_time hca_requests_next(const struct v_device *dev);

/* ---- bus.c --------------------------------------------------------------- */

/* Schedules the transactions of `dma` on the bus from `when` on; returns their end. */
hd_time hca_bus_use(struct v_device *dev, bool write, hd_time when, const struct dma *dma);
/*
 * Data received but not yet in memory occupies the adapter, which has as much room for it as for
 * sending: the receive engine waits, and acknowledgements with it.
 */
void hca_bus_wait(struct v_device *dev);

#endif
